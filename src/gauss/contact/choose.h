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

/* Do the normal rows of a problem with dense rows depend on one another? */
int gauss_shares(const zw_gauss *problem);

/* Then give[m] gets their compliances, 0 for the other rows, and b[m] is moved so that at the
 * forces `around` nothing gives way; NULL: at none. */
void gauss_choose(const zw_gauss *problem, double share, const double *around, double *give,
                  double *b);

#endif
