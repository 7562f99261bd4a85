/* Bodies as a tree, with their joints, shapes and sites. */
#include <math.h>
#include <string.h>

#include "record/mjcf/mjcf.h"

/* How many entries of `size` a shape has. */
static const int sizes[] = {
    [ZW_SHAPE_PLANE] = 3,     [ZW_SHAPE_SPHERE] = 1, [ZW_SHAPE_CAPSULE] = 2,
    [ZW_SHAPE_ELLIPSOID] = 3, [ZW_SHAPE_BOX] = 3,    [ZW_SHAPE_CYLINDER] = 2};

static const char *const shapes[] = {"plane",    "sphere", "capsule", "ellipsoid",
                                     "cylinder", "box",    "mesh",    "hfield"};

static void put_pose(mjcf_writer *w, const double pos[3], const double quat[4])
{
    mjcf_put_reals(w, "pos", pos, 3);
    mjcf_put_reals(w, "quat", quat, 4);
}

static void put_inertial(mjcf_writer *w, int body)
{
    const zw_inertia *in = &w->inertia[body];
    if (!(in->mass > 0) && !(in->moment[0] + in->moment[1] + in->moment[2] > 0)) {
        return; /* no mass */
    }
    record_put(&w->file, "<inertial");
    put_pose(w, in->com, in->quat);
    mjcf_put_reals(w, "mass", &in->mass, 1);
    mjcf_put_reals(w, "diaginertia", in->moment, 3);
    record_put(&w->file, "/>\n");
}

static void put_joint(mjcf_writer *w, int index)
{
    static const char *const kind[] = {"free", "ball", "slide", "hinge"};
    const zw_joint_def *j = &w->b->joint[index];
    record_put(&w->file, "<joint");
    mjcf_put_name(w, "name", ZW_KIND_JOINT, index);
    mjcf_put_text(w, "type", kind[j->kind]);
    if (j->kind != ZW_JOINT_FREE) {
        mjcf_put_reals(w, "pos", j->pos, 3);
        mjcf_put_reals(w, "axis", j->axis, 3);
    }
    if (j->kind == ZW_JOINT_SLIDE || j->kind == ZW_JOINT_HINGE) {
        mjcf_put_reals(w, "ref", &j->ref, 1);
        mjcf_put_reals(w, "springref", &j->springref, 1);
    }
    mjcf_put_bool(w, "limited", j->limited);
    if (j->limited) {
        mjcf_put_reals(w, "range", j->range, 2);
        mjcf_put_reals(w, "margin", &j->margin, 1);
        mjcf_put_soft(w, "solreflimit", "solimplimit", &j->soft_limit);
    }
    mjcf_put_reals(w, "stiffness", &j->stiffness, 1);
    mjcf_put_reals(w, "damping", &j->damping, 1);
    if (j->springdamper[0] > 0 && j->springdamper[1] > 0) {
        mjcf_put_reals(w, "springdamper", j->springdamper, 2);
    }
    mjcf_put_reals(w, "armature", &j->armature, 1);
    mjcf_put_reals(w, "frictionloss", &j->frictionloss, 1);
    if (j->frictionloss > 0) {
        mjcf_put_soft(w, "solreffriction", "solimpfriction", &j->soft_friction);
    }
    if (j->force_limited) {
        mjcf_put_bool(w, "actuatorfrclimited", 1);
        mjcf_put_reals(w, "actuatorfrcrange", j->force_range, 2);
    }
    if (j->motor_lifts) {
        mjcf_put_bool(w, "actuatorgravcomp", 1);
    }
    record_put(&w->file, "/>\n");
}

/* The height that MuJoCo shifts to 0. */
static double lowest(const zw_hfield_def *h)
{
    double low = INFINITY;
    for (int i = 0; i < h->height_count; i++) {
        low = fmin(low, h->height[i]);
    }
    return low;
}

