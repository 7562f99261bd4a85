/* Theorem 1 of Kozlov (2000) in numbers, and the scope of the verdict. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "path/recorded.h"
#include "scene/campaign.h"

static const char *const SKATE = "param m = 2, J = 0.3, G = 3\n"
                                 "coord x = 0, y = 0, phi = 0\n"
                                 "speed x' = 0.7, phi' = 1.5\n"
                                 "kinetic m/2*(x'^2 + y'^2) + J/2*phi'^2\n"
                                 "potential -m*G*x\n"
                                 "constraint edge: x'*sin(phi) = y'*cos(phi)\n";

static recorded empty(const char *text, long capacity)
{
    zw_error error = {0};
    recorded r = {.model = zw_model_parse(text, "test.zw", NULL, &error)};
    if (!r.model) {
        recorded_fail(&error);
    }
    r.system = recorded_system(r.model);
    r.n = zw_count(r.system, ZW_KIND_COORD);
    recorded_reserve(&r, capacity);
    return r;
}

/* The path of the reference E01: a skate on a slope, and c t added to its speed along the blade. */
static recorded skate(double c, long count)
{
    recorded r = empty(SKATE, count);
    double w = 1.5, v0 = 0.7, G = 3;
    for (long i = 0; i < count; i++) {
        double t = 2 * (double)i / (double)(count - 1), s = sin(w * t), k = cos(w * t);
        r.t[i] = t;
        r.q[3 * i] = v0 * s / w + G / (2 * w * w) * s * s + c * (t * s / w + (k - 1) / (w * w));
        r.q[3 * i + 1] =
            v0 * (1 - k) / w + G / (2 * w * w) * (w * t - s * k) + c * (-t * k / w + s / (w * w));
        r.q[3 * i + 2] = w * t;
        double v = v0 + G / w * s + c * t;
        r.v[3 * i] = v * k;
        r.v[3 * i + 1] = v * s;
        r.v[3 * i + 2] = w;
    }
    r.count = count;
    return r;
}

static void near(double x, double wanted, double tolerance)
{
    if (!(fabs(x - wanted) <= tolerance * (1 + fabs(wanted)))) {
        print_error("%.17g, not %.17g\n", x, wanted);
        fail();
    }
}

/* shared/refs E01, to 1e-9 and better; with B = 1 all sizes are m times as large, since nothing
 * pushes phi. */
static void both_sides_of_the_inequality(void **state)
{
    (void)state;
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double some[9] = {3, 0.5, 0.2, 0.5, 2, -0.1, 0.2, -0.1, 1};
    const zw_certify_options given = {.metric = one}, other = {.metric = some};
    for (int dense = 0; dense < 2; dense++) {
        for (int speeds = 0; speeds < 2; speeds++) {
            recorded r = skate(0, dense ? 8001 : 401);
            zw_trial_report report = recorded_try(&r, r.system, speeds, NULL);
            assert_int_equal(report.verdict, ZW_VERDICT_MOTION);
            near(report.mean, 56.597429960637297, 1e-9);
            near(report.mean_least, 56.597429960637297, 1e-9);
            near(report.defect, 0, 1e-12);
            report = recorded_try(&r, r.system, speeds, &given);
            assert_int_equal(report.verdict, ZW_VERDICT_MOTION);
            near(report.mean, 2 * 56.597429960637297, 1e-9);
            report = recorded_try(&r, r.system, speeds, &other);
            assert_int_equal(report.verdict, ZW_VERDICT_MOTION);
            recorded_end(&r);

            r = skate(0.3, dense ? 8001 : 401);
            report = recorded_try(&r, r.system, speeds, NULL);
            assert_int_equal(report.verdict, ZW_VERDICT_NOT_MOTION);
            near(report.mean, 66.67406395550418, 1e-9);
            near(report.defect, 0.18, 1e-9);
            near(report.mean_least, 66.49406395550419, 1e-9);
            report = recorded_try(&r, r.system, speeds, &given);
            assert_int_equal(report.verdict, ZW_VERDICT_NOT_MOTION);
            near(report.mean, 2 * 66.67406395550418, 1e-9);
            near(report.defect, 0.36, 1e-9);
            report = recorded_try(&r, r.system, speeds, &other);
            assert_int_equal(report.verdict, ZW_VERDICT_NOT_MOTION);
            recorded_end(&r);
        }
    }
}

