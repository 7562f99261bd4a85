/* The algebra of the self-dual cone that interior points need; see cone.h for the cone. */
#ifndef ZW_MATH_JORDAN_H
#define ZW_MATH_JORDAN_H

/* The Nesterov-Todd scaling W = beta (2 v v' - J), symmetric, with W r = W^-1 s = lambda. */
typedef struct jordan_scaling {
    double beta;
    double v[6];
    double lambda[6];
} jordan_scaling;

/* From r and s inside the cone. 0 if one of them is not. */
int jordan_scale(int d, const double *r, const double *s, jordan_scaling *W);
void jordan_apply(int d, const jordan_scaling *W, const double *x, double *y);         /* y = W x */
void jordan_apply_inverse(int d, const jordan_scaling *W, const double *x, double *y); /* W \ x */

void jordan_product(int d, const double *x, const double *y, double *z); /* z = x o y */
void jordan_divide(int d, const double *x, const double *y, double *z);  /* x o z = y */

/* The largest step t <= limit with x + t dx in the cone, for x inside it. */
double jordan_step(int d, const double *x, const double *dx, double limit);

#endif