static void put_geom(mjcf_writer *w, int index)
{
    const zw_geom_def *g = &w->b->geom[index];
    double pos[3] = {g->pos[0], g->pos[1], g->pos[2]};
    if (g->shape == ZW_SHAPE_CONE) {
        mjcf_refuse(w, ZW_KIND_GEOM, index, "MuJoCo has no cones");
        return;
    }
    record_put(&w->file, "<geom");
    mjcf_put_name(w, "name", ZW_KIND_GEOM, index);
    mjcf_put_text(w, "type", shapes[g->shape]);
    if (g->shape == ZW_SHAPE_MESH) {
        mjcf_put_name(w, "mesh", ZW_KIND_MESH, g->mesh);
    } else if (g->shape == ZW_SHAPE_HFIELD) {
        double up[3] = {0, 0, lowest(&w->b->hfield[g->hfield])};
        model_rotate(g->quat, up, up);
        for (int i = 0; i < 3; i++) {
            pos[i] += up[i];
        }
        mjcf_put_name(w, "hfield", ZW_KIND_HFIELD, g->hfield);
    } else {
        double size[3] = {g->size[0], g->size[1], g->size[2]};
        if (g->shape == ZW_SHAPE_PLANE && !(size[2] > 0)) {
            size[2] = 1; /* the spacing of grid lines, which MuJoCo requires */
        }
        mjcf_put_reals(w, "size", size, sizes[g->shape]);
    }
    put_pose(w, pos, g->quat);
    mjcf_put_int(w, "group", g->group);
    mjcf_put_int(w, "contype", g->contype);
    mjcf_put_int(w, "conaffinity", g->conaffinity);
    mjcf_put_int(w, "condim", g->condim);
    mjcf_put_int(w, "priority", g->priority);
    mjcf_put_reals(w, "friction", g->friction, 3);
    mjcf_put_reals(w, "solmix", &g->solmix, 1);
    mjcf_put_reals(w, "margin", &g->margin, 1);
    mjcf_put_reals(w, "gap", &g->gap, 1);
    mjcf_put_soft(w, "solref", "solimp", &g->soft);
    if (g->fluid) {
        mjcf_put_text(w, "fluidshape", "ellipsoid");
        mjcf_put_reals(w, "fluidcoef", g->fluid_coef, 5);
    }
    if (g->rgba[3] >= 0) {
        mjcf_put_reals(w, "rgba", g->rgba, 4);
    }
    record_put(&w->file, "/>\n");
}

static void put_site(mjcf_writer *w, int index)
{
    const zw_site_def *s = &w->b->site[index];
    int is_shape = s->shape >= ZW_SHAPE_SPHERE && s->shape <= ZW_SHAPE_BOX;
    record_put(&w->file, "<site");
    mjcf_put_name(w, "name", ZW_KIND_SITE, index);
    if (is_shape) {
        mjcf_put_text(w, "type", shapes[s->shape]);
        mjcf_put_reals(w, "size", s->size, sizes[s->shape]);
    }
    put_pose(w, s->pos, s->quat);
    mjcf_put_int(w, "group", s->group);
    record_put(&w->file, "/>\n");
}

/* Joints, shapes and sites of a body, found by one pass over each list. */
static void put_parts(mjcf_writer *w, int body)
{
    for (int i = 0; i < w->b->count[ZW_KIND_JOINT]; i++) {
        const zw_joint_def *j = &w->b->joint[i];
        if (j->body == body && j->closes >= 0) {
            mjcf_refuse(
                w, ZW_KIND_JOINT, i,
                "it closes a loop with a coordinate of its own, which MuJoCo does not support");
        } else if (j->body == body) {
            put_joint(w, i);
        }
    }
    for (int i = 0; i < w->b->count[ZW_KIND_GEOM]; i++) {
        if (w->b->geom[i].body == body) {
            put_geom(w, i);
        }
    }
    for (int i = 0; i < w->b->count[ZW_KIND_SITE]; i++) {
        if (w->b->site[i].body == body) {
            put_site(w, i);
        }
    }
    mjcf_put_own_sites(w, body);
}

static void put_body(mjcf_writer *w, int body)
{
    const zw_body_def *def = &w->b->body[body];
    w->order[w->written++] = body;
    if (body == 0) {
        record_put(&w->file, "  <worldbody>\n");
    } else {
        record_put(&w->file, "<body");
        mjcf_put_name(w, "name", ZW_KIND_BODY, body);
        put_pose(w, def->pos, def->quat);
        if (def->gravcomp != 0) {
            mjcf_put_reals(w, "gravcomp", &def->gravcomp, 1);
        }
        if (def->mocap) {
            mjcf_put_bool(w, "mocap", 1);
        }
        record_put(&w->file, ">\n");
        put_inertial(w, body);
    }
    put_parts(w, body);
    for (int child = w->first[body]; child > 0; child = w->next[child]) {
        put_body(w, child);
    }
    record_put(&w->file, body == 0 ? "  </worldbody>\n" : "</body>\n");
}

void mjcf_put_bodies(mjcf_writer *w)
{
    put_body(w, 0);
}
