/* Hulls of points that are hard: coplanar to the last bit or nearly so, doubled, thin, tiny, huge.
 *
 * Coordinates are whole numbers below 2^29 times a power of two, so that the side of a plane on
 * which a point lies can be decided in integers of 128 bits, by nothing that hull.c uses. A hull is
 * right if it is a closed surface (each directed edge once, and its opposite once), of the kind of
 * a ball (Euler: V - E + F = 2), and no point is outside of any triangle; points without a hull are
 * in a plane. The volume between its polygons is that of the triangles, which is a whole number,
 * up to what polygons may differ from planes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "collide/hull.h"
#include "collide/orient.h"
#include "collide/vector.h"
#include "scene/campaign.h"
#include "scene/dice.h"

enum { MOST = 400, GRID = 1 << 28 };

__extension__ typedef __int128 wide;

typedef struct cloud {
    int count, exponent;
    long long whole[3 * MOST];
    double x[3 * MOST];
} cloud;

static void put(cloud *c, const double p[3])
{
    for (int i = 0; i < 3 && c->count < MOST; i++) {
        c->whole[3 * c->count + i] = llround(p[i] * GRID);
    }
    c->count += c->count < MOST;
}

static void turn(dice *d, double R[3][3])
{
    double n[3], s, c;
    dice_direction(d, n);
    s = sin(dice_between(d, 0, 6));
    c = sqrt(1 - s * s);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            int k = 3 - i - j;
            double across = i == j ? 0 : ((j - i + 3) % 3 == 1 ? -n[k] : n[k]);
            R[i][j] = (i == j) * c + (1 - c) * n[i] * n[j] + s * across;
        }
    }
}

static void box_grid(cloud *c, dice *d)
{
    int n = dice_int(d, 1, 6);
    double size[3] = {dice_between(d, 0.1, 0.5), dice_between(d, 0.1, 0.5), 0.5};
    for (int i = 0; i < (n + 1) * (n + 1) * (n + 1); i++) {
        double p[3] = {size[0] * (i % (n + 1)) / n, size[1] * (i / (n + 1) % (n + 1)) / n,
                       size[2] * (i / (n + 1) / (n + 1)) / n};
        put(c, p);
    }
}

/* A tin: two rims in planes; or a lens, whose points are nearly in one. */
static void round_part(cloud *c, dice *d, double height)
{
    int n = dice_int(d, 3, 60);
    for (int i = 0; i < 3 * n; i++) {
        double angle = 6.283185307179586 * (i % n) / n, r = 0.5 * (1 + i / n) / 3;
        double p[3] = {r * cos(angle), r * sin(angle), height * (i / n - 1) * (i / n)};
        put(c, p);
        p[2] = -p[2];
        put(c, p);
    }
}

static void ball(cloud *c, dice *d)
{
    int n = dice_int(d, 4, 150);
    for (int i = 0; i < n; i++) {
        double p[3];
        dice_direction(d, p);
        put(c, p);
    }
}

static void plate(cloud *c, dice *d)
{
    int n = dice_int(d, 4, 100);
    double thick = pow(10, -dice_between(d, 3, 8));
    for (int i = 0; i < n; i++) {
        double p[3] = {dice_between(d, -1, 1), dice_between(d, -1, 1),
                       dice_between(d, -1, 1) * thick};
        put(c, p);
    }
}

static void lattice(cloud *c, dice *d)
{
    int n = dice_int(d, 8, 150), wide_by = dice_int(d, 1, 4);
    for (int i = 0; i < n; i++) {
        double p[3];
        for (int k = 0; k < 3; k++) {
            p[k] = 0.2 * dice_int(d, -wide_by, wide_by);
        }
        put(c, p);
    }
}

/* Turned in space, so that planes hold to the grid only; and some points again, at a place that
 * differs by nothing or by one of the grid. */
