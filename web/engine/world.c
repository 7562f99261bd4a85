/* Opening, stepping and saving. */
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

studio_world studio = {.selected = -1, .key = -1};

int studio_fail(zw_status status, const char *text)
{
    studio.error = (zw_error){.status = status};
    snprintf(studio.error.text, sizeof studio.error.text, "%s", text);
    return 0;
}

/* ---- Files and settings --------------------------------------------------------------------- */

static char *copy_of(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

int studio_file(const char *name, const void *bytes, int size)
{
    studio_world *w = &studio;
    int at = 0;
    while (at < w->file_count && strcmp(w->file[at].name, name) != 0) {
        at++;
    }
    if (at == w->file_room) {
        int room = 2 * w->file_room + 8;
        zw_file *wider = realloc(w->file, (size_t)room * sizeof *wider);
        if (wider == NULL) {
            return studio_fail(ZW_NO_MEMORY, "out of memory");
        }
        w->file = wider;
        w->file_room = room;
    }
    void *copy = malloc((size_t)size + 1);
    char *own = copy_of(name);
    if (copy == NULL || own == NULL) {
        free(copy);
        free(own);
        return studio_fail(ZW_NO_MEMORY, "out of memory");
    }
    memcpy(copy, bytes, (size_t)size);
    if (at < w->file_count) {
        free((void *)w->file[at].bytes);
        free((void *)w->file[at].name);
    } else {
        w->file_count++;
    }
    w->file[at] = (zw_file){.name = own, .bytes = copy, .size = (size_t)size};
    return 1;
}

void studio_forget_files(void)
{
    for (int i = 0; i < studio.file_count; i++) {
        free((void *)studio.file[i].bytes);
        free((void *)studio.file[i].name);
    }
    studio.file_count = 0;
}

int studio_setting(const char *name, double value)
{
    studio_world *w = &studio;
    char *copy = w->setting_count < STUDIO_SETTINGS ? copy_of(name) : NULL;
    if (copy == NULL) {
        return studio_fail(ZW_TOO_LARGE, "there are too many settings");
    }
    w->setting[w->setting_count++] = (zw_setting){copy, value};
    return 1;
}

void studio_key(int index)
{
    studio.key = index;
}

int studio_law(const char *name, double alpha, double beta)
{
    static const char *const laws[] = {"nonholonomic", "vakonomic", "mixed"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, laws[i]) == 0) {
            studio.law = (zw_law){.name = laws[i], .alpha = 1, .N = INFINITY};
            if (i == 2) {
                studio.law.alpha = alpha;
                studio.law.beta = beta;
            }
            return 1;
        }
    }
    return studio_fail(ZW_BAD_INPUT, "there is no such law");
}

int studio_contact(const char *name)
{
    studio.linear = strcmp(name, "linear") == 0;
    return zw_contact_law_find(studio.linear ? "coulomb" : name, &studio.contacts) == ZW_OK;
}

int studio_leave_out(int equality)
{
    studio_world *w = &studio;
    if (w->left_out_count == STUDIO_LEFT_OUT) {
        return studio_fail(ZW_TOO_LARGE, "too many constraints are left out");
    }
    w->left_out[w->left_out_count++] = equality;
    return 1;
}

static void forget_settings(void)
{
    for (int i = 0; i < studio.setting_count; i++) {
        free((void *)studio.setting[i].name);
    }
    studio.setting_count = 0;
    studio.key = -1;
    studio.law = (zw_law){0};
    studio.contacts = ZW_CONTACT_DEFAULT;
    studio.linear = 0;
    studio.left_out_count = 0;
}

/* ---- Opening -------------------------------------------------------------------------------- */

/* All that belongs to the system, but not the system. */
void studio_unfurnish(void)
{
    studio_world *w = &studio;
    zw_probe_free(w->probe);
    zw_state_free(w->state);
    zw_work_free(w->work);
    free(w->frame);
    free(w->motion);
    free(w->contact);
    w->probe = NULL;
    w->state = NULL;
    w->work = NULL;
    w->frame = NULL;
    w->motion = NULL;
    w->contact = NULL;
    w->frame_count = w->contact_room = 0;
}

void studio_close(void)
{
    studio_world *w = &studio;
    studio_unfurnish();
    zw_state_free(w->first);
    zw_system_free(w->system);
    zw_model_free(w->model);
    w->first = NULL;
    w->system = NULL;
    w->model = NULL;
    w->selected = -1;
    w->held = w->hidden = 0;
}

/* The frames of all bodies, or the points of equations. */
static int make_frames(void)
{
    studio_world *w = &studio;
    int bodies = zw_count(w->system, ZW_KIND_BODY), points = zw_point_count(w->probe);
    int count = bodies > 0 ? bodies : points;
    w->frame = calloc((size_t)count + 1, sizeof *w->frame);
    w->motion = calloc((size_t)count + 1, sizeof *w->motion);
    w->contact_room = zw_contact_capacity(w->system);
    w->contact = calloc((size_t)w->contact_room + 1, sizeof *w->contact);
    if (w->frame == NULL || w->motion == NULL || w->contact == NULL) {
        return studio_fail(ZW_NO_MEMORY, "out of memory");
    }
    w->frame_count = count;
    for (int i = 0; i < count; i++) {
        w->frame[i] = (zw_frame){.body = bodies > 0 ? i : -1, .point = i, .quat = {1, 0, 0, 0}};
    }
    return 1;
}

int studio_furnish(void)
{
    studio_world *w = &studio;
    w->work = zw_work_create(w->system, &w->error);
    w->state = w->work ? zw_state_create(w->system, w->work, NULL, &w->error) : NULL;
    w->probe = w->state ? zw_probe_create(w->model, w->system, &w->error) : NULL;
    return w->probe && make_frames();
}

