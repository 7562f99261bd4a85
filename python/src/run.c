/* Whole motions: samples are collected while zwang runs without the GIL, then handed to Python as
 * arrays without a copy; the recording is kept for files and reports. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Columns --------------------------------------------------------------------------------- */

/* The parts of a sample that are kept, each as rows of `wide` numbers. */
enum {
    KEEP_T,
    KEEP_Q,
    KEEP_V,
    KEEP_A,
    KEEP_LAMBDA,
    KEEP_ENERGY,
    KEEP_VIOLATION,
    KEEP_SENSOR,
    KEEP_OUTPUT,
    KEEP_PARAM,
    KEEP_CERTIFICATE,
    KEEP_COUNT
};

static const struct {
    const char *name;
    int field; /* -1: not a field of the state */
} keep[] = {[KEEP_T] = {"t", ZW_FIELD_TIME},
            [KEEP_Q] = {"q", ZW_FIELD_Q},
            [KEEP_V] = {"v", ZW_FIELD_V},
            [KEEP_A] = {"a", ZW_FIELD_A},
            [KEEP_LAMBDA] = {"multipliers", ZW_FIELD_LAMBDA},
            [KEEP_ENERGY] = {"energy", ZW_FIELD_ENERGY},
            [KEEP_VIOLATION] = {"violation", ZW_FIELD_VIOLATION},
            [KEEP_SENSOR] = {"sensors", ZW_FIELD_SENSOR},
            [KEEP_OUTPUT] = {"outputs", ZW_FIELD_OUTPUT},
            [KEEP_PARAM] = {"params", ZW_FIELD_PARAM},
            [KEEP_CERTIFICATE] = {"certificate", -1}};

typedef struct run_object {
    PyObject_HEAD model_object *model;
    zw_record *record; /* or NULL */
    zw_run_summary summary;
    zw_run_verdict verdict;
    long long count, capacity;
    int wide[KEEP_COUNT];
    double *column[KEEP_COUNT];
    long long *label; /* [count][2]: zw_sample_kind, event */
} run_object;

static int make_room(run_object *run, long long capacity)
{
    for (int k = 0; k < KEEP_COUNT; k++) {
        size_t bytes = (size_t)capacity * (size_t)run->wide[k] * sizeof(double) + 1;
        double *more = realloc(run->column[k], bytes);
        if (!more) {
            return 0;
        }
        run->column[k] = more;
    }
    long long *more = realloc(run->label, 2 * (size_t)capacity * sizeof *more);
    if (!more) {
        return 0;
    }
    run->label = more;
    run->capacity = capacity;
    return 1;
}

static int grow(run_object *run)
{
    return make_room(run, 2 * run->capacity + 64);
}

/* Reserves memory for the samples of a run, so that a lack of it is reported before the run. */
static int expect(run_object *run, const sim_object *sim, const zw_run_options *options,
                  zw_error *error)
{
    zw_run_options plan;
    if (zw_run_plan(sim->model->system, sim->state, options, &plan, error) != ZW_OK) {
        return 0;
    }
    if (run->record && zw_record_expect(run->record, sim->state, &plan, error) != ZW_OK) {
        return 0;
    }
    double now = zw_field(sim->model->system, sim->state, sim->work, ZW_FIELD_TIME).data[0];
    double interval = plan.every > 0 ? plan.every : plan.step;
    double samples = interval > 0 ? (plan.time - now) / interval + 2 : 0; /* at most 1e12 */
    if (samples > (double)run->capacity && !make_room(run, (long long)samples)) {
        error->status = ZW_NO_MEMORY;
        snprintf(error->text, sizeof error->text,
                 "not enough memory for %.2g samples; ask for fewer with `every`", samples);
        return 0;
    }
    return 1;
}

/* ---- While it runs --------------------------------------------------------------------------- */

typedef struct watch {
    run_object *run;
    core_signals signals;
    int no_memory;
} watch;

static int observe(void *user, zw_sample_kind kind, int event, const zw_system *system,
                   const zw_state *state, zw_work *work)
{
    watch *w = user;
    run_object *run = w->run;
    if (run->count == run->capacity && !grow(run)) {
        w->no_memory = 1;
        return 1;
    }
    for (int k = 0; k < KEEP_COUNT; k++) {
        double *to = run->column[k] + run->count * run->wide[k];
        if (keep[k].field < 0) {
            *to = zw_work_motion(work)->certificate.worst;
            continue;
        }
        zw_view view = zw_field(system, state, work, (zw_field_id)keep[k].field);
        int count = view.data && view.count < run->wide[k] ? view.count : run->wide[k];
        if (view.data && count > 0) {
            memcpy(to, view.data, (size_t)count * sizeof(double));
        } else {
            memset(to, 0, (size_t)run->wide[k] * sizeof(double));
        }
    }
    run->label[2 * run->count] = (long long)kind;
    run->label[2 * run->count + 1] = event;
    run->count++;
    return run->record ? zw_record_observe(run->record, kind, event, system, state, work) : 0;
}

