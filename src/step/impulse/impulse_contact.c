/* Contacts in a step; impulse.c has the laws.
 *
 * A point of contact gives a block of rows: along the normal, gap(q1) >= 0 and a normal force, one
 * of them 0; tangentially Coulomb's law for the slip at q1. In the first round they are those of
 * q0, found within the reach of the step, with the gap as a linear function of the displacement:
 *
 *     gap(q0) + h n . J(q0) u >= 0
 *
 * so that nothing is passed through, however long the step. In later rounds they are those of the
 * iterate q1, relinearised there: gap(q1) + h n . J(q1) (u' - u) >= 0. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gauss/tolerances.h"
#include "step/chain/chain.h"
#include "step/impulse/impulse.h"
#include "tree/sweeps.h"

zw_status impulse_contacts_create(impulse_contacts *t, const zw_system *system)
{
    const struct system_bodies *bodies = system->bodies;
    const contact_world *world = bodies->contact;
    size_t points = (size_t)world->capacity, wide = 2 * (size_t)bodies->widest + 1;
    *t = (impulse_contacts){.wide = (int)wide, .law = gauss_impact_create()};
    if (!t->law) {
        return ZW_NO_MEMORY;
    }
    if (!world->touches) {
        return ZW_OK; /* limits may still be reached */
    }
    t->J = base_alloc(points * 6 * wide * sizeof *t->J);
    t->column = base_alloc(points * wide * sizeof *t->column);
    t->columns = base_alloc(points * sizeof *t->columns);
    t->b = base_alloc(points * sizeof *t->b);
    t->deep = base_alloc(points * sizeof *t->deep);
    t->deep_point = base_alloc(points * sizeof *t->deep_point);
    t->rest = base_alloc(points * sizeof *t->rest);
    t->stuck = base_alloc(points * sizeof *t->stuck);
    t->label = base_alloc(points * sizeof *t->label);
    t->listed = base_alloc(points * sizeof *t->listed);
    if (!t->J || !t->column || !t->columns || !t->b || !t->label || !t->listed || !t->rest ||
        !t->deep || !t->deep_point || !t->stuck ||
        impulse_rolling_create(&t->rolling, points, wide) != ZW_OK ||
        impulse_staying_create(&t->stay, points) != ZW_OK ||
        impulse_sweep_create(&t->sweep, system) != ZW_OK ||
        impulse_landing_create(&t->land, points) != ZW_OK ||
        contact_work_create(&t->found, world) != ZW_OK) {
        impulse_contacts_free(t);
        return ZW_NO_MEMORY;
    }
    t->is_there = 1;
    for (int i = 0; i < world->geom_count; i++) {
        t->bounces |= world->geom[i].law.restitution > 0;
    }
    return ZW_OK;
}

void impulse_contacts_free(impulse_contacts *t)
{
    base_free(t->J);
    base_free(t->column);
    base_free(t->columns);
    base_free(t->b);
    base_free(t->label);
    base_free(t->listed);
    base_free(t->rest);
    base_free(t->deep);
    base_free(t->deep_point);
    base_free(t->stuck);
    impulse_parting_free(t->parting);
    gauss_impact_free(t->law);
    impulse_rolling_free(&t->rolling);
    impulse_staying_free(&t->stay);
    impulse_sweep_free(&t->sweep);
    impulse_landing_free(&t->land);
    if (t->is_there) {
        contact_work_free(&t->found);
    }
    *t = (impulse_contacts){0};
}

void impulse_set_contact(step_impulse *s, zw_contact_law law)
{
    law = law == ZW_CONTACT_CONVEX ? law : ZW_CONTACT_COULOMB;
    s->problem.options.contact = s->aside.options.contact = law;
}

void impulse_set_plan(step_impulse *s, const zw_run_options *plan)
{
    impulse_set_tolerance(s, plan->tolerance);
    impulse_set_accuracy(s, plan->accuracy);
    impulse_set_contact(s, plan->contact);
    s->cones.fits = cones_fit(s->system, plan->memoryless);
    if (s->chain) {
        chain_set_plan(s->chain, plan);
    }
}

static double *J_of(const impulse_contacts *t, int k)
{
    return t->J + (size_t)k * 6 * (size_t)t->wide;
}

