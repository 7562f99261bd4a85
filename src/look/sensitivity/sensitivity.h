/* Inside of derivatives of a motion: sensitivity.c creates and frees them and has the run,
 * functions.c the slopes of rows, roots and resets, begin.c the start, follow.c a step, jump.c what
 * happens at an instant. */
#ifndef ZW_LOOK_SENSITIVITY_H
#define ZW_LOOK_SENSITIVITY_H

#include "look/slopes/slopes.h"
#include "step/run.h"
#include "zwang/sensitivity.h"

/* A formula and its slopes: its value is out[at], that by leaf[first + k] is out[at + 1 + k]. */
typedef struct sens_function {
    int at, first, count;
} sens_function;

typedef struct sens_leaf {
    int kind, index; /* kind: an expr_op */
} sens_leaf;

/* All in one tape, and where which of them begin. */
typedef struct sens_functions {
    expr_graph *graph;
    expr_tape *tape;
    double *registers, *out, *side;
    sens_function *list;
    sens_leaf *leaf;
    int count, leaves;
    int phi, psi;    /* [m] each: rows of positions (of those with speeds: 0), and of speeds */
    int *slip;       /* [constraints] its speeds of sliding */
    int restitution; /* [constraints] */
    int root;        /* [events] */
    int *reset;      /* [events] its first */
    int kink;        /* [kinks] */
    int start;       /* [n] positions, then [n] speeds, as written */
    int param;       /* [params] that are computed from others */
    int cost;        /* [costs] */
} sens_functions;

/* A direction in the space of all that formulas read. */
typedef struct sens_way {
    const double *q, *v, *param, *a, *lambda; /* NULL: 0 */
    double t;
} sens_way;

/* What acts on speeds, or positions, in an instant: impulse.c. */
typedef struct sens_push {
    const double *v0;   /* [n] speeds before; after: of s->now */
    const int *acts;    /* [m] which rows */
    const int *bounces; /* [m] which of them with their restitution; NULL: none */
    const int *does;    /* [constraints] of contacts with friction: sens_does */
    const int *held;    /* [n] which speeds stay as they are; NULL: none */
} sens_push;

enum { SENS_APART, SENS_STICKS, SENS_SLIDES };

/* An integral over the motion. `take`: what an instant within a step adds, s->now, with its
 * deviations z and its weight. `moves`: the integrand jumps where something happens that comes
 * later by s->later; `way` is 1 at s->now before it, -1 after it. All functions have been
 * evaluated. */
typedef struct sens_over {
    void (*take)(void *user, const double *z, double weight);
    void (*moves)(void *user, double way);
    void *user;
    double part; /* pieces are no longer than this */
} sens_over;

struct zw_sensitivity {
    const zw_model *model;
    const zw_system *system;
    zw_slopes *slopes;
    int n, params, count; /* count: columns */
    zw_unknown *unknown;
    sens_functions f;
    step_kinks kinks; /* to know their numbers */
    step_motion motion;
    double *motion_scratch;
    state_given given; /* what the state that it starts with was made with: the caller's */
    zw_state *now;     /* scratch: where something is evaluated */
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
    int rank;  /* of the slopes of the last instant */
    int known; /* rate[0] and slow[0] are those of the step to come */

    /* An event: deviations of q and v when it happens, which is later by later[] */
    int happens, sets;        /* something jumps; the event that sets something, or -1 */
    long impacts;             /* before */
    double *later;            /* [count] */
    double *moved;            /* [count][2 n] */
    double *a_by, *lambda_by; /* [count][n], [count][m] of these at that moment */
    double *a_rate, *lambda_rate;
    double *q0, *v0; /* [n] before, and after what was set */
    int *mode;       /* [constraints] before */

    double *K, *by;           /* of solves: [wide][wide], [count][wide] */
    double *multiplier;       /* [wide] */
    double *w, *delta, *keep; /* [n] */
    double *zero;             /* [n + m] */
    int *acts, *acts2, *bounces, *does, *none, *held;
    void *memory;

    const zw_sensitivity_plan *plan;
    int next;              /* of its times */
    const sens_over *over; /* or NULL */
};

zw_status sens_no_memory(zw_error *error);
void sens_note_kink(zw_sensitivity *s, const char *name);

/* functions.c */
zw_status sens_functions_create(zw_sensitivity *s, zw_error *error);
void sens_functions_free(sens_functions *f);
/* All values and slopes at s->now, with branches of a run or (NULL) their own. a and lambda NULL:
 * what depends on them is not asked for. */
void sens_functions_run(zw_sensitivity *s, const step_kinks *kinks, const double *a,
                        const double *lambda);
double sens_value(const zw_sensitivity *s, int function);
/* How a function changes along a way; only leaves of these kinds (bits as of EXPR_ON_) count. */
double sens_along(const zw_sensitivity *s, int function, const sens_way *way);
/* row[2 n] += slopes by q and v. */
void sens_gradient(const zw_sensitivity *s, int function, double *by_q, double *by_v);

/* given.c: what a state is made with for these unknowns (parameters that follow from others do so);
 * the arrays of `to` are written. And where an unknown is in the model, a state of which is given.
 */
zw_status sens_given(const zw_system *system, const zw_unknown *unknown, int count, const double *x,
                     const state_given *to, zw_error *error);
double sens_origin(const zw_system *system, const zw_unknown *by, zw_state *state);

/* begin.c: z at the start; z onto what holds at s->now, by the shortest way in the metric of the
 * masses: *most is how far, relative to its size. */
zw_status sens_begin(zw_sensitivity *s, const zw_state *state, int as_written, zw_error *error);
zw_status sens_project(zw_sensitivity *s, run *r, double *z, double *most, zw_error *error);

/* follow.c: accelerations and their slopes at s->now, in the run's own work: rate[2 n]. Then the
 * rates slow[count][2 n] of any z. */
zw_status sens_instant(zw_sensitivity *s, run *r, double *rate, zw_error *error);
void sens_rates(const zw_sensitivity *s, const double *z, double *slow);
zw_status sens_step(void *user, run *r, zw_error *error);
/* The observer sees the next time of the plan. */
zw_status sens_show(zw_sensitivity *s, run *r, const double *y, const double *z, zw_error *error);

/* jump.c */
zw_status sens_before(void *user, run *r, const int *fired, int count, zw_error *error);
zw_status sens_after(void *user, run *r, zw_error *error);

/* impulse.c: x[count][2 n] deviations of q and v at an instant that is later by later[] (NULL: not
 * at all). Speeds jump from push->v0 to those of s->now, positions from q0 (NULL: nowhere). */
zw_status sens_impulse(zw_sensitivity *s, const step_kinks *kinks, const sens_push *push, double *x,
                       const double *later, zw_error *error);
zw_status sens_settle(zw_sensitivity *s, const step_kinks *kinks, const sens_push *push,
                      const double *q0, double *x, const double *later, zw_error *error);

#endif