static void spoil(cloud *c, dice *d)
{
    double R[3][3];
    turn(d, R);
    int turned = dice_int(d, 0, 1), again = dice_int(d, 0, 1) * c->count / 4;
    for (int i = 0; turned && i < c->count; i++) {
        double p[3];
        for (int k = 0; k < 3; k++) {
            p[k] = R[k][0] * (double)c->whole[3 * i] + R[k][1] * (double)c->whole[3 * i + 1] +
                   R[k][2] * (double)c->whole[3 * i + 2];
        }
        for (int k = 0; k < 3; k++) {
            c->whole[3 * i + k] = llround(p[k]);
        }
    }
    for (int i = 0; i < again && c->count < MOST; i++) {
        int from = dice_int(d, 0, c->count - 1);
        memcpy(&c->whole[3 * c->count], &c->whole[3 * from], 3 * sizeof *c->whole);
        c->whole[3 * c->count + dice_int(d, 0, 2)] += dice_int(d, 0, 1);
        c->count++;
    }
    c->exponent = dice_int(d, -60, 30); /* sizes from 1e-10 to 1e9 and beyond */
    for (int i = 0; i < 3 * c->count; i++) {
        c->x[i] = ldexp((double)c->whole[i], c->exponent);
    }
}

static void draw_cloud(cloud *c, dice *d, int kind)
{
    c->count = 0;
    switch (kind) {
    case 0:
        box_grid(c, d);
        break;
    case 1:
        round_part(c, d, 0.3);
        break;
    case 2:
        round_part(c, d, pow(10, -dice_between(d, 2, 8)));
        break;
    case 3:
        ball(c, d);
        break;
    case 4:
        plate(c, d);
        break;
    default:
        lattice(c, d);
        break;
    }
    spoil(c, d);
}

static int whole_side(const cloud *c, const int *t, int p)
{
    wide u[3], v[3], w[3];
    for (int i = 0; i < 3; i++) {
        u[i] = c->whole[3 * t[1] + i] - c->whole[3 * t[0] + i];
        v[i] = c->whole[3 * t[2] + i] - c->whole[3 * t[0] + i];
        w[i] = c->whole[3 * p + i] - c->whole[3 * t[0] + i];
    }
    wide s = w[0] * (u[1] * v[2] - u[2] * v[1]) + w[1] * (u[2] * v[0] - u[0] * v[2]) +
             w[2] * (u[0] * v[1] - u[1] * v[0]);
    return (s > 0) - (s < 0);
}

static int edge_count(const int *t, int triangles, int a, int b)
{
    int count = 0;
    for (int i = 0; i < 3 * triangles; i++) {
        count += t[i] == a && t[i % 3 == 2 ? i - 2 : i + 1] == b;
    }
    return count;
}

static void check_triangles(const cloud *c, const int *t, int triangles)
{
    int used[MOST] = {0}, corners = 0;
    for (int i = 0; i < 3 * triangles; i++) {
        int a = t[i], b = t[i % 3 == 2 ? i - 2 : i + 1];
        corners += !used[a];
        used[a] = 1;
        assert_int_equal(edge_count(t, triangles, a, b), 1);
        assert_int_equal(edge_count(t, triangles, b, a), 1);
    }
    assert_int_equal(corners - 3 * triangles / 2 + triangles, 2);
    for (int f = 0; f < triangles; f++) {
        for (int p = 0; p < c->count; p++) {
            assert_true(whole_side(c, &t[3 * f], p) <= 0);
        }
    }
}

