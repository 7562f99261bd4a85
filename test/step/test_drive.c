/* The work of moving constraints: drives, prescribed motions, rising floors.
 *
 * A constraint phi(q, t) = 0 with multiplier lambda has the power lambda A v = -lambda dphi/dt, one
 * on speeds, A v + c(q, t) = 0, the power -lambda c. Both are computed here from the text's own
 * formulas at samples of the run and integrated by Romberg's rule, independently of zwang's own
 * sum. The energy must change by that much, and the drift must be that of the method alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "scene/campaign.h"
#include "scene/dice.h"
#include "system/world.h"

enum { SAMPLES = 256 };

typedef struct drive {
    int kind, vakonomic;
    double c, d, w;
} drive;

typedef struct meter {
    drive drive;
    int count;
    double power[SAMPLES + 1], energy[SAMPLES + 1];
} meter;

static void write_constraint(const drive *x, char *text, size_t capacity)
{
    static const char *const form[] = {
        "constraint drive: a = 0.1 + %.17g*t + %.17g*0 + %.17g*0\n",
        "constraint drive: a*sin(%.17g*t) + b*(2 + %.17g*sin(t)) = 0.5 + %.17g*t\n",
        "constraint drive: a*(2 + b^2) + c = %.17g*t + %.17g*sin(%.17g*t)\n",
        "constraint drive: (2 + sin(b))*a' + b*c' = %.17g + %.17g*sin(%.17g*t)\n",
        "constraint drive: a' - b*c' = %.17g + %.17g*c*t + 0*%.17g\n"};
    snprintf(text, capacity, form[x->kind], x->c, x->d, x->w);
}

/* Power for each unit of lambda. Under the vakonomic law the energy is that of L + lambda Phi,
 * which changes by -lambda dPhi/dt. */
static double speed_of(const drive *x, double t, const double *q)
{
    if (x->vakonomic) {
        return x->kind == 3 ? x->d * x->w * cos(x->w * t) : x->d * q[2];
    }
    switch (x->kind) {
    case 0:
        return x->c;
    case 1:
        return x->w - q[0] * x->c * cos(x->c * t) - q[1] * x->d * cos(t);
    case 2:
        return x->c + x->d * x->w * cos(x->w * t);
    case 3:
        return x->c + x->d * sin(x->w * t);
    default:
        return x->c + x->d * q[2] * t;
    }
}

static int observe(void *user, zw_sample_kind kind, int event, const zw_system *system,
                   const zw_state *state, zw_work *work)
{
    (void)kind;
    (void)event;
    meter *m = user;
    double t = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
    const double *q = zw_field(system, state, work, ZW_FIELD_Q).data;
    double lambda = zw_field(system, state, work, ZW_FIELD_LAMBDA).data[0];
    assert_true(m->count <= SAMPLES);
    m->power[m->count] = lambda * speed_of(&m->drive, t, q);
    m->energy[m->count++] = zw_field(system, state, work, ZW_FIELD_ENERGY).data[0];
    return 0;
}

/* The integral over samples at equal distances h, by Romberg's rule. */
static double integral(const double *y, double h)
{
    enum { LEVELS = 9 }; /* 2^8 = SAMPLES */
    double sum[LEVELS] = {0};
    for (int level = 0; level < LEVELS; level++) {
        int stride = SAMPLES >> level;
        double row[LEVELS], factor = 1;
        row[0] = 0.5 * (y[0] + y[SAMPLES]);
        for (int i = stride; i < SAMPLES; i += stride) {
            row[0] += y[i];
        }
        row[0] *= h * stride;
        for (int k = 1; k <= level; k++) {
            factor *= 4;
            row[k] = row[k - 1] + (row[k - 1] - sum[k - 1]) / (factor - 1);
        }
        for (int k = 0; k <= level; k++) {
            sum[k] = row[k];
        }
    }
    return sum[6];
}

