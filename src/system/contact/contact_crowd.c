/* Broad phase for many geoms on few trees, as in a crowd of robots.
 *
 * Geoms of one tree are always near each other, and which pairs of them may touch is known in
 * advance: a spatial search would find all of these pairs at every step, only to discard most of
 * them. So each tree has a list of its own pairs, including planes, which are tested by bounding
 * spheres; and only whole trees, each in one box, are searched in space: sorted along x, where
 * their order changes little from step to step. For two trees whose boxes overlap, the geoms in
 * both boxes are tested. Pairs are reported in the order of their geoms. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"
#include "tree/tree.h"

enum { CAPACITY = 64 }; /* geoms of a tree */

/* All geoms of a tree, or one fixed geom. */
typedef struct crowd_group {
    int first, count; /* in geom[] */
    int match, matches;
    int still;
} crowd_group;

struct contact_crowd {
    int groups;
    crowd_group *group;
    int *geom;
    double *size; /* of these: radius and margin */
    contact_match *match;
};

typedef struct crowd_pair {
    int a, b, group;
    double close;
    const contact_match *match; /* NULL: of two trees */
} crowd_pair;

struct crowd_work {
    double *lower, *upper; /* [groups][3] */
    int *order;            /* [groups] along x, from the last search */
    int *first;            /* [geoms + 1] for sorting */
    int count, capacity;
    crowd_pair *pair, *sorted; /* [capacity] */
};

/* ---- Once ----------------------------------------------------------------------------------- */

static int root_of(const tree_mechanism *tree, int body)
{
    while (body > 0 && tree->body[body].parent > 0) {
        body = tree->body[body].parent;
    }
    return body;
}

/* Trees in the order of their first geoms; group[] of each geom, -1: infinite. Returns the number
 * of groups; *trees: the number of moving ones. */
static int find_groups(const contact_world *world, const tree_mechanism *tree, int *group,
                       int *at_root, int *trees)
{
    int groups = 0;
    *trees = 0;
    for (int i = 0; i < world->geom_count; i++) {
        int root = root_of(tree, world->geom[i].body);
        group[i] = !isfinite(world->geom[i].radius) ? -1
                   : root > 0 && at_root[root] > 0  ? at_root[root] - 1
                                                    : groups++;
        if (group[i] >= 0 && root > 0 && at_root[root] == 0) {
            at_root[root] = group[i] + 1;
            ++*trees;
        }
    }
    return groups;
}

static void list_geoms(contact_crowd *crowd, const contact_world *world, const int *group)
{
    for (int i = 0; i < world->geom_count; i++) {
        if (group[i] >= 0) {
            crowd->group[group[i]].count++;
            crowd->group[group[i]].still = world->geom[i].body == 0;
        }
    }
    for (int g = 1; g < crowd->groups; g++) {
        crowd->group[g].first = crowd->group[g - 1].first + crowd->group[g - 1].count;
    }
    for (int g = 0; g < crowd->groups; g++) {
        crowd->group[g].count = 0;
    }
    for (int i = 0; i < world->geom_count; i++) {
        if (group[i] >= 0) {
            crowd_group *own = &crowd->group[group[i]];
            crowd->size[own->first + own->count] = world->geom[i].radius + world->geom[i].margin;
            crowd->geom[own->first + own->count++] = i;
        }
    }
}

/* Pairs within the groups, and with infinite geoms; match may be NULL, to count. */
static int list_matches(const contact_world *world, const tree_mechanism *tree,
                        contact_crowd *crowd, const int *group, contact_match *match)
{
    int count = 0;
    for (int g = 0; g < crowd->groups; g++) {
        crowd_group *own = &crowd->group[g];
        const int *geom = crowd->geom + own->first;
        own->match = count;
        for (int i = 0; i < world->geom_count; i++) {
            for (int k = 0; k < own->count && (group[i] < 0 || group[i] == g); k++) {
                int a = i < geom[k] ? i : geom[k], b = i < geom[k] ? geom[k] : i;
                if ((group[i] == g && geom[k] <= i) || !contact_may(world, tree, a, b)) {
                    continue;
                }
                if (match) {
                    match[count] = contact_match_of(world, a, b);
                }
                count++;
            }
        }
        own->matches = count - own->match;
    }
    return count;
}

static int fill(contact_world *world, const tree_mechanism *tree, const int *group, int groups)
{
    contact_crowd *crowd = world->crowd = base_alloc(sizeof *crowd);
    if (!crowd) {
        return 0;
    }
    crowd->groups = groups;
    crowd->group = base_alloc(((size_t)groups + 1) * sizeof *crowd->group);
    crowd->geom = base_alloc(((size_t)world->geom_count + 1) * sizeof *crowd->geom);
    crowd->size = base_alloc(((size_t)world->geom_count + 1) * sizeof *crowd->size);
    if (!crowd->group || !crowd->geom || !crowd->size) {
        return 0;
    }
    list_geoms(crowd, world, group);
    int count = list_matches(world, tree, crowd, group, NULL);
    crowd->match = base_alloc(((size_t)count + 1) * sizeof *crowd->match);
    if (crowd->match) {
        list_matches(world, tree, crowd, group, crowd->match);
    }
    return crowd->match != NULL;
}

