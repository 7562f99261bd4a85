/* How the systems (17) of Kozlov (2000) tend to (18).
 *
 * For every N a separate system is compiled from the same model under another law, and is run over
 * the same samples. The distance is expected to fall like 1/N: with lambda = N Phi, (17) is (18)
 * with Phi = lambda/N in place of Phi = 0 (system/law.h), a perturbation of size 1/N that is
 * regular for alpha > 0; for alpha = 0 it is singular, but the boundary layer at the start, of
 * length 1/(beta N), changes the speeds by no more than its length. Distances below the error of
 * the integrator mean nothing, so that error is estimated too, by a second, coarser run of the
 * limit. */
#include "path/law/limit.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "step/run.h"
#include "system/work.h"

/* ---- Making --------------------------------------------------------------------------------- */

static int governs(const zw_model *model)
{
    int any = 0;
    for (int c = 0; c < model->constraint_count; c++) {
        for (int k = 0; k < model->constraint[c].rows; k++) {
            expr_id residual = model->constraint[c].residual[k];
            any |= expr_graph_node(model->graph, residual)->depends & EXPR_ON_SPEED;
        }
    }
    return any != 0;
}

/* The law for this N; N = INFINITY gives (18). */
static model_law law_for(const zw_limit *limit, double N)
{
    model_law law = limit->model->law;
    law.kind = isinf(N) ? MODEL_LAW_MIXED : MODEL_LAW_PENALTY;
    law.alpha = limit->alpha;
    law.beta = limit->beta;
    law.N = N;
    return law;
}

static zw_system *compile(const zw_limit *limit, double N, zw_error *error)
{
    model_law law = law_for(limit, N);
    return system_compile_with_law(limit->model, &law, error);
}

static void read_law(zw_limit *limit)
{
    const model_law *law = &limit->model->law;
    int own = law->kind == MODEL_LAW_MIXED || law->kind == MODEL_LAW_PENALTY;
    limit->alpha = own ? law->alpha : law->kind == MODEL_LAW_VAKONOMIC;
    limit->beta = own ? law->beta : law->kind == MODEL_LAW_NONHOLONOMIC;
}

/* The limit itself must be solvable, and all runs share its sample times. */
static zw_status prepare(zw_limit *limit, const zw_run_options *options, zw_error *error)
{
    zw_run_options plan, requested = options ? *options : (zw_run_options){0};
    if (!governs(limit->model)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "no constraint here has speeds: there is nothing for N to relax");
    }
    zw_system *system = compile(limit, INFINITY, error);
    if (!system) {
        return error ? error->status : ZW_BAD_INPUT;
    }
    double usual = limit->model->run.tolerance > 0 ? limit->model->run.tolerance : 1e-12;
    requested.tolerance = requested.tolerance > 0 ? requested.tolerance : usual;
    requested.observer = NULL;
    zw_status status = run_complete(system, &requested, 0, &plan, error);
    limit->n = system->n;
    limit->m = system->m;
    limit->run = requested; /* each system chooses its own method */
    limit->run.time = plan.time;
    limit->run.every = plan.every > 0 ? plan.every : plan.time / 500;
    zw_system_free(system);
    if (status == ZW_OK && limit->run.time / limit->run.every * limit->n > 1e7) {
        return base_fail(error, ZW_BAD_INPUT, "%.2g samples of every path are too many to compare",
                         limit->run.time / limit->run.every);
    }
    return status;
}

zw_limit *zw_limit_create(const zw_model *model, const zw_run_options *options, zw_error *error)
{
    zw_limit *limit = base_alloc(sizeof *limit);
    if (!limit) {
        base_no_memory(error);
        return NULL;
    }
    limit->model = model;
    read_law(limit);
    if (prepare(limit, options, error) != ZW_OK) {
        zw_limit_free(limit);
        return NULL;
    }
    return limit;
}

static void clear(limit_path *path)
{
    base_free(path->t);
    base_free(path->y);
    base_free(path->lambda);
    *path = (limit_path){0};
}

