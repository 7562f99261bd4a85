/* MuJoCo's soft law, compared with its formulas evaluated here; compare_soft.mjs
 * compares whole robots. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "step/soft_step.h"

#define G 9.81
#define H 0.002

typedef struct scene {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    soft_problem *soft;
    double q[300], v[256];
} scene;

static void must(zw_status status, const zw_error *error)
{
    if (status != ZW_OK) {
        fail_msg("%s: %s", zw_status_text(status), error->text);
    }
}

static scene open_scene(const char *option, const char *inner)
{
    char text[9000];
    scene s = {0};
    zw_error error = {0};
    int length = snprintf(text, sizeof text,
                          "<mujoco><compiler angle='radian'/><option gravity='0 0 -9.81' "
                          "timestep='0.002' %s/>%s</mujoco>",
                          option, inner);
    assert_true(length < (int)sizeof text);
    s.model = zw_model_parse(text, "scene.xml", NULL, &error);
    must(s.model ? ZW_OK : error.status, &error);
    s.system = zw_system_compile(s.model, NULL, &error);
    must(s.system ? ZW_OK : error.status, &error);
    s.work = zw_work_create(s.system, &error);
    must(s.work ? ZW_OK : error.status, &error);
    must(soft_create(s.system, s.work, H, &s.soft, &error), &error);
    assert_true(s.system->nq <= 300 && s.system->n <= 256);
    memcpy(s.q, s.system->bodies->q, (size_t)s.system->nq * sizeof(double));
    return s;
}

static void close_scene(scene *s)
{
    soft_free(s->soft);
    zw_work_free(s->work);
    zw_system_free(s->system);
    zw_model_free(s->model);
}

static void forward(scene *s)
{
    zw_error error = {0};
    must(soft_forward(s->soft, 0, s->q, s->v, &error), &error);
}

static void run(scene *s, int steps)
{
    zw_error error = {0};
    double q[300] = {0}, v[256] = {0}, gained;
    for (int k = 0; k < steps; k++) {
        must(soft_step(s->soft, 0, H, s->q, s->v, q, v, &gained, &error), &error);
        memcpy(s->q, q, sizeof q);
        memcpy(s->v, v, sizeof v);
    }
}

static void assert_near(double x, double y, double within)
{
    if (!(fabs(x - y) <= within)) {
        fail_msg("%.17g and %.17g differ by %.2g, more than %.2g", x, y, fabs(x - y), within);
    }
}

/* ---- The curve and the spring ---------------------------------------------------------------- */

static void test_impedance(void **state)
{
    (void)state;
    const double usual[5] = {0.9, 0.95, 0.001, 0.5, 2};
    assert_near(soft_impedance(usual, 0), 0.9, 0);
    assert_near(soft_impedance(usual, -0.0005), 0.925, 1e-15);   /* the middle */
    assert_near(soft_impedance(usual, 0.00025), 0.90625, 1e-15); /* 2 x^2 = 1/8 */
    assert_near(soft_impedance(usual, 0.00075), 0.94375, 1e-15); /* and from above */
    assert_near(soft_impedance(usual, 0.001), 0.95, 0);
    assert_near(soft_impedance(usual, -7), 0.95, 0);
    const double straight[5] = {0.2, 0.8, 2, 0.3, 1};
    assert_near(soft_impedance(straight, 0.5), 0.35, 1e-15);
    const double skew[5] = {0, 1, 1, 0.25, 3}; /* 0 and 1 are kept off by 1e-4 */
    assert_near(soft_impedance(skew, 0), 0.0001, 0);
    assert_near(soft_impedance(skew, 1), 0.9999, 0);
    for (int side = -1; side <= 1; side += 2) { /* value and slope meet at x = m: 1/4, p = 3 */
        double e = 1e-6, d = soft_impedance(skew, 0.25 + side * e) - soft_impedance(skew, 0.25);
        assert_near(d / (side * e), 3 * 0.9998, 2e-5);
    }
    assert_near(soft_impedance((double[]){0.3, 0.5, 0, 0.5, 2}, 1), 0.4, 1e-16); /* no width */
}

