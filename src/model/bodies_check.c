/* Is a definition valid? Numbers must be finite, indices exist, names be unique, quaternions and
 * axes have a direction, sizes and masses be possible. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/bodies.h"

typedef struct checker {
    const zw_model *model;
    const model_bodies *bodies;
    zw_error *error;
    zw_kind kind;
    int place;
    const char *name;
    int index; /* that it would get */
} checker;

/* Returns 0; "joint 'hip': its axis has no direction". */
static int bad(const checker *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int bad(const checker *c, const char *format, ...)
{
    char message[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const char *word = model_part_word(c->kind);
    if (c->name != NULL) {
        model_fail(c->model, c->error, ZW_BAD_INPUT, c->place, "%s '%.60s': %s", word, c->name,
                   message);
    } else {
        model_fail(c->model, c->error, ZW_BAD_INPUT, c->place, "%s: %s", word, message);
    }
    return 0;
}

static int finite(const checker *c, const char *what, const double *x, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return bad(c, "its %s has a number that is not finite", what);
        }
    }
    return 1;
}

static int quaternion(const checker *c, const double quat[4])
{
    double copy[4] = {quat[0], quat[1], quat[2], quat[3]};
    return (finite(c, "quaternion", quat, 4) && model_quat_unit(copy)) ||
           (isfinite(quat[0]) &&
            bad(c, "its quaternion is zero; a rotation needs a quaternion with a direction"));
}

static int frame(const checker *c, const double pos[3], const double quat[4])
{
    return finite(c, "position", pos, 3) && quaternion(c, quat);
}

static int not_negative(const checker *c, const char *what, double x)
{
    return (isfinite(x) && x >= 0) || bad(c, "its %s is %g; it cannot be negative", what, x);
}

static int in_order(const checker *c, const char *what, int limited, const double range[2])
{
    if (!finite(c, what, range, 2)) {
        return 0;
    }
    return !limited || range[0] < range[1] ||
           bad(c, "its %s goes from %g to %g; the first must be the smaller one", what, range[0],
               range[1]);
}

static int soft(const checker *c, const zw_soft *s)
{
    return finite(c, "soft law", s->ref, 2) && finite(c, "soft law", s->imp, 5);
}

/* ---- One kind each -------------------------------------------------------------------------- */

static int check_body(const checker *c, const zw_body_def *d)
{
    int ok = frame(c, d->pos, d->quat) && isfinite(d->gravcomp);
    if (ok && d->mocap && d->parent != 0) {
        return bad(c, "a mocap body must be a child of the world");
    }
    if (ok && d->inertial) {
        ok = finite(c, "centre of mass", d->com, 3) && quaternion(c, d->inertia_quat) &&
             not_negative(c, "mass", d->mass) && finite(c, "inertia", d->inertia, 6);
    }
    return ok;
}

static int check_joint_place(const checker *c, const zw_joint_def *d)
{
    const model_bodies *b = c->bodies;
    if (d->body == 0) {
        return bad(c, "the world cannot have joints: it does not move");
    }
    if (d->closes < 0 && b->body[d->body].mocap) {
        return bad(c, "its body is a mocap body, which cannot have joints");
    }
    if (d->closes >= 0 && (d->closes == d->body || d->kind == ZW_JOINT_FREE)) {
        return bad(c, d->kind == ZW_JOINT_FREE ? "a free joint closes no loop"
                                               : "it connects a body to itself");
    }
    if (d->kind == ZW_JOINT_FREE && b->body[d->body].parent != 0) {
        return bad(c, "a free joint belongs to a child of the world; this body's parent is '%.60s'",
                   b->body[b->body[d->body].parent].name != NULL
                       ? b->body[b->body[d->body].parent].name
                       : "another body");
    }
    int left = b->joints[d->body]; /* from the end of the list, where files add them */
    for (int i = b->count[ZW_KIND_JOINT] - 1; i >= 0 && left > 0; i--) {
        const zw_joint_def *other = &b->joint[i];
        left -= other->body == d->body;
        if (i == c->index || other->body != d->body || other->closes != d->closes) {
            continue;
        }
        if (d->kind == ZW_JOINT_FREE || other->kind == ZW_JOINT_FREE) {
            return bad(c, "a free joint must be the only joint of its body");
        }
        if (i < c->index && other->kind == ZW_JOINT_BALL && d->kind != ZW_JOINT_SLIDE) {
            return bad(c,
                       "a ball joint already allows every rotation of the body; another rotational "
                       "joint cannot follow");
        }
    }
    return 1;
}

