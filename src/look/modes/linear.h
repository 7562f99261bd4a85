/* The linearised motion on the constraints: see linear.c. */
#ifndef ZW_LOOK_LINEAR_H
#define ZW_LOOK_LINEAR_H

#include "look/slopes/slopes.h"

/* Numbers at one state. */
typedef struct linear {
    zw_slopes *slopes;
    const zw_system *system;
    expr_graph *graph; /* of equations: slopes of what holds speeds */
    expr_tape *tape;
    slopes_entry *entry;
    int entries, held; /* rows: m, and then those of sticking friction */
    int *hold;         /* [constraints] its first row among those; -1: none */
    double *registers, *out;
    double *F;       /* [2n][2n] x' = F x */
    double *tangent; /* [2n][2n] its first `rank` rows span what constraints forbid, the others what
                        they admit: orthonormal */
    int rank;
    zw_slopes_answer answer;
    const zw_state *state; /* of the last evaluation */
    void *memory;
} linear;

zw_status linear_create(linear *l, const zw_model *model, const zw_system *system, zw_error *error);
void linear_free(linear *l);
/* F at the state; with_tangent: the spaces as well. */
zw_status linear_look(linear *l, const zw_state *state, int with_tangent, zw_error *error);

#endif
