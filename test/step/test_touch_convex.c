/* The three laws of contact, and properties of the convex one: it is Gauss's minimum, agrees with
 * Coulomb's law for sticking and rolling, and lifts sliding bodies. */
#include "touch.h"

static zw_status run_by(scene *s, zw_contact_law contact, double t, double h, double tolerance,
                        zw_error *error)
{
    zw_run_options options = {
        .time = t, .every = t, .step = h, .tolerance = tolerance, .contact = contact};
    return zw_run(s->system, s->state, s->work, &options, NULL, error);
}

static void go_by(scene *s, zw_contact_law contact, double t, double h, double tolerance)
{
    zw_error error = {0};
    must(run_by(s, contact, t, h, tolerance, &error), &error);
}

/* ---- The switch ----------------------------------------------------------------------------- */

#define CUBE                                                                                       \
    "<worldbody><geom name='floor' type='plane' size='0 0 1' friction='.5 0 0'/>"                  \
    "<body pos='0 0 .05'><freejoint/><geom type='box' size='.05 .05 .05' friction='.5 0 0' "       \
    "mass='2'/></body></worldbody>"

static void words(void **state)
{
    (void)state;
    const char *const name[] = {"default", "coulomb", "convex", "soft"};
    for (int k = 0; k < 4; k++) {
        zw_contact_law found;
        assert_int_equal(zw_contact_law_find(name[k], &found), ZW_OK);
        assert_int_equal((int)found, k);
        assert_string_equal(zw_contact_law_name(found), name[k]);
    }
    zw_contact_law none = ZW_CONTACT_SOFT;
    assert_int_equal(zw_contact_law_find("hard", &none), ZW_BAD_INPUT);
    assert_string_equal(zw_contact_law_name((zw_contact_law)9), "?");
}

/* A law implies its method; if both are given they must agree. */
static void laws_and_methods(void **state)
{
    (void)state;
    const zw_method all[] = {ZW_METHOD_DEFAULT, ZW_METHOD_IMPULSE, ZW_METHOD_SOFT, ZW_METHOD_RK4};
    const int fits[4][4] = {{1, 1, 1, 1}, {1, 1, 0, 0}, {1, 1, 0, 0}, {1, 0, 1, 0}};
    scene s = open_scene(CUBE);
    for (int law = 0; law < 4; law++) {
        for (int k = 0; k < 4; k++) {
            zw_run_options wish = {.step = 0.01, .method = all[k]}, plan;
            wish.contact = (zw_contact_law)law;
            zw_error error = {0};
            zw_status status = zw_run_plan(s.system, s.state, &wish, &plan, &error);
            assert_int_equal(status, fits[law][k] ? ZW_OK : ZW_BAD_INPUT);
            if (!fits[law][k]) {
                assert_non_null(strstr(error.text, zw_contact_law_name(wish.contact)));
                assert_non_null(strstr(error.text, zw_method_name(all[k])));
            } else if (all[k] != ZW_METHOD_RK4) {
                int soft = law == 3 || all[k] == ZW_METHOD_SOFT;
                assert_int_equal(plan.method, soft ? ZW_METHOD_SOFT : ZW_METHOD_IMPULSE);
                assert_int_equal(plan.contact, soft       ? ZW_CONTACT_SOFT
                                               : law == 2 ? ZW_CONTACT_CONVEX
                                                          : ZW_CONTACT_COULOMB);
            }
        }
    }
    zw_run_options wish = {.step = 0.01, .contact = (zw_contact_law)7}, plan;
    zw_error error = {0};
    assert_int_equal(zw_run_plan(s.system, s.state, &wish, &plan, &error), ZW_BAD_INPUT);
    close_scene(&s);
}

