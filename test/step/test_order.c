/* The order of method impulse for rolling, landing, fast joints and forces, compared with closed
 * forms; and the loss of a step shows in E - E0 - W, where W is the work of the forces. */
#include "touch.h"
#include "zwang/verdict.h"

static zw_run_summary run(scene *s, double t, double h)
{
    const zw_run_options options = {.time = t, .every = -1, .step = h, .method = ZW_METHOD_IMPULSE};
    zw_run_summary summary = {0};
    zw_error error = {0};
    must(zw_run(s->system, s->state, s->work, &options, &summary, &error), &error);
    return summary;
}

/* The error of the energy balance. */
static double lost(const zw_run_summary *it)
{
    return it->energy_end - it->energy_start - it->work;
}

/* ---- A ball on a turning table --------------------------------------------------------------- */

/* The centre of a ball on a turning table moves on a circle at 2/7 of the table's rate (Routh). The
 * table is heavy and turns freely; its energy is too large to show errors of the ball's. */
static double ball_on_table(double h)
{
    scene s = open_scene(
        "<worldbody><body pos='0 0 -0.05'><joint type='hinge' axis='0 0 1'/>"
        "<inertial pos='0 0 0' mass='1e9' diaginertia='1e9 1e9 1e9'/>"
        "<geom type='box' size='5 5 0.05' friction='2 0 0'/></body><body pos='0.5 0 0.1'>"
        "<freejoint/><geom size='0.1' friction='2 0 0'/></body></worldbody>");
    const double turn = 3, r = 0.1, x = 0.5, v[2] = {0.3, 0.2}, k = 2 * turn / 7, t = 5;
    const double start[] = {turn, v[0], v[1], 0, (turn * x - v[1]) / r, v[0] / r, 0};
    memcpy(v_of(&s), start, sizeof start);
    run(&s, t, h);
    double X = x + (v[0] * sin(k * t) - v[1] * (1 - cos(k * t))) / k;
    double Y = (v[1] * sin(k * t) + v[0] * (1 - cos(k * t))) / k;
    double off = hypot(q_of(&s)[1] - X, q_of(&s)[2] - Y) * k / hypot(v[0], v[1]);
    close_scene(&s);
    return off;
}

static void turntable(void **state)
{
    (void)state;
    double coarse = ball_on_table(0.05), fine = ball_on_table(0.025);
    print_message("turntable: off by %.2g, %.2g of its circle, ratio %.2f\n", coarse, fine,
                  coarse / fine);
    assert_true(coarse < 1e-3 && fabs(coarse / fine - 4) < 0.2);
}

/* ---- A coin ---------------------------------------------------------------------------------- */

/* Tilted and turning about the vertical at 26/s, its point of contact at rest: it rolls, and keeps
 * its energy. */
static void coin(void **state)
{
    (void)state;
    const double pi = acos(-1), R = 0.05, half = 0.002, tilt = 0.3, a = pi / 2 - tilt, turn = 26;
    double worst[2];
    for (int k = 0; k < 2; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "<worldbody><geom type='plane' size='1 1 1' friction='2 0 0'/>"
                 "<body pos='0 0 %.17g' euler='%.17g 0 0'><freejoint/><geom type='cylinder' "
                 "size='%g %g' density='8000' friction='2 0 0'/></body></worldbody>",
                 R * cos(tilt) + half * sin(tilt), a * 180 / pi, R, half);
        scene s = open_scene(text);
        v_of(&s)[0] = turn * (half * sin(a) - R * cos(a));
        v_of(&s)[4] = turn * sin(a);
        v_of(&s)[5] = turn * cos(a);
        zw_run_summary it = run(&s, 5, k ? 2e-3 : 4e-3);
        worst[k] = it.energy_drift;
        assert_true(fabs(it.work) < 1e-9);
        assert_true(fabs(lost(&it)) < 1e-3 * it.energy_start);
        close_scene(&s);
    }
    print_message("coin: drift %.2g, %.2g, ratio %.2f\n", worst[0], worst[1], worst[0] / worst[1]);
    assert_true(worst[0] < 1e-3 && worst[0] / worst[1] > 3.5);
}

