/* Contact scenarios of other engines, and how fast errors decrease with the step.
 *
 *     scenarios          tables; some minutes
 *
 * The largest stable steps and the obstacle are those of the robot simulator Axion. */
#include <string.h>

#include "measure.h"
#include "model/pose.h"
#include "scene/skid.h"

/* ---- The largest stable step ----------------------------------------------------------------- */

typedef int stable(double h, void *user);

/* Doubling from `first` up to `most`, then bisection to a millisecond. */
static double largest_step(stable *is_stable, void *user, double first, double most)
{
    double good = 0, bad = first;
    while (is_stable(bad, user)) {
        good = bad;
        if (bad >= most) {
            return good;
        }
        bad = fmin(2 * bad, most);
    }
    while (good > 0 && bad - good > 1e-3) {
        double middle = 0.5 * (good + bad);
        *(is_stable(middle, user) ? &good : &bad) = middle;
    }
    return good;
}

typedef struct boxes {
    double half[3], density;
} boxes;

static int boxes_stand(double h, void *user)
{
    const boxes *b = user;
    const double *a = b->half, top = 2 * a[0] + 2 * a[1] + a[2];
    const double z[3] = {a[0], 2 * a[0] + a[1], top};
    char text[2000];
    touch s;
    int used = snprintf(text, sizeof text,
                        "<mujoco><worldbody><geom type='plane' size='0 0 1' friction='.1 0 0'/>");
    for (int i = 0; i < 3; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "<body pos='0 0 %g'><freejoint/><geom type='box' size='%g %g %g' "
                         "density='%g' friction='.1 0 0'/></body>",
                         z[i], a[i], a[i], a[i], b->density);
    }
    snprintf(text + used, sizeof text - (size_t)used, "</worldbody></mujoco>");
    int good = touch_parse(&s, text, NULL) == ZW_OK;
    for (double t = h; good && t < 3 + h; t += h) {
        good = touch_run(&s, t, h) == ZW_OK &&
               fabs(touch_field(&s, ZW_FIELD_Q)[16] - top) <= 0.1; /* 3.0 of the scenario */
    }
    touch_close(&s);
    return good;
}

typedef struct servo {
    double kp, kd;
} servo;

static double servo_angle(double h, const servo *gain, double until)
{
    char text[1000];
    touch s;
    snprintf(text, sizeof text,
             "<mujoco><worldbody><body pos='0 0 2'><joint name='j' axis='0 -1 0' damping='%.17g'/>"
             "<geom type='box' size='.5 .05 .05' pos='.5 0 0' mass='1'/></body></worldbody>"
             "<actuator><position joint='j' kp='%.17g'/></actuator>"
             "<keyframe><key name='go' ctrl='1.0471975511965976'/></keyframe></mujoco>",
             gain->kd, gain->kp);
    double worst = touch_parse(&s, text, "go") == ZW_OK ? 0 : INFINITY;
    for (double t = h; worst < 4 && t < until + h; t += h) {
        int good = touch_run(&s, t, h) == ZW_OK;
        worst = good ? fmax(worst, fabs(touch_field(&s, ZW_FIELD_Q)[0])) : INFINITY;
    }
    touch_close(&s);
    return worst;
}

static int pendulum_holds(double h, void *user)
{
    return servo_angle(h, user, 3) < acos(-1);
}

static void longest_steps(void)
{
    boxes light = {{0.3, 0.6, 1.2}, 500}, heavy = {{0.2, 0.8, 1.6}, 1500};
    servo one = {1000, 25};
    printf("\n## Largest stable step\n\n| scenario | step [s], 2 is the ceiling |\n|---|---|\n");
    printf("| stacked boxes 64:1 | %.3f |\n", largest_step(boxes_stand, &light, 0.01, 2));
    printf("| stacked boxes 512:1 | %.3f |\n", largest_step(boxes_stand, &heavy, 0.01, 2));
    printf("| pendulum control | %.3f |\n", largest_step(pendulum_holds, &one, 0.001, 2));
    printf("\nThe servo's largest angle (wanted: 1.0472) at 50 ms, kd = 2 sqrt(kp/3):");
    static const double kp[] = {10, 100, 1000, 5000};
    for (int k = 0; k < 4; k++) {
        servo gain = {kp[k], 2 * sqrt(kp[k] / 3)};
        printf(" kp %g: %.4f%s", kp[k], servo_angle(0.05, &gain, 3), k < 3 ? "," : ".\n");
    }
    fflush(stdout);
}

