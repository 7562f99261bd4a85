/* Gap and normal of every convex pair against judges that share no code with them.
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

#include "collide/judge.h"
#include "scene/campaign.h"

#include <stdio.h>

enum { ROOM = 64 };

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

static void judge(const body *a, const body *b, dice *d, tally *t)
{
    collide_point p[ROOM];
    int count = collide_pair(&a->shape, &a->at, &b->shape, &b->at, 10, p, ROOM);
    assert_in_range(count, 1, ROOM);
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
        printf("overlap: kinds %d %d gap %.12g judge %.12g\n", (int)a->shape.kind,
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
        judge(&a, &b, &d, &t);
        body_free(&a);
        body_free(&b);
    }
    if (getenv("ZW_TELL") != NULL) {
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
        judge(&a, &b, &d, &t);
        body_free(&a);
        body_free(&b);
    }
    assert_true(t.plane_error < 1e-11);
    assert_true(t.apart_error < 1e-7);
    assert_true(t.depth_error < 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),        cmocka_unit_test(test_hulls),
        cmocka_unit_test(test_box_cylinder), cmocka_unit_test(test_every_convex_pair),
        cmocka_unit_test(test_aligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