/* ---- A cart on wheels ------------------------------------------------------------------------ */

/* Eight cylinders of m, R under a box of M on a slope: a = g sin(slope) (M + 8 m)/(M + 12 m), at
 * every step, also where a step turns the wheels by several radians. (Loads of eight wheels are not
 * determined: one that has none for a while is not turned.) */
static void cart(void **state)
{
    (void)state;
    const double pi = acos(-1), slope = 0.2, R = 0.1, M = 4, m = 0.5, t = 6;
    for (double h = 0.005; h < 0.06; h *= 3.1) {
        char text[4000];
        int at = snprintf(text, sizeof text,
                          "<worldbody><geom type='plane' size='1 1 1' euler='0 %.17g 0'/>"
                          "<body pos='%.17g 0 %.17g' euler='0 %.17g 0'><freejoint/><geom "
                          "type='box' size='.5 .2 .05' mass='%g' contype='0' conaffinity='0'/>",
                          slope * 180 / pi, (R + 0.05) * sin(slope), (R + 0.05) * cos(slope),
                          slope * 180 / pi, M);
        for (int k = 0; k < 8; k++) {
            at += snprintf(text + at, sizeof text - (size_t)at,
                           "<body pos='%g %g -0.05'><joint type='hinge' axis='0 1 0'/><geom "
                           "type='cylinder' euler='90 0 0' size='%g .03' mass='%g'/></body>",
                           -0.45 + 0.3 * (k / 2), k % 2 ? 0.25 : -0.25, R, m);
        }
        snprintf(text + at, sizeof text - (size_t)at, "</body></worldbody>");
        scene s = open_scene(text);
        zw_run_summary it = run(&s, t, h);
        double *v = v_of(&s), speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        double exact = G * sin(slope) * (M + 8 * m) / (M + 12 * m) * t;
        print_message("cart, step %g: speed off by %.1e, drift %.1e, work %.1e\n", h,
                      speed / exact - 1, it.energy_drift, it.work);
        assert_true(fabs(speed / exact - 1) < 1e-4);
        assert_true(fabs(it.work) < 1e-6 && it.energy_drift < 1e-7);
        close_scene(&s);
    }
}

/* ---- A bar on a hinge ------------------------------------------------------------------------ */

/* It turns by 0.1 and by 0.3 rad a step, and conserves energy to order two. */
static double turning_bar(double omega, double h)
{
    scene s = open_scene("<worldbody><body pos='0 0 1'><joint type='hinge' axis='0 1 0'/><geom "
                         "type='capsule' fromto='0 0 0 .3 0 0' size='.02'/></body></worldbody>");
    v_of(&s)[0] = omega;
    double drift = run(&s, 1, h).energy_drift;
    close_scene(&s);
    return drift;
}

static void bar(void **state)
{
    (void)state;
    for (double omega = 100; omega <= 300; omega += 200) {
        double coarse = turning_bar(omega, 1e-3), fine = turning_bar(omega, 5e-4);
        print_message("bar at %g/s: drift %.2g, %.2g\n", omega, coarse, fine);
        assert_true(coarse < 1e-4 && coarse / fine > 3.5);
    }
}

/* ---- Work
 * ---------------------------------------------------------------------------------------- */

/* The kinetic energy at 3 m/s is 4.5 m. */
static double mass_of(scene *s)
{
    double at[2];
    for (int k = 0; k < 2; k++) {
        v_of(s)[0] = 3 * k;
        must(zw_forward(s->system, s->state, s->work, NULL, NULL), NULL);
        at[k] = zw_field(s->system, s->state, s->work, ZW_FIELD_ENERGY).data[0];
    }
    return (at[1] - at[0]) / 4.5;
}

/* A cube thrown along a floor stops by friction: all of its energy is work. A ball that starts
 * without turning slides until it rolls, with 5/7 of its speed and of its energy. */
