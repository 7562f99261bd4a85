/* Landings: points without restitution that are open at the start of a step and exert a force at
 * its end.
 *
 * A step finds their impulse with all others, at its end (Moreau 1988), whenever in the step they
 * meet. Where only they act that is right up to O(h^2): the mean speed contains the right part of
 * the impulse. But a contact that was closed until then and opens at that time (the foot that a
 * walker lifts as the other one lands) has its force for all of the step or for none of it, and the
 * law of impact is applied at the end of the step, not where they meet: O(h) in the speeds, so that
 * the speed of a walker is of order one. So the step is divided where they meet, as it is where
 * pairs bounce, by the same flights and the same law of impact, with e = 0 (impulse_bounce.c).
 *
 * The step is divided at a landing that is faster than what gravity gives in a step: at slower ones
 * the errors above are O(h) times O(h). So bodies that rest, rock or come to rest do not divide
 * steps again and again; a run reports how many steps had such landings (`slow`), as many of them
 * add up. Two landings in one step have a probability of O(h), so that LANDINGS of them suffice for
 * order two: those of more pairs of bodies in one step, as in a heap, or of a step in which flights
 * are expensive, remain of order one. Their energy loss is counted as an impact all the same, and a
 * run reports the number of such steps and their delay (`late`).
 *
 * A closed pair may come to touch at one more feature without any speed: as a wheel rocks on an
 * edge, the point where they cross runs along both, and the end of the wheel is touched when it
 * gets there, with gap and speed zero together. A point that is left out and, at the end of a
 * flight towards it, would meet no faster than that threshold is no landing (it is too slow), and
 * takes part from then on. (Without it nothing would hold the pair from that time on, and the end
 * of a flight to a meeting at zero speed cannot be distinguished from earlier times.) */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/tolerances.h"
#include "model/pose.h"
#include "step/impulse/impulse.h"

enum { LANDINGS = 2, ROWS = 400 };
#define WHOLE UINT32_MAX /* as a feature: all of the pair */

zw_status impulse_landing_create(impulse_landing *land, size_t points)
{
    *land = (impulse_landing){.begun = base_alloc(points * sizeof *land->begun),
                              .list = base_alloc(points * sizeof *land->list),
                              .too_slow = base_alloc(points),
                              .sum = base_alloc(points * sizeof *land->sum),
                              .flight = base_alloc(points * sizeof *land->flight),
                              .now = base_alloc(points),
                              .capacity = (int)points};
    int made =
        land->begun && land->list && land->too_slow && land->now && land->sum && land->flight;
    return made ? ZW_OK : ZW_NO_MEMORY;
}

void impulse_landing_free(impulse_landing *land)
{
    base_free(land->begun);
    base_free(land->list);
    base_free(land->too_slow);
    base_free(land->sum);
    base_free(land->flight);
    base_free(land->now);
    *land = (impulse_landing){0};
}

