/* Rigid bodies as a system: a tree in reduced coordinates (tree/tree.h), loops closed by rows.
 *
 * The tree gives M, the bias and the motion of every body; a constraint restricts the relative
 * motion of frames of two bodies. Where equations run a tape, bodies sweep over the tree, and both
 * fill the same outputs (system_part): later stages do not distinguish them.
 *
 * Rows of a constraint are linear in the motions (omega, velocity) of its two frames,
 *
 *     psi = c1 . V1 + c2 . V2,      d psi/dt = c1 . A1 + c2 . A2 + (c1' . V1 + c2' . V2),
 *
 * so row r of A is c1 J1 + c2 J2, and b is minus the rest, with A1, A2 for a = 0. For rolling, psi
 * is not the rate of a phi: such a row constrains speeds only.
 *
 * A length is the common abstraction of joints and tendons: a sum of coef * coordinate over hinges
 * and slides, or the path length of a spatial tendon (tendon/tendon.h), whose coef depend on q.
 * Limits, couplings, springs and motors act on lengths. */
#ifndef ZW_SYSTEM_BODIES_H
#define ZW_SYSTEM_BODIES_H

#include "collide/collide.h"
#include "system/work.h"
#include "zwang/bodies.h"

/* A frame on a body of the tree; `part` is the body of the model that it was given on. */
typedef struct bodies_frame {
    int body, part;
    double pos[3], quat[4];
} bodies_frame;

typedef struct bodies_term {
    int q, dof;  /* q: -1 for spatial tendons */
    double coef; /* for spatial tendons in the reference pose; now: bodies_coef_at */
} bodies_term;

/* L = sum of coef * q over its terms, L' = sum of coef * v. */
typedef struct bodies_length {
    int first, count; /* in term[] */
    int path;         /* the path of a spatial tendon; -1: none */
    double origin;    /* L in the reference pose */
    int force_limited;
    double force_range[2]; /* of the sum of all motors: on a tendon, or at a joint */
    int lifts; /* gravity compensation acts through the motor there, within force_range */
    double stiffness, damping;
    double rest[2];  /* no spring force between these */
    double armature; /* a mass m that moves with the rate: m coef coef' in M */
} bodies_length;

/* One stop of a spatial tendon. */
typedef struct bodies_stop {
    enum { STOP_SITE, STOP_SPHERE, STOP_CYLINDER } kind;
    int begins;     /* 1: a branch begins here */
    double divisor; /* of its branch */
    bodies_frame frame;
    double radius;
    int has_side;
    bodies_frame side;
} bodies_stop;

typedef struct bodies_path {
    int length;
    int first, count; /* in stop[] */
} bodies_path;

/* An addition to an entry of the tree's M: m coef coef' of two terms of a length with armature
 * m. */
typedef struct bodies_extra {
    int at;
    int length, x, y; /* the two terms */
} bodies_extra;

/* A free body, without massive children, that has no moment of inertia about some axis: a point, a
 * thin rod. Where J = R J_body R' should be zero it is round-off of either sign in world axes,
 * which the kernel would take for a mass. So its entries of M are computed from constants, with v
 * in world axes and w in body axes:
 *
 *     M = [ m 1,  -m R [c] ; (its transpose),  J_body - m [c][c] ] */
typedef struct bodies_thin {
    int body, dof;
    double mass, com[3];
    double inertia[6]; /* xx yy zz xy xz yz of J_body - m [c][c], exactly zero where it is */
} bodies_thin;

typedef enum bodies_constraint_kind {
    CONSTRAINT_CONNECT,  /* 3 rows: the same point */
    CONSTRAINT_WELD,     /* 6: the same frame */
    CONSTRAINT_HINGE,    /* 5: free to rotate about z */
    CONSTRAINT_SLIDE,    /* 5: free to translate along z */
    CONSTRAINT_DISTANCE, /* 1 */
    CONSTRAINT_WHEEL,    /* 2, of speeds: a disc rolls on a plane */
    CONSTRAINT_MECANUM,  /* 1, of speeds: a disc with rollers */
    CONSTRAINT_ROLL,     /* 2, of speeds: a ball */
    CONSTRAINT_BLADE,    /* 1, of speeds: a blade */
    CONSTRAINT_TOUCH,    /* 1: a rolling body stays on its plane */
    CONSTRAINT_LENGTH,   /* 1: L1 - o1 = poly(L2 - o2) */
    CONSTRAINT_LOWER,    /* 1, one-sided: L >= limit */
    CONSTRAINT_UPPER,    /* 1, one-sided: L <= limit */
    CONSTRAINT_BALL      /* 1, one-sided: the angle of a ball joint <= limit */
} bodies_constraint_kind;

