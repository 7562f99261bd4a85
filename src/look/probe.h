/* Internals of a probe: the system, its own scratch memory, and the points of equations with their
 * derivatives. */
#ifndef ZW_LOOK_PROBE_H
#define ZW_LOOK_PROBE_H

#include "system/work.h"
#include "zwang/look.h"

/* What the tape of points computes for each component: its value, rate D x, D D x (system.h), and
 * the entries of its gradient. */
typedef struct probe_component {
    int at;           /* the first of the three */
    int first, count; /* of the gradient, in `column` and in the outputs */
} probe_component;

typedef struct probe_points {
    int count;      /* points */
    int *component; /* [count + 1] where the components of each begin */
    probe_component *part;
    int *column;
    int outputs;
    expr_graph *graph; /* the system's, with the derivatives */
    expr_tape *tape;
    double *registers, *out;
} probe_points;

struct zw_probe {
    const zw_model *model;
    const zw_system *system;
    zw_work *work;
    double *M;             /* [entries] */
    double *scratch;       /* [6 n + 6] */
    double *chain;         /* [6 n + 6 + carried] a Jacobian on the way */
    int *dof;              /* [n + 1] */
    char *inside;          /* [bodies] */
    zw_gauss_work *solver; /* of zw_mass_solve, created on first use */
    probe_points points;
};

/* The parameters of the state hold from now on; returns its numbers. */
typedef struct probe_now {
    double t;
    const double *q, *v;
} probe_now;
probe_now probe_bind(zw_probe *probe, const zw_state *state);
/* Kinematics and velocities of the tree; for robots only. */
void probe_sweep(zw_probe *probe, probe_now now);
/* One part of the system. */
zw_status probe_evaluate(zw_probe *probe, probe_now now, system_part part, zw_error *error);
/* M in the pattern of the system, into probe->M. */
zw_status probe_metric(zw_probe *probe, probe_now now, zw_error *error);

/* look_point.c */
zw_status probe_points_create(zw_probe *probe, zw_error *error);
void probe_points_free(probe_points *points);
zw_status probe_points_run(zw_probe *probe, probe_now now, zw_error *error);

#endif
