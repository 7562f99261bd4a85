/* The boxes are sorted along a curve that fills space (the bits of their three coordinates in turn,
 * by counting), so that neighbours in the order are neighbours in space. Eight by eight they are
 * the leaves of a complete binary tree of boxes. Each leaf then asks the tree for the leaves behind
 * it in the order: n log n in all, whatever their sizes are, plus what is found. At last the pairs
 * are sorted by counting, twice. */
#include "collide/broad.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "collide/vector.h"

enum { LEAF = 8, BITS = 16, DIGIT = 12, BUCKETS = 1 << DIGIT };

typedef struct box {
    double lower[3], upper[3];
} box;

typedef struct item {
    uint64_t key;
    int at;
} item;

typedef struct couple {
    int low, high;
} couple;

struct collide_broad {
    int room;             /* for so many boxes there are: */
    item *item, *other;   /* room */
    box *sorted, *tree;   /* room; 2 * leaves of the tree */
    unsigned char *fixed; /* room: of the sorted ones, cannot move */
    int *endless, *first; /* room; room + 1 */
    int endless_count, leaves, pair_count, pair_room, sort_room;
    couple *pair, *sort;
};

collide_broad *collide_broad_new(void)
{
    return base_alloc(sizeof(collide_broad));
}

static void drop_boxes(collide_broad *b)
{
    base_free(b->item);
    base_free(b->other);
    base_free(b->sorted);
    base_free(b->tree);
    base_free(b->fixed);
    base_free(b->endless);
    base_free(b->first);
    b->item = b->other = NULL;
    b->sorted = b->tree = NULL;
    b->fixed = NULL;
    b->endless = b->first = NULL;
    b->room = 0;
}

void collide_broad_free(collide_broad *b)
{
    if (b != NULL) {
        drop_boxes(b);
        base_free(b->pair);
        base_free(b->sort);
        base_free(b);
    }
}

static int leaves_for(int count)
{
    int leaves = 1;
    while (leaves * LEAF < count) {
        leaves *= 2;
    }
    return leaves;
}

static int make_room(collide_broad *b, int count)
{
    if (count <= b->room) {
        return 1;
    }
    drop_boxes(b);
    size_t n = (size_t)count + (size_t)count / 2 + 8;
    b->item = base_alloc(n * sizeof *b->item);
    b->other = base_alloc(n * sizeof *b->other);
    b->sorted = base_alloc(n * sizeof *b->sorted);
    b->tree = base_alloc(2 * (size_t)leaves_for((int)n) * sizeof *b->tree);
    b->fixed = base_alloc(n);
    b->endless = base_alloc(n * sizeof *b->endless);
    b->first = base_alloc((n + 2) * sizeof *b->first);
    if (b->item == NULL || b->other == NULL || b->sorted == NULL || b->tree == NULL ||
        b->fixed == NULL || b->endless == NULL || b->first == NULL) {
        drop_boxes(b);
        return 0;
    }
    b->room = (int)n;
    return 1;
}

/* ---- Order in space ----------------------------------------------------------------------------
 */

/* The bits of x, with two empty places after each. */
static uint64_t spread(uint64_t x)
{
    x &= 0xffff;
    x = (x | x << 16) & 0x00ff0000ff0000ff;
    x = (x | x << 8) & 0xf00f00f00f00f00f;
    x = (x | x << 4) & 0x30c30c30c30c30c3;
    return (x | x << 2) & 0x9249249249249249;
}

static void set_keys(collide_broad *b, int count, const double *lower, const double *upper)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = 0; k < count; k++) {
        for (int c = 0; c < 3; c++) {
            double middle = 0.5 * lower[3 * b->item[k].at + c] + 0.5 * upper[3 * b->item[k].at + c];
            low[c] = v3_min(low[c], middle);
            high[c] = v3_max(high[c], middle);
        }
    }
    double way = v3_max(high[0] - low[0], v3_max(high[1] - low[1], high[2] - low[2]));
    double scale = way > 0 && isfinite(way) ? ((1 << BITS) - 1) / way : 0;
    for (int k = 0; k < count; k++) {
        int at = b->item[k].at;
        uint64_t key = 0;
        for (int c = 0; c < 3; c++) {
            double x = (0.5 * lower[3 * at + c] + 0.5 * upper[3 * at + c] - low[c]) * scale;
            key |= spread((uint64_t)v3_min(v3_max(x, 0), (1 << BITS) - 1)) << c;
        }
        b->item[k].key = key;
    }
}

