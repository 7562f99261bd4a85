/* Trials under the laws of Kozlov (2000): the multipliers that a law carries, along a path.
 *
 * alpha > 0: the path does not show lambda(t), Theorem 2 finds it (variation.h). It takes the
 * accelerations for that, so it is found again with the better ones of each pass of certify.c; the
 * accelerations a_s that the system would have are those with that lambda. An error of it does no
 * harm there: it is as smooth as lambda is, and stands in a - a_s again with the other sign.
 *
 * alpha = 0 with N finite ("loose"): these rows are friction, lambda = N Phi(q, v), and Theorem 1
 * tells about the rest. */
#include <math.h>
#include <string.h>

#include "path/law/variation.h"
#include "path/trial/certify.h"

int judge_law_varies(const path_judge *judge)
{
    const system_law *law = &judge->system->law;
    return law->carried > 0 && !law->loose;
}

/* How well the speeds are known, of their size. */
static double relative_error(const path_judge *judge)
{
    double error = 0, size = 0;
    for (long k = 0; k < judge->count * judge->n; k++) {
        double e = judge->blur[1][k], v = judge->trial->v[k];
        error += isfinite(e) ? e * e : 0;
        size += v * v;
    }
    return size > 0 ? sqrt(error / size) : 0;
}

zw_status judge_law_find(path_judge *judge, const double *a, zw_error *error)
{
    zw_trial *trial = judge->trial;
    path_variation variation = {.system = judge->system,
                                .work = judge->work,
                                .count = judge->count,
                                .t = trial->t,
                                .q = trial->q,
                                .v = trial->v,
                                .a = a,
                                .parts = judge->parts > 0 ? judge->parts : judge->pieces,
                                .part = judge->parts > 0 ? judge->part : judge->start,
                                .metric = judge->options->metric,
                                .blur = relative_error(judge),
                                .poll = judge->options->poll,
                                .user = judge->options->user,
                                .lambda = trial->lambda,
                                .carried = judge->carried,
                                .rate = judge->rate,
                                .extra = trial->extra,
                                .apart = judge->apart,
                                .size = trial->hand_size,
                                .square = judge->square,
                                .error = judge->grid_error};
    return judge_law_varies(judge) ? path_variation_solve(&variation, error) : ZW_OK;
}

zw_status judge_law_speeds(path_judge *judge, long i, const double *q, const double *v,
                           const double **wide, zw_error *error)
{
    const zw_system *system = judge->system;
    const system_law *law = &system->law;
    int n = judge->n, m = judge->m;
    double *carried = judge->carried + i * law->carried;
    size_t bytes = (size_t)law->carried * sizeof(double);
    zw_status status = ZW_OK;
    *wide = v;
    if (law->carried == 0) {
        return ZW_OK;
    }
    memcpy(judge->wide[0], v, (size_t)n * sizeof(double));
    *wide = judge->wide[0];
    if (law->loose) { /* Phi itself, with no lambda in it */
        memset(judge->wide[0] + n, 0, bytes);
        status = system_evaluate(system, judge->work, PART_VELOCITY, judge->trial->t[i], q,
                                 judge->wide[0], NULL, NULL, error);
        for (int j = 0; j < law->carried && status == ZW_OK; j++) {
            carried[j] = judge->work->out[PART_VELOCITY][law->row[j]] / law->flex;
            judge->trial->lambda[i * m + law->row[j]] = carried[j];
        }
    }
    memcpy(judge->wide[0] + n, carried, bytes);
    return status;
}