static int is_fixed_step(zw_method method)
{
    return method != ZW_METHOD_DOP853 && method != ZW_METHOD_STIFF && method != ZW_METHOD_BDF;
}

static int plan_steps(void)
{
    studio_world *w = &studio;
    zw_run_options wish = {.contact = w->contacts};
    if (w->linear) {
        wish.tolerance = 1;
        wish.accuracy = STUDIO_FAIR;
    }
    if (zw_run_plan(w->system, w->state, &wish, &w->plan, &w->error) != ZW_OK) {
        return 0;
    }
    w->step = (zw_run_options){.method = w->plan.method,
                               .step = w->plan.step,
                               .tolerance = w->plan.tolerance,
                               .accuracy = w->plan.accuracy,
                               .contact = w->plan.contact};
    if (!is_fixed_step(w->plan.method)) {
        w->step.step = fmin(w->plan.every > 0 ? w->plan.every : 1, 1.0 / 60);
    }
    return 1;
}

static int take_key(void)
{
    studio_world *w = &studio;
    const zw_key_def *given = zw_model_def(w->model, ZW_KIND_KEY, w->key);
    if (given == NULL) {
        return 1;
    }
    zw_key_def key = *given;
    key.start = 1;
    return zw_model_change(w->model, ZW_KIND_KEY, w->key, &key, &w->error) == ZW_OK;
}

static zw_system *compile(void)
{
    studio_world *w = &studio;
    for (int i = w->left_out_count; i-- > 0;) { /* those after a removed one move up */
        if (zw_model_remove(w->model, ZW_KIND_EQUALITY, w->left_out[i], &w->error) != ZW_OK) {
            return NULL;
        }
    }
    return zw_system_compile(w->model, w->law.name != NULL ? &w->law : NULL, &w->error);
}

int studio_open(const char *path, const char *more)
{
    studio_world *w = &studio;
    static const zw_file none;
    studio_close();
    w->error = (zw_error){0};
    zw_read_options options = {.settings = w->setting,
                               .setting_count = w->setting_count,
                               .files = w->file != NULL ? w->file : &none,
                               .file_count = w->file_count,
                               .visuals = 1,
                               .more = more[0] != 0 ? more : NULL};
    w->model = zw_model_read(path, &options, &w->error);
    w->system = w->model && take_key() ? compile() : NULL;
    int ready = w->system && studio_furnish() && plan_steps() &&
                zw_state_copy(w->state, &w->first, &w->error) == ZW_OK;
    forget_settings();
    if (!ready) {
        studio_close();
    }
    return ready;
}

/* ---- Motion --------------------------------------------------------------------------------- */

double studio_tick(void)
{
    return studio.step.step;
}

double studio_set_tick(double seconds)
{
    studio_world *w = &studio;
    if (seconds > 0 && !is_fixed_step(w->plan.method)) {
        w->step.step = seconds;
    }
    return w->step.step;
}

static double time_of(const zw_state *state)
{
    return zw_field(studio.system, state, studio.work, ZW_FIELD_TIME).data[0];
}

int studio_steps(int count)
{
    studio_world *w = &studio;
    w->error = (zw_error){0};
    for (int i = 0; i < count; i++) {
        double before = time_of(w->state);
        if (zw_step(w->system, w->state, w->work, &w->step, &w->error) != ZW_OK ||
            !(time_of(w->state) > before)) {
            return i;
        }
    }
    return count;
}

int studio_start(void)
{
    studio_world *w = &studio;
    if (!studio_release()) {
        return 0;
    }
    zw_view now = zw_field(w->system, w->state, w->work, ZW_FIELD_PARAM);
    double *param = malloc(((size_t)now.count + 1) * sizeof *param);
    if (param == NULL) {
        return studio_fail(ZW_NO_MEMORY, "out of memory");
    }
    if (now.count > 0) {
        memcpy(param, now.data, (size_t)now.count * sizeof *param);
    }
    int ok = zw_state_copy(w->first, &w->state, &w->error) == ZW_OK;
    for (int i = 0; ok && i < now.count; i++) {
        double first = zw_field(w->system, w->state, w->work, ZW_FIELD_PARAM).data[i];
        ok = first == param[i] || studio_set_param(i, param[i]);
    }
    free(param);
    return ok;
}

int studio_set_param(int index, double value)
{
    studio_world *w = &studio;
    return zw_state_set(w->system, w->state, w->work, ZW_FIELD_PARAM, index, 1, &value,
                        &w->error) == ZW_OK;
}

int studio_set_coord(int index, double value)
{
    studio_world *w = &studio;
    return zw_state_set(w->system, w->state, w->work, ZW_FIELD_Q, index, 1, &value, &w->error) ==
           ZW_OK;
}

int studio_save_size(void)
{
    return (int)zw_state_bytes(studio.state);
}

int studio_save(void *bytes)
{
    studio_world *w = &studio;
    return zw_state_save(w->state, bytes, zw_state_bytes(w->state), &w->error) == ZW_OK;
}

int studio_restore(const void *bytes, int size)
{
    studio_world *w = &studio;
    zw_state *state = zw_state_restore(w->system, bytes, (size_t)size, &w->error);
    if (state == NULL) {
        return 0;
    }
    zw_state_free(w->state);
    w->state = state;
    return 1;
}

const char *studio_hash(void)
{
    snprintf(studio.hash, sizeof studio.hash, "%016llx",
             (unsigned long long)zw_state_hash(studio.state));
    return studio.hash;
}
