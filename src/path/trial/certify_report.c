/* The report: means over time, the worst sample, energy, and the verdict. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/dense/dense.h"
#include "path/trial/certify.h"
#include "path/trial/quadrature.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"

/* An extra force is significant where it exceeds SEEN times its error, or MUCH times on average. */
#define SEEN 15.0
#define MUCH 4.0
#define FORCE 1e-10
#define COARSE 0.3 /* largest error of the extra force relative to |M a| for a verdict */

static int known(const path_certifier *certifier, long i)
{
    return isfinite(certifier->trial->extra_error[i]);
}

/* Root mean square over samples and coordinates, in units of each scale. */
static double mean_error(const path_certifier *certifier, const double *error)
{
    double sum = 0;
    long count = 0;
    for (long k = 0; k < certifier->count * certifier->n; k++) {
        if (isfinite(error[k])) {
            sum += error[k] * error[k];
            count++;
        }
    }
    return count > 0 ? sqrt(sum / (double)count) : INFINITY;
}

/* The integral of y >= 0 over a piece whose samples are too uneven for a formula of higher order,
 * which may have negative weights. */
static double trapezia(const path_certifier *certifier, const double *y, long first, long last)
{
    const double *t = certifier->trial->t;
    double sum = 0;
    for (long i = first; i < last; i++) {
        sum += 0.5 * (t[i + 1] - t[i]) * (y[i] + y[i + 1]);
    }
    return sum;
}

/* The integral of y >= 0 over all pieces, with unknown samples counting as zero; and the total
 * time. */
static double integral(path_certifier *certifier, const double *y, double *time)
{
    double sum = 0, carry, *whole = certifier->probe[0], *part = certifier->probe[1];
    *time = 0;
    for (long i = 0; i < certifier->count; i++) {
        part[i] = known(certifier, i) ? y[i] : 0;
    }
    for (int p = 0; p < certifier->parts; p++) {
        long first = certifier->part[p], last = certifier->part[p + 1] - 1;
        if (last <= first || !known(certifier, first)) {
            continue;
        }
        whole[first] = 0;
        path_integrate(last - first + 1, certifier->trial->t + first, 1, part + first,
                       whole + first, NULL, &carry);
        sum += whole[last] >= 0 ? whole[last] : trapezia(certifier, part, first, last);
        *time += certifier->trial->t[last] - certifier->trial->t[first];
    }
    return sum;
}

/* The error of the forces of a recording is at least FORCE times their mean. */
static void blur_forces(path_certifier *certifier)
{
    double time, forces = integral(certifier, certifier->forces, &time),
                 *error = certifier->trial->extra_error;
    double least = time > 0 ? FORCE * FORCE * fmax(forces, 0) / time : 0;
    for (long i = 0; i < certifier->count; i++) {
        error[i] = sqrt(error[i] * error[i] + least);
    }
}

