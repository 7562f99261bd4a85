/* Heights over a grid. A cell is two triangles, cut from its lowest x and y to its highest:
 *
 *     01 --- 11        lower  00 10 11: neighbours south, east, upper
 *      |   / |         upper  00 11 01: neighbours lower, north, west
 *     00 --- 10 */
#include <string.h>

#include "base/memory.h"
#include "collide/ground.h"

struct collide_field {
    int columns, rows;
    double half[2], step[2], low, high;
    double *height;
};

collide_field *collide_field_new(int columns, int rows, double half_x, double half_y,
                                 const double *height)
{
    if (columns < 2 || rows < 2 || columns > 46340 || rows > 46340 || !(half_x > 0) ||
        !(half_y > 0) || !isfinite(half_x) || !isfinite(half_y)) {
        return NULL;
    }
    size_t count = (size_t)columns * (size_t)rows;
    collide_field *f = base_alloc(sizeof *f);
    double *copy = base_alloc(count * sizeof *copy);
    int fine = f != NULL && copy != NULL;
    for (size_t i = 0; fine && i < count; i++) {
        fine = isfinite(height[i]);
        copy[i] = height[i];
    }
    if (!fine) {
        base_free(f);
        base_free(copy);
        return NULL;
    }
    *f = (collide_field){.columns = columns,
                         .rows = rows,
                         .half = {half_x, half_y},
                         .step = {2 * half_x / (columns - 1), 2 * half_y / (rows - 1)},
                         .low = INFINITY,
                         .high = -INFINITY,
                         .height = copy};
    for (size_t i = 0; i < count; i++) {
        f->low = v3_min(f->low, copy[i]);
        f->high = v3_max(f->high, copy[i]);
    }
    return f;
}

void collide_field_free(collide_field *field)
{
    if (field != NULL) {
        base_free(field->height);
        base_free(field);
    }
}

void collide_field_box(const collide_field *f, double lower[3], double upper[3])
{
    v3_set(lower, -f->half[0], -f->half[1], f->low);
    v3_set(upper, f->half[0], f->half[1], f->high);
}

static void grid_point(const collide_field *f, int i, int j, double p[3])
{
    v3_set(p, i * f->step[0] - f->half[0], j * f->step[1] - f->half[1],
           f->height[(size_t)j * (size_t)f->columns + (size_t)i]);
}

/* The corners of a triangle; 0: the cell is outside the field. */
static int corners(const collide_field *f, int i, int j, int upper, double c[9])
{
    if (i < 0 || j < 0 || i + 1 >= f->columns || j + 1 >= f->rows) {
        return 0;
    }
    grid_point(f, i, j, c);
    grid_point(f, i + 1, upper ? j + 1 : j, c + 3);
    grid_point(f, upper ? i : i + 1, j + 1, c + 6);
    return 1;
}

static void normal_of(const collide_field *f, int i, int j, int upper, double n[3])
{
    double c[9], u[3], v[3];
    v3_set(n, 0, 0, 0);
    if (corners(f, i, j, upper, c)) {
        v3_sub(u, c + 3, c);
        v3_sub(v, c + 6, c);
        v3_cross(n, u, v);
        v3_unit(n);
    }
}

static int cell(double x, double half, double step, int cells)
{
    double at = (x + half) / step;
    return at < 0 ? 0 : at >= cells ? cells - 1 : (int)at; /* NaN: the last */
}

/* The ring of a corner; the triangle is one of cell number / 2, with corners 00 10 11 or 00 11 01.
 * At the border the ring starts after the gap. */
static int ring_of(const void *ground, uint32_t number, int corner, double ring[][3])
{
    static const int at[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
    static const int way[6][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}, {0, -1}};
    const collide_field *f = ground;
    int cell_number = (int)(number / 2), up = (int)(number & 1), there[6], count = 0, from = 0;
    int i = cell_number % (f->columns - 1) + at[up][corner][0];
    int j = cell_number / (f->columns - 1) + at[up][corner][1];
    for (int k = 0; k < 6; k++) {
        int x = i + way[k][0], y = j + way[k][1];
        there[k] = x >= 0 && y >= 0 && x < f->columns && y < f->rows;
        count += there[k];
    }
    while (count < 6 && !(there[from] && !there[(from + 5) % 6])) {
        from++;
    }
    count = count == 6 ? 7 : count;
    for (int k = 0; k < count; k++) {
        int w = (from + k) % 6;
        grid_point(f, i + way[w][0], j + way[w][1], ring[k]);
    }
    return count;
}

