/* Fewer points for the same support.
 *
 * A shape that lies on many coplanar triangles has a point at every corner of the grid under it,
 * but the outermost are enough to support it. Of points with equal normals, the farthest in each of
 * eight tangential directions are kept, and the deepest: these include all corners of a contact
 * patch without angles above 135 degrees. If there are still too many (rough ground), the deepest
 * of all are kept.
 */
#include <stdlib.h>

#include "collide/ground.h"

enum { WAYS = 8 };

static const double way[WAYS][2] = {{1, 0},  {0.70710678118654752440, 0.70710678118654752440},
                                    {0, 1},  {-0.70710678118654752440, 0.70710678118654752440},
                                    {-1, 0}, {-0.70710678118654752440, -0.70710678118654752440},
                                    {0, -1}, {0.70710678118654752440, -0.70710678118654752440}};

static int same_normal(const collide_point *a, const collide_point *b)
{
    double d[3];
    v3_sub(d, a->normal, b->normal);
    return v3_dot(d, d) < 1e-18;
}

/* Marks the points with the normal of `first`: 1 kept, 2 removed. */
static void outermost(const collide_point *p, int count, int first, unsigned char *mark)
{
    double e[3], f[3], most[WAYS];
    int best[WAYS], deepest = first;
    v3_frame(p[first].normal, e, f);
    for (int k = 0; k < WAYS; k++) {
        most[k] = -INFINITY;
        best[k] = first;
    }
    for (int i = first; i < count; i++) {
        if (mark[i] != 0 || !same_normal(&p[first], &p[i])) {
            continue;
        }
        double x = v3_dot(e, p[i].pos), y = v3_dot(f, p[i].pos);
        mark[i] = 2;
        deepest = p[i].gap < p[deepest].gap ? i : deepest;
        for (int k = 0; k < WAYS; k++) {
            if (way[k][0] * x + way[k][1] * y > most[k]) {
                most[k] = way[k][0] * x + way[k][1] * y;
                best[k] = i;
            }
        }
    }
    mark[deepest] = 1;
    for (int k = 0; k < WAYS; k++) {
        mark[best[k]] = 1;
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int collide_thin(collide_point *point, int count, int most)
{
    enum { MANY = 1024 };
    unsigned char mark[MANY] = {0};
    double gap[MANY];
    int kept = 0;
    if (count <= most || count > MANY) {
        return count;
    }
    for (int i = 0; i < count; i++) {
        if (mark[i] == 0) {
            outermost(point, count, i, mark);
        }
    }
    for (int i = 0; i < count; i++) {
        if (mark[i] == 1) {
            gap[kept] = point[i].gap;
            point[kept++] = point[i];
        }
    }
    if (kept <= most) {
        return kept;
    }
    qsort(gap, (size_t)kept, sizeof *gap, by_size);
    int to = 0;
    for (int i = 0; i < kept && to < most; i++) {
        if (point[i].gap <= gap[most - 1]) {
            point[to++] = point[i];
        }
    }
    return to;
}
