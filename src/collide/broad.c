/* The boxes are sorted along a space-filling curve (Morton order: the bits of their three
 * coordinates interleaved; radix sort), so that neighbours in the order are neighbours in space.
 * Groups of eight are the leaves of a complete binary tree of boxes. Each leaf queries the tree for
 * the leaves after it in the order: n log n in all, whatever the sizes, plus the pairs found. Fixed
 * boxes have a separate tree, which is built once and queried by each of the k moving boxes: k log
 * n. Finally the pairs are sorted by their digits, so that no array has to be as long as the number
 * of boxes. */
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

/* Boxes in Morton order, and the tree over them. */
typedef struct forest {
    int capacity;       /* number of boxes that the arrays below can hold: */
    item *item, *other; /* [capacity] */
    box *sorted, *tree; /* [capacity]; [2 * leaves] */
    int count, leaves;
    int *endless, endless_count, endless_capacity; /* infinite boxes, which are not in the tree */
} forest;

struct collide_broad {
    forest still, moving;
    int pair_count, pair_capacity, sort_capacity;
    couple *pair, *sort;
};

collide_broad *collide_broad_new(void)
{
    return base_alloc(sizeof(collide_broad));
}

static void drop_boxes(forest *f)
{
    base_free(f->item);
    base_free(f->other);
    base_free(f->sorted);
    base_free(f->tree);
    f->item = f->other = NULL;
    f->sorted = f->tree = NULL;
    f->capacity = f->count = 0;
}

