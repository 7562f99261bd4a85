/* Do recorded speeds agree with the positions? They may differ by the error of the path, by their
 * own noise, by their last digit, and by a small part of their size or of that of the fastest.
 *
 * Noise is what scatters from sample to sample. A difference that follows the motion (a factor, a
 * sign, another unit) is none, however large it is: so the median difference is noise only up to
 * LOOSE times its scatter, that of its sixth differences,
 *
 *     d_i - 6 d_(i+1) + 15 d_(i+2) - 20 d_(i+3) + 15 d_(i+4) - 6 d_(i+5) + d_(i+6)
 *
 * which for white noise are sqrt(924) times as large as the noise, and for a difference with eight
 * samples in a period or more a fifth of it at most. Programs that interpolate speeds and positions
 * apart have smooth errors, though; so SMOOTH of the size of the speeds is noise, too. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "path/trial/certify.h"

#define CLASH 12.0  /* speeds contradict positions beyond this many times error and noise, */
#define SPEED 1e-8  /* and beyond this part of their size */
#define SHARED 0.02 /* of the fastest: slow coordinates share its errors */
/* Noise that is not quite white: smoothed, or rounded to few digits. */
#define LOOSE 4.0
/* Speeds interpolated at tolerances of 1e-6 err so; those by central differences ten times more. */
#define SMOOTH 1e-5

enum { STENCIL = 7, MOST = 1000, DIGITS = 15 };

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, long count)
{
    qsort(x, (size_t)count, sizeof *x, by_size);
    return count > 0 ? x[count / 2] : 0;
}

/* How many digits the speeds of a recording have: significant ones, and after the point. */
typedef struct digits {
    int significant, places;
} digits;

static void count_digits(digits *it, double x)
{
    char text[32];
    int last = DIGITS, tens = 0;
    snprintf(text, sizeof text, "%.*e", DIGITS - 1, x);
    const char *mantissa = text + (text[0] == '-');
    while (last > 1 && mantissa[last] == '0') {
        last--;
    }
    sscanf(mantissa + DIGITS + 2, "%d", &tens);
    it->significant = last > it->significant ? last : it->significant;
    it->places = last - 1 - tens > it->places ? last - 1 - tens : it->places;
}

static digits digits_of(const path_certifier *certifier)
{
    const zw_path *path = certifier->path;
    int n = certifier->n;
    digits it = {0};
    for (long i = 0; i < certifier->count; i += certifier->count / MOST + 1) {
        for (long k = i * n; k < (i + 1) * n; k++) {
            count_digits(&it, path->v[k]);
        }
    }
    return it;
}

static double power_of_ten(int exponent)
{
    double power = 1;
    for (int i = 0; i < exponent; i++) {
        power *= 10;
    }
    return power;
}

/* By how much rounding to these digits can change x, or a bit more. */
static double rounded(const digits *it, double x)
{
    return it->significant == DIGITS
               ? 0
               : fmax(5 * fabs(x) / power_of_ten(it->significant), 0.5 / power_of_ten(it->places));
}

static double apart(const path_certifier *certifier, long k)
{
    return certifier->path->v[k] - certifier->trial->v[k];
}

/* The noise of the speeds of coordinate c, whose size is `speed`. */
static double noise_of(const path_certifier *certifier, int c, double speed)
{
    double *size = certifier->probe[0], *scatter = certifier->probe[1];
    long count = 0, stencils = 0, every = certifier->count / MOST + 1, end = 0;
    int n = certifier->n, part = 0;
    for (long i = 0; i < certifier->count; i += every) {
        long k = i * n + c;
        if (isfinite(certifier->blur[1][k])) {
            size[count++] = fabs(apart(certifier, k));
        }
        while (end <= i) {
            end = certifier->part[++part];
        }
        if (i + STENCIL <= end) {
            static const double weight[STENCIL] = {1, -6, 15, -20, 15, -6, 1};
            double sum = 0;
            for (int j = 0; j < STENCIL; j++) {
                sum += weight[j] * apart(certifier, k + (long)j * n);
            }
            if (isfinite(sum)) {
                scatter[stencils++] = fabs(sum) / sqrt(924);
            }
        }
    }
    double most = median(size, count);
    double smooth = fmax(SMOOTH, certifier->options->noise) * speed;
    return stencils > 0 ? fmin(most, LOOSE * median(scatter, stencils) + smooth) : most;
}

/* At the ends of a piece the fit's speeds are extrapolated. */
static int inside(const path_certifier *certifier, long i)
{
    enum { ENDS = 4 };
    int p = 0;
    while (certifier->part[p + 1] <= i) {
        p++;
    }
    return i >= certifier->part[p] + ENDS && i < certifier->part[p + 1] - ENDS;
}

void certify_speeds(path_certifier *certifier)
{
    zw_trial *trial = certifier->trial;
    double worst = 1, fastest = 0;
    int n = certifier->n;
    trial->report.speeds = certifier->path->v != NULL;
    if (!certifier->path->v) {
        return;
    }
    const digits written = digits_of(certifier);
    for (int c = 0; c < n; c++) {
        fastest = fmax(fastest, certifier->swift[c]);
    }
    for (int c = 0; c < n; c++) {
        double speed = fmax(certifier->swift[c], SHARED * fastest);
        double noise = noise_of(certifier, c, speed);
        for (long k = c; k < certifier->count * n; k += n) {
            long i = k / n > 0 ? k / n : 1;
            double h = certifier->count > 1 ? trial->t[i] - trial->t[i - 1] : 0;
            double limit = CLASH * (certifier->blur[1][k] + noise + h * certifier->blur[2][k]) +
                           rounded(&written, certifier->path->v[k]) + SPEED * fmax(speed, DBL_MIN);
            double ratio = fabs(apart(certifier, k)) / limit;
            if (isfinite(limit) && ratio > worst && inside(certifier, k / n)) {
                worst = ratio;
                certifier->clash = k / n;
                certifier->clash_coord = c;
                trial->report.speeds = -1;
            }
        }
    }
}
