/* Our numbers of a robot file, for a comparison that is not written in C: compare_numbers.mjs.
 *
 *     compare_numbers FILE STATES      doubles on the standard output, as the machine has them
 *
 * First nq, nv, bodies, controls, whether motors are off, entries of M, activations, tendons,
 * numbers of sensors; of each body its mass, the centre of mass and the moments xx yy zz xy xz yz
 * about it, along the body's axes; row and column of each entry. Then for every state q, v,
 * activations, controls, M, bias, acceleration, kinetic and potential energy, momentum and angular
 * momentum about the origin, position and quaternion of each body, length and rate of each tendon,
 * length, rate and force of each actuator, and what the sensors say. Exit code 3 and one line: we
 * do not read this file. */
#include <stdio.h>

#include "numbers.h"

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

static void put_model(const numbers *x)
{
    const tree_mechanism *tree = x->system->tree;
    put((double[]){tree->nq, tree->nv, x->bodies, x->system->shape.params, x->motors_off,
                   tree->entries, x->system->bodies->act_count, x->tendons,
                   x->system->bodies->reading_count},
        9);
    for (int i = 0; i < x->bodies; i++) {
        double moments[6];
        model_principal_matrix(x->own[i].quat, x->own[i].moment, moments);
        put_one(x->own[i].mass);
        put(x->own[i].com, 3);
        put(moments, 6);
    }
    for (int i = 0; i < tree->nv; i++) {
        for (int e = tree->start[i]; e < tree->start[i + 1]; e++) {
            put((double[]){i, tree->column[e]}, 2);
        }
    }
}

static void put_state(const numbers *x)
{
    const tree_mechanism *tree = x->system->tree;
    const struct system_bodies *bodies = x->system->bodies;
    put(x->q, tree->nq);
    put(x->v, tree->nv + bodies->act_count);
    put(x->u, x->system->shape.params);
    put(x->M, tree->entries);
    put(x->bias, tree->nv);
    put(x->a, tree->nv);
    put(x->energy, 2);
    put(x->momentum, 6);
    put(x->pose[0], 7 * x->bodies);
    for (int i = bodies->joint_count; i < bodies->joint_count + x->tendons; i++) {
        put_one(bodies_length_of(x->system, x->work, i, x->q));
        put_one(bodies_rate_of(x->system, x->work, i, x->q, x->v));
    }
    for (int k = 0; k < bodies->motor_count; k++) {
        bodies_pull pull = bodies_motor_look(x->system, x->work, k, x->q, x->v);
        put((double[]){pull.length, pull.rate, pull.force}, 3);
    }
    zw_error error = {0};
    if (bodies_sense(x->system, x->work, x->state, &error) != ZW_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
    put(x->work->reading, bodies->reading_count);
}

static int refuse(const zw_error *error)
{
    printf("%.*s\n", (int)strcspn(error->text, "\n"), error->text);
    return 3;
}

int main(int count, char **argument)
{
    zw_error error = {0};
    numbers x;
    if (count != 3) {
        fprintf(stderr, "usage: compare_numbers FILE STATES\n");
        return 2;
    }
    if (!numbers_open(&x, zw_model_read(argument[1], NULL, &error), &error)) {
        return refuse(&error);
    }
    put_model(&x);
    for (int k = 0; k < atoi(argument[2]); k++) {
        numbers_draw(&x);
        for (int i = 0; i < x.system->bodies->act_count; i++) {
            const bodies_motor *motor = &x.system->bodies->motor[x.system->bodies->act_motor[i]];
            double low = motor->clamp_act ? motor->act_range[0] : 0;
            double high = motor->clamp_act ? motor->act_range[1] : 1;
            x.v[x.system->n + i] = low + (high - low) * (0.5 + 0.5 * numbers_chance(&x));
        }
        if (!numbers_compute(&x, &error)) {
            fprintf(stderr, "%s\n", error.text);
            return 2;
        }
        put_state(&x);
    }
    numbers_close(&x);
    return 0;
}
