#include "read/robot/urdf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "read/file/file.h"
#include "read/robot/mjcf.h"
#include "read/zw/zw.h"

int urdf_child(const urdf *u, int element, const char *name)
{
    for (int c = u->xml->element[element].child; c >= 0; c = u->xml->element[c].next) {
        if (strcmp(u->xml->element[c].name, name) == 0) {
            return c;
        }
    }
    return -1;
}

/* Roll, pitch and yaw are rotations about the fixed axes x, y, z in this order. */
int urdf_pose(urdf *u, int element, model_pose *pose)
{
    urdf_origin o = {0};
    int origin = urdf_child(u, element, "origin");
    *pose = model_pose_none();
    if (origin >= 0 && !form_apply(u->xml, origin, urdf_origin_rows, &o, &o.given)) {
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        double axis[3] = {i == 0, i == 1, i == 2}, turn[4];
        model_quat_axis(turn, axis, o.rpy[i]);
        model_quat_multiply(pose->quat, turn, pose->quat);
    }
    memcpy(pose->pos, o.xyz, sizeof o.xyz);
    return 1;
}

int urdf_add(urdf *u, zw_kind kind, const void *def, int *index)
{
    zw_error error;
    int added = u->xml->status == ZW_OK ? model_add_part(u->model, kind, def, &error) : -1;
    if (added < 0 && u->xml->status == ZW_OK) {
        u->xml->status = error.status;
        if (u->xml->error != NULL) {
            *u->xml->error = error;
        }
    }
    if (index != NULL) {
        *index = added;
    }
    return added >= 0;
}

int urdf_note(urdf *u, int element, const char *text)
{
    int place = xml_place(u->xml, element);
    return place >= 0 && (model_add_note(u->model, place, text) || xml_no_memory(u->xml));
}

/* ---- Links and joints, as they are listed --------------------------------------------------- */