double impulse_gravity(const step_impulse *s)
{
    const double *g = s->system->tree->gravity;
    return sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

double impulse_open_for(double gap, double c, double a)
{
    double root = c * c + 2 * a * fmax(gap, 0);
    if (!(root >= 0) || (c <= 0 && a <= 0)) {
        return INFINITY;
    }
    return c > 0 ? 2 * fmax(gap, 0) / (c + sqrt(root)) : (sqrt(root) - c) / a;
}

static int same_pair(const contact_key *a, const contact_key *b)
{
    return a->geom[0] == b->geom[0] && a->geom[1] == b->geom[1];
}

static int same(const contact_key *a, const contact_key *b)
{
    return same_pair(a, b) && a->feature == b->feature;
}

/* Pairs that overlap where a motion begins, the deepest first. Points of a pair are consecutive. */
void impulse_note_overlaps(step_impulse *s)
{
    const contact_work *found = &s->touch.found;
    impulse_overlap *to = &s->overlap;
    double touching = impulse_touching(s);
    *to = (impulse_overlap){0};
    for (int i = 0, end; i < found->count; i = end) {
        double depth = touching;
        for (end = i; end < found->count && same_pair(&found->point[i].key, &found->point[end].key);
             end++) {
            depth = fmax(depth, -found->point[end].gap);
        }
        int at = to->pairs < IMPULSE_NAMED ? to->pairs : IMPULSE_NAMED - 1;
        if (!(depth > touching) || (to->pairs++ >= IMPULSE_NAMED && depth <= to->depth[at])) {
            continue;
        }
        for (; at > 0 && to->depth[at - 1] < depth; at--) {
            to->depth[at] = to->depth[at - 1];
            to->key[at] = to->key[at - 1];
        }
        to->depth[at] = depth;
        to->key[at] = found->point[i].key;
    }
}

void impulse_land_begin(step_impulse *s)
{
    const impulse_contacts *t = &s->touch;
    impulse_landing *land = &s->touch.land;
    double touching = impulse_touching(s);
    land->begun_count = 0;
    for (int k = 0; k < t->found.count; k++) {
        const contact_point *point = &t->found.point[k];
        double gap = point->gap - impulse_left_by(t, point);
        land->begun[land->begun_count++] =
            (impulse_begun){.key = point->key,
                            .gap = fabs(gap) > touching ? gap : 0,
                            .speed = -impulse_contact_speed(s, k, s->v0)};
    }
    s->looks = 0;
}

static int is_before(const contact_key *a, const contact_key *b)
{
    return a->geom[0] != b->geom[0] ? a->geom[0] < b->geom[0] : a->geom[1] < b->geom[1];
}

static int meets_fast(const impulse_begun *it, double gravity, double slow)
{
    return it->gap >= 0 && it->speed * fabs(it->speed) + 2 * gravity * it->gap > slow * slow;
}

/* Does point k meet faster than `slow`: was it open, or closed and about to be passed? A pair
 * without a closed point lands as a whole, by any feature: 2; else this point does: 1. If the pair
 * overlapped, it is being separated: where that takes more than what gravity gives in a step. *at:
 * the position of its pair. */
static int meets(const step_impulse *s, int k, double gravity, double slow, int *at)
{
    const impulse_landing *land = &s->touch.land;
    const contact_key *key = &s->touch.found.point[k].key;
    int closed = 0, fast = 0, own = 0, apart = 0, rolled = impulse_rolled(s, k) != NULL;
    while (*at < land->begun_count && is_before(&land->begun[*at].key, key)) {
        ++*at;
    }
    for (int i = *at; i < land->begun_count && !is_before(key, &land->begun[i].key); i++) {
        const impulse_begun *it = &land->begun[i];
        closed |= it->gap <= 0;
        apart |= it->gap < -slow * s->h;
        int meets_it = (it->gap == 0 || !rolled) && meets_fast(it, gravity, slow);
        fast |= meets_it;
        own |= same(&it->key, key) && meets_it;
    }
    if (impulse_is_held(&s->touch, &s->touch.found.point[k])) {
        return 0; /* it is kept where it is */
    }
    return apart ? IMPULSE_APART : closed ? own : 2 * fast;
}

/* Was point k open at the beginning of the piece, or all of its pair? *at: the position of its
 * pair. */
static int was_open(const step_impulse *s, int k, int at)
{
    const impulse_landing *land = &s->touch.land;
    const contact_key *key = &s->touch.found.point[k].key;
    int closed = 0, own = 0;
    for (int i = at; i < land->begun_count && !is_before(key, &land->begun[i].key); i++) {
        closed |= land->begun[i].gap <= 0;
        own |= same(&land->begun[i].key, key) && land->begun[i].gap > 0;
    }
    return !closed || (own && !impulse_rolled(s, k));
}

static int is_too_slow(const impulse_landing *land, const contact_key *key)
{
    for (int i = 0; i < land->count; i++) {
        if (land->too_slow[i] && same(&land->list[i], key)) {
            return 1;
        }
    }
    return 0;
}

int impulse_is_landing(const impulse_contacts *t, int k)
{
    return t->land.now[k] == 1 || t->land.now[k] == 2;
}

/* Bodies of points that land: how many pairs. */
static int count_pairs(const impulse_contacts *t)
{
    int pairs = 0;
    for (int k = 0; k < t->found.count; k++) {
        int is_new = impulse_is_landing(t, k);
        for (int i = 0; i < k && is_new; i++) {
            is_new =
                !(impulse_is_landing(t, i) && memcmp(t->found.point[i].body, t->found.point[k].body,
                                                     sizeof t->found.point[k].body) == 0);
        }
        pairs += is_new;
    }
    return pairs;
}

/* The time from the first of these landings to the end of the piece, if it falls under gravity. */
static double find_late(const step_impulse *s)
{
    const impulse_contacts *t = &s->touch;
    double late = impulse_limits_late(s), gravity = impulse_gravity(s);
    for (int k = 0; k < t->found.count; k++) {
        for (int i = 0; i < t->land.begun_count && impulse_is_landing(t, k); i++) {
            const impulse_begun *it = &t->land.begun[i];
            if (same_pair(&it->key, &t->found.point[k].key) && it->gap >= 0) {
                late = fmax(late, s->h - impulse_open_for(it->gap, it->speed, gravity));
            }
        }
    }
    return late;
}

void impulse_find_landings(step_impulse *s)
{
    impulse_contacts *t = &s->touch;
    double gravity = impulse_gravity(s), slow = gravity * t->land.step + IMPULSE_SLOWEST;
    int any = 0, from = 0;
    t->land.slow = 0;
    for (int k = 0, at = 0; k < t->found.count; k++) {
        int64_t key = impulse_contact_key(&t->found.point[k].key);
        int how = meets(s, k, gravity, slow, &at);
        how = how == 1 && is_too_slow(&t->land, &t->found.point[k].key) ? 0 : how;
        int pushes = problem_next_multiplier(&s->problem, key, 0, &from) > 0, lands = how && pushes;
        t->land.now[k] = (unsigned char)(lands ? how : 0);
        any |= lands && how != IMPULSE_APART;
        t->land.slow |= pushes && !how && was_open(s, k, at);
    }
    t->land.pairs = (any ? count_pairs(t) : 0) + impulse_limits_land(s);
    t->land.late = t->land.pairs > 0 ? find_late(s) : 0;
    t->land.loss = 0;
}

void impulse_forget_landings(step_impulse *s)
{
    s->touch.land.count = 0;
    impulse_limits_forget(s);
}

void impulse_count_landings(step_impulse *s)
{
    s->slow |= s->touch.land.slow;
    s->touch.land.slow = 0;
    if (s->touch.land.pairs > 0) {
        s->impacts++;
        s->impact_loss += fmax(s->touch.land.loss, 0);
        s->late = fmax(s->late, s->touch.land.late);
        s->touch.land.pairs = 0;
    }
}

int impulse_lands(const impulse_contacts *t, const contact_point *point)
{
    for (int i = 0; i < t->land.count; i++) {
        const contact_key *it = &t->land.list[i];
        if (t->land.too_slow[i]) {
            continue;
        }
        if (same(it, &point->key) || (it->feature == WHOLE && same_pair(it, &point->key))) {
            return 1;
        }
    }
    return 0;
}

int impulse_find_slow_landings(step_impulse *s, const double *v1)
{
    impulse_landing *land = &s->touch.land;
    double gravity = impulse_gravity(s), slow = gravity * land->step + IMPULSE_SLOWEST;
    int any = 0;
    for (int i = 0; i < land->count; i++) {
        for (int k = 0; k < s->touch.found.count && !land->too_slow[i]; k++) {
            const contact_point *point = &s->touch.found.point[k];
            if (!same(&land->list[i], &point->key)) {
                continue;
            }
            const impulse_begun now = {.gap = point->gap,
                                       .speed = -impulse_contact_speed(s, k, v1)};
            land->too_slow[i] = now.gap >= 0 && now.speed > 0 && !meets_fast(&now, gravity, slow);
            any |= land->too_slow[i];
        }
    }
    return any;
}

int impulse_note_landings(step_impulse *s)
{
    impulse_contacts *t = &s->touch;
    if (t->land.pairs == 0 || t->land.cuts + t->land.pairs > LANDINGS || s->problem.rows > ROWS ||
        t->sweep.linear || s->problem.options.contact == ZW_CONTACT_CONVEX) {
        return 0;
    }
    for (int k = 0; k < t->found.count; k++) {
        if (impulse_is_landing(t, k) && t->land.count < t->land.capacity) {
            t->land.too_slow[t->land.count] = 0;
            contact_key *it = &t->land.list[t->land.count++];
            *it = t->found.point[k].key;
            it->feature = t->land.now[k] == 2 ? WHOLE : it->feature;
        }
    }
    impulse_limits_leave_out(s);
    t->land.cuts += t->land.pairs;
    return 1;
}

/* ---- Impulses of a step that is cut ---------------------------------------------------------- */

static void add_to(impulse_pushed *list, int *count, int capacity, const impulse_pushed *more)
{
    int i = 0;
    while (i < *count && !same(&list[i].key, &more->key)) {
        i++;
    }
    if (i == *count && *count < capacity) {
        list[(*count)++] = (impulse_pushed){.key = more->key};
    }
    for (int r = 0; r < 6 && i < *count; r++) {
        list[i].by[r] += more->by[r];
    }
    if (i < *count && more->slides >= 0) {
        list[i].slides = more->slides;
    }
}

int impulse_slides(const contact_point *point, const double *push)
{
    double sum = 0;
    for (int r = 1; r < point->rows; r++) {
        double mu = point->friction[r - 1];
        sum += mu > 0 ? push[r] / mu * (push[r] / mu) : 0;
    }
    return point->friction[0] <= GAUSS_NO_FRICTION || sqrt(sum) > (1 - 1e-6) * push[0];
}

static impulse_pushed in_world(const contact_point *point, const double *push)
{
    impulse_pushed it = {.key = point->key,
                         .slides = push[0] > 0 ? impulse_slides(point, push) : -1};
    for (int r = 0; r < point->rows; r++) {
        for (int i = 0; i < 3; i++) {
            it.by[r / 3 * 3 + i] += push[r] * point->frame[r % 3 * 3 + i];
        }
    }
    return it;
}

void impulse_add_push(step_impulse *s, int k, const double *push)
{
    impulse_landing *land = &s->touch.land;
    impulse_pushed it = in_world(&s->touch.found.point[k], push);
    add_to(land->sum, &land->sum_count, land->capacity, &it);
}

static void add_multipliers(const impulse_problem *p, const double *lambda, int64_t key, int rows,
                            double push[6])
{
    for (int b = 0; b < p->blocks; b++) {
        for (int r = 0; r < rows && r < p->block[b].rows && p->key[b] == key; r++) {
            push[r] += lambda[p->first[b] + r];
        }
    }
}

void impulse_note_push(step_impulse *s)
{
    impulse_landing *land = &s->touch.land;
    land->flight_count = 0;
    for (int k = 0; k < s->touch.found.count; k++) {
        const contact_point *point = &s->touch.found.point[k];
        double push[6] = {0}, late[6] = {0};
        int64_t key = impulse_contact_key(&point->key);
        for (int r = 0; r < point->rows; r++) {
            push[r] = problem_multiplier(&s->problem, key, r);
        }
        add_multipliers(&s->aside, s->aside.answer.lambda, key, point->rows, late);
        const impulse_pushed part[2] = {in_world(point, push), in_world(point, late)};
        for (int i = 0; i < 2 && push[0] + late[0] > 0; i++) {
            add_to(land->flight, &land->flight_count, land->capacity, &part[i]);
        }
    }
}

void impulse_keep_push(step_impulse *s)
{
    impulse_landing *land = &s->touch.land;
    for (int i = 0; i < land->flight_count; i++) {
        add_to(land->sum, &land->sum_count, land->capacity, &land->flight[i]);
    }
    land->flight_count = 0;
}

/* Those of features that no longer exist are given to the first point of the pair. */
int impulse_sum_push(const step_impulse *s, int k, double push[6])
{
    int slides = 0;
    const impulse_landing *land = &s->touch.land;
    const contact_work *found = &s->touch.found;
    const contact_point *point = &found->point[k];
    int is_first = k == 0 || !same_pair(&found->point[k - 1].key, &point->key);
    for (int i = 0; i < land->sum_count; i++) {
        const impulse_pushed *it = &land->sum[i];
        int mine = same(&it->key, &point->key), known = mine;
        for (int j = k; !known && j < found->count && same_pair(&it->key, &found->point[j].key);
             j++) {
            known = same(&it->key, &found->point[j].key);
        }
        if (mine || (is_first && !known && same_pair(&it->key, &point->key))) {
            for (int r = 0; r < point->rows; r++) {
                push[r] += model_dot(it->by + r / 3 * 3, point->frame + r % 3 * 3);
            }
            slides |= it->slides;
        }
    }
    return slides;
}