static int check_joint(const checker *c, const zw_joint_def *d)
{
    double axis[3] = {d->axis[0], d->axis[1], d->axis[2]};
    int scalar = d->kind == ZW_JOINT_HINGE || d->kind == ZW_JOINT_SLIDE;
    if (d->kind < ZW_JOINT_FREE || d->kind > ZW_JOINT_HINGE) {
        return bad(c, "there is no joint of kind %d", d->kind);
    }
    if (!finite(c, "anchor", d->pos, 3) || !finite(c, "axis", d->axis, 3) ||
        !isfinite(d->ref + d->springref)) {
        return bad(c, "its anchor, axis or reference is not finite");
    }
    if (scalar && !(model_unit(axis) > 1e-14)) {
        return bad(c, "its axis is zero and has no direction");
    }
    if (d->limited && d->kind == ZW_JOINT_FREE) {
        return bad(c, "a free joint has no limits");
    }
    if (d->limited && d->kind == ZW_JOINT_BALL && !(d->range[0] == 0 && d->range[1] > 0)) {
        return bad(c, "a ball joint's range goes from 0 to the largest angle");
    }
    return in_order(c, "range", d->limited, d->range) &&
           in_order(c, "force range", d->force_limited, d->force_range) &&
           not_negative(c, "stiffness", d->stiffness) && not_negative(c, "damping", d->damping) &&
           not_negative(c, "armature", d->armature) &&
           not_negative(c, "frictionloss", d->frictionloss) && finite(c, "margin", &d->margin, 1) &&
           soft(c, &d->soft_limit) && soft(c, &d->soft_friction) && check_joint_place(c, d);
}

static int check_size(const checker *c, int shape, const double size[3])
{
    static const int wanted[] = {0, 1, 2, 3, 2, 3, 0, 0, 2};
    if (shape < ZW_SHAPE_PLANE || shape > ZW_SHAPE_CONE) {
        return bad(c, "there is no shape %d", shape);
    }
    if (!finite(c, "size", size, 3)) {
        return 0;
    }
    for (int i = 0; i < wanted[shape]; i++) {
        if (!(size[i] > 0)) {
            return bad(c, "size %d is %g; the shape needs %d positive %s", i + 1, size[i],
                       wanted[shape], wanted[shape] == 1 ? "size" : "sizes");
        }
    }
    return 1;
}

static int check_geom(const checker *c, const zw_geom_def *d)
{
    if (d->shape == ZW_SHAPE_MESH && d->mesh < 0) {
        return bad(c, "it is a mesh, but does not say which one");
    }
    if (d->shape == ZW_SHAPE_HFIELD && d->hfield < 0) {
        return bad(c, "it is a height field, but does not say which one");
    }
    if (d->shape == ZW_SHAPE_PLANE && d->body != 0 && d->mass > 0) {
        return bad(c, "a plane has no mass");
    }
    if (d->triangles && (d->shape != ZW_SHAPE_MESH || c->bodies->mesh[d->mesh].face_count == 0)) {
        return bad(c, d->shape != ZW_SHAPE_MESH
                          ? "only a mesh can touch by its triangles"
                          : "its mesh has vertices only, no triangles to touch by");
    }
    if (d->condim != 1 && d->condim != 3 && d->condim != 4 && d->condim != 6) {
        return bad(c, "its condim is %d; it can be 1, 3, 4 or 6", d->condim);
    }
    if (!(d->restitution >= 0 && d->restitution <= 1)) {
        return bad(c, "its restitution is %g; it must be between 0 and 1", d->restitution);
    }
    return check_size(c, d->shape, d->size) && frame(c, d->pos, d->quat) &&
           finite(c, "mass", &d->mass, 1) && not_negative(c, "density", d->density) &&
           not_negative(c, "friction", d->friction[0]) &&
           not_negative(c, "friction", d->friction[1]) &&
           not_negative(c, "friction", d->friction[2]) && not_negative(c, "solmix", d->solmix) &&
           finite(c, "margin", &d->margin, 1) && finite(c, "gap", &d->gap, 1) &&
           finite(c, "fluid_coef", d->fluid_coef, 5) && soft(c, &d->soft);
}

