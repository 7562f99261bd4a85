/* Trees coupled by rows (islands), and the pattern of H = M + J' C J of each.
 *
 * The rows of M contain the path from the root to their dof, and its factor L' D L has no fill
 * (tree.h). A block whose columns are all on one such path, such as a contact with the world, does
 * not change the pattern. Other blocks, of two branches or two trees, bend the tree of dofs until
 * they are on a path: for two of its columns i < k, i must become an ancestor of k (paths_bend).
 * Parents remain smaller than their children, ancestors remain ancestors, and this is the
 * elimination tree of H if the rows contain all their ancestors. Where these would be too many (a
 * heap of free bodies becomes one long path), a sparse factor with its own ordering is used:
 * soft_large.c. */
#include <string.h>

#include "base/memory.h"
#include "math/partition.h"
#include "system/soft/soft.h"
#include "system/soft/soft_large.h"

/* ---- Coupled trees -------------------------------------------------------------------------- */

/* Are the columns of a block on the path to its last one? */
static int is_straight(const soft_problem *s, const soft_block *k)
{
    const int *parent = s->system->tree->dof_parent, *column = s->column + k->column;
    int d = column[k->columns - 1];
    for (int i = k->columns - 2; i >= 0; i--) {
        while (d > column[i]) {
            d = parent[d];
        }
        if (d != column[i]) {
            return 0;
        }
    }
    return 1;
}

static void bind(soft_problem *s)
{
    partition_begin(s->trees, s->leader);
    for (int t = 0; t < s->trees; t++) {
        s->tree[t].block = s->tree[t].next = -1;
        s->tree[t].bent = 0;
    }
    for (int i = 0; i < s->blocks; i++) {
        soft_block *k = &s->block[i];
        const int *column = s->column + k->column;
        if (k->columns == 0 || k->whole) { /* as for contacts with the world */
            continue;
        }
        int first = s->tree_of[column[0]], last = s->tree_of[column[k->columns - 1]];
        for (int j = 1; first != last && j < k->columns; j++) {
            s->tree[partition_join(s->leader, first, s->tree_of[column[j]])].bent = 1;
        }
        k->whole = first == last && is_straight(s, k);
        if (first == last && !k->whole) {
            s->tree[partition_root(s->leader, first)].bent = 1;
        }
        k->whole &= k->columns == s->system->tree->depth[column[k->columns - 1]];
    }
}

/* Linked lists of trees and blocks, in rising order, as the last is inserted first. */
static void list(soft_problem *s)
{
    partition_flatten(s->trees, s->leader);
    for (int t = s->trees - 1; t >= 0; t--) {
        int first = s->leader[t];
        s->tree[first].bent |= s->tree[t].bent;
        if (first != t) {
            s->tree[t].next = s->tree[first].next;
            s->tree[first].next = t;
        }
    }
    for (int i = s->blocks - 1; i >= 0; i--) {
        soft_block *k = &s->block[i];
        if (k->columns > 0) {
            soft_tree *first = &s->tree[s->leader[s->tree_of[s->column[k->column]]]];
            k->next = first->block;
            first->block = i;
            /* while the last one starts a group that this one can join in front */
            const soft_block *after = k->next == i + 1 && k[1].column == k->column ? &k[1] : NULL;
            int masses = after && (k->kind == SOFT_MASS || after->kind == SOFT_MASS);
            int joins = after && after->group < SOFT_GROUP && !masses; /* these are no rows */
            k->group = 1 + (joins ? after->group : 0);
        }
    }
    for (int i = 0; i < s->blocks; i++) { /* only the first of a group is listed */
        for (int j = 1; j < s->block[i].group; j++) {
            s->block[i + j].group = 0;
        }
    }
}

/* ---- Patterns ------------------------------------------------------------------------------- */

static int padded(int count)
{
    return (count + 3) / 4 * 4;
}

static void straighten(soft_problem *s)
{
    double *H = s->H;
    for (int t = 0; t < s->trees; t++) {
        const paths_shape *shape = &s->tree[t].shape;
        for (int i = 0; i < shape->n; i++) {
            s->row[s->tree[t].first + i] = H + shape->start[i];
            s->level[s->tree[t].first + i] = shape->depth[i] - 1;
        }
        H += shape->entries;
    }
    s->is_bent = 0;
}

static void find_parents(const soft_problem *s, soft_island *island)
{
    const tree_mechanism *tree = s->system->tree;
    const int *local = s->local;
    soft_bend *to = &island->bend;
    for (int i = 0; i < island->n; i++) {
        int up = tree->dof_parent[to->dof[i]];
        to->parent[i] = up < 0 ? -1 : local[up];
    }
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        const soft_block *k = &s->block[b];
        const int *column = s->column + k->column;
        for (int j = k->columns - 1; j > 0; j--) {
            paths_bend(to->parent, local[column[j]], local[column[j - 1]]);
        }
    }
    double products = 0;
    int entries = 0;
    for (int i = 0; i < island->n && products < SOFT_TOO_LONG; i++) {
        to->depth[i] = to->parent[i] < 0 ? 1 : to->depth[to->parent[i]] + 1;
        entries += padded(to->depth[i]);
        products += 0.5 * to->depth[i] * to->depth[i];
    }
    island->is_large = !(products < SOFT_TOO_LONG);
    island->shape.entries = island->is_large ? 0 : entries;
}