int contact_crowd_make(contact_world *world, const tree_mechanism *tree)
{
    int *group = base_alloc(((size_t)world->geom_count + 1) * sizeof *group), trees, most = 0;
    int *at_root = base_alloc(((size_t)tree->bodies + 1) * sizeof *at_root), good = 1;
    if (group && at_root && world->pair_count == 0) { /* explicit pairs have their own margins */
        int groups = find_groups(world, tree, group, at_root, &trees);
        memset(at_root, 0, ((size_t)tree->bodies + 1) * sizeof *at_root);
        for (int i = 0; i < world->geom_count; i++) {
            int *count = &at_root[root_of(tree, world->geom[i].body)];
            ++*count;
            most = world->geom[i].body > 0 && *count > most ? *count : most;
        }
        int moving = world->geom_count - at_root[0];
        if (most <= CAPACITY && moving >= 4 * trees && at_root[0] <= moving) {
            good = fill(world, tree, group, groups);
        }
    }
    good &= group && at_root;
    base_free(group);
    base_free(at_root);
    return good;
}

void contact_crowd_free(contact_crowd *crowd)
{
    if (crowd) {
        base_free(crowd->group);
        base_free(crowd->geom);
        base_free(crowd->size);
        base_free(crowd->match);
        base_free(crowd);
    }
}

void contact_crowd_sizes(const contact_crowd *crowd, int *groups, int *matches)
{
    *groups = crowd->groups;
    *matches = 0;
    for (int g = 0; g < crowd->groups; g++) {
        *matches += crowd->group[g].matches;
    }
}

crowd_work *crowd_work_create(const contact_world *world)
{
    crowd_work *w = base_alloc(sizeof *w);
    size_t groups = (size_t)world->crowd->groups + 1;
    if (w) {
        w->lower = base_alloc(3 * groups * sizeof *w->lower);
        w->upper = base_alloc(3 * groups * sizeof *w->upper);
        w->order = base_alloc(groups * sizeof *w->order);
        w->first = base_alloc(((size_t)world->geom_count + 2) * sizeof *w->first);
    }
    if (!w || !w->lower || !w->upper || !w->order || !w->first) {
        crowd_work_free(w);
        return NULL;
    }
    for (int g = 0; g < world->crowd->groups; g++) {
        w->order[g] = g;
    }
    return w;
}

void crowd_work_free(crowd_work *w)
{
    if (w) {
        void *list[] = {w->lower, w->upper, w->order, w->first, w->pair, w->sorted};
        for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
            base_free(list[k]);
        }
        base_free(w);
    }
}

/* ---- At every step --------------------------------------------------------------------------- */

static int grow(crowd_work *w)
{
    int capacity = 2 * w->capacity + 64;
    crowd_pair *pair = base_alloc((size_t)capacity * sizeof *pair);
    crowd_pair *sorted = base_alloc((size_t)capacity * sizeof *sorted);
    if (!pair || !sorted) {
        base_free(pair);
        base_free(sorted);
        return 0;
    }
    if (w->count > 0) {
        memcpy(pair, w->pair, (size_t)w->count * sizeof *pair);
    }
    base_free(w->pair);
    base_free(w->sorted);
    w->pair = pair;
    w->sorted = sorted;
    w->capacity = capacity;
    return 1;
}

static int add(crowd_work *w, crowd_pair pair)
{
    if (w->count == w->capacity && !grow(w)) {
        return 0;
    }
    w->pair[w->count++] = pair;
    return 1;
}

static void bound(const contact_crowd *crowd, const contact_work *work, double margin, int g)
{
    const crowd_group *own = &crowd->group[g];
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = own->first; k < own->first + own->count; k++) {
        int i = crowd->geom[k];
        double r = crowd->size[k] + work->reach[i] + margin;
        for (int c = 0; c < 3; c++) {
            double x = work->pose[i].pos[c];
            lower[c] = x - r < lower[c] ? x - r : lower[c];
            upper[c] = x + r > upper[c] ? x + r : upper[c];
        }
    }
    memcpy(work->crowd->lower + 3 * g, lower, sizeof lower);
    memcpy(work->crowd->upper + 3 * g, upper, sizeof upper);
}

/* Geoms of a group that reach into a box. */
static int pick(const contact_crowd *crowd, const contact_work *work, double margin, int g,
                const double *lower, const double *upper, int *list)
{
    const crowd_group *own = &crowd->group[g];
    int count = 0;
    for (int k = own->first; k < own->first + own->count; k++) {
        int i = crowd->geom[k];
        const double *x = work->pose[i].pos, r = crowd->size[k] + work->reach[i] + margin;
        list[count] = i;
        count += (x[0] + r >= lower[0]) & (x[0] - r <= upper[0]) & (x[1] + r >= lower[1]) &
                 (x[1] - r <= upper[1]) & (x[2] + r >= lower[2]) & (x[2] - r <= upper[2]);
    }
    return count;
}

