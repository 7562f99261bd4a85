/* Manifolds: enough points to support the shape, symmetric, independent of the pair's position,
 * moving smoothly, with persistent names; and finite results for any input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collide/bodies.h"

#include <stdio.h>

enum { CAPACITY = 128 };

static const collide_pose here = {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};

static collide_pose turned(double x, double y, double z, int axis, double c, double s)
{
    collide_pose p = {{x, y, z}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    int j = (axis + 1) % 3, k = (axis + 2) % 3;
    p.R[3 * j + j] = p.R[3 * k + k] = c;
    p.R[3 * j + k] = -s;
    p.R[3 * k + j] = s;
    return p;
}

static collide_shape shape(collide_kind kind, double x, double y, double z)
{
    return (collide_shape){.kind = kind, .size = {x, y, z}};
}

/* The point with the least gap is the contact itself. */
static const collide_point *least(const collide_point *p, int count)
{
    const collide_point *it = p;
    for (int i = 1; i < count; i++) {
        it = p[i].gap < it->gap ? &p[i] : it;
    }
    return it;
}

static double least_gap(const collide_point *p, int count)
{
    return count > 0 ? least(p, count)->gap : INFINITY;
}

/* Shape b at height z over a: so many points, all with this gap and the normal up. */
static void stands(const collide_shape *a, const collide_shape *b, collide_pose at, int points,
                   double gap)
{
    collide_point p[CAPACITY];
    int count = collide_pair(a, &here, b, &at, 0.01, p, CAPACITY);
    assert_int_equal(count, points);
    double middle[2] = {0, 0};
    for (int i = 0; i < count; i++) {
        assert_true(fabs(p[i].gap - gap) < 1e-14);
        assert_true(fabs(p[i].normal[2] - 1) < 1e-15);
        for (int j = 0; j < i; j++) {
            assert_true(p[i].feature != p[j].feature);
        }
        middle[0] += p[i].pos[0] / count;
        middle[1] += p[i].pos[1] / count;
    }
    assert_true(fabs(middle[0] - at.pos[0]) < 1e-14 && fabs(middle[1] - at.pos[1]) < 1e-14);
}

static void test_enough_points(void **state)
{
    (void)state;
    const double h = 1 / sqrt(2.0);
    const double cube[8][3] = {{1, 1, 1},  {-1, 1, 1},  {1, -1, 1},  {-1, -1, 1},
                               {1, 1, -1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, -1}};
    collide_shape plane = shape(COLLIDE_PLANE, 0, 0, 0), box = shape(COLLIDE_BOX, 1, 1, 1);
    collide_shape wide = shape(COLLIDE_BOX, 4, 4, 1), roll = shape(COLLIDE_CYLINDER, 1, 1, 0);
    collide_shape pill = shape(COLLIDE_CAPSULE, 0.5, 1, 0), cone = shape(COLLIDE_CONE, 1, 1, 0);
    collide_shape ball = shape(COLLIDE_SPHERE, 1, 0, 0), egg = shape(COLLIDE_ELLIPSOID, 2, 1, 1);
    collide_shape hull = shape(COLLIDE_HULL, 0, 0, 0);
    hull.hull = collide_hull_new(cube[0], 8);
    assert_int_equal(hull.hull->face_count, 6);
    for (int k = -1; k <= 1; k++) {
        double gap = 1e-3 * k;
        stands(&plane, &box, turned(3, 1, 1 + gap, 2, 0.8, 0.6), 4, gap);
        stands(&plane, &hull, turned(3, 1, 1 + gap, 2, 0.8, 0.6), 4, gap);
        stands(&plane, &roll, turned(0, 0, 1 + gap, 0, 1, 0), 4, gap);
        stands(&plane, &roll, turned(0, 0, 1 + gap, 0, 0, 1), 2, gap);
        stands(&plane, &pill, turned(0, 0, 0.5 + gap, 0, 0, 1), 2, gap);
        stands(&plane, &pill, turned(0, 0, 1.5 + gap, 0, 1, 0), 1, gap);
        stands(&plane, &cone, turned(0, 0, 1 + gap, 0, 1, 0), 4, gap);
        stands(&plane, &cone, turned(0, 0, 1 + gap, 0, -1, 0), 1, gap);
        stands(&plane, &ball, turned(0, 0, 1 + gap, 0, 0, 1), 1, gap);
        stands(&plane, &egg, turned(0, 0, 1 + gap, 0, 1, 0), 1, gap);
        stands(&wide, &box, turned(0, 0, 2 + gap, 2, 0.8, 0.6), 4, gap);
        stands(&wide, &hull, turned(0, 0, 2 + gap, 2, 0.8, 0.6), 4, gap);
        stands(&box, &box, turned(0, 0, 2 + gap, 2, 1, 0), 4, gap);
        stands(&box, &box, turned(0, 0, 2 + gap, 2, h, h), 8, gap);
        stands(&box, &hull, turned(0, 0, 2 + gap, 2, h, h), 8, gap);
        stands(&hull, &hull, turned(0, 0, 2 + gap, 2, h, h), 8, gap);
        stands(&wide, &roll, turned(0, 0, 2 + gap, 0, 1, 0), 8, gap);
        stands(&wide, &roll, turned(0, 0, 2 + gap, 0, 0, 1), 2, gap);
        stands(&wide, &pill, turned(0, 0, 1.5 + gap, 0, 0, 1), 2, gap);
        stands(&wide, &cone, turned(0, 0, 2 + gap, 0, 1, 0), 8, gap);
        stands(&wide, &egg, turned(0, 0, 2 + gap, 0, 1, 0), 1, gap);
        stands(&wide, &ball, turned(0, 0, 2 + gap, 0, 1, 0), 1, gap);
    }
    collide_hull_free((collide_hull *)hull.hull);
}

