/* Products of the blocks of eight worlds with vectors, and their contributions to H: soft_block.c
 * and soft_law.c, in lanes. */
#include "system/soft8/soft8_block.h"

#define LAW_BLOCK soft8_near_block
#define LAW_NUMBER zw_near8
#include "system/soft8/soft8_law.h"

/* ---- J a ------------------------------------------------------------------------------------ */

/* Four partial sums, as paths_rows_times. Width is a constant where this is inlined, if it is 3. */
ZW_INLINE void times(const soft8 *s, const soft8_row *k, const int width, const zw_near8 *a,
                     zw_near8 *to)
{
    const int columns = k->columns, *column = k->column;
    for (int r = 0; r < width; r++) {
        const zw_near8 *J = NEAR8(s->J) + k->J + r * columns;
        zw_real8 part[4] = {{0}};
        int c = 0;
        for (; c + 4 <= columns; c += 4) {
            for (int i = 0; i < 4; i++) {
                part[i] += J[c + i] * a[column[c + i]];
            }
        }
        for (int i = 0; c + i < columns; i++) {
            part[i] += J[c + i] * a[column[c + i]];
        }
        to[r] = (part[0] + part[2]) + (part[1] + part[3]);
    }
}

ZW_INLINE void times_fixed(const soft8_row *k, const zw_near8 *a, zw_near8 *to)
{
    zw_real8 part[4] = {{0}};
    for (int c = 0; c < k->columns; c++) {
        part[c % 4] += (zw_scalar)k->numbers[c] * a[k->column[c]];
    }
    to[0] = (part[0] + part[2]) + (part[1] + part[3]);
}

ZW_CLONES void soft8_along(const soft8 *s)
{
    const zw_near8 *a = NEAR8(s->x);
    CREW_FOR (i, s->actives) {
        const soft8_row *k = &s->row[s->active[i]];
        zw_near8 *to = soft8_block_at(s, s->active[i])->move;
        if (k->is_fixed && k->columns == 1) {
            to[0] = (zw_scalar)k->numbers[0] * a[k->column[0]];
        } else if (k->is_fixed) {
            times_fixed(k, a, to);
        } else if (k->width == 3) {
            times(s, k, 3, a, to);
        } else {
            times(s, k, k->width, a, to);
        }
    }
    CREW_MEET();
}

/* ---- The law -------------------------------------------------------------------------------- */

ZW_CLONES void soft8_remember(soft8 *s)
{
    LANE_MEET();
    CREW_FOR (i, s->blocks) {
        const soft8_near_block *k = soft8_block_at(s, i);
        zw_mask8 mode = (k->D > 0.0) & HERE;
        for (int j = 0; j < pairs_of(&s->row[i]); j++) {
            mode |= (k->up[j] & UP << j) | (k->down[j] & DOWN << j);
        }
        s->last_key[i] = s->row[i].key;
        s->last_mode[i] = mode;
    }
    s->lasts = s->blocks;
    CREW_MEET();
}

/* Both lists are sorted by their keys. */
ZW_CLONES static void recall(const soft8 *s)
{
    int at = 0;
    CREW_FOR (i, s->lasts > 0 ? s->blocks : 0) {
        soft8_near_block *k = soft8_block_at(s, i);
        int key = s->row[i].key;
        while (at < s->lasts && s->last_key[at] < key) {
            at++;
        }
        zw_mask8 mode = {0};
        if (at < s->lasts && s->last_key[at] == key) {
            mode = s->last_mode[at];
        }
        zw_mask8 known = (mode & HERE) != 0;
        for (int j = 0; j < pairs_of(&s->row[i]); j++) {
            k->up[j] &= ~known | ((mode & UP << j) != 0);
            k->down[j] &= ~known | ((mode & DOWN << j) != 0);
        }
    }
    CREW_MEET();
}

ZW_CLONES void soft8_begin(const soft8 *s)
{
    CREW_FOR (i, s->blocks) {
        soft8_near_block *k = soft8_block_at(s, i);
        for (int j = 0; j < pairs_of(&s->row[i]); j++) {
            k->up[j] = k->down[j] = k->D > 0.0;
        }
        for (int r = 0; r < s->row[i].width; r++) {
            k->force[r] = (zw_real8){0};
        }
    }
    CREW_MEET();
    recall(s);
}

/* For CREW_EACH. */
ZW_INLINE __attribute__((unused)) int is_there(const soft8_block *block, int i)
{
    return lane_any8(block[i].D > 0.0);
}

ZW_CLONES void soft8_list(soft8 *s, const zw_mask8 *live)
{
    int count = 0;
    LANE_MEET();
    CREW_EACH (i, s->blocks, is_there, s->block) {
        if (lane_any8((s->block[i].D > 0.0) & *live)) {
            s->active[count++] = i;
        }
    }
    s->actives = count;
    CREW_MEET();
}

