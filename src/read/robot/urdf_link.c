/* The parts of a URDF link: its inertial, and its collision and visual shapes. */
#include <math.h>
#include <string.h>

#include "read/robot/urdf.h"

static int shapes_of(const urdf *u, const urdf_link *link)
{
    int count = 0;
    for (int c = u->xml->element[link->element].child; c >= 0; c = u->xml->element[c].next) {
        count += strcmp(u->xml->element[c].name, "collision") == 0;
    }
    return count;
}

/* Gives mass to the shapes, as requested; not in a link without shapes. */
static int weigh_shapes(urdf *u, urdf_link *link, int element, const char *note, zw_body_def *body)
{
    zw_world_def *world = &u->model->bodies->world;
    link->shapes = shapes_of(u, link);
    body->inertial = link->shapes == 0;
    world->from_geoms = world->from_geoms == 0 && link->shapes > 0 ? 2 : world->from_geoms;
    return link->shapes == 0 || note == NULL || urdf_note(u, element, note);
}

/* Are missing moments to be computed from the shapes? */
static int asked(const urdf *u)
{
    const zw_read_options *options = u->limits.options;
    return (options != NULL && options->balance_inertia) ||
           ((u->compiler.given & form_bit(urdf_compiler_rows, "inertiafromgeom")) != 0 &&
            u->model->bodies->world.from_geoms == 2);
}

/* <density> of the shapes: an extension of other tools. */
static int density(urdf *u, urdf_link *link, int inertial, zw_body_def *body)
{
    int element = urdf_child(u, inertial, "density");
    urdf_value d = {0};
    if (element < 0 || xml_find(u->xml, element, "value") < 0) {
        return form_fail(u->xml, inertial, NULL, "an inertial needs a mass");
    }
    if (!form_apply(u->xml, element, urdf_value_rows, &d, &d.given)) {
        return 0;
    }
    if (!(d.value > 0)) {
        return form_fail(u->xml, element, "value", "a density must be positive");
    }
    link->density = d.value;
    return weigh_shapes(u, link, element, NULL, body);
}

int urdf_inertial(urdf *u, urdf_link *link, zw_body_def *body)
{
    int inertial = urdf_child(u, link->element, "inertial");
    body->inertial = 1; /* no inertial: no mass */
    if (inertial < 0 && asked(u)) {
        return weigh_shapes(u, link, link->element,
                            "link without <inertial> (its collision shapes weigh 1000 kg/m^3)",
                            body);
    }
    if (inertial < 0) {
        return shapes_of(u, link) == 0 ||
               urdf_note(u, link->element,
                         "shapes of a link without <inertial> as masses (with --balance they "
                         "weigh 1000 kg/m^3, as in MuJoCo)");
    }
    int mass = urdf_child(u, inertial, "mass"), inertia = urdf_child(u, inertial, "inertia");
    urdf_inertia m = {0}, in = {0};
    model_pose pose;
    if (mass < 0) {
        return density(u, link, inertial, body);
    }
    if (xml_find(u->xml, mass, "value") < 0) {
        return form_fail(u->xml, mass, NULL, "an inertial needs a mass");
    }
    if (!urdf_pose(u, inertial, &pose) || !form_apply(u->xml, mass, urdf_mass_rows, &m, &m.given) ||
        (inertia >= 0 && !form_apply(u->xml, inertia, urdf_inertia_rows, &in, &in.given))) {
        return 0;
    }
    if (m.value[0] < 0) {
        return form_fail(u->xml, mass, "value", "a mass cannot be negative");
    }
    body->mass = m.value[0];
    memcpy(body->com, pose.pos, sizeof pose.pos);
    memcpy(body->inertia_quat, pose.quat, sizeof pose.quat);
    memcpy(body->inertia, in.value, sizeof in.value);
    int none = 1;
    for (int i = 0; i < 6; i++) {
        none = none && in.value[i] == 0;
    }
    if (none && body->mass > 0 && asked(u)) {
        link->mass = body->mass;
        return weigh_shapes(u, link, inertial,
                            "mass without moments of inertia (its collision shapes share it)",
                            body);
    }
    return 1;
}

/* ---- Collision ------------------------------------------------------------------------------ */

#define POINT 1e-6 /* radius of a shape meant as a point */

