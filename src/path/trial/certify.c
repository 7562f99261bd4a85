/* Is a recorded path a motion of the system? Theorem 1 of Kozlov (2000).
 *
 * R = [T] - F needs the accelerations of the path. To differentiate a recording twice is to
 * differentiate its errors twice: an integrator that errs by 1e-12 on the scale of its steps errs
 * by 1e-6 in what its output says of the accelerations. But the question is not how the path
 * accelerates, it is how it accelerates otherwise than the system would, and that is a quiet
 * function. So
 *
 *     1. fit the positions q(t): speeds, roughly accelerations                      fit.c
 *     2. a_s(t) = what the system would do in the states (q, q')                    certify_model.c
 *     3. p(t) = twice the integral of a_s, a function that has no noise             quadrature.c
 *     4. fit the remainder q - p, and differentiate that: d = a - a_s               fit.c
 *
 * For a motion the remainder is a straight line and the noise of the recording. It can be fitted
 * over long windows at low degree, however fast the motion is, and d is known much better than a.
 * The states of step 2 are then known better as well (q = p + remainder), and if it matters, steps
 * 2 to 4 are done again. R = N + M d with the reaction N of a_s, and its parts are those of
 * certify_split.c.
 *
 * Errors of d: that of the fit (fit.c); of the integration, by comparing two orders; of a_s, by
 * moving (q, v) by their errors and seeing what a_s does. */
#include "path/trial/certify.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/dense/small.h"
#include "path/trial/quadrature.h"

enum { PASSES = 5 };

/* Integrators err by this much of the coordinates at most, on the scale of their steps. */
#define ACCURACY 2e-10
/* Accelerations of the system need not be known better than to this part of them. */
#define ENOUGH 1e-9

/* ---- Room -------------------------------------------------------------------------------------
 */

static zw_status no_memory(zw_error *error)
{
    return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
}

static void lay_out_trial(zw_trial *trial, base_arena *arena)
{
    size_t count = (size_t)trial->count, n = (size_t)trial->n, m = (size_t)trial->m;
    trial->t = base_arena_doubles(arena, count);
    trial->q = base_arena_doubles(arena, count * n);
    trial->v = base_arena_doubles(arena, count * n);
    trial->a = base_arena_doubles(arena, count * n);
    trial->extra = base_arena_doubles(arena, count * n);
    trial->hand_size = base_arena_doubles(arena, count);
    trial->hand_error = base_arena_doubles(arena, count);
    trial->lambda = base_arena_doubles(arena, count * m);
    trial->power = base_arena_doubles(arena, count);
    trial->start = base_arena_bytes(arena, (count + 1) * sizeof(long));
}

static zw_trial *create_trial(const zw_system *system, const zw_path *path, zw_error *error)
{
    zw_trial *trial = base_alloc(sizeof *trial);
    base_arena arena = {0};
    if (trial) {
        trial->system = system;
        trial->count = path->count;
        trial->n = system->n;
        trial->m = system->m;
        lay_out_trial(trial, &arena);
        trial->memory = base_alloc(arena.used + 1);
    }
    if (!trial || !trial->memory) {
        base_free(trial);
        no_memory(error);
        return NULL;
    }
    arena = (base_arena){.block = trial->memory};
    lay_out_trial(trial, &arena);
    memcpy(trial->t, path->t, (size_t)path->count * sizeof(double));
    trial->report = (zw_trial_report){.samples = path->count,
                                      .start = path->t[0],
                                      .end = path->t[path->count - 1],
                                      .violation_constraint = -1,
                                      .worst_coord = -1};
    return trial;
}

