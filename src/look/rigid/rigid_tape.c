/* The records of a step by method impulse for the backward pass (rigid_back.c): of each piece and
 * of each act of an impact the places and speeds, multipliers and modes, and how its contacts move
 * with the shapes. Nothing is solved here.
 *
 * The backward pass supports robots without activations whose forces act along constant directions
 * (slopes_pull.c) and whose joints have limits and linear couplings only, in steps with theta 0 or
 * 1, if no overlaps are separated. All others use the matrix of rigid_piece.c. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/rigid/rigid.h"
#include "look/slopes/slopes_pull.h"
#include "system/bodies/balance.h"
#include "tree/sweeps.h"

struct rigid_tape {
    const zw_system *system;
    int names;
    int count, capacity, failed;
    rigid_record *record; /* [capacity] */
    int begins, begin_capacity;
    back_contact *begin; /* [begin_capacity] of entries of impulse_roll.c, at q0 */
    int stiffest;        /* of the current piece */
    double stiffness_by;
};

/* ---- Creating and freeing -------------------------------------------------------------------- */

static int covers(const zw_system *system)
{
    zw_error none = {0};
    const struct system_bodies *bodies = system->bodies;
    int covered = slopes_pulls_check(system, &none) == ZW_OK && bodies->act_count == 0;
    for (int k = 0; k < bodies->constraint_count; k++) {
        covered &= slopes_is_constant(&bodies->constraint[k]);
    }
    return covered;
}

rigid_tape *rigid_tape_create(sens_rigid *r)
{
    rigid_tape *tape = covers(r->system) ? base_alloc(sizeof *tape) : NULL;
    if (tape) {
        *tape = (rigid_tape){.system = r->system, .names = r->names};
    }
    return tape;
}

static void drop(rigid_record *it)
{
    for (int k = 0; k < 2; k++) {
        rigid_half_free(&it->half[k]);
        base_free(it->E[k]);
    }
    base_free(it->touch);
    base_free(it->memory);
}

void rigid_tape_free(rigid_tape *tape)
{
    for (int k = 0; tape && k < tape->capacity; k++) {
        drop(&tape->record[k]);
    }
    if (tape) {
        base_free(tape->record);
        base_free(tape->begin);
        base_free(tape);
    }
}

void rigid_tape_begin(rigid_tape *tape)
{
    tape->count = tape->failed = 0;
}

int rigid_tape_failed(const rigid_tape *tape)
{
    return tape->failed;
}

int rigid_tape_count(const rigid_tape *tape)
{
    return tape->count;
}

const rigid_record *rigid_tape_record(const rigid_tape *tape, int k)
{
    return &tape->record[k];
}

static void lay_out(const rigid_tape *tape, rigid_record *it, base_arena *arena)
{
    size_t n = (size_t)tape->system->n, nq = (size_t)tape->system->nq;
    double **speeds[] = {&it->u, &it->v0, &it->v1, &it->row};
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        *speeds[k] = base_arena_doubles(arena, n);
    }
    it->q0 = base_arena_doubles(arena, nq);
    it->q1 = base_arena_doubles(arena, nq);
    it->gap_by = base_arena_doubles(arena, (size_t)tape->names);
    it->boxed = base_arena_ints(arena, (size_t)tape->system->bodies->motor_count);
}

/* The next record, empty; NULL: no memory. */
static rigid_record *open_record(rigid_tape *tape)
{
    if (tape->count == tape->capacity) {
        int capacity = 2 * tape->capacity + 4;
        rigid_record *more = base_alloc((size_t)capacity * sizeof *more);
        if (!more) {
            return NULL;
        }
        memset(more, 0, (size_t)capacity * sizeof *more);
        if (tape->capacity > 0) {
            memcpy(more, tape->record, (size_t)tape->capacity * sizeof *more);
        }
        base_free(tape->record);
        tape->record = more;
        tape->capacity = capacity;
    }
    rigid_record *it = &tape->record[tape->count];
    base_arena arena = {0};
    if (!it->memory) {
        lay_out(tape, it, &arena);
        it->memory = base_alloc(arena.used + 1);
        arena = (base_arena){.block = it->memory};
        if (it->memory) {
            lay_out(tape, it, &arena);
        }
    }
    it->touches = it->impact = it->hits = 0;
    return it->memory ? it : NULL;
}

/* ---- Contacts -------------------------------------------------------------------------------- */

static void note_touch(sens_rigid *r, int known)
{
    if (!known) {
        rigid_note_kink(r, "a contact of other parts of two shapes");
    }
}

static void look(sens_rigid *r, const collide_pose *pose, const contact_point *point, double left,
                 back_contact *to)
{
    note_touch(r, back_contact_look(r->system, pose, point, COLLIDE_COMPLETE, left, to));
}

