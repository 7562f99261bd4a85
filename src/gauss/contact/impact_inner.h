/* Internals of an impact, shared by impact.c (the law) and impact_rows.c (rows, bodies, masses). */
#ifndef ZW_GAUSS_IMPACT_INNER_H
#define ZW_GAUSS_IMPACT_INNER_H

#include <stddef.h>

#include "gauss/contact/impact.h"
#include "gauss/contact/islands.h"

typedef struct impact_block {
    zw_block block;
    int first;   /* row */
    int contact; /* 0: a permanent row */
    int side; /* of a permanent cone: its normal impulse is positive (1) or negative (-1); else 0 */
    double mass; /* of the normal row, the m above; 0: unknown yet */
    int first_way,
        ways; /* and the entries of d: speeds, then (from n on) impulses of the permanent rows */
    double speed; /* current speed of approach, -w; 0: it does not approach, */
    int parts;    /* and this is whether it separates */
    gauss_impact_contact law;
} impact_block;

struct gauss_impact {
    int n, no_memory;
    zw_metric metric;
    gauss_islands *islands;
    zw_gauss_options options;

    /* As appended. */
    int blocks, rows, entries, pairs;
    int block_capacity, start_capacity, b_capacity, column_capacity, value_capacity;
    impact_block *block;
    int *start; /* [rows + 1] */
    double *b;  /* [rows] */
    int *column;
    double *value;

    int ways, way_capacity, by_capacity; /* the directions d of contacts, one after another */
    int *way;
    double *by;

    /* The problem of a round: blocks that take part, in the same order. */
    int part_blocks, part_rows;
    zw_block *part;
    int *part_of;    /* [part_blocks] */
    int *part_start; /* [part_rows + 1] */
    int *part_column;
    double *part_value, *part_b;

    int *root;        /* [n] bodies: unknowns coupled by masses and permanent rows */
    double *best;     /* [n] by root: the strongest approach */
    double *strength; /* [pairs] */
    int *chosen;      /* [pairs] 1: it acts in this round; 2: and shares no body */
    int *acting;      /* [n] by root: 0: no pair acts; -1 - p: p alone; 1: several */
    int *bouncing;    /* [pairs] some contact approaches faster than slow, with e > 0 */
    int *coupled;     /* [n] by root: it has several unknowns */
    int *rows_of;     /* [pairs] */
    int kicked;       /* gauss_impact_kick */
    int moved;        /* some permanent row has b other than 0, or friction */
    double *w;        /* [rows] before */
    double *after;    /* [n] speeds after a round */
    double *kept;     /* [n] the best solution of a bisection */
    double *impulse;  /* [rows] of a round; its rows are those of the group, */
    double *sum;      /* [rows] and of all so far */
    double *kept_sum; /* [rows] impulses of the group that go with `kept` */

    int keeps;           /* the acts are to be recorded: */
    int acts;            /* their number, */
    double *act;         /* of gauss_impact_act_size numbers each, */
    size_t act_capacity; /* and the capacity in numbers */
    void *memory;
    size_t memory_size;
};

/* Arrays for what was appended; 0: no memory. */
int impact_make_room(gauss_impact *x);
/* Unknowns that masses and rows which always hold couple (root, coupled), and the rows of each
 * pair. */
void impact_find_bodies(gauss_impact *x);

/* The problem of a round: none of the blocks; then `rows` of block k as rows of this kind; the
 * other side of a permanent cone, which is block p of the problem with its normal row at `row`. */
void impact_begin_part(gauss_impact *x);
void impact_add_part(gauss_impact *x, int k, zw_block_kind kind, int rows);
void impact_turn_part(gauss_impact *x, int p, int row);
/* The speeds nearest to `given`. */
zw_status impact_solve_part(gauss_impact *x, const double *given, gauss_islands_answer *answer,
                            zw_error *error);
/* The mass that the normal row of contact k meets, and its direction d. */
zw_status impact_find_mass(gauss_impact *x, int k, zw_error *error);

#endif
