/* Sleeping islands.
 *
 * Bodies coupled by joints, constraints, tendons and motors form a group (system/subset/subset.h);
 * groups that touch, or are close enough to be considered by the step, form an island. An island
 * falls asleep when all its groups have been at rest for AFTER seconds. A group is at rest if no
 * point of it is faster than the tolerance (metres per second; bounded by the speeds of its joints
 * times the size of what they carry), its activations do not change, its formulas do not depend on
 * time, and its speed has not doubled since its clock started: a motion that leaves an unstable
 * equilibrium grows exponentially and does not count as rest, however slow it is. Speeds below
 * NOTHING * tolerance are round-off.
 *
 * While a body sleeps, q is constant and v = 0, bit for bit; the kinetic energy it had is lost and
 * counted as work. The step is taken by a stepper for the awake bodies alone, for which the geoms
 * of sleeping ones are part of the world: kinematics, forces, masses, contacts and rows have the
 * size of what is awake.
 *
 * An island wakes
 *   - when something awake is found to meet it within the step, or to be within the range of the
 *     contact search: the step is then repeated with all of the island awake. So a sleeping body
 *     never touches what moves; it rests on the world or on bodies asleep in the same island, and
 *     its support cannot be removed without waking it;
 *   - when the control of one of its motors changes;
 *   - when the state is not the one that the last step led to (zw_wake, step/once.c).
 *
 * All of that is in the memory of the step, after the part of impulse_memory.c:
 *
 *     0 stamp of the sleepersthe parameters as they were   for each group:
 *         seconds at rest, and the speed when that began; or -1 - (first group of its island), 0
 *
 * so that a run in pieces has the bits of an uninterrupted one. The stamp shows, without examining
 * all groups, whether the current stepper was made for those that are awake. A new one is made at
 * the beginning of the step after a body fell asleep or woke, from the memory and q alone. */
#include "step/sleep/sleep.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/partition.h"
#include "system/subset/subset.h"
#include "tree/sweeps.h"

#define AFTER 0.5    /* seconds */
#define NOTHING 1e-6 /* of the tolerance */
#define CHANGES 1e-6 /* of its size and 1, per second: an activation that does not change */

/* ---- Making --------------------------------------------------------------------------------- */

static void lay_out(step_sleep *z, const zw_system *system, base_arena *arena)
{
    size_t groups = (size_t)z->groups.count, nq = (size_t)system->nq;
    size_t n = (size_t)system->n + (size_t)system->carried;
    z->awake = base_arena_bytes(arena, groups + 1);
    z->drops = base_arena_bytes(arena, groups + 1);
    z->q0 = base_arena_doubles(arena, nq);
    z->v0 = base_arena_doubles(arena, n);
    z->q1 = base_arena_doubles(arena, nq);
    z->v1 = base_arena_doubles(arena, n);
    z->kept = base_arena_doubles(arena, (size_t)z->kept_capacity);
    z->fastest = base_arena_doubles(arena, groups);
    z->speed = base_arena_doubles(arena, (size_t)system->tree->bodies);
    z->link = base_arena_ints(arena, groups);
    z->mode = base_arena_doubles(arena, (size_t)system->model->constraint_count);
}

static step_sleep *create(const step_impulse *s)
{
    step_sleep *z = base_alloc(sizeof *z);
    base_arena arena = {0};
    if (!z || subset_groups_create(&z->groups, s->system) != ZW_OK) {
        base_free(z);
        return NULL;
    }
    z->params = s->system->shape.params;
    z->kept_capacity = s->kept_capacity;
    z->at = s->kept_capacity - bodies_sleep_memory(s->system);
    lay_out(z, s->system, &arena);
    z->memory = base_alloc(arena.used);
    if (!z->memory) {
        sleep_free(z);
        return NULL;
    }
    arena = (base_arena){.block = z->memory};
    lay_out(z, s->system, &arena);
    return z;
}

static void drop_part(step_sleep *z)
{
    impulse_free(z->inner);
    zw_work_free(z->work);
    subset_free(&z->part);
    z->inner = NULL;
    z->work = NULL;
    z->twin[0] = z->twin[1] = NULL;
    z->rest_known = 0;
    z->is_made = 0;
}

void sleep_free(step_sleep *z)
{
    if (z) {
        drop_part(z);
        subset_groups_free(&z->groups);
        contact_list_free(z->rest);
        base_free(z->memory);
        base_free(z);
    }
}

step_impulse *sleep_create(const zw_system *system, zw_work *work, zw_error *error)
{
    step_impulse *s = base_alloc(sizeof *s);
    if (s) {
        s->system = system;
        s->work = work;
        s->kept_capacity = bodies_step_memory(system);
        impulse_set_tolerance(s, 0);
        s->kept = s->memory = base_alloc((size_t)s->kept_capacity * sizeof *s->kept);
        s->sleep = s->memory ? create(s) : NULL;
    }
    if (!s || !s->sleep) {
        impulse_free(s);
        base_no_memory(error);
        return NULL;
    }
    return s;
}

