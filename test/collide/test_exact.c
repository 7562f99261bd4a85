/* Gap and normal of every convex pair against references that share no code with them.
 *
 * Apart: the plane across the normal proves that the distance is at least the gap, the two surface
 * points, if they are in the shapes, that it is at most that. Overlapping polytopes: every face of
 * the difference is across a face of one or across two edges, and there are few of those. Curved
 * shapes: a search over directions by brute force must not find less overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collide/reference.h"
#include "scene/campaign.h"

#include <stdio.h>
#include <time.h>

enum { CAPACITY = 64 };

typedef struct tally {
    int apart, overlap;
    double apart_error, plane_error, depth_error, least_margin;
} tally;

/* The point with the least gap is the contact itself. */
static int least_of(const collide_point *p, int count)
{
    int least = 0;
    for (int i = 1; i < count; i++) {
        least = p[i].gap < p[least].gap ? i : least;
    }
    return least;
}

static void check_pair(const body *a, const body *b, dice *d, tally *t)
{
    collide_point p[CAPACITY];
    int count = collide_pair(&a->shape, &a->at, &b->shape, &b->at, 10, p, CAPACITY);
    assert_in_range(count, 1, CAPACITY);
    const collide_point *c = &p[least_of(p, count)];
    assert_true(fabs(dot(c->normal, c->normal) - 1) < 1e-14);
    t->plane_error = fmax(t->plane_error, fabs(gap_along(a, b, c->normal) - c->gap));
    if (c->gap > 0) {
        double x[3], y[3];
        for (int i = 0; i < 3; i++) {
            x[i] = c->pos[i] - 0.5 * c->gap * c->normal[i];
            y[i] = c->pos[i] + 0.5 * c->gap * c->normal[i];
        }
        t->apart++;
        double off = fmax(outside(a, x), outside(b, y));
        if (off > 1e-8) {
            printf("apart: kinds %d %d gap %.3g outside %.3g %.3g\n", (int)a->shape.kind,
                   (int)b->shape.kind, c->gap, outside(a, x), outside(b, y));
        }
        t->apart_error = fmax(t->apart_error, off);
        return;
    }
    t->overlap++;
    double least = a->corners > 0 && b->corners > 0 ? polytope_gap(a, b) : searched_gap(a, b, d);
    if (least - c->gap > 1e-8) {
        printf("overlap: kinds %d %d gap %.12g reference %.12g\n", (int)a->shape.kind,
               (int)b->shape.kind, c->gap, least);
    }
    t->depth_error = fmax(t->depth_error, least - c->gap);
}

static void run_pairs(collide_kind first, collide_kind second, int pairs)
{
    dice d = dice_of(7 + 10 * (uint64_t)first + (uint64_t)second);
    tally t = {0};
    for (int k = 0; k < pairs; k++) {
        body a = body_of(&d, first), b = body_of(&d, second);
        check_pair(&a, &b, &d, &t);
        body_free(&a);
        body_free(&b);
    }
    if (getenv("ZW_VERBOSE") != NULL) {
        printf("%d %d: %d apart, off by %.1e; %d overlap, beaten by %.1e; planes %.1e\n",
               (int)first, (int)second, t.apart, t.apart_error, t.overlap, t.depth_error,
               t.plane_error);
    }
    assert_true(t.plane_error < 1e-11);
    assert_true(t.apart_error < 1e-8);
    assert_true(t.depth_error < 1e-8);
}

static void test_boxes(void **state)
{
    (void)state;
    run_pairs(COLLIDE_BOX, COLLIDE_BOX, campaign(10000));
}

static void test_hulls(void **state)
{
    (void)state;
    run_pairs(COLLIDE_HULL, COLLIDE_HULL, campaign(2000));
    run_pairs(COLLIDE_BOX, COLLIDE_HULL, campaign(4000));
}

static void test_box_cylinder(void **state)
{
    (void)state;
    run_pairs(COLLIDE_CYLINDER, COLLIDE_BOX, campaign(10000));
}

static void test_every_convex_pair(void **state)
{
    (void)state;
    for (int i = COLLIDE_SPHERE; i <= COLLIDE_HULL; i++) {
        for (int j = i; j <= COLLIDE_HULL; j++) {
            run_pairs((collide_kind)i, (collide_kind)j, campaign(400));
        }
    }
}

