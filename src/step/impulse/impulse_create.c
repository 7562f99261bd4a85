/* Creation of a step, its memory, and the accuracy that is requested of it. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "gauss/tolerances.h"
#include "step/chain/chain.h"
#include "step/impulse/impulse.h"
#include "step/sleep/sleep.h"
#include "step/split/split.h"

/* NEWTON: derivatives by differences cost a contact search per speed, which cannot pay off for more
 * speeds than there may be rounds. EFFORT: of the kernel, on one contact problem. */
enum { NEWTON = 60, EFFORT = 150 };
#define CLOSE 1e-12 /* of the balance, relative: as close as round-off allows */

static void lay_out(step_impulse *s, base_arena *arena)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->bodies;
    size_t n = (size_t)system->n, nq = (size_t)system->nq, m = (size_t)system->m;
    size_t count = (size_t)system->tree->bodies;
    double **speeds[] = {&s->v0,   &s->u,     &s->r,          &s->force,  &s->Q,
                         &s->held, &s->still, &s->push,       &s->other,  &s->first,
                         &s->best, &s->trend, &s->unbalanced, &s->steady, &s->excess};
    double **places[] = {&s->q0, &s->q1, &s->q_other, &s->q_force, &s->q_begin};
    double **rows[] = {&s->phi, &s->psi, &s->b, &s->turn};
    size_t acts = (size_t)bodies->act_count;
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        *speeds[k] = base_arena_doubles(arena, n);
    }
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        *places[k] = base_arena_doubles(arena, nq);
    }
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        *rows[k] = base_arena_doubles(arena, m);
    }
    s->A = base_arena_doubles(arena, (size_t)system->A_start[system->m]);
    s->A0 = base_arena_doubles(arena, (size_t)system->A_start[system->m]);
    s->psi0 = base_arena_doubles(arena, m);
    s->act0 = base_arena_doubles(arena, acts);
    s->act = base_arena_doubles(arena, acts);
    s->begin = base_arena_doubles(arena, (size_t)system->tree->at.count);
    s->F = base_arena_doubles(arena, 6 * count);
    s->P0 = base_arena_doubles(arena, 6 * count);
    s->P1 = base_arena_doubles(arena, 6 * count);
    s->middle = base_arena_doubles(arena, (size_t)system->tree->at.count);
    s->place = base_arena_doubles(arena, (size_t)system->tree->at.count);
    s->pull = base_arena_doubles(arena, (size_t)bodies->length_count);
    s->rate = base_arena_doubles(arena, (size_t)bodies->motor_count);
    s->law = base_arena_bytes(arena, (size_t)bodies->motor_count * sizeof *s->law);
    s->given = base_arena_doubles(arena, (size_t)bodies->motor_count);
    s->U = n <= NEWTON ? base_arena_doubles(arena, n * n) : NULL;
    s->pivot = base_arena_ints(arena, n);
    s->joined = base_arena_ints(arena, (size_t)bodies->motor_count);
    s->side =
        base_arena_ints(arena, 2 * (size_t)bodies->motor_count + (size_t)bodies->length_count);
    s->boxed = base_arena_ints(arena, (size_t)bodies->motor_count);
    s->loose = base_arena_ints(arena, (size_t)bodies->length_count);
    s->pulls = base_arena_ints(arena, (size_t)bodies->length_count);
    s->in_reach = base_arena_ints(arena, m);
    s->kept_capacity = bodies_step_memory(system);
    s->kept = base_arena_doubles(arena, (size_t)s->kept_capacity);
}

step_impulse *impulse_create(const zw_system *system, zw_work *work, zw_error *error)
{
    if (system->bodies->sleep > 0) {
        return sleep_create(system, work, error);
    }
    step_impulse *s = base_alloc(sizeof *s);
    base_arena arena = {0};
    if (s) {
        s->system = system;
        s->work = work;
        lay_out(s, &arena);
        s->memory = base_alloc(arena.used);
    }
    if (!s || !s->memory || !bodies_group_trees(system, work) ||
        problem_create(&s->problem, system->n, error) != ZW_OK ||
        problem_create(&s->aside, system->n, error) != ZW_OK ||
        impulse_stiff_create(&s->stiff, system) != ZW_OK ||
        chord_create(&s->chord, system, 0) != ZW_OK ||
        matrix_create(&s->H, system, s->stiff.count, s->stiff.dof) != ZW_OK ||
        impulse_limits_create(&s->limits, system) != ZW_OK ||
        impulse_contacts_create(&s->touch, system) != ZW_OK) {
        impulse_free(s);
        base_no_memory(error);
        return NULL;
    }
    cones_create(&s->cones, system);
    arena = (base_arena){.block = s->memory};
    lay_out(s, &arena);
    for (int i = 0; i < system->nq; i++) {
        s->q_begin[i] = NAN; /* nowhere */
    }
    if (impulse_locks_create(s) != ZW_OK) {
        impulse_free(s);
        base_no_memory(error);
        return NULL;
    }
    s->close = CLOSE;
    s->looks = 1;
    for (int k = 0; k < system->bodies->motor_count; k++) {
        const bodies_motor *motor = &system->bodies->motor[k];
        if (motor->kind == MOTOR_LENGTH) {
            s->pulls[motor->length]++;
        }
    }
    impulse_problem *all[] = {&s->problem, &s->aside};
    for (int k = 0; k < 2; k++) {
        all[k]->options.rank = GAUSS_PROJECTION_RANK;
        all[k]->options.least_squares = 1;
        all[k]->options.effort = EFFORT;
        all[k]->enough = 1; /* the rounds decide by themselves, and so does find_v1 */
    }
    return s;
}

void impulse_set_tolerance(step_impulse *s, double tolerance)
{
    s->close = fmax(tolerance, CLOSE);
    /* the rounds request what each of them needs; the speeds at the end are to be as accurate as
     * the kernel makes them, unless more or less than that is requested */
    s->problem.wanted = s->aside.wanted = tolerance < 1e-10 ? s->close : tolerance >= 1 ? 1e-10 : 0;
    s->sharp = tolerance < CLOSE;
}

void impulse_set_accuracy(step_impulse *s, double accuracy)
{
    s->accuracy = accuracy;
    s->close = fmax(s->close, accuracy);
    s->problem.wanted = fmax(s->problem.wanted, accuracy);
    s->aside.wanted = fmax(s->aside.wanted, accuracy);
}

void impulse_free(step_impulse *s)
{
    if (s) {
        problem_free(&s->problem);
        problem_free(&s->aside);
        impulse_contacts_free(&s->touch);
        impulse_limits_free(&s->limits);
        impulse_locks_free(&s->locks);
        matrix_free(&s->H);
        sleep_free(s->sleep);
        split_free(s->split);
        chain_free(s->chain);
        base_free(s->ways);
        impulse_stiff_free(&s->stiff);
        chord_free(&s->chord);
        cones_free(&s->cones);
        base_free(s->memory);
        base_free(s);
    }
}
