/* zwang: systems written as equations, and their motion under Gauss's principle.
 *
 *     zw_model  *model  = zw_model_read("pendulum.zw", NULL, &error);
 *     zw_system *system = zw_system_compile(model, NULL, &error);
 *     zw_work   *work   = zw_work_create(system, &error);
 *     zw_state  *state  = zw_state_create(system, work, NULL, &error);   consistent start
 *     zw_forward(system, state, work, NULL, &error);                     the principle, now
 *     zw_run(system, state, work, &options, &summary, &error);           the motion
 *
 * A model is the description and must outlive its systems; a system is compiled and constant; a
 * state holds everything a restart needs; a work is scratch memory. Calls that can fail return a
 * zw_status and fill `error`, which may be NULL. The library never prints, exits or keeps global
 * state.
 */
#ifndef ZWANG_ZWANG_H
#define ZWANG_ZWANG_H

#include <stddef.h>
#include <stdint.h>

#include "zwang/gauss.h"
#include "zwang/status.h"
#include "zwang/version.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct zw_model zw_model;
typedef struct zw_system zw_system;
typedef struct zw_state zw_state;
typedef struct zw_work zw_work;
typedef struct zw_record zw_record;

/* ---- Reading ------------------------------------------------------------------------------ */

/* A parameter given from outside: takes the place of the file's value. */
typedef struct zw_setting {
    const char *name;
    double value;
} zw_setting;

/* The base of a robot, which URDF files do not specify. */
typedef enum zw_base {
    ZW_BASE_DEFAULT, /* fixed; a link without joints is a free body */
    ZW_BASE_FIXED,
    ZW_BASE_FREE
} zw_base;

/* The folder of package://name/... */
typedef struct zw_package {
    const char *name, *path;
} zw_package;

/* A file in memory. */
typedef struct zw_file {
    const char *name; /* as the reader would open it: a path without . and .. components */
    const void *bytes;
    size_t size;
} zw_file;
/* A file that was read: its name as it was opened, and its bytes, valid during the call. */
typedef void zw_file_seen(void *user, const zw_file *file);

typedef struct zw_read_options {
    const zw_setting *settings;
    int setting_count;
    zw_base base;        /* of a URDF robot */
    int balance_inertia; /* bodies: moments of inertia that no body can have are replaced by their
                            mean; URDF: shapes may have mass */
    const zw_package *packages; /* have priority over those found near the file */
    int package_count;
    const char *more;      /* .zw: lines that are read as if appended to the file; or NULL */
    const char *more_name; /* their name in messages; NULL: "more" */
    const zw_file *files;  /* not NULL: the path and all files that it includes, imports or names as
                              mesh or picture are looked up here, and no disk is accessed */
    int file_count;
    zw_file_seen *seen; /* called with each file as it is read: passed as `files`, they give the
                           same model without a disk; or NULL */
    void *user;         /* of seen */
    int visuals; /* URDF: <visual> shapes become geoms of group 1 that touch nothing and weigh
                    nothing, and those of <collision> are of group 3 */
} zw_read_options;

/* Read a .zw, MJCF or URDF file. `options` may be NULL. */
zw_model *zw_model_read(const char *path, const zw_read_options *options, zw_error *error);
/* The same from memory; `name` stands for the file in messages, includes are looked up beside it.
 */
zw_model *zw_model_parse(const char *text, const char *name, const zw_read_options *options,
                         zw_error *error);
void zw_model_free(zw_model *model);

/* Evaluates a number as it may be written in a model: 2*pi, 30*deg. Returns 0 if the text is not a
 * number, or not finite. */
int zw_number(const char *text, double *value);

/* The law for simultaneous impacts (zw_impact_law in gauss.h), in place of the file's `impact`
 * line. It applies to systems compiled afterwards. */
void zw_model_set_impact(zw_model *model, zw_impact_law law);
zw_impact_law zw_model_impact(const zw_model *model);

/* ---- Compiling ---------------------------------------------------------------------------- */