static void write_system(dice *d, drive *x, char *text, size_t capacity)
{
    char constraint[200];
    x->kind = dice_int(d, 0, 4);
    x->vakonomic = x->kind > 2 && dice_chance(d, 0.5);
    x->c = dice_between(d, 0.5, 1.5);
    x->d = dice_between(d, 0.1, 0.6);
    x->w = dice_between(d, 0.5, 1.5);
    write_constraint(x, constraint, sizeof constraint);
    double number[5];
    for (int i = 0; i < 5; i++) {
        number[i] = i < 2 ? dice_between(d, -1, 1) : dice_between(d, 1, 2);
    }
    snprintf(text, capacity,
             "coord a = 0.1, b = 0.3, c = -0.2\n"
             "speed b' = %.17g, c' = %.17g\n"
             "kinetic (%.17g + cos(b)/2)*a'^2 + a'*b'/4 + %.17g*b'^2 + c'^2\n"
             "potential %.17g*(a - b)^2 + (b + c)^4 + c^2 + a\n%s%s",
             number[0], number[1], number[2], number[3], number[4], constraint,
             x->vakonomic ? "law vakonomic\n" : "");
}

static void try_method(const char *text, const drive *x, zw_method method, double step,
                       double drift, double miss)
{
    world w = world_of(text);
    zw_run_summary summary;
    meter m = {.drive = *x};
    const double time = 2;
    const zw_run_options options = {.time = time,
                                    .every = time / SAMPLES,
                                    .step = step,
                                    .tolerance = 1e-12,
                                    .method = method,
                                    .observer = observe,
                                    .user = &m};
    if (zw_run(w.system, w.state, w.work, &options, &summary, &w.error) != ZW_OK) {
        fail_msg("%s\n%s", w.error.text, text);
    }
    assert_int_equal(m.count, SAMPLES + 1);
    double gained = m.energy[SAMPLES] - m.energy[0];
    double work = integral(m.power, time / SAMPLES), size = 1 + fabs(m.energy[0]) + fabs(work);
    if (!(summary.energy_drift < drift) || !(fabs(gained - work) < miss * size)) {
        fail_msg("method %d: drift %.2e, gained %.12g, work %.12g\n%s", method,
                 summary.energy_drift, gained, work, text);
    }
    world_end(&w);
}

static void test_random_drives(void **state)
{
    (void)state;
    for (int seed = 0; seed < campaign(24); seed++) {
        dice d = dice_of((uint64_t)seed);
        char text[1000];
        drive x;
        write_system(&d, &x, text, sizeof text);
        try_method(text, &x, ZW_METHOD_DOP853, 0, 1e-9, 1e-8);
        try_method(text, &x, ZW_METHOD_STIFF, 0, 1e-9, 1e-8);
        try_method(text, &x, ZW_METHOD_RK4, 2e-3, 1e-8, 1e-8);
        if (!x.vakonomic) {
            try_method(text, &x, ZW_METHOD_VARIATIONAL, 2e-3, 1e-5, 1e-5);
            try_method(text, &x, ZW_METHOD_MIDPOINT, 2e-3, 1e-5, 1e-5);
            try_method(text, &x, ZW_METHOD_VARIATIONAL4, 2e-3, 1e-9, 1e-8);
        }
    }
}

/* A ball of mass m and velocity v is hit by a wall of velocity u: the wall's impulse is
 * p = m (1 + e)(u - v), its work p u, and m/2 (1 - e^2)(u - v)^2 is lost. There is no gravity, and
 * the ball is to the right of the wall. */
static void test_moving_wall(void **state)
{
    (void)state;
    for (int seed = 0; seed < 20; seed++) {
        dice d = dice_of((uint64_t)seed);
        char text[400];
        double e = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 1 : dice_between(&d, 0.1, 0.9);
        double u = dice_between(&d, -1, 1), m = dice_between(&d, 0.5, 2);
        double v = u - dice_between(&d, 1, 2);
        snprintf(text, sizeof text,
                 "coord x = 1\nspeed x' = %.17g\nmass %.17g at x\n"
                 "constraint wall: x >= %.17g*t, restitution %.17g\n",
                 v, m, u, e);
        world w = world_of(text);
        zw_run_summary summary = world_run(&w, 2, 1e-10);
        double work = m * (1 + e) * (u - v) * u, lost = 0.5 * m * (1 - e * e) * (u - v) * (u - v);
        assert_true(fabs(summary.work - (work - lost)) < 1e-12);
        assert_true(summary.energy_drift < 1e-13);
        world_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_drives),
                                       cmocka_unit_test(test_moving_wall)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
