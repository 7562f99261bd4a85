/* Islands of a step.
 *
 * Bodies coupled by joints, constraints, tendons and motors form a group (system/subset/subset.h);
 * groups that can come into contact with each other within the step form an island
 * (split_find.c). What happens in one island has no influence on the others. So each is stepped by
 * a stepper of its own, for its bodies alone: an impact divides the step of its island only; the
 * rounds of each end where its own equations are solved; and a robot among others is solved like a
 * robot alone (impulse_chord.c), at a cost that does not depend on what else there is.
 *
 * The islands are a function of the state and the length of the step. Steppers are kept for later
 * steps, but hold nothing that determines a motion: what a step leaves for the next one is in the
 * memory of the state (split_memory.c). So a run in pieces has the bits of an uninterrupted one.
 *
 * A step is taken as a whole if there is only one island, if one of them cannot be solved (so that
 * messages and what is tried are those of the whole), if shapes overlap at its start
 * (impulse_part.c), or if it is being observed (impulse_watch). */
#include "step/split/split.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/contact/choose.h"
#include "math/partition.h"
#include "step/sleep/sleep.h"

/* Groups, at most; and groups times geoms: a stepper has numbers for each geom. */
enum { GROUPS = 256, LARGE = 1 << 16, SPARE = 32 };

/* ---- Which systems -------------------------------------------------------------------------- */

/* Small systems are left to the kernel as a whole, which decides how loads are shared. Spatial
 * tendons are not split into islands, and mocap bodies may belong to all of them. */
static int fits(const zw_system *system)
{
    const struct system_bodies *bodies = system->bodies;
    const contact_world *world = bodies->contact;
    int fit = system->n > GAUSS_CHOOSE_MOST && bodies->sleep <= 0 && bodies->adhesion_count == 0 &&
              !bodies->formulas && bodies->path_count == 0 && system->tree->moved == system->nq &&
              system->law.carried == 0 && zw_contact_capacity(system) > 0;
    for (int k = 0; fit && k < world->moving_count; k++) {
        fit = isfinite(world->geom[world->moving[k]].radius);
    }
    return fit;
}

static void lay_out(step_split *z, const step_impulse *s, base_arena *arena)
{
    const contact_world *world = s->system->bodies->contact;
    size_t groups = (size_t)z->groups.count, geoms = (size_t)world->geom_count + 1;
    z->now = base_arena_bytes(arena, groups * sizeof(split_part *));
    z->table = base_arena_bytes(arena, (size_t)z->capacity * sizeof(split_part *));
    z->link = base_arena_ints(arena, groups);
    z->part_of = base_arena_ints(arena, groups);
    z->order = base_arena_ints(arena, geoms);
    z->pose = base_arena_bytes(arena, geoms * sizeof *z->pose);
    z->lower = base_arena_doubles(arena, 3 * geoms);
    z->upper = base_arena_doubles(arena, 3 * geoms);
    z->allowed = base_arena_doubles(arena, geoms);
    z->kept = base_arena_doubles(arena, (size_t)s->kept_capacity);
}

int split_begin(step_impulse *s)
{
    if (s->sleep || !fits(s->system)) {
        return 1;
    }
    const contact_world *world = s->system->bodies->contact;
    step_split *z = base_alloc(sizeof *z);
    base_arena arena = {0};
    if (!z || subset_groups_create(&z->groups, s->system) != ZW_OK) {
        base_free(z);
        return 0;
    }
    int groups = z->groups.count;
    if (groups < 2 || groups > GROUPS || groups * world->geom_count > LARGE) {
        split_free(z);
        return 1;
    }
    z->capacity = 2 * groups + SPARE;
    lay_out(z, s, &arena);
    z->memory = base_alloc(arena.used);
    if (!z->memory) {
        split_free(z);
        return 0;
    }
    arena = (base_arena){.block = z->memory};
    lay_out(z, s, &arena);
    memcpy(z->order, world->moving, (size_t)world->moving_count * sizeof *z->order);
    s->split = z;
    return 1;
}

/* ---- Steppers ------------------------------------------------------------------------------- */

static void free_part(split_part *part)
{
    if (part) {
        impulse_free(part->inner);
        zw_work_free(part->work);
        subset_free(&part->part);
        subset_groups_free(&part->groups);
        base_free(part->memory);
        base_free(part);
    }
}

void split_free(step_split *z)
{
    if (z) {
        for (int k = 0; k < z->entries; k++) {
            free_part(z->table[k]);
        }
        subset_groups_free(&z->groups);
        base_free(z->memory);
        base_free(z);
    }
}

