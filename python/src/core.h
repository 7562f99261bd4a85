/* The extension behind the package zwang: thin objects around the C interface, on Python's stable
 * ABI. Names, units and NumPy arrays are added in Python (python/zwang). This layer holds handles
 * and memory, and keeps to these rules, so that no program can crash it:
 *
 * - a Sim keeps its Model alive, and memory that is handed out keeps its Sim alive;
 * - the GIL is released while zwang works, and a Sim that works refuses other calls (sim_enter);
 * - long computations check for signals about twenty times a second, so that Ctrl-C ends them;
 * - a failing call raises zwang.Error with status, file, line and column. */
#ifndef ZW_PYTHON_CORE_H
#define ZW_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "zwang/fit.h"
#include "zwang/look.h"
#include "zwang/verdict.h"
#include "zwang/zwang.h"

typedef struct core_state {
    PyObject *error; /* zwang.Error */
    PyTypeObject *memory, *model, *store, *sim, *run, *batch_store, *batch, *device_array, *table;
} core_state;

core_state *core_of(PyObject *self); /* from an object whose type has no subclasses */
extern struct PyModuleDef core_module;

/* Raises zwang.Error; always NULL. */
PyObject *core_raise(core_state *core, const zw_error *error);
PyObject *core_no_memory(void);

/* ---- Memory: numbers with an owner, seen through the buffer protocol ------------------------ */

typedef enum memory_format { MEMORY_DOUBLE, MEMORY_LONG, MEMORY_INT, MEMORY_BYTE } memory_format;

typedef struct memory_object {
    PyObject_HEAD PyObject *owner; /* NULL: data is the object's own */
    void *data;
    memory_format format;
    int writable, dimensions;
    Py_ssize_t shape[3], strides[3];
} memory_object;

extern PyType_Spec memory_spec;
/* A view of another object's memory, or new zeroed memory (owner NULL and data NULL). */
PyObject *memory_create(core_state *core, PyObject *owner, void *data, memory_format format,
                        int dimensions, const Py_ssize_t *shape, int writable);
PyObject *memory_doubles(core_state *core, Py_ssize_t count); /* new, [count] */
double *memory_data(PyObject *memory);

/* A contiguous array of finite doubles: any object with a buffer of format 'd', or a sequence.
 * `count` -1: any number. 0: an exception is set. */
typedef struct numbers {
    double *data; /* to be freed with PyMem_Free */
    Py_ssize_t count;
} numbers;
int numbers_get(PyObject *from, Py_ssize_t count, const char *what, numbers *to);

/* ---- Model ----------------------------------------------------------------------------------- */

typedef struct model_object {
    PyObject_HEAD zw_model *model;
    zw_system *system;
} model_object;

extern PyType_Spec model_spec;
/* Where a model comes from: a text, or a file, and how it is read. The strings belong to the tuple
 * (text or None, path, params, key, base, balance, packages, impact), which must outlive this. */
typedef struct source {
    const char *text, *name, *key;
    zw_read_options options;
    zw_impact_law impact;
    PyObject *path;
    zw_setting *settings;
    zw_package *packages;
} source;

int source_get(PyObject *tuple, source *to); /* 0: an exception is set */
void source_drop(source *it);
/* Reads with these options instead of its own. Needs no GIL; may be called from any thread. */
zw_model *source_read(const source *from, const zw_read_options *options, zw_error *error);
PyObject *model_read(PyObject *module, PyObject *tuple);
core_state *core_of_model(PyObject *model); /* NULL: not a Model; an exception is set */
int model_kind(const char *name); /* zw_kind of "coord", "param" ...; -1: an exception is set */

/* ---- Sim ------------------------------------------------------------------------------------- */

/* The object that views of a state keep alive. It is not the Sim: NumPy arrays do not take part in
 * garbage collection, so a Sim that holds views of itself would never be freed. */
typedef struct store_object {
    PyObject_HEAD zw_state *state;
    double *control;
} store_object;

extern PyType_Spec store_spec;

typedef struct sim_object {
    PyObject_HEAD core_state *core; /* the model's type keeps it alive */
    model_object *model;
    store_object *store; /* owns state and control */
    zw_state *state, *start;
    zw_work *work;
    zw_probe *probe;                  /* created on first use */
    zw_run_options options, stepping; /* for runs, and for single steps */
    zw_assembly assembly;
    int busy;          /* a thread is using it */
    int control_first; /* the first parameter that is a control */
    int controls;
    double *control; /* [controls] written by Python */
    double *applied; /* [controls] the values that the state has */
} sim_object;