/* The law that constraints with speeds follow: Kozlov (2000), eq. (18), [T] = F - alpha ((lambda
 * Phi_v)' - lambda Phi_q) - beta lambda Phi_v with Phi = lambda/N. */
typedef struct zw_law {
    const char *name;      /* "nonholonomic", "vakonomic", "mixed", "penalty" */
    double alpha, beta, N; /* N is infinite but for the penalty law; nonholonomic: alpha is 0 */
} zw_law;

/* Compiles a model, which must outlive the system, with the model's own law (NULL) or another.
 * "vakonomic" uses no numbers, "mixed" alpha and beta (one of them may be 0), "penalty" also N. The
 * initial multipliers are those of the model. */
zw_system *zw_system_compile(const zw_model *model, const zw_law *law, zw_error *error);
void zw_system_free(zw_system *system);

/* The law of a system. */
zw_law zw_law_of(const zw_system *system);

/* ---- State and scratch -------------------------------------------------------------------- */

zw_work *zw_work_create(const zw_system *system, zw_error *error);
void zw_work_free(zw_work *work);

/* What assembly changed to make the start consistent. */
typedef struct zw_assembly {
    double violation_before; /* largest constraint violation of positions and speeds as written */
    double violation_after;
    double position_change; /* largest change of a coordinate, and which one (-1: none) */
    int position_coord;
    double speed_change; /* largest change of a given speed, and of which coordinate */
    int speed_coord;
    int impacts; /* 1: touching parts approached each other, and an impact at t = 0 stopped that */
    double impact_loss; /* energy lost in it: runs start with the energy after it */
    int impact_speed;   /* the speed that it changed most (-1: none), before and after */
    double impact_before, impact_after;
} zw_assembly;

/* The initial state: as written, then moved to the nearest consistent one in the metric of the
 * masses. `assembly` may be NULL. */
zw_state *zw_state_create(const zw_system *system, zw_work *work, zw_assembly *assembly,
                          zw_error *error);
void zw_state_free(zw_state *state);

/* Copies `from` to *to, which is created if it is NULL; otherwise it must be of the same system. */
zw_status zw_state_copy(const zw_state *from, zw_state **to, zw_error *error);

/* A state as bytes, without pointers and the same on every machine: all that its future depends on.
 * That is time, work done, coordinates, speeds, multipliers that a law integrates, parameters, the
 * modes of contacts and friction; and after a run by a fixed-step method the extra digits of its
 * compensated sums, so that a run in two pieces gives the same bits as one run (if the first piece
 * ends at the end of a step). `size` must be at least zw_state_bytes. */
size_t zw_state_bytes(const zw_state *state);
zw_status zw_state_save(const zw_state *state, void *bytes, size_t size, zw_error *error);
/* A state from these bytes, for the same system, which may have been compiled again. NULL, with the
 * reason in `error`: the bytes are damaged, or belong to another system (other names, formulas,
 * masses ...). */
zw_state *zw_state_restore(const zw_system *system, const void *bytes, size_t size,
                           zw_error *error);
/* A hash of these bytes: equal for equal states of the same system, on every machine. */
uint64_t zw_state_hash(const zw_state *state);

/* The same bytes in a file, which is written completely or not at all. */
zw_status zw_state_write(const zw_state *state, const char *path, zw_error *error);
zw_state *zw_state_read(const zw_system *system, const char *path, zw_error *error);

/* ---- The principle at an instant ---------------------------------------------------------- */

/* Accelerations, multipliers and forces at the state, with a certificate; see zw_work_motion. This
 * includes contacts of bodies, whose forces zw_contacts gives. ZW_NO_SOLUTION: with friction there
 * is no solution. Contacts follow the law that a run with these options would have (NULL: as the
 * file says). Under the convex law, which is defined for steps only, contacts exert the mean forces
 * of a first step, and these are among the applied forces. Under the soft law there are no rows:
 * F_L is the force of contacts and constraints, and the certificate is the gradient that remains at
 * their minimum. */
typedef struct zw_run_options zw_run_options;
zw_status zw_forward(const zw_system *system, const zw_state *state, zw_work *work,
                     const zw_run_options *options, zw_error *error);

