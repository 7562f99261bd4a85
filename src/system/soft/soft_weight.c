/* What a unit of force moves, in the pose as described: the scale of a row's compliance.
 *
 * Of a dof the diagonal of M^-1, of a length c' M^-1 c, of a body the mean of the diagonal of
 * J M^-1 J' over the three shifts and over the three turns at its centre of mass; 0 where it cannot
 * turn, or its centre is on a fixed axle. One exception is MuJoCo's (its "simple" bodies that only
 * shift): a body without children on the world, or on what is fixed to it, with its centre of mass
 * at its origin, principal axes along its own and slides along those, is weighed by its mass alone,
 * however many slides it has, and so are its slides. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/soft/soft.h"
#include "tree/sweeps.h"

/* x' M^-1 x; `room` has n numbers. */
static double inverse(soft_problem *s, const double *x, double *room)
{
    double sum = 0;
    memcpy(room, x, (size_t)s->system->n * sizeof *room);
    soft_solve_masses(s, room);
    for (int i = 0; i < s->system->n; i++) {
        sum += x[i] * room[i];
    }
    return sum;
}

static int has_children(const struct system_bodies *bodies, int part)
{
    int some = 0;
    for (int i = 1; i < bodies->part_count && !some; i++) {
        some = bodies->part[i].parent == part;
    }
    return some;
}

static int only_shifts(const zw_system *system, int part)
{
    const struct system_bodies *bodies = system->bodies;
    const tree_mechanism *tree = system->tree;
    const bodies_part *own = &bodies->part[part], *above = &bodies->part[own->parent];
    const tree_body *body = &tree->body[own->frame.body];
    int good = part > 0 && body->dof_end > body->dof && body->parent == 0 && above->parent <= 0;
    for (int j = body->joint; j < body->joint_end && good; j++) {
        const tree_joint *joint = &tree->joint[j];
        good = joint->kind == TREE_SLIDE && joint->along != TREE_ASKEW && joint->anchor[0] == 0 &&
               joint->anchor[1] == 0 && joint->anchor[2] == 0;
    }
    for (int k = 0; k < 3 && good; k++) {
        good = own->frame.pos[k] == 0 && own->com[k] == 0 && own->inertia[3 + k] == 0;
    }
    return good && !has_children(bodies, part);
}

static void weigh_dofs(soft_problem *s, double *x, double *room)
{
    const tree_mechanism *tree = s->system->tree;
    int n = s->system->n;
    memset(x, 0, (size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) {
        x[i] = 1;
        s->dof[i] = inverse(s, x, room);
        x[i] = 0;
    }
    for (int j = 0; j < tree->joints; j++) {
        tree_joint_kind kind = tree->joint[j].kind;
        int end = kind == TREE_FREE ? 6 : kind == TREE_BALL ? 3 : 0;
        for (int k = 0; k < end; k += 3) {
            double *w = s->dof + tree->joint[j].v + k;
            w[0] = w[1] = w[2] = (w[0] + w[1] + w[2]) / 3;
        }
    }
}

static void weigh_lengths(soft_problem *s, double *x, double *room)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int i = 0; i < bodies->length_count; i++) {
        const bodies_length *length = &bodies->length[i];
        memset(x, 0, (size_t)s->system->n * sizeof *x);
        for (int k = length->first; k < length->first + length->count; k++) {
            x[bodies->term[k].dof] += bodies->term[k].coef;
        }
        s->length[i] = inverse(s, x, room);
    }
}

static void weigh_part(soft_problem *s, int part, int *chain, double *x, double *room)
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
        to[row < 3] += inverse(s, x, room) / 3;
    }
    if (only_shifts(s->system, part)) {
        to[0] = 1 / s->system->bodies->part[part].mass;
        for (int d = tree->body[body].dof; d < tree->body[body].dof_end; d++) {
            s->dof[d] = to[0];
        }
        for (int j = 0; j < s->system->bodies->joint_count; j++) {
            const bodies_length *length = &s->system->bodies->length[j];
            int dof = length->count == 1 ? s->system->bodies->term[length->first].dof : -1;
            if (dof >= tree->body[body].dof && dof < tree->body[body].dof_end) {
                s->length[j] = to[0];
            }
        }
    }
}

/* Masses that are more than round-off of larger ones. */
static int is_felt(soft_problem *s)
{
    const tree_mechanism *tree = s->system->tree;
    const double *M = s->work->sweeps + tree->at.M;
    int felt = soft_factor_masses(s, NULL);
    for (int d = 0; d < tree->nv && felt && !s->is_bent; d++) { /* 1/D, and M's diagonal */
        felt = s->row[d][s->level[d]] * M[tree->start[d + 1] - 1] < 1e14;
    }
    return felt;
}

zw_status soft_weigh(soft_problem *s, zw_error *error)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n + 1;
    double *x = base_alloc(2 * n * sizeof *x);
    int *chain = base_alloc(n * sizeof *chain);
    zw_status status = ZW_OK;
    if (x && chain) {
        memset(s->a, 0, (n - 1) * sizeof(double));
        status = system_evaluate(system, s->work, PART_METRIC, 0, system->tree->q_rest, s->a, NULL,
                                 NULL, error);
    } else {
        status = base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    }
    if (status == ZW_OK && (!soft_fill_masses(s) || !soft_find_islands(s))) {
        status = base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    }
    if (status == ZW_OK && !is_felt(s)) {
        status = base_fail(error, ZW_BAD_INPUT,
                           "the soft law needs masses that every motion feels: joints that close "
                           "loops, and maximal coordinates, have none");
    }
    if (status == ZW_OK) {
        weigh_dofs(s, x, x + n);
        weigh_lengths(s, x, x + n);
        for (int i = 0; i < system->bodies->part_count; i++) {
            weigh_part(s, i, chain, x, x + n);
        }
    }
    base_free(x);
    base_free(chain);
    return status;
}
