/* Paths of tendons, from their definitions; and the lengths of tendons in two poses. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies_build.h"
#include "system/tendon/tendon.h"
#include "tree/sweeps.h"

static const double upright[4] = {1, 0, 0, 0};

/* Pulleys are not stops: the stop after one begins a branch. */
static void add_stops(bodies_builder *b, const zw_tendon_def *tendon)
{
    double divisor = 1;
    int begins = 1;
    for (int i = 0; i < tendon->stop_count; i++) {
        const zw_stop *from = &tendon->stop[i];
        if (from->kind == ZW_STOP_PULLEY) {
            divisor = from->divisor;
            begins = 1;
            continue;
        }
        bodies_stop *to = &b->to->stop[b->to->stop_count++];
        *to = (bodies_stop){.kind = STOP_SITE, .begins = begins, .divisor = divisor};
        begins = 0;
        if (from->kind == ZW_STOP_SITE) {
            const zw_site_def *site = &b->from->site[from->index];
            to->frame = bodies_frame_on(b, site->body, site->pos, upright);
            continue;
        }
        const zw_geom_def *geom = &b->from->geom[from->index];
        to->kind = geom->shape == ZW_SHAPE_SPHERE ? STOP_SPHERE : STOP_CYLINDER;
        to->frame = bodies_frame_on(b, geom->body, geom->pos, geom->quat);
        to->radius = geom->size[0];
        to->has_side = from->side >= 0;
        if (to->has_side) {
            const zw_site_def *side = &b->from->site[from->side];
            to->side = bodies_frame_on(b, side->body, side->pos, upright);
        }
    }
}

/* Terms are the dofs that move some stop, in rising order. */
static void add_path_terms(bodies_builder *b, const bodies_path *path, bodies_length *length)
{
    const tree_mechanism *tree = b->system->tree;
    int n = b->system->n, *dof = b->mark + n;
    memset(b->mark, 0, (size_t)n * sizeof *b->mark);
    for (int i = path->first; i < path->first + path->count; i++) {
        int chain = tree_chain(tree, b->to->stop[i].frame.body, dof);
        for (int k = 0; k < chain; k++) {
            b->mark[dof[k]] = 1;
        }
    }
    for (int d = 0; d < n; d++) {
        if (b->mark[d]) {
            b->to->term[b->to->term_count++] = (bodies_term){.q = -1, .dof = d};
            length->count++;
        }
    }
}

void bodies_add_path(bodies_builder *b, const zw_tendon_def *tendon, bodies_length *length)
{
    bodies_path *path = &b->to->path[b->to->path_count];
    length->path = b->to->path_count++;
    *path = (bodies_path){.length = (int)(length - b->to->length), .first = b->to->stop_count};
    add_stops(b, tendon);
    path->count = b->to->stop_count - path->first;
    add_path_terms(b, path, length);
}

zw_status bodies_paths_reserve(bodies_builder *b, size_t *terms, zw_error *error)
{
    size_t paths = 0, stops = 0, n = (size_t)b->system->n;
    for (int i = 0; i < b->from->count[ZW_KIND_TENDON]; i++) {
        size_t count = (size_t)b->from->tendon[i].stop_count, moved = 0;
        paths += count > 0;
        stops += count;
        moved = count * (size_t)b->to->widest;
        *terms += moved < n ? moved : n;
    }
    b->to->path = base_alloc((paths + 1) * sizeof *b->to->path);
    b->to->stop = base_alloc((stops + 1) * sizeof *b->to->stop);
    return b->to->path && b->to->stop ? ZW_OK : base_no_memory(error);
}

/* The value of length i at the state of the sweeps; for a path its J is stored in the terms. */
static double length_in_pose(bodies_builder *b, int i, const double *q, double *coef)
{
    const bodies_length *length = &b->to->length[i];
    double sum = 0;
    if (length->path >= 0) {
        return tendon_measure(b->system->tree, b->to, length->path, 1, b->sweeps, coef);
    }
    for (int k = 0; k < length->count; k++) {
        const bodies_term *term = &b->to->term[length->first + k];
        sum += term->coef * q[term->q];
    }
    return sum;
}

zw_status bodies_measure_tendons(bodies_builder *b, zw_error *error)
{
    const tree_mechanism *tree = b->system->tree;
    int joints = b->from->count[ZW_KIND_JOINT], tendons = b->from->count[ZW_KIND_TENDON];
    size_t n = (size_t)b->system->n;
    double *coef = base_alloc((n + 1) * sizeof *coef);
    if (!coef) {
        return base_no_memory(error);
    }
    if (tendons > 0) {
        tree_kinematics(tree, tree->q_spring, b->sweeps);
    }
    for (int i = 0; i < tendons; i++) { /* springs have no force in the spring pose */
        bodies_length *length = &b->to->length[joints + i];
        double own = length_in_pose(b, joints + i, tree->q_spring, coef);
        for (int k = 0; k < 2; k++) {
            double rest = b->from->tendon[i].springlength[k];
            length->rest[k] = rest < 0 ? own : rest;
        }
    }
    if (tendons > 0) {
        tree_kinematics(tree, tree->q_rest, b->sweeps);
    }
    for (int i = joints; i < joints + tendons; i++) {
        bodies_length *length = &b->to->length[i];
        length->origin = length_in_pose(b, i, tree->q_rest, coef);
        for (int k = 0; k < length->count && length->path >= 0; k++) {
            b->to->term[length->first + k].coef = coef[k];
        }
    }
    base_free(coef);
    return ZW_OK;
}
