/* Long chains under the soft law: by articulated bodies as by the entries of M (soft_deep.c); and
 * what a unit of force moves, by one sweep as by solves (soft_weight.c). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "system/soft_scene.h"
#include "tree/sweeps.h"

#define H 0.004

/* A chain of so many links, on a free joint, above a floor and a step in it; and what else. */
static scene open_chain(int links, const char *option, const char *of_joints, const char *of_geoms,
                        const char *more)
{
    static char text[400000];
    int at = sprintf(text,
                     "<mujoco><option timestep='%g' %s/><default><geom %s/></default><worldbody>"
                     "<geom type='plane' size='0 0 1' conaffinity='1'/>"
                     "<geom type='box' size='.3 9 .03' conaffinity='1'/>"
                     "<body pos='-.1 0 .1' euler='3 4 5'><freejoint/>"
                     "<geom type='capsule' size='.02' fromto='0 0 0 .07 0 0'/>",
                     H, option, of_geoms);
    for (int k = 1; k < links; k++) {
        at += sprintf(text + at,
                      "<body pos='.1 0 0'><joint axis='%d %d %d' %s/>"
                      "<geom type='capsule' size='.02' fromto='0 0 0 .07 0 0'/>",
                      k % 3 == 0, k % 3 == 1, k % 3 == 2, of_joints);
    }
    for (int k = 0; k < links; k++) {
        at += sprintf(text + at, "</body>");
    }
    sprintf(text + at, "</worldbody>%s</mujoco>", more);
    return scene_open(text, H);
}

/* Each step is taken from the same state by both. The slope that is left, by either, is round-off
 * of the forces; so what they differ by is that, times the softest direction of M. */
static void compare(const char *option, const char *of_joints, const char *of_geoms,
                    const char *more, int held)
{
    scene a = open_chain(120, option, of_joints, of_geoms, more),
          b = open_chain(120, option, of_joints, of_geoms, more);
    size_t n = (size_t)a.system->n, bytes = n * sizeof(double);
    double *start = malloc(bytes), *Mx = malloc(bytes), worst = 0;
    int contacts = 0, deep = 0;
    assert_true(start && Mx);
    assert_true(a.soft->tree[0].is_deep);
    b.soft->tree[0].is_deep = 0;
    for (int k = 1; k < 120; k++) {
        a.q[6 + k] = held ? 0.01 * (k % 7) : k % 3 == 2 ? 0.6 : k % 3 == 1 ? -0.02 : 0;
    }
    for (int k = 0; k < 60; k++) {
        double apart = 0, size = 0;
        memcpy(b.q, a.q, (size_t)a.system->nq * sizeof(double));
        memcpy(b.v, a.v, bytes);
        memcpy(start, a.v, bytes);
        step(&a);
        step(&b);
        assert_int_equal(a.soft->contacts, b.soft->contacts);
        contacts += a.soft->contacts;
        deep += a.soft->island[0].is_deep;
        assert_int_equal(b.soft->island[0].is_deep, 0);
        for (size_t i = 0; i < n; i++) {
            start[i] = b.v[i] - start[i];
            b.v[i] -= a.v[i];
        }
        tree_multiply(b.system->tree, NULL, b.work->sweeps, start, Mx);
        for (size_t i = 0; i < n; i++) {
            size += Mx[i] * start[i];
        }
        tree_multiply(b.system->tree, NULL, b.work->sweeps, b.v, Mx);
        for (size_t i = 0; i < n; i++) {
            apart += Mx[i] * b.v[i];
        }
        worst = fmax(worst, sqrt(apart / size));
    }
    printf("%s %s %s: %d contacts, %d steps by articulated bodies, differ by %.1e\n", option,
           of_joints, of_geoms, contacts, deep, worst);
    assert_true(contacts > 1000);
    assert_true(held ? deep == 60 : deep < 60);
    assert_true(worst < 1e-8);
    free(start);
    free(Mx);
    close_scene(&a);
    close_scene(&b);
}

static void test_two_ways(void **state)
{
    (void)state;
    const char *floor = "conaffinity='0'"; /* links do not touch links */
    compare("cone='pyramidal'", "damping='.01'", floor, "", 1);
    compare("cone='elliptic'", "damping='.01' armature='.001'", floor, "", 1);
    compare("cone='pyramidal'", "range='-2 2' limited='true' frictionloss='.01'",
            "conaffinity='0' condim='6'", "", 1);
}

