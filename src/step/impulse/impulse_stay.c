/* Contact points that stay on their bodies where the shapes do not determine their position.
 *
 * A cylinder that lands on its base has the gap z - R |tilt| at its lowest point: a cone, not a
 * differentiable function. The manifold has four points, from the lowest on; as the cylinder tilts
 * less and less they run round the rim, in the end by what round-off makes of the tilt. A round
 * with the points of its iterate alone then alternates between two of them, or evaluates the
 * balance of a step that is already solved with multipliers that belong to other points; and
 * derivatives by differences see points jump.
 *
 * So points that exert a force are kept (Kelley's cutting planes). Where the points of a pair have
 * shifted along its bodies since the last round by more than PART of how far they are apart, and by
 * more than JUMP times what the bodies have moved against each other, those of the last round that
 * push stay, as points of the bodies and with their multipliers, beside the new ones; and from then
 * on, however little they shift, as the rounds close in on a point between two. They impose nothing
 * new: along the normal of the new ones no two points of the bodies are nearer. Points without
 * force are dropped; where those of the last round are as low as the new ones, they are enough. For
 * differences all points of the last round stay that jump, but where it is known that they follow
 * the shapes smoothly (`follows`). Rolling is not affected: its points shift by a radius times the
 * rotation, and that is part of the derivatives.
 *
 * On a rim with a tilt the planes close in on one point. There the gap is smooth: across the tilt
 * it has the curvature -R/|tilt|, which is what makes points run, and lambda times that is a slope
 * of A' lambda that H does not have. So once all points that push are within PART of those found,
 * they are these, with the sum of the impulses; these follow the shapes, and rounds have all
 * derivatives N (impulse_slopes), by which they converge as on any smooth shape. Where they do not,
 * or systems are too large for N, planes stay: between two points that are nearly one
 * (impulse_stay_at).
 *
 * Where edges lie over edges, as in a pile of equal boxes, a turn by 1e-9 decides whether a corner
 * is one of the upper or the lower box, or where two edges cross: points change their names from
 * round to round although they stay in place. A point whose name is new, and which is nearer than
 * PART to one of the last round whose name is gone, is that one, with its multipliers.
 *
 * Edges on one another (the hinges of an arch) have many normals, between those of the faces beside
 * them, and round-off decides which one the search finds. Where the normal has turned by more than
 * JUMP times what the bodies have, and the points of the last round are as low along theirs, they
 * stay with it: a plane that is no farther than the true gap lets nothing through.
 *
 * Corners on corners (the tips of a gripper's fingers, which mirror each other) have many as well,
 * but one point. There the normal is compared with that of the last round as either body has
 * carried it along: smooth shapes turn it by what the bodies have moved against each other over a
 * radius, edges by what they have turned against each other; a turn of FLIP times that can only be
 * such a choice. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/pose.h"
#include "step/impulse/impulse.h"

#define JUMP 10
#define FLIP 1e6 /* relative to the smaller shape: radii are larger than a millionth of it */
#define PART 0.01

zw_status impulse_staying_create(impulse_staying *stay, size_t points)
{
    *stay = (impulse_staying){.list = base_alloc(points * sizeof *stay->list),
                              .next = base_alloc(points * sizeof *stay->next),
                              .capacity = (int)points};
    return stay->list && stay->next ? ZW_OK : ZW_NO_MEMORY;
}

void impulse_staying_free(impulse_staying *stay)
{
    base_free(stay->list);
    base_free(stay->next);
    *stay = (impulse_staying){0};
}

/* ---- Points on bodies ----------------------------------------------------------------------- */

/* The position of the point on either body: half the gap below and above. */
static void fix(const impulse_contacts *t, impulse_stays *it)
{
    const contact_point *point = &it->point;
    for (int b = 0; b < 2; b++) {
        const collide_pose *pose = &t->found.pose[point->key.geom[b]];
        double half = (b ? 0.5 : -0.5) * point->gap, from[3];
        for (int i = 0; i < 3; i++) {
            from[i] = point->pos[i] + half * point->frame[i] - pose->pos[i];
        }
        for (int i = 0; i < 3; i++) { /* R' x */
            it->x[b][i] =
                pose->R[i] * from[0] + pose->R[3 + i] * from[1] + pose->R[6 + i] * from[2];
            it->n[b][i] = pose->R[i] * point->frame[0] + pose->R[3 + i] * point->frame[1] +
                          pose->R[6 + i] * point->frame[2];
        }
    }
}

/* Its present position, moved with the bodies; returns how far they have moved against
 * each other. */
