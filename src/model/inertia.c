/* Mass, centre and moments of bodies: as given, or summed over their geoms; then the world's rules
 * (lower bounds, balance, total mass); then a check that every joint has inertia.
 *
 * With m the mass, about the centre and along the axes:
 *   box (half lengths a b c)    m/3 (b^2 + c^2), ...
 *   ellipsoid (half axes)       m/5 (b^2 + c^2), ...
 *   cylinder (r, half h)        z: m r^2 / 2;  x, y: m (3 r^2 + 4 h^2) / 12
 *   capsule = cylinder + two half balls whose own centres are 3 r / 8 beyond the ends:
 *                               z: mc r^2/2 + 2 ms r^2/5;
 *                               x, y: mc (3 r^2 + 4 h^2)/12 + ms (2 r^2/5 + h^2 + 3 h r / 4)
 * A geom's tensor is moved to the body's centre of mass by Steiner's theorem. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/elementary.h"
#include "model/bodies.h"

#define PI 3.14159265358979323846

/* Mass, centre and tensor about the centre, in some frame. What a file says by itself, or the only
 * shape of a body, has principal axes of its own, in its own order. */
typedef struct lump {
    double mass;
    double com[3];
    double tensor[6];
    int has_axes;
    double quat[4], moment[3];
} lump;

typedef struct weigher {
    const zw_model *model;
    const model_bodies *b;
    zw_error *error;
    zw_status status;
    zw_inertia *mesh;     /* [meshes] of volumes */
    signed char *weighed; /* 0: not yet, 1: it has a volume */
    lump *own;            /* [bodies] */
    lump *whole;          /* [bodies] with the children welded to it */
    int *joints;          /* [bodies] number of joints */
    signed char *odd;     /* [bodies] moments that no single body can have */
} weigher;

static int fail(weigher *w, zw_kind kind, int index, const char *message)
{
    void *def = model_part_at(w->b, kind, index);
    const char *name = *model_part_name(def);
    if (name != NULL) {
        w->status = model_fail(w->model, w->error, ZW_BAD_INPUT, *model_part_place(def),
                               "%s '%.60s': %s", model_part_word(kind), name, message);
    } else {
        w->status = model_fail(w->model, w->error, ZW_BAD_INPUT, *model_part_place(def), "%s: %s",
                               model_part_word(kind), message);
    }
    return 0;
}

/* ---- Lumps ---------------------------------------------------------------------------------- */

/* Steiner: the tensor of m at x about the origin is m (x.x 1 - x x'). */
static void add_steiner(double tensor[6], double mass, const double x[3])
{
    double square = model_dot(x, x);
    tensor[0] += mass * (square - x[0] * x[0]);
    tensor[1] += mass * (square - x[1] * x[1]);
    tensor[2] += mass * (square - x[2] * x[2]);
    tensor[3] -= mass * x[0] * x[1];
    tensor[4] -= mass * x[0] * x[2];
    tensor[5] -= mass * x[1] * x[2];
}

static void lump_join(lump *into, const lump *other)
{
    double mass = into->mass + other->mass;
    if (!(mass > 0)) {
        for (int k = 0; k < 6; k++) {
            into->tensor[k] += other->tensor[k];
        }
        return;
    }
    if (into->mass == 0 && other->has_axes) {
        *into = *other;
        return;
    }
    into->has_axes = into->has_axes && other->mass == 0;
    double com[3], a[3], b[3];
    for (int i = 0; i < 3; i++) {
        com[i] = (into->mass * into->com[i] + other->mass * other->com[i]) / mass;
        a[i] = into->com[i] - com[i];
        b[i] = other->com[i] - com[i];
    }
    for (int k = 0; k < 6; k++) {
        into->tensor[k] += other->tensor[k];
    }
    add_steiner(into->tensor, into->mass, a);
    add_steiner(into->tensor, other->mass, b);
    into->mass = mass;
    memcpy(into->com, com, sizeof com);
}

