/* Reading a .zw file: the order of the parts. */
#include "read/zw/zw.h"
#include "read/robot/robot.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Ten million members take about a minute; with more, memory would run out. */
static const read_limits usual = {.members = 1e7, .work = 5e7, .nodes = 1e7, .includes = 1};

/* Statements of one stage, in the order of the text. */
static int make_stage(reader *r, int stage)
{
    for (int i = 0; i < r->statement_count; i++) {
        const read_statement *s = &r->statement[i];
        if (s->word->stage == stage && !read_each(r, s, s->word->make)) {
            return 0;
        }
    }
    return expr_graph_status(r->model->graph) == ZW_OK || read_no_memory(r);
}

/* Checks that need the whole file. */
static int check_whole(reader *r)
{
    zw_model *m = r->model;
    if (r->statement_count == 0) {
        return read_fail(r, -1,
                         "the file is empty; a model starts with a line such as coord x = 1");
    }
    if (m->coord_count == 0 && !m->imported) {
        return read_fail(r, -1, "there is no coordinate; a model has a line such as coord x = 1");
    }
    const zw_read_options *given = r->options;
    if (!m->imported && given != NULL &&
        (given->base != ZW_BASE_DEFAULT || given->package_count > 0 || given->balance_inertia)) {
        return read_fail(r, -1,
                         "base, packages and balance are for robots, and this file imports none");
    }
    m->massless = !r->has_mass && !m->imported;
    if (r->massless_token >= 0 && r->has_mass) {
        return read_fail(r, r->massless_token,
                         "'%s' is for systems without masses, and this one "
                         "has a kinetic energy",
                         read_show_symbol(r, r->tokens.token[r->massless_token].symbol).text);
    }
    if (r->gravity_count > 0 && !r->weighed) {
        return read_fail(r, r->gravity_token,
                         "gravity has no effect: it needs a mass with a position, "
                         "from a line such as mass m at p");
    }
    return 1;
}

static int read_all(reader *r)
{
    if (!read_statements(r, 0) || (r->more > 0 && !read_statements(r, r->more)) ||
        !read_declare(r) || !read_settle_all(r) || !read_param_values(r)) {
        return 0;
    }
    r->stage = READ_STAGE_MECHANICS;
    for (int stage = 1; stage <= 6; stage++) {
        if (!make_stage(r, stage) || (stage == 5 && !read_count_rows(r))) {
            return 0;
        }
    }
    if (!check_whole(r)) {
        return 0;
    }
    r->stage = READ_STAGE_SHOW;
    return read_settle_all(r) && read_keep_points(r) && make_stage(r, 7) && read_check_events(r) &&
           read_reach_complete(r) && read_title(r);
}

static void reader_free(reader *r)
{
    expr_symbols_free(&r->symbols);
    expr_trees_free(&r->trees);
    base_free(r->tokens.token);
    base_free(r->place_of);
    base_free(r->statement);
    base_free(r->item);
    base_free(r->name);
    base_free(r->name_of);
    base_free(r->member);
    base_free(r->slot);
    base_free(r->wait);
    base_free(r->event_tree);
    base_free(r->param_value);
    base_free(r);
}

/* A reader with an empty model, NULL: no memory. */
static reader *reader_create(const zw_setting *settings, int setting_count,
                             const read_limits *limits, zw_error *error)
{
    reader *r = base_alloc(sizeof *r);
    zw_model *model = r != NULL ? model_create() : NULL;
    if (model == NULL) {
        base_free(r);
        base_fail(error, ZW_NO_MEMORY, "out of memory");
        return NULL;
    }
    r->model = model;
    r->error = error;
    r->limits = *limits;
    r->setting = settings;
    r->setting_count = setting_count;
    r->pending = -1;
    r->plot_statement = -1;
    r->massless_token = -1;
    r->robot_token = r->robot_name = -1;
    return r;
}

/* Continues after the tokens have been read (`ok`), or cleans up. */
static zw_model *reader_finish(reader *r, int ok)
{
    if (ok) {
        r->place_of = base_alloc((size_t)r->tokens.count * sizeof *r->place_of);
        ok = r->place_of != NULL ? read_all(r) : read_no_memory(r);
    }
    zw_model *model = r->model;
    if (!ok || r->status != ZW_OK || expr_graph_status(model->graph) != ZW_OK) {
        read_no_memory(r); /* if there is no other message yet */
        zw_model_free(model);
        model = NULL;
    }
    reader_free(r);
    return model;
}

zw_model *read_zw_text(const char *text, const char *name, const zw_setting *settings,
                       int setting_count, const read_limits *limits, zw_error *error)
{
    reader *r = reader_create(settings, setting_count, limits, error);
    if (r == NULL) {
        return NULL;
    }
    return reader_finish(r, read_file_text(r, name != NULL ? name : "model", text));
}

/* Appends the caller's lines to those of the file. */
static int read_more(reader *r, const zw_read_options *given)
{
    if (given->more == NULL) {
        return 1;
    }
    if (r->model->file_count == READ_MOST_FILES) {
        return read_fail(r, -1, "there are more than %d files", READ_MOST_FILES);
    }
    r->more = r->model->file_count;
    return read_file_text(r, given->more_name != NULL ? given->more_name : "more", given->more);
}

/* A text, or where that is NULL the file of this name. */
static zw_model *read_model(const char *text, const char *name, const zw_read_options *options,
                            zw_error *error)
{
    zw_read_options given = options != NULL ? *options : (zw_read_options){0};
    int robot = robot_is(name, text);
    if (robot && given.more != NULL) {
        base_fail(error, ZW_BAD_INPUT, "lines can be added to .zw files only; '%.200s' is not one",
                  name);
        return NULL;
    }
    if (robot) {
        robot_limits limits = robot_usual_limits;
        limits.options = &given;
        zw_model *model = text != NULL ? robot_text(text, name, &limits, error)
                                       : robot_read(name, &limits, error);
        return robot_set(model, given.settings, given.setting_count, error);
    }
    reader *r = reader_create(given.settings, given.setting_count, &usual, error);
    if (r == NULL) {
        return NULL;
    }
    r->options = &given;
    int read = text != NULL ? read_file_text(r, name, text) : read_file_open(r, name, -1);
    return reader_finish(r, read && read_more(r, &given));
}

zw_model *zw_model_read(const char *path, const zw_read_options *options, zw_error *error)
{
    if (path == NULL) {
        base_fail(error, ZW_BAD_INPUT, "no file was given");
        return NULL;
    }
    return read_model(NULL, path, options, error);
}

zw_model *zw_model_parse(const char *text, const char *name, const zw_read_options *options,
                         zw_error *error)
{
    if (text == NULL) {
        base_fail(error, ZW_BAD_INPUT, "there is no text to be read");
        return NULL;
    }
    return read_model(text, name != NULL ? name : "model", options, error);
}
