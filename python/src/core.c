/* The module zwang._core: its types, its exception, and the conversion of Python objects to
 * numbers. */
#include "core.h"

#include <math.h>
#include <string.h>
#include <time.h>

core_state *core_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

PyObject *core_no_memory(void)
{
    return PyErr_NoMemory();
}

static void set_attribute(PyObject *object, const char *name, PyObject *value)
{
    if (value && object) {
        PyObject_SetAttrString(object, name, value);
    }
    Py_XDECREF(value);
}

PyObject *core_raise(core_state *core, const zw_error *error)
{
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (error->status == ZW_NO_MEMORY) {
        return *error->text ? (PyErr_SetString(PyExc_MemoryError, error->text), NULL)
                            : PyErr_NoMemory();
    }
    const char *text = *error->text ? error->text : zw_status_text(error->status);
    int named = *error->file == 0 || strstr(text, error->file) != NULL;
    PyObject *message = error->line > 0 ? PyUnicode_FromFormat("%s:%d:%d: %s", error->file,
                                                               error->line, error->column, text)
                        : named         ? PyUnicode_FromString(text)
                                        : PyUnicode_FromFormat("%s: %s", error->file, text);
    PyObject *raised = message ? PyObject_CallFunctionObjArgs(core->error, message, NULL) : NULL;
    Py_XDECREF(message);
    if (raised) {
        set_attribute(raised, "status", PyUnicode_FromString(zw_status_text(error->status)));
        set_attribute(raised, "file", PyUnicode_DecodeFSDefault(error->file));
        set_attribute(raised, "line", PyLong_FromLong(error->line));
        set_attribute(raised, "column", PyLong_FromLong(error->column));
        PyErr_SetObject(core->error, raised);
        Py_DECREF(raised);
    }
    return NULL;
}

/* ---- Signals --------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec at;
    timespec_get(&at, TIME_UTC);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

enum { MOST_SKIPPED = 32 };

int core_signals_poll(core_signals *signals)
{
    if (signals->raised || ++signals->calls <= signals->skip) {
        return signals->raised;
    }
    double t = now(), since = t - signals->looked;
    int fast = since >= 0 && since < 1e-3;
    signals->calls = 0;
    signals->skip = fast ? 2 * signals->skip + 1 : signals->skip / 2;
    signals->skip = signals->skip < MOST_SKIPPED ? signals->skip : MOST_SKIPPED;
    signals->looked = t;
    if (signals->last == 0 || (t - signals->last >= 0 && t - signals->last < 0.05)) {
        signals->last = signals->last == 0 ? t : signals->last;
        return 0;
    }
    PyGILState_STATE held = PyGILState_Ensure();
    signals->raised = PyErr_CheckSignals() != 0;
    PyGILState_Release(held);
    signals->last = t;
    return signals->raised;
}

int core_poll(void *signals, double time)
{
    (void)time;
    return core_signals_poll(signals);
}

/* ---- Numbers from Python --------------------------------------------------------------------- */

static int is_doubles(const Py_buffer *view)
{
    return view->format && !strcmp(view->format, "d") && view->itemsize == sizeof(double);
}

/* Copies a buffer of doubles. 0: an exception is set; -1: the object is something else. */
static int from_buffer(PyObject *from, numbers *to)
{
    Py_buffer view;
    if (!PyObject_CheckBuffer(from) ||
        PyObject_GetBuffer(from, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return -1;
    }
    int fine = is_doubles(&view) ? 1 : -1;
    if (fine == 1) {
        to->count = view.len / (Py_ssize_t)sizeof(double);
        to->data = PyMem_Malloc((size_t)view.len + 1);
        fine = to->data != NULL;
        if (fine) {
            memcpy(to->data, view.buf, (size_t)view.len);
        } else {
            PyErr_NoMemory();
        }
    }
    PyBuffer_Release(&view);
    return fine;
}

static int from_sequence(PyObject *from, const char *what, numbers *to)
{
    Py_ssize_t count = PySequence_Check(from) ? PySequence_Size(from) : -1;
    if (count < 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s: expected an array of numbers", what);
        return 0;
    }
    to->count = count;
    to->data = PyMem_Malloc(((size_t)count + 1) * sizeof(double));
    if (!to->data) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(from, i);
        to->data[i] = item ? PyFloat_AsDouble(item) : 0;
        Py_XDECREF(item);
        if (PyErr_Occurred()) {
            return 0;
        }
    }
    return 1;
}