/* sigma is that of the dof whose forces are the stiffest beside its mass, which may change with
 * q0: most ~ 1/M_dd, and sigma = ramp(most^2). 0: its forces may change, too. */
static int note_sigma(rigid_tape *tape, const step_impulse *s)
{
    const struct system_bodies *bodies = s->system->bodies;
    double x = impulse_stiffness(s, s->stiffest), mass = s->other[s->stiffest];
    tape->stiffness_by = 0;
    if (s->sigma == s->theta || s->sigma == 1) {
        return 1;
    }
    double rate = (balance_ramp(0.21) - balance_ramp(0.05)) / 0.16; /* it is linear there */
    tape->stiffest = s->stiffest;
    tape->stiffness_by = -2 * x * x * rate / mass;
    int constant = 1;
    for (int k = 0; k < bodies->motor_count; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        constant &=
            motor->gain_law == ZW_ACTUATOR_CONSTANT && motor->bias_law != ZW_ACTUATOR_MUSCLE;
    }
    return constant;
}

int rigid_tape_start(sens_rigid *r)
{
    rigid_tape *tape = r->tape;
    step_impulse *s = r->here.s;
    int count = s->touch.is_there ? s->touch.rolling.count : 0;
    tape->failed |= !note_sigma(tape, s);
    if (count > tape->begin_capacity) {
        base_free(tape->begin);
        tape->begin = base_alloc(2 * (size_t)count * sizeof *tape->begin);
        tape->begin_capacity = tape->begin ? 2 * count : 0;
    }
    tape->begins = count;
    for (int i = 0; i < count; i++) {
        int k = impulse_roller_point(s, i);
        if (k < 0 || tape->begin_capacity < count) {
            tape->failed = 1;
            return 1;
        }
        look(r, s->touch.found.pose, &s->touch.found.point[k], 0, &tape->begin[i]);
    }
    return 1;
}

static int block_of(const rigid_half *half, int64_t key)
{
    for (int b = 0; b < half->blocks; b++) {
        if (half->block[b].key == key && half->block[b].mode != RIGID_FREE) {
            return b;
        }
    }
    return -1;
}

static rigid_touch *add_touch(rigid_record *it)
{
    if (it->touches == it->touch_capacity) {
        int capacity = 2 * it->touch_capacity + 8;
        rigid_touch *more = base_alloc((size_t)capacity * sizeof *more);
        if (!more) {
            return NULL;
        }
        if (it->touches > 0) {
            memcpy(more, it->touch, (size_t)it->touches * sizeof *more);
        }
        base_free(it->touch);
        it->touch = more;
        it->touch_capacity = capacity;
    }
    return &it->touch[it->touches++];
}

