/* Which blocks contradict each other.
 *
 * When nothing is admissible, the proximal multipliers run away along a direction d in K with
 * D' d = 0 and c . d < 0 (Farkas): the blocks on which d acts cannot all hold; the equality rows'
 * part of d follows from that of the cones. This set is thinned by leaving out one block after
 * another: what is still contradictory without it does not need it. In the end none can be left
 * out. */
#include <math.h>
#include <string.h>

#include "gauss/core.h"
#include "gauss/internal.h"
#include "math/dense.h"

enum { FILTER_LIMIT = 60 }; /* blocks tried one by one */

/* The cones that may push, from the blocks in `list` except `without`. */
static int gather_cones(zw_gauss_work *work, const gauss_cone *from, const int *list, int count,
                        int without)
{
    int cones = 0;
    for (int k = 0; k < work->cone_count; k++) {
        for (int i = 0; i < count; i++) {
            if (list[i] == from[k].block && list[i] != without) {
                work->suspect[cones++] = from[k];
                break;
            }
        }
    }
    return cones;
}

static void add_block(int *list, int *count, int block)
{
    for (int i = 0; i < *count; i++) {
        if (list[i] == block) {
            return;
        }
    }
    list[(*count)++] = block;
}

/* The blocks on which the direction d = core->v[0] acts: cones, and L' d_e = -B1' d. */
static int blocks_of_direction(zw_gauss_work *work, int *list)
{
    const gauss_core *core = &work->core;
    double *d = core->keep, *g = work->g, *lambda = work->delta;
    memcpy(d, core->v[0], (size_t)core->p * sizeof *d);
    double largest = dense_largest(core->p, d);
    int count = 0;
    for (int k = 0; k < core->cone_count; k++) {
        const gauss_cone *cone = &core->cone[k];
        if (dense_largest(cone->rows, d + cone->first) > 1e-6 * largest) {
            add_block(list, &count, cone->block);
        }
    }
    memset(g, 0, (size_t)work->rank * sizeof *g);
    dense_combine(work->mc, work->rank, d, 1, work->B, work->q_max, g);
    if (work->rank > 0) {
        gauss_equality_multipliers(work, g, lambda);
    }
    for (int e = 0; e < work->me && work->rank > 0; e++) {
        int i = work->equality_row[e];
        if (work->scale[i] > 0.0 && fabs(lambda[i]) > 1e-6 * largest * work->scale[i]) {
            add_block(list, &count, work->block_of[i]);
        }
    }
    return count;
}

/* Are the blocks of `list` except `without` still contradictory? Then `smaller` gets those that the
 * proof needs. The whole problem is set up again with the other equality rows empty. */
static int still_contradictory(const zw_gauss *problem, const zw_gauss_options *options,
                               zw_gauss_work *work, const gauss_cone *from, const int *list,
                               int count, int without, int *smaller)
{
    gauss_core *core = &work->core;
    gauss_normal_part(problem, work, list, count, without);
    gauss_equality_factor(work);
    gauss_normal_residual(problem, work, NULL);
    gauss_equality_particular(problem, work, options->tolerance, 1);
    work->conflict_count = 0;
    gauss_core_open(work, options, NULL);
    core->S_ready = 0;
    core->cone_count = gather_cones(work, from, list, count, without);
    core->cone = work->suspect;
    if (core->cone_count == 0 || core_admissible(core) >= 0) {
        return 0;
    }
    return blocks_of_direction(work, smaller);
}

void gauss_conflict_cones(const zw_gauss *problem, const zw_gauss_options *options,
                          zw_gauss_work *work, int normals_only)
{
    int *list = work->accused, *smaller = work->trial, rank = work->rank;
    const gauss_cone *from = normals_only ? work->normal : work->cone;
    work->core.cone = from;
    work->thinning = 1;
    int count = blocks_of_direction(work, list);
    for (int k = 0; k < count && count <= FILTER_LIMIT; k++) {
        int left = still_contradictory(problem, options, work, from, list, count, list[k], smaller);
        if (left > 0 && left < count) {
            memcpy(list, smaller, (size_t)left * sizeof *list);
            count = left;
            k = -1;
        }
    }
    memcpy(work->conflict, list, (size_t)count * sizeof *list);
    work->conflict_count = count;
    work->rank = rank;
    work->thinning = 0;
}
