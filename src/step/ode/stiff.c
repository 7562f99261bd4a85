/* STEP_BDF: CVODE of the SUNDIALS library behind the interface of ode.h, if the build has it.
 *
 * Backward differentiation formulas of orders 1 to 5, Newton's method with a dense Jacobian by
 * difference quotients. One step at a time; dense output is CVODE's own polynomial; the projection
 * is passed to CVODE, which then includes it in its error test. The results of CVODE need not be
 * reproducible bit by bit between compilers and versions.
 *
 * CVODE cannot repeat a step from its start. Calls that change the state (a start, a restart, a
 * retake) are recorded, and the next advance restarts CVODE there. */
#include "base/error.h"
#include "step/ode/inner.h"

#ifndef ZW_HAVE_SUNDIALS

zw_status step_stiff_create(step_ode *ode, zw_error *error)
{
    (void)ode;
    return base_fail(error, ZW_BAD_INPUT,
                     "method bdf needs SUNDIALS, which this zwang was built without: "
                     "install libsundials-dev and build again, or use the method stiff");
}

void step_stiff_free(step_ode *ode)
{
    (void)ode;
}

zw_status step_stiff_restart(step_ode *ode, zw_error *error)
{
    return step_stiff_create(ode, error);
}

zw_status step_stiff_advance(step_ode *ode, double limit, zw_error *error)
{
    (void)limit;
    return step_stiff_create(ode, error);
}

zw_status step_stiff_dense(step_ode *ode, double t, double *y, zw_error *error)
{
    (void)t;
    (void)y;
    return step_stiff_create(ode, error);
}

#else

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cvode/cvode.h>
#include <cvode/cvode_ls.h>
#include <cvode/cvode_proj.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_config.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

struct step_stiff {
    SUNContext context;
    N_Vector y, tolerance; /* tolerance: the absolute one, per component */
    SUNMatrix jacobian;
    SUNLinearSolver solver;
    void *cvode;
    double t;    /* the time that CVODE has reached */
    int running; /* it has a state, which is still that of the ode */
    zw_status status;
    zw_error error; /* the latest failure of the field */
};

/* ---- Functions that CVODE calls
 * --------------------------------------------------------------- */

/* 0: success, > 0: try something else. */
static int stiff_field(sunrealtype t, N_Vector y, N_Vector dy, void *user)
{
    step_ode *ode = user;
    step_stiff *s = ode->stiff;
    s->status = step_evaluate(ode, t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy), &s->error);
    return s->status == ZW_OK ? 0 : 1;
}

/* CVODE also wants the change and the error estimate projected; the estimate, like the change, is
 * reduced by the projection: leaving it as it is errs on the safe side. */
static int stiff_project(sunrealtype t, N_Vector y, N_Vector change, sunrealtype epsilon,
                         N_Vector error, void *user)
{
    step_ode *ode = user;
    step_stiff *s = ode->stiff;
    const double *from = N_VGetArrayPointer(y);
    double *by = N_VGetArrayPointer(change);
    (void)epsilon;
    (void)error;
    memcpy(ode->trial, from, (size_t)ode->n * sizeof(double));
    s->status = ode->option.project(ode->option.user, t, ode->trial, &s->error);
    for (int i = 0; i < ode->n; i++) {
        by[i] = ode->trial[i] - from[i];
    }
    return s->status == ZW_OK ? 0 : 1;
}

/* The library never prints, so CVODE must not either. */
#if SUNDIALS_VERSION_MAJOR < 7

static void stay_silent(int code, const char *module, const char *function, char *message,
                        void *user)
{
    (void)code, (void)module, (void)function, (void)message, (void)user;
}

static int create_context(SUNContext *context)
{
    return SUNContext_Create(NULL, context);
}

static int be_silent(step_stiff *s)
{
    return CVodeSetErrHandlerFn(s->cvode, stay_silent, NULL);
}

#else

static int create_context(SUNContext *context)
{
    return SUNContext_Create(SUN_COMM_NULL, context);
}

static int be_silent(step_stiff *s)
{
    return SUNContext_ClearErrHandlers(s->context);
}

#endif

/* ---- Creation -------------------------------------------------------------------------------- */

static int create_parts(step_ode *ode, step_stiff *s)
{
    sunindextype n = ode->n;
    if (create_context(&s->context) != 0) {
        return 0;
    }
    s->y = N_VNew_Serial(n, s->context);
    s->tolerance = N_VNew_Serial(n, s->context);
    s->jacobian = SUNDenseMatrix(n, n, s->context);
    s->cvode = CVodeCreate(CV_BDF, s->context);
    if (s->y == NULL || s->tolerance == NULL || s->jacobian == NULL || s->cvode == NULL) {
        return 0;
    }
    s->solver = SUNLinSol_Dense(s->y, s->jacobian, s->context);
    return s->solver != NULL;
}

static int create_cvode(step_ode *ode, step_stiff *s)
{
    const step_ode_options *o = &ode->option;
    N_VConst(0.0, s->y);
    for (int i = 0; i < ode->n; i++) {
        N_VGetArrayPointer(s->tolerance)[i] = o->tolerance * ode->weight[i];
    }
    int bad = be_silent(s) || CVodeInit(s->cvode, stiff_field, 0.0, s->y) ||
              CVodeSetUserData(s->cvode, ode) ||
              CVodeSVtolerances(s->cvode, o->tolerance, s->tolerance) ||
              CVodeSetLinearSolver(s->cvode, s->solver, s->jacobian) ||
              CVodeSetMaxNumSteps(s->cvode, 1000000) || CVodeSetMaxErrTestFails(s->cvode, 30) ||
              CVodeSetMaxConvFails(s->cvode, 30) || CVodeSetMaxHnilWarns(s->cvode, -1);
    if (!bad && isfinite(o->step)) {
        bad = CVodeSetMaxStep(s->cvode, o->step);
    }
    if (!bad && o->project != NULL) {
        bad = CVodeSetProjFn(s->cvode, stiff_project) || CVodeSetProjErrEst(s->cvode, 0);
    }
    return !bad;
}