static void lay_out(path_judge *judge, base_arena *arena)
{
    size_t count = (size_t)judge->count, n = (size_t)judge->n, m = (size_t)judge->m;
    double **by_sample[] = {&judge->model,   &judge->react,   &judge->speed,    &judge->place,
                            &judge->remain,  &judge->blur[0], &judge->blur[1],  &judge->blur[2],
                            &judge->apart,   &judge->rough,   &judge->probe[0], &judge->probe[1],
                            &judge->probe[2]};
    double **single[] = {&judge->square, &judge->away, &judge->energy, &judge->forces};
    double **by_coord[] = {&judge->noise, &judge->accuracy, &judge->scale, &judge->size,
                           &judge->swift};
    for (size_t i = 0; i < sizeof by_sample / sizeof *by_sample; i++) {
        *by_sample[i] = base_arena_doubles(arena, count * n);
    }
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        *single[i] = base_arena_doubles(arena, count);
    }
    for (size_t i = 0; i < sizeof by_coord / sizeof *by_coord; i++) {
        *by_coord[i] = base_arena_doubles(arena, n);
    }
    size_t carried = (size_t)judge->system->law.carried;
    judge->carried = base_arena_doubles(arena, count * carried);
    judge->rate = base_arena_doubles(arena, count * carried);
    judge->grid_error = base_arena_doubles(arena, count);
    judge->wide[0] = base_arena_doubles(arena, n + carried);
    judge->wide[1] = base_arena_doubles(arena, n + carried);
    judge->modes = base_arena_doubles(arena, (size_t)judge->constraints);
    judge->mode = base_arena_bytes(arena, count * (size_t)judge->constraints);
    judge->other_mode = base_arena_ints(arena, (size_t)judge->constraints);
    judge->start = base_arena_bytes(arena, (count + 1) * sizeof(long));
    judge->part = base_arena_bytes(arena, (count + 1) * sizeof(long));
    for (int i = 0; i < 4; i++) {
        judge->room[i] = base_arena_doubles(arena, (judge->system->sparse ? 1 : n) * n + n + m);
    }
    judge->factor = base_arena_doubles(arena, judge->options->metric ? n * n : 0);
}

static zw_status allocate(path_judge *judge, zw_error *error)
{
    base_arena arena = {0};
    lay_out(judge, &arena);
    judge->memory = base_alloc(arena.used + 1);
    if (!judge->memory) {
        return no_memory(error);
    }
    arena = (base_arena){.block = judge->memory};
    lay_out(judge, &arena);
    memcpy(judge->start, judge->path->start,
           ((size_t)judge->path->pieces + 1) * sizeof *judge->start);
    judge->pieces = judge->path->pieces;
    return ZW_OK;
}

static void release(path_judge *judge)
{
    judge_lanes_free(judge->lanes);
    solver_free(judge->other);
    solver_free(judge->bare);
    path_fit_free(&judge->fit);
    path_fit_free(&judge->rest);
    zw_work_free(judge->work);
    base_free(judge->memory);
}

/* ---- Beginning --------------------------------------------------------------------------------
 */

static zw_status set_metric(path_judge *judge, zw_error *error)
{
    const double *B = judge->options->metric;
    int n = judge->n;
    if (!B) {
        judge->factor = NULL;
        return ZW_OK;
    }
    if (judge->system->sparse) {
        return base_fail(
            error, ZW_BAD_INPUT,
            "a metric other than the masses' is not supported for systems of this size");
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double x = B[i * n + j], y = B[j * n + i];
            if (!isfinite(x) || !(fabs(x - y) <= 1e-12 * (fabs(x) + fabs(y)))) {
                return base_fail(error, ZW_NOT_A_METRIC, "the metric is not symmetric");
            }
            judge->factor[i * n + j] = x;
        }
    }
    if (small_ldl(n, judge->factor, 0)) {
        return base_fail(error, ZW_NOT_A_METRIC, "the metric is not positive definite");
    }
    return ZW_OK;
}

static zw_status set_work(path_judge *judge, zw_error *error)
{
    const zw_system *system = judge->system;
    const zw_model *model = system->model;
    judge->work = zw_work_create(system, error);
    if (!judge->work) {
        return ZW_NO_MEMORY;
    }
    double *param = base_alloc(((size_t)system->shape.params + 1) * sizeof *param);
    if (!param) {
        return no_memory(error);
    }
    for (int k = 0; k < system->shape.params; k++) {
        param[k] = model->param[k].value;
    }
    system_bind(system, judge->work, param);
    if (judge_lanes_fit(system)) {
        judge->lanes = judge_lanes_create(system, param);
    }
    base_free(param);
    if (judge_lanes_fit(system) && !judge->lanes) {
        return no_memory(error);
    }
    for (int c = 0; c < judge->constraints; c++) {
        judge->modes[c] =
            model->constraint[c].relation == MODEL_AT_LEAST ? SYSTEM_OPEN : SYSTEM_CLOSED;
        judge->other_mode[c] = SOLVER_ABSENT;
    }
    if (system->sparse) {
        judge->bare = solver_create(system, judge->other_mode, NULL, 0, error);
        if (!judge->bare) {
            return ZW_NO_MEMORY;
        }
    }
    return system_set_modes(system, judge->work, judge->modes, error);
}