/* The split itself, in any metric: R = A' lambda + extra, and extra = B x with A x = 0. */
static void the_extra_force_is_tangential(void **state)
{
    (void)state;
    const double some[9] = {3, 0.5, 0.2, 0.5, 2, -0.1, 0.2, -0.1, 1};
    const zw_certify_options options[2] = {{0}, {.metric = some}};
    recorded r = skate(0.3, 801);
    zw_error error = {0};
    zw_path *path = zw_path_create(r.system, r.count, r.t, r.q, NULL, &error);
    for (int k = 0; k < 2; k++) {
        zw_trial *trial = zw_path_certify(r.system, path, &options[k], &error);
        assert_non_null(trial);
        const double *q = zw_trial_series_of(trial, ZW_SERIES_Q).data;
        const double *a = zw_trial_series_of(trial, ZW_SERIES_A).data;
        const double *extra = zw_trial_series_of(trial, ZW_SERIES_EXTRA).data;
        const double *lambda = zw_trial_series_of(trial, ZW_SERIES_LAMBDA).data;
        const double *size = zw_trial_series_of(trial, ZW_SERIES_EXTRA_SIZE).data;
        assert_int_equal(zw_trial_series_of(trial, ZW_SERIES_LAMBDA).count, 801);
        for (long i = 0; i < r.count; i++) {
            double s = sin(q[3 * i + 2]), c = cos(q[3 * i + 2]);
            const double A[3] = {s, -c, 0}, *h = extra + 3 * i;
            const double R[3] = {2 * a[3 * i] - 6, 2 * a[3 * i + 1], 0.3 * a[3 * i + 2]};
            double x[3], det = 0, sum = 0;
            const double unit[9] = {2, 0, 0, 0, 2, 0, 0, 0, 0.3}, *B = k ? some : unit;
            double m[3][3];
            for (int e = 0; e < 3; e++) { /* cofactors of B */
                for (int g = 0; g < 3; g++) {
                    int e1 = (e + 1) % 3, e2 = (e + 2) % 3, g1 = (g + 1) % 3, g2 = (g + 2) % 3;
                    m[g][e] = B[3 * e1 + g1] * B[3 * e2 + g2] - B[3 * e1 + g2] * B[3 * e2 + g1];
                }
                det += B[e] * m[e][0];
            }
            for (int e = 0; e < 3; e++) {
                near(A[e] * lambda[i] + h[e], R[e], 1e-9);
                x[e] = (m[e][0] * h[0] + m[e][1] * h[1] + m[e][2] * h[2]) / det;
                sum += x[e] * h[e];
            }
            near(A[0] * x[0] + A[1] * x[1], 0, 1e-9);
            near(sqrt(sum), size[i], 1e-9);
        }
        zw_trial_free(trial);
    }
    zw_path_free(path);
    recorded_end(&r);
}

/* ---- Tampering ------------------------------------------------------------------------------- */

static recorded pendulum(long count)
{
    return recorded_run(recorded_example("double_pendulum_angles", NULL, 0), 5, count);
}

static void expect(const recorded *r, int speeds, const char *coord, double time, double near_it)
{
    zw_trial_report report = recorded_try(r, r->system, speeds, NULL);
    const char *named =
        report.worst_coord < 0 ? "-" : zw_name(r->system, ZW_KIND_COORD, report.worst_coord);
    if (report.verdict != ZW_VERDICT_NOT_MOTION || (coord && strcmp(named, coord) != 0) ||
        !(fabs(report.worst_time - time) <= near_it)) {
        print_error("verdict %d, worst %.3g with error %.3g at %.5g of %s, not %.5g of %s\n",
                    (int)report.verdict, report.worst, report.worst_error, report.worst_time, named,
                    time, coord ? coord : "any");
        fail();
    }
}

static void sines_kinks_and_slips_of_a_millionth_are_seen(void **state)
{
    (void)state;
    for (long count = 1000; count <= 16000 / campaign_stride(4); count *= 4) {
        for (int speeds = 0; speeds < 2; speeds++) {
            recorded r = pendulum(count);
            double part = 1e-6 * recorded_size(&r, 1);
            for (long i = 0; i < r.count; i++) {
                r.q[2 * i + 1] += part * sin(12 * r.t[i]);
                r.v[2 * i + 1] += part * 12 * cos(12 * r.t[i]);
            }
            expect(&r, speeds, NULL, 2.5, 2.5);
            recorded_end(&r);

            r = pendulum(count);
            for (long i = 0; i < r.count; i++) {
                double x = r.t[i] - 2.0005;
                r.q[2 * i] += x > 0 ? part * x : 0;
                r.v[2 * i] += x > 0 ? part : 0;
            }
            expect(&r, speeds, NULL, 3.5, 1.51);
            recorded_end(&r);

            r = pendulum(count); /* one number is wrong */
            r.q[2 * (count / 2)] += part;
            expect(&r, speeds, "th1", 2.5, 0.02);
            recorded_end(&r);
        }
    }
}

