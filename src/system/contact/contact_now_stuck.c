/* Overlaps at an instant, for contact_now.c.
 *
 * Shapes may overlap: neighbours on a joint by design, or where a motion begins. Each pair is a
 * contact whose points must not approach, without friction where they are deeper than CONTACT_DEEP.
 * But there need not be any motion that separates a pair, which then would hold its joints, or
 * contradict other contacts: those pairs are ignored, as steps ignore them (step/impulse/
 * impulse_part.c, which has the reasons). The test is the same: the displacement u that is the
 * least of
 *
 *     1/2 sum_i (r_i u_i)^2 + 1/(2 CONTACT_GIVE) sum_k max(0, b_k - J_k u)^2
 *
 * over all points, b = -gap, with r_i how far coordinate i moves things by its unit, leaves more
 * than CONTACT_LACK of b. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/contact/contact_now_inner.h"
#include "system/contact/tolerances.h"
#include "tree/sweeps.h"

/* What is tested: one row for each point. */
typedef struct test {
    int n, points;
    double *metric, *free, *b, *give, *J;
    int *start, *column, *thing; /* thing: two of each point */
    zw_block *block;
    zw_motion answer;
    zw_gauss_work *work;
    unsigned char *memory;
} test;

static void lay_out(test *it, base_arena *arena, int wide)
{
    size_t n = (size_t)it->n, points = (size_t)it->points;
    it->metric = base_arena_doubles(arena, n);
    it->free = base_arena_doubles(arena, n);
    it->b = base_arena_doubles(arena, points);
    it->give = base_arena_doubles(arena, points);
    it->J = base_arena_doubles(arena, 6 * points * (size_t)wide);
    it->start = base_arena_ints(arena, points + 1);
    it->column = base_arena_ints(arena, points * (size_t)wide);
    it->thing = base_arena_ints(arena, 2 * points);
    it->block = base_arena_bytes(arena, points * sizeof *it->block);
}

void contact_reach(const tree_mechanism *tree, double *sweeps, double *inertia, double *square)
{
    tree_inertia_diagonal(tree, sweeps, inertia);
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = &tree->body[i];
        for (int d = body->dof; d < body->dof_end; d++) {
            double r2 = (inertia[d] - tree->armature[d]) / body->subtree_mass;
            square[d] = r2 > 0 && isfinite(r2) ? r2 : 1;
        }
    }
}

static int same_things(const int a[2], const int b[2])
{
    return (a[0] == b[0] && a[1] == b[1]) || (a[0] == b[1] && a[1] == b[0]);
}

/* Depths are multiples of `unit`. */
static void fill_rows(const zw_system *system, const contact_now *now, const double *sweeps,
                      double unit, test *it)
{
    it->start[0] = 0;
    for (int k = 0; k < it->points; k++) {
        const contact_point *point = &now->found.point[k];
        int at = it->start[k]; /* the row of the normal is the first of six */
        int columns = contact_rows(system, point, sweeps, it->column + at, it->J + at);
        it->start[k + 1] = at + columns;
        it->b[k] = -point->gap / unit;
        it->give[k] = CONTACT_GIVE;
        it->block[k] = contact_block(point, 1, "");
        for (int side = 0; side < 2; side++) {
            it->thing[2 * k + side] = contact_thing(system->bodies->contact, point->key.geom[side]);
        }
    }
}

static zw_status solve(test *it, zw_error *error)
{
    const zw_gauss problem = {
        .n = it->n,
        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = it->metric},
        .free = it->free,
        .block_count = it->points,
        .block = it->block,
        .A = {.start = it->start, .column = it->column, .value = it->J},
        .b = it->b,
        .compliance = it->give,
    };
    const zw_gauss_options options = {.tolerance = 1e-3};
    it->work = zw_gauss_work_create(&problem, &options, error);
    return it->work ? zw_gauss_solve(&problem, &options, it->work, &it->answer, error)
                    : ZW_NO_MEMORY;
}

/* Marks the points of pairs of which one does not separate. */
static void mark(const test *it, unsigned char *ignored)
{
    int stuck = 0, *list = it->start; /* the rows have been used */
    for (int k = 0; k < it->points; k++) {
        double left = it->b[k];
        for (int e = it->start[k]; e < it->start[k + 1]; e++) {
            left -= it->J[e] * it->answer.a[it->column[e]];
        }
        ignored[k] = it->b[k] > 0 && left > CONTACT_LACK * it->b[k];
    }
    for (int k = 0; k < it->points; k++) {
        if (ignored[k]) {
            list[stuck++] = k;
        }
    }
    for (int k = 0; k < it->points; k++) {
        for (int i = 0; i < stuck && !ignored[k]; i++) {
            ignored[k] = (unsigned char)same_things(it->thing + 2 * list[i], it->thing + 2 * k);
        }
    }
}

zw_status contact_now_find_stuck(const zw_system *system, contact_now *now, double *sweeps,
                                 double least, zw_error *error)
{
    test it = {.n = system->n, .points = now->found.count};
    double deepest = 0;
    now->ignored = base_alloc((size_t)it.points + 1);
    if (!now->ignored) {
        return base_no_memory(error);
    }
    for (int k = 0; k < it.points; k++) {
        deepest = fmax(deepest, -now->found.point[k].gap);
    }
    if (!(deepest > least)) {
        return ZW_OK;
    }
    base_arena arena = {0};
    lay_out(&it, &arena, now->wide);
    it.memory = base_alloc(arena.used + 1);
    if (!it.memory) {
        return base_no_memory(error);
    }
    arena = (base_arena){.block = it.memory};
    lay_out(&it, &arena, now->wide);
    tree_composite(system->tree, sweeps);
    contact_reach(system->tree, sweeps, it.free, it.metric);
    memset(it.free, 0, (size_t)it.n * sizeof *it.free);
    fill_rows(system, now, sweeps, deepest, &it);
    zw_status status = solve(&it, error);
    if (status == ZW_OK || status == ZW_INACCURATE) { /* forces that cancel have no certificate */
        mark(&it, now->ignored);
    }
    zw_gauss_work_free(it.work);
    base_free(it.memory);
    return status == ZW_NO_MEMORY ? status : ZW_OK; /* unsolved: none is ignored */
}
