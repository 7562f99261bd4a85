/* H = M + J' C J of long chains, in O(n).
 *
 * The rows of M and of its factor contain the path from the root to their dof: for a chain of n
 * links these are n^2/2 numbers, and n^3/6 products. But a contact with the world is a spring (of
 * stiffness C) between the world and one body: with w_r the spatial vectors of its directions at
 * the body's centre of mass c,
 *
 *     J_r a = w_r . A,    w_r = (p - c) x f_r, f_r   (translation)   or   f_r, 0   (rotation)
 *     J' C J a is the force of K A, K = sum C_rs w_r w_s', on the joints,
 *
 * A being the body's acceleration. J a and J' f need no J either: the accelerations of all bodies
 * take one sweep, and so do the forces on dofs from wrenches on bodies. So K is added to the
 * inertia of the body, and the articulated-body algorithm (tree/articulated.lane.h) factors H like
 * M. Rows of one dof add to its diagonal. Other rows, between two bodies, are not possible: with
 * such a row the island uses the other factor.
 *
 * When.  Eliminating a dof whose path has length d costs d^2/2 products, four at a time. The
 * articulated body of a hinge costs 21 numbers of U U'/D, 30 of I S, and about 110 to shift its
 * inertia, about 200 operations one at a time; a solve 60, and the old one 2 d, which is less work
 * if d is below 30. The two are equal where the mean of d^2/2 is about 1600 (a chain of 98 hinges);
 * that is SOFT_DEEP. */
#include <string.h>

#include "system/soft/soft.h"
#include "tree/sweeps.h"

/* Is it a tree of contiguous bodies with long paths? */
void soft_deep_find(const soft_problem *s, soft_tree *own)
{
    const tree_mechanism *tree = s->system->tree;
    double products = 0;
    own->body = tree->dof_body[own->first];
    own->body_end = own->end < tree->nv ? tree->dof_body[own->end] : tree->bodies;
    for (int d = own->first; d < own->end; d++) {
        products += 0.5 * tree->depth[d] * tree->depth[d];
    }
    own->is_deep = products > SOFT_DEEP * (own->end - own->first);
    for (int i = own->body; i < own->body_end; i++) {
        int p = tree->body[i].parent;
        own->is_deep &= i == own->body ? p == 0 : p >= own->body;
    }
}

int soft_deep_fits(const soft_problem *s, const soft_island *island)
{
    int fits = s->tree[island->tree].is_deep && s->tree[island->tree].next < 0;
    for (int b = island->block; b >= 0 && fits; b = s->block[b].next) {
        const soft_block *k = &s->block[b];
        fits = k->held > 0 || (k->columns == 1 && k->width == 1 && k->kind != SOFT_MASS);
    }
    return fits;
}

/* The direction r of a point, at the centre c of the body: moment, then force. */
static void direction(const contact_point *point, const double *c, int r, double w[6])
{
    const double *f = point->frame + 3 * (r % 3), *p = point->pos;
    double x = p[0] - c[0], y = p[1] - c[1], z = p[2] - c[2];
    double sign = point->body[1] == 0 ? -1 : 1; /* relative motion of the second body */
    int turns = r >= 3;
    for (int i = 0; i < 3; i++) {
        w[i] = turns ? sign * f[i] : 0;
        w[3 + i] = turns ? 0 : sign * f[i];
    }
    w[0] += y * w[5] - z * w[4];
    w[1] += z * w[3] - x * w[5];
    w[2] += x * w[4] - y * w[3];
}

static const double *centre_of(const soft_problem *s, int body)
{
    return s->work->sweeps + s->system->tree->at.com + 3 * body;
}

void soft_deep_along(const soft_problem *s, const soft_block *k, int motion, double *x)
{
    const double *A = s->work->sweeps + motion + 6 * k->held;
    double w[6];
    for (int r = 0; r < k->width; r++) {
        direction(&s->found.point[k->of], centre_of(s, k->held), r, w);
        x[r] = w[0] * A[0] + w[1] * A[1] + w[2] * A[2] + w[3] * A[3] + w[4] * A[4] + w[5] * A[5];
    }
}

void soft_deep_push(const soft_problem *s, const soft_block *k, const double *force)
{
    double w[6], *to = s->wrench + 6 * k->held;
    for (int r = 0; r < k->width; r++) {
        direction(&s->found.point[k->of], centre_of(s, k->held), r, w);
        for (int i = 0; i < 6; i++) {
            to[i] += force[r] * w[i];
        }
    }
}