static void cell_pair(const collide_field *f, int i, int j, int up, int deep,
                      const collide_solid *b, collide_sink *sink)
{
    collide_facet t = {.solid = 1, .deep = deep, .ring = ring_of, .ground = f};
    corners(f, i, j, up, t.corner);
    t.number = 2 * (uint32_t)(j * (f->columns - 1) + i) + (uint32_t)up;
    normal_of(f, i, j, up, t.normal);
    normal_of(f, i, up ? j : j - 1, up ? 0 : 1, t.beyond[0]);
    normal_of(f, up ? i : i + 1, up ? j + 1 : j, up ? 0 : 1, t.beyond[1]);
    normal_of(f, up ? i - 1 : i, j, up ? 0 : 1, t.beyond[2]);
    collide_facet_pair(&t, b, sink);
}

/* Is the centre of the shape below the surface? Then only the triangle above it pushes it out, as
 * others may belong to another hill. */
static int buried(const collide_field *f, const collide_solid *b, collide_sink *sink)
{
    double middle[3] = {b->t[0], b->t[1], b->t[2]};
    if (b->kind == COLLIDE_HULL) { /* the origin of its frame may be outside */
        v3_turn(middle, b->R, b->hull->middle);
        v3_add(middle, middle, 1, b->t);
    }
    double x = (middle[0] + f->half[0]) / f->step[0], y = (middle[1] + f->half[1]) / f->step[1];
    if (!(x >= 0 && x <= f->columns - 1 && y >= 0 && y <= f->rows - 1)) {
        return 0;
    }
    int i = x >= f->columns - 1 ? f->columns - 2 : (int)x,
        j = y >= f->rows - 1 ? f->rows - 2 : (int)y;
    int up = y - j > x - i;
    double c[9], n[3], to[3];
    corners(f, i, j, up, c);
    normal_of(f, i, j, up, n);
    v3_sub(to, middle, c);
    if (!(v3_dot(n, to) < 0)) {
        return 0;
    }
    cell_pair(f, i, j, up, 1, b, sink);
    return 1;
}

void collide_field_pair(const collide_field *f, const collide_solid *b, collide_sink *sink)
{
    double lower[3], upper[3];
    for (int i = 0; i < 3; i++) {
        double e[3] = {i == 0, i == 1, i == 2}, m[3] = {-e[0], -e[1], -e[2]}, p[3];
        int id;
        collide_support(b, e, p, &id);
        upper[i] = p[i] + b->radius + sink->margin;
        collide_support(b, m, p, &id);
        lower[i] = p[i] - b->radius - sink->margin;
    }
    if (!(upper[0] >= -f->half[0] && lower[0] <= f->half[0] && upper[1] >= -f->half[1] &&
          lower[1] <= f->half[1] && lower[2] <= f->high)) {
        return;
    }
    if (buried(f, b, sink)) {
        return;
    }
    int i0 = cell(lower[0], f->half[0], f->step[0], f->columns - 1);
    int i1 = cell(upper[0], f->half[0], f->step[0], f->columns - 1);
    int j0 = cell(lower[1], f->half[1], f->step[1], f->rows - 1);
    int j1 = cell(upper[1], f->half[1], f->step[1], f->rows - 1);
    for (int j = j0; j <= j1; j++) {
        for (int i = i0; i <= i1; i++) {
            for (int up = 0; up < 2; up++) {
                double c[9];
                if (corners(f, i, j, up, c) && v3_max(c[2], v3_max(c[5], c[8])) >= lower[2]) {
                    cell_pair(f, i, j, up, 0, b, sink);
                }
            }
        }
    }
}
