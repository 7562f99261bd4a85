/* Many bodies that bounce: random scenes of rows, cradles, clusters in free flight, stacks and
 * bins, of all shapes, with random restitution and friction for each scene. No run ends with an
 * error, energy never grows, momentum is conserved without external forces, and no bodies overlap.
 *
 * ZW_CAMPAIGN scales the number of scenes ("small": a tenth; a number: a factor); CROWD_SEED and
 * CROWD_KIND choose one scene, which is printed. */
#include "touch.h"

#include "scene/campaign.h"
#include "scene/dice.h"

#include <time.h>

static int times(int usual)
{
    const char *size = getenv("ZW_CAMPAIGN");
    double factor = size ? atof(size) : 0;
    return factor > 0 ? (int)(usual * factor) : campaign(usual);
}

typedef enum kind { ROW, CRADLE, CLUSTER, STACK, BIN, KINDS } kind;

static const char *const kind_name[] = {"row", "cradle", "cluster", "stack", "bin"};

typedef struct crowd {
    char text[30000], *at;
    int bodies, speeds; /* of each */
    double e, mu, h, time, gravity;
    double v[300];
} crowd;

static void put(crowd *c, const char *form, ...)
{
    va_list list;
    va_start(list, form);
    int capacity = (int)(c->text + sizeof c->text - c->at);
    int length = vsnprintf(c->at, (size_t)capacity, form, list);
    va_end(list);
    assert_true(length < capacity);
    c->at += length;
}

/* A shape of about this size, one of `kinds`: ball, box, capsule, cylinder, hull, ellipsoid. */
static void put_shape(crowd *c, dice *d, double size, int kinds)
{
    int which = dice_int(d, 0, kinds - 1);
    double a = size * dice_between(d, 0.7, 1), b = size * dice_between(d, 0.4, 0.8);
    double density = dice_power(d, 2, 4);
    static const char *const type[] = {"sphere", "box", "capsule", "cylinder", "mesh", "ellipsoid"};
    put(c, "<geom type='%s' density='%g' friction='%g 0 0' condim='%d' ", type[which], density,
        c->mu, c->mu > 0 ? 3 : 1);
    if (which == 0) {
        put(c, "size='%.17g'/>", a);
    } else if (which == 4) {
        put(c, "mesh='hull'/>");
    } else if (which == 1 || which == 5) {
        put(c, "size='%.17g %.17g %.17g'/>", 0.7 * a, 0.7 * b, 0.5 * (a + b));
    } else {
        put(c, "size='%.17g %.17g'/>", 0.5 * b, 0.5 * a);
    }
}

static void begin(crowd *c, dice *d, double gravity)
{
    static const double es[] = {0, 0.3, 0.5, 0.9, 1}, mus[] = {0, 0.3, 1};
    static const double hs[] = {0.001, 0.002, 0.005, 0.01, 0.02};
    c->at = c->text;
    c->e = es[dice_int(d, 0, 4)];
    c->mu = mus[dice_int(d, 0, 2)];
    c->h = hs[dice_int(d, 0, 4)];
    c->gravity = gravity;
    put(c, "<option gravity='0 0 %g'/><custom><numeric name='restitution' data='%g'/></custom>",
        -gravity, c->e);
    put(c, "<asset><mesh name='hull' vertex='");
    for (int i = 0; i < 12; i++) {
        double x[3];
        dice_direction(d, x);
        put(c, "%.6f %.6f %.6f ", 0.09 * x[0], 0.08 * x[1], 0.07 * x[2]);
    }
    put(c, "'/></asset><worldbody>");
}

/* Balls along a line, masses of 0.1 to 10, gaps of zero to a millimetre, with or without walls at
 * the ends. */
static void make_row(crowd *c, dice *d)
{
    begin(c, d, 0);
    c->bodies = dice_int(d, 2, 30);
    c->speeds = 1;
    c->time = 0.3;
    int equal = dice_chance(d, 0.4), touching = dice_chance(d, 0.3), walls = dice_chance(d, 0.5);
    double x = 0;
    for (int i = 0; i < c->bodies; i++) {
        double gap = touching ? 0 : dice_power(d, -13, -3), m = equal ? 1 : dice_power(d, -1, 1);
        put(c,
            "<body pos='%.17g 0 0'><joint type='slide' axis='1 0 0'/><geom size='.1' mass='%.17g' "
            "condim='1'/></body>",
            x, m);
        c->v[i] = dice_chance(d, 0.5) ? 0 : dice_between(d, -2, 2);
        x += 0.2 + gap;
    }
    c->v[0] = 1;
    if (walls) {
        put(c, "<geom type='plane' size='0 0 1' pos='-.15 0 0' zaxis='1 0 0'/>");
        put(c, "<geom type='plane' size='0 0 1' pos='%.17g 0 0' zaxis='-1 0 0'/>", x);
    }
}