/* How large and how wide the positions are, and how exact they can be at best. A coordinate that is
 * nothing beside the others has its share of their rounding. */
static void measure(path_judge *judge)
{
    const double *q = judge->path->q;
    double largest = 0;
    int n = judge->n;
    for (int k = 0; k < n; k++) {
        double least = q[k], most = q[k];
        for (long i = 0; i < judge->count; i++) {
            least = fmin(least, q[i * n + k]);
            most = fmax(most, q[i * n + k]);
        }
        judge->size[k] = fmax(fabs(least), fabs(most));
        judge->scale[k] = most - least;
        largest = fmax(largest, judge->size[k]);
    }
    for (int k = 0; k < n; k++) {
        judge->size[k] = fmax(judge->size[k], 1e-6 * largest);
        judge->scale[k] = fmax(judge->scale[k], 1e-6 * judge->size[k]);
        judge->accuracy[k] = ACCURACY * judge->size[k];
        judge->noise[k] = fmax(2 * DBL_EPSILON, judge->options->noise) * judge->size[k];
    }
}

/* ---- Fitting ----------------------------------------------------------------------------------
 */

/* Fit y in parts; where it jumps, part it further and fit again. */
static zw_status fit_parts(path_judge *judge, const double *y, path_fit *fit, int *parts,
                           long *start, zw_error *error)
{
    path_samples samples = {.count = judge->count,
                            .n = judge->n,
                            .t = judge->trial->t,
                            .y = y,
                            .noise = judge->noise,
                            .accuracy = judge->accuracy,
                            .scale = judge->scale};
    return path_fit_parts(fit, &samples, parts, start, error);
}

/* The states to begin with. Recorded positions are exact where the fit's are not, unless there is
 * noise in them; so are recorded speeds, unless they contradict the positions. */
static void start_states(path_judge *judge)
{
    const zw_path *path = judge->path;
    size_t all = (size_t)judge->count * (size_t)judge->n;
    long apart = 0;
    for (size_t k = 0; path->v && k < all; k++) {
        apart += fabs(path->v[k] - judge->fit.y[1][k]) > 6 * judge->fit.error[1][k];
    }
    const double *v = path->v && apart <= (long)all / 50 ? path->v : judge->fit.y[1];
    for (size_t k = 0; k < all; k++) {
        size_t c = k % (size_t)judge->n;
        double much = 10 * judge->accuracy[c];
        int noisy = judge->fit.allowed[c] > much * much;
        judge->trial->q[k] = noisy ? judge->fit.y[0][k] : judge->path->q[k];
    }
    memcpy(judge->trial->v, v, all * sizeof(double));
    for (int d = 0; d < 3; d++) {
        memcpy(judge->blur[d], judge->fit.error[d], all * sizeof(double));
    }
    for (size_t k = 0; k < all; k++) {
        double *most = &judge->swift[k % (size_t)judge->n];
        *most = fmax(*most, fabs(v[k]));
    }
    double fastest = 0;
    for (int c = 0; c < judge->n; c++) {
        fastest = fmax(fastest, judge->swift[c]);
    }
    for (int c = 0; c < judge->n; c++) {
        judge->swift[c] = fmax(judge->swift[c], 1e-6 * fastest);
    }
}

/* ---- The remainder ----------------------------------------------------------------------------
 */

static void integrate(path_judge *judge)
{
    const zw_trial *trial = judge->trial;
    int n = judge->n;
    for (int p = 0; p < judge->pieces; p++) {
        long first = judge->start[p], length = judge->start[p + 1] - first, at = first * n;
        size_t one = (size_t)n * sizeof(double);
        memcpy(judge->speed + at, trial->v + at, one);
        memcpy(judge->place + at, trial->q + at, one);
        path_integrate(length, trial->t + first, n, judge->model + at, judge->speed + at,
                       judge->rough + at, judge->room[0]);
        path_integrate(length, trial->t + first, n, judge->speed + at, judge->place + at, NULL,
                       judge->room[0]);
    }
    for (long k = 0; k < judge->count * n; k++) {
        judge->remain[k] = judge->path->q[k] - judge->place[k];
    }
}

