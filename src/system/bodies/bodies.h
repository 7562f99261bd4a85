/* Rigid bodies as a system: a tree in reduced coordinates (tree/tree.h), loops closed by rows.
 *
 * The tree says M, the bias and the motion of every body; a constraint says how the frames of two
 * bodies may move against each other. Where equations run a tape, bodies sweep over the tree, and
 * both fill the same outputs (system_part): all that comes after does not know the difference.
 *
 * Rows of a constraint are linear in the motions (omega, velocity) of its two frames,
 *
 *     psi = c1 . V1 + c2 . V2,      d psi/dt = c1 . A1 + c2 . A2 + (c1' . V1 + c2' . V2),
 *
 * so row r of A is c1 J1 + c2 J2, and b is minus the rest, with A1, A2 taken for a = 0. Of what
 * rolls, psi is no rate of a phi: such a row holds speeds alone.
 *
 * A length is what joints and tendons have in common: a sum of coef * coordinate over hinges and
 * slides, or the way of a tendon through space (tendon/tendon.h), whose coef depend on q. Limits,
 * couplings, springs and motors act on lengths. */
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
    int q, dof;  /* q: -1 of tendons through space */
    double coef; /* of those in the reference pose; now: bodies_coef_at */
} bodies_term;

/* L = sum of coef * q over its terms, L' = sum of coef * v. */
typedef struct bodies_length {
    int first, count; /* in term[] */
    int path;         /* the way of a tendon through space; -1: none */
    double origin;    /* L in the reference pose */
    int force_limited;
    double force_range[2]; /* of all motors together: on a tendon, or at a joint */
    int lifts;             /* within it: weights that are taken off act through the motor there */
    double stiffness, damping;
    double rest[2];  /* between these no spring force */
    double armature; /* a mass m that moves with the rate: m coef coef' in M */
} bodies_length;

/* One stop of a tendon through space. */
typedef struct bodies_stop {
    enum { STOP_SITE, STOP_SPHERE, STOP_CYLINDER } kind;
    int begins;     /* a branch */
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

/* An entry of M that has more than the tree's: m coef coef' of two terms of a length with armature
 * m. */
typedef struct bodies_extra {
    int at;
    int length, x, y; /* which terms of it */
} bodies_extra;

/* A free body, with nothing heavy on it, that has no moment of inertia about some axis: a point, a
 * thin rod. J = R J_body R' in the axes of the world is round-off where it is zero, of either sign,
 * and the kernel takes it for a mass. So its entries of M are computed from what is constant, with
 * v in the world's axes and w in the body's:
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
    CONSTRAINT_HINGE,    /* 5: free to turn about z */
    CONSTRAINT_SLIDE,    /* 5: free to shift along z */
    CONSTRAINT_DISTANCE, /* 1 */
    CONSTRAINT_WHEEL,    /* 2, of speeds: a disc rolls on a plane */
    CONSTRAINT_MECANUM,  /* 1, of speeds: a disc with rollers */
    CONSTRAINT_ROLL,     /* 2, of speeds: a ball */
    CONSTRAINT_BLADE,    /* 1, of speeds: a blade */
    CONSTRAINT_TOUCH,    /* 1: what rolls is on its plane */
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
    bodies_constraint_kind shape; /* of CONSTRAINT_TOUCH: what rolls */
    double radius;
    double roller[2]; /* cosine and sine of the rollers' angle */
    zw_soft soft;     /* for the soft law: soft.h */
    double margin, torquescale;
    int chain[2];   /* dofs that move the two bodies, or terms of the two lengths: how many, */
    int *column[2]; /* and where each stands among the columns of the rows */
} bodies_constraint;

/* Dry friction: a force against the speed e = sum of coef * v, of at most `limit`. As a constraint
 * it has no rows but a direction to slide in. */
typedef struct bodies_dry {
    int first, count; /* in term[] */
    int length;       /* the tendon whose terms they are; -1: a joint's own */
    double limit;
    zw_soft soft; /* soft.h */
} bodies_dry;

typedef enum bodies_motor_kind {
    MOTOR_LENGTH,
    MOTOR_BALL,
    MOTOR_FREE,
    MOTOR_SITE,
    MOTOR_GRIP
} bodies_motor_kind;

/* A muscle, bodies_muscle.c: its curves over L = start + by_length * length, V = by_rate *
 * velocity.
 */
