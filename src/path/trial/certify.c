/* Is a recorded path a motion of the system? Theorem 1 of Kozlov (2000).
 *
 * R = [T] - F needs the accelerations of the path. Differentiating a recording twice differentiates
 * its errors twice: an integrator whose positions have errors of 1e-12 on the scale of its steps
 * gives accelerations with errors of 1e-6. But the question is not what the accelerations of the
 * path are, but how they differ from those of the system, and that is a slowly varying function. So
 *
 *     1. fit the positions q(t): speeds and rough accelerations fit.c
 *     2. a_s(t) = accelerations of the system in the states (q, q') certify_model.c
 *     3. p(t) = twice the integral of a_s, which has no noise quadrature.c
 *     4. fit the remainder q - p, and differentiate that: d = a - a_s               fit.c
 *
 * For a motion the remainder is a straight line and the noise of the recording. It can be fitted
 * over long windows at low degree, however fast the motion is, and d is much more accurate than a.
 * So are then the states of step 2 (q = p + remainder); if that matters, steps 2 to 4 are repeated.
 * R = N + M d with the reaction N of a_s; certify_split.c divides it into its parts.
 *
 * The error of d has three parts: that of the fit (fit.c); that of the integration, by comparing
 * two orders; and that of a_s, by evaluating it again with (q, v) perturbed by their errors. */
#include "path/trial/certify.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/dense/small.h"
#include "path/trial/quadrature.h"

enum { PASSES = 5 };

/* The assumed error of integrators on the scale of their steps, relative to the coordinates. */
#define ACCURACY 2e-10
/* Accelerations of the system are accurate enough with this relative error. */
#define ENOUGH 1e-9

/* ---- Room ------------------------------------------------------------------------------------ */

static void lay_out_trial(zw_trial *trial, base_arena *arena)
{
    size_t count = (size_t)trial->count, n = (size_t)trial->n, m = (size_t)trial->m;
    trial->t = base_arena_doubles(arena, count);
    trial->q = base_arena_doubles(arena, count * n);
    trial->v = base_arena_doubles(arena, count * n);
    trial->a = base_arena_doubles(arena, count * n);
    trial->extra = base_arena_doubles(arena, count * n);
    trial->extra_size = base_arena_doubles(arena, count);
    trial->extra_error = base_arena_doubles(arena, count);
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
        base_no_memory(error);
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

static void lay_out(path_certifier *certifier, base_arena *arena)
{
    size_t count = (size_t)certifier->count, n = (size_t)certifier->n, m = (size_t)certifier->m;
    double **by_sample[] = {&certifier->model,   &certifier->react,    &certifier->speed,
                            &certifier->place,   &certifier->remain,   &certifier->blur[0],
                            &certifier->blur[1], &certifier->blur[2],  &certifier->apart,
                            &certifier->rough,   &certifier->probe[0], &certifier->probe[1],
                            &certifier->probe[2]};
    double **single[] = {&certifier->square, &certifier->away, &certifier->energy,
                         &certifier->forces};
    double **by_coord[] = {&certifier->noise, &certifier->accuracy, &certifier->scale,
                           &certifier->size, &certifier->swift};
    for (size_t i = 0; i < sizeof by_sample / sizeof *by_sample; i++) {
        *by_sample[i] = base_arena_doubles(arena, count * n);
    }
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        *single[i] = base_arena_doubles(arena, count);
    }
    for (size_t i = 0; i < sizeof by_coord / sizeof *by_coord; i++) {
        *by_coord[i] = base_arena_doubles(arena, n);
    }
    size_t carried = (size_t)certifier->system->law.carried;
    certifier->carried = base_arena_doubles(arena, count * carried);
    certifier->rate = base_arena_doubles(arena, count * carried);
    certifier->grid_error = base_arena_doubles(arena, count);
    certifier->wide[0] = base_arena_doubles(arena, n + carried);
    certifier->wide[1] = base_arena_doubles(arena, n + carried);
    certifier->modes = base_arena_doubles(arena, (size_t)certifier->constraints);
    certifier->mode = base_arena_bytes(arena, count * (size_t)certifier->constraints);
    certifier->other_mode = base_arena_ints(arena, (size_t)certifier->constraints);
    certifier->start = base_arena_bytes(arena, (count + 1) * sizeof(long));
    certifier->part = base_arena_bytes(arena, (count + 1) * sizeof(long));
    certifier->gap = base_arena_bytes(arena, count);
    for (int i = 0; i < 4; i++) {
        certifier->scratch[i] =
            base_arena_doubles(arena, (certifier->system->sparse ? 1 : n) * n + n + m);
    }
    certifier->factor = base_arena_doubles(arena, certifier->options->metric ? n * n : 0);
}

