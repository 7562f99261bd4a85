/* How a step is taken, for an observer: its pieces as they are solved, and their equations at other
 * starts. For derivatives: look/rigid/rigid.c. */
#ifndef ZW_STEP_IMPULSE_AGAIN_H
#define ZW_STEP_IMPULSE_AGAIN_H

#include <stdint.h>

struct step_impulse;

/* An observer of how a step is taken, which changes nothing: look/rigid/rigid.c. */
typedef struct impulse_watch {
    void *user;
    /* A piece was solved, from q0, v0 to q1, v1, and may be taken. */
    void (*solved)(void *user, const struct step_impulse *s, const double *v1);
    /* The last of them is accepted. `hits`: it ends where something meets; points are
     * those at q1. */
    void (*taken)(void *user, const struct step_impulse *s, int hits);
    /* An impact at q1 by s->touch.law; s->touch.listed has the blocks of its points. */
    void (*impact)(void *user, const struct step_impulse *s);
} impulse_watch;

/* impulse_again.c: copies the equations of a piece that `from` has just solved to another one,
 * which finds points up to this gap. 0: no memory. */
int impulse_copy_piece(struct step_impulse *to, const struct step_impulse *from, double near);
/* For other s->q0, v0, h or parameters; s->u stays. And the equations at s->u: r, and the rows of
 * s->problem; `joined` as in the solution. 0: some point is missing. */
int impulse_begin_again(struct step_impulse *s, const int *joined);
int impulse_look_again(struct step_impulse *s, const int *joined);
/* From now on motors are within or beyond their ranges as in the equations of `from`. */
void impulse_keep_sides(struct step_impulse *to, const struct step_impulse *from);
/* Then those of the speeds at the end: H (v1 - u) = gain + A' mu, the rows in s->aside, which are
 * among these. Rows that are closed[] are so exactly. */
typedef struct impulse_block_key {
    int64_t key;
    int apart; /* as in impulse_put_apart */
} impulse_block_key;
int impulse_close_again(struct step_impulse *s, const int *closed, const impulse_block_key *block,
                        int count, double *gain);

#endif