static double sliding_work(const char *geom, double part, double h)
{
    char text[400];
    snprintf(text, sizeof text,
             "<worldbody><geom type='plane' size='1 1 1' friction='.5 0 0'/><body pos='0 0 .1'>"
             "<freejoint/><geom %s density='1000' friction='.5 0 0'/></body></worldbody>",
             geom);
    scene s = open_scene(text);
    v_of(&s)[0] = 3;
    double rest = -G * 0.1 * mass_of(&s); /* what it has by its height is no part of it */
    zw_run_summary it = run(&s, 1.5, h);
    close_scene(&s);
    return 1 + it.work / (part * (it.energy_start + rest));
}

static void work_of_friction(void **state)
{
    (void)state;
    for (double h = 0.02; h > 0.004; h /= 2) {
        double box = sliding_work("type='box' size='.1 .1 .1'", 1, h);
        double ball = sliding_work("size='.1'", 2.0 / 7, h);
        print_message("step %g: work of friction off by %.1e, %.1e\n", h, box, ball);
        assert_true(fabs(box) < 1e-9 && fabs(ball) < 1e-3);
    }
}

/* ---- A rimless wheel ------------------------------------------------------------------------- */

/* It rolls down a slope on the corners of an octagon (McGeer 1990). Between two impacts it is a
 * pendulum about a corner; in one, the angular momentum about the new corner is kept, so that
 * omega+ = eta omega-, eta = (J + m l^2 cos 2a)/(J + m l^2), 2a being the angle between corners.
 * Its speed tends to that of a cycle:
 *
 *     omega-^2 = omega+^2 + 4 (m g l/I) sin(a) sin(slope),   I = J + m l^2
 *
 * It starts in that cycle. Each impact takes I (omega-^2 - omega+^2)/2. */
typedef struct wheel_answer {
    double cycle, loss, drift; /* off, relative */
    long impacts;
} wheel_answer;

static wheel_answer wheel(double h)
{
    enum { N = 8 };
    const double pi = acos(-1), a = pi / N, l = 1, J = 0.3, slope = 0.12, g = 9.81;
    char text[3000], corners[1400] = "";
    for (int k = 0; k < 2 * N; k++) {
        size_t used = strlen(corners);
        double at = 2 * pi * (k % N) / N + a;
        snprintf(corners + used, sizeof corners - used, "%.17g %g %.17g ", l * sin(at),
                 k < N ? -.1 : .1, -l * cos(at));
    }
    snprintf(
        text, sizeof text,
        "<option gravity='%.17g 0 %.17g'/><asset><mesh name='w' vertex='%s'/></asset>"
        "<worldbody><geom type='plane' size='0 0 1' friction='5 0 0'/><body pos='0 0 %.17g'>"
        "<inertial pos='0 0 0' mass='1' diaginertia='%g %g %g'/>"
        "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
        "<joint axis='0 1 0'/><geom type='mesh' mesh='w' friction='5 0 0'/></body></worldbody>",
        g * sin(slope), -g * cos(slope), corners, l * cos(a), J, J, J);
    scene s = open_scene(text);
    double eta = (J + cos(2 * a)) / (J + 1), gain = 4 * g / (J + 1) * sin(a) * sin(slope);
    double after = sqrt(eta * eta * gain / (1 - eta * eta)), start = after; /* of the cycle */
    const double v[] = {start * l * cos(a), start * l * sin(a), start};
    memcpy(v_of(&s), v, sizeof v);
    zw_run_summary it = run(&s, 4, h);
    /* from the angle of now and its speed back to the last impact */
    double turned = q_of(&s)[2], phase = turned - 2 * a * floor(turned / (2 * a)) - a;
    double now = v_of(&s)[2];
    double square = now * now + 2 * g / (J + 1) * (cos(phase + slope) - cos(slope - a));
    wheel_answer answer = {.cycle = sqrt(square) / after - 1, .impacts = it.impacts};
    double each = 0.5 * (J + 1) * (after * after / (eta * eta) - after * after);
    answer.loss = it.impact_loss / ((double)it.impacts * each) - 1;
    answer.drift = it.energy_drift;
    assert_int_equal(it.impacts, (long)floor(turned / (2 * a)));
    close_scene(&s);
    return answer;
}

