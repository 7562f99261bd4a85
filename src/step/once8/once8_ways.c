/* The motion of one world of eight. Does nothing pass through anything? That is impulse_free_part
 * of impulse_sweep.c, up to where pairs would be marched along: there the world steps alone. And
 * points of bodies that pass each other have no rows: drop_ghosts of impulse_contact.c. */
#include <math.h>
#include <string.h>

#include "step/once8/once8.h"

/* The coordinates and speeds u of a world, */
static void take_out(once8 *s, int lane)
{
    for (int i = 0; i < s->of->system->nq; i++) {
        s->q_alone[i] = s->of->q[i][lane];
    }
    for (int i = 0; i < s->of->system->n; i++) {
        s->u_alone[i] = s->u[i][lane];
    }
}

/* and the sweeps' data of a pair. */
static void take_pair_out(once8 *s, const contact_match *match, int lane)
{
    soft8 *of = s->of;
    const tree_places *at = &of->system->tree->at;
    int side[2] = {match->a, match->b};
    for (int k = 0; k < 2; k++) {
        int g = side[k], body = of->system->bodies->contact->geom[g].body;
        collide_pose *to = &of->alone->found.pose[g];
        of->alone->found.reach[g] = s->reach[g][lane];
        for (int i = 0; i < 3; i++) {
            to->pos[i] = of->pose[g].pos[i][lane];
            of->work->sweeps[at->com + 3 * body + i] = of->sweeps[at->com + 3 * body + i][lane];
        }
        for (int i = 0; i < 9; i++) {
            to->R[i] = of->pose[g].R[i][lane];
        }
        for (int i = 0; i < 6; i++) {
            of->work->sweeps[at->V + 6 * body + i] = of->sweeps[at->V + 6 * body + i][lane];
        }
    }
}

/* Do the two neither meet nor pass through each other? */
static int is_free_pair(once8 *s, const contact_match *match, int seen)
{
    int sure;
    return contact_path_meet(&s->path, &s->of->alone->found, match->a, match->b, s->h, seen,
                             &sure) >= s->h;
}

/* A pair that was found, by its nearest point: march_until, march. */
static int is_safe(once8 *s, const contact_match *match, double gap, const double n[3])
{
    const contact_world *world = s->of->system->bodies->contact;
    const contact_work *found = &s->of->alone->found;
    int a = match->a, b = match->b;
    double hair = contact_path_hair(&s->path, found, a, b);
    double depth = contact_path_depth(&s->path, a, b);
    int seen = gap <= fmax(hair, contact_path_near(&s->path, a, b));
    double allowed = gap + (seen ? depth : 0);
    int pieces = contact_is_pieces((int)world->geom[a].shape.kind) ||
                 contact_is_pieces((int)world->geom[b].shape.kind);
    return (!pieces &&
            contact_path_safe(&s->path, found, a, b, s->of->work->sweeps, n, allowed, 1) >= s->h) ||
           is_free_pair(s, match, seen);
}

/* The nearest point of a pair, whose points are those blocks; INFINITY: there is none. */
static void find_nearest(const once8 *s, int first, int end, int lane, double *gap, double n[3])
{
    *gap = INFINITY;
    n[0] = n[1] = n[2] = 0;
    for (int j = first; j < end; j++) {
        if (s->about[j].found[lane] && s->about[j].gap[lane] < *gap) {
            *gap = s->about[j].gap[lane];
            for (int k = 0; k < 3; k++) {
                n[k] = s->about[j].n[k][lane];
            }
        }
    }
}

/* A pair for which lanes could not prove it. (One that was not found is marched along only if it is
 * fast enough by bounds slightly below those of the lanes; a world in which that would make a
 * difference steps alone.) */
static int is_watched_safe(once8 *s, int index, int lane)
{
    const contact_match *match = &s->of->match[index].of;
    int first = s->first[index], end = first < 0 ? -1 : once8_end_of_pair(s, first);
    double gap, n[3];
    take_pair_out(s, match, lane);
    find_nearest(s, first, end, lane, &gap, n);
    return gap < INFINITY ? is_safe(s, match, gap, n) : is_free_pair(s, match, 0);
}

/* contact_path_tighten */
static void take_bounds_out(once8 *s, int lane)
{
    for (int i = 0; i < s->of->system->tree->bodies; i++) {
        s->path.turn[i] = s->turn[i][lane];
        s->path.twist[i] = s->twist[i][lane];
        s->path.speed[i] = s->speed[i][lane];
        s->path.bend[i] = s->bend[i][lane];
    }
}

static int is_free(once8 *s, int lane)
{
    int safe = 1;
    take_out(s, lane);
    contact_path_begin(&s->path, s->q_alone, s->u_alone, s->h);
    take_bounds_out(s, lane);
    s->path.start = s->of->work->sweeps;
    s->path.placed = 1;
    for (int i = 0; i < s->watched_count && safe; i++) {
        safe = !s->watch[i].left[lane] || is_watched_safe(s, s->watched[i], lane);
    }
    return safe;
}

