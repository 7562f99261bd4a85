/* Where a recording jumps: an impact, an extra impulse, a force that is switched on.
 *
 * No window that contains such an instant resolves the samples, and all others around it do. So the
 * candidates are the short intervals at which refine_rough of fit.c failed. A candidate is a jump
 * if windows that end there and windows that begin there both fit within the noise, and differ in
 * value, speed or acceleration by SURE times their errors. The jump is placed where the two fit
 * best.
 *
 * If instead windows before and after the interval fit within the noise and agree with each other,
 * the few samples between are wrong: an error of the recorder, or a forgery. If neither holds, the
 * recording is too coarse, and nothing is known about the derivatives. */
#include <math.h>
#include <string.h>

#include "path/fit/fit_inner.h"

#define SURE 10.0
#define GROSS 1e-3 /* relative to the scale of a column */

/* The fit of one side, extrapolated to a given time. */
typedef struct side {
    int good;    /* the samples are fitted within the noise */
    double cost; /* the deviations relative to what is allowed */
} side;

/* The degree with the least error of the speeds at that time. */
static int side_degree(const fitter *f, int most, double p[3][BASIS_MOST])
{
    double gain = 0, least = INFINITY;
    int best = 3;
    for (int degree = 0; degree <= most; degree++) {
        gain += p[1][degree] * p[1][degree];
        double score = degree < 3 ? INFINITY : fit_score(f, degree) * gain;
        if (score < least) {
            least = score;
            best = degree;
        }
    }
    return best;
}

/* Fits the window of the samples from .. to - 1: y and e (3 n each) are values and errors at time
 * t. */
static side fit_side(fitter *f, long from, long to, int degree, double t, double *y, double *e)
{
    int n = f->samples->n, samples = (int)(to - from), most = samples - 1 - FIT_SPARE;
    side it = {.good = 1};
    double p[3][BASIS_MOST];
    degree = degree < most ? degree : most;
    fit_window(f, from, samples, degree + 1 + FIT_SPARE);
    fit_project(f, from);
    fit_leave(f, from);
    basis_at(f->basis, f->size, t, p);
    degree = side_degree(f, degree, p);
    for (int k = 0; k < n; k++) {
        const double *c = f->c + (size_t)k * BASIS_MOST;
        double miss = fit_miss(f, k, degree), floor = f->samples->noise[k];
        double level = fmax(fmax(fit_level(f, k, degree), miss), fmax(floor * floor, f->usual[k]));
        it.good &= miss <= 4 * f->allowed[k];
        it.cost += miss * samples / f->allowed[k];
        for (int d = 0; d < 3; d++) {
            double value = 0, gain = 0;
            for (int j = 0; j <= degree; j++) {
                value += c[j] * p[d][j];
                gain += p[d][j] * p[d][j];
            }
            y[d * n + k] = value;
            e[d * n + k] = sqrt(level * gain);
        }
        y[k] += f->y[(size_t)k * (size_t)f->samples->count + (size_t)(from + samples / 2)];
    }
    return it;
}

/* Windows of at most w samples before and after sample k. scratch: 12 n. */
static side fit_sides(fitter *f, long k, int w, int degree, double *scratch)
{
    int n = f->samples->n;
    long from = k - w > f->first ? k - w : f->first, to = k + w < f->end ? k + w : f->end;
    double t = 0.5 * (f->samples->t[k - 1] + f->samples->t[k]);
    side before = fit_side(f, from, k, degree, t, scratch, scratch + 3 * n);
    side after = fit_side(f, k, to, degree, t, scratch + 6 * n, scratch + 9 * n);
    return (side){.good = before.good && after.good, .cost = before.cost + after.cost};
}

/* Do the two sides differ by more than their errors: in value, in speed if `orders` is 2, in
 * acceleration if it is 3? */
static int differ(const fitter *f, const double *scratch, int orders)
{
    int n = f->samples->n;
    for (int i = 0; i < orders * n; i++) {
        double apart = fabs(scratch[i] - scratch[6 * n + i]);
        if (apart > SURE * hypot(scratch[3 * n + i], scratch[9 * n + i])) {
            return 1;
        }
    }
    return 0;
}

/* Do the windows of w samples before sample `from` and from sample `to` on agree, while the samples
 * between differ from both? Notes the worst of those. */