static int *column_of(const impulse_contacts *t, int k)
{
    return t->column + (size_t)k * (size_t)t->wide;
}

static double row_times(const impulse_contacts *t, int k, int row, const double *v)
{
    const double *J = J_of(t, k) + row * t->columns[k];
    const int *column = column_of(t, k);
    double sum = 0;
    for (int i = 0; i < t->columns[k]; i++) {
        sum += J[i] * v[column[i]];
    }
    return sum;
}

double impulse_contact_speed(const step_impulse *s, int k, const double *v)
{
    return row_times(&s->touch, k, 0, v);
}

/* Pairs in flight have no rows. */
static void leave_out(step_impulse *s, const double *sweeps, const double *from)
{
    impulse_contacts *t = &s->touch;
    int kept = 0;
    for (int k = 0; k < t->found.count; k++) {
        if (!impulse_flies(t, &t->found.point[k])) {
            t->found.point[kept++] = t->found.point[k];
        } else if (from) {
            impulse_seek_point(s, sweeps, &t->found.point[k], column_of(t, k), J_of(t, k));
        }
    }
    t->found.count = kept;
}

/* Gravity adds to the reach of a step: twice, as bodies may be thrown. */
double impulse_margin(const step_impulse *s)
{
    return 2 * s->h * s->h * impulse_gravity(s);
}

/* ---- What is ignored ------------------------------------------------------------------------- */

/* A pair that passes each other has no rows at q0: those would stop it at a plane in mid-air. The
 * iterates show where it ends. Bodies that move less than their size need not be tested. */
static int passes(const step_impulse *s, const double *sweeps, int first)
{
    const impulse_contacts *t = &s->touch;
    const contact_point *point = &t->found.point[first];
    const contact_point *nearest = contact_nearest(&t->found, first);
    const contact_geom *geom = s->system->bodies->contact->geom;
    int a = (int)point->key.geom[0], b = (int)point->key.geom[1];
    double size = 0.25 * fmin(geom[a].radius, geom[b].radius);
    return point->gap > size && t->found.reach[a] + t->found.reach[b] > size &&
           !contact_meet(s->system, &t->found, a, b, sweeps, s->h, impulse_margin(s), nearest->gap,
                         nearest->frame);
}

/* A wheel that turns by more than half a radian in a step: the open points of its rim do not move
 * straight, and as rows of q0 they would stop it. The points in contact suffice for the pair. */
static int turns_away(const step_impulse *s, const double *sweeps, int k)
{
    const impulse_contacts *t = &s->touch;
    const contact_point *point = &t->found.point[k];
    const double *V = sweeps + s->system->tree->at.V;
    double turn = 0;
    int held = 0;
    for (int i = 0; i < 3; i++) {
        double omega = V[6 * point->body[1] + i] - V[6 * point->body[0] + i];
        turn += s->h * s->h * omega * omega;
    }
    if (balance_ramp(turn) != 1) {
        return 0;
    }
    double touching = impulse_touching(s);
    if (!(point->gap > touching)) {
        return 0;
    }
    for (int way = -1; way <= 1; way += 2) { /* points of a pair are consecutive */
        for (int i = k + way; i >= 0 && i < t->found.count; i += way) {
            const contact_point *other = &t->found.point[i];
            if (memcmp(other->key.geom, point->key.geom, sizeof point->key.geom) != 0) {
                break;
            }
            held |= other->gap <= touching;
        }
    }
    return held;
}

static void drop_ghosts(step_impulse *s, const double *sweeps)
{
    impulse_contacts *t = &s->touch;
    contact_key last = {.geom = {UINT32_MAX, UINT32_MAX}};
    int kept = 0, passed = 0;
    for (int k = 0; k < t->found.count; k++) {
        const contact_point *point = &t->found.point[k];
        if (memcmp(last.geom, point->key.geom, sizeof last.geom) != 0) {
            passed = passes(s, sweeps, k); /* points of a pair are consecutive */
            last = point->key;
        }
        t->listed[k] = !passed && !turns_away(s, sweeps, k); /* scratch */
    }
    for (int k = 0; k < t->found.count; k++) {
        if (t->listed[k]) {
            t->found.point[kept++] = t->found.point[k];
        }
    }
    t->found.count = kept;
}

