/* Queries at the present state of a Sim: contacts, constraints, frames, Jacobians, masses. */
#include "core.h"

#include <string.h>

static core_state *core_from(PyObject *self)
{
    return ((sim_object *)self)->core;
}

/* Enters the Sim and makes sure that it has a probe; 0: an exception is set. */
static int enter_with_probe(sim_object *sim)
{
    if (!sim_enter(sim)) {
        return 0;
    }
    zw_error error = {.status = ZW_OK};
    if (!sim->probe) {
        sim->probe = zw_probe_create(sim->model->model, sim->model->system, &error);
    }
    if (!sim->probe || !sim_apply_controls(sim)) {
        sim_leave(sim);
        core_raise(sim->core, &error);
        return 0;
    }
    return 1;
}

/* Leaves the Sim, and returns the array that a call of the probe has filled, or raises its error.
 */
static PyObject *finish(sim_object *sim, zw_status status, const zw_error *error, PyObject *made)
{
    sim_leave(sim);
    if (status != ZW_OK) {
        Py_XDECREF(made);
        return core_raise(sim->core, error);
    }
    return made;
}

static PyObject *matrix(core_state *core, int rows, int columns)
{
    Py_ssize_t shape[2] = {rows, columns};
    return memory_create(core, NULL, NULL, MEMORY_DOUBLE, 2, shape, 1);
}

/* ---- Contacts and constraints ---------------------------------------------------------------- */

/* One contact point, in the layout that python/zwang/sim.py declares. */
typedef struct packed_contact {
    int32_t geom[2], body[2], state, rows;
    double pos[3], frame[9], gap, force[6], slip[6];
} packed_contact;

static void pack(const zw_contact *from, packed_contact *to)
{
    for (int k = 0; k < 2; k++) {
        to->geom[k] = from->geom[k];
        to->body[k] = from->body[k];
    }
    to->state = from->state;
    to->rows = from->rows;
    to->gap = from->gap;
    memcpy(to->pos, from->pos, sizeof to->pos);
    memcpy(to->frame, from->frame, sizeof to->frame);
    memcpy(to->force, from->force, (size_t)from->rows * sizeof *to->force);
    memcpy(to->slip, from->slip, (size_t)from->rows * sizeof *to->slip);
}

static PyObject *packed(sim_object *sim, const zw_contact *list, int count)
{
    Py_ssize_t bytes = (Py_ssize_t)((size_t)count * sizeof(packed_contact));
    PyObject *memory = memory_create(sim->core, NULL, NULL, MEMORY_BYTE, 1, &bytes, 1);
    for (int i = 0; memory && i < count; i++) {
        pack(&list[i], (packed_contact *)((memory_object *)memory)->data + i);
    }
    return memory;
}

PyObject *sim_contacts(PyObject *self, PyObject *none)
{
    (void)none;
    sim_object *sim = (sim_object *)self;
    zw_error error = {.status = ZW_OK};
    if (!sim_enter(sim)) {
        return NULL;
    }
    int capacity = zw_contact_capacity(sim->model->system);
    zw_contact *list = PyMem_Malloc(((size_t)capacity + 1) * sizeof *list);
    int count =
        list ? zw_contacts(sim->model->system, sim->state, sim->work, list, capacity, &error) : 0;
    PyObject *memory =
        list && count >= 0 ? packed(sim, list, count < capacity ? count : capacity) : NULL;
    PyMem_Free(list);
    sim_leave(sim);
    if (!list) {
        return PyErr_NoMemory();
    }
    return count < 0 ? core_raise(sim->core, &error) : memory;
}

