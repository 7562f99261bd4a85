/* Where the functions of step/events/event.h cross zero in the last step. For event.c and
 * event_search.c.
 */
#ifndef ZW_STEP_EVENT_SEARCH_H
#define ZW_STEP_EVENT_SEARCH_H

#include "step/events/event.h"
#include "step/ode/root.h"

enum {
    SEARCH_DEPTH = 64, /* halvings of a step: beyond the last bit of its length */
    SEARCH_DEGREE = 8, /* of the polynomials through samples */
    SEARCH_PIECES =
        20000 /* of one step; beyond this the search stops, and the step is not proved */
};

struct step_events {
    int count, n;
    step_event_function *function;
    step_event_sort *sort;
    step_event_enclosure *enclose;
    void *user;
    step_event_options option; /* for the path, which is created with the first ode */

    /* [count] */
    int *direction, *condition, *mark;
    int *fired;
    int *kind, *is_guard;
    int *just_fired;  /* 1: it came to zero, 2: it left zero */
    int *side;        /* -1, 1, or 0: on neither yet */
    double *zone;     /* within this distance it counts as zero */
    double *residual; /* |g| where it fired, if it is continuous there; else 0 */
    double *spread;   /* variation of g around the event, on the dense output */
    double *slack;    /* of guards that start at zero, and of functions that rest there */
    double *level;    /* of guards that start below zero: they fire below this */
    double *now;      /* g where it was armed */
    double *noise;    /* round-off of sampled functions, measured after they were armed */
    int fresh;        /* armed, and not scanned since */
    int first;        /* the first step of the run */
    double *was;      /* g before the current event; */
    int stood;        /* whether that is known */
    int begun;        /* number of conditions that a jump has made true */
    int left;  /* number of conditions that rested at zero, and hold since the start of the step */
    double *g; /* of one evaluation */
    int *side_before;    /* at the start of the step */
    double *zone_before; /* the same */
    double *clear;       /* x at which the side was last clear */
    double *until;       /* x up to which it is decided */
    int *came;           /* it fired at the start of the step, by coming to zero */
    int *crosses;        /* there is a crossing in the step */
    int *found;          /* the same, as long as it may be the first; between */
    int *side_then;      /* at the start of the segment */
    double *zone_then, *clear_then;
    double *low, *high;                   /* these x */
    expr_jet *jet;                        /* over the piece */
    expr_interval *end[SEARCH_DEPTH + 2]; /* values at the ends of pieces: left, then a stack */

    double *y;      /* [n] scratch: dense output */
    double *sample; /* [(SEARCH_DEGREE + 1) count] at the nodes of the segment */
    double *b, *part, *tail, *fit[2], gain[2];
    int degree;
    double from, to; /* the segment */
    double *most;    /* [count] the largest |g| in it, and in the one it is half of */
    double *most_then;
    int coarse; /* its round-off may hide what a shorter one shows */

    step_path *path;
    stepper *ode; /* while scanning */
    int which;    /* the function that is looked for, */
    int alone;    /* and evaluated without the others */
    int marks, marks_then, mark_room;
    step_mark *marked; /* [mark_room] those of the step */
    int pieces;
    int proved;
    double best; /* nothing after this x matters */
};

/* Fills found, low and high for all functions. */
zw_status search_step(step_events *e, zw_error *error);
/* All functions, or `which` alone. */
zw_status search_look(step_events *e, double t, const double *y, double *g, zw_error *error);
zw_status search_look_inside(step_events *e, double x, double *g, zw_error *error);

/* event_marks.c. Locates the marks of the step, unless they are after `until`; keeps those before
 * `end`, which are to be shown, and leaves as `found` those that are at it. */
zw_status marks_locate(step_events *e, double until, zw_error *error);
void marks_keep(step_events *e, double end);

double search_time(const step_events *e, double x);
int search_same_side(double a, double b);

/* event_locate.c: one crossing of a function, or of `which`. */
zw_status search_narrow(step_events *e, int k, double low, double high, step_crossing *crossing,
                        zw_error *error);
zw_status search_widen(step_events *e, step_crossing found, step_crossing *wide, zw_error *error);
zw_status search_correct(step_events *e, double t0, double reach, step_crossing wide,
                         step_crossing found, zw_error *error);

#endif
