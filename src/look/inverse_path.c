/* Inverse dynamics along a recording.
 *
 * Positions are as recorded; speeds too, if they were. Accelerations are the derivative of a fit of
 * the speeds, or the second one of a fit of the positions (path/fit/fit.c), which also estimates
 * their errors. The size of these errors e in Gauss's measure, sqrt(e' M e), is reported with the
 * residual: a residual of that size is insignificant.
 *
 * Rest and contact must not be decided below the errors: speeds within six errors of zero count as
 * zero, and so do gaps and accelerations. */
#include "look/inverse_path.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/inverse.h"
#include "path/fit/fit.h"
#include "path/path.h"
#include "path/trial/quadrature.h"

enum { NAME = 300, DEVIATIONS = 6 };
#define ACCURACY                                                                                   \
    2e-10 /* relative: the assumed error of integrators on the scale of their steps                \
           */

#define FAR 0.5   /* of the range of a coordinate: what its speeds may lead elsewhere, */
#define SURE 20.0 /* and so many times the noise; */
#define SMALL                                                                                      \
    1e-6           /* coordinates that move less than this part of the largest are not compared,   \
                    */
#define NONE 1e-12 /* nor those that rest but for round-off */

typedef struct along {
    const zw_model *model;
    const zw_system *system;
    const zw_path *path;
    const zw_inverse_options *options;
    zw_inverse_path *table;
    path_fit fit;
    double *scale, *noise, *accuracy; /* [n] */
    long *start;
    int parts;
    const double *a, *a_error; /* [count * n] */
    double error[3];           /* of q, v, a, typical; a: relative to its size */
    zw_state *state;
    zw_inverse *inverse;
    double *row;
    double demand; /* of the sample, in the measure of the residual */
} along;

/* ---- The fit -------------------------------------------------------------------------------- */

static void measure(along *s, const double *y)
{
    int n = s->system->n;
    double largest = 0;
    for (int k = 0; k < n; k++) {
        double least = y[k], most = y[k];
        for (long i = 0; i < s->path->count; i++) {
            least = fmin(least, y[i * n + k]);
            most = fmax(most, y[i * n + k]);
        }
        s->scale[k] = most - least;
        s->accuracy[k] = fmax(fabs(least), fabs(most));
        largest = fmax(largest, s->accuracy[k]);
    }
    for (int k = 0; k < n; k++) {
        double size = fmax(s->accuracy[k], 1e-6 * largest);
        s->scale[k] = fmax(s->scale[k], 1e-6 * size);
        s->noise[k] = fmax(2 * DBL_EPSILON, s->options->noise) * size;
        s->accuracy[k] = ACCURACY * size;
    }
}