/* The shape of a collision; `turn` rotates its axis in the collision's frame to z. */
static int shape(urdf *u, int element, zw_geom_def *g, double turn[4])
{
    static const struct {
        const char *name;
        int shape; /* zw_shape */
        const form_row *rows;
    } kinds[] = {{"box", ZW_SHAPE_BOX, urdf_box_rows},
                 {"cylinder", ZW_SHAPE_CYLINDER, urdf_round_rows},
                 {"capsule", ZW_SHAPE_CAPSULE, urdf_round_rows},
                 {"drake:capsule", ZW_SHAPE_CAPSULE, urdf_round_rows},
                 {"drake:ellipsoid", ZW_SHAPE_ELLIPSOID, urdf_ellipsoid_rows},
                 {"cone", ZW_SHAPE_CONE, urdf_round_rows},
                 {"sphere", ZW_SHAPE_SPHERE, urdf_sphere_rows},
                 {"plane", ZW_SHAPE_PLANE, urdf_plane_rows},
                 {"mesh", ZW_SHAPE_MESH, urdf_mesh_rows}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    urdf_shape s = {.scale = {1, 1, 1}, .normal = {0, 0, 1}};
    int kind = 0;
    while (kind < KINDS && strcmp(kinds[kind].name, u->xml->element[element].name) != 0) {
        kind++;
    }
    if (kind == KINDS) {
        return form_fail(u->xml, element, NULL,
                         "the shape <%.60s> of a collision is not supported; use box, cylinder, "
                         "capsule, cone, sphere, plane, mesh",
                         u->xml->element[element].name);
    }
    if (!form_apply(u->xml, element, kinds[kind].rows, &s, &s.given)) {
        return 0;
    }
    g->shape = kinds[kind].shape;
    g->triangles = s.triangles;
    for (int i = 0; i < 3 && g->shape == ZW_SHAPE_BOX; i++) {
        g->size[i] = s.size[i] / 2;
    }
    if (g->shape == ZW_SHAPE_ELLIPSOID) {
        memcpy(g->size, s.axes, sizeof s.axes);
    } else if (g->shape != ZW_SHAPE_BOX) {
        g->size[0] = s.radius;
        g->size[1] = s.length / 2;
    }
    int no_box = g->shape == ZW_SHAPE_BOX && s.size[0] == 0 && s.size[1] == 0 && s.size[2] == 0;
    if (no_box || (g->shape == ZW_SHAPE_SPHERE && s.radius == 0)) {
        g->shape = ZW_SHAPE_SPHERE;
        g->size[0] = POINT;
        if (!urdf_note(u, element,
                       no_box
                           ? "box without size (a point: it touches with a radius of 1e-6)"
                           : "sphere without size (a point: it touches with a radius of 1e-6)")) {
            return 0;
        }
    }
    if (g->shape == ZW_SHAPE_PLANE) {
        if (!(model_unit(s.normal) > 0)) {
            return form_fail(u->xml, element, "normal", "the normal is zero and has no direction");
        }
        model_quat_z_to(turn, s.normal);
    }
    return g->shape != ZW_SHAPE_MESH || urdf_mesh(u, element, &s, &g->mesh);
}

/* A contact parameter, if it is given. */
static int number(urdf *u, int parent, const char *name, const form_row *rows, double *number)
{
    int element = parent >= 0 ? urdf_child(u, parent, name) : -1;
    urdf_value given = {.value = *number};
    if (element >= 0 && !form_apply(u->xml, element, rows, &given, &given.given)) {
        return 0;
    }
    *number = given.value;
    return 1;
}

/* Friction and restitution: of the link, as in Bullet, or of the collision. Spinning and rolling
 * friction are active if they are given. */
static int touch(urdf *u, int link, int element, zw_geom_def *g)
{
    double spin = 0, roll = 0;
    int contact = urdf_child(u, link, "contact");
    if (!number(u, contact, "lateral_friction", urdf_value_rows, &g->friction[0]) ||
        !number(u, element, "contact_coefficients", urdf_mu_rows, &g->friction[0]) ||
        !number(u, contact, "spinning_friction", urdf_value_rows, &spin) ||
        !number(u, contact, "rolling_friction", urdf_value_rows, &roll) ||
        !number(u, contact, "restitution", urdf_value_rows, &g->restitution)) {
        return 0;
    }
    if (spin != 0 || roll != 0) {
        g->condim = roll != 0 ? 6 : 4;
        g->friction[1] = spin;
        g->friction[2] = roll;
    }
    return 1;
}

static int with_visuals(const urdf *u)
{
    return u->limits.options != NULL && u->limits.options->visuals;
}

static int collision(urdf *u, const urdf_link *link, int element)
{
    zw_geom_def g = zw_geom_default();
    double turn[4] = {1, 0, 0, 0};
    model_pose pose;
    int geometry = urdf_child(u, element, "geometry");
    int what = geometry >= 0 ? u->xml->element[geometry].child : -1;
    if (what < 0) {
        return form_fail(u->xml, element, NULL, "a collision needs a geometry");
    }
    if (!urdf_pose(u, element, &pose) || !shape(u, what, &g, turn) ||
        !touch(u, link->element, element, &g)) {
        return 0;
    }
    if (g.shape == ZW_SHAPE_MESH && g.mesh < 0) {
        return 1; /* its file is missing */
    }
    model_quat_multiply(pose.quat, turn, pose.quat);
    g.body = link->body;
    if (u->model->bodies->world.from_geoms != 1) {
        g.mass = link->shapes == 0 ? 0 : link->mass > 0 ? link->mass / link->shapes : g.mass;
        g.density = link->density > 0 ? link->density : g.density;
    }
    g.name = xml_value(u->xml, element, "name");
    if (g.name != NULL &&
        (*g.name == 0 || model_find_part(u->model->bodies, ZW_KIND_GEOM, g.name) >= 0)) {
        g.name = NULL; /* URDF does not require them to be unique */
    }
    memcpy(g.pos, pose.pos, sizeof pose.pos);
    memcpy(g.quat, pose.quat, sizeof pose.quat);
    g.group = with_visuals(u) ? 3 : g.group;
    g.place = xml_place(u->xml, element);
    return urdf_add(u, ZW_KIND_GEOM, &g, NULL);
}

/* ---- Visual --------------------------------------------------------------------------------- */

/* The colour of a visual: its own, or that of the robot's material of this name. */
static int colour(urdf *u, int visual, double rgba[4])
{
    int own = urdf_child(u, visual, "material"), said = own >= 0 ? urdf_child(u, own, "color") : -1;
    const char *name = own >= 0 ? xml_value(u->xml, own, "name") : NULL;
    for (int c = u->xml->element[u->root].child; c >= 0 && said < 0 && name != NULL;
         c = u->xml->element[c].next) {
        const char *other =
            strcmp(u->xml->element[c].name, "material") == 0 ? xml_value(u->xml, c, "name") : NULL;
        said = other != NULL && strcmp(other, name) == 0 ? urdf_child(u, c, "color") : said;
    }
    urdf_colour x = {.rgba = {0.5, 0.5, 0.5, -1}};
    if (said >= 0 && !form_apply(u->xml, said, urdf_colour_rows, &x, &x.given)) {
        return 0;
    }
    memcpy(rgba, x.rgba, sizeof x.rgba);
    return 1;
}

static int seen(urdf *u, const urdf_link *link, int element)
{
    zw_geom_def g = zw_geom_default();
    double turn[4] = {1, 0, 0, 0};
    model_pose pose;
    int geometry = urdf_child(u, element, "geometry");
    int what = geometry >= 0 ? u->xml->element[geometry].child : -1;
    if (what < 0 || !urdf_pose(u, element, &pose) || !shape(u, what, &g, turn) ||
        !colour(u, element, g.rgba) || (g.shape == ZW_SHAPE_MESH && g.mesh < 0)) {
        return 0;
    }
    model_quat_multiply(pose.quat, turn, pose.quat);
    memcpy(g.pos, pose.pos, sizeof pose.pos);
    memcpy(g.quat, pose.quat, sizeof pose.quat);
    g.body = link->body;
    g.mass = g.density = 0;
    g.contype = g.conaffinity = 0;
    g.group = 1;
    g.place = xml_place(u->xml, element);
    return urdf_add(u, ZW_KIND_GEOM, &g, NULL);
}

/* A visual that cannot be shown is left out, as the motion does not depend on it. */
static int visual(urdf *u, const urdf_link *link, int element)
{
    u->seeing = 1;
    if (!seen(u, link, element) && u->xml->status != ZW_NO_MEMORY) {
        u->xml->status = ZW_OK;
        if (u->xml->error != NULL) {
            *u->xml->error = (zw_error){0};
        }
    }
    u->seeing = 0;
    return u->xml->status == ZW_OK;
}

int urdf_shapes(urdf *u, const urdf_link *link)
{
    for (int c = link->element < 0 ? -1 : u->xml->element[link->element].child; c >= 0;
         c = u->xml->element[c].next) {
        const char *name = u->xml->element[c].name;
        if ((strcmp(name, "collision") == 0 && !collision(u, link, c)) ||
            (strcmp(name, "visual") == 0 && with_visuals(u) && !visual(u, link, c))) {
            return 0;
        }
    }
    return 1;
}