static int link_find(const urdf *u, const char *name)
{
    for (int i = 0; i < u->link_count; i++) {
        if (strcmp(u->link[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static int add_link(urdf *u, const char *name, int element)
{
    if (!base_list_reserve(&u->link, &u->link_capacity, u->link_count, sizeof *u->link)) {
        return xml_no_memory(u->xml);
    }
    u->link[u->link_count++] =
        (urdf_link){.name = name, .element = element, .joint = -1, .body = -1};
    return 1;
}

static int list_link(urdf *u, int element)
{
    const char *name = xml_value(u->xml, element, "name");
    if (name == NULL) {
        return form_fail(u->xml, element, NULL, "a link needs a name");
    }
    int other = link_find(u, name);
    if (other >= 0) {
        return form_fail(u->xml, element, "name", "this link name is already used (line %d)",
                         u->xml->element[u->link[other].element].line);
    }
    return add_link(u, name, element);
}

/* The link that <parent> or <child> names. */
static int joint_end(urdf *u, int element, const char *end, int *link)
{
    int which = urdf_child(u, element, end);
    const char *name = which >= 0 ? xml_value(u->xml, which, "link") : NULL;
    if (name == NULL) {
        return form_fail(u->xml, element, NULL, "a joint needs <%s link=\"...\"/>", end);
    }
    *link = link_find(u, name);
    if (*link >= 0) {
        return 1;
    }
    if (strcmp(name, "world") == 0 && strcmp(end, "parent") == 0) {
        *link = u->link_count;
        return add_link(u, name, -1);
    }
    read_guess guess = read_guess_start(name, (int)strlen(name));
    for (int i = 0; i < u->link_count; i++) {
        read_guess_offer(&guess, u->link[i].name, (int)strlen(u->link[i].name));
    }
    return form_fail(u->xml, which, "link", "there is no link '%.60s'%s", name,
                     read_guess_show(&guess).text);
}

static int list_joint(urdf *u, int element)
{
    urdf_joint j = {.element = element, .joint = -1};
    urdf_name n = {.type = -1};
    if (!form_apply(u->xml, element, urdf_joint_rows, &n, &n.given)) {
        return 0;
    }
    if (n.name == NULL || n.type < 0) {
        return form_fail(u->xml, element, NULL, "a joint needs a name and a type");
    }
    j.name = n.name;
    j.type = n.type;
    if (!joint_end(u, element, "parent", &j.parent) || !joint_end(u, element, "child", &j.child)) {
        return 0;
    }
    urdf_link *child = &u->link[j.child];
    if (child->joint >= 0) {
        return form_fail(u->xml, urdf_child(u, element, "child"), "link",
                         "the link '%.60s' is the child of two joints: '%.60s' and '%.60s'",
                         child->name, u->joint[child->joint].name, j.name);
    }
    if (!base_list_reserve(&u->joint, &u->joint_capacity, u->joint_count, sizeof *u->joint)) {
        return xml_no_memory(u->xml);
    }
    child->joint = u->joint_count;
    u->link[j.parent].children++;
    u->joint[u->joint_count++] = j;
    return 1;
}

static int list_all(urdf *u, int root)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int c = u->xml->element[root].child; c >= 0; c = u->xml->element[c].next) {
            const char *name = u->xml->element[c].name;
            if (strcmp(name, pass == 0 ? "link" : "joint") == 0 &&
                !(pass == 0 ? list_link(u, c) : list_joint(u, c))) {
                return 0;
            }
        }
    }
    return u->link_count > 0 || form_fail(u->xml, root, NULL, "a robot needs a link");
}

/* ---- Joints --------------------------------------------------------------------------------- */

/* Many files have such joints that are meant to move; they move in MuJoCo, too. */
#define NO_RANGE "limit without a range (lower is not below upper: the joint moves without limits)"

static int joint_numbers(urdf *u, const urdf_joint *j, zw_joint_def *def)
{
    urdf_limit l = {0};
    int limit = urdf_child(u, j->element, "limit");
    int dynamics = urdf_child(u, j->element, "dynamics");
    if ((limit >= 0 && !form_apply(u->xml, limit, urdf_limit_rows, &l, &l.given)) ||
        (dynamics >= 0 && !form_apply(u->xml, dynamics, urdf_dynamics_rows, &l, &l.given))) {
        return 0;
    }
    if (j->type == URDF_REVOLUTE || j->type == URDF_PRISMATIC) {
        def->limited = l.lower < l.upper;
        def->range[0] = def->limited ? l.lower : 0;
        def->range[1] = def->limited ? l.upper : 0;
        if (!def->limited && !urdf_note(u, limit >= 0 ? limit : j->element, NO_RANGE)) {
            return 0;
        }
    }
    if (l.effort > 0) {
        def->force_limited = 1;
        def->force_range[0] = -l.effort;
        def->force_range[1] = l.effort;
    }
    def->damping = l.damping;
    def->frictionloss = l.friction;
    return 1;
}

/* Two directions perpendicular to the normal, and three joints. */
static int planar(urdf *u, const urdf_joint *j, zw_joint_def *def)
{
    static const char *const part[3] = {"x", "y", "turn"};
    double normal[3], quat[4];
    memcpy(normal, def->axis, sizeof normal);
    model_quat_z_to(quat, normal);
    def->limited = 0;
    for (int i = 0; i < 3; i++) {
        double axis[3] = {i == 0, i == 1, i == 2};
        char name[120];
        snprintf(name, sizeof name, "%.100s_%s", j->name, part[i]);
        def->name = name;
        def->kind = i < 2 ? ZW_JOINT_SLIDE : ZW_JOINT_HINGE;
        model_rotate(quat, axis, def->axis);
        if (!urdf_add(u, ZW_KIND_JOINT, def, NULL)) {
            return 0;
        }
    }
    return 1;
}

static int joint_make(urdf *u, urdf_joint *j, int body)
{
    zw_joint_def def = zw_joint_default();
    urdf_origin axis = {.xyz = {1, 0, 0}};
    int said = urdf_child(u, j->element, "axis");
    if (j->type == URDF_FIXED) {
        return 1;
    }
    if (said >= 0 && !form_apply(u->xml, said, urdf_axis_rows, &axis, &axis.given)) {
        return 0;
    }
    memcpy(def.axis, axis.xyz, sizeof def.axis);
    if (!(model_unit(def.axis) > 0)) {
        return form_fail(u->xml, said, "xyz", "the axis is zero and has no direction");
    }
    def.name = j->name;
    def.body = body;
    def.place = xml_place(u->xml, j->element);
    def.kind = j->type == URDF_PRISMATIC                           ? ZW_JOINT_SLIDE
               : j->type == URDF_FLOATING                          ? ZW_JOINT_FREE
               : j->type == URDF_SPHERICAL || j->type == URDF_BALL ? ZW_JOINT_BALL
                                                                   : ZW_JOINT_HINGE;
    if (!joint_numbers(u, j, &def)) {
        return 0;
    }
    return j->type == URDF_PLANAR ? planar(u, j, &def)
                                  : urdf_add(u, ZW_KIND_JOINT, &def, &j->joint);
}

/* ---- The tree ------------------------------------------------------------------------------- */

/* Is there a root link? The world counts as one. */
static int has_root(urdf *u, int robot)
{
    for (int i = 0; i < u->link_count; i++) {
        if (u->link[i].joint < 0) {
            return 1;
        }
    }
    return form_fail(u->xml, robot, NULL, "every link is the child of a joint: they form a loop");
}

/* A root other than the world is free if requested, or by default if it has no joints and has an
 * inertial; never without mass. */
static int free_root(urdf *u, urdf_link *link, const zw_body_def *body)
{
    const zw_read_options *options = u->limits.options;
    zw_base base = options != NULL ? options->base : ZW_BASE_DEFAULT;
    zw_joint_def def = zw_joint_default();
    char name[160];
    if (base == ZW_BASE_FREE) {
        link->free = link->children > 0 || body->mass > 0 || link->shapes > 0;
    } else if (base == ZW_BASE_DEFAULT) {
        link->free = link->children == 0 && (body->mass > 0 || link->density > 0);
    }
    if (!link->free) {
        return 1;
    }
    snprintf(name, sizeof name, "%.100s_free_joint", link->name);
    def.name = name;
    def.body = link->body;
    def.kind = ZW_JOINT_FREE;
    def.place = xml_place(u->xml, link->element);
    return urdf_add(u, ZW_KIND_JOINT, &def, NULL);
}

/* A floating body must be a child of the world: if nothing above it moves, its pose is
 * converted. */
static int float_free(urdf *u, const urdf_joint *j, zw_body_def *body)
{
    const model_bodies *b = u->model->bodies;
    while (body->parent > 0) {
        for (int i = 0; i < b->count[ZW_KIND_JOINT]; i++) {
            if (b->joint[i].body == body->parent) {
                return form_fail(u->xml, j->element, "type",
                                 "a floating joint needs a parent that does not move");
            }
        }
        model_pose outer, own;
        const zw_body_def *parent = &b->body[body->parent];
        memcpy(outer.pos, parent->pos, sizeof outer.pos);
        memcpy(outer.quat, parent->quat, sizeof outer.quat);
        memcpy(own.pos, body->pos, sizeof own.pos);
        memcpy(own.quat, body->quat, sizeof own.quat);
        own = model_pose_chain(&outer, &own);
        memcpy(body->pos, own.pos, sizeof own.pos);
        memcpy(body->quat, own.quat, sizeof own.quat);
        body->parent = parent->parent;
    }
    return 1;
}

static int link_make(urdf *u, int index)
{
    urdf_link *link = &u->link[index];
    zw_body_def def = zw_body_default();
    urdf_joint *j = link->joint >= 0 ? &u->joint[link->joint] : NULL;
    model_pose pose = model_pose_none();
    if (j == NULL && strcmp(link->name, "world") == 0) {
        link->body = 0;
        return urdf_shapes(u, link);
    }
    if ((j != NULL && !urdf_pose(u, j->element, &pose)) || !urdf_inertial(u, link, &def)) {
        return 0;
    }
    def.name = link->name;
    def.parent = j != NULL ? u->link[j->parent].body : 0;
    def.place = xml_place(u->xml, link->element);
    memcpy(def.pos, pose.pos, sizeof pose.pos);
    memcpy(def.quat, pose.quat, sizeof pose.quat);
    if (j != NULL && j->type == URDF_FLOATING && !float_free(u, j, &def)) {
        return 0;
    }
    return urdf_add(u, ZW_KIND_BODY, &def, &link->body) &&
           (j != NULL ? joint_make(u, j, link->body) : free_root(u, link, &def)) &&
           urdf_shapes(u, link);
}

/* From the roots, each link before its children; children in the order of their joints. */
static int make_trees(urdf *u)
{
    int *stack = base_alloc(((size_t)u->link_count + 1) * sizeof *stack);
    int *first = base_alloc(((size_t)u->link_count + 1) * sizeof *first); /* joint below, + 1 */
    int *next = base_alloc(((size_t)u->joint_count + 1) * sizeof *next);
    int made = 0, count = 0;
    int ok = stack != NULL && first != NULL && next != NULL ? 1 : xml_no_memory(u->xml);
    for (int i = 0; ok && i < u->joint_count;
         i++) { /* in reverse order, as the stack reverses them */
        next[i] = first[u->joint[i].parent];
        first[u->joint[i].parent] = i + 1;
    }
    for (int i = u->link_count - 1; ok && i >= 0; i--) {
        stack[count] = i;
        count += u->link[i].joint < 0;
    }
    while (ok && count > 0) {
        int link = stack[--count];
        ok = link_make(u, link);
        made++;
        for (int j = first[link]; ok && j > 0; j = next[j - 1]) {
            stack[count++] = u->joint[j - 1].child;
        }
    }
    for (int i = 0; ok && made < u->link_count && i < u->link_count; i++) {
        if (u->link[i].body < 0) {
            ok = form_fail(u->xml, u->link[i].element, NULL,
                           "the link '%.60s' is part of a circle of joints", u->link[i].name);
        }
    }
    base_free(stack);
    base_free(first);
    base_free(next);
    return ok;
}

/* ---- Mimic ---------------------------------------------------------------------------------- */

static int has_one_coordinate(const urdf_joint *j)
{
    return j->type == URDF_REVOLUTE || j->type == URDF_CONTINUOUS || j->type == URDF_PRISMATIC;
}

static int mimic(urdf *u, const urdf_joint *j)
{
    int element = urdf_child(u, j->element, "mimic");
    urdf_limit l = {.multiplier = 1};
    zw_equality_def def = zw_equality_default();
    if (element < 0) {
        return 1;
    }
    if (!form_apply(u->xml, element, urdf_mimic_rows, &l, &l.given)) {
        return 0;
    }
    int other = -1;
    for (int i = 0; i < u->joint_count && l.joint != NULL; i++) {
        other = strcmp(u->joint[i].name, l.joint) == 0 ? i : other;
    }
    if (other < 0) {
        return form_fail(u->xml, element, "joint", "there is no joint '%.60s'",
                         l.joint != NULL ? l.joint : "");
    }
    if (j->type == URDF_FIXED) {
        return urdf_note(u, element, "mimic of a fixed joint");
    }
    if (!has_one_coordinate(j) || !has_one_coordinate(&u->joint[other])) {
        return form_fail(u->xml, element, "joint", "only joints with one coordinate can mimic");
    }
    def.kind = ZW_EQUALITY_JOINT;
    def.name = j->name;
    def.first = j->joint;
    def.second = u->joint[other].joint;
    def.poly[0] = l.offset;
    def.poly[1] = l.multiplier;
    def.place = xml_place(u->xml, element);
    return urdf_add(u, ZW_KIND_EQUALITY, &def, NULL);
}

/* ---- Neighbours do not touch ----------------------------------------------------------------- */

/* The uppermost link that is connected to this one by fixed joints. */
static int rigid_group(const urdf *u, int link)
{
    while (u->link[link].joint >= 0 && u->joint[u->link[link].joint].type == URDF_FIXED) {
        link = u->joint[u->link[link].joint].parent;
    }
    return link;
}

/* Links on two sides of a joint overlap there, so contacts between them are excluded. For moving
 * links that holds for all robots; here also for a fixed base. A floating link is connected to
 * nothing. */
static int exclude_neighbours(urdf *u, const urdf_joint *j)
{
    int base = rigid_group(u, j->parent), child = rigid_group(u, j->child);
    if (j->type == URDF_FIXED || j->type == URDF_FLOATING || u->link[base].joint >= 0 ||
        u->link[base].free) {
        return 1;
    }
    for (int i = 0; i < u->link_count; i++) {
        if (rigid_group(u, i) != base || u->link[i].body == 0) {
            continue;
        }
        for (int k = 0; k < u->link_count; k++) {
            zw_exclude_def def = zw_exclude_default();
            def.body1 = u->link[i].body;
            def.body2 = u->link[k].body;
            def.place = xml_place(u->xml, j->element);
            if (rigid_group(u, k) == child && !urdf_add(u, ZW_KIND_EXCLUDE, &def, NULL)) {
                return 0;
            }
        }
    }
    return 1;
}

/* <mujoco> gives rules for masses, the folder of meshes, time step and gravity. */
static int read_mujoco(urdf *u, int root)
{
    zw_world_def *world = &u->model->bodies->world;
    int mujoco = urdf_child(u, root, "mujoco");
    int compiler = mujoco >= 0 ? urdf_child(u, mujoco, "compiler") : -1;
    int option = mujoco >= 0 ? urdf_child(u, mujoco, "option") : -1;
    u->compiler = (urdf_compiler){.world = *world};
    u->compiler.world.from_geoms = 0;
    if (compiler >= 0 &&
        !form_apply(u->xml, compiler, urdf_compiler_rows, &u->compiler, &u->compiler.given)) {
        return 0;
    }
    *world = u->compiler.world;
    return option < 0 || form_apply(u->xml, option, mjcf_option_rows, world, &u->compiler.given);
}

/* Unexpanded xacro macros are refused. */
static int is_expanded(urdf *u, int root)
{
    for (int i = root; i < u->xml->count; i++) {
        if (strncmp(u->xml->element[i].name, "xacro:", 6) == 0) {
            return form_fail(
                u->xml, i, NULL,
                "this file has xacro macros; expand them first: xacro %.200s > robot.urdf",
                u->home + read_path_folder(u->home));
        }
    }
    return 1;
}

int urdf_read(xml_tree *xml, int root, const robot_limits *limits)
{
    urdf u = {.xml = xml, .model = xml->model, .limits = *limits, .root = root};
    u.home = u.model->file[xml->element[root].file].name;
    model_bodies *bodies = model_bodies_of(u.model);
    int ok = bodies != NULL ? is_expanded(&u, root) && form_check(xml, root, &urdf_form, 1)
                            : xml_no_memory(xml);
    ok = ok && read_mujoco(&u, root) && list_all(&u, root) && has_root(&u, root) && make_trees(&u);
    for (int i = 0; ok && i < u.joint_count; i++) {
        ok = mimic(&u, &u.joint[i]) && exclude_neighbours(&u, &u.joint[i]);
    }
    int own = xml->element[root].file == 0; /* an imported robot does not name the system */
    const char *title = ok && own ? xml_value(xml, root, "name") : NULL;
    if (title != NULL && u.model->title == NULL) {
        u.model->title = model_text_copy(title, strlen(title));
        ok = u.model->title != NULL || xml_no_memory(xml);
    }
    base_free(u.link);
    base_free(u.joint);
    return ok;
}