/* Transforms a lump to the frame in which its own frame is `pose`. */
static lump lump_carry(const lump *l, const model_pose *pose)
{
    lump out = *l;
    double quat[4], moment[3], turned[4];
    model_rotate(pose->quat, l->com, out.com);
    for (int i = 0; i < 3; i++) {
        out.com[i] += pose->pos[i];
    }
    model_principal(l->tensor, quat, moment);
    model_quat_multiply(turned, pose->quat, quat);
    model_principal_matrix(turned, moment, out.tensor);
    return out;
}

static void give_axes(lump *l, const double quat[4], const double moment[3])
{
    l->has_axes = 1;
    memcpy(l->quat, quat, sizeof l->quat);
    memcpy(l->moment, moment, sizeof l->moment);
    model_principal_matrix(quat, moment, l->tensor);
}

/* ---- Geoms ---------------------------------------------------------------------------------- */

static double capsule_parts(const double size[3], double *balls)
{
    double r = size[0], h = size[1];
    *balls = 4.0 / 3.0 * PI * r * r * r;
    return 2 * PI * r * r * h;
}

static double shape_volume(const zw_geom_def *g)
{
    const double *s = g->size;
    double balls;
    switch (g->shape) {
    case ZW_SHAPE_SPHERE:
        return 4.0 / 3.0 * PI * s[0] * s[0] * s[0];
    case ZW_SHAPE_CAPSULE:
        return capsule_parts(s, &balls) + balls;
    case ZW_SHAPE_ELLIPSOID:
        return 4.0 / 3.0 * PI * s[0] * s[1] * s[2];
    case ZW_SHAPE_CYLINDER:
        return 2 * PI * s[0] * s[0] * s[1];
    case ZW_SHAPE_BOX:
        return 8 * s[0] * s[1] * s[2];
    case ZW_SHAPE_CONE:
        return 2 * PI * s[0] * s[0] * s[1] / 3;
    default:
        return 0;
    }
}

static void shape_moments(const zw_geom_def *g, double mass, double moment[3])
{
    double a = g->size[0] * g->size[0], b = g->size[1] * g->size[1], c = g->size[2] * g->size[2];
    if (g->shape == ZW_SHAPE_SPHERE) {
        moment[0] = moment[1] = moment[2] = 2 * mass * a / 5;
    } else if (g->shape == ZW_SHAPE_ELLIPSOID || g->shape == ZW_SHAPE_BOX) {
        double part = g->shape == ZW_SHAPE_BOX ? mass / 3 : mass / 5;
        moment[0] = part * (b + c);
        moment[1] = part * (a + c);
        moment[2] = part * (a + b);
    } else if (g->shape == ZW_SHAPE_CYLINDER) {
        moment[0] = moment[1] = mass * (3 * a + 4 * b) / 12;
        moment[2] = mass * a / 2;
    } else if (g->shape == ZW_SHAPE_CONE) {
        moment[0] = moment[1] = 3 * mass * (a + b) / 20;
        moment[2] = 3 * mass * a / 10;
    } else {
        double balls, tube = capsule_parts(g->size, &balls);
        double mc = mass * tube / (tube + balls), ms = mass * balls / (tube + balls);
        double cross = g->size[0] * g->size[1];
        moment[0] = moment[1] = mc * (3 * a + 4 * b) / 12 + ms * (2 * a / 5 + b + 3 * cross / 4);
        moment[2] = mc * a / 2 + 2 * ms * a / 5;
    }
}

/* With `balance`, a surface that is not closed or is inside out has the inertia of its convex hull,
 * and a flat one that of a sheet if its mass is given. */
static int weigh_open(const zw_mesh_def *mesh, const zw_geom_def *g, zw_inertia *out)
{
    zw_mesh_def hull = *mesh;
    hull.rule = ZW_MESH_CONVEX;
    int ok = model_mesh_inertia(&hull, 0, out);
    return ok == 0 && g->mass > 0 ? model_mesh_inertia(mesh, 1, out) : ok;
}