static void test_spring(void **state)
{
    (void)state;
    zw_soft law = {.ref = {0.02, 0.5}, .imp = {0.9, 0.8, 0.001, 0.5, 2}};
    soft_spring s = soft_spring_of(&law, H);
    assert_near(s.B, 2 / (0.8 * 0.02), 1e-12);
    assert_near(s.K, 1 / (0.8 * 0.8 * 0.02 * 0.02 * 0.25), 1e-9);
    assert_near(soft_spring_of(&law, 0.05).B, 2 / (0.8 * 0.1), 1e-12); /* 2 h at least */
    law.ref[0] = -300;
    law.ref[1] = -7;
    s = soft_spring_of(&law, H);
    assert_near(s.K, 300 / 0.64, 1e-12);
    assert_near(s.B, 7 / 0.8, 1e-14);
}

/* ---- Rest ------------------------------------------------------------------------------------ */

static const char ball_on_floor[] =
    "<worldbody><geom type='plane' size='5 5 1' condim='%d'/>"
    "<body pos='0 0 0.1'><freejoint/><geom type='sphere' size='0.1' condim='%d'/></body>"
    "</worldbody>";

static scene ball(const char *option, int condim)
{
    char text[500];
    snprintf(text, sizeof text, ball_on_floor, condim, condim);
    return open_scene(option, text);
}

/* The spring that the law makes of a floor. Of one row: a = -g + lambda/m, R = (1-d)/d / m, and at
 * rest, a = 0, R lambda = aref = K d r gives m g (1-d)/(d m) = K d r: r = g (1-d)/(K d^2). */
static double depth(double g, double d)
{
    zw_soft usual = {.ref = {0.02, 1}, .imp = {0.9, 0.95, 0.001, 0.5, 2}};
    return g * (1 - d) / (soft_spring_of(&usual, H).K * d * d);
}

static double resting_depth(double g, double scale)
{
    const double imp[5] = {0.9, 0.95, 0.001, 0.5, 2};
    double r = 0;
    for (int k = 0; k < 200; k++) { /* d depends on r, weakly */
        r = scale * depth(g, soft_impedance(imp, r));
    }
    return r;
}

static void test_ball_rests(void **state)
{
    (void)state;
    scene s = ball("", 1);
    run(&s, 3000);
    double r = resting_depth(G, 1);
    assert_true(r > 1e-5);
    assert_near(0.1 - s.q[2], r, 1e-12);
    assert_near(s.v[2], 0, 1e-12);
    double force[6], m = s.system->tree->body[1].mass;
    forward(&s);
    assert_int_equal(s.soft->contacts, 1);
    soft_contact_force(s.soft, 0, force);
    assert_near(force[0], m * G, 1e-9 * m * G);
    close_scene(&s);
}

/* Four edges n +- mu t of a pyramid push equally: the sum is m g; each has R = 2 mu^2 (1 + mu^2)
 * (1-d)/d / m, and R m g/4 = K d r. */
static void test_pyramid_rests(void **state)
{
    (void)state;
    scene s = ball("", 3);
    run(&s, 3000);
    assert_near(0.1 - s.q[2], resting_depth(G, 2 * 1 * (1 + 1) / 4.0), 1e-12);
    close_scene(&s);
}

/* A cone at rest is its normal alone. */
static void test_cone_rests(void **state)
{
    (void)state;
    scene s = ball("cone='elliptic' impratio='3'", 3);
    run(&s, 3000);
    assert_near(0.1 - s.q[2], resting_depth(G, 1), 1e-12);
    close_scene(&s);
}

/* ---- One instant ----------------------------------------------------------------------------- */

