/* The description given by the user: named parts that can be edited, nothing computed.
 *
 * All formulas are scalars in one graph (expr/graph.h); points have been split into components and
 * families into members. The `place` of a node or part is an index into place[]. Leaves: PARAM k,
 * COORD i, SPEED i, ACCEL i, LAMBDA r (the multiplier of row r: rows are counted through the
 * constraints in order, see model_constraint.rows), TIME.
 */
#ifndef ZW_MODEL_MODEL_H
#define ZW_MODEL_MODEL_H

#include "expr/graph.h"
#include "zwang/zwang.h"

#define MODEL_DIMENSION 3 /* points have two or three components */

typedef struct model_file {
    char *name;
    char *text; /* ends with 0 */
} model_file;

typedef struct model_place {
    int file;
    int line; /* from 1 */
    int column;
    int length; /* of the underlined text, at least 1 */
} model_place;

typedef struct model_param {
    char *name;
    double value;
    int place;
    int is_size;     /* a family or range was sized by it: it cannot be changed any more */
    int is_source;   /* other parameters were computed from it: to change it, read the file again */
    expr_id formula; /* in terms of other parameters, or EXPR_NONE */
} model_param;

/* Quantities of an imported robot that formulas use. Each number is a coordinate of the formulas,
 * with a speed and an acceleration that follow from those of the robot: COORD i, SPEED i, ACCEL i.
 * The coordinates of the system are then the robot's, not these. */
typedef enum model_seen_kind {
    MODEL_SEEN_NOTHING,  /* an ordinary coordinate */
    MODEL_SEEN_JOINT,    /* the coordinate of a hinge or slide */
    MODEL_SEEN_POINT,    /* a component of the position of a point */
    MODEL_SEEN_AXIS,     /* a component of an axis, a unit vector */
    MODEL_SEEN_TURN,     /* a component of an angular velocity: a speed without a coordinate */
    MODEL_SEEN_KINETIC,  /* energies of the robot: for output only */
    MODEL_SEEN_POTENTIAL /* without the terms that formulas add */
} model_seen_kind;

typedef struct model_seen {
    model_seen_kind kind;
    int joint;
    int body, site; /* the frame is the site's, or if that is -1 the body's */
    int centre;     /* the point is the centre of mass */
    int axis, component;
} model_seen;

/* `motor elbow = ...`: the control of an actuator. */
typedef struct model_motor {
    int actuator;
    expr_id control;
    int place;
} model_motor;

typedef struct model_coord {
    char *name; /* "x", "x[3]" */
    int place;
    expr_id start;   /* on parameters only */
    expr_id speed;   /* on parameters only, or EXPR_NONE: it follows from the constraints */
    expr_id force;   /* generalized force, EXPR_ZERO if none */
    expr_id prefer;  /* systems without masses, Fan et al. (2005), eqs. (39)-(43): s; EXPR_ZERO if
                        none */
    expr_id free;    /* ... and c */
    expr_id reach;   /* its final value, on parameters only; EXPR_NONE: free */
    model_seen seen; /* if not NOTHING, start may be EXPR_NONE */
} model_coord;

typedef enum model_relation { MODEL_EQUAL, MODEL_AT_LEAST } model_relation;

/* residual = 0 or residual >= 0; one row for a scalar equation, several for points. A constraint is
 * holonomic if no residual contains speeds. */
typedef struct model_constraint {
    char *name; /* "rod", "link[7]"; a nameless one is called "constraint 3" */
    int place;
    model_relation relation;
    int rows; /* 1 to MODEL_DIMENSION; inequalities have 1 */
    expr_id residual[MODEL_DIMENSION];
    expr_id restitution; /* EXPR_NONE: none was given (0) */
    expr_id friction;    /* mu >= 0, or EXPR_NONE */
    int friction_place;  /* of the formula of mu; valid with friction only */
    int partner;         /* `friction a, b: mu`, in a: 1 + the number of b; 0: no partner */
    int friction_with;   /* in b: 1 + the number of a; b itself has no friction */
    int contact_count;   /* `at`: components of the contact point, or 0 */
    expr_id contact[MODEL_DIMENSION];
    int slip_count; /* `slip`: components of the slip velocity, linear in the speeds; or 0 */
    expr_id slip[MODEL_DIMENSION];
    int nonideal_count; /* explicit non-ideal C: one expression for some coordinates */
    int *nonideal_coord;
    expr_id *nonideal;
} model_constraint;

