/* The rows of the soft law at one state; soft.h has the law.
 *
 * A0, the scale of a row's compliance, is the sum of what a unit of force moves on its two sides:
 * of dofs, lengths or bodies. The curve of the impedance is asked once for all rows of a closer or
 * contact: at |r| of all their places together.
 *
 * Contacts.  R_0 = (1 - d)/d A0 along the normal; across it R_1 = R_0 / impratio, and the other
 * directions such that R_j mu_j^2 is the same for all: a cone that is as soft everywhere, in its
 * own units. Friction has no place, K = 0. Of a pyramid the edges n +- mu_j t_j have the place of
 * the normal, A0 (1 + mu_1^2) to begin with, and all the same R = 2 mu_1^2 / impratio * R_0. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/pose.h"
#include "system/soft.h"

#define LEAST 1e-15
#define LEAST_FRICTION 1e-5

/* ---- Appending ------------------------------------------------------------------------------ */

static int grow(soft_problem *s, int rows, int entries)
{
    if (rows > s->row_room) {
        void **list[] = {(void **)&s->block,  (void **)&s->start, (void **)&s->b, (void **)&s->R,
                         (void **)&s->lambda, (void **)&s->first, (void **)&s->of};
        const size_t size[] = {sizeof *s->block,  sizeof *s->start, sizeof *s->b, sizeof *s->R,
                               sizeof *s->lambda, sizeof *s->first, sizeof *s->of};
        s->row_room = 0;
        for (int k = 0; k < 7; k++) {
            base_free(*list[k]);
            *list[k] = base_alloc((2 * (size_t)rows + 1) * size[k]);
            if (!*list[k]) {
                return 0;
            }
        }
        s->row_room = 2 * rows;
    }
    if (entries > s->entry_room) {
        s->entry_room = 0;
        base_free(s->value);
        base_free(s->column);
        s->value = base_alloc(2 * (size_t)entries * sizeof *s->value);
        s->column = base_alloc(2 * (size_t)entries * sizeof *s->column);
        if (!s->value || !s->column) {
            return 0;
        }
        s->entry_room = 2 * entries;
    }
    return 1;
}

static void add_block(soft_problem *s, const char *name, zw_block_kind kind, int rows)
{
    s->first[s->blocks] = s->rows;
    s->block[s->blocks++] = (zw_block){.name = name, .kind = kind, .rows = rows};
}

/* The next row of the last block: its entries, its speed, and the law. */
typedef struct soft_point {
    double r;     /* where it is */
    double speed; /* J v */
    double curve; /* acceleration that its curvature asks for */
    double A0;
    double d;
    soft_spring spring;
} soft_point;

static void end_row(soft_problem *s, const soft_point *at)
{
    s->b[s->rows] = at->curve - at->spring.B * at->speed - at->spring.K * at->d * at->r;
    s->R[s->rows] = fmax(LEAST, (1 - at->d) / at->d * at->A0);
    s->start[++s->rows] = s->entries;
}

static void add_entry(soft_problem *s, int column, double value)
{
    s->column[s->entries] = column;
    s->value[s->entries++] = value;
}

/* ---- Closers -------------------------------------------------------------------------------- */

static double weight_of(const soft_problem *s, const bodies_closer *closer, int row)
{
    double sum = 0;
    int turns = (closer->kind == CLOSER_WELD || closer->kind == CLOSER_HINGE) ? row >= 3
                : closer->kind == CLOSER_SLIDE                                ? row < 3
                                                                              : 0;
    if (closer->kind == CLOSER_BALL) {
        return s->dof[closer->dof];
    }
    for (int k = 0; k < 2; k++) {
        if (closer->kind < CLOSER_LENGTH) {
            sum += s->part[closer->frame[k].part][turns];
        } else if (closer->length[k] >= 0) {
            sum += s->length[closer->length[k]];
        }
    }
    return sum;
}

/* Our weld has twice the vector of the quaternion; MuJoCo's torquescale times it. */
static double scale_of(const bodies_closer *closer, int row)
{
    return closer->kind == CLOSER_WELD && row >= 3 ? 0.5 * closer->torquescale : 1;
}