/* Equations have Coulomb's law; a file may name a law, and a wrong word is pointed at. */
static void words_in_files(void **state)
{
    (void)state;
    const struct {
        const char *run, *says;
    } all[] = {{"run time 1, contact coulomb", NULL},
               {"run time 1, contact convex", "these are equations"},
               {"run time 1, contact hard", "there is no contact law hard"},
               {"run contact soft, time 1, contact soft", "given twice"},
               {"run contact", "expected coulomb, convex or soft"}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        char text[200];
        zw_error error = {0};
        zw_run_options plan;
        snprintf(text, sizeof text, "coord x = 1\nmass 1 at (x, 0)\n%s\n", all[k].run);
        zw_model *model = zw_model_parse(text, "a.zw", NULL, &error);
        zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
        zw_work *work = system ? zw_work_create(system, &error) : NULL;
        zw_state *start = work ? zw_state_create(system, work, NULL, &error) : NULL;
        zw_status status = start ? zw_run_plan(system, start, NULL, &plan, &error) : ZW_BAD_INPUT;
        assert_int_equal(status == ZW_OK, all[k].says == NULL);
        if (all[k].says && !strstr(error.text, all[k].says)) {
            fail_msg("\"%s\" does not say %s", error.text, all[k].says);
        }
        assert_true(k != 2 || (error.line == 3 && error.column == 21));
        zw_state_free(start);
        zw_work_free(work);
        zw_system_free(system);
        zw_model_free(model);
    }
}

/* zw_step again and again is the run; a run in two pieces is the run. */
static void steps_and_pieces(void **state)
{
    (void)state;
    const double h = 0x1p-7;
    uint64_t hash[2];
    scene a = open_scene(CUBE), b = open_scene(CUBE), c = open_scene(CUBE);
    scene *all[] = {&a, &b, &c};
    zw_run_options options = {.step = h, .contact = ZW_CONTACT_CONVEX};
    zw_error error = {0};
    for (int k = 0; k < 3; k++) {
        v_of(all[k])[0] = 1;
        v_of(all[k])[5] = 3;
    }
    for (int k = 0; k < 32; k++) {
        must(zw_step(a.system, a.state, a.work, &options, &error), &error);
    }
    go_by(&b, ZW_CONTACT_CONVEX, 32 * h, h, 0);
    go_by(&c, ZW_CONTACT_CONVEX, 13 * h, h, 0);
    go_by(&c, ZW_CONTACT_CONVEX, 32 * h, h, 0);
    for (int i = 0; i < 7; i++) {
        assert_true(q_of(&a)[i] == q_of(&b)[i]);
    }
    hash[0] = zw_state_hash(b.state);
    hash[1] = zw_state_hash(c.state);
    assert_true(hash[0] == hash[1]);
    for (int k = 0; k < 3; k++) {
        close_scene(all[k]);
    }
}

/* ---- Equal to Coulomb ----------------------------------------------------------------------- */

/* What sticks or rolls has no slip, so there is nothing to shift: a cube on a slope below atan(mu),
 * a ball that rolls down it, three boxes on one another. */
static void sticking_is_the_same(void **state)
{
    (void)state;
    const double tilt = 0.99 * atan(0.5);
    char text[1500];
    snprintf(text, sizeof text,
             "<option gravity='%.17g 0 %.17g'/><default><geom friction='.5 0 0'/></default>"
             "<worldbody><geom type='plane' size='0 0 1'/>"
             "<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
             "<body pos='0 1 .1'><freejoint/><geom size='.1'/></body>"
             "<body pos='0 2 .2'><freejoint/><geom type='box' size='.4 .4 .2'/></body>"
             "<body pos='0 2 .5'><freejoint/><geom type='box' size='.2 .2 .1'/></body>"
             "<body pos='0 2 .7'><freejoint/><geom type='box' size='.1 .1 .1'/></body></worldbody>",
             G * sin(tilt), -G * cos(tilt));
    scene a = open_scene(text), b = open_scene(text);
    double start[35];
    memcpy(start, q_of(&a), sizeof start);
    go_by(&a, ZW_CONTACT_COULOMB, 1, 0.01, 0);
    go_by(&b, ZW_CONTACT_CONVEX, 1, 0.01, 0);
    double far = 5.0 / 7 * G * sin(tilt) * 0.5;
    assert_true(fabs(q_of(&a)[7] - far) < 1e-9);
    for (int i = 0; i < 35; i++) {
        assert_true(fabs(q_of(&a)[i] - q_of(&b)[i]) < 1e-10);
        if (i / 7 != 1) {
            assert_true(fabs(q_of(&a)[i] - start[i]) < 1e-10);
        }
    }
    close_scene(&a);
    close_scene(&b);
}

/* ---- The lift ------------------------------------------------------------------------------- */

/* Put on the floor at speed v: the first step leaves along the border of the dual cone, and takes
 * (mu v + g h/2)/(1 + mu^2) of speed along the normal: weight has acted for half of it by then.
 * Then it falls back and slides at the height mu |w| h. Coulomb's cube does neither. */