/* Root mean square of what is finite. */
static double typical(const double *x, size_t count)
{
    double sum = 0;
    size_t used = 0;
    for (size_t k = 0; k < count; k++) {
        if (isfinite(x[k])) {
            sum += x[k] * x[k];
            used++;
        }
    }
    return used > 0 ? sqrt(sum / (double)used) : 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median size of what scatters from sample to sample in column k of y: of fourth differences,
 * which are sqrt(70) times as large for white noise. */
static double scatter(const zw_path *path, const double *y, int k, double *room)
{
    int n = path->n;
    long count = 0;
    for (long i = 0; i + 4 < path->count; i++) {
        const double *at = y + i * n + k;
        room[count++] =
            fabs(at[0] - 4 * at[n] + 6 * at[2 * n] - 4 * at[3 * n] + at[4 * n]) / sqrt(70);
    }
    qsort(room, (size_t)count, sizeof *room, by_size);
    return count > 0 ? room[count / 2] : 0;
}

/* Speeds that lead elsewhere than the positions, by more than FAR of their range and SURE times
 * what noise and the integration explain, are in other units or belong to something else. Forces
 * from them would be wrong however well they are fitted. */
static zw_status compare(const along *s, double *room, zw_error *error)
{
    const zw_path *path = s->path;
    const double *q = path->q, *t = path->t;
    int n = path->n;
    size_t all = (size_t)path->count * (size_t)n;
    double *apart = room, *rough = room + all, *spare = room + 2 * all, largest = 0;
    for (size_t i = 0; i < all; i++) {
        largest = fmax(largest, fabs(q[i]));
    }
    for (int p = 0; p < path->pieces; p++) {
        long first = path->start[p], length = path->start[p + 1] - first;
        memset(apart + first * n, 0, (size_t)n * sizeof *apart);
        path_integrate(length, t + first, n, path->v + first * n, apart + first * n,
                       rough + first * n, spare);
        for (long i = first * n; i < (first + length) * n; i++) {
            apart[i] -= q[i] - q[first * n + (i - first * n) % n];
        }
    }
    for (int k = 0; k < n; k++) {
        double least = q[k], most = q[k], off = 0, doubt = SMALL * largest + NONE;
        for (long i = 0; i < path->count; i++) {
            least = fmin(least, q[i * n + k]);
            most = fmax(most, q[i * n + k]);
            off = fmax(off, fabs(apart[i * n + k]));
            doubt += i > 0 ? rough[i * n + k] * (t[i] - t[i - 1]) : 0;
        }
        double time = t[path->count - 1] - t[0];
        doubt += SURE * (scatter(path, apart, k, spare) +
                         scatter(path, path->v, k, spare) * time / sqrt((double)path->count));
        if (off > FAR * (most - least) + doubt) {
            return path_fail(path, error, ZW_BAD_INPUT, 0,
                             "the recorded speeds of %s are not those of its positions: they lead "
                             "%.3g away from them, which have a range of %.3g",
                             zw_name(s->system, ZW_KIND_COORD, k), off, most - least);
        }
    }
    return ZW_OK;
}

static zw_status compare_speeds(const along *s, zw_error *error)
{
    size_t all = (size_t)s->path->count * (size_t)s->system->n;
    double *room = base_alloc((3 * all + 1) * sizeof *room);
    zw_status status = room ? compare(s, room, error) : base_no_memory(error);
    base_free(room);
    return status;
}

static zw_status fit_motion(along *s, zw_error *error)
{
    const zw_path *path = s->path;
    int n = s->system->n, by_speed = path->v != NULL;
    size_t all = (size_t)path->count * (size_t)n;
    if (!by_speed && s->system->nq != n) {
        return path_fail(path, error, ZW_BAD_INPUT, 0,
                         "where there are quaternions (%d coordinates for %d speeds), the speeds "
                         "must be recorded, all of them",
                         s->system->nq, n);
    }
    if (by_speed && s->system->nq == n && compare_speeds(s, error) != ZW_OK) {
        return ZW_BAD_INPUT;
    }
    const double *y = by_speed ? path->v : path->q;
    measure(s, y);
    path_samples samples = {.count = path->count,
                            .n = n,
                            .t = path->t,
                            .y = y,
                            .noise = s->noise,
                            .accuracy = s->accuracy,
                            .scale = s->scale};
    memcpy(s->start, path->start, ((size_t)path->pieces + 1) * sizeof *s->start);
    s->parts = path->pieces;
    zw_status status = path_fit_parts(&s->fit, &samples, &s->parts, s->start, error);
    if (status != ZW_OK) {
        return status;
    }
    s->a = s->fit.y[by_speed ? 1 : 2];
    s->a_error = s->fit.error[by_speed ? 1 : 2];
    s->error[0] = by_speed ? 0 : typical(s->fit.error[0], all);
    s->error[1] = typical(s->fit.error[by_speed ? 0 : 1], all);
    s->error[2] = typical(s->a_error, all) / fmax(typical(s->a, all), DBL_MIN);
    s->table->report.error_acceleration = typical(s->a_error, all);
    return ZW_OK;
}

/* ---- The table ------------------------------------------------------------------------------ */

static zw_status add_name(along *s, const char *kind, const char *name, zw_error *error)
{
    char text[NAME];
    if (name) {
        snprintf(text, sizeof text, "%s(%.200s)", kind, name);
    } else {
        snprintf(text, sizeof text, "%s", kind);
    }
    char *copy = base_alloc(strlen(text) + 1);
    if (!copy) {
        return base_no_memory(error);
    }
    memcpy(copy, text, strlen(text) + 1);
    s->table->name[s->table->columns++] = copy;
    return ZW_OK;
}

static zw_status add_names(along *s, zw_error *error)
{
    const zw_system *system = s->system;
    zw_status status = add_name(s, "t", NULL, error);
    static const char *const of_motor[] = {"force", "control"};
    for (int what = 0; what < 2; what++) {
        for (int k = 0; k < zw_inverse_motors(s->inverse) && status == ZW_OK; k++) {
            status = add_name(s, of_motor[what], zw_inverse_motor_name(s->inverse, k), error);
        }
    }
    for (int k = 0; k < s->inverse->drives && status == ZW_OK; k++) {
        status = add_name(s, "drive", zw_name(system, ZW_KIND_SPEED, s->inverse->drive[k]), error);
    }
    for (int r = 0; r < system->m && status == ZW_OK; r++) {
        char name[NAME];
        int c = system->row_constraint[r], first = system->first_row[c];
        if (system->first_row[c + 1] - first > 1) {
            snprintf(name, sizeof name, "%.200s.%d", zw_name(system, ZW_KIND_ROW, r),
                     1 + r - first);
        } else {
            snprintf(name, sizeof name, "%.200s", zw_name(system, ZW_KIND_ROW, r));
        }
        status = add_name(s, "lambda", name, error);
    }
    for (int i = 0; i < system->n && status == ZW_OK; i++) {
        status = add_name(s, "residual", zw_name(system, ZW_KIND_SPEED, i), error);
    }
    static const char *const last[] = {"contact", "residual", "error"};
    for (int k = 0; k < 3 && status == ZW_OK; k++) {
        status = add_name(s, last[k], NULL, error);
    }
    return status;
}

/* sqrt(e' M e) of the errors of a, each of its own sign: the largest it can be is at most n times
 * the sum of squares, so the sum of e_i^2 M_ii stands for it. */
static double size_of_error(along *s, long i, const double *demand)
{
    const zw_system *system = s->system;
    const double *M = s->inverse->work->out[PART_TERMS] + system->at.M;
    double sum = 0, all = 0;
    for (int j = 0; j < system->n; j++) {
        double e = s->a_error[i * system->n + j], mass = M[system->M_start[j]];
        sum += mass * e * e;
        all += mass > 0 ? demand[j] * demand[j] / mass : 0;
    }
    s->demand = sqrt(all);
    return sqrt(fmax(sum, 0));
}

static void put_row(along *s, long i, const zw_inverse_answer *answer)
{
    const zw_system *system = s->system;
    double *to = s->row, normal = 0;
    *to++ = s->path->t[i];
    const double *const list[] = {answer->motor, answer->control, answer->drive, answer->lambda,
                                  answer->residual};
    const int count[] = {answer->motors, answer->motors, answer->drives, system->m, system->n};
    for (int k = 0; k < 5; k++) {
        if (count[k] > 0) {
            memcpy(to, list[k], (size_t)count[k] * sizeof *to);
        }
        to += count[k];
    }
    for (int k = 0; k < answer->contacts; k++) {
        normal += answer->contact[k].force[0];
    }
    *to++ = normal;
    *to++ = answer->size;
    *to = size_of_error(s, i, answer->demand);
}

static void note(along *s, long i, const zw_inverse_answer *answer)
{
    zw_inverse_report *report = &s->table->report;
    double size = answer->size, error = s->row[s->table->columns - 1];
    report->residual += size * size;
    report->error += error * error;
    report->choices = answer->choices > report->choices ? answer->choices : report->choices;
    report->least &= answer->least;
    report->off = fmax(report->off, answer->off);
    double round_off = 1e-10 * s->demand;
    if (size > DEVIATIONS * error + round_off && size > report->worst) {
        report->worst = size;
        report->worst_time = s->path->t[i];
    }
}

static zw_status one_sample(along *s, long i, zw_error *error)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n, nq = (size_t)system->nq, at = (size_t)i;
    const double *a = s->a + at * n;
    zw_inverse_answer answer;
    int known = 1;
    for (size_t k = 0; k < n; k++) {
        known &= isfinite(a[k]) && isfinite(s->a_error[at * n + k]);
    }
    s->state->t = s->path->t[i];
    memcpy(state_q(s->state), s->path->v ? s->path->q + at * nq : s->fit.y[0] + at * nq,
           nq * sizeof(double));
    memcpy(state_v(s->state), s->path->v ? s->path->v + at * n : s->fit.y[1] + at * n,
           n * sizeof(double));
    if (known) {
        zw_status status = zw_inverse_look(s->inverse, s->state, a, &answer, error);
        if (status != ZW_OK) {
            return status;
        }
        put_row(s, i, &answer);
        note(s, i, &answer);
    } else {
        s->table->report.unknown++;
        for (int k = 1; k < s->table->columns; k++) {
            s->row[k] = NAN;
        }
        s->row[0] = s->path->t[i];
    }
    for (int k = 0; k < s->table->columns; k++) {
        s->table->value[(size_t)k * (size_t)s->table->count + at] = s->row[k];
    }
    return ZW_OK;
}