static void test_rollers_side_by_side(void **state)
{
    (void)state;
    static const collide_kind kinds[2] = {COLLIDE_CAPSULE, COLLIDE_CYLINDER};
    for (int k = 0; k < 4; k++) {
        collide_shape a = shape(kinds[k & 1], 0.5, 2, 0), b = shape(kinds[k >> 1], 0.25, 1, 0);
        for (int shift = 0; shift < 3; shift++) { /* inside, over the end, equal */
            collide_point p[CAPACITY];
            b.size[1] = shift == 2 ? 2 : 1;
            collide_pose at = turned(0.75, 0, shift == 1 ? 1.5 : 0, 2, 0.6, 0.8);
            int count = collide_pair(&a, &here, &b, &at, 1e-3, p, CAPACITY);
            assert_int_equal(count, 2);
            double far = fabs(p[0].pos[2] - p[1].pos[2]);
            assert_true(fabs(far - (shift == 0 ? 2 : shift == 1 ? 1.5 : 4)) < 1e-9);
            assert_true(fabs(p[0].gap) < 1e-14 && fabs(p[1].gap) < 1e-14);
        }
    }
}

/* Wherever the pair is and whichever comes first: the same contact. */
static void test_symmetry_and_motion(void **state)
{
    (void)state;
    dice d = dice_of(11);
    double flip_gap = 0, flip_turn = 0, move_gap = 0, move_turn = 0;
    for (int k = 0; k < 6000; k++) {
        collide_kind first = (collide_kind)dice_int(&d, 0, COLLIDE_HULL);
        collide_kind second = (collide_kind)dice_int(&d, 1, COLLIDE_HULL);
        body a = body_of(&d, first), b = body_of(&d, second);
        collide_point p[CAPACITY], q[CAPACITY];
        int count = collide_pair(&a.shape, &a.at, &b.shape, &b.at, 10, p, CAPACITY);
        assert_in_range(count, 1, CAPACITY);
        int over = collide_pair(&b.shape, &b.at, &a.shape, &a.at, 10, q, CAPACITY);
        assert_in_range(over, 1, CAPACITY);
        double turn = 0;
        for (int i = 0; i < 3; i++) {
            turn = fmax(turn, fabs(least(p, count)->normal[i] + least(q, over)->normal[i]));
        }
        flip_gap = fmax(flip_gap, fabs(least_gap(p, count) - least_gap(q, over)));
        flip_turn = first == COLLIDE_CAPSULE && second == COLLIDE_CAPSULE ? flip_turn
                                                                          : fmax(flip_turn, turn);

        double R[9], shift[3];
        turn_of(&d, R);
        body *both[2] = {&a, &b};
        for (int i = 0; i < 3; i++) {
            shift[i] = dice_between(&d, -2, 2);
        }
        for (int o = 0; o < 2; o++) {
            collide_pose old = both[o]->at;
            for (int i = 0; i < 3; i++) {
                both[o]->at.pos[i] = shift[i] + dot(&R[3 * i], old.pos);
                for (int j = 0; j < 3; j++) {
                    both[o]->at.R[3 * i + j] = R[3 * i] * old.R[j] + R[3 * i + 1] * old.R[3 + j] +
                                               R[3 * i + 2] * old.R[6 + j];
                }
            }
        }
        int moved = collide_pair(&a.shape, &a.at, &b.shape, &b.at, 10, q, CAPACITY);
        assert_true(moved > 0);
        move_gap = fmax(move_gap, fabs(least_gap(p, count) - least_gap(q, moved)));
        double back = 0;
        for (int i = 0; i < 3; i++) {
            back = fmax(back,
                        fabs(dot(&R[3 * i], least(p, count)->normal) - least(q, moved)->normal[i]));
        }
        move_turn = fmax(move_turn, back);
        body_free(&a);
        body_free(&b);
    }
    if (getenv("ZW_VERBOSE") != NULL) {
        printf("turned over: gap %.1e normal %.1e; moved: gap %.1e normal %.1e\n", flip_gap,
               flip_turn, move_gap, move_turn);
    }
    assert_true(flip_gap < 1e-12 && move_gap < 1e-12);
    assert_true(flip_turn < 1e-12 && move_turn < 1e-12);
}