static void speeds_must_be_those_of_the_positions(void **state)
{
    (void)state;
    recorded r = pendulum(2500);
    for (long i = 0; i < r.count; i++) {
        double x = (r.t[i] - 2) / 0.3, u = 1 - x * x;
        r.v[2 * i + 1] += u > 0 ? 1e-5 * u * u : 0;
    }
    expect(&r, 1, "th2", 2, 0.3);
    zw_trial_report report = recorded_try(&r, r.system, 1, NULL);
    assert_int_equal(report.speeds, -1);
    report = recorded_try(&r, r.system, 0, NULL);
    assert_int_equal(report.verdict, ZW_VERDICT_MOTION);
    recorded_end(&r);
}

/* ---- Noise and coarseness -------------------------------------------------------------------- */

static double gauss(uint64_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*seed >> 11) / 9007199254740992.0;
    }
    return sum;
}

static void add_noise(recorded *r, double part)
{
    uint64_t seed = 7;
    for (int k = 0; k < r->n; k++) {
        double size = part * recorded_size(r, k);
        for (long i = 0; i < r->count; i++) {
            r->q[i * r->n + k] += size * gauss(&seed);
        }
    }
}

static void noise_is_no_extra_force(void **state)
{
    (void)state;
    static const char *const name[] = {"pendulum", "kepler", "chaplygin_sleigh", "double_pendulum",
                                       "spherical_pendulum"};
    for (int k = 0; k < 5; k++) {
        for (double part = 1e-8; part < 1e-3; part *= 100) {
            recorded r = recorded_run(recorded_example(name[k], NULL, 0), 5, 1000);
            add_noise(&r, part);
            zw_trial_report report = recorded_try(&r, r.system, 0, NULL);
            if (report.verdict != ZW_VERDICT_MOTION) {
                print_error("%s, noise %g: verdict %d, worst %.3g with error %.3g\n", name[k], part,
                            (int)report.verdict, report.worst, report.worst_error);
                fail();
            }
            if (!(report.noise > 0.3 * part && report.noise < 5 * part)) {
                print_error("%s: noise %g, found %g\n", name[k], part, report.noise);
                fail();
            }
            recorded_end(&r);
        }
    }
}

/* Noise hides a force for as long as it is larger, and no longer. */
static void an_extra_force_is_detected_in_noise(void **state)
{
    (void)state;
    const zw_setting setting = {"l", 1.05};
    recorded r = recorded_run(recorded_example("pendulum", NULL, 0), 5, 2000);
    add_noise(&r, 1e-4);
    zw_model *model = recorded_example("pendulum", &setting, 1);
    zw_system *system = recorded_system(model);
    zw_trial_report report = recorded_try(&r, system, 0, NULL);
    assert_true(report.verdict == ZW_VERDICT_OFF || report.verdict == ZW_VERDICT_NOT_MOTION);
    zw_system_free(system);
    zw_model_free(model);
    recorded_end(&r);
}

static void coarse_recordings_are_called_so(void **state)
{
    (void)state;
    recorded r = recorded_run(recorded_example("double_pendulum_angles", NULL, 0), 20, 100);
    for (int speeds = 0; speeds < 2; speeds++) {
        zw_trial_report report = recorded_try(&r, r.system, speeds, NULL);
        assert_int_equal(report.verdict, ZW_VERDICT_COARSE);
    }
    r.count = 6;
    assert_int_equal(recorded_try(&r, r.system, 1, NULL).verdict, ZW_VERDICT_COARSE);
    r.count = 1;
    assert_int_equal(recorded_try(&r, r.system, 1, NULL).verdict, ZW_VERDICT_COARSE);
    recorded_end(&r);
}

/* ---- Times and pieces ------------------------------------------------------------------------ */

static void times_need_not_be_even(void **state)
{
    (void)state;
    recorded r = pendulum(6000);
    uint64_t seed = 3;
    long kept = 0;
    for (long i = 0; i < r.count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        if (seed >> 62) { /* three of four, as they come */
            continue;
        }
        r.t[kept] = r.t[i];
        memcpy(r.q + 2 * kept, r.q + 2 * i, 2 * sizeof(double));
        memcpy(r.v + 2 * kept++, r.v + 2 * i, 2 * sizeof(double));
    }
    r.count = kept;
    for (int speeds = 0; speeds < 2; speeds++) {
        assert_int_equal(recorded_try(&r, r.system, speeds, NULL).verdict, ZW_VERDICT_MOTION);
    }
    recorded_bump(&r, 0, 1e-6, 2, 0.5);
    expect(&r, 1, "th1", 2, 0.5);
    recorded_end(&r);
}

