/* Derivatives of an instant with contacts, against extrapolated central differences of zw_forward:
 * contacts that stick, slide, roll, begin to slide, several of a body, with joints, loops, limits,
 * friction of joints and motors.
 *
 * A state beside the current one must touch as it does, or it is another problem. So q moves along
 * directions d that keep all gaps, v along such that keep what is closed closed and what sticks
 * sticking, and where q moves, v follows by B dv = -psi_q d. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "look/slopes/slopes_bodies.h"

#include "../system/world.h"
#include "system/bodies/bodies.h"

enum { WIDE = 200 };
static zw_error error;

typedef struct scene {
    const char *name, *file, *text;
    double before; /* how long it has moved already */
    double wide;   /* the tolerance; 0: 1e-8 */
    int kinks;     /* so many, and nothing to compare */
} scene;

static world begin(const scene *of)
{
    world w = {0};
    w.model = of->file ? zw_model_read(of->file, NULL, &w.error)
                       : zw_model_parse(of->text, "test.xml", NULL, &w.error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, &w.assembly, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    for (int k = 0; k < w.system->bodies->motor_count; k++) {
        state_param(w.state)[w.system->bodies->motor[k].param] += 0.1 * ((k % 3) - 0.7);
    }
    if (of->before > 0) {
        zw_run_options options = {.time = of->before, .method = ZW_METHOD_IMPULSE};
        zw_run_summary summary;
        if (zw_run(w.system, w.state, w.work, &options, &summary, &w.error) != ZW_OK) {
            fail_msg("%s: %s", of->name, w.error.text);
        }
    }
    return w;
}

/* ---- Directions ------------------------------------------------------------------------------ */

/* Rows that hold: of positions only, or of all speeds. [count][n]; slip: which number each has. */
static int rows_of(const slopes_bodies *s, int positions, double *rows, int *slip)
{
    int count = 0, n = s->system->n;
    for (int h = 0; h < s->holds; h++) {
        const slopes_hold *it = &s->hold[h];
        int of = positions && it->kind == HOLD_POINT ? 1 : it->unknowns;
        of = positions && it->kind == HOLD_DRY ? 0 : of;
        for (int r = 0; r < of; r++, count++) {
            memcpy(rows + count * n, s->B + (size_t)(it->first + r) * (size_t)n,
                   (size_t)n * sizeof *rows);
            slip[count] = it->first + r;
        }
    }
    return count;
}

/* x less its part along the rows. */
static void take_out(int count, int n, const double *rows, double *x)
{
    static double off[WIDE], w[WIDE];
    for (int r = 0; r < count; r++) {
        off[r] = 0;
        for (int i = 0; i < n; i++) {
            off[r] += rows[r * n + i] * x[i];
        }
    }
    assert_true(count == 0 || slopes_some(count, n, rows, off, w));
    for (int i = 0; i < n && count > 0; i++) {
        x[i] -= w[i];
    }
}

/* Direction c of q, v, t, parameters: [2 n + 1 + params]. */
static void direction(const slopes_bodies *s, int c, double *to)
{
    static double rows[WIDE * WIDE], psi[WIDE], dv[WIDE];
    static int slip[WIDE];
    int n = s->system->n, all = 2 * n + 1 + s->system->shape.params;
    memset(to, 0, (size_t)all * sizeof *to);
    to[c] = 1;
    if (c < n) {
        take_out(rows_of(s, 1, rows, slip), n, rows, to);
        int count = rows_of(s, 0, rows, slip);
        for (int r = 0; r < count; r++) {
            psi[r] = 0;
            for (int j = 0; j < n; j++) {
                psi[r] -= s->psi_by[(size_t)j * (size_t)s->values + (size_t)slip[r]] * to[j];
            }
        }
        assert_true(count == 0 || slopes_some(count, n, rows, psi, dv));
        memcpy(to + n, dv, (count > 0 ? (size_t)n : 0) * sizeof *dv);
    } else if (c < 2 * n) {
        take_out(rows_of(s, 0, rows, slip), n, rows, to + n);
    }
}

/* ---- Differences ----------------------------------------------------------------------------- */

/* Points that push. */
static int pushing(const zw_work *work)
{
    int count = 0;
    for (int k = 0; work->touched && k < work->touched->count; k++) {
        count += work->touched->contact[k].force[0] > 0;
    }
    return count;
}

/* 0: what touches there is something else. */
static int moved(world *w, const double *along, double h, double *a, int points)
{
    const zw_system *system = w->system;
    int n = system->n;
    zw_state *at = NULL;
    assert_int_equal(zw_state_copy(w->state, &at, &error), ZW_OK);
    system_move(system, state_q(at), h, along);
    for (int i = 0; i < n; i++) {
        state_v(at)[i] += h * along[n + i];
    }
    at->t += h * along[2 * n];
    for (int i = 0; i < system->shape.params; i++) {
        state_param(at)[i] += h * along[2 * n + 1 + i];
    }
    zw_status status = zw_forward(system, at, w->work, NULL, &error);
    memcpy(a, w->work->a, (size_t)n * sizeof *a);
    zw_state_free(at);
    return status == ZW_OK && pushing(w->work) == points;
}

/* Of order six, by the length at which those of order four agree best with them. */
static int differ(world *w, const double *along, double *to)
{
    static const double part[6] = {-3, -2, -1, 1, 2, 3};
    static const double length[] = {3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2};
    static double y[6][WIDE], six[WIDE];
    int n = w->system->n, found = 0;
    double best = INFINITY;
    zw_forward(w->system, w->state, w->work, NULL, &error);
    int points = pushing(w->work);
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        double h = length[i], apart = 0, size = 1;
        int good = 1;
        for (int k = 0; k < 6; k++) {
            good &= moved(w, along, h * part[k], y[k], points);
        }
        for (int k = 0; k < n && good; k++) {
            double one = y[3][k] - y[2][k], two = y[4][k] - y[1][k], three = y[5][k] - y[0][k];
            double four = (8 * one - two) / (12 * h);
            six[k] = (45 * one - 9 * two + three) / (60 * h);
            apart = fmax(apart, fabs(four - six[k]));
            size = fmax(size, fabs(four));
        }
        if (good && apart / size < best) {
            memcpy(to, six, (size_t)n * sizeof *to);
            best = apart / size;
        }
        found |= good;
    }
    return found;
}

