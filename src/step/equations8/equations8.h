/* Fixed steps (rk4) of equations, eight worlds at once, each with the bits of the world alone.
 *
 * The operations are those of step/ode/rk.c, step/motion.c, system/project.c and the kernel, in
 * their order: formulas by expr_tape_run8, accelerations and corrections by gauss/dense/equal8.
 * Difficult cases are not attempted: a lane that is not good after a step (a number that is not
 * finite, nearly dependent rows, a correction that does not converge) keeps its state, and its
 * world takes that step alone, by zw_step, which also reports what is wrong. */
#ifndef ZW_STEP_EQUATIONS8_H
#define ZW_STEP_EQUATIONS8_H

#include "gauss/dense/equal8.h"
#include "math/lane.h"
#include "step/run.h"

enum {
    EQUATIONS8_TERMS,
    EQUATIONS8_POSITION,
    EQUATIONS8_VELOCITY,
    EQUATIONS8_METRIC,
    EQUATIONS8_ENERGY,
    EQUATIONS8_TAPES
};

/* The formulas of one part of the system, for eight worlds. */
typedef struct equations8_tape {
    const system_tape *tape;
    double *registers;
    zw_real8 *out;
} equations8_tape;

/* All arrays are for eight worlds. y = (q, v, and W if work is integrated). */
typedef struct equations8 {
    const zw_system *system;
    zw_run_options plan;
    int size;   /* of y */
    int places; /* holonomic rows, */
    int *place; /* [places] and which they are */
    equations8_tape part[EQUATIONS8_TAPES];
    zw_real8 *param; /* the parameters for which the registers were prepared */
    zw_real8 *M;     /* [n * n] or [n] */
    zw_real8 *A, *b; /* [m * n], [m] of the current problem */
    gauss_equal8 answer;
    double *scratch; /* [size + m] of one world */

    /* The current group of worlds */
    int count;
    zw_mask8 *good;  /* [1] lanes that are worlds and have succeeded so far */
    double *t0, *t1; /* [1] on the time grid: start and end of the step */
    double *shown;   /* [1] the time to store in the state */
    step_grid grid[LANES];
    zw_real8 *t;                           /* [1] of an evaluation */
    zw_real8 *y0, *low0, *f0;              /* [size] */
    zw_real8 *y1, *low1, *f1;              /* [size] */
    zw_real8 *trial, *increment;           /* [size] */
    zw_real8 *stage;                       /* [4 * size] */
    zw_real8 *longest0, *longest1;         /* [m] those of step_motion */
    zw_real8 *margin0, *margin1;           /* [1] */
    zw_real8 *certificate0, *certificate1; /* [1] of the end of the last step */
    long taken;                            /* number of steps of worlds so far */
    void *memory;
} equations8;

/* Can steps by this plan be taken in lanes? -1: no memory to determine that. */
int equations8_takes(const zw_system *system);
int equations8_takes_plan(const zw_run_options *plan);
equations8 *equations8_create(const zw_system *system, const zw_run_options *plan); /* or NULL */
void equations8_free(equations8 *s);

/* Loads these worlds from their states. f[l][size] are the rates there, if the step that led to the
 * state left them; NULL: unknown. Lanes that cannot continue like that are not good. */
void equations8_load(equations8 *s, int count, zw_state *const *state, const double *const *f);
/* Takes one step; returns the lanes that succeeded. The others keep their state and are not used
 * again. */
unsigned equations8_step(equations8 *s);
/* The state of a world after at least one step, and the rates there. */
void equations8_store(const equations8 *s, int lane, zw_state *state, double *f);

/* field8.c: dy = f(t, y) at s->t and y; at a node, where the rows are measured: longest and margin.
 * Lanes near a loss of rank are not good. */
typedef struct equations8_node {
    zw_real8 *longest, *margin, *certificate;
    const zw_mask8 *anyhow; /* lanes that may be near one anyway; NULL: none */
} equations8_node;
void equations8_field(equations8 *s, const zw_real8 *y, zw_real8 *dy, const equations8_node *node);
/* Projects y onto the constraints at s->t: system/project.c. */
void equations8_project(equations8 *s, zw_real8 *y);
/* Evaluates a part; lanes without a value are not good. */
const zw_real8 *equations8_run(equations8 *s, int part, const zw_real8 *q, const zw_real8 *v);

/* rates8.c: rates of all lanes from the outputs of the tape, for systems without rows; good[0] is
 * the mask of lanes where everything is finite and M is positive definite. */
void equations8_rates(const zw_system *system, const zw_real8 *out, const zw_real8 *y, zw_real8 *H,
                      zw_real8 *dy, zw_mask8 *good);
/* to = from in the lanes of the mask. */
void equations8_blend(int n, const zw_mask8 *mask, const zw_real8 *from, zw_real8 *to);

#endif
