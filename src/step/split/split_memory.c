/* What steps by islands leave for the next one: the blocks of impulse_memory.c, one island after
 * the other, each block with the number of the first group of its island, so that the next step
 * passes it to the island of that group. Constraints have the numbers of the whole. The
 * accelerations are those of all speeds; 0 where an island left none, which has the same effect. */
#include <string.h>

#include "step/split/split.h"

/* Its number in the part; -1: it is not there. Numbers of the whole are ascending. */
static int find_constraint(const subset *part, double number)
{
    int low = 0, high = part->model.constraint_count;
    while (low < high) {
        int middle = (low + high) / 2;
        *(part->constraint[middle] < number ? &low : &high) =
            part->constraint[middle] < number ? middle + 1 : middle;
    }
    return low < part->model.constraint_count && part->constraint[low] == number ? low : -1;
}

/* Does a block belong to this part? In `to` its numbers there. */
static int take_block(const step_impulse *s, int index, const double *block, double *to)
{
    const step_split *z = s->split;
    const subset *part = &z->now[index]->part;
    int group = (int)block[2] / IMPULSE_GROUP;
    memcpy(to, block, IMPULSE_BLOCK * sizeof *to);
    to[2] = (int)block[2] % IMPULSE_GROUP;
    if (block[0] == 0 && block[1] < s->system->model->constraint_count) {
        int number = find_constraint(part, block[1]);
        to[1] = number;
        return number >= 0;
    }
    return group == 0 || (group <= z->groups.count && z->part_of[group - 1] == index);
}

void split_hand_in(const step_impulse *s, int index)
{
    const split_part *part = s->split->now[index];
    step_impulse *inner = part->inner;
    int blocks = (int)s->kept[1], rows = (int)s->kept[2], taken = 0, taken_rows = 0;
    const double *block = s->kept + IMPULSE_HEAD, *lambda = block + IMPULSE_BLOCK * blocks;
    double *to = inner->kept + IMPULSE_HEAD, *all = s->split->kept;
    int room = inner->kept_capacity - IMPULSE_HEAD - part->part.system.n;
    for (int k = 0; k < blocks; k++, block += IMPULSE_BLOCK) {
        int width = (int)block[2] % IMPULSE_GROUP;
        int fits = IMPULSE_BLOCK * (taken + 1) + taken_rows + width <= room;
        if (fits && take_block(s, index, block, to)) {
            memcpy(all + taken_rows, lambda, (size_t)width * sizeof *all);
            taken_rows += width;
            taken++;
            to += IMPULSE_BLOCK;
        }
        lambda += width;
    }
    memcpy(to, all, (size_t)taken_rows * sizeof *to);
    to += taken_rows;
    const double *trend = s->kept + IMPULSE_HEAD + IMPULSE_BLOCK * blocks + rows;
    int n = s->kept[3] > 0 ? part->part.system.n : 0;
    for (int i = 0; i < n; i++) {
        *to++ = trend[part->part.v[i]];
    }
    const double head[IMPULSE_HEAD] = {1, taken, taken_rows, n};
    memcpy(inner->kept, head, sizeof head);
}

static int used(const double *kept)
{
    return IMPULSE_HEAD + IMPULSE_BLOCK * (int)kept[1] + (int)(kept[2] + kept[3]);
}

/* The blocks of one part, from *to on. */
static void put_blocks(const split_part *part, double **to)
{
    const double *from = part->inner->kept + IMPULSE_HEAD;
    int constraints = part->part.model.constraint_count;
    for (int k = 0; k < (int)part->inner->kept[1]; k++, from += IMPULSE_BLOCK) {
        int own = from[0] == 0 && from[1] < constraints;
        *(*to)++ = from[0];
        *(*to)++ = own ? part->part.constraint[(int)from[1]] : from[1];
        *(*to)++ = from[2] + IMPULSE_GROUP * (1 + part->group[0]);
    }
}

void split_hand_out(step_impulse *s)
{
    const step_split *z = s->split;
    int blocks = 0, rows = 0, overlaps = 0, before = used(s->kept);
    for (int k = 0; k < z->parts; k++) {
        const double *kept = z->now[k]->inner->kept;
        blocks += (int)kept[1];
        rows += (int)kept[2];
        overlaps |= kept[0] == 2;
    }
    int fits = IMPULSE_HEAD + IMPULSE_BLOCK * blocks + rows + s->system->n <= s->kept_capacity;
    double *to = s->kept + IMPULSE_HEAD, *end = s->kept + before;
    for (int k = 0; k < z->parts && fits; k++) {
        put_blocks(z->now[k], &to);
    }
    for (int k = 0; k < z->parts && fits; k++) {
        const double *kept = z->now[k]->inner->kept;
        memcpy(to, kept + IMPULSE_HEAD + IMPULSE_BLOCK * (int)kept[1],
               (size_t)kept[2] * sizeof *to);
        to += (int)kept[2];
    }
    memset(to, 0, (size_t)s->system->n * sizeof *to);
    for (int k = 0; k < z->parts; k++) {
        const subset *part = &z->now[k]->part;
        const double *kept = z->now[k]->inner->kept;
        const double *trend = kept + used(kept) - (int)kept[3];
        for (int i = 0; i < (int)kept[3]; i++) {
            to[part->v[i]] = trend[i];
        }
    }
    const double head[IMPULSE_HEAD] = {overlaps ? 2 : 1, fits ? blocks : 0, fits ? rows : 0,
                                       s->system->n};
    memcpy(s->kept, head, sizeof head);
    for (to += s->system->n; to < end; to++) {
        *to = 0;
    }
}
