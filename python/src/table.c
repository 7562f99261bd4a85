/* zwang._core.Table: a result of the library, which arrays share memory with and which can be
 * written to files; and helpers for results that are dicts. */
#include "core.h"

#include <string.h>

typedef struct table_object {
    PyObject_HEAD PyObject *owner; /* an object that the data refers to */
    void *data;
    const table_kind *kind;
} table_object;

PyObject *table_create(core_state *core, PyObject *owner, void *data, const table_kind *kind)
{
    table_object *made = PyObject_New(table_object, core->table);
    if (!made) {
        kind->release(data);
        return NULL;
    }
    made->owner = Py_XNewRef(owner);
    made->data = data;
    made->kind = kind;
    return (PyObject *)made;
}

static void destroy(PyObject *self)
{
    table_object *it = (table_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    it->kind->release(it->data);
    Py_XDECREF(it->owner);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *write_file(PyObject *self, PyObject *argument)
{
    table_object *it = (table_object *)self;
    zw_error error = {.status = ZW_OK};
    PyObject *path;
    if (!PyUnicode_FSConverter(argument, &path)) {
        return NULL;
    }
    zw_status status = it->kind->write(it->data, PyBytes_AsString(path), &error);
    Py_DECREF(path);
    return status == ZW_OK ? Py_NewRef(Py_None) : core_raise(core_of(self), &error);
}

int dict_put(PyObject *dict, const char *name, PyObject *value)
{
    int fine = dict && value && PyDict_SetItemString(dict, name, value) == 0;
    Py_XDECREF(value);
    return fine;
}

PyObject *memory_copy(core_state *core, const double *from, Py_ssize_t rows, Py_ssize_t columns)
{
    Py_ssize_t shape[2] = {rows, columns};
    PyObject *memory =
        memory_create(core, NULL, NULL, MEMORY_DOUBLE, columns > 0 ? 2 : 1, shape, 1);
    size_t count = (size_t)rows * (size_t)(columns > 0 ? columns : 1);
    if (memory && from && count > 0) {
        memcpy(memory_data(memory), from, count * sizeof(double));
    }
    return memory;
}

static PyMethodDef methods[] = {{"write", write_file, METH_O, NULL}, {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)destroy}, {Py_tp_methods, methods}, {0, NULL}};

PyType_Spec table_spec = {.name = "zwang._core.Table",
                          .basicsize = sizeof(table_object),
                          .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                          .slots = slots};