void collide_broad_free(collide_broad *b)
{
    if (b != NULL) {
        drop_boxes(&b->still);
        drop_boxes(&b->moving);
        base_free(b->still.endless);
        base_free(b->moving.endless);
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

static int make_room(forest *f, int count)
{
    if (count <= f->capacity) {
        return 1;
    }
    drop_boxes(f);
    size_t n = (size_t)count + (size_t)count / 2 + 8;
    f->item = base_alloc(n * sizeof *f->item);
    f->other = base_alloc(n * sizeof *f->other);
    f->sorted = base_alloc(n * sizeof *f->sorted);
    f->tree = base_alloc(2 * (size_t)leaves_for((int)n) * sizeof *f->tree);
    if (f->item == NULL || f->other == NULL || f->sorted == NULL || f->tree == NULL) {
        drop_boxes(f);
        return 0;
    }
    f->capacity = (int)n;
    return 1;
}

/* ---- Order in space -------------------------------------------------------------------------- */

/* The bits of x, each followed by two zero bits. */
static uint64_t spread(uint64_t x)
{
    x &= 0xffff;
    x = (x | x << 16) & 0x00ff0000ff0000ff;
    x = (x | x << 8) & 0xf00f00f00f00f00f;
    x = (x | x << 4) & 0x30c30c30c30c30c3;
    return (x | x << 2) & 0x9249249249249249;
}

static void set_keys(forest *b, const double *lower, const double *upper)
{
    int count = b->count;
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

/* The same stable order as by digits. */
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

static void sort_items(forest *b)
{
    enum { FEW = 64 };
    int count = b->count;
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

/* ---- The tree -------------------------------------------------------------------------------- */

static void join(box *to, const box *x)
{
    for (int c = 0; c < 3; c++) {
        to->lower[c] = v3_min(to->lower[c], x->lower[c]);
        to->upper[c] = v3_max(to->upper[c], x->upper[c]);
    }
}

/* Without branches, as the outcome of the six comparisons is unpredictable. */
static int meet(const box *x, const box *y)
{
    return (x->lower[0] <= y->upper[0]) & (y->lower[0] <= x->upper[0]) &
           (x->lower[1] <= y->upper[1]) & (y->lower[1] <= x->upper[1]) &
           (x->lower[2] <= y->upper[2]) & (y->lower[2] <= x->upper[2]);
}

/* Node 1 is the root, node k has the children 2k and 2k + 1, leaf l is node leaves + l. */
static void build(forest *f, const double *lower, const double *upper)
{
    const box none = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    f->leaves = leaves_for(f->count);
    for (int l = 0; l < f->leaves; l++) {
        f->tree[f->leaves + l] = none;
    }
    for (int k = 0; k < f->count; k++) {
        int at = f->item[k].at;
        memcpy(f->sorted[k].lower, &lower[3 * at], sizeof f->sorted[k].lower);
        memcpy(f->sorted[k].upper, &upper[3 * at], sizeof f->sorted[k].upper);
        join(&f->tree[f->leaves + k / LEAF], &f->sorted[k]);
    }
    for (int k = f->leaves - 1; k > 0; k--) {
        f->tree[k] = f->tree[2 * k];
        join(&f->tree[k], &f->tree[2 * k + 1]);
    }
}

/* Adds box i to the forest; 0: no memory. An invalid box is reported in *bad and left out. */
static int add_box(forest *f, int i, const double *lower, const double *upper, int *bad)
{
    int endless = 0, fine = 1;
    for (int c = 3 * i; c < 3 * i + 3; c++) {
        fine = fine && lower[c] <= upper[c];
        endless = endless || !(lower[c] > -INFINITY) || !(upper[c] < INFINITY);
    }
    if (!fine) {
        *bad = *bad < 0 || i < *bad ? i : *bad;
    } else if (endless) {
        if (!base_list_reserve(&f->endless, &f->endless_capacity, f->endless_count, sizeof(int))) {
            return 0;
        }
        f->endless[f->endless_count++] = i;
    } else {
        f->item[f->count++].at = i;
    }
    return 1;
}

static void grow(forest *f, const double *lower, const double *upper)
{
    set_keys(f, lower, upper);
    sort_items(f);
    build(f, lower, upper);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static int add_pair(collide_broad *b, int i, int j)
{
    if (!base_list_reserve(&b->pair, &b->pair_capacity, b->pair_count, sizeof *b->pair)) {
        return 0;
    }
    b->pair[b->pair_count++] = i < j ? (couple){i, j} : (couple){j, i};
    return 1;
}

static int leaf_pairs(collide_broad *b, int one, int two)
{
    const forest *f = &b->moving;
    int end = (one + 1) * LEAF < f->count ? (one + 1) * LEAF : f->count;
    int end2 = (two + 1) * LEAF < f->count ? (two + 1) * LEAF : f->count;
    for (int i = one * LEAF; i < end; i++) {
        if (!meet(&f->sorted[i], &f->tree[f->leaves + two])) {
            continue;
        }
        for (int j = one == two ? i + 1 : two * LEAF; j < end2; j++) {
            if (meet(&f->sorted[i], &f->sorted[j]) && !add_pair(b, f->item[i].at, f->item[j].at)) {
                return 0;
            }
        }
    }
    return 1;
}

/* Pairs of leaf `one` with itself and all later leaves: descends where boxes meet, the left child
 * first. Node k, `up` levels above the leaves, ends with the leaf ((k + 1) << up) - 1. */
static int query_leaf(collide_broad *b, int one)
{
    const forest *f = &b->moving;
    struct {
        int node, up;
    } stack[64];
    int depth = 0, levels = 0;
    const box *mine = &f->tree[f->leaves + one];
    while (1 << levels < f->leaves) {
        levels++;
    }
    stack[depth].node = 1;
    stack[depth++].up = levels;
    while (depth > 0) {
        int k = stack[--depth].node, up = stack[depth].up;
        if (((k + 1) << up) - 1 - f->leaves < one || !meet(mine, &f->tree[k])) {
            continue;
        }
        if (up == 0) {
            if (!leaf_pairs(b, one, k - f->leaves)) {
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

/* The next leaf of the forest that meets a box, as a range of the sorted boxes; 0: no more. The
 * stack holds the nodes still to be visited: at first the root, if there is one. */
static int next_leaf(const forest *f, const box *mine, int stack[64], int *depth, int *first,
                     int *end)
{
    while (*depth > 0) {
        int k = stack[--*depth];
        if (!meet(mine, &f->tree[k])) {
            continue;
        }
        if (k >= f->leaves) {
            *first = (k - f->leaves) * LEAF;
            *end = *first + LEAF < f->count ? *first + LEAF : f->count;
            return 1;
        }
        stack[(*depth)++] = 2 * k + 1;
        stack[(*depth)++] = 2 * k;
    }
    return 0;
}

/* Pairs of moving box number `one` with the fixed boxes; 0: no memory. */
static int query_fixed(collide_broad *b, const box *mine, int one)
{
    const forest *f = &b->still;
    int stack[64] = {1}, depth = f->count > 0, first, end;
    while (next_leaf(f, mine, stack, &depth, &first, &end)) {
        for (int j = first; j < end; j++) {
            if (meet(mine, &f->sorted[j]) && !add_pair(b, b->moving.item[one].at, f->item[j].at)) {
                return 0;
            }
        }
    }
    return 1;
}

/* Does some box of the forest meet this one? */
static int meets_any(const forest *f, const box *mine)
{
    int stack[64] = {1}, depth = f->count > 0, first, end;
    while (next_leaf(f, mine, stack, &depth, &first, &end)) {
        for (int j = first; j < end; j++) {
            if (meet(mine, &f->sorted[j])) {
                return 1;
            }
        }
    }
    return 0;
}

/* Pairs of an infinite box with all finite ones of the forest, and with the listed infinite
 * ones. */
static int endless_pairs(collide_broad *b, int i, const forest *with, const int *others, int count)
{
    for (int k = 0; k < with->count; k++) {
        if (!add_pair(b, i, with->item[k].at)) {
            return 0;
        }
    }
    for (int k = 0; k < count; k++) {
        if (!add_pair(b, i, others[k])) {
            return 0;
        }
    }
    return 1;
}

static int find_pairs(collide_broad *b, int among)
{
    const forest *moving = &b->moving, *still = &b->still;
    int ok = 1;
    for (int e = 0; ok && e < still->endless_count; e++) {
        ok = endless_pairs(b, still->endless[e], moving, NULL, 0);
    }
    for (int e = 0; ok && e < moving->endless_count; e++) {
        int i = moving->endless[e];
        ok = endless_pairs(b, i, still, still->endless, still->endless_count) &&
             (!among ||
              endless_pairs(b, i, moving, moving->endless + e + 1, moving->endless_count - e - 1));
    }
    for (int l = 0; ok && among && l * LEAF < moving->count; l++) {
        ok = query_leaf(b, l);
    }
    for (int k = 0; ok && still->count > 0 && k < moving->count; k++) {
        ok = query_fixed(b, &moving->sorted[k], k);
    }
    return ok;
}

/* Moving boxes that are only compared with the fixed ones need no order. Usually they are close
 * together with nothing near, so their common box is tested first. */
static void list_boxes(collide_broad *b, const double *lower, const double *upper)
{
    forest *f = &b->moving;
    box all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int k = 0; k < f->count; k++) {
        int at = f->item[k].at;
        memcpy(f->sorted[k].lower, &lower[3 * at], sizeof f->sorted[k].lower);
        memcpy(f->sorted[k].upper, &upper[3 * at], sizeof f->sorted[k].upper);
        join(&all, &f->sorted[k]);
    }
    if (f->count > 0 && b->still.endless_count == 0 && !meets_any(&b->still, &all)) {
        f->count = 0;
    }
}

static int before(const couple *x, const couple *y)
{
    return x->low < y->low || (x->low == y->low && x->high < y->high);
}

static void sort_few_pairs(couple *list, int count)
{
    for (int k = 1; k < count; k++) {
        couple moved = list[k];
        int at = k;
        for (; at > 0 && before(&moved, &list[at - 1]); at--) {
            list[at] = list[at - 1];
        }
        list[at] = moved;
    }
}

/* Radix sort: by the digits of the upper number, then of the lower one, least significant first;
 * stable. */
static int sort_pairs(collide_broad *b)
{
    enum { FEW = 32 };
    int start[BUCKETS], largest = 0;
    if (b->pair_count <= FEW) {
        sort_few_pairs(b->pair, b->pair_count);
        return 1;
    }
    while (b->sort_capacity < b->pair_count) {
        if (!base_list_reserve(&b->sort, &b->sort_capacity, b->pair_capacity - 1,
                               sizeof *b->sort)) {
            return 0;
        }
    }
    for (int k = 0; k < b->pair_count; k++) {
        largest = b->pair[k].high > largest ? b->pair[k].high : largest;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int shift = 0; shift < 31 && largest >> shift > 0; shift += DIGIT) {
            int mask = largest >> shift < BUCKETS ? largest >> shift : BUCKETS - 1, many = 1;
            while (many <= mask) {
                many *= 2;
            }
            memset(start, 0, (size_t)many * sizeof *start);
            for (int k = 0; k < b->pair_count; k++) {
                start[(pass ? b->pair[k].low : b->pair[k].high) >> shift & (many - 1)]++;
            }
            for (int k = 0, sum = 0; k < many; k++) {
                int here = start[k];
                start[k] = sum;
                sum += here;
            }
            for (int k = 0; k < b->pair_count; k++) {
                int digit = (pass ? b->pair[k].low : b->pair[k].high) >> shift & (many - 1);
                b->sort[start[digit]++] = b->pair[k];
            }
            couple *swap = b->sort;
            int capacity = b->sort_capacity;
            b->sort = b->pair;
            b->sort_capacity = b->pair_capacity;
            b->pair = swap;
            b->pair_capacity = capacity;
        }
    }
    return 1;
}

/* ---- Interface ------------------------------------------------------------------------------- */

zw_status collide_broad_keep(collide_broad *b, int count, const double *lower, const double *upper,
                             const unsigned char *still, int *bad)
{
    forest *f = &b->still;
    int many = 0;
    *bad = -1;
    f->count = f->endless_count = 0;
    for (int i = 0; i < count; i++) {
        many += still[i] != 0;
    }
    if (!make_room(f, many)) {
        return ZW_NO_MEMORY;
    }
    for (int i = 0; i < count; i++) {
        if (still[i] && !add_box(f, i, lower, upper, bad)) {
            f->count = f->endless_count = 0;
            return ZW_NO_MEMORY;
        }
    }
    if (f->count > 0) {
        grow(f, lower, upper);
    }
    return *bad < 0 ? ZW_OK : ZW_NOT_FINITE;
}

zw_status collide_broad_update(collide_broad *b, int count, const int *list, const double *lower,
                               const double *upper, int among, int *bad)
{
    forest *f = &b->moving;
    b->pair_count = f->count = f->endless_count = 0;
    *bad = -1;
    if (!make_room(f, count)) {
        return ZW_NO_MEMORY;
    }
    for (int k = 0; k < count; k++) {
        if (!add_box(f, list != NULL ? list[k] : k, lower, upper, bad)) {
            return ZW_NO_MEMORY;
        }
    }
    if (f->count > 0 && among) {
        grow(f, lower, upper);
    } else {
        list_boxes(b, lower, upper);
    }
    if (!find_pairs(b, among) || !sort_pairs(b)) {
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
