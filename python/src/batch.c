/* zwang._core.Batch: many worlds of a Model, in arrays that Python shares. */
#include "core.h"

#include <string.h>

#include "zwang/batch.h"

/* The object that arrays keep alive, as for a Sim: not the Batch itself, which may hold those
 * arrays. */
typedef struct batch_store {
    PyObject_HEAD PyObject *models; /* a Model, or a tuple of them */
    zw_batch *batch;
} batch_store;

typedef struct batch_object {
    PyObject_HEAD core_state *core;
    batch_store *store;
    int worlds, busy;
} batch_object;

static void destroy_store(PyObject *self)
{
    batch_store *store = (batch_store *)self;
    PyTypeObject *type = Py_TYPE(self);
    zw_batch_free(store->batch);
    Py_XDECREF(store->models);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot batch_store_slots[] = {{Py_tp_dealloc, (void *)destroy_store}, {0, NULL}};

PyType_Spec batch_store_spec = {.name = "zwang._core.BatchStore",
                                .basicsize = sizeof(batch_store),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = batch_store_slots};

/* ---- Creating and freeing -------------------------------------------------------------------- */

/* The compiled systems of the Models in a tuple; NULL: an exception is set. */
static const zw_system **systems_of(PyObject *models, int worlds)
{
    if (PyTuple_Size(models) != worlds) {
        PyErr_Format(PyExc_ValueError, "%zd models for %d worlds", PyTuple_Size(models), worlds);
        return NULL;
    }
    const zw_system **list = PyMem_Calloc((size_t)worlds + 1, sizeof *list);
    for (int i = 0; list && i < worlds; i++) {
        PyObject *model = PyTuple_GetItem(models, i);
        if (!core_of_model(model)) {
            PyMem_Free(list);
            return NULL;
        }
        list[i] = ((model_object *)model)->system;
    }
    if (!list) {
        PyErr_NoMemory();
    }
    return list;
}

static zw_batch *make(PyObject *models, zw_batch_def def, zw_error *error)
{
    zw_batch *batch;
    const zw_system **list = NULL;
    if (!PyTuple_Check(models)) {
        def.system = ((model_object *)models)->system;
    } else if (!(list = systems_of(models, def.worlds))) {
        return NULL;
    }
    def.systems = list;
    Py_BEGIN_ALLOW_THREADS;
    batch = zw_batch_create(&def, error);
    Py_END_ALLOW_THREADS;
    PyMem_Free(list);
    return batch;
}

static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    static char *words[] = {"model",     "worlds", "threads", "device", "contact_capacity",
                            "precision", NULL};
    PyObject *models;
    const char *precision = "double";
    zw_batch_def def = {.threads = 1};
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "Oi|izis", words, &models, &def.worlds,
                                     &def.threads, &def.device, &def.contact_capacity,
                                     &precision)) {
        return NULL;
    }
    if (strcmp(precision, "double") != 0 && strcmp(precision, "float") != 0) {
        PyErr_Format(PyExc_ValueError, "precision is 'double' or 'float', not '%s'", precision);
        return NULL;
    }
    def.precision = *precision == 'f' ? ZW_PRECISION_FLOAT : ZW_PRECISION_DOUBLE;
    if (def.threads < 1) {
        PyErr_Format(PyExc_ValueError, "threads must be at least 1, not %d", def.threads);
        return NULL;
    }
    int several = PyTuple_Check(models) && PyTuple_Size(models) > 0;
    core_state *core = core_of_model(several ? PyTuple_GetItem(models, 0) : models);
    batch_store *store = core ? PyObject_New(batch_store, core->batch_store) : NULL;
    if (!store) {
        return NULL;
    }
    zw_error error = {.status = ZW_OK};
    store->models = Py_NewRef(models);
    store->batch = make(models, def, &error);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    batch_object *made = store->batch ? (batch_object *)allocate(type, 0) : NULL;
    if (!made) {
        int refused = !store->batch;
        Py_DECREF((PyObject *)store);
        return refused ? core_raise(core, &error) : NULL;
    }
    made->core = core;
    made->store = store;
    made->worlds = def.worlds;
    return (PyObject *)made;
}

static void destroy(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF((PyObject *)((batch_object *)self)->store);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT((PyObject *)((batch_object *)self)->store);
    return 0;
}

