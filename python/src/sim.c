/* zwang._core.Sim: one motion of a Model: state, scratch and options. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sim_enter(sim_object *sim)
{
    if (sim->busy) {
        PyErr_SetString(PyExc_RuntimeError,
                        "another thread is using this Sim; give each thread its own (sim.copy())");
        return 0;
    }
    sim->busy = 1;
    return 1;
}

void sim_leave(sim_object *sim)
{
    sim->busy = 0;
}

/* ---- Controls -------------------------------------------------------------------------------- */

/* The controls of actuators are consecutive parameters, after the parameters of the file. */
static int first_control(const model_object *model)
{
    int count = zw_model_count(model->model, ZW_KIND_ACTUATOR);
    for (int k = 0; k < count; k++) {
        const zw_actuator_def *def = zw_model_def(model->model, ZW_KIND_ACTUATOR, k);
        int at = def->name ? zw_id(model->system, ZW_KIND_PARAM, def->name) : -1;
        if (at >= k) {
            return at - k;
        }
    }
    return zw_count(model->system, ZW_KIND_PARAM) - count;
}

void sim_read_controls(sim_object *sim)
{
    zw_view param = zw_field(sim->model->system, sim->state, sim->work, ZW_FIELD_PARAM);
    if (sim->controls > 0) {
        size_t bytes = (size_t)sim->controls * sizeof(double);
        memcpy(sim->control, param.data + sim->control_first, bytes);
        memcpy(sim->applied, sim->control, bytes);
    }
}

int sim_apply_controls(sim_object *sim)
{
    size_t bytes = (size_t)sim->controls * sizeof(double);
    if (bytes == 0 || !memcmp(sim->control, sim->applied, bytes)) {
        return 1;
    }
    zw_error error = {.status = ZW_OK};
    if (zw_state_set(sim->model->system, sim->state, sim->work, ZW_FIELD_PARAM, sim->control_first,
                     sim->controls, sim->control, &error) != ZW_OK) {
        core_raise(sim->core, &error);
        return 0;
    }
    memcpy(sim->applied, sim->control, bytes);
    return 1;
}

/* ---- Creating and freeing -------------------------------------------------------------------- */

static int set_up(sim_object *sim, core_state *core)
{
    zw_error error = {.status = ZW_OK};
    const zw_system *system = sim->model->system;
    int fine;
    sim->store = PyObject_New(store_object, core->store);
    if (!sim->store) {
        return 0;
    }
    sim->store->state = NULL;
    sim->store->control = NULL;
    Py_BEGIN_ALLOW_THREADS;
    sim->work = zw_work_create(system, &error);
    sim->state = sim->work ? zw_state_create(system, sim->work, &sim->assembly, &error) : NULL;
    fine = sim->state && zw_state_copy(sim->state, &sim->start, &error) == ZW_OK;
    Py_END_ALLOW_THREADS;
    sim->store->state = sim->state;
    if (!fine) {
        core_raise(core, &error);
        return 0;
    }
    sim->controls = zw_model_count(sim->model->model, ZW_KIND_ACTUATOR);
    sim->control_first = first_control(sim->model);
    sim->control = sim->store->control = calloc((size_t)sim->controls + 1, sizeof(double));
    sim->applied = calloc((size_t)sim->controls + 1, sizeof(double));
    if (!sim->control || !sim->applied) {
        PyErr_NoMemory();
        return 0;
    }
    sim_read_controls(sim);
    return 1;
}

static void destroy_store(PyObject *self)
{
    store_object *store = (store_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    zw_state_free(store->state);
    free(store->control);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot store_slots[] = {{Py_tp_dealloc, (void *)destroy_store}, {0, NULL}};

PyType_Spec store_spec = {.name = "zwang._core.Store",
                          .basicsize = sizeof(store_object),
                          .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                          .slots = store_slots};

static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    static char *words[] = {"model", NULL};
    PyObject *model;
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "O", words, &model)) {
        return NULL;
    }
    core_state *core = core_of_model(model);
    if (!core) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    sim_object *sim = (sim_object *)allocate(type, 0);
    if (sim) {
        sim->model = (model_object *)Py_NewRef(model);
        sim->core = core;
        if (!set_up(sim, core)) {
            Py_CLEAR(sim);
        }
    }
    return (PyObject *)sim;
}