/* The full answer of the last zw_forward, as the kernel gave it. Its rows are those that are active
 * now, constraint by constraint; ZW_FIELD_LAMBDA has the multipliers in the order of the model's
 * rows. */
const zw_motion *zw_work_motion(const zw_work *work);
/* The name of a block of that answer, by an index from zw_motion.redundant or .conflict; never
 * NULL. */
const char *zw_work_block_name(const zw_work *work, int block);

typedef enum zw_constraint_kind {
    ZW_HOLONOMIC,    /* phi(q, t) = 0 */
    ZW_NONHOLONOMIC, /* psi(q, v, t) = 0 */
    ZW_ONE_SIDED     /* phi(q, t) >= 0 */
} zw_constraint_kind;

typedef enum zw_constraint_mode {
    ZW_MODE_OPEN,    /* one-sided and apart: no force */
    ZW_MODE_CLOSED,  /* active, without friction */
    ZW_MODE_SLIDING, /* active, with friction against the motion */
    ZW_MODE_STUCK    /* active, and friction prevents sliding */
} zw_constraint_mode;

/* One constraint at an instant. */
typedef struct zw_constraint {
    zw_constraint_kind kind;
    zw_constraint_mode mode;
    int first_row, rows; /* of ZW_FIELD_LAMBDA; dry friction of a joint has no rows */
    double position;     /* largest |phi|; one-sided: the gap itself */
    double velocity;     /* largest |psi| or |d phi/dt|; one-sided: the speed of the gap */
    double force;        /* |A' lambda| */
    double friction;     /* the coefficient, 0: none; for dry friction the largest force */
} zw_constraint;

/* All constraints after zw_forward: list[zw_count(system, ZW_KIND_CONSTRAINT)]. */
zw_status zw_constraints_look(const zw_system *system, const zw_state *state, zw_work *work,
                              zw_constraint *list, zw_error *error);
/* After zw_forward: coordinates without inertia (M is singular there). Returns their number, with
 * their indices in coord[n]. */
int zw_massless(const zw_work *work, int *coord);

/* The force of one constraint on the coordinates, A' lambda over its rows: force[n]. */
zw_status zw_constraint_force(const zw_system *system, const zw_work *work, int constraint,
                              double *force);

/* ---- The motion --------------------------------------------------------------------------- */

typedef enum zw_method {
    ZW_METHOD_DEFAULT,     /* DOP853 (stiff: STIFF); where geoms of bodies may touch: IMPULSE */
    ZW_METHOD_DOP853,      /* adaptive, order 8 */
    ZW_METHOD_VARIATIONAL, /* fixed step, structure-preserving, order 2 */
    ZW_METHOD_VARIATIONAL4,
    ZW_METHOD_RK4,      /* fixed step */
    ZW_METHOD_EULER,    /* semi-implicit, fixed step */
    ZW_METHOD_STIFF,    /* Radau IIA, order 5, adaptive */
    ZW_METHOD_BDF,      /* for stiff systems too, by SUNDIALS' CVODE, where present */
    ZW_METHOD_IMPULSE,  /* bodies: implicit in the next velocity, fixed step, order 1 to 2 */
    ZW_METHOD_MIDPOINT, /* as variational, but the energy of free bodies is also conserved to
                           round-off */
    ZW_METHOD_SOFT      /* bodies: MuJoCo's soft constraints and its Euler step */
} zw_method;

const char *zw_method_name(zw_method method);                  /* "dop853" */
zw_status zw_method_find(const char *name, zw_method *method); /* ZW_BAD_INPUT: no such name */

const char *zw_contact_law_name(zw_contact_law law); /* "coulomb" */
zw_status zw_contact_law_find(const char *name, zw_contact_law *law);

const char *zw_impact_law_name(zw_impact_law law); /* "sequential" */
zw_status zw_impact_law_find(const char *name, zw_impact_law *law);

typedef enum zw_sample_kind {
    ZW_SAMPLE_START,
    ZW_SAMPLE_OUTPUT,
    ZW_SAMPLE_EVENT,
    ZW_SAMPLE_JUMP, /* before and after an impact; after an event that sets something */
    ZW_SAMPLE_END
} zw_sample_kind;

