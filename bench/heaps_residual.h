/* Residuals for bench/heaps.c: how far a step is from satisfying the laws of contact. */
#ifndef ZW_BENCH_HEAPS_RESIDUAL_H
#define ZW_BENCH_HEAPS_RESIDUAL_H

#include "engines.h"
#include "gauss/contact/islands.h"

/* A problem of the kernel for one step: contacts at some poses, all speeds in the world. */
typedef struct trial {
    int contacts, capacity, entries, entry_capacity;
    double *gap; /* [contacts] */
    double *b;   /* [3 contacts] */
    int *start;  /* [3 contacts + 1] */
    int *column; /* [entries] */
    double *value;
    zw_block *block;
    double *M; /* lower triangles of bodies, by columns */
    int *M_start, *M_row;
    double *free; /* v0 + h g */
    double depth;
} trial;

static void *grown(void *block, size_t bytes)
{
    void *to = realloc(block, bytes);
    if (!to) {
        exit(2);
    }
    return to;
}

static void make_room(trial *t)
{
    if (t->contacts + 1 >= t->capacity) {
        t->capacity = 2 * t->capacity + 1000;
        size_t count = (size_t)t->capacity;
        t->gap = grown(t->gap, count * sizeof *t->gap);
        t->b = grown(t->b, 3 * count * sizeof *t->b);
        t->start = grown(t->start, (3 * count + 1) * sizeof *t->start);
        t->column = grown(t->column, 36 * count * sizeof *t->column);
        t->value = grown(t->value, 36 * count * sizeof *t->value);
        t->block = grown(t->block, count * sizeof *t->block);
    }
}

static void cross(const double *a, const double *b, double *to)
{
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        to[k] = a[i] * b[j] - a[j] * b[i];
    }
}

/* Unit vectors across n. */
static void span(const double *n, double *u, double *v)
{
    double e[3] = {0, 0, 0}, size;
    e[fabs(n[0]) < 0.5 ? 0 : 1] = 1;
    cross(n, e, u);
    size = sqrt(model_dot(u, u));
    for (int k = 0; k < 3; k++) {
        u[k] /= size;
    }
    cross(n, u, v);
}

/* Adds the relative velocity of body b against body a (-1: the world) at a point. */
static void add_contact(trial *t, const collide_point *p, int a, int b, const double *pos, double h)
{
    double frame[9];
    make_room(t);
    int c = t->contacts++;
    memcpy(frame, p->normal, 3 * sizeof *frame);
    span(frame, frame + 3, frame + 6);
    t->start[0] = 0;
    for (int r = 0; r < 3; r++) {
        for (int side = 0; side < 2; side++) {
            int body = side ? b : a, at = t->entries;
            double arm[3], turn[3], sign = side ? 1 : -1;
            if (body < 0) {
                continue;
            }
            for (int k = 0; k < 3; k++) {
                arm[k] = p->pos[k] - pos[3 * body + k];
            }
            cross(arm, frame + 3 * r, turn);
            for (int k = 0; k < 6; k++) {
                t->column[at + k] = 6 * body + k;
                t->value[at + k] = sign * (k < 3 ? frame[3 * r + k] : turn[k - 3]);
            }
            t->entries += 6;
        }
        t->start[3 * c + r + 1] = t->entries;
        t->b[3 * c + r] = r == 0 ? -fmax(p->gap, 0) / h : 0;
    }
    t->block[c] =
        (zw_block){.name = "touch", .kind = ZW_CONE, .rows = 3, .friction = {FRICTION, FRICTION}};
    t->gap[c] = p->gap;
    t->depth = fmax(t->depth, -p->gap);
}

static double radius_of(const collide_shape *shape)
{
    const double *z = shape->size;
    return shape->kind == COLLIDE_BOX        ? sqrt(model_dot(z, z))
           : shape->kind == COLLIDE_SPHERE   ? z[0]
           : shape->kind == COLLIDE_CYLINDER ? hypot(z[0], z[1])
                                             : z[0] + z[1];
}

