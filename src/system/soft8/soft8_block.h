/* soft8_block.c: passes over all blocks. */
#ifndef ZW_SYSTEM_SOFT8_BLOCK_H
#define ZW_SYSTEM_SOFT8_BLOCK_H

#include "system/soft8/soft8.h"

/* x, or `move` if it is to look ahead, = J a */
void soft8_along(const soft8 *s, const zw_real8 *a, int ahead);
/* Who pushes at x: up, down, C, rest. */
void soft8_law(const soft8 *s);
/* The forces at `move`, and in which lanes the same edges push there as at x. */
void soft8_ahead(const soft8 *s, zw_mask8 *same);
/* In these lanes x is the minimum. */
void soft8_arrive(const soft8 *s, const zw_mask8 *here);
/* to += J' force, or J' rest */
void soft8_push(const soft8 *s, int rest, zw_real8 *to);
/* H = M, + J' C J */
void soft8_fill(const soft8 *s, int with_blocks);

#endif