/* Are all in one plane, or on a line, or one point? */
static void check_flat(const cloud *c)
{
    int t[3] = {0, 0, 0};
    for (int i = 0; i < c->count; i++) { /* another point, and one off the line of the two */
        wide u[3], v[3], off = 0;
        for (int k = 0; k < 3; k++) {
            u[k] = c->whole[3 * t[1] + k] - c->whole[k];
            v[k] = c->whole[3 * i + k] - c->whole[k];
        }
        if (t[1] == 0) {
            t[1] = v[0] != 0 || v[1] != 0 || v[2] != 0 ? i : 0;
            continue;
        }
        for (int k = 0; k < 3 && off == 0; k++) {
            off = u[k] * v[(k + 1) % 3] - u[(k + 1) % 3] * v[k];
        }
        t[2] = off != 0 ? i : t[2];
    }
    for (int p = 0; p < c->count && t[2] != 0; p++) {
        assert_int_equal(whole_side(c, t, p), 0);
    }
}

/* Six times the volume inside the triangles, from the first point, in units of the grid. */
static double whole_volume(const cloud *c, const int *t, int triangles)
{
    wide sum = 0;
    for (int f = 0; f < triangles; f++) {
        wide x[3][3];
        for (int k = 0; k < 9; k++) {
            x[k / 3][k % 3] = c->whole[3 * t[3 * f + k / 3] + k % 3] - c->whole[k % 3];
        }
        for (int k = 0; k < 3; k++) {
            int l = (k + 1) % 3, m = (k + 2) % 3;
            sum += x[0][k] * (x[1][l] * x[2][m] - x[1][m] * x[2][l]);
        }
    }
    return (double)sum;
}

/* The volume between the polygons from the same point, and what it may be off by. */
static void check_volume(const cloud *c, const struct collide_hull *h, double size, double whole)
{
    double volume = 0, area = 0;
    for (int f = 0; f < h->face_count; f++) {
        const double *n = &h->plane[4 * f], *a = &h->vertex[3 * h->ring[h->face_start[f]]];
        double high = n[3] - v3_dot(n, c->x), own = 0;
        for (int k = h->face_start[f] + 1; k + 1 < h->face_start[f + 1]; k++) {
            double u[3], v[3], w[3];
            v3_sub(u, &h->vertex[3 * h->ring[k]], a);
            v3_sub(v, &h->vertex[3 * h->ring[k + 1]], a);
            v3_cross(w, u, v);
            own += v3_dot(w, n) / 2;
        }
        volume += high * own / 3;
        area += own;
    }
    assert_true(fabs(volume - whole / 6) <= 1e-9 * size * area);
}

/* The farthest corner is that of looking through all, the first of equal ones; in directions at
 * random, across faces, along axes and where cells of the table of directions end. */
static void check_supports(const struct collide_hull *h, dice *d, int looks)
{
    for (int k = 0; k < looks; k++) {
        double u[3];
        dice_direction(d, u);
        if (k % 3 == 1 && h->face_count > 0) {
            memcpy(u, &h->plane[4 * dice_int(d, 0, h->face_count - 1)], sizeof u);
        } else if (k % 3 == 2) {
            for (int i = 0; i < 3; i++) {
                u[i] = ldexp(dice_int(d, -64, 64), dice_int(d, -9, 0) * dice_int(d, 0, 1));
            }
            u[dice_int(d, 0, 2)] += u[0] == 0 && u[1] == 0 && u[2] == 0;
        }
        int best = 0;
        for (int i = 1; i < h->vertex_count; i++) {
            best = v3_dot(u, &h->vertex[3 * i]) > v3_dot(u, &h->vertex[3 * best]) ? i : best;
        }
        assert_int_equal(collide_hull_support(h, u), best);
    }
}

/* A ball, and a wheel, whose axis has half of all corners for its farthest. */
static void test_farthest_corners(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    double *x = base_alloc(3 * MANY * sizeof *x);
    dice d = dice_of(64);
    for (int wheel = 0; wheel < 2; wheel++) {
        for (int i = 0; i < MANY; i++) {
            double angle = 12.566370614359172 * i / MANY;
            dice_direction(&d, &x[3 * i]);
            if (wheel) {
                x[3 * i] = cos(angle);
                x[3 * i + 1] = sin(angle);
                x[3 * i + 2] = i < MANY / 2 ? -0.25 : 0.25;
            }
        }
        struct collide_hull *h = collide_hull_new(x, MANY);
        assert_non_null(h);
        assert_int_equal(h->vertex_count, MANY);
        check_supports(h, &d, 600);
        collide_hull_free(h);
    }
    base_free(x);
}

