/* The path of two geoms through a step (contact_path.c): its bounds hold along the whole path.
 *
 * Chains of hinges, slides, balls and free bodies carry spheres, capsules and boxes out of their
 * middles, and go on by random speeds, q(t) = q0 (+) t u. At many instants of each way all corners,
 * ends and middles are placed anew and compared with what was promised: how far they go at most,
 * for how long a plane divides two, and when two meet. */
#include <math.h>

#include "system/contact/contact_path.h"
#include "system/soft_scene.h"
#include "tree/sweeps.h"

enum { INSTANTS = 24, POINTS = 8 };

static uint64_t seed;

static double between(double low, double high)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}

static const char *const text =
    "<mujoco><option timestep='0.01'/><worldbody>"
    "<geom type='box' size='.1 .2 .05' pos='.5 .3 .2' euler='20 30 40'/>"
    "<body pos='0 0 .5'><joint type='hinge' axis='1 2 1'/><geom type='box' size='.1 .05 .2' "
    "pos='.1 .2 .1'/><body pos='.3 .1 .2'><joint type='slide' axis='0 1 1'/>"
    "<joint type='hinge' axis='0 0 1' pos='.1 0 0'/><geom type='capsule' size='.03 .2' pos='0 .1 "
    ".1' "
    "euler='10 70 0'/><body pos='0 .3 0'><joint type='ball'/><geom type='sphere' size='.1' "
    "pos='.2 0 -.1'/></body></body></body>"
    "<body pos='.4 -.2 .3'><freejoint/><geom type='box' size='.02 .3 .01' pos='.05 .2 0'/>"
    "<body pos='0 .2 .1'><joint type='hinge' axis='1 0 0'/><geom type='capsule' size='.02 .15' "
    "pos='.1 .2 0'/></body></body>"
    "<body pos='.8 .3 .3'><freejoint/><geom type='sphere' size='.07'/></body>"
    "</worldbody></mujoco>";

/* A plane that turns and rises, and bodies above it. */
static const char *const tilting =
    "<mujoco><option timestep='0.01'/><worldbody>"
    "<body pos='.2 0 0'><joint type='slide' axis='0 0 1'/><joint type='hinge' axis='1 .5 0'/>"
    "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><geom type='plane' size='0 0 1'/></body>"
    "<body pos='0 .3 1.5'><freejoint/><geom type='box' size='.5 .3 .05'/></body>"
    "<body pos='-1 0 1.5'><joint type='hinge' axis='0 1 0'/><geom type='capsule' size='.05 .4' "
    "pos='.3 0 .1'/></body><body pos='1 1 1.5'><freejoint/><geom size='.3'/></body>"
    "</worldbody></mujoco>";

typedef struct way {
    scene s;
    contact_path path;
    contact_work work;
    double *q, *u;
    double h;
} way;

static void open_way(way *w, const char *file)
{
    *w = (way){.s = scene_open(file, 0.01)};
    w->q = calloc((size_t)w->s.system->nq, sizeof(double));
    w->u = calloc((size_t)w->s.system->n, sizeof(double));
    assert_true(w->q && w->u);
    assert_int_equal(contact_path_create(&w->path, w->s.system), ZW_OK);
    assert_int_equal(contact_work_create(&w->work, w->s.system->bodies->contact), ZW_OK);
}

static void close_way(way *w)
{
    contact_path_free(&w->path);
    contact_work_free(&w->work);
    free(w->q);
    free(w->u);
    close_scene(&w->s);
}

/* A start near the one of the file, and a way from there. */
static void draw(way *w)
{
    double by = between(0, 1), fast = pow(10, between(-1, 2));
    memcpy(w->s.q, w->s.system->bodies->q, (size_t)w->s.system->nq * sizeof(double));
    for (int i = 0; i < w->s.system->n; i++) {
        w->u[i] = by * between(-1, 1);
    }
    system_move(w->s.system, w->s.q, 1, w->u);
    for (int i = 0; i < w->s.system->n; i++) {
        w->u[i] = fast * between(-1, 1);
    }
    w->h = between(0, 2) / fast;
    contact_path_begin(&w->path, w->s.q, w->u, w->h);
}

/* All geoms at time t, and the sweeps with the speeds u. */
static void place(way *w, double t)
{
    const zw_system *system = w->s.system;
    const contact_world *world = system->bodies->contact;
    memcpy(w->q, w->s.q, (size_t)system->nq * sizeof(double));
    system_move(system, w->q, t, w->u);
    tree_kinematics(system->tree, w->q, w->s.work->sweeps);
    tree_velocities(system->tree, w->u, w->s.work->sweeps);
    for (int g = 0; g < world->geom_count; g++) {
        contact_place(system, &world->geom[g], w->s.work->sweeps, &w->work.pose[g]);
    }
}