/* Depth r and speed (u, 0, w): pyramids and cones by hand for a block that cannot turn. With f+, f-
 * of the edges n +- mu x, g of each of n +- mu y: four unknowns that are all pushing. */
static const char slider[] =
    "<worldbody><geom type='plane' size='5 5 1' friction='0.5'/>"
    "<body pos='0 0 0.1'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"
    "<joint type='slide' axis='0 0 1'/><geom type='sphere' size='0.1' mass='2' friction='0.5'/>"
    "</body></worldbody>";

static void test_pyramid_by_hand(void **state)
{
    (void)state;
    const double m = 2, mu = 0.5, r = -0.0004, u = 0.003, w = -0.01;
    const double imp[5] = {0.9, 0.95, 0.001, 0.5, 2};
    zw_soft law = {.ref = {0.02, 1}, .imp = {0.9, 0.95, 0.001, 0.5, 2}};
    scene s = open_scene("", slider);
    s.q[2] = r;
    s.v[0] = u;
    s.v[2] = w;
    forward(&s);
    /* sums: N = f+ + f- + 2 g, T = mu (f+ - f-). Edge j: (n +- mu t) . a + R f_j = aref_j */
    double d = soft_impedance(imp, r), R = 2 * mu * mu * (1 + mu * mu) * (1 - d) / d / m;
    soft_spring k = soft_spring_of(&law, H);
    double aref_n = -k.B * w - k.K * d * r, aref_t = -k.B * mu * u;
    double N = 4 * (aref_n + G) / (4 / m + R);     /* the sum of all four */
    double f = 2 * aref_t / (2 * mu * mu / m + R); /* f+ - f-: the difference of two */
    assert_true(N / 4 > fabs(f) / 2);              /* all four push */
    assert_near(s.soft->push[2], N, 1e-9 * N);
    assert_near(s.soft->push[0], mu * f, 1e-9 * N);
    assert_near(s.soft->push[1], 0, 1e-9 * N);
    assert_near(s.soft->a[2], N / m - G, 1e-9 * N);
    close_scene(&s);
}

/* A cone that slides: at the edge |f_t| = mu f_n. The force minimises 1/2 f'(A + R) f - f . c with
 * A = 1/m: along the edge f = N (1, -mu), N = (c_n - mu c_t)/(A + R_n + mu^2 (A + R_t)). */
static void test_cone_by_hand(void **state)
{
    (void)state;
    const double m = 2, mu = 0.5, r = -0.0004, u = 3, w = -0.01, impratio = 4;
    const double imp[5] = {0.9, 0.95, 0.001, 0.5, 2};
    zw_soft law = {.ref = {0.02, 1}, .imp = {0.9, 0.95, 0.001, 0.5, 2}};
    scene s = open_scene("cone='elliptic' impratio='4'", slider);
    s.q[2] = r;
    s.v[0] = u;
    s.v[2] = w;
    forward(&s);
    double d = soft_impedance(imp, r), R = (1 - d) / d / m;
    soft_spring k = soft_spring_of(&law, H);
    double c_n = -k.B * w - k.K * d * r + G, c_t = -k.B * u;
    double N = (c_n - mu * c_t) / (1 / m + R + mu * mu * (1 / m + R / impratio));
    assert_near(s.soft->push[2], N, 1e-9 * N);
    assert_near(s.soft->push[0], -mu * N, 1e-9 * N);
    close_scene(&s);
}

