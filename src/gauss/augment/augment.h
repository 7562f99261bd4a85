/* Contacts with Coulomb's law in one linear step, for one world and for eight (design:
 * math/lane.h).
 *
 *     H (u - v0) = r + J' lambda                   H symmetric, on the ways of a tree
 *
 *     w = J u:     0 <= lambda_n  _|_  w_n - b >= 0
 *                  |lambda_t| <= mu lambda_n,   lambda_t = -mu lambda_n w_t/|w_t|  where w_t != 0
 *
 * augment.lane.h has the method. */
#ifndef ZW_GAUSS_AUGMENT_H
#define ZW_GAUSS_AUGMENT_H

#include "math/dense/paths.h"
#include "math/lane.h"

#define AUGMENT_ONE(name) name##1
#define AUGMENT_EIGHT(name) name##8

#define zw_real double
#define zw_mask int
#define LANE AUGMENT_ONE
#include "gauss/augment/augment_list.lane.h"
#undef zw_real
#undef zw_mask
#undef LANE

#define zw_real zw_real8
#define zw_mask zw_mask8
#define LANE AUGMENT_EIGHT
#include "gauss/augment/augment_list.lane.h"
#undef zw_real
#undef zw_mask
#undef LANE

#endif
