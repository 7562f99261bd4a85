/* Derivatives of steps and of motions by steps, and zwang.optimise, which uses the derivatives of
 * motions of equations. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "zwang/optimise.h"
#include "zwang/sensitivity.h"

/* ---- One step -------------------------------------------------------------------------------- */

/* _step_slopes(): ([2 n][2 n + params], kinks) */
PyObject *sim_step_slopes(PyObject *self, PyObject *none)
{
    (void)none;
    sim_object *sim = (sim_object *)self;
    const zw_system *system = sim->model->system;
    Py_ssize_t n = zw_count(system, ZW_KIND_SPEED), params = zw_count(system, ZW_KIND_PARAM);
    PyObject *by = memory_copy(sim->core, NULL, 2 * n, 2 * n + params), *answer = NULL;
    zw_error error = {.status = ZW_OK};
    zw_status status;
    int kinks = 0;
    if (by && sim_enter(sim)) {
        if (sim_apply_controls(sim)) {
            zw_run_options options = sim->stepping;
            options.poll = NULL;
            Py_BEGIN_ALLOW_THREADS;
            status = zw_step_slopes(system, sim->state, &options, memory_data(by), &kinks, &error);
            Py_END_ALLOW_THREADS;
            answer =
                status == ZW_OK ? Py_BuildValue("(Oi)", by, kinks) : core_raise(sim->core, &error);
        }
        sim_leave(sim);
    }
    Py_XDECREF(by);
    return answer;
}

/* ---- A motion -------------------------------------------------------------------------------- */

typedef struct costing {
    sim_object *sim;
    PyObject *cost; /* cost(step, q, v): returns (value, slopes by q, slopes by v) */
    int failed;     /* an exception is set */
} costing;

static int copy_slopes(PyObject *from, int n, const char *what, double *to)
{
    numbers given;
    if (!numbers_get(from, n, what, &given)) {
        return 0;
    }
    memcpy(to, given.data, (size_t)n * sizeof *to);
    PyMem_Free(given.data);
    return 1;
}

static PyObject *copy_field(const costing *it, const zw_state *state, zw_field_id field)
{
    zw_view view = zw_field(it->sim->model->system, state, it->sim->work, field);
    return memory_copy(it->sim->core, view.data, view.count, 0);
}

static double ask(const costing *it, long step, const zw_state *state, double *by_q, double *by_v)
{
    int n = zw_count(it->sim->model->system, ZW_KIND_SPEED);
    double value = NAN;
    PyObject *answer =
        PyObject_CallFunction(it->cost, "lNN", step, copy_field(it, state, ZW_FIELD_Q),
                              copy_field(it, state, ZW_FIELD_V));
    if (answer && PyTuple_Check(answer) && PyTuple_Size(answer) == 3) {
        value = PyFloat_AsDouble(PyTuple_GetItem(answer, 0));
        if (!PyErr_Occurred() && copy_slopes(PyTuple_GetItem(answer, 1), n, "slopes by q", by_q)) {
            copy_slopes(PyTuple_GetItem(answer, 2), n, "slopes by v", by_v);
        }
    } else if (answer) {
        PyErr_SetString(PyExc_TypeError, "cost(step, q, v) must return (value, by_q, by_v)");
    }
    Py_XDECREF(answer);
    return value;
}