static int poll(void *user, double time)
{
    (void)time;
    watch *w = user;
    return core_signals_poll(&w->signals);
}

/* ---- A run ----------------------------------------------------------------------------------- */

static run_object *create(sim_object *sim, const zw_run_options *options, int recorded,
                          zw_error *error)
{
    run_object *run = PyObject_New(run_object, sim->core->run);
    if (!run) {
        return NULL;
    }
    memset((char *)run + sizeof(PyObject), 0, sizeof *run - sizeof(PyObject));
    run->model = (model_object *)Py_NewRef((PyObject *)sim->model);
    for (int k = 0; k < KEEP_COUNT; k++) {
        run->wide[k] = keep[k].field < 0 ? 1
                                         : zw_field(sim->model->system, sim->state, sim->work,
                                                    (zw_field_id)keep[k].field)
                                               .count;
    }
    if (recorded) {
        run->record = zw_record_create(sim->model->system, error);
    }
    if ((recorded && !run->record) || !grow(run)) {
        error->status = ZW_NO_MEMORY;
    } else if (expect(run, sim, options, error)) {
        return run;
    }
    Py_DECREF(run);
    return NULL;
}

static int get_options(PyObject *arguments, PyObject *names, zw_run_options *to, int *recorded,
                       int *digits)
{
    static char *words[] = {"time",    "every",  "step",   "tolerance",  "accuracy", "method",
                            "contact", "record", "digits", "memoryless", NULL};
    const char *method = NULL, *contact = NULL;
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "|dddddzzppp", words, &to->time, &to->every,
                                     &to->step, &to->tolerance, &to->accuracy, &method, &contact,
                                     recorded, digits, &to->memoryless)) {
        return 0;
    }
    return core_method(to, method, contact);
}

/* Gives the current exception the part of the motion so far, as its attribute `run`. */
static void attach(run_object *run)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value && PyObject_SetAttrString(value, "run", (PyObject *)run) != 0) {
        PyErr_Clear();
    }
    PyErr_Restore(type, value, traceback);
    Py_DECREF(run);
}

PyObject *sim_run(PyObject *self, PyObject *arguments, PyObject *names)
{
    sim_object *sim = (sim_object *)self;
    zw_run_options options = sim->options;
    zw_error error = {.status = ZW_OK};
    int recorded = 1, wanted = 0;
    if (!get_options(arguments, names, &options, &recorded, &wanted) || !sim_enter(sim)) {
        return NULL;
    }
    run_object *run = sim_apply_controls(sim) ? create(sim, &options, recorded, &error) : NULL;
    if (!run) {
        sim_leave(sim);
        return core_raise(sim->core, &error);
    }
    watch w = {.run = run};
    zw_digits digits = {0};
    zw_status status;
    options.observer = observe;
    options.poll = poll;
    options.user = &w;
    Py_BEGIN_ALLOW_THREADS;
    status =
        wanted ? zw_run_digits(sim->model->system, sim->state, sim->work, &options, &run->summary,
                               &digits, &error)
               : zw_run(sim->model->system, sim->state, sim->work, &options, &run->summary, &error);
    zw_run_conclude(sim->model->system, &sim->assembly, &run->summary, wanted ? &digits : NULL,
                    &run->verdict);
    Py_END_ALLOW_THREADS;
    zw_digits_free(&digits);
    sim_read_controls(sim);
    sim_leave(sim);
    if (run->record) {
        zw_record_conclude(run->record, &run->verdict);
    }
    if (status == ZW_OK && !w.signals.raised && !w.no_memory) {
        return (PyObject *)run;
    }
    error.status = w.no_memory ? ZW_NO_MEMORY : error.status;
    if (!w.signals.raised) {
        core_raise(sim->core, &error);
    }
    attach(run);
    return NULL;
}