/* Links that touch links: then and only then the entries of M come back, and J with them. */
static void test_links_on_links(void **state)
{
    (void)state;
    compare("", "damping='.01'", "conaffinity='1'", "", 0);
}

/* Where the ways are too short for it. */
static void test_from_where(void **state)
{
    (void)state;
    for (int links = 80; links < 110; links++) {
        scene s = open_chain(links, "", "", "", "");
        double n = s.system->n, products = n * (n + 1) * (2 * n + 1) / 12;
        assert_int_equal(s.soft->tree[0].is_deep, products > 1600 * n);
        close_scene(&s);
    }
}

static void test_weights(void **state)
{
    (void)state;
    scene s = open_chain(30, "", "armature='.001'", "", "");
    const tree_mechanism *tree = s.system->tree;
    int n = s.system->n, bad = 0;
    double *x = calloc((size_t)n, sizeof *x), *J = calloc(6 * (size_t)n, sizeof *J);
    int *chain = calloc((size_t)n, sizeof *chain);
    assert_true(x && J && chain);
    tree_kinematics(tree, tree->q_rest, s.work->sweeps);
    tree_composite(tree, s.work->sweeps);
    tree_factor(tree, NULL, s.work->sweeps, &bad);
    assert_int_equal(bad, 0);
    for (int d = 6; d < n; d++) {
        memset(x, 0, (size_t)n * sizeof *x);
        x[d] = 1;
        tree_solve(tree, s.work->sweeps, x);
        assert_true(fabs(s.soft->dof[d] - x[d]) < 1e-10 * x[d]);
    }
    for (int part = 1; part < s.system->bodies->part_count; part++) {
        int body = s.system->bodies->part[part].frame.body;
        int count = tree_chain(tree, body, chain);
        double place[3], mean[2] = {0};
        bodies_part_centre(s.system, s.work, part, place);
        tree_jacobian(tree, body, place, s.work->sweeps, J);
        for (int row = 0; row < 6; row++) {
            memset(x, 0, (size_t)n * sizeof *x);
            for (int k = 0; k < count; k++) {
                x[chain[k]] = J[6 * k + row];
            }
            tree_solve(tree, s.work->sweeps, x);
            for (int k = 0; k < count; k++) {
                mean[row < 3] += J[6 * k + row] * x[chain[k]] / 3;
            }
        }
        for (int k = 0; k < 2; k++) {
            assert_true(fabs(s.soft->part[part][k] - mean[k]) < 1e-10 * mean[k]);
        }
    }
    free(x);
    free(J);
    free(chain);
    close_scene(&s);
}

/* Slides side by side, each held to the next: one island, too large for paths. They move as one, so
 * that nothing acts between them, and Euler's implicit damping gives m (v1 - v0) = -h d v1. */
static void a_large_island_is_damped(void **state)
{
    (void)state;
    enum { SLIDES = 220, ROOM = 200 * SLIDES };
    const double h = 0.002, d = 30, m = 2;
    char *text = malloc(ROOM);
    assert_non_null(text);
    int at = snprintf(text, ROOM, "<mujoco><option gravity='0 0 0'/><worldbody>");
    for (int i = 0; i < SLIDES; i++) {
        at += snprintf(text + at, (size_t)(ROOM - at),
                       "<body><joint name='j%d' type='slide' damping='%g'/><inertial pos='0 0 0' "
                       "mass='%g' diaginertia='1 1 1'/></body>",
                       i, d, m);
    }
    at += snprintf(text + at, (size_t)(ROOM - at), "</worldbody><equality>");
    for (int i = 1; i < SLIDES; i++) {
        at += snprintf(text + at, (size_t)(ROOM - at), "<joint joint1='j%d' joint2='j%d'/>", i,
                       i - 1);
    }
    at += snprintf(text + at, (size_t)(ROOM - at), "</equality></mujoco>");
    assert_true(at < ROOM);
    scene s = scene_open(text, h);
    for (int i = 0; i < SLIDES; i++) {
        s.v[i] = 1;
    }
    for (int k = 1; k <= 20; k++) {
        step(&s);
        for (int i = 0; i < SLIDES; i++) {
            assert_true(fabs(s.v[i] - pow(1 + h * d / m, -k)) < 1e-12);
        }
    }
    assert_true(s.soft->island[0].is_large);
    close_scene(&s);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_island_is_damped), cmocka_unit_test(test_weights),
        cmocka_unit_test(test_from_where), cmocka_unit_test(test_two_ways),
        cmocka_unit_test(test_links_on_links)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
