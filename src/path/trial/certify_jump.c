/* Where pieces meet, speeds may jump. A contact can cause that, if it is closed there and can exert
 * the impulse; so can an event of the model that sets coordinates or speeds. All other jumps need
 * an extra impulse. Whether an impulse is that of the laws of impact and friction, or a jump that
 * of the event, is not decided here: such jumps are counted, and the verdict says so.
 *
 * Inside a piece of the positions the jump is that of the remainder, which is the most accurate;
 * between two pieces it is that of the path, with the speeds of both sides extrapolated by their
 * accelerations to the middle between the two samples.
 *
 * Where a recording has a gap, pieces do not meet: nothing is known about the time between. */
#include <math.h>
#include <string.h>

#include "math/dense/dense.h"
#include "path/trial/certify.h"

#define SURE 10.0
/* A gap is an interval longer than all those of a window of the least size: so many of the longest
 * of its neighbours. No window is fitted across it. */
#define GAP 8.0

/* The jumps of positions and of speeds between samples k - 1 and k, and their errors. */
typedef struct leap {
    double *by[2], *error[2]; /* [n] */
} leap;

/* The uncertainty of the jump: where the accelerations of the system can jump, they may have done
 * so anywhere between the two samples; elsewhere they only bend. The system's own accelerations are
 * uncertain for some samples around it. */
static double bend(const path_certifier *certifier, long k, int c)
{
    const double *a = certifier->trial->a + c;
    int n = certifier->n,
        jumps = certifier->system->contact_count > 0 || certifier->system->has_friction;
    double change = a[k * n] - a[(k - 1) * n];
    double before = k > 1 ? a[(k - 1) * n] - a[(k - 2) * n] : change;
    double after = k + 1 < certifier->count ? a[(k + 1) * n] - a[k * n] : change;
    double curve = fmax(fabs(change - before), fabs(change - after));
    return (jumps ? fabs(change) : 0.1 * curve) +
           8 * (certifier->rough[k * n + c] + certifier->rough[(k - 1) * n + c]);
}

static void measure(const path_certifier *certifier, long k, int inside, const leap *it)
{
    const zw_trial *trial = certifier->trial;
    const double *const *y = (const double *const *)certifier->rest.y;
    const double *path[3] = {trial->q, trial->v, trial->a};
    double h = trial->t[k] - trial->t[k - 1];
    int n = certifier->n;
    for (int c = 0; c < n; c++) {
        long r = k * n + c, l = r - n;
        const double *x = inside ? y[0] : path[0], *u = inside ? y[1] : path[1];
        const double *a = inside ? y[2] : path[2];
        double wrong = h * bend(certifier, k, c);
        it->by[1][c] = u[r] - u[l] - 0.5 * h * (a[r] + a[l]);
        it->by[0][c] = x[r] - x[l] - 0.5 * h * (u[r] + u[l]);
        it->error[1][c] = hypot(certifier->blur[1][r], certifier->blur[1][l]) +
                          0.5 * h * hypot(certifier->blur[2][r], certifier->blur[2][l]) + wrong;
        it->error[0][c] = hypot(certifier->blur[0][r], certifier->blur[0][l]) +
                          0.5 * h * (it->error[1][c] + fabs(it->by[1][c]));
    }
}

static int sure(const path_certifier *certifier, const double *by, const double *error)
{
    for (int c = 0; c < certifier->n; c++) {
        if (fabs(by[c]) > SURE * error[c]) {
            return 1;
        }
    }
    return 0;
}

static int resets(const zw_model *model)
{
    for (int i = 0; i < model->event_count; i++) {
        if (model->event[i].reset_count > 0) {
            return 1;
        }
    }
    return 0;
}

/* Finds the contacts that may strike: those that the path reaches within a few samples. Sets the
 * modes of the work, leaves the terms of sample k in it, and returns whether there are any. */