void zw_limit_free(zw_limit *limit)
{
    if (!limit) {
        return;
    }
    for (int i = 0; i < limit->count; i++) {
        clear(&limit->path[i]);
    }
    base_free(limit->path);
    base_free(limit->row);
    base_free(limit->start);
    base_free(limit);
}

/* ---- One run -------------------------------------------------------------------------------- */

typedef struct watcher {
    zw_limit *limit;
    zw_limit_row *row;
    limit_path *path;
    int failed, stopped;
} watcher;

static int poll(void *user, double time)
{
    watcher *w = user;
    w->stopped |= w->limit->run.poll && w->limit->run.poll(w->limit->run.user, time);
    return w->stopped;
}

/* Phi of the rows with speeds is psi + lambda/N; lambda is N Phi without its round-off. */
static int measure(watcher *w, const zw_system *system, const zw_state *state, zw_work *work)
{
    zw_state *now = (zw_state *)state; /* not modified */
    double flex = isinf(w->row->N) ? 0 : 1 / w->row->N;
    zw_status status = system_evaluate(system, work, PART_VELOCITY, state->t, state_q(now),
                                       state_v(now), NULL, NULL, NULL);
    for (int r = 0; r < system->m && status == ZW_OK; r++) {
        if (system->row_kind[r] == SYSTEM_VELOCITY) {
            double lambda = work->lambda[r];
            w->path->lambda[r] = lambda;
            w->row->phi = fmax(w->row->phi, fabs(work->out[PART_VELOCITY][r] + flex * lambda));
        }
    }
    return status == ZW_OK;
}

static int observe(void *user, zw_sample_kind kind, int event, const zw_system *system,
                   const zw_state *state, zw_work *work)
{
    watcher *w = user;
    limit_path *path = w->path;
    int again = path->count > 0 && path->t[path->count - 1] == state->t;
    size_t row = 2 * (size_t)system->n;
    (void)event;
    if (kind == ZW_SAMPLE_EVENT || again) {
        return 0; /* its time differs from one N to another */
    }
    w->failed =
        !base_list_reserve(&path->t, &path->t_capacity, path->count, sizeof *path->t) ||
        !base_list_reserve(&path->y, &path->y_capacity, path->count, row * sizeof *path->y) ||
        !measure(w, system, state, work);
    if (w->failed) {
        return 1;
    }
    path->t[path->count] = state->t;
    double *y = path->y + (size_t)path->count++ * row;
    memcpy(y, state_q((zw_state *)state), (size_t)system->n * sizeof *y);
    memcpy(y + system->n, state_v((zw_state *)state), (size_t)system->n * sizeof *y);
    return 0;
}

/* Where a `reach` line prescribes an end, the start that leads to it is found under the
 * limit law. */
static zw_status find_start(watcher *w, const zw_system *system, zw_state *state, zw_work *work,
                            zw_error *error)
{
    zw_limit *limit = w->limit;
    zw_reach_report report = {0};
    zw_reach_options options = {.poll = poll, .user = w};
    zw_status status = zw_reach(system, state, work, &options, &report, error);
    if (status != ZW_OK) {
        return report.interrupted ? ZW_OK : status;
    }
    limit->start = base_alloc((2 * (size_t)limit->n + (size_t)limit->m + 1) * sizeof(double));
    if (!limit->start) {
        return base_no_memory(error);
    }
    memcpy(limit->start, state_q(state), (size_t)limit->n * sizeof(double));
    memcpy(limit->start + limit->n, state_v(state), (size_t)limit->n * sizeof(double));
    for (int j = 0; j < system->law.carried; j++) {
        limit->start[2 * limit->n + system->law.row[j]] = state_v(state)[limit->n + j];
    }
    return ZW_OK;
}