static void destroy(PyObject *self)
{
    sim_object *sim = (sim_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    zw_probe_free(sim->probe);
    zw_state_free(sim->start);
    zw_work_free(sim->work);
    free(sim->applied);
    Py_CLEAR(sim->store);
    Py_CLEAR(sim->model);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((sim_object *)self)->model);
    return 0;
}

/* ---- Options --------------------------------------------------------------------------------- */

int core_method(zw_run_options *to, const char *method, const char *contact)
{
    if (method && zw_method_find(method, &to->method) != ZW_OK) {
        char list[400] = "";
        size_t used = 0;
        for (int k = 0; *zw_method_name((zw_method)k) != '?' && used + 1 < sizeof list; k++) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", k ? ", " : "",
                                     zw_method_name((zw_method)k));
        }
        PyErr_Format(PyExc_ValueError, "there is no method '%s'; the methods are %s", method, list);
        return 0;
    }
    if (contact && zw_contact_law_find(contact, &to->contact) != ZW_OK) {
        PyErr_Format(PyExc_ValueError, "contact is 'coulomb', 'convex' or 'soft', not '%s'",
                     contact);
        return 0;
    }
    return 1;
}

/* Adaptive methods have no fixed step: for robots a step then spans the file's timestep. */
static double step_of(const sim_object *sim, double planned)
{
    const zw_world_def *world = zw_model_world(sim->model->model);
    return planned > 0 || !world ? planned : world->timestep;
}

/* Sets the options of the steps of this Sim. */
static PyObject *set_options(PyObject *self, PyObject *arguments, PyObject *names)
{
    static char *words[] = {"step",    "tolerance",  "accuracy", "method",
                            "contact", "memoryless", NULL};
    sim_object *sim = (sim_object *)self;
    zw_run_options to = {0}, plan;
    const char *method = NULL, *contact = NULL;
    zw_error error = {.status = ZW_OK};
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "|dddzzp", words, &to.step, &to.tolerance,
                                     &to.accuracy, &method, &contact, &to.memoryless) ||
        !core_method(&to, method, contact)) {
        return NULL;
    }
    if (zw_run_plan(sim->model->system, sim->state, &to, &plan, &error) != ZW_OK) {
        return core_raise(((sim_object *)self)->core, &error);
    }
    sim->options = sim->stepping = to;
    sim->stepping.step = step_of(sim, plan.step);
    return Py_BuildValue("{s:s,s:s,s:d,s:d,s:d}", "method", zw_method_name(plan.method), "contact",
                         zw_contact_law_name(plan.contact), "step", sim->stepping.step, "tolerance",
                         plan.tolerance, "accuracy", plan.accuracy);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

/* Without the GIL. */
static zw_status take_steps(sim_object *sim, long count, core_signals *signals, zw_error *error)
{
    zw_run_options options = sim->stepping;
    zw_status status = ZW_OK;
    options.poll = core_poll;
    options.user = signals;
    for (long k = 0; k < count && status == ZW_OK; k++) {
        status = zw_step(sim->model->system, sim->state, sim->work, &options, error);
    }
    return status;
}

static PyObject *step(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    sim_object *sim = (sim_object *)self;
    long steps = count > 0 ? PyLong_AsLong(arguments[0]) : 1;
    if (steps < 0 || count > 1 || PyErr_Occurred()) {
        return PyErr_Occurred() ? NULL
                                : (PyErr_SetString(PyExc_ValueError,
                                                   "step(count): the count must not be negative"),
                                   NULL);
    }
    if (!sim_enter(sim)) {
        return NULL;
    }
    zw_error error = {.status = ZW_OK};
    zw_status status = ZW_BAD_INPUT;
    core_signals signals = {0};
    int fine = sim_apply_controls(sim);
    if (fine) {
        Py_BEGIN_ALLOW_THREADS;
        status = take_steps(sim, steps, &signals, &error);
        Py_END_ALLOW_THREADS;
    }
    sim_leave(sim);
    if (!fine || signals.raised || status != ZW_OK) {
        return fine && !signals.raised ? core_raise(((sim_object *)self)->core, &error) : NULL;
    }
    return Py_NewRef(Py_None);
}