static int check_site(const checker *c, const zw_site_def *d)
{
    return finite(c, "size", d->size, 3) && frame(c, d->pos, d->quat);
}

static int check_mesh(const checker *c, const zw_mesh_def *d)
{
    if (d->vertex_count < 4 || d->vertex == NULL) {
        return bad(c, "a mesh needs at least 4 vertices; this one has %d", d->vertex_count);
    }
    if (d->face_count > 0 && d->face == NULL) {
        return bad(c, "its faces are missing");
    }
    for (int i = 0; i < 3 * d->vertex_count; i++) {
        if (!isfinite(d->vertex[i])) {
            return bad(c, "vertex %d is not finite", i / 3);
        }
    }
    for (int i = 0; i < 3 * d->face_count; i++) {
        if (d->face[i] < 0 || d->face[i] >= d->vertex_count) {
            return bad(c, "face %d has a corner %d; vertices go from 0 to %d", i / 3, d->face[i],
                       d->vertex_count - 1);
        }
    }
    return 1;
}

static int check_hfield(const checker *c, const zw_hfield_def *d)
{
    enum { MOST = 46340 };
    if (d->columns < 2 || d->rows < 2 || d->columns > MOST || d->rows > MOST) {
        return bad(c, "it has %d columns and %d rows; each must be 2 to %d", d->columns, d->rows,
                   MOST);
    }
    if (d->height == NULL || d->height_count != d->columns * d->rows) {
        return bad(c, "it has %d heights for %d columns and %d rows",
                   d->height != NULL ? d->height_count : 0, d->columns, d->rows);
    }
    if (!(d->half[0] > 0 && d->half[1] > 0 && isfinite(d->half[0] + d->half[1]))) {
        return bad(c, "its half lengths are %g and %g; they must be positive", d->half[0],
                   d->half[1]);
    }
    for (int i = 0; i < d->height_count; i++) {
        if (!isfinite(d->height[i])) {
            return bad(c, "the height in row %d, column %d is not finite", i / d->columns,
                       i % d->columns);
        }
    }
    return not_negative(c, "base", d->base);
}

static int check_equality(const checker *c, const zw_equality_def *d)
{
    int same_kind = d->kind >= ZW_EQUALITY_CONNECT && d->kind <= ZW_EQUALITY_BLADE;
    if (!same_kind) {
        return bad(c, "there is no constraint of kind %d", d->kind);
    }
    int of_bodies = d->kind != ZW_EQUALITY_JOINT && d->kind != ZW_EQUALITY_TENDON;
    if (d->first == d->second || (of_bodies && d->first <= 0 && d->second <= 0)) {
        return bad(c, "it connects something to itself");
    }
    for (int i = 0; d->kind == ZW_EQUALITY_JOINT && i < 2; i++) {
        int joint = i == 0 ? d->first : d->second;
        int kind = joint >= 0 ? c->bodies->joint[joint].kind : ZW_JOINT_HINGE;
        if (kind != ZW_JOINT_HINGE && kind != ZW_JOINT_SLIDE) {
            return bad(c, "only hinges and slides can be coupled");
        }
    }
    int round = d->kind >= ZW_EQUALITY_WHEEL && d->kind <= ZW_EQUALITY_ROLL;
    if (round && !(d->radius > 0 && isfinite(d->radius))) {
        return bad(c, "a rolling body needs a positive radius, not %g", d->radius);
    }
    return frame(c, d->pos1, d->quat1) && frame(c, d->pos2, d->quat2) &&
           finite(c, "polynomial", d->poly, 5) && finite(c, "roller", &d->roller, 1) &&
           not_negative(c, "distance", d->distance) &&
           not_negative(c, "torquescale", d->torquescale) && soft(c, &d->soft);
}