/* Sizes and places on a grid, quarter turns and eighths: faces in one plane, edges in line, centres
 * in one place, and touching exactly, which chance never gives. */
static void align(body *b, dice *d)
{
    const double h = 1 / sqrt(2.0);
    static const double cosine[4] = {1, 0, -1, 2};
    for (int i = 0; i < 3; i++) {
        b->at.pos[i] = 0.5 * dice_int(d, -2, 2);
    }
    int axis = dice_int(d, 0, 2), j = (axis + 1) % 3, k = (axis + 2) % 3, turn = dice_int(d, 0, 3);
    double c = turn == 3 ? h : cosine[turn], s = turn == 3 ? h : turn == 1 ? 1 : 0;
    memset(b->at.R, 0, sizeof b->at.R);
    b->at.R[3 * axis + axis] = 1;
    b->at.R[3 * j + j] = b->at.R[3 * k + k] = c;
    b->at.R[3 * j + k] = -s;
    b->at.R[3 * k + j] = s;
}

static body aligned(dice *d, collide_kind kind)
{
    body b = {.shape = {.kind = kind}};
    for (int i = 0; i < 3; i++) {
        b.shape.size[i] = 0.5 * dice_int(d, 1, 2);
    }
    if (kind == COLLIDE_BOX || kind == COLLIDE_HULL) {
        for (int k = 0; k < 8; k++) { /* boxes, wedges, pyramids, prisms */
            for (int i = 0; i < 3; i++) {
                double x = kind == COLLIDE_HULL && k > 3 ? dice_int(d, 0, 1) : 1;
                b.own[k][i] = (k >> i & 1 ? -1 : 1) * x * b.shape.size[i];
            }
        }
        b.corners = 8;
    }
    if (kind == COLLIDE_HULL) {
        b.shape.hull = collide_hull_new(b.own[0], 8);
    }
    align(&b, d);
    place(&b);
    return b;
}

static void test_aligned(void **state)
{
    (void)state;
    dice d = dice_of(31);
    tally t = {0};
    int pairs = campaign(20000);
    for (int k = 0; k < pairs; k++) {
        body a = aligned(&d, (collide_kind)dice_int(&d, COLLIDE_SPHERE, COLLIDE_HULL));
        body b = aligned(&d, (collide_kind)dice_int(&d, COLLIDE_SPHERE, COLLIDE_HULL));
        check_pair(&a, &b, &d, &t);
        body_free(&a);
        body_free(&b);
    }
    assert_true(t.plane_error < 1e-11);
    assert_true(t.apart_error < 1e-7);
    assert_true(t.depth_error < 1e-8);
}

/* Stones of an arch, face to face to the last bits, turned anyhow: neither overlap nor a gap. */
static void test_stones(void **state)
{
    (void)state;
    dice d = dice_of(77);
    const double side = 0.15, r = 1.15, half = 0.15; /* tan of half a stone's angle */
    const double c = (1 - side * side) / (1 + side * side), s = 2 * side / (1 + side * side);
    double v[8][3], worst = 0;
    for (int k = 0; k < 8; k++) {
        double z = k & 1 ? half : -half;
        v[k][0] = (k & 2 ? side : -side) * (r + z);
        v[k][1] = k & 4 ? 0.2 : -0.2;
        v[k][2] = z;
    }
    collide_shape stone = {.kind = COLLIDE_HULL, .hull = collide_hull_new(v[0], 8)};
    for (int k = 0; k < campaign(20000); k++) {
        collide_pose at[2] = {0};
        collide_point p[CAPACITY];
        double *R = at[0].R, *Q = at[1].R;
        turn_of(&d, R);
        for (int i = 0; i < 3; i++) { /* the next one is turned about y, by the whole angle */
            Q[3 * i] = c * R[3 * i] - s * R[3 * i + 2];
            Q[3 * i + 1] = R[3 * i + 1];
            Q[3 * i + 2] = s * R[3 * i] + c * R[3 * i + 2];
            at[0].pos[i] = r * R[3 * i + 2];
            at[1].pos[i] = r * Q[3 * i + 2];
        }
        int count = collide_pair(&stone, &at[0], &stone, &at[1], 0.01, p, CAPACITY);
        assert_int_equal(count, 4);
        for (int i = 0; i < count; i++) {
            worst = fmax(worst, fabs(p[i].gap));
        }
    }
    assert_true(worst < 1e-14);
    collide_hull_free((collide_hull *)stone.hull);
}

