/* Analysis around the present state of a Sim: inverse dynamics, derivatives, equilibrium and small
 * motions, initial values that lead to a goal, derivatives of a motion. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

#include "zwang/inverse.h"
#include "zwang/modes.h"
#include "zwang/path.h"
#include "zwang/slopes.h"

static int begin(sim_object *sim)
{
    if (!sim_enter(sim)) {
        return 0;
    }
    if (!sim_apply_controls(sim)) {
        sim_leave(sim);
        return 0;
    }
    return 1;
}

/* ---- Inverse dynamics ------------------------------------------------------------------------ */

static PyObject *inverse_answer(core_state *core, const zw_inverse_answer *x, int n, int rows)
{
    PyObject *dict =
        Py_BuildValue("{s:d,s:d,s:i,s:i,s:d}", "size", x->size, "off", x->off, "choices",
                      x->choices, "least", x->least, "certificate", x->certificate);
    const struct {
        const char *name;
        const double *data;
        int count;
    } parts[] = {{"demand", x->demand, n},
                 {"motor", x->motor, x->motors},
                 {"control", x->control, x->motors},
                 {"drive", x->drive, x->drives},
                 {"multipliers", x->lambda, rows},
                 {"constraint", x->constraint, n},
                 {"touch", x->touch, n},
                 {"residual", x->residual, n},
                 {"missing", x->missing, n}};
    int fine = dict != NULL;
    for (int k = 0; fine && k < (int)(sizeof parts / sizeof *parts); k++) {
        fine = dict_put(dict, parts[k].name, memory_copy(core, parts[k].data, parts[k].count, 0));
    }
    if (!fine) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* _inverse(a, [speeds that any force may drive]) */
PyObject *sim_inverse(PyObject *self, PyObject *arguments)
{
    sim_object *sim = (sim_object *)self;
    const zw_system *system = sim->model->system;
    PyObject *a_from, *drive_from, *dict = NULL;
    numbers a, drive;
    int n = zw_count(system, ZW_KIND_SPEED);
    if (!PyArg_ParseTuple(arguments, "OO", &a_from, &drive_from) ||
        !numbers_get(drive_from, -1, "drive", &drive)) {
        return NULL;
    }
    int *which = calloc((size_t)drive.count + 1, sizeof *which);
    for (Py_ssize_t k = 0; which && k < drive.count; k++) {
        which[k] = (int)drive.data[k];
    }
    if (which && numbers_get(a_from, n, "a", &a)) {
        if (begin(sim)) {
            zw_inverse_options options = {.drive = which, .drive_count = (int)drive.count};
            zw_inverse_answer answer;
            zw_error error = {.status = ZW_OK};
            zw_inverse *inverse = zw_inverse_create(sim->model->model, system, &options, &error);
            if (inverse && zw_inverse_look(inverse, sim->state, a.data, &answer, &error) == ZW_OK) {
                dict = inverse_answer(sim->core, &answer, n, zw_count(system, ZW_KIND_ROW));
            } else {
                core_raise(sim->core, &error);
            }
            zw_inverse_free(inverse);
            sim_leave(sim);
        }
        PyMem_Free(a.data);
    }
    free(which);
    PyMem_Free(drive.data);
    return dict;
}

/* ---- Derivatives at an instant --------------------------------------------------------------- */

/* Columns as rows of the arrays: q[n], v[n], t, parameters. */
PyObject *sim_slopes(PyObject *self, PyObject *none)
{
    (void)none;
    sim_object *sim = (sim_object *)self;
    zw_error error = {.status = ZW_OK};
    zw_slopes_answer x;
    zw_status status = ZW_BAD_INPUT;
    zw_slopes *slopes;
    PyObject *dict = NULL;
    if (!begin(sim)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    slopes = zw_slopes_create(sim->model->model, sim->model->system, &error);
    status = slopes ? zw_slopes_look(slopes, sim->state, &x, &error) : error.status;
    Py_END_ALLOW_THREADS;
    if (slopes && status == ZW_OK) {
        dict = Py_BuildValue("{s:i,s:i,s:i,s:z}", "n", x.n, "params", x.params, "kinks", x.kinks,
                             "kink", x.kink);
        if (!dict_put(dict, "a", memory_copy(sim->core, x.a, x.n, 0)) ||
            !dict_put(dict, "multipliers", memory_copy(sim->core, x.lambda, x.m, 0)) ||
            !dict_put(dict, "a_by", memory_copy(sim->core, x.a_by, x.columns, x.n)) ||
            !dict_put(dict, "force_by", memory_copy(sim->core, x.force_by, x.columns, x.n)) ||
            !dict_put(dict, "multipliers_by",
                      x.m > 0 ? memory_copy(sim->core, x.lambda_by, x.columns, x.m)
                              : memory_doubles(sim->core, 0))) {
            Py_CLEAR(dict);
        }
    } else {
        core_raise(sim->core, &error);
    }
    zw_slopes_free(slopes);
    sim_leave(sim);
    return dict;
}

/* ---- Equilibrium and small motions ----------------------------------------------------------- */

/* _rest(tolerance, iterations) */
PyObject *sim_rest(PyObject *self, PyObject *arguments)
{
    sim_object *sim = (sim_object *)self;
    zw_rest_options options = {0};
    zw_rest_report report = {0};
    zw_error error = {.status = ZW_OK};
    zw_status status;
    if (!PyArg_ParseTuple(arguments, "di", &options.tolerance, &options.iterations) ||
        !begin(sim)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = zw_rest(sim->model->model, sim->model->system, sim->state, sim->work, &options,
                     &report, &error);
    Py_END_ALLOW_THREADS;
    sim_leave(sim);
    return status == ZW_OK
               ? Py_BuildValue("{s:i,s:d,s:d}", "iterations", report.iterations, "acceleration",
                               report.acceleration, "moved", report.moved)
               : core_raise(sim->core, &error);
}

static PyObject *modes_answer(sim_object *sim, const zw_modes *modes)
{
    static const char *const words[] = {"stable", "neutral", "unstable"};
    int count = zw_modes_count(modes), n = zw_count(sim->model->system, ZW_KIND_SPEED);
    PyObject *list = memory_copy(sim->core, NULL, count, 5);
    PyObject *shapes = memory_copy(sim->core, NULL, count, 2 * (Py_ssize_t)n);
    for (int k = 0; list && shapes && k < count; k++) {
        zw_mode mode = zw_modes_look(modes, k);
        double *to = memory_data(list) + 5 * k;
        to[0] = mode.growth, to[1] = mode.frequency, to[2] = mode.damping;
        to[3] = mode.multiplier[0], to[4] = mode.multiplier[1];
        memcpy(memory_data(shapes) + 2 * (size_t)n * (size_t)k, zw_modes_shape(modes, k),
               2 * (size_t)n * sizeof(double));
    }
    PyObject *dict = list && shapes ? Py_BuildValue("{s:s,s:d,s:O,s:O,s:O}", "stability",
                                                    words[zw_modes_stability(modes)], "unsteady",
                                                    zw_modes_unsteady(modes), "frozen",
                                                    zw_modes_frozen(modes) ? Py_True : Py_False,
                                                    "modes", list, "shapes", shapes)
                                    : NULL;
    Py_XDECREF(list);
    Py_XDECREF(shapes);
    return dict;
}

/* _modes(period) */
PyObject *sim_modes(PyObject *self, PyObject *given)
{
    sim_object *sim = (sim_object *)self;
    double period = PyFloat_AsDouble(given);
    zw_error error = {.status = ZW_OK};
    zw_modes *modes;
    if (PyErr_Occurred() || !begin(sim)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    modes = zw_modes_create(sim->model->model, sim->model->system, sim->state, period, &error);
    Py_END_ALLOW_THREADS;
    PyObject *dict = modes ? modes_answer(sim, modes) : core_raise(sim->core, &error);
    zw_modes_free(modes);
    sim_leave(sim);
    return dict;
}

/* ---- Motions to a goal ----------------------------------------------------------------------- */

/* _reach(time, tolerance): the state gets the speeds and multipliers that lead to the goal. */
PyObject *sim_reach(PyObject *self, PyObject *arguments)
{
    sim_object *sim = (sim_object *)self;
    core_signals signals = {0};
    zw_reach_options options = {.poll = core_poll, .user = &signals};
    zw_reach_report r = {0};
    zw_error error = {.status = ZW_OK};
    zw_status status;
    if (!PyArg_ParseTuple(arguments, "dd", &options.time, &options.tolerance) || !begin(sim)) {
        return NULL;
    }
    if (!zw_reach_asked(sim->model->system)) {
        sim_leave(sim);
        PyErr_SetString(PyExc_ValueError,
                        "the model has no goal; add a line like \"reach x = 1, y = 0 at 2\"");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    status = zw_reach(sim->model->system, sim->state, sim->work, &options, &r, &error);
    Py_END_ALLOW_THREADS;
    sim_leave(sim);
    if (signals.raised) {
        return NULL;
    }
    return status == ZW_OK ? Py_BuildValue("{s:i,s:i,s:i,s:i,s:l,s:d,s:d,s:d}", "unknowns",
                                           r.unknowns, "conditions", r.conditions, "least", r.least,
                                           "iterations", r.iterations, "runs", r.runs, "miss",
                                           r.miss, "action", r.action, "length", r.length)
                           : core_raise(sim->core, &error);
}

/* ---- Derivatives of a motion ----------------------------------------------------------------- */

typedef struct carried {
    double *state, *by; /* [times][2 n], [times][columns][2 n] */
    int n, columns, at, times;
    const zw_system *system;
    zw_work *work;
} carried;

static int observe(void *user, const zw_state *state, const zw_sensitivity_answer *answer)
{
    carried *to = user;
    if (to->at < to->times) {
        size_t n = (size_t)to->n, columns = (size_t)to->columns, at = (size_t)to->at++;
        memcpy(to->state + 2 * n * at, zw_field(to->system, state, to->work, ZW_FIELD_Q).data,
               n * sizeof(double));
        memcpy(to->state + 2 * n * at + n, zw_field(to->system, state, to->work, ZW_FIELD_V).data,
               n * sizeof(double));
        memcpy(to->by + 2 * n * columns * at, answer->by, 2 * n * columns * sizeof(double));
    }
    return 0;
}

static zw_status follow(sim_object *sim, const zw_unknown *by, int count, const numbers *times,
                        zw_run_options *run, carried *to, int *kinks, zw_error *error)
{
    const zw_system *system = sim->model->system;
    zw_run_summary summary;
    zw_sensitivity_plan plan = {.run = *run,
                                .times = (int)times->count,
                                .time = times->data,
                                .observer = observe,
                                .user = to};
    plan.run.time = times->data[times->count - 1];
    zw_sensitivity *s = zw_sensitivity_create(sim->model->model, system, by, count, error);
    int as_written = zw_state_hash(sim->state) == zw_state_hash(sim->start);
    zw_status status = s ? zw_sensitivity_start(s, sim->state, as_written, error) : error->status;
    if (s && status == ZW_OK) {
        status = zw_sensitivity_run(s, sim->state, sim->work, &plan, &summary, error);
        *kinks = zw_sensitivity_look(s).kinks;
    }
    zw_sensitivity_free(s);
    return status;
}

static PyObject *follow_and_answer(sim_object *sim, const zw_unknown *by, int count,
                                   const numbers *times, zw_run_options *run)
{
    int n = zw_count(sim->model->system, ZW_KIND_COORD), kinks = 0;
    core_signals signals = {0};
    zw_error error = {.status = ZW_OK};
    zw_status status;
    Py_ssize_t shape[3] = {times->count, count, 2 * (Py_ssize_t)n};
    PyObject *path = memory_copy(sim->core, NULL, times->count, 2 * (Py_ssize_t)n);
    PyObject *slopes = memory_create(sim->core, NULL, NULL, MEMORY_DOUBLE, 3, shape, 1);
    PyObject *answer = NULL;
    if (path && slopes && begin(sim)) {
        carried to = {.state = memory_data(path),
                      .by = memory_data(slopes),
                      .n = n,
                      .columns = count,
                      .times = (int)times->count,
                      .system = sim->model->system,
                      .work = sim->work};
        run->poll = core_poll;
        run->user = &signals;
        Py_BEGIN_ALLOW_THREADS;
        status = follow(sim, by, count, times, run, &to, &kinks, &error);
        Py_END_ALLOW_THREADS;
        sim_leave(sim);
        if (status == ZW_OK && !signals.raised) {
            answer = Py_BuildValue("(OOii)", path, slopes, to.at, kinks);
        } else if (!signals.raised) {
            core_raise(sim->core, &error);
        }
    }
    Py_XDECREF(path);
    Py_XDECREF(slopes);
    return answer;
}

/* _sensitivity(unknowns, times, step, tolerance, method): (q v [times][2 n], derivatives
 * [times][unknowns][2 n], times that were reached, kinks) */
PyObject *sim_sensitivity(PyObject *self, PyObject *arguments)
{
    sim_object *sim = (sim_object *)self;
    PyObject *tuples, *times_from, *answer = NULL;
    const char *method;
    zw_run_options run = {0};
    zw_unknown *by = NULL;
    double *low = NULL, *high = NULL;
    Py_ssize_t count;
    numbers times = {NULL, 0};
    if (!PyArg_ParseTuple(arguments, "OOddz", &tuples, &times_from, &run.step, &run.tolerance,
                          &method) ||
        !core_method(&run, method, NULL)) {
        return NULL;
    }
    if (unknowns_get(tuples, &count, &by, &low, &high) &&
        numbers_get(times_from, -1, "times", &times)) {
        if (count == 0 || times.count == 0) {
            PyErr_SetString(PyExc_ValueError, "sensitivity needs parameters and times");
        } else {
            answer = follow_and_answer(sim, by, (int)count, &times, &run);
        }
    }
    free(by);
    free(low);
    free(high);
    PyMem_Free(times.data);
    return answer;
}
