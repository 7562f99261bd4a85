/* The table over directions that finds the farthest corner of a hull (shape.c).
 *
 * Directions are the points of a cube: u = (1, y, z) and so on, divided by its largest component;
 * each of the six sides is a square, divided into four repeatedly (a quadtree). A cell lists the
 * corners that can be the farthest for some direction in it. A query descends to a cell and
 * compares its few corners; no state is kept between queries, so the answer does not depend on
 * earlier ones. (Climbing from corner to corner along the edges takes the square root of their
 * number, unless one remembers where the last climb ended.)
 *
 * Which corners. Over a cell u . (w - v) is linear in (y, z), so it is least at one of the four
 * corners u_k of the cell. If some w of the hull has
 *
 *     u_k . (w - v) > slack,   k = 1 .. 4,         slack = 1e-14 of the extent of the hull
 *
 * then w is farther than v for all directions of the cell, and the slack is more than the round-off
 * of both products (each below 3 * 2^-53 * |u| |v|, |u| <= sqrt(3)) and of finding the cell, so
 * that it is so in the computed numbers, too: v is never the largest of these, and can be left out.
 * For w the farthest corners along the u_k and along the middle of the cell are tried. So the list
 * contains the corner with the largest computed product; lists are in rising order, so that among
 * equal ones the first is taken: the answer is that of a search over all corners, bit for bit. A
 * cell selects from the list of the cell that contains it.
 *
 * Where very many corners lie in a plane normal to u (the rim of a wheel) all of them are in the
 * lists of the cells around u, however small; therefore the depth is limited. */
#include <string.h>

#include "base/memory.h"
#include "collide/hull.h"
#include "collide/vector.h"

enum { FEW = 12, DEEPEST = 10 };
#define SLACK 1e-14 /* of the extent */

typedef struct collide_hull collide_hull;

/* Lists and cells grow as they are made. */
typedef struct maker {
    const collide_hull *hull;
    int *cell, *list;
    int cells, cell_capacity, listed, list_capacity;
    double slack;
} maker;

/* A part of one side of the cube: its middle and half its width. */
typedef struct square {
    int side;
    double y, z, half;
} square;

static int *grown(int *old, int used, int *capacity, int needed)
{
    if (needed <= *capacity) {
        return old;
    }
    int more = needed + *capacity + 64;
    int *wide = base_alloc((size_t)more * sizeof *wide);
    if (wide && used > 0) {
        memcpy(wide, old, (size_t)used * sizeof *wide);
    }
    if (wide) {
        base_free(old);
        *capacity = more;
    }
    return wide;
}

/* Adds `count` cells; a cell is a pair of numbers. */
static int add_cells(maker *m, int count)
{
    int *cell = grown(m->cell, 2 * m->cells, &m->cell_capacity, 2 * (m->cells + count));
    m->cell = cell ? cell : m->cell;
    m->cells += cell ? count : 0;
    return cell != NULL;
}

/* The products of a corner with the four corners of a square, and with its middle. */
static void products(const square *q, const double *v, double d[5])
{
    int i = q->side / 2, j = (i + 1) % 3, k = (i + 2) % 3;
    double x = q->side % 2 ? -v[i] : v[i], y = q->half * v[j], z = q->half * v[k];
    d[4] = x + q->y * v[j] + q->z * v[k];
    d[0] = d[4] - y - z;
    d[1] = d[4] + y - z;
    d[2] = d[4] - y + z;
    d[3] = d[4] + y + z;
}

/* Is the corner with the products d dominated everywhere by one of the five with the products W? */
static int is_beaten(double W[5][5], const double d[5], double slack)
{
    for (int w = 0; w < 5; w++) {
        if (W[w][0] - d[0] > slack && W[w][1] - d[1] > slack && W[w][2] - d[2] > slack &&
            W[w][3] - d[3] > slack) {
            return 1;
        }
    }
    return 0;
}

/* Appends the corners of a square, selected from a list (all corners at first). */
static int choose(maker *m, const square *q, int from, int count)
{
    const double *vertex = m->hull->vertex;
    double W[5][5], d[5];
    int *list = grown(m->list, m->listed, &m->list_capacity, m->listed + count);
    if (!list) {
        return 0;
    }
    m->list = list;
    for (int c = 0; c < count; c++) {
        products(q, &vertex[3 * (from < 0 ? c : list[from + c])], d);
        for (int w = 0; w < 5; w++) {
            if (c == 0 || d[w] > W[w][w]) {
                memcpy(W[w], d, sizeof d);
            }
        }
    }
    for (int c = 0; c < count; c++) {
        int v = from < 0 ? c : list[from + c];
        products(q, &vertex[3 * v], d);
        if (!is_beaten(W, d, m->slack)) {
            list[m->listed++] = v;
        }
    }
    return 1;
}

/* Removes the list of a cell that has been divided; all cells from `first` on are parts of it. */
static void drop_list(maker *m, int first, int start, int count)
{
    m->listed -= count;
    memmove(m->list + start, m->list + start + count,
            (size_t)(m->listed - start) * sizeof *m->list);
    for (int c = first; c < m->cells; c++) {
        m->cell[2 * c] -= m->cell[2 * c + 1] < 0 ? 0 : count;
    }
}

/* Divides a cell whose list begins at `start`, or makes it a leaf. */
static int divide(maker *m, int cell, const square *q, int start, int depth)
{
    int count = m->listed - start, first = m->cells;
    if (count <= FEW || depth == DEEPEST) {
        m->cell[2 * cell] = start;
        m->cell[2 * cell + 1] = count;
        return 1;
    }
    if (!add_cells(m, 4)) {
        return 0;
    }
    m->cell[2 * cell] = first;
    m->cell[2 * cell + 1] = -1;
    for (int k = 0; k < 4; k++) {
        double half = 0.5 * q->half;
        square part = {q->side, q->y + (k % 2 ? half : -half), q->z + (k / 2 ? half : -half), half};
        int begin = m->listed;
        if (!choose(m, &part, start, count) || !divide(m, first + k, &part, begin, depth + 1)) {
            return 0;
        }
    }
    drop_list(m, first, start, count);
    return 1;
}

int collide_hull_cells(collide_hull *hull)
{
    maker m = {.hull = hull, .slack = SLACK * hull->extent};
    int ok = add_cells(&m, 6);
    for (int side = 0; side < 6 && ok; side++) {
        square q = {.side = side, .half = 1};
        int begin = m.listed;
        ok = choose(&m, &q, -1, hull->vertex_count) && divide(&m, side, &q, begin, 0);
    }
    hull->cell = m.cell;
    hull->listed = m.list;
    hull->cell_count = m.cells;
    hull->listed_count = m.listed;
    return ok;
}