/* All runs begin with that start, with N Phi = lambda. */
static zw_status take_start(const zw_limit *limit, const zw_system *system, zw_state *state,
                            zw_work *work, zw_error *error)
{
    double *q = state_q(state), *v = state_v(state);
    memcpy(q, limit->start, (size_t)limit->n * sizeof *q);
    memcpy(v, limit->start + limit->n, (size_t)limit->n * sizeof *v);
    for (int j = 0; j < system->law.carried; j++) {
        v[limit->n + j] = limit->start[2 * limit->n + system->law.row[j]];
    }
    return system_project_velocity(system, work, state->t, q, v, error);
}

static zw_status begin(watcher *w, const zw_system *system, zw_state *state, zw_work *work,
                       zw_error *error)
{
    if (w->limit->start) {
        return take_start(w->limit, system, state, work, error);
    }
    return zw_reach_asked(system) ? find_start(w, system, state, work, error) : ZW_OK;
}

static zw_status run_system(watcher *w, const zw_system *system, const zw_run_options *options,
                            zw_error *error)
{
    zw_run_options own = *options;
    zw_run_summary summary = {0};
    own.observer = observe;
    own.poll = poll;
    own.user = w;
    zw_work *work = zw_work_create(system, error);
    zw_state *state = work ? zw_state_create(system, work, NULL, error) : NULL;
    zw_status status = state   ? begin(w, system, state, work, error)
                       : error ? error->status
                               : ZW_BAD_INPUT;
    if (status == ZW_OK && !w->stopped) {
        status = zw_run(system, state, work, &own, &summary, error);
    }
    w->row->steps = summary.steps;
    w->row->rejected = summary.rejected;
    zw_state_free(state);
    zw_work_free(work);
    return w->failed && status == ZW_OK ? base_no_memory(error) : status;
}

/* Runs the system of this N with these options. */
static zw_status run_one(watcher *w, double N, const zw_run_options *options, zw_error *error)
{
    zw_error failure = {0};
    w->row->N = N;
    w->path->lambda = base_alloc(((size_t)w->limit->m + 1) * sizeof(double));
    zw_system *system = w->path->lambda ? compile(w->limit, N, &failure) : NULL;
    zw_status status = system                    ? run_system(w, system, options, &failure)
                       : !w->path->lambda        ? base_no_memory(&failure)
                       : failure.status == ZW_OK ? ZW_BAD_INPUT
                                                 : failure.status;
    zw_system_free(system);
    if (status != ZW_OK && error) {
        *error = failure;
        error->status = status;
    }
    return status;
}

/* ---- Distances ------------------------------------------------------------------------------ */

static double distance_at(const zw_limit *limit, const limit_path *a, const limit_path *b, int k)
{
    double worst = 0;
    size_t row = 2 * (size_t)limit->n;
    for (size_t i = (size_t)k * row; i < ((size_t)k + 1) * row; i++) {
        worst = fmax(worst, fabs(a->y[i] - b->y[i]) / (1 + fabs(b->y[i])));
    }
    return worst;
}

/* Compares the samples that both paths have: an event may have ended one of them early. */
static void compare(const zw_limit *limit, zw_limit_row *row, const limit_path *path,
                    const limit_path *to)
{
    row->distance = row->distance_end = 0;
    for (int k = 0; k < path->count && k < to->count && path->t[k] == to->t[k]; k++) {
        row->distance_end = distance_at(limit, path, to, k);
        if (row->distance_end > row->distance) {
            row->distance = row->distance_end;
            row->distance_time = to->t[k];
        }
    }
    row->multiplier = 0;
    for (int r = 0; r < limit->m; r++) {
        double gap = fabs(path->lambda[r] - to->lambda[r]) / (1 + fabs(to->lambda[r]));
        row->multiplier = fmax(row->multiplier, gap);
    }
}

/* The error of a run: its distance from a run with ten times the tolerance, by the method that
 * finite N would use. */
