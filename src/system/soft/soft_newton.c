/* The motion of the soft law: Newton's method on each island; soft.h has the law.
 *
 * a is the minimum of the strongly convex, once differentiable function
 *
 *     f(a) = 1/2 a' M a - force' a + sum over blocks of s(J a),    ds/dx = -lambda(x) (soft_law.c).
 *
 * Its second derivative is H = M + J' C J, where it has one. A step leads to the minimum of the
 * current quadratic function,
 *
 *     H a+ = force + J' (lambda + C J a).
 *
 * If the same rows are active at a+ as at a, and none is curved, a+ is the minimum, and its bits do
 * not depend on the start of the search. Otherwise the next a is the minimum on the line through
 * both, as accurately as necessary: the slope along it increases, so its zero is bracketed and
 * Newton's steps on it are kept inside. So f decreases at each step, and without curved blocks
 * there are finitely many quadratic pieces.
 *
 * The search starts at the last a: few rows change from step to step, and most steps need one
 * factorisation. If it ends on a curved piece its last bits depend on the start, which with cones
 * is therefore part of the state (soft_memory). */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "gauss/tolerances.h"
#include "system/soft/soft.h"
#include "system/soft/soft_large.h"

enum { MOST = 200, LOOKS = 40 };

static void look(const soft_problem *s, soft_block *k, const double *x, soft_reply *to)
{
    soft_law(k, s->b + k->first, s->D + k->first, x, to);
}

/* ---- H of an island ------------------------------------------------------------------------- */

/* The block after the group that begins at b. */
static int after(const soft_problem *s, int b)
{
    return s->block[b + s->block[b].group - 1].next;
}

static void fill(soft_problem *s, const soft_island *island, int only_masses)
{
    const tree_mechanism *tree = s->system->tree;
    const double *M = s->work->sweeps + tree->at.M;
    if (island->dof) {
        memset(island->H, 0, (size_t)island->shape.entries * sizeof *M);
        for (int i = 0; i < island->n; i++) {
            int d = island->dof[i];
            for (int k = tree->start[d]; k < tree->start[d + 1]; k++) {
                s->row[d][s->level[tree->column[k]]] = M[k];
            }
        }
    } else {
        paths_copy(&island->shape, M + tree->start[island->first], island->H);
    }
    for (int b = island->block; b >= 0; b = after(s, b)) {
        if (!only_masses || s->block[b].kind == SOFT_MASS) {
            soft_stiffen(s, b);
        }
    }
}

static int factor(soft_problem *s, const soft_island *island, const double *diagonal,
                  int only_masses)
{
    const double *own = diagonal ? diagonal + island->first : NULL;
    if (island->is_deep) {
        return soft_deep_factor(s, island, diagonal, only_masses);
    }
    if (island->is_large) {
        return soft_large_factor(s, island, diagonal, only_masses);
    }
    fill(s, island, only_masses);
    for (int i = 0; diagonal && island->dof && i < island->n; i++) {
        s->y[i] = diagonal[island->dof[i]];
        own = s->y;
    }
    return paths_factor(&island->shape, own, island->H);
}

/* x = H \ x, by numbers of all dofs. */
static void solve(soft_problem *s, const soft_island *island, double *x)
{
    double *y = island->dof ? s->y : x + island->first;
    if (island->is_deep) {
        soft_deep_solve(s, island, x);
        return;
    }
    for (int i = 0; island->dof && i < island->n; i++) {
        y[i] = x[island->dof[i]];
    }
    if (island->is_large) {
        soft_large_solve(s, island, y);
    } else {
        paths_solve_in_order(&island->shape, island->H, y);
    }
    for (int i = 0; island->dof && i < island->n; i++) {
        x[island->dof[i]] = y[i];
    }
}

int soft_factor_masses(soft_problem *s, const double *diagonal)
{
    int good = 1;
    for (int i = 0; i < s->islands; i++) {
        good &= factor(s, &s->island[i], diagonal, 1);
    }
    return good;
}

int soft_factor(soft_problem *s)
{
    int good = 1;
    for (int i = 0; i < s->islands; i++) {
        good &= factor(s, &s->island[i], NULL, 0);
    }
    return good;
}

