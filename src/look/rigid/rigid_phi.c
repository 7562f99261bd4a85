/* The equations of a piece of a step by method impulse, or of an act of an impact, times a vector z
 * (rigid_back.c): one number phi, and its slopes.
 *
 * The first n entries x of z go with the balance, and y (rigid_collect) with the speeds of rows.
 * With theta = 0 and qm = q0 (+) h/2 u, and sums over bodies, z . F is
 *
 *     X(q0; x) . (P(qm, u) - P(q0, v0) + fall lift) + armature x . (u - v0)
 *         - fall x . f(qf, u) - lambda . B x + y . w
 *
 * and z . G, with E = sigma late (D + (1 + sigma)/2 late K),
 *
 *     X(q1; x) . (P(q1, v1) - P(qm, u) + late lift) + armature x . (v1 - u)
 *         - late x . f(qf, u) + x . E (v1 - u) - mu . J(q1) x + y . w
 *
 * (X motions of the bodies, P momenta, both about centres of mass; impulse.c, impulse_close.c), and
 * the rows of contacts are those of impulse_contact.c and impulse_roll.c. All of its slopes come of
 * one reverse sweep over each place (back.c). Momenta turn: of t . J w, J turning with its body by
 * a, the slope by a is J w x t + J t x w. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "collide/vector.h"
#include "look/rigid/rigid_back.h"
#include "look/slopes/slopes_pull.h"
#include "tree/sweeps.h"

/* ---- Creating and freeing -------------------------------------------------------------------- */

static void lay_out(rigid_way *way, base_arena *arena)
{
    size_t n = (size_t)way->system->n, nq = (size_t)way->system->nq;
    size_t bodies = (size_t)way->system->tree->bodies;
    double **momenta[] = {&way->P0, &way->Pm, &way->P1};
    for (int k = 0; k < 3; k++) {
        *momenta[k] = base_arena_doubles(arena, 6 * bodies);
    }
    way->qf = base_arena_doubles(arena, nq);
    way->qm = base_arena_doubles(arena, nq);
    way->qf_by = base_arena_doubles(arena, n);
    way->none = base_arena_doubles(arena, n);
}

rigid_way *rigid_way_create(const zw_system *system)
{
    rigid_way *way = base_alloc(sizeof *way);
    base_arena arena = {0};
    if (!way) {
        return NULL;
    }
    *way = (rigid_way){.system = system};
    lay_out(way, &arena);
    way->memory = base_alloc(arena.used + 1);
    int good = way->memory != NULL;
    for (int k = 0; k < 3; k++) {
        good &= back_create(&way->place[k], system);
    }
    if (!good) {
        rigid_way_free(way);
        return NULL;
    }
    arena = (base_arena){.block = way->memory};
    lay_out(way, &arena);
    return way;
}

void rigid_way_free(rigid_way *way)
{
    if (way) {
        for (int k = 0; k < 3; k++) {
            back_free(&way->place[k]);
        }
        base_free(way->pull);
        base_free(way->dof);
        base_free(way->coef);
        base_free(way->y);
        base_free(way->K);
        base_free(way->z);
        base_free(way->numbers);
        base_free(way->memory);
        base_free(way);
    }
}

/* ---- What is the same for all phi of a piece ------------------------------------------------- */

/* (J w, m v) of a motion. */
static void momentum(const back_place *p, int body, const double *V, double *to)
{
    const tree_mechanism *tree = p->system->tree;
    const double *J = p->sweeps + tree->at.inertia + 6 * body;
    to[0] = J[0] * V[0] + J[3] * V[1] + J[4] * V[2];
    to[1] = J[3] * V[0] + J[1] * V[1] + J[5] * V[2];
    to[2] = J[4] * V[0] + J[5] * V[1] + J[2] * V[2];
    for (int k = 0; k < 3; k++) {
        to[3 + k] = tree->body[body].mass * V[3 + k];
    }
}

