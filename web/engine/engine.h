/* One world, as a page sees it: files are handed over as bytes, a model is opened, stepped and
 * looked at. The page calls these functions of the WebAssembly module; compiled for this machine
 * they are the same, and test/web compares what both compute, bit by bit.
 *
 * All numbers of an instant stand in one array, in the order of look.c. Texts are JSON.
 * What is answered belongs to the engine and is valid until the next call of its kind. */
#ifndef STUDIO_ENGINE_H
#define STUDIO_ENGINE_H

#include <stddef.h>

/* ---- Files ---------------------------------------------------------------------------------- */

/* A file by its name; one of the same name is replaced. Bytes are copied. 0: no memory. */
int studio_file(const char *name, const void *bytes, int size);
void studio_forget_files(void);

/* ---- A world -------------------------------------------------------------------------------- */

/* A parameter to be read in place of the file's; they hold for the next studio_open only. */
int studio_setting(const char *name, double value);
/* The keyframe that the next studio_open begins with; none, or one that is not there: the pose as
 * described. */
void studio_key(int index);
/* Other laws than the file's, for the next studio_open only. Of constraints with speeds:
 * "vakonomic", "nonholonomic", "mixed" with two numbers; of contacts: "coulomb", "convex", "soft",
 * or "linear": Coulomb's by one linearisation a step, its forces to a tenth. 0: no such. */
int studio_law(const char *name, double alpha, double beta);
int studio_contact(const char *name);
/* Loop constraints (equalities) of robots that the next studio_open leaves out. */
int studio_leave_out(int equality);

/* Read, compile, and assemble the start. 0: see studio_error; the world before is gone. `more` are
 * lines after those of a .zw file, or "". */
int studio_open(const char *path, const char *more);
void studio_close(void);
const char *studio_error(void); /* {"status", "file", "line", "column", "text"} */

/* Names, parameters, curves, draws, bodies, shapes, run. */
const char *studio_about(void);
/* The corners of a mesh, 3 numbers each, and its triangles: studio_about has how many. */
const double *studio_mesh_vertices(int mesh);
const int *studio_mesh_faces(int mesh);
const double *studio_heights(int hfield); /* rows of columns */

/* ---- Motion --------------------------------------------------------------------------------- */

/* How far one step goes: the model's step, or of adaptive methods what its file says about output,
 * but at most a sixtieth of a second. */
double studio_tick(void);
/* A longer way of adaptive methods, for motions at many times real time; it is reported. Other
 * methods keep their step. */
double studio_set_tick(double seconds);
/* So many steps; how many were taken. Fewer: a stop of the model, or an error (status not 0). */
int studio_steps(int count);
int studio_start(void); /* back to the start, with the parameters as they are now */
int studio_set_param(int index, double value);
int studio_set_coord(int index, double value); /* the rest follows onto the constraints */

/* The state as bytes, and back. */
int studio_save_size(void);
int studio_save(void *bytes);
int studio_restore(const void *bytes, int size);
/* 16 hexadecimal digits. */
const char *studio_hash(void);

/* ---- Looking -------------------------------------------------------------------------------- */

/* The principle at this instant, and all numbers of it; NULL: see studio_error. */
const double *studio_look(void);
int studio_look_count(void);
/* Body or point whose free and actual acceleration is reported; -1: none. */
void studio_select(int subject);

/* The principle as a problem at the state that was looked at: n, m, then M[n][n], A[m][n], b[m]
 * (A a = b is what constraints ask of accelerations, one-sided ones as if they were closed), and
 * J[3][n], J v being the velocity of what is selected (0: nothing is), and of bodies the friction
 * at contacts as a force on the speeds [n]. NULL: see studio_error. */
const double *studio_problem(void);
/* M (given - a) for accelerations given[n] at the state that was looked at: the force beside the
 * model's own that would explain them. */
const double *studio_unexplained(const double *given);

/* Where the heap ends: it moves where memory is kept. Only in WebAssembly; elsewhere 0. */
int studio_heap(void);

/* ---- Pulling by the pointer ------------------------------------------------------------------ */

/* Keep time, parameters, coordinates and speeds; and give them to the world that is open now, which
 * may have parameters more or less at the end of their list. */
int studio_snapshot(void);
int studio_take_over(void);
/* The same numbers from elsewhere, before studio_take_over: 0 time, 1 parameters, 2 activations, 3
 * coordinates, 4 speeds. */
int studio_keep(int which, const double *values, int count);
/* The last so many parameters belong to the pull: studio_about and studio_look leave them out, so
 * that an instant has its numbers at the same places with pulling and without it. */
void studio_hide_params(int count);

/* From now on a spring holds a point (x, y, z of its frame) of a body, and studio_pull says where
 * in the world it pulls it to; rate, in radians a second, is how fast the body follows. The system
 * is compiled anew with it, the state goes on. 0: failed. */
int studio_grab(int body, double x, double y, double z, double rate);
int studio_pull(double x, double y, double z);
int studio_release(void);

#endif