typedef struct bodies_constraint {
    bodies_constraint_kind kind;
    int row; /* the first */
    int rows;
    bodies_frame frame[2];
    int length[2]; /* -1: none */
    int q, dof;    /* of the ball */
    double poly[5];
    double limit;                 /* distance or limit */
    bodies_constraint_kind shape; /* of CONSTRAINT_TOUCH: the kind of rolling constraint */
    double radius;
    double roller[2]; /* cosine and sine of the rollers' angle */
    zw_soft soft;     /* for the soft law: soft.h */
    double margin, torquescale;
    int chain[2];   /* numbers of dofs that move the two bodies, or of terms of the two lengths, */
    int *column[2]; /* and their positions among the columns of the rows */
} bodies_constraint;

/* Dry friction: a force against the speed e = sum of coef * v, of at most `limit`. As a constraint
 * it has no rows, only a direction of sliding. */
typedef struct bodies_dry {
    int first, count; /* in term[] */
    int length;       /* the tendon with these terms; -1: a joint */
    double limit;
    zw_soft soft; /* soft.h */
} bodies_dry;

typedef enum bodies_motor_kind {
    MOTOR_LENGTH,
    MOTOR_BALL,
    MOTOR_FREE,
    MOTOR_SITE,
    MOTOR_ADHESION
} bodies_motor_kind;

/* A muscle, bodies_muscle.c: its curves over L = start + by_length * length, V = by_rate *
 * velocity.
 */
typedef struct bodies_muscle {
    double start, by_length, by_rate;
    double peak;               /* force */
    double least, most;        /* L outside which it exerts no active force */
    double passive, eccentric; /* fpmax, fvmax */
} bodies_muscle;

/* force = clamp(gain u + bias) along gear; u is the control c, a parameter, or with dynamics its
 * activation, a number of the state: u' = c (integrator), (c - u)/tau (filter), or that of a
 * muscle. */
typedef struct bodies_motor {
    bodies_motor_kind kind; /* members used at every step come first */
    int length;             /* of MOTOR_LENGTH */
    int part;               /* of MOTOR_ADHESION */
    int param;
    int act;     /* which activation; -1: none */
    int formula; /* of the control, among those of bodies_formulas; -1: the parameter */
    int clamp_control, clamp_force, gain_law, bias_law;
    int clamp_act;
    int early; /* actearly: in MuJoCo's steps the activation is that of the end of the step */
    double control[2], force[2], gain[3], gear[6];
    double bias[3];
    double act_range[2];
    double filter; /* 1/tau; 0: an integrator, or a muscle */
    int excited;   /* its activation has the dynamics of a muscle, with */
    double tau[3]; /* time constants of activation and deactivation, width of the transition */
    bodies_muscle active, slack; /* curves of gain and bias */
    int exact;                   /* MuJoCo's steps integrate the filter exactly too */
    int q, dof;                  /* of MOTOR_BALL, MOTOR_FREE */
    int in_parent;
    bodies_frame frame; /* of MOTOR_SITE */
    int refers;         /* 1: it acts relative to another site, and has a length */
    double rod;         /* length of the rod of a slider-crank; 0: none */
    bodies_frame ref;
} bodies_motor;

/* Gravity compensation of a body: this force at this point. */
typedef struct bodies_lift {
    int body, part;
    double pos[3], force[3];
} bodies_lift;

/* A body or shape that fluid forces act on: bodies_fluid.c. */
typedef struct bodies_fluid {
    bodies_frame frame; /* position and axes */
    int ellipsoid;
    double size[3]; /* sides of the box, or half axes */
    double coef[5]; /* blunt, slender and angular drag, Kutta and Magnus lift */
    double added_mass[3], added_moment[3]; /* added mass of the fluid, for density 1 */
} bodies_fluid;

