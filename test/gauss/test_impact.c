/* The law of impact: closed forms, symmetry, momentum and energy, over rows and random clusters.
 * ZW_CAMPAIGN scales the random part: "small" is a tenth, a number is a factor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gauss/contact/impact.h"
#include "scene/campaign.h"
#include "scene/dice.h"

static int times(int usual)
{
    const char *size = getenv("ZW_CAMPAIGN");
    double factor = size ? atof(size) : 0;
    return factor > 0 ? (int)(usual * factor) : campaign(usual);
}

static double energy_of(int n, const double *mass, const double *v)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += 0.5 * mass[i] * v[i] * v[i];
    }
    return sum;
}

static double momentum_of(int n, const double *mass, const double *v)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += mass[i] * v[i];
    }
    return sum;
}

/* ---- Rows of balls --------------------------------------------------------------------------- */

enum { MOST_BALLS = 50 };

/* Balls 0 to n - 1 that touch; `scale` multiplies the gap between i and i + 1, if it is given. */
static gauss_impact_answer row(int n, const double *mass, double e, const double *scale,
                               zw_impact_law law, double *v)
{
    gauss_impact *x = gauss_impact_create();
    gauss_impact_answer answer;
    zw_error error = {0};
    const zw_metric metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass};
    assert_non_null(x);
    gauss_impact_begin(x, n, &metric);
    for (int i = 0; i + 1 < n; i++) {
        const int column[] = {i, i + 1};
        double unit = scale ? scale[i] : 1;
        const double value[] = {-unit, unit};
        const zw_block block = {.kind = ZW_INEQUALITY, .rows = 1};
        const gauss_impact_contact contact = {.pair = i, .restitution = e};
        gauss_impact_block(x, &block, &contact);
        gauss_impact_row(x, 2, column, value, 0);
    }
    assert_int_equal(gauss_impact_solve(x, law, ZW_CONTACT_COULOMB, v, &answer, &error), ZW_OK);
    gauss_impact_free(x);
    return answer;
}

/* Equal balls at rest, hit by one at speed 1. Sequential law: the last leaves with
 * ((1 + e)/2)^(n - 1), and for e = 1 it is the only one that moves. Simultaneous law with e = 1:
 * v becomes 2 P v - v, with P v the common speed 1/n: that is 2/n - 1 and 2/n. */
static void equal_balls(void **state)
{
    (void)state;
    const double es[] = {0, 0.3, 0.5, 0.9, 1};
    for (int n = 2; n <= MOST_BALLS; n++) {
        for (int k = 0; k < 5; k++) {
            double mass[MOST_BALLS], v[MOST_BALLS] = {1}, w[MOST_BALLS] = {1}, e = es[k];
            for (int i = 0; i < n; i++) {
                mass[i] = 1;
            }
            gauss_impact_answer a = row(n, mass, e, NULL, ZW_IMPACT_SEQUENTIAL, v);
            gauss_impact_answer b = row(n, mass, e, NULL, ZW_IMPACT_SIMULTANEOUS, w);
            double last = pow((1 + e) / 2, n - 1);
            double tight = e > 0 || n < 20 ? 1e-13 : 1e-8; /* one problem of the kernel */
            assert_true(v[n - 1] >= last - 1e-12);         /* others may follow and push */
            for (int i = 0; i < n; i++) {
                assert_true(e < 1 || fabs(v[i] - (i == n - 1)) < 1e-15);
                double exact = (1 + e) / n - (i == 0 ? e : 0);
                assert_true(fabs(w[i] - exact) < (n < 20 ? 1e-12 : 1e-8)); /* the kernel */
            }
            assert_true(e < 0.5 || n > 5 || fabs(v[n - 1] - last) < 1e-14);
            assert_true(fabs(momentum_of(n, mass, v) - 1) < 1e-12 && a.share == 1);
            assert_true(fabs(momentum_of(n, mass, w) - 1) < 1e-12);
            assert_true(fabs(0.5 - energy_of(n, mass, v) - a.loss) < tight && a.loss >= 0);
            assert_true(fabs(0.5 - energy_of(n, mass, w) - b.loss) < 1e-8 && b.loss > -1e-12);
        }
    }
}

/* Three balls in closed form. Masses 1, 1, 1 and restitution e: first 1 and 2 collide, then 2 and
 * 3. */