/* Pendulums side by side, some of them lifted. */
static void make_cradle(crowd *c, dice *d)
{
    begin(c, d, G);
    c->bodies = dice_int(d, 2, 9);
    c->speeds = 1;
    c->time = 0.6;
    double gap = dice_chance(d, 0.5) ? 0 : dice_power(d, -12, -4);
    for (int i = 0; i < c->bodies; i++) {
        put(c,
            "<body pos='%.17g 0 0'><joint axis='0 1 0'/><geom size='.05' pos='0 0 -.5' mass='%g' "
            "condim='1'/></body>",
            (0.1 + gap) * i, dice_chance(d, 0.7) ? 1 : 2.);
        c->v[i] = i == 0 ? dice_between(d, -3, -1) : 0; /* axis y: the first swings towards them */
    }
}

static void place(crowd *c, dice *d, double x, double y, double z)
{
    double n[3];
    dice_direction(d, n);
    put(c, "<body pos='%.17g %.17g %.17g' axisangle='%.17g %.17g %.17g %.17g'><freejoint/>", x, y,
        z, n[0], n[1], n[2], dice_between(d, 0, 180));
}

/* Bodies on a lattice in free flight, with velocities towards each other. */
static void make_cluster(crowd *c, dice *d)
{
    begin(c, d, 0);
    c->bodies = dice_int(d, 2, 8);
    c->speeds = 6;
    c->time = 0.15;
    for (int i = 0; i < c->bodies; i++) {
        double x[3] = {0.24 * (i % 2) - 0.12, 0.24 * (i / 2 % 2) - 0.12, 0.24 * (i / 4) - 0.12};
        place(c, d, x[0], x[1], x[2]);
        put_shape(c, d, 0.1, 6);
        put(c, "</body>");
        for (int k = 0; k < 3; k++) {
            c->v[6 * i + k] = -10 * x[k] + 0.5 * dice_bell(d);
            c->v[6 * i + 3 + k] = 5 * dice_bell(d);
        }
    }
}

static void make_stack(crowd *c, dice *d)
{
    begin(c, d, G);
    put(c, "<geom type='plane' size='0 0 1' friction='%g 0 0' condim='%d'/>", c->mu,
        c->mu > 0 ? 3 : 1);
    c->bodies = dice_int(d, 2, 6);
    c->speeds = 6;
    c->time = 0.4;
    double z = 0, gap = dice_chance(d, 0.4) ? 0 : dice_power(d, -12, -1);
    for (int i = 0; i < c->bodies; i++) {
        double half = dice_between(d, 0.03, 0.1);
        z += half + gap;
        put(c,
            "<body pos='%.17g %.17g %.17g'><freejoint/><geom type='box' size='%.17g .1 %.17g' "
            "mass='%.17g' friction='%g 0 0' condim='%d'/></body>",
            dice_between(d, -0.01, 0.01), dice_between(d, -0.01, 0.01), z,
            dice_between(d, 0.05, 0.12), half, dice_power(d, -1, 1), c->mu, c->mu > 0 ? 3 : 1);
        z += half;
    }
}

static void make_bin(crowd *c, dice *d)
{
    begin(c, d, G);
    const char *law = c->mu > 0 ? "friction='.5 0 0'" : "condim='1'";
    put(c, "<geom type='plane' size='0 0 1' %s/>", law);
    for (int k = 0; k < 4; k++) {
        double n[2] = {k < 2 ? 2 * k - 1 : 0, k < 2 ? 0 : 2 * k - 5};
        put(c, "<geom type='plane' size='0 0 1' pos='%g %g 0' zaxis='%g %g 0' %s/>", -0.25 * n[0],
            -0.25 * n[1], n[0], n[1], law);
    }
    c->bodies = dice_int(d, 3, 10);
    c->speeds = 6;
    c->time = 0.35;
    for (int i = 0; i < c->bodies; i++) {
        double x = 0.22 * (i % 2) - 0.11, y = 0.22 * (i / 2 % 2) - 0.11;
        place(c, d, x, y, 0.12 + 0.22 * (i / 4));
        put_shape(c, d, 0.1, 6);
        put(c, "</body>");
    }
}

static void make(crowd *c, kind which, uint64_t seed)
{
    dice d = dice_of(seed * KINDS + (uint64_t)which);
    memset(c, 0, sizeof *c);
    (which == ROW       ? make_row
     : which == CRADLE  ? make_cradle
     : which == CLUSTER ? make_cluster
     : which == STACK   ? make_stack
                        : make_bin)(c, &d);
    put(c, "</worldbody><keyframe><key name='k' qvel='");
    for (int i = 0; i < c->bodies * c->speeds; i++) {
        put(c, "%.17g ", c->v[i]);
    }
    put(c, "'/></keyframe>");
}