ZW_CLONES void soft8_slopes(const soft8 *s)
{
    CREW_FOR (i, s->actives) {
        soft8_near_block *k = soft8_block_at(s, s->active[i]);
        soft8_row *row = &s->row[s->active[i]];
        row->any = lane_any8(any_edge(k, row->width)) != 0;
        if (row->kind != SOFT_PYRAMID) {
            k->C[0] = only(k->up[0], k->D);
            k->rest[0] = only(k->up[0], k->D * k->b[0]);
        } else if (row->width == 3) {
            slopes_pyramid(k, row->numbers, 3);
        } else {
            slopes_pyramid(k, row->numbers, row->width);
        }
    }
    CREW_MEET();
}

ZW_CLONES void soft8_law(const soft8 *s)
{
    CREW_FOR (i, s->actives) {
        soft8_near_block *k = soft8_block_at(s, s->active[i]);
        look(&s->row[s->active[i]], k, k->x, k->then);
    }
    CREW_MEET();
}

ZW_CLONES void soft8_ahead(const soft8 *s, zw_mask8 *same)
{
    zw_mask8 other = {0};
    CREW_FOR (i, s->actives) {
        soft8_near_block *k = soft8_block_at(s, s->active[i]);
        other |= look(&s->row[s->active[i]], k, k->move, k->then);
    }
    *same = CREW_ALL8(~other);
    CREW_MEET();
}

ZW_CLONES void soft8_arrive(const soft8 *s, const zw_mask8 *here)
{
    CREW_FOR (i, s->actives) {
        soft8_near_block *k = soft8_block_at(s, s->active[i]);
        for (int r = 0; r < s->row[s->active[i]].width; r++) {
            k->force[r] = lane_select8(*here, k->then[r], k->force[r]);
        }
    }
    zw_near8 *a = NEAR8(s->a);
    const zw_near8 *x = NEAR8(s->x);
    CREW_FOR (d, s->system->n) {
        a[d] = lane_select8(*here, x[d], a[d]);
    }
    CREW_MEET();
}

/* ---- J' f ----------------------------------------------------------------------------------- */

/* Four columns at a time, which are distinct, so that a GPU can overlap their loads. */
ZW_INLINE void push_rows(const soft8 *s, const soft8_row *k, const int width, const zw_near8 *f,
                         zw_near8 *to)
{
    const zw_near8 *own = NEAR8(s->J) + k->J;
    const int columns = k->columns, *column = k->column;
    int c = 0;
    for (; c + 4 <= columns && CREW_SIZE == 1; c += 4) {
        const int *at = column + c;
        zw_real8 x = to[at[0]], y = to[at[1]], z = to[at[2]], w = to[at[3]];
        for (int r = 0; r < width; r++) {
            const zw_near8 *J = own + r * columns + c;
            x += f[r] * J[0];
            y += f[r] * J[1];
            z += f[r] * J[2];
            w += f[r] * J[3];
        }
        to[at[0]] = x;
        to[at[1]] = y;
        to[at[2]] = z;
        to[at[3]] = w;
    }
    CREW_FOR (e, columns - c) {
        zw_real8 sum = to[column[c + e]];
        for (int r = 0; r < width; r++) {
            sum += f[r] * own[r * columns + c + e];
        }
        to[column[c + e]] = sum;
    }
}

ZW_CLONES void soft8_push(const soft8 *s, int rest, zw_real8 *sum)
{
    zw_near8 *to = NEAR8(sum);
    for (int i = 0; i < (rest ? s->actives : s->blocks); i++) {
        int index = rest ? s->active[i] : i;
        const soft8_row *k = &s->row[index];
        const zw_near8 *f = rest ? soft8_block_at(s, index)->rest : soft8_block_at(s, index)->force;
        if (rest && !k->any) {
            continue;
        }
        if (k->is_fixed) {
            CREW_FOR (c, k->columns) {
                to[k->column[c]] += f[0] * (zw_scalar)k->numbers[c];
            }
        } else if (k->width == 3) {
            push_rows(s, k, 3, f, to);
        } else {
            push_rows(s, k, k->width, f, to);
        }
        CREW_MEET();
    }
}

/* ---- H = M + J' C J ------------------------------------------------------------------------- */

/* What column t of J gives to its row of H: w = C J[.][t]. */
ZW_INLINE void weigh(const zw_near8 *C, const zw_near8 *all, const int width, int columns, int t,
                     zw_real8 *w)
{
    const zw_near8 *J = all + t;
    for (int r = 0; r < width; r++) {
        w[r] = C[r * (r + 1) / 2] * J[0];
        for (int q = 1; q < width; q++) {
            int corner = r > q ? r * (r + 1) / 2 + q : q * (q + 1) / 2 + r;
            w[r] += C[corner] * J[q * columns];
        }
    }
}

/* Four entries of `rows` rows of H (1 or 2), which have the same columns c.. of J; as in push_rows.
 */