static void three_balls(void **state)
{
    (void)state;
    double mass[3] = {1, 1, 1}, v[3] = {1, 0, 0}, w[3] = {1, 0, 0};
    row(3, mass, 1, NULL, ZW_IMPACT_DEFAULT, v);
    row(3, mass, 1, NULL, ZW_IMPACT_SIMULTANEOUS, w);
    assert_true(fabs(v[0]) < 1e-15 && fabs(v[1]) < 1e-15 && fabs(v[2] - 1) < 1e-15);
    assert_true(fabs(w[0] + 1. / 3) < 1e-14 && fabs(w[1] - 2. / 3) < 1e-14);
    assert_true(fabs(w[2] - 2. / 3) < 1e-14);
    double light[3] = {2, 1, 0.5}, u[3] = {1, 0, 0}; /* two impacts, of 2 with 1 and 1 with 0.5 */
    row(3, light, 0.5, NULL, ZW_IMPACT_SEQUENTIAL, u);
    double second = 2 * 1.5 / 3, third = second * 1.5 / 1.5;
    assert_true(fabs(u[2] - third) < 1e-15 && fabs(u[0] - (1 - second / 2)) < 1e-15);
    assert_true(fabs(u[1] - (second - third / 2)) < 1e-15);
    double end[2] = {1, 1}, z[2] = {-1, 1}; /* parting: nothing happens */
    assert_int_equal(row(2, end, 1, NULL, ZW_IMPACT_SEQUENTIAL, z).any, 0);
    assert_true(z[0] == -1 && z[1] == 1);
}

/* Ball 0 comes with (aside, 1) and touches 1 and 2 at 30 degrees to either side; masses 1, e = 1.
 */
static gauss_impact_answer break_two(double aside, double *v)
{
    gauss_impact *x = gauss_impact_create();
    gauss_impact_answer answer;
    zw_error error = {0};
    const double mass[6] = {1, 1, 1, 1, 1, 1}, start[6] = {aside, 1};
    const zw_metric metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass};
    gauss_impact_begin(x, 6, &metric);
    for (int i = 0; i < 2; i++) {
        const int column[] = {0, 1, 2 + 2 * i, 3 + 2 * i};
        double along = i ? 0.5 : -0.5, up = 0.5 * sqrt(3);
        const double value[] = {-along, -up, along, up};
        const zw_block block = {.kind = ZW_INEQUALITY, .rows = 1};
        const gauss_impact_contact contact = {.pair = i, .restitution = 1};
        gauss_impact_block(x, &block, &contact);
        gauss_impact_row(x, 4, column, value, 0);
    }
    memcpy(v, start, sizeof start);
    assert_int_equal(
        gauss_impact_solve(x, ZW_IMPACT_SEQUENTIAL, ZW_CONTACT_COULOMB, v, &answer, &error), ZW_OK);
    gauss_impact_free(x);
    return answer;
}

/* Two impacts count as equally strong if they agree to round-off, but not to six digits only. */
static void equal_strengths(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        double v[6];
        break_two(sign * 1e-11, v); /* both at once: back with 1/5 */
        assert_true(fabs(v[1] + 0.2) < 1e-10 && fabs(v[0]) < 1e-10);
        break_two(sign * 1e-7, v); /* first the stronger, which takes 3/4 of the speed */
        assert_true(fabs(v[1] + 0.125) < 1e-6 && fabs(v[0] + sign * 0.125 * sqrt(3)) < 1e-6);
    }
}

/* Weak impacts count: the third ball moves away with 1 - 1e-8 and is hit. But three balls that hit
 * each other again and again come to rest after a bounded number of impacts. */
static void weak_impacts(void **state)
{
    (void)state;
    double mass[3] = {1, 1, 1}, v[3] = {1, 0, 1 - 1e-8};
    row(3, mass, 1, NULL, ZW_IMPACT_SEQUENTIAL, v);
    assert_true(fabs(v[0]) < 1e-14 && fabs(v[1] - (1 - 1e-8)) < 1e-14 && fabs(v[2] - 1) < 1e-14);
    double heavy[3] = {1.8, 1, 2}, w[3] = {1, 0, -0.9}; /* without momentum */
    gauss_impact_answer answer = row(3, heavy, 0.1, NULL, ZW_IMPACT_SEQUENTIAL, w);
    assert_true(answer.rounds > 30 && answer.rounds < 80);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(w[i]) < 1e-14);
    }
}

/* The row written from right to left gives the same, to round-off. Units of the gaps do not matter.
 */