static int is_zero(const soft_problem *s, const soft_island *island, const double *x)
{
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        for (int d = s->tree[t].first; d < s->tree[t].end; d++) {
            if (x[d] != 0) {
                return 0;
            }
        }
    }
    return 1;
}

void soft_solve_masses(soft_problem *s, double *x)
{
    for (int i = 0; i < s->islands; i++) {
        if (!is_zero(s, &s->island[i], x)) {
            solve(s, &s->island[i], x);
        }
    }
}

/* ---- One island ----------------------------------------------------------------------------- */

/* y = M x of the trees only */
static void multiply(const soft_problem *s, const soft_island *island, const double *x, double *y)
{
    const tree_mechanism *tree = s->system->tree;
    const double *M = s->work->sweeps + tree->at.M;
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        int first = s->tree[t].first;
        if (s->tree[t].is_deep) {
            soft_deep_multiply(s, &s->tree[t], x, y);
        } else {
            paths_multiply(&s->tree[t].shape, M + tree->start[first], x + first, y + first);
        }
    }
}

typedef struct measure {
    double slope, size; /* squares of lengths */
} measure;

static int is_within(const measure *m, double part)
{
    return m->slope <= part * part * m->size;
}

/* Adds the mass of a tendon to Ma. */
static void add_mass(const soft_problem *s, const soft_block *k)
{
    for (int c = 0; c < k->columns; c++) {
        s->Ma[s->column[k->column + c]] -= k->now.force[0] * s->value[k->J + c];
    }
}

/* push, and the gradient M a - force - push, which is stored in x. */
static measure measure_slope(soft_problem *s, const soft_island *island)
{
    measure m = {0};
    double Ma = 0, applied = 0, pushed = 0;
    multiply(s, island, s->a, s->Ma);
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        size_t bytes = (size_t)(s->tree[t].end - s->tree[t].first) * sizeof(double);
        memset(s->push + s->tree[t].first, 0, bytes);
    }
    for (int b = island->block; b >= 0; b = after(s, b)) {
        if (s->block[b].kind == SOFT_MASS) {
            add_mass(s, &s->block[b]);
        } else {
            soft_push(s, b, 0, s->push);
        }
    }
    if (island->is_deep) {
        soft_deep_collect(s, &s->tree[island->tree], s->push);
    }
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        for (int d = s->tree[t].first; d < s->tree[t].end; d++) {
            double g = s->Ma[d] - s->force[d] - s->push[d];
            s->x[d] = g;
            m.slope += g * g;
            Ma += s->Ma[d] * s->Ma[d];
            applied += s->force[d] * s->force[d];
            pushed += s->push[d] * s->push[d];
        }
    }
    m.size = fmax(Ma, fmax(applied, pushed));
    return m;
}

/* The contribution of a block to the slope along the line, and to its derivative. */
static void add_slope(const soft_block *k, const soft_reply *reply, double *slope, double *rise)
{
    for (int i = 0; i < k->width; i++) {
        *slope -= reply->force[i] * k->move[i];
        for (int j = 0; j <= i; j++) {
            double C = reply->C[i * (i + 1) / 2 + j];
            *rise += (i == j ? 1 : 2) * C * k->move[i] * k->move[j];
        }
    }
}

/* The zero of the slope c1 + c2 t - sum of lambda . move along the line to a+. At its ends, t = 0
 * and 1, the replies are known. s->x, which was a+, becomes x = a+ - a. As H x is minus the
 * gradient at t = 0, c2 = x' M x follows from that and from C. */