/* Creates a stepper for the groups that are awake now, at q. */
static zw_status make_part(step_impulse *s, const double *q, zw_error *error)
{
    step_sleep *z = s->sleep;
    drop_part(z);
    for (int k = 0; k < z->groups.count; k++) {
        z->awake[k] = !sleep_is_asleep(s, k);
    }
    tree_kinematics(s->system->tree, q, s->work->sweeps);
    zw_status status = subset_create(&z->part, &z->groups, z->awake, s->work->sweeps);
    if (status == ZW_OK && z->part.system.n > 0) {
        z->part.bodies.sleep = 0;
        z->work = zw_work_create(&z->part.system, error);
        z->inner = z->work ? impulse_create(&z->part.system, z->work, error) : NULL;
        status = z->inner ? ZW_OK : ZW_NO_MEMORY;
    }
    if (status != ZW_OK) {
        drop_part(z);
        return base_fail_as(error, status);
    }
    if (z->inner) {
        z->inner->kept = z->kept; /* with room for those that are about to leave */
        z->inner->kept_capacity = z->kept_capacity;
    }
    z->stamp = sleep_ours(s)[0];
    z->is_made = 1;
    return ZW_OK;
}

void sleep_leave(step_impulse *s)
{
    drop_part(s->sleep);
}

int sleep_is_left(const step_impulse *s, const double *q, const double *v)
{
    const step_sleep *z = s->sleep;
    int same = z->is_made;
    for (int i = 0; i < z->part.system.nq && same; i++) {
        same = memcmp(&q[z->part.q[i]], &z->q1[i], sizeof *q) == 0;
    }
    for (int i = 0; i < z->part.system.n && same; i++) {
        same = memcmp(&v[z->part.v[i]], &z->v1[i], sizeof *v) == 0;
    }
    const double *act = v + s->system->n, *left = z->v1 + z->part.system.n;
    for (int k = 0; k < z->part.bodies.act_count && same; k++) {
        same = memcmp(&act[z->part.act[k]], &left[k], sizeof *act) == 0;
    }
    return same;
}

void sleep_disturb(step_impulse *s)
{
    sleep_leave(s);
    sleep_forget(s);
}

void sleep_notice(step_impulse *s, const double *q, const double *v)
{
    if (s->sleep->is_made && !sleep_is_left(s, q, v)) {
        sleep_disturb(s);
    }
}

/* ---- Falling asleep ------------------------------------------------------------------------- */

/* The fastest point of each group that is awake; an activation that keeps changing counts as more
 * than any speed. */
static void find_speeds(step_sleep *z, double h)
{
    const tree_mechanism *tree = z->part.system.tree;
    for (int i = 1; i < tree->bodies; i++) {
        z->fastest[z->part.group[i]] = 0;
    }
    z->speed[0] = 0;
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = &tree->body[i];
        double *fastest = &z->fastest[z->part.group[i]];
        z->speed[i] = z->speed[body->parent];
        for (int d = body->dof; d < body->dof_end; d++) {
            z->speed[i] += fabs(z->v1[d]) * z->groups.reach[z->part.v[d]];
        }
        *fastest = z->speed[i] <= *fastest ? *fastest : z->speed[i];
    }
    for (int k = 0; k < z->part.bodies.act_count; k++) {
        double before = z->v0[z->part.system.n + k], after = z->v1[z->part.system.n + k];
        if (!(fabs(after - before) <= CHANGES * h * (1 + fabs(after)))) {
            z->fastest[z->part.act_group[k]] = INFINITY;
        }
    }
}

/* Advances or restarts the clocks. Returns whether some island may fall asleep. */
static int run_clocks(step_impulse *s, double h)
{
    step_sleep *z = s->sleep;
    const tree_mechanism *tree = z->part.system.tree;
    const double tolerance = s->system->bodies->sleep;
    int tired = 0;
    for (int i = 1; i < tree->bodies; i++) {
        int group = z->part.group[i];
        double fastest = z->fastest[group], *clock = sleep_clock(s, group);
        if (fastest < 0) {
            continue; /* its time has come */
        }
        z->fastest[group] = -1;
        int rests = fastest <= tolerance && !(z->groups.restless && group == z->groups.formula);
        if (rests && (fastest <= 2 * clock[1] || fastest <= NOTHING * tolerance)) {
            clock[0] += h;
        } else {
            clock[0] = 0;
            clock[1] = rests ? fastest : 0;
        }
        tired |= clock[0] >= AFTER;
    }
    return tired;
}

/* Finds the islands, and those of them all of whose clocks have expired: drops[]. Returns whether
 * there are any. */