static void rows_are_symmetric(void **state)
{
    (void)state;
    dice d = dice_of(5);
    for (int trial = 0; trial < 100; trial++) {
        int n = dice_int(&d, 2, MOST_BALLS);
        double e = dice_chance(&d, 0.3) ? 1 : dice_between(&d, 0, 1);
        zw_impact_law law = trial % 2 ? ZW_IMPACT_SEQUENTIAL : ZW_IMPACT_SIMULTANEOUS;
        double mass[MOST_BALLS], back[MOST_BALLS], v[MOST_BALLS], w[MOST_BALLS], u[MOST_BALLS],
            s[MOST_BALLS], scale[MOST_BALLS];
        int random = dice_chance(&d, 0.5);
        for (int i = 0; i < n; i++) {
            mass[i] = random ? dice_power(&d, -1, 1) : 1;
            v[i] = s[i] = dice_between(&d, -1, 1);
            scale[i] = dice_power(&d, -3, 3);
        }
        for (int i = 0; i < n; i++) {
            back[i] = mass[n - 1 - i];
            w[i] = -v[n - 1 - i];
        }
        double before = energy_of(n, mass, v), p = momentum_of(n, mass, v), size = sqrt(before);
        memcpy(u, v, sizeof u);
        gauss_impact_answer a = row(n, mass, e, NULL, law, v);
        row(n, back, e, NULL, law, w);
        row(n, mass, e, scale, law, s);
        double off = 0, off_scale = 0;
        for (int i = 0; i < n; i++) {
            off = fmax(off, sqrt(mass[i]) * fabs(v[i] + w[n - 1 - i]) / size);
            off_scale = fmax(off_scale, sqrt(mass[i]) * fabs(v[i] - s[i]) / size);
            assert_true(i == 0 || v[i] - v[i - 1] > -1e-10);
        }
        assert_true(energy_of(n, mass, v) <= before * (1 + 1e-12));
        assert_true(fabs(before - energy_of(n, mass, v) - a.loss) <= 1e-11 * before);
        assert_true(fabs(momentum_of(n, mass, v) - p) < 1e-12 * size * 10);
        if (!(off < 1e-12) || !(off_scale < 1e-12)) {
            print_error("n %d, e %g, law %d: mirror %.2g, scale %.2g\n", n, e, (int)law, off,
                        off_scale);
            fail();
        }
    }
}

/* ---- Clusters with friction ------------------------------------------------------------------ */

enum { BODIES = 6, CONTACTS = 8, N = 6 * BODIES };

typedef struct cluster {
    int bodies, contacts, free; /* free: nothing touches the ground */
    double mass[N], v[N];
    int a[CONTACTS], b[CONTACTS]; /* b < 0: the ground */
    double J[CONTACTS][3][N], mu[CONTACTS], e[CONTACTS];
} cluster;

static void cross(const double *x, const double *y, double *z)
{
    z[0] = x[1] * y[2] - x[2] * y[1];
    z[1] = x[2] * y[0] - x[0] * y[2];
    z[2] = x[0] * y[1] - x[1] * y[0];
}

static void add_side(cluster *c, int k, int body, double sign, const double arm[3],
                     double frame[3][3])
{
    for (int r = 0; r < 3; r++) {
        double turn[3];
        cross(arm, frame[r], turn);
        for (int i = 0; i < 3; i++) {
            c->J[k][r][6 * body + i] = sign * frame[r][i];
            c->J[k][r][6 * body + 3 + i] = sign * turn[i];
        }
    }
}

static cluster make_cluster(dice *d, int smooth)
{
    cluster c = {.bodies = dice_int(d, 1, BODIES), .contacts = dice_int(d, 1, CONTACTS), .free = 1};
    for (int i = 0; i < c.bodies; i++) {
        double m = dice_power(d, -1, 1);
        for (int k = 0; k < 6; k++) {
            c.mass[6 * i + k] = k < 3 ? m : m * dice_between(d, 0.01, 0.1);
            c.v[6 * i + k] = dice_bell(d);
        }
    }
    for (int k = 0; k < c.contacts; k++) {
        double frame[3][3], other[3], arm[3];
        c.a[k] = dice_int(d, 0, c.bodies - 1);
        c.b[k] = dice_int(d, -1, c.bodies - 1);
        c.b[k] = c.b[k] == c.a[k] ? -1 : c.b[k];
        c.free &= c.b[k] >= 0;
        c.mu[k] = smooth || dice_chance(d, 0.2) ? 0 : dice_between(d, 0, 2);
        c.e[k] = dice_chance(d, 0.2) ? 1 : dice_chance(d, 0.2) ? 0 : dice_between(d, 0, 1);
        dice_direction(d, frame[0]);
        dice_direction(d, other);
        cross(frame[0], other, frame[1]);
        double length =
            sqrt(frame[1][0] * frame[1][0] + frame[1][1] * frame[1][1] + frame[1][2] * frame[1][2]);
        for (int i = 0; i < 3; i++) {
            frame[1][i] /= length;
        }
        cross(frame[0], frame[1], frame[2]);
        for (int i = 0; i < 3; i++) {
            arm[i] = dice_between(d, -0.3, 0.3);
        }
        add_side(&c, k, c.a[k], 1, arm, frame);
        for (int i = 0; i < 3; i++) {
            arm[i] = dice_between(d, -0.3, 0.3);
        }
        if (c.b[k] >= 0) {
            add_side(&c, k, c.b[k], -1, arm, frame);
        }
    }
    return c;
}