static double search(soft_problem *s, const soft_island *island)
{
    double c1 = 0, c2 = 0, low = 0, high = INFINITY, at = 1, first = 0, rise = 0;
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        for (int d = s->tree[t].first; d < s->tree[t].end; d++) {
            s->x[d] -= s->a[d];
        }
    }
    multiply(s, island, s->a, s->Ma);
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        for (int d = s->tree[t].first; d < s->tree[t].end; d++) {
            c1 += s->x[d] * (s->Ma[d] - s->force[d]);
        }
    }
    first = c1;
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        add_slope(&s->block[b], &s->block[b].now, &first, &rise);
    }
    c2 = fmax(-first - rise, 0);
    for (int look_no = 0; look_no < LOOKS; look_no++) {
        double slope = c1 + at * c2;
        rise = c2;
        for (int b = island->block; b >= 0; b = s->block[b].next) {
            soft_block *k = &s->block[b];
            soft_reply reply;
            double x[6];
            for (int i = 0; i < k->width && look_no > 0; i++) {
                x[i] = k->x[i] + at * k->move[i];
            }
            if (look_no > 0) {
                look(s, k, x, &reply);
            }
            add_slope(k, look_no > 0 ? &reply : &k->then, &slope, &rise);
        }
        if (fabs(slope) <= 1e-3 * fabs(first)) {
            break;
        }
        *(slope < 0 ? &low : &high) = at;
        double next = at - slope / rise;
        at = next > low && next < high ? next : isinf(high) ? 2 * at : 0.5 * (low + high);
    }
    return at;
}

/* s->x = H a+ */
static void aim(soft_problem *s, const soft_island *island)
{
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        const soft_tree *own = &s->tree[t];
        memcpy(s->x + own->first, s->force + own->first,
               (size_t)(own->end - own->first) * sizeof(double));
    }
    for (int b = island->block; b >= 0; b = after(s, b)) {
        soft_push(s, b, 1, s->x); /* masses have no rest */
    }
    if (island->is_deep) {
        soft_deep_collect(s, &s->tree[island->tree], s->x);
    }
}

/* The forces of the blocks at a+; returns whether the pieces are the same. */
static int look_ahead(soft_problem *s, const soft_island *island)
{
    int same = 1;
    if (island->is_deep) {
        soft_deep_accelerate(s, &s->tree[island->tree], s->x);
    }
    for (int b = island->block; b >= 0; b = after(s, b)) {
        soft_along(s, b, s->x, 1);
    }
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        soft_block *k = &s->block[b];
        soft_law_force(k, s->b + k->first, s->D + k->first, k->move, &k->then);
        same &= k->then.state == k->now.state && !k->then.curved;
    }
    return same;
}

static void take(soft_problem *s, const soft_island *island)
{
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        const soft_tree *own = &s->tree[t];
        memcpy(s->a + own->first, s->x + own->first,
               (size_t)(own->end - own->first) * sizeof(double));
    }
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        soft_block *k = &s->block[b];
        memcpy(k->x, k->move, sizeof k->x);
        memcpy(k->now.force, k->then.force, sizeof k->now.force); /* C and rest are the same */
    }
}

/* The responses of the blocks at s->a; returns whether some are curved there. */
static int look_all(soft_problem *s, const soft_island *island)
{
    int curved = 0;
    if (island->is_deep) {
        soft_deep_accelerate(s, &s->tree[island->tree], s->a);
    }
    for (int b = island->block; b >= 0; b = after(s, b)) {
        soft_along(s, b, s->a, 0);
    }
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        soft_block *k = &s->block[b];
        look(s, k, k->x, &k->now);
        curved |= k->now.curved;
    }
    return curved;
}

static int go_along(soft_problem *s, const soft_island *island)
{
    int curved = 0;
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        soft_block *k = &s->block[b];
        look(s, k, k->move, &k->then);
        for (int i = 0; i < k->width; i++) {
            k->move[i] -= k->x[i];
        }
    }
    double at = search(s, island);
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        for (int d = s->tree[t].first; d < s->tree[t].end; d++) {
            s->a[d] += at * s->x[d];
        }
    }
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        soft_block *k = &s->block[b];
        for (int i = 0; i < k->width; i++) {
            k->x[i] += at * k->move[i];
        }
        look(s, k, k->x, &k->now);
        curved |= k->now.curved;
    }
    return curved;
}

