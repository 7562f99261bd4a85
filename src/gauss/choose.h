/* Which of many forces: where more contacts push than a body needs. */
#ifndef ZW_GAUSS_CHOOSE_H
#define ZW_GAUSS_CHOOSE_H

#include "zwang/gauss.h"

/* Unknowns and blocks up to which gauss_choose looks: each compliant row costs a column. */
enum { GAUSS_CHOOSE_MOST = 20, GAUSS_CHOOSE_BLOCKS = 30 };

/* Do the normal rows of a problem with dense rows depend on one another? */
int gauss_shares(const zw_gauss *problem);

/* Then give[m] gets their compliances, 0 for the other rows, and b[m] is moved so that at the
 * forces `around` nothing gives way; NULL: at none. */
void gauss_choose(const zw_gauss *problem, double share, const double *around, double *give,
                  double *b);

#endif
