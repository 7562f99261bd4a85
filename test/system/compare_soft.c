/* Our numbers of the soft law, for a comparison that is not written in C: compare_soft.mjs.
 *
 *     compare_soft FILE [STEPS [INTEGRATOR [untouched]]] < states
 *
 * Doubles in and out, as the machine has them.
 *
 * First out: nq, nv, activations, controls, step. Then for every state q, v, activations, controls
 * in: 1, a, the force of the constraints on the coordinates, the number of contacts, and of each
 * where it is, its depth, its normal and the force along the axes of the world; or 0, if there is
 * no motion. With a number of steps: q and v after each of them, NaN where there is none; by the
 * file's integrator, or by that number of zw_integrator, and without contacts if so wanted. With -1
 * steps: q and v after one, and what the sensors say there, by the soft law. Exit code 3 and one
 * line: we do not read this file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step/soft_step.h"

static void put(const double *x, int count)
{
    if (fwrite(x, sizeof *x, (size_t)count, stdout) != (size_t)count) {
        exit(2);
    }
}

static void put_one(double x)
{
    put(&x, 1);
}

static void put_contacts(const soft_problem *s)
{
    put_one(s->contacts);
    for (int k = 0; k < s->contacts; k++) {
        const contact_point *point = &s->found.point[s->block[s->first_contact + k].of];
        double along[6], force[3];
        soft_contact_force(s, k, along);
        for (int i = 0; i < 3; i++) {
            force[i] = along[0] * point->frame[i] + along[1] * point->frame[3 + i] +
                       along[2] * point->frame[6 + i];
        }
        put(point->pos, 3);
        put_one(point->gap);
        put(point->frame, 3);
        put(force, 3);
    }
}

/* The state y = q, v, activations moves along. */
static void put_steps(soft_problem *s, double h, int steps, double *y, double *next)
{
    const zw_system *system = s->system;
    int nq = system->nq, count = nq + system->n + system->carried, good = 1;
    double gained;
    zw_error error;
    for (int k = 0; k < steps; k++) {
        good = good && soft_step(s, k * h, h, y, y + nq, next, next + nq, &gained, &error) == ZW_OK;
        for (int i = 0; i < count; i++) {
            y[i] = good ? next[i] : NAN;
        }
        put(y, nq + system->n);
    }
}

/* As a program sees them: a step, and a look at where it led to. */
static int put_sensors(const zw_system *system, zw_work *work, const double *q, const double *v,
                       const double *u, zw_error *error)
{
    zw_state *state = zw_state_create(system, work, NULL, error);
    const zw_run_options options = {.method = ZW_METHOD_SOFT};
    int good = state != NULL;
    if (good) {
        memcpy(state_q(state), q, (size_t)system->nq * sizeof *q);
        memcpy(state_v(state), v, (size_t)system->n * sizeof *v);
        memcpy(state_param(state), u, (size_t)system->shape.params * sizeof *u);
        good = zw_step(system, state, work, &options, error) == ZW_OK &&
               zw_look(system, state, work, error) == ZW_OK;
    }
    if (good) {
        zw_view said = zw_field(system, state, work, ZW_FIELD_SENSOR);
        put_one(said.count);
        put(state_q(state), system->nq);
        put(state_v(state), system->n);
        put(said.data, said.count);
    }
    zw_state_free(state);
    return good;
}

static int refuse(const zw_error *error)
{
    printf("%.*s\n", (int)strcspn(error->text, "\n"), error->text);
    return 3;
}

int main(int count, char **argument)
{
    zw_error error = {0};
    if (count < 2 || count > 5) {
        fprintf(stderr, "usage: compare_soft FILE [STEPS [INTEGRATOR [untouched]]]\n");
        return 2;
    }
    zw_model *model = zw_model_read(argument[1], NULL, &error);
    if (model && count >= 4) {
        zw_world_def world = *zw_model_world(model);
        world.integrator = atoi(argument[3]);
        world.without |= count == 5 ? ZW_WITHOUT_CONTACT : 0;
        zw_model_set_world(model, &world, &error);
    }
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    soft_problem *s;
    if (!work) {
        return refuse(&error);
    }
    double h = zw_model_world(model)->timestep;
    if (soft_create(system, work, h, &s, &error) != ZW_OK) {
        return refuse(&error);
    }
    int nq = system->nq, nv = system->n, controls = system->shape.params;
    put((double[]){nq, nv, system->carried, controls, h}, 5);
    size_t size = (size_t)(nq + nv + system->carried + controls);
    double *state = calloc(2 * size, sizeof *state);
    double *q = state, *v = q + nq, *u = v + nv + system->carried;
    while (state && fread(state, sizeof *state, size, stdin) == size) {
        system_bind(system, work, u);
        if (count >= 3 && atoi(argument[2]) < 0) {
            if (!put_sensors(system, work, q, v, u, &error)) {
                return refuse(&error);
            }
            continue;
        }
        if (count >= 3) {
            put_steps(s, h, atoi(argument[2]), state, state + size);
            continue;
        }
        if (soft_forward(s, 0, q, v, &error) != ZW_OK) {
            fprintf(stderr, "%s\n", error.text);
            put_one(0);
            continue;
        }
        put_one(1);
        put(s->a, nv);
        put(s->push, nv);
        put_contacts(s);
    }
    free(state);
    soft_free(s);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
    return 0;
}
