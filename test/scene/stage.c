#include "stage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Three numbers ------------------------------------------------------------------------ */

void turn3(double R[9], const double axis[3], double angle)
{
    double c = cos(angle), s = sin(angle);
    for (int j = 0; j < 3; j++) { /* every column x: x c + axis x x s + axis (axis . x)(1 - c) */
        double x[3] = {R[j], R[3 + j], R[6 + j]}, across[3];
        double along = dot3(axis, x);
        cross3(axis, x, across);
        for (int i = 0; i < 3; i++)
            R[3 * i + j] = x[i] * c + across[i] * s + axis[i] * along * (1 - c);
    }
}

void tangents3(const double n[3], double angle, double t1[3], double t2[3])
{
    double side[3] = {0, 0, 0}, x[3], y[3], length;
    side[fabs(n[0]) < 0.6 ? 0 : 1] = 1;
    cross3(n, side, y);
    length = sqrt(dot3(y, y));
    for (int i = 0; i < 3; i++)
        y[i] /= length;
    cross3(y, n, x);

    double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++) {
        t1[i] = c * x[i] + s * y[i];
        t2[i] = c * y[i] - s * x[i];
    }
}

/* ---- Building ----------------------------------------------------------------------------- */

void stage_start(stage *st, uint64_t seed)
{
    memset(st, 0, sizeof *st);
    st->dice = dice_of(seed);
    st->h = dice_chance(&st->dice, 0.5) ? 0.01 : dice_power(&st->dice, -3, -1.5);
    st->mu = dice_between(&st->dice, 0.1, 1.2);
}

static int new_solid(stage *st, double mass, const double half[3], const double at[3])
{
    solid *s = &st->solid[st->solids];
    s->mass = mass;
    memcpy(s->half, half, sizeof s->half);
    memcpy(s->at, at, sizeof s->at);
    s->turn[0] = s->turn[4] = s->turn[8] = 1;
    return st->solids++;
}

int stage_box(stage *st, double mass, const double half[3], const double at[3])
{
    int k = new_solid(st, mass, half, at);
    double sum = dot3(half, half);
    for (int i = 0; i < 3; i++)
        st->solid[k].inertia[i] = mass / 3 * (sum - half[i] * half[i]);
    return k;
}

int stage_sphere(stage *st, double mass, double radius, const double at[3])
{
    const double half[3] = {radius, radius, radius};
    int k = new_solid(st, mass, half, at);
    for (int i = 0; i < 3; i++)
        st->solid[k].inertia[i] = 0.4 * mass * radius * radius;
    return k;
}

void stage_turn(stage *st, int body, const double axis[3], double angle)
{
    turn3(st->solid[body].turn, axis, angle);
}

touch *stage_touch(stage *st, int a, int b, const double point[3], const double normal[3])
{
    if (st->touches == STAGE_TOUCHES)
        return NULL;
    touch *t = &st->touch[st->touches++];
    t->a = a;
    t->b = b;
    memcpy(t->point, point, sizeof t->point);
    memcpy(t->normal, normal, sizeof t->normal);
    t->rows = 3;
    t->friction[0] = t->friction[1] = st->mu;
    if (st->elliptic) {
        int narrow = dice_int(&st->dice, 0, 1);
        t->friction[narrow] *= dice_between(&st->dice, 0.05, 0.9);
    }
    return t;
}

joint *stage_joint(stage *st, joint_kind kind, int a, int b, const double point[3],
                   const double axis[3])
{
    joint *j = &st->joint[st->joints++];
    j->kind = kind;
    j->a = a;
    j->b = b;
    memcpy(j->point, point, sizeof j->point);
    memcpy(j->axis, axis, sizeof j->axis);
    return j;
}

/* Up opens it if n_z > mu |n_xy|, that is, n_z > mu / sqrt(1 + mu^2). */
void stage_steep_normal(stage *st, double mu, double normal[3])
{
    double least = mu / sqrt(1 + mu * mu), angle = dice_between(&st->dice, 0, 2 * PI);
    double up = least + (1 - least) * dice_between(&st->dice, 0.1, 1);
    double side = sqrt(1 - up * up);
    set3(normal, side * cos(angle), side * sin(angle), up);
}

void stage_shake(stage *st, double v, double w)
{
    for (int k = 0; k < st->solids; k++) {
        for (int i = 0; i < 3; i++) {
            st->solid[k].v[i] += v * dice_bell(&st->dice);
            st->solid[k].w[i] += w * dice_bell(&st->dice);
        }
    }
}

/* ---- The problem -------------------------------------------------------------------------- */

/* Velocity of the bodies of the row along d: at the point, or angular if point is NULL. */
static void row_along(const stage *st, double *row, int a, int b, const double *point,
                      const double d[3])
{
    const int body[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        if (body[k] == STAGE_WORLD)
            continue;
        double *u = row + 6 * body[k], sign = k == 0 ? 1 : -1, arm[3], turned[3];
        if (!point) {
            add3(u + 3, sign, d);
            continue;
        }
        for (int i = 0; i < 3; i++)
            arm[i] = point[i] - st->solid[body[k]].at[i];
        cross3(arm, d, turned);
        add3(u, sign, d);
        add3(u + 3, sign, turned);
    }
}

static void emit_solids(const stage *st, draft *d)
{
    int n = d->n;
    for (int k = 0; k < st->solids; k++) {
        const solid *s = &st->solid[k];
        for (int i = 0; i < 3; i++) {
            int at = 6 * k + i;
            d->M[at * n + at] = s->mass;
            for (int j = 0; j < 3; j++) { /* R I R' */
                double sum = 0;
                for (int c = 0; c < 3; c++)
                    sum += s->turn[3 * i + c] * s->inertia[c] * s->turn[3 * j + c];
                d->M[(at + 3) * n + 6 * k + 3 + j] = sum;
            }
            d->free[at] = s->v[i] - (i == 2 && !s->weightless ? 9.81 * st->h : 0);
            d->free[at + 3] = s->w[i];
        }
    }
    for (int i = 0; i < n; i++) /* the same bits on both sides */
        for (int j = 0; j < i; j++)
            d->M[j * n + i] = d->M[i * n + j];
}

