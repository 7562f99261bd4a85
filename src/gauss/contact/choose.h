/* Which of many forces: where more contacts push than a body needs. */
#ifndef ZW_GAUSS_CHOOSE_H
#define ZW_GAUSS_CHOOSE_H

#include "zwang/gauss.h"

enum { GAUSS_CHOOSE_MOST = 20 }; /* unknowns up to which it is looked at */

/* Is a problem of this size looked at? Each compliant row costs a column. */
static inline int gauss_may_share(int n, int blocks)
{
    return n <= GAUSS_CHOOSE_MOST && blocks > 3 && blocks <= 30;
}

/* lambda[m]; w[m] = A a - b, or NULL; and the part of them by which contacts give way. */
typedef struct gauss_shared {
    const double *lambda, *w;
    double share;
} gauss_shared;

/* Do the normal rows of a problem with dense rows depend on one another: of all contacts, or, where
 * an answer (or a guess, without w) is given, of those that take part in it? */
int gauss_shares(const zw_gauss *problem, const gauss_shared *answer);

/* Then give[m] gets their compliances, 0 for the other rows, and b[m] is moved so that at the
 * forces `around` nothing gives way; NULL: at none. */
void gauss_choose(const zw_gauss *problem, double share, const double *around, double *give,
                  double *b);

#endif