/* `point p = (x, y)`: a named point, a function of parameters, coordinates and time. */
typedef struct model_point {
    char *name;
    int dimension;
    expr_id at[MODEL_DIMENSION];
} model_point;

/* The position of a mass: one to three components. */
typedef struct model_mass {
    int dimension;
    int place; /* of the formula of the point */
    expr_id point[MODEL_DIMENSION];
} model_mass;

typedef enum model_target_kind {
    MODEL_SET_COORD,
    MODEL_SET_SPEED,
    MODEL_SET_PARAM
} model_target_kind;

typedef struct model_reset {
    model_target_kind kind;
    int index;
    expr_id value; /* evaluated in the state before the event */
} model_reset;

/* A condition as a tree: comparisons, which hold where their roots are positive, and conjunctions
 * or disjunctions of two parts. The first part is the root, and operands follow their operators. */
typedef enum model_part_kind { MODEL_COMPARES, MODEL_BOTH, MODEL_EITHER } model_part_kind;

typedef struct model_part {
    model_part_kind kind;
    expr_id root;
    int left, right; /* operands, unless it is a comparison */
} model_part;

/* Happens where `root` crosses zero: rising (direction 1), falling (-1) or either (0). A condition
 * (`when`) holds where its root is positive: the direction is rising, and a jump of the state can
 * trigger it too. */
typedef struct model_event {
    char *name;
    int place;
    expr_id root;
    int direction;
    int condition;
    int part_count; /* at least one; a plain crossing is a comparison, too */
    model_part *part;
    int stops;
    int reset_count;
    model_reset *reset;
} model_event;

/* An invariant to be monitored: its value must stay within `tolerance` (relative to 1 + |value|) of
 * its initial value. */
typedef struct model_check {
    char *name;
    int place;
    expr_id value; /* EXPR_NONE: the energy */
    double tolerance;
} model_check;

/* A cost of a motion: a value at its end, or an integral over time. */
typedef struct model_cost {
    char *name;
    int place;
    expr_id value;
    int over;
} model_cost;

typedef enum model_vary_kind {
    MODEL_VARY_START,
    MODEL_VARY_SPEED,
    MODEL_VARY_PARAM
} model_vary_kind;

/* An unknown of the optimisation. */
typedef struct model_vary {
    model_vary_kind kind;
    int index, place;
    double low, high; /* bounds; infinite: none */
    int parts; /* a function of time, constant in each of this many equal intervals; 0: a constant
                */
} model_vary;

typedef enum model_plot_kind { MODEL_PLOT_TIME, MODEL_PLOT_PHASE, MODEL_PLOT_XY } model_plot_kind;

typedef struct model_curve {
    char *label; /* the text the user wrote */
    expr_id x;   /* EXPR_NONE: time */
    expr_id y;
    char *x_label;
} model_curve;

typedef struct model_plot {
    model_plot_kind kind;
    int place;
    int curve_count;
    model_curve *curve;
} model_plot;

typedef enum model_shape {
    MODEL_DRAW_POINT,
    MODEL_DRAW_LINE,
    MODEL_DRAW_CIRCLE,
    MODEL_DRAW_TRAIL,
    MODEL_DRAW_SPRING,
    MODEL_DRAW_POLYGON,
    MODEL_DRAW_TEXT,
    MODEL_DRAW_BOX,   /* a corner and its three neighbours; for bodies only */
    MODEL_DRAW_SOLID, /* faces, in the frame of an origin and three points; for bodies only */
    MODEL_DRAW_PLANE  /* infinite: an origin, and points on two axes; for bodies only */
} model_shape;

typedef struct model_draw {
    model_shape shape;
    int place;
    int dimension; /* of its points, 2 or 3 */
    int point_count;
    expr_id *point;                /* point_count * dimension */
    expr_id radius;                /* circle, or EXPR_NONE */
    char *text;                    /* label, or NULL */
    char *colour;                  /* name, or NULL */
    int vertex_count, face_length; /* of a solid */
    double *vertex;                /* 3 each: coordinates in that frame */
    int *face;                     /* for each face the number of its corners, then the corners */
} model_draw;