/* A wheel over the edge of a step, its axle askew by `yaw` and rolled by `roll`: both rims are over
 * the edge, whichever is nearer. What each keeps is the way from the edge to the axle less r, to
 * second order; no two points are in one place. */
static void test_rocking_wheel(void **state)
{
    (void)state;
    collide_shape box = shape(COLLIDE_BOX, 0.5, 1, 0.08),
                  wheel = shape(COLLIDE_CYLINDER, .36, .055, 0);
    collide_pose step = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int k = 0; k < 63; k++) {
        double roll = 1e-3 * (k % 21 - 10), yaw = k < 21 ? 0 : k < 42 ? 1e-3 : 0.02;
        double axle[3] = {-sin(yaw), cos(yaw), roll}, length = sqrt(1 + roll * roll);
        collide_pose at = {.pos = {-0.5 - 0.6 * 0.361, 0.1, 0.08 + 0.8 * 0.361}};
        double x[3] = {cos(yaw), sin(yaw), 0}, y[3];
        for (int i = 0; i < 3; i++) {
            axle[i] /= length;
        }
        y[0] = axle[1] * x[2] - axle[2] * x[1];
        y[1] = axle[2] * x[0] - axle[0] * x[2];
        y[2] = axle[0] * x[1] - axle[1] * x[0];
        for (int i = 0; i < 3; i++) {
            at.R[3 * i] = x[i];
            at.R[3 * i + 1] = y[i];
            at.R[3 * i + 2] = axle[i];
        }
        collide_point p[CAPACITY];
        int count = collide_pair(&box, &step, &wheel, &at, 0.1, p, CAPACITY), rims = 0;
        assert_in_range(count, 2, 3);
        for (int i = 0; i < count; i++) {
            double e[3] = {-0.5 - at.pos[0], p[i].pos[1] - at.pos[1], 0.08 - at.pos[2]};
            double along = dot(e, axle), far = sqrt(dot(e, e) - along * along);
            assert_true(fabs(far - 0.36 - p[i].gap) < 1e-6);
            assert_true(fabs(dot(e, p[i].normal) - along * dot(axle, p[i].normal) + far) < 1e-4);
            rims += fabs(fabs(along) - 0.055) < 1e-4;
            for (int j = 0; j < i; j++) {
                assert_true(fabs(p[i].pos[1] - p[j].pos[1]) > 1e-6);
            }
        }
        assert_int_equal(rims, 2);
    }
}

