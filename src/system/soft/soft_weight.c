/* Inverse effective masses in the reference pose: the scale of a row's compliance.
 *
 * For a dof the diagonal of M^-1, for a length c' M^-1 c, for a body the mean of the diagonal of J
 * M^-1 J' over the three translations and over the three rotations at its centre of mass; zero if
 * it cannot rotate, or its centre is on a fixed axle. Bodies that only shift (bodies_only_shifts)
 * and their slides use the mass alone, as in MuJoCo, however many slides there are.
 *
 * Without tendons that have a mass all of these follow in one sweep from the root to the tips
 * (Rodriguez, Jain and Kreutz-Delgado 1991). Let Omega be the matrix of the accelerations of a body
 * due to forces on itself. With S, G = U/D, D of a dof (tree/articulated.lane.h) the motion after
 * it is (1 - S G') A + S u/D, A being that before it, and u is independent of A, so
 *
 *     after it      Omega - S (Omega G)' - (Omega G) S' + (G' Omega G + 1/D) S S'
 *     of the dof    G' Omega G + 1/D
 *
 * starting with Omega of the parent, shifted to the body's centre. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies_build.h"
#include "system/soft/soft.h"
#include "tree/sweeps.h"

/* x' M^-1 x; scratch[n]. */
static double inverse(soft_problem *s, const double *x, double *scratch)
{
    double sum = 0;
    memcpy(scratch, x, (size_t)s->system->n * sizeof *scratch);
    soft_solve_masses(s, scratch);
    for (int i = 0; i < s->system->n; i++) {
        sum += x[i] * scratch[i];
    }
    return sum;
}

static void weigh_dofs(soft_problem *s, double *x, double *scratch)
{
    int n = s->system->n;
    memset(x, 0, (size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) {
        x[i] = 1;
        s->dof[i] = inverse(s, x, scratch);
        x[i] = 0;
    }
}

/* Translations and rotations of one joint get their means; and a zero of a part gets the other
 * value. */
static void even_out(soft_problem *s)
{
    const tree_mechanism *tree = s->system->tree;
    for (int j = 0; j < tree->joints; j++) {
        tree_joint_kind kind = tree->joint[j].kind;
        int end = kind == TREE_FREE ? 6 : kind == TREE_BALL ? 3 : 0;
        for (int k = 0; k < end; k += 3) {
            double *w = s->dof + tree->joint[j].v + k;
            w[0] = w[1] = w[2] = (w[0] + w[1] + w[2]) / 3;
        }
    }
}

static void weigh_simple(soft_problem *s)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int part = 1; part < bodies->part_count; part++) {
        const tree_body *body = &s->system->tree->body[bodies->part[part].frame.body];
        if (!bodies_only_shifts(s->system->tree, bodies, part)) {
            continue;
        }
        s->part[part][0] = 1 / bodies->part[part].mass;
        for (int j = 0; j < bodies->joint_count; j++) {
            const bodies_length *length = &bodies->length[j];
            int dof = length->count == 1 ? bodies->term[length->first].dof : -1;
            if (dof >= body->dof && dof < body->dof_end) {
                s->dof[dof] = s->length[j] = s->part[part][0];
            }
        }
    }
}

/* Lengths with one term (joints) follow from their dofs. */
static void weigh_lengths(soft_problem *s, int known, double *x, double *scratch)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int i = 0; i < bodies->length_count; i++) {
        const bodies_length *length = &bodies->length[i];
        if (known && length->count <= 1) {
            const bodies_term *term = &bodies->term[length->first];
            s->length[i] = length->count == 1 ? term->coef * s->dof[term->dof] * term->coef
                                              : 0; /* or no term */
            continue;
        }
        memset(x, 0, (size_t)s->system->n * sizeof *x);
        for (int k = length->first; k < length->first + length->count; k++) {
            x[bodies->term[k].dof] += bodies->term[k].coef;
        }
        s->length[i] = inverse(s, x, scratch);
    }
}

static void weigh_part(soft_problem *s, int part, int *chain, double *x, double *scratch)
{
    const tree_mechanism *tree = s->system->tree;
    int body = s->system->bodies->part[part].frame.body, count = tree_chain(tree, body, chain);
    double place[3], *to = s->part[part];
    bodies_part_centre(s->system, s->work, part, place);
    tree_jacobian(tree, body, place, s->work->sweeps, s->work->jacobian);
    to[0] = to[1] = 0;
    for (int row = 0; row < 6 && count > 0; row++) {
        memset(x, 0, (size_t)s->system->n * sizeof *x);
        for (int k = 0; k < count; k++) {
            x[chain[k]] = s->work->jacobian[6 * k + row];
        }
        to[row < 3] += inverse(s, x, scratch) / 3;
    }
}