/* The path goes from site to site, possibly around a shape between two of them. */
static int check_stop(const checker *c, const zw_tendon_def *d, int i)
{
    const zw_stop *stop = &d->stop[i];
    int before = i > 0 ? d->stop[i - 1].kind : -1;
    int after = i + 1 < d->stop_count ? d->stop[i + 1].kind : -1;
    if (stop->kind == ZW_STOP_PULLEY) {
        if (before == ZW_STOP_PULLEY || after < 0) {
            return bad(c, "stop %d is a pulley, and no branch follows it", i + 1);
        }
        return (stop->divisor > 0 && isfinite(stop->divisor)) ||
               bad(c, "the divisor of a pulley must be positive, not %g", stop->divisor);
    }
    if (stop->kind == ZW_STOP_GEOM) {
        int shape = c->bodies->geom[stop->index].shape;
        if (shape != ZW_SHAPE_SPHERE && shape != ZW_SHAPE_CYLINDER) {
            return bad(c, "stop %d: tendons wrap around spheres and cylinders only", i + 1);
        }
        return (before == ZW_STOP_SITE && after == ZW_STOP_SITE) ||
               bad(c, "stop %d: a shape to wrap around must be between two sites", i + 1);
    }
    int alone = (before < 0 || before == ZW_STOP_PULLEY) && (after < 0 || after == ZW_STOP_PULLEY);
    int twice = after == ZW_STOP_SITE && d->stop[i + 1].index == stop->index;
    return stop->kind != ZW_STOP_SITE ? bad(c, "there is no stop of kind %d", stop->kind)
           : alone                    ? bad(c, "stop %d: a branch needs two sites at least", i + 1)
           : twice                    ? bad(c, "stops %d and %d are the same site", i + 1, i + 2)
                                      : 1;
}

static int check_tendon(const checker *c, const zw_tendon_def *d)
{
    if (d->stop_count > 0 ? d->count > 0 || d->stop == NULL
                          : d->count < 1 || d->joint == NULL || d->coef == NULL) {
        return bad(c, "it acts on no joint");
    }
    for (int i = 0; i < d->stop_count; i++) {
        if (!check_stop(c, d, i)) {
            return 0;
        }
    }
    for (int i = 0; i < d->count; i++) {
        int kind = c->bodies->joint[d->joint[i]].kind;
        if (kind != ZW_JOINT_HINGE && kind != ZW_JOINT_SLIDE) {
            return bad(c, "a fixed tendon can only combine hinges and slides");
        }
    }
    return finite(c, "coefficients", d->coef, d->count) &&
           in_order(c, "range", d->limited, d->range) &&
           in_order(c, "force range", d->force_limited, d->force_range) &&
           not_negative(c, "stiffness", d->stiffness) && not_negative(c, "damping", d->damping) &&
           not_negative(c, "armature", d->armature) &&
           not_negative(c, "frictionloss", d->frictionloss) && finite(c, "margin", &d->margin, 1) &&
           finite(c, "springlength", d->springlength, 2) && soft(c, &d->soft_limit) &&
           soft(c, &d->soft_friction);
}