static zw_status allocate(path_certifier *certifier, zw_error *error)
{
    base_arena arena = {0};
    lay_out(certifier, &arena);
    certifier->memory = base_alloc(arena.used + 1);
    if (!certifier->memory) {
        return base_no_memory(error);
    }
    arena = (base_arena){.block = certifier->memory};
    lay_out(certifier, &arena);
    certify_divide(certifier);
    return ZW_OK;
}

static void release(path_certifier *certifier)
{
    certify_lanes_free(certifier->lanes);
    solver_free(certifier->other);
    solver_free(certifier->bare);
    path_fit_free(&certifier->fit);
    path_fit_free(&certifier->rest);
    zw_work_free(certifier->work);
    base_free(certifier->memory);
}

/* ---- Beginning ------------------------------------------------------------------------------- */

static zw_status set_metric(path_certifier *certifier, zw_error *error)
{
    const double *B = certifier->options->metric;
    int n = certifier->n;
    if (!B) {
        certifier->factor = NULL;
        return ZW_OK;
    }
    if (certifier->system->sparse) {
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
            certifier->factor[i * n + j] = x;
        }
    }
    if (small_ldl(n, certifier->factor, 0)) {
        return base_fail(error, ZW_NOT_A_METRIC, "the metric is not positive definite");
    }
    return ZW_OK;
}

static zw_status set_work(path_certifier *certifier, zw_error *error)
{
    const zw_system *system = certifier->system;
    const zw_model *model = system->model;
    certifier->work = zw_work_create(system, error);
    if (!certifier->work) {
        return ZW_NO_MEMORY;
    }
    double *param = base_alloc(((size_t)system->shape.params + 1) * sizeof *param);
    if (!param) {
        return base_no_memory(error);
    }
    for (int k = 0; k < system->shape.params; k++) {
        param[k] = model->param[k].value;
    }
    system_bind(system, certifier->work, param);
    if (certify_lanes_fit(system)) {
        certifier->lanes = certify_lanes_create(system, param);
    }
    base_free(param);
    if (certify_lanes_fit(system) && !certifier->lanes) {
        return base_no_memory(error);
    }
    for (int c = 0; c < certifier->constraints; c++) {
        certifier->modes[c] =
            model->constraint[c].relation == MODEL_AT_LEAST ? SYSTEM_OPEN : SYSTEM_CLOSED;
        certifier->other_mode[c] = SOLVER_ABSENT;
    }
    if (system->sparse) {
        certifier->bare = solver_create(system, certifier->other_mode, NULL, 0, error);
        if (!certifier->bare) {
            return ZW_NO_MEMORY;
        }
    }
    return system_set_modes(system, certifier->work, certifier->modes, error);
}

/* The size and range of the positions, and the best accuracy they can have. A coordinate that is
 * tiny beside the others shares their rounding errors. */
static void measure(path_certifier *certifier)
{
    const double *q = certifier->path->q;
    double largest = 0;
    int n = certifier->n;
    for (int k = 0; k < n; k++) {
        double least = q[k], most = q[k];
        for (long i = 0; i < certifier->count; i++) {
            least = fmin(least, q[i * n + k]);
            most = fmax(most, q[i * n + k]);
        }
        certifier->size[k] = fmax(fabs(least), fabs(most));
        certifier->scale[k] = most - least;
        largest = fmax(largest, certifier->size[k]);
    }
    for (int k = 0; k < n; k++) {
        certifier->size[k] = fmax(certifier->size[k], 1e-6 * largest);
        certifier->scale[k] = fmax(certifier->scale[k], 1e-6 * certifier->size[k]);
        certifier->accuracy[k] = ACCURACY * certifier->size[k];
        certifier->noise[k] = fmax(2 * DBL_EPSILON, certifier->options->noise) * certifier->size[k];
    }
}

/* ---- Fitting --------------------------------------------------------------------------------- */

/* Fits y in pieces; where it jumps, a piece is divided and fitted again. */
static zw_status fit_parts(path_certifier *certifier, const double *y, path_fit *fit, int *parts,
                           long *start, zw_error *error)
{
    path_samples samples = {.count = certifier->count,
                            .n = certifier->n,
                            .t = certifier->trial->t,
                            .y = y,
                            .noise = certifier->noise,
                            .accuracy = certifier->accuracy,
                            .scale = certifier->scale};
    return path_fit_parts(fit, &samples, parts, start, error);
}

/* The initial states. Recorded positions are used instead of fitted ones, unless there is noise in
 * them; so are recorded speeds, unless they contradict the positions. */