/* Forward dynamics at the present state; look: with the contact forces of the last step. */
static PyObject *solve(PyObject *self, int look)
{
    sim_object *sim = (sim_object *)self;
    zw_error error = {.status = ZW_OK};
    zw_status status = ZW_BAD_INPUT;
    if (!sim_enter(sim)) {
        return NULL;
    }
    int fine = sim_apply_controls(sim);
    if (fine) {
        Py_BEGIN_ALLOW_THREADS;
        status = look
                     ? zw_look(sim->model->system, sim->state, sim->work, &error)
                     : zw_forward(sim->model->system, sim->state, sim->work, &sim->options, &error);
        Py_END_ALLOW_THREADS;
    }
    sim_leave(sim);
    if (!fine || status != ZW_OK) {
        return fine ? core_raise(((sim_object *)self)->core, &error) : NULL;
    }
    return Py_NewRef(Py_None);
}

static PyObject *forward(PyObject *self, PyObject *none)
{
    (void)none;
    return solve(self, 0);
}

static PyObject *look(PyObject *self, PyObject *none)
{
    (void)none;
    return solve(self, 1);
}

/* ---- Fields of the state --------------------------------------------------------------------- */

int core_field(const char *name)
{
    static const char *const names[] = {[ZW_FIELD_TIME] = "time",
                                        [ZW_FIELD_Q] = "q",
                                        [ZW_FIELD_V] = "v",
                                        [ZW_FIELD_A] = "a",
                                        [ZW_FIELD_A_FREE] = "a_free",
                                        [ZW_FIELD_LAMBDA] = "multipliers",
                                        [ZW_FIELD_CARRIED] = "carried",
                                        [ZW_FIELD_ENERGY] = "energy",
                                        [ZW_FIELD_VIOLATION] = "violation",
                                        [ZW_FIELD_OUTPUT] = "outputs",
                                        [ZW_FIELD_PARAM] = "params",
                                        [ZW_FIELD_ACTIVATION] = "activation",
                                        [ZW_FIELD_SENSOR] = "sensors",
                                        [ZW_FIELD_MOCAP] = "mocap"};
    for (int k = 0; k < (int)(sizeof names / sizeof *names); k++) {
        if (!strcmp(names[k], name)) {
            return k;
        }
    }
    PyErr_Format(PyExc_ValueError, "there is no field '%s'", name);
    return -1;
}

static int is_of_state(int field)
{
    return field == ZW_FIELD_TIME || field == ZW_FIELD_Q || field == ZW_FIELD_V ||
           field == ZW_FIELD_CARRIED || field == ZW_FIELD_PARAM || field == ZW_FIELD_ACTIVATION ||
           field == ZW_FIELD_MOCAP;
}

/* Fields of the state are views of it; others are copied. */
static PyObject *field(PyObject *self, PyObject *argument)
{
    sim_object *sim = (sim_object *)self;
    const char *word = PyUnicode_AsUTF8AndSize(argument, NULL);
    int id = word ? core_field(word) : -1;
    if (id < 0 || !sim_enter(sim)) {
        return NULL;
    }
    zw_view view = zw_field(sim->model->system, sim->state, sim->work, (zw_field_id)id);
    Py_ssize_t count = view.data ? view.count : 0;
    PyObject *memory;
    if (is_of_state(id)) {
        memory = memory_create(sim->core, (PyObject *)sim->store, (double *)view.data,
                               MEMORY_DOUBLE, 1, &count, 0);
    } else {
        memory = memory_doubles(((sim_object *)self)->core, count);
        if (memory && count > 0) {
            memcpy(memory_data(memory), view.data, (size_t)count * sizeof(double));
        }
    }
    sim_leave(sim);
    return memory;
}

