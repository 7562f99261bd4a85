/* A scene being drawn: everything dense and easy to change; draft_finish stores it in the form that
 * the problem is to have. For the files of this folder. */
#ifndef ZWANG_TEST_SCENE_DRAFT_H
#define ZWANG_TEST_SCENE_DRAFT_H

#include "dice.h"
#include "scene.h"

typedef struct draft {
    int n, m, blocks;                 /* rows and blocks so far */
    int row_capacity, block_capacity; /* at most */
    double *M;                        /* [n*n] symmetric */
    double *A;                        /* [row_capacity*n] */
    double *b, *compliance;           /* [row_capacity] */
    double *free, *C;                 /* [n] */
    double *witness;                  /* [n] */
    zw_block *block;                  /* [block_capacity] */
    int *first;                       /* [block_capacity] first row of each block */
    int parts, *part; /* [n] sizes of the diagonal blocks of M, if it is to be stored so */
    int conflict_count;
    int *conflict; /* [block_capacity] */
    scene *memory;
} draft;

typedef struct draft_form {
    zw_metric_kind metric;
    int both_triangles; /* of a sparse metric */
    int compressed;     /* rows */
    int force;          /* 1: M free, stored as force; -1: neither, free is zero */
} draft_form;

draft *draft_new(int n, int row_capacity, int block_capacity);

/* Add a block of empty rows; its number. Rows are then filled through draft_row. */
int draft_block(draft *d, zw_block_kind kind, int rows, const char *name);
double *draft_row(draft *d, int row);

/* The scene; the draft is released. Without conflict the witness goes with it. */
scene *draft_finish(draft *d, const char *name, zw_contact_law law, const draft_form *form);

#endif