static double carry(const impulse_contacts *t, const impulse_stays *it, const double *normal,
                    contact_point *to)
{
    double end[2][3], moved = 0;
    *to = it->point;
    to->gap = 0;
    for (int b = 0; b < 2; b++) {
        const collide_pose *pose = &t->found.pose[it->point.key.geom[b]];
        for (int i = 0; i < 3; i++) {
            end[b][i] = pose->pos[i] + model_dot(pose->R + 3 * i, it->x[b]);
        }
    }
    for (int i = 0; i < 3; i++) {
        double apart = end[1][i] - end[0][i];
        moved = fmax(moved, fabs(apart - it->point.gap * it->point.frame[i]));
        to->gap += normal[i] * apart;
        to->pos[i] = 0.5 * (end[0][i] + end[1][i]);
    }
    return moved;
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

/* Points of one pair: those just found, and those of the last round. */
typedef struct pair {
    int first, end; /* of t->found.point */
    int at, last;   /* of t->stay.list */
    int jumped;
} pair;

static const impulse_stays *match_of(const impulse_contacts *t, const pair *p, uint32_t feature)
{
    for (int j = p->at; j < p->last; j++) {
        if (!t->stay.list[j].carried && t->stay.list[j].origin == feature) {
            return &t->stay.list[j];
        }
    }
    return NULL;
}

static double most(const double *a, const double *b)
{
    return fmax(fabs(a[0] - b[0]), fmax(fabs(a[1] - b[1]), fabs(a[2] - b[2])));
}

/* The extent of the new points. */
static double width(const impulse_contacts *t, const pair *p)
{
    double wide = 0;
    for (int k = p->first; k < p->end; k++) {
        wide = fmax(wide, most(t->found.point[k].pos, t->found.point[p->first].pos));
    }
    return wide;
}

const impulse_stays *impulse_stay_at(const impulse_contacts *t, const impulse_stays *it)
{
    const impulse_stays *at = it;
    double wide = 0;
    for (int j = 0; j < t->stay.count && it->carried; j++) {
        const impulse_stays *other = &t->stay.list[j];
        if (memcmp(other->point.key.geom, it->point.key.geom, sizeof it->point.key.geom) == 0) {
            wide = fmax(wide, most(other->point.pos, it->point.pos));
            at = !other->carried && other->origin == it->origin ? other : at;
        }
    }
    return most(at->point.pos, it->point.pos) < PART * wide ? at : it;
}

static int is_found(const impulse_contacts *t, const pair *p, uint32_t feature)
{
    int found = 0;
    for (int k = p->first; k < p->end; k++) {
        found |= t->found.point[k].key.feature == feature;
    }
    return found;
}

/* The point of the last round that was at this position, and whose name is gone. */
static const impulse_stays *place_of(const impulse_contacts *t, const pair *p,
                                     const contact_point *point)
{
    const impulse_stays *nearest = NULL;
    double least = PART * width(t, p);
    for (int j = p->at; j < p->last; j++) {
        const impulse_stays *it = &t->stay.list[j];
        contact_point now;
        carry(t, it, point->frame, &now);
        double off = most(now.pos, point->pos);
        if (off < least && !it->carried && !is_found(t, p, it->origin)) {
            least = off;
            nearest = it;
        }
    }
    return nearest;
}

/* Has a point of this pair, from `first` on, this key? */
static int is_taken(const impulse_staying *stay, int first, const contact_key *key)
{
    int taken = 0;
    for (int i = first; i < stay->found; i++) {
        taken |= stay->next[i].point.key.feature == key->feature;
    }
    return taken;
}

static int has_jumped(const impulse_contacts *t, const pair *p)
{
    double shift = 0, moved = 0, wide = width(t, p), part = PART;
    for (int j = p->at; j < p->last; j++) {
        part = t->stay.list[j].carried ? 0 : part;
    }
    for (int k = p->first; k < p->end; k++) {
        const contact_point *point = &t->found.point[k];
        const impulse_stays *it = match_of(t, p, point->key.feature);
        contact_point old;
        if (it) {
            moved = fmax(moved, carry(t, it, point->frame, &old));
            shift = fmax(shift, most(point->pos, old.pos));
        }
    }
    return shift > part * wide && shift > JUMP * moved;
}

/* Are the points of the last round as low as the new ones? */
static int as_low(const step_impulse *s, const pair *p)
{
    const impulse_contacts *t = &s->touch;
    double now = INFINITY, then = INFINITY;
    contact_point old;
    for (int k = p->first; k < p->end; k++) {
        now = fmin(now, t->found.point[k].gap);
    }
    for (int j = p->at; j < p->last; j++) {
        carry(t, &t->stay.list[j], t->found.point[p->first].frame, &old);
        then = fmin(then, old.gap);
    }
    return then <= now + IMPULSE_PLACE * impulse_extent(s);
}

void impulse_stay_ends(const impulse_contacts *t, int k, double end[2][3])
{
    const impulse_stays *it = &t->stay.list[t->stay.next[k].from];
    for (int b = 0; b < 2; b++) {
        const collide_pose *pose = &t->found.pose[it->point.key.geom[b]];
        for (int i = 0; i < 3; i++) {
            end[b][i] = pose->pos[i] + model_dot(pose->R + 3 * i, it->x[b]);
        }
    }
}

static int pushes(const step_impulse *s, const impulse_stays *it)
{
    return problem_multiplier(&s->problem, impulse_contact_key(&it->point.key), 0) > 0;
}

static void add(impulse_staying *stay, const impulse_stays *it)
{
    if (stay->found < stay->capacity) {
        stay->next[stay->found++] = *it;
    }
}

/* Has the normal turned by more than the bodies? */
static int has_turned(const impulse_contacts *t, const pair *p)
{
    double moved = 0, wide = 0;
    for (int j = p->at; j < p->last; j++) {
        const impulse_stays *it = &t->stay.list[j];
        contact_point now;
        moved = fmax(moved, carry(t, it, it->point.frame, &now));
        moved = fmax(moved, most(now.pos, it->point.pos));
        wide = fmax(wide, most(now.pos, t->stay.list[p->at].point.pos));
    }
    double turned = most(t->found.point[p->first].frame, t->stay.list[p->at].point.frame);
    return turned > 1e-12 && turned * wide > JUMP * moved;
}

/* The same, for pairs with one point before and after. */
static int has_flipped(const step_impulse *s, const pair *p)
{
    const impulse_contacts *t = &s->touch;
    const contact_geom *geom = s->system->bodies->contact->geom;
    const impulse_stays *it = &t->stay.list[p->at];
    const double *normal = t->found.point[p->first].frame;
    double carried[2][3], turned[2], wide = INFINITY;
    contact_point now;
    for (int b = 0; b < 2; b++) {
        const collide_pose *pose = &t->found.pose[it->point.key.geom[b]];
        for (int i = 0; i < 3; i++) {
            carried[b][i] = model_dot(pose->R + 3 * i, it->n[b]);
        }
        turned[b] = most(normal, carried[b]);
        wide = fmin(wide, geom[it->point.key.geom[b]].radius);
    }
    double moved = carry(t, it, it->point.frame, &now) + wide * most(carried[0], carried[1]);
    return fmin(turned[0], turned[1]) > 1e-12 && fmin(turned[0], turned[1]) * wide > FLIP * moved;
}

/* The points of the last round along their own normal: 0: the new ones are lower. */
static int keep(step_impulse *s, const pair *p)
{
    impulse_contacts *t = &s->touch;
    double now = INFINITY, then = INFINITY;
    int found = t->stay.found;
    for (int k = p->first; k < p->end; k++) {
        now = fmin(now, t->found.point[k].gap);
    }
    for (int j = p->at; j < p->last; j++) {
        const impulse_stays *it = &t->stay.list[j];
        contact_point point;
        carry(t, it, it->point.frame, &point);
        then = fmin(then, point.gap);
        add(&t->stay, &(impulse_stays){
                          .point = point, .origin = it->origin, .carried = it->carried, .from = j});
    }
    int low = then <= now + IMPULSE_PLACE * impulse_extent(s);
    t->stay.found = low ? t->stay.found : found;
    return low;
}

/* All points of the last round, where they are now. */
static void as_before(impulse_contacts *t, const pair *p)
{
    const double *normal = t->found.point[p->first].frame;
    for (int j = p->at; j < p->last; j++) {
        const impulse_stays *it = &t->stay.list[j];
        contact_point now;
        carry(t, it, normal, &now);
        int found = 0;
        memcpy(now.frame, normal, sizeof now.frame);
        for (int k = p->first; k < p->end && !it->carried && !p->jumped; k++) {
            if (t->found.point[k].key.feature == it->origin) {
                now = t->found.point[k];
                now.key = it->point.key;
                found = 1;
            }
        }
        add(&t->stay, &(impulse_stays){.point = now,
                                       .origin = it->origin,
                                       .carried = it->carried,
                                       .found = found,
                                       .from = j,
                                       .leads = 1,
                                       .lead = t->found.point[p->first].key.feature});
    }
}

/* The new ones, and before them those that stay. */
static void renew(step_impulse *s, const pair *p, int follows)
{
    impulse_contacts *t = &s->touch;
    const double *normal = t->found.point[p->first].frame;
    const int first = t->stay.found;
    for (int j = p->at; j < p->last; j++) {
        const impulse_stays *it = &t->stay.list[j];
        contact_point now;
        int capacity = t->stay.capacity - t->stay.found > t->found.count - p->first;
        if ((it->carried || p->jumped) && !follows && capacity && pushes(s, it)) {
            carry(t, it, normal, &now);
            memcpy(now.frame, normal, sizeof now.frame);
            add(&t->stay, &(impulse_stays){.point = now, .origin = it->origin, .carried = 1});
        }
    }
    for (int k = p->first; k < p->end; k++) {
        contact_point point = t->found.point[k];
        const impulse_stays *it = match_of(t, p, point.key.feature);
        it = it || p->jumped ? it : place_of(t, p, &point);
        if (!p->jumped && it && !is_taken(&t->stay, first, &it->point.key)) {
            point.key = it->point.key;
        } else if (p->jumped || is_taken(&t->stay, first, &point.key)) {
            point.key.feature ^= (uint32_t)(s->rounds + 1) << 24;
        }
        add(&t->stay, &(impulse_stays){.point = point,
                                       .origin = t->found.point[k].key.feature,
                                       .found = 1,
                                       .follows = follows});
    }
}

/* Rounds contract slowly; have the points that push come down to some of those just found? */
static int comes_down(const step_impulse *s, const pair *p)
{
    const impulse_contacts *t = &s->touch;
    double near = PART * width(t, p);
    int carried = 0;
    for (int j = p->at; j < p->last; j++) {
        const impulse_stays *it = &t->stay.list[j];
        int down = !pushes(s, it);
        for (int k = p->first; k < p->end && !down; k++) {
            const contact_point *point = &t->found.point[k];
            contact_point now;
            carry(t, it, point->frame, &now);
            down = point->key.feature == it->origin && most(now.pos, point->pos) < near;
        }
        if (!down || (it->carried && !match_of(t, p, it->origin))) {
            return 0;
        }
        carried |= it->carried;
    }
    return carried;
}

/* Then they are these, with the sum of the impulses. */
static int merge(step_impulse *s, pair *p)
{
    impulse_contacts *t = &s->touch;
    int merges = t->stay.follows && !t->stay.differs && !t->stay.apart && comes_down(s, p);
    p->jumped &= !merges;
    t->stay.merged |= merges;
    for (int j = p->at; j < p->last && merges; j++) {
        const impulse_stays *it = &t->stay.list[j];
        if (it->carried) {
            problem_move_multipliers(&s->problem, impulse_contact_key(&it->point.key),
                                     impulse_contact_key(&match_of(t, p, it->origin)->point.key));
        }
    }
    return merges;
}

/* Is the pair of b before that of a? */
static int is_before(const contact_key *b, const contact_key *a)
{
    return b->geom[0] != a->geom[0] ? b->geom[0] < a->geom[0] : b->geom[1] < a->geom[1];
}

void impulse_stay(step_impulse *s, int is_first)
{
    impulse_contacts *t = &s->touch;
    impulse_staying *stay = &t->stay;
    const contact_point *point = t->found.point;
    stay->count = is_first ? 0 : stay->count;
    stay->found = stay->merged = 0;
    for (pair p = {0}; p.first < t->found.count; p.first = p.end, p.at = p.last) {
        const contact_key *key = &point[p.first].key;
        while (p.at < stay->count && is_before(&stay->list[p.at].point.key, key)) {
            p.at++;
        }
        for (p.end = p.first; p.end < t->found.count && !is_before(key, &point[p.end].key);) {
            p.end++;
        }
        for (p.last = p.at;
             p.last < stay->count && !is_before(key, &stay->list[p.last].point.key);) {
            p.last++;
        }
        int follows = p.last > p.at && stay->list[p.at].follows && !stay->apart;
        int several = !follows && p.end - p.first > 1 && p.last - p.at > 1;
        p.jumped = several && has_jumped(t, &p);
        follows |= several && merge(s, &p);
        int turned = several && has_turned(t, &p);
        turned |= p.end - p.first == 1 && p.last - p.at == 1 && has_flipped(s, &p);
        if (turned && keep(s, &p)) {
            continue;
        }
        if (p.last > p.at && (stay->differs || (p.jumped && as_low(s, &p)))) {
            as_before(t, &p);
        } else {
            renew(s, &p, follows);
        }
    }
    for (int k = 0; k < stay->found; k++) {
        t->found.point[k] = stay->next[k].point;
        fix(t, &stay->next[k]);
    }
    t->found.count = stay->found;
    if (!stay->differs) {
        impulse_stays *list = stay->list;
        stay->list = stay->next;
        stay->next = list;
        stay->count = stay->found;
    }
}
