/* Which triangles share an edge. */
#include <stdlib.h>

#include "base/memory.h"
#include "collide/hull.h"

typedef struct edge {
    int low, high, at; /* at: 3 * triangle + which */
} edge;

static int by_corners(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    if (x->low != y->low) {
        return x->low < y->low ? -1 : 1;
    }
    if (x->high != y->high) {
        return x->high < y->high ? -1 : 1;
    }
    return (x->at > y->at) - (x->at < y->at);
}

int collide_neighbours(const int *triangle, int triangles, int *across)
{
    int count = 3 * triangles;
    edge *e = base_alloc(((size_t)count + 1) * sizeof *e);
    if (e == NULL) {
        return 0;
    }
    for (int i = 0; i < count; i++) {
        int p = triangle[i], q = triangle[i % 3 == 2 ? i - 2 : i + 1];
        e[i] = (edge){p < q ? p : q, p < q ? q : p, i};
        across[i] = -1;
    }
    qsort(e, (size_t)count, sizeof *e, by_corners);
    for (int i = 0; i + 1 < count; i++) {
        if (e[i].low == e[i + 1].low && e[i].high == e[i + 1].high) {
            across[e[i].at] = e[i + 1].at / 3;
            across[e[i + 1].at] = e[i].at / 3;
            i++;
        }
    }
    base_free(e);
    return 1;
}
