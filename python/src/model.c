/* zwang._core.Model: a model that was read and compiled. It never changes, and any number of
 * threads and Sims may use it at once. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading --------------------------------------------------------------------------------- */

/* A dict of names to numbers, or to strings. */
typedef struct pairs {
    int count;
    zw_setting *setting; /* names and strings belong to the dict */
    zw_package *package;
} pairs;

static int get_pair(PyObject *name, PyObject *value, int texts, pairs *to)
{
    const char *word = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!word) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "parameters and packages are given by their names");
        }
        return 0;
    }
    if (texts) {
        const char *path = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
        if (!path && !PyErr_Occurred()) {
            PyErr_Format(PyExc_TypeError, "package %s: expected a path", word);
        }
        to->package[to->count++] = (zw_package){word, path};
        return path != NULL;
    }
    double number = PyFloat_AsDouble(value);
    to->setting[to->count++] = (zw_setting){word, number};
    return !PyErr_Occurred();
}

static int get_pairs(PyObject *from, int texts, pairs *to)
{
    *to = (pairs){0, NULL, NULL};
    if (!from || from == Py_None) {
        return 1;
    }
    if (!PyDict_Check(from)) {
        PyErr_SetString(PyExc_TypeError, "params and packages are dicts");
        return 0;
    }
    size_t capacity = (size_t)PyDict_Size(from) + 1;
    to->setting = calloc(capacity, sizeof *to->setting);
    to->package = calloc(capacity, sizeof *to->package);
    if (!to->setting || !to->package) {
        PyErr_NoMemory();
        return 0;
    }
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(from, &at, &name, &value)) {
        if (!get_pair(name, value, texts, to)) {
            return 0;
        }
    }
    return 1;
}

/* States begin with this keyframe. */
static int take_key(zw_model *model, const char *name, zw_error *error)
{
    int index = zw_model_find(model, ZW_KIND_KEY, name);
    if (index < 0) {
        *error = (zw_error){.status = ZW_BAD_INPUT};
        PyOS_snprintf(error->text, sizeof error->text, "there is no keyframe %.60s", name);
        return 0;
    }
    zw_key_def key = *(const zw_key_def *)zw_model_def(model, ZW_KIND_KEY, index);
    key.start = 1;
    return zw_model_change(model, ZW_KIND_KEY, index, &key, error) == ZW_OK;
}

zw_model *source_read(const source *from, const zw_read_options *options, zw_error *error)
{
    zw_model *model = from->text ? zw_model_parse(from->text, from->name, options, error)
                                 : zw_model_read(from->name, options, error);
    if (model && from->impact != ZW_IMPACT_DEFAULT) {
        zw_model_set_impact(model, from->impact);
    }
    if (model && from->key && !take_key(model, from->key, error)) {
        zw_model_free(model);
        return NULL;
    }
    return model;
}

/* Without the GIL. */
static zw_model *read_model(const source *it, zw_system **system, zw_error *error)
{
    zw_model *model = source_read(it, &it->options, error);
    *system = model ? zw_system_compile(model, NULL, error) : NULL;
    if (model && !*system) {
        zw_model_free(model);
        return NULL;
    }
    return model;
}

static PyObject *make(PyObject *module, const source *it)
{
    core_state *core = PyModule_GetState(module);
    zw_error error = {.status = ZW_OK};
    zw_system *system = NULL;
    zw_model *model;
    Py_BEGIN_ALLOW_THREADS;
    model = read_model(it, &system, &error);
    Py_END_ALLOW_THREADS;
    if (!model) {
        return core_raise(core, &error);
    }
    model_object *made = PyObject_New(model_object, core->model);
    if (!made) {
        zw_system_free(system);
        zw_model_free(model);
        return NULL;
    }
    made->model = model;
    made->system = system;
    return (PyObject *)made;
}

static int find_impact(const char *name, zw_impact_law *law)
{
    *law = ZW_IMPACT_DEFAULT;
    if (name && zw_impact_law_find(name, law) != ZW_OK) {
        PyErr_Format(PyExc_ValueError, "impact is 'sequential' or 'simultaneous', not '%s'", name);
        return 0;
    }
    return 1;
}

static int find_base(const char *name, zw_base *base)
{
    static const char *const names[] = {"default", "fixed", "free"};
    for (int k = 0; k < 3; k++) {
        if (!name || !strcmp(name, names[k])) {
            *base = (zw_base)k;
            return 1;
        }
    }
    PyErr_Format(PyExc_ValueError, "base is 'fixed' or 'free', not '%s'", name);
    return 0;
}

int source_get(PyObject *tuple, source *to)
{
    PyObject *params = NULL, *packages = NULL;
    const char *base = NULL, *impact = NULL;
    pairs settings = {0, NULL, NULL}, places = {0, NULL, NULL};
    *to = (source){0};
    if (!PyArg_ParseTuple(tuple, "zO&OzzpOz", &to->text, PyUnicode_FSConverter, &to->path, &params,
                          &to->key, &base, &to->options.balance_inertia, &packages, &impact)) {
        return 0;
    }
    to->name = PyBytes_AsString(to->path);
    int fine = find_base(base, &to->options.base) && find_impact(impact, &to->impact) &&
               get_pairs(params, 0, &settings) && get_pairs(packages, 1, &places);
    to->options.settings = to->settings = settings.setting;
    to->options.setting_count = settings.count;
    to->options.packages = to->packages = places.package;
    to->options.package_count = places.count;
    free(settings.package);
    free(places.setting);
    if (!fine) {
        source_drop(to);
    }
    return fine;
}