/* Iterative refinement of a+ with the current factor: a -= H \ gradient, which is in s->x. */
static measure polish(soft_problem *s, const soft_island *island, measure m)
{
    for (int round = 0; round < 3 && !is_within(&m, SOFT_EXACT); round++) {
        solve(s, island, s->x);
        for (int t = island->tree; t >= 0; t = s->tree[t].next) {
            for (int d = s->tree[t].first; d < s->tree[t].end; d++) {
                s->a[d] -= s->x[d];
            }
        }
        look_all(s, island);
        measure next = measure_slope(s, island);
        int better = next.slope < 0.25 * m.slope;
        m = next;
        if (!better) {
            break;
        }
    }
    return m;
}

static void move_back(soft_problem *s, const soft_island *island)
{
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        const soft_tree *own = &s->tree[t];
        memcpy(s->a + own->first, s->back + own->first,
               (size_t)(own->end - own->first) * sizeof(double));
    }
}

/* Near the end of a curved search: the step from the gradient, which is in s->x and has less
 * round-off than a+. It is accepted if it halves the gradient; otherwise 0 is returned and a is
 * restored. */
static int correct(soft_problem *s, const soft_island *island, measure *m)
{
    solve(s, island, s->x);
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        for (int d = s->tree[t].first; d < s->tree[t].end; d++) {
            s->back[d] = s->a[d];
            s->a[d] -= s->x[d];
        }
    }
    look_all(s, island);
    measure next = measure_slope(s, island);
    if (next.slope <= 0.25 * m->slope) {
        *m = next;
        return 1;
    }
    move_back(s, island);
    look_all(s, island);
    *m = measure_slope(s, island);
    return 0;
}

/* The first step, up to H a+ = s->x. */
static void prepare(soft_problem *s, const soft_island *island)
{
    look_all(s, island);
    fill(s, island, 0);
    aim(s, island);
}

/* FAILED: H is not positive definite. SETTLED: the bits of the minimum do not depend on the start.
 * If `ready`, the first a+ is in s->x, but H is not factored. */
enum { FAILED, SETTLED, NEAR };
static int minimise(soft_problem *s, const soft_island *island, int ready, measure *m,
                    int *iterations)
{
    int known = 0; /* known: the gradient is in s->x */
    if (!ready) {
        look_all(s, island);
    }
    for (*iterations = 1; *iterations <= MOST; ++*iterations, ready = 0) {
        if (!ready && !factor(s, island, NULL, 0)) {
            return FAILED;
        }
        if (known && correct(s, island, m)) {
            if (is_within(m, SOFT_EXACT)) {
                return NEAR;
            }
            continue;
        }
        if (known && is_within(m, SOFT_CLOSE)) {
            return NEAR;
        }
        if (!ready) {
            aim(s, island);
            solve(s, island, s->x);
        }
        if (look_ahead(s, island)) {
            take(s, island);
            *m = measure_slope(s, island);
            if (!is_within(m, SOFT_CLOSE) && (!ready || factor(s, island, NULL, 0))) {
                *m = polish(s, island, *m);
            }
            return is_within(m, SOFT_CLOSE) ? SETTLED : NEAR;
        }
        known = go_along(s, island) || *iterations > 50;
        if (known) {
            *m = measure_slope(s, island);
            if (is_within(m, SOFT_EXACT)) {
                return NEAR;
            }
        }
    }
    return NEAR;
}

/* Where terms cancel to less than their round-off (points deep inside each other whose normals
 * cannot move), or a search goes on and on, which set of rows is found depends on the start. So it
 * starts again there, at 0; with elliptic cones the start is part of the state. */
static int minimise_alike(soft_problem *s, const soft_island *island, int ready, measure *m,
                          int *iterations)
{
    int found = minimise(s, island, ready, m, iterations);
    if (found == NEAR && !s->system->bodies->elliptic) {
        for (int t = island->tree; t >= 0; t = s->tree[t].next) {
            memset(s->a + s->tree[t].first, 0,
                   (size_t)(s->tree[t].end - s->tree[t].first) * sizeof *s->a);
        }
        found = minimise(s, island, 0, m, iterations);
    }
    return found != FAILED;
}

/* The terms of the push: lambda = D b - D x, and for a pyramid the edges. Where the normal of a
 * contact cannot move, these cancel in the push, and determine its round-off. */
