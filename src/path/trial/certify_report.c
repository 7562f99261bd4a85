/* The report: means over time, the worst moment, energy, and the verdict. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/dense/dense.h"
#include "path/trial/certify.h"
#include "path/trial/quadrature.h"

/* The extra force is seen where it is SEEN times the error, or everywhere together MUCH times. */
#define SEEN 15.0
#define MUCH 4.0
#define FORCE 1e-10
#define COARSE 0.3 /* the error of the extra force relative to |M a| */
#define CLASH 12.0 /* speeds: times error and noise, */
#define SPEED 1e-8 /* and this of their size */

static int known(const path_judge *judge, long i)
{
    return isfinite(judge->trial->hand_error[i]);
}

/* Root of the mean of squares over samples and coordinates, each over its scale. */
static double mean_error(const path_judge *judge, const double *error)
{
    double sum = 0;
    long count = 0;
    for (long k = 0; k < judge->count * judge->n; k++) {
        if (isfinite(error[k])) {
            sum += error[k] * error[k];
            count++;
        }
    }
    return count > 0 ? sqrt(sum / (double)count) : INFINITY;
}

/* The integral of y over all pieces, unknown samples counting as nothing; and the time. */
static double integral(path_judge *judge, const double *y, double *time)
{
    double sum = 0, carry, *whole = judge->probe[0], *part = judge->probe[1];
    *time = 0;
    for (long i = 0; i < judge->count; i++) {
        part[i] = known(judge, i) ? y[i] : 0;
    }
    for (int p = 0; p < judge->parts; p++) {
        long first = judge->part[p], last = judge->part[p + 1] - 1;
        if (last <= first || !known(judge, first)) {
            continue;
        }
        whole[first] = 0;
        path_integrate(last - first + 1, judge->trial->t + first, 1, part + first, whole + first,
                       NULL, &carry);
        sum += whole[last];
        *time += judge->trial->t[last] - judge->trial->t[first];
    }
    return sum;
}

/* No force of a recording is trusted beyond FORCE of the mean one. */
static void blur_forces(path_judge *judge)
{
    double time, forces = integral(judge, judge->forces, &time), *error = judge->trial->hand_error;
    double least = time > 0 ? FORCE * FORCE * fmax(forces, 0) / time : 0;
    for (long i = 0; i < judge->count; i++) {
        error[i] = sqrt(error[i] * error[i] + least);
    }
}

static void report_means(path_judge *judge, double *forces)
{
    zw_trial *trial = judge->trial;
    zw_trial_report *report = &trial->report;
    double time, *square = judge->probe[2];
    double rest = 0;
    *forces = integral(judge, judge->forces, &time);
    for (long i = 0; i < judge->count; i++) {
        rest += known(judge, i) ? 0 : 1;
    }
    judge->unknown = rest / (double)judge->count;
    report->mean = integral(judge, judge->square, &time);
    for (long i = 0; i < judge->count; i++) {
        square[i] = trial->hand_size[i] * trial->hand_size[i];
    }
    report->defect = integral(judge, square, &time);
    for (long i = 0; i < judge->count; i++) {
        square[i] = trial->hand_error[i] * trial->hand_error[i];
    }
    report->defect_error = integral(judge, square, &time);
    if (time > 0) {
        report->mean /= time;
        report->defect /= time;
        report->defect_error /= time;
        *forces /= time;
    } else {
        report->defect_error = INFINITY;
    }
    report->mean_least = report->mean - report->defect;
}

static zw_status report_worst(path_judge *judge, double *ratio, zw_error *error)
{
    zw_trial *trial = judge->trial;
    zw_trial_report *report = &trial->report;
    zw_status status = ZW_OK;
    long worst = -1;
    *ratio = 0;
    for (long i = 0; i < judge->count; i++) {
        double size = hypot(trial->hand_size[i], judge->away[i]);
        double now = size > 0 ? size / trial->hand_error[i] : 0;
        if (known(judge, i) && (worst < 0 || now > *ratio)) {
            *ratio = now;
            worst = i;
        }
    }
    if (worst >= 0) {
        report->worst = trial->hand_size[worst];
        report->worst_error = trial->hand_error[worst];
        report->worst_time = trial->t[worst];
        status = judge_name(judge, worst, &report->worst_coord, error);
        report->worst_force = status == ZW_OK && report->worst_coord >= 0
                                  ? trial->extra[worst * judge->n + report->worst_coord]
                                  : 0;
    }
    return status;
}

/* E(t) - E(0) against the integral of the power, piece by piece: what happens between pieces is no
 * work of active forces. */
