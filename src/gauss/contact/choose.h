/* Chooses between possible forces where a body has more contacts than it needs. */
#ifndef ZW_GAUSS_CHOOSE_H
#define ZW_GAUSS_CHOOSE_H

#include "zwang/gauss.h"

enum { GAUSS_CHOOSE_MOST = 20 }; /* largest number of unknowns for which it is considered */

/* Is a problem of this size considered? Each compliant row costs a column. */
static inline int gauss_may_share(int n, int blocks)
{
    return n <= GAUSS_CHOOSE_MOST && blocks > 3 && blocks <= 30;
}

/* lambda[m]; w[m] = A a - b, or NULL; and the relative compliance of contacts. */
typedef struct gauss_shared {
    const double *lambda, *w;
    double share;
} gauss_shared;

/* Are the normal rows of a problem with dense rows dependent: those of all contacts or, where a
 * solution (or a guess, without w) is given, of those that take part in it? */
int gauss_shares(const zw_gauss *problem, const gauss_shared *answer);

/* Then give[m] receives their compliances, 0 for the other rows, and b[m] is shifted so that the
 * compliance vanishes at the forces `around`; NULL: at zero. */
void gauss_choose(const zw_gauss *problem, double share, const double *around, double *give,
                  double *b);

#endif
