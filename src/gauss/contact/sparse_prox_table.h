/* The problem of sparse_prox.c as tables: nodes of unknowns, units of rows.
 *
 * A node is a set of unknowns that the metric couples, the six speeds of a free body for instance;
 * larger sets are divided. A unit is a contact, or one row of a limit or of an equality. Positions
 * are those of unknowns when nodes are arranged one after the other. Tangential rows are multiplied
 * by their friction, which makes every cone the self-dual one (work.h); rows without friction are
 * left out. */
#ifndef ZW_GAUSS_SPARSE_PROX_TABLE_H
#define ZW_GAUSS_SPARSE_PROX_TABLE_H

#include "base/memory.h"
#include "zwang/gauss.h"

enum { MANY_ROWS = ZW_CONE_ROWS, MANY_LARGEST = 32 }; /* rows of a unit, unknowns of a node */

/* Anywhere in memory. */
typedef double many_four __attribute__((vector_size(32), aligned(8), may_alias));

/* What a unit does. */
enum { MANY_OPEN, MANY_STICK, MANY_SLIDE };

/* A contact, or one row of a limit or an equality. */
typedef struct many_unit {
    zw_block_kind kind;
    int first, d;           /* its rows: normal first */
    int part, parts;        /* the nodes that it acts on */
    int pair;               /* its first pair of nodes */
    size_t G;               /* its first slope */
    double normal, tangent; /* rho of the normal row and of the others, for kappa = 1 */
    double scale;           /* of w in the certificate; that of r is its inverse */
    double low, high;       /* one row: where its multiplier may be, */
    double give;            /* and its compliance */
    int is_convex;          /* several rows, of the convex law: one rho for all of them */
} many_unit;

/* J of a unit for one node: d rows of the node's size. */
typedef struct many_part {
    int node;
    size_t J;
} many_part;

typedef struct many_entry {
    int i, j; /* positions */
    double value;
} many_entry;

typedef struct many_table {
    int n, nodes, units, rows, parts, pairs, entries;
    int boxes;      /* there are boxes, or rows that give way */
    int is_convex;  /* there are cones of the convex law */
    size_t numbers; /* of J */
    size_t slopes;  /* d x d of all units */

    int *node_of, *position; /* [n] of an unknown */
    int *size, *at;          /* [nodes], [nodes + 1] */
    int *node_of_position;   /* [n] */
    many_entry *entry;       /* [entries] of M */
    double *mass, *ease;     /* [n] diagonal of M, by position, and one over it (or 0) */

    many_unit *unit;
    many_part *part;
    double *J;
    int *row;      /* [rows] of A; */
    double *scale; /* lambda = scale r, w = scale (A a - b) */
    double *c;     /* [rows] w of the free motion */

    /* for sweeps, where no node is coupled by M to another: */
    int six;        /* all nodes have six unknowns */
    size_t squares; /* numbers of U */
    size_t *U_at;   /* [nodes] */
    double *U;      /* the inverse of each node's M */
    double *MJ;     /* as J: rows of J M^-1 */
    many_four *JT;  /* [6 parts] J by columns, where nodes have six unknowns and units three rows */
    double *W;      /* [2 units] the normal row's J M^-1 J', and the largest of the others' */
    double carried; /* of the certificate's scales, what the free motion adds to that of forces, */
    double broken;  /* and by how much it violates the laws */
} many_table;

/* Sizes; then the arrays, once they are laid out, for this law of cones. mark[4 n] is scratch of
 * both together. */
void many_table_count(many_table *t, const zw_gauss *problem, int *mark);
void many_table_lay_out(many_table *t, base_arena *arena);
void many_table_fill(many_table *t, const zw_gauss *problem, zw_contact_law law, int *mark);

/* MJ and W; 0: not apart, or no metric. */
int many_table_sweeps(many_table *t);
/* x = M \ J' r */
void many_motion(const many_table *t, const double *r, double *x);
/* A sweep over the units, forwards and backwards, each to its law at r, x. */
void many_sweep(const many_table *t, double *r, double *x);
/* The scales of a certificate, from the free motion by position; Mx [n] is scratch. */
void many_table_scales(many_table *t, const double *free, double *Mx);
/* What the certificate of x = M \ J' r will be, about; Mx [n] and w [rows] are scratch. */
double many_error(const many_table *t, const double *x, const double *r, double *Mx, double *w);

void many_metric_times(const many_table *t, const double *x, double *y); /* y = M x */
void many_rows_times(const many_table *t, const double *x, double *w);   /* w = J x */
void many_rows_push(const many_table *t, const double *r, double *y);    /* y -= J' r */

#endif
