/* The rows of the soft law at one state; soft.h has the law.
 *
 * A0, the scale of a row's compliance, is the sum of the inverse effective masses on its two sides:
 * of dofs, lengths or bodies. The impedance is evaluated once for all rows of a constraint or
 * contact, at |r| of all their positions together.
 *
 * Contacts. R_0 = (1 - d)/d A0 along the normal; tangentially R_1 = R_0 / impratio, and the other
 * directions such that R_j mu_j^2 is the same for all: a cone that is equally soft in all
 * directions, in its own units. Friction has no position, K = 0. The edges n +- mu_j t_j of a
 * pyramid have the position of the normal, A0 (1 + mu_1^2) initially, and all the same R = 2 mu_1^2
 * / impratio * R_0. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/four.h"
#include "model/pose.h"
#include "system/soft/soft.h"
#include "tree/sweeps.h"

/* ---- Appending ------------------------------------------------------------------------------ */

/* Allocates `count` elements of `size` bytes; the previous contents are lost. */
static int fit(void *list, size_t count, size_t size)
{
    void **to = list;
    base_free(*to);
    *to = base_alloc(count * size);
    return *to != NULL;
}

static int grow(soft_problem *s, int blocks, int rows, int entries)
{
    if (blocks > s->block_capacity) {
        s->block_capacity = 0;
        if (!fit(&s->block, 2 * (size_t)blocks, sizeof *s->block)) {
            return 0;
        }
        s->block_capacity = 2 * blocks;
    }
    if (rows > s->row_capacity) {
        s->row_capacity = 0;
        if (!fit(&s->b, 2 * (size_t)rows, sizeof *s->b) ||
            !fit(&s->D, 2 * (size_t)rows, sizeof *s->D)) {
            return 0;
        }
        s->row_capacity = 2 * rows;
    }
    if (entries > s->entry_capacity) {
        s->entry_capacity = 0;
        if (!fit(&s->value, 2 * (size_t)entries, sizeof *s->value) ||
            !fit(&s->column, 2 * (size_t)entries, sizeof *s->column)) {
            return 0;
        }
        s->entry_capacity = 2 * entries;
    }
    return 1;
}

/* Appends a block; its J, at the end of value[], is filled by the caller. */
static soft_block *add_block(soft_problem *s, soft_kind kind, int rows, int width,
                             const int *column, int columns)
{
    soft_block *k = &s->block[s->blocks++];
    k->kind = kind;
    k->rows = rows;
    k->first = s->rows;
    k->width = width;
    k->columns = columns;
    k->stride = (columns + 3) / 4 * 4;
    k->whole = k->held = 0;
    k->J = s->entries;
    k->column = s->columns;
    s->rows += rows;
    s->entries += width * k->stride;
    /* the same columns as the previous block? */
    if (s->blocks > 1 && k[-1].columns == columns && columns > 1 &&
        memcmp(s->column + k[-1].column, column, (size_t)columns * sizeof *column) == 0) {
        k->column = k[-1].column;
        return k;
    }
    memcpy(s->column + s->columns, column, (size_t)columns * sizeof *column);
    s->columns += columns;
    return k;
}

/* Row r of the J of a block: from[columns]; returns its speed. */
static double put_row(soft_problem *s, const soft_block *k, int r, const double *from, double scale,
                      const double *v)
{
    double *to = s->value + k->J + r * k->stride, speed = 0;
    const int *column = s->column + k->column;
    for (int c = k->columns; c < k->stride; c++) {
        to[c] = 0;
    }
    for (int c = 0; c < k->columns; c++) {
        to[c] = scale * from[c];
        speed += to[c] * v[column[c]];
    }
    return speed;
}

static double compliance(double d, double A0)
{
    return fmax(SOFT_LEAST, (1 - d) / d * A0);
}

/* ---- Constraints --------------------------------------------------------------------------------
 */

static double weight_of(const soft_problem *s, const bodies_constraint *constraint, int row)
{
    double sum = 0;
    int turns = (constraint->kind == CONSTRAINT_WELD || constraint->kind == CONSTRAINT_HINGE)
                    ? row >= 3
                : constraint->kind == CONSTRAINT_SLIDE ? row < 3
                                                       : 0;
    if (constraint->kind == CONSTRAINT_BALL) {
        return s->dof[constraint->dof];
    }
    for (int k = 0; k < 2; k++) {
        if (constraint->kind < CONSTRAINT_LENGTH) {
            sum += s->part[constraint->frame[k].part][turns];
        } else if (constraint->length[k] >= 0) {
            sum += s->length[constraint->length[k]];
        }
    }
    return sum;
}