ZW_INLINE void stiffen_four(const zw_near8 *all, const int width, const int rows, int columns,
                            const int *at, const int *level, zw_near8 *const *row,
                            zw_real8 (*w)[SOFT_WIDE])
{
    int place[4] = {level[at[0]], level[at[1]], level[at[2]], level[at[3]]};
    zw_real8 sum[2][4];
    for (int e = 0; e < rows; e++) {
        for (int i = 0; i < 4; i++) {
            sum[e][i] = row[e][place[i]];
        }
    }
    for (int r = 0; r < width; r++) {
        const zw_near8 *from = all + r * columns;
        zw_real8 J[4] = {from[0], from[1], from[2], from[3]};
        for (int e = 0; e < rows; e++) {
            for (int i = 0; i < 4; i++) {
                sum[e][i] += w[e][r] * J[i];
            }
        }
    }
    for (int e = 0; e < rows; e++) {
        for (int i = 0; i < 4; i++) {
            row[e][place[i]] = sum[e][i];
        }
    }
}

/* The entries from column c on, up to that of the row itself, t. */
ZW_INLINE void stiffen_rest(const soft8_row *k, const zw_near8 *all, const int width, int c, int t,
                            const int *level, zw_near8 *row, const zw_real8 *w)
{
    for (; c <= t; c++) {
        zw_near8 *to = row + level[k->column[c]];
        zw_real8 sum = *to;
        for (int r = 0; r < width; r++) {
            sum += w[r] * all[r * k->columns + c];
        }
        *to = sum;
    }
}

/* Where a thread has one world, two rows at a time: each number of J is read once for both. */
ZW_INLINE void stiffen(const soft8 *s, const soft8_row *k, const zw_near8 *C, const int width)
{
    enum { ROWS = LANES == 1 && CREW_SIZE == 1 ? 2 : 1 };
    const int *start = s->shape.start, *level = s->level, *column = k->column;
    const int columns = k->columns, pairs = (columns + ROWS - 1) / ROWS;
    const zw_near8 *all = NEAR8(s->J) + k->J;
    CREW_FOR (p, pairs) {
        zw_near8 *row[ROWS];
        zw_real8 w[ROWS][SOFT_WIDE];
        int t = ROWS * p, rows = columns - t < ROWS ? columns - t : ROWS, c = 0;
        for (int e = 0; e < rows; e++) {
            row[e] = NEAR8(s->H) + start[column[t + e]];
            weigh(C, all, width, columns, t + e, w[e]);
        }
        for (; c + 4 <= t + 1; c += 4) {
            if (rows == ROWS) {
                stiffen_four(all + c, width, ROWS, columns, column + c, level, row, w);
            } else {
                stiffen_four(all + c, width, 1, columns, column + c, level, row, w);
            }
        }
        for (int e = 0; e < rows; e++) {
            stiffen_rest(k, all, width, c, t + e, level, row[e], w[e]);
        }
    }
}

ZW_INLINE void stiffen_fixed(const soft8 *s, const soft8_row *k, zw_real8 C)
{
    const int *start = s->shape.start, *level = s->level;
    CREW_FOR (t, k->columns) {
        zw_real8 w = C * (zw_scalar)k->numbers[t];
        for (int c = 0; c <= t; c++) {
            NEAR8(s->H)[start[k->column[t]] + level[k->column[c]]] += w * (zw_scalar)k->numbers[c];
        }
    }
}

ZW_INLINE void copy(int count, const zw_near8 *from, zw_near8 *to)
{
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        zw_real8 x = from[k], y = from[k + 1], z = from[k + 2], w = from[k + 3];
        to[k] = x;
        to[k + 1] = y;
        to[k + 2] = z;
        to[k + 3] = w;
    }
    for (; k < count; k++) {
        to[k] = from[k];
    }
}

ZW_CLONES void soft8_fill(const soft8 *s, int with_blocks)
{
    const tree_mechanism *tree = s->system->tree;
    const zw_near8 *M = NEAR8(s->sweeps) + tree->at.M;
    int bent = s->shape.parent != s->straight.parent;
    CREW_FOR (d, tree->nv) {
        zw_near8 *row = NEAR8(s->H) + s->shape.start[d];
        int first = tree->start[d], count = tree->start[d + 1] - first;
        for (int k = 0; bent && k < s->shape.depth[d]; k++) {
            row[k] = (zw_real8){0};
        }
        for (int k = 0; bent && k < count; k++) {
            row[s->level[tree->column[first + k]]] = M[first + k];
        }
        copy(bent ? 0 : count, M + first, row);
    }
    CREW_MEET();
    for (int i = 0; with_blocks && i < s->actives; i++) {
        const soft8_row *k = &s->row[s->active[i]];
        const zw_near8 *C = soft8_block_at(s, s->active[i])->C;
        if (!k->any) {
            continue;
        }
        if (k->is_fixed && k->columns == 1) {
            int d = k->column[0];
            zw_scalar J = (zw_scalar)k->numbers[0];
            CREW_ONE () {
                NEAR8(s->H)[s->shape.start[d] + s->level[d]] += J * C[0] * J;
            }
        } else if (k->is_fixed) {
            stiffen_fixed(s, k, C[0]);
        } else if (k->width == 3) {
            stiffen(s, k, C, 3);
        } else {
            stiffen(s, k, C, k->width);
        }
        CREW_MEET();
    }
}