static int find_drops(const step_impulse *s)
{
    step_sleep *z = s->sleep;
    const contact_work *found = &z->inner->touch.found;
    const int *group = z->part.group, bodies = z->part.system.tree->bodies;
    int any = 0;
    for (int i = 1; i < bodies; i++) {
        z->link[group[i]] = group[i];
        z->drops[group[i]] = 1;
    }
    for (int k = 0; k < found->count && z->inner->touch.is_there; k++) {
        const int *body = found->point[k].body;
        if (body[0] > 0 && body[1] > 0) {
            partition_join(z->link, group[body[0]], group[body[1]]);
        }
    }
    for (int i = 1; i < bodies; i++) {
        z->drops[partition_root(z->link, group[i])] &= sleep_clock(s, group[i])[0] >= AFTER;
    }
    for (int i = 1; i < bodies; i++) { /* roots come before the others */
        z->drops[group[i]] = z->drops[partition_root(z->link, group[i])];
        any |= z->drops[group[i]];
    }
    return any;
}

/* The kinetic energy of those that fall asleep, which is lost. */
static double lost(const step_sleep *z)
{
    const zw_system *system = &z->part.system;
    const tree_mechanism *tree = system->tree;
    double *sweeps = z->work->sweeps, *P = z->inner->F, sum = 0;
    tree_kinematics(tree, z->q1, sweeps);
    tree_velocities(tree, z->v1, sweeps);
    balance_momenta(system, sweeps, P);
    for (int i = 1; i < tree->bodies; i++) {
        for (int k = 0; k < 6 && z->drops[z->part.group[i]]; k++) {
            sum += 0.5 * P[6 * i + k] * sweeps[tree->at.V + 6 * i + k];
        }
    }
    for (int d = 0; d < system->n; d++) {
        int drops = z->drops[z->part.group[tree->dof_body[d]]];
        sum += drops ? 0.5 * tree->armature[d] * z->v1[d] * z->v1[d] : 0;
    }
    for (int i = 0; i < z->part.bodies.length_count && z->part.bodies.extra_count > 0; i++) {
        const bodies_length *length = &z->part.bodies.length[i];
        int dof = z->part.bodies.term[length->first].dof;
        double rate = bodies_rate_of(system, z->work, i, z->q1, z->v1);
        int drops = z->drops[z->part.group[tree->dof_body[dof]]];
        sum += drops ? 0.5 * length->armature * rate * rate : 0;
    }
    return sum;
}

static void fall_asleep(step_impulse *s)
{
    step_sleep *z = s->sleep;
    const tree_mechanism *tree = z->part.system.tree;
    s->gained -= lost(z);
    for (int d = 0; d < tree->nv; d++) {
        if (z->drops[z->part.group[tree->dof_body[d]]]) {
            z->v1[d] = 0;
        }
    }
    for (int i = 1; i < tree->bodies; i++) {
        int group = z->part.group[i];
        double *clock = sleep_clock(s, group);
        if (z->drops[group] && clock[0] >= 0) {
            clock[0] = -1 - partition_root(z->link, group);
            clock[1] = 0;
            sleep_stamp(s, group, clock[0]);
        }
    }
}

/* ---- The step ------------------------------------------------------------------------------- */

static void gather(step_sleep *z, const double *q0, const double *v0)
{
    for (int i = 0; i < z->part.system.nq; i++) {
        z->q0[i] = q0[z->part.q[i]];
    }
    for (int i = 0; i < z->part.system.n; i++) {
        z->v0[i] = v0[z->part.v[i]];
    }
    for (int k = 0; k < z->part.bodies.act_count; k++) {
        z->v0[z->part.system.n + k] = v0[z->groups.whole->n + z->part.act[k]];
    }
}

static void replace(double *to, double by, int at, uint64_t *sum)
{
    if (sum) {
        *sum += state_word(at, by) - state_word(at, *to);
    }
    *to = by;
}

static void scatter(const step_sleep *z, double *q1, double *v1, uint64_t *sum)
{
    int nq = z->groups.whole->nq;
    for (int i = 0; i < z->part.system.nq; i++) {
        replace(&q1[z->part.q[i]], z->q1[i], z->part.q[i], sum);
    }
    for (int i = 0; i < z->part.system.n; i++) {
        replace(&v1[z->part.v[i]], z->v1[i], nq + z->part.v[i], sum);
    }
    for (int k = 0; k < z->part.bodies.act_count; k++) {
        int at = z->groups.whole->n + z->part.act[k];
        replace(&v1[at], z->v1[z->part.system.n + k], nq + at, sum);
    }
}

void sleep_tell(const step_impulse *s, step_impulse *inner)
{
    inner->close = s->close;
    inner->work->stop = s->work->stop;
    inner->accuracy = s->accuracy;
    inner->problem.options.tolerance = s->problem.options.tolerance;
    inner->problem.options.contact = s->problem.options.contact;
    inner->aside.options.tolerance = s->aside.options.tolerance;
    inner->aside.options.contact = s->aside.options.contact;
}