static zw_status strikes(path_certifier *certifier, long k, int *any, zw_error *error)
{
    const zw_system *system = certifier->system;
    const zw_trial *trial = certifier->trial;
    zw_work *work = certifier->work;
    double h = trial->t[k] - trial->t[k - 1];
    *any = 0;
    for (int c = 0; c < certifier->constraints; c++) { /* friction of impulses, too */
        certifier->modes[c] = system_presses_both_ways(system, c) ? SYSTEM_STUCK : SYSTEM_CLOSED;
    }
    for (long i = k - 1; i <= k; i++) {
        const double *q = trial->q + i * certifier->n, *v = trial->v + i * certifier->n;
        zw_status status = certify_law_speeds(certifier, i, q, v, &v, error);
        if (status == ZW_OK) {
            status =
                system_evaluate(system, work, PART_POSITION, trial->t[i], q, v, NULL, NULL, error);
        }
        if (status == ZW_OK) {
            status =
                system_evaluate(system, work, PART_VELOCITY, trial->t[i], q, v, NULL, NULL, error);
        }
        if (status != ZW_OK) {
            return status;
        }
        for (int c = 0; c < certifier->constraints; c++) {
            int r = system->first_row[c];
            if (system->row_kind[r] != SYSTEM_CONTACT) {
                continue;
            }
            double gap = work->out[PART_POSITION][r], speed = fabs(work->out[PART_VELOCITY][r]);
            int near = gap <= 2 * h * speed + 1e-6 * dense_largest(certifier->n, certifier->size);
            int was = i == k && certifier->modes[c] != SYSTEM_OPEN;
            certifier->modes[c] = !near && !was               ? SYSTEM_OPEN
                                  : system->slip[c].width > 0 ? SYSTEM_STUCK
                                                              : SYSTEM_CLOSED;
            *any |= certifier->modes[c] != SYSTEM_OPEN;
        }
    }
    const double *q = trial->q + k * certifier->n, *v = trial->v + k * certifier->n;
    zw_status status = system_set_modes(system, work, certifier->modes, error);
    status = status == ZW_OK ? certify_law_speeds(certifier, k, q, v, &v, error) : status;
    return status != ZW_OK
               ? status
               : system_evaluate(system, work, PART_TERMS, trial->t[k], q, v, NULL, NULL, error);
}

/* The jump of speeds that remains after the largest impulses the contacts can exert: its squared
 * norm in the metric, and the error of that. */
static zw_status leftover(path_certifier *certifier, long k, const leap *it, double *size,
                          double *miss, zw_error *error)
{
    const zw_system *system = certifier->system;
    const double *M = certifier->work->out[PART_TERMS] + system->at.M;
    double *force = certifier->scratch[1], *x = certifier->probe[2];
    certify_weigh(certifier, it->by[1], force);
    memcpy(x, it->by[1], (size_t)certifier->n * sizeof *x);
    *miss = 0;
    for (int c = 0; c < certifier->n; c++) {
        *miss += fabs(M[system->M_start[c]]) * it->error[1][c] * it->error[1][c];
    }
    zw_status status = ZW_OK;
    if (certifier->work->motion->rows > 0) {
        status = certify_project(certifier, certifier->trial->t[k], force, x, certifier->scratch[2],
                                 error);
        certify_weigh(certifier, x, force);
    }
    *size = fmax(dense_dot(certifier->n, x, force), 0);
    return status;
}

/* Keeps the largest jump that nothing explains. */
static void blame(path_certifier *certifier, long k, const leap *it, int d)
{
    const zw_system *system = certifier->system;
    const zw_trial *trial = certifier->trial;
    const double *M = certifier->work->out[PART_TERMS] + system->at.M;
    double worst = 0, share = 0, h = trial->t[k] - trial->t[k - 1];
    int coord = -1;
    h = h > 0 ? h : k + 1 < certifier->count ? trial->t[k + 1] - trial->t[k] : 1;
    for (int c = 0; c < certifier->n; c++) {
        double x = it->by[d][c], mass = fabs(M[system->M_start[c]]);
        worst = fmax(worst, fabs(x) / it->error[d][c]);
        if (coord < 0 || mass * x * x > share) {
            share = mass * x * x;
            coord = c;
        }
    }
    if (worst > certifier->jump_ratio) {
        double mass = fabs(M[system->M_start[coord]]), unit = sqrt(mass) / (d ? h : h * h);
        certifier->jump_ratio = worst;
        certifier->jump = unit * fabs(it->by[d][coord]);
        certifier->jump_error = unit * it->error[d][coord];
        certifier->jump_force = mass * it->by[d][coord] / (d ? h : h * h);
        certifier->jump_time = 0.5 * (trial->t[k - 1] + trial->t[k]);
        certifier->jump_coord = coord;
    }
}