/* A body that moves by s changes no gap by more than s, and not by jumps. */
static void test_gap_is_continuous(void **state)
{
    (void)state;
    dice d = dice_of(12);
    for (int k = 0; k < 300; k++) {
        body a = body_of(&d, (collide_kind)dice_int(&d, 0, COLLIDE_HULL));
        body b = body_of(&d, (collide_kind)dice_int(&d, 1, COLLIDE_HULL));
        double way[3], last = 0;
        dice_direction(&d, way);
        for (int s = 0; s < 60; s++) {
            collide_point p[CAPACITY];
            double step = s < 30 ? 1e-3 : 1e-8;
            int count = collide_pair(&a.shape, &a.at, &b.shape, &b.at, 10, p, CAPACITY);
            double gap = least_gap(p, count);
            assert_true(s == 0 || fabs(gap - last) < step * (1 + 1e-9) + 1e-12);
            last = gap;
            step = s + 1 < 30 ? 1e-3 : 1e-8;
            for (int i = 0; i < 3; i++) {
                b.at.pos[i] += step * way[i];
            }
        }
        body_free(&a);
        body_free(&b);
    }
}

static void test_names_stay(void **state)
{
    (void)state;
    dice d = dice_of(13);
    int kept = 0, all = 0;
    for (int k = 0; k < 500; k++) {
        collide_shape a = shape(COLLIDE_BOX, 2, 2, 1), b = shape(COLLIDE_BOX, 1, 1, 1);
        double c = dice_between(&d, 0, 0.8), s = sqrt(1 - c * c);
        collide_pose at = turned(dice_between(&d, -2, 2), dice_between(&d, -2, 2), 2, 2, c, s);
        collide_point p[CAPACITY], q[CAPACITY];
        int count = collide_pair(&a, &here, &b, &at, 0.01, p, CAPACITY);
        for (int i = 0; i < 3; i++) {
            at.pos[i] += dice_between(&d, -1e-6, 1e-6);
        }
        int again = collide_pair(&a, &here, &b, &at, 0.01, q, CAPACITY);
        for (int i = 0; i < count; i++) {
            all++;
            for (int j = 0; j < again; j++) {
                if (p[i].feature == q[j].feature) {
                    kept++;
                    assert_true(fabs(p[i].pos[0] - q[j].pos[0]) < 1e-4 &&
                                fabs(p[i].pos[1] - q[j].pos[1]) < 1e-4);
                }
            }
        }
    }
    assert_true(kept > all - all / 100);
}

/* A sole of 120 corners, more than a manifold has points: where it stands, round-off of its pose
 * does not say which of them; where it is tilted, the lowest is one of them. */
static void test_many_corners(void **state)
{
    enum { CORNERS = 120 };
    double corner[2 * CORNERS][3];
    collide_shape plane = shape(COLLIDE_PLANE, 0, 0, 0), sole = shape(COLLIDE_HULL, 0, 0, 0);
    collide_point first[CAPACITY], p[CAPACITY];
    (void)state;
    for (int k = 0; k < 2 * CORNERS; k++) {
        double angle = 2 * M_PI * (k % CORNERS) / CORNERS;
        corner[k][0] = 0.1 * cos(angle);
        corner[k][1] = 0.04 * sin(angle);
        corner[k][2] = k < CORNERS ? 0 : 0.02;
    }
    sole.hull = collide_hull_new(corner[0], 2 * CORNERS);
    int count = collide_pair(&plane, &here, &sole, &here, 1e-3, first, CAPACITY);
    assert_in_range(count, 8, CORNERS - 1);
    for (int k = 0; k < 200; k++) {
        double angle = 0.7 * k, tilt = k < 100 ? 1e-12 : 1e-3, low = INFINITY, lowest = INFINITY;
        double c = cos(angle), s = sin(angle), x = -s * tilt, y = c * tilt;
        collide_pose at = {
            .R = {1, 0, y, 0, 1, -x, -y, x, 1}}; /* turned by (x, y), to first order */
        assert_int_equal(collide_pair(&plane, &here, &sole, &at, 1e-3, p, CAPACITY), count);
        for (int i = 0; i < count; i++) {
            assert_true(k >= 100 || p[i].feature == first[i].feature);
            low = fmin(low, p[i].gap);
        }
        for (int i = 0; i < CORNERS; i++) {
            lowest = fmin(lowest, at.R[6] * corner[i][0] + at.R[7] * corner[i][1]);
        }
        assert_true(fabs(low - lowest) < 1e-10);
    }
    collide_hull_free((collide_hull *)sole.hull);
}