static int enter(batch_object *it)
{
    if (it->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is using this Batch");
        return 0;
    }
    it->busy = 1;
    return 1;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* _field(name, count): a view of the field, [worlds][count], without a copy. */
static PyObject *field(PyObject *self, PyObject *arguments)
{
    batch_object *it = (batch_object *)self;
    const char *word;
    int count;
    if (!PyArg_ParseTuple(arguments, "si", &word, &count)) {
        return NULL;
    }
    int id = core_field(word);
    double *data = id < 0 ? NULL : zw_batch_field(it->store->batch, 0, (zw_field_id)id);
    zw_view view = id < 0 ? (zw_view){NULL, 0} : (zw_view){data, count};
    if (id < 0 || !data) {
        return id < 0 ? NULL
                      : (PyErr_Format(PyExc_ValueError, "a batch has no field '%s'", word), NULL);
    }
    Py_ssize_t shape[2] = {it->worlds, view.count};
    return memory_create(it->core, (PyObject *)it->store, data, MEMORY_DOUBLE, 2, shape, 1);
}

/* _on_device(name, count, device): the same in the memory of the device. */
static PyObject *on_device(PyObject *self, PyObject *arguments)
{
    batch_object *it = (batch_object *)self;
    const char *word, *device;
    int count;
    if (!PyArg_ParseTuple(arguments, "sis", &word, &count, &device)) {
        return NULL;
    }
    int id = core_field(word);
    double *data = id < 0 ? NULL : zw_batch_device_field(it->store->batch, (zw_field_id)id);
    if (!data) {
        return id < 0
                   ? NULL
                   : (PyErr_Format(PyExc_ValueError, "there is no field '%s' on the device", word),
                      NULL);
    }
    return device_array_create(it->core, (PyObject *)it->store, data, device, it->worlds, count);
}

static PyObject *device_name(PyObject *self, PyObject *none)
{
    (void)none;
    const char *name = zw_batch_device_name(((batch_object *)self)->store->batch);
    return name ? PyUnicode_FromString(name) : Py_NewRef(Py_None);
}

/* _copy(): copies all fields from the device; _copy(name): copies this field to it. */
static PyObject *copy(PyObject *self, PyObject *arguments)
{
    batch_object *it = (batch_object *)self;
    const char *word = NULL;
    zw_error error = {.status = ZW_OK};
    if (!PyArg_ParseTuple(arguments, "|z", &word)) {
        return NULL;
    }
    int id = word ? core_field(word) : 0;
    if (id < 0 || !enter(it)) {
        return NULL;
    }
    zw_status status = word ? zw_batch_push(it->store->batch, (zw_field_id)id, &error)
                            : zw_batch_pull(it->store->batch, &error);
    it->busy = 0;
    return status == ZW_OK ? Py_NewRef(Py_None) : core_raise(it->core, &error);
}

/* status (0: success), end, stopped_by, certificate and steps of each world: doubles [worlds][5].
 */
static PyObject *results(PyObject *self, PyObject *none)
{
    (void)none;
    batch_object *it = (batch_object *)self;
    Py_ssize_t shape[2] = {it->worlds, 5};
    PyObject *memory = memory_create(it->core, NULL, NULL, MEMORY_DOUBLE, 2, shape, 1);
    for (int i = 0; memory && i < it->worlds; i++) {
        zw_batch_result r = zw_batch_look(it->store->batch, i);
        double *to = memory_data(memory) + 5 * i;
        to[0] = (double)r.status, to[1] = r.end, to[2] = r.stopped_by;
        to[3] = r.certificate, to[4] = (double)r.steps;
    }
    return memory;
}

static PyObject *why(PyObject *self, PyObject *world)
{
    batch_object *it = (batch_object *)self;
    long which = PyLong_AsLong(world);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (which < 0 || which >= it->worlds) {
        PyErr_SetString(PyExc_IndexError, "there is no such world");
        return NULL;
    }
    const zw_error *error = zw_batch_why(it->store->batch, (int)which);
    return error ? PyUnicode_FromString(error->text) : Py_NewRef(Py_None);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

/* _move(steps, flags, time, step, tolerance, accuracy, method, contact, memoryless): steps -1: a
 * run to `time`. True: no world failed. */
static PyObject *move(PyObject *self, PyObject *arguments)
{
    batch_object *it = (batch_object *)self;
    zw_run_options options = {0};
    const char *method, *contact;
    int steps, flags;
    if (!PyArg_ParseTuple(arguments, "iiddddzzp", &steps, &flags, &options.time, &options.step,
                          &options.tolerance, &options.accuracy, &method, &contact,
                          &options.memoryless) ||
        !core_method(&options, method, contact) || !enter(it)) {
        return NULL;
    }
    zw_error error = {.status = ZW_OK};
    zw_status status;
    core_signals signals = {0};
    options.poll = core_poll;
    options.user = &signals;
    Py_BEGIN_ALLOW_THREADS;
    status = steps >= 0 ? zw_batch_step(it->store->batch, &options, steps, flags, &error)
                        : zw_batch_run(it->store->batch, &options, &error);
    Py_END_ALLOW_THREADS;
    it->busy = 0;
    if (signals.raised || status == ZW_OK) {
        return signals.raised ? NULL : Py_NewRef(Py_True);
    }
    int of_a_world = 0;
    for (int i = 0; i < it->worlds && !of_a_world; i++) {
        of_a_world = zw_batch_look(it->store->batch, i).status != ZW_OK;
    }
    return of_a_world ? Py_NewRef(Py_False) : core_raise(it->core, &error);
}

/* _reset(mask bytes or None) */
static PyObject *reset(PyObject *self, PyObject *mask)
{
    batch_object *it = (batch_object *)self;
    char *bytes = NULL;
    Py_ssize_t size = it->worlds;
    if (mask != Py_None && PyBytes_AsStringAndSize(mask, &bytes, &size) != 0) {
        return NULL;
    }
    if (size != it->worlds) {
        PyErr_Format(PyExc_ValueError, "the mask has %zd entries for %d worlds", size, it->worlds);
        return NULL;
    }
    zw_error error = {.status = ZW_OK};
    if (!enter(it)) {
        return NULL;
    }
    zw_status status = zw_batch_reset(it->store->batch, (const unsigned char *)bytes, NULL, &error);
    it->busy = 0;
    return status == ZW_OK ? Py_NewRef(Py_None) : core_raise(it->core, &error);
}

static PyObject *save(PyObject *self, PyObject *none)
{
    (void)none;
    batch_object *it = (batch_object *)self;
    zw_error error = {.status = ZW_OK};
    if (!enter(it)) {
        return NULL;
    }
    size_t size = zw_batch_bytes(it->store->batch);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (bytes && zw_batch_save(it->store->batch, PyBytes_AsString(bytes), size, &error) != ZW_OK) {
        Py_CLEAR(bytes);
        core_raise(it->core, &error);
    }
    it->busy = 0;
    return bytes;
}

static PyObject *restore(PyObject *self, PyObject *from)
{
    batch_object *it = (batch_object *)self;
    zw_error error = {.status = ZW_OK};
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(from, &bytes, &size) != 0 || !enter(it)) {
        return NULL;
    }
    zw_status status = zw_batch_restore(it->store->batch, bytes, (size_t)size, &error);
    it->busy = 0;
    return status == ZW_OK ? Py_NewRef(Py_None) : core_raise(it->core, &error);
}

static PyMethodDef methods[] = {
    {"_save", save, METH_NOARGS, NULL},
    {"_restore", restore, METH_O, NULL},
    {"_field", field, METH_VARARGS, NULL},
    {"_on_device", on_device, METH_VARARGS, NULL},
    {"_device_name", device_name, METH_NOARGS, NULL},
    {"_copy", copy, METH_VARARGS, NULL},
    {"_results", results, METH_NOARGS, NULL},
    {"why", why, METH_O, "why(world)\n\nWhy a world failed; None: it did not."},
    {"_move", move, METH_VARARGS, NULL},
    {"_reset", reset, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, (void *)create},
                              {Py_tp_dealloc, (void *)destroy},
                              {Py_tp_traverse, (void *)traverse},
                              {Py_tp_methods, methods},
                              {0, NULL}};

PyType_Spec batch_spec = {.name = "zwang._core.Batch",
                          .basicsize = sizeof(batch_object),
                          .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                          .slots = slots};