static void start_states(path_certifier *certifier)
{
    const zw_path *path = certifier->path;
    size_t all = (size_t)certifier->count * (size_t)certifier->n;
    long apart = 0;
    for (size_t k = 0; path->v && k < all; k++) {
        apart += fabs(path->v[k] - certifier->fit.y[1][k]) > 6 * certifier->fit.error[1][k];
    }
    const double *v = path->v && apart <= (long)all / 50 ? path->v : certifier->fit.y[1];
    for (size_t k = 0; k < all; k++) {
        size_t c = k % (size_t)certifier->n;
        double much = 10 * certifier->accuracy[c];
        int noisy = certifier->fit.allowed[c] > much * much;
        certifier->trial->q[k] = noisy ? certifier->fit.y[0][k] : certifier->path->q[k];
    }
    memcpy(certifier->trial->v, v, all * sizeof(double));
    for (int d = 0; d < 3; d++) {
        memcpy(certifier->blur[d], certifier->fit.error[d], all * sizeof(double));
    }
    for (size_t k = 0; k < all; k++) {
        double *most = &certifier->swift[k % (size_t)certifier->n];
        *most = fmax(*most, fabs(v[k]));
    }
    double fastest = 0;
    for (int c = 0; c < certifier->n; c++) {
        fastest = fmax(fastest, certifier->swift[c]);
    }
    for (int c = 0; c < certifier->n; c++) {
        certifier->swift[c] = fmax(certifier->swift[c], 1e-6 * fastest);
    }
}

/* ---- The remainder --------------------------------------------------------------------------- */

static void integrate(path_certifier *certifier)
{
    const zw_trial *trial = certifier->trial;
    int n = certifier->n;
    for (int p = 0; p < certifier->pieces; p++) {
        long first = certifier->start[p], length = certifier->start[p + 1] - first, at = first * n;
        size_t one = (size_t)n * sizeof(double);
        memcpy(certifier->speed + at, trial->v + at, one);
        memcpy(certifier->place + at, trial->q + at, one);
        path_integrate(length, trial->t + first, n, certifier->model + at, certifier->speed + at,
                       certifier->rough + at, certifier->scratch[0]);
        path_integrate(length, trial->t + first, n, certifier->speed + at, certifier->place + at,
                       NULL, certifier->scratch[0]);
    }
    for (long k = 0; k < certifier->count * n; k++) {
        certifier->remain[k] = certifier->path->q[k] - certifier->place[k];
    }
}

/* The improved path, and the errors of fit and integration. Where the system is so sensitive that
 * its motion determines the states less well than the fit of the positions, the fit is kept. */
static void put_together(path_certifier *certifier)
{
    zw_trial *trial = certifier->trial;
    const path_fit *rest = &certifier->rest, *fit = &certifier->fit;
    long all = certifier->count * certifier->n, n = certifier->n;
    for (long k = 0; k < all; k++) {
        double rough = certifier->rough[k];
        rough = k >= n ? fmax(rough, certifier->rough[k - n]) : rough;
        rough = k + n < all ? fmax(rough, certifier->rough[k + n]) : rough;
        long i = k / n > 0 ? k / n : 1;
        double h = certifier->count > 1 ? trial->t[i] - trial->t[i - 1] : 0;
        int better = rest->error[1][k] <= 2 * fit->error[1][k] || !isfinite(fit->error[1][k]);
        trial->q[k] = better ? certifier->place[k] + rest->y[0][k] : fit->y[0][k];
        trial->v[k] = better ? certifier->speed[k] + rest->y[1][k] : fit->y[1][k];
        trial->a[k] = certifier->model[k] + rest->y[2][k];
        certifier->apart[k] = rest->y[2][k];
        certifier->blur[0][k] = better ? rest->error[0][k] : fit->error[0][k];
        certifier->blur[1][k] = better ? rest->error[1][k] + 8 * h * rough : fit->error[1][k];
        certifier->blur[2][k] = sqrt(rest->error[2][k] * rest->error[2][k] + rough * rough);
    }
}

/* What the errors of (q, v) do to a_s: evaluated again at every few samples, with the improved path
 * perturbed by its errors with alternating signs. Returns the mean square relative to that of the
 * other errors. */
