/* All quantities of a robot that other engines compute too, at random states, for comparisons.
 * Constraints are off; so are motors that are not supported yet.
 *
 * Momenta are about the origin of the world, and energies exclude fixed bodies, so that they do not
 * depend on which bodies an engine counts as moving. */
#ifndef ZW_TEST_SYSTEM_NUMBERS_H
#define ZW_TEST_SYSTEM_NUMBERS_H

#include <stdlib.h>
#include <string.h>

#include "model/bodies.h"
#include "system/bodies/bodies.h"
#include "tree/sweeps.h"

typedef struct numbers {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
    int tendons;
    int bodies;      /* of the description: welded ones are bodies here */
    int motors_off;  /* not obeyed by zw_system_compile */
    zw_inertia *own; /* [bodies] */
    unsigned seed;
    /* at the state */
    double *q, *v, *u;  /* [nq], [nv], [params] */
    double *M;          /* [entries] in the pattern of system->tree */
    double *bias, *a;   /* [nv] */
    double energy[2];   /* kinetic, potential */
    double momentum[6]; /* linear, angular */
    double (*pose)[7];  /* [bodies] position, quaternion */
} numbers;

static inline void numbers_close(numbers *x)
{
    void *const list[] = {x->own, x->bias, x->pose};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        free(list[k]);
    }
    zw_state_free(x->state);
    zw_work_free(x->work);
    zw_system_free(x->system);
    zw_model_free(x->model);
    *x = (numbers){0};
}

/* Compile, with unsupported parts switched off. */
static inline int numbers_compile(numbers *x, zw_error *error)
{
    for (int more = 0; more < 2 && x->system == NULL; more++) {
        zw_world_def world = *zw_model_world(x->model);
        world.without |= ZW_WITHOUT_CONSTRAINT | (more ? ZW_WITHOUT_ACTUATION : 0);
        x->motors_off = (world.without & ZW_WITHOUT_ACTUATION) != 0;
        if (zw_model_set_world(x->model, &world, error) != ZW_OK) {
            return 0;
        }
        x->system = zw_system_compile(x->model, NULL, error);
    }
    return x->system != NULL;
}

/* The model is taken over. 0: refused, and why. */
static inline int numbers_open(numbers *x, zw_model *model, zw_error *error)
{
    *x = (numbers){.model = model, .seed = 11};
    if (model == NULL || !numbers_compile(x, error) ||
        (x->work = zw_work_create(x->system, error)) == NULL ||
        (x->state = zw_state_create(x->system, x->work, NULL, error)) == NULL) {
        numbers_close(x);
        return 0;
    }
    x->bodies = zw_model_count(model, ZW_KIND_BODY);
    x->tendons = zw_model_count(model, ZW_KIND_TENDON);
    x->own = calloc((size_t)x->bodies, sizeof *x->own);
    x->pose = calloc((size_t)x->bodies, sizeof *x->pose);
    x->bias = calloc((size_t)x->system->n + 1, sizeof *x->bias);
    if (x->own == NULL || x->pose == NULL || x->bias == NULL ||
        zw_model_inertia(model, x->own, error) != ZW_OK) {
        numbers_close(x);
        return 0;
    }
    x->q = state_q(x->state);
    x->v = state_v(x->state);
    x->u = state_param(x->state);
    x->M = x->work->sweeps + x->system->tree->at.M;
    x->a = x->work->a;
    return 1;
}

static inline double numbers_chance(numbers *x) /* -1 ... 1 */
{
    x->seed = x->seed * 1664525u + 1013904223u;
    return (double)(x->seed >> 8) / 8388608.0 - 1.0;
}