typedef struct bodies_muscle {
    double start, by_length, by_rate;
    double peak;               /* force */
    double least, most;        /* L beyond which it does not pull */
    double passive, eccentric; /* fpmax, fvmax */
} bodies_muscle;

/* force = clamp(gain u + bias) along gear, u being a parameter c; or where there are dynamics its
 * activation, a number of the state: u' = c (integrator), (c - u)/tau (filter), or that of a
 * muscle. */
typedef struct bodies_motor {
    bodies_motor_kind kind; /* what all have comes first: it is asked for at every step */
    int length;             /* of MOTOR_LENGTH */
    int part;               /* of MOTOR_GRIP */
    int param;
    int act;     /* which activation; -1: none */
    int formula; /* of the control, among those of bodies_formulas; -1: it is the parameter */
    int clamp_control, clamp_force, gain_law, bias_law;
    int clamp_act;
    int early; /* in steps of MuJoCo it is that of the end of the step: actearly */
    double control[2], force[2], gain[3], gear[6];
    double bias[3];
    double act_range[2];
    double filter;               /* 1/tau; 0: an integrator, or a muscle */
    int excited;                 /* its activation is that of a muscle, with */
    double tau[3];               /* time constants up and down, width of the change between them */
    bodies_muscle active, slack; /* of gain and bias */
    int exact;                   /* MuJoCo's steps follow the filter exactly, too */
    int q, dof;                  /* of MOTOR_BALL, MOTOR_FREE */
    int in_parent;
    bodies_frame frame; /* of MOTOR_SITE */
    int refers;         /* 1: it pulls against another site, and has a length */
    double rod;         /* that of a slider-crank with this rod; 0: it is none */
    bodies_frame ref;
} bodies_motor;

/* Part of a body's weight that is taken off: this force at this point. */
typedef struct bodies_lift {
    int body, part;
    double pos[3], force[3];
} bodies_lift;

/* What air or water acts on: bodies_fluid.c. */
typedef struct bodies_fluid {
    bodies_frame frame; /* where, and along which axes */
    int ellipsoid;
    double size[3]; /* sides of the box, or half axes */
    double coef[5]; /* blunt, slender and angular drag, Kutta and Magnus lift */
    double added_mass[3], added_moment[3]; /* of the fluid that moves along, for density 1 */
} bodies_fluid;

/* A body of the model: those that the tree has fused are still known one by one. */
typedef struct bodies_part {
    int parent;                      /* of the model */
    bodies_frame frame;              /* its own */
    double mass, com[3], inertia[6]; /* in the frame of the body that carries it; about com */
} bodies_part;

/* A joint of the model. */
typedef struct bodies_joint {
    int part;
    int index; /* in the tree */
} bodies_joint;