static zw_status probe(path_certifier *certifier, double *share, zw_error *error)
{
    const zw_trial *trial = certifier->trial;
    long every = certifier->count > 4000 ? 8 : certifier->count > 400 ? 4 : 1;
    int n = certifier->n;
    double **try = certifier->probe, mine = 0, others = 0, all = 0;
    unsigned sign = 1;
    for (long i = 0; i < certifier->count; i += every) {
        for (long k = i * n; k < (i + 1) * n; k++) {
            for (int d = 0; d < 2; d++) {
                double e = isfinite(certifier->blur[d][k]) ? certifier->blur[d][k] : 0;
                sign = sign * 1664525u + 1013904223u;
                try[d][k] = (d ? trial->v[k] : trial->q[k]) + (sign >> 31 ? e : -e);
            }
        }
    }
    zw_status status = certify_model(certifier, try[0], try[1], try[2], every, error);
    for (long i = 0; i < certifier->count && status == ZW_OK; i++) {
        long before = i / every * every;
        long after = before + every < certifier->count ? before + every : before;
        for (int k = 0; k < n; k++) {
            double x = try[2][before * n + k] - certifier->model[before * n + k];
            double y = try[2][after * n + k] - certifier->model[after * n + k];
            double *blur = &certifier->blur[2][i * n + k], e = fmax(fabs(x), fabs(y));
            if (isfinite(*blur) && certifier->scale[k] > 0) {
                double a = certifier->model[i * n + k] / certifier->scale[k];
                mine += e * e / (certifier->scale[k] * certifier->scale[k]);
                all += a * a;
                others += *blur * *blur / (certifier->scale[k] * certifier->scale[k]);
            }
            *blur = sqrt(*blur * *blur + e * e);
            certifier->rough[i * n + k] = fmax(certifier->rough[i * n + k], e);
        }
    }
    *share = others > 0 && mine > ENOUGH * ENOUGH * all ? sqrt(mine / others) : 0;
    return status;
}

static zw_status remainder_of(path_certifier *certifier, zw_error *error)
{
    zw_trial *trial = certifier->trial;
    double share = INFINITY, last;
    zw_status status = ZW_OK;
    for (int pass = 0; pass < PASSES && status == ZW_OK; pass++) {
        last = share;
        status = certify_law_find(certifier, pass == 0 ? certifier->fit.y[2] : trial->a, error);
        if (status != ZW_OK) {
            break;
        }
        status = certify_model(certifier, trial->q, trial->v, certifier->model, 1, error);
        if (status != ZW_OK) {
            break;
        }
        integrate(certifier);
        certifier->parts = certifier->pieces;
        memcpy(certifier->part, certifier->start,
               ((size_t)certifier->pieces + 1) * sizeof *certifier->part);
        status = fit_parts(certifier, certifier->remain, &certifier->rest, &certifier->parts,
                           certifier->part, error);
        if (status == ZW_OK) {
            put_together(certifier);
            status = probe(certifier, &share, error);
        }
        int first = pass == 0 && certify_law_varies(certifier); /* lambda can still be improved */
        if (!first && (share < 1 || !(share < 0.5 * last))) {
            break;
        }
    }
    return status;
}

/* ---- The trial ------------------------------------------------------------------------------- */

static zw_status try_path(path_certifier *certifier, zw_error *error)
{
    zw_status status = allocate(certifier, error);
    status = status == ZW_OK ? set_metric(certifier, error) : status;
    status = status == ZW_OK ? set_work(certifier, error) : status;
    if (status == ZW_OK) {
        measure(certifier);
        status = fit_parts(certifier, certifier->path->q, &certifier->fit, &certifier->pieces,
                           certifier->start, error);
    }
    if (status == ZW_OK) {
        start_states(certifier);
        status = remainder_of(certifier, error);
    }
    status = status == ZW_OK ? certify_split(certifier, error) : status;
    status = status == ZW_OK ? certify_jumps(certifier, error) : status;
    return status == ZW_OK ? certify_report(certifier, error) : status;
}

zw_trial *zw_path_certify(const zw_system *system, const zw_path *path,
                          const zw_certify_options *options, zw_error *error)
{
    static const zw_certify_options usual = {0};
    path_certifier certifier = {.system = system,
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
    certifier.trial = create_trial(system, path, error);
    zw_status status = certifier.trial ? try_path(&certifier, error) : ZW_NO_MEMORY;
    release(&certifier);
    if (status != ZW_OK) {
        zw_trial_free(certifier.trial);
        return NULL;
    }
    return certifier.trial;
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
        return (zw_view){trial->extra_size, count};
    case ZW_SERIES_EXTRA_ERROR:
        return (zw_view){trial->extra_error, count};
    case ZW_SERIES_LAMBDA:
        return (zw_view){trial->lambda, count * trial->m};
    case ZW_SERIES_POWER:
        return (zw_view){trial->power, count};
    }
    return (zw_view){0};
}