extern PyType_Spec sim_spec;
int sim_enter(sim_object *sim); /* 0: it is busy, and an exception is set */
void sim_leave(sim_object *sim);
int sim_apply_controls(sim_object *sim); /* 0: an exception is set */
void sim_read_controls(sim_object *sim);
/* Called often by long computations that do not hold the GIL. Nonzero: an exception is set; stop.
 * It reads the clock only once in a number of calls, which grows with their rate, and checks
 * Python's signals about twenty times a second. */
typedef struct core_signals {
    double last, looked;
    int skip, calls;
    int raised;
} core_signals;
int core_signals_poll(core_signals *signals);
int core_poll(void *signals, double time); /* the same, as a zw_poll callback */

/* zw_field_id of "q", "v" ...; -1: an exception is set. Then method and contact by name, NULL to
 * leave one unchanged; 0: an exception is set. */
int core_field(const char *name);
int core_method(zw_run_options *to, const char *method, const char *contact);

/* sim_look.c: queries at the present state. */
PyObject *sim_contacts(PyObject *self, PyObject *none);
PyObject *sim_constraints(PyObject *self, PyObject *none);
PyObject *sim_constraint_force(PyObject *self, PyObject *index);
PyObject *sim_wrenches(PyObject *self, PyObject *of);
PyObject *sim_frame(PyObject *self, PyObject *arguments);
PyObject *sim_jacobian(PyObject *self, PyObject *arguments);
PyObject *sim_mass(PyObject *self, PyObject *none);
PyObject *sim_force(PyObject *self, PyObject *kind);
PyObject *sim_momentum(PyObject *self, PyObject *body);
PyObject *sim_rows(PyObject *self, PyObject *none);

/* run.c: whole motions. */
extern PyType_Spec run_spec;
PyObject *sim_run(PyObject *self, PyObject *arguments, PyObject *names);

/* sim_near.c: analysis around the present state: inverse dynamics, derivatives, equilibrium, modes,
 * motions to a goal. */
PyObject *sim_inverse(PyObject *self, PyObject *arguments);
PyObject *sim_slopes(PyObject *self, PyObject *none);
PyObject *sim_rest(PyObject *self, PyObject *arguments);
PyObject *sim_modes(PyObject *self, PyObject *period);
PyObject *sim_reach(PyObject *self, PyObject *arguments);
PyObject *sim_sensitivity(PyObject *self, PyObject *arguments);

/* gradient.c: derivatives of steps and of motions by steps, and optimisation. */
PyObject *sim_step_slopes(PyObject *self, PyObject *none);
PyObject *sim_gradient(PyObject *self, PyObject *arguments);
PyObject *optimise_run(PyObject *module, PyObject *arguments);

/* ---- Results that can be written to files: table.c ------------------------------------------- */

typedef struct table_kind {
    void (*release)(void *data);
    zw_status (*write)(void *data, const char *path, zw_error *error);
} table_kind;

extern PyType_Spec table_spec;
/* Takes ownership of the data, which is released even on failure; keeps the owner alive. */
PyObject *table_create(core_state *core, PyObject *owner, void *data, const table_kind *kind);

/* Stores value, whose reference it takes, in a dict; 0: an exception is set. */
int dict_put(PyObject *dict, const char *name, PyObject *value);
/* A copy of an array [rows][columns], or [rows] if columns is 0. */
PyObject *memory_copy(core_state *core, const double *from, Py_ssize_t rows, Py_ssize_t columns);

/* recording.c: certify, inverse dynamics and fit of recordings. A recording is the path of a file
 * or (t, q, v or None). */
zw_path *recording_get(model_object *model, PyObject *from, PyObject *columns, int some);
int unknowns_get(PyObject *tuples, Py_ssize_t *count, zw_unknown **unknown, double **low,
                 double **high);
PyObject *recording_certify(PyObject *module, PyObject *arguments);
PyObject *recording_inverse(PyObject *module, PyObject *arguments);
PyObject *recording_fit(PyObject *module, PyObject *arguments);

/* sweep.c: many runs. */
PyObject *sweep_run(PyObject *module, PyObject *arguments);

/* batch.c: many worlds. */
extern PyType_Spec batch_store_spec, batch_spec, device_array_spec;
/* An array [rows][columns] in the memory of a device ("cuda", "cuda:1", "emulated"); `owner` owns
 * that memory. */
PyObject *device_array_create(core_state *core, PyObject *owner, void *data, const char *device,
                              Py_ssize_t rows, Py_ssize_t columns);

/* gauss.c: Gauss's problem in matrices. */
PyObject *gauss_solve(PyObject *module, PyObject *arguments, PyObject *names);

#endif