/* A sensor: sense/sense.c says what each kind reads. */
typedef struct bodies_sensor {
    zw_sensor_kind kind;
    int at, size;            /* its readings */
    double cutoff;           /* 0: none */
    bodies_frame frame, ref; /* what it is mounted on, and relative to, if `relative` */
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

/* A geom that rays meet; and all of them. */
typedef struct bodies_target {
    bodies_frame frame;
    collide_shape shape;
} bodies_target;

struct bodies_rays {
    int count, mesh_count;
    bodies_target *target;
    collide_mesh **mesh; /* of meshes, then of height fields; NULL: not seen */
};

/* One number to be drawn: a point on a body. */
typedef struct bodies_mark {
    int body;
    double pos[3];
} bodies_mark;

/* ---- Formulas over bodies: bodies_formula.c, bodies_seen.c ------------------------------------
 *
 * A .zw file may import bodies and write formulas over what it sees of them (model_seen): numbers
 * y(q) with y' = J v. The formulas have the y as their coordinates, so that
 *
 *     constraint phi(y, t):      A = phi_y J,    b = -D D phi - phi_y (J' v)
 *     constraint psi(y, y', t):  A = psi_y' J,   b = -D psi - psi_y' (J' v)
 *     potential, forces:         J' (-V_y + Q - R_y')
 *
 * with D as in system.h, over y: what is derived is exact, and the tree does the rest. Every y is
 * linear in the motion of one frame, y' = c . V, or is the coordinate of a joint. */

typedef struct bodies_seen {
    model_seen_kind kind;
    int q, dof; /* of a joint */
    int frame;
    int axis, component;
} bodies_seen;

/* What one frame adds to one row. */
typedef struct bodies_piece {
    int row, frame;
    int chain, *column; /* dofs that move it, and where each stands among the columns of the row */
} bodies_piece;

/* How a force or a control follows what is seen: two outputs of PART_SLOPES, by its place and by
 * its rate. All of one force or control stand together. */
typedef struct bodies_slope {
    int on;      /* what is seen that the force acts on; -1: */
    int control; /* of this control */
    int by;
} bodies_slope;

/* A start that a formula of parameters says. */
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
    int rows, constraints; /* they stand before those of the constraints */
    system_row *kind;      /* [rows] */
    int *start, *entry;    /* [rows + 1], what each row holds of seen[] */
    int *column;           /* [entries] of joints: where its dof stands; of others -1 */
    int piece_count;
    bodies_piece *piece;
    int potential_count, *potential; /* what V depends on */
    int force_count, *force;         /* what Q - R_y' acts on */
    int control_count;
    int begin_count;
    bodies_begin *begin;
    int rough;         /* some constraint has friction */
    system_slip *slip; /* [constraints] over what is seen */
    int *slip_seen;    /* their columns */
    int at_bias, at_potential, at_force, at_time, at_control, at_mu, at_slip; /* in the terms */
    int outputs[PART_COUNT];
    expr_id *out[PART_COUNT]; /* what they are */
    int most;                 /* outputs of a part, at most */
    int works;                /* they do work */
    int slope_count;
    bodies_slope *slope;
} bodies_formulas;

struct system_bodies {
    bodies_formulas *formulas; /* NULL: none */
    expr_id energy;            /* as a formula, where a check asks for it */
    zw_model *shown; /* names of coordinates and constraints, for messages and files: ours */
    const char *missing_mesh; /* of a shape that cannot touch, or NULL: the model's */
    char **speed;             /* [n] names of the speeds */
    double *q, *v;            /* [nq], [n] the start as described */
    int term_count, length_count, constraint_count, dry_count, motor_count, lift_count, mark_count;
    bodies_term *term;
    double *coef; /* [terms] of those that are constant */
    int path_count, stop_count;
    bodies_path *path;
    bodies_stop *stop;
    bodies_length *length; /* joints of the model (joint_count), then its tendons */
    int motor_lifts;       /* some of them take weights off by their motors */
    bodies_constraint *constraint;
    bodies_dry *dry; /* their constraints come after those of the constraints */
    bodies_motor *motor;
    bodies_lift *lift;
    int fluid_count;
    bodies_fluid *fluid;
    double density, viscosity, wind[3]; /* of the fluid */
    bodies_mark *mark;                  /* for PART_OUTPUTS */
    int *mark_output;                   /* [marks] where its three numbers are */
    int outputs;
    int act_count;
    int *act_motor; /* [activations] whose each is */
    double *act;    /* [activations] at the start */
    int part_count, joint_count;
    bodies_part *part;
    bodies_joint *joint;
    int grip_count; /* motors of MOTOR_GRIP */
    int sensor_count, reading_count;
    bodies_sensor *sensor;
    double magnetic[3];
    /* [one more], NULL at the end */
    char **part_name, **joint_name, **reading_name;
    struct contact_world *contact; /* what may touch: contacts.h */
    struct bodies_rays *rays;      /* what rangefinders see; NULL: there are none */
    int *entry; /* [entries of M] where each of the tree's is in the pattern of the system */
    int extra_count;
    bodies_extra *extra; /* of tendons with armature */
    int thin_count;
    bodies_thin *thin; /* free bodies that lack a moment of inertia */
    int widest;        /* dofs that move some body, at most */
    double timestep;   /* of the description: for methods that need one */
    int without;       /* ZW_WITHOUT_... */
    int elliptic;      /* friction cones of the soft law; 0: pyramids */
    int integrator;    /* zw_integrator: of its steps */
    double impratio;
    double sleep; /* metres per second: below that things rest, and islands may sleep; 0: never */
    double haste; /* the largest rate, in 1/time, at which dampers and motors end a motion */
};