void soft_deep_accelerate(const soft_problem *s, const soft_tree *own, const double *a)
{
    const tree_mechanism *tree = s->system->tree;
    double *sweeps = s->work->sweeps;
    for (int i = own->body; i < own->body_end; i++) {
        const tree_body *body = &tree->body[i];
        const double *r = sweeps + tree->at.shift + 3 * i;
        double *A = sweeps + tree->at.A + 6 * i, w[6] = {0};
        if (body->parent > 0) {
            memcpy(w, sweeps + tree->at.A + 6 * body->parent, sizeof w);
        }
        w[3] += w[1] * r[2] - w[2] * r[1];
        w[4] += w[2] * r[0] - w[0] * r[2];
        w[5] += w[0] * r[1] - w[1] * r[0];
        for (int d = body->dof; d < body->dof_end; d++) {
            for (int k = 0; k < 6; k++) {
                w[k] += a[d] * sweeps[tree->at.S + 6 * d + k];
            }
        }
        memcpy(A, w, sizeof w);
    }
}

void soft_deep_collect(const soft_problem *s, const soft_tree *own, double *to)
{
    const tree_mechanism *tree = s->system->tree;
    const double *sweeps = s->work->sweeps;
    for (int i = own->body_end - 1; i >= own->body; i--) {
        const tree_body *body = &tree->body[i];
        const double *r = sweeps + tree->at.shift + 3 * i;
        double *F = s->wrench + 6 * i, *up = F - 6 * (i - body->parent);
        for (int d = body->dof; d < body->dof_end; d++) {
            const double *S = sweeps + tree->at.S + 6 * d;
            to[d] +=
                F[0] * S[0] + F[1] * S[1] + F[2] * S[2] + F[3] * S[3] + F[4] * S[4] + F[5] * S[5];
        }
        if (body->parent > 0) {
            up[0] += F[0] + r[1] * F[5] - r[2] * F[4];
            up[1] += F[1] + r[2] * F[3] - r[0] * F[5];
            up[2] += F[2] + r[0] * F[4] - r[1] * F[3];
            for (int k = 3; k < 6; k++) {
                up[k] += F[k];
            }
        }
        memset(F, 0, 6 * sizeof *F);
    }
}

/* K += a b' + b a', or half of that; A: xx yy zz xy xz yz, B by rows, C as A. */
static void add_product(double *K, const double a[6], const double b[6], double scale)
{
    static const int of[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int k = 0; k < 6; k++) {
        int i = of[k][0], j = of[k][1];
        K[k] += scale * (a[i] * b[j] + b[i] * a[j]);
        K[15 + k] += scale * (a[3 + i] * b[3 + j] + b[3 + i] * a[3 + j]);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            K[6 + 3 * i + j] += scale * (a[i] * b[3 + j] + b[i] * a[3 + j]);
        }
    }
}

static void hold(soft_problem *s, const soft_block *k)
{
    double w[6][6];
    for (int r = 0; r < k->width; r++) {
        direction(&s->found.point[k->of], centre_of(s, k->held), r, w[r]);
        for (int q = 0; q <= r; q++) {
            double C = k->now.C[r * (r + 1) / 2 + q];
            add_product(s->held + 21 * k->held, w[r], w[q], r == q ? 0.5 * C : C);
        }
    }
}

int soft_deep_factor(soft_problem *s, const soft_island *island, const double *diagonal,
                     int only_masses)
{
    const soft_tree *own = &s->tree[island->tree];
    size_t n = (size_t)(own->end - own->first) * sizeof(double);
    int bad = 0;
    memset(s->deep + own->first, 0, n);
    if (diagonal) {
        memcpy(s->deep + own->first, diagonal + own->first, n);
    }
    memset(s->held + 21 * own->body, 0, 21 * (size_t)(own->body_end - own->body) * sizeof *s->held);
    for (int b = island->block; b >= 0 && !only_masses; b = s->block[b].next) {
        const soft_block *k = &s->block[b];
        if (k->now.state == 0) {
            continue;
        }
        if (k->held) {
            hold(s, k);
        } else {
            double J = s->value[k->J];
            s->deep[s->column[k->column]] += J * k->now.C[0] * J;
        }
    }
    tree_articulate_held(s->system->tree, own->body, own->body_end, s->held, s->deep,
                         s->work->sweeps, &bad);
    return !bad;
}

void soft_deep_solve(soft_problem *s, const soft_island *island, double *x)
{
    const soft_tree *own = &s->tree[island->tree];
    tree_articulated_solve_held(s->system->tree, own->body, own->body_end, s->work->sweeps, x);
}

void soft_deep_multiply(const soft_problem *s, const soft_tree *own, const double *x, double *y)
{
    tree_inertia_times_held(s->system->tree, own->body, own->body_end, x, s->work->sweeps, y);
}