/* Called at every output time and event with a consistent state; `work` holds the result of
 * zw_forward there. Contacts of bodies are those of the method: with impulse the mean forces of the
 * last step (at the start, of the first), none with methods that do not compute them. Return
 * nonzero to stop the run (status ZW_OK, summary.interrupted set). */
typedef int zw_observer(void *user, zw_sample_kind kind, int event, const zw_system *system,
                        const zw_state *state, zw_work *work);

/* Called after every step, and often within one: nonzero stops the run at the end of the last
 * complete step. */
typedef int zw_poll(void *user, double time);

struct zw_run_options {
    double time;      /* final time; 0: the file's, or 10 */
    double every;     /* output interval; 0: the file's, or time/500; negative: every step */
    double step;      /* fixed-step methods: the step; adaptive: the largest; 0: the file's/auto */
    double tolerance; /* adaptive: error per step relative to 1 + |y|; 0: the file's, or 1e-10.
                         Impulse: relative residual of a step's equations; 1: one linearisation */
    double accuracy;  /* impulse: certificate that the contacts of a step must reach, 0 to 0.1; 0:
                         the best within a bounded effort */
    zw_method method;
    zw_observer *observer;
    void *user;
    zw_poll *poll; /* or NULL */
    zw_contact_law contact;
    int memoryless; /* impulse with one linearisation: a step depends on coordinates, speeds and
                       parameters alone, and does not start from the multipliers of the previous
                       step. For robots with more than 24 speeds a batch can then compute eight
                       worlds at once, several times as fast; a single world at rest is up to four
                       times slower */
};

typedef struct zw_run_summary {
    long steps, rejected, evaluations, events;
    double end;          /* the time reached */
    double energy_start; /* v . K_v - K + V, Cardin-Zanzotto (1989), eq. (3.14) */
    double energy_end;
    double
        energy_drift; /* largest |E - E0 - work| / (1 + |E0|) at the ends of steps and at events */
    double work;      /* of applied, non-ideal and moving-constraint forces since the start */
    double violation_position; /* largest over accepted steps and samples */
    double violation_velocity;
    double certificate; /* the worst of all kernel answers at accepted steps */
    int interrupted;    /* by the observer or poll */
    int stopped_by;     /* index of the event that stopped the run, -1: none */
    int check_failed;   /* index of the first `check` that failed, -1: none */
    double check_time;
    long singular; /* how often a step passed, exactly or closely, a position where constraints lose
                      rank: the motion may have continued on another branch */
    long checked;  /* instants at which checks were evaluated: ends of steps, samples, events */
    int contacts;  /* bodies, method impulse: largest number of contact points at once, */
    double depth;  /* and the deepest penetration at the end of a step */
    int overlaps;  /* pairs of shapes that overlap at the start, */
    double overlap_depth;   /* depth of the deepest, */
    char overlap_name[160]; /* and the names of the deepest ones: "box in floor, arm in box" */
    int overlaps_stuck; /* those of them that cannot be separated: ignored until they are apart */
    long jams;   /* contact points that slid although no finite force permits it (Painleve) and were
                    stopped by an impulse, counted in each step */
    long proved; /* steps proved to contain no undetected events, kinks or contacts */
    long unproved;      /* steps for which no such proof was found */
    long impacts;       /* sudden changes of velocity, those at the start included */
    double impact_loss; /* energy lost in all impacts together; never negative */
    long halved;        /* method impulse: steps that were subdivided */
    long inexact;       /* method impulse: steps whose equations miss the required residual */
    zw_method method;   /* this and the next: the options used, with defaults filled in */
    zw_contact_law contact;
    double tolerance, step, accuracy;
    double start; /* the time at which it began */
    /* Method impulse: steps that are of order one, by cause. Halving the step halves their error.
     */
    long linear;    /* one linearisation */
    long stiff;     /* forces or rotations too fast for a step: evaluated at its end */
    long late;      /* landings that were not located within the step but placed at its end, */
    double late_by; /* too late by at most this time */
    long slow; /* steps with landings on contacts or limits slower than the speed that gravity adds
                  in a step: also placed at its end, each with an error of order two */
    long turned; /* contacts, or joints with dry friction, whose sliding reversed within the step */
} zw_run_summary;