zw_status bodies_compile(zw_system *system, const zw_model *model, zw_error *error);
void bodies_free(struct system_bodies *bodies);
/* The start as described: q of the pose in the file, at rest; or a keyframe. */
zw_status bodies_start(const zw_system *system, const double *param, double *q, double *v,
                       zw_error *error);
/* Numbers that a step of the velocity form hands to the next: step/impulse/impulse_memory.c. */
int bodies_step_memory(const zw_system *system);
int bodies_sleep_memory(const zw_system *system); /* the last of them: step/sleep/sleep.c */
/* Numbers that bodies_evaluate wants in work->rows. */
size_t bodies_scratch(const zw_system *system);
/* One part of system.h into work->out. */
void bodies_evaluate(const zw_system *system, zw_work *work, system_part part,
                     const expr_inputs *in);

/* a where nothing holds, in O(n) and without M; Q of PART_TERMS is known afterwards. 0: masses are
 * missing, or something is not finite. */
int bodies_accelerate(const zw_system *system, zw_work *work, const expr_inputs *in, double *a);

/* Have equal trees worked on together from now on, if there are enough of them: tree/group.h. 0: no
 * memory. */
int bodies_group_trees(const zw_system *system, zw_work *work);
/* Of PART_TERMS only force and Q; without M, unless the group made it. No formulas. */
void bodies_smooth(const zw_system *system, zw_work *work, const double *q, const double *v);

/* bodies_seen.c */
/* The leaves of formulas in this state; sweeps are run. */
expr_inputs bodies_look_all(const zw_system *system, zw_work *work, const expr_inputs *in);
/* Run the formulas of a part; the sweeps for velocities have been run, those for accelerations are
 * run here (of in->a). Answers their outputs, which stay until the next run. */
const double *bodies_run_formulas(const zw_system *system, zw_work *work, system_part part,
                                  const expr_inputs *in);
/* After the formulas of the terms: what they add to b and A, and to forces on the coordinates. */
void bodies_formula_rows(const zw_system *system, zw_work *work, const double *entries, double *A);
void bodies_formula_bias(const zw_system *system, zw_work *work, double *b);
void bodies_formula_forces(const zw_system *system, zw_work *work, int potential, double *force);
/* The sum of x * coefficients over those of the list that are on this frame, and where it is; 0:
 * none is. */
int bodies_gather(const zw_system *system, const zw_work *work, int frame, const int *list,
                  const double *x, int count, double c[6], const double **place);
/* y' of what is seen as coef[k] v[dof[k]]; how many. Formulas have been run. */
int bodies_seen_row(const zw_system *system, zw_work *work, int index, int *dof, double *coef);
/* The sum of x y'' over the list. */
double bodies_accelerated(const zw_system *system, const zw_work *work, const int *list,
                          const double *x, int count);
/* bodies_formula_slip.c: the slip of their constraints from the outputs of its formulas; answers
 * where that of dry friction goes on. */
double *bodies_put_slip(const zw_system *system, zw_work *work, const double *from, double *out);
/* What all formulas do to frame f: a wrench, moment first, about its place; those of constraints
 * with these multipliers. 0: nothing. */
int bodies_formula_wrench(const zw_system *system, const zw_work *work, int f, const double *push,
                          double place[3], double wrench[6]);
const double *bodies_formula_outputs(const zw_system *system, const zw_work *work);
size_t bodies_formula_scratch(const bodies_formulas *formulas);
void bodies_formulas_free(bodies_formulas *formulas);

/* tendon/tendon.c. Tendons through space at q; sweeps: of the tree there, or NULL: they are made.
 * What was found is kept until another q is asked for. */
void bodies_stretch(const zw_system *system, const zw_work *work, const double *q,
                    const double *sweeps);
/* Of all terms. */
const double *bodies_coef_at(const zw_system *system, const zw_work *work, const double *q);
/* Does a force need to know where bodies are, beside the coordinates? */
int bodies_forces_see_places(const zw_system *system);
double bodies_length_of(const zw_system *system, const zw_work *work, int length, const double *q);
double bodies_rate_of(const zw_system *system, const zw_work *work, int length, const double *q,
                      const double *v);
/* The second derivative of a length, without accelerations; the sweeps for it have been run. */
double bodies_length_bias(const zw_system *system, const zw_work *work, int length);

/* Kinetic energy of armatures of tendons. */
double bodies_armature_energy(const zw_system *system, const zw_work *work, const double *q,
                              const double *v);