/* A limit with a margin, its two sides; beyond the margin there is nothing. */
static void test_limit(void **state)
{
    (void)state;
    scene s = open_scene("", "<worldbody><body><joint type='slide' axis='1 0 0' limited='true' "
                             "range='-0.1 0.2' margin='0.01' solreflimit='0.1 0.8' "
                             "solimplimit='0.3 0.9 0.02 0.5 1'/><geom size='0.1' mass='3'/></body>"
                             "</worldbody>");
    zw_soft law = {.ref = {0.1, 0.8}, .imp = {0.3, 0.9, 0.02, 0.5, 1}};
    soft_spring k = soft_spring_of(&law, H);
    for (int side = -1; side <= 1; side += 2) {
        double end = side < 0 ? 0.1 : 0.2, r = -0.005; /* behind the margin, before the end */
        s.q[0] = side * (end - 0.01 - r);
        s.v[0] = side * 0.2;
        forward(&s);
        double d = 0.3 + 0.6 * 0.25, R = (1 - d) / d / 3;
        double push = (k.B * 0.2 - k.K * d * r) / (1.0 / 3 + R);
        assert_near(s.soft->push[0], -side * push, 1e-10 * push);
        s.q[0] = side * (end - 0.011);
        forward(&s);
        assert_near(s.soft->push[0], 0, 0);
    }
    close_scene(&s);
}

/* Dry friction: inside its box it slows as a damper would, at its ends it has no more. */
static void test_box(void **state)
{
    (void)state;
    scene s = open_scene("", "<worldbody><body><joint type='slide' axis='1 0 0' frictionloss='4'/>"
                             "<geom size='0.1' mass='3'/></body></worldbody>");
    double R = (1 - 0.9) / 0.9 / 3, B = 2 / (0.95 * 0.02);
    for (int k = -20; k <= 20; k++) {
        s.v[0] = 0.01 * k;
        forward(&s);
        double push = -B * s.v[0] / (1.0 / 3 + R);
        push = push > 4 ? 4 : push < -4 ? -4 : push;
        assert_near(s.soft->push[0], push, 1e-11);
        assert_near(s.soft->a[0], push / 3, 1e-11);
    }
    close_scene(&s);
}

/* Multipliers are those that the accelerations ask for, one by one, and with them
 * M a = force + J' lambda, both from their definitions. Returns how many push. */
static int assert_law(scene *s)
{
    zw_error error = {0};
    const zw_system *system = s->system;
    must(system_evaluate(system, s->work, PART_TERMS, 0, s->q, s->v, NULL, NULL, &error), &error);
    const soft_problem *p = s->soft;
    const double *M = s->work->out[PART_TERMS] + system->at.M;
    double left[256] = {0}, size = 0;
    int pushing = 0;
    for (int j = 0; j < system->n; j++) {
        for (int e = system->M_start[j]; e < system->M_start[j + 1]; e++) {
            int i = system->M_row[e];
            left[i] += M[e] * p->a[j];
            left[j] += i == j ? 0 : M[e] * p->a[i];
        }
        left[j] -= p->force[j];
        size = fmax(size, fabs(p->force[j]));
    }
    for (int b = 0; b < p->blocks; b++) {
        const soft_block *k = &p->block[b];
        for (int i = 0; i < k->rows; i++) { /* a row of J, or an edge n +- mu t */
            double x = -p->b[k->first + i], row[256] = {0};
            for (int c = 0; c < k->columns; c++) {
                const double *J = p->value + k->J + c;
                int edge = k->kind == SOFT_PYRAMID;
                row[c] = J[edge ? 0 : i * k->stride];
                row[c] += edge ? (i % 2 ? -1 : 1) * k->mu[i / 2] * J[(1 + i / 2) * k->stride] : 0;
                x += row[c] * p->a[p->column[k->column + c]];
            }
            double lambda = -p->D[k->first + i] * x;
            lambda = k->kind == SOFT_BOX ? fmax(-0.5, fmin(lambda, 0.5)) : fmax(lambda, 0);
            pushing += lambda > 0;
            for (int c = 0; c < k->columns; c++) {
                left[p->column[k->column + c]] -= lambda * row[c];
            }
        }
    }
    for (int i = 0; i < system->n; i++) {
        assert_near(left[i], 0, 1e-9 * size);
    }
    return pushing;
}