/* Gaps up to this ask for no speed. Where heavy bodies are at rest those of round-off do not:
 * round-off / h times the mass is an impulse that their weight does not have, and tall towers would
 * never be seen to stand. (One linearisation has no such test, and its lanes close gaps as they
 * are.) */
static double least_gap(const step_impulse *s)
{
    int rests = !s->touch.sweep.linear && impulse_is_at_rest(s) && impulse_gravity(s) > 0;
    return rests ? impulse_round_off(s) : 0;
}

zw_status impulse_find_contacts(step_impulse *s, double *sweeps, const double *from,
                                zw_error *error)
{
    impulse_contacts *t = &s->touch;
    if (!t->is_there) {
        return ZW_OK;
    }
    double margin = fmax(impulse_margin(s), t->near), least = least_gap(s);
    zw_status status = contact_find(s->system, &t->found, sweeps, s->h, margin, error);
    s->work->effort.searches++;
    if (!from && status == ZW_OK && !t->flown) {
        status = impulse_find_stuck(s, sweeps, margin, error);
    } else if (!from) {
        impulse_drop_stuck(s);
    }
    impulse_sweep_note(s);
    leave_out(s, sweeps, from);
    if (!from && t->near == 0 && status == ZW_OK) {
        drop_ghosts(s, sweeps);
        impulse_note_deep(s);
    }
    if (!from && status == ZW_OK) {
        impulse_keep_deep(t);
    } else {
        int capacity = s->system->bodies->contact->capacity;
        impulse_drop_stuck(s);
        if (!impulse_put_deep(t, capacity) && status == ZW_OK) {
            status = contact_too_many(&t->found, capacity, error);
        }
    }
    if (status == ZW_OK) {
        impulse_stay(s, !from);
    }
    for (int k = 0; k < t->found.count && status == ZW_OK; k++) {
        contact_point *point = &t->found.point[k];
        const double *at = from && impulse_is_fixed(t, point) ? s->begin : sweeps;
        t->columns[k] = contact_rows(s->system, point, at, column_of(t, k), J_of(t, k));
        point->gap +=
            impulse_left_by(t, point) + (at != sweeps ? s->h * row_times(t, k, 0, from) : 0);
        double gap = fabs(point->gap) <= least ? 0 : point->gap;
        t->b[k] = (from ? row_times(t, k, 0, from) : 0) - gap / s->h;
    }
    if (!from || status != ZW_OK) {
        t->rolling.count = 0;
    }
    if (!from && t->near == 0 && status == ZW_OK) {
        impulse_land_begin(s);
        impulse_roll_begin(s, sweeps);
        memset(t->rolling.of, -1, (size_t)t->found.count * sizeof *t->rolling.of);
    } else if (t->rolling.count > 0) {
        impulse_roll(s, sweeps, from);
    }
    return status;
}

int64_t impulse_contact_key(const contact_key *key)
{
    uint64_t mixed = key->geom[0] * 0x9e3779b97f4a7c15ull;
    mixed = (mixed ^ (mixed >> 29) ^ key->geom[1]) * 0xbf58476d1ce4e5b9ull;
    mixed = (mixed ^ (mixed >> 32) ^ key->feature) * 0x94d049bb133111ebull;
    mixed ^= mixed >> 31;
    return (int64_t)((mixed >> 2) | IMPULSE_CONTACTS);
}

/* Names for messages; a label that was never written has geom 0 twice. */
static const char *label(const step_impulse *s, int k)
{
    const contact_key *key = &s->touch.found.point[k].key;
    impulse_label *it = &s->touch.label[k];
    if (memcmp(it->key.geom, key->geom, sizeof key->geom) != 0) {
        it->key = *key;
        contact_name(s->system->bodies->contact, key, it->text, sizeof it->text);
    }
    return it->text;
}

/* Rows up to the last that friction can hold. */
static int held_rows(const contact_point *point)
{
    int rows = point->rows;
    while (rows > 1 && !(point->friction[rows - 2] > GAUSS_NO_FRICTION)) {
        rows--;
    }
    return rows;
}

