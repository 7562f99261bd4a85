/* Loads a world from a file. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

int cli_code_of(zw_status status)
{
    return status == ZW_OK ? CLI_OK : status == ZW_NO_FILE ? CLI_FILE : CLI_FAILED;
}

int cli_model_code(zw_status status)
{
    return status == ZW_NO_FILE ? CLI_FILE : status == ZW_NO_MEMORY ? CLI_FAILED : CLI_MODEL;
}

static int refuse(zw_error *error, const char *path, const char *why)
{
    *error = (zw_error){.status = ZW_NO_FILE};
    snprintf(error->file, sizeof error->file, "%s", path);
    snprintf(error->text, sizeof error->text, "%s", why);
    return CLI_FILE;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int is_model(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (!strcmp(dot, ".zw") || !strcmp(dot, ".xml") || !strcmp(dot, ".mjcf") ||
                   !strcmp(dot, ".urdf"));
}

/* "; that folder has a.zw, b.xml": the first few models, of count names in order. */
static void list_models(char *const *list, int count, zw_error *error)
{
    enum { LISTED = 6 };
    int listed = 0, models = 0;
    for (int i = 0; i < count; i++) {
        models += is_model(list[i]);
    }
    for (int i = 0; i < count && listed < LISTED; i++) {
        if (is_model(list[i])) {
            size_t length = strlen(error->text);
            snprintf(error->text + length, sizeof error->text - length, "%s %.60s",
                     listed++ ? "," : "; models in that folder:", list[i]);
        }
    }
    if (models > listed) {
        size_t length = strlen(error->text);
        snprintf(error->text + length, sizeof error->text - length, ", ... (%d)", models);
    }
}

/* If the file is missing, adds the name of a similar file in the same folder to the message, or
 * else the models that there are. */
static void suggest_file(const char *path, zw_error *error)
{
    enum { OFFERED = 500 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char folder[sizeof error->file];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    DIR *files = opendir(folder);
    char *list[OFFERED];
    int count = 0;
    for (struct dirent *entry; files && count < OFFERED && (entry = readdir(files));) {
        list[count] = entry->d_name[0] != '.' ? strdup(entry->d_name) : NULL;
        count += list[count] != NULL;
    }
    if (files) {
        closedir(files);
    }
    qsort(list, (size_t)count, sizeof *list, by_name);
    const char *meant = cli_suggest(name, (const char *const *)list, count);
    if (!files) {
        snprintf(error->text, sizeof error->text, "there is no folder %.200s", folder);
    } else if (!meant) {
        list_models(list, count, error);
    } else {
        size_t length = strlen(error->text);
        snprintf(error->text + length, sizeof error->text - length, "; did you mean %.*s%s?",
                 slash ? (int)(slash - path) + 1 : 0, path, meant);
    }
    for (int i = 0; i < count; i++) {
        free(list[i]);
    }
}

/* A more precise reason where the reader only knows that the file cannot be read. */
int cli_check_file(const char *path, zw_error *error)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        int missing = errno == ENOENT;
        refuse(error, path, strerror(errno));
        if (missing) {
            suggest_file(path, error);
        }
        return CLI_FILE;
    }
    if (S_ISDIR(about.st_mode)) {
        return refuse(error, path, "this is a directory; give a .zw file in it");
    }
    return CLI_OK;
}

/* States start from this keyframe. */
static int take_key(zw_model *model, const char *name, zw_error *error)
{
    enum { OFFERED = 64 };
    int index = zw_model_find(model, ZW_KIND_KEY, name), count = 0;
    const char *list[OFFERED];
    if (index >= 0) {
        zw_key_def key = *(const zw_key_def *)zw_model_def(model, ZW_KIND_KEY, index);
        key.start = 1;
        return zw_model_change(model, ZW_KIND_KEY, index, &key, error) == ZW_OK;
    }
    for (int i = 0; i < zw_model_count(model, ZW_KIND_KEY) && count < OFFERED; i++) {
        const zw_key_def *key = zw_model_def(model, ZW_KIND_KEY, i);
        if (key->name) {
            list[count++] = key->name;
        }
    }
    const char *meant = cli_suggest(name, list, count);
    *error = (zw_error){.status = ZW_BAD_INPUT};
    snprintf(error->text, sizeof error->text, "there is no keyframe '%.60s'%s%.60s%s", name,
             meant       ? "; did you mean '"
             : count > 0 ? "; there is '"
                         : ": this file has none",
             meant       ? meant
             : count > 0 ? list[0]
                         : "",
             meant       ? "'?"
             : count > 1 ? "' and others"
             : count > 0 ? "'"
                         : "");
    return 0;
}

/* --maximal: every body free, every joint a constraint. --sleep: bodies at rest fall asleep. */
static int take_world(zw_model *model, const cli_arguments *arguments, zw_error *error)
{
    const zw_world_def *given = zw_model_world(model);
    if (!arguments->maximal && !arguments->sleep) {
        return 1;
    }
    if (!given) {
        *error = (zw_error){.status = ZW_BAD_INPUT};
        snprintf(error->text, sizeof error->text, "%s is for robots; this file has no bodies",
                 arguments->maximal ? "--maximal" : "--sleep");
        return 0;
    }
    zw_world_def world = *given;
    world.maximal |= arguments->maximal;
    world.sleep |= arguments->sleep;
    return zw_model_set_world(model, &world, error) == ZW_OK;
}