static void lay_out_part(split_part *part, const zw_system *whole, int groups, base_arena *arena)
{
    size_t nq = (size_t)whole->nq, n = (size_t)(whole->n + whole->carried);
    double **speeds[] = {&part->v0, &part->v1}, **places[] = {&part->q0, &part->q1};
    for (int k = 0; k < 2; k++) {
        *speeds[k] = base_arena_doubles(arena, n);
        *places[k] = base_arena_doubles(arena, nq);
    }
    part->mode = base_arena_doubles(arena, (size_t)whole->model->constraint_count);
    part->group = base_arena_ints(arena, (size_t)part->count);
    part->member = base_arena_bytes(arena, (size_t)groups);
}

/* For the groups of the island with this root. NULL: no memory. */
static split_part *make_part(const step_impulse *s, int root, int count)
{
    const step_split *z = s->split;
    split_part *part = base_alloc(sizeof *part);
    base_arena arena = {0};
    if (!part) {
        return NULL;
    }
    part->count = count;
    lay_out_part(part, s->system, z->groups.count, &arena);
    part->memory = base_alloc(arena.used);
    if (part->memory) {
        arena = (base_arena){.block = part->memory};
        lay_out_part(part, s->system, z->groups.count, &arena);
        for (int g = 0, k = 0; g < z->groups.count; g++) {
            part->member[g] = z->link[g] == root;
            if (part->member[g]) {
                part->group[k++] = g;
            }
        }
        if (subset_groups_create(&part->groups, s->system) == ZW_OK &&
            subset_create(&part->part, &part->groups, part->member, NULL) == ZW_OK) {
            part->work = zw_work_create(&part->part.system, NULL);
            part->inner = part->work ? impulse_create(&part->part.system, part->work, NULL) : NULL;
        }
    }
    if (!part->inner || !impulse_measure_ways(part->inner)) {
        free_part(part);
        return NULL;
    }
    part->inner->looks = 0;
    chord_free(&part->inner->chord);
    if (chord_create(&part->inner->chord, &part->part.system, 1) != ZW_OK) {
        free_part(part);
        return NULL;
    }
    return part;
}

static int is_part(const step_split *z, const split_part *part, int root, int count)
{
    int same = part->count == count && part->group[0] == root;
    for (int k = 1; k < count && same; k++) {
        same = z->link[part->group[k]] == root;
    }
    return same;
}

/* The place of a new entry: a free one, or that of the part that was not used for longest. */
static int make_place(step_split *z)
{
    int oldest = 0;
    if (z->entries < z->capacity) {
        return z->entries++;
    }
    for (int k = 1; k < z->entries; k++) {
        oldest = z->table[k]->used < z->table[oldest]->used ? k : oldest;
    }
    free_part(z->table[oldest]);
    z->table[oldest] = NULL;
    return oldest;
}

static split_part *get_part(const step_impulse *s, int root, int count)
{
    step_split *z = s->split;
    for (int k = 0; k < z->entries; k++) {
        if (is_part(z, z->table[k], root, count)) {
            return z->table[k];
        }
    }
    split_part *part = make_part(s, root, count);
    if (part) {
        z->table[make_place(z)] = part;
    }
    return part;
}

/* The parts of this step, by their first groups. 0: there is no memory for one of them. */
static int get_parts(step_impulse *s)
{
    step_split *z = s->split;
    int count[GROUPS] = {0}, parts = 0;
    for (int g = 0; g < z->groups.count; g++) {
        count[z->link[g]]++;
    }
    for (int g = 0; g < z->groups.count; g++) {
        if (z->link[g] == g) {
            split_part *part = get_part(s, g, count[g]);
            if (!part) {
                return 0;
            }
            part->used = z->steps;
            z->part_of[g] = parts;
            z->now[parts++] = part;
        }
        z->part_of[g] = z->part_of[z->link[g]];
    }
    z->parts = parts;
    return 1;
}

/* ---- The step ------------------------------------------------------------------------------- */

static void gather(const split_part *part, const zw_system *whole, const double *q0,
                   const double *v0)
{
    const subset *of = &part->part;
    for (int i = 0; i < of->system.nq; i++) {
        part->q0[i] = q0[of->q[i]];
    }
    for (int i = 0; i < of->system.n; i++) {
        part->v0[i] = v0[of->v[i]];
    }
    for (int k = 0; k < of->bodies.act_count; k++) {
        part->v0[of->system.n + k] = v0[whole->n + of->act[k]];
    }
}