void impulse_put_contact(const step_impulse *s, impulse_problem *p, int k, double b)
{
    const impulse_contacts *t = &s->touch;
    const contact_point *point = &t->found.point[k];
    int rows = held_rows(point);
    const zw_block block = contact_block(point, rows, label(s, k));
    problem_block(p, impulse_contact_key(&point->key), &block);
    if (p == &s->problem && impulse_put_roller(s, p, k, rows)) {
        return;
    }
    for (int r = 0; r < rows; r++) {
        problem_row(p, t->columns[k], column_of(t, k), J_of(t, k) + r * t->columns[k],
                    r == 0 ? b : 0);
    }
}

void impulse_put_contacts(step_impulse *s)
{
    for (int k = 0; k < s->touch.found.count; k++) {
        impulse_put_contact(s, &s->problem, k, s->touch.b[k]);
    }
}

void impulse_put_apart(step_impulse *s, int k)
{
    const impulse_contacts *t = &s->touch;
    const zw_block block = {.name = label(s, k), .kind = ZW_EQUALITY, .rows = 1};
    problem_block(&s->aside, impulse_contact_key(&t->found.point[k].key), &block);
    problem_row(&s->aside, t->columns[k], column_of(t, k), J_of(t, k), 0);
}

/* Speeds at the end: closed contacts do not approach. Open ones may. Overlaps that are being
 * separated do not separate further either: the correction moves them, and leaves no speed along
 * the normal. */
void impulse_put_contact_speeds(step_impulse *s)
{
    const impulse_contacts *t = &s->touch;
    double touching = impulse_touching(s);
    for (int k = 0; k < t->found.count; k++) {
        const contact_point *point = &t->found.point[k];
        if (t->land.now[k] == IMPULSE_APART) {
            impulse_put_apart(s, k);
        } else if (point->gap <= touching) {
            impulse_put_contact(s, &s->aside, k, 0);
        }
    }
}

/* ---- Results -------------------------------------------------------------------------------- */

#define NEAR 1e-6 /* metres: points without force are listed up to this gap */

/* Sliding means moving tangentially while under load, faster than round-off, at the friction limit
 * in the last part of the step: a contact that stuck may end it with a little slip, as speeds are
 * those of chords until they are projected onto the rows. (The sum of all parts is within the limit
 * where the slip turns.) */
static int state_of(const zw_contact *it, int slides, double speed)
{
    double across = sqrt(it->slip[1] * it->slip[1] + it->slip[2] * it->slip[2]);
    return !(it->force[0] > 0)                     ? ZW_TOUCH_OPEN
           : slides && across > 1e-9 * (1 + speed) ? ZW_TOUCH_SLIDE
                                                   : ZW_TOUCH_STICK;
}

/* Painleve. A sliding contact has friction -mu^2 w/|mu w| for each unit of normal force, and both
 * together give its point the speed p along the normal, p = n J M^-1 J' (n - mu^2 w/|mu w|), with
 * constraints satisfied. Where p < 0, a normal force makes it worse: no finite force prevents
 * penetration (or several do). Coulomb's law for a whole step has a solution then, too: an impulse
 * that stops the slip at once, as W_nn < mu |W_nt| is both p < 0 and that the impulse which stops
 * it is in the cone. That is an impact without collision; contacts stopped like that are counted.
 * Other contacts are not considered. *factored: M has been factored. */
static int is_paradox(step_impulse *s, int k, const double *slip, int *factored)
{
    const impulse_contacts *t = &s->touch;
    const contact_point *point = &t->found.point[k];
    double *x = s->other, size = 0;
    for (int r = 1; r < point->rows; r++) {
        double part = point->friction[r - 1] * slip[r];
        size += part * part;
    }
    memset(x, 0, (size_t)s->system->n * sizeof *x);
    for (int r = 0; r < point->rows; r++) {
        double mu = r > 0 ? point->friction[r - 1] : 0;
        double weight = r > 0 ? -mu * mu * slip[r] / sqrt(size) : 1;
        for (int i = 0; i < t->columns[k]; i++) {
            x[column_of(t, k)[i]] += weight * J_of(t, k)[r * t->columns[k] + i];
        }
    }
    *factored = *factored || (size > 0 && matrix_factor(&s->H));
    if (!(size > 0) || !*factored) {
        return 0;
    }
    matrix_solve(&s->H, x);
    impulse_put_joint_speeds(s);
    impulse_put_stuck(s, &s->aside);
    return (s->aside.rows == 0 || impulse_project(s, &s->aside, x, x, NULL) == ZW_OK) &&
           row_times(t, k, 0, x) < 0;
}