int cli_adjust_model(const cli_arguments *arguments, zw_model *model, zw_error *error)
{
    if (arguments->impact != ZW_IMPACT_DEFAULT) {
        zw_model_set_impact(model, arguments->impact);
    }
    return (!arguments->key || take_key(model, arguments->key, error)) &&
           take_world(model, arguments, error);
}

int cli_load_model(const cli_arguments *arguments, cli_world *world, zw_error *error)
{
    *world = (cli_world){0};
    *error = (zw_error){0};
    int code = cli_check_file(arguments->file, error);
    if (code != CLI_OK) {
        return code;
    }
    zw_read_options options = {.settings = arguments->setting,
                               .setting_count = arguments->setting_count,
                               .base = arguments->base,
                               .balance_inertia = arguments->balance,
                               .packages = arguments->package,
                               .package_count = arguments->package_count};
    world->model = zw_model_read(arguments->file, &options, error);
    return world->model ? CLI_OK : cli_model_code(error->status);
}

int cli_load_system(const cli_arguments *arguments, cli_world *world, zw_error *error)
{
    int code = cli_load_model(arguments, world, error);
    if (code != CLI_OK) {
        return code;
    }
    if (cli_adjust_model(arguments, world->model, error)) {
        const zw_law *law = arguments->law.name ? &arguments->law : NULL;
        world->system = zw_system_compile(world->model, law, error);
    }
    if (!world->system) {
        cli_unload(world);
        return cli_model_code(error->status);
    }
    return CLI_OK;
}

/* If the reference pose contradicts its loops but the file has a better one, the message suggests
 * it after its first line. */
static void propose_key(const zw_model *model, zw_error *error)
{
    const zw_key_def *key = NULL;
    for (int i = 0; i < zw_model_count(model, ZW_KIND_KEY) && !(key && key->name); i++) {
        key = zw_model_def(model, ZW_KIND_KEY, i);
    }
    char rest[sizeof error->text], *end = strchr(error->text, '\n');
    if (!key || !key->name || error->status != ZW_CONFLICT) {
        return;
    }
    snprintf(rest, sizeof rest, "%s", end ? end : "");
    size_t used = end ? (size_t)(end - error->text) : strlen(error->text);
    snprintf(error->text + used, sizeof error->text - used, "; try --key %.60s%s", key->name, rest);
}

/* A saved state has its own parameters: --set must agree with them. */
static int check_settings(const cli_arguments *arguments, const cli_world *world, zw_error *error)
{
    zw_view param = zw_field(world->system, world->state, world->work, ZW_FIELD_PARAM);
    for (int k = 0; k < arguments->setting_count; k++) {
        const zw_setting *setting = &arguments->setting[k];
        int index = zw_id(world->system, ZW_KIND_PARAM, setting->name);
        if (index >= 0 && index < param.count && param.data[index] != setting->value) {
            *error = (zw_error){.status = ZW_BAD_INPUT};
            snprintf(error->text, sizeof error->text,
                     "the state in %.200s was saved with %.60s = %.9g: --set cannot change it",
                     arguments->begin, setting->name, param.data[index]);
            return 0;
        }
    }
    return 1;
}

static zw_state *make_state(const cli_arguments *arguments, cli_world *world, zw_error *error)
{
    if (!arguments->begin) {
        return zw_state_create(world->system, world->work, &world->assembly, error);
    }
    world->assembly = (zw_assembly){.position_coord = -1, .speed_coord = -1, .impact_speed = -1};
    world->state = zw_state_read(world->system, arguments->begin, error);
    if (world->state && !check_settings(arguments, world, error)) {
        zw_state_free(world->state);
        world->state = NULL;
    }
    return world->state;
}

int cli_load(const cli_arguments *arguments, cli_world *world, zw_error *error)
{
    int code = cli_load_system(arguments, world, error);
    if (code == CLI_OK) {
        world->work = zw_work_create(world->system, error);
    }
    if (world->work) {
        world->state = make_state(arguments, world, error);
    }
    if (code == CLI_OK && !world->state) {
        if (!arguments->key && !arguments->begin) {
            propose_key(world->model, error);
        }
        cli_unload(world);
        code = cli_model_code(error->status);
    }
    return code;
}

void cli_unload(cli_world *world)
{
    zw_state_free(world->state);
    zw_work_free(world->work);
    zw_system_free(world->system);
    zw_model_free(world->model);
    *world = (cli_world){0};
}

int cli_fail(const cli_arguments *arguments, const zw_error *error, int code)
{
    if (arguments->json) {
        cli_explain_json_error(arguments, error);
    }
    cli_show_error(error);
    return code;
}

zw_path *cli_read_path(const cli_arguments *arguments, const zw_system *system, const char *file,
                       int some, int *code)
{
    zw_error error = {0};
    zw_path_options options = {
        .columns = arguments->column, .column_count = arguments->column_count, .partial = some};
    zw_path *path = zw_path_read(system, file, &options, &error);
    if (!path) {
        *code = cli_fail(arguments, &error, error.status == ZW_NO_MEMORY ? CLI_FAILED : CLI_FILE);
    }
    return path;
}