/* Two of these in a run of examples/contact/arch_bridge.xml: the search for a distance ends with
 * four points in one plane, which is no begin for the search of an overlap. */
static void test_points_in_one_plane(void **state)
{
    (void)state;
    const double half = 0.1484162, wide[2] = {0.1449319, 0.1884114};
    static const collide_pose at[2] = {
        {{0x1.4e2c6db952fbep-2, -0x1.d28542950cc33p-54, 0x1.63dab4c3d278ep+0},
         {0x1.ea7d9cc3cba38p-1, -0x1.a233f75a02221p-52, 0x1.25afac51ae70bp-2, 0x1.dd8188128ff41p-52,
          0x1p+0, -0x1.11a81b8355b6dp-53, -0x1.25afac51ae70bp-2, 0x1.0c07be41cd3bp-52,
          0x1.ea7d9cc3cba38p-1}},
        {{0x1.4022812c7a9a4p-1, -0x1.d19abbe366decp-55, 0x1.402bae8fd5e66p+0},
         {0x1.abc519bffe89ap-1, -0x1.c5369ac5eb454p-52, 0x1.19592d3993f08p-1, 0x1.898fda1caa4b8p-52,
          0x1p+0, 0x1.c4c1dcf45a8c4p-53, -0x1.19592d3993f08p-1, 0x1.b2102e8463bcp-56,
          0x1.abc519bffe89ap-1}}};
    double v[8][3];
    for (int k = 0; k < 8; k++) {
        v[k][0] = (k & 1 ? 1 : -1) * wide[k >> 1 & 1];
        v[k][1] = k & 4 ? 0.2 : -0.2;
        v[k][2] = k & 2 ? half : -half;
    }
    collide_shape stone = {.kind = COLLIDE_HULL, .hull = collide_hull_new(v[0], 8)};
    for (int k = 0; k < 2; k++) {
        collide_point p[CAPACITY];
        assert_int_equal(collide_pair(&stone, &at[k], &stone, &at[1 - k], 1e-3, p, CAPACITY), 4);
        for (int i = 0; i < 4; i++) {
            assert_true(fabs(p[i].gap) < 1e-12);
        }
    }
    collide_hull_free((collide_hull *)stone.hull);
}

/* A cylinder in another about one axis, `off` beside it: the gap; *seconds: the least of some
 * calls.
 */
static double within(double half, double off, double *seconds)
{
    collide_shape rod = {.kind = COLLIDE_CYLINDER, .size = {0.008, half, 0}};
    const double t = 0.6, c = cos(t), s = sin(t);
    collide_pose at[2] = {{.R = {c, 0, s, 0, 1, 0, -s, 0, c}}, {.R = {c, 0, s, 0, 1, 0, -s, 0, c}}};
    at[1].pos[1] = off;
    collide_point p[CAPACITY];
    int count = 0;
    for (int k = 0; k < 20; k++) {
        clock_t start = clock();
        count = collide_pair(&rod, &at[0], &rod, &at[1], 10, p, CAPACITY);
        double took = (double)(clock() - start) / CLOCKS_PER_SEC;
        *seconds = k > 0 && *seconds < took ? *seconds : took;
    }
    assert_in_range(count, 1, CAPACITY);
    return p[least_of(p, count)].gap;
}

/* Around a common axis all directions across it have the same overlap. They hide neither a lesser
 * overlap along the axis, nor that of one direction, and not each of them is searched. */
static void test_about_one_axis(void **state)
{
    (void)state;
    double ring, other, along = 0.008 * (1 - 1e-5);
    assert_true(fabs(within(0.05, 0, &ring) + 0.016) < 1e-12);
    assert_true(fabs(within(along, 0, &other) + 2 * along) < 1e-12);
    for (double off = 1e-8; off < 1e-3; off *= 10) {
        assert_true(fabs(within(0.05, off, &other) + 0.016 - off) < 1e-11);
    }
    print_message("one axis: %.2g s, beside it %.2g s\n", ring, other);
    assert_true(ring < 0.5 * other); /* as long as beside it if each were */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_about_one_axis),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_hulls),
        cmocka_unit_test(test_box_cylinder),
        cmocka_unit_test(test_every_convex_pair),
        cmocka_unit_test(test_aligned),
        cmocka_unit_test(test_stones),
        cmocka_unit_test(test_points_in_one_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