/* What its entry of M has more. */
double bodies_extra_mass(const struct system_bodies *bodies, const bodies_extra *extra,
                         const double *coef);
/* The constraint that is constraint 0: those of formulas stand before. */
int bodies_first_constraint(const struct system_bodies *bodies);

/* bodies_force.c. Velocities have been swept, formulas of the terms run. */
/* How motor `index` acts: a force f of it is f coef[k] on speed dof[k], and the rate at its end
 * the sum of coef[k] v[dof[k]]. Returns their number, at most what work->aim has room for. */
int bodies_aim(const zw_system *system, zw_work *work, int index, const double *q, int *dof,
               double *coef, double *length);
/* How far the slider is along its axis, from there to the crank being `apart`; and the force on the
 * crank that a unit along the axis makes. */
double bodies_crank(double rod, const double apart[3], const double axis[3], double force[3]);
/* What it wants to do at u, before its force is limited, and the slopes of that. */
typedef struct bodies_law {
    double force, by_length, by_rate;
} bodies_law;
bodies_law bodies_motor_law(const bodies_motor *motor, double u, double length, double rate);
/* The u by which a servo of an angle in space turns the shorter way from `length`; others: u. */
double bodies_nearest_control(const bodies_motor *motor, double u, double length);
/* Its u: the control, or the activation after the speeds, within their ranges. */
double bodies_control(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                      const double *v);
/* Its activation after a time h, from `now`, with the control as it is. */
double bodies_activated(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                        double now, double h);
/* How long MuJoCo's step h goes at the rate of its beginning: exact filters less than h. */
double bodies_activation_time(const bodies_motor *motor, double h);
/* How much of a change of its control that one becomes. */
double bodies_activates(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                        double now, double h);
/* bodies_muscle.c: gain and bias, with their slopes by length and rate; the time constant. */
double bodies_muscle_gain(const bodies_muscle *muscle, double length, double rate,
                          double *by_length, double *by_rate);
double bodies_muscle_bias(const bodies_muscle *muscle, double length, double *by_length);
double bodies_muscle_time(const bodies_motor *motor, double u, double now);
/* A motor now: what it measures, its force; of a site the wrench at `place`, moment first. What it
 * aims at, so many speeds, is in work->aim. */
typedef struct bodies_pull {
    double length, rate, force;
    double place[3], wrench[6];
    int count;
} bodies_pull;
bodies_pull bodies_motor_look(const zw_system *system, zw_work *work, int index, const double *q,
                              const double *v);
/* The rates of all activations, for the speeds with what is carried after them. */
void bodies_activate(const zw_system *system, const zw_work *work, const double *v, double *rate);
/* All of these add to force[n]. Motors, before all others, when force is zero: scratch[lengths]
 * gets the force along each length. */
void bodies_add_motors(const zw_system *system, zw_work *work, const double *q, const double *v,
                       double *scratch, double *force);
/* Springs of lengths and weights taken off: what has a potential, which is answered. force may be
 * NULL. */
double bodies_add_springs(const zw_system *system, zw_work *work, const double *q, double *force);
/* Dampers, air and water. */
void bodies_add_dampers(const zw_system *system, zw_work *work, const double *q, const double *v,
                        double *force);

/* bodies_fluid.c: what air or water does to one of the things it acts on, along the columns of R
 * about `place`, moment first; B[6][6] gets the slope by its velocity, unless it is NULL. The
 * columns of its Jacobian, along R too, are in work->jacobian, so many, their speeds in aim_dof. */
typedef struct bodies_flow {
    double place[3], R[9], force[6];
    int count;
} bodies_flow;
bodies_flow bodies_fluid_look(const zw_system *system, zw_work *work, int index, const double *v,
                              double *B);
void bodies_add_fluid(const zw_system *system, zw_work *work, const double *v, double *force);

/* A frame in the world and how it moves; the acceleration is for a = 0. */
typedef struct bodies_moving {
    double place[3], axis[3][3]; /* axis[0] is x */
    double V[6], A[6];           /* angular part first */
} bodies_moving;

/* One row: coefficients of the two motions, and what their rates add. */
typedef struct bodies_row {
    double phi, c[2][6], rest;
} bodies_row;