/* Rotational rows of a weld are twice the vector part of the quaternion here; torquescale times it
 * in MuJoCo. */
double soft_row_scale(const bodies_constraint *constraint, int row)
{
    return constraint->kind == CONSTRAINT_WELD && row >= 3 ? 0.5 * constraint->torquescale : 1;
}

soft_watch soft_watch_of(const soft_problem *s, const bodies_constraint *constraint)
{
    const struct system_bodies *bodies = s->system->bodies;
    double sign = constraint->kind == CONSTRAINT_UPPER ? -1 : 1;
    if ((constraint->kind != CONSTRAINT_LOWER && constraint->kind != CONSTRAINT_UPPER) ||
        bodies->length[constraint->length[0]].count != 1 ||
        bodies->length[constraint->length[0]].path >= 0) {
        return (soft_watch){.q = -1};
    }
    const bodies_term *term = &bodies->term[bodies->length[constraint->length[0]].first];
    return (soft_watch){.q = term->q,
                        .dof = term->dof,
                        .length = constraint->length[0],
                        .coef = sign * term->coef,
                        .limit = sign * constraint->limit,
                        .margin = constraint->margin,
                        .spring = soft_spring_of(&constraint->soft, s->h)};
}

static void add_constraint(soft_problem *s, int index, const double *q, const double *v)
{
    const zw_system *system = s->system;
    const bodies_constraint *constraint = &system->bodies->constraint[index];
    double *phi = s->work->rows + constraint->row, *psi = phi + system->m;
    double *terms = s->work->out[PART_TERMS], *curve = terms + system->at.b + constraint->row;
    int limit = constraint->kind >= CONSTRAINT_LOWER, rolls = bodies_is_rolling(constraint);
    int start = system->A_start[constraint->row],
        columns = system->A_start[constraint->row + 1] - start;
    double square = 0;
    bodies_fill_constraint(system, s->work, constraint, q, v,
                           (bodies_rows){.phi = s->work->rows,
                                         .psi = s->work->rows + system->m,
                                         .b = terms + system->at.b,
                                         .A = terms + system->at.A,
                                         .all = 1});
    if (limit && !(phi[0] < constraint->margin)) {
        return;
    }
    for (int i = 0; i < constraint->rows && !rolls; i++) {
        double r = soft_row_scale(constraint, i) * phi[i] - constraint->margin;
        square += r * r;
    }
    soft_block *k = add_block(s, limit ? SOFT_ABOVE : SOFT_EQUAL, constraint->rows,
                              constraint->rows, system->A_column + start, columns);
    double d = soft_impedance(constraint->soft.imp, sqrt(square));
    soft_spring spring = soft_spring_of(&constraint->soft, s->h);
    k->of = index;
    for (int i = 0; i < constraint->rows; i++) {
        double scale = soft_row_scale(constraint, i);
        double r = rolls ? 0 : scale * phi[i] - constraint->margin;
        /* rows of a constraint have the same columns */
        put_row(s, k, i, terms + system->at.A + start + i * columns, scale, v);
        s->b[k->first + i] = (constraint->kind < CONSTRAINT_LENGTH ? scale * curve[i] : 0) -
                             spring.B * scale * psi[i] - spring.K * d * r;
        s->D[k->first + i] = 1 / compliance(d, weight_of(s, constraint, i));
    }
}

double soft_row_place(const soft_problem *s, const soft_block *k, const double *q)
{
    const soft_watch *watch = &s->watch[k->of];
    const bodies_constraint *constraint = &s->system->bodies->constraint[k->of];
    return watch->q < 0 ? s->work->rows[constraint->row] - constraint->margin
                        : watch->coef * q[watch->q] - watch->limit - watch->margin;
}

/* One row with one column. */
static void add_limit(soft_problem *s, int index, double phi, const double *v)
{
    const soft_watch *watch = &s->watch[index];
    const bodies_constraint *constraint = &s->system->bodies->constraint[index];
    soft_block *k = add_block(s, SOFT_ABOVE, 1, 1, &watch->dof, 1);
    double r = phi - watch->margin, d = soft_impedance(constraint->soft.imp, r);
    k->of = index;
    put_row(s, k, 0, &watch->coef, 1, v);
    s->b[k->first] = -watch->spring.B * (watch->coef * v[watch->dof]) - watch->spring.K * d * r;
    s->D[k->first] = 1 / compliance(d, s->length[watch->length]);
}