/* Points of the core of a geom, of which it is the hull, made thicker: so many. */
static int points_of(const way *w, int g, double to[POINTS][3])
{
    const contact_geom *geom = &w->s.system->bodies->contact->geom[g];
    const collide_pose *pose = &w->work.pose[g];
    int kind = (int)geom->shape.kind;
    int count = kind == COLLIDE_SPHERE ? 1 : kind == COLLIDE_CAPSULE ? 2 : 8;
    for (int k = 0; k < count; k++) {
        double at[3] = {0};
        if (kind == COLLIDE_CAPSULE) {
            at[2] = (2 * k - 1) * geom->shape.size[1];
        }
        for (int i = 0; i < 3 && kind == COLLIDE_BOX; i++) {
            at[i] = (k >> i & 1 ? 1 : -1) * geom->shape.size[i];
        }
        for (int i = 0; i < 3; i++) {
            to[k][i] = pose->pos[i] + pose->R[3 * i] * at[0] + pose->R[3 * i + 1] * at[1] +
                       pose->R[3 * i + 2] * at[2];
        }
    }
    return count;
}

static double distance(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

/* No point goes farther than the bounds say, and what turns about one axis goes as far. */
static void points_go_no_farther(void **state)
{
    (void)state;
    way w;
    open_way(&w, text);
    int geoms = w.s.system->bodies->contact->geom_count;
    double closest = 0;
    seed = 1;
    for (int trial = 0; trial < 300; trial++) {
        double length[16], reach[16], from[16][POINTS][3];
        draw(&w);
        place(&w, 0);
        for (int g = 0; g < geoms; g++) {
            length[g] = contact_path_length(&w.path, g);
            reach[g] = contact_path_reach(&w.path, g, &w.work.pose[g], w.s.work->sweeps);
            points_of(&w, g, from[g]);
        }
        for (int k = 1; k <= INSTANTS; k++) {
            place(&w, w.h * k / INSTANTS);
            for (int g = 0; g < geoms; g++) {
                double now[POINTS][3];
                for (int i = points_of(&w, g, now) - 1; i >= 0; i--) {
                    double gone = distance(now[i], from[g][i]);
                    assert_true(gone <= length[g] * (1 + 1e-12) + 1e-13);
                    assert_true(gone <= reach[g] * (1 + 1e-12) + 1e-13);
                    closest = fmax(closest, reach[g] > 0 ? gone / reach[g] : 0);
                }
            }
        }
    }
    assert_true(closest > 0.99); /* a bound that is never reached says little */
    close_way(&w);
}

/* How far the corners of a are in front of those of b, along n. */
static double ahead(const way *w, int a, int b, const double n[3])
{
    double p[POINTS][3], most = -HUGE_VAL, least = HUGE_VAL;
    for (int k = points_of(w, a, p) - 1; k >= 0; k--) {
        most = fmax(most, n[0] * p[k][0] + n[1] * p[k][1] + n[2] * p[k][2]);
    }
    for (int k = points_of(w, b, p) - 1; k >= 0; k--) {
        least = fmin(least, n[0] * p[k][0] + n[1] * p[k][1] + n[2] * p[k][2]);
    }
    return most - least;
}

/* For as long as it is said, two come no nearer along n than by what was allowed, before and after;
 * and where they go straight at each other, that is just how long. */
static void planes_divide(void **state)
{
    (void)state;
    way w;
    open_way(&w, text);
    int geoms = w.s.system->bodies->contact->geom_count;
    double used = 0;
    seed = 2;
    for (int trial = 0; trial < 2000; trial++) {
        draw(&w);
        int a = (int)between(0, geoms), b = (int)between(0, geoms);
        double n[3] = {between(-1, 1), between(-1, 1), between(-1, 1)}, t = between(0, w.h);
        double size = distance(n, (double[3]){0}), toward = between(0, 1) < 0.5 ? -1 : 1;
        double apart = pow(10, between(-4, 0.5));
        for (int i = 0; i < 3; i++) {
            n[i] /= size;
        }
        place(&w, t);
        double begun = ahead(&w, a, b, n);
        double safe = contact_path_safe(&w.path, &w.work, a, b, w.s.work->sweeps, n, apart, toward);
        double end = fmin(safe, toward > 0 ? w.h - t : t);
        for (int k = 1; k <= INSTANTS; k++) {
            place(&w, t + toward * end * k / INSTANTS);
            double nearer = ahead(&w, a, b, n) - begun;
            assert_true(nearer <= apart * (1 + 1e-9) + 1e-12);
            used = fmax(used, nearer / apart);
        }
    }
    assert_true(used > 0.99);
    close_way(&w);
}

/* The least gap of two geoms where they are now, or HUGE_VAL. */
static double gap_of(const way *w, int a, int b)
{
    const contact_geom *geom = w->s.system->bodies->contact->geom;
    collide_point point[128];
    int count = collide_pair(&geom[a].shape, &w->work.pose[a], &geom[b].shape, &w->work.pose[b], 10,
                             point, 128);
    double least = HUGE_VAL;
    for (int k = 0; k < count && k < 128; k++) {
        least = fmin(least, point[k].gap);
    }
    return least;
}

/* Two meet when they are said to, and not before; what is not said to meet does not go through. */
static void check_meetings(const char *file)
{
    way w;
    open_way(&w, file);
    int geoms = w.s.system->bodies->contact->geom_count, met = 0;
    seed = 3;
    for (int trial = 0; trial < 5000; trial++) {
        draw(&w);
        int a = (int)between(0, geoms), b = (int)between(0, geoms), sure = 1;
        place(&w, 0);
        if (a == b || gap_of(&w, a, b) < 1e-3) {
            continue;
        }
        double hair = contact_path_hair(&w.path, &w.work, a, b);
        double depth = contact_path_depth(&w.path, a, b);
        double at = contact_path_meet(&w.path, &w.work, a, b, w.h, 0, &sure);
        double end = fmin(at, w.h);
        assert_true(sure && hair < 1e-6);
        for (int k = 1; k <= INSTANTS; k++) { /* beyond `end` what is left is too short a way */
            place(&w, end * k / INSTANTS);
            assert_true(gap_of(&w, a, b) > (at < w.h ? -hair : -depth));
        }
        if (at < w.h) {
            place(&w, at);
            assert_true(gap_of(&w, a, b) <= 2 * hair);
            met++;
        }
    }
    assert_true(met > 200);
    close_way(&w);
}

static void two_meet(void **state)
{
    (void)state;
    check_meetings(text);
    check_meetings(tilting);
}

/* Two balls that fly straight on come nearest at t = -p.v/v.v: contact_meet is right about whether
 * they touch before h, also where they nearly miss each other. */
static void balls_meet_or_pass(void **state)
{
    (void)state;
    const double R = 0.17, h = 0.5;
    scene s = scene_open("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body><body "
                         "pos='2 0 0'><freejoint/><geom size='.07'/></body></worldbody></mujoco>",
                         0.01);
    const zw_system *system = s.system;
    contact_work work;
    int met = 0, near = 0;
    assert_int_equal(contact_work_create(&work, system->bodies->contact), ZW_OK);
    for (int k = 0; k < 2000; k++) {
        double q[14] = {[3] = 1, [10] = 1}, v[12] = {0}, p[3], w[3], pp = 0, pw = 0, ww = 0;
        double to = between(-1.5, 1.5) * R, fast = between(0.5, 6);
        for (int i = 0; i < 3; i++) {
            double both = between(-3, 3);
            q[i] = between(-1, 1);
            p[i] = (i == k % 3 ? 1 : i == (k + 1) % 3 ? to : 0);
            w[i] = i == k % 3 ? -fast : 0;
            q[7 + i] = q[i] + p[i];
            v[i] = both;
            v[6 + i] = both + w[i];
            pp += p[i] * p[i];
            pw += p[i] * w[i];
            ww += w[i] * w[i];
        }
        double t = fmin(h, -pw / ww), least = sqrt(pp + 2 * t * pw + t * t * ww) - R;
        tree_kinematics(system->tree, q, s.work->sweeps);
        tree_velocities(system->tree, v, s.work->sweeps);
        for (int g = 0; g < 2; g++) {
            contact_place(system, &system->bodies->contact->geom[g], s.work->sweeps, &work.pose[g]);
        }
        if (fabs(least) > 1e-4 * R) {
            double far = sqrt(pp), n[3] = {p[0] / far, p[1] / far, p[2] / far};
            assert_int_equal(contact_meet(system, &work, 0, 1, s.work->sweeps, h, 0, far - R, n),
                             least < 0);
            met += least < 0;
            near += fabs(least) < 0.05 * R;
        }
    }
    assert_true(met > 300 && met < 1700 && near > 20);
    contact_work_free(&work);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(points_go_no_farther),
                                       cmocka_unit_test(planes_divide), cmocka_unit_test(two_meet),
                                       cmocka_unit_test(balls_meet_or_pass)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