/* Shifts Omega to a point at r from the old one: translations there are v + w x r. */
static void shift(const double r[3], double omega[6][6])
{
    for (int pass = 0; pass < 2; pass++) { /* rows, then columns */
        for (int k = 0; k < 6; k++) {
            double w[3], *to[3];
            for (int i = 0; i < 3; i++) {
                w[i] = pass ? omega[k][i] : omega[i][k];
                to[i] = pass ? &omega[k][3 + i] : &omega[3 + i][k];
            }
            *to[0] += w[1] * r[2] - w[2] * r[1];
            *to[1] += w[2] * r[0] - w[0] * r[2];
            *to[2] += w[0] * r[1] - w[1] * r[0];
        }
    }
}

/* Passes a dof; returns its inverse effective mass. */
static double cross_dof(const double *S, const double *G, double pivot, double omega[6][6])
{
    double g[6], sum = pivot;
    for (int i = 0; i < 6; i++) {
        g[i] = 0;
        for (int k = 0; k < 6; k++) {
            g[i] += omega[i][k] * G[k];
        }
        sum += g[i] * G[i];
    }
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            omega[i][k] += sum * S[i] * S[k] - S[i] * g[k] - g[i] * S[k];
        }
    }
    return sum;
}

/* All dofs and parts, if M is that of the tree. 0: not positive definite. */
static int weigh_tree(soft_problem *s, double (*omega)[6][6])
{
    const tree_mechanism *tree = s->system->tree;
    const tree_places *at = &tree->at;
    double *sweeps = s->work->sweeps;
    int bad = 0;
    tree_articulate(tree, NULL, sweeps, &bad);
    for (int i = 1; i < tree->bodies && !bad; i++) {
        const tree_body *body = &tree->body[i];
        memcpy(omega[i], omega[body->parent], sizeof *omega);
        shift(sweeps + at->shift + 3 * i, omega[i]);
        for (int d = body->dof; d < body->dof_end; d++) {
            s->dof[d] = cross_dof(sweeps + at->S + 6 * d, sweeps + at->G + 6 * d,
                                  sweeps[at->pivot + d], omega[i]);
        }
    }
    for (int part = 0; part < s->system->bodies->part_count && !bad; part++) {
        int body = s->system->bodies->part[part].frame.body;
        double place[3], r[3], own[6][6], *to = s->part[part];
        bodies_part_centre(s->system, s->work, part, place);
        for (int k = 0; k < 3; k++) {
            r[k] = place[k] - sweeps[at->com + 3 * body + k];
        }
        memcpy(own, omega[body], sizeof own);
        shift(r, own);
        to[1] = (own[0][0] + own[1][1] + own[2][2]) / 3;
        to[0] = (own[3][3] + own[4][4] + own[5][5]) / 3;
    }
    return !bad;
}

/* Are all pivots of M more than round-off of its diagonal? */
static int masses_are_significant(soft_problem *s)
{
    const tree_mechanism *tree = s->system->tree;
    const double *M = s->work->sweeps + tree->at.M;
    int regular = soft_factor_masses(s, NULL);
    for (int i = 0; i < s->islands && !s->is_bent; i++) { /* 1/D, and M's diagonal */
        const soft_island *island = &s->island[i];
        for (int d = island->first; d < island->first + island->n && regular; d++) {
            double pivot =
                island->is_deep ? s->work->sweeps[tree->at.pivot + d] : s->row[d][s->level[d]];
            regular = pivot * M[tree->start[d + 1] - 1] < 1e14;
        }
    }
    return regular;
}

zw_status soft_weigh(soft_problem *s, zw_error *error)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n + 1;
    double *x = base_alloc(2 * n * sizeof *x);
    int *chain = base_alloc(n * sizeof *chain);
    double(*omega)[6][6] = base_alloc((size_t)system->tree->bodies * sizeof *omega);
    zw_status status = ZW_OK;
    if (x && chain && omega) {
        memset(s->a, 0, (n - 1) * sizeof(double));
        status = system_evaluate(system, s->work, PART_METRIC, 0, system->tree->q_rest, s->a, NULL,
                                 NULL, error);
    } else {
        status = base_no_memory(error);
    }
    if (status == ZW_OK && (!soft_fill_masses(s) || !soft_find_islands(s))) {
        status = base_no_memory(error);
    }
    if (status == ZW_OK && !masses_are_significant(s)) {
        status = base_fail(error, ZW_BAD_INPUT,
                           "the soft law needs a mass matrix of the tree: it does not go with "
                           "joints that close loops or maximal coordinates");
    }
    if (status == ZW_OK) {
        int tree = s->blocks == 0 && weigh_tree(s, omega);
        weigh_lengths(s, tree, x, x + n);
        if (!tree) { /* with masses of tendons */
            weigh_dofs(s, x, x + n);
            for (int i = 0; i < system->bodies->part_count; i++) {
                weigh_part(s, i, chain, x, x + n);
            }
        }
        even_out(s);
        weigh_simple(s);
    }
    base_free(omega);
    base_free(x);
    base_free(chain);
    return status;
}
