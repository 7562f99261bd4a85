/* zwang.fit: parameters and initial values that best explain recordings. */
#include "core.h"

#include <stdlib.h>

typedef struct fit_job {
    model_object *model;
    Py_ssize_t unknowns;
    zw_unknown *unknown;
    double *low, *high;
    numbers sigma;
    zw_path **path;
    int paths;
    core_signals signals;
} fit_job;

int unknowns_get(PyObject *tuples, Py_ssize_t *count, zw_unknown **unknown, double **low,
                 double **high)
{
    *count = PyTuple_Check(tuples) ? PyTuple_Size(tuples) : -1;
    size_t capacity = *count > 0 ? (size_t)*count : 0;
    *unknown = calloc(capacity + 1, sizeof **unknown);
    *low = calloc(capacity + 1, sizeof **low);
    *high = calloc(capacity + 1, sizeof **high);
    if (*count < 0 || !*unknown || !*low || !*high) {
        PyErr_SetString(PyExc_TypeError, "the unknowns are a tuple of (kind, index, low, high)");
        return 0;
    }
    for (Py_ssize_t k = 0; k < *count; k++) {
        int kind;
        if (!PyArg_ParseTuple(PyTuple_GetItem(tuples, k), "iidd", &kind, &(*unknown)[k].index,
                              &(*low)[k], &(*high)[k])) {
            return 0;
        }
        (*unknown)[k].kind = (zw_unknown_kind)kind;
    }
    return 1;
}

static int get_recordings(PyObject *list, PyObject *columns, fit_job *to)
{
    Py_ssize_t count = PyTuple_Check(list) ? PyTuple_Size(list) : 0;
    to->path = calloc((size_t)count + 1, sizeof(zw_path *));
    if (count == 0 || !to->path) {
        PyErr_SetString(PyExc_TypeError, "fit needs at least one recording");
        return 0;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        to->path[k] = recording_get(to->model, PyTuple_GetItem(list, k), columns, 1);
        if (!to->path[k]) {
            return 0;
        }
        to->paths++;
    }
    return 1;
}

static void drop(fit_job *it)
{
    for (int k = 0; k < it->paths; k++) {
        zw_path_free(it->path[k]);
    }
    free(it->path);
    free(it->unknown);
    free(it->low);
    free(it->high);
    PyMem_Free(it->sigma.data);
}

/* ---- The answer ------------------------------------------------------------------------------ */

static void release_fit(void *data)
{
    zw_fit_free(data);
}

static zw_status write_fit(void *data, const char *path, zw_error *error)
{
    return zw_fit_write(data, path, error);
}

static const table_kind kind = {release_fit, write_fit};

/* [(name, value, error, low, high, at_bound)] */
static PyObject *estimates(const zw_fit *fit, int count)
{
    PyObject *list = PyTuple_New(count);
    for (int k = 0; list && k < count; k++) {
        zw_fit_estimate x = zw_fit_look(fit, k);
        PyObject *row = Py_BuildValue("(sddddi)", zw_fit_name(fit, k), x.value, x.error, x.low,
                                      x.high, x.at_bound);
        if (!row || PyTuple_SetItem(list, k, row) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *nulls(core_state *core, const zw_fit *fit, zw_fit_report r)
{
    PyObject *list = PyTuple_New(r.nulls);
    for (int k = 0; list && k < r.nulls; k++) {
        PyObject *row = memory_copy(core, zw_fit_null(fit, k), r.unknowns, 0);
        if (!row || PyTuple_SetItem(list, k, row) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *noise(core_state *core, const model_object *model, const zw_fit *fit)
{
    Py_ssize_t count = 2 * zw_count(model->system, ZW_KIND_COORD);
    PyObject *memory = memory_doubles(core, count);
    for (int c = 0; memory && c < (int)count; c++) {
        memory_data(memory)[c] = zw_fit_noise(fit, c);
    }
    return memory;
}

static PyObject *answer_of(core_state *core, const fit_job *job, zw_fit *fit)
{
    zw_fit_report r = zw_fit_report_of(fit);
    PyObject *dict = Py_BuildValue("{s:i,s:i,s:l,s:d,s:i,s:i,s:l}", "iterations", r.iterations,
                                   "runs", r.runs, "numbers", r.numbers, "cost", r.cost, "kinks",
                                   r.kinks, "unexplained", r.unexplained, "duplicate", r.duplicate);
    int fine = dict_put(dict, "estimates", estimates(fit, r.unknowns)) &&
               dict_put(dict, "correlation",
                        memory_copy(core, zw_fit_correlation(fit), r.unknowns, r.unknowns)) &&
               dict_put(dict, "nulls", nulls(core, fit, r)) &&
               dict_put(dict, "noise", noise(core, job->model, fit));
    fine = dict_put(dict, "table", table_create(core, (PyObject *)job->model, fit, &kind)) && fine;
    if (!fine) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* ---- The call -------------------------------------------------------------------------------- */

static PyObject *carry_out(core_state *core, fit_job *job, zw_fit_problem *problem)
{
    zw_error error = {.status = ZW_OK};
    zw_fit *fit;
    problem->unknown = job->unknown;
    problem->unknowns = (int)job->unknowns;
    problem->low = job->low;
    problem->high = job->high;
    problem->recording = (const zw_path *const *)job->path;
    problem->recordings = job->paths;
    problem->sigma = job->sigma.data;
    problem->poll = core_poll;
    problem->user = &job->signals;
    Py_BEGIN_ALLOW_THREADS;
    fit = zw_fit_create(job->model->model, job->model->system, problem, &error);
    Py_END_ALLOW_THREADS;
    if (fit) {
        return answer_of(core, job, fit);
    }
    return job->signals.raised ? NULL : core_raise(core, &error);
}

/* (model, recordings, columns or None, unknowns, sigma [2 n], step, tolerance, method, iterations)
 */
PyObject *recording_fit(PyObject *module, PyObject *arguments)
{
    PyObject *given, *recordings, *columns, *unknowns, *sigma, *answer = NULL;
    const char *method;
    zw_fit_problem problem = {0};
    fit_job job = {0};
    if (!PyArg_ParseTuple(arguments, "OOOOOddzi", &given, &recordings, &columns, &unknowns, &sigma,
                          &problem.run.step, &problem.run.tolerance, &method,
                          &problem.iterations) ||
        !core_of_model(given) || !core_method(&problem.run, method, NULL)) {
        return NULL;
    }
    job.model = (model_object *)given;
    if (unknowns_get(unknowns, &job.unknowns, &job.unknown, &job.low, &job.high) &&
        numbers_get(sigma, 2 * zw_count(job.model->system, ZW_KIND_COORD), "sigma", &job.sigma) &&
        get_recordings(recordings, columns, &job)) {
        answer = carry_out(PyModule_GetState(module), &job, &problem);
    }
    drop(&job);
    return answer;
}