static PyObject *control_memory(PyObject *self, PyObject *none)
{
    (void)none;
    sim_object *sim = (sim_object *)self;
    Py_ssize_t count = sim->controls;
    return memory_create(sim->core, (PyObject *)sim->store, sim->control, MEMORY_DOUBLE, 1, &count,
                         1);
}

/* set(field, first, numbers) */
static PyObject *set(PyObject *self, PyObject *arguments)
{
    sim_object *sim = (sim_object *)self;
    const char *word;
    int first;
    PyObject *from;
    numbers value;
    if (!PyArg_ParseTuple(arguments, "siO", &word, &first, &from)) {
        return NULL;
    }
    int id = core_field(word);
    if (id < 0 || !numbers_get(from, -1, word, &value)) {
        return NULL;
    }
    zw_error error = {.status = ZW_OK};
    zw_status status = ZW_BAD_INPUT;
    int fine = value.count < INT_MAX && sim_enter(sim);
    if (fine) {
        fine = sim_apply_controls(sim);
        if (fine) {
            Py_BEGIN_ALLOW_THREADS;
            status = zw_state_set(sim->model->system, sim->state, sim->work, (zw_field_id)id, first,
                                  (int)value.count, value.data, &error);
            Py_END_ALLOW_THREADS;
            sim_read_controls(sim);
        }
        sim_leave(sim);
    }
    PyMem_Free(value.data);
    if (!fine || status != ZW_OK) {
        return fine ? core_raise(((sim_object *)self)->core, &error) : NULL;
    }
    return Py_NewRef(Py_None);
}

/* ---- Saving ---------------------------------------------------------------------------------- */

static PyObject *save(PyObject *self, PyObject *none)
{
    (void)none;
    sim_object *sim = (sim_object *)self;
    zw_error error = {.status = ZW_OK};
    if (!sim_enter(sim)) {
        return NULL;
    }
    PyObject *bytes = NULL;
    if (sim_apply_controls(sim)) {
        size_t size = zw_state_bytes(sim->state);
        bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
        if (bytes && zw_state_save(sim->state, PyBytes_AsString(bytes), size, &error) != ZW_OK) {
            Py_CLEAR(bytes);
            core_raise(((sim_object *)self)->core, &error);
        }
    }
    sim_leave(sim);
    return bytes;
}

/* Overwrites the state in place with this one, so that views of it stay valid. */
static int take_state(sim_object *sim, const zw_state *from)
{
    zw_error error = {.status = ZW_OK};
    if (zw_state_copy(from, &sim->state, &error) != ZW_OK) {
        core_raise(sim->core, &error);
        return 0;
    }
    sim_read_controls(sim);
    return 1;
}

static PyObject *restore(PyObject *self, PyObject *argument)
{
    sim_object *sim = (sim_object *)self;
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(argument, &bytes, &size) != 0 || !sim_enter(sim)) {
        return NULL;
    }
    zw_error error = {.status = ZW_OK};
    zw_state *state = zw_state_restore(sim->model->system, bytes, (size_t)size, &error);
    int fine = state && take_state(sim, state);
    if (!state) {
        core_raise(((sim_object *)self)->core, &error);
    }
    zw_state_free(state);
    sim_leave(sim);
    return fine ? Py_NewRef(Py_None) : NULL;
}

static PyObject *reset(PyObject *self, PyObject *none)
{
    (void)none;
    sim_object *sim = (sim_object *)self;
    if (!sim_enter(sim)) {
        return NULL;
    }
    int fine = take_state(sim, sim->start);
    sim_leave(sim);
    return fine ? Py_NewRef(Py_None) : NULL;
}

