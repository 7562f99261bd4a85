/* The certificate: zero for correct solutions; each kind of error appears in its own field, in
 * proportion to its size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gauss/solved.h"
#include "scene/scene.h"

#include <math.h>
#include <string.h>

/* ---- One problem with all kinds of rows
 * ---------------------------------------------------------- */

/* Identity metric, six uncoupled unknowns: a0 = 2 held; a1 >= 1 pressed, a2 >= -9 open; a
 * contact on a3 a4 a5, pressed by 4 and sliding: mu = 1/2, so friction takes 2 from (5, 0). */
typedef struct sample {
    zw_gauss problem;
    double free[6], A[36], b[6];
    zw_block block[4];
    double a[6], lambda[6];
} sample;

enum { HINGE, PRESSED, OPEN, FOOT };

static sample *sample_new(void)
{
    static sample s;
    static const double free[6] = {1, -3, 0, -4, 5, 0}, a[6] = {2, 1, 0, 0, 3, 0},
                        lambda[6] = {1, 4, 0, 4, -2, 0}, b[6] = {2, 1, -9, 0, 0, 0};
    memset(&s, 0, sizeof s);
    memcpy(s.free, free, sizeof free);
    memcpy(s.a, a, sizeof a);
    memcpy(s.lambda, lambda, sizeof lambda);
    memcpy(s.b, b, sizeof b);
    for (int i = 0; i < 6; i++) {
        s.A[7 * i] = 1.0;
    }
    s.block[HINGE] = (zw_block){.name = "hinge", .kind = ZW_EQUALITY, .rows = 1};
    s.block[PRESSED] = (zw_block){.name = "pressed", .kind = ZW_INEQUALITY, .rows = 1};
    s.block[OPEN] = (zw_block){.name = "open", .kind = ZW_INEQUALITY, .rows = 1};
    s.block[FOOT] = (zw_block){.name = "foot", .kind = ZW_CONE, .rows = 3, .friction = {0.5, 0.5}};
    s.problem = (zw_gauss){
        .n = 6, .free = s.free, .block_count = 4, .block = s.block, .A.dense = s.A, .b = s.b};
    return &s;
}

static zw_certificate certify_sample(const sample *s)
{
    return certify(&s->problem, ZW_CONTACT_COULOMB, s->a, s->lambda, NULL);
}

static void right_answer_passes(void **state)
{
    (void)state;
    sample *s = sample_new();
    zw_certificate c = certify_sample(s);
    assert_below(c.worst, 1e-15);
    assert_below(fmax(fmax(c.stationarity, c.feasibility), fmax(c.membership, c.natural)), 1e-15);
    assert_below(c.complementarity, 1e-15);
    solved found = solve(&s->problem, NULL);
    assert_status(found, ZW_OK);
    assert_all_close(6, found.motion.a, s->a, 1e-12);
    assert_all_close(6, found.motion.lambda, s->lambda, 1e-12);
    solved_free(&found);
}

/* ---- One fault at a time
 * ------------------------------------------------------------------------- */

typedef struct fault {
    const char *about;
    int unknown, row;       /* changed by `size`: a[unknown] and lambda[row]; -1: none */
    double by_a, by_lambda; /* signs and weights of the two */
    int stationarity, feasibility, membership, natural; /* the fields that must show it */
    int block; /* of the largest residual; -1: stationarity, -2: any */
} fault;

/* Changing a and lambda of a row together preserves stationarity (the metric is the identity). */
static const fault faults[] = {
    {"force that nothing explains", 0, -1, 1, 0, 1, 1, 0, 0, -2},
    {"multiplier that moves nothing", -1, 0, 0, 1, 1, 0, 0, 0, -1},
    {"equality missed", 0, 0, 1, 1, 0, 1, 0, 0, HINGE},
    {"inequality violated", 1, 1, -1, -1, 0, 1, 0, 1, PRESSED},
    {"pressed though apart", 1, 1, 1, 1, 0, 0, 0, 1, PRESSED},
    {"pulled", 2, 2, -1, -1, 0, 0, 1, 1, OPEN},
    {"pushed though open", 2, 2, 1, 1, 0, 0, 0, 1, OPEN},
    {"contact violated", 3, 3, -1, -1, 0, 1, 0, 1, FOOT},
    {"more friction than the cone has", 4, 4, -1, -1, 0, 0, 1, 1, FOOT},
    {"less friction while sliding", 4, 4, 1, 1, 0, 0, 0, 1, FOOT},
    {"friction across the slip", 5, 5, 1, 1, 0, 0, 0, 1, FOOT},
};