static void momenta(const back_place *p, int field, double *P)
{
    for (int i = 1; i < p->system->tree->bodies; i++) {
        double V[6];
        back_motion(p, field, i, V);
        momentum(p, i, V, P + 6 * i);
    }
}

static void keep_pull(void *user, const slopes_pull *from)
{
    rigid_way *way = user;
    if (way->pulls == way->pull_capacity || way->terms + from->count > way->term_capacity) {
        return; /* lay_pulls counts */
    }
    way->pull[way->pulls++] = (rigid_pull){.count = from->count,
                                           .first = way->terms,
                                           .param = from->param,
                                           .motor = from->motor,
                                           .by_length = from->by_length,
                                           .by_rate = from->by_rate,
                                           .by_control = from->by_control};
    memcpy(way->dof + way->terms, from->dof, (size_t)from->count * sizeof(int));
    memcpy(way->coef + way->terms, from->coef, (size_t)from->count * sizeof(double));
    way->terms += from->count;
}

static void count_pull(void *user, const slopes_pull *from)
{
    rigid_way *way = user;
    way->pulls++;
    way->terms += from->count;
}

/* Springs, dampers and motors at qf. 0: no memory. */
static int list_pulls(rigid_way *way, sens_rigid *r)
{
    slopes_kinks kinks = {0};
    way->pulls = way->terms = 0;
    slopes_pulls(way->system, way->work, way->qf, way->it->u, count_pull, way, &kinks);
    if (kinks.count > 0) {
        rigid_note_kink(r, kinks.name);
    }
    if (way->pulls > way->pull_capacity || way->terms > way->term_capacity) {
        base_free(way->pull);
        base_free(way->dof);
        base_free(way->coef);
        way->pull_capacity = 2 * way->pulls;
        way->term_capacity = 2 * way->terms;
        way->pull = base_alloc((size_t)way->pull_capacity * sizeof *way->pull);
        way->dof = base_alloc((size_t)way->term_capacity * sizeof *way->dof);
        way->coef = base_alloc((size_t)way->term_capacity * sizeof *way->coef);
        if (!way->pull || !way->dof || !way->coef) {
            way->pull_capacity = way->term_capacity = 0;
            return 0;
        }
    }
    way->pulls = way->terms = 0;
    kinks = (slopes_kinks){0};
    slopes_pulls(way->system, way->work, way->qf, way->it->u, keep_pull, way, &kinks);
    return 1;
}

static double late_of(const rigid_record *it)
{
    return 0.5 * (1 - it->theta) * it->h;
}

static double ahead_of(const rigid_record *it)
{
    return 0.5 * (1 + it->sigma) * it->h;
}

static int open_piece(rigid_way *way, sens_rigid *r)
{
    const rigid_record *it = way->it;
    const tree_mechanism *tree = way->system->tree;
    double middle = 0.5 * (1 + it->theta) * it->h, ahead = ahead_of(it);
    back_place *q0 = &way->place[0], *qm = &way->place[1], *q1 = &way->place[2];
    tree_advance(tree, it->q0, it->u, &middle, way->qm);
    tree_advance(tree, it->q0, it->u, &ahead, way->qf);
    way->at = it->theta == 1 ? q1 : q0;
    way->mid = it->theta == 1 ? q1 : qm;
    back_set(q0, it->q0);
    back_set(q1, it->q1);
    back_field(q0, BACK_V, it->v0);
    back_field(q0, BACK_U, it->u);
    back_field(q1, BACK_U, it->u);
    back_field(q1, BACK_V, it->v1);
    if (way->mid == qm) {
        back_set(qm, way->qm);
        back_field(qm, BACK_U, it->u);
    }
    momenta(q0, BACK_V, way->P0);
    momenta(way->mid, BACK_U, way->Pm);
    momenta(q1, BACK_V, way->P1);
    return list_pulls(way, r);
}

static int open_impact(rigid_way *way)
{
    back_place *q = &way->place[2];
    back_set(q, way->it->q1);
    back_field(q, BACK_U, way->it->v0);
    back_field(q, BACK_V, way->it->v1);
    momenta(q, BACK_U, way->P0);
    momenta(q, BACK_V, way->P1);
    return 1;
}