static void report_means(path_certifier *certifier, double *forces)
{
    zw_trial *trial = certifier->trial;
    zw_trial_report *report = &trial->report;
    double time, *square = certifier->probe[2];
    double rest = 0;
    *forces = integral(certifier, certifier->forces, &time);
    for (long i = 0; i < certifier->count; i++) {
        rest += known(certifier, i) ? 0 : 1;
    }
    certifier->unknown = rest / (double)certifier->count;
    report->mean = integral(certifier, certifier->square, &time);
    for (long i = 0; i < certifier->count; i++) {
        square[i] = trial->extra_size[i] * trial->extra_size[i];
    }
    report->defect = integral(certifier, square, &time);
    for (long i = 0; i < certifier->count; i++) {
        square[i] = trial->extra_error[i] * trial->extra_error[i];
    }
    report->defect_error = integral(certifier, square, &time);
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

static zw_status report_worst(path_certifier *certifier, double *ratio, zw_error *error)
{
    zw_trial *trial = certifier->trial;
    zw_trial_report *report = &trial->report;
    zw_status status = ZW_OK;
    long worst = -1;
    *ratio = 0;
    for (long i = 0; i < certifier->count; i++) {
        double size = hypot(trial->extra_size[i], certifier->away[i]);
        double now = size > 0 ? size / trial->extra_error[i] : 0;
        if (known(certifier, i) && (worst < 0 || now > *ratio)) {
            *ratio = now;
            worst = i;
        }
    }
    if (worst >= 0) {
        report->worst = trial->extra_size[worst];
        report->worst_error = trial->extra_error[worst];
        report->worst_time = trial->t[worst];
        status = certify_name(certifier, worst, &report->worst_coord, error);
        report->worst_force = status == ZW_OK && report->worst_coord >= 0
                                  ? trial->extra[worst * certifier->n + report->worst_coord]
                                  : 0;
    }
    return status;
}

/* E(t) - E(0) against the integral of the power, piece by piece: changes between pieces are no work
 * of active forces. */
static void report_energy(path_certifier *certifier)
{
    zw_trial *trial = certifier->trial;
    zw_trial_report *report = &trial->report;
    double *work = certifier->probe[0], before = 0, change = 0, carry;
    for (int p = 0; p < certifier->pieces; p++) {
        long first = certifier->start[p], end = certifier->start[p + 1];
        work[first] = before;
        path_integrate(end - first, trial->t + first, 1, trial->power + first, work + first, NULL,
                       &carry);
        for (long i = first; i < end; i++) {
            double now = change + certifier->energy[i] - certifier->energy[first];
            report->energy_defect = fmax(report->energy_defect, fabs(now - work[i]));
        }
        change += certifier->energy[end - 1] - certifier->energy[first];
        before = work[end - 1];
    }
    report->energy_change = change;
    report->energy_work = before;
}

/* The worst sample is that of an unexplained jump, if there is one; that of a wrong speed only if
 * there is nothing else. */
static void point_out(path_certifier *certifier, int seen)
{
    zw_trial_report *report = &certifier->trial->report;
    if (certifier->jump_coord >= 0) {
        report->worst = certifier->jump;
        report->worst_error = certifier->jump_error;
        report->worst_time = certifier->jump_time;
        report->worst_coord = certifier->jump_coord;
        report->worst_force = certifier->jump_force;
    } else if (!seen && certifier->clash >= 0) {
        report->worst = certifier->trial->extra_size[certifier->clash];
        report->worst_error = certifier->trial->extra_error[certifier->clash];
        report->worst_time = certifier->trial->t[certifier->clash];
        report->worst_coord = certifier->clash_coord;
        report->worst_force =
            certifier->trial->extra[certifier->clash * certifier->n + certifier->clash_coord];
    }
}

static zw_verdict decide(path_certifier *certifier, double ratio, double forces)
{
    const zw_trial_report *report = &certifier->trial->report;
    int seen = ratio > SEEN || report->defect > MUCH * MUCH * report->defect_error;
    point_out(certifier, seen || certifier->off > 1);
    if (certifier->off > 1) {
        return ZW_VERDICT_OFF;
    }
    if (seen || certifier->jump_coord >= 0) {
        return ZW_VERDICT_NOT_MOTION;
    }
    if (!(report->defect_error <= COARSE * COARSE * forces) || certifier->unknown > 0.5) {
        return ZW_VERDICT_COARSE;
    }
    return certifier->clash >= 0 ? ZW_VERDICT_NOT_MOTION : ZW_VERDICT_MOTION;
}

zw_status certify_report(path_certifier *certifier, zw_error *error)
{
    zw_trial *trial = certifier->trial;
    zw_trial_report *report = &trial->report;
    double ratio, forces;
    report->pieces = trial->pieces = certifier->pieces;
    report->shapes = certifier->system->bodies && certifier->system->bodies->contact->touches;
    memcpy(trial->start, certifier->start, ((size_t)certifier->pieces + 1) * sizeof *trial->start);
    report->fit_degree = certifier->fit.degree;
    report->fit_window = certifier->fit.window;
    for (int k = 0; k < certifier->n; k++) {
        double noise = certifier->size[k] > 0 ? certifier->rest.noise[k] / certifier->size[k] : 0;
        report->noise = fmax(report->noise, noise);
    }
    report->noise = fmax(report->noise, certifier->options->noise);
    report->error_position = mean_error(certifier, certifier->blur[0]);
    report->error_speed = mean_error(certifier, certifier->blur[1]);
    report->error_acceleration = mean_error(certifier, certifier->blur[2]);
    blur_forces(certifier);
    report_means(certifier, &forces);
    zw_status status = report_worst(certifier, &ratio, error);
    if (!certifier->system->model->massless) {
        report_energy(certifier);
    }
    certify_speeds(certifier);
    report->verdict = decide(certifier, ratio, forces);
    return status;
}