static zw_status find_error(zw_limit *limit, const limit_path *path, zw_limit_row *row,
                            int *stopped, zw_error *error)
{
    limit_path other = {0};
    zw_limit_row unused = {0};
    watcher w = {.limit = limit, .row = &unused, .path = &other};
    zw_run_options coarse = limit->run;
    int loose =
        limit->alpha == 0 && coarse.method == ZW_METHOD_DEFAULT && !limit->model->run.method;
    coarse.tolerance = fmin(10 * coarse.tolerance, 0.1);
    coarse.step *= 2;
    coarse.method = loose ? ZW_METHOD_STIFF : coarse.method;
    zw_status status = run_one(&w, INFINITY, &coarse, error);
    if (status == ZW_OK) {
        compare(limit, row, path, &other);
    }
    clear(&other);
    *stopped |= w.stopped;
    return status;
}

zw_status zw_limit_add(zw_limit *limit, double N, zw_error *error)
{
    limit_path path = {0};
    zw_limit_row row = {.ratio = NAN};
    watcher w = {.limit = limit, .row = &row, .path = &path};
    if (!(N > 0) || (limit->count == 0) != (isinf(N) != 0)) {
        return base_fail(
            error, ZW_BAD_INPUT,
            N > 0 ? "the limit, N infinite, is run first and once" : "N is positive, not %g", N);
    }
    int capacity =
        base_list_reserve(&limit->row, &limit->row_capacity, limit->count, sizeof row) &&
        base_list_reserve(&limit->path, &limit->path_capacity, limit->count, sizeof path);
    zw_status status = capacity ? run_one(&w, N, &limit->run, error) : base_no_memory(error);
    if (status == ZW_OK && isinf(N) && !w.stopped) {
        status = find_error(limit, &path, &row, &w.stopped, error);
    } else if (status == ZW_OK && !w.stopped) {
        compare(limit, &row, &path, &limit->path[0]);
        row.ratio = limit->count > 1 ? limit->row[limit->count - 1].distance / row.distance : NAN;
    }
    if (status != ZW_OK || w.stopped) {
        clear(&path);
        return status;
    }
    limit->row[limit->count] = row;
    limit->path[limit->count++] = path;
    return ZW_OK;
}

/* ---- Looking -------------------------------------------------------------------------------- */

int zw_limit_count(const zw_limit *limit)
{
    return limit->count;
}

const zw_limit_row *zw_limit_look(const zw_limit *limit, int row)
{
    return row >= 0 && row < limit->count ? &limit->row[row] : NULL;
}

zw_view zw_limit_path(const zw_limit *limit, int row, zw_field_id field)
{
    const limit_path *path = row >= 0 && row < limit->count ? &limit->path[row] : NULL;
    if (path && field == ZW_FIELD_TIME) {
        return (zw_view){path->t, path->count};
    }
    if (path && field == ZW_FIELD_Q) {
        return (zw_view){path->y, path->count * 2 * limit->n};
    }
    if (path && field == ZW_FIELD_LAMBDA) {
        return (zw_view){path->lambda, limit->m};
    }
    return (zw_view){NULL, 0};
}

const zw_run_options *zw_limit_plan(const zw_limit *limit)
{
    return &limit->run;
}

zw_law zw_limit_law(const zw_limit *limit)
{
    const char *name = limit->alpha == 0  ? "nonholonomic"
                       : limit->beta == 0 ? "vakonomic"
                                          : "mixed";
    return (zw_law){.name = name, .alpha = limit->alpha, .beta = limit->beta, .N = INFINITY};
}

/* Least squares through the last few points that exceed the error. */
zw_limit_order zw_limit_order_of(const zw_limit *limit)
{
    enum { LAST = 4, ABOVE = 10 };
    zw_limit_order o = {.order = NAN};
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int i = limit->count - 1; i > 0 && o.rows < LAST; i--) {
        const zw_limit_row *row = &limit->row[i];
        if (!(row->distance > ABOVE * limit->row[0].distance) || !isfinite(row->distance)) {
            continue;
        }
        double a = log10(row->N), b = log10(row->distance);
        o.to = o.rows++ == 0 ? row->N : o.to;
        o.from = row->N;
        x += a;
        y += b;
        xx += a * a;
        xy += a * b;
    }
    if (o.rows > 1) {
        o.order = -(o.rows * xy - x * y) / (o.rows * xx - x * x);
    }
    return o;
}