static zw_status hit(const cluster *c, zw_impact_law law, double *v, gauss_impact_answer *answer)
{
    gauss_impact *x = gauss_impact_create();
    zw_error error = {0};
    const zw_metric metric = {.kind = ZW_METRIC_DIAGONAL, .value = c->mass};
    gauss_impact_begin(x, 6 * c->bodies, &metric);
    for (int k = 0; k < c->contacts; k++) {
        int rows = c->mu[k] > 0 ? 3 : 1;
        const zw_block block = {.kind = rows > 1 ? ZW_CONE : ZW_INEQUALITY,
                                .rows = rows,
                                .friction = {c->mu[k], c->mu[k]}};
        const gauss_impact_contact contact = {.pair = k, .restitution = c->e[k]};
        gauss_impact_block(x, &block, &contact);
        for (int r = 0; r < rows; r++) {
            gauss_impact_row(x, 6 * c->bodies, NULL, c->J[k][r], 0);
        }
    }
    memcpy(v, c->v, sizeof c->v);
    zw_status status = gauss_impact_solve(x, law, ZW_CONTACT_COULOMB, v, answer, &error);
    gauss_impact_free(x);
    return status;
}

static double speed_of(const cluster *c, int k, const double *v)
{
    double sum = 0;
    for (int i = 0; i < 6 * c->bodies; i++) {
        sum += c->J[k][0][i] * v[i];
    }
    return sum;
}

typedef struct tally {
    int hits, scaled, relaxed, unlike;
    double gained, miss, approach, momentum, mirror;
} tally;

static void note(const cluster *c, const double *v, const gauss_impact_answer *answer, tally *t)
{
    int n = 6 * c->bodies;
    double before = energy_of(n, c->mass, c->v), after = energy_of(n, c->mass, v), p[3] = {0};
    t->hits += answer->any;
    t->scaled += answer->share < 1;
    t->relaxed += answer->relaxed;
    t->gained = fmax(t->gained, (after - before) / before);
    t->miss = fmax(t->miss, fabs(before - after - answer->loss) / before);
    for (int k = 0; k < c->contacts; k++) {
        t->approach = fmax(t->approach, -speed_of(c, k, v));
    }
    for (int i = 0; i < n && c->free; i++) {
        if (i % 6 < 3) {
            p[i % 6] += c->mass[i] * (v[i] - c->v[i]);
        }
    }
    t->momentum = fmax(t->momentum, fmax(fabs(p[0]), fmax(fabs(p[1]), fabs(p[2]))));
}

/* In random clusters of bodies with friction up to 2 and any restitution no impact gains energy, no
 * contact continues to close, and momentum is conserved. The mirror image of a problem has the
 * mirror image of the solution, to the bit: a mirror changes signs of unknowns, and computed
 * numbers depend on these only in their own sign (reflections: see lq_reflect in dense_lq.c). */