static void rimless_wheel(void **state)
{
    (void)state;
    wheel_answer coarse = wheel(0.02), fine = wheel(0.01);
    print_message(
        "rimless wheel: %ld impacts, cycle off by %.2g, %.2g; loss %.2g, %.2g; drift %.2g, "
        "%.2g\n",
        fine.impacts, coarse.cycle, fine.cycle, coarse.loss, fine.loss, coarse.drift, fine.drift);
    assert_true(coarse.impacts > 5 && fabs(coarse.cycle) < 1e-3 && fabs(coarse.loss) < 1e-3);
    assert_true(fabs(coarse.cycle / fine.cycle) > 3 && fabs(coarse.loss / fine.loss) > 3);
    assert_true(coarse.drift / fine.drift > 3);
}

/* ---- Forces of joints ------------------------------------------------------------------------ */

/* A double pendulum with a spring, a damper, a servo, or a motor with an activation, beside the
 * same by dop853: what is not stiff has order two, and so has the balance of its energy. */
static double arm(const char *joint, const char *motor, double control, double h, double *drift)
{
    char text[1200];
    snprintf(text, sizeof text,
             "<worldbody><body><joint axis='0 1 0' %s/><geom type='capsule' size='.02' "
             "fromto='0 0 0 0 0 -.5' mass='1' contype='0' conaffinity='0'/><body pos='0 0 -.5'>"
             "<joint name='j' axis='0 1 0'/><geom type='capsule' size='.02' mass='1' "
             "fromto='0 0 0 0 0 -.4' contype='0' conaffinity='0'/></body></body></worldbody>"
             "<actuator>%s</actuator>",
             joint, motor);
    double end[2];
    for (int k = 0; k < 2; k++) {
        scene s = open_scene(text);
        const zw_run_options options = {.time = 1,
                                        .every = -1,
                                        .step = k ? h : 0,
                                        .tolerance = 1e-12,
                                        .method = k ? ZW_METHOD_IMPULSE : ZW_METHOD_DOP853};
        zw_run_summary summary;
        zw_error error = {0};
        q_of(&s)[1] = 1;
        if (zw_count(s.system, ZW_KIND_PARAM) > 0) {
            ((double *)zw_field(s.system, s.state, s.work, ZW_FIELD_PARAM).data)[0] = control;
        }
        must(zw_run(s.system, s.state, s.work, &options, &summary, &error), &error);
        end[k] = q_of(&s)[1];
        *drift = summary.energy_drift;
        close_scene(&s);
    }
    return fabs(end[1] - end[0]);
}

static void forces(void **state)
{
    (void)state;
    static const char *const joint[] = {"stiffness='4' springref='20'", "damping='1'", "", ""};
    static const char *const motor[] = {"", "", "<position joint='j' kp='5' kv='.5'/>",
                                        "<general joint='j' dyntype='filter' dynprm='.1'/>"};
    for (int k = 0; k < 4; k++) {
        double drift[2], one = arm(joint[k], motor[k], 0.5, 4e-3, &drift[0]);
        double half = arm(joint[k], motor[k], 0.5, 2e-3, &drift[1]);
        print_message("%s%s: %.2g, %.2g, ratio %.2f; drift %.1g, %.1g\n", joint[k], motor[k], one,
                      half, one / half, drift[0], drift[1]);
        assert_true(one < 0.02 && one / half > 3.5 && one / half < 4.5);
        assert_true(drift[0] / drift[1] > 3);
    }
}

/* ---- Limits of joints ------------------------------------------------------------------------ */

/* A knee that is stretched stops there, three times within two seconds, beside the same by dop853,
 * which knows limits as events: where and when it stops, what that takes, and the balance of
 * energy, to order two. */