/* Points at q1 that take part. 0: no memory. */
static int note_touches(sens_rigid *r, rigid_record *it)
{
    rigid_tape *tape = r->tape;
    step_impulse *s = r->here.s;
    impulse_contacts *t = &s->touch;
    for (int k = 0; k < (t->is_there ? t->found.count : 0); k++) {
        contact_point point = t->found.point[k];
        int64_t key = impulse_contact_key(&point.key);
        int block[2] = {block_of(&it->half[0], key), block_of(&it->half[1], key)};
        if (block[0] < 0 && block[1] < 0) {
            continue;
        }
        rigid_touch *to = add_touch(it);
        if (!to) {
            return 0;
        }
        int roller = t->rolling.count > 0 ? t->rolling.of[k] : -1;
        *to = (rigid_touch){.block = {block[0], block[1]}, .rolls = roller >= 0};
        const impulse_stays *stays = &t->stay.next[k];
        tape->failed |= impulse_is_fixed(t, &point);
        if (stays->found) {
            point.key.feature = stays->origin;
            look(r, t->found.pose, &point, impulse_left_by(t, &point), &to->end);
        } else {
            double end[2][3];
            impulse_stay_ends(t, k, end);
            note_touch(r, back_contact_stay(r->system, t->found.pose, &point, end, stays->leads,
                                            stays->lead, &to->end));
        }
        if (roller >= 0 && roller < tape->begins) {
            to->part = t->rolling.list[roller].part;
            to->begin = tape->begin[roller];
        }
    }
    return 1;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static int grow_E(const rigid_tape *tape, rigid_record *it)
{
    int good = 1;
    for (int k = 0; k < 2; k++) {
        size_t size = (size_t)(tape->system->n + it->half[k].unknowns);
        good &= rigid_grow(&it->E[k], &it->E_capacity[k], (size_t)(1 + tape->names) * size);
        if (good) {
            memset(it->E[k], 0, (size_t)(1 + tape->names) * size * sizeof(double));
        }
    }
    return good;
}

/* Slopes of the equations by their length, if it may change, and by numbers of the model. */
static void note_columns(sens_rigid *r, rigid_record *it, int varies)
{
    for (int c = varies ? 0 : 1; c < 1 + r->names && !r->tape->failed; c++) {
        double *to[2];
        for (int k = 0; k < 2; k++) {
            to[k] = it->E[k] + (size_t)c * (size_t)(r->system->n + it->half[k].unknowns);
        }
        r->tape->failed |= !rigid_piece_column(r, c, to);
    }
}

/* How speeds of limits change with their gaps. */
static void note_gaps(const sens_rigid *r, rigid_record *it)
{
    const step_impulse *s = r->here.s;
    for (int k = 0; k < 2; k++) {
        for (int b = 0; b < it->half[k].blocks; b++) {
            rigid_block *block = &it->half[k].block[b];
            if (block->key < impulse_held(s)) { /* of the second half: as it was put */
                int open = s->phi[r->system->first_row[block->key]] > 0;
                block->per = k == 0 || open ? 1 / s->h : 0;
            }
        }
    }
}

zw_status rigid_tape_piece(sens_rigid *r, const step_impulse *s, int hits)
{
    rigid_tape *tape = r->tape;
    const zw_system *system = r->system;
    size_t n = (size_t)system->n * sizeof(double), nq = (size_t)system->nq * sizeof(double);
    if (tape->failed) {
        return ZW_OK;
    }
    const step_impulse *here = r->here.s;
    if (!rigid_piece_decide(r) || (here->theta != 0 && here->theta != 1)) {
        tape->failed = 1;
        return ZW_OK;
    }
    rigid_record *it = open_record(tape);
    if (!it || !rigid_half_copy(&it->half[0], &r->half[0], system->n) ||
        !rigid_half_copy(&it->half[1], &r->half[1], system->n) || !grow_E(tape, it) ||
        !note_touches(r, it)) {
        return rigid_no_memory(r);
    }
    note_gaps(r, it);
    it->h = here->h;
    it->t = here->t;
    it->theta = here->theta;
    it->sigma = here->sigma;
    it->part = r->rest > 0 ? fmin(here->h / r->rest, 1) : 1;
    it->hits = hits;
    it->stiffest = tape->stiffest;
    it->stiffness_by = tape->stiffness_by;
    memcpy(it->q0, here->q0, nq);
    memcpy(it->q1, r->q_end, nq);
    memcpy(it->u, r->u, n);
    memcpy(it->v0, here->v0, n);
    memcpy(it->v1, r->v_end, n);
    if (system->bodies->motor_count > 0) {
        memcpy(it->boxed, here->boxed, (size_t)system->bodies->motor_count * sizeof(int));
    }
    note_columns(r, it, hits || here->h != r->h);
    tape->count++;
    return hits ? rigid_meeting(r, s, it->row, it->gap_by) : ZW_OK;
}

/* ---- Impacts --------------------------------------------------------------------------------- */

zw_status rigid_tape_act(sens_rigid *r, const double *q, const double *before, const double *after,
                         double (*bounce)(void *user, int64_t key), void *user,
                         int (*column)(sens_rigid *r, void *user, int name, double *to))
{
    rigid_tape *tape = r->tape;
    const impulse_contacts *t = &r->here.s->touch;
    size_t n = (size_t)r->system->n, size;
    if (tape->failed) {
        return ZW_OK;
    }
    rigid_record *it = open_record(tape);
    if (!it || !rigid_half_copy(&it->half[0], &r->half[0], (int)n)) {
        return rigid_no_memory(r);
    }
    it->half[1].blocks = it->half[1].rows = it->half[1].unknowns = 0;
    it->impact = 1;
    size = n + (size_t)it->half[0].unknowns;
    if (!grow_E(tape, it)) {
        return rigid_no_memory(r);
    }
    for (int k = 0; k < (t->is_there ? t->found.count : 0); k++) {
        const contact_point *point = &t->found.point[k];
        int64_t key = impulse_contact_key(&point->key);
        int block = block_of(&it->half[0], key);
        rigid_touch *to = block >= 0 ? add_touch(it) : NULL;
        if (block >= 0 && !to) {
            return rigid_no_memory(r);
        }
        if (to) {
            *to = (rigid_touch){.block = {block, -1}, .bounce = bounce(user, key)};
            look(r, t->found.pose, point, 0, &to->end);
        }
    }
    memcpy(it->q1, q, (size_t)r->system->nq * sizeof(double));
    memcpy(it->v0, before, n * sizeof(double));
    memcpy(it->v1, after, n * sizeof(double));
    for (int k = 0; k < r->names && !tape->failed; k++) {
        tape->failed |= !column(r, user, k, it->E[0] + (size_t)(1 + k) * size);
    }
    tape->count++;
    return ZW_OK;
}
