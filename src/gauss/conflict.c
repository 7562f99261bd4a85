/* Which blocks contradict each other.
 *
 * When nothing is admissible, the proximal multipliers run away along a direction d in K with
 * D' d = 0 and c . d < 0 (Farkas): the blocks on which d acts cannot all hold. They are thinned by
 * leaving out one cone after another: what is still contradictory without it does not need it. Equality
 * rows then follow, because their part of d is determined by that of the cones. What remains is
 * minimal as far as the cones go, and exactly a circuit where the equality rows are independent. */
#include <math.h>
#include <string.h>

#include "gauss/core.h"
#include "gauss/internal.h"
#include "math/dense.h"

enum { FILTER_LIMIT = 48 }; /* cones tried one by one */

/* The cones on which the direction in core->v[0] acts. */
static int suspects(const gauss_core *core, gauss_cone *list)
{
    double largest = dense_largest(core->p, core->v[0]);
    int count = 0;
    for (int k = 0; k < core->cone_count; k++) {
        const gauss_cone *cone = &core->cone[k];
        if (dense_largest(cone->rows, core->v[0] + cone->first) > 1e-6 * largest) {
            list[count++] = *cone;
        }
    }
    return count;
}

static int contradictory(gauss_core *core, const gauss_cone *cone, int count)
{
    core->cone = cone;
    core->cone_count = count;
    return core_admissible(core) < 0;
}

static void mark(zw_gauss_work *work, int block)
{
    for (int i = 0; i < work->conflict_count; i++) {
        if (work->conflict[i] == block) {
            return;
        }
    }
    work->conflict[work->conflict_count++] = block;
}

/* The equality rows' part of the direction, L' d_e = -B1' d. */
static void mark_equalities(zw_gauss_work *work, const double *d)
{
    double *g = work->g, *lambda = work->delta, largest = 0.0;
    memset(g, 0, (size_t)work->rank * sizeof *g);
    for (int i = 0; i < work->mc; i++) {
        dense_axpy(work->rank, -d[i], work->B + (long)i * work->q_max, g);
    }
    gauss_equality_multipliers(work, g, lambda);
    largest = dense_largest(work->mc, d);
    for (int e = 0; e < work->me; e++) {
        int i = work->equality_row[e];
        if (work->scale[i] > 0.0 && fabs(lambda[i]) / work->scale[i] > 1e-6 * largest) {
            mark(work, work->block_of[i]);
        }
    }
}

void gauss_conflict_cones(zw_gauss_work *work)
{
    gauss_core *core = &work->core;
    gauss_cone *list = work->suspect, *trial = work->suspect + work->cone_count;
    int count = suspects(core, list);
    for (int k = count - 1; k >= 0 && count <= FILTER_LIMIT; k--) {
        int rest = 0;
        for (int i = 0; i < count; i++) {
            if (i != k) {
                trial[rest++] = list[i];
            }
        }
        if (rest > 0 && contradictory(core, trial, rest)) {
            count = suspects(core, list);
            k = k < count ? k : count;
        }
    }
    contradictory(core, list, count);
    memcpy(core->keep, core->v[0], (size_t)core->p * sizeof(double));
    core->cone = work->cone;
    core->cone_count = work->cone_count;
    for (int k = 0; k < count; k++) {
        mark(work, list[k].block);
    }
    if (work->rank > 0) {
        mark_equalities(work, core->keep);
    }
}
