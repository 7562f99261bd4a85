/* soft8_block.c: passes over all blocks. */
#ifndef ZW_SYSTEM_SOFT8_BLOCK_H
#define ZW_SYSTEM_SOFT8_BLOCK_H

#include "system/soft8/soft8.h"

/* In the scratch of lanes. */
typedef LANE_NEAR soft8_block soft8_near_block;
ZW_INLINE soft8_near_block *soft8_block_at(const soft8 *s, int index)
{
    return (soft8_near_block *)s->block + index;
}

/* Initially the rows that soft8_remember has noted are active, and all new ones. */
void soft8_begin(const soft8 *s);
/* After a step: notes the active rows, for the next step of the same worlds. */
void soft8_remember(soft8 *s);
/* Lists the active blocks: all functions below use these, except soft8_push by forces. */
void soft8_list(soft8 *s, const zw_mask8 *live);
/* C and rest of the active edges. */
void soft8_slopes(const soft8 *s);
/* move = J x */
void soft8_along(const soft8 *s);
/* The active edges at `move`, and their forces; *same: the lanes in which they are unchanged.
 */
void soft8_ahead(const soft8 *s, zw_mask8 *same);
/* The active edges at x. */
void soft8_law(const soft8 *s);
/* In these lanes x is the minimum. */
void soft8_arrive(const soft8 *s, const zw_mask8 *here);
/* to += J' force, or J' rest */
void soft8_push(const soft8 *s, int rest, zw_real8 *to);
/* A crew uses a table of the ancestors in the shape. */
#if CREW_SIZE > 1
void soft8_note_shape(soft8 *s, int bent);
#else
static inline void soft8_note_shape(const soft8 *s, int bent)
{
    (void)s, (void)bent;
}
#endif
/* H = M, + J' C J */
void soft8_fill(const soft8 *s, int with_blocks);
/* On a GPU: Newton's method of these worlds, as far as a warp can do that for one after another, by
 * the shape of all of them. Returns the worlds that are left. */
zw_mask8 soft8_settle(soft8 *s, zw_mask8 live);
/* The memory of a warp for that: shared (0: the system is too large for it), and on the device. */
void soft8_settle_bytes(const soft8 *s, size_t *desk, size_t *stage);
/* x of soft8_damp, which it has found as well; 0: not for all worlds. */
int soft8_damp_settled(const soft8 *s, zw_real8 *x);

#endif