/* Conditions for the curves of a muscle. */
static int check_muscle(const checker *c, int law, const double prm[10])
{
    if (law != ZW_ACTUATOR_MUSCLE) {
        return 1;
    }
    if (!(prm[0] < prm[1] && prm[4] < 1 && 1 < prm[5])) {
        return bad(c, "a muscle needs range[0] < range[1] and lmin < 1 < lmax");
    }
    return (prm[3] > 0 && prm[6] > 0 && prm[7] > 0 && prm[8] > 0) ||
           bad(c, "scale, vmax, fpmax and fvmax of a muscle must be positive");
}

static int check_actuator(const checker *c, const zw_actuator_def *d)
{
    if (d->drive < ZW_DRIVE_JOINT || d->drive > ZW_DRIVE_BODY || d->dynamics < ZW_DYNAMICS_NONE ||
        d->dynamics > ZW_DYNAMICS_MUSCLE) {
        return bad(c, "there is no such drive or dynamics");
    }
    if (d->drive == ZW_DRIVE_CRANK && !(d->rod > 0 && isfinite(d->rod))) {
        return bad(c, "the rod of a slider-crank needs a positive length");
    }
    if (d->gain_law < ZW_ACTUATOR_CONSTANT || d->gain_law > ZW_ACTUATOR_MUSCLE ||
        d->bias_law < ZW_ACTUATOR_CONSTANT || d->bias_law > ZW_ACTUATOR_MUSCLE) {
        return bad(c, "there is no such gain or bias");
    }
    if (d->dynamics == ZW_DYNAMICS_MUSCLE &&
        !(d->dyn_prm[0] > 0 && d->dyn_prm[1] > 0 && d->dyn_prm[2] >= 0)) {
        return bad(c, "a muscle needs two positive time constants");
    }
    if ((d->dynamics == ZW_DYNAMICS_FILTER || d->dynamics == ZW_DYNAMICS_FILTER_EXACT) &&
        !(d->dyn_prm[0] > 0)) {
        return bad(c, "its filter needs a positive time constant");
    }
    if (d->damp_ratio > 0 && d->gain_prm[0] < 0) {
        return bad(c, "a damping ratio needs a gain that is not negative");
    }
    return check_muscle(c, d->gain_law, d->gain_prm) && check_muscle(c, d->bias_law, d->bias_prm) &&
           finite(c, "gear", d->gear, 6) && not_negative(c, "dampratio", d->damp_ratio) &&
           finite(c, "dynprm", d->dyn_prm, 10) && finite(c, "gainprm", d->gain_prm, 10) &&
           finite(c, "biasprm", d->bias_prm, 10) && finite(c, "lengthrange", d->length_range, 2) &&
           in_order(c, "ctrlrange", d->ctrl_limited, d->ctrl_range) &&
           in_order(c, "forcerange", d->force_limited, d->force_range) &&
           in_order(c, "actrange", d->act_limited, d->act_range);
}

static int check_sensor(const checker *c, const zw_sensor_def *d)
{
    int last = d->kind == ZW_SENSOR_CONTACT ? ZW_FRAME_SUBTREE : ZW_FRAME_SITE;
    if (d->kind < 0 || d->kind >= ZW_SENSOR_COUNT || d->frame < 0 || d->frame > last ||
        d->ref_frame < 0 || d->ref_frame > last) {
        return bad(c, "there is no such sensor or frame");
    }
    int most = d->kind == ZW_SENSOR_RANGEFINDER ? 63 : 127;
    if (d->data < 1 || d->data > most || d->number < 1 || d->number > 1000 || d->reduce < 0 ||
        d->reduce > ZW_REDUCE_NETFORCE) {
        return bad(
            c, "num is 1 to 1000, data names at least one quantity, and reduce one of its rules");
    }
    const model_bodies *b = c->bodies;
    int kind = d->target >= 0 && d->kind >= ZW_SENSOR_JOINTPOS && d->kind <= ZW_SENSOR_JOINTLIMITFRC
                   ? b->joint[d->target].kind
                   : -1;
    int ball = d->kind == ZW_SENSOR_BALLQUAT || d->kind == ZW_SENSOR_BALLANGVEL;
    if (kind >= 0 && ball && kind != ZW_JOINT_BALL) {
        return bad(c, "it needs a ball joint");
    }
    if ((d->kind <= ZW_SENSOR_JOINTACTUATORFRC) && kind >= 0 && kind != ZW_JOINT_HINGE &&
        kind != ZW_JOINT_SLIDE) {
        return bad(c, "it needs a hinge or a slide");
    }
    int direction = d->kind == ZW_SENSOR_BALLQUAT ||
                    (d->kind >= ZW_SENSOR_FRAMEQUAT && d->kind <= ZW_SENSOR_FRAMEZAXIS);
    if (direction && d->cutoff > 0) {
        return bad(c, "a direction cannot have a cutoff: it would no longer be a unit vector");
    }
    return not_negative(c, "cutoff", d->cutoff) && not_negative(c, "noise", d->noise);
}