static void knee(void **state)
{
    (void)state;
    static const double at[] = {0.5, 2};
    for (int k = 0; k < 2; k++) {
        double off[2], loss[2], drift[2];
        for (int half = 0; half < 2; half++) {
            double end[2][4], took[2];
            for (int by = 0; by < 2; by++) {
                scene s = open_scene(
                    "<worldbody><body><joint axis='0 1 0'/><geom type='capsule' size='.02' "
                    "fromto='0 0 0 0 0 -.5' mass='1' contype='0' conaffinity='0'/><body "
                    "pos='0 0 -.5'><joint axis='0 1 0' limited='true' range='-10 120'/><geom "
                    "type='capsule' size='.02' mass='1' fromto='0 0 0 0 0 -.4' contype='0' "
                    "conaffinity='0'/></body></body></worldbody>");
                const double q[] = {1, 1.5}, v[] = {-3, 2};
                const zw_run_options options = {.time = at[k],
                                                .every = -1,
                                                .step = by ? 0.005 / (1 + half) : 0,
                                                .tolerance = 1e-12,
                                                .method =
                                                    by ? ZW_METHOD_IMPULSE : ZW_METHOD_DOP853};
                zw_run_summary summary;
                zw_error error = {0};
                memcpy(q_of(&s), q, sizeof q);
                memcpy(v_of(&s), v, sizeof v);
                must(zw_run(s.system, s.state, s.work, &options, &summary, &error), &error);
                memcpy(end[by], q_of(&s), sizeof q);
                memcpy(end[by] + 2, v_of(&s), sizeof v);
                took[by] = summary.impact_loss;
                drift[half] = summary.energy_drift;
                assert_int_equal(summary.impacts, k ? 3 : 1);
                assert_int_equal(summary.late, 0);
                close_scene(&s);
            }
            off[half] = fabs(end[0][0] - end[1][0]);
            for (int i = 1; i < 4; i++) {
                off[half] = fmax(off[half], fabs(end[0][i] - end[1][i]));
            }
            loss[half] = fabs(took[1] - took[0]);
        }
        print_message("knee, t = %g: off by %.2g, %.2g; loss %.2g, %.2g; drift %.2g, %.2g\n", at[k],
                      off[0], off[1], loss[0], loss[1], drift[0], drift[1]);
        assert_true(off[0] < 0.01 && off[0] / off[1] > 3.5 && off[0] / off[1] < 4.5);
        assert_true(loss[0] / loss[1] > 3.5 && drift[0] / drift[1] > 3.5);
    }
}

/* ---- What a step costs is reported
 * ----------------------------------------------------------------
 */

static zw_run_summary run_from(const char *text, double speed, double tolerance, double h)
{
    scene s = open_scene(text);
    v_of(&s)[0] = speed;
    const zw_run_options options = {
        .time = 1, .every = -1, .step = h, .tolerance = tolerance, .method = ZW_METHOD_IMPULSE};
    zw_run_summary summary = {0};
    zw_run_verdict verdict;
    zw_error error = {0};
    must(zw_run(s.system, s.state, s.work, &options, &summary, &error), &error);
    zw_run_conclude(s.system, NULL, &summary, NULL, &verdict);
    int reported = 0;
    for (int i = 0; i < verdict.count; i++) {
        const char *name = verdict.line[i].name;
        reported += !strcmp(name, "linear") || !strcmp(name, "stiff") || !strcmp(name, "late") ||
                    !strcmp(name, "slow");
    }
    assert_int_equal(reported, (summary.linear > 0) + (summary.stiff > 0) + (summary.late > 0) +
                                   (summary.slow > 0));
    close_scene(&s);
    return summary;
}

static zw_run_summary run_at(const char *text, double tolerance, double h)
{
    return run_from(text, 0, tolerance, h);
}

/* Balls that fall from 1 m onto a floor, two or three at once: three are not located, and land at
 * the end of their step, sqrt(2/g) = 0.45152 s rounded up to whole steps. A servo of h^2 K/M = 100
 * and one linearisation count all steps. */
