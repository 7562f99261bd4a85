/* Internals of an integrator; for the files of src/step only. */
#ifndef ZW_STEP_INNER_H
#define ZW_STEP_INNER_H

#include "base/memory.h"
#include "step/ode/ode.h"

typedef struct step_ode step_ode;

/* A one-step method: tries a step, and interpolates in it. */
typedef struct step_scheme {
    const char *name;
    int adaptive;
    int roots; /* adaptive: the error of a step falls like h^(2^roots) */
    /* Each attempt fills y1 and low1 itself, on the constraints; f1 is computed only for dense
     * output. */
    int whole;
    void (*layout)(step_ode *ode, base_arena *arena); /* its own arrays */
    /* From (t0, y0, f0) over h: fills ode->increment with y1 - y0, and *size with the error in
     * units of the tolerance (<= 1: accepted). */
    zw_status (*attempt)(step_ode *ode, double h, double *size, zw_error *error);
    /* Once per step, when dense output is first needed: the step (t0, y0, f0)..(t1, y1, f1). */
    zw_status (*prepare)(step_ode *ode, zw_error *error);
    void (*interpolate)(const step_ode *ode, double x, double *y); /* x in (0, 1) */
    /* Hidden entries of the state at y0, after the n that the user sees; NULL: none. */
    zw_status (*start)(step_ode *ode, double t, zw_error *error);
    /* Its own numbers that persist from step to step, apart from the state; NULL: none. */
    double *(*memory)(const step_ode *ode, int *count);
    /* The factor for the next step length after an error of this size. */
    double (*grow)(const step_ode *ode, double size);
    const struct step_scheme *sharper; /* steps with events are taken by this method, with the same
                                          memory and dense output; NULL: by this one */
} step_scheme;

extern const step_scheme step_scheme_dop853;
extern const step_scheme step_scheme_radau;
extern const step_scheme step_scheme_rk4;
extern const step_scheme step_scheme_euler;
extern const step_scheme step_scheme_variational;
extern const step_scheme step_scheme_variational4;
extern const step_scheme step_scheme_midpoint;

typedef struct step_stiff step_stiff; /* CVODE and its vectors */
typedef struct step_leap step_leap;   /* of leap.c */

struct step_ode {
    stepper base; /* ode.c keeps its view current */
    step_ode_options option;
    const step_scheme *scheme;  /* NULL: STEP_BDF */
    step_lagrangian lagrangian; /* of the variational methods, copied */
    int n;
    int width; /* n and the hidden entries after it: the length of y0, y1, low0, low1 */

    /* The last step. Low-order parts: the state is y + low. f0, f1 [n], else [width]. */
    double t0, t1, h;
    double *y0, *low0, *f0;
    double *y1, *low1, *f1;
    double *increment; /* y1 - y0 before projection */
    double *weight;    /* of the error, copied or all 1 */
    double *trial;     /* argument of the stages */

    /* Step control */
    double next;      /* length to try next, > 0; 0: not known yet */
    double last_size; /* error of the last accepted step */
    step_grid grid;   /* of fixed steps */
    double reach;     /* the end of the last step as first taken: retakes may go up to there, */
    double whole;     /* and its h, */
    step_grid passed; /* and the grid there */
    int dense_ready;
    int sharp;              /* the last step was taken by scheme->sharper */
    int f0_known, f1_known; /* `whole` methods do not always compute them */

    /* Of the scheme */
    double *stage; /* stages, [scheme's count * n] */
    double *dense; /* coefficients of the interpolant */
    void *more;    /* anything else that a scheme keeps */
    step_stiff *stiff;
    step_leap *leap; /* NULL: the field has no singular instants */
    int no_memory;   /* an attempt to leap ran out of memory */
};

/* keep.c */
int ode_memory(const stepper *s);
void ode_keep(const stepper *s, double *memory);
zw_status ode_resume(stepper *s, const double *y, const double *memory, zw_error *error);

extern const stepper_kind step_ode_kind;

/* dy = f(t, y), counted, and an error unless finite: ode->view.culprit is then its index. */
zw_status step_evaluate(step_ode *ode, double t, const double *y, double *dy, zw_error *error);

/* tolerance * (weight_i + max(|y0_i|, |y_i|)): the unit of the error of component i. */
double step_scale(const step_ode *ode, int i, double y);

/* Cubic Hermite interpolation between both ends, for methods without dense output of their own. */
zw_status step_hermite_prepare(step_ode *ode, zw_error *error);
void step_hermite(const step_ode *ode, double x, double *y);

/* STEP_BDF, in stiff.c. */
zw_status step_stiff_create(step_ode *ode, zw_error *error);
void step_stiff_free(step_ode *ode);
zw_status step_stiff_restart(step_ode *ode, zw_error *error); /* at t0, y0 */
zw_status step_stiff_advance(step_ode *ode, double limit, zw_error *error);
zw_status step_stiff_dense(step_ode *ode, double t, double *y, zw_error *error);

#endif
