/* Internals of the derivatives of a motion: sensitivity.c creates and frees them and does the run,
 * functions.c has the slopes of rows, event functions and resets, begin.c the initial deviations,
 * follow.c a step, jump.c events. */
#ifndef ZW_LOOK_SENSITIVITY_H
#define ZW_LOOK_SENSITIVITY_H

#include "look/slopes/slopes.h"
#include "step/run.h"
#include "zwang/sensitivity.h"

/* A formula and its slopes: its value is out[at], its slope by leaf[first + k] out[at + 1 + k]. */
typedef struct sens_function {
    int at, first, count;
} sens_function;

typedef struct sens_leaf {
    int kind, index; /* kind: an expr_op */
} sens_leaf;

/* All functions in one tape, and the index of the first function of each kind. */
typedef struct sens_functions {
    expr_graph *graph;
    expr_tape *tape;
    double *registers, *out, *side;
    sens_function *list;
    sens_leaf *leaf;
    int count, leaves;
    int phi, psi; /* [m] each: constraints of positions (0 for those of speeds), and their rates */
    int *slip;    /* [constraints] its speeds of sliding */
    int restitution; /* [constraints] */
    int root;        /* [events] */
    int *reset;      /* [events] its first */
    int kink;        /* [kinks] */
    int start;       /* [n] positions, then [n] speeds, as written */
    int param;       /* [params] that are computed from others */
    int cost;        /* [costs] */
} sens_functions;

/* A direction in the space of all arguments of formulas. */
typedef struct sens_way {
    const double *q, *v, *param, *a, *lambda; /* NULL: 0 */
    double t;
} sens_way;

/* The constraints that change speeds, or positions, in an instant: impulse.c. */
typedef struct sens_push {
    const double *v0;   /* [n] speeds before; those after are in s->now */
    const int *acts;    /* [m] which rows act */
    const int *bounces; /* [m] which of these rows have restitution; NULL: none */
    const int *does;    /* [constraints] of contacts with friction: sens_does */
    const int *held;    /* [n] which speeds are held; NULL: none */
} sens_push;

enum { SENS_APART, SENS_STICKS, SENS_SLIDES };

/* An integral over the motion. `take` adds the contribution of an instant within a step, s->now,
 * with its deviations z and its weight. `moves`: the integrand jumps at an event that is later by
 * s->later; `way` is 1 at s->now before it, -1 after it. All functions have been evaluated. */
typedef struct sens_over {
    void (*take)(void *user, const double *z, double weight);
    void (*moves)(void *user, double way);
    void *user;
    double part; /* the longest interval of the quadrature */
} sens_over;

struct zw_sensitivity {
    const zw_model *model;
    const zw_system *system;
    zw_slopes *slopes;
    int n, params, count; /* count: columns */
    zw_unknown *unknown;
    sens_functions f;
    step_kinks kinks; /* for their indices */
    step_motion motion;
    double *motion_scratch;
    state_given given; /* the values that the initial state was created with; owned by the caller */
    zw_state *now;     /* scratch: the state at which functions are evaluated */
    zw_state *sample;  /* what an observer sees */
    double *sample_y;

    double *z;     /* [count][2 n] deviations of q and v, at constant time */
    double *param; /* [count][params] of the parameters */
    double *t_by;  /* [count] */
    int kink_count;
    const char *kink_name;

    /* A step: stages of y and of z; its end */
    double *y, *rate;  /* [2 n], [16][2 n] */
    double *zs, *slow; /* [count][2 n], [16][count][2 n] */
    double *dense;     /* [7][count][2 n] */
    double *middle;    /* [count][2 n] of an instant within a step */
    double *end, *end_rate, *end_slow;
    double *part_y[2]; /* [2 n] where a part of a step begins, and ends */
    double pace;       /* the longest part of a step */
    double rough;      /* the relative error that each may have; 0: the tolerance of the motion */
    double least;      /* the error that each may have in any case, */
    double *unit;      /* [count] in these units */
    int rank;          /* of K at the last instant */
    int known;         /* rate[0] and slow[0] are those of the next step */