static void report_energy(path_judge *judge)
{
    zw_trial *trial = judge->trial;
    zw_trial_report *report = &trial->report;
    double *work = judge->probe[0], before = 0, change = 0, carry;
    for (int p = 0; p < judge->pieces; p++) {
        long first = judge->start[p], end = judge->start[p + 1];
        work[first] = before;
        path_integrate(end - first, trial->t + first, 1, trial->power + first, work + first, NULL,
                       &carry);
        for (long i = first; i < end; i++) {
            double now = change + judge->energy[i] - judge->energy[first];
            report->energy_defect = fmax(report->energy_defect, fabs(now - work[i]));
        }
        change += judge->energy[end - 1] - judge->energy[first];
        before = work[end - 1];
    }
    report->energy_change = change;
    report->energy_work = before;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* At the ends of a piece the fit's speeds are extrapolated. */
static int inside(const path_judge *judge, long i)
{
    enum { ENDS = 4 };
    int p = 0;
    while (judge->part[p + 1] <= i) {
        p++;
    }
    return i >= judge->part[p] + ENDS && i < judge->part[p + 1] - ENDS;
}

/* Are recorded speeds those of the positions? They may differ by the error of the path, by noise of
 * their own, for which half of the samples is asked, and by a small part of their size. */
static void compare_speeds(path_judge *judge)
{
    const double *v = judge->path->v;
    zw_trial *trial = judge->trial;
    double *apart = judge->probe[0], worst = 1;
    int n = judge->n;
    trial->report.speeds = v != NULL;
    for (int c = 0; c < n && v; c++) {
        long count = 0;
        for (long i = 0; i < judge->count; i += judge->count / 1000 + 1) {
            if (isfinite(judge->blur[1][i * n + c])) {
                apart[count++] = fabs(v[i * n + c] - trial->v[i * n + c]);
            }
        }
        qsort(apart, (size_t)count, sizeof *apart, by_size);
        double noise = count > 0 ? apart[count / 2] : 0;
        for (long k = c; k < judge->count * n; k += n) {
            long i = k / n > 0 ? k / n : 1;
            double h = judge->count > 1 ? trial->t[i] - trial->t[i - 1] : 0;
            double limit = CLASH * (judge->blur[1][k] + noise + h * judge->blur[2][k]) +
                           SPEED * fmax(judge->swift[c], DBL_MIN);
            double ratio = fabs(v[k] - trial->v[k]) / limit;
            if (isfinite(limit) && ratio > worst && inside(judge, k / n)) {
                worst = ratio;
                judge->clash = k / n;
                judge->clash_coord = c;
                trial->report.speeds = -1;
            }
        }
    }
}

/* The worst moment is that of a blow, if there is one; and that of a wrong speed, if there is no
 * other. */
static void point_out(path_judge *judge, int seen)
{
    zw_trial_report *report = &judge->trial->report;
    if (judge->jump_coord >= 0) {
        report->worst = judge->jump;
        report->worst_error = judge->jump_error;
        report->worst_time = judge->jump_time;
        report->worst_coord = judge->jump_coord;
        report->worst_force = judge->jump_force;
    } else if (!seen && judge->clash >= 0) {
        report->worst = judge->trial->hand_size[judge->clash];
        report->worst_error = judge->trial->hand_error[judge->clash];
        report->worst_time = judge->trial->t[judge->clash];
        report->worst_coord = judge->clash_coord;
        report->worst_force = judge->trial->extra[judge->clash * judge->n + judge->clash_coord];
    }
}

static zw_verdict decide(path_judge *judge, double ratio, double forces)
{
    const zw_trial_report *report = &judge->trial->report;
    int seen = ratio > SEEN || report->defect > MUCH * MUCH * report->defect_error;
    point_out(judge, seen || judge->off > 1);
    if (judge->off > 1) {
        return ZW_VERDICT_OFF;
    }
    if (seen || judge->jump_coord >= 0) {
        return ZW_VERDICT_NOT_MOTION;
    }
    if (!(report->defect_error <= COARSE * COARSE * forces) || judge->unknown > 0.5) {
        return ZW_VERDICT_COARSE;
    }
    return judge->clash >= 0 ? ZW_VERDICT_NOT_MOTION : ZW_VERDICT_MOTION;
}

zw_status judge_report(path_judge *judge, zw_error *error)
{
    zw_trial *trial = judge->trial;
    zw_trial_report *report = &trial->report;
    double ratio, forces;
    report->pieces = trial->pieces = judge->pieces;
    memcpy(trial->start, judge->start, ((size_t)judge->pieces + 1) * sizeof *trial->start);
    report->fit_degree = judge->fit.degree;
    report->fit_window = judge->fit.window;
    for (int k = 0; k < judge->n; k++) {
        double noise = judge->size[k] > 0 ? judge->rest.noise[k] / judge->size[k] : 0;
        report->noise = fmax(report->noise, noise);
    }
    report->noise = fmax(report->noise, judge->options->noise);
    report->error_position = mean_error(judge, judge->blur[0]);
    report->error_speed = mean_error(judge, judge->blur[1]);
    report->error_acceleration = mean_error(judge, judge->blur[2]);
    blur_forces(judge);
    report_means(judge, &forces);
    zw_status status = report_worst(judge, &ratio, error);
    if (!judge->system->model->massless) {
        report_energy(judge);
    }
    compare_speeds(judge);
    report->verdict = decide(judge, ratio, forces);
    return status;
}