/* All pairs that are close enough to meet within a step. */
static void find_contacts(trial *t, const scene *s, const shown *at, double reach)
{
    enum { MOST = 64 };
    collide_point found[MOST];
    collide_pose *pose = allocate((size_t)s->count, sizeof *pose);
    for (int i = 0; i < s->count; i++) {
        memcpy(pose[i].pos, at->pos + 3 * i, sizeof pose[i].pos);
        model_quat_matrix(at->quat + 4 * i, pose[i].R);
    }
    for (int p = 0; p < s->planes; p++) {
        const double *n = s->plane[p];
        collide_shape ground = {.kind = COLLIDE_PLANE};
        collide_pose lies = {.pos = {n[0] * n[3], n[1] * n[3], n[2] * n[3]}};
        double u[3], v[3];
        span(n, u, v);
        for (int k = 0; k < 3; k++) {
            lies.R[3 * k] = u[k];
            lies.R[3 * k + 1] = v[k];
            lies.R[3 * k + 2] = n[k];
        }
        for (int i = 0; i < s->count; i++) {
            int count =
                collide_pair(&ground, &lies, &s->body[i].shape, &pose[i], reach, found, MOST);
            for (int k = 0; k < count && k < MOST; k++) {
                add_contact(t, &found[k], -1, i, at->pos, s->h);
            }
        }
    }
    for (int i = 0; i < s->count; i++) {
        for (int j = i + 1; j < s->count; j++) {
            const collide_shape *a = &s->body[i].shape, *b = &s->body[j].shape;
            double far = radius_of(a) + radius_of(b) + reach, sum = 0;
            for (int k = 0; k < 3; k++) {
                double d = pose[i].pos[k] - pose[j].pos[k];
                sum += d * d;
            }
            int count =
                sum < far * far ? collide_pair(a, &pose[i], b, &pose[j], reach, found, MOST) : 0;
            for (int k = 0; k < count && k < MOST; k++) {
                add_contact(t, &found[k], i, j, at->pos, s->h);
            }
        }
    }
    free(pose);
}

/* Moments of inertia about the axes of the shape, of mass 1. */
static void inertia_of(const collide_shape *shape, double I[3])
{
    const double *z = shape->size;
    double r = z[0], l = 2 * z[1], x = z[0] * z[0], y = z[1] * z[1], w = z[2] * z[2];
    if (shape->kind == COLLIDE_BOX) {
        I[0] = (y + w) / 3;
        I[1] = (x + w) / 3;
        I[2] = (x + y) / 3;
    } else if (shape->kind == COLLIDE_SPHERE) {
        I[0] = I[1] = I[2] = 0.4 * x;
    } else if (shape->kind == COLLIDE_CYLINDER) {
        I[0] = I[1] = x / 4 + l * l / 12;
        I[2] = x / 2;
    } else { /* a cylinder, and two half balls */
        double part = l / (l + 4 * r / 3), ball = 1 - part;
        I[2] = part * x / 2 + ball * 0.4 * x;
        I[0] = I[1] = part * (x / 4 + l * l / 12) + ball * (0.4 * x + l * l / 4 + 0.375 * l * r);
    }
}

/* M at these poses, and the speeds of the step without contacts. */
static void put_bodies(trial *t, const scene *s, const shown *at)
{
    size_t n = (size_t)s->count;
    t->M = allocate(21 * n, sizeof *t->M);
    t->M_row = allocate(21 * n, sizeof *t->M_row);
    t->M_start = allocate(6 * n + 1, sizeof *t->M_start);
    t->free = allocate(6 * n, sizeof *t->free);
    for (int i = 0, to = 0; i < s->count; i++) {
        const double *v = at->v + 6 * i;
        double R[9], own[3], I[9] = {0}, L[3], turn[3], rest[3];
        model_quat_matrix(at->quat + 4 * i, R);
        inertia_of(&s->body[i].shape, own);
        for (int k = 0; k < 9; k++) {
            for (int a = 0; a < 3; a++) {
                I[k] += s->body[i].mass * own[a] * R[k / 3 * 3 + a] * R[k % 3 * 3 + a];
            }
        }
        for (int column = 0; column < 6; column++) {
            for (int row = column; row < 6; row++) {
                t->M_row[to] = 6 * i + row;
                t->M[to++] = row < 3       ? (row == column) * s->body[i].mass
                             : column >= 3 ? I[3 * (row - 3) + column - 3]
                                           : 0;
            }
            t->M_start[6 * i + column + 1] = to;
        }
        for (int k = 0; k < 3; k++) { /* I dw/dt = L x w, along the axes of the shape */
            L[k] = model_dot(I + 3 * k, v + 3);
        }
        cross(L, v + 3, turn);
        for (int k = 0; k < 3; k++) {
            rest[k] = 0;
            for (int a = 0; a < 3; a++) {
                rest[k] += R[3 * a + k] * turn[a];
            }
            rest[k] /= s->body[i].mass * own[k];
        }
        for (int k = 0; k < 3; k++) {
            t->free[6 * i + k] = v[k] - (k == 2 ? G * s->h : 0);
            t->free[6 * i + 3 + k] = v[3 + k] + s->h * model_dot(R + 3 * k, rest);
        }
    }
}

