/* What a certificate is made of: the numbers that certificate.c measures from a problem, or prox.c
 * on its way, and the verdict on them. All are in the units that certificate.c describes. */
#ifndef ZW_GAUSS_MEASURED_H
#define ZW_GAUSS_MEASURED_H

#include "zwang/gauss.h"

typedef struct gauss_measured {
    int n, m, block_count;
    const zw_block *block;
    zw_contact_law contact;
    const double *lambda;           /* [m] as claimed */
    const double *unit;             /* [n] sqrt(M_jj) */
    const double *force;            /* [n] residual of the balance */
    const double *pushes;           /* [n] |A|' |lambda| */
    const double *w, *r;            /* [m] scaled residuals and multipliers, */
    const double *scale;            /* [m] and the factor: lambda = scale r */
    const double *before, *carried; /* [m] scaled residuals of the free motion; |A| |a| + |b| */
    double R;                       /* the size of forces, */
    double V;                       /* and of residuals: found here */
    zw_certificate out;
} gauss_measured;

void gauss_measured_certify(gauss_measured *of);

#endif