/* From the start as described, any way, any speed, any control. */
static inline void numbers_draw(numbers *x)
{
    const zw_system *s = x->system;
    memcpy(x->q, s->bodies->q, (size_t)s->nq * sizeof *x->q);
    for (int i = 0; i < s->n; i++) {
        x->v[i] = numbers_chance(x);
    }
    system_move(s, x->q, 1, x->v);
    for (int i = s->tree->moved; i < s->nq; i++) { /* mocap bodies are put anywhere */
        x->q[i] += numbers_chance(x);
    }
    system_normalise(s, x->q);
    for (int i = 0; i < s->n; i++) {
        x->v[i] = 2 * numbers_chance(x);
    }
    for (int i = 0; i < s->shape.params; i++) {
        x->u[i] = numbers_chance(x);
    }
}

/* Bodies with joints are those of the tree, in the same order; others hang fast on their parents.
 */
static inline void numbers_poses(numbers *x)
{
    const model_bodies *b = x->model->bodies;
    const tree_places *at = &x->system->tree->at;
    int next = 0;
    memcpy(x->pose[0], (double[7]){0, 0, 0, 1}, sizeof *x->pose);
    for (int i = 1; i < x->bodies; i++) {
        int jointed = b->body[i].mocap;
        for (int k = 0; k < b->count[ZW_KIND_JOINT]; k++) {
            jointed |= b->joint[k].body == i;
        }
        if (jointed) {
            next++;
            memcpy(x->pose[i], x->work->sweeps + at->origin + 3 * next, 3 * sizeof(double));
            memcpy(x->pose[i] + 3, x->work->sweeps + at->quat + 4 * next, 4 * sizeof(double));
            continue;
        }
        model_pose parent, own;
        memcpy(&parent, x->pose[b->body[i].parent], sizeof parent);
        memcpy(own.pos, b->body[i].pos, sizeof own.pos);
        memcpy(own.quat, b->body[i].quat, sizeof own.quat);
        parent = model_pose_chain(&parent, &own);
        memcpy(x->pose[i], &parent, sizeof parent);
    }
}

/* What tendons with armature add to M and bias. */
static inline void numbers_tendons(numbers *x)
{
    const struct system_bodies *bodies = x->system->bodies;
    const double *coef = bodies_coef_at(x->system, x->work, x->q);
    for (int k = 0; k < bodies->extra_count; k++) {
        for (int e = 0; e < x->system->tree->entries; e++) {
            if (bodies->entry[e] == bodies->extra[k].at) {
                x->M[e] += bodies_extra_mass(bodies, &bodies->extra[k], coef);
            }
        }
    }
    for (int i = 0; i < bodies->length_count; i++) {
        const bodies_length *length = &bodies->length[i];
        if (length->armature != 0 && length->path >= 0) {
            tree_accelerations(x->system->tree, NULL, x->work->sweeps);
            double by = length->armature * bodies_length_bias(x->system, x->work, i);
            for (int k = length->first; k < length->first + length->count; k++) {
                x->bias[bodies->term[k].dof] += by * coef[k];
            }
        }
    }
}

/* 0: no acceleration, and why. */
static inline int numbers_compute(numbers *x, zw_error *error)
{
    const tree_mechanism *tree = x->system->tree;
    double *work = x->work->sweeps, about[9], turn[3];
    x->work->as_mujoco = 1; /* tendons touch shapes from inside as well as it finds them, to 1e-6 */
    if (system_forward(x->system, x->state, x->work, TOUCH_IGNORED, error) != ZW_OK) {
        return 0;
    }
    zw_view energy = zw_field(x->system, x->state, x->work, ZW_FIELD_ENERGY);
    memcpy(x->energy, energy.data + 1, sizeof x->energy);
    tree_kinematics(tree, x->q, work);
    tree_velocities(tree, x->v, work);
    tree_composite(tree, work);
    tree_inverse(tree, NULL, NULL, work, x->bias);
    numbers_tendons(x);
    tree_momentum(tree, work, about);
    model_cross(turn, about, about + 3);
    for (int i = 0; i < 3; i++) {
        x->momentum[i] = about[3 + i];
        x->momentum[3 + i] = about[6 + i] + turn[i];
    }
    numbers_poses(x);
    return 1;
}

#endif