static void sliding_lifts(void **state)
{
    (void)state;
    const double mu = 0.5, v = 2;
    for (int k = 0; k < 2; k++) {
        const double h = k ? 0.01 : 0.0025;
        scene a = open_scene(CUBE), b = open_scene(CUBE);
        v_of(&a)[0] = v_of(&b)[0] = v;
        go_by(&a, ZW_CONTACT_CONVEX, h, h, 0);
        double push = (mu * v + G * h / 2) / (1 + mu * mu);
        assert_true(fabs(v_of(&a)[0] - (v - mu * push)) < 1e-12);
        assert_true(fabs(v_of(&a)[2] - (push - G * h)) < 1e-12);
        assert_true(fabs(q_of(&a)[2] - 0.05 - h * mu * v_of(&a)[0]) < 1e-12);
        for (double t = 0.31; t < 0.36; t += 0.02) {
            go_by(&a, ZW_CONTACT_CONVEX, t, h, 0);
            assert_true(v_of(&a)[0] > 0.1);
            assert_true(fabs(q_of(&a)[2] - 0.05 - mu * h * v_of(&a)[0]) < 1e-9);
        }
        go_by(&a, ZW_CONTACT_CONVEX, 1, h, 0); /* at rest: down again, and not in the floor */
        assert_true(fabs(q_of(&a)[2] - 0.05) < 1e-9 && fabs(v_of(&a)[0]) < 1e-9);
        go_by(&b, ZW_CONTACT_COULOMB, 0.25, h, 0);
        assert_true(fabs(q_of(&b)[2] - 0.05) < 1e-12);
        close_scene(&a);
        close_scene(&b);
    }
}

/* ---- Gauss's minimum ------------------------------------------------------------------------ */

static double dice(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*seed >> 11) * 0x1p-52 - 1;
}

/* By how much the corners of the cube miss n . w >= mu |w across| if it moves with v. */
static double misses(const double v[6], double mu)
{
    double worst = -INFINITY;
    for (int k = 0; k < 4; k++) {
        double r[3] = {k & 1 ? .05 : -.05, k & 2 ? .05 : -.05, -.05};
        double w[3] = {v[0] + v[4] * r[2] - v[5] * r[1], v[1] + v[5] * r[0] - v[3] * r[2],
                       v[2] + v[3] * r[1] - v[4] * r[0]};
        worst = fmax(worst, mu * hypot(w[0], w[1]) - w[2]);
    }
    return worst;
}

/* For all admissible c: |c - free|^2 >= |u - free|^2 + |c - u|^2 in the metric of the masses. */
static void convex_is_the_minimum(void **state)
{
    (void)state;
    const double h = 0.01, mu = 0.5, m = 2, I = m * 0.1 * 0.1 / 6;
    const double M[6] = {m, m, m, I, I, I};
    uint64_t seed = 7;
    for (int trial = 0; trial < 20; trial++) {
        scene s = open_scene(CUBE);
        double given[6], u[6];
        for (int i = 0; i < 6; i++) {
            given[i] = v_of(&s)[i] = i == 2 ? -fabs(dice(&seed)) : (i < 3 ? 1 : 10) * dice(&seed);
        }
        given[2] -= G * h;
        go_by(&s, ZW_CONTACT_CONVEX, h, h, 1); /* one linearisation: the corners of now */
        memcpy(u, v_of(&s), sizeof u);
        assert_true(misses(u, mu) < 1e-9);
        for (int other = 0; other < 50; other++) {
            double c[6], sum = 0, size = pow(10, -6 * fabs(dice(&seed)));
            for (int i = 0; i < 6; i++) {
                c[i] = u[i] + size * (i < 3 ? 1 : 10) * dice(&seed);
            }
            c[2] += fmax(misses(c, mu), 0);
            for (int i = 0; i < 6; i++) {
                sum +=
                    M[i] * ((c[i] - given[i]) * (c[i] - given[i]) -
                            (u[i] - given[i]) * (u[i] - given[i]) - (c[i] - u[i]) * (c[i] - u[i]));
            }
            assert_true(sum > -1e-9);
        }
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(laws_and_methods),
        cmocka_unit_test(words_in_files),
        cmocka_unit_test(steps_and_pieces),
        cmocka_unit_test(sticking_is_the_same),
        cmocka_unit_test(sliding_lifts),
        cmocka_unit_test(convex_is_the_minimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