static int check_key(const checker *c, const zw_key_def *d)
{
    const double *list[5] = {d->qpos, d->qvel, d->act, d->ctrl, d->mocap};
    const int count[5] = {d->qpos_count, d->qvel_count, d->act_count, d->ctrl_count,
                          d->mocap_count};
    static const char *const word[5] = {"qpos", "qvel", "act", "ctrl", "mocap pose"};
    int ok = finite(c, "time", &d->time, 1);
    for (int i = 0; ok && i < 5; i++) {
        ok = list[i] == NULL || finite(c, word[i], list[i], count[i]);
    }
    return ok;
}

static int check_pair(const checker *c, const zw_pair_def *d)
{
    if (d->condim != 1 && d->condim != 3 && d->condim != 4 && d->condim != 6) {
        return bad(c, "its condim is %d; it can be 1, 3, 4 or 6", d->condim);
    }
    int ok = d->geom1 != d->geom2 || bad(c, "both geoms are the same");
    for (int i = 0; ok && i < 5; i++) {
        ok = not_negative(c, "friction", d->friction[i]);
    }
    return ok && soft(c, &d->soft) && soft(c, &d->soft_friction) &&
           finite(c, "margin", &d->margin, 1) && finite(c, "gap", &d->gap, 1);
}

/* ---- All ------------------------------------------------------------------------------------ */

static int check_refs(const checker *c, const void *def)
{
    model_refs refs;
    model_part_refs(c->kind, (void *)def, &refs); /* not modified */
    for (int i = 0; i < model_ref_count(&refs); i++) {
        zw_kind kind;
        int may_lack, index = *model_ref_at(&refs, i, &kind, &may_lack);
        int most = c->bodies->count[kind];
        if (c->kind == ZW_KIND_BODY) {
            most = c->index; /* parents precede their children */
        }
        if (index >= most || index < (may_lack ? -1 : 0)) {
            return bad(c, "it refers to %s %d, and there is none", model_part_word(kind), index);
        }
    }
    return 1;
}

static int check_name(const checker *c)
{
    int other = c->name != NULL ? model_find_part(c->bodies, c->kind, c->name) : -1;
    if (other < 0 || other == c->index) {
        return 1;
    }
    int place = *model_part_place(model_part_at(c->bodies, c->kind, other));
    if (place >= 0) {
        return bad(c, "this name is already used (line %d)", c->model->place[place].line);
    }
    return bad(c, "this name is already used");
}