/* The same order as by digits: equal keys stay as they came. */
static void sort_few(item *list, int count)
{
    for (int k = 1; k < count; k++) {
        item moved = list[k];
        int at = k;
        for (; at > 0 && list[at - 1].key > moved.key; at--) {
            list[at] = list[at - 1];
        }
        list[at] = moved;
    }
}

static void sort_items(collide_broad *b, int count)
{
    enum { FEW = 64 };
    int start[BUCKETS];
    if (count <= FEW) {
        sort_few(b->item, count);
        return;
    }
    for (int shift = 0; shift < 3 * BITS; shift += DIGIT) {
        memset(start, 0, sizeof start);
        for (int k = 0; k < count; k++) {
            start[b->item[k].key >> shift & (BUCKETS - 1)]++;
        }
        for (int k = 0, sum = 0; k < BUCKETS; k++) {
            int here = start[k];
            start[k] = sum;
            sum += here;
        }
        for (int k = 0; k < count; k++) {
            b->other[start[b->item[k].key >> shift & (BUCKETS - 1)]++] = b->item[k];
        }
        item *swap = b->item;
        b->item = b->other;
        b->other = swap;
    }
}

/* ---- The tree ----------------------------------------------------------------------------------
 */

static void join(box *to, const box *x)
{
    for (int c = 0; c < 3; c++) {
        to->lower[c] = v3_min(to->lower[c], x->lower[c]);
        to->upper[c] = v3_max(to->upper[c], x->upper[c]);
    }
}

/* Without branches: which of the six decides cannot be foreseen. */
static int meet(const box *x, const box *y)
{
    return (x->lower[0] <= y->upper[0]) & (y->lower[0] <= x->upper[0]) &
           (x->lower[1] <= y->upper[1]) & (y->lower[1] <= x->upper[1]) &
           (x->lower[2] <= y->upper[2]) & (y->lower[2] <= x->upper[2]);
}

/* Node 1 is the root, k has the children 2k and 2k + 1, leaf number l is node leaves + l. */
static void build(collide_broad *b, int count, const double *lower, const double *upper,
                  const unsigned char *still)
{
    const box none = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    b->leaves = leaves_for(count);
    for (int l = 0; l < b->leaves; l++) {
        b->tree[b->leaves + l] = none;
    }
    for (int k = 0; k < count; k++) {
        int at = b->item[k].at;
        memcpy(b->sorted[k].lower, &lower[3 * at], sizeof b->sorted[k].lower);
        memcpy(b->sorted[k].upper, &upper[3 * at], sizeof b->sorted[k].upper);
        b->fixed[k] = still != NULL && still[at];
        join(&b->tree[b->leaves + k / LEAF], &b->sorted[k]);
    }
    for (int k = b->leaves - 1; k > 0; k--) {
        b->tree[k] = b->tree[2 * k];
        join(&b->tree[k], &b->tree[2 * k + 1]);
    }
}

static int add_pair(collide_broad *b, int i, int j)
{
    if (!base_list_room(&b->pair, &b->pair_room, b->pair_count, sizeof *b->pair)) {
        return 0;
    }
    b->pair[b->pair_count++] = i < j ? (couple){i, j} : (couple){j, i};
    return 1;
}

static int leaf_pairs(collide_broad *b, int one, int two, int count)
{
    int end = (one + 1) * LEAF < count ? (one + 1) * LEAF : count;
    int end2 = (two + 1) * LEAF < count ? (two + 1) * LEAF : count;
    for (int i = one * LEAF; i < end; i++) {
        if (!meet(&b->sorted[i], &b->tree[b->leaves + two])) {
            continue;
        }
        for (int j = one == two ? i + 1 : two * LEAF; j < end2; j++) {
            if (meet(&b->sorted[i], &b->sorted[j]) && !(b->fixed[i] && b->fixed[j]) &&
                !add_pair(b, b->item[i].at, b->item[j].at)) {
                return 0;
            }
        }
    }
    return 1;
}

/* Leaf `one` with all that are not before it: down where the boxes meet, the left child first. A
 * node at `up` levels above the leaves ends with the leaf ((k + 1) << up) - 1. */