/* The options that a run from this state would use: defaults are filled in from the file, or else
 * by the library. */
zw_status zw_run_plan(const zw_system *system, const zw_state *state, const zw_run_options *options,
                      zw_run_options *plan, zw_error *error);

zw_status zw_run(const zw_system *system, zw_state *state, zw_work *work,
                 const zw_run_options *options, zw_run_summary *summary, zw_error *error);

/* One step of a fixed-step method, projected onto the constraints; or over options->step (0: the
 * file's) by an adaptive one. The options method, step, tolerance, accuracy, contact and poll are
 * used. ZW_INTERRUPTED: poll ended it; the state is consistent, and either unchanged, at the end of
 * the step, or, with an adaptive method, in between. The work keeps the integrator between calls: a
 * loop of steps costs what a run costs and allocates nothing. The result has the same bits with any
 * work. */
zw_status zw_step(const zw_system *system, zw_state *state, zw_work *work,
                  const zw_run_options *options, zw_error *error);

/* Computes what zw_forward does (accelerations, sensors, forces through joints) as an observer of
 * zw_run sees it: at the state after a zw_step of method impulse, contacts exert their mean forces
 * over that step; with method soft, those of its law. At any other state it is the same as
 * zw_forward. */
zw_status zw_look(const zw_system *system, const zw_state *state, zw_work *work, zw_error *error);

/* Clears what the last step or run left in the state for the next one: starting values of solves,
 * and which bodies sleep (zw_world_def.sleep). Needed after writing numbers into a state by means
 * other than this interface. */
void zw_wake(zw_state *state);
/* The number of sleeping bodies; asleep[zw_count(system, ZW_KIND_BODY)] (or NULL) is 1 for these.
 * -1: no memory.
 */
int zw_sleepers(const zw_system *system, const zw_state *state, int *asleep, zw_error *error);

/* ---- Looking ------------------------------------------------------------------------------ */

/* A named array inside a system, state or work. */
typedef enum zw_field_id {
    ZW_FIELD_TIME,    /* [1] of the state */
    ZW_FIELD_Q,       /* [coordinates]: with quaternions there are more of these than speeds */
    ZW_FIELD_V,       /* [n], n = the number of speeds */
    ZW_FIELD_A,       /* [n] after zw_forward */
    ZW_FIELD_A_FREE,  /* [n] after zw_forward: M \ force */
    ZW_FIELD_LAMBDA,  /* [rows] after zw_forward; multipliers that a law integrates are those of the
                         state */
    ZW_FIELD_CARRIED, /* multipliers that a law integrates, by rows: of the state */
    ZW_FIELD_ENERGY,  /* [4] v.K_v - K + V, K, V, power of the non-conservative forces */
    ZW_FIELD_VIOLATION,  /* [2] worst position and velocity residual */
    ZW_FIELD_OUTPUT,     /* [outputs] plots, draws, checks: evaluated by zw_field */
    ZW_FIELD_PARAM,      /* [params] of the state */
    ZW_FIELD_ACTIVATION, /* [activations] of the state: those of actuators with dynamics */
    ZW_FIELD_SENSOR, /* [numbers of all sensors] of bodies, after zw_forward: evaluated by zw_field
                      */
    ZW_FIELD_MOCAP   /* [7 mocap bodies] the last numbers of Q: the poses of those bodies */
} zw_field_id;

typedef struct zw_view {
    const double *data;
    int count;
} zw_view;

zw_view zw_field(const zw_system *system, const zw_state *state, zw_work *work, zw_field_id field);