static PyObject *hash(PyObject *self, PyObject *none)
{
    (void)none;
    sim_object *sim = (sim_object *)self;
    if (!sim_enter(sim)) {
        return NULL;
    }
    PyObject *number =
        sim_apply_controls(sim) ? PyLong_FromUnsignedLongLong(zw_state_hash(sim->state)) : NULL;
    sim_leave(sim);
    return number;
}

static PyObject *assembly(PyObject *self, PyObject *none)
{
    (void)none;
    const zw_assembly *it = &((sim_object *)self)->assembly;
    return Py_BuildValue("{s:d,s:d,s:d,s:d,s:i,s:d}", "violation_before", it->violation_before,
                         "violation_after", it->violation_after, "position_change",
                         it->position_change, "speed_change", it->speed_change, "impacts",
                         it->impacts, "impact_loss", it->impact_loss);
}

static PyObject *certificate(PyObject *self, PyObject *none)
{
    (void)none;
    sim_object *sim = (sim_object *)self;
    if (!sim_enter(sim)) {
        return NULL;
    }
    const zw_motion *motion = zw_work_motion(sim->work);
    PyObject *answer = Py_BuildValue("{s:d,s:d,s:i}", "certificate", motion->certificate.worst, "Z",
                                     motion->Z, "rank", motion->rank);
    sim_leave(sim);
    return answer;
}

static PyMethodDef methods[] = {
    {"step", (PyCFunction)(void (*)(void))step, METH_FASTCALL,
     "step(count=1)\n\nTake steps with the options of this Sim and the controls in ctrl."},
    {"forward", forward, METH_NOARGS,
     "Solve Gauss's principle at the present state: accelerations, forces, sensors."},
    {"look", look, METH_NOARGS, "As forward, with contacts that push as in the last step."},
    {"_options", (PyCFunction)(void (*)(void))set_options, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_field", field, METH_O, NULL},
    {"_control", control_memory, METH_NOARGS, NULL},
    {"_set", set, METH_VARARGS, NULL},
    {"save", save, METH_NOARGS, "The state as bytes, all that its future depends on."},
    {"restore", restore, METH_O, "restore(bytes)\n\nRestore a state that save() returned."},
    {"reset", reset, METH_NOARGS, "Back to the start."},
    {"hash", hash, METH_NOARGS, "A hash of the state, the same on every machine."},
    {"_assembly", assembly, METH_NOARGS, NULL},
    {"_certificate", certificate, METH_NOARGS, NULL},
    {"_contacts", sim_contacts, METH_NOARGS, NULL},
    {"_constraints", sim_constraints, METH_NOARGS, NULL},
    {"_constraint_force", sim_constraint_force, METH_O, NULL},
    {"_wrenches", sim_wrenches, METH_O, NULL},
    {"_frame", sim_frame, METH_VARARGS, NULL},
    {"_jacobian", sim_jacobian, METH_VARARGS, NULL},
    {"_mass", sim_mass, METH_NOARGS, NULL},
    {"_force", sim_force, METH_O, NULL},
    {"_momentum", sim_momentum, METH_O, NULL},
    {"_rows", sim_rows, METH_NOARGS, NULL},
    {"_inverse", sim_inverse, METH_VARARGS, NULL},
    {"_slopes", sim_slopes, METH_NOARGS, NULL},
    {"_rest", sim_rest, METH_VARARGS, NULL},
    {"_modes", sim_modes, METH_O, NULL},
    {"_reach", sim_reach, METH_VARARGS, NULL},
    {"_sensitivity", sim_sensitivity, METH_VARARGS, NULL},
    {"_step_slopes", sim_step_slopes, METH_NOARGS, NULL},
    {"_gradient", sim_gradient, METH_VARARGS, NULL},
    {"_run", (PyCFunction)(void (*)(void))sim_run, METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, (void *)create},
                              {Py_tp_dealloc, (void *)destroy},
                              {Py_tp_traverse, (void *)traverse},
                              {Py_tp_methods, methods},
                              {0, NULL}};

PyType_Spec sim_spec = {.name = "zwang._core.Sim",
                        .basicsize = sizeof(sim_object),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                        .slots = slots};