static void what_a_step_costs_is_reported(void **state)
{
    (void)state;
    const char *ball = "<body pos='%d 0 1.1'><freejoint/><geom size='.1'/></body>";
    for (int count = 2; count < 4; count++) {
        char text[600] = "<worldbody><geom type='plane' size='9 9 1'/>";
        for (int k = 0; k < count; k++) {
            snprintf(text + strlen(text), sizeof text - strlen(text), ball, k);
        }
        strcat(text, "</worldbody>");
        zw_run_summary it = run_at(text, 0, 0.01);
        assert_int_equal(it.late, count > 2);
        assert_int_equal(it.linear + it.stiff, 0);
        assert_true(count == 2 || fabs(it.late_by - (0.46 - sqrt(2 / G))) < 1e-9);
        assert_int_equal(run_at(text, 1, 0.01).linear, 100);
    }
    const char *servo = "<worldbody><body><joint name='j' type='slide'/><geom size='.1' mass='1'/>"
                        "</body></worldbody><actuator><position joint='j' kp='1e6'/></actuator>";
    assert_int_equal(run_at(servo, 0, 0.01).stiff, 100);
    assert_int_equal(run_at(servo, 0, 1e-5).stiff, 0);
}

/* From rest at x g h^2 above a floor, or above the limit of its joint, a ball meets it at the speed
 * sqrt(2 x) g h: below g h (x < 1/2) that is left to the end of the step, and reported, of one step
 * for each height; above it is an impact in the step. A ball with restitution that is too slow to
 * bounce (below 1/100 of g h, x < 5e-5) is reported as well; a little faster it bounces. Joints
 * that fall onto their limit with a speed c of their own land there if c > g h/2 - gap/h, half of
 * the mean speed that the step takes from them: else what is pressed against it would land again
 * and again, at the speed that the press gives in a step. What lies from the start lands nowhere.
 */
static void slow_landings(void **state)
{
    (void)state;
    const char *ball = "<custom><numeric name='restitution' data='%g'/></custom><worldbody>"
                       "<geom type='plane' size='9 9 1'/><body pos='0 0 %.17g'><freejoint/>"
                       "<geom size='.1'/></body><body pos='1 0 %.17g'><freejoint/>"
                       "<geom size='.1'/></body></worldbody>";
    const char *slide = "<worldbody><body><joint type='slide' axis='0 0 1' limited='true' "
                        "range='0 9' ref='%.17g'/><geom size='.1'/></body></worldbody>";
    const struct {
        double e, first, second;
        int steps, impacts;
    } list[] = {{0, 0.3, 0, 1, 0},    {0, 0.3, 0.45, 1, 0}, {0, 0.6, 0, 0, 1}, {0, 0.3, 3, 1, 1},
                {0.5, 4e-5, 0, 1, 0}, {0.5, 1e-4, 0, 0, 1}, {0, 0, 0, 0, 0}};
    const double h = 0.01, unit = G * h * h;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[600];
        snprintf(text, sizeof text, ball, list[i].e, 0.1 + list[i].first * unit,
                 0.1 + list[i].second * unit);
        zw_run_summary it = run_at(text, 0, h);
        assert_int_equal(it.slow, list[i].steps);
        assert_int_equal(it.impacts, list[i].impacts);
        assert_int_equal(it.late, 0);
    }
    const struct {
        double gap, speed;
        int fast;
    } limit[] = {{0.3, 0, 0},     {50, 0, 1},      {0.1, 0.3, 0},  {0.1, 0.5, 1}, {1e-4, 0.01, 0},
                 {1e-4, 0.45, 0}, {1e-4, 0.55, 1}, {0.76, 0.4, 1}, {0.84, 0.4, 0}};
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        char text[300];
        snprintf(text, sizeof text, slide, limit[i].gap * unit);
        zw_run_summary it = run_from(text, -limit[i].speed * G * h, 0, h);
        assert_int_equal(it.slow, !limit[i].fast);
        assert_int_equal(it.impacts, limit[i].fast);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turntable),
        cmocka_unit_test(coin),
        cmocka_unit_test(cart),
        cmocka_unit_test(bar),
        cmocka_unit_test(work_of_friction),
        cmocka_unit_test(forces),
        cmocka_unit_test(rimless_wheel),
        cmocka_unit_test(knee),
        cmocka_unit_test(what_a_step_costs_is_reported),
        cmocka_unit_test(slow_landings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
