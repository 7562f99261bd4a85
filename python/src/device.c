/* Arrays in the memory of a device, for other libraries: DLPack (dlpack.h, version 0.8) and, on a
 * GPU, the CUDA array interface. Nothing is copied. Steps of a batch are complete when they return,
 * on the default stream; so a consumer has nothing to wait for, whichever stream it names. */
#include "core.h"

#include <stdint.h>
#include <string.h>

/* The structures of DLPack. */
typedef struct dl_tensor {
    void *data;
    int32_t device, device_number;
    int32_t dimensions;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides; /* strides in elements; NULL: row-major */
    uint64_t offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*release)(struct dl_managed *it);
} dl_managed;

enum { DL_CPU = 1, DL_CUDA = 2, DL_FLOAT = 2 };

typedef struct device_array {
    PyObject_HEAD PyObject *owner;
    void *data;
    int kind, number; /* DL_CPU: main memory */
    Py_ssize_t rows, columns;
} device_array;

/* "cuda", "cuda:1", "emulated" */
static void device_of(const char *name, int *kind, int *number)
{
    *kind = strncmp(name, "cuda", 4) == 0 ? DL_CUDA : DL_CPU;
    *number = 0;
    for (const char *c = strchr(name, ':'); *kind == DL_CUDA && c && *++c >= '0' && *c <= '9';) {
        *number = 10 * *number + (*c - '0');
    }
}

PyObject *device_array_create(core_state *core, PyObject *owner, void *data, const char *device,
                              Py_ssize_t rows, Py_ssize_t columns)
{
    device_array *made = PyObject_New(device_array, core->device_array);
    if (made) {
        made->owner = Py_NewRef(owner);
        made->data = data;
        made->rows = rows;
        made->columns = columns;
        device_of(device, &made->kind, &made->number);
    }
    return (PyObject *)made;
}

static void destroy(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(((device_array *)self)->owner);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- DLPack ---------------------------------------------------------------------------------- */

/* A consumer may call this from any thread. */
static void release(dl_managed *it)
{
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)it->context);
    PyMem_Free(it->tensor.shape);
    PyMem_Free(it);
    PyGILState_Release(state);
}

/* A consumer renames the capsule when it takes over the tensor in it. */
static void drop(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        release(PyCapsule_GetPointer(capsule, "dltensor"));
    }
}

static PyObject *dlpack(PyObject *self, PyObject *arguments, PyObject *names)
{
    static char *words[] = {"stream", "max_version", "dl_device", "copy", NULL};
    device_array *it = (device_array *)self;
    PyObject *stream, *version, *device, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "|$OOOO", words, &stream, &version, &device,
                                     &copy)) {
        return NULL;
    }
    if (copy == Py_True) {
        PyErr_SetString(PyExc_BufferError, "this array is shared, not copied");
        return NULL;
    }
    dl_managed *made = PyMem_Calloc(1, sizeof *made);
    int64_t *shape = PyMem_Calloc(2, sizeof *shape);
    PyObject *capsule = made && shape ? PyCapsule_New(made, "dltensor", drop) : NULL;
    if (!capsule) {
        PyMem_Free(made);
        PyMem_Free(shape);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    shape[0] = it->rows, shape[1] = it->columns;
    *made = (dl_managed){.tensor = {.data = it->data,
                                    .device = it->kind,
                                    .device_number = it->number,
                                    .dimensions = 2,
                                    .code = DL_FLOAT,
                                    .bits = 64,
                                    .lanes = 1,
                                    .shape = shape},
                         .context = Py_NewRef(self),
                         .release = release};
    return capsule;
}

static PyObject *dlpack_device(PyObject *self, PyObject *none)
{
    (void)none;
    device_array *it = (device_array *)self;
    return Py_BuildValue("(ii)", it->kind, it->number);
}

/* ---- The CUDA array interface ---------------------------------------------------------------- */

static PyObject *cuda_interface(PyObject *self, void *none)
{
    (void)none;
    device_array *it = (device_array *)self;
    if (it->kind != DL_CUDA) {
        PyErr_SetString(PyExc_AttributeError, "this array is not on a GPU");
        return NULL;
    }
    return Py_BuildValue("{s:(nn),s:s,s:(Ki),s:i}", "shape", it->rows, it->columns, "typestr",
                         "<f8", "data", (unsigned long long)(uintptr_t)it->data, 0, "version", 3);
}

static PyObject *shape_of(PyObject *self, void *none)
{
    (void)none;
    return Py_BuildValue("(nn)", ((device_array *)self)->rows, ((device_array *)self)->columns);
}

static PyMethodDef methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))dlpack, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef properties[] = {{"__cuda_array_interface__", cuda_interface, NULL, NULL, NULL},
                                   {"shape", shape_of, NULL, NULL, NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)destroy},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {0, NULL}};

PyType_Spec device_array_spec = {.name = "zwang._core.DeviceArray",
                                 .basicsize = sizeof(device_array),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 .slots = slots};