void source_drop(source *it)
{
    free(it->settings);
    free(it->packages);
    Py_CLEAR(it->path);
}

PyObject *model_read(PyObject *module, PyObject *tuple)
{
    source it;
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "expected a tuple");
        return NULL;
    }
    if (!source_get(tuple, &it)) {
        return NULL;
    }
    PyObject *made = make(module, &it);
    source_drop(&it);
    return made;
}

static void destroy(PyObject *self)
{
    model_object *it = (model_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    zw_system_free(it->system);
    zw_model_free(it->model);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* The state of the module that this Model belongs to; NULL: it is not a Model. */
core_state *core_of_model(PyObject *model)
{
    PyObject *module = PyType_GetModule(Py_TYPE(model));
    core_state *core =
        module && PyModule_GetDef(module) == &core_module ? PyModule_GetState(module) : NULL;
    if (core && Py_TYPE(model) == core->model) {
        return core;
    }
    PyErr_Clear();
    PyErr_SetString(PyExc_TypeError, "a Sim or a Batch needs a Model");
    return NULL;
}

/* ---- Names ----------------------------------------------------------------------------------- */

int model_kind(const char *name)
{
    static const struct {
        const char *name;
        zw_kind kind;
    } list[] = {{"coord", ZW_KIND_COORD}, {"speed", ZW_KIND_SPEED},
                {"param", ZW_KIND_PARAM}, {"constraint", ZW_KIND_CONSTRAINT},
                {"row", ZW_KIND_ROW},     {"event", ZW_KIND_EVENT},
                {"check", ZW_KIND_CHECK}, {"body", ZW_KIND_BODY},
                {"joint", ZW_KIND_JOINT}, {"reading", ZW_KIND_READING},
                {"geom", ZW_KIND_GEOM},   {"actuator", ZW_KIND_ACTUATOR},
                {"key", ZW_KIND_KEY},     {"activation", ZW_KIND_ACTIVATION}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        if (!strcmp(list[k].name, name)) {
            return (int)list[k].kind;
        }
    }
    PyErr_Format(PyExc_ValueError, "there are no names of kind '%s'", name);
    return -1;
}

static PyObject *list_names(PyObject *self, PyObject *argument)
{
    model_object *it = (model_object *)self;
    const char *word = PyUnicode_AsUTF8AndSize(argument, NULL);
    int kind = word ? model_kind(word) : -1;
    if (kind < 0) {
        return NULL;
    }
    int count = zw_count(it->system, (zw_kind)kind);
    PyObject *list = PyTuple_New(count);
    for (int i = 0; list && i < count; i++) {
        const char *name = zw_name(it->system, (zw_kind)kind, i);
        PyObject *text = *name ? PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace")
                               : PyUnicode_FromFormat("%d", i);
        if (!text || PyTuple_SetItem(list, i, text) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* [actuators][2], infinite where the file has no limits */
static PyObject *control_ranges(PyObject *self, PyObject *none)
{
    (void)none;
    model_object *it = (model_object *)self;
    int count = zw_model_count(it->model, ZW_KIND_ACTUATOR);
    PyObject *memory = memory_copy(core_of(self), NULL, count, 2);
    for (int i = 0; memory && i < count; i++) {
        const zw_actuator_def *def = zw_model_def(it->model, ZW_KIND_ACTUATOR, i);
        double *to = memory_data(memory) + 2 * i;
        to[0] = def->ctrl_limited ? def->ctrl_range[0] : (double)-INFINITY;
        to[1] = def->ctrl_limited ? def->ctrl_range[1] : (double)INFINITY;
    }
    return memory;
}

/* Statements of the file that have no effect here: (text, file, line, count). */
static PyObject *notes(PyObject *self, PyObject *none)
{
    (void)none;
    model_object *it = (model_object *)self;
    int count = zw_model_note_count(it->model);
    PyObject *list = PyTuple_New(count);
    for (int i = 0; list && i < count; i++) {
        zw_note note = zw_model_note(it->model, i);
        PyObject *row =
            Py_BuildValue("(ssii)", note.text, note.file ? note.file : "", note.line, note.count);
        if (!row || PyTuple_SetItem(list, i, row) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *write_mjcf(PyObject *self, PyObject *argument)
{
    model_object *it = (model_object *)self;
    PyObject *path;
    zw_error error = {.status = ZW_OK};
    if (!PyUnicode_FSConverter(argument, &path)) {
        return NULL;
    }
    zw_status status = zw_model_write(it->model, PyBytes_AsString(path), &error);
    Py_DECREF(path);
    return status == ZW_OK ? Py_NewRef(Py_None) : core_raise(core_of(self), &error);
}

static PyMethodDef methods[] = {{"names", list_names, METH_O, NULL},
                                {"control_ranges", control_ranges, METH_NOARGS, NULL},
                                {"notes", notes, METH_NOARGS, NULL},
                                {"write", write_mjcf, METH_O, NULL},
                                {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)destroy}, {Py_tp_methods, methods}, {0, NULL}};

PyType_Spec model_spec = {.name = "zwang._core.Model",
                          .basicsize = sizeof(model_object),
                          .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                          .slots = slots};