static void add_closer(soft_problem *s, int index)
{
    const zw_system *system = s->system;
    const bodies_closer *closer = &system->bodies->closer[index];
    int limit = closer->kind >= CLOSER_LOWER, rolls = bodies_is_rolling(closer);
    double square = 0;
    if (limit && !(s->phi[closer->row] < closer->margin)) {
        return;
    }
    for (int i = 0; i < closer->rows && !rolls; i++) {
        double r = scale_of(closer, i) * s->phi[closer->row + i] - closer->margin;
        square += r * r;
    }
    add_block(s, system->model->constraint[index].name, limit ? ZW_INEQUALITY : ZW_EQUALITY,
              closer->rows);
    s->of[s->blocks - 1] = index;
    for (int i = 0; i < closer->rows; i++) {
        int row = closer->row + i;
        double scale = scale_of(closer, i);
        for (int k = system->A_start[row]; k < system->A_start[row + 1]; k++) {
            add_entry(s, system->A_column[k], scale * s->A[k]);
        }
        soft_point at = {.r = rolls ? 0 : scale * s->phi[row] - closer->margin,
                         .speed = scale * s->psi[row],
                         .curve = closer->kind < CLOSER_LENGTH ? scale * s->closer_b[row] : 0,
                         .A0 = weight_of(s, closer, i),
                         .d = soft_impedance(closer->soft.imp, sqrt(square)),
                         .spring = soft_spring_of(&closer->soft, s->h)};
        end_row(s, &at);
    }
}

/* ---- Friction of joints and tendons ---------------------------------------------------------- */

static double dry_weight(const soft_problem *s, const bodies_dry *dry)
{
    const struct system_bodies *bodies = s->system->bodies;
    if (dry->count == 1 && bodies->term[dry->first].coef == 1) {
        return s->dof[bodies->term[dry->first].dof];
    }
    for (int i = bodies->joint_count; i < bodies->length_count; i++) { /* its tendon */
        const bodies_length *length = &bodies->length[i];
        if (length->count == dry->count &&
            memcmp(&bodies->term[length->first], &bodies->term[dry->first],
                   (size_t)dry->count * sizeof *bodies->term) == 0) {
            return s->length[i];
        }
    }
    return 0;
}

static void look_at_dry(soft_problem *s, const double *v)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int k = 0; k < bodies->dry_count; k++) {
        const bodies_dry *dry = &bodies->dry[k];
        double speed = 0, d = soft_impedance(dry->soft.imp, 0);
        for (int i = dry->first; i < dry->first + dry->count; i++) {
            speed += bodies->term[i].coef * v[bodies->term[i].dof];
        }
        s->dry_aref[k] = -soft_spring_of(&dry->soft, s->h).B * speed;
        s->dry_R[k] = fmax(LEAST, (1 - d) / d * dry_weight(s, dry));
    }
}

/* ---- Contacts ------------------------------------------------------------------------------- */

/* On a plane MuJoCo's first direction across the normal is that of a capsule: pyramids feel it. */
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

/* Capsules that are not parallel touch in one point, the deepest; ours may have a second, which
 * keeps them from rocking. Is this one of those? Points of a pair stand side by side. */
static int is_spare(const soft_problem *s, int index)
{
    const contact_world *world = s->system->bodies->contact;
    const contact_point *point = s->found.point, *own = &point[index];
    const uint32_t *geom = own->key.geom;
    double axis[2][3], across[3];
    for (int side = 0; side < 2; side++) {
        const contact_geom *g = &world->geom[geom[side]];
        const double *R = s->found.pose[geom[side]].R;
        if (g->shape.kind != COLLIDE_CAPSULE) {
            return 0;
        }
        for (int k = 0; k < 3; k++) {
            axis[side][k] = R[3 * k + 2] * g->shape.size[1];
        }
    }
    model_cross(across, axis[0], axis[1]);
    if (model_dot(across, across) < 1e-15) {
        return 0;
    }
    for (int k = index - 1; k <= index + 1; k += 2) {
        if (k >= 0 && k < s->found.count && point[k].key.geom[0] == geom[0] &&
            point[k].key.geom[1] == geom[1] &&
            (point[k].gap < own->gap || (point[k].gap == own->gap && k < index))) {
            return 1;
        }
    }
    return 0;
}

/* The numbers of one contact, in the order of its rows. */
typedef struct soft_touch {
    zw_soft law, across; /* across: of friction, if has_across */
    int has_across;
    double shift, turn; /* A0 */
    double speed[6];
} soft_touch;

static soft_touch touch_of(const soft_problem *s, const contact_point *point)
{
    const contact_world *world = s->system->bodies->contact;
    int i = (int)point->key.geom[0], j = (int)point->key.geom[1];
    const contact_geom *a = &world->geom[i], *b = &world->geom[j];
    const zw_pair_def *pair = contact_pair(world, i, j);
    soft_touch touch = {.law = soft_mix(&a->law, &b->law),
                        .shift = s->part[a->owner][0] + s->part[b->owner][0],
                        .turn = s->part[a->owner][1] + s->part[b->owner][1]};
    if (pair && pair->given & 4) {
        touch.law = pair->soft;
    }
    if (pair && pair->given & 8) {
        touch.across = touch.law;
        memcpy(touch.across.ref, pair->soft_friction.ref, sizeof touch.across.ref);
        touch.has_across = touch.across.ref[0] != 0 || touch.across.ref[1] != 0;
    }
    return touch;
}