/* Polygons: Euler's rule again, corners of three edges, and planes that hold all points. */
static void check_polygons(const cloud *c, dice *d, double whole)
{
    struct collide_hull *h = collide_hull_new(c->x, c->count);
    assert_non_null(h);
    double size = 0;
    for (int i = 0; i < 3 * c->count; i++) {
        size = fmax(size, fabs(c->x[i] - c->x[i % 3]));
    }
    assert_int_equal(h->vertex_count - h->ring_count / 2 + h->face_count, 2);
    for (int f = 0; f < h->face_count; f++) {
        const double *n = &h->plane[4 * f];
        for (int i = 0; i < c->count; i++) {
            const double *p = &c->x[3 * i];
            assert_true(n[0] * p[0] + n[1] * p[1] + n[2] * p[2] <= n[3] + 1e-9 * size);
        }
    }
    check_volume(c, h, size, whole);
    check_supports(h, d, 30);
    collide_hull_free(h);
}

static void test_hard_points(void **state)
{
    (void)state;
    int rounds = campaign(1200);
    dice d = dice_of(61);
    static cloud c;
    int solid = 0;
    for (int k = 0; k < rounds; k++) {
        int *t;
        draw_cloud(&c, &d, k % 6);
        int triangles = collide_hull_triangles(c.x, c.count, &t, NULL);
        assert_true(triangles >= 0);
        if (triangles > 0) {
            check_triangles(&c, t, triangles);
            check_polygons(&c, &d, ldexp(whole_volume(&c, t, triangles), 3 * c.exponent));
            solid++;
        } else {
            check_flat(&c);
        }
        base_free(t);
    }
    assert_true(solid > rounds * 8 / 10); /* few are flat, or have no four corners */
}

/* Coplanar points have no side, and the smallest step off the plane has the right one. */
static void test_side_is_exact(void **state)
{
    (void)state;
    dice d = dice_of(62);
    for (int k = 0; k < 2000; k++) {
        double a[3], b[3], c[3], p[3];
        int i = dice_int(&d, -9, 9), j = dice_int(&d, -9, 9);
        for (int m = 0; m < 3; m++) {
            a[m] = ldexp(dice_int(&d, -8000000, 8000000), -23);
            b[m] = a[m] + ldexp(dice_int(&d, -8000000, 8000000), -23);
            c[m] = a[m] + ldexp(dice_int(&d, -8000000, 8000000), -23);
            p[m] = a[m] + i * (b[m] - a[m]) + j * (c[m] - a[m]);
        }
        assert_int_equal(collide_side(a, b, c, p), 0);
        double n = (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]);
        double q[3] = {nextafter(p[0], 1e9), p[1], p[2]};
        assert_int_equal(collide_side(a, b, c, q), (n > 0) - (n < 0));
        q[0] = nextafter(p[0], -1e9);
        assert_int_equal(collide_side(a, b, c, q), (n < 0) - (n > 0));
    }
}

/* As many points as scanned parts have, all of them corners: the time of a quadratic method would
 * be minutes. */
static void test_many_points(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    double *x = base_alloc(3 * MANY * sizeof *x);
    int *t = NULL;
    dice d = dice_of(63);
    for (int i = 0; i < MANY; i++) {
        dice_direction(&d, &x[3 * i]);
    }
    assert_int_equal(collide_hull_triangles(x, MANY, &t, NULL), 2 * MANY - 4);
    base_free(t);
    base_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_side_is_exact), cmocka_unit_test(test_hard_points),
        cmocka_unit_test(test_farthest_corners), cmocka_unit_test(test_many_points)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