/* Every shape there is, at its worst. */
typedef struct zoo {
    collide_shape shape[40];
    int count;
} zoo;

static const double needle[6][3] = {{1e-6, 0, 0}, {-1e-6, 1e-6, 0}, {0, -1e-6, 0},
                                    {0, 0, 1},    {0, 0, -1},       {1e-6, 1e-6, 0.5}};
static const double sheet[5][3] = {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {0.1, 0.1, 0}};
static const double stick[3][3] = {{0, 0, 0}, {1, 1, 1}, {0.5, 0.5, 0.5}};

static void zoo_open(zoo *z)
{
    static const double size[4][3] = {{1, 1, 1}, {0, 0, 0}, {1e-6, 1, 1e-6}, {1, 1e-6, 1}};
    static const double ground[9] = {0, 0, 0, 0, 0.5, 0, 0, 0, 0};
    static const double floor[4][3] = {{-2, -2, 0}, {2, -2, 0}, {2, 2, 0}, {-2, 2, 0}};
    static const int two[6] = {0, 1, 2, 0, 2, 3};
    z->count = 0;
    for (int kind = COLLIDE_PLANE; kind <= COLLIDE_CONE; kind++) {
        for (int k = 0; k < 4; k++) {
            z->shape[z->count++] = shape((collide_kind)kind, size[k][0], size[k][1], size[k][2]);
        }
    }
    z->shape[z->count] = shape(COLLIDE_HULL, 0, 0, 0);
    z->shape[z->count++].hull = collide_hull_new(needle[0], 6);
    z->shape[z->count] = shape(COLLIDE_HULL, 0, 0, 0);
    z->shape[z->count++].hull = collide_hull_new(sheet[0], 5);
    z->shape[z->count] = shape(COLLIDE_HULL, 0, 0, 0);
    z->shape[z->count++].hull = collide_hull_new(stick[0], 3);
    z->shape[z->count] = shape(COLLIDE_HULL, 0, 0, 0);
    z->shape[z->count++].hull = collide_hull_new(stick[0], 1);
    z->shape[z->count] = shape(COLLIDE_FIELD, 0, 0, 0);
    z->shape[z->count++].field = collide_field_new(3, 3, 2, 2, ground);
    z->shape[z->count] = shape(COLLIDE_MESH, 0, 0, 0);
    z->shape[z->count++].mesh = collide_mesh_new(floor[0], 4, two, 2);
}

static void zoo_close(zoo *z)
{
    for (int i = 0; i < z->count; i++) {
        collide_hull_free((collide_hull *)z->shape[i].hull);
        collide_field_free((collide_field *)z->shape[i].field);
        collide_mesh_free((collide_mesh *)z->shape[i].mesh);
    }
}

static int is_ground(const collide_shape *s)
{
    return s->kind == COLLIDE_PLANE || s->kind >= COLLIDE_FIELD;
}