static sample *sample_with(const fault *f, double size)
{
    sample *s = sample_new();
    if (f->unknown >= 0) {
        s->a[f->unknown] += f->by_a * size;
    }
    if (f->row >= 0) {
        s->lambda[f->row] += f->by_lambda * size;
    }
    return s;
}

/* The field grows with the fault: between a hundredth and ten times its size, ten times for ten. */
static void check_field(const char *field, int expected, double small, double large, double size)
{
    if (!expected) {
        return;
    }
    if (!(small >= 0.01 * size && small <= 10.0 * size && large >= 9.0 * small &&
          large <= 11.0 * small)) {
        fail_msg("%s is %.3e for a fault of %.0e and %.3e for ten times as much", field, small,
                 size, large);
    }
}

static void each_fault_in_its_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const fault *f = &faults[i];
        print_message("    %s\n", f->about);
        for (double size = 1e-9; size < 1e-3; size *= 100.0) {
            zw_certificate one = certify_sample(sample_with(f, size));
            zw_certificate ten = certify_sample(sample_with(f, 10.0 * size));
            check_field("stationarity", f->stationarity, one.stationarity, ten.stationarity, size);
            check_field("feasibility", f->feasibility, one.feasibility, ten.feasibility, size);
            check_field("membership", f->membership, one.membership, ten.membership, size);
            check_field("natural", f->natural, one.natural, ten.natural, size);
            check_field("worst", 1, one.worst, ten.worst, size);
            assert_true(one.worst >= one.stationarity && one.worst >= one.feasibility);
            assert_true(one.worst >= one.membership && one.worst >= one.natural);
            if (!f->stationarity) {
                assert_below(one.stationarity, 1e-15);
            }
            if (f->block > -2) {
                assert_int_equal(one.worst_block, f->block);
            }
        }
    }
}

/* Coulomb's solution slides without lifting, which violates the convex law; and vice versa. */
static void laws_are_distinguished(void **state)
{
    (void)state;
    sample *s = sample_new();
    assert_below(0.01, certify(&s->problem, ZW_CONTACT_CONVEX, s->a, s->lambda, NULL).feasibility);
    solved convex = solve_convex(&s->problem);
    assert_status(convex, ZW_OK);
    zw_certificate own =
        certify(&s->problem, ZW_CONTACT_CONVEX, convex.motion.a, convex.motion.lambda, NULL);
    zw_certificate other =
        certify(&s->problem, ZW_CONTACT_COULOMB, convex.motion.a, convex.motion.lambda, NULL);
    assert_below(own.worst, 1e-10);
    assert_below(fabs(own.gap), 1e-10);
    assert_below(0.01, other.natural);
    solved_free(&convex);
}

/* ---- Nonsense
 * ------------------------------------------------------------------------------------- */

/* A solution that contains NaN or infinity anywhere is not certified. */
static void nonsense_is_not_praised(void **state)
{
    (void)state;
    const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL};
    double scratch[256];
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 12; i++) {
            sample *s = sample_new();
            zw_certificate c;
            *(i < 6 ? &s->a[i] : &s->lambda[i - 6]) = bad[k];
            assert_true(zw_gauss_certify_scratch(&s->problem) <= 256);
            zw_status status = zw_gauss_certify(&s->problem, ZW_CONTACT_COULOMB, s->a, s->lambda,
                                                NULL, scratch, &c);
            if (status == ZW_OK || c.worst <= 1.0) {
                print_error("%s[%d] = %g: worst %g\n", i < 6 ? "a" : "lambda", i % 6, bad[k],
                            c.worst);
            }
            assert_int_equal(status, ZW_BAD_INPUT);
            assert_false(c.worst <= 1.0);
        }
    }
}

/* ---- Internal forces
 * ------------------------------------------------------------------------------ */

/* A box squeezed between two walls by internal forces of any size: they do not affect the motion
 * and must not hide that it is wrong by one part in ten thousand. */