/* A body of the model: the bodies that the tree has fused are kept one by one. */
typedef struct bodies_part {
    int parent;                      /* of the model */
    bodies_frame frame;              /* its own */
    double mass, com[3], inertia[6]; /* in the frame of the tree's body; inertia about com */
    int simple; /* implicitfast neglects slopes of forces between its dofs: soft_implicit.c */
} bodies_part;

/* A joint of the model. */
typedef struct bodies_joint {
    int part;
    int index; /* in the tree */
} bodies_joint;

/* A sensor: sense/sense.c defines what each kind measures. */
typedef struct bodies_sensor {
    zw_sensor_kind kind;
    int at, size;            /* its readings */
    double cutoff;           /* 0: none */
    bodies_frame frame, ref; /* its frame, and that of the reference, if `relative` */
    int relative;
    int target;                  /* a part, motor or length: joints, then tendons */
    int q, dof;                  /* of its joint */
    int constraint, constraints; /* limits: those of the joint or tendon, -1: none */
    double margin;
    int shape; /* of its site, for touch, insidesite and contacts */
    double zone[3];
    int side[2], subject[2]; /* of contacts: zw_frame_kind and index of the model, */
    int data, number, reduce;
} bodies_sensor;

/* A geom that rays can hit; and all of them. */
typedef struct bodies_target {
    bodies_frame frame;
    collide_shape shape;
} bodies_target;

struct bodies_rays {
    int count, mesh_count;
    bodies_target *target;
    collide_mesh **mesh; /* of meshes, then of height fields; NULL: not visible */
};

/* One number to be drawn: a point on a body. */
typedef struct bodies_mark {
    int body;
    double pos[3];
} bodies_mark;

/* ---- Formulas over bodies: bodies_formula.c, bodies_seen.c ------------------------------------
 *
 * A .zw file may import bodies and write formulas over their quantities y(q), with y' = J v
 * ("seen": model_seen). The formulas have the y as their coordinates, so that
 *
 *     constraint phi(y, t):      A = phi_y J,    b = -D D phi - phi_y (J' v)
 *     constraint psi(y, y', t):  A = psi_y' J,   b = -D psi - psi_y' (J' v)
 *     potential, forces:         J' (-V_y + Q - R_y')
 *
 * with D as in system.h, over y: these derivatives are exact, and the tree gives J. Every y' is
 * linear in the motion of one frame, y' = c . V, or y is the coordinate of a joint. */

typedef struct bodies_seen {
    model_seen_kind kind;
    int q, dof; /* of a joint */
    int frame;
    int axis, component;
} bodies_seen;

/* The contribution of one frame to one row. */
typedef struct bodies_piece {
    int row, frame;
    int chain,
        *column; /* number of dofs that move it, and their positions among the columns of the row */
} bodies_piece;

/* The derivatives of a force or a control by a seen quantity: two outputs of PART_SLOPES, by its
 * value and by its rate. Those of one force or control are contiguous. */
typedef struct bodies_slope {
    int on;      /* the seen quantity that the force acts on; -1: */
    int control; /* it is this control */
    int by;
} bodies_slope;

/* An initial value given by a formula of parameters. */
typedef struct bodies_begin {
    int at, is_speed;
    expr_id value;
    int place;
} bodies_begin;

typedef struct bodies_formulas {
    int count;
    bodies_seen *seen;
    int frame_count;
    bodies_frame *frame;
    int rows, constraints; /* they precede those of the bodies' constraints */
    system_row *kind;      /* [rows] */
    int *start, *entry;    /* [rows + 1], the entries of seen[] in each row */
    int *column;           /* [entries] for joints: the column of its dof; for others -1 */
    int piece_count;
    bodies_piece *piece;
    int potential_count, *potential; /* the seen quantities that V depends on */
    int force_count, *force;         /* those that Q - R_y' acts on */
    int control_count;
    int begin_count;
    bodies_begin *begin;
    int rough;         /* some constraint has friction */
    system_slip *slip; /* [constraints] over seen quantities */
    int *slip_seen;    /* their columns */
    int at_bias, at_potential, at_force, at_time, at_control, at_mu,
        at_slip; /* offsets in the terms */
    int outputs[PART_COUNT];
    expr_id *out[PART_COUNT]; /* their nodes */
    int most;                 /* largest number of outputs of a part */
    int works;                /* they do work */
    int slope_count;
    bodies_slope *slope;
} bodies_formulas;