/* bodies_rows.c */
bodies_moving bodies_look(const zw_system *system, const zw_work *work, const bodies_frame *frame);
/* c . J_d for one column of a Jacobian; what is round-off beside its parts is 0. */
double bodies_entry(const double *c, const double *J);

/* bodies_force.c: a wrench (moment first) at a point of a body, on the coordinates. */
/* Forces of motors on a length have this range now. Where the motor of a joint takes weights off
 * within its range, with the force L along its speed, that is [low - L, high - L]: L itself comes
 * with the springs. bodies_see_lifts finds L, for the places that are known; bodies_add_motors
 * calls it. */
void bodies_see_lifts(const zw_system *system, zw_work *work);
void bodies_force_range(const zw_system *system, const zw_work *work, int length, double range[2]);
void bodies_push(const zw_system *system, zw_work *work, int body, const double place[3],
                 const double wrench[6], double *force);

/* bodies_roll.c: the rows of CONSTRAINT_WHEEL to CONSTRAINT_TOUCH. */
void bodies_roll_rows(const bodies_constraint *constraint, const bodies_moving f[2],
                      bodies_row *list);
/* Do its rows hold speeds? */
int bodies_is_rolling(const bodies_constraint *constraint);

/* bodies_rows.c: phi, psi, b of all constraints, and A in the pattern of the system; NULL: not
 * wanted. The sweeps for it have been run. */
typedef struct bodies_rows {
    double *phi, *psi, *b, *A;
} bodies_rows;
void bodies_fill_rows(const zw_system *system, const zw_work *work, const double *q,
                      const double *v, bodies_rows rows);
void bodies_fill_constraint(const zw_system *system, const zw_work *work,
                            const bodies_constraint *constraint, const double *q, const double *v,
                            bodies_rows rows);
/* What a constraint between two frames does to them for these multipliers of its rows: wrenches,
 * moment first, about the two places. Kinematics have been run. */
void bodies_constraint_wrench(const zw_system *system, const zw_work *work,
                              const bodies_constraint *constraint, const double *push,
                              double place[2][3], double wrench[2][6]);

/* bodies_load.c: sweeps with the accelerations of the last zw_forward; then what the parent of each
 * part exerts on it, load[parts][6]: moment about its centre of mass, force. */
void bodies_load(const zw_system *system, zw_work *work, zw_state *state);
/* sense/sense.c: work->reading of all sensors, after zw_forward at this state. */
zw_status bodies_sense(const zw_system *system, zw_work *work, zw_state *state, zw_error *error);

/* bodies_grip.c: the points that motors of MOTOR_GRIP hold, at this state, until they are found
 * again; `slack` more than geoms say. The sweeps are those of the state then. And none. */
zw_status bodies_grip(const zw_system *system, zw_work *work, const double *q, const double *v,
                      double slack, zw_error *error);
void bodies_grip_nothing(zw_work *work);
void bodies_grips_free(struct bodies_grips *grips);
/* As bodies_aim. */
int bodies_grip_aim(const zw_system *system, zw_work *work, const bodies_motor *motor, int *dof,
                    double *coef);

/* sense/touch.c: what a touch sensor reads, its site being here, its axes the columns of R. */
double bodies_touch(const zw_work *work, const bodies_sensor *sensor, const double place[3],
                    const double R[9]);
/* Is the point x in the shape of such a site? And a contact sensor: fills out[size]. */
int bodies_is_inside(const bodies_sensor *sensor, const double place[3], const double R[9],
                     const double x[3]);
void bodies_sense_contacts(const zw_system *system, const zw_work *work,
                           const bodies_sensor *sensor, const double place[3], const double R[9],
                           double *out);
int bodies_contact_size(int data); /* numbers of one contact */

/* sense/ray.c: a rangefinder at this site; numbers of one for these `data`. */
void bodies_sense_ray(const zw_system *system, const zw_work *work, const bodies_sensor *sensor,
                      const double place[3], const double R[9], double *out);
int bodies_ray_size(int data);
void bodies_rays_free(struct bodies_rays *rays);

/* Where the centre of mass of a part is; its moments of inertia about it, times x. After
 * kinematics. */
void bodies_part_centre(const zw_system *system, const zw_work *work, int part, double place[3]);
void bodies_part_inertia(const zw_system *system, const zw_work *work, int part, const double x[3],
                         double y[3]);

#endif