static void inflated_forces_hide_nothing(void **state)
{
    (void)state;
    const double A[3] = {1, -1, 1}, free = -1.0;
    const zw_block block[3] = {{.name = "left", .kind = ZW_INEQUALITY, .rows = 1},
                               {.name = "right", .kind = ZW_INEQUALITY, .rows = 1},
                               {.name = "rod", .kind = ZW_EQUALITY, .rows = 1}};
    zw_gauss problem = {.n = 1, .free = &free, .block_count = 3, .block = block, .A.dense = A};
    for (double squeeze = 1.0; squeeze < 1e11; squeeze *= 100.0) {
        const double right[1] = {0}, wrong[1] = {1e-4};
        const double lambda[3] = {squeeze + 1.0, squeeze, 0},
                     pushed[3] = {squeeze + 1.0001, squeeze, 0};
        assert_below(certify(&problem, ZW_CONTACT_CONVEX, right, lambda, NULL).worst, 1e-15);
        zw_certificate c = certify(&problem, ZW_CONTACT_CONVEX, wrong, pushed, NULL);
        assert_true(c.feasibility > 3e-5 && c.worst > 3e-5);
        c = certify(&problem, ZW_CONTACT_CONVEX, right, pushed,
                    NULL); /* the internal force has no effect */
        assert_below(3e-5, c.stationarity);
    }
}

/* The same for a contact set: a point between floor and ceiling, sliding too slowly by 1e-4. */
static void inflated_contacts_hide_nothing(void **state)
{
    (void)state;
    const double A[8] = {0, 1, 1, 0, 0, -1, 1, 0}, free[2] = {5, -4};
    const zw_block block[2] = {{.name = "floor", .kind = ZW_CONE, .rows = 2, .friction = {0.5}},
                               {.name = "ceiling", .kind = ZW_CONE, .rows = 2, .friction = {0.5}}};
    zw_gauss problem = {.n = 2, .free = free, .block_count = 2, .block = block, .A.dense = A};
    const double a[2] = {3, 0}, lambda[4] = {4, -2, 0, 0};
    assert_below(certify(&problem, ZW_CONTACT_COULOMB, a, lambda, NULL).worst, 1e-15);
    for (double squeeze = 1.0; squeeze < 1e7;
         squeeze *= 100.0) { /* friction does not grow with it */
        const double inflated[4] = {4 + squeeze, -2, squeeze, 0};
        assert_below(0.1, certify(&problem, ZW_CONTACT_COULOMB, a, inflated, NULL).worst);
    }
}

/* ---- The kernel's own
 * ----------------------------------------------------------------------------- */

static void agrees_with_the_kernel(void **state)
{
    (void)state;
    scene_random_params params = scene_random_everything(0.5);
    for (unsigned i = 0; i < 60; i++) {
        scene *s = i < 30 ? scene_random(100 + i, &params)
                          : scene_contact((scene_family)(i % SCENE_FAMILIES), 100 + i);
        zw_gauss_options options = {.contact = s->law};
        solved x = solve(&s->problem, &options);
        zw_certificate c = certify(&s->problem, s->law, x.motion.a, x.motion.lambda, x.motion.C);
        const zw_certificate *own = &x.motion.certificate;
        assert_true(c.worst == own->worst && c.worst_block == own->worst_block);
        assert_true(c.stationarity == own->stationarity && c.feasibility == own->feasibility);
        assert_true(c.membership == own->membership && c.natural == own->natural);
        assert_true(x.status != ZW_OK || c.worst <= (s->law == ZW_CONTACT_CONVEX ? 1e-10 : 1e-8));
        solved_free(&x);
        scene_free(s);
    }
}

/* Units and masses do not change the verdict on a wrong answer. */
static void verdict_does_not_depend_on_units(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 30; i++) {
        scene_random_params params = {.n_min = 2, .n_max = 12, .features = SCENE_COMPLIANT};
        scene *s = scene_random(200 + i, &params), *other = scene_copy(s);
        solved x = solve_convex(&s->problem);
        assert_status(x, ZW_OK);
        double a[12], b[12], lambda[64] = {0};
        assert_true(s->m <= 64);
        memcpy(lambda, x.motion.lambda, (size_t)s->m * sizeof *lambda);
        for (int j = 0; j < s->problem.n; j++) {
            a[j] = x.motion.a[j] + 1e-3 * (j % 3 - 1);
            b[j] = a[j] * (j % 2 == 0 ? 1e-6 : 1.0);
        }
        zw_certificate before = certify(&s->problem, ZW_CONTACT_CONVEX, a, lambda, NULL);
        scene_rescale_units(other, 1e6);
        scene_rescale_masses(other, 1e6);
        scene_rescale_rows(other, 1e-6);
        for (int j = 0; j < s->m; j++) {
            lambda[j] *= 1e6 * 1e6;
        }
        zw_certificate after = certify(&other->problem, ZW_CONTACT_CONVEX, b, lambda, NULL);
        assert_close(after.worst / before.worst, 1.0, 1e-6);
        assert_close(after.stationarity / before.stationarity, 1.0, 1e-6);
        solved_free(&x);
        scene_free(s);
        scene_free(other);
    }
}