struct system_bodies {
    bodies_formulas *formulas; /* NULL: none */
    expr_id energy;            /* as a formula, if a check needs it */
    zw_model *shown; /* names of coordinates and constraints, for messages and files; owned */
    const char
        *missing_mesh; /* mesh file of a shape that others would touch, or NULL; the model's */
    char **speed;      /* [n] names of the speeds */
    double *q, *v;     /* [nq], [n] the initial state */
    int term_count, length_count, constraint_count, dry_count, motor_count, lift_count, mark_count;
    bodies_term *term;
    double *coef; /* [terms] the constant ones */
    int path_count, stop_count;
    bodies_path *path;
    bodies_stop *stop;
    bodies_length *length; /* joints of the model (joint_count), then its tendons */
    int motor_lifts;       /* some of them compensate gravity by their motors */
    bodies_constraint *constraint;
    bodies_dry *dry; /* their constraints follow the others */
    bodies_motor *motor;
    bodies_lift *lift;
    int fluid_count;
    bodies_fluid *fluid;
    double density, viscosity, wind[3]; /* of the fluid */
    bodies_mark *mark;                  /* for PART_OUTPUTS */
    int *mark_output;                   /* [marks] index of its three numbers */
    int outputs;
    int act_count;
    int *act_motor; /* [activations] the motor of each */
    double *act;    /* [activations] initial values */
    int part_count, joint_count;
    bodies_part *part;
    bodies_joint *joint;
    int adhesion_count; /* motors of MOTOR_ADHESION */
    int sensor_count, reading_count;
    bodies_sensor *sensor;
    double magnetic[3];
    /* NULL-terminated */
    char **part_name, **joint_name, **reading_name;
    struct contact_world *contact; /* geoms and contact filters: contacts.h */
    struct bodies_rays *rays; /* geoms that rangefinders can hit; NULL: there are no rangefinders */
    int *entry; /* [entries of M] of the tree: their indices in the pattern of the system */
    int extra_count;
    bodies_extra *extra; /* of tendons with armature */
    int thin_count;
    bodies_thin *thin; /* free bodies without some moment of inertia */
    int widest;        /* largest number of dofs that move a body */
    double timestep;   /* of the file, for methods with fixed steps */
    int without;       /* ZW_WITHOUT_... */
    int elliptic;      /* friction cones of the soft law; 0: pyramids */
    int integrator;    /* zw_integrator: of its steps */
    double impratio;
    double sleep; /* m/s: islands slower than this may sleep; 0: never */
    double
        damping_rate; /* the largest rate, in 1/time, at which dampers and motors damp a motion */
    struct bodies_chain *chain; /* NULL: no long chains */
};

zw_status bodies_compile(zw_system *system, const zw_model *model, zw_error *error);
void bodies_free(struct system_bodies *bodies);
/* The initial state: the pose in the file, at rest; or a keyframe. */
zw_status bodies_start(const zw_system *system, const double *param, double *q, double *v,
                       zw_error *error);
/* Numbers that a step of the impulse method passes to the next: step/impulse/impulse_memory.c. */
int bodies_step_memory(const zw_system *system);
int bodies_sleep_memory(const zw_system *system); /* the last of them: step/sleep/sleep.c */
/* Numbers that bodies_evaluate needs in work->rows. */
size_t bodies_scratch(const zw_system *system);
/* Evaluates one part of system.h into work->out. */
void bodies_evaluate(const zw_system *system, zw_work *work, system_part part,
                     const expr_inputs *in);

/* Accelerations without active constraints, in O(n) and without M; also fills Q of PART_TERMS. 0: M
 * is singular, or something is not finite. */