static zw_status all_samples(along *s, zw_error *error)
{
    zw_inverse_report *report = &s->table->report;
    zw_status status = ZW_OK;
    report->samples = s->path->count;
    report->least = 1;
    for (long i = 0; i < s->path->count && status == ZW_OK; i++) {
        status = one_sample(s, i, error);
    }
    double known = (double)(report->samples - report->unknown);
    report->residual = known > 0 ? sqrt(report->residual / known) : 0;
    report->error = known > 0 ? sqrt(report->error / known) : 0;
    return status;
}

/* ---- Creating and freeing -------------------------------------------------------------------- */

static zw_status prepare(along *s, zw_error *error)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n;
    s->scale = base_alloc((3 * n + 3) * sizeof *s->scale);
    s->start = base_alloc(((size_t)s->path->count + 1) * sizeof *s->start);
    if (!s->scale || !s->start) {
        return base_no_memory(error);
    }
    s->noise = s->scale + n + 1;
    s->accuracy = s->noise + n + 1;
    zw_status status = fit_motion(s, error);
    if (status != ZW_OK) {
        return status;
    }
    zw_inverse_options options = *s->options;
    options.touch = fmax(options.touch > 0 ? options.touch : 1e-9, DEVIATIONS * s->error[0]);
    options.rest = options.rest > 0 ? options.rest : DEVIATIONS * s->error[1];
    options.still = fmax(options.still > 0 ? options.still : 1e-6, DEVIATIONS * s->error[2]);
    s->inverse = zw_inverse_create(s->model, system, &options, error);
    zw_work *work = s->inverse ? zw_work_create(system, error) : NULL;
    s->state = work ? zw_state_create(system, work, NULL, error) : NULL;
    zw_work_free(work);
    if (!s->state) {
        return error && error->status ? error->status : ZW_NO_MEMORY;
    }
    size_t columns = 4 + 2 * (size_t)zw_inverse_motors(s->inverse) + (size_t)s->inverse->drives +
                     (size_t)system->m + n;
    s->table->name = base_alloc(columns * sizeof *s->table->name);
    s->table->value = base_alloc(columns * (size_t)s->path->count * sizeof(double));
    s->row = base_alloc(columns * sizeof(double));
    return s->table->name && s->table->value && s->row ? add_names(s, error)
                                                       : base_no_memory(error);
}