/* Volume, centre and moments of the geom's mesh for density 1. */
static int mesh_of(weigher *w, int geom, zw_inertia *out)
{
    const zw_geom_def *g = &w->b->geom[geom];
    const zw_mesh_def *mesh = &w->b->mesh[g->mesh];
    int ok = w->weighed[g->mesh];
    if (g->shell || !ok) {
        ok = model_mesh_inertia(mesh, g->shell, out);
        ok = ok == 0 && !g->shell && w->b->world.balance ? weigh_open(mesh, g, out) : ok;
        if (ok < 0) {
            w->status = model_fail(w->model, w->error, ZW_NO_MEMORY, -1, "out of memory");
            return 0;
        }
        if (ok && !g->shell) {
            w->mesh[g->mesh] = *out;
            w->weighed[g->mesh] = 1;
        }
    } else {
        *out = w->mesh[g->mesh];
    }
    return ok ? 1
              : fail(w, ZW_KIND_GEOM, geom,
                     "its mesh encloses no volume, so it has no mass; are its faces inside out, or "
                     "flat? (use shellinertia, or give the body an inertial)");
}

/* A height field weighs as much as MuJoCo's: a box about its origin, a quarter of its greatest
 * height and half of its base to either side. */
static zw_geom_def field_box(const zw_geom_def *g, const zw_hfield_def *field)
{
    zw_geom_def box = *g;
    double high = 0;
    for (int i = 0; i < field->height_count; i++) {
        high = fmax(high, field->height[i]);
    }
    box.shape = ZW_SHAPE_BOX;
    box.size[0] = field->half[0];
    box.size[1] = field->half[1];
    box.size[2] = high / 4 + field->base / 2;
    return box;
}

/* The geom in its body's frame. */
static int geom_lump(weigher *w, int geom, lump *out)
{
    const zw_geom_def *g = &w->b->geom[geom];
    model_pose pose;
    memcpy(pose.pos, g->pos, sizeof pose.pos);
    memcpy(pose.quat, g->quat, sizeof pose.quat);
    double moment[3];
    memset(out, 0, sizeof *out);
    if (g->mass == 0 || (g->mass < 0 && g->density == 0) || g->shape == ZW_SHAPE_PLANE) {
        return 1;
    }
    zw_geom_def box;
    if (g->shape == ZW_SHAPE_HFIELD) {
        box = field_box(g, &w->b->hfield[g->hfield]);
        g = &box;
    }
    if (g->shape == ZW_SHAPE_MESH) {
        zw_inertia m = {0};
        if (!mesh_of(w, geom, &m)) {
            return 0;
        }
        model_pose inner, whole;
        memcpy(inner.pos, m.com, sizeof inner.pos);
        memcpy(inner.quat, m.quat, sizeof inner.quat);
        whole = model_pose_chain(&pose, &inner);
        pose = whole;
        out->mass = g->mass >= 0 ? g->mass : g->density * m.mass;
        for (int i = 0; i < 3; i++) {
            moment[i] = m.moment[i] * (out->mass / m.mass);
        }
    } else {
        if (g->shape == ZW_SHAPE_CONE) { /* its centre of mass is at a quarter of its height */
            model_pose inner = {{0, 0, -g->size[1] / 2}, {1, 0, 0, 0}};
            pose = model_pose_chain(&pose, &inner);
        }
        out->mass = g->mass >= 0 ? g->mass : g->density * shape_volume(g);
        shape_moments(g, out->mass, moment);
    }
    memcpy(out->com, pose.pos, sizeof out->com);
    give_axes(out, pose.quat, moment);
    return 1;
}

/* ---- Bodies --------------------------------------------------------------------------------- */

static int from_geoms(const weigher *w, int body)
{
    int rule = w->b->world.from_geoms;
    return rule == 1 || (rule == 2 && !w->b->body[body].inertial);
}

static void given_lump(const zw_body_def *d, lump *out)
{
    memset(out, 0, sizeof *out);
    if (d->inertial) {
        double quat[4] = {1}, turned[4], moment[3];
        out->mass = d->mass;
        memcpy(out->com, d->com, sizeof out->com);
        memcpy(moment, d->inertia, sizeof moment);
        if (d->inertia[3] != 0 || d->inertia[4] != 0 || d->inertia[5] != 0) {
            model_principal(d->inertia, quat, moment);
        }
        model_quat_multiply(turned, d->inertia_quat, quat);
        give_axes(out, turned, moment);
    }
}