/* Limits that are far away, as most are, are skipped early. */
static void add_constraints(soft_problem *s, const double *q, const double *v)
{
    for (int c = 0; c < s->system->bodies->constraint_count; c++) {
        const soft_watch *watch = &s->watch[c];
        double phi = watch->q < 0 ? -1 : watch->coef * q[watch->q] - watch->limit;
        if (watch->q < 0) {
            add_constraint(s, c, q, v);
        } else if (phi < watch->margin) {
            add_limit(s, c, phi, v);
        }
    }
}

/* ---- Friction of joints and tendons ---------------------------------------------------------- */

static double dry_weight(const soft_problem *s, const bodies_dry *dry)
{
    return dry->length < 0 ? s->dof[s->system->bodies->term[dry->first].dof]
                           : s->length[dry->length];
}

/* A row from terms; repeated dofs are added, and terms need not be in order. */
static soft_block *add_terms(soft_problem *s, soft_kind kind, int rows, int first, int count,
                             const double *coef)
{
    const bodies_term *term = s->system->bodies->term;
    int *column = s->J_column, columns = 0;
    double *J = s->J;
    for (int i = first; i < first + count; i++) {
        int at = columns;
        while (at > 0 && column[at - 1] > term[i].dof) {
            at--;
        }
        if (at > 0 && column[at - 1] == term[i].dof) {
            J[at - 1] += coef[i];
            continue;
        }
        memmove(column + at + 1, column + at, (size_t)(columns - at) * sizeof *column);
        memmove(J + at + 1, J + at, (size_t)(columns - at) * sizeof *J);
        column[at] = term[i].dof;
        J[at] = coef[i];
        columns++;
    }
    soft_block *k = add_block(s, kind, rows, 1, column, columns);
    put_row(s, k, 0, J, 1, s->force); /* its speed is not used */
    return k;
}

static void add_dry(soft_problem *s, const bodies_dry *dry, const double *q, const double *v)
{
    const bodies_term *term = s->system->bodies->term;
    const double *coef = bodies_coef_at(s->system, s->work, q);
    double speed = 0, d = soft_impedance(dry->soft.imp, 0);
    for (int i = dry->first; i < dry->first + dry->count; i++) {
        speed += coef[i] * v[term[i].dof];
    }
    soft_block *k = add_terms(s, SOFT_BOX, 1, dry->first, dry->count, coef);
    k->of = (int)(dry - s->system->bodies->dry);
    k->most = dry->limit;
    s->b[k->first] = -soft_spring_of(&dry->soft, s->h).B * speed;
    s->D[k->first] = 1 / compliance(d, dry_weight(s, dry));
}

static void add_masses(soft_problem *s, const double *q)
{
    const struct system_bodies *bodies = s->system->bodies;
    const double *coef = bodies_coef_at(s->system, s->work, q);
    for (int i = 0; i < bodies->length_count && bodies->extra_count > 0; i++) {
        const bodies_length *length = &bodies->length[i];
        if (length->armature != 0) {
            soft_block *k = add_terms(s, SOFT_MASS, 0, length->first, length->count, coef);
            k->of = i;
            k->most = k->now.C[0] = length->armature; /* used before any law is evaluated */
        }
    }
}

/* ---- Contacts ------------------------------------------------------------------------------- */

/* On a plane MuJoCo's first tangent is along the axis of a capsule, which matters for pyramids. */
static void turn_frame(const soft_problem *s, contact_point *point)
{
    const contact_world *world = s->system->bodies->contact;
    for (int side = 0; side < 2; side++) {
        uint32_t own = point->key.geom[side], other = point->key.geom[1 - side];
        if (world->geom[own].shape.kind != COLLIDE_CAPSULE ||
            world->geom[other].shape.kind != COLLIDE_PLANE) {
            continue;
        }
        const double *n = point->frame, *R = s->found.pose[own].R;
        double axis[3] = {R[2], R[5], R[8]}, along = model_dot(n, axis);
        for (int k = 0; k < 3; k++) {
            axis[k] -= along * n[k];
        }
        if (model_unit(axis) > 1e-12) {
            memcpy(point->frame + 3, axis, sizeof axis);
            model_cross(point->frame + 6, n, axis);
        }
    }
}

int soft_takes(const soft_problem *s, int index)
{
    int takes = s->found.point[index].gap < 0;
    if (takes) {
        turn_frame(s, &s->found.point[index]);
    }
    return takes;
}