/* A heap of capsules with everything on. */
static const char heap[] =
    "<worldbody><geom type='plane' size='5 5 1' condim='6'/>"
    "<body pos='0 0 0.09' euler='0 1.57 0.1'><freejoint/><geom type='capsule' size='0.1 0.2'/>"
    "<body pos='0 0 0.3'><joint type='hinge' axis='0 1 0' frictionloss='0.5' limited='true' "
    "range='-0.1 0.3'/><geom type='capsule' size='0.05 0.2' pos='0 0 0.2'/></body></body>"
    "<body pos='0.1 0.02 0.24' euler='1.5 0 0.3'><freejoint/><geom type='capsule' "
    "size='0.08 0.2' condim='4'/></body></worldbody>";

static void test_law(void **state)
{
    (void)state;
    scene s = open_scene("impratio='2'", heap);
    s.q[7] = 0.32;
    for (int i = 0; i < s.system->n; i++) {
        s.v[i] = 0.3 * ((i * 7) % 5 - 2);
    }
    forward(&s);
    assert_true(s.soft->contacts >= 3 && s.soft->first_contact == 1 && s.soft->rows > 12);
    int pushing = assert_law(&s);
    assert_true(pushing >= 3 && pushing < s.soft->rows);
    close_scene(&s);
}

/* What a step finds does not depend on the one before but for what is handed on (soft_memory): with
 * a problem that knows of nothing else it has the same bits. */
static void test_pieces(void **state)
{
    (void)state;
    for (int elliptic = 0; elliptic < 2; elliptic++) {
        const char *option = elliptic ? "cone='elliptic'" : "";
        scene whole = open_scene(option, heap), pieces = open_scene(option, heap);
        int contacts = 0;
        for (int k = 0; k < 40; k++) {
            zw_error error = {0};
            double kept[40] = {0};
            size_t bytes = (size_t)soft_memory(pieces.soft) * sizeof *kept;
            assert_true(bytes <= sizeof kept && (bytes > 0) == elliptic);
            memcpy(kept, pieces.soft->guess, bytes);
            run(&whole, 5);
            soft_free(pieces.soft);
            must(soft_create(pieces.system, pieces.work, H, &pieces.soft, &error), &error);
            memcpy(pieces.soft->guess, kept, bytes);
            run(&pieces, 5);
            assert_memory_equal(whole.q, pieces.q, sizeof whole.q);
            assert_memory_equal(whole.v, pieces.v, sizeof whole.v);
            contacts += whole.soft->contacts;
        }
        assert_true(contacts > 80);
        close_scene(&whole);
        close_scene(&pieces);
    }
}

/* Every allocation may fail. */
static int fail_everywhere(scene *s)
{
    soft_problem *p = NULL;
    for (int failed = 0;; failed++) {
        zw_error error = {0};
        base_alloc_fail_after(failed + 1);
        zw_status status = soft_create(s->system, s->work, H, &p, &error);
        status = status == ZW_OK ? soft_forward(p, 0, s->q, s->v, &error) : status;
        base_alloc_fail_after(0);
        soft_free(p);
        p = NULL;
        if (status == ZW_OK) {
            return failed;
        }
        assert_int_equal(status, ZW_NO_MEMORY);
    }
}

static void test_memory(void **state)
{
    (void)state;
    scene s = ball("", 3);
    s.q[2] = 0.0999;
    assert_true(fail_everywhere(&s) > 10);
    close_scene(&s);
}

/* Forty balls in a row, each in the next: one island, too large for paths. With one taken out there
 * are two small ones. A tendon with a mass, over two of the joints, acts in either. */