/* (kind, mode, first row, rows) and (position, velocity, force, friction) of all constraints. */
PyObject *sim_constraints(PyObject *self, PyObject *none)
{
    (void)none;
    sim_object *sim = (sim_object *)self;
    zw_error error = {.status = ZW_OK};
    int count = zw_count(sim->model->system, ZW_KIND_CONSTRAINT);
    Py_ssize_t shape[2] = {count, 4};
    zw_constraint *list = PyMem_Malloc(((size_t)count + 1) * sizeof *list);
    PyObject *what = memory_create(sim->core, NULL, NULL, MEMORY_INT, 2, shape, 1);
    PyObject *much = memory_create(sim->core, NULL, NULL, MEMORY_DOUBLE, 2, shape, 1);
    PyObject *pair = NULL;
    if (list && what && much && sim_enter(sim)) {
        zw_status status =
            zw_constraints_look(sim->model->system, sim->state, sim->work, list, &error);
        int *integers = ((memory_object *)what)->data;
        double *reals = memory_data(much);
        for (int i = 0; i < count && status == ZW_OK; i++, integers += 4, reals += 4) {
            const zw_constraint *c = &list[i];
            integers[0] = (int)c->kind, integers[1] = (int)c->mode;
            integers[2] = c->first_row, integers[3] = c->rows;
            reals[0] = c->position, reals[1] = c->velocity;
            reals[2] = c->force, reals[3] = c->friction;
        }
        sim_leave(sim);
        pair = status == ZW_OK ? PyTuple_Pack(2, what, much) : core_raise(sim->core, &error);
    }
    PyMem_Free(list);
    Py_XDECREF(what);
    Py_XDECREF(much);
    return pair ? pair : PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

PyObject *sim_constraint_force(PyObject *self, PyObject *index)
{
    sim_object *sim = (sim_object *)self;
    long which = PyLong_AsLong(index);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (which < 0 || which >= zw_count(sim->model->system, ZW_KIND_CONSTRAINT)) {
        PyErr_SetString(PyExc_IndexError, "there is no such constraint");
        return NULL;
    }
    PyObject *force = memory_doubles(sim->core, zw_count(sim->model->system, ZW_KIND_SPEED));
    if (!force || !sim_enter(sim)) {
        Py_XDECREF(force);
        return NULL;
    }
    zw_error error = {.status = ZW_OK};
    error.status =
        zw_constraint_force(sim->model->system, sim->work, (int)which, memory_data(force));
    return finish(sim, error.status, &error, force);
}

/* _wrenches("joint", "body" or "constraint"), after forward: rows of between, at[3], force[3],
 * moment[3]. */
PyObject *sim_wrenches(PyObject *self, PyObject *of)
{
    enum { WIDE = 10 };
    sim_object *sim = (sim_object *)self;
    const char *word = PyUnicode_AsUTF8AndSize(of, NULL);
    int kind = word ? model_kind(word) : -1;
    if (kind < 0) {
        return NULL;
    }
    int count = zw_count(sim->model->system, (zw_kind)kind);
    zw_wrench *list = PyMem_Calloc((size_t)count + 1, sizeof *list);
    PyObject *all = memory_copy(sim->core, NULL, count, WIDE);
    if (!list || !all || !sim_enter(sim)) {
        PyMem_Free(list);
        Py_XDECREF(all);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    zw_error error = {.status = ZW_OK};
    error.status =
        zw_wrenches(sim->model->system, sim->state, sim->work, (zw_kind)kind, list, &error);
    for (int i = 0; i < count && error.status == ZW_OK; i++) {
        double *to = memory_data(all) + WIDE * i;
        to[0] = list[i].between;
        memcpy(to + 1, list[i].at, sizeof list[i].at);
        memcpy(to + 4, list[i].force, sizeof list[i].force);
        memcpy(to + 7, list[i].moment, sizeof list[i].moment);
    }
    PyMem_Free(list);
    return finish(sim, error.status, &error, all);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static zw_status find(sim_object *sim, const char *name, zw_frame *frame, zw_error *error)
{
    return zw_frame_find(sim->probe, name, frame, error);
}

/* _frame(name, accelerations or None): position, quaternion, matrix, velocity, spin, acceleration,
 * spin rate, one after another, in 28 numbers; and the dimension. */
PyObject *sim_frame(PyObject *self, PyObject *arguments)
{
    sim_object *sim = (sim_object *)self;
    const char *name;
    PyObject *a;
    numbers given = {NULL, 0};
    if (!PyArg_ParseTuple(arguments, "sO", &name, &a) ||
        (a != Py_None &&
         !numbers_get(a, zw_count(sim->model->system, ZW_KIND_SPEED), "accelerations", &given))) {
        return NULL;
    }
    PyObject *all = memory_doubles(core_from(self), 28), *pair = NULL;
    if (all && enter_with_probe(sim)) {
        zw_error error = {.status = ZW_OK};
        zw_frame frame;
        zw_frame_motion m = {0};
        zw_status status = find(sim, name, &frame, &error);
        if (status == ZW_OK) {
            status = zw_frame_look(sim->probe, sim->state, &frame, 1, given.data, &m, &error);
        }
        double *to = memory_data(all);
        memcpy(to, m.pos, sizeof m.pos);
        memcpy(to + 3, m.quat, sizeof m.quat);
        memcpy(to + 7, m.matrix, sizeof m.matrix);
        memcpy(to + 16, m.velocity, sizeof m.velocity);
        memcpy(to + 19, m.spin, sizeof m.spin);
        memcpy(to + 22, m.acceleration, sizeof m.acceleration);
        memcpy(to + 25, m.spin_rate, sizeof m.spin_rate);
        pair = finish(sim, status, &error, Py_BuildValue("(Oi)", all, m.dimension));
    }
    Py_XDECREF(all);
    PyMem_Free(given.data);
    return pair;
}

/* _jacobian(name, rotation): [3][n] of the position, or of the rotation. */
PyObject *sim_jacobian(PyObject *self, PyObject *arguments)
{
    sim_object *sim = (sim_object *)self;
    const char *name;
    int rotation;
    if (!PyArg_ParseTuple(arguments, "sp", &name, &rotation)) {
        return NULL;
    }
    PyObject *J = matrix(core_from(self), 3, zw_count(sim->model->system, ZW_KIND_SPEED));
    if (!J || !enter_with_probe(sim)) {
        Py_XDECREF(J);
        return NULL;
    }
    zw_error error = {.status = ZW_OK};
    zw_frame frame;
    zw_status status = find(sim, name, &frame, &error);
    if (status == ZW_OK) {
        status = zw_frame_jacobian(sim->probe, sim->state, &frame, rotation ? NULL : memory_data(J),
                                   rotation ? memory_data(J) : NULL, &error);
    }
    return finish(sim, status, &error, J);
}

/* ---- Masses and forces ----------------------------------------------------------------------- */

PyObject *sim_mass(PyObject *self, PyObject *none)
{
    (void)none;
    sim_object *sim = (sim_object *)self;
    int n = zw_count(sim->model->system, ZW_KIND_SPEED);
    PyObject *M = matrix(core_from(self), n, n);
    if (!M || !enter_with_probe(sim)) {
        Py_XDECREF(M);
        return NULL;
    }
    zw_error error = {.status = ZW_OK};
    zw_status status = zw_mass(sim->probe, sim->state, memory_data(M), &error);
    return finish(sim, status, &error, M);
}

PyObject *sim_force(PyObject *self, PyObject *kind)
{
    static const char *const names[] = {[ZW_FORCE_ALL] = "all",
                                        [ZW_FORCE_SPEEDS] = "speeds",
                                        [ZW_FORCE_POTENTIAL] = "potential",
                                        [ZW_FORCE_APPLIED] = "applied",
                                        [ZW_FORCE_GRAVITY] = "gravity",
                                        [ZW_FORCE_SPRING] = "spring",
                                        [ZW_FORCE_MOTOR] = "motor",
                                        [ZW_FORCE_PASSIVE] = "passive"};
    sim_object *sim = (sim_object *)self;
    const char *word = PyUnicode_AsUTF8AndSize(kind, NULL);
    int which = -1;
    for (int k = 0; word && k < (int)(sizeof names / sizeof *names); k++) {
        which = !strcmp(names[k], word) ? k : which;
    }
    if (which < 0) {
        return word ? (PyErr_Format(PyExc_ValueError, "there is no part '%s' of the forces", word),
                       NULL)
                    : NULL;
    }
    PyObject *force = memory_doubles(core_from(self), zw_count(sim->model->system, ZW_KIND_SPEED));
    if (!force || !enter_with_probe(sim)) {
        Py_XDECREF(force);
        return NULL;
    }
    zw_error error = {.status = ZW_OK};
    zw_status status =
        zw_force_look(sim->probe, sim->state, (zw_force)which, memory_data(force), &error);
    return finish(sim, status, &error, force);
}

/* Mass, centre of mass and its velocity, momentum, angular momentum: 13 numbers; body 0: of the
 * whole system. */
PyObject *sim_momentum(PyObject *self, PyObject *body)
{
    sim_object *sim = (sim_object *)self;
    long which = PyLong_AsLong(body);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (which < 0 || which > INT_MAX) {
        PyErr_SetString(PyExc_IndexError, "there is no such body");
        return NULL;
    }
    PyObject *all = memory_doubles(core_from(self), 13);
    if (!all || !enter_with_probe(sim)) {
        Py_XDECREF(all);
        return NULL;
    }
    zw_error error = {.status = ZW_OK};
    zw_momentum m = {0};
    zw_status status = zw_momentum_look(sim->probe, sim->state, (int)which, &m, &error);
    double *to = memory_data(all);
    to[0] = m.mass;
    memcpy(to + 1, m.com, sizeof m.com);
    memcpy(to + 4, m.velocity, sizeof m.velocity);
    memcpy(to + 7, m.momentum, sizeof m.momentum);
    memcpy(to + 10, m.spin, sizeof m.spin);
    return finish(sim, status, &error, all);
}

/* A [m][n], b [m], phi [m], psi [m] of the constraints. */
PyObject *sim_rows(PyObject *self, PyObject *none)
{
    (void)none;
    sim_object *sim = (sim_object *)self;
    int m = zw_count(sim->model->system, ZW_KIND_ROW),
        n = zw_count(sim->model->system, ZW_KIND_SPEED);
    PyObject *A = matrix(core_from(self), m, n), *b = memory_doubles(core_from(self), m);
    PyObject *phi = memory_doubles(core_from(self), m), *psi = memory_doubles(core_from(self), m);
    PyObject *all = NULL;
    if (A && b && phi && psi && enter_with_probe(sim)) {
        zw_error error = {.status = ZW_OK};
        zw_status status = zw_rows_look(sim->probe, sim->state, memory_data(A), memory_data(b),
                                        memory_data(phi), memory_data(psi), &error);
        all = finish(sim, status, &error, PyTuple_Pack(4, A, b, phi, psi));
    }
    Py_XDECREF(A);
    Py_XDECREF(b);
    Py_XDECREF(phi);
    Py_XDECREF(psi);
    return all;
}
