/* zwang.sweep: many runs of one model, in threads, as one table. */
#include "core.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>

#include "zwang/sweep.h"

/* It lives as long as the sweep, from which files may be written later and which refers to its
 * settings and its reader. */
typedef struct sweep_job {
    zw_sweep *sweep;
    source from;
    core_signals signals; /* of the calling thread, the only one that may call Python */
    thrd_t caller;
    atomic_int stop;
    PyObject *progress; /* or NULL */
} sweep_job;

static zw_model *read_one(void *user, const char *path, const zw_read_options *read,
                          zw_error *error)
{
    (void)path;
    return source_read(&((sweep_job *)user)->from, read, error);
}

static int poll(void *user, double time)
{
    sweep_job *job = user;
    (void)time;
    if (thrd_equal(thrd_current(), job->caller) && core_signals_poll(&job->signals)) {
        atomic_store(&job->stop, 1);
    }
    return atomic_load(&job->stop);
}

/* Called by the thread that started the sweep. */
static void report_progress(void *user, int done, int runs)
{
    sweep_job *job = user;
    if (!job->progress || atomic_load(&job->stop)) {
        return;
    }
    PyGILState_STATE held = PyGILState_Ensure();
    PyObject *answer = PyObject_CallFunction(job->progress, "ii", done, runs);
    if (!answer) {
        job->signals.raised = 1;
        atomic_store(&job->stop, 1);
    }
    Py_XDECREF(answer);
    PyGILState_Release(held);
}

static void release(void *data)
{
    sweep_job *job = data;
    zw_sweep_free(job->sweep);
    source_drop(&job->from);
    free(job);
}

static zw_status write_it(void *data, const char *path, zw_error *error)
{
    return zw_sweep_write(((sweep_job *)data)->sweep, path, 0, error);
}

static const table_kind kind = {release, write_it};

/* ---- The answer ------------------------------------------------------------------------------ */

static PyObject *names_of(const zw_sweep *sweep)
{
    int count = zw_sweep_columns(sweep);
    PyObject *list = PyTuple_New(count);
    for (int k = 0; list && k < count; k++) {
        PyObject *name = PyUnicode_FromString(zw_sweep_name(sweep, k));
        if (!name || PyTuple_SetItem(list, k, name) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *statuses_of(const zw_sweep *sweep)
{
    int count = zw_sweep_count(sweep);
    PyObject *list = PyTuple_New(count);
    for (int k = 0; list && k < count; k++) {
        const char *status = zw_sweep_status(sweep, k);
        PyObject *text = PyUnicode_FromString(status ? status : "not done");
        if (!text || PyTuple_SetItem(list, k, text) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *numbers_of(core_state *core, const zw_sweep *sweep)
{
    int runs = zw_sweep_count(sweep), columns = zw_sweep_columns(sweep);
    PyObject *memory = memory_copy(core, NULL, runs, columns);
    for (int i = 0; memory && i < runs; i++) {
        for (int k = 0; k < columns; k++) {
            memory_data(memory)[(size_t)i * (size_t)columns + (size_t)k] =
                zw_sweep_value(sweep, i, k);
        }
    }
    return memory;
}

/* `table` keeps the job alive. */
static PyObject *answer_of(core_state *core, const zw_sweep *sweep, PyObject *table)
{
    PyObject *dict = PyDict_New();
    int fine = dict_put(dict, "names", names_of(sweep)) &&
               dict_put(dict, "status", statuses_of(sweep)) &&
               dict_put(dict, "values", numbers_of(core, sweep));
    fine = dict_put(dict, "table", Py_NewRef(table)) && fine;
    if (!fine) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* ---- The call -------------------------------------------------------------------------------- */

static int get_over(PyObject *from, zw_sweep_options *to, const char ***over)
{
    Py_ssize_t count = PyTuple_Check(from) ? PyTuple_Size(from) : -1;
    *over = count > 0 ? calloc((size_t)count, sizeof **over) : NULL;
    for (Py_ssize_t k = 0; *over && k < count; k++) {
        PyObject *item = PyTuple_GetItem(from, k);
        (*over)[k] = PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
        if (!(*over)[k]) {
            count = -1;
        }
    }
    if (count <= 0 || !*over) {
        PyErr_SetString(PyExc_TypeError,
                        "sweep needs parameters: for example over=[\"m = 1..2 : 10\"]");
        return 0;
    }
    to->over = *over;
    to->over_count = (int)count;
    return 1;
}

static PyObject *carry_out(core_state *core, sweep_job *job, zw_sweep_options *options,
                           PyObject *table)
{
    zw_error error = {.status = ZW_OK};
    zw_status status = ZW_OK;
    job->caller = thrd_current();
    options->reader = read_one;
    options->user = job;
    options->run.poll = poll;
    options->run.user = job;
    options->progress = report_progress;
    Py_BEGIN_ALLOW_THREADS;
    job->sweep = zw_sweep_create(job->from.name, options, &error);
    status = job->sweep ? zw_sweep_run(job->sweep, &error) : error.status;
    Py_END_ALLOW_THREADS;
    if (!job->sweep || status != ZW_OK) {
        return job->signals.raised ? NULL : core_raise(core, &error);
    }
    report_progress(job, zw_sweep_done(job->sweep), zw_sweep_count(job->sweep));
    if (job->signals.raised) {
        return NULL;
    }
    if (options->journal) {
        zw_sweep_forget(job->sweep);
    }
    return answer_of(core, job->sweep, table);
}

/* (source, over, keep, after, samples, seed, (time, every, step, tolerance, accuracy, method,
 * contact), threads, journal, progress) */
PyObject *sweep_run(PyObject *module, PyObject *arguments)
{
    PyObject *from, *over_from, *progress, *answer = NULL, *journal = NULL;
    const char *method, *contact, **over = NULL;
    unsigned long long seed;
    zw_sweep_options options = {0};
    core_state *core = PyModule_GetState(module);
    if (!PyArg_ParseTuple(arguments, "O!OzziK(dddddzz)iOO", &PyTuple_Type, &from, &over_from,
                          &options.keep, &options.after, &options.samples, &seed, &options.run.time,
                          &options.run.every, &options.run.step, &options.run.tolerance,
                          &options.run.accuracy, &method, &contact, &options.threads, &journal,
                          &progress) ||
        !core_method(&options.run, method, contact)) {
        return NULL;
    }
    sweep_job *job = calloc(1, sizeof *job);
    if (!job || !source_get(from, &job->from)) {
        free(job);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    PyObject *table = table_create(core, from, job, &kind), *path = NULL;
    if (!table) {
        return NULL;
    }
    options.seed = seed;
    options.read = job->from.options;
    job->progress = progress == Py_None ? NULL : progress;
    int fine = journal == Py_None || PyUnicode_FSConverter(journal, &path);
    options.journal = path ? PyBytes_AsString(path) : NULL;
    if (fine && get_over(over_from, &options, &over)) {
        answer = carry_out(core, job, &options, table);
    }
    free(over);
    Py_XDECREF(path);
    Py_DECREF(table);
    return answer;
}