static void add_elliptic(soft_problem *s, const contact_point *point, const soft_touch *touch,
                         int columns)
{
    double mu[5], R0 = 0;
    soft_spring spring = soft_spring_of(&touch->law, s->h), across = spring;
    if (touch->has_across) {
        across = soft_spring_of(&touch->across, s->h);
    }
    add_block(s, "contact", point->rows > 1 ? ZW_CONE : ZW_INEQUALITY, point->rows);
    for (int r = 0; r + 1 < point->rows; r++) {
        mu[r] = fmax(point->friction[r], LEAST_FRICTION);
        s->block[s->blocks - 1].friction[r] = mu[r];
    }
    for (int r = 0; r < point->rows; r++) {
        for (int k = 0; k < columns; k++) {
            add_entry(s, s->J_column[k], s->J[r * columns + k]);
        }
        soft_point at = {.r = r == 0 ? point->gap : 0,
                         .speed = touch->speed[r],
                         .A0 = touch->shift,
                         .d = soft_impedance(touch->law.imp, point->gap),
                         .spring = r == 0 ? spring : across};
        end_row(s, &at);
        double *R = &s->R[s->rows - 1];
        R0 = r == 0 ? *R : R0;
        if (r > 0) {
            *R = R0 / fmax(LEAST, s->system->bodies->impratio) * mu[0] * mu[0] /
                 (mu[r - 1] * mu[r - 1]);
        }
    }
}

static void add_pyramid(soft_problem *s, const contact_point *point, const soft_touch *touch,
                        int columns)
{
    double first = fmax(point->friction[0], LEAST_FRICTION);
    double shrink = 2 * first * first / fmax(LEAST, s->system->bodies->impratio);
    add_block(s, "contact", ZW_INEQUALITY, 2 * (point->rows - 1));
    for (int e = 0; e < 2 * (point->rows - 1); e++) {
        int r = 1 + e / 2;
        double mu = fmax(point->friction[r - 1], LEAST_FRICTION) * (e % 2 ? -1 : 1);
        for (int k = 0; k < columns; k++) {
            add_entry(s, s->J_column[k], s->J[k] + mu * s->J[r * columns + k]);
        }
        soft_point at = {.r = point->gap,
                         .speed = touch->speed[0] + mu * touch->speed[r],
                         .A0 = touch->shift * (1 + first * first),
                         .d = soft_impedance(touch->law.imp, point->gap),
                         .spring = soft_spring_of(&touch->law, s->h)};
        end_row(s, &at);
        s->R[s->rows - 1] = fmax(LEAST, shrink * s->R[s->rows - 1]);
    }
}

static void add_contact(soft_problem *s, int index, const double *v)
{
    contact_point *point = &s->found.point[index];
    turn_frame(s, point);
    soft_touch touch = touch_of(s, point);
    int columns = contact_rows(s->system, point, s->work->sweeps, s->J_column, s->J);
    for (int r = 0; r < point->rows; r++) {
        for (int k = 0; k < columns; k++) {
            touch.speed[r] += s->J[r * columns + k] * v[s->J_column[k]];
        }
    }
    if (point->rows == 1 || s->system->bodies->elliptic) {
        add_elliptic(s, point, &touch, columns);
    } else {
        add_pyramid(s, point, &touch, columns);
    }
    s->of[s->blocks - 1] = index;
}

/* ---- All ------------------------------------------------------------------------------------ */

zw_status soft_fill(soft_problem *s, const double *q, const double *v, zw_error *error)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->bodies;
    zw_status status = ZW_OK;
    if (s->is_there) {
        status = contact_find(system, &s->found, s->work->sweeps, 0, 0, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    int points = s->is_there ? s->found.count : 0, most = 10 * points;
    if (!grow(s, system->m + bodies->dry_count + most + 1,
              system->A_start[system->m] + bodies->term_count + most * (2 * bodies->widest + 1) +
                  1)) {
        return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    }
    s->rows = s->blocks = s->entries = s->start[0] = 0;
    if (system->m > 0) {
        bodies_fill_rows(system, s->work, q, v,
                         (bodies_rows){.phi = s->phi, .psi = s->psi, .b = s->closer_b, .A = s->A});
    }
    for (int c = 0; c < bodies->closer_count; c++) {
        add_closer(s, c);
    }
    look_at_dry(s, v);
    s->first_contact = s->blocks;
    for (int k = 0; k < points; k++) {
        if (s->found.point[k].gap < 0 && !is_spare(s, k)) {
            add_contact(s, k, v);
        }
    }
    return ZW_OK;
}