zw_inverse_path *zw_inverse_along(const zw_model *model, const zw_system *system,
                                  const zw_path *path, const zw_inverse_options *options,
                                  zw_error *error)
{
    static const zw_inverse_options usual = {0};
    along s = {.model = model,
               .system = system,
               .path = path,
               .options = options ? options : &usual,
               .table = base_alloc(sizeof *s.table)};
    zw_status status = s.table ? ZW_OK : base_no_memory(error);
    if (status == ZW_OK && (path->n != system->nq || path->speeds != system->n)) {
        status = path_fail(path, error, ZW_BAD_INPUT, 0,
                           "the path has %d coordinates, the system %d", path->n, system->nq);
    }
    if (status == ZW_OK) {
        s.table->system = system;
        s.table->count = path->count;
        status = prepare(&s, error);
    }
    status = status == ZW_OK ? all_samples(&s, error) : status;
    path_fit_free(&s.fit);
    zw_inverse_free(s.inverse);
    zw_state_free(s.state);
    base_free(s.scale);
    base_free(s.start);
    base_free(s.row);
    if (status != ZW_OK) {
        zw_inverse_path_free(s.table);
        return NULL;
    }
    return s.table;
}

void zw_inverse_path_free(zw_inverse_path *table)
{
    if (table) {
        for (int k = 0; k < table->columns; k++) {
            base_free(table->name[k]);
        }
        base_free(table->name);
        base_free(table->value);
        base_free(table);
    }
}

int zw_inverse_columns(const zw_inverse_path *table)
{
    return table->columns;
}

const char *zw_inverse_column_name(const zw_inverse_path *table, int column)
{
    return column >= 0 && column < table->columns ? table->name[column] : "";
}

zw_view zw_inverse_column(const zw_inverse_path *table, int column)
{
    return column >= 0 && column < table->columns
               ? (zw_view){table->value + (size_t)column * (size_t)table->count, (int)table->count}
               : (zw_view){0};
}

int zw_inverse_column_find(const zw_inverse_path *table, const char *name)
{
    for (int k = 0; k < table->columns; k++) {
        if (strcmp(table->name[k], name) == 0) {
            return k;
        }
    }
    return -1;
}

zw_inverse_report zw_inverse_report_of(const zw_inverse_path *table)
{
    return table->report;
}