/* ---- Stopped dead --------------------------------------------------------------------------- */

/* A chain of links whose joints are at their limits: the rows a_2 <= 0 and a_3 <= 0 are active, so
 * that all terms of these rows are round-off. The solution is certified all the same, but not if
 * it is wrong by a millionth of the force. */
static void joints_stop_dead(void **state)
{
    static const double M[16] = {4.0274, 2.4777, 1.1764, 0.3019, 2.4777, 1.6306, 0.8173, 0.2194,
                                 1.1764, 0.8173, 0.4581, 0.1369, 0.3019, 0.2194, 0.1369, 0.0544};
    static const double force[4] = {-6.8222, -3.3216, -0.3795, -0.0872};
    static const double A[8] = {0, 0, -1, 0, 0, 0, 0, -1};
    static const zw_block block[2] = {{.name = "a", .kind = ZW_INEQUALITY, .rows = 1},
                                      {.name = "b", .kind = ZW_INEQUALITY, .rows = 1}};
    zw_gauss problem = {.n = 4,
                        .metric = {.kind = ZW_METRIC_DENSE, .value = M},
                        .force = force,
                        .block_count = 2,
                        .block = block,
                        .A.dense = A};
    (void)state;
    solved s = solve(&problem, NULL);
    assert_status(s, ZW_OK);
    assert_true(s.motion.lambda[0] > 0.1 && s.motion.lambda[1] > 0.01);
    assert_true(fabs(s.motion.a[2]) < 1e-9 && fabs(s.motion.a[3]) < 1e-9);
    double a[4];
    zw_certificate certificate;
    memcpy(a, s.motion.a, sizeof a);
    a[2] += 1e-6;
    zw_gauss_certify(&problem, ZW_CONTACT_COULOMB, a, s.motion.lambda, NULL, NULL, &certificate);
    assert_true(certificate.feasibility > 1e-8 && certificate.worst > 1e-8);
    solved_free(&s);
}

/* A force between -2 and 3 that opposes the motion of a mass: one end of the range is the solution,
 * the other is not complementary. */
static void boxes_have_two_ends(void **state)
{
    (void)state;
    const double mass = 1, one = 1;
    zw_block block = {.name = "box", .kind = ZW_BOX, .rows = 1, .limit = {-2, 3}};
    for (int upper = 0; upper < 2; upper++) {
        const double free = upper ? -10 : 10;
        zw_gauss problem = {.n = 1,
                            .metric = {.kind = ZW_METRIC_DIAGONAL, .value = &mass},
                            .free = &free,
                            .block_count = 1,
                            .block = &block,
                            .A = {.dense = &one}};
        for (int wrong = 0; wrong < 2; wrong++) {
            double lambda = block.limit[upper != wrong], a = free + lambda;
            zw_certificate proof = certify(&problem, ZW_CONTACT_COULOMB, &a, &lambda, NULL);
            assert_true(wrong ? proof.complementarity > 0.1 : proof.complementarity < 1e-15);
            assert_true(wrong ? proof.worst > 0.1 : proof.worst < 1e-14);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_answer_passes),
        cmocka_unit_test(boxes_have_two_ends),
        cmocka_unit_test(each_fault_in_its_field),
        cmocka_unit_test(laws_are_distinguished),
        cmocka_unit_test(nonsense_is_not_praised),
        cmocka_unit_test(inflated_forces_hide_nothing),
        cmocka_unit_test(inflated_contacts_hide_nothing),
        cmocka_unit_test(agrees_with_the_kernel),
        cmocka_unit_test(verdict_does_not_depend_on_units),
        cmocka_unit_test(joints_stop_dead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