static double compare(const scene *of)
{
    static double along[3 * WIDE], theirs[WIDE];
    world w = begin(of);
    zw_slopes *slopes = zw_slopes_create(w.model, w.system, &error);
    zw_slopes_answer x;
    double worst = 0;
    int n = w.system->n, worst_at = -1;
    assert_true(n <= WIDE);
    if (!slopes || zw_slopes_look(slopes, w.state, &x, &error) != ZW_OK) {
        fail_msg("%s: %s", of->name, error.text);
    }
    assert_int_equal(x.kinks > 0, of->kinks > 0);
    for (int c = 0; c < x.columns && x.kinks == 0; c++) {
        double size = 1, far = 0;
        direction(slopes->bodies, c, along);
        if (!differ(&w, along, theirs)) {
            fail_msg("%s: %s", of->name, error.text);
        }
        for (int i = 0; i < n; i++) {
            double ours = 0;
            for (int k = 0; k < x.columns; k++) {
                ours += x.a_by[(size_t)k * (size_t)n + (size_t)i] * along[k];
            }
            size = fmax(size, fabs(theirs[i]));
            far = fmax(far, fabs(theirs[i] - ours));
        }
        worst_at = far / size > worst ? c : worst_at;
        worst = fmax(worst, far / size);
    }
    int slides = 0;
    for (int h = 0; h < slopes->bodies->holds; h++) {
        slides += slopes->bodies->hold[h].way != WAY_HELD;
    }
    printf("%-30s n %3d, %2d hold, %2d slide, off by %.1e in column %d, %d kinks %s\n", of->name, n,
           slopes->bodies->holds, slides, worst, worst_at, x.kinks, x.kink ? x.kink : "");
    zw_slopes_free(slopes);
    world_end(&w);
    return worst;
}

#define FLOOR "<geom type='plane' size='5 5 1' friction='.01 0 0'/>"
#define FREE(place, geom)                                                                          \
    "<body pos='" place "' euler='0 0 20'><freejoint/><geom mass='1' " geom "/></body>"
#define OF(option, inside)                                                                         \
    "<mujoco><option timestep='0.002' " option "/><worldbody>" inside "</worldbody></mujoco>"
#define ARM                                                                                        \
    "<body pos='0 0 1'><joint name='a' type='ball' damping='0.1' stiffness='2'/><geom type='box' " \
    "size='.1 .2 .3' pos='.1 .1 .1' contype='0' conaffinity='0'/><site name='tip' pos='.3 0 0'/>"  \
    "<body pos='0.4 0 0'><joint name='b' axis='1 2 3' frictionloss='0.7' stiffness='3'/><joint "   \
    "name='c' type='slide' axis='0 1 1' range='-1 0.01' limited='true'/><geom size='.1' pos='.1 "  \
    ".1 0' contype='0' conaffinity='0'/></body></body>"
#define MOTORS                                                                                     \
    "<actuator><motor joint='b' forcerange='-.1 .1' forcelimited='true'/><position joint='c' "     \
    "kp='40' kv='3'/><motor site='tip' gear='1 2 0 0 0 1' ctrlrange='-1 1' ctrllimited='true'/>"   \
    "</actuator>"
#define CART                                                                                       \
    "<mujoco><option timestep='0.002' gravity='0 0 -9.81'/><worldbody>" FLOOR                      \
    "<body pos='0 0 .2'><freejoint/><geom type='box' size='.3 .1 .05' mass='3'/>"                  \
    "<body pos='.2 .15 -.1'><joint name='l' axis='0 1 0' damping='.01'/><geom type='sphere' "      \
    "size='.1' mass='.5' friction='.8 0 0'/></body><body pos='.2 -.15 -.1'><joint name='r' "       \
    "axis='0 1 0' damping='.01'/><geom type='sphere' size='.1' mass='.5' friction='.8 0 0'/>"      \
    "</body><body pos='-.2 0 -.1'><geom type='sphere' size='.1' mass='.5' friction='.05 0 0'/>"    \
    "</body></body></worldbody><actuator><motor joint='l' ctrlrange='-1 1' ctrllimited='true'/>"   \
    "<velocity joint='r' kv='.2'/></actuator></mujoco>"
