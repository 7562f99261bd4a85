/* Ways of one world of eight. Does nothing go through anything on its way? That is
 * impulse_free_part of impulse_sweep.c, up to where pairs would be marched along: there the world
 * goes alone. And points of what goes past each other have no rows: drop_ghosts of
 * impulse_contact.c. */
#include <math.h>
#include <string.h>

#include "step/once8/once8.h"

/* The end of the points of a pair that begin with block i. */
static int end_of_pair(const once8 *s, int i)
{
    int end = i + 1;
    while (end < s->it.blocks && s->about[end].constraint == s->about[i].constraint &&
           s->about[end].match == s->about[i].match) {
        end++;
    }
    return end;
}

/* Places, speeds u and poses of a world, which the sweeps have. */
static void take_out(once8 *s, int lane)
{
    soft8 *of = s->of;
    const tree_places *at = &of->system->tree->at;
    const contact_world *world = of->system->bodies->contact;
    int bodies = of->system->tree->bodies;
    for (int i = 0; i < of->system->nq; i++) {
        s->q_alone[i] = of->q[i][lane];
    }
    for (int i = 0; i < of->system->n; i++) {
        s->u_alone[i] = s->u[i][lane];
    }
    for (int i = 0; i < 6 * bodies; i++) {
        of->work->sweeps[at->V + i] = of->sweeps[at->V + i][lane];
    }
    for (int i = 0; i < 3 * bodies; i++) {
        of->work->sweeps[at->com + i] = of->sweeps[at->com + i][lane];
    }
    for (int g = 0; g < world->geom_count; g++) {
        collide_pose *to = &of->alone->found.pose[g];
        of->alone->found.reach[g] = s->reach[g][lane];
        for (int i = 0; i < 3; i++) {
            to->pos[i] = of->pose[g].pos[i][lane];
        }
        for (int i = 0; i < 9; i++) {
            to->R[i] = of->pose[g].R[i][lane];
        }
    }
}

static int find_fast(once8 *s)
{
    const contact_world *world = s->of->system->bodies->contact;
    int count = 0;
    memset(s->fast, 0, (size_t)world->geom_count);
    for (int g = 0; g < world->geom_count; g++) {
        s->way[g] = 0;
    }
    for (int k = 0; k < world->moving_count; k++) {
        int g = world->moving[k];
        s->way[g] =
            contact_path_reach(&s->path, g, &s->of->alone->found.pose[g], s->of->work->sweeps);
        s->fast[g] = !(s->way[g] <= world->geom[g].thick);
        count += s->fast[g];
    }
    return count;
}

/* Until when do the two not meet, or go through each other? */
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
    int seen = gap <= fmax(hair, CONTACT_PATH_NEAR * depth);
    double allowed = gap + (seen ? depth : 0);
    int pieces = contact_is_pieces((int)world->geom[a].shape.kind) ||
                 contact_is_pieces((int)world->geom[b].shape.kind);
    return (!pieces &&
            contact_path_safe(&s->path, found, a, b, s->of->work->sweeps, n, allowed, 1) >= s->h) ||
           is_free_pair(s, match, seen);
}

/* All pairs that were found. Those that are farther apart than all that the two go, as ways has it
 * with some room, would be proved free by marching along them, too. */
static int are_found_safe(once8 *s, int lane)
{
    int safe = 1;
    memset(s->listed, 0, (size_t)s->of->match_count);
    for (int i = 0, end; i < s->it.blocks && safe; i = end) {
        double gap = INFINITY, n[3] = {0};
        end = end_of_pair(s, i);
        for (int j = i; j < end && s->about[i].constraint < 0; j++) {
            if (s->about[j].found[lane] && s->about[j].gap[lane] < gap) {
                gap = s->about[j].gap[lane];
                for (int k = 0; k < 3; k++) {
                    n[k] = s->about[j].n[k][lane];
                }
            }
        }
        if (gap < INFINITY) {
            const contact_match *match = &s->of->match[s->about[i].match].of;
            s->listed[s->about[i].match] = 1;
            double ways = s->ways[match->a][lane] + s->ways[match->b][lane];
            safe = !(s->fast[match->a] || s->fast[match->b]) || gap > ways ||
                   is_safe(s, match, gap, n);
        }
    }
    return safe;
}

/* Geoms that go farther than contacts were looked for, likewise. */
static int are_wild_safe(once8 *s, int lane)
{
    const contact_world *world = s->of->system->bodies->contact;
    const contact_work *found = &s->of->alone->found;
    double margin = 0.5 * s->of->margin, close;
    int safe = 1;
    for (int i = 0; i < s->watched_count && safe; i++) {
        int k = s->watched[i];
        const contact_match *match = &s->of->match[k].of;
        int a = match->a, b = match->b;
        int wild = (!world->still[a] && !(s->way[a] <= found->reach[a] + margin)) ||
                   (!world->still[b] && !(s->way[b] <= found->reach[b] + margin));
        if (wild && (s->fast[a] || s->fast[b]) && !s->listed[k] && s->suspect[k][lane] &&
            contact_near(world, found, match, s->way[a] + s->way[b], &close)) {
            safe = is_free_pair(s, match, 0);
        }
    }
    return safe;
}

static int is_free(once8 *s, int lane)
{
    take_out(s, lane);
    contact_path_begin(&s->path, s->q_alone, s->u_alone, s->h);
    int slow = find_fast(s) == 0;
    s->path.start = s->of->work->sweeps;
    s->path.placed = 1;
    return slow || (are_found_safe(s, lane) && are_wild_safe(s, lane));
}

/* Pairs that might meet one of whose two goes farther than it is thick, and in which worlds. */
static void find_suspects(once8 *s, zw_mask8 *any)
{
    soft8 *of = s->of;
    const contact_geom *geom = of->system->bodies->contact->geom;
    double margin = of->margin;
    s->watched_count = 0;
    of->reach = s->ways;
    of->margin = 0;
    for (int k = 0; k < of->match_count; k++) {
        int a = of->match[k].of.a, b = of->match[k].of.b;
        zw_mask8 fast = (s->ways[a] > geom[a].thick) | (s->ways[b] > geom[b].thick);
        fast &= of->good;
        if (lane_any8(fast)) {
            soft8_near(of, k, &s->suspect[k]);
            s->suspect[k] &= fast;
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
    zw_mask8 asked = of->good & ~*slow, any = {0};
    if (lane_any8(asked)) {
        find_suspects(s, &any);
    }
    for (int l = 0; l < of->lanes; l++) {
        of->good[l] = of->good[l] && (!asked[l] || !any[l] || is_free(s, l)) ? -1 : 0;
    }
}

/* ---- Past each other --------------------------------------------------------------------------
 */

/* Do two that are farther apart than a part of their size go past each other? */
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

void once8_drop_ghosts(once8 *s)
{
    for (int lane = 0; lane < s->of->lanes; lane++) {
        int out = 0;
        for (int i = 0, end; i < s->it.blocks && s->of->good[lane]; i = end) {
            end = end_of_pair(s, i);
            const contact_match *match = &s->of->match[s->about[i].match].of;
            if (s->about[i].constraint >= 0 || !passes(s, match, i, end, lane)) {
                continue;
            }
            if (!out) {
                take_out(s, lane);
                out = 1;
            }
            if (!contact_meet(s->of->system, &s->of->alone->found, match->a, match->b,
                              s->of->work->sweeps, s->h, s->of->margin)) {
                for (int k = i; k < end; k++) {
                    s->it.block[k].on[lane] = 0;
                }
            }
        }
    }
}
