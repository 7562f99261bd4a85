/* Trials under the laws of Kozlov (2000): carried multipliers along a path.
 *
 * alpha > 0: the path does not contain lambda(t); Theorem 2 determines it (variation.h). That needs
 * accelerations, so it is repeated with the improved ones of each pass of certify.c; the
 * accelerations a_s of the system are those with that lambda. An error of lambda does no harm
 * there: it is as smooth as lambda, and appears in a - a_s with the opposite sign.
 *
 * alpha = 0 with N finite ("loose"): these rows act as friction, lambda = N Phi(q, v), and Theorem
 * 1 applies to the others. */
#include <math.h>
#include <string.h>

#include "path/law/variation.h"
#include "path/trial/certify.h"

int certify_law_varies(const path_certifier *certifier)
{
    const system_law *law = &certifier->system->law;
    return law->carried > 0 && !law->loose;
}

/* The error of the speeds, relative to their size. */
static double relative_error(const path_certifier *certifier)
{
    double error = 0, size = 0;
    for (long k = 0; k < certifier->count * certifier->n; k++) {
        double e = certifier->blur[1][k], v = certifier->trial->v[k];
        error += isfinite(e) ? e * e : 0;
        size += v * v;
    }
    return size > 0 ? sqrt(error / size) : 0;
}

zw_status certify_law_find(path_certifier *certifier, const double *a, zw_error *error)
{
    zw_trial *trial = certifier->trial;
    path_variation variation = {.system = certifier->system,
                                .work = certifier->work,
                                .count = certifier->count,
                                .t = trial->t,
                                .q = trial->q,
                                .v = trial->v,
                                .a = a,
                                .parts =
                                    certifier->parts > 0 ? certifier->parts : certifier->pieces,
                                .part = certifier->parts > 0 ? certifier->part : certifier->start,
                                .metric = certifier->options->metric,
                                .blur = relative_error(certifier),
                                .poll = certifier->options->poll,
                                .user = certifier->options->user,
                                .lambda = trial->lambda,
                                .carried = certifier->carried,
                                .rate = certifier->rate,
                                .extra = trial->extra,
                                .apart = certifier->apart,
                                .size = trial->extra_size,
                                .square = certifier->square,
                                .error = certifier->grid_error};
    return certify_law_varies(certifier) ? path_variation_solve(&variation, error) : ZW_OK;
}

zw_status certify_law_speeds(path_certifier *certifier, long i, const double *q, const double *v,
                             const double **wide, zw_error *error)
{
    const zw_system *system = certifier->system;
    const system_law *law = &system->law;
    int n = certifier->n, m = certifier->m;
    double *carried = certifier->carried + i * law->carried;
    size_t bytes = (size_t)law->carried * sizeof(double);
    zw_status status = ZW_OK;
    *wide = v;
    if (law->carried == 0) {
        return ZW_OK;
    }
    memcpy(certifier->wide[0], v, (size_t)n * sizeof(double));
    *wide = certifier->wide[0];
    if (law->loose) { /* Phi itself, without a lambda term */
        memset(certifier->wide[0] + n, 0, bytes);
        status = system_evaluate(system, certifier->work, PART_VELOCITY, certifier->trial->t[i], q,
                                 certifier->wide[0], NULL, NULL, error);
        for (int j = 0; j < law->carried && status == ZW_OK; j++) {
            carried[j] = certifier->work->out[PART_VELOCITY][law->row[j]] / law->flex;
            certifier->trial->lambda[i * m + law->row[j]] = carried[j];
        }
    }
    memcpy(certifier->wide[0] + n, carried, bytes);
    return status;
}