/* The better path, and the errors of fit and integration. Where the system is so sensitive that its
 * motion says less of the states than the fit of the positions, the fit stands. */
static void put_together(path_judge *judge)
{
    zw_trial *trial = judge->trial;
    const path_fit *rest = &judge->rest, *fit = &judge->fit;
    long all = judge->count * judge->n, n = judge->n;
    for (long k = 0; k < all; k++) {
        double rough = judge->rough[k];
        rough = k >= n ? fmax(rough, judge->rough[k - n]) : rough;
        rough = k + n < all ? fmax(rough, judge->rough[k + n]) : rough;
        long i = k / n > 0 ? k / n : 1;
        double h = judge->count > 1 ? trial->t[i] - trial->t[i - 1] : 0;
        int better = rest->error[1][k] <= 2 * fit->error[1][k] || !isfinite(fit->error[1][k]);
        trial->q[k] = better ? judge->place[k] + rest->y[0][k] : fit->y[0][k];
        trial->v[k] = better ? judge->speed[k] + rest->y[1][k] : fit->y[1][k];
        trial->a[k] = judge->model[k] + rest->y[2][k];
        judge->apart[k] = rest->y[2][k];
        judge->blur[0][k] = better ? rest->error[0][k] : fit->error[0][k];
        judge->blur[1][k] = better ? rest->error[1][k] + 8 * h * rough : fit->error[1][k];
        judge->blur[2][k] = sqrt(rest->error[2][k] * rest->error[2][k] + rough * rough);
    }
}

/* What the errors of (q, v) do to a_s: evaluated again at every few samples, at the better path
 * moved by its errors with changing signs. Answers the mean square relative to that of the other
 * errors. */
static zw_status probe(path_judge *judge, double *share, zw_error *error)
{
    const zw_trial *trial = judge->trial;
    long every = judge->count > 4000 ? 8 : judge->count > 400 ? 4 : 1;
    int n = judge->n;
    double **try = judge->probe, mine = 0, others = 0, all = 0;
    unsigned sign = 1;
    for (long i = 0; i < judge->count; i += every) {
        for (long k = i * n; k < (i + 1) * n; k++) {
            for (int d = 0; d < 2; d++) {
                double e = isfinite(judge->blur[d][k]) ? judge->blur[d][k] : 0;
                sign = sign * 1664525u + 1013904223u;
                try[d][k] = (d ? trial->v[k] : trial->q[k]) + (sign >> 31 ? e : -e);
            }
        }
    }
    zw_status status = judge_model(judge, try[0], try[1], try[2], every, error);
    for (long i = 0; i < judge->count && status == ZW_OK; i++) {
        long before = i / every * every;
        long after = before + every < judge->count ? before + every : before;
        for (int k = 0; k < n; k++) {
            double x = try[2][before * n + k] - judge->model[before * n + k];
            double y = try[2][after * n + k] - judge->model[after * n + k];
            double *blur = &judge->blur[2][i * n + k], e = fmax(fabs(x), fabs(y));
            if (isfinite(*blur) && judge->scale[k] > 0) {
                double a = judge->model[i * n + k] / judge->scale[k];
                mine += e * e / (judge->scale[k] * judge->scale[k]);
                all += a * a;
                others += *blur * *blur / (judge->scale[k] * judge->scale[k]);
            }
            *blur = sqrt(*blur * *blur + e * e);
            judge->rough[i * n + k] = fmax(judge->rough[i * n + k], e);
        }
    }
    *share = others > 0 && mine > ENOUGH * ENOUGH * all ? sqrt(mine / others) : 0;
    return status;
}

