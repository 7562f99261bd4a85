/* zwang view: the studio in the browser, with this model. The pages are those of `make studio`;
 * besides them only the files that reading the model opens are served. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "serve.h"

/* ---- The pages of the studio ---------------------------------------------------------------- */

static int has_pages(const char *folder)
{
    char path[PATH_MAX + 32];
    struct stat about;
    snprintf(path, sizeof path, "%s/index.html", folder);
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* The folder that ZWANG_STUDIO names; next to an installed program, bin/../share; in a build tree,
 * build/studio for build/release/zwang; or the configured place of installation. 0: nowhere. */
static int find_pages(char folder[PATH_MAX])
{
    static const char *const beside[] = {"../share/zwang/studio", "../studio"};
    const char *named = getenv("ZWANG_STUDIO");
    if (named && named[0]) {
        return snprintf(folder, PATH_MAX, "%s", named) < PATH_MAX && has_pages(folder);
    }
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    char *name = strrchr(program, '/');
    for (int i = 0; name && i < 2; i++) {
        name[1] = 0;
        if (snprintf(folder, PATH_MAX, "%s%s", program, beside[i]) < PATH_MAX &&
            has_pages(folder)) {
            return 1;
        }
    }
#ifdef ZW_STUDIO_FOLDER
    snprintf(folder, PATH_MAX, "%s", ZW_STUDIO_FOLDER);
    return has_pages(folder);
#else
    return 0;
#endif
}

/* ---- The files of the model ----------------------------------------------------------------- */

typedef struct gathered {
    serve_site *site;
    cli_json json; /* their names, in order */
    int count, failed;
} gathered;

static void gather(void *user, const zw_file *file)
{
    gathered *all = user;
    char name[32];
    snprintf(name, sizeof name, "file/%d", all->count++);
    cli_json_text(&all->json, NULL, file->name);
    all->failed |= !serve_add(all->site, name, "application/octet-stream", file->bytes, file->size);
}

static void gather_path(gathered *all, const char *path)
{
    FILE *stream = path ? fopen(path, "rb") : NULL;
    char *bytes = NULL;
    size_t size = 0;
    for (size_t got = 1, capacity = 0; stream && got > 0; size += got) {
        if (size + 65536 > capacity) {
            capacity = 2 * capacity + 131072;
            char *wider = realloc(bytes, capacity);
            if (!wider) {
                all->failed = 1;
                break;
            }
            bytes = wider;
        }
        got = fread(bytes + size, 1, 65536, stream);
    }
    if (stream) {
        gather(all, &(zw_file){.name = path, .bytes = bytes, .size = size});
        fclose(stream);
    }
    free(bytes);
}

/* view.json: the model, and the numbers by which its files are requested. A model with a mistake is
 * served too: the page shows where it is. */
static int gather_model(const cli_arguments *arguments, serve_site *site, zw_error *error)
{
    char *text = NULL;
    size_t size = 0;
    gathered all = {.site = site, .json = {.to = open_memstream(&text, &size)}};
    if (!all.json.to) {
        return CLI_FAILED;
    }
    cli_json_open(&all.json, NULL, '{');
    cli_json_text(&all.json, "path", arguments->file);
    cli_json_text(&all.json, "key", arguments->key ? arguments->key : "");
    cli_json_open(&all.json, "settings", '{');
    for (int i = 0; i < arguments->setting_count; i++) {
        cli_json_number(&all.json, arguments->setting[i].name, arguments->setting[i].value);
    }
    cli_json_close(&all.json, '}');
    cli_json_open(&all.json, "files", '[');
    zw_read_options options = {.settings = arguments->setting,
                               .setting_count = arguments->setting_count,
                               .visuals = 1,
                               .seen = gather,
                               .user = &all};
    zw_model *model = zw_model_read(arguments->file, &options, error);
    int of_model = all.count;
    gather_path(&all, arguments->recording);
    cli_json_close(&all.json, ']');
    cli_json_int(&all.json, "recording", all.count > of_model ? of_model : -1);
    cli_json_close(&all.json, '}');
    int failed = fclose(all.json.to) != 0 || all.failed ||
                 !serve_add(site, "view.json", "application/json", text, size);
    free(text);
    int code = failed ? CLI_FAILED : of_model == 0 ? CLI_FILE : CLI_OK;
    if (!model && !failed) {
        cli_show_error(error);
    }
    zw_model_free(model);
    return code;
}

/* ---- Serving -------------------------------------------------------------------------------- */

/* The user's browser, if there is a display; the address is printed in any case. */
static void open_browser(const char *address)
{
    if ((!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) || !isatty(STDOUT_FILENO)) {
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            execlp("xdg-open", "xdg-open", address, (char *)NULL);
        }
        _exit(0);
    }
    if (child > 0) {
        waitpid(child, NULL, 0);
    }
}

static int refuse(serve_site *site, const char *why)
{
    fprintf(stderr, "zwang: error: %s\n", why);
    serve_stop(site);
    return CLI_FAILED;
}

int cli_view(const cli_arguments *arguments)
{
    serve_site site = {0};
    zw_error error = {0};
    char folder[PATH_MAX], address[128];
    int code = cli_check_file(arguments->file, &error);
    if (code == CLI_OK && arguments->recording) {
        code = cli_check_file(arguments->recording, &error);
    }
    if (code != CLI_OK) {
        cli_show_error(&error);
        return code;
    }
    if (!find_pages(folder)) {
        return refuse(&site, "the pages of the studio are not here; `make studio` builds them, and "
                             "ZWANG_STUDIO may name their folder");
    }
    if (serve_add_folder(&site, folder, "") < 0) {
        return refuse(&site, "out of memory");
    }
    code = gather_model(arguments, &site, &error);
    if (code != CLI_OK) {
        serve_stop(&site);
        return code;
    }
    cli_catch_interrupt();
    const char *why = serve_start(&site, arguments->port);
    if (why) {
        return refuse(&site, why);
    }
    snprintf(address, sizeof address, "http://127.0.0.1:%d/%s/#/view", site.port, site.token);
    if (!arguments->quiet) {
        cli_label(stdout, "studio");
        printf("%s (Ctrl-C ends it)\n", address);
    } else {
        puts(address);
    }
    fflush(stdout);
    open_browser(address);
    while (!cli_interrupted()) {
        usleep(50000);
    }
    serve_stop(&site);
    return CLI_OK;
}