static void test_row_of_balls(void **state)
{
    (void)state;
    enum { BALLS = 40 };
    for (int hole = -1; hole < BALLS; hole += 21) {
        char text[8000] = "<worldbody><geom type='plane' size='50 5 1'/>";
        size_t used = strlen(text);
        for (int i = 0; i < BALLS; i++) {
            used += (size_t)snprintf(
                text + used, sizeof text - used,
                "<body pos='%g 0 0.0995'><joint name='x%d' type='slide' axis='1 0 0'/><joint "
                "type='slide' axis='0 1 0'/><joint type='slide' axis='0 0 1'/><joint type='ball'/>"
                "<geom size='0.1'/></body>",
                0.1995 * i + 5 * (i > hole && hole >= 0), i);
        }
        snprintf(text + used, sizeof text - used,
                 "</worldbody><tendon><fixed armature='3'><joint joint='x1' coef='1'/>"
                 "<joint joint='x3' coef='-0.5'/></fixed></tendon>");
        scene s = open_scene("", text);
        for (int i = 0; i < s.system->n; i++) {
            s.v[i] = 0.1 * ((i * 11) % 7 - 3);
        }
        forward(&s);
        assert_int_equal(s.soft->contacts, 2 * BALLS - 1 - (hole >= 0));
        assert_int_equal(s.soft->island[0].is_large, hole < 0);
        assert_true(assert_law(&s) > BALLS);
        assert_true(hole >= 0 || fail_everywhere(&s) > 20);
        close_scene(&s);
    }
}

/* A run of the public calls: contacts, accelerations and the balance of energy as they are shown.
 */
static int look(void *user, zw_sample_kind kind, int event, const zw_system *system,
                const zw_state *now, zw_work *work)
{
    zw_contact list[4];
    zw_error error = {0};
    double *sum = user;
    (void)event;
    if (kind == ZW_SAMPLE_END) {
        assert_int_equal(zw_contacts(system, now, work, list, 4, &error), 1);
        sum[0] = list[0].force[0];
        sum[1] = zw_field(system, now, work, ZW_FIELD_A).data[2];
        sum[2] = list[0].state;
    }
    return 0;
}

static void test_run(void **state)
{
    (void)state;
    scene s = ball("", 3);
    zw_error error = {0};
    double seen[3] = {0}, m = s.system->tree->body[1].mass;
    zw_state *now = zw_state_create(s.system, s.work, NULL, &error);
    assert_non_null(now);
    zw_run_options options = {.time = 3, .method = ZW_METHOD_SOFT, .observer = look, .user = seen};
    must(zw_run(s.system, now, s.work, &options, NULL, &error), &error);
    assert_near(seen[0], m * G, 1e-8 * m * G);
    assert_near(seen[1], 0, 1e-8);
    assert_int_equal((int)seen[2], ZW_TOUCH_STICK);
    zw_state_free(now);
    close_scene(&s);
}

static void test_refused(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = zw_model_parse("coord x = 1\nkinetic 0.5*x'^2\n", "a.zw", NULL, &error);
    assert_non_null(model);
    zw_system *system = zw_system_compile(model, NULL, &error);
    zw_work *work = zw_work_create(system, &error);
    zw_state *start = zw_state_create(system, work, NULL, &error);
    zw_run_options options = {.time = 1, .method = ZW_METHOD_SOFT, .step = 0.1};
    assert_int_equal(zw_run(system, start, work, &options, NULL, &error), ZW_BAD_INPUT);
    assert_non_null(strstr(error.text, "rigid bodies"));
    zw_state_free(start);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
}

/* ---- What two geoms and the world say -------------------------------------------------------- */

