/* Recordings: whether one is a motion of the system (certify), the forces that produce it (inverse
 * dynamics), and the arrays that fit.c reads them from. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

#include "zwang/inverse.h"
#include "zwang/path.h"

/* ---- From Python ----------------------------------------------------------------------------- */

/* {"x": "position of x"}: maps names of the model to columns of the file; the strings belong to the
 * dict. */
static int get_columns(PyObject *from, zw_path_column **list, int *count)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;
    *list = NULL;
    *count = 0;
    if (from == Py_None) {
        return 1;
    }
    if (!PyDict_Check(from) ||
        !(*list = calloc((size_t)PyDict_Size(from) + 1, sizeof(zw_path_column)))) {
        PyErr_SetString(PyExc_TypeError, "columns is a dict: {\"x\": \"column of the file\"}");
        return 0;
    }
    while (PyDict_Next(from, &at, &name, &value)) {
        const char *of = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
        const char *to = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
        if (!of || !to) {
            PyErr_SetString(PyExc_TypeError, "columns has a name that is not a string");
            free(*list);
            *list = NULL;
            return 0;
        }
        (*list)[(*count)++] = (zw_path_column){of, to};
    }
    return 1;
}

static zw_path *from_file(model_object *model, PyObject *file, PyObject *columns, int some)
{
    zw_path_column *list;
    zw_error error = {.status = ZW_OK};
    zw_path *path = NULL;
    int count;
    if (get_columns(columns, &list, &count)) {
        const char *name = PyBytes_AsString(file);
        Py_BEGIN_ALLOW_THREADS;
        zw_path_options options = {.columns = list, .column_count = count, .partial = some};
        path = zw_path_read(model->system, name, &options, &error);
        Py_END_ALLOW_THREADS;
        free(list);
        if (!path) {
            core_raise(core_of((PyObject *)model), &error);
        }
    }
    return path;
}

static zw_path *from_arrays(model_object *model, PyObject *t, PyObject *q, PyObject *v)
{
    numbers time, place, speed = {NULL, 0};
    zw_error error = {.status = ZW_OK};
    zw_path *path = NULL;
    if (!numbers_get(t, -1, "t", &time)) {
        return NULL;
    }
    Py_ssize_t coords = zw_count(model->system, ZW_KIND_COORD),
               n = zw_count(model->system, ZW_KIND_SPEED);
    int fine = numbers_get(q, time.count * coords, "q", &place);
    if (fine && (v == Py_None || numbers_get(v, time.count * n, "v", &speed))) {
        path = zw_path_create(model->system, (long)time.count, time.data, place.data,
                              v == Py_None ? NULL : speed.data, &error);
        if (!path) {
            core_raise(core_of((PyObject *)model), &error);
        }
    }
    PyMem_Free(speed.data);
    PyMem_Free(place.data);
    PyMem_Free(time.data);
    return path;
}

zw_path *recording_get(model_object *model, PyObject *from, PyObject *columns, int some)
{
    PyObject *file, *t, *q, *v;
    if (PyTuple_Check(from)) {
        return PyArg_ParseTuple(from, "OOO", &t, &q, &v) ? from_arrays(model, t, q, v) : NULL;
    }
    if (!PyUnicode_FSConverter(from, &file)) {
        return NULL;
    }
    zw_path *path = from_file(model, file, columns, some);
    Py_DECREF(file);
    return path;
}

/* A view of the table's data. */
static PyObject *look_into(core_state *core, PyObject *table, zw_view view, Py_ssize_t samples,
                           int flat)
{
    Py_ssize_t shape[2] = {samples, samples > 0 ? view.count / samples : 0};
    return memory_create(core, table, (double *)view.data, MEMORY_DOUBLE, flat ? 1 : 2, shape, 0);
}

/* ---- Certify --------------------------------------------------------------------------------- */

static void release_trial(void *data)
{
    zw_trial_free(data);
}

static zw_status write_trial(void *data, const char *path, zw_error *error)
{
    return zw_trial_write(data, path, error);
}

static const table_kind trial_kind = {release_trial, write_trial};

static PyObject *trial_report(const zw_system *system, const zw_trial_report *r)
{
    static const char *const verdict[] = {"motion", "not a motion", "off", "coarse"};
    const char *constraint = r->violation_constraint >= 0
                                 ? zw_name(system, ZW_KIND_CONSTRAINT, r->violation_constraint)
                                 : NULL;
    const char *coord = r->worst_coord >= 0 ? zw_name(system, ZW_KIND_COORD, r->worst_coord) : NULL;
    return Py_BuildValue(
        "{s:s,s:l,s:i,s:i,s:d,s:d,s:i,s:i,s:d,s:d,s:d,s:d,s:d,s:d,s:z,s:d,s:d,s:d,s:d,s:d,s:d,"
        "s:d,s:d,s:z,s:d,s:d,s:d,s:d,s:i,s:i,s:i,s:i}",
        "verdict", verdict[r->verdict], "samples", r->samples, "pieces", r->pieces, "speeds",
        r->speeds, "start", r->start, "end", r->end, "fit_degree", r->fit_degree, "fit_window",
        r->fit_window, "noise", r->noise, "error_position", r->error_position, "error_speed",
        r->error_speed, "error_acceleration", r->error_acceleration, "violation_position",
        r->violation_position, "violation_velocity", r->violation_velocity, "violation_constraint",
        constraint, "violation_time", r->violation_time, "mean", r->mean, "mean_least",
        r->mean_least, "defect", r->defect, "defect_error", r->defect_error, "worst", r->worst,
        "worst_time", r->worst_time, "worst_error", r->worst_error, "worst_coord", coord,
        "worst_force", r->worst_force, "energy_change", r->energy_change, "energy_work",
        r->energy_work, "energy_defect", r->energy_defect, "strikes", r->strikes, "resets",
        r->resets, "shapes", r->shapes, "gaps", r->gaps);
}