    /* An event: deviations of q and v at its time, which is later by later[] */
    int happens, sets;        /* something jumps; the event that has resets, or -1 */
    long impacts;             /* before */
    double *later;            /* [count] */
    double *moved;            /* [count][2 n] */
    double *a_by, *lambda_by; /* [count][n], [count][m] of these at that moment */
    double *a_rate, *lambda_rate;
    double *q0, *v0; /* [n] before, and after the resets */
    int *mode;       /* [constraints] before */

    double *K, *by;           /* of solves: [wide][wide], [count][wide] */
    double *multiplier;       /* [wide] */
    double *w, *delta, *keep; /* [n] */
    double *zero;             /* [n + m] */
    int *acts, *acts2, *bounces, *does, *none, *held;
    void *memory;

    const zw_sensitivity_plan *plan;
    int next;              /* index of the next of its times */
    const sens_over *over; /* or NULL */
};

void sens_note_kink(zw_sensitivity *s, const char *name);

/* functions.c */
zw_status sens_functions_create(zw_sensitivity *s, zw_error *error);
void sens_functions_free(sens_functions *f);
/* All values and slopes at s->now, with the branches of a run or (NULL) their own. a and lambda
 * NULL: functions of these are not needed. */
void sens_functions_run(zw_sensitivity *s, const step_kinks *kinks, const double *a,
                        const double *lambda);
double sens_value(const zw_sensitivity *s, int function);
/* The derivative of a function along a direction. */
double sens_along(const zw_sensitivity *s, int function, const sens_way *way);
/* by_q and by_v += slopes by q and v. */
void sens_gradient(const zw_sensitivity *s, int function, double *by_q, double *by_v);

/* given.c: the values that a state is created with for these unknowns (parameters computed from
 * others follow them); the arrays of `to` are written. Then the value of an unknown in the model,
 * from one of its states. */
zw_status sens_given(const zw_system *system, const zw_unknown *unknown, int count, const double *x,
                     const state_given *to, zw_error *error);
double sens_origin(const zw_system *system, const zw_unknown *by, zw_state *state);

/* begin.c: z at the start; and the projection of z onto the constraints that are active at s->now,
 * by the shortest change in the metric of the masses: *most is that change, relative to z. */
zw_status sens_begin(zw_sensitivity *s, const zw_state *state, int as_written, const double *along,
                     zw_error *error);
zw_status sens_project(zw_sensitivity *s, run *r, double *z, double *most, zw_error *error);

/* follow.c: accelerations and their slopes at s->now, in the run's own work: rate[2 n]. Then the
 * rates slow[count][2 n] of any z. */
zw_status sens_instant(zw_sensitivity *s, run *r, double *rate, zw_error *error);
void sens_rates(const zw_sensitivity *s, const double *z, double *slow);
zw_status sens_step(void *user, run *r, zw_error *error);
/* Shows the observer the next time of the plan. */
zw_status sens_show(zw_sensitivity *s, run *r, const double *y, const double *z, zw_error *error);

/* jump.c */
zw_status sens_before(void *user, run *r, const int *fired, int count, zw_error *error);
zw_status sens_after(void *user, run *r, zw_error *error);

/* impulse.c: x[count][2 n] are deviations of q and v at an instant that is later by later[] (NULL:
 * 0). Speeds jump from push->v0 to those of s->now, positions from q0 (NULL: they do not). */
zw_status sens_impulse(zw_sensitivity *s, const step_kinks *kinks, const sens_push *push, double *x,
                       const double *later, zw_error *error);
zw_status sens_settle(zw_sensitivity *s, const step_kinks *kinks, const sens_push *push,
                      const double *q0, double *x, const double *later, zw_error *error);

#endif