/* Writes value[count] into a state, from number `first` of the field on: ZW_FIELD_PARAM (parameters
 * and controls of motors, by zw_id(system, ZW_KIND_PARAM, name)), Q, V, ACTIVATION, CARRIED, TIME
 * or MOCAP (the body moves there at once; bodies constrained to it follow in the next steps).
 * Parameters act from the next step on; those from which other parameters or sizes of families were
 * computed are refused. After Q, V and TIME are written the state is projected onto the
 * constraints, as at the start, and contacts are decided anew; the change of energy counts as work,
 * and all sleeping bodies wake.
 * If something is refused, the state is unchanged. Writing the controls of a robot is cheap and
 * allocates nothing. */
zw_status zw_state_set(const zw_system *system, zw_state *state, zw_work *work, zw_field_id field,
                       int first, int count, const double *value, zw_error *error);

/* Kinds of named objects. The first are the parts of a robot (zwang/bodies.h), numbered as in its
 * model; a body or joint without a name in the model gets one here. The others are the numbers and
 * formulas of a system. */
typedef enum zw_kind {
    ZW_KIND_BODY,
    ZW_KIND_JOINT,
    ZW_KIND_GEOM,
    ZW_KIND_SITE,
    ZW_KIND_MESH,
    ZW_KIND_EQUALITY,
    ZW_KIND_TENDON,
    ZW_KIND_ACTUATOR,
    ZW_KIND_SENSOR,
    ZW_KIND_KEY,
    ZW_KIND_PAIR,
    ZW_KIND_EXCLUDE,
    ZW_KIND_HFIELD,
    ZW_KIND_COORD, /* numbers of ZW_FIELD_Q */
    ZW_KIND_SPEED, /* of ZW_FIELD_V; of equations these are the names of the coordinates */
    ZW_KIND_PARAM, /* of ZW_FIELD_PARAM: parameters, then controls of actuators */
    ZW_KIND_CONSTRAINT,
    ZW_KIND_ROW, /* numbers of ZW_FIELD_LAMBDA, by the names of their constraints */
    ZW_KIND_EVENT,
    ZW_KIND_CHECK,
    ZW_KIND_READING,   /* of ZW_FIELD_SENSOR: "gyro.x", "gyro.y"; quaternions begin with ".w" */
    ZW_KIND_ACTIVATION /* of ZW_FIELD_ACTIVATION, by the names of their actuators */
} zw_kind;
int zw_count(const zw_system *system, zw_kind kind);
const char *zw_name(const zw_system *system, zw_kind kind, int index); /* never NULL */
int zw_id(const zw_system *system, zw_kind kind, const char *name);    /* -1: none */

/* ---- Recording ---------------------------------------------------------------------------- */

/* Collects samples (use zw_record_observe as the observer, or call it from yours), then writes
 * them. */
zw_record *zw_record_create(const zw_system *system, zw_error *error);
/* Allocates memory for the samples of a run with these options from this state, so that a lack of
 * memory is reported before the run. `plan` comes from zw_run_plan; samples at events are not
 * counted. */
zw_status zw_record_expect(zw_record *record, const zw_state *state, const zw_run_options *plan,
                           zw_error *error);
int zw_record_observe(void *record, zw_sample_kind kind, int event, const zw_system *system,
                      const zw_state *state, zw_work *work);
/* Columns for contacts of bodies. Each pair that ever touched has four: the sum of its normal
 * forces, the size of the sum of its tangential forces, the smallest gap (empty while apart), and 0
 * apart, 1 sticking, 2 sliding. If more than `most` pairs touch, there are no such columns; -1:
 * always; 0: never. Without this call: 24. */
void zw_record_contacts(zw_record *record, int most);
int zw_record_pairs(const zw_record *record); /* pairs that have touched so far; -1: too many */
/* The extension of the path selects the format: .csv .h5 .svg .html. The HDF5 library is shared by
 * all threads of a program: write .h5 from one thread at a time. */
/* CSV files begin with lines that start with # and give version, model, parameters, method and
 * verdict; and they have a column `event` that names what happened in a row. Plain ones have
 * neither. */
void zw_record_plain(zw_record *record, int plain);
zw_status zw_record_write(zw_record *record, const zw_run_summary *summary, const char *path,
                          zw_error *error);
void zw_record_free(zw_record *record);

const char *zw_version(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