/* ---- Over an obstacle ----------------------------------------------------------------------- */

enum { TENTHS = 81 };
#define LOOK 4.0 /* seconds that are compared: by then the vehicle has crossed */

typedef struct track {
    double place[TENTHS][3]; /* every tenth of a second */
    int known[TENTHS];
    double across; /* when it was a metre beyond the middle of the obstacle; 0: never */
    int good;      /* it passes the scenario's test */
} track;

/* Drives from a start that is `off` farther away: for this time, and at most eight seconds until it
 * is across. */
static void drive(skid trial, double h, double until, double off, track *out)
{
    *out = (track){.good = skid_open(&trial, off) == ZW_OK};
    double before = 0;
    for (long k = 0, steps = (long)ceil(8 / h - 1e-9); k < steps && out->good; k++) {
        if (trial.t > until - 1e-9 && out->across > 0) {
            break;
        }
        out->good = skid_step(&trial, h) == ZW_OK;
        const double *q = skid_place(&trial);
        double goal = trial.x + 1;
        out->good &= q[2] > 0.05 && q[2] < 2;
        if (out->across == 0 && q[0] > goal) {
            out->across = trial.t - h * (q[0] - goal) / (q[0] - before);
        }
        long tenth = lround(10 * trial.t);
        if (tenth < TENTHS && fabs(10 * trial.t - (double)tenth) < 1e-6) {
            memcpy(out->place[tenth], q, sizeof out->place[tenth]);
            out->known[tenth] = 1;
        }
        before = q[0];
    }
    out->good &= out->across > 0;
    touch_close(&trial.s);
}

static int drives(double h, void *user)
{
    static track out;
    drive(*(skid *)user, h, 8, 0, &out);
    return out.good;
}

/* The largest distance within the first `until` tenths. */
static double apart(const track *a, const track *b, int until)
{
    double worst = 0;
    for (int i = 0; i <= until; i++) {
        double d[3];
        for (int k = 0; k < 3 && a->known[i] && b->known[i]; k++) {
            d[k] = a->place[i][k] - b->place[i][k];
        }
        worst = a->known[i] && b->known[i] ? fmax(worst, sqrt(model_dot(d, d))) : worst;
    }
    return worst;
}

static void compare(const track *a, const track *exact)
{
    if (!a->good) {
        printf(" fails |");
    } else {
        printf(" %.3f, %.3f m; %+.3f s |", apart(a, exact, 20), apart(a, exact, (int)(10 * LOOK)),
               a->across - exact->across);
    }
}

static void trials(void)
{
    static const double steps[] = {0.01, 0.05, 0.1, 0.2, 0.0001};
    enum { STEPS = sizeof steps / sizeof *steps };
    double largest[10], late[STEPS][10], soon[STEPS][10];
    dice d = dice_of(6);
    printf(
        "| trial | largest stable step [s] | crosses at | 10 ms | 50 ms | 100 ms | 200 ms | 0.1 ms "
        "|\n|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < 10; i++) {
        static track exact, other;
        skid trial = skid_next(&d);
        largest[i] = largest_step(drives, &trial, 0.01, 0.4);
        drive(trial, 0.00005, LOOK, 0, &exact);
        printf("| %d | %.3f | %.3f s |", i + 1, largest[i], exact.across);
        for (int k = 0; k < STEPS; k++) {
            drive(trial, steps[k], k < STEPS - 1 ? 8 : LOOK, 0, &other);
            compare(&other, &exact);
            late[k][i] = fabs(other.across - exact.across);
            soon[k][i] = apart(&other, &exact, 20);
        }
        printf("\n");
        fflush(stdout);
    }
    printf("| median | %.3f | |", median(largest, 10));
    for (int k = 0; k < STEPS; k++) {
        printf(" %.3f m; %.3f s |", median(soon[k], 10), median(late[k], 10));
    }
    printf("\n");
}