/* It sticks: did it slide at the start of the step, faster than friction under its weight could
 * stop it, and without meeting faster than its weight explains? */
static int has_jammed(step_impulse *s, int k, double speed, int *factored)
{
    const impulse_contacts *t = &s->touch;
    double slip[6] = {0}, across = 0;
    double slow = 1e-6 * (1 + speed) + 2 * impulse_margin(s) / s->h;
    for (int r = 1; r < t->found.point[k].rows; r++) {
        slip[r] = row_times(t, k, r, s->first);
        across = fmax(across, r < 3 ? fabs(slip[r]) : 0);
    }
    return across > slow && s->problem.options.contact != ZW_CONTACT_CONVEX &&
           row_times(t, k, 0, s->first) > -1e-3 * across - impulse_margin(s) / s->h &&
           is_paradox(s, k, slip, factored);
}

/* The multipliers of the last solve: in the same position there, unless an impact came between. */
static void find_push(const impulse_problem *p, int block, int64_t key, double push[6])
{
    int there = block >= 0 && block < p->old_blocks && p->old_key[block] == key;
    int rows = there ? p->old_rows[block] : 6;
    for (int r = 0; r < rows; r++) {
        push[r] = there ? p->old_lambda[p->old_first[block] + r] : problem_multiplier(p, key, r);
    }
}

/* Adds the impulses of the change from u to v1 (impulse_close.c) to push; returns the time for
 * which both have acted. */
static double add_late_push(const step_impulse *s, const contact_point *point, int64_t key,
                            int *from, double push[6], int *slides)
{
    const impulse_problem *p = &s->aside;
    if (s->close >= 1) {
        return s->fall;
    }
    for (int n = 0; n < p->blocks; n++) {
        int k = (*from + n) % p->blocks;
        if (p->key[k] == key) {
            const double *late = p->answer.lambda + p->first[k];
            for (int r = 0; r < p->block[k].rows; r++) {
                push[r] += late[r];
            }
            *slides = late[0] > 0 && p->block[k].rows == point->rows ? impulse_slides(point, late)
                                                                     : *slides;
            *from = k + 1;
            break;
        }
    }
    return s->h;
}

int impulse_list_contacts(step_impulse *s, const double *v1)
{
    const impulse_contacts *t = &s->touch;
    const impulse_problem *p = &s->problem;
    if (!t->is_there) {
        return 1;
    }
    double speed = 0;
    int first = p->blocks - t->found.count, late = 0; /* contacts come last */
    int factored = 0;
    contact_list *list = contact_list_begin(s->work, t->found.count);
    for (int i = 0; i < s->system->n; i++) {
        speed = fmax(speed, fabs(v1[i]));
    }
    for (int k = 0; k < t->found.count && list; k++) {
        const contact_point *point = &t->found.point[k];
        double push[6] = {0};
        int64_t key = impulse_contact_key(&point->key);
        double time = t->land.step;
        int slides;
        if (t->land.cut) {
            slides = impulse_sum_push(s, k, push);
        } else {
            find_push(p, first + k, key, push);
            slides = impulse_slides(point, push);
            time = add_late_push(s, point, key, &late, push, &slides);
        }
        double gap = point->gap - impulse_left_by(t, point);
        t->listed[k] = 0;
        if (!(push[0] > 0 || gap <= NEAR)) {
            continue;
        }
        zw_contact *to = contact_list_add(list, s->system, point);
        to->gap = gap;
        for (int r = 0; r < point->rows; r++) {
            to->force[r] = push[r] / time;
            to->slip[r] = row_times(t, k, r, v1);
        }
        to->state = state_of(to, slides, speed);
        t->listed[k] = list->count;
    }
    for (int k = 0; k < t->found.count && list;
         k++) { /* this solves another problem, so it comes last */
        zw_contact *it = t->listed[k] > 0 ? &list->contact[t->listed[k] - 1] : NULL;
        if (it && it->state == ZW_TOUCH_STICK && has_jammed(s, k, speed, &factored)) {
            it->state = ZW_TOUCH_JAM;
        }
    }
    return list != NULL;
}