static void destroy(PyObject *self)
{
    run_object *run = (run_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    for (int k = 0; k < KEEP_COUNT; k++) {
        free(run->column[k]);
    }
    free(run->label);
    zw_record_free(run->record);
    Py_XDECREF((PyObject *)run->model);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- Results --------------------------------------------------------------------------------- */

static PyObject *column(PyObject *self, PyObject *name)
{
    run_object *run = (run_object *)self;
    const char *word = PyUnicode_AsUTF8AndSize(name, NULL);
    for (int k = 0; word && k < KEEP_COUNT; k++) {
        if (!strcmp(word, keep[k].name)) {
            Py_ssize_t shape[2] = {(Py_ssize_t)run->count, run->wide[k]};
            int flat = k == KEEP_T || k == KEEP_CERTIFICATE;
            return memory_create(core_of(self), self, run->column[k], MEMORY_DOUBLE, flat ? 1 : 2,
                                 shape, 1);
        }
    }
    if (word && !strcmp(word, "labels")) {
        Py_ssize_t shape[2] = {(Py_ssize_t)run->count, 2};
        return memory_create(core_of(self), self, run->label, MEMORY_LONG, 2, shape, 1);
    }
    return word ? (PyErr_Format(PyExc_KeyError, "%s", word), NULL) : NULL;
}

static PyObject *event_name(const run_object *run, int event)
{
    return event < 0 ? Py_NewRef(Py_None)
                     : PyUnicode_FromString(zw_name(run->model->system, ZW_KIND_EVENT, event));
}

static PyObject *summary(PyObject *self, PyObject *none)
{
    (void)none;
    run_object *run = (run_object *)self;
    const zw_run_summary *s = &run->summary;
    return Py_BuildValue(
        "{s:s,s:s,s:d,s:d,s:d,s:d,s:d,s:l,s:l,s:l,s:l,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:O,s:N,s:i,s:d,"
        "s:"
        "i,s:d,s:l,s:l,s:l,s:l,s:d,s:l,s:l,s:l,s:l,s:l,s:d,s:l}",
        "method", zw_method_name(s->method), "contact", zw_contact_law_name(s->contact),
        "tolerance", s->tolerance, "step", s->step, "accuracy", s->accuracy, "start", s->start,
        "end", s->end, "steps", s->steps, "rejected", s->rejected, "evaluations", s->evaluations,
        "events", s->events, "energy_start", s->energy_start, "energy_end", s->energy_end,
        "energy_drift", s->energy_drift, "work", s->work, "violation_position",
        s->violation_position, "violation_velocity", s->violation_velocity, "certificate",
        s->certificate, "interrupted", s->interrupted ? Py_True : Py_False, "stopped_by",
        event_name(run, s->stopped_by), "check_failed", s->check_failed, "check_time",
        s->check_time, "contacts", s->contacts, "depth", s->depth, "proved", s->proved, "unproved",
        s->unproved, "jams", s->jams, "impacts", s->impacts, "impact_loss", s->impact_loss,
        "halved", s->halved, "inexact", s->inexact, "linear", s->linear, "stiff", s->stiff, "late",
        s->late, "late_by", s->late_by, "slow", s->slow, "turned", s->turned);
}

/* [(kind, name, number, text)] */
static PyObject *verdict(PyObject *self, PyObject *none)
{
    (void)none;
    const zw_run_verdict *it = &((run_object *)self)->verdict;
    PyObject *list = PyTuple_New(it->count);
    for (int i = 0; list && i < it->count; i++) {
        const zw_run_verdict_line *line = &it->line[i];
        PyObject *row = Py_BuildValue("(ssds)", zw_run_verdict_name(line->kind), line->name,
                                      line->value, line->text);
        if (!row || PyTuple_SetItem(list, i, row) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* The extension of the path selects the format: .csv .h5 .svg .html. */
static PyObject *write_file(PyObject *self, PyObject *argument)
{
    run_object *run = (run_object *)self;
    PyObject *path;
    if (!run->record) {
        PyErr_SetString(PyExc_ValueError, "this run was made with record=False");
        return NULL;
    }
    if (!PyUnicode_FSConverter(argument, &path)) {
        return NULL;
    }
    zw_error error = {.status = ZW_OK};
    zw_status status = zw_record_write(run->record, &run->summary, PyBytes_AsString(path), &error);
    Py_DECREF(path);
    return status == ZW_OK ? Py_NewRef(Py_None) : core_raise(core_of(self), &error);
}

static PyMethodDef methods[] = {{"column", column, METH_O, NULL},
                                {"summary", summary, METH_NOARGS, NULL},
                                {"verdict", verdict, METH_NOARGS, NULL},
                                {"write", write_file, METH_O, NULL},
                                {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)destroy}, {Py_tp_methods, methods}, {0, NULL}};

PyType_Spec run_spec = {.name = "zwang._core.Run",
                        .basicsize = sizeof(run_object),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        .slots = slots};