/* Geoms are added to their bodies in the order of their list. */
static int weigh(weigher *w)
{
    for (int i = 0; i < w->b->count[ZW_KIND_BODY]; i++) {
        if (!from_geoms(w, i)) {
            given_lump(&w->b->body[i], &w->own[i]);
        }
    }
    for (int i = 0; i < w->b->count[ZW_KIND_GEOM]; i++) {
        const zw_geom_def *g = &w->b->geom[i];
        lump l;
        if (!from_geoms(w, g->body) || g->group < w->b->world.group_range[0] ||
            g->group > w->b->world.group_range[1] || g->body == 0) {
            continue;
        }
        if (!geom_lump(w, i, &l)) {
            return 0;
        }
        lump_join(&w->own[g->body], &l);
    }
    return 1;
}

/* Lower bounds, then A + B >= C >= 0 for each pair of moments, as for every set of masses:
 * otherwise they are replaced by their mean, or checked later for the welded bodies together
 * (check_odd). */
static int finish_body(weigher *w, int body, zw_inertia *out)
{
    const zw_world_def *world = &w->b->world;
    lump *l = &w->own[body];
    memcpy(out->com, l->com, sizeof out->com);
    out->mass = l->mass;
    double m[3];
    memcpy(m, l->moment, sizeof m);
    memcpy(out->quat, l->quat, sizeof out->quat);
    if (!l->has_axes) {
        model_principal(l->tensor, out->quat, m);
    }
    double most = fmax(m[0], fmax(m[1], m[2]));
    for (int i = 0; i < 3; i++) {
        if (m[i] < 0 && m[i] > -1e-14 * most) {
            m[i] = 0; /* rounding */
        }
        m[i] = world->bound_inertia > 0 ? fmax(m[i], world->bound_inertia) : m[i];
    }
    out->mass = fmax(out->mass, world->bound_mass);
    if (!isfinite(out->mass + m[0] + m[1] + m[2])) {
        return fail(w, ZW_KIND_BODY, body, "its mass or moment of inertia is not finite");
    }
    double sum = m[0] + m[1] + m[2];
    most = fmax(m[0], fmax(m[1], m[2]));
    if (fmin(m[0], fmin(m[1], m[2])) < 0 || sum - most < most * (1 - 1e-9)) {
        w->odd[body] = !(world->balance && sum >= 0);
        for (int i = 0; i < 3 && !w->odd[body]; i++) {
            m[i] = sum / 3;
        }
    }
    memcpy(out->moment, m, sizeof m);
    l->mass = out->mass;
    model_principal_matrix(out->quat, m, l->tensor);
    return 1;
}

/* Does every joint have inertia, by mass or armature? */
static int check_moving(weigher *w, const zw_inertia *list)
{
    static const char *const message[] = {
        "it moves, but has no mass; give it a geom with mass, or an inertial (URDF: --balance lets "
        "its collision shapes weigh)",
        "it turns freely, but has no moment of inertia; give it a geom with mass, or an inertial "
        "(URDF: --balance takes it from its collision shapes)",
        "it turns, but has no moment of inertia about its hinge; give it a geom with mass, or an "
        "inertial (URDF: --balance takes it from its collision shapes)",
        "the axes of its slides depend on each other, so that one of them has no inertia of its "
        "own; "
        "remove one, or give it an armature"};
    int joint = model_immovable(w->b, list);
    if (joint == MODEL_NO_MEMORY) {
        w->status = base_fail(w->error, ZW_NO_MEMORY, "out of memory");
    }
    if (joint < 0) {
        return joint != MODEL_NO_MEMORY;
    }
    const zw_joint_def *j = &w->b->joint[joint];
    int heavy = w->whole[j->body].mass > 1e-15;
    int massless = !heavy && (j->kind == ZW_JOINT_SLIDE || j->kind == ZW_JOINT_FREE);
    return fail(w, ZW_KIND_BODY, j->body,
                message[massless                    ? 0
                        : j->kind == ZW_JOINT_SLIDE ? 3
                        : j->kind == ZW_JOINT_HINGE ? 2
                                                    : 1]);
}

/* Moments that no single body can have, in a link welded to others: only their sum must be
 * possible, and fixed bodies may have any. */