/* Two motions, one after the other: what is between them is no motion. */
static void a_time_given_twice_parts_pieces(void **state)
{
    (void)state;
    recorded r = pendulum(1000), again = pendulum(1000);
    recorded both = {.n = 2};
    recorded_reserve(&both, r.count + again.count);
    for (int k = 0; k < 2; k++) {
        const recorded *one = k ? &again : &r;
        for (long i = 0; i < one->count; i++) {
            both.t[both.count] = one->t[i] + (k ? 5 : 0);
            memcpy(both.q + 2 * both.count, one->q + 2 * i, 2 * sizeof(double));
            memcpy(both.v + 2 * both.count++, one->v + 2 * i, 2 * sizeof(double));
        }
    }
    zw_trial_report report = recorded_try(&both, r.system, 1, NULL);
    assert_int_equal(report.pieces, 2);
    assert_int_equal(report.verdict, ZW_VERDICT_NOT_MOTION);
    near(report.worst_time, 5, 1e-9);
    both.count = r.count + 1; /* the same sample twice is one sample */
    both.t[r.count] = both.t[r.count - 1];
    memcpy(both.q + 2 * r.count, both.q + 2 * (r.count - 1), 2 * sizeof(double));
    memcpy(both.v + 2 * r.count, both.v + 2 * (r.count - 1), 2 * sizeof(double));
    report = recorded_try(&both, r.system, 1, NULL);
    assert_int_equal(report.pieces, 1);
    assert_int_equal(report.samples, r.count);
    assert_int_equal(report.verdict, ZW_VERDICT_MOTION);
    recorded_end(&both);
    recorded_end(&again);
    recorded_end(&r);
}

/* A ball that bounces does so; one that turns in the air was struck. */
static void contacts_may_strike(void **state)
{
    (void)state;
    recorded r = recorded_run(recorded_example("bouncing_ball", NULL, 0), 2, 2000);
    zw_trial_report report = recorded_try(&r, r.system, 0, NULL);
    assert_int_equal(report.verdict, ZW_VERDICT_MOTION);
    assert_true(report.pieces >= 2);
    assert_true(report.strikes >= 1);
    assert_int_equal(report.resets + report.shapes, 0);
    for (long i = 0; i < r.count; i++) {
        r.q[2 * i + 1] += 0.5;
    }
    expect(&r, 0, "y", 0.6387, 0.002);
    for (long i = 0; i < r.count; i++) {
        r.q[2 * i + 1] -= 0.6;
    }
    report = recorded_try(&r, r.system, 0, NULL);
    assert_int_equal(report.verdict, ZW_VERDICT_OFF);
    recorded_end(&r);
}

/* Whether an impulse is that of the law of impact, or a jump that of the event, is not checked; nor
 * are contacts of shapes seen. The report counts what it believes. A ball turns from -1 to 1.5 m/s
 * at z = 0, or falls freely. */
static void what_is_believed_is_counted(void **state)
{
    (void)state;
    const char *const text[] = {
        "coord z\nmass 1 at z\nforce z: -10\nconstraint floor: z >= 0, restitution 0.5\n",
        "coord z\nmass 1 at z\nforce z: -10\nevent hit: z = 0 falling, set z' = -0.5*z'\n",
        "import \"" ZW_SOURCE_DIR "/test/system/import/stone.xml\" as s\n",
    };
    for (int k = 0; k < 3; k++) {
        enum { COUNT = 400 };
        recorded r = empty(text[k], COUNT);
        double g = k < 2 ? 10 : 9.81, up = k < 2 ? 1.5 : -1;
        for (r.count = 0; r.count < COUNT; r.count++) {
            double t = 1e-3 * ((double)r.count - 100.5);
            r.t[r.count] = t;
            r.q[r.count] = t < 0 ? -t - 0.5 * g * t * t : up * t - 0.5 * g * t * t;
        }
        zw_trial_report report = recorded_try(&r, r.system, 0, NULL);
        assert_int_equal(report.verdict, ZW_VERDICT_MOTION);
        assert_int_equal(report.strikes, k == 0);
        assert_int_equal(report.resets, k == 1);
        assert_int_equal(report.shapes, k == 2);
        recorded_end(&r);
    }
}

