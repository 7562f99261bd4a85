/* Prints what zwang/look.h computes for a robot, for the comparison in compare_look.mjs.
 *
 *     compare_look FILE STATES      doubles on the standard output, in the machine's binary format
 *
 * First nq, nv, bodies, sites, controls, whether motors are off. Then for every state: q, v,
 * controls, a; M (dense), M v, M \ v; forces of speeds, gravity, springs, motors, passive ones; of
 * every body and then every site the place, quaternion, velocity, spin, acceleration for a, spin
 * rate, (dJ/dt) v (linear, angular), and both Jacobians; of every body the momentum of what hangs
 * on it and its Jacobians; what inverse dynamics asks of motors for accelerations a = v. Exit code
 * 3 and one line: we do not read this file. */
#include <stdio.h>

#include "../system/numbers.h"
#include "zwang/inverse.h"
#include "zwang/look.h"

static zw_error error;

static void put(const double *x, int count)
{
    if (fwrite(x, sizeof *x, (size_t)count, stdout) != (size_t)count) {
        exit(2);
    }
}

static void must(zw_status status)
{
    if (status != ZW_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
}

static void put_frame(const numbers *x, zw_probe *probe, const zw_frame *frame, double *scratch)
{
    int n = x->system->n;
    zw_frame_motion now, bias;
    must(zw_frame_look(probe, x->state, frame, 1, x->a, &now, &error));
    must(zw_frame_look(probe, x->state, frame, 1, NULL, &bias, &error));
    must(zw_frame_jacobian(probe, x->state, frame, scratch, scratch + 3 * n, &error));
    put(now.pos, 3);
    put(now.quat, 4);
    put(now.velocity, 3);
    put(now.spin, 3);
    put(now.acceleration, 3);
    put(now.spin_rate, 3);
    put(bias.acceleration, 3);
    put(bias.spin_rate, 3);
    put(scratch, 6 * n);
}

static void put_demand(const numbers *x, zw_inverse *inverse)
{
    zw_inverse_answer answer;
    must(zw_inverse_look(inverse, x->state, x->v, &answer, &error));
    put(answer.demand, x->system->n);
}

static void put_state(const numbers *x, zw_probe *probe, double *scratch)
{
    static const zw_force part[] = {ZW_FORCE_SPEEDS, ZW_FORCE_GRAVITY, ZW_FORCE_SPRING,
                                    ZW_FORCE_MOTOR, ZW_FORCE_PASSIVE};
    int n = x->system->n;
    put(x->q, x->system->nq);
    put(x->v, n);
    put(x->u, x->system->shape.params);
    put(x->a, n);
    must(zw_mass(probe, x->state, scratch, &error));
    put(scratch, n * n);
    must(zw_mass_times(probe, x->state, x->v, scratch, &error));
    put(scratch, n);
    must(zw_mass_solve(probe, x->state, x->v, scratch, &error));
    put(scratch, n);
    for (int k = 0; k < 5; k++) {
        must(zw_force_look(probe, x->state, part[k], scratch, &error));
        put(scratch, n);
    }
    for (int i = 0; i < x->bodies; i++) {
        zw_frame frame = {.body = i, .quat = {1, 0, 0, 0}};
        put_frame(x, probe, &frame, scratch);
    }
    int sites = zw_model_count(x->model, ZW_KIND_SITE);
    for (int k = 0; k < sites * x->bodies; k++) { /* by bodies, as MuJoCo has them */
        const zw_site_def *site = zw_model_def(x->model, ZW_KIND_SITE, k % sites);
        if (site->body != k / sites) {
            continue;
        }
        zw_frame frame = {.body = site->body};
        memcpy(frame.pos, site->pos, sizeof frame.pos);
        memcpy(frame.quat, site->quat, sizeof frame.quat);
        put_frame(x, probe, &frame, scratch);
    }
    for (int i = 0; i < x->bodies; i++) {
        zw_momentum all;
        must(zw_momentum_look(probe, x->state, i, &all, &error));
        must(zw_momentum_jacobian(probe, x->state, i, scratch, scratch + 3 * n, &error));
        put(&all.mass, 1);
        put(all.com, 3);
        put(all.velocity, 3);
        put(all.spin, 3);
        put(scratch, 6 * n);
    }
}

int main(int count, char **argument)
{
    numbers x;
    if (count != 3) {
        fprintf(stderr, "usage: compare_look FILE STATES\n");
        return 2;
    }
    if (!numbers_open(&x, zw_model_read(argument[1], NULL, &error), &error)) {
        printf("%.*s\n", (int)strcspn(error.text, "\n"), error.text);
        return 3;
    }
    zw_probe *probe = zw_probe_create(x.model, x.system, &error);
    zw_inverse *inverse = zw_inverse_create(x.model, x.system, NULL, &error);
    size_t n = (size_t)x.system->n;
    double *scratch = calloc(n * n + 6 * n + 6, sizeof *scratch);
    if (!probe || !inverse || !scratch) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    put((double[]){x.system->nq, x.system->n, x.bodies, zw_model_count(x.model, ZW_KIND_SITE),
                   x.system->shape.params, x.motors_off},
        6);
    for (int k = 0; k < atoi(argument[2]); k++) {
        numbers_draw(&x);
        if (!numbers_compute(&x, &error)) {
            fprintf(stderr, "%s\n", error.text);
            return 2;
        }
        put_state(&x, probe, scratch);
        put_demand(&x, inverse);
    }
    free(scratch);
    zw_inverse_free(inverse);
    zw_probe_free(probe);
    numbers_close(&x);
    return 0;
}