static void clusters(int smooth, int count)
{
    dice d = dice_of(smooth ? 21 : 20);
    tally t = {0};
    for (int trial = 0; trial < count; trial++) {
        cluster c = make_cluster(&d, smooth), mirror = c;
        double v[N], w[N], sign[N];
        gauss_impact_answer answer, other;
        zw_impact_law law = trial % 2 ? ZW_IMPACT_SEQUENTIAL : ZW_IMPACT_SIMULTANEOUS;
        if (hit(&c, law, v, &answer) != ZW_OK) {
            print_error("cluster %d has no answer\n", trial);
            fail();
        }
        note(&c, v, &answer, &t);
        for (int i = 0; i < N; i++) { /* y becomes -y */
            sign[i] = i % 6 == 1 || i % 6 == 3 || i % 6 == 5 ? -1 : 1;
            mirror.v[i] = sign[i] * c.v[i];
            for (int k = 0; k < c.contacts; k++) {
                for (int r = 0; r < 3; r++) {
                    mirror.J[k][r][i] = sign[i] * c.J[k][r][i];
                }
            }
        }
        assert_int_equal(hit(&mirror, law, w, &other), ZW_OK);
        double worst = 0;
        for (int i = 0; i < 6 * c.bodies; i++) {
            worst = fmax(worst, fabs(v[i] - sign[i] * w[i]));
        }
        t.unlike += worst > 0;
        t.mirror = fmax(t.mirror, worst);
    }
    printf(
        "%d clusters, %s: %d impacts, restitution reduced in %d, convex law in %d; energy gained "
        "%.2g, not explained %.2g, approach left %.2g, momentum %.2g, mirror %.2g (%d)\n",
        count, smooth ? "smooth" : "rough", t.hits, t.scaled, t.relaxed, t.gained, t.miss,
        t.approach, t.momentum, t.mirror, t.unlike);
    assert_true(t.gained <= 1e-12);
    assert_true(t.miss <= 1e-9);
    assert_true(t.approach <= 1e-7);
    assert_true(t.momentum <= 1e-12);
    assert_int_equal(t.unlike, 0);
}

static void smooth_clusters(void **state)
{
    (void)state;
    clusters(1, times(500));
}

static void rough_clusters(void **state)
{
    (void)state;
    clusters(0, times(100));
}

/* A double pendulum hits the floor (Kane and Levinson 1985): Newton's law of restitution with
 * friction would gain energy; here energy never grows. Two rods of length 1 and mass 1, tip on a
 * rough floor. */
static void kanes_pendulum_gains_nothing(void **state)
{
    (void)state;
    const double a = 20 * 3.14159265358979 / 180, b = 30 * 3.14159265358979 / 180;
    /* T = (4/3 a'^2 + 1/3 b'^2 + cos(a - b) a' b')/2; tip (sin a + sin b, -cos a - cos b) */
    const double M[] = {4. / 3, 0.5 * cos(a - b), 1. / 3};
    const int start[] = {0, 2, 3}, at[] = {0, 1, 1}, column[] = {0, 1};
    const double normal[] = {sin(a), sin(b)}, across[] = {cos(a), cos(b)};
    const zw_metric metric = {.kind = ZW_METRIC_SPARSE, .value = M, .start = start, .row = at};
    int reduced = 0;
    for (int k = 0; k < 100; k++) {
        double e = 0.5 + 0.05 * (k % 11), mu = 0.1 * (k / 11), v[2] = {-0.1, -0.2};
        const zw_block block = {.kind = ZW_CONE, .rows = 2, .friction = {mu}};
        const gauss_impact_contact contact = {.restitution = e};
        gauss_impact *x = gauss_impact_create();
        gauss_impact_answer answer;
        zw_error error;
        double before = 0.5 * (M[0] * v[0] * v[0] + M[2] * v[1] * v[1]) + M[1] * v[0] * v[1];
        gauss_impact_begin(x, 2, &metric);
        gauss_impact_block(x, &block, &contact);
        gauss_impact_row(x, 2, column, normal, 0);
        gauss_impact_row(x, 2, column, across, 0);
        zw_impact_law law = k % 2 ? ZW_IMPACT_SEQUENTIAL : ZW_IMPACT_SIMULTANEOUS;
        assert_int_equal(gauss_impact_solve(x, law, ZW_CONTACT_COULOMB, v, &answer, &error), ZW_OK);
        double after = 0.5 * (M[0] * v[0] * v[0] + M[2] * v[1] * v[1]) + M[1] * v[0] * v[1];
        reduced += answer.share < 1;
        assert_true(after <= before * (1 + 1e-12));
        /* and no more than the impact dissipates */
        assert_true(answer.share == 1 || after >= before * (1 - 1e-8));
        assert_true(sin(a) * v[0] + sin(b) * v[1] >= -1e-13);
        gauss_impact_free(x);
    }
    printf("Kane's pendulum: restitution reduced in %d of 100\n", reduced);
    assert_true(reduced > 0);
}