static void scatter(const split_part *part, const zw_system *whole, double *q1, double *v1)
{
    const subset *of = &part->part;
    for (int i = 0; i < of->system.nq; i++) {
        q1[of->q[i]] = part->q1[i];
    }
    for (int i = 0; i < of->system.n; i++) {
        v1[of->v[i]] = part->v1[i];
    }
    for (int k = 0; k < of->bodies.act_count; k++) {
        v1[whole->n + of->act[k]] = part->v1[of->system.n + k];
    }
}

void split_begin_sums(step_impulse *s)
{
    s->gained = s->residual = s->impact_loss = s->late = 0;
    s->rounds = 0;
    s->sure = 1;
    s->impacts = s->halved = s->inexact = s->linear = s->coarse = s->slow = s->plain = 0;
    s->turned = 0;
    s->work->effort = (struct system_effort){0};
}

void split_add_sums(step_impulse *s, const step_impulse *part)
{
    const struct system_effort *effort = &part->work->effort;
    s->gained += part->gained;
    s->impact_loss += part->impact_loss;
    s->impacts += part->impacts;
    s->residual = fmax(s->residual, part->residual);
    s->late = fmax(s->late, part->late);
    s->rounds = part->rounds > s->rounds ? part->rounds : s->rounds;
    s->sure &= part->sure;
    s->halved |= part->halved;
    s->inexact |= part->inexact;
    s->linear |= part->linear;
    s->coarse |= part->coarse;
    s->turned |= part->turned;
    s->slow |= part->slow;
    s->work->effort.rounds += effort->rounds;
    s->work->effort.searches += effort->searches;
    s->work->effort.factors += effort->factors;
}

/* Contacts of all parts, into the list of the whole. 0: no memory. */
static int list_contacts(step_impulse *s)
{
    const step_split *z = s->split;
    int count = 0;
    for (int k = 0; k < z->parts; k++) {
        count += z->now[k]->work->touched ? z->now[k]->work->touched->count : 0;
    }
    contact_list *list = contact_list_begin(s->work, count);
    for (int k = 0; k < z->parts && list; k++) {
        const contact_list *from = z->now[k]->work->touched;
        for (int i = 0; from && i < from->count; i++) {
            list->contact[list->count++] = from->contact[i];
        }
    }
    return list != NULL;
}

static int step_part(const step_impulse *s, int index, double t, double h)
{
    split_part *part = s->split->now[index];
    zw_error ignored = {0};
    system_bind(&part->part.system, part->work, s->work->param);
    sleep_tell(s, part->inner);
    split_hand_in(s, index);
    impulse_forget_ways(part->inner);
    part->taken = s->split->steps;
    return impulse_step(part->inner, t, h, part->q0, part->v0, part->q1, part->v1, &ignored) ==
           ZW_OK;
}

/* All parts, until none has moved so far that it could have met another. 0: there is only one, or
 * one of them cannot be solved. */
static int step_parts(step_impulse *s, double t, double h, const double *q0, const double *v0)
{
    step_split *z = s->split;
    z->steps++;
    for (int islands = split_find(s, h, q0, v0); islands != z->parts;
         islands = split_find_again(s)) {
        if (islands < 2 || !get_parts(s)) {
            return 0;
        }
        for (int k = 0; k < z->parts; k++) {
            if (z->now[k]->taken != z->steps) {
                gather(z->now[k], s->system, q0, v0);
                if (!step_part(s, k, t, h)) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

int split_step(step_impulse *s, double t, double h, const double *q0, const double *v0, double *q1,
               double *v1)
{
    step_split *z = s->split;
    z->parts = 0;
    if (s->watch || !impulse_is_sound(s) || s->kept[0] != 1) {
        return 0;
    }
    if (!step_parts(s, t, h, q0, v0) || !list_contacts(s)) {
        z->parts = 0;
        return 0;
    }
    split_begin_sums(s);
    for (int k = 0; k < z->parts; k++) {
        scatter(z->now[k], s->system, q1, v1);
        split_add_sums(s, z->now[k]->inner);
    }
    split_hand_out(s);
    return 1;
}

void split_modes(const step_impulse *s, double *mode)
{
    const step_split *z = s->split;
    for (int k = 0; k < z->parts; k++) {
        const split_part *part = z->now[k];
        impulse_modes(part->inner, part->mode);
        for (int c = 0; c < part->part.model.constraint_count; c++) {
            mode[part->part.constraint[c]] = part->mode[c];
        }
    }
}