/* What the row says of the velocities before the step. */
static double speed_before(const stage *st, const double *row)
{
    double sum = 0;
    for (int k = 0; k < st->solids; k++)
        sum += dot3(row + 6 * k, st->solid[k].v) + dot3(row + 6 * k + 3, st->solid[k].w);
    return sum;
}

static void emit_touch(stage *st, draft *d, int index)
{
    const touch *t = &st->touch[index];
    double angle = dice_chance(&st->dice, 0.5) ? 0 : dice_between(&st->dice, 0, 2 * PI);
    double t1[3], t2[3];
    char name[32];
    tangents3(t->normal, angle, t1, t2);
    const double *direction[6] = {t->normal, t1, t2, t->normal, t1, t2};

    snprintf(name, sizeof name, "contact[%d]", index);
    int block = draft_block(d, ZW_CONE, t->rows, name), first = d->first[block];
    memcpy(d->block[block].friction, t->friction, sizeof t->friction);
    for (int i = 0; i < t->rows; i++) {
        row_along(st, draft_row(d, first + i), t->a, t->b, i < 3 ? t->point : NULL, direction[i]);
        d->b[first + i] = i < 3 ? dot3(t->belt, direction[i]) : 0;
    }
    double before = speed_before(st, draft_row(d, first)) - d->b[first];
    if (t->bounce > 0)
        d->b[first] += before < 0 ? -t->bounce * before : 0;
    else
        d->b[first] -= t->gap / st->h;
}

static void emit_joint(const stage *st, draft *d, int index)
{
    static const char *const names[] = {"ball", "hinge", "rail", "limit"};
    static const int rows[] = {3, 5, 5, 1};
    const joint *j = &st->joint[index];
    double t1[3], t2[3];
    char name[32];
    tangents3(j->axis, 0, t1, t2);
    const double *axes[3] = {j->axis, t1, t2};

    snprintf(name, sizeof name, "%s[%d]", names[j->kind], index);
    zw_block_kind kind = j->kind == JOINT_LIMIT ? ZW_INEQUALITY : ZW_EQUALITY;
    int row = d->first[draft_block(d, kind, rows[j->kind], name)];
    if (j->kind == JOINT_LIMIT) {
        row_along(st, draft_row(d, row), j->a, j->b, NULL, j->axis);
        d->b[row] = -j->gap / st->h;
        return;
    }
    for (int i = j->kind == JOINT_RAIL; i < 3; i++) { /* translation */
        row_along(st, draft_row(d, row), j->a, j->b, j->point, axes[i]);
        d->b[row++] = j->kind == JOINT_RAIL ? dot3(st->carry, axes[i]) : 0;
    }
    for (int i = j->kind == JOINT_HINGE; i < 3 && j->kind != JOINT_BALL; i++) /* rotation */
        row_along(st, draft_row(d, row++), j->a, j->b, NULL, axes[i]);
}

/* Carry, and as much lift as it takes to open all contacts. */
static void find_witness(const stage *st, scene *s)
{
    double factor = st->weak ? 0 : 1;
    for (int tries = 0; tries < 60; tries++) {
        for (int k = 0; k < st->solids; k++)
            for (int i = 0; i < 3; i++)
                s->witness[6 * k + i] = st->carry[i] + factor * st->solid[k].lift[i];
        s->margin = scene_margin(s, s->witness);
        if (s->margin > 0.05 || st->weak)
            break;
        factor *= 2;
    }
    if (st->weak && s->margin < 0)
        s->margin = 0;
}

static draft_form choose_form(stage *st, draft *d)
{
    int n = d->n, diagonal = 1, part = dice_chance(&st->dice, 0.5) ? 6 : 3;
    for (int i = 0; i < n * n; i++)
        diagonal = diagonal && (d->M[i] == 0 || i % (n + 1) == 0);
    for (int at = 0; at < n; at += part)
        d->part[d->parts++] = part;

    draft_form form = {.metric = ZW_METRIC_BLOCKS};
    double chance = dice_between(&st->dice, 0, 1);
    if (chance < 0.3)
        form.metric = diagonal ? ZW_METRIC_DIAGONAL : ZW_METRIC_DENSE;
    else if (chance < 0.45)
        form.metric = ZW_METRIC_DENSE;
    else if (chance < 0.55)
        form.metric = ZW_METRIC_SPARSE;
    form.compressed = dice_chance(&st->dice, 0.5);
    form.force = dice_chance(&st->dice, 0.2);
    return form;
}

scene *stage_finish(stage *st, const char *name)
{
    int rows = 6 * st->joints;
    for (int i = 0; i < st->touches; i++)
        rows += st->touch[i].rows;
    draft *d = draft_new(6 * st->solids, rows, st->touches + st->joints);

    emit_solids(st, d);
    for (int i = 0; i < st->touches; i++)
        emit_touch(st, d, i);
    for (int i = 0; i < st->joints; i++)
        emit_joint(st, d, i);
    if (st->conflict[0] != st->conflict[1]) {
        d->conflict_count = 2;
        d->conflict[0] = st->conflict[0];
        d->conflict[1] = st->conflict[1];
    }
    draft_form form = choose_form(st, d);
    scene *s = draft_finish(d, name, ZW_CONTACT_COULOMB, &form);
    if (s->witness)
        find_witness(st, s);
    return s;
}
