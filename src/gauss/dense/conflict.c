/* Which blocks contradict each other.
 *
 * When nothing is admissible, the proximal multipliers diverge along a direction d in K with D' d =
 * 0 and c . d < 0 (Farkas): the blocks on which d acts cannot all hold; the equality rows' part of
 * d follows from that of the cones. This set is reduced by leaving out one block after another
 * while the rest is still contradictory. In the end none can be left out. */
#include <math.h>
#include <string.h>

#include "gauss/dense/core.h"
#include "gauss/internal.h"
#include "gauss/tolerances.h"
#include "math/dense/dense.h"

enum { FILTER_LIMIT = 60 }; /* blocks tried one by one */

/* The cones with a force in the proof, from the blocks in `list` except `without`. */
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

int core_proves(gauss_core *core, const double *d)
{
    zw_gauss_work *work = core->owner;
    double *g = work->g, *y = work->proof.y;
    memset(y, 0, (size_t)work->m * sizeof *y);
    memset(g, 0, (size_t)work->rank * sizeof *g);
    work->proof.smooth = core->cone_count > 0;
    for (int k = 0; k < core->cone_count; k++) {
        const gauss_cone *cone = &core->cone[k];
        const zw_block *block = &core->problem->block[cone->block];
        work->proof.smooth &= cone->rows == 1 || block->kind != ZW_CONE;
        for (int i = cone->first; i < cone->first + cone->rows; i++) {
            y[work->cone_row[i]] = d[i] * work->scale[work->cone_row[i]];
            dense_axpy(work->rank, -d[i], work->B + (long)i * work->q_max, g);
        }
    }
    if (work->rank > 0) {
        gauss_equality_multipliers(work, g, y); /* L' d_e = -B1' d */
    }
    return gauss_proof_find(core->problem, work->free, work->scale, &work->proof);
}

/* The blocks on which the proof acts. */
static int blocks_of_proof(const zw_gauss_work *work, int *list)
{
    const double *y = work->proof.y;
    double largest = 0.0;
    int count = 0;
    for (int i = 0; i < work->m; i++) {
        largest = fmax(largest, work->scale[i] > 0.0 ? fabs(y[i]) / work->scale[i] : 0.0);
    }
    for (int i = 0; i < work->m; i++) {
        if (work->scale[i] > 0.0 && fabs(y[i]) > GAUSS_NAMED * largest * work->scale[i]) {
            add_block(list, &count, work->block_of[i]);
        }
    }
    return count;
}

/* Are the blocks of `list` except `without` still contradictory? Then `smaller` receives those that
 * the proof needs. The whole problem is set up again with the other equality rows empty. */
static int still_contradictory(const zw_gauss *problem, const zw_gauss_options *options,
                               zw_gauss_work *work, const gauss_cone *from, const int *list,
                               int count, int without, int *smaller)
{
    gauss_core *core = &work->core;
    gauss_normal_part(problem, work, list, count, without);
    gauss_equality_factor(problem, work);
    gauss_normal_residual(problem, work, NULL);
    gauss_equality_particular(problem, work, options->tolerance, 1);
    work->conflict_count = 0;
    gauss_core_open(problem, work, options, NULL);
    core->S_ready = 0;
    core->cone_count = gather_cones(work, from, list, count, without);
    core->cone = work->suspect;
    if (core->cone_count == 0 || core_admissible(core) >= 0) {
        return 0;
    }
    return blocks_of_proof(work, smaller);
}

void gauss_conflict_cones(const zw_gauss *problem, const zw_gauss_options *options,
                          zw_gauss_work *work, int normals_only)
{
    int *list = work->accused, *smaller = work->trial, rank = work->rank;
    const gauss_cone *from = normals_only ? work->normal : work->cone;
    work->core.cone = from;
    work->thinning = 1;
    int count = blocks_of_proof(work, list);
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
