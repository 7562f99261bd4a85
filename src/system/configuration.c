/* Coordinates and speeds: q' = v, but for the quaternions of bodies. */
#include <math.h>
#include <string.h>

#include "system/bodies/bodies.h"
#include "tree/sweeps.h"

void system_rates(const zw_system *system, const double *q, const double *v, double *rate)
{
    if (system->tree) {
        tree_rates(system->tree, q, v, rate);
    } else {
        memcpy(rate, v, (size_t)system->n * sizeof *rate);
    }
}

void system_move(const zw_system *system, double *q, double h, const double *v)
{
    if (system->tree) {
        tree_advance(system->tree, q, v, &h, q);
        return;
    }
    for (int i = 0; i < system->n; i++) {
        q[i] += h * v[i];
    }
}

static void make_unit(double *quat)
{
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        sum += quat[k] * quat[k];
    }
    for (int k = 0; k < 4 && sum > 0; k++) {
        quat[k] /= sqrt(sum);
    }
}

void system_normalise(const zw_system *system, double *q)
{
    for (int j = 0; system->tree && j < system->tree->joints; j++) {
        const tree_joint *joint = &system->tree->joint[j];
        if (joint->kind == TREE_HINGE || joint->kind == TREE_SLIDE) {
            continue;
        }
        make_unit(q + joint->q + (joint->kind == TREE_FREE ? 3 : 0));
    }
    for (int i = system->tree ? system->tree->moved : system->nq; i < system->nq; i += 7) {
        make_unit(q + i + 3);
    }
}

const char *system_speed_name(const zw_system *system, int i)
{
    return system->bodies ? system->bodies->speed[i] : system->model->coord[i].name;
}