/* solmix weighs the laws of the two; 0 is no say. */
static void test_mix(void **state)
{
    (void)state;
    zw_geom_def a = zw_geom_default(), b = zw_geom_default();
    a.soft = (zw_soft){.ref = {0.02, 1}, .imp = {0.9, 0.95, 0.001, 0.5, 2}};
    b.soft = (zw_soft){.ref = {0.06, 0.2}, .imp = {0.5, 0.55, 0.005, 0.1, 4}};
    const double weight[][3] = {{1, 1, 0.5}, {1, 3, 0.25}, {4, 1, 0.8}, {0, 1, 0}, {2, 0, 1}};
    for (int k = 0; k < 5; k++) {
        a.solmix = weight[k][0];
        b.solmix = weight[k][1];
        double part = weight[k][2];
        zw_soft law = soft_mix(&a, &b);
        for (int i = 0; i < 2; i++) {
            assert_near(law.ref[i], part * a.soft.ref[i] + (1 - part) * b.soft.ref[i], 1e-15);
        }
        for (int i = 0; i < 5; i++) {
            assert_near(law.imp[i], part * a.soft.imp[i] + (1 - part) * b.soft.imp[i], 1e-15);
        }
    }
    /* stiffness and damping as such (negative): the stiffer spring and the stronger damper */
    const double given[][6] = {{-1000, -20, -400, -50, -1000, -50},
                               {0.02, 1, -400, -50, -400, -50},
                               {-300, -7, 0.02, 1, -300, -7}};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 2; i++) {
            a.soft.ref[i] = given[k][i];
            b.soft.ref[i] = given[k][2 + i];
        }
        zw_soft law = soft_mix(&a, &b);
        assert_true(law.ref[0] == given[k][4] && law.ref[1] == given[k][5]);
    }
}

/* A ball that hangs above the floor within the sum of the two margins is pushed, beyond it falls.
 */
static void test_margins(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        char text[400];
        snprintf(text, sizeof text,
                 "<worldbody><geom type='plane' size='0 0 1' margin='.01'/><body pos='0 0 %g'>"
                 "<freejoint/><geom type='sphere' size='.1' margin='.02'/></body></worldbody>",
                 k == 0 ? 0.128 : 0.132);
        scene s = open_scene("", text);
        run(&s, 1);
        assert_int_equal(s.v[2] > -0.999 * G * H, k == 0);
        close_scene(&s);
    }
}

/* A box that a force f pulls along the floor creeps under the soft law: across, the force D_1 (b -
 * a) of the steady state is D_1 B v, so that v = f / (D_1 B) is inverse to D_1, and D_1 is D_0
 * impratio. For a pyramid all edges have D ~ impratio, so that the depth is inverse to it. */
static void test_impratio(void **state)
{
    (void)state;
    static const char box[] =
        "<worldbody><geom type='plane' size='0 0 1' friction='1 0 0' solimp='.9 .9 .001 .5 2'/>"
        "<body pos='0 0 .1'><joint type='slide' axis='1 0 0' stiffness='1e-6'"
        " springref='1e6'/><joint type='slide' axis='0 0 1'/>"
        "<geom type='box' size='.1 .1 .1' mass='1' friction='1 0 0' solimp='.9 .9 .001 .5 2'/>"
        "</body></worldbody>";
    double creep[2], depth[2];
    for (int k = 0; k < 2; k++) {
        scene s = open_scene(
            k == 0 ? "cone='elliptic' impratio='1'" : "cone='elliptic' impratio='5'", box);
        run(&s, 1000);
        creep[k] = s.v[0];
        close_scene(&s);
        s = open_scene(k == 0 ? "cone='pyramidal' impratio='1'" : "cone='pyramidal' impratio='5'",
                       box);
        run(&s, 1000);
        depth[k] = -s.q[1];
        close_scene(&s);
    }
    assert_true(creep[0] > 1e-6 && depth[0] > 1e-6);
    assert_near(creep[0] / creep[1], 5, 1e-6);
    assert_near(depth[0] / depth[1], 5, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_impedance),    cmocka_unit_test(test_spring),
        cmocka_unit_test(test_ball_rests),   cmocka_unit_test(test_pyramid_rests),
        cmocka_unit_test(test_cone_rests),   cmocka_unit_test(test_pyramid_by_hand),
        cmocka_unit_test(test_cone_by_hand), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_box),          cmocka_unit_test(test_law),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_run),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_row_of_balls),
        cmocka_unit_test(test_pieces),       cmocka_unit_test(test_mix),
        cmocka_unit_test(test_margins),      cmocka_unit_test(test_impratio),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
