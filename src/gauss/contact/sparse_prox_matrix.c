/* Newton's matrix of the proximal method, H = M + J' G J, put together by blocks and factored.
 *
 * Its pattern is that of the metric and of the pairs of nodes that a unit in play couples. As long
 * as the pairs of the units in play are among those of the last analysis, and no fifth of them has
 * left since, that is kept: contacts that open leave zeros behind. That holds within a solve. The
 * first factorisation of the next one keeps the analysis only if it would be the same again: the
 * order of elimination determines the last bits, and they must not depend on earlier problems. */
#include <string.h>

#include "base/memory.h"
#include "gauss/contact/sparse_prox_inner.h"

/* ---- The pattern ---------------------------------------------------------------------------- */

/* The entry of a pair of nodes, or -1. */
static int find_entry(const sparse_prox *s, int a, int b)
{
    int column = a < b ? a : b, row = a < b ? b : a;
    int low = s->known.start[column], high = s->known.start[column + 1];
    while (low < high) {
        int middle = (low + high) / 2;
        if (s->known.row[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < s->known.start[column + 1] && s->known.row[low] == row ? low : -1;
}

/* Is it in play now, or was it in this solve? */
static int needs(const sparse_prox *s, int k)
{
    return s->state[k] != MANY_OPEN || s->factored[k] != MANY_OPEN;
}

static int in_play(const sparse_prox *s)
{
    int count = 0;
    for (int k = 0; k < s->t.units; k++) {
        count += needs(s, k);
    }
    return count;
}

/* Does the known pattern hold all pairs of units that are not open, and not far more? Then s->pair.
 */
static int fits(sparse_prox *s)
{
    const many_table *t = &s->t;
    if (s->known_nodes != t->nodes ||
        memcmp(s->known.size, t->size, (size_t)t->nodes * sizeof(int)) != 0 ||
        5 * in_play(s) < 4 * s->known_units) {
        return 0;
    }
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        for (int a = 0, at = u->pair; a < u->parts && needs(s, k); a++) {
            for (int b = 0; b < a; b++, at++) {
                s->pair[at] = find_entry(s, t->part[u->part + a].node, t->part[u->part + b].node);
                if (s->pair[at] < 0) {
                    return 0;
                }
            }
        }
    }
    for (int k = 0; k < t->entries; k++) {
        int a = t->node_of_position[t->entry[k].i], b = t->node_of_position[t->entry[k].j];
        if (a != b && find_entry(s, a, b) < 0) {
            return 0;
        }
    }
    return 1;
}

static void count_pair(int *start, int *row, int *fill, int a, int b)
{
    int column = a < b ? a : b, other = a < b ? b : a;
    if (row == NULL) {
        start[column + 1]++;
    } else {
        row[fill[column]++] = other;
    }
}

static void list_pairs(sparse_prox *s, int *start, int *row, int *fill)
{
    const many_table *t = &s->t;
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        for (int a = 0; a < u->parts && needs(s, k); a++) {
            for (int b = 0; b < a; b++) {
                count_pair(start, row, fill, t->part[u->part + a].node, t->part[u->part + b].node);
            }
        }
    }
    for (int k = 0; k < t->entries; k++) {
        int a = t->node_of_position[t->entry[k].i], b = t->node_of_position[t->entry[k].j];
        if (a != b) {
            count_pair(start, row, fill, a, b);
        }
    }
}

static void sort(int count, int *list)
{
    for (int i = 1; i < count; i++) {
        for (int k = i; k > 0 && list[k] < list[k - 1]; k--) {
            int x = list[k];
            list[k] = list[k - 1];
            list[k - 1] = x;
        }
    }
}

/* Each column's rows sorted, each once. */
static void tidy(int nodes, int *start, int *row)
{
    int to = 0, from = 0;
    for (int c = 0; c < nodes; c++) {
        int end = start[c + 1];
        sort(end - from, row + from);
        start[c] = to;
        for (int q = from; q < end; q++) {
            if (to == start[c] || row[to - 1] != row[q]) {
                row[to++] = row[q];
            }
        }
        from = end;
    }
    start[nodes] = to;
}

static many_pattern pattern_layout(const many_table *t, base_arena *arena)
{
    size_t nodes = (size_t)t->nodes;
    many_pattern to;
    to.size = base_arena_ints(arena, nodes);
    to.start = base_arena_ints(arena, nodes + 1);
    to.row = base_arena_ints(arena, (size_t)(t->pairs + t->entries));
    return to;
}

/* The pattern of the units in play, in the spare buffer. 0: no memory */
static int find_pattern(sparse_prox *s, many_pattern *to)
{
    const many_table *t = &s->t;
    base_arena arena = {0};
    pattern_layout(t, &arena);
    if (!many_reserve(&s->spare, &s->spare_capacity, arena.used)) {
        return 0;
    }
    arena = (base_arena){.block = s->spare};
    *to = pattern_layout(t, &arena);
    memcpy(to->size, t->size, (size_t)t->nodes * sizeof(int));
    memset(to->start, 0, ((size_t)t->nodes + 1) * sizeof(int));
    list_pairs(s, to->start, NULL, NULL);
    for (int c = 0; c < t->nodes; c++) {
        to->start[c + 1] += to->start[c];
        s->fill[c] = to->start[c];
    }
    list_pairs(s, to->start, to->row, s->fill);
    tidy(t->nodes, to->start, to->row);
    return 1;
}

static int is_known(const sparse_prox *s, const many_pattern *it)
{
    size_t nodes = (size_t)s->t.nodes, each = sizeof(int);
    return s->known_nodes == s->t.nodes && memcmp(it->size, s->known.size, nodes * each) == 0 &&
           memcmp(it->start, s->known.start, (nodes + 1) * each) == 0 &&
           memcmp(it->row, s->known.row, (size_t)it->start[nodes] * each) == 0;
}

static int analyse(sparse_prox *s)
{
    many_pattern now;
    if (!find_pattern(s, &now)) {
        return 0;
    }
    if (!is_known(s, &now)) {
        unsigned char *block = s->pattern;
        size_t capacity = s->pattern_capacity;
        s->known_nodes = -1;
        s->known = now;
        s->pattern = s->spare;
        s->pattern_capacity = s->spare_capacity;
        s->spare = block;
        s->spare_capacity = capacity;
        if (!front_analyse(s->front, s->t.nodes, now.size, now.start, now.row)) {
            return 0;
        }
        s->known_nodes = s->t.nodes;
    }
    s->known_units = in_play(s);
    s->is_own = 1;
    return fits(s);
}

/* ---- The numbers ---------------------------------------------------------------------------- */

static void add_metric(const sparse_prox *s, const front_blocks *to)
{
    const many_table *t = &s->t;
    for (int k = 0; k < t->entries; k++) {
        const many_entry *e = &t->entry[k];
        int a = t->node_of_position[e->i], b = t->node_of_position[e->j];
        size_t i = (size_t)(e->i - t->at[a]), j = (size_t)(e->j - t->at[b]);
        front_spot ij = to->diagonal[a], ji = to->diagonal[a];
        if (a != b) {
            int q = find_entry(s, a, b);
            ij = a > b ? to->lower[q] : to->upper[q];
            ji = a > b ? to->upper[q] : to->lower[q];
        }
        to->numbers[ij.at + i * ij.stride + j] += e->value;
        if (e->i != e->j) {
            to->numbers[ji.at + j * ji.stride + i] += e->value;
        }
    }
}

/* to += A' B with A d x m and B d x n. */
static void add_product(int d, int m, int n, const double *A, const double *B, double *to,
                        size_t stride)
{
    for (int i = 0; i < m; i++, to += stride) {
        for (int k = 0; k < d; k++) {
            double a = A[k * m + i];
            for (int j = 0; j < n; j++) {
                to[j] += a * B[k * n + j];
            }
        }
    }
}

static void add_unit(const sparse_prox *s, int k, const front_blocks *to)
{
    const many_table *t = &s->t;
    const many_unit *u = &t->unit[k];
    const double *G = s->G + u->G;
    double T[MANY_ROWS * MANY_LARGEST];
    for (int b = 0; b < u->parts; b++) {
        const many_part *pb = &t->part[u->part + b];
        int n = t->size[pb->node];
        const double *B = t->J + pb->J;
        for (int i = 0; i < u->d; i++) { /* T = G B */
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int q = 0; q < u->d; q++) {
                    sum += G[i * u->d + q] * B[q * n + j];
                }
                T[i * n + j] = sum;
            }
        }
        for (int a = 0; a < u->parts; a++) {
            const many_part *pa = &t->part[u->part + a];
            front_spot spot = to->diagonal[pa->node];
            if (a != b) {
                int high = a > b ? a : b, low = a > b ? b : a;
                int q = s->pair[u->pair + high * (high - 1) / 2 + low];
                spot = pa->node > pb->node ? to->lower[q] : to->upper[q];
            }
            add_product(u->d, t->size[pa->node], n, t->J + pa->J, T, to->numbers + spot.at,
                        spot.stride);
        }
    }
}

int many_factor(sparse_prox *s)
{
    if (!(s->is_own && fits(s)) && !analyse(s)) {
        return 0;
    }
    front_blocks to = front_where(s->front);
    front_clear(s->front);
    add_metric(s, &to);
    for (int k = 0; k < s->t.units; k++) {
        if (s->state[k] != MANY_OPEN) {
            add_unit(s, k, &to);
        }
    }
    memcpy(s->factored, s->state, (size_t)s->t.units);
    s->factorizations++;
    s->has_factor = front_factor(s->front);
    return s->has_factor;
}
