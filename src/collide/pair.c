/* Selects the routine for a pair of shapes, and stores the points. */
#include <string.h>

#include "collide/ground.h"
#include "collide/inner.h"

void collide_emit(collide_sink *sink, const double pos[3], const double normal[3], double gap,
                  uint32_t feature)
{
    double at[3];
    if (sink->turn) {
        v3_turn(at, sink->frame->R, pos);
    } else {
        v3_copy(at, pos);
    }
    v3_add(at, at, 1, sink->frame->pos);
    if (!(gap <= sink->margin) || !isfinite(gap) || !isfinite(at[0] + at[1] + at[2])) {
        return;
    }
    if (sink->count < sink->capacity) {
        collide_point *p = &sink->point[sink->count];
        v3_copy(p->pos, at);
        if (sink->turn) {
            v3_turn(p->normal, sink->frame->R, normal);
        } else {
            v3_copy(p->normal, normal);
        }
        v3_scale(p->normal, sink->flip ? -1 : 1);
        p->gap = gap;
        p->feature = feature ^ sink->salt;
    }
    sink->count++;
}

void collide_drop_twins(collide_sink *sink, int old, int first, double near)
{
    int written = sink->count < sink->capacity ? sink->count : sink->capacity, to = first;
    for (int i = first; i < written; i++) {
        int twin = 0;
        for (int j = old; j < to && !twin; j++) {
            double d[3], turn[3];
            v3_sub(d, sink->point[i].pos, sink->point[j].pos);
            v3_sub(turn, sink->point[i].normal, sink->point[j].normal);
            twin = v3_dot(d, d) <= near * near && v3_dot(turn, turn) <= 1e-16;
        }
        if (!twin) {
            sink->point[to++] = sink->point[i];
        }
    }
    sink->count -= written > first ? written - to : 0;
}

/* The second pose in the frame of the first. */
static void relative(const collide_pose *at_a, const collide_pose *at_b, collide_solid *b)
{
    double to[3];
    v3_sub(to, at_b->pos, at_a->pos);
    v3_turn_back(b->t, at_a->R, to);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            b->R[3 * i + j] = at_a->R[i] * at_b->R[j] + at_a->R[3 + i] * at_b->R[3 + j] +
                              at_a->R[6 + i] * at_b->R[6 + j];
        }
    }
}

/* Is the pose finite? */
static int is_finite(const collide_solid *s)
{
    double all = s->t[0] + s->t[1] + s->t[2];
    for (int i = 0; i < 9; i++) {
        all += s->R[i];
    }
    return isfinite(all);
}

static void on_ground(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                      const collide_pose *at_b, collide_sink *sink)
{
    collide_solid sb;
    collide_solid_of(b, &sb);
    sink->turn = 1;
    relative(at_a, at_b, &sb);
    if (!is_finite(&sb)) {
        return;
    }
    if (a->kind == COLLIDE_PLANE) {
        collide_plane(&sb, sink);
    } else if (a->kind == COLLIDE_FIELD) {
        collide_field_pair(a->field, &sb, sink);
    } else {
        collide_mesh_pair(a->mesh, &sb, sink);
    }
}

static void both_convex(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                        const collide_pose *at_b, collide_sink *sink)
{
    collide_solid sa, sb;
    collide_solid_of(a, &sa);
    collide_solid_of(b, &sb);
    memcpy(sa.R, at_a->R, sizeof sa.R);
    memcpy(sb.R, at_b->R, sizeof sb.R);
    v3_sub(sb.t, at_b->pos, at_a->pos);
    double reach = sa.extent + sa.radius + sb.extent + sb.radius + sink->margin;
    if (v3_dot(sb.t, sb.t) > reach * reach || !is_finite(&sb)) {
        return;
    }
    if (a->kind == COLLIDE_SPHERE) {
        collide_sphere(&sa, &sb, sink);
    } else if (a->kind == COLLIDE_BOX && b->kind == COLLIDE_BOX) {
        collide_boxes(&sa, &sb, sink);
    } else if (a->kind == COLLIDE_CAPSULE && b->kind == COLLIDE_BOX) {
        collide_capsule_box(&sa, &sb, sink);
    } else {
        collide_convex(&sa, &sb, sink);
        return;
    }
    if (sink->apart && sink->count == 0) {
        *sink->apart = collide_apart(&sa, &sb);
    }
}

int collide_pair(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                 const collide_pose *at_b, double margin, collide_point *point, int capacity)
{
    return collide_pair_or_gap(a, at_a, b, at_b, margin, COLLIDE_COMPLETE, point, capacity, NULL);
}

int collide_pair_or_gap(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                        const collide_pose *at_b, double margin, collide_choice choice,
                        collide_point *point, int capacity, double *apart)
{
    int a_ground = collide_is_ground(a), b_ground = collide_is_ground(b);
    if (a_ground && b_ground) {
        return 0;
    }
    /* ground shapes first, else the lower kind */
    int flip = a_ground || b_ground ? b_ground : a->kind > b->kind;
    if (flip) {
        const collide_shape *shape = a;
        const collide_pose *at = at_a;
        a = b;
        at_a = at_b;
        b = shape;
        at_b = at;
    }
    collide_sink sink = {point, capacity, 0, flip, 0, margin, at_a, 0, apart, choice};
    if (a->kind <= COLLIDE_CAPSULE && b->kind <= COLLIDE_CAPSULE) {
        collide_round(a, at_a, b, at_b, &sink);
    } else if (a_ground || b_ground) {
        on_ground(a, at_a, b, at_b, &sink);
    } else {
        both_convex(a, at_a, b, at_b, &sink);
    }
    return sink.count;
}