/* Geoms that move farther than their thickness, and in which worlds. */
ZW_CLONES static void find_fast(const once8 *s)
{
    const contact_world *world = s->of->system->bodies->contact;
    zw_mask8 good = s->of->good;
    for (int g = 0; g < world->geom_count; g++) {
        s->fast[g] = good & (s->ways[g] > world->geom[g].thick);
        s->is_fast[g] = (unsigned char)lane_any8(s->fast[g]);
    }
}

/* Pairs that might meet of which one does, and in which worlds. */
static void find_suspects(once8 *s, zw_mask8 *any)
{
    soft8 *of = s->of;
    double margin = of->margin;
    s->watched_count = 0;
    find_fast(s);
    of->reach = s->ways;
    of->margin = 0;
    for (int k = 0; k < of->match_count; k++) {
        int a = of->match[k].of.a, b = of->match[k].of.b;
        if (s->is_fast[a] || s->is_fast[b]) {
            soft8_near(of, k, &s->suspect[k]);
            s->suspect[k] &= s->fast[a] | s->fast[b];
            *any |= s->suspect[k];
            s->watched[s->watched_count] = k;
            s->watched_count += lane_any8(s->suspect[k]);
        }
    }
    of->reach = s->reach;
    of->margin = margin;
}

void once8_check_ways(once8 *s, const zw_mask8 *slow)
{
    soft8 *of = s->of;
    zw_mask8 asked = of->good & ~*slow, any = {0}, left = {0};
    if (lane_any8(asked)) {
        find_suspects(s, &any);
        asked &= any;
        once8_prove_ways(s, &asked, &left);
    }
    for (int l = 0; l < of->lanes; l++) {
        s->marches += of->good[l] && left[l];
        of->good[l] = of->good[l] && (!left[l] || is_free(s, l)) ? -1 : 0;
    }
}

/* ---- Passing each other ---------------------------------------------------------------------- */

/* Do two bodies that are farther apart than a fraction of their size pass each other? */
static int passes(const once8 *s, const contact_match *match, int first, int end, int lane)
{
    const contact_world *world = s->of->system->bodies->contact;
    double size = 0.25 * fmin(world->geom[match->a].radius, world->geom[match->b].radius);
    double reach = s->reach[match->a][lane] + s->reach[match->b][lane];
    int at = first;
    while (at < end && !s->about[at].found[lane]) {
        at++;
    }
    return at < end && s->about[at].gap[lane] > size && reach > size;
}

/* contact_meet from their nearest point */
static int meets(once8 *s, const contact_match *match, int first, int end, int lane)
{
    double gap, n[3];
    find_nearest(s, first, end, lane, &gap, n);
    take_pair_out(s, match, lane);
    return contact_meet(s->of->system, &s->of->alone->found, match->a, match->b,
                        s->of->work->sweeps, s->h, s->of->margin, gap, n);
}

/* In any world? */
ZW_CLONES static int may_pass(const once8 *s, const contact_match *match, int first, int end)
{
    const contact_world *world = s->of->system->bodies->contact;
    double size = 0.25 * fmin(world->geom[match->a].radius, world->geom[match->b].radius);
    zw_mask8 far = {0};
    for (int k = first; k < end; k++) {
        far |= s->about[k].found & (s->about[k].gap > size);
    }
    return lane_any8(far & s->of->good & (s->reach[match->a] + s->reach[match->b] > size));
}

/* turns_away of impulse_contact.c */
ZW_CLONES static void drop_rims(once8 *s)
{
    const zw_real8 *V = s->of->sweeps + s->of->system->tree->at.V;
    const double none = 0.2 * 0.2, all = 0.5 * 0.5; /* balance_ramp */
    zw_real8 touching;
    once8_touching(s, &touching);
    for (int i = 0, end; i < s->it.blocks; i = end) {
        end = once8_end_of_pair(s, i);
        if (s->about[i].constraint >= 0) {
            continue;
        }
        const int *body = s->of->match[s->about[i].match].law.body;
        zw_real8 turn = {0};
        zw_mask8 held = {0};
        for (int c = 0; c < 3; c++) {
            zw_real8 omega = V[6 * body[1] + c] - V[6 * body[0] + c];
            turn += s->h * s->h * omega * omega;
        }
        for (int k = i; k < end; k++) {
            held |= s->about[k].found & (s->about[k].gap <= touching);
        }
        for (int k = i; k < end; k++) {
            s->it.block[k].on &=
                ~(held & ((turn - none) / (all - none) >= 1.0) & (s->about[k].gap > touching));
        }
    }
}

void once8_drop_ghosts(once8 *s)
{
    drop_rims(s);
    for (int i = 0, end; i < s->it.blocks; i = end) {
        end = once8_end_of_pair(s, i);
        if (s->about[i].constraint >= 0) {
            continue;
        }
        const contact_match *match = &s->of->match[s->about[i].match].of;
        if (!may_pass(s, match, i, end)) {
            continue;
        }
        for (int lane = 0; lane < s->of->lanes; lane++) {
            if (!s->of->good[lane] || !passes(s, match, i, end, lane)) {
                continue;
            }
            if (!meets(s, match, i, end, lane)) {
                for (int k = i; k < end; k++) {
                    s->it.block[k].on[lane] = 0;
                }
            }
        }
    }
}