/* ---- The energy ------------------------------------------------------------------------------ */

static void energy_is_the_work_of_the_active_forces(void **state)
{
    (void)state;
    static const char *const name[] = {
        "double_pendulum_angles", "bead_on_parabola", "snakeboard",
        "ball_on_turntable",      "driven_cart",      "randers_circle"};
    for (int k = 0; k < 6; k++) {
        recorded r = recorded_run(recorded_example(name[k], NULL, 0), 0.8, 1600);
        zw_trial_report report = recorded_try(&r, r.system, 1, NULL);
        near(report.energy_work, report.energy_change, 1e-8);
        near(report.energy_defect, 0, 1e-8);
        recorded_end(&r);
    }
    recorded r =
        skate(0.3, 2001); /* the extra force's work: m c (v + c t) along the blade, over the time */
    zw_trial_report report = recorded_try(&r, r.system, 0, NULL);
    double w = 1.5, work = 2 * 0.3 * (0.7 * 2 + 3 / (w * w) * (1 - cos(3)) + 0.3 * 2);
    near(report.energy_change - report.energy_work, work, 1e-9);
    near(report.energy_defect, work, 1e-9);
    recorded_end(&r);
}

/* ---- What cannot be tried -------------------------------------------------------------------- */

static int stop(void *user, double time)
{
    (void)time;
    return ++*(int *)user > 2;
}

static void refusals(void **state)
{
    (void)state;
    recorded r = skate(0, 20000);
    zw_error error = {0};
    const double crooked[9] = {1, 0, 0, 1, 1, 0, 0, 0, 1}, weak[9] = {1, 0, 0, 0, -1, 0, 0, 0, 1};
    int asked = 0;
    const zw_certify_options bad[3] = {
        {.metric = crooked}, {.metric = weak}, {.poll = stop, .user = &asked}};
    const zw_status status[3] = {ZW_NOT_A_METRIC, ZW_NOT_A_METRIC, ZW_INTERRUPTED};
    zw_path *path = zw_path_create(r.system, r.count, r.t, r.q, r.v, &error);
    for (int k = 0; k < 3; k++) {
        assert_null(zw_path_certify(r.system, path, &bad[k], &error));
        assert_int_equal(error.status, status[k]);
    }
    zw_path_free(path);
    r.t[7] = 0;
    assert_null(zw_path_create(r.system, r.count, r.t, r.q, r.v, &error));
    assert_int_equal(error.status, ZW_BAD_INPUT);
    r.t[7] = NAN;
    assert_null(zw_path_create(r.system, r.count, r.t, r.q, r.v, &error));
    assert_null(zw_path_create(r.system, 0, r.t, r.q, r.v, &error));
    assert_int_equal(error.status, ZW_BAD_INPUT);
    recorded_end(&r);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    static const char *const name[] = {"double_pendulum_angles", "bead_on_parabola",
                                       "bouncing_ball"};
    for (int k = 0; k < 3; k++) {
        const double B[4] = {2, 0.5, 0.5, 1};
        const zw_certify_options options = {.metric = k ? B : NULL};
        recorded r = recorded_run(recorded_example(name[k], NULL, 0), 0.8, 80);
        int i = 0, done = 0;
        while (!done) {
            zw_error error = {0};
            base_alloc_fail_after(++i);
            zw_path *path = zw_path_create(r.system, r.count, r.t, r.q, r.v, &error);
            zw_trial *trial = path ? zw_path_certify(r.system, path, &options, &error) : NULL;
            base_alloc_fail_after(0);
            done = trial != NULL;
            if (!trial) {
                assert_int_equal(error.status, ZW_NO_MEMORY);
            }
            zw_trial_free(trial);
            zw_path_free(path);
        }
        assert_true(i > 8);
        recorded_end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_of_the_inequality),
        cmocka_unit_test(the_extra_force_is_tangential),
        cmocka_unit_test(sines_kinks_and_slips_of_a_millionth_are_seen),
        cmocka_unit_test(speeds_must_be_those_of_the_positions),
        cmocka_unit_test(noise_is_no_extra_force),
        cmocka_unit_test(an_extra_force_is_detected_in_noise),
        cmocka_unit_test(coarse_recordings_are_called_so),
        cmocka_unit_test(times_need_not_be_even),
        cmocka_unit_test(a_time_given_twice_parts_pieces),
        cmocka_unit_test(contacts_may_strike),
        cmocka_unit_test(what_is_believed_is_counted),
        cmocka_unit_test(energy_is_the_work_of_the_active_forces),
        cmocka_unit_test(refusals),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