static double square_of_parts(const soft_problem *s, const soft_island *island)
{
    double sum = 0;
    for (int b = island->block; b >= 0; b = after(s, b)) {
        const soft_block *own = &s->block[b];
        for (const soft_block *k = own; k < own + own->group; k++) {
            for (int r = 0; r < k->width; r++) {
                const double *J = s->value + k->J + r * k->stride;
                int edge = k->kind == SOFT_PYRAMID && r > 0;
                double force = edge ? k->mu[r - 1] * k->now.rest[0] : k->now.rest[r], square = 0;
                for (int c = 0; c < k->columns; c++) {
                    square += J[c] * J[c];
                }
                sum += force * force * square;
            }
        }
    }
    return sum;
}

typedef struct tally {
    double slope, worst;
} tally;

static zw_status finish(soft_problem *s, const soft_island *island, int ready, tally *sum,
                        zw_error *error)
{
    measure m = {0};
    int iterations = 0;
    if (!minimise_alike(s, island, ready, &m, &iterations)) {
        return base_fail(error, ZW_NOT_A_METRIC, "the masses are not positive");
    }
    m.size = is_within(&m, GAUSS_GOOD) ? m.size : fmax(m.size, square_of_parts(s, island));
    sum->slope += m.slope;
    sum->worst = fmax(sum->worst, m.size > 0 ? m.slope / m.size : 0);
    s->iterations = iterations > s->iterations ? iterations : s->iterations;
    return is_within(&m, GAUSS_GOOD)
               ? ZW_OK
               : base_fail(error, ZW_INACCURATE,
                           "the soft law could be solved to a part of %.1e of its forces only",
                           sqrt(m.slope / m.size));
}

/* ---- All ------------------------------------------------------------------------------------ */

/* Islands of one pattern, whose first steps are solved together. */
typedef struct lot {
    int count;
    const soft_island *island[LANES];
} lot;

static zw_status finish_lot(soft_problem *s, lot *all, tally *sum, zw_error *error)
{
#ifdef ZW_NO_GROUPS
    enum { TOGETHER = 0 }; /* one by one, as code must be small and vectors are short */
#else
    enum { TOGETHER = 1 };
#endif
    enum { FEW = 3 }; /* up to this many are as fast one by one */
    double *H[LANES], *x[LANES];
    int ready = TOGETHER && all->count >= FEW, count = all->count;
    zw_status status = ZW_OK;
    for (int l = 0; l < LANES && ready; l++) {
        const soft_island *island = all->island[l < count ? l : count - 1];
        H[l] = island->H;
        x[l] = s->x + island->first;
        if (l < count) {
            prepare(s, island);
        }
    }
    if (ready && !soft_solve_eight(&all->island[0]->shape, H, x, count, s->lot)) {
        return base_fail(error, ZW_NOT_A_METRIC, "the masses are not positive");
    }
    for (int l = 0; l < count && status == ZW_OK; l++) {
        status = finish(s, all->island[l], ready, sum, error);
    }
    all->count = 0;
    return status;
}

zw_status soft_minimise(soft_problem *s, zw_error *error)
{
    tally sum = {0};
    lot all = {0};
    int kind = -1;
    zw_status status = ZW_OK;
    s->iterations = 0;
    for (int i = 0; i < s->islands && status == ZW_OK; i++) {
        const soft_island *island = &s->island[i];
        if (s->only_pushes && island->block < 0) {
            const soft_tree *own = &s->tree[island->tree]; /* a single tree */
            memset(s->push + own->first, 0, (size_t)(own->end - own->first) * sizeof *s->push);
            continue;
        }
        if (island->dof || island->is_deep) {
            status = finish(s, island, 0, &sum, error);
            continue;
        }
        if (all.count == LANES || s->tree[island->tree].kind != kind) {
            status = finish_lot(s, &all, &sum, error);
        }
        kind = s->tree[island->tree].kind;
        all.island[all.count++] = island;
    }
    status = status == ZW_OK ? finish_lot(s, &all, &sum, error) : status;
    s->slope = sqrt(sum.slope);
    s->certificate = sqrt(sum.worst);
    return status;
}