static int cross(const zw_system *system, contact_work *work, double margin, int g, int h)
{
    const contact_world *world = system->bodies->contact;
    crowd_work *w = work->crowd;
    int list[2][CAPACITY], count[2];
    count[0] = pick(world->crowd, work, margin, g, w->lower + 3 * h, w->upper + 3 * h, list[0]);
    count[1] = pick(world->crowd, work, margin, h, w->lower + 3 * g, w->upper + 3 * g, list[1]);
    for (int i = 0; i < count[0]; i++) {
        for (int j = 0; j < count[1]; j++) {
            int x = list[0][i], y = list[1][j], a = x < y ? x : y, b = x < y ? y : x;
            crowd_pair pair = {.a = a, .b = b};
            contact_match match = contact_match_of(world, a, b);
            if (contact_near(world, work, &match, margin, &pair.close) &&
                contact_may(world, system->tree, a, b) && !add(w, pair)) {
                return 0;
            }
        }
    }
    return 1;
}

static int sweep(const zw_system *system, contact_work *work, double margin)
{
    const contact_crowd *crowd = system->bodies->contact->crowd;
    const double *lower = work->crowd->lower, *upper = work->crowd->upper;
    int *order = work->crowd->order;
    for (int i = 1; i < crowd->groups; i++) { /* insertion sort, as they are nearly in order */
        int own = order[i], k = i;
        for (; k > 0 && lower[3 * order[k - 1]] > lower[3 * own]; k--) {
            order[k] = order[k - 1];
        }
        order[k] = own;
    }
    for (int i = 0; i < crowd->groups; i++) {
        int g = order[i];
        for (int k = i + 1; k < crowd->groups && lower[3 * order[k]] <= upper[3 * g]; k++) {
            int h = order[k];
            int apart = lower[3 * g + 1] > upper[3 * h + 1] ||
                        lower[3 * h + 1] > upper[3 * g + 1] ||
                        lower[3 * g + 2] > upper[3 * h + 2] || lower[3 * h + 2] > upper[3 * g + 2];
            if (!apart && !(crowd->group[g].still && crowd->group[h].still) &&
                !cross(system, work, margin, g, h)) {
                return 0;
            }
        }
    }
    return 1;
}

/* By b, then by a: the sort is stable. */
static void sort(crowd_work *w, int geoms, int by_a)
{
    crowd_pair *from = w->pair;
    memset(w->first, 0, ((size_t)geoms + 1) * sizeof *w->first);
    for (int k = 0; k < w->count; k++) {
        w->first[(by_a ? from[k].a : from[k].b) + 1]++;
    }
    for (int i = 0; i < geoms; i++) {
        w->first[i + 1] += w->first[i];
    }
    for (int k = 0; k < w->count; k++) {
        w->sorted[w->first[by_a ? from[k].a : from[k].b]++] = from[k];
    }
    w->pair = w->sorted;
    w->sorted = from;
}

int contact_crowd_meet(const zw_system *system, contact_work *work, double margin)
{
    const contact_world *world = system->bodies->contact;
    const contact_crowd *crowd = world->crowd;
    crowd_work *w = work->crowd;
    w->count = 0;
    for (int g = 0; g < crowd->groups; g++) {
        const crowd_group *own = &crowd->group[g];
        int end = own->match + own->matches;
        contact_wait_move(work, &work->wait, g, crowd->geom + own->first, own->count, margin);
        for (int k = own->match; (k = contact_wait_next(&work->wait, g, k, end)) < end; k++) {
            const contact_match *match = &crowd->match[k];
            crowd_pair pair = {.a = match->a, .b = match->b, .group = g, .match = match};
            if (!contact_near(world, work, match, margin, &pair.close)) {
                contact_wait_see(world, work, &work->wait, g, k, match, 0, -1);
            } else if (!contact_waits_apart(&work->wait, k, match, pair.close) && !add(w, pair)) {
                return 0;
            }
        }
        bound(crowd, work, margin, g);
    }
    if (!sweep(system, work, margin)) {
        return 0;
    }
    sort(w, world->geom_count, 0);
    sort(w, world->geom_count, 1);
    for (int k = 0; k < w->count; k++) {
        const crowd_pair *pair = &w->pair[k];
        int before = work->needed;
        if (!pair->match) {
            contact_match match = contact_match_of(world, pair->a, pair->b);
            contact_meet_match(world, work, &match, pair->close, NULL);
            continue;
        }
        double apart = -1;
        contact_meet_match(world, work, pair->match, pair->close,
                           work->wait.by_shape ? &apart : NULL);
        contact_wait_see(world, work, &work->wait, pair->group, (int)(pair->match - crowd->match),
                         pair->match, work->needed > before, apart);
    }
    return 1;
}