int bodies_accelerate(const zw_system *system, zw_work *work, const expr_inputs *in, double *a);

/* From now on, process equal trees together, if there are enough of them: tree/group.h. 0: no
 * memory. */
int bodies_group_trees(const zw_system *system, zw_work *work);
/* Only force and Q of PART_TERMS; without M, unless the group computes it. No formulas. */
void bodies_smooth(const zw_system *system, zw_work *work, const double *q, const double *v);

/* bodies_seen.c */
/* The leaves of formulas in this state; runs the sweeps. */
expr_inputs bodies_look_all(const zw_system *system, zw_work *work, const expr_inputs *in);
/* Runs the formulas of a part; the sweeps for velocities have been run, those for accelerations
 * (in->a) are run here. Returns their outputs, which are valid until the next run. */
const double *bodies_run_formulas(const zw_system *system, zw_work *work, system_part part,
                                  const expr_inputs *in);
/* After the formulas of the terms: their contributions to b and A, and to the forces on the
 * coordinates. */
void bodies_formula_rows(const zw_system *system, zw_work *work, const double *entries, double *A);
void bodies_formula_bias(const zw_system *system, zw_work *work, double *b);
void bodies_formula_forces(const zw_system *system, zw_work *work, int potential, double *force);
/* The sum of x * coefficients over the listed quantities of this frame, and its position; 0: there
 * are none. */
int bodies_gather(const zw_system *system, const zw_work *work, int frame, const int *list,
                  const double *x, int count, double c[6], const double **place);
/* y' of a seen quantity as sum of coef[k] v[dof[k]]; returns their number. Formulas have been
 * run. */
int bodies_seen_row(const zw_system *system, zw_work *work, int index, int *dof, double *coef);
/* The sum of x y'' over the list. */
double bodies_accelerated(const zw_system *system, const zw_work *work, const int *list,
                          const double *x, int count);
/* bodies_formula_slip.c: the slip of the formulas' constraints from the outputs of its formulas;
 * returns where that of dry friction continues. */
double *bodies_put_slip(const zw_system *system, zw_work *work, const double *from, double *out);
/* The wrench of all formulas on frame f, moment first, about its position, including constraints
 * with these multipliers. 0: none. */
int bodies_formula_wrench(const zw_system *system, const zw_work *work, int f, const double *push,
                          double place[3], double wrench[6]);
const double *bodies_formula_outputs(const zw_system *system, const zw_work *work);
size_t bodies_formula_scratch(const bodies_formulas *formulas);
void bodies_formulas_free(bodies_formulas *formulas);

/* tendon/tendon.c. Evaluates spatial tendons at q; sweeps: of the tree there, or NULL: they are run
 * here. The result is kept until another q is requested. */
void bodies_stretch(const zw_system *system, const zw_work *work, const double *q,
                    const double *sweeps);
/* The coefficients of all terms. */
const double *bodies_coef_at(const zw_system *system, const zw_work *work, const double *q);
/* Does some force depend on positions of bodies, besides the coordinates? */
int bodies_forces_see_places(const zw_system *system);
double bodies_length_of(const zw_system *system, const zw_work *work, int length, const double *q);
double bodies_rate_of(const zw_system *system, const zw_work *work, int length, const double *q,
                      const double *v);
/* The second derivative of a length for zero accelerations; its sweeps have been run. */
double bodies_length_bias(const zw_system *system, const zw_work *work, int length);

/* Kinetic energy of armatures of tendons. */
double bodies_armature_energy(const zw_system *system, const zw_work *work, const double *q,
                              const double *v);
/* The addition to its entry of M. */
double bodies_extra_mass(const struct system_bodies *bodies, const bodies_extra *extra,
                         const double *coef);
/* The index of the bodies' first constraint: those of formulas precede it. */
int bodies_first_constraint(const struct system_bodies *bodies);

/* bodies_force.c. Velocities have been swept, formulas of the terms run. */
/* The transmission of motor `index`: a force f of it acts with f coef[k] on speed dof[k], and the
 * rate of its length is the sum of coef[k] v[dof[k]]. Returns their number, at most the size of
 * work->aim. */