/* An isolated wrong sample counts as an impulse and its reverse, unless the system's own
 * accelerations around it are so uncertain that they explain it. Those know nothing of a sample
 * that is far off: it is seen in the positions themselves, and only contacts could have done that.
 */
static void blame_slip(path_certifier *certifier)
{
    const path_fit *rest = &certifier->rest, *of = rest;
    double explained = 0;
    if (rest->slip_ratio == 0 && certifier->system->contact_count == 0) {
        of = &certifier->fit;
    } else {
        explained = 64 * certifier->rough[rest->slip * certifier->n + rest->slip_coord];
    }
    long next = of->slip > 0 ? of->slip : 1;
    double h = certifier->trial->t[next] - certifier->trial->t[next - 1];
    if (of->slip_size > SURE * explained * h * h) {
        certifier->jump_ratio = of->slip_ratio;
        certifier->jump = certifier->jump_force = of->slip_size / (h * h);
        certifier->jump_error = certifier->jump / of->slip_ratio;
        certifier->jump_time = certifier->trial->t[of->slip];
        certifier->jump_coord = of->slip_coord;
    }
}

/* Is there a gap before sample k of the piece first .. end - 1? The intervals around it say how far
 * apart samples usually are there: the next eight on either side, as far as there are any. */
static int gap_at(const double *t, long first, long end, long k)
{
    enum { MOST = 8 };
    double longest = 0;
    if (end - first < 4) {
        return 0;
    }
    for (long i = 1; i <= MOST; i++) {
        longest = k - i > first ? fmax(longest, t[k - i] - t[k - i - 1]) : longest;
        longest = k + i < end ? fmax(longest, t[k + i] - t[k + i - 1]) : longest;
    }
    return t[k] - t[k - 1] > GAP * longest;
}

void certify_divide(path_certifier *certifier)
{
    const zw_path *path = certifier->path;
    int pieces = 0;
    for (int p = 0; p < path->pieces; p++) {
        long first = path->start[p], end = path->start[p + 1];
        certifier->start[pieces++] = first;
        for (long k = first + 1; k < end; k++) {
            if (gap_at(path->t, first, end, k)) {
                certifier->gap[k] = 1;
                certifier->start[pieces++] = k;
                certifier->trial->report.gaps++;
            }
        }
    }
    certifier->start[pieces] = certifier->count;
    certifier->pieces = pieces;
}

zw_status certify_jumps(path_certifier *certifier, zw_error *error)
{
    int n = certifier->n, piece = 0, free = resets(certifier->system->model);
    double *scratch = certifier->probe[0];
    const leap it = {.by = {scratch, scratch + n},
                     .error = {certifier->probe[1], certifier->probe[1] + n}};
    if (certifier->count < 2) {
        return ZW_OK;
    }
    blame_slip(certifier);
    for (int p = 1; p < certifier->parts; p++) {
        long k = certifier->part[p];
        int any, d = 0;
        double size, miss;
        if (certifier->gap[k]) {
            continue;
        }
        while (piece < certifier->pieces && certifier->start[piece] < k) {
            piece++;
        }
        measure(certifier, k, certifier->start[piece] != k, &it);
        if (!sure(certifier, it.by[1], it.error[1]) && !sure(certifier, it.by[0], it.error[0])) {
            continue;
        }
        if (free) {
            certifier->trial->report.resets++;
            continue;
        }
        d = !sure(certifier, it.by[0], it.error[0]);
        zw_status status = strikes(certifier, k, &any, error);
        if (status == ZW_OK && d == 1) {
            status = leftover(certifier, k, &it, &size, &miss, error);
            d = any && size <= SURE * SURE * miss ? -1 : d;
        }
        if (status != ZW_OK) {
            return status;
        }
        if (d >= 0) {
            blame(certifier, k, &it, d);
        } else {
            certifier->trial->report.strikes++;
        }
    }
    return ZW_OK;
}