static int slip_between(fitter *f, const fit_shape *s, long from, long to, int w)
{
    int n = f->samples->n;
    long low = from - w > f->first ? from - w : f->first;
    long high = to + w < f->end ? to + w : f->end;
    double *scratch = f->trial, most = SURE;
    path_fit *fit = f->fit;
    for (long k = from; k < to; k++) {
        double t = f->samples->t[k];
        if (from - low < FIT_LEAST || high - to < FIT_LEAST) {
            return 0;
        }
        side before = fit_side(f, low, from, s->degree, t, scratch, scratch + 3 * n);
        side after = fit_side(f, to, high, s->degree, t, scratch + 6 * n, scratch + 9 * n);
        if (!before.good || !after.good || differ(f, scratch, 3)) {
            return 0;
        }
        for (int c = 0; c < n; c++) {
            double miss = fabs(f->samples->y[k * n + c] - 0.5 * (scratch[c] + scratch[6 * n + c]));
            double error = hypot(scratch[3 * n + c], scratch[9 * n + c]);
            double noise = sqrt(fmax(f->allowed[c], f->usual[c]));
            double ratio = miss / (error + noise);
            most = fmax(most, ratio);
            if (ratio > SURE && ratio > fit->slip_ratio) {
                fit->slip_coord = c;
                fit->slip = k;
                fit->slip_size = miss;
                fit->slip_ratio = ratio;
            }
        }
    }
    return most > SURE;
}

/* Are the samples from .. to - 1 wrong, all of them or a single one? */
static int slip(fitter *f, const fit_shape *s, long from, long to)
{
    for (int w = s->window; w >= FIT_LEAST; w /= 2) {
        int found = slip_between(f, s, from, to, w);
        for (long k = from; k < to && !found; k++) {
            found = slip_between(f, s, k, k + 1, w);
        }
        if (found) {
            return 1;
        }
    }
    return 0;
}

/* The best place to divide the samples from .. to - 1; 0: none. Windows as long as those of the fit
 * also see how accelerations jump from step to step of an integrator: that is none. */
static long part_at(fitter *f, const fit_shape *s, long from, long to)
{
    double *scratch = f->trial;
    for (int w = s->window > FIT_LEAST ? s->window : FIT_LEAST; w >= FIT_LEAST;
         w = w > FIT_LEAST && w / 2 < FIT_LEAST ? FIT_LEAST : w / 2) {
        double least = INFINITY;
        long best = 0;
        for (long k = from; k < to; k++) {
            double cost = fit_sides(f, k, w, s->degree, scratch).cost;
            if (cost < least) {
                least = cost;
                best = k;
            }
        }
        int orders = 2 * w > s->window ? 2 : 3;
        if (best > 0 && fit_sides(f, best, w, s->degree, scratch).good &&
            differ(f, scratch, orders)) {
            return best;
        }
        if (w == FIT_LEAST) {
            break;
        }
    }
    return 0;
}

/* Nothing is known about the derivatives where the samples deviate grossly from every fit. */
static void give_up(fitter *f)
{
    int n = f->samples->n;
    for (long i = f->first; i < f->end; i++) {
        int lost = 0;
        for (int c = 0; c < n && f->bad[i]; c++) {
            double miss = f->samples->y[i * n + c] - f->fit->y[0][i * n + c];
            lost |= fabs(miss) > GROSS * f->samples->scale[c];
        }
        for (int c = 0; c < n && lost; c++) {
            f->fit->error[1][i * n + c] = f->fit->error[2][i * n + c] = INFINITY;
        }
    }
}

void fit_jumps(fitter *f, const fit_shape *s)
{
    enum { WIDEST = 64 };
    path_fit *fit = f->fit;
    long span = (long)s->window * s->stride;
    fit_shape fine = *s; /* use all samples */
    long first = f->first + FIT_LEAST, end = f->end - FIT_LEAST + 1;
    fine.window = span < FIT_LONGEST ? (int)span : FIT_LONGEST;
    f->stride = 1;
    for (long i = f->first; i < f->end; i++) {
        long from = i;
        while (i < f->end && f->bad[i]) {
            i++;
        }
        long to = i + 2 < end ? i + 2 : end;
        from = from - 1 > first ? from - 1 : first;
        if (i > from && f->bad[i - 1] && to > from && to - from <= WIDEST) {
            long k = slip(f, &fine, from, to - 1) ? 0 : part_at(f, &fine, from, to);
            if (k > 0 && (fit->cuts == 0 || fit->cut[fit->cuts - 1] < k)) {
                fit->cut[fit->cuts++] = k;
            }
        }
    }
    give_up(f);
}