static int check_odd(weigher *w)
{
    for (int i = 1; i < w->b->count[ZW_KIND_BODY]; i++) {
        int with = i;
        double quat[4], m[3];
        while (with > 0 && w->joints[with] == 0) {
            with = w->b->body[with].parent;
        }
        if (!w->odd[i] || with == 0) {
            continue;
        }
        model_principal(w->whole[with].tensor, quat, m);
        if (m[2] < -1e-14 * m[0]) {
            return fail(w, ZW_KIND_BODY, i, "a moment of inertia is negative");
        }
        if (m[1] + m[2] < m[0] * (1 - 1e-9)) { /* m[0] is the largest */
            return fail(
                w, ZW_KIND_BODY, i,
                "the sum of two of its moments of inertia is less than the third; no real body is "
                "like that. Correct them, or replace them by their mean: --balance, or "
                "balanceinertia=\"true\" of <compiler> (in URDF inside <mujoco>)");
        }
    }
    return 1;
}

/* Adds children without joints to their parents. */
static void join_children(weigher *w)
{
    int n = w->b->count[ZW_KIND_BODY];
    memcpy(w->whole, w->own, (size_t)n * sizeof *w->whole);
    for (int i = 0; i < w->b->count[ZW_KIND_JOINT]; i++) {
        w->joints[w->b->joint[i].body] += w->b->joint[i].closes < 0;
    }
    for (int i = n - 1; i > 0; i--) {
        const zw_body_def *d = &w->b->body[i];
        if (w->joints[i] == 0) {
            model_pose pose;
            memcpy(pose.pos, d->pos, sizeof pose.pos);
            memcpy(pose.quat, d->quat, sizeof pose.quat);
            lump carried = lump_carry(&w->whole[i], &pose);
            lump_join(&w->whole[d->parent], &carried);
        }
    }
}

static int weigh_all(weigher *w, zw_inertia *list, int check)
{
    int n = w->b->count[ZW_KIND_BODY];
    double total = 0;
    if (!weigh(w)) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        list[i] = (zw_inertia){.quat = {1, 0, 0, 0}};
        if (i > 0 && !finish_body(w, i, &list[i])) {
            return 0;
        }
        total += list[i].mass;
    }
    double scale = w->b->world.total_mass > 0 && total > 0 ? w->b->world.total_mass / total : 1;
    for (int i = 0; scale != 1 && i < n; i++) {
        list[i].mass *= scale;
        for (int k = 0; k < 3; k++) {
            list[i].moment[k] *= scale;
        }
    }
    join_children(w);
    return check_odd(w) && (!check || check_moving(w, list));
}

static zw_status weigh_model(const zw_model *model, zw_inertia *list, int check, zw_error *error)
{
    if (model == NULL || model->bodies == NULL || list == NULL) {
        return base_fail(error, ZW_BAD_INPUT, "there are no bodies");
    }
    const model_bodies *b = model->bodies;
    weigher w = {.model = model, .b = b, .error = error};
    size_t bodies = (size_t)b->count[ZW_KIND_BODY], meshes = (size_t)b->count[ZW_KIND_MESH];
    w.mesh = base_alloc((meshes + 1) * sizeof *w.mesh);
    w.weighed = base_alloc(meshes + 1);
    w.own = base_alloc(bodies * sizeof *w.own);
    w.whole = base_alloc(bodies * sizeof *w.whole);
    w.joints = base_alloc(bodies * sizeof *w.joints);
    w.odd = base_alloc(bodies);
    if (w.mesh == NULL || w.weighed == NULL || w.own == NULL || w.whole == NULL ||
        w.joints == NULL || w.odd == NULL) {
        w.status = base_fail(error, ZW_NO_MEMORY, "out of memory");
    } else {
        weigh_all(&w, list, check);
    }
    base_free(w.mesh);
    base_free(w.weighed);
    base_free(w.own);
    base_free(w.whole);
    base_free(w.joints);
    base_free(w.odd);
    return w.status;
}

zw_status zw_model_inertia(const zw_model *model, zw_inertia *list, zw_error *error)
{
    return weigh_model(model, list, 1, error);
}

zw_status model_weigh(const zw_model *model, zw_inertia *list, zw_error *error)
{
    return weigh_model(model, list, 0, error);
}
