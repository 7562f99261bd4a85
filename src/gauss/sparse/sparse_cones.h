/* Steps on the cones of a sparse problem, shared by the convex law and Coulomb's. */
#ifndef ZW_GAUSS_SPARSE_CONES_H
#define ZW_GAUSS_SPARSE_CONES_H

#include "gauss/sparse/sparse_kkt.h"

/* A Newton step: the projection is linearised at z = centre - rho (w + shift), and a compliance
 * `prox` around the centre added. */
typedef struct sparse_step {
    double rho, prox;
    double soft;          /* a compliance of all cone rows, besides: w + soft r in place of w */
    const double *centre; /* m */
} sparse_step;

void sparse_cones_residual(gauss_sparse *s, const double *x); /* w = B x + c */
void sparse_cones_project(const zw_gauss_work *work, const gauss_sparse *s, double *r);
double sparse_cones_force(gauss_sparse *s, const double *r); /* R: the largest entry of B' r */

/* K and rhs of a step from s->w; then x_new, r_new. 0: no finite answer. */
void sparse_cones_put(const zw_gauss_work *work, gauss_sparse *s, const sparse_step *step);
void sparse_cones_turn_back(const zw_gauss_work *work, gauss_sparse *s, const double *sol,
                            double *r);
int sparse_cones_newton(zw_gauss_work *work, gauss_sparse *s, const sparse_step *step);

/* Newton from (x, r_e) to the proximal point of s->centre with s->shift; it is left in (x, r). */
int sparse_cones_proximal(zw_gauss_work *work, gauss_sparse *s, double delta);

/* The convex law with s->shift on the normals, from (x, r), until the certificate is at `aim`.
 * After ZW_CONFLICT, s->v[2] is the direction of the proof. */
zw_status sparse_convex_solve(const zw_gauss *problem, zw_gauss_work *work, const double *C,
                              double aim, int warm);

/* sparse_split.c: at most `limit` steps towards Coulomb's law from (x, r), which are left nearer to
 * it: r in K, and x of multipliers that differ from r by the error returned (HUGE_VAL: nothing to
 * be had). The steps taken are added to `steps`. Uses s->shift. */
typedef struct sparse_way {
    double rho;   /* compliance */
    double share; /* of every change of a slip that is taken over at once */
    int limit;
} sparse_way;
double sparse_split(zw_gauss_work *work, const sparse_way *way, double aim, int *steps);

/* sparse_conflict.c */
/* After the proximal step with `delta`: do the multipliers run away along d = r - centre, and does
 * that lead to a proof that nothing is admissible? It is left in s->v[2]. */
int sparse_cones_run_away(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s,
                          double delta);
/* Names of the blocks in the proof s->v[2], thinned. */
void sparse_cones_conflict(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s);

#endif
