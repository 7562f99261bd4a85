/* The files of a command: whether they can be written is checked first, so that an hour of work is
 * not lost at its end; they are written completely or not at all. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* A device or a named pipe, not a regular file: numbers are written to it as CSV. */
static int is_stream(const char *path)
{
    struct stat about;
    return !strcmp(path, "-") || !strncmp(path, "/dev/", 5) ||
           (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode));
}

/* Files are written under a temporary name and then renamed: to the target of a link, not over the
 * link. */
const char *cli_output_place(const char *path, char place[PATH_MAX])
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode) && realpath(path, place) ? place
                                                                                       : path;
}

/* Is it one of the files that the command reads? */
static int is_input(const cli_arguments *arguments, const char *path)
{
    const char *const input[] = {arguments->file, arguments->recording};
    struct stat there, here;
    for (int i = 0; i < 2 && stat(path, &there) == 0; i++) {
        if (input[i] && stat(input[i], &here) == 0 && here.st_ino == there.st_ino &&
            here.st_dev == there.st_dev) {
            fprintf(stderr, "zwang: %s is the input file: give another file to write\n", path);
            return 1;
        }
    }
    return 0;
}

int cli_outputs_use_stdout(const cli_arguments *arguments)
{
    for (int i = 0; i < arguments->output_count; i++) {
        const char *path = arguments->output[i];
        if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/fd/1")) {
            return 1;
        }
    }
    return 0;
}

static int refuse(const char *path, const char *why)
{
    zw_error error = {.status = ZW_NO_FILE};
    snprintf(error.text, sizeof error.text, "cannot write %.400s: %s", path, why);
    cli_show_error(&error);
    return CLI_FILE;
}

static int check_path(const char *path)
{
    char folder[PATH_MAX] = ".";
    struct stat about;
    const char *slash = strrchr(path, '/');
    if (slash) {
        size_t length = slash == path ? 1 : (size_t)(slash - path);
        if (length >= sizeof folder) {
            return refuse(path, strerror(ENAMETOOLONG));
        }
        memcpy(folder, path, length);
        folder[length] = 0;
    }
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        return refuse(path, strerror(EISDIR));
    }
    if (stat(folder, &about) != 0) {
        return refuse(path, errno == ENOENT ? "there is no such folder" : strerror(errno));
    }
    if (!S_ISDIR(about.st_mode)) {
        return refuse(path, strerror(ENOTDIR));
    }
    if (access(folder, W_OK) != 0) {
        return refuse(path, strerror(errno));
    }
    return CLI_OK;
}

int cli_outputs_possible(const cli_arguments *arguments)
{
    int code = CLI_OK;
    for (int i = 0; i < arguments->output_count && code == CLI_OK; i++) {
        if (!is_stream(arguments->output[i])) {
            code = is_input(arguments, arguments->output[i]) ? CLI_USAGE
                                                             : check_path(arguments->output[i]);
        }
    }
    if (arguments->save && code == CLI_OK) {
        code = is_input(arguments, arguments->save) ? CLI_USAGE : check_path(arguments->save);
    }
    for (int i = 0; i < arguments->output_count && code == CLI_OK; i++) {
        const char *path = arguments->output[i];
        for (int j = i + 1; j <= arguments->output_count; j++) {
            const char *other =
                j < arguments->output_count ? arguments->output[j] : arguments->save;
            if (other && !strcmp(path, other)) {
                fprintf(stderr, "zwang: %s would be written twice\n", path);
                return CLI_USAGE;
            }
        }
    }
    return code;
}

static int copy(FILE *from, FILE *to)
{
    char piece[1 << 14];
    size_t count;
    while ((count = fread(piece, 1, sizeof piece, from)) > 0) {
        if (fwrite(piece, 1, count, to) != count) {
            return -1;
        }
    }
    return fflush(to) || ferror(from) ? -1 : 0;
}

/* A pipe receives the bytes of a finished file, since files under /dev behave too differently. */
static int write_stream(cli_writer *write, void *user, const char *path)
{
    const char *folder = getenv("TMPDIR");
    char place[PATH_MAX], name[PATH_MAX + 8];
    zw_error error = {0};
    snprintf(place, sizeof place, "%s/zwang-XXXXXX", folder && folder[0] ? folder : "/tmp");
    if (!mkdtemp(place)) {
        return refuse(place, strerror(errno));
    }
    snprintf(name, sizeof name, "%s/a.csv", place);
    int code = CLI_OK, standard = !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
    if (write(user, name, 1, &error) != ZW_OK) {
        cli_show_error(&error);
        code = CLI_FILE;
    } else {
        FILE *from = fopen(name, "rb"), *to = standard ? stdout : fopen(path, "wb");
        if (!from || !to || copy(from, to) != 0) {
            code = refuse(standard ? "the standard output" : path, strerror(errno));
        }
        if (from) {
            fclose(from);
        }
        if (to && !standard && fclose(to) != 0 && code == CLI_OK) {
            code = refuse(path, strerror(errno));
        }
    }
    remove(name);
    rmdir(place);
    return code;
}

int cli_outputs_write(const cli_arguments *arguments, cli_writer *write, void *user,
                      const char *note, FILE *talk)
{
    int code = CLI_OK, wrote = 0;
    for (int i = 0; i < arguments->output_count; i++) {
        char place[PATH_MAX];
        const char *path = arguments->output[i];
        zw_error error = {0};
        if (is_stream(path)) {
            int written = write_stream(write, user, path);
            code = code ? code : written;
        } else if (write(user, cli_output_place(path, place), 0, &error) != ZW_OK) {
            cli_show_error(&error);
            code = CLI_FILE;
        } else if (!arguments->quiet) {
            cli_label(talk, wrote++ ? "" : "wrote");
            fprintf(talk, "%s%s\n", path, note);
        }
    }
    return code;
}