/* Energy and speeds at the ends of steps. */
typedef struct watch {
    int begun;
    double energy, grown;
    int speeds;    /* of a body; 6: the last three of them turn it */
    double turned; /* fastest */
} watch;

static int look(void *user, zw_sample_kind what, int event, const zw_system *system,
                const zw_state *state, zw_work *work)
{
    watch *w = user;
    double energy = zw_field(system, state, work, ZW_FIELD_ENERGY).data[0];
    (void)what, (void)event;
    w->grown = w->begun ? fmax(w->grown, energy - w->energy) : 0;
    w->energy = energy;
    w->begun = 1;
    zw_view v = zw_field(system, state, work, ZW_FIELD_V);
    for (int i = 0; i < v.count; i++) {
        w->turned = fmax(w->turned, w->speeds == 6 && i % 6 < 3 ? 0 : fabs(v.data[i]));
    }
    return 0;
}

typedef struct outcome {
    double grown, drift; /* relative to the energy */
    double turned, depth, seconds;
    zw_error error;
    zw_status status;
    zw_run_summary summary;
} outcome;

static outcome play(const crowd *c)
{
    outcome out = {0};
    watch w = {.speeds = c->speeds};
    scene s = open_scene(c->text);
    memcpy(v_of(&s), c->v, (size_t)(c->bodies * c->speeds) * sizeof(double));
    zw_run_options options = {.time = c->time,
                              .every = -1,
                              .step = c->h,
                              .method = ZW_METHOD_IMPULSE,
                              .observer = look,
                              .user = &w};
    clock_t start = clock();
    out.status = zw_run(s.system, s.state, s.work, &options, &out.summary, &out.error);
    out.seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    double size = fmax(fabs(out.summary.energy_start), 1e-3);
    out.grown = w.grown / size;
    out.drift = out.summary.energy_drift * (1 + fabs(out.summary.energy_start)) / size;
    out.depth = out.summary.depth;
    out.turned = c->h * w.turned;
    close_scene(&s);
    return out;
}

static void tell(const crowd *c, kind which, uint64_t seed, const outcome *it)
{
    print_message(
        "%s %d: %d bodies, e %g, mu %g, h %g: turns by %.2g, grown %.2g, drift %.2g, depth %.2g, "
        "%ld impacts, halved %ld, inexact %ld, certificate %.1g, %.2f s %s\n",
        kind_name[which], (int)seed, c->bodies, c->e, c->mu, c->h, it->turned, it->grown, it->drift,
        it->depth, it->summary.impacts, it->summary.halved, it->summary.inexact,
        it->summary.certificate, it->seconds, it->status == ZW_OK ? "" : it->error.text);
}

static void campaign_of(kind which, int count)
{
    static crowd c;
    double grown = 0, depth = 0, drift = 0;
    int bad = 0;
    const char *seed = getenv("CROWD_SEED"), *only = getenv("CROWD_KIND");
    if (only && strcmp(only, kind_name[which]) != 0) {
        return;
    }
    for (int k = seed ? atoi(seed) : 1; k <= (seed ? atoi(seed) : count); k++) {
        make(&c, which, (uint64_t)k);
        outcome it = play(&c);
        /* between impacts a row of balls has no error; that of a rotating body oscillates with the
         * square of its rotation in a step */
        double may = which == ROW ? 1e-13 : 1e-6 + it.turned * it.turned;
        int wrong = it.status != ZW_OK || !(it.grown < may) || !(it.depth < 1e-6);
        if (seed) {
            printf("<mujoco>%s</mujoco>\n", c.text); /* zwang run: --key k --method impulse */
        }
        if (wrong || seed || it.seconds > 5 || getenv("CROWD_ALL")) {
            tell(&c, which, (uint64_t)k, &it);
        }
        bad += wrong;
        grown = fmax(grown, it.grown);
        depth = fmax(depth, it.depth);
        drift = fmax(drift, it.drift);
    }
    print_message("%d %ss: %d bad; grown by %.2g, drift %.2g, depth %.2g\n", count,
                  kind_name[which], bad, grown, drift, depth);
    assert_int_equal(bad, 0);
}

static void rows(void **state)
{
    (void)state;
    campaign_of(ROW, times(20));
}

static void cradles(void **state)
{
    (void)state;
    campaign_of(CRADLE, times(10));
}

static void clusters(void **state)
{
    (void)state;
    campaign_of(CLUSTER, times(10));
}

static void stacks(void **state)
{
    (void)state;
    campaign_of(STACK, times(5));
}

static void bins(void **state)
{
    (void)state;
    campaign_of(BIN, times(3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),   cmocka_unit_test(cradles), cmocka_unit_test(clusters),
        cmocka_unit_test(stacks), cmocka_unit_test(bins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
