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

#include "base/list.h"
#include "base/memory.h"
#include "collide/hull.h"
#include "collide/vector.h"

enum { FEW = 12, DEEPEST = 10 };
#define SLACK 1e-14 /* of the extent */

typedef struct collide_hull collide_hull;

/* A corner with its place, so that a list is read from one end to the other. */
typedef struct corner {
    double x[3];
    int vertex;
} corner;

/* Lists and cells grow as they are made. What is on the way to a cell is on a stack. */
typedef struct maker {
    int *cell, *list;
    corner *stack;
    int cells, cell_capacity, listed, list_capacity, stacked, stack_capacity;
    double slack;
} maker;

/* A part of one side of the cube: its middle and half its width. */
typedef struct square {
    int side;
    double y, z, half;
} square;

/* Adds `count` cells; a cell is a pair of numbers. */
static int add_cells(maker *m, int count)
{
    int ok =
        base_list_reserve(&m->cell, &m->cell_capacity, 2 * (m->cells + count) - 1, sizeof *m->cell);
    m->cells += ok ? count : 0;
    return ok;
}

static int put(maker *m, const corner *c)
{
    int ok = base_list_reserve(&m->stack, &m->stack_capacity, m->stacked, sizeof *m->stack);
    if (ok) {
        m->stack[m->stacked++] = *c;
    }
    return ok;
}

/* The products of a corner with the four corners of a square, and with its middle. */
static inline void products(const square *q, const double *v, double d[5])
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
    for (int w = 4; w >= 0; w--) { /* that of the middle beats most of them */
        if (W[w][0] - d[0] > slack && W[w][1] - d[1] > slack && W[w][2] - d[2] > slack &&
            W[w][3] - d[3] > slack) {
            return 1;
        }
    }
    return 0;
}

/* Stacks the corners of a square, selected from those stacked from `from` on. */
static int choose(maker *m, const square *q, int from, int count)
{
    double W[5][5] = {0}, d[5];
    int ok = 1;
    for (int c = from; c < from + count; c++) {
        products(q, m->stack[c].x, d);
        for (int w = 0; w < 5; w++) {
            if (c == from || d[w] > W[w][w]) {
                memcpy(W[w], d, sizeof d);
            }
        }
    }
    for (int c = from; c < from + count && ok; c++) {
        const corner it = m->stack[c];
        products(q, it.x, d);
        ok = is_beaten(W, d, m->slack) || put(m, &it);
    }
    return ok;
}

/* A cell that is not divided: its list. */
static int end_cell(maker *m, int cell, int start)
{
    m->cell[2 * cell] = m->listed;
    m->cell[2 * cell + 1] = m->stacked - start;
    for (int c = start; c < m->stacked; c++) {
        if (!base_list_reserve(&m->list, &m->list_capacity, m->listed, sizeof *m->list)) {
            return 0;
        }
        m->list[m->listed++] = m->stack[c].vertex;
    }
    return 1;
}

/* Divides a cell whose corners are stacked from `start` on, or makes it a leaf. */
static int divide(maker *m, int cell, const square *q, int start, int depth)
{
    int count = m->stacked - start, first = m->cells, ok = 1;
    if (count <= FEW || depth == DEEPEST) {
        return end_cell(m, cell, start);
    }
    if (!add_cells(m, 4)) {
        return 0;
    }
    m->cell[2 * cell] = first;
    m->cell[2 * cell + 1] = -1;
    for (int k = 0; k < 4 && ok; k++) {
        double half = 0.5 * q->half;
        square part = {q->side, q->y + (k % 2 ? half : -half), q->z + (k / 2 ? half : -half), half};
        m->stacked = start + count;
        ok =
            choose(m, &part, start, count) && divide(m, first + k, &part, start + count, depth + 1);
    }
    return ok;
}

int collide_hull_cells(collide_hull *hull)
{
    maker m = {.slack = SLACK * hull->extent};
    int ok = add_cells(&m, 6), count = hull->vertex_count;
    for (int v = 0; v < count && ok; v++) {
        const double *x = &hull->vertex[3 * v];
        ok = put(&m, &(corner){{x[0], x[1], x[2]}, v});
    }
    for (int side = 0; side < 6 && ok; side++) {
        square q = {.side = side, .half = 1};
        m.stacked = count;
        ok = choose(&m, &q, 0, count) && divide(&m, side, &q, count, 0);
    }
    base_free(m.stack);
    hull->cell = m.cell;
    hull->listed = m.list;
    hull->cell_count = m.cells;
    hull->listed_count = m.listed;
    return ok;
}