int bodies_aim(const zw_system *system, zw_work *work, int index, const double *q, int *dof,
               double *coef, double *length);
/* The position of the slider along its axis, `apart` being the vector from its site to the crank;
 * and the force on the crank for a unit force along the axis. */
double bodies_crank(double rod, const double apart[3], const double axis[3], double force[3]);
/* The force at u before it is limited, and its derivatives. */
typedef struct bodies_law {
    double force, by_length, by_rate;
} bodies_law;
bodies_law bodies_motor_law(const bodies_motor *motor, double u, double length, double rate);
/* The equivalent of u for which a servo of an angle in space takes the shorter rotation from
 * `length`; others: u. */
double bodies_nearest_control(const bodies_motor *motor, double u, double length);
/* Its u: the control, or the activation (stored after the speeds), within their ranges. */
double bodies_control(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                      const double *v);
/* Its activation after a time h, from `now`, with constant control. */
double bodies_activated(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                        double now, double h);
/* The time for which MuJoCo's step h applies the initial rate: less than h for exact filters. */
double bodies_activation_time(const bodies_motor *motor, double h);
/* The derivative of that activation by the control. */
double bodies_activates(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                        double now, double h);
/* bodies_muscle.c: gain and bias, with their derivatives by length and rate; the time constant. */
double bodies_muscle_gain(const bodies_muscle *muscle, double length, double rate,
                          double *by_length, double *by_rate);
double bodies_muscle_bias(const bodies_muscle *muscle, double length, double *by_length);
double bodies_muscle_time(const bodies_motor *motor, double u, double now);
/* A motor at an instant: length, rate, force; for a site the wrench at `place`, moment first. Its
 * transmission to `count` speeds is in work->aim. */
typedef struct bodies_pull {
    double length, rate, force;
    double place[3], wrench[6];
    int count;
} bodies_pull;
bodies_pull bodies_motor_look(const zw_system *system, zw_work *work, int index, const double *q,
                              const double *v);
/* The rates of all activations; v includes the carried numbers. */
void bodies_activate(const zw_system *system, const zw_work *work, const double *v, double *rate);
/* All of these add to force[n]. Motors must be first, when force is zero: scratch[lengths] gets the
 * force along each length. */
void bodies_add_motors(const zw_system *system, zw_work *work, const double *q, const double *v,
                       double *scratch, double *force);
/* Springs of lengths and gravity compensation; returns their potential. force may be NULL. */
double bodies_add_springs(const zw_system *system, zw_work *work, const double *q, double *force);
/* Dampers and fluid forces. */
void bodies_add_dampers(const zw_system *system, zw_work *work, const double *q, const double *v,
                        double *force);

/* bodies_fluid.c: the fluid force on one body or shape, along the columns of R about `place`,
 * moment first; B[6][6] gets its derivative by the velocity, unless it is NULL. The `count` columns
 * of its Jacobian, also along R, are in work->jacobian, their speeds in aim_dof. */
typedef struct bodies_flow {
    double place[3], R[9], force[6];
    int count;
} bodies_flow;
bodies_flow bodies_fluid_look(const zw_system *system, zw_work *work, int index, const double *v,
                              double *B);
void bodies_add_fluid(const zw_system *system, zw_work *work, const double *v, double *force);

/* Pose and motion of a frame in the world; the acceleration is for a = 0. */
typedef struct bodies_moving {
    double place[3], axis[3][3]; /* axis[0] is x */
    double V[6], A[6];           /* angular part first */
} bodies_moving;

/* One row: coefficients of the two motions, and the term with the rates of these. */
typedef struct bodies_row {
    double phi, c[2][6], rest;
} bodies_row;

/* bodies_rows.c */
bodies_moving bodies_look(const zw_system *system, const zw_work *work, const bodies_frame *frame);
/* c . J_d for one column of a Jacobian; 0 if it is only round-off of its terms. */
double bodies_entry(const double *c, const double *J);

/* bodies_force.c: a wrench (moment first) at a point of a body, on the coordinates. */
/* The current range of the motor forces on a length. If the motor of a joint also compensates
 * gravity within its range, with the force L along its speed, that is [low - L, high - L]: L itself
 * is added with the springs. bodies_see_lifts finds L from the current sweeps; bodies_add_motors
 * calls it. */