static zw_status remainder_of(path_judge *judge, zw_error *error)
{
    zw_trial *trial = judge->trial;
    double share = INFINITY, last;
    zw_status status = ZW_OK;
    for (int pass = 0; pass < PASSES && status == ZW_OK; pass++) {
        last = share;
        status = judge_law_find(judge, pass == 0 ? judge->fit.y[2] : trial->a, error);
        if (status != ZW_OK) {
            break;
        }
        status = judge_model(judge, trial->q, trial->v, judge->model, 1, error);
        if (status != ZW_OK) {
            break;
        }
        integrate(judge);
        judge->parts = judge->pieces;
        memcpy(judge->part, judge->start, ((size_t)judge->pieces + 1) * sizeof *judge->part);
        status = fit_parts(judge, judge->remain, &judge->rest, &judge->parts, judge->part, error);
        if (status == ZW_OK) {
            put_together(judge);
            status = probe(judge, &share, error);
        }
        int first = pass == 0 && judge_law_varies(judge); /* lambda is not as good as it can be */
        if (!first && (share < 1 || !(share < 0.5 * last))) {
            break;
        }
    }
    return status;
}

/* ---- The trial --------------------------------------------------------------------------------
 */

static zw_status try_path(path_judge *judge, zw_error *error)
{
    zw_status status = allocate(judge, error);
    status = status == ZW_OK ? set_metric(judge, error) : status;
    status = status == ZW_OK ? set_work(judge, error) : status;
    if (status == ZW_OK) {
        measure(judge);
        status = fit_parts(judge, judge->path->q, &judge->fit, &judge->pieces, judge->start, error);
    }
    if (status == ZW_OK) {
        start_states(judge);
        status = remainder_of(judge, error);
    }
    status = status == ZW_OK ? judge_split(judge, error) : status;
    status = status == ZW_OK ? judge_jumps(judge, error) : status;
    return status == ZW_OK ? judge_report(judge, error) : status;
}

zw_trial *zw_path_certify(const zw_system *system, const zw_path *path,
                          const zw_certify_options *options, zw_error *error)
{
    static const zw_certify_options usual = {0};
    path_judge judge = {.system = system,
                        .path = path,
                        .options = options ? options : &usual,
                        .n = system->n,
                        .m = system->m,
                        .constraints = system->model->constraint_count,
                        .count = path->count,
                        .jump_coord = -1,
                        .clash = -1};
    if (system->nq != system->n) {
        base_fail(error, ZW_BAD_INPUT,
                  "recordings with quaternions cannot be certified yet, and there are %d "
                  "coordinates for %d speeds",
                  system->nq, system->n);
        return NULL;
    }
    if (path->n != system->n) {
        base_fail(error, ZW_BAD_INPUT, "the path has %d coordinates, the system %d", path->n,
                  system->n);
        return NULL;
    }
    if (system->carried > system->law.carried) {
        base_fail(error, ZW_BAD_INPUT,
                  "activations of actuators are part of the state, and a recording of coordinates "
                  "does not have them: %s",
                  zw_name(system, ZW_KIND_ACTIVATION, 0));
        return NULL;
    }
    judge.trial = create_trial(system, path, error);
    zw_status status = judge.trial ? try_path(&judge, error) : ZW_NO_MEMORY;
    release(&judge);
    if (status != ZW_OK) {
        zw_trial_free(judge.trial);
        return NULL;
    }
    return judge.trial;
}

const zw_trial_report *zw_trial_look(const zw_trial *trial)
{
    return &trial->report;
}

void zw_trial_free(zw_trial *trial)
{
    if (trial) {
        base_free(trial->memory);
        base_free(trial);
    }
}

zw_view zw_trial_series_of(const zw_trial *trial, zw_trial_series series)
{
    int count = (int)trial->count, wide = count * trial->n;
    switch (series) {
    case ZW_SERIES_TIME:
        return (zw_view){trial->t, count};
    case ZW_SERIES_Q:
        return (zw_view){trial->q, wide};
    case ZW_SERIES_V:
        return (zw_view){trial->v, wide};
    case ZW_SERIES_A:
        return (zw_view){trial->a, wide};
    case ZW_SERIES_EXTRA:
        return (zw_view){trial->extra, wide};
    case ZW_SERIES_EXTRA_SIZE:
        return (zw_view){trial->hand_size, count};
    case ZW_SERIES_EXTRA_ERROR:
        return (zw_view){trial->hand_error, count};
    case ZW_SERIES_LAMBDA:
        return (zw_view){trial->lambda, count * trial->m};
    case ZW_SERIES_POWER:
        return (zw_view){trial->power, count};
    }
    return (zw_view){0};
}