int rigid_way_open(rigid_way *way, sens_rigid *r)
{
    return way->it->impact ? open_impact(way) : open_piece(way, r);
}

/* ---- The balance ----------------------------------------------------------------------------- */

/* phi has A . P of the field at p, by times, with A as it is. */
static void add_momentum(back_place *p, int field, int body, const double *A, const double *P,
                         double by)
{
    double V[6], wrench[6], torque[3], part[3];
    back_motion(p, field, body, V);
    momentum(p, body, A, wrench);
    v3_cross(torque, P, A);
    v3_cross(part, wrench, V);
    for (int k = 0; k < 3; k++) {
        torque[k] = by * (torque[k] + part[k]);
        wrench[k] *= by;
        wrench[3 + k] *= by;
    }
    back_add(p, field, body, wrench);
    back_turn(p, body, torque);
}

/* X(at; x) . (P of the plus less P of the minus + time lift) */
static void add_balance(rigid_way *way, back_place *at, const double *x, back_place *plus,
                        int plus_field, const double *Pp, back_place *minus, int minus_field,
                        const double *Pn, double time)
{
    const tree_mechanism *tree = way->system->tree;
    back_field(at, BACK_X, x);
    for (int i = 1; i < tree->bodies; i++) {
        double A[6], wrench[6];
        back_motion(at, BACK_X, i, A);
        for (int k = 0; k < 6; k++) {
            wrench[k] = Pp[6 * i + k] - Pn[6 * i + k];
        }
        v3_add(wrench + 3, wrench + 3, time, tree->body[i].lift);
        back_add(at, BACK_X, i, wrench);
        add_momentum(plus, plus_field, i, A, Pp + 6 * i, 1);
        add_momentum(minus, minus_field, i, A, Pn + 6 * i, -1);
    }
}

static double along(const rigid_way *way, const rigid_pull *it, const double *x)
{
    double sum = 0;
    for (int i = it->first; i < it->first + it->count; i++) {
        sum += way->coef[i] * x[way->dof[i]];
    }
    return sum;
}

static void spread(const rigid_way *way, const rigid_pull *it, double by, double *to)
{
    for (int i = it->first; i < it->first + it->count && by != 0; i++) {
        to[way->dof[i]] += by * way->coef[i];
    }
}

/* -time x . f(qf, u); those of motors that have boxes are theirs. */
static void add_forces(rigid_way *way, const double *x, double time, rigid_slopes *to)
{
    for (int k = 0; k < way->pulls; k++) {
        const rigid_pull *it = &way->pull[k];
        double by = -time * along(way, it, x);
        if (it->motor > 0 && way->it->boxed[it->motor - 1]) {
            continue;
        }
        spread(way, it, by * it->by_length, way->qf_by);
        spread(way, it, by * it->by_rate, to->u);
        if (it->param >= 0) {
            to->param[it->param] += by * it->by_control;
        }
    }
}