#define SLIDER(geom, lift)                                                                         \
    "<body pos='0 0 .1'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1' " lift  \
    "/><geom size='.1' mass='1' " geom "/></body>"
#define EXAMPLE(path) .file = ZW_SOURCE_DIR "/examples/" path

static const scene scenes[] = {
    {.name = "a ball that rests", .text = OF("", FLOOR FREE("0 0 .1", "size='.1'"))},
    {.name = "a ball that slides",
     .text = OF("gravity='6 1 -9'", FLOOR FREE("0 0 .1", "size='.1' friction='.1 0 0'")),
     .before = .1},
    {.name = "a ball that begins to slide",
     .text = OF("gravity='6 1 -9'", FLOOR FREE("0 0 .1", "size='.1' friction='.1 0 0'"))},
    {.name = "an arm with activations",
     .text = "<mujoco><option timestep='0.002'/><worldbody>" ARM "</worldbody><actuator><general "
             "joint='b' dyntype='filter' dynprm='.02' gainprm='3' biastype='affine' biasprm='0 -2 "
             "-.1'/><general site='tip' gear='1 2 0 0 0 1' dyntype='integrator' gainprm='2'/>"
             "</actuator><keyframe><key ctrl='.3 .5'/></keyframe></mujoco>",
     .before = .1},
    {.name = "a block that begins to slide slowly", /* a few 1e-5 of gravity are not round-off */
     .text = OF("gravity='2.0001 0 -10'", FLOOR SLIDER("friction='.2 0 0'", ""))},
    {.name = "a block that is about to slide",
     .text = OF("gravity='2 0 -10'", FLOOR SLIDER("friction='.2 0 0'", "")),
     .kinks = 1},
    {.name = "a block that parts slowly",
     .text = OF("gravity='0 0 -10'",
                FLOOR SLIDER("friction='.2 0 0'", "stiffness='100' springref='.10001'"))},
    {.name = "a ball that rolls",
     .text = OF("gravity='2 1 -9'", FLOOR FREE("0 0 .1", "size='.1' friction='.5 0 0'")),
     .before = .3},
    {.name = "spin and rolling friction",
     .text =
         OF("gravity='2 1 -9'", FLOOR FREE("0 0 .1", "size='.1' condim='6' friction='.5 .01 .01'")),
     .before = .3},
    {.name = "a box that rests",
     .text = OF("", FLOOR FREE("0 0 .1", "type='box' size='.2 .3 .1' friction='.5 0 0'"))},
    {.name = "a box that slides",
     .text = OF("gravity='6 1 -9'",
                FLOOR FREE("0 0 .1", "type='box' size='.2 .3 .1' friction='.3 0 0'")),
     .before = .1,
     .kinks = 1},
    {.name = "without friction", .text = OF("", FLOOR FREE("0 0 .1", "size='.1' condim='1'"))},
    {.name = "a capsule that rolls",
     .text = OF("gravity='1 3 -9'", FLOOR "<body pos='0 0 .1' euler='90 0 0'><freejoint/><geom "
                                          "type='capsule' size='.1 .2' mass='1' "
                                          "friction='.7 0 0'/></body>"),
     .before = .2},
    {.name = "a cylinder that tips over on its rim", /* its lowest point turns 19 times as much */
     .text = OF("gravity='1 .5 -9'", FLOOR "<body pos='0 0 .104' euler='3 0 10'><freejoint/>"
                                           "<geom type='cylinder' size='.08 .1' mass='1' "
                                           "friction='.7 0 0'/></body>"),
     .before = .02},
    {.name = "joints of all kinds",
     .text = "<mujoco><option timestep='0.002'/><worldbody>" ARM "</worldbody>" MOTORS "</mujoco>",
     .before = .1},
    {.name = "a cart on three balls", .text = CART, .before = .2},
    {.name = "a ball in a bowl of spheres",
     .text = OF("gravity='0 0 -9'",
                "<geom size='.3' pos='.2 0 0'/><geom size='.3' pos='-.1 .17320508075688772 0'/>"
                "<geom size='.3' pos='-.1 -.17320508075688772 0'/>" FREE(
                    "0 0 .4472135954999579", "size='.18989794855663558' friction='.6 0 0'"))},
    {.name = "quadruped", EXAMPLE("contact/quadruped.xml"), .before = .3},
    {.name = "skid steer", EXAMPLE("contact/skid_steer.xml"), .before = .3, .kinks = 1},
};

static void test_scenes(void **state)
{
    (void)state;
    int bad = 0;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        bad += !(compare(&scenes[k]) <= (scenes[k].wide > 0 ? scenes[k].wide : 1e-8));
    }
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scenes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