/* A moving wall does work; the dissipated energy is that in the frame of the wall. */
static void walls_that_move_do_work(void **state)
{
    (void)state;
    const double mass[] = {2}, one[] = {1};
    const int column[] = {0};
    const zw_metric metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass};
    const zw_block block = {.kind = ZW_INEQUALITY, .rows = 1};
    const gauss_impact_contact contact = {.restitution = 0.5};
    for (int simultaneous = 0; simultaneous < 2; simultaneous++) {
        zw_impact_law law = simultaneous ? ZW_IMPACT_SIMULTANEOUS : ZW_IMPACT_SEQUENTIAL;
        gauss_impact *x = gauss_impact_create();
        gauss_impact_answer answer;
        zw_error error;
        double v[] = {-1};
        gauss_impact_begin(x, 1, &metric);
        gauss_impact_block(x, &block, &contact);
        gauss_impact_row(x, 1, column, one, 3); /* the wall comes with 3 */
        assert_int_equal(gauss_impact_solve(x, law, ZW_CONTACT_COULOMB, v, &answer, &error), ZW_OK);
        gauss_impact_free(x);
        assert_true(fabs(v[0] - 5) < 1e-14);                /* 4 towards it, 2 away from it */
        assert_true(fabs(answer.loss - 0.75 * 16) < 1e-13); /* m (1 - e^2) 4^2/2 */
        assert_true(fabs(answer.work - 2 * 6 * 3) < 1e-13); /* impulse times the wall's speed */
        assert_true(fabs(25 - 1 - answer.work + answer.loss) < 1e-12);
    }
}

/* Disks in a row that touch, with friction, and speeds along the row: friction does not act, but
 * every impact is solved by the kernel. */
static gauss_impact_answer rough_row(int disks, const double *mass, double e, double *v)
{
    enum { MOST_DISKS = 150 };
    double both[2 * MOST_DISKS], speed[2 * MOST_DISKS] = {0};
    gauss_impact *x = gauss_impact_create();
    gauss_impact_answer answer;
    zw_error error;
    for (int i = 0; i < disks; i++) {
        both[2 * i] = both[2 * i + 1] = mass ? mass[i] : 1;
        speed[2 * i] = v[i];
    }
    const zw_metric metric = {.kind = ZW_METRIC_DIAGONAL, .value = both};
    gauss_impact_begin(x, 2 * disks, &metric);
    for (int i = 0; i + 1 < disks; i++) {
        const zw_block block = {.kind = ZW_CONE, .rows = 2, .friction = {0.5}};
        const gauss_impact_contact contact = {.pair = i, .restitution = e};
        const double value[] = {-1, 1};
        gauss_impact_block(x, &block, &contact);
        for (int r = 0; r < 2; r++) {
            const int column[] = {2 * i + r, 2 * i + 2 + r};
            gauss_impact_row(x, 2, column, value, 0);
        }
    }
    assert_int_equal(
        gauss_impact_solve(x, ZW_IMPACT_SEQUENTIAL, ZW_CONTACT_COULOMB, speed, &answer, &error),
        ZW_OK);
    gauss_impact_free(x);
    for (int i = 0; i < disks; i++) {
        v[i] = speed[2 * i];
        assert_true(fabs(speed[2 * i + 1]) < 1e-15);
    }
    return answer;
}

/* The last disk leaves with the full speed, however many there are; and three that hit each other
 * again and again behave as without friction (weak_impacts). */
static void rough_rows(void **state)
{
    (void)state;
    double v[150] = {1};
    rough_row(150, NULL, 1, v);
    for (int i = 0; i < 150; i++) {
        assert_true(fabs(v[i] - (i == 149)) < 1e-12);
    }
    double heavy[3] = {1.8, 1, 2}, w[3] = {1, 0, -0.9}, smooth[3] = {1, 0, -0.9};
    gauss_impact_answer answer = rough_row(3, heavy, 0.1, w);
    gauss_impact_answer other = row(3, heavy, 0.1, NULL, ZW_IMPACT_SEQUENTIAL, smooth);
    assert_int_equal(answer.rounds, other.rounds);
    assert_true(fabs(answer.loss - other.loss) < 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_balls),
        cmocka_unit_test(equal_balls),
        cmocka_unit_test(equal_strengths),
        cmocka_unit_test(weak_impacts),
        cmocka_unit_test(rows_are_symmetric),
        cmocka_unit_test(smooth_clusters),
        cmocka_unit_test(rough_clusters),
        cmocka_unit_test(kanes_pendulum_gains_nothing),
        cmocka_unit_test(walls_that_move_do_work),
        cmocka_unit_test(rough_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
