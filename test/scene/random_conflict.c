/* Contradictions on purpose.
 *
 *     equality      its row is a combination of fresh equality rows, its b is not
 *     inequality    its row is opposed to a row that some block keeps from below
 *     cone          its normal is so
 *
 * All blocks of a contradiction are rigid: compliance would reconcile them. */
#include <math.h>

#include "random.h"

static int block_of(const draft *d, int row)
{
    int k = 0;
    while (k + 1 < d->blocks && d->first[k + 1] <= row)
        k++;
    return k;
}

static void note(draft *d, int block)
{
    int at = d->conflict_count;
    for (int i = 0; i < at; i++)
        if (d->conflict[i] == block)
            return;
    while (at > 0 && d->conflict[at - 1] > block) {
        d->conflict[at] = d->conflict[at - 1];
        at--;
    }
    d->conflict[at] = block;
    d->conflict_count++;
    for (int i = 0; i < d->block[block].rows; i++)
        d->compliance[d->first[block] + i] = 0;
}

/* A block of the kind asked for, to contradict: a row that is kept from below. */
static int lower_bounded_row(growth *g)
{
    draft *d = g->d;
    int block = dice_int(&g->dice, 0, d->blocks - 1);
    int row = d->first[block];
    if (d->block[block].kind != ZW_CONE)
        row += dice_int(&g->dice, 0, d->block[block].rows - 1);
    return row;
}

static double contradiction(growth *g, double size)
{
    return (size + 1e-3) * dice_between(&g->dice, 0.2, 2);
}

/* Up to three fresh equality rows of different blocks; their number. */
static int fresh_equalities(growth *g, int source[3])
{
    draft *d = g->d;
    int count = 0, want = dice_int(&g->dice, 1, 3);
    int turn = dice_int(&g->dice, 0, d->blocks - 1);
    for (int i = 0; i < d->blocks && count < want; i++) {
        int k = (i + turn) % d->blocks, row = d->first[k];
        if (d->block[k].kind == ZW_EQUALITY && g->is_fresh[row])
            source[count++] = row;
    }
    return count;
}

static int conflict_of_equalities(growth *g)
{
    draft *d = g->d;
    int source[3], count = fresh_equalities(g, source);
    if (count == 0)
        return 0;

    int block = draft_block(d, ZW_EQUALITY, 1, "contradiction");
    int row = d->first[block];
    double size = 0;
    for (int i = 0; i < count; i++) {
        double factor = dice_sign(&g->dice, dice_between(&g->dice, 0.5, 2));
        for (int j = 0; j < d->n; j++)
            draft_row(d, row)[j] += factor * draft_row(d, source[i])[j];
        d->b[row] += factor * d->b[source[i]];
        size += fabs(factor) * random_row_size(g, source[i]);
        note(d, block_of(d, source[i]));
    }
    d->b[row] += dice_sign(&g->dice, contradiction(g, size));
    note(d, block);
    return 1;
}

static void conflict_of_sides(growth *g, zw_block_kind kind)
{
    draft *d = g->d;
    int source = lower_bounded_row(g);
    int rows = kind == ZW_CONE ? 3 : 1;
    int block = draft_block(d, kind, rows, "contradiction"), row = d->first[block];

    random_row_copy(g, row, source, -1.0);
    d->b[row] = -d->b[source] + contradiction(g, random_row_size(g, source));
    for (int i = 1; i < rows; i++) {
        random_row_fresh(g, row + i);
        d->block[block].friction[i - 1] = 0.5;
    }
    note(d, block_of(d, source));
    note(d, block);
}

void random_conflict(growth *g)
{
    unsigned kinds = g->want.kinds;
    if ((kinds & SCENE_EQUALITY) && (kinds == SCENE_EQUALITY || dice_chance(&g->dice, 0.5)) &&
        conflict_of_equalities(g))
        return;
    if ((kinds & SCENE_CONE) && (!(kinds & SCENE_INEQUALITY) || dice_chance(&g->dice, 0.3)))
        conflict_of_sides(g, ZW_CONE);
    else
        conflict_of_sides(g, ZW_INEQUALITY);
}