int numbers_get(PyObject *from, Py_ssize_t count, const char *what, numbers *to)
{
    *to = (numbers){NULL, 0};
    int fine = from_buffer(from, to);
    fine = fine < 0 ? from_sequence(from, what, to) : fine;
    if (fine && count >= 0 && to->count != count) {
        PyErr_Format(PyExc_ValueError, "%s: expected %zd numbers, not %zd", what, count, to->count);
        fine = 0;
    }
    for (Py_ssize_t i = 0; fine && i < to->count; i++) {
        if (!isfinite(to->data[i])) {
            PyErr_Format(PyExc_ValueError, "%s: number %zd is not finite (counted from 0)", what,
                         i);
            fine = 0;
        }
    }
    if (!fine) {
        PyMem_Free(to->data);
        *to = (numbers){NULL, 0};
    }
    return fine;
}

/* ---- The module ------------------------------------------------------------------------------ */

static PyObject *version(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyUnicode_FromString(zw_version());
}

static PyMethodDef functions[] = {
    {"read", model_read, METH_O, NULL},
    {"certify", recording_certify, METH_VARARGS, NULL},
    {"inverse", recording_inverse, METH_VARARGS, NULL},
    {"fit", recording_fit, METH_VARARGS, NULL},
    {"optimise", optimise_run, METH_VARARGS, NULL},
    {"sweep", sweep_run, METH_VARARGS, NULL},
    {"gauss_solve", (PyCFunction)(void (*)(void))gauss_solve, METH_VARARGS | METH_KEYWORDS, NULL},
    {"version", version, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static int add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **to)
{
    *to = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *to ? PyModule_AddType(module, *to) : -1;
}

static int execute(PyObject *module)
{
    core_state *core = PyModule_GetState(module);
    core->error = PyErr_NewExceptionWithDoc(
        "zwang.Error",
        "An error of zwang: what failed, and why.\n\nstatus, file, line, column: what kind of "
        "failure, and the place in the user's text; line is 0 where there is no place.",
        NULL, NULL);
    if (!core->error || PyModule_AddObjectRef(module, "Error", core->error) < 0 ||
        add_type(module, &memory_spec, &core->memory) < 0 ||
        add_type(module, &model_spec, &core->model) < 0 ||
        add_type(module, &store_spec, &core->store) < 0 ||
        add_type(module, &sim_spec, &core->sim) < 0 ||
        add_type(module, &run_spec, &core->run) < 0 ||
        add_type(module, &batch_store_spec, &core->batch_store) < 0 ||
        add_type(module, &batch_spec, &core->batch) < 0 ||
        add_type(module, &device_array_spec, &core->device_array) < 0 ||
        add_type(module, &table_spec, &core->table) < 0) {
        return -1;
    }
    return 0;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    core_state *core = PyModule_GetState(module);
    Py_VISIT(core->error);
    Py_VISIT(core->memory);
    Py_VISIT(core->model);
    Py_VISIT(core->store);
    Py_VISIT(core->sim);
    Py_VISIT(core->run);
    Py_VISIT(core->batch_store);
    Py_VISIT(core->batch);
    Py_VISIT(core->device_array);
    Py_VISIT(core->table);
    return 0;
}

static int clear(PyObject *module)
{
    core_state *core = PyModule_GetState(module);
    Py_CLEAR(core->error);
    Py_CLEAR(core->memory);
    Py_CLEAR(core->model);
    Py_CLEAR(core->store);
    Py_CLEAR(core->sim);
    Py_CLEAR(core->run);
    Py_CLEAR(core->batch_store);
    Py_CLEAR(core->batch);
    Py_CLEAR(core->device_array);
    Py_CLEAR(core->table);
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)execute}, {0, NULL}};

struct PyModuleDef core_module = {
    PyModuleDef_HEAD_INIT,  .m_name = "zwang._core", .m_size = sizeof(core_state),
    .m_methods = functions, .m_slots = slots,        .m_traverse = traverse,
    .m_clear = clear};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&core_module);
}