static PyObject *trial_answer(core_state *core, model_object *model, zw_trial *trial)
{
    static const char *const names[] = {"t",          "q",           "v",           "a",    "force",
                                        "force_size", "force_error", "multipliers", "power"};
    static const int is_flat[] = {1, 0, 0, 0, 0, 1, 1, 0, 1};
    const zw_trial_report *report = zw_trial_look(trial);
    Py_ssize_t samples = zw_trial_series_of(trial, ZW_SERIES_TIME).count;
    PyObject *dict = trial_report(model->system, report);
    PyObject *table = table_create(core, (PyObject *)model, trial, &trial_kind);
    int fine = dict && table;
    for (int k = 0; fine && k < (int)(sizeof names / sizeof *names); k++) {
        zw_view view = zw_trial_series_of(trial, (zw_trial_series)k);
        fine = dict_put(dict, names[k], look_into(core, table, view, samples, is_flat[k]));
    }
    if (!fine || !dict_put(dict, "table", Py_NewRef(table))) {
        Py_CLEAR(dict);
    }
    Py_XDECREF(table);
    return dict;
}

/* (model, recording, columns or None, noise, metric [n n] or None) */
PyObject *recording_certify(PyObject *module, PyObject *arguments)
{
    PyObject *given, *recording, *columns, *metric_from;
    core_signals signals = {0};
    zw_certify_options options = {.poll = core_poll, .user = &signals};
    numbers metric = {NULL, 0};
    if (!PyArg_ParseTuple(arguments, "OOOdO", &given, &recording, &columns, &options.noise,
                          &metric_from) ||
        !core_of_model(given)) {
        return NULL;
    }
    model_object *model = (model_object *)given;
    Py_ssize_t n = zw_count(model->system, ZW_KIND_COORD);
    if (metric_from != Py_None && !numbers_get(metric_from, n * n, "metric", &metric)) {
        return NULL;
    }
    zw_path *path = recording_get(model, recording, columns, 0);
    zw_trial *trial = NULL;
    zw_error error = {.status = ZW_OK};
    if (path) {
        options.metric = metric_from == Py_None ? NULL : metric.data;
        Py_BEGIN_ALLOW_THREADS;
        trial = zw_path_certify(model->system, path, &options, &error);
        Py_END_ALLOW_THREADS;
    }
    PyMem_Free(metric.data);
    zw_path_free(path);
    core_state *core = PyModule_GetState(module);
    if (trial) {
        return trial_answer(core, model, trial);
    }
    return path && !signals.raised ? core_raise(core, &error) : NULL;
}

/* ---- Inverse dynamics along a recording ------------------------------------------------------ */

static void release_forces(void *data)
{
    zw_inverse_path_free(data);
}

static zw_status write_forces(void *data, const char *path, zw_error *error)
{
    return zw_inverse_write(data, path, error);
}

static const table_kind forces_kind = {release_forces, write_forces};

static PyObject *forces_answer(core_state *core, PyObject *model, zw_inverse_path *forces)
{
    zw_inverse_report r = zw_inverse_report_of(forces);
    PyObject *columns = PyDict_New(), *dict = NULL;
    PyObject *table = table_create(core, model, forces, &forces_kind);
    int fine = columns && table;
    for (int k = 0; fine && k < zw_inverse_columns(forces); k++) {
        zw_view view = zw_inverse_column(forces, k);
        fine = dict_put(columns, zw_inverse_column_name(forces, k),
                        look_into(core, table, view, view.count, 1));
    }
    if (fine) {
        dict = Py_BuildValue("{s:O,s:O,s:l,s:l,s:i,s:i,s:d,s:d,s:d,s:d,s:d,s:d}", "columns",
                             columns, "table", table, "samples", r.samples, "unknown", r.unknown,
                             "choices", r.choices, "least", r.least, "residual", r.residual,
                             "error", r.error, "worst", r.worst, "worst_time", r.worst_time, "off",
                             r.off, "error_acceleration", r.error_acceleration);
    }
    Py_XDECREF(columns);
    Py_XDECREF(table);
    return dict;
}

/* (model, recording, columns or None, [speeds], noise) */
PyObject *recording_inverse(PyObject *module, PyObject *arguments)
{
    PyObject *given, *recording, *columns, *drive_from;
    zw_inverse_options options = {0};
    numbers drive;
    if (!PyArg_ParseTuple(arguments, "OOOOd", &given, &recording, &columns, &drive_from,
                          &options.noise) ||
        !core_of_model(given) || !numbers_get(drive_from, -1, "drive", &drive)) {
        return NULL;
    }
    model_object *model = (model_object *)given;
    int *which = calloc((size_t)drive.count + 1, sizeof *which);
    for (Py_ssize_t k = 0; which && k < drive.count; k++) {
        which[k] = (int)drive.data[k];
    }
    options.drive = which;
    options.drive_count = (int)drive.count;
    zw_path *path = which ? recording_get(model, recording, columns, 0) : NULL;
    zw_inverse_path *forces = NULL;
    zw_error error = {.status = ZW_OK};
    if (path) {
        Py_BEGIN_ALLOW_THREADS;
        forces = zw_inverse_along(model->model, model->system, path, &options, &error);
        Py_END_ALLOW_THREADS;
    }
    zw_path_free(path);
    free(which);
    PyMem_Free(drive.data);
    core_state *core = PyModule_GetState(module);
    if (forces) {
        return forces_answer(core, given, forces);
    }
    return path ? core_raise(core, &error) : which ? NULL : PyErr_NoMemory();
}
