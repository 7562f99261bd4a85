/* Points on strings: chains and nets of any size.
 *
 * The link of points p and q keeps |x_p - x_q|. Twice differentiated, with d = x_p - x_q:
 *
 *     d' (a_p - a_q) = -|v_p - v_q|^2
 *
 * Points are numbered from 0; -1 is a fixed one, which has no unknowns. */
#include <math.h>
#include <stdio.h>

#include "stage.h"

typedef struct string_work {
    scene *s;
    int *start, *column;
    int links, entries;
} string_work;

static double *numbers(scene *s, int count)
{
    return scene_alloc(s, (size_t)count, sizeof(double));
}

static string_work string_start(const char *name, int points, int links)
{
    scene *s = scene_new(name, 3 * points);
    string_work w = {.s = s};
    s->m = links;
    s->metric = numbers(s, 3 * points);
    s->metric_count = (size_t)(3 * points);
    s->free = numbers(s, 3 * points);
    s->witness = numbers(s, 3 * points);
    s->b = numbers(s, links);
    s->row = numbers(s, 6 * links);
    s->block = scene_alloc(s, (size_t)links, sizeof *s->block);
    w.start = scene_alloc(s, (size_t)links + 1, sizeof *w.start);
    w.column = scene_alloc(s, (size_t)(6 * links), sizeof *w.column);
    return w;
}

static void string_point(string_work *w, int p, double mass, const double acceleration[3])
{
    for (int i = 0; i < 3; i++) {
        w->s->metric[3 * p + i] = mass;
        w->s->free[3 * p + i] = i == 2 ? -9.81 : 0;
        w->s->witness[3 * p + i] = acceleration[i];
    }
}

static void string_link(string_work *w, int p, int q, const double d[3], const double v[3])
{
    char name[32];
    scene *s = w->s;
    const int point[2] = {p < q ? p : q, p < q ? q : p}; /* columns in rising order */
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3 && point[k] >= 0; i++) {
            w->column[w->entries] = 3 * point[k] + i;
            s->row[w->entries++] = point[k] == p ? d[i] : -d[i];
        }
    }
    s->b[w->links] = -dot3(v, v);
    snprintf(name, sizeof name, "link[%d]", w->links);
    s->block[w->links].name = scene_text(s, name);
    s->block[w->links].kind = ZW_EQUALITY;
    s->block[w->links].rows = 1;
    w->start[++w->links] = w->entries;
}

static scene *string_finish(string_work *w)
{
    scene *s = w->s;
    zw_gauss *p = &s->problem;
    s->row_count = (size_t)w->entries;
    p->metric.kind = ZW_METRIC_DIAGONAL;
    p->metric.value = s->metric;
    p->free = s->free;
    p->block_count = w->links;
    p->block = s->block;
    p->A.start = w->start;
    p->A.column = w->column;
    p->A.value = s->row;
    p->b = s->b;
    return s;
}

/* ---- Chain -------------------------------------------------------------------------------- */

/* From the fixed point down, along and up again, shaken a little. Every link turns with an angular
 * velocity of its own; the witness takes away just its centripetal acceleration. */
scene *scene_chain(int links)
{
    char name[32];
    dice seeded = dice_of((uint64_t)links);
    snprintf(name, sizeof name, "chain-%d", links);
    string_work w = string_start(name, links, links);
    double a[3] = {0, 0, 0};
    for (int k = 0; k < links; k++) {
        double angle = 2.4 * ((double)k / links - 0.5) + 0.3 * dice_bell(&seeded);
        double d[3] = {cos(angle), 0.1 * dice_bell(&seeded), sin(angle)}, v[3], spin[3];
        for (int i = 0; i < 3; i++)
            spin[i] = dice_bell(&seeded);
        cross3(spin, d, v);
        add3(a, -dot3(v, v) / dot3(d, d), d);
        string_point(&w, k, dice_between(&seeded, 0.5, 2), a);
        string_link(&w, k, k - 1, d, v);
    }
    return string_finish(&w);
}

/* ---- Net ---------------------------------------------------------------------------------- */

typedef struct net {
    int nx, ny;
    double swing; /* angular velocity about the x axis, through both fixed corners */
} net;

/* Corners (0, 0) and (nx - 1, 0) are fixed. */
static int net_number(const net *t, int i, int j)
{
    int p = j * t->nx + i;
    if (p == 0 || p == t->nx - 1)
        return -1;
    return p < t->nx - 1 ? p - 1 : p - 2;
}

/* Sagging between the fixed corners and leaning back, with folds. */
static void net_place(const net *t, int i, int j, double x[3])
{
    double along = (double)i / (t->nx - 1), down = (double)j / (t->ny - 1);
    set3(x, i, j * 0.4 + 0.3 * sin(1.7 * i) * down, -j - t->nx * 0.4 * along * (1 - along));
    x[0] += 0.1 * sin(0.9 * i + 1.3 * j) * down;
}

/* The relative velocity omega x d of two points, and a link between them. */
static void net_link(string_work *w, const net *t, int i, int j, int i2, int j2)
{
    double x[3], y[3], v[3], d[3];
    const double spin[3] = {t->swing, 0, 0};
    int p = net_number(t, i, j), q = net_number(t, i2, j2);
    if (i2 >= t->nx || j2 >= t->ny || (p < 0 && q < 0))
        return;
    net_place(t, i, j, x);
    net_place(t, i2, j2, y);
    for (int k = 0; k < 3; k++)
        d[k] = x[k] - y[k];
    cross3(spin, d, v);
    string_link(w, p, q, d, v);
}

/* The net swings as a whole; the witness goes on swinging: a = omega x (omega x x). */
scene *scene_net(int nx, int ny)
{
    char name[48];
    net t = {.nx = nx < 3 ? 3 : nx, .ny = ny < 2 ? 2 : ny, .swing = 0.7};
    dice seeded = dice_of((uint64_t)(t.nx * 10007 + t.ny));
    snprintf(name, sizeof name, "net-%d-%d", t.nx, t.ny);
    int links = t.nx * (t.ny - 1) + (t.nx - 1) * t.ny;
    string_work w = string_start(name, t.nx * t.ny - 2, links);
    for (int j = 0; j < t.ny; j++) {
        for (int i = 0; i < t.nx; i++) {
            double x[3], a[3], square = t.swing * t.swing;
            net_place(&t, i, j, x);
            set3(a, 0, -square * x[1], -square * x[2]);
            if (net_number(&t, i, j) >= 0)
                string_point(&w, net_number(&t, i, j), dice_between(&seeded, 0.5, 2), a);
            net_link(&w, &t, i, j, i + 1, j);
            net_link(&w, &t, i, j, i, j + 1);
        }
    }
    return string_finish(&w);
}