static void test_everything_is_answered(void **state)
{
    (void)state;
    zoo z;
    zoo_open(&z);
    dice d = dice_of(14);
    int answered[COLLIDE_KINDS][COLLIDE_KINDS] = {{0}};
    for (int i = 0; i < z.count; i++) {
        for (int j = 0; j < z.count; j++) {
            for (int k = 0; k < 8; k++) {
                collide_pose at = here, from = here;
                if (k & 1) {
                    turn_of(&d, at.R);
                }
                if (k & 2) { /* touching, or nearly */
                    at.pos[2] = 2;
                }
                if (k & 4) { /* far away */
                    from.pos[0] = 1e7;
                    at.pos[0] = 1e7;
                }
                collide_point p[CAPACITY];
                int count = collide_pair(&z.shape[i], &from, &z.shape[j], &at, k & 2 ? 3 : 0.5, p,
                                         CAPACITY);
                for (int c = 0; c < count && c < CAPACITY; c++) {
                    assert_true(isfinite(p[c].gap) && fabs(p[c].gap) < 10);
                    assert_true(fabs(dot(p[c].normal, p[c].normal) - 1) < 1e-9);
                    assert_true(isfinite(p[c].pos[0] + p[c].pos[1] + p[c].pos[2]));
                }
                answered[z.shape[i].kind][z.shape[j].kind] += count > 0;
                double low[3], high[3];
                collide_bounds(&z.shape[j], &at, low, high);
                assert_true(low[0] <= high[0] && low[1] <= high[1] && low[2] <= high[2]);
                if (is_ground(&z.shape[i]) && is_ground(&z.shape[j])) {
                    assert_int_equal(count, 0);
                } else if (z.shape[i].kind < COLLIDE_FIELD && z.shape[j].kind < COLLIDE_FIELD) {
                    assert_true(count > 0 || (k & 3) != 0);
                }
            }
        }
    }
    for (int i = 0; i < COLLIDE_KINDS; i++) {
        for (int j = 0; j < COLLIDE_KINDS; j++) {
            int ground = (i == COLLIDE_PLANE || i >= COLLIDE_FIELD) &&
                         (j == COLLIDE_PLANE || j >= COLLIDE_FIELD);
            assert_true(ground ? answered[i][j] == 0 : answered[i][j] > 0);
        }
    }
    zoo_close(&z);
}

static void test_poison(void **state)
{
    (void)state;
    zoo z;
    zoo_open(&z);
    for (int i = 0; i < z.count; i++) {
        for (int j = 0; j < z.count; j++) {
            for (int k = 0; k < 4; k++) {
                collide_pose at = here;
                at.pos[k % 3] = k == 3 ? INFINITY : NAN;
                collide_point p[CAPACITY];
                int count =
                    j & 1 ? collide_pair(&z.shape[i], &at, &z.shape[j], &here, 1, p, CAPACITY)
                          : collide_pair(&z.shape[i], &here, &z.shape[j], &at, 1, p, CAPACITY);
                for (int c = 0; c < count && c < CAPACITY; c++) {
                    assert_true(isfinite(p[c].gap));
                    assert_true(isfinite(p[c].pos[0] + p[c].pos[1] + p[c].pos[2]));
                }
            }
        }
    }
    zoo_close(&z);
}

static void test_room_is_counted(void **state)
{
    (void)state;
    collide_shape a = shape(COLLIDE_BOX, 1, 1, 1);
    collide_pose at = turned(0, 0, 2, 2, 1 / sqrt(2.0), 1 / sqrt(2.0));
    collide_point p[4], q[8];
    assert_int_equal(collide_pair(&a, &here, &a, &at, 0.1, q, 8), 8);
    memset(p, 0, sizeof p);
    assert_int_equal(collide_pair(&a, &here, &a, &at, 0.1, p, 3), 8);
    for (int i = 0; i < 3; i++) {
        assert_true(p[i].feature == q[i].feature && p[i].gap == q[i].gap);
        assert_memory_equal(p[i].pos, q[i].pos, sizeof p[i].pos);
    }
    assert_true(p[3].gap == 0 && p[3].feature == 0 && p[3].normal[2] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enough_points),          cmocka_unit_test(test_rollers_side_by_side),
        cmocka_unit_test(test_symmetry_and_motion),    cmocka_unit_test(test_rocking_wheel),

        cmocka_unit_test(test_gap_is_continuous),      cmocka_unit_test(test_names_stay),
        cmocka_unit_test(test_everything_is_answered), cmocka_unit_test(test_poison),
        cmocka_unit_test(test_room_is_counted),        cmocka_unit_test(test_many_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
