/* A function f, the Lagrangian or zero, and rows g_s of (q, v) at a time, with first and second
 * derivatives by x = (q_0 .. q_n-1, v_0 .. v_n-1).
 *
 * They are nodes of a separate graph: the model's graph is shared, and must not grow while others
 * read it. */
#ifndef ZW_PATH_REACH_TERMS_H
#define ZW_PATH_REACH_TERMS_H

#include "base/memory.h"
#include "expr/tape.h"
#include "system/system.h"

typedef struct reach_terms {
    int n, rows;
    expr_tape *value;  /* f, g[rows] */
    expr_tape *derive; /* of G = f + sum lambda_s g_s: first derivatives; of each g: first; of G:
                          second, one triangle */
    double *value_registers, *derive_registers;
    double *f;    /* what `value` gives: f, then g */
    double *out;  /* what `derive` gives */
    int G_count;  /* first derivatives of G: out[0 .. G_count) */
    int *G_index; /* the x of each */
    int *g_start; /* [rows + 1] those of g: out[G_count + g_start[s] ..) */
    int *g_index;
    int H_count; /* and the second ones after */
    int *H_row, *H_column;
} reach_terms;

/* f = L or 0; g[rows] are nodes of the model's graph. ZW_NO_MEMORY, or ZW_OK. */
zw_status reach_terms_create(reach_terms *terms, const zw_system *system, int lagrangian,
                             const expr_id *g, int rows, const double *param);
void reach_terms_free(reach_terms *terms);

/* terms->f; 0: something is not finite. */
int reach_terms_value(reach_terms *terms, double t, const double *q, const double *v);
/* terms->out, G with these lambda[rows]. */
int reach_terms_derive(reach_terms *terms, double t, const double *q, const double *v,
                       const double *lambda);

#endif