static void growth(void)
{
    static const double off[] = {1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4};
    static track exact, other;
    dice d = dice_of(6);
    skid trial = skid_next(&d);
    drive(trial, 5e-4, LOOK, 0, &exact);
    printf(
        "\nTrial 1 at 0.5 ms, the start moved along x [m]; how far apart the two runs are then:\n\n"
        "| moved | 1.5 s | 2 s | 2.5 s | 3 s | 4 s |\n|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof off / sizeof *off; k++) {
        static const int when[] = {15, 20, 25, 30, 40};
        drive(trial, 5e-4, LOOK, off[k], &other);
        printf("| %.0e |", off[k]);
        for (int i = 0; i < 5; i++) {
            printf(" %.1e |", apart(&other, &exact, when[i]));
        }
        printf("\n");
    }
    fflush(stdout);
}

static void obstacle(void)
{
    printf(
        "\n## Skid-steer robot over an obstacle\n\n"
        "Ten trials (half height .07-.09, place 1.5-2.5, speed 3.5-4.5, yaw +-.1): the largest "
        "step, up to 0.4 s, of the\nscenario's test over 8 s (.05 < z < 2, passes the obstacle); "
        "when a run with 0.05 ms passes it; and against that run:\nhow far the robot is from "
        "there at most within 2 s, within 4 s, and how much later it passes. The last column "
        "says how\nfar that run is to be trusted.\n\n");
    trials();
    growth();
}

/* ---- Errors against solutions in closed form ------------------------------------------------ */

/* A ball of radius .11 and friction .2 that falls from a height with v and omega: the error of its
 * final position. */
static double ball(double h, double height, double v, double omega)
{
    const double g = 9.81, R = 0.11, mu = 0.2, until = 2.5;
    touch s;
    if (touch_parse(&s,
                    "<mujoco><worldbody><geom type='plane' size='0 0 1' friction='.2 0 0'/>"
                    "<body pos='0 0 .11'><freejoint/><geom size='.11' friction='.2 0 0'/></body>"
                    "</worldbody></mujoco>",
                    NULL) != ZW_OK) {
        return NAN;
    }
    double *q = touch_field(&s, ZW_FIELD_Q), *u = touch_field(&s, ZW_FIELD_V);
    double down = sqrt(2 * g * height), air = down / g, sign = v - R * omega > 0 ? 1 : -1;
    double w = omega + 2.5 * sign * mu * down / R, x = v * air;
    q[2] += height;
    u[0] = v;
    u[4] = omega;
    v -= sign * mu * down;
    double slip = v - R * w, slid = fmin(2 * fabs(slip) / (7 * mu * g), until - air);
    x += v * slid - 0.5 * (slip > 0 ? 1 : -1) * mu * g * slid * slid +
         (5 * v + 2 * R * w) / 7 * (until - air - slid);
    double off = touch_run(&s, until, h) == ZW_OK ? fabs(q[0] - x) : NAN;
    touch_close(&s);
    return off;
}

static double sliding_ball(double h)
{
    return ball(h, 0, 5, 20);
}

static double falling_ball(double h)
{
    return ball(h, 0.3, 5, -60);
}

/* A ladder of length 2 slides down a wall without friction and leaves it at 2/3 of its height. */
static double ladder(double h)
{
    const double theta = 1.2;
    char text[900];
    touch s;
    snprintf(text, sizeof text,
             "<mujoco><compiler angle='radian'/><default><geom friction='0 0 0' condim='1'/>"
             "</default><worldbody><geom type='plane' size='0 0 1' pos='0 0 -.01'/>"
             "<geom type='plane' size='0 0 1' pos='-.01 0 0' zaxis='1 0 0'/>"
             "<body pos='%.17g 0 %.17g' euler='0 %.17g 0'><freejoint/>"
             "<inertial pos='0 0 0' mass='1' diaginertia='%.17g %.17g 1e-6'/>"
             "<geom type='capsule' size='.01 1'/></body></worldbody></mujoco>",
             cos(theta), sin(theta), -(acos(0) - theta), 1.0 / 3, 1.0 / 3);
    double off = NAN;
    if (touch_parse(&s, text, NULL) == ZW_OK && touch_run(&s, 0.75, h) == ZW_OK) {
        off = fabs(touch_field(&s, ZW_FIELD_V)[0] - 1.3285546835385096);
    }
    touch_close(&s);
    return off;
}