static int *take_ints(soft_problem *s, int count)
{
    s->bend_used += count;
    return s->bend_capacity + s->bend_used - count;
}

static void bend_island(soft_problem *s, soft_island *island)
{
    soft_bend *to = &island->bend;
    island->n = 0;
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        island->n += s->tree[t].end - s->tree[t].first;
    }
    to->dof = take_ints(s, island->n);
    to->parent = take_ints(s, island->n);
    to->depth = take_ints(s, island->n);
    to->start = take_ints(s, island->n);
    to->block = take_ints(s, island->n + 1);
    for (int t = island->tree, i = 0; t >= 0; t = s->tree[t].next) {
        for (int d = s->tree[t].first; d < s->tree[t].end; d++) {
            s->local[d] = i;
            to->dof[i++] = d;
        }
    }
    island->dof = to->dof;
    find_parents(s, island);
}

static void find_shape(soft_problem *s, soft_island *island)
{
    soft_bend *to = &island->bend;
    island->shape = paths_find(island->n, to->parent, to->depth, to->start, to->block);
    for (int i = 0; i < island->n; i++) {
        s->row[to->dof[i]] = island->H + to->start[i];
        s->level[to->dof[i]] = to->depth[i] - 1;
    }
}

static int grow(soft_problem *s, int entries)
{
    if (entries > s->bent_capacity) {
        s->bent_capacity = 0;
        base_free(s->bent_H);
        s->bent_H = base_alloc(2 * (size_t)entries * sizeof *s->bent_H);
        if (!s->bent_H) {
            return 0;
        }
        s->bent_capacity = 2 * entries;
    }
    return 1;
}

/* The pattern of the tree itself, in which the columns of whole blocks are contiguous. */
static void keep_straight(const soft_problem *s, soft_island *island)
{
    const soft_tree *tree = &s->tree[island->tree];
    island->n = tree->end - tree->first;
    island->dof = NULL;
    island->shape = tree->shape;
    island->H = s->row[tree->first];
    island->is_large = 0;
    island->is_deep = soft_deep_fits(s, island);
}

static int finish_bent(soft_problem *s, soft_island *island, int *used)
{
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        s->block[b].whole = 0;
    }
    if (island->is_large) {
        return soft_large_find(s, island);
    }
    island->H = s->bent_H + *used;
    *used += island->shape.entries;
    find_shape(s, island);
    return 1;
}

int soft_find_islands(soft_problem *s)
{
    int entries = 0, used = 0;
    if (s->is_bent) {
        straighten(s);
    }
    bind(s);
    list(s);
    s->islands = s->bend_used = 0;
    for (int t = 0; t < s->trees; t++) {
        if (s->leader[t] != t) {
            continue;
        }
        soft_island *island = &s->island[s->islands++];
        island->tree = t;
        island->first = s->tree[t].first;
        island->block = s->tree[t].block;
        if (s->tree[t].bent) {
            island->is_deep = 0;
            bend_island(s, island);
            entries += island->shape.entries;
            s->is_bent = 1;
        } else {
            keep_straight(s, island);
        }
    }
    if (!grow(s, entries)) {
        return 0;
    }
    for (int i = 0; i < s->islands; i++) {
        if (s->island[i].dof && !finish_bent(s, &s->island[i], &used)) {
            return 0;
        }
    }
    return 1;
}

/* ---- Once ----------------------------------------------------------------------------------- */

/* Trees of one pattern are solved together: soft_lane.c. Only a few patterns are compared. */
static int kind_of(const soft_problem *s, int t)
{
    const paths_shape *own = &s->tree[t].shape;
    int kinds = 0;
    for (int k = 0; k < t && kinds < 8; k++) {
        const paths_shape *other = &s->tree[k].shape;
        if (s->tree[k].kind != k) {
            continue;
        }
        if (other->n == own->n &&
            memcmp(other->parent, own->parent, (size_t)own->n * sizeof *own->parent) == 0) {
            return k;
        }
        kinds++;
    }
    return t;
}

void soft_find_trees(soft_problem *s, int *parent, int *start, int *block)
{
    const tree_mechanism *tree = s->system->tree;
    for (int t = 0, b = 0; t < s->trees; t++) {
        soft_tree *own = &s->tree[t];
        int first = own->first, n = own->end - first, blocks = 0, entries = 0;
        for (int i = 0; i < n; i++) {
            int up = tree->dof_parent[first + i];
            parent[i] = up < 0 ? -1 : up - first;
            start[i] = entries;
            entries += padded(tree->depth[first + i]);
        }
        for (; b < tree->blocks && tree->block[b] < own->end; b++) {
            block[blocks++] = tree->block[b] - first;
        }
        block[blocks] = n;
        own->shape = (paths_shape){.n = n,
                                   .entries = entries,
                                   .parent = parent,
                                   .depth = tree->depth + first,
                                   .start = start,
                                   .blocks = blocks,
                                   .block = block};
        own->kind = kind_of(s, t);
        soft_deep_find(s, own);
        parent += n;
        start += n;
        block += blocks + 1;
    }
    straighten(s);
}
