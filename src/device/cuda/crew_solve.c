/* H x = b by a crew: soft_solve_lanes of system/soft/soft_lane.c, with its bits.
 *
 * Runs of dofs are eliminated one after another. The update of the dofs above a run is a triangle
 * of entries, one thread for each; in the back substitution the products of a row are computed in
 * parallel, and one thread sums them, from the root on. */
#include "device/world.h"
#include "system/soft8/soft8_block.h"

/* above[d n + t]: the dof of depth t + 1 on the path from the root to d. */
static void fill_above(const paths_shape *shape, short *above)
{
    CREW_FOR (d, shape->n) {
        for (int k = d, t = shape->depth[d] - 1; t >= 0; t--, k = shape->parent[k]) {
            above[d * shape->n + t] = (short)k;
        }
    }
    CREW_MEET();
}

void soft8_note_shape(soft8 *s, int bent)
{
    if (bent) {
        fill_above(&s->shape, s->above_bent);
    }
    s->above = bent ? s->above_bent : s->above_straight;
}

void crew_begin_shape(soft8 *s)
{
    fill_above(&s->straight, s->above_straight);
}

/* A thread's part of a run is in registers: loops over its dofs are unrolled. */
#if defined(__clang__)
#define ALL_OF_RUN _Pragma("clang loop unroll(full)")
#else
#define ALL_OF_RUN
#endif

typedef struct crew_run {
    int first, count, above;
    double *row[PATHS_RUN], inverse[PATHS_RUN], own[PATHS_RUN];
} crew_run;

static inline __attribute__((always_inline)) crew_run run_at(const paths_shape *shape, int b,
                                                             double *H, const double *x)
{
    crew_run r = {.first = shape->block[b], .count = shape->block[b + 1] - shape->block[b]};
    r.above = shape->depth[r.first] - 1;
    ALL_OF_RUN
    for (int k = 0; k < PATHS_RUN; k++) {
        r.row[k] = k < r.count ? H + shape->start[r.first + k] : H;
        r.own[k] = k < r.count ? x[r.first + k] : 0;
    }
    return r;
}

/* The run's own triangle. Returns whether its pivots are positive. */
static inline __attribute__((always_inline)) int factor_own(crew_run *r, const double *diagonal,
                                                            double *x)
{
    int good = 1;
    ALL_OF_RUN
    for (int k = PATHS_RUN - 1; k >= 0; k--) {
        if (k >= r->count) {
            continue;
        }
        double *row = r->row[k], pivot = row[r->above + k];
        pivot += diagonal ? diagonal[r->first + k] : 0;
        good &= pivot > 0.0;
        double inverse = r->inverse[k] = 1.0 / pivot, before = r->own[k];
        r->own[k] *= inverse;
        ALL_OF_RUN
        for (int e = PATHS_RUN - 2; e >= 0; e--) {
            if (e < k) {
                double entry = row[r->above + e], part = entry * inverse;
                CREW_FOR (c, r->above + e + 1) {
                    r->row[e][c] -= part * row[c];
                }
                r->own[e] -= entry * r->own[k];
            }
        }
        CREW_MEET();
        CREW_ONE () {
            row[r->above + k] = inverse;
            x[r->first + k] = before;
        }
    }
    CREW_MEET();
    return good;
}

/* The update of the dofs above it. */
static inline __attribute__((always_inline)) void
factor_above(const paths_shape *shape, const short *above, const crew_run *r, double *H, double *x)
{
    const short *up = above + r->first * shape->n;
    CREW_FOR (t, r->above) {
        double sum = x[up[t]];
        ALL_OF_RUN
        for (int k = PATHS_RUN - 1; k >= 0; k--) {
            sum -= k < r->count ? r->row[k][t] * r->own[k] : 0;
        }
        x[up[t]] = sum;
    }
    CREW_FOR (e, r->above * (r->above + 1) / 2) { /* row t, column c <= t */
        int t = (int)((__builtin_sqrtf((float)(8 * e + 1)) - 1) * 0.5F), c = e - t * (t + 1) / 2;
        double *to = H + shape->start[up[t]] + c, entry = *to;
        ALL_OF_RUN
        for (int k = PATHS_RUN - 1; k >= 0; k--) {
            entry -= k < r->count ? r->row[k][t] * r->inverse[k] * r->row[k][c] : 0;
        }
        *to = entry;
    }
    CREW_MEET();
}

static inline __attribute__((always_inline)) void from_root_on(const paths_shape *shape,
                                                               const short *above,
                                                               const crew_run *r, double *x,
                                                               double *product)
{
    const short *up = above + r->first * shape->n;
    CREW_FOR (t, r->above) {
        ALL_OF_RUN
        for (int k = 0; k < PATHS_RUN; k++) {
            if (k < r->count) {
                product[k * shape->n + t] = r->row[k][t] * x[up[t]];
            }
        }
    }
    CREW_MEET();
    double own = 0;
    CREW_FOR (k, r->count) {
        own = x[r->first + k];
        for (int t = 0; t < r->above; t++) {
            own -= product[k * shape->n + t];
        }
        product[k * shape->n] = own;
    }
    CREW_MEET();
    CREW_ONE () {
        double now[PATHS_RUN];
        ALL_OF_RUN
        for (int k = 0; k < PATHS_RUN; k++) {
            now[k] = k < r->count ? product[k * shape->n] : 0;
            ALL_OF_RUN
            for (int e = 0; e < PATHS_RUN; e++) {
                now[k] -= e < k && k < r->count ? r->row[k][r->above + e] * now[e] : 0;
            }
            if (k < r->count) {
                now[k] *= r->row[k][r->above + k];
                x[r->first + k] = now[k];
            }
        }
    }
    CREW_MEET();
}

void crew_solve(const soft8 *s, const zw_real8 *diagonal, zw_real8 *x_of, zw_mask8 *good)
{
    const paths_shape *shape = &s->shape;
    double *H = (double *)(void *)s->H, *x = (double *)(void *)x_of;
    int all = 1;
    for (int b = shape->blocks - 1; b >= 0; b--) {
        crew_run r = run_at(shape, b, H, x);
        all &= factor_own(&r, (const double *)(const void *)diagonal, x);
        factor_above(shape, s->above, &r, H, x);
    }
    for (int b = 0; b < shape->blocks; b++) {
        crew_run r = run_at(shape, b, H, x);
        from_root_on(shape, s->above, &r, x, s->product);
    }
    *good = (zw_mask8){-(long long)all};
}
