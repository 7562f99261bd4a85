#include "system/soft/soft_large.h"

#include <string.h>

#include "base/memory.h"

/* ---- The pattern ---------------------------------------------------------------------------- */

static int count_entries(const soft_problem *s, const soft_island *island)
{
    const tree_mechanism *tree = s->system->tree;
    int count = 0;
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        count += tree->start[s->tree[t].end] - tree->start[s->tree[t].first];
    }
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        count += s->block[b].columns * (s->block[b].columns + 1) / 2;
    }
    return count;
}

static int grow(soft_large *large, int n, int entries)
{
    size_t columns = (size_t)n + 2, rows = 2 * (size_t)entries + 1;
    if (n != large->n || entries > large->scratch) {
        void **list[] = {(void **)&large->start,     (void **)&large->row,
                         (void **)&large->place,     (void **)&large->value,
                         (void **)&large->new_start, (void **)&large->new_row};
        size_t size[] = {columns * sizeof(int), rows * sizeof(int),    rows * sizeof(int),
                         rows * sizeof(double), columns * sizeof(int), rows * sizeof(int)};
        large->n = large->scratch = 0;
        for (int k = 0; k < 6; k++) {
            base_free(*list[k]);
            *list[k] = base_alloc(size[k]);
            if (!*list[k]) {
                return 0;
            }
        }
        sparse_ldl_free(large->ldl);
        large->ldl = NULL;
        large->n = n;
        large->scratch = 2 * entries;
    }
    return 1;
}

/* Calls of add(row, column) in the order of the entries: to count them by columns, then to place
 * them. */
typedef struct walk {
    int at, *next, *row, *place;
} walk;

static void add(walk *w, int row, int column)
{
    if (w->row) {
        w->place[w->at++] = w->next[column];
        w->row[w->next[column]] = row;
    }
    w->next[column]++;
}

static void walk_all(const soft_problem *s, const soft_island *island, walk *w)
{
    const tree_mechanism *tree = s->system->tree;
    const int *local = s->local;
    for (int i = 0; i < island->n; i++) {
        int d = island->dof[i];
        for (int k = tree->start[d]; k < tree->start[d + 1]; k++) {
            add(w, i, local[tree->column[k]]);
        }
    }
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        const int *column = s->column + s->block[b].column;
        for (int i = 0; i < s->block[b].columns; i++) {
            for (int j = 0; j <= i; j++) {
                add(w, local[column[i]], local[column[j]]);
            }
        }
    }
}

static int analyse(soft_large *large)
{
    signed char *sign = base_alloc((size_t)large->n + 1);
    int *start = large->start, *row = large->row;
    large->start = large->new_start;
    large->row = large->new_row;
    large->new_start = start;
    large->new_row = row;
    sparse_ldl_free(large->ldl);
    large->ldl = NULL;
    if (sign) {
        memset(sign, 1, (size_t)large->n);
        large->ldl = sparse_ldl_analyse(large->n, large->start, large->row, sign);
    }
    base_free(sign);
    return large->ldl != NULL;
}

int soft_large_find(soft_problem *s, soft_island *island)
{
    soft_large *large = &s->large[island->tree];
    int entries = count_entries(s, island), n = island->n;
    if (!grow(large, n, entries)) {
        return 0;
    }
    /* new_start[j + 1] counts column j, then new_start[j] is where it begins */
    int *start = large->new_start;
    memset(start, 0, ((size_t)n + 2) * sizeof *start);
    walk_all(s, island, &(walk){.next = start + 2});
    for (int j = 0; j <= n; j++) {
        start[j + 1] += start[j];
    }
    walk_all(s, island, &(walk){.next = start + 1, .row = large->new_row, .place = large->place});
    int same = large->ldl && large->entries == entries &&
               memcmp(start, large->start, ((size_t)n + 1) * sizeof *start) == 0 &&
               memcmp(large->new_row, large->row, (size_t)entries * sizeof(int)) == 0;
    large->entries = entries;
    return same || analyse(large);
}

void soft_large_free(soft_large *large)
{
    void *list[] = {large->start, large->row,       large->place,
                    large->value, large->new_start, large->new_row};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        base_free(list[k]);
    }
    sparse_ldl_free(large->ldl);
}

/* ---- Numbers -------------------------------------------------------------------------------- */

/* c_ij of C, j <= i or not. */
static double stiffness(const soft_reply *reply, int i, int j)
{
    return reply->C[i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i];
}

static int put_block(const soft_problem *s, const soft_block *k, int only_masses, int at,
                     const int *place, double *value)
{
    const double *J = s->value + k->J;
    int use = !only_masses || k->kind == SOFT_MASS;
    for (int i = 0; i < k->columns; i++) {
        double w[6] = {0};
        for (int r = 0; r < k->width && use; r++) {
            for (int q = 0; q < k->width; q++) {
                w[r] += stiffness(&k->now, r, q) * J[q * k->stride + i];
            }
        }
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int r = 0; r < k->width; r++) {
                sum += w[r] * J[r * k->stride + j];
            }
            value[place[at++]] = sum;
        }
    }
    return at;
}

int soft_large_factor(soft_problem *s, const soft_island *island, const double *diagonal,
                      int only_masses)
{
    const tree_mechanism *tree = s->system->tree;
    const double *M = s->work->sweeps + tree->at.M;
    soft_large *large = &s->large[island->tree];
    int at = 0;
    for (int i = 0; i < island->n; i++) {
        int d = island->dof[i];
        for (int k = tree->start[d]; k < tree->start[d + 1]; k++) {
            large->value[large->place[at++]] = M[k];
        }
        if (diagonal) { /* the diagonal is last in its row */
            large->value[large->place[at - 1]] += diagonal[d];
        }
    }
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        at = put_block(s, &s->block[b], only_masses, at, large->place, large->value);
    }
    return sparse_ldl_factor(large->ldl, large->value, 0) == 0;
}

void soft_large_solve(soft_problem *s, const soft_island *island, double *x)
{
    sparse_ldl_solve(s->large[island->tree].ldl, x);
}
