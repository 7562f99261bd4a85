/* Which coordinate an extra force belongs to.
 *
 * If one coordinate of a motion was altered, q = q* + s(t) e_k, the others keep their motion,
 * although the system would respond in all of them: an extra force appears in every coordinate. The
 * altered one is found by correcting it. Whatever s is, s'' = a_k - a_s,k(q - s e_k, v - s' e_k)
 * with s = s' = 0 before the alteration began; with the right k the accelerations of all other
 * coordinates then agree with the system. If no correction achieves that, no single coordinate was
 * altered, and the one whose acceleration differs most, weighted by its mass, is named. */
#include <math.h>
#include <string.h>

#include "path/trial/certify.h"

enum { WIDEST = 2000, MANY = 40 }; /* largest numbers of samples and coordinates */
#define RIGHT 0.05                 /* fraction of the squares that may remain after a correction */

static double mass_of(const path_certifier *certifier, int k)
{
    return fabs(certifier->work->out[PART_METRIC][certifier->system->M_start[k]]);
}

static int loudest(const path_certifier *certifier, long i)
{
    double most = -1;
    int found = -1;
    for (int k = 0; k < certifier->n; k++) {
        double x = certifier->apart[i * certifier->n + k], share = mass_of(certifier, k) * x * x;
        if (share > most) {
            most = share;
            found = k;
        }
    }
    return found;
}

static int pushed(const path_certifier *certifier, long i)
{
    const zw_trial *trial = certifier->trial;
    return isfinite(trial->extra_error[i]) &&
           hypot(trial->extra_size[i], certifier->away[i]) > 3 * trial->extra_error[i];
}

/* Goes back from the worst sample to where the extra force is negligible; -1: too far. */
static long beginning(const path_certifier *certifier, long worst)
{
    int quiet = 0;
    for (long i = worst; i >= 0 && worst - i < WIDEST; i--) {
        quiet = pushed(certifier, i) ? 0 : quiet + 1;
        if (quiet >= 6) {
            return i;
        }
        for (int p = 0; p < certifier->parts; p++) {
            if (certifier->part[p] == i) {
                return -1;
            }
        }
    }
    return -1;
}

/* How much remains if coordinate k is corrected from sample `first` to `last`. */
static zw_status put_right(path_certifier *certifier, int k, long first, long last, double *left,
                           zw_error *error)
{
    const zw_trial *trial = certifier->trial;
    int n = certifier->n;
    double *q = certifier->scratch[0], *v = certifier->scratch[1], *a = certifier->scratch[2];
    double s = 0, rate = 0, bend = 0;
    size_t bytes = (size_t)n * sizeof *q;
    *left = 0;
    for (long i = first; i <= last; i++) {
        double h = i > first ? trial->t[i] - trial->t[i - 1] : 0;
        double *one = certifier->probe[0];
        s += h * (rate + 0.5 * h * bend);
        memcpy(q, trial->q + i * n, bytes);
        memcpy(v, trial->v + i * n, bytes);
        q[k] -= s;
        v[k] -= rate + h * bend;
        zw_status status = certify_sample(certifier, i, q, v, a, error);
        if (status != ZW_OK) {
            return status;
        }
        memcpy(one, a, bytes);
        double now = trial->a[i * n + k] - one[k];
        rate += 0.5 * h * (bend + now);
        bend = now;
        for (int j = 0; j < n; j++) {
            double x = j == k ? 0 : trial->a[i * n + j] - one[j];
            *left += mass_of(certifier, j) * x * x;
        }
    }
    return ZW_OK;
}

zw_status certify_name(path_certifier *certifier, long worst, int *coord, zw_error *error)
{
    const zw_trial *trial = certifier->trial;
    int n = certifier->n;
    long first = beginning(certifier, worst);
    double whole = 0, best = RIGHT;
    const double *q = trial->q + worst * n, *v = trial->v + worst * n;
    zw_status status = certify_law_speeds(certifier, worst, q, v, &v, error);
    if (status == ZW_OK) {
        status = system_evaluate(certifier->system, certifier->work, PART_METRIC, trial->t[worst],
                                 q, v, NULL, NULL, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    *coord = loudest(certifier, worst);
    if (first < 0 || n > MANY || n < 2) {
        return ZW_OK;
    }
    for (long i = first; i <= worst; i++) {
        for (int j = 0; j < n; j++) {
            double x = certifier->apart[i * n + j];
            whole += mass_of(certifier, j) * x * x;
        }
    }
    for (int k = 0; k < n; k++) {
        double left;
        zw_error ignored; /* a state that the system cannot have explains nothing */
        if (put_right(certifier, k, first, worst, &left, &ignored) == ZW_OK &&
            left < best * whole) {
            best = left / whole;
            *coord = k;
        }
    }
    return ZW_OK;
}