static int leaf_asks(collide_broad *b, int one, int count)
{
    struct {
        int node, up;
    } stack[64];
    int depth = 0, levels = 0;
    const box *mine = &b->tree[b->leaves + one];
    while (1 << levels < b->leaves) {
        levels++;
    }
    stack[depth].node = 1;
    stack[depth++].up = levels;
    while (depth > 0) {
        int k = stack[--depth].node, up = stack[depth].up;
        if (((k + 1) << up) - 1 - b->leaves < one || !meet(mine, &b->tree[k])) {
            continue;
        }
        if (up == 0) {
            if (!leaf_pairs(b, one, k - b->leaves, count)) {
                return 0;
            }
            continue;
        }
        stack[depth].node = 2 * k + 1;
        stack[depth++].up = up - 1;
        stack[depth].node = 2 * k;
        stack[depth++].up = up - 1;
    }
    return 1;
}

/* ---- All together ------------------------------------------------------------------------------
 */

/* Stable, by the upper number and then by the lower one. */
static int sort_pairs(collide_broad *b, int count)
{
    while (b->sort_room < b->pair_count) {
        if (!base_list_room(&b->sort, &b->sort_room, b->pair_room - 1, sizeof *b->sort)) {
            return 0;
        }
    }
    for (int pass = 0; pass < 2; pass++) {
        memset(b->first, 0, ((size_t)count + 2) * sizeof *b->first);
        for (int k = 0; k < b->pair_count; k++) {
            b->first[(pass ? b->pair[k].low : b->pair[k].high) + 1]++;
        }
        for (int k = 0; k < count; k++) {
            b->first[k + 1] += b->first[k];
        }
        for (int k = 0; k < b->pair_count; k++) {
            b->sort[b->first[pass ? b->pair[k].low : b->pair[k].high]++] = b->pair[k];
        }
        couple *swap = b->sort;
        int room = b->sort_room;
        b->sort = b->pair;
        b->sort_room = b->pair_room;
        b->pair = swap;
        b->pair_room = room;
    }
    return 1;
}

/* Endless ones with everybody; with each other only once. */
static int endless_pairs(collide_broad *b, int finite, const unsigned char *still)
{
    for (int e = 0; e < b->endless_count; e++) {
        int i = b->endless[e], fixed = still != NULL && still[i];
        for (int k = 0; k < finite; k++) {
            if (!(fixed && b->fixed[k]) && !add_pair(b, i, b->item[k].at)) {
                return 0;
            }
        }
        for (int f = e + 1; f < b->endless_count; f++) {
            int j = b->endless[f];
            if (!(fixed && still[j]) && !add_pair(b, i, j)) {
                return 0;
            }
        }
    }
    return 1;
}

zw_status collide_broad_update(collide_broad *b, int count, const double *lower,
                               const double *upper, const unsigned char *still, int *bad)
{
    int finite = 0;
    b->pair_count = b->endless_count = 0;
    *bad = -1;
    if (!make_room(b, count)) {
        return ZW_NO_MEMORY;
    }
    for (int i = 0; i < count; i++) {
        int endless = 0, fine = 1;
        for (int c = 3 * i; c < 3 * i + 3; c++) {
            fine = fine && lower[c] <= upper[c];
            endless = endless || !(lower[c] > -INFINITY) || !(upper[c] < INFINITY);
        }
        if (!fine) {
            *bad = *bad < 0 ? i : *bad;
        } else if (endless) {
            b->endless[b->endless_count++] = i;
        } else {
            b->item[finite++].at = i;
        }
    }
    set_keys(b, finite, lower, upper);
    sort_items(b, finite);
    build(b, finite, lower, upper, still);
    int ok = endless_pairs(b, finite, still);
    for (int l = 0; ok && l * LEAF < finite; l++) {
        ok = leaf_asks(b, l, finite);
    }
    if (!ok || !sort_pairs(b, count)) {
        b->pair_count = 0;
        return ZW_NO_MEMORY;
    }
    return *bad < 0 ? ZW_OK : ZW_NOT_FINITE;
}

int collide_broad_pairs(const collide_broad *b, const int **pair)
{
    *pair = b->pair != NULL ? &b->pair[0].low : NULL;
    return b->pair_count;
}