void bodies_see_lifts(const zw_system *system, zw_work *work);
void bodies_force_range(const zw_system *system, const zw_work *work, int length, double range[2]);
void bodies_push(const zw_system *system, zw_work *work, int body, const double place[3],
                 const double wrench[6], double *force);

/* bodies_roll.c: the rows of CONSTRAINT_WHEEL to CONSTRAINT_TOUCH. */
void bodies_roll_rows(const bodies_constraint *constraint, const bodies_moving f[2],
                      bodies_row *list);
int bodies_is_rolling(const bodies_constraint *constraint); /* are its rows on speeds? */

/* bodies_rows.c: phi, psi, b of all constraints, and A in the pattern of the system; NULL: not
 * needed. all: also rows that others imply, as in the soft law. The sweeps have been run. */
typedef struct bodies_rows {
    double *phi, *psi, *b, *A;
    int all;
} bodies_rows;
void bodies_fill_rows(const zw_system *system, const zw_work *work, const double *q,
                      const double *v, bodies_rows rows);
void bodies_fill_constraint(const zw_system *system, const zw_work *work,
                            const bodies_constraint *constraint, const double *q, const double *v,
                            bodies_rows rows);
/* The wrenches of a constraint on its two frames for these multipliers of its rows, moment first,
 * about the two positions. Kinematics have been run. */
void bodies_constraint_wrench(const zw_system *system, const zw_work *work,
                              const bodies_constraint *constraint, const double *push,
                              double place[2][3], double wrench[2][6]);

/* bodies_load.c: runs the sweeps with the accelerations of the last zw_forward, then computes the
 * wrench of its parent on each part, load[parts][6]: moment about its centre of mass, force. */
void bodies_load(const zw_system *system, zw_work *work, zw_state *state);
/* Subtracts an external wrench, about `place`, on a part from that of its parent. */
void bodies_relieve(const zw_system *system, zw_work *work, int part, const double *wrench,
                    const double *place);
/* sense/sense.c: work->reading of all sensors, after zw_forward at this state. */
zw_status bodies_sense(const zw_system *system, zw_work *work, zw_state *state, zw_error *error);

/* bodies_adhesion.c: finds the contact points on which motors of MOTOR_ADHESION act at this
 * state, which are kept until the next call; `slack` is added to the gaps of the geoms. Afterwards
 * the sweeps are those of the state. Clear: no points. */
zw_status bodies_find_adhesion(const zw_system *system, zw_work *work, const double *q,
                               const double *v, double slack, zw_error *error);
void bodies_clear_adhesion(zw_work *work);
void bodies_adhesion_free(struct bodies_adhesion *adhesion);
/* As bodies_aim. */
int bodies_aim_adhesion(const zw_system *system, zw_work *work, const bodies_motor *motor, int *dof,
                        double *coef);

/* sense/touch.c: the reading of a touch sensor, whose site is at `place` with the axes of R. */
double bodies_touch(const zw_work *work, const bodies_sensor *sensor, const double place[3],
                    const double R[9]);
/* Is the point x in the shape of such a site? And the readings of a contact sensor, out[size]. */
int bodies_is_inside(const bodies_sensor *sensor, const double place[3], const double R[9],
                     const double x[3]);
void bodies_sense_contacts(const zw_system *system, const zw_work *work,
                           const bodies_sensor *sensor, const double place[3], const double R[9],
                           double *out);
int bodies_contact_size(int data); /* numbers of one contact */

/* sense/ray.c: the readings of a rangefinder at this site, and their number for these `data`. */
void bodies_sense_ray(const zw_system *system, const zw_work *work, const bodies_sensor *sensor,
                      const double place[3], const double R[9], double *out);
int bodies_ray_size(int data);
void bodies_rays_free(struct bodies_rays *rays);

/* The centre of mass of a part; and its inertia about it times x. After kinematics. */
void bodies_part_centre(const zw_system *system, const zw_work *work, int part, double place[3]);
void bodies_part_inertia(const zw_system *system, const zw_work *work, int part, const double x[3],
                         double y[3]);

#endif
