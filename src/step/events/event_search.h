/* Where the functions of step/events/event.h cross zero in the last step. For event.c and
 * event_search.c.
 */
#ifndef ZW_STEP_EVENT_SEARCH_H
#define ZW_STEP_EVENT_SEARCH_H

#include "step/events/event.h"

enum {
    SEARCH_DEPTH = 64,    /* halvings of a step: beyond the last bit of its length */
    SEARCH_DEGREE = 8,    /* of the polynomials through samples */
    SEARCH_PIECES = 20000 /* of one step; more are not looked at, and the step is not proved */
};

struct step_events {
    int count, n;
    step_event_function *function;
    step_event_sort *sort;
    step_event_enclosure *enclose;
    void *user;
    step_event_options option; /* for the path, which is made with the first ode */

    /* [count] */
    int *direction, *condition;
    int *fired;
    int *kind, *is_guard;
    int *just_fired;     /* 1: it came to zero, 2: it left zero */
    int *side;           /* -1, 0: on none yet, 1 */
    double *zone;        /* what is not farther than this from zero is at zero */
    double *residual;    /* |g| where it fired, if it is continuous there; else 0 */
    double *spread;      /* how far g goes around the event, on the dense output */
    double *slack;       /* of guards that start at zero, and of what rests there */
    double *level;       /* of guards that start below zero: they fire below this */
    double *now;         /* g where it was armed */
    double *noise;       /* round-off of sampled functions, as seen after they were armed */
    int fresh;           /* armed, and not scanned since */
    int first;           /* this is the first step of the run */
    double *was;         /* g before what happens now; */
    int stood;           /* it is known */
    int begun;           /* conditions that a jump has made true */
    int left;            /* conditions that rested at zero, and hold since the step began */
    double *g;           /* of one evaluation */
    int *side_before;    /* at the start of the step */
    double *zone_before; /* the same */
    double *clear;       /* x at which the side was last clear */
    double *until;       /* x up to which it is settled */
    int *found;          /* it crosses, between */
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
    int coarse; /* it hides in its round-off what a shorter one may show */

    step_path *path;
    stepper *ode; /* while scanning */
    int which;    /* the one that see_one looks at */
    int pieces;
    int proved;
    double best; /* nothing after this x matters */
};

/* Fill found, low and high for all functions. */
zw_status search_step(step_events *e, zw_error *error);
zw_status search_look(step_events *e, double t, const double *y, double *g, zw_error *error);
zw_status search_look_inside(step_events *e, double x, double *g, zw_error *error);

#endif