/* x . E (v1 - u) */
static void add_stiffness(rigid_way *way, const double *x, rigid_slopes *to)
{
    const rigid_record *it = way->it;
    double late = late_of(it), ahead = 0.5 * (1 + it->sigma) * late;
    for (int k = 0; k < way->pulls; k++) {
        const rigid_pull *p = &way->pull[k];
        double slope = -(p->by_rate + ahead * p->by_length);
        if ((p->motor > 0 && it->boxed[p->motor - 1]) || !(slope > 0)) {
            continue;
        }
        double by = along(way, p, x), change = along(way, p, it->v1) - along(way, p, it->u);
        spread(way, p, it->sigma * late * slope * by, to->v1);
        spread(way, p, -it->sigma * late * slope * by, to->u);
        to->sigma += by * change * late * (slope - it->sigma * 0.5 * late * p->by_length);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void add_row(const rigid_half *half, int n, int row, double by, double *to)
{
    const double *B = half->B + (size_t)row * (size_t)n;
    for (int j = 0; j < n && by != 0; j++) {
        to[j] += by * B[j];
    }
}

static int motor_of(const zw_system *system, const rigid_block *block)
{
    for (int k = 0; k < system->bodies->motor_count; k++) {
        if (IMPULSE_MOTORS + system->bodies->motor[k].param == block->key) {
            return k;
        }
    }
    return -1;
}

/* by times the force that motor k would have, at (qf, u): slopes; and those of the force by its
 * length and rate. */
static bodies_law add_motor(rigid_way *way, int k, double by, rigid_slopes *to)
{
    zw_work *work = way->work;
    const zw_system *system = way->system;
    const bodies_motor *motor = &system->bodies->motor[k];
    double length = 0, rate = 0, control = work->param[motor->param];
    int count = bodies_aim(system, work, k, way->qf, work->aim_dof, work->aim, &length);
    for (int i = 0; i < count; i++) {
        rate += work->aim[i] * way->it->u[work->aim_dof[i]];
    }
    double u = bodies_nearest_control(motor, bodies_control(system, work, motor, NULL), length);
    bodies_law law = bodies_motor_law(motor, u, length, rate);
    for (int i = 0; i < count; i++) {
        way->qf_by[work->aim_dof[i]] += by * law.by_length * work->aim[i];
        to->u[work->aim_dof[i]] += by * law.by_rate * work->aim[i];
    }
    if (!motor->clamp_control || (control >= motor->control[0] && control <= motor->control[1])) {
        to->param[motor->param] += by * (bodies_motor_law(motor, 1, length, rate).force -
                                         bodies_motor_law(motor, 0, length, rate).force);
    }
    return law;
}

/* A motor with a box: its multiplier, as the law says, is y's. */
static void add_box(rigid_way *way, int second, const rigid_half *half, const rigid_block *block,
                    double y, rigid_slopes *to)
{
    const rigid_record *it = way->it;
    double late = late_of(it), time = second ? late : it->h - late;
    int n = way->system->n, k = motor_of(way->system, block);
    if (block->side >= 0 || y == 0 || k < 0) {
        return;
    }
    bodies_law law = add_motor(way, k, y * time, to);
    if (second) { /* late (F + sigma slope a . (v1 - u)) */
        double slope = law.by_rate + 0.5 * (1 + it->sigma) * late * law.by_length, change = 0;
        const double *a = half->B + (size_t)block->first * (size_t)n;
        for (int j = 0; j < n; j++) {
            change += a[j] * (it->v1[j] - it->u[j]);
        }
        add_row(half, n, block->first, y * late * it->sigma * slope, to->v1);
        add_row(half, n, block->first, -y * late * it->sigma * slope, to->u);
        to->sigma += y * late * change * (slope + it->sigma * 0.5 * late * law.by_length);
    }
}

/* Forces of motors with boxes in the second half, where they are those of the first: sigma = 0. */
static void add_late_motors(rigid_way *way, const double *x, rigid_slopes *to)
{
    const rigid_record *it = way->it;
    for (int b = 0; b < it->half[0].blocks && it->sigma == 0; b++) {
        const rigid_block *block = &it->half[0].block[b];
        int k = block->key >= IMPULSE_MOTORS && block->key < IMPULSE_CONTACTS
                    ? motor_of(way->system, block)
                    : -1;
        if (k >= 0 && block->side < 0) {
            const double *a = it->half[0].B + (size_t)block->first * (size_t)way->system->n;
            double by = 0;
            for (int j = 0; j < way->system->n; j++) {
                by += a[j] * x[j];
            }
            add_motor(way, k, -late_of(it) * by, to);
        }
    }
}

/* Rows of joints: limits, couplings, friction, motors. */
static void add_joints(rigid_way *way, int second, const double *y, rigid_slopes *to)
{
    const rigid_half *half = &way->it->half[second];
    int n = way->system->n, after = second || way->it->impact;
    for (int b = 0; b < half->blocks; b++) {
        const rigid_block *block = &half->block[b];
        double by = y[block->first];
        if (block->key >= IMPULSE_CONTACTS || block->mode == RIGID_FREE) {
            continue;
        }
        if (block->key >= IMPULSE_MOTORS) {
            add_box(way, second, half, block, by, to);
            continue;
        }
        int limit = block->key < bodies_first_constraint(way->system->bodies) +
                                     way->system->bodies->constraint_count;
        for (int i = 0; i < block->rows && block->mode == RIGID_HELD; i++) {
            double of_row = y[block->first + i];
            if (limit && !way->it->impact) {
                add_row(half, n, block->first + i, of_row * block->per, way->place[2].q_by);
            }
            if (after) {
                add_row(half, n, block->first + i, of_row, to->v1);
            } else if (!limit) {
                add_row(half, n, block->first + i, of_row, to->u);
            }
        }
    }
}

/* In the first half: gap and slip. */
static void add_first(rigid_way *way, const rigid_touch *touch, const rigid_block *block,
                      const double *lambda, const double *y, int pushes)
{
    const rigid_record *it = way->it;
    const contact_point *point = &touch->end.point;
    back_rows end = {.kappa = y[0] / it->h}, begin = {.kappa = 0};
    double c = touch->rolls ? touch->part : 1, g[3][3] = {{0}};
    for (int r = 0; r < block->rows; r++) {
        int early = touch->rolls && r >= 3; /* spin and roll are those of q0 */
        double push = pushes ? -lambda[r] : 0, slip = r > 0 ? y[r] : 0;
        end.rows[BACK_X][r] = early ? 0 : c * push;
        begin.rows[BACK_X][r] = early ? push : (1 - c) * push;
        end.rows[BACK_U][r] = early ? 0 : 0.5 * (1 + c) * slip;
        begin.rows[BACK_U][r] = early ? slip : 0.5 * (1 - c) * slip;
    }
    if (!touch->rolls || point->rows < 3) {
        back_rows_add(&way->place[2], &touch->end, block->rows, &end, point->frame, NULL);
    } else { /* along the axes of q0 */
        const double *frame = touch->begin.point.frame;
        back_rows_add(&way->place[2], &touch->end, block->rows < 3 ? block->rows : 3, &end, frame,
                      g);
    }
    if (touch->rolls) {
        const double *frame = touch->begin.point.frame;
        back_rows_add(&way->place[0], &touch->begin, block->rows, &begin, frame, g);
        back_frame_add(&way->place[0], &touch->begin, g);
    }
}

/* In the second half, and in an impact: speeds. */
static void add_second(rigid_way *way, const rigid_touch *touch, const rigid_block *block,
                       const double *lambda, const double *y, int pushes)
{
    back_rows rows = {.kappa = 0};
    for (int r = 0; r < block->rows; r++) {
        rows.rows[BACK_X][r] = pushes ? -lambda[r] : 0;
        rows.rows[BACK_V][r] = y[r];
    }
    rows.rows[BACK_U][0] = touch->bounce * y[0];
    back_rows_add(&way->place[2], &touch->end, block->rows, &rows, touch->end.point.frame, NULL);
}

static int is_there(int count, const double *x)
{
    int any = 0;
    for (int i = 0; i < count; i++) {
        any |= x[i] != 0;
    }
    return any;
}

static void add_touches(rigid_way *way, int second, const double *y, int pushes)
{
    const rigid_record *it = way->it;
    const rigid_half *half = &it->half[second];
    for (int k = 0; k < it->touches; k++) {
        const rigid_touch *touch = &it->touch[k];
        const rigid_block *block =
            touch->block[second] >= 0 ? &half->block[touch->block[second]] : NULL;
        if (block && (pushes || is_there(block->rows, y + block->first))) {
            (second || it->impact ? add_second : add_first)(
                way, touch, block, half->lambda + block->first, y + block->first, pushes);
        }
    }
}

/* ---- phi ------------------------------------------------------------------------------------- */

/* The sweeps over all places, then to those of the start. */
static void gather(rigid_way *way, rigid_slopes *to)
{
    const rigid_record *it = way->it;
    const zw_system *system = way->system;
    double *none = NULL;
    if (it->impact) {
        back_gather(&way->place[2], (double *const[]){none, to->v0, to->v1});
        for (int i = 0; i < system->n; i++) {
            to->q0[i] += way->place[2].q_by[i];
        }
        return;
    }
    back_gather(&way->place[0], (double *const[]){none, to->u, to->v0});
    back_gather(&way->place[2], (double *const[]){none, to->u, to->v1});
    back_advance(system, it->u, it->h, way->place[2].q_by, to->q0, to->u);
    if (way->mid == &way->place[1]) {
        back_gather(way->mid, (double *const[]){none, to->u, none});
        back_advance(system, it->u, 0.5 * it->h, way->mid->q_by, to->q0, to->u);
    }
    for (int i = 0; i < system->n; i++) {
        to->q0[i] += way->place[0].q_by[i];
    }
    to->sigma += 0.5 * it->h * back_advance(system, it->u, ahead_of(it), way->qf_by, to->q0, to->u);
}

void rigid_find_slopes(rigid_way *way, int second, const double *z, rigid_slopes *to)
{
    const rigid_record *it = way->it;
    const tree_mechanism *tree = way->system->tree;
    back_place *q0 = &way->place[0], *q1 = &way->place[2];
    size_t n = (size_t)way->system->n;
    int pushes = is_there((int)n, z);
    double late = late_of(it);
    for (int k = 0; k < 3; k++) {
        back_clear(&way->place[k]);
    }
    memset(way->qf_by, 0, n * sizeof(double));
    rigid_collect(&it->half[second], (int)n, way->law, z, way->y);
    if (pushes) {
        back_field(q1, BACK_X, z);
        if (it->impact) {
            add_balance(way, q1, z, q1, BACK_V, way->P1, q1, BACK_U, way->P0, 0);
        } else if (second) {
            add_balance(way, q1, z, q1, BACK_V, way->P1, way->mid, BACK_U, way->Pm, late);
        } else {
            back_field(q0, BACK_X, z);
            add_balance(way, way->at, z, way->mid, BACK_U, way->Pm, q0, BACK_V, way->P0,
                        it->h - late);
        }
        double *plus = second || it->impact ? to->v1 : to->u, *minus = second ? to->u : to->v0;
        for (size_t i = 0; i < n; i++) {
            plus[i] += tree->armature[i] * z[i];
            minus[i] -= tree->armature[i] * z[i];
        }
    }
    if (pushes && !it->impact) {
        add_forces(way, z, second ? late : it->h - late, to);
    }
    if (pushes && second) {
        add_stiffness(way, z, to);
        add_late_motors(way, z, to);
    }
    add_joints(way, second, way->y, to);
    add_touches(way, second, way->y, pushes);
    gather(way, to);
}

/* sigma follows from the mass of one dof at q0. */
void rigid_follow_sigma(rigid_way *way, rigid_slopes *to)
{
    const rigid_record *it = way->it;
    back_place *q0 = &way->place[0];
    double by = to->sigma * it->stiffness_by;
    if (by == 0) {
        return;
    }
    memset(way->none, 0, (size_t)way->system->n * sizeof(double));
    way->none[it->stiffest] = 1;
    back_clear(q0);
    back_field(q0, BACK_X, way->none);
    for (int i = 1; i < way->system->tree->bodies; i++) {
        double A[6], P[6];
        back_motion(q0, BACK_X, i, A);
        momentum(q0, i, A, P);
        add_momentum(q0, BACK_X, i, A, P, by); /* A . P is quadratic: twice the force, */
        for (int k = 0; k < 6; k++) {
            P[k] *= by;
        }
        back_add(q0, BACK_X, i, P);
    }
    back_gather(q0, (double *const[]){NULL, NULL, NULL});
    for (int i = 0; i < way->system->n; i++) {
        to->q0[i] += q0->q_by[i];
    }
}