/* The step of the awake bodies; *woken: they met a body that must be awake for it. */
static zw_status step_part(step_impulse *s, double t, double h, int *woken, zw_error *error)
{
    step_sleep *z = s->sleep;
    contact_work *found = &z->inner->touch.found;
    int there = z->inner->touch.is_there;
    system_bind(&z->part.system, z->work, s->work->param);
    sleep_tell(s, z->inner);
    sleep_hand_in(s);
    z->work->touched = s->work->touched; /* the inner step fills the list */
    zw_status status = impulse_step(z->inner, t, h, z->q0, z->v0, z->q1, z->v1, error);
    s->work->touched = z->work->touched;
    z->work->touched = NULL;
    *woken = there && found->woken_count > 0;
    for (int k = 0; k < found->woken_count && there; k++) {
        const contact_geom *geom = &s->system->bodies->contact->geom[found->woken[k]];
        found->is_woken[found->woken[k]] = 0;
        sleep_wake(s, z->groups.body[geom->body]);
    }
    found->woken_count = 0;
    return status;
}

/* Repeats until no more bodies wake: each time more of them are awake. */
static zw_status step_awake(step_impulse *s, double t, double h, const double *q0, const double *v0,
                            zw_error *error)
{
    step_sleep *z = s->sleep;
    for (int woken = 1; woken;) {
        zw_status status = ZW_OK;
        if (!z->is_made || z->stamp != sleep_ours(s)[0]) {
            status = make_part(s, q0, error);
        }
        if (status != ZW_OK || !z->inner) {
            return status;
        }
        gather(z, q0, v0);
        status = step_part(s, t, h, &woken, error);
        if (status != ZW_OK && !woken) {
            return status;
        }
    }
    return ZW_OK;
}

/* Copies sleeping bodies from one end of the step to the other, unless they are there since the
 * last one. */
static void copy_sleepers(const step_impulse *s, const double *q0, const double *v0, double *q1,
                          double *v1)
{
    step_sleep *z = s->sleep;
    int twins = (z->twin[0] == q0 && z->twin[1] == q1) || (z->twin[0] == q1 && z->twin[1] == q0);
    if (q1 != q0 && !twins) {
        memcpy(q1, q0, (size_t)s->system->nq * sizeof *q1);
        memcpy(v1, v0, (size_t)(s->system->n + s->system->carried) * sizeof *v1);
        z->twin[0] = q0;
        z->twin[1] = q1;
    }
}

zw_status sleep_step(step_impulse *s, double t, double h, const double *q0, const double *v0,
                     double *q1, double *v1, uint64_t *sum, zw_error *error)
{
    step_sleep *z = s->sleep;
    s->gained = s->residual = s->impact_loss = s->late = 0;
    s->rounds = 0;
    s->sure = 1;
    s->impacts = s->linear = s->coarse = s->slow = s->turned = 0;
    if (!z->is_made && !(impulse_is_sound(s) && sleep_is_sound(s, v0))) {
        sleep_forget(s);
    }
    sleep_note_controls(s);
    zw_status status = step_awake(s, t, h, q0, v0, error);
    if (status != ZW_OK) {
        return status;
    }
    copy_sleepers(s, q0, v0, q1, v1);
    if (!z->inner) {
        return contact_list_begin(s->work, 0) ? ZW_OK : base_no_memory(error);
    }
    s->gained = z->inner->gained;
    s->halved = z->inner->halved;
    s->late = z->inner->late;
    s->slow = z->inner->slow;
    s->linear = z->inner->linear;
    s->coarse = z->inner->coarse;
    s->turned = z->inner->turned;
    s->inexact = z->inner->inexact;
    s->impacts = z->inner->impacts;
    s->overlap = z->inner->overlap;
    s->impact_loss = z->inner->impact_loss;
    s->residual = z->inner->residual;
    s->rounds = z->inner->rounds;
    s->sure = z->inner->sure;
    sleep_hand_out(s);
    find_speeds(z, h);
    if (run_clocks(s, h) && find_drops(s)) {
        fall_asleep(s);
    }
    scatter(z, q1, v1, sum);
    return ZW_OK;
}

void sleep_modes(const step_impulse *s, double *mode, uint64_t *sum)
{
    const step_sleep *z = s->sleep;
    if (!z->inner) {
        return;
    }
    int first = s->system->nq + s->system->n + s->system->carried + s->system->shape.params;
    impulse_modes(z->inner, z->mode);
    for (int c = 0; c < z->part.model.constraint_count; c++) {
        int to = z->part.constraint[c];
        replace(&mode[to], z->mode[c], first + to, sum);
    }
}