static double cost_of(void *user, long step, const zw_state *state, double *by_q, double *by_v)
{
    costing *it = user;
    if (it->failed) {
        return 0;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    double value = ask(it, step, state, by_q, by_v);
    it->failed = PyErr_Occurred() != NULL;
    PyGILState_Release(gil);
    return it->failed ? 0 : value;
}

static PyObject *gradient_of(sim_object *sim, zw_gradient_plan *plan, costing *it)
{
    const zw_system *system = sim->model->system;
    int n = zw_count(system, ZW_KIND_SPEED);
    core_signals signals = {0};
    zw_error error = {.status = ZW_OK};
    zw_status status = ZW_BAD_INPUT;
    PyObject *by_q = memory_doubles(sim->core, n), *by_v = memory_doubles(sim->core, n);
    PyObject *by_param = memory_doubles(sim->core, zw_count(system, ZW_KIND_PARAM));
    PyObject *by_control = memory_copy(sim->core, NULL, plan->steps, plan->controls);
    PyObject *answer = NULL;
    if (by_q && by_v && by_param && by_control && sim_enter(sim)) {
        zw_gradient to = {.by_q = memory_data(by_q),
                          .by_v = memory_data(by_v),
                          .by_param = memory_data(by_param),
                          .by_control = memory_data(by_control)};
        if (sim_apply_controls(sim)) {
            plan->run = sim->stepping;
            plan->run.poll = core_poll;
            plan->run.user = &signals;
            Py_BEGIN_ALLOW_THREADS;
            status = zw_gradient_find(system, sim->state, plan, &to, &error);
            Py_END_ALLOW_THREADS;
            if (status == ZW_OK && !it->failed && !signals.raised) {
                answer =
                    Py_BuildValue("(dOOOOi)", to.cost, by_q, by_v, by_param, by_control, to.kinks);
            } else if (!it->failed && !signals.raised) {
                core_raise(sim->core, &error);
            }
        }
        sim_leave(sim);
    }
    Py_XDECREF(by_q);
    Py_XDECREF(by_v);
    Py_XDECREF(by_param);
    Py_XDECREF(by_control);
    return answer;
}

/* _gradient(cost, steps, [parameters that have a value in each step], values [steps][controls]) */
PyObject *sim_gradient(PyObject *self, PyObject *arguments)
{
    sim_object *sim = (sim_object *)self;
    PyObject *which_from, *values_from, *answer = NULL;
    numbers which = {NULL, 0}, values = {NULL, 0};
    costing it = {.sim = sim};
    zw_gradient_plan plan = {.cost = cost_of, .user = &it};
    if (!PyArg_ParseTuple(arguments, "OlOO", &it.cost, &plan.steps, &which_from, &values_from)) {
        return NULL;
    }
    if (plan.steps < 1 || plan.steps > INT_MAX) {
        PyErr_SetString(PyExc_ValueError, "a gradient needs at least one step");
        return NULL;
    }
    int *control = NULL;
    if (numbers_get(which_from, -1, "controls", &which) &&
        numbers_get(values_from, plan.steps * which.count, "controls", &values)) {
        control = calloc((size_t)which.count + 1, sizeof *control);
        for (Py_ssize_t k = 0; control && k < which.count; k++) {
            control[k] = (int)which.data[k];
        }
        plan.controls = (int)which.count;
        plan.control = control;
        plan.value = values.data;
        answer = control ? gradient_of(sim, &plan, &it) : core_no_memory();
    }
    free(control);
    PyMem_Free(which.data);
    PyMem_Free(values.data);
    return answer;
}

/* ---- Optimisation ---------------------------------------------------------------------------- */

static PyObject *found(const zw_optimum *best)
{
    zw_optimum_report r = zw_optimum_report_of(best);
    PyObject *list = PyTuple_New(r.unknowns);
    for (int k = 0; list && k < r.unknowns; k++) {
        zw_optimum_value x = zw_optimum_look(best, k);
        PyObject *row =
            Py_BuildValue("(sddddi)", x.name, x.before, x.value, x.low, x.high, x.at_bound);
        if (!row || PyTuple_SetItem(list, k, row) != 0) {
            Py_CLEAR(list);
        }
    }
    return list ? Py_BuildValue("(Ndddiii)", list, r.before, r.cost, r.slope, r.motions,
                                r.converged, r.kinks)
                : NULL;
}

/* (model, time, step, tolerance, method, motions) */
PyObject *optimise_run(PyObject *module, PyObject *arguments)
{
    core_state *core = PyModule_GetState(module);
    PyObject *given, *answer = NULL;
    const char *method;
    zw_optimise_options options = {0};
    core_signals signals = {0};
    zw_error error = {.status = ZW_OK};
    zw_optimum *best;
    if (!PyArg_ParseTuple(arguments, "Odddzi", &given, &options.run.time, &options.run.step,
                          &options.run.tolerance, &method, &options.motions) ||
        !core_of_model(given) || !core_method(&options.run, method, NULL)) {
        return NULL;
    }
    const model_object *model = (model_object *)given;
    options.poll = core_poll;
    options.user = &signals;
    Py_BEGIN_ALLOW_THREADS;
    best = zw_optimise(model->model, model->system, &options, &error);
    Py_END_ALLOW_THREADS;
    if (best) {
        answer = found(best);
    } else if (!signals.raised) {
        core_raise(core, &error);
    }
    zw_optimum_free(best);
    return answer;
}
