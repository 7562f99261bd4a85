/* zwang: constrained motion from a text file. */
#include <errno.h>
#include <string.h>

#include "cli.h"

static int no_command(const char *word)
{
    const char *meant = cli_suggest(word, cli_command_name, CLI_COMMANDS);
    size_t length = strlen(word);
    if (length > 3 && !strcmp(word + length - 3, ".zw")) {
        fprintf(stderr, "zwang: no command given for %s; perhaps zwang run %s\n", word, word);
    } else if (meant) {
        fprintf(stderr, "zwang: there is no command %s; did you mean %s?\n", word, meant);
    } else {
        fprintf(stderr, "zwang: there is no command %s; `zwang help` lists them\n", word);
    }
    return CLI_USAGE;
}

static int act(int count, char **word)
{
    static int (*const command[])(const cli_arguments *) = {
        cli_run,      cli_explain, cli_look,  cli_check, cli_certify, cli_inverse, cli_fit,
        cli_optimise, cli_rest,    cli_modes, cli_sweep, cli_limit,   cli_export,  cli_view};
    static cli_arguments arguments;
    if (!strcmp(word[0], "help") || !strcmp(word[0], "--help") || !strcmp(word[0], "-h")) {
        int code = cli_help(count > 1 ? word[1] : NULL, stdout);
        return code == CLI_OK ? code : no_command(word[1]);
    }
    if (!strcmp(word[0], "version") || !strcmp(word[0], "--version") || !strcmp(word[0], "-V")) {
        printf("zwang %s\n", zw_version());
        return CLI_OK;
    }
    for (int i = 0; i < CLI_COMMANDS - 1; i++) {
        if (!strcmp(word[0], cli_command_name[i])) {
            int code = cli_parse(word[0], count - 1, word + 1, &arguments);
            if (code == CLI_OK && arguments.help) {
                return cli_help(word[0], stdout);
            }
            return code == CLI_OK ? command[i](&arguments) : code;
        }
    }
    return no_command(word[0]);
}

int main(int count, char **word)
{
    if (count < 2) {
        cli_help(NULL, stderr);
        return CLI_USAGE;
    }
    int code = act(count - 1, word + 1);
    /* A full disk with `zwang explain --json > file` must not look like success. */
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == CLI_OK) {
        fprintf(stderr, "zwang: error: cannot write the standard output: %s\n",
                errno ? strerror(errno) : "an earlier write failed");
        code = CLI_FILE;
    }
    return code == CLI_INTERRUPTED && cli_interrupted() ? 128 + cli_interrupted() : code;
}