/* y* of contact c at the speeds v. */
static void nearest_dual(const trial *t, int c, const double *v, double y[3])
{
    for (int r = 0; r < 3; r++) {
        y[r] = -t->b[3 * c + r];
        for (int k = t->start[3 * c + r]; k < t->start[3 * c + r + 1]; k++) {
            y[r] += t->value[k] * v[t->column[k]];
        }
    }
    double slip = hypot(y[1], y[2]);
    y[0] += FRICTION * slip; /* the dual cone: y_N >= mu |y_T| */
    double miss = FRICTION * slip - y[0];
    if (miss > 0) {
        double to = fmax(y[0] + miss / (1 + FRICTION * FRICTION), 0);
        double share = slip > 0 ? fmin(to / (FRICTION * slip), 1) : 0;
        y[0] = to;
        y[1] *= share;
        y[2] *= share;
    }
}

/* The certificate of the speeds v with the most favourable impulses. */
static double residual_of(trial *t, const scene *s, const double *v)
{
    int n = 6 * s->count, m = 3 * t->contacts;
    double *away = allocate((size_t)n + 1, sizeof *away), *y = allocate((size_t)m + 1, sizeof *y);
    zw_metric metric = {
        .kind = ZW_METRIC_SPARSE, .value = t->M, .start = t->M_start, .row = t->M_row};
    zw_gauss problem = {.n = n,
                        .metric = metric,
                        .free = t->free,
                        .block_count = t->contacts,
                        .block = t->block,
                        .A = {.start = t->start, .column = t->column, .value = t->value},
                        .b = t->b};
    zw_gauss best = problem;
    zw_gauss_options options = {.contact = ZW_CONTACT_CONVEX, .tolerance = 1e-8};
    gauss_islands *islands = gauss_islands_create();
    gauss_islands_answer answer = {0};
    zw_certificate proof = {.worst = NAN};
    zw_error error = {0};
    for (int j = 0; j < n; j++) {
        away[j] = t->free[j] - v[j];
    }
    for (int c = 0; c < t->contacts; c++) {
        nearest_dual(t, c, v, y + 3 * c);
    }
    for (int r = 0; r < m; r++) {
        y[r] = -y[r];
    }
    best.free = away;
    best.b = y;
    zw_status status = gauss_islands_solve(islands, &best, &options, NULL, &answer, &error);
    if (status == ZW_OK || status == ZW_INACCURATE) {
        zw_gauss_certify(&problem, ZW_CONTACT_COULOMB, v, answer.lambda, NULL, NULL, &proof);
    }
    gauss_islands_free(islands);
    free(away);
    free(y);
    return proof.worst;
}

static void free_trial(trial *t)
{
    void *mine[] = {t->gap,   t->b, t->start,   t->column, t->value,
                    t->block, t->M, t->M_start, t->M_row,  t->free};
    for (size_t k = 0; k < sizeof mine / sizeof *mine; k++) {
        free(mine[k]);
    }
}

/* Contacts at the end of the step: the gap is what remains after its speed has acted. */
static void look_back(trial *t, double h, const double *v)
{
    for (int c = 0; c < t->contacts; c++) {
        double w = 0;
        for (int k = t->start[3 * c]; k < t->start[3 * c + 1]; k++) {
            w += t->value[k] * v[t->column[k]];
        }
        t->b[3 * c] = t->gap[c] > -1e-6 ? w - t->gap[c] / h : 0;
    }
}

/* For the step from `before` to `now`. */
static void measure_residual(const scene *s, const shown *before, const shown *now, double *depth,
                             double *residual)
{
    double fastest = 0;
    for (int i = 0; i < s->count; i++) {
        fastest = fmax(fastest, sqrt(model_dot(now->v + 6 * i, now->v + 6 * i)) + G * s->h);
    }
    *residual = INFINITY;
    for (int end = 0; end < 2; end++) {
        trial t = {0};
        shown at = end ? *now : *before;
        make_room(&t);
        put_bodies(&t, s, before);
        find_contacts(&t, s, &at, fmin(2 * fastest * s->h, 0.01));
        *depth = t.depth;
        if (end) {
            look_back(&t, s->h, now->v);
        }
        *residual = fmin(*residual, residual_of(&t, s, now->v));
        free_trial(&t);
    }
}

#endif
