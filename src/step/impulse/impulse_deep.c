/* Overlaps at the start of a step do not become deeper.
 *
 * No law of contact determines what overlapping shapes do. They are separated before the step
 * (impulse_part.c), and within it they are kept at their depth, which adds no energy; beyond
 * IMPULSE_INSIDE by forces without friction along the normals at its start. What inexact steps
 * leave, up to IMPULSE_OVERLAP, is separated within the step, without effect on the speeds at its
 * end (impulse_close.c). But models may begin with such overlaps where nothing can part them (a
 * closed door a micrometre in its frame, and a limit of its hinge): where the step cannot be
 * solved, they too are held as deep as they are (impulse.c). */
#include <math.h>
#include <string.h>

#include "step/impulse/impulse.h"

static impulse_deep *find_deep(const impulse_contacts *t, const contact_point *point)
{
    for (int k = 0; k < t->deep_count; k++) {
        if (memcmp(t->deep[k].geom, point->key.geom, sizeof point->key.geom) == 0) {
            return &t->deep[k];
        }
    }
    return NULL;
}

int impulse_is_fixed(const impulse_contacts *t, const contact_point *point)
{
    const impulse_deep *deep = t->deep_count > 0 ? find_deep(t, point) : NULL;
    return deep && deep->fixed;
}

int impulse_is_held(const impulse_contacts *t, const contact_point *point)
{
    const impulse_deep *deep = t->deep_count > 0 ? find_deep(t, point) : NULL;
    return deep && deep->held;
}

void impulse_note_deep(step_impulse *s)
{
    impulse_contacts *t = &s->touch;
    double size = impulse_extent(s), least = impulse_least_overlap(s);
    t->deep_count = 0;
    t->sunk = 0;
    for (int k = 0; k < t->found.count; k++) {
        const contact_point *point = &t->found.point[k];
        double left = -point->gap - IMPULSE_RECOVERY * s->h;
        if (t->whole > 0) { /* at the pace of the whole step, and not for round-off */
            int exact = -point->gap <= impulse_round_off(s);
            left = fmax(left, -point->gap * (exact ? 1 : 1 - s->h / t->whole));
        }
        int overlaps = -point->gap > least;
        left = overlaps || t->sinks ? -point->gap : left;
        t->sunk = overlaps ? t->sunk : fmax(t->sunk, -point->gap);
        s->overlaps |= overlaps;
        if (!(left > 0) || (t->sweep.linear && !overlaps && !t->sinks)) {
            continue; /* (impulse_quick.c) */
        }
        impulse_deep *deep = find_deep(t, point);
        if (!deep) {
            deep = &t->deep[t->deep_count++];
            *deep = (impulse_deep){.geom = {point->key.geom[0], point->key.geom[1]},
                                   .body = {point->body[0], point->body[1]}};
        }
        deep->left = fmax(deep->left, left);
        deep->held |= overlaps;
        deep->fixed |= -point->gap > IMPULSE_INSIDE * size;
    }
}

/* Two moving bodies that overlap: those of their other shapes would be in the way that do not
 * overlap yet. They are ignored, as the two are not where they could meet. */
static int is_in_the_way(const impulse_contacts *t, const contact_point *point)
{
    const int *body = point->body;
    for (int k = 0; k < t->deep_count && body[0] > 0 && body[1] > 0; k++) {
        const int *deep = t->deep[k].body;
        if (!t->deep[k].fixed) {
            continue;
        }
        if ((deep[0] == body[0] && deep[1] == body[1]) ||
            (deep[0] == body[1] && deep[1] == body[0])) {
            return 1;
        }
    }
    return 0;
}

/* Points and normals of deep overlaps are those of q0 for the whole step, without friction. The
 * depth of an overlap is the shortest way out; that direction jumps as they move, and belongs to no
 * face that could rub. */
void impulse_keep_deep(impulse_contacts *t)
{
    int kept = 0;
    t->deep_points = 0;
    for (int k = 0; k < t->found.count && t->deep_count > 0; k++) {
        contact_point *point = &t->found.point[k];
        if (impulse_is_fixed(t, point)) {
            point->rows = 1;
            t->deep_point[t->deep_points++] = *point;
        } else if (is_in_the_way(t, point)) {
            continue;
        }
        t->found.point[kept++] = *point;
    }
    t->found.count = t->deep_count > 0 ? kept : t->found.count;
}

static int is_behind(const contact_point *a, const contact_point *b)
{
    return a->key.geom[0] != b->key.geom[0] ? a->key.geom[0] > b->key.geom[0]
                                            : a->key.geom[1] > b->key.geom[1];
}

/* At an iterate: replaces the points found there. Deep pairs may have fewer points there than
 * before, and others more: if there is no room for all of them, the result is 0. */
int impulse_put_deep(impulse_contacts *t, int capacity)
{
    contact_point *point = t->found.point;
    int kept = 0;
    for (int k = 0; k < t->found.count && t->deep_points > 0; k++) {
        if (!impulse_is_fixed(t, &point[k]) && !is_in_the_way(t, &point[k])) {
            point[kept++] = point[k];
        }
    }
    if (t->deep_points > 0 && kept + t->deep_points > capacity) {
        t->found.needed = kept + t->deep_points;
        t->found.count = kept;
        return 0;
    }
    t->found.count = t->deep_points > 0 ? kept + t->deep_points : t->found.count;
    for (int k = kept - 1, d = t->deep_points - 1; d >= 0;) {
        int at = k + d + 1;
        point[at] =
            k >= 0 && is_behind(&point[k], &t->deep_point[d]) ? point[k--] : t->deep_point[d--];
    }
    return 1;
}

double impulse_left_by(const impulse_contacts *t, const contact_point *point)
{
    const impulse_deep *deep = t->deep_count > 0 ? find_deep(t, point) : NULL;
    return deep ? deep->left : 0;
}
