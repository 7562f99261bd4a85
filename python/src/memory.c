/* Arrays of numbers that NumPy reads without a copy. Writable memory belongs either to the object
 * that hands it out or to the array alone. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *format;
    size_t size;
} formats[] = {[MEMORY_DOUBLE] = {"d", sizeof(double)},
               [MEMORY_LONG] = {"q", sizeof(long long)},
               [MEMORY_INT] = {"i", sizeof(int)},
               [MEMORY_BYTE] = {"B", 1}};

PyObject *memory_create(core_state *core, PyObject *owner, void *data, memory_format format,
                        int dimensions, const Py_ssize_t *shape, int writable)
{
    memory_object *memory = PyObject_New(memory_object, core->memory);
    if (!memory) {
        return NULL;
    }
    *memory = (memory_object){.ob_base = memory->ob_base,
                              .data = data,
                              .format = format,
                              .writable = writable,
                              .dimensions = dimensions};
    size_t bytes = formats[format].size;
    for (int k = dimensions - 1; k >= 0; k--) {
        memory->shape[k] = shape[k];
        memory->strides[k] = (Py_ssize_t)bytes;
        bytes *= (size_t)shape[k];
    }
    if (owner) {
        memory->owner = Py_NewRef(owner);
    } else if (!data && !(memory->data = calloc(bytes + 1, 1))) {
        Py_DECREF(memory);
        return PyErr_NoMemory();
    }
    return (PyObject *)memory;
}

PyObject *memory_doubles(core_state *core, Py_ssize_t count)
{
    return memory_create(core, NULL, NULL, MEMORY_DOUBLE, 1, &count, 1);
}

double *memory_data(PyObject *memory)
{
    return ((memory_object *)memory)->data;
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    memory_object *memory = (memory_object *)self;
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && !memory->writable) {
        PyErr_SetString(PyExc_BufferError, "these numbers are read-only; use the set methods");
        view->obj = NULL;
        return -1;
    }
    Py_ssize_t items = 1;
    for (int k = 0; k < memory->dimensions; k++) {
        items *= memory->shape[k];
    }
    *view = (Py_buffer){.buf = memory->data,
                        .obj = Py_NewRef(self),
                        .itemsize = (Py_ssize_t)formats[memory->format].size,
                        .readonly = !memory->writable,
                        .ndim = memory->dimensions,
                        .format = (char *)formats[memory->format].format,
                        .shape = memory->shape,
                        .strides = memory->strides};
    view->len = items * view->itemsize;
    return 0;
}

static void destroy(PyObject *self)
{
    memory_object *memory = (memory_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (memory->owner) {
        Py_DECREF(memory->owner);
    } else {
        free(memory->data);
    }
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)destroy}, {Py_bf_getbuffer, (void *)get_buffer}, {0, NULL}};

PyType_Spec memory_spec = {.name = "zwang._core.Memory",
                           .basicsize = sizeof(memory_object),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};