static int check_kind(const checker *c, const void *def)
{
    switch (c->kind) {
    case ZW_KIND_BODY:
        return check_body(c, def);
    case ZW_KIND_JOINT:
        return check_joint(c, def);
    case ZW_KIND_GEOM:
        return check_geom(c, def);
    case ZW_KIND_SITE:
        return check_site(c, def);
    case ZW_KIND_MESH:
        return check_mesh(c, def);
    case ZW_KIND_EQUALITY:
        return check_equality(c, def);
    case ZW_KIND_TENDON:
        return check_tendon(c, def);
    case ZW_KIND_ACTUATOR:
        return check_actuator(c, def);
    case ZW_KIND_SENSOR:
        return check_sensor(c, def);
    case ZW_KIND_KEY:
        return check_key(c, def);
    case ZW_KIND_PAIR:
        return check_pair(c, def);
    case ZW_KIND_HFIELD:
        return check_hfield(c, def);
    default:
        return 1;
    }
}

/* A change may not move a part to another body. */
static int check_home(const checker *c, const void *def)
{
    const model_bodies *b = c->bodies;
    int now = 0, before = 0;
    if (c->index == b->count[c->kind]) {
        return 1;
    }
    if (c->kind == ZW_KIND_BODY) {
        now = ((const zw_body_def *)def)->parent;
        before = b->body[c->index].parent;
    } else if (c->kind == ZW_KIND_JOINT) {
        now = ((const zw_joint_def *)def)->body;
        before = b->joint[c->index].body;
    } else if (c->kind == ZW_KIND_GEOM) {
        now = ((const zw_geom_def *)def)->body;
        before = b->geom[c->index].body;
    } else if (c->kind == ZW_KIND_SITE) {
        now = ((const zw_site_def *)def)->body;
        before = b->site[c->index].body;
    }
    return now == before || bad(c, "a change cannot move it to another body; remove it and add it");
}

zw_status model_check_part(const zw_model *model, zw_kind kind, const void *def, int index,
                           zw_error *error)
{
    checker c = {.model = model, .bodies = model->bodies, .error = error, .kind = kind};
    int made;
    memcpy(&made, def, sizeof made);
    memcpy(&c.place, (const char *)def + sizeof made, sizeof c.place);
    c.index = index;
    if (made != MODEL_MADE + (int)kind) {
        c.place = -1;
        bad(&c, "this definition was not made by zw_%s_default()", model_part_word(kind));
        return ZW_BAD_INPUT;
    }
    c.place = c.place < model->place_count ? c.place : -1;
    c.name = *model_part_name((void *)def);
    int ok = check_name(&c) && check_refs(&c, def) && check_home(&c, def) && check_kind(&c, def);
    return ok ? ZW_OK : ZW_BAD_INPUT;
}

zw_status zw_model_set_world(zw_model *model, const zw_world_def *def, zw_error *error)
{
    model_bodies *b = model_bodies_of(model);
    if (b == NULL) {
        return model_fail(model, error, ZW_NO_MEMORY, -1, "out of memory");
    }
    if (def->made != MODEL_MADE + MODEL_KINDS) {
        return model_fail(model, error, ZW_BAD_INPUT, -1,
                          "world: this definition was not made by zw_world_default()");
    }
    double sum = def->gravity[0] + def->gravity[1] + def->gravity[2] + def->magnetic[0] +
                 def->magnetic[1] + def->magnetic[2] + def->total_mass + def->wind[0] +
                 def->wind[1] + def->wind[2] + def->density + def->viscosity;
    int ok = isfinite(sum) && isfinite(def->timestep) && def->timestep > 0 &&
             isfinite(def->impratio) && def->impratio > 0 && def->bound_mass >= 0 &&
             def->sleep_tolerance >= 0 && isfinite(def->sleep_tolerance) &&
             def->bound_inertia >= 0 && isfinite(def->bound_mass + def->bound_inertia) &&
             isfinite(def->bounce_speed) && def->bounce_speed >= 0 && def->density >= 0 &&
             def->viscosity >= 0;
    if (!ok) {
        return model_fail(model, error, ZW_BAD_INPUT, -1,
                          "world: gravity and masses must be finite, timestep and impratio "
                          "positive, bounce_speed, sleep_tolerance, density and viscosity not "
                          "negative");
    }
    b->world = *def;
    return ZW_OK;
}