zw_status step_stiff_create(step_ode *ode, zw_error *error)
{
    step_stiff *s = base_alloc(sizeof *s);
    if (s == NULL) {
        return base_fail(error, ZW_NO_MEMORY, "method stiff: out of memory");
    }
    ode->stiff = s;
    if (ode->n == 0) {
        return base_fail(error, ZW_BAD_INPUT, "method stiff: nothing to integrate");
    }
    if (!create_parts(ode, s) || !create_cvode(ode, s)) {
        return base_fail(error, ZW_NO_MEMORY, "method stiff: CVODE could not be set up");
    }
    return ZW_OK;
}

void step_stiff_free(step_ode *ode)
{
    step_stiff *s = ode->stiff;
    if (s == NULL) {
        return;
    }
    if (s->cvode != NULL) {
        CVodeFree(&s->cvode);
    }
    if (s->solver != NULL) {
        SUNLinSolFree(s->solver);
    }
    if (s->jacobian != NULL) {
        SUNMatDestroy(s->jacobian);
    }
    if (s->tolerance != NULL) {
        N_VDestroy(s->tolerance);
    }
    if (s->y != NULL) {
        N_VDestroy(s->y);
    }
    if (s->context != NULL) {
        SUNContext_Free(&s->context);
    }
    base_free(s);
    ode->stiff = NULL;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

zw_status step_stiff_restart(step_ode *ode, zw_error *error)
{
    (void)error;
    ode->stiff->running = 0;
    return ZW_OK;
}

static zw_status fail(step_ode *ode, int code, zw_error *error)
{
    step_stiff *s = ode->stiff;
    s->running = 0;
    ode->base.view.rejected++;
    if (s->status != ZW_OK) { /* the message of the field or the projection */
        if (error != NULL) {
            *error = s->error;
        }
        base_fail_more(error, " (CVODE, at t = %.17g)", ode->t0);
        return s->status;
    }
    char *name = code < 0 ? CVodeGetReturnFlagName(code) : NULL; /* allocated for the caller */
    base_fail(error, ZW_INACCURATE, "CVODE gave up after t = %.17g: %s", ode->t0,
              name != NULL ? name : "its steps no longer move the time");
    free(name);
    return ZW_INACCURATE;
}

static int begin(step_ode *ode, double limit)
{
    step_stiff *s = ode->stiff;
    double first = ode->base.view.steps == 0 ? ode->option.first : 0.0; /* 0: CVODE's choice */
    memcpy(N_VGetArrayPointer(s->y), ode->y0, (size_t)ode->n * sizeof(double));
    int code = CVodeReInit(s->cvode, ode->t0, s->y);
    if (code == CV_SUCCESS) {
        first = fmin(first, fabs(limit - ode->t0));
        code = CVodeSetInitStep(s->cvode, limit > ode->t0 ? first : -first);
    }
    s->t = ode->t0;
    s->running = code == CV_SUCCESS;
    return code;
}

zw_status step_stiff_advance(step_ode *ode, double limit, zw_error *error)
{
    step_stiff *s = ode->stiff;
    double h = 0.0, t = ode->t0;
    long fails_before = 0, fails = 0, stalls_before = 0, stalls = 0;
    int back = ode->h != 0.0 && (limit > ode->t0) != (ode->h > 0.0);
    int code = CV_SUCCESS;
    s->status = ZW_OK;
    if (!s->running || s->t != ode->t0 || back) {
        code = begin(ode, limit);
    }
    CVodeGetNumErrTestFails(s->cvode, &fails_before);
    CVodeGetNumStepSolveFails(s->cvode, &stalls_before);
    if (code == CV_SUCCESS) {
        code = CVodeSetStopTime(s->cvode, limit);
    }
    if (code == CV_SUCCESS) {
        code = CVode(s->cvode, limit, s->y, &t, CV_ONE_STEP);
    }
    if (code < 0 || t == ode->t0) {
        return fail(ode, code, error);
    }
    CVodeGetNumErrTestFails(s->cvode, &fails);
    CVodeGetNumStepSolveFails(s->cvode, &stalls);
    ode->base.view.rejected += (fails - fails_before) + (stalls - stalls_before);
    memcpy(ode->y1, N_VGetArrayPointer(s->y), (size_t)ode->n * sizeof(double));
    memset(ode->low1, 0, (size_t)ode->n * sizeof(double));
    if (CVodeGetCurrentStep(s->cvode, &h) == CV_SUCCESS && h != 0.0) {
        ode->next = fabs(h);
    }
    s->t = ode->t1 = ode->reach = t;
    ode->h = t - ode->t0;
    ode->base.view.steps++;
    ode->f1_known = 1;
    return step_evaluate(ode, t, ode->y1, ode->f1, error);
}

zw_status step_stiff_dense(step_ode *ode, double t, double *y, zw_error *error)
{
    step_stiff *s = ode->stiff;
    int code =
        CVodeGetDky(s->cvode, t, 0, s->y); /* s->y belongs to us: CVODE has its own history */
    memcpy(y, N_VGetArrayPointer(s->y), (size_t)ode->n * sizeof *y);
    if (code != CV_SUCCESS) {
        return base_fail(error, ZW_BAD_INPUT, "CVODE cannot interpolate at t = %.17g", t);
    }
    return ZW_OK;
}

#endif