/* A cube at 6 m/s with mu .5 stops after v^2 / 2 mu g. */
static double cube(double h)
{
    touch s;
    double off = NAN;
    if (touch_parse(&s,
                    "<mujoco><worldbody><geom type='plane' size='0 0 1' friction='.5 0 0'/>"
                    "<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' "
                    "friction='.5 0 0'/></body></worldbody></mujoco>",
                    NULL) == ZW_OK) {
        touch_field(&s, ZW_FIELD_V)[0] = 6;
        off = touch_run(&s, 2, h) == ZW_OK
                  ? fabs(touch_field(&s, ZW_FIELD_Q)[0] - 36 / (2 * 0.5 * 9.81))
                  : NAN;
    }
    touch_close(&s);
    return off;
}

static void orders(void)
{
    static const struct {
        const char *name, *what;
        double (*error)(double h);
    } list[] = {{"ball slides, then rolls", "place [m]", sliding_ball},
                {"ball falls, slides, rolls", "place [m]", falling_ball},
                {"ladder leaves the wall", "speed [m/s]", ladder},
                {"cube stops", "way [m]", cube}};
    enum { HALVES = 6 };
    printf(
        "\n## How errors shrink with the step\n\nAgainst solutions in closed form, steps from 20 "
        "ms halved five times.\n\n| scene | error of | 20 ms | 5 ms | 0.625 ms | order |\n"
        "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        double error[HALVES], h = 0.02, sx = 0, sy = 0, sxx = 0, sxy = 0;
        for (int k = 0; k < HALVES; k++, h /= 2) {
            error[k] = list[i].error(h);
            double x = log(h), y = log(error[k]);
            sx += x;
            sy += y;
            sxx += x * x;
            sxy += x * y;
        }
        printf("| %s | %s | %.1e | %.1e | %.1e | %.2f |\n", list[i].name, list[i].what, error[0],
               error[2], error[5], (HALVES * sxy - sx * sy) / (HALVES * sxx - sx * sx));
    }
    fflush(stdout);
}

/* ---- A free body ---------------------------------------------------------------------------- */

/* A body that tumbles freely for 2 s: the relative error of its angular momentum. */
static double tumble(double h, double *energy)
{
    static const double J[3] = {0.1, 0.2, 0.25};
    touch s;
    double own[3], L[3], first[3], quat[4], off = 0, start = 0;
    *energy = 0;
    if (touch_parse(&s,
                    "<mujoco><option gravity='0 0 0'/><worldbody><geom type='plane' size='0 0 1'/>"
                    "<body pos='0 0 5'><freejoint/><inertial pos='0 0 0' mass='1' "
                    "diaginertia='.1 .2 .25'/><geom type='box' size='.2 .1 .1'/></body>"
                    "</worldbody></mujoco>",
                    NULL) != ZW_OK) {
        return NAN;
    }
    double *u = touch_field(&s, ZW_FIELD_V), *q = touch_field(&s, ZW_FIELD_Q);
    u[3] = 0.1;
    u[4] = 6;
    u[5] = 0.1;
    for (long k = 0, steps = lround(2 / h); k <= steps; k++) {
        double T = 0;
        if (k > 0 && touch_run(&s, (double)k * h, h) != ZW_OK) {
            off = NAN;
            break;
        }
        for (int i = 0; i < 3; i++) {
            own[i] = J[i] * u[3 + i];
            T += 0.5 * own[i] * u[3 + i];
        }
        memcpy(quat, q + 3, sizeof quat);
        model_rotate(quat, own, L);
        if (k == 0) {
            memcpy(first, L, sizeof first);
            start = T;
        }
        double d[3] = {L[0] - first[0], L[1] - first[1], L[2] - first[2]};
        off = fmax(off, sqrt(model_dot(d, d) / model_dot(first, first)));
        *energy = fmax(*energy, fabs(T / start - 1));
    }
    touch_close(&s);
    return off;
}

static void free_body(void)
{
    static const double steps[] = {0.05, 0.01, 0.001};
    printf(
        "\n## Free body\n\nA body with moments .1, .2, .25 spun about the middle one at 6 rad/s: "
        "largest relative error within 2 s, of speeds and\nplaces at the ends of steps. "
        "Axion's angular momentum grows by 116 %%.\n\n| step | angular momentum | energy |\n"
        "|---|---|---|\n");
    for (int k = 0; k < 3; k++) {
        double energy, off = tumble(steps[k], &energy);
        printf("| %g | %.1e | %.1e |\n", steps[k], off, energy);
    }
    fflush(stdout);
}

int main(void)
{
    longest_steps();
    free_body();
    orders();
    obstacle();
    return 0;
}