/* `law ...`: Kozlov (2000). */
typedef enum model_law_kind {
    MODEL_LAW_NONHOLONOMIC,
    MODEL_LAW_VAKONOMIC,
    MODEL_LAW_MIXED,
    MODEL_LAW_PENALTY
} model_law_kind;

typedef struct model_law {
    model_law_kind kind;
    int place;
    double alpha, beta, N;
    double *lambda; /* [rows] initial multipliers of the vakonomic laws, or NULL */
    int *given;     /* [rows] which of them the file gives, or NULL */
} model_law;

/* `reach x = 1, y = 0 at 2`: Kozlov (2000), eq. (11). The values are stored in the coordinates. */
typedef struct model_reach {
    int place;   /* -1: no reach line */
    double time; /* 0: not given */
} model_reach;

/* Run options given in the file; 0 and NULL where there are none. */
typedef struct model_run {
    double time, step, tolerance, every;
    char *method;
    zw_contact_law contact;
} model_run;

struct zw_model {
    int file_count;
    model_file *file; /* file[0] is the one that was opened */
    int place_count;
    model_place *place;
    char *title; /* the first comment line of the file, or NULL */

    expr_graph *graph;
    int param_count;
    model_param *param;
    int coord_count;
    model_coord *coord;

    expr_id kinetic;    /* including masses */
    expr_id potential;  /* including weights and springs */
    expr_id lagrangian; /* what `lagrangian` lines add to kinetic - potential */
    expr_id rayleigh;   /* including dampers */
    expr_id metric;     /* systems without masses: G = Hessian in the speeds; or EXPR_NONE */
    int massless;       /* no kinetic, mass or lagrangian line at all */
    int mass_count;
    model_mass *mass; /* positions of the `mass` lines, at which contacts slide */

    int point_count;
    model_point *point; /* named points without speeds */
    int more_kinetic;   /* some kinetic energy is not that of a mass at a point */
    int constraint_count;
    model_constraint *constraint;
    int event_count;
    model_event *event;
    int check_count;
    model_check *check;
    int cost_count;
    model_cost *cost;
    int vary_count;
    model_vary *vary;
    int plot_count;
    model_plot *plot;
    int draw_count;
    model_draw *draw;
    model_law law;
    zw_impact_law impact;
    model_reach reach;
    model_run run;
    struct model_bodies *bodies; /* model/bodies.h; NULL: there are none */
    int imported;                /* the file has formulas besides the bodies */
    char *robot;                 /* `import "..." as robot`, or NULL */
    int robot_equalities; /* equalities of the robot's file; further ones come from statements of
                             this file */
    int motor_count;
    model_motor *motor;

    /* capacities of the lists, for model_add_* */
    int capacity[14];
};

/* An empty model with a graph; NULL: no memory. */
zw_model *model_create(void);

/* Appends a zeroed element and returns it; NULL: no memory. Earlier pointers into the list become
 * invalid. */
model_file *model_add_file(zw_model *model);
model_param *model_add_param(zw_model *model);
model_coord *model_add_coord(zw_model *model); /* its expressions are EXPR_NONE or zero */
model_constraint *model_add_constraint(zw_model *model);
model_mass *model_add_mass(zw_model *model);
model_point *model_add_point(zw_model *model);
model_event *model_add_event(zw_model *model);
model_check *model_add_check(zw_model *model);
model_cost *model_add_cost(zw_model *model);
model_vary *model_add_vary(zw_model *model);
model_plot *model_add_plot(zw_model *model);
model_draw *model_add_draw(zw_model *model);
model_motor *model_add_motor(zw_model *model);

/* Adds a place for nodes of the graph, unless it equals the last one. -1: no memory. */
int model_add_place(zw_model *model, int file, int line, int column, int length);

char *model_text_copy(const char *text, size_t length); /* NULL: no memory */

/* Fills `error` with status, message, and the place with its line of text and a caret. */
zw_status model_fail(const zw_model *model, zw_error *error, zw_status status, int place,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
