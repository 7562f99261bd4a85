/* Joints that move no mass: M = J' I J of chains whose last link alone has mass. It is positive
 * definite exactly when the columns of J, the screws of the joints, are independent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "model/bodies.h"
#include "scene/dice.h"

/* A chain of massless links, each with one joint; the last one has mass. */
typedef struct chain {
    zw_model *model;
    int last;
} chain;

static chain begin(void)
{
    zw_error error;
    chain c = {.model = zw_model_create(&error)};
    assert_non_null(c.model);
    return c;
}

static void add(chain *c, int kind, const double axis[3], const double pos[3])
{
    zw_error error;
    zw_body_def body = zw_body_default();
    zw_joint_def joint = zw_joint_default();
    body.inertial = 1;
    body.parent = c->last;
    c->last = zw_model_add_body(c->model, &body, &error);
    assert_true(c->last > 0);
    joint.body = c->last;
    joint.kind = kind;
    memcpy(joint.axis, axis, sizeof joint.axis);
    memcpy(joint.pos, pos, sizeof joint.pos);
    assert_true(zw_model_add_joint(c->model, &joint, &error) >= 0);
}

/* Load the last link; can all be moved? */
static int moves(chain *c)
{
    zw_error error;
    zw_inertia list[16];
    zw_body_def body = *(const zw_body_def *)zw_model_def(c->model, ZW_KIND_BODY, c->last);
    const double inertia[6] = {0.3, 0.4, 0.5, 0.01, 0.02, 0.03};
    body.mass = 2;
    body.com[0] = 0.3;
    memcpy(body.inertia, inertia, sizeof inertia);
    assert_int_equal(zw_model_change(c->model, ZW_KIND_BODY, c->last, &body, &error), ZW_OK);
    int ok = zw_model_inertia(c->model, list, &error) == ZW_OK;
    zw_model_free(c->model);
    return ok;
}

static const double X[3] = {1, 0, 0}, Y[3] = {0, 1, 0}, Z[3] = {0, 0, 1}, O[3] = {0, 0, 0};

static void tables_and_crosses(void **state)
{
    (void)state;
    const double far[3] = {0, 1, 0};
    const struct {
        int kind[3];
        const double *axis[3], *pos[3];
        int moves;
    } trial[] = {
        {{ZW_JOINT_SLIDE, ZW_JOINT_SLIDE, ZW_JOINT_HINGE}, {X, Y, Z}, {O, O, O}, 1}, /* a table */
        {{ZW_JOINT_SLIDE, ZW_JOINT_SLIDE, ZW_JOINT_HINGE}, {X, X, Z}, {O, O, O}, 0},
        {{ZW_JOINT_HINGE, ZW_JOINT_HINGE, ZW_JOINT_HINGE}, {X, Y, Z}, {O, O, O}, 1}, /* a gimbal */
        {{ZW_JOINT_HINGE, ZW_JOINT_HINGE, ZW_JOINT_HINGE}, {X, Y, X}, {O, O, O}, 0}, /* locked */
        {{ZW_JOINT_HINGE, ZW_JOINT_HINGE, ZW_JOINT_HINGE}, {X, Y, X}, {O, O, far}, 1},
        {{ZW_JOINT_HINGE, ZW_JOINT_HINGE, ZW_JOINT_SLIDE}, {Z, Z, Z}, {O, far, O}, 1},
        {{ZW_JOINT_HINGE, ZW_JOINT_HINGE, ZW_JOINT_SLIDE}, {Z, Z, X}, {O, far, O}, 0}};
    for (size_t i = 0; i < sizeof trial / sizeof *trial; i++) {
        chain c = begin();
        for (int k = 0; k < 3; k++) {
            add(&c, trial[i].kind[k], trial[i].axis[k], trial[i].pos[k]);
        }
        assert_int_equal(moves(&c), trial[i].moves);
    }
}

/* Up to six screws drawn at random are independent; seven never are, nor one that comes twice. */
static void screws_at_random(void **state)
{
    (void)state;
    dice d = dice_of(4711);
    for (int t = 0; t < 300; t++) {
        int n = dice_int(&d, 1, 7), twice = n < 7 && n > 1 && t % 3 == 0;
        chain c = begin();
        double axis[3], pos[3];
        for (int k = 0; k < n; k++) {
            for (int i = 0; i < 3 && !(twice && k == n - 1); i++) {
                axis[i] = dice_between(&d, -1, 1);
                pos[i] = dice_between(&d, -1, 1);
            }
            add(&c, ZW_JOINT_HINGE, axis, pos);
        }
        assert_int_equal(moves(&c), n < 7 && !twice);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_and_crosses),
                                       cmocka_unit_test(screws_at_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