soft_pair soft_pair_make(const soft_problem *s, uint32_t i, uint32_t j)
{
    const contact_world *world = s->system->bodies->contact;
    const contact_geom *a = &world->geom[i], *b = &world->geom[j];
    const zw_pair_def *written = contact_pair(world, (int)i, (int)j);
    zw_soft law = soft_mix(&a->law, &b->law);
    if (written && written->given & 4) {
        law = written->soft;
    }
    soft_pair to = {.is_there = 1,
                    .geom = {i, j},
                    .A0 = s->part[a->owner][0] + s->part[b->owner][0],
                    .spring = soft_spring_of(&law, s->h)};
    memcpy(to.imp, law.imp, sizeof to.imp);
    to.across = to.spring;
    if (written && written->given & 8) {
        memcpy(law.ref, written->soft_friction.ref, sizeof law.ref);
        if (law.ref[0] != 0 || law.ref[1] != 0) {
            to.across = soft_spring_of(&law, s->h);
        }
    }
    return to;
}

/* Matches are sorted by their geoms. */
static const soft_pair *find_match(const soft_problem *s, uint32_t i, uint32_t j)
{
    int low = 0, high = s->system->bodies->contact->match_count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        const uint32_t *geom = s->match[middle].geom;
        if (geom[0] < i || (geom[0] == i && geom[1] < j)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return &s->match[low];
}

/* The parameters of two geoms are constant: they are looked up, and computed if not found. */
const soft_pair *soft_pair_of(soft_problem *s, const contact_point *point)
{
    uint32_t i = point->key.geom[0], j = point->key.geom[1];
    if (s->match) {
        return find_match(s, i, j);
    }
    soft_pair *to = &s->pair[(31 * i + j) % SOFT_PAIRS];
    if (!to->is_there || to->geom[0] != i || to->geom[1] != j) {
        *to = soft_pair_make(s, i, j);
    }
    return to;
}

static void fill_elliptic(soft_problem *s, soft_block *k, double gap, const soft_pair *pair,
                          const double *speed)
{
    double d = soft_impedance(pair->imp, gap), R0 = compliance(d, pair->A0);
    double *b = s->b + k->first, *D = s->D + k->first;
    b[0] = -pair->spring.B * speed[0] - (pair->spring.K * d * gap + SOFT_HAIR);
    D[0] = 1 / R0;
    for (int r = 1; r < k->rows; r++) {
        double R1 = R0 / fmax(SOFT_LEAST, s->system->bodies->impratio);
        b[r] = -pair->across.B * speed[r];
        D[r] = 1 / (R1 * k->mu[0] * k->mu[0] / (k->mu[r - 1] * k->mu[r - 1]));
    }
}

static void fill_pyramid(soft_problem *s, soft_block *k, double gap, const soft_pair *pair,
                         const double *speed)
{
    double d = soft_impedance(pair->imp, gap), first = k->mu[0] * k->mu[0];
    double shrink = 2 * first / fmax(SOFT_LEAST, s->system->bodies->impratio);
    double stiff = 1 / fmax(SOFT_LEAST, shrink * compliance(d, pair->A0 * (1 + first)));
    double *b = s->b + k->first, *D = s->D + k->first;
    double back = pair->spring.K * d * gap + SOFT_HAIR;
    for (int e = 0; e < k->rows; e++) {
        double along = k->mu[e / 2] * speed[1 + e / 2];
        b[e] = -pair->spring.B * (speed[0] + (e % 2 ? -along : along)) - back;
        D[e] = stiff;
    }
}

/* J of a point between a body and the world, directly from the sweeps, as in contact_rows; four
 * columns at a time. Returns the speeds along the rows. */
ZW_CLONES static void put_on_world(const soft_problem *s, const soft_block *k,
                                   const contact_point *point, const double *v, double *speed)
{
    const tree_mechanism *tree = s->system->tree;
    const double *com = s->work->sweeps + tree->at.com, *p = point->pos, *f = point->frame;
    const double *sweep = s->work->sweeps + tree->at.S;
    const int *column = s->column + k->column;
    double sign = point->body[1] == 0 ? -1 : 1, *J = s->value + k->J;
    int stride = k->stride;
    zw_real4 along[3], sum = {0};
    for (int i = 0; i < 3; i++) {
        along[i] = sign * (zw_real4){f[i], f[3 + i], f[6 + i], 0};
    }
    for (int c = 0; c < k->columns; c += 4) {
        zw_real4 entry[4] = {{0}};
        for (int i = 0; i < 4 && c + i < k->columns; i++) {
            int d = column[c + i];
            const double *S = sweep + 6 * d, *own = com + 3 * tree->dof_body[d];
            double x = p[0] - own[0], y = p[1] - own[1], z = p[2] - own[2];
            entry[i] = along[0] * (S[3] + S[1] * z - S[2] * y) +
                       along[1] * (S[4] + S[2] * x - S[0] * z) +
                       along[2] * (S[5] + S[0] * y - S[1] * x);
            sum += entry[i] * v[d];
        }
        lane_transpose4(&entry[0], &entry[1], &entry[2], &entry[3]);
        four_put(J + c, entry[0]);
        four_put(J + stride + c, entry[1]);
        four_put(J + 2 * stride + c, entry[2]);
    }
    memcpy(speed, &sum, 3 * sizeof *speed);
}

/* The body of a deep tree in contact with the world, if J is not needed; 0: none. */
static int held_body(const soft_problem *s, const contact_point *point)
{
    int body = point->body[0] == 0 ? point->body[1] : point->body[1] == 0 ? point->body[0] : 0;
    int last = body > 0 && s->holds ? s->system->tree->body[body].last_dof : -1;
    return last >= 0 && s->tree[s->tree_of[last]].is_deep ? body : 0;
}

static void add_contact(soft_problem *s, int index, const double *v)
{
    contact_point *point = &s->found.point[index];
    const int *column = s->J_column;
    int columns, pyramid = point->rows > 1 && !s->system->bodies->elliptic, wide = point->rows;
    const soft_pair *pair = soft_pair_of(s, point);
    double speed[6];
    int held = held_body(s, point);
    int simple = wide == 3 && !held && (point->body[0] == 0 || point->body[1] == 0);
    if (simple) {
        const tree_mechanism *tree = s->system->tree;
        int last = tree->body[point->body[point->body[0] == 0]].last_dof;
        columns = last < 0 ? 0 : tree->depth[last];
        column = tree->column + (last < 0 ? 0 : tree->start[last]);
    } else if (held) {
        columns = 1;
        column = &s->system->tree->body[held].last_dof;
    } else {
        columns = contact_rows(s->system, point, s->work->sweeps, s->J_column, s->J);
    }
    soft_kind kind = pyramid ? SOFT_PYRAMID : wide > 1 ? SOFT_CONE : SOFT_ABOVE;
    soft_block *k = add_block(s, kind, pyramid ? 2 * (wide - 1) : wide, wide, column, columns);
    if (simple) {
        put_on_world(s, k, point, v, speed);
        k->whole = columns > 0;
    }
    k->held = held;
    k->of = index;
    if (held) {
        soft_deep_along(s, k, s->system->tree->at.V, speed);
        k->whole = 1;
    }
    for (int r = 0; r < wide && !simple && !held; r++) {
        speed[r] = put_row(s, k, r, s->J + r * columns, 1, v);
    }
    for (int r = 0; r + 1 < wide; r++) {
        k->mu[r] = fmax(point->friction[r], SOFT_LEAST_FRICTION);
    }
    (pyramid ? fill_pyramid : fill_elliptic)(s, k, point->gap, pair, speed);
}

/* ---- All ------------------------------------------------------------------------------------ */

static int begin(soft_problem *s, int points)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->bodies;
    int wide = 2 * bodies->widest + 3, more = bodies->dry_count + bodies->length_count;
    s->rows = s->blocks = s->entries = s->columns = s->first_contact = s->contacts = 0;
    return grow(s, bodies->constraint_count + points + more + 1,
                system->m + bodies->dry_count + 10 * points + 1,
                system->A_start[system->m] + 2 * bodies->term_count + 6 * points * wide +
                    3 * (system->m + more) + 4);
}

int soft_fill_masses(soft_problem *s)
{
    int good = begin(s, 0);
    if (good) {
        add_masses(s, s->system->tree->q_rest);
    }
    return good;
}

zw_status soft_fill(soft_problem *s, const double *q, const double *v, zw_error *error)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->bodies;
    zw_status status = ZW_OK;
    if (s->is_there) {
        status = contact_find(system, &s->found, s->work->sweeps, 0, s->near, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    int points = s->is_there ? s->found.count : 0;
    if (!begin(s, points)) {
        return base_no_memory(error);
    }
    if (s->has_frames) { /* constraints between frames need accelerations of bodies for a = 0 */
        tree_accelerations(system->tree, NULL, s->work->sweeps);
    }
    add_constraints(s, q, v);
    s->first_contact = s->blocks;
    for (int k = 0; k < points; k++) {
        if (soft_takes(s, k)) {
            add_contact(s, k, v);
        }
    }
    s->contacts = s->blocks - s->first_contact;
    for (int k = 0; k < bodies->dry_count; k++) {
        add_dry(s, &bodies->dry[k], q, v);
    }
    add_masses(s, q);
    return ZW_OK;
}
