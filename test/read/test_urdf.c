/* What URDF means. */
#include <stdlib.h>
#include <unistd.h>

#include "robots.h"

/* On request what is only seen becomes geoms that neither touch nor weigh; what is broken or not
 * there is left out. */
static void visuals(void **state)
{
    (void)state;
    static const char text[] =
        "<robot name='r'><material name='red'><color rgba='1 0 0 1'/></material><link name='a'>"
        "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
        "</inertial><collision><geometry><sphere radius='1'/></geometry></collision>"
        "<visual><origin xyz='0 0 2'/><geometry><box size='2 4 6'/></geometry>"
        "<material name='red'/></visual>"
        "<visual><geometry><sphere radius='2'/></geometry>"
        "<material name='own'><color rgba='0 1 0 .5'/></material></visual>"
        "<visual><geometry><mesh filename='package://nowhere/x.dae'/></geometry></visual>"
        "<visual><geometry><teapot/></geometry></visual><visual/></link></robot>";
    zw_error error;
    zw_file file = {.name = "r.urdf", .bytes = text, .size = sizeof text - 1};
    zw_read_options options = {.files = &file, .file_count = 1};
    zw_model *m = zw_model_read("r.urdf", &options, &error);
    assert_non_null(m);
    assert_int_equal(zw_model_count(m, ZW_KIND_GEOM), 1);
    zw_model_free(m);

    options.visuals = 1;
    m = zw_model_read("r.urdf", &options, &error);
    assert_non_null(m);
    assert_int_equal(zw_model_count(m, ZW_KIND_GEOM), 3);
    const zw_geom_def *touching = zw_model_def(m, ZW_KIND_GEOM, 0),
                      *box = zw_model_def(m, ZW_KIND_GEOM, 1),
                      *ball = zw_model_def(m, ZW_KIND_GEOM, 2);
    assert_int_equal(touching->group, 3);
    assert_int_equal(touching->contype, 1);
    assert_int_equal(box->group, 1);
    assert_int_equal(box->contype | box->conaffinity, 0);
    assert_true(box->mass == 0);
    ASSERT_VECTOR(box->pos, 0, 0, 2);
    ASSERT_VECTOR(box->size, 1, 2, 3);
    ASSERT_VECTOR(box->rgba, 1, 0, 0, 1);
    ASSERT_VECTOR(ball->rgba, 0, 1, 0, 0.5);
    zw_model_free(m);
}

static void the_arm(void **state)
{
    (void)state;
    zw_error error;
    zw_model *m = zw_model_read(ZW_SOURCE_DIR "/test/read/urdf/arm.urdf", NULL, &error);
    if (m == NULL) {
        print_error("%s:%d: %s\n", error.file, error.line, error.text);
    }
    assert_non_null(m);
    assert_string_equal(m->title, "arm");

    /* bodies from the root on, the link named world being the world */
    const char *order[] = {"world", "base", "upper", "lower", "finger_left", "finger_right"};
    assert_int_equal(zw_model_count(m, ZW_KIND_BODY), 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(zw_model_find(m, ZW_KIND_BODY, order[i]), i);
    }
    assert_int_equal(zw_model_count(m, ZW_KIND_JOINT), 4);
    const zw_joint_def *s = thing(m, ZW_KIND_JOINT, "shoulder");
    assert_int_equal(s->kind, ZW_JOINT_HINGE);
    ASSERT_VECTOR(s->axis, 0, 1, 0);
    ASSERT_VECTOR(s->range, -1, 2);
    ASSERT_VECTOR(s->force_range, -30, 30);
    ASSERT_CLOSE(s->damping, 0.5);
    ASSERT_CLOSE(s->frictionloss, 0.1);
    const zw_joint_def *e = thing(m, ZW_KIND_JOINT, "elbow");
    assert_int_equal(e->limited, 0);
    ASSERT_VECTOR(e->axis, 1, 0, 0);

    /* R = Rz(yaw) Ry(pitch) Rx(roll): where x goes */
    const zw_body_def *upper = thing(m, ZW_KIND_BODY, "upper");
    double x[3] = {1, 0, 0}, r = 0.3, p = -0.4, y = 0.5;
    model_rotate(upper->quat, x, x);
    ASSERT_VECTOR(x, cos(y) * cos(p), sin(y) * cos(p), -sin(p));
    double z[3] = {0, 0, 1};
    model_rotate(upper->quat, z, z);
    ASSERT_CLOSE(z[2], cos(p) * cos(r));
    ASSERT_CLOSE(upper->mass, 2);
    ASSERT_VECTOR(upper->inertia, 0.3, 0.25, 0.2, 0.01, 0.02, -0.01);

    /* grip_right = 0.03 - 2 grip_left */
    const zw_equality_def *mimic = thing(m, ZW_KIND_EQUALITY, "grip_right");
    assert_int_equal(mimic->kind, ZW_EQUALITY_JOINT);
    ASSERT_VECTOR(mimic->poly, 0.03, -2, 0, 0, 0);
    assert_int_equal(mimic->second, zw_model_find(m, ZW_KIND_JOINT, "grip_left"));

    /* shapes: half sizes, no mass; the mirrored mesh keeps its faces outward */
    assert_int_equal(zw_model_count(m, ZW_KIND_GEOM), 6);
    const zw_geom_def *hat = thing(m, ZW_KIND_GEOM, "hat"), *rock = thing(m, ZW_KIND_GEOM, "rock");
    assert_int_equal(hat->shape, ZW_SHAPE_CONE);
    ASSERT_VECTOR(hat->size, 0.2, 0.2);
    assert_int_equal(rock->triangles, 1);
    const zw_geom_def *rod = thing(m, ZW_KIND_GEOM, "rod");
    ASSERT_VECTOR(rod->size, 0.05, 0.1, 0.5);
    zw_inertia in;
    assert_int_equal(model_mesh_inertia(zw_model_def(m, ZW_KIND_MESH, 1), 0, &in), 1);
    ASSERT_CLOSE(in.mass, 6e-3);
    zw_inertia list[6];
    assert_int_equal(zw_model_inertia(m, list, &error), ZW_OK);
    ASSERT_CLOSE(list[3].mass, 1);
    ASSERT_CLOSE(list[1].mass, 0);
    zw_model_free(m);
}

#define LINK(name)                                                                                 \
    "<link name='" name "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "   \
    "ixz='0' iyz='0'/></inertial></link>"

/* A planar joint moves in the plane across its axis and turns about it. */
static void planar_and_floating(void **state)
{
    (void)state;
    zw_model *m =
        robot_from("<robot name='r'><link name='base'/>" LINK("table")
                       LINK("bird") "<joint name='p' type='planar'><parent link='base'/><child "
                                    "link='table'/><axis xyz='0 1 0'/></joint>"
                                    "<joint name='f' type='floating'><parent link='base'/><child "
                                    "link='bird'/><origin xyz='1 2 3'/></joint></robot>");
    assert_int_equal(zw_model_count(m, ZW_KIND_JOINT), 4);
    const zw_joint_def *x = thing(m, ZW_KIND_JOINT, "p_x"), *y = thing(m, ZW_KIND_JOINT, "p_y"),
                       *t = thing(m, ZW_KIND_JOINT, "p_turn");
    assert_true(fabs(x->axis[1]) < 1e-15 && fabs(y->axis[1]) < 1e-15);
    assert_true(fabs(model_dot(x->axis, y->axis)) < 1e-15);
    ASSERT_VECTOR(t->axis, 0, 1, 0);
    const zw_body_def *bird = thing(m, ZW_KIND_BODY, "bird");
    assert_int_equal(bird->parent, 0);
    ASSERT_VECTOR(bird->pos, 1, 2, 3);
    zw_model_free(m);
}

static void notes_of_urdf(void **state)
{
    (void)state;
    zw_model *m = robot_from("<robot name='r'><link name='a'><visual><geometry><box size='1 1 "
                             "1'/></geometry></visual></link><gazebo><x>y</x></gazebo></robot>");
    assert_int_equal(zw_model_note_count(m), 2);
    assert_string_equal(zw_model_note(m, 0).text, "visual");
    assert_string_equal(zw_model_note(m, 1).text, "gazebo");
    zw_model_free(m);
}

/* Other tools add words of their own: they are noted. A slip for a word that counts is a mistake.
 */
static void words_of_other_tools(void **state)
{
    (void)state;
    const char *form = "<robot name='r'><link name='a' color='red'><%s><mass value='1'/><inertia "
                       "ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></%s><collision><geometry>"
                       "<sphere radius='1'/></geometry><material name='m'/></collision></link>"
                       "<link name='b'/><joint name='j' type='fixed' dont_collapse='1'><parent "
                       "link='a'/><child link='b'/><joint_properties damping='1'><x/>"
                       "</joint_properties></joint><sdf><limit/></sdf></robot>";
    char text[1000];
    snprintf(text, sizeof text, form, "inertial", "inertial");
    zw_model *m = robot_from(text);
    const char *noted[] = {"link color", "material", "joint dont_collapse", "joint_properties",
                           "sdf"};
    assert_int_equal(zw_model_note_count(m), 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(zw_model_note(m, i).text, noted[i]);
    }
    zw_model_free(m);

    zw_error error;
    snprintf(text, sizeof text, form, "intertial", "intertial");
    assert_null(zw_model_parse(text, ZW_SOURCE_DIR "/test/read/test.xml", NULL, &error));
    assert_non_null(strstr(error.text, "did you mean 'inertial'?"));
}

#define LOOSE ZW_SOURCE_DIR "/test/read/urdf/loose.urdf"

static zw_model *read_loose(const zw_read_options *options)
{
    zw_error error;
    zw_model *m = zw_model_read(LOOSE, options, &error);
    if (m == NULL) {
        print_error("%s:%d: %s\n", error.file, error.line, error.text);
    }
    assert_non_null(m);
    return m;
}

static int is_noted(const zw_model *m, const char *part)
{
    int found = 0;
    for (int i = 0; i < zw_model_note_count(m); i++) {
        found |= strstr(zw_model_note(m, i).text, part) != NULL;
    }
    return found;
}

/* What other tools leave out or write otherwise is taken as they mean it, and listed. */
static void files_of_other_tools(void **state)
{
    (void)state;
    zw_model *m = read_loose(NULL);
    ASSERT_CLOSE(zw_model_world(m)->timestep, 0.004);

    /* roots: the base has joints and stands, the ball has none and is free, the wall has no mass */
    assert_int_equal(zw_model_count(m, ZW_KIND_JOINT), 3);
    const zw_joint_def *free_ball = thing(m, ZW_KIND_JOINT, "ball_free_joint");
    assert_int_equal(free_ball->kind, ZW_JOINT_FREE);
    assert_int_equal(free_ball->body, zw_model_find(m, ZW_KIND_BODY, "ball"));
    const zw_joint_def *turn = thing(m, ZW_KIND_JOINT, "turn");
    assert_int_equal(turn->limited, 0);
    ASSERT_VECTOR(turn->force_range, -10, 10);
    const zw_joint_def *wrist = thing(m, ZW_KIND_JOINT, "wrist");
    assert_int_equal(wrist->kind, ZW_JOINT_BALL);
    const zw_body_def *post = thing(m, ZW_KIND_BODY, "post");
    assert_int_equal(post->parent, 0);

    /* a plane's z is its normal */
    assert_int_equal(zw_model_count(m, ZW_KIND_GEOM), 3);
    const zw_geom_def *plane = zw_model_def(m, ZW_KIND_GEOM, 2);
    double z[3] = {0, 0, 1};
    assert_int_equal(plane->shape, ZW_SHAPE_PLANE);
    model_rotate(plane->quat, z, z);
    ASSERT_VECTOR(z, 0, 1, 0);
    ASSERT_VECTOR(plane->pos, 0, -5, 0);

    /* moments that no body has are replaced by their mean, as <compiler> asks */
    zw_inertia list[7];
    zw_error error;
    assert_int_equal(zw_model_inertia(m, list, &error), ZW_OK);
    int arm = zw_model_find(m, ZW_KIND_BODY, "arm");
    ASSERT_VECTOR(list[arm].moment, 0.2, 0.2, 0.2);

    assert_true(is_noted(m, "limit without a range"));
    assert_true(is_noted(m, "mesh 'package://stones/box.stl'"));
    assert_true(is_noted(m, "mimic of a fixed joint"));
    assert_true(is_noted(m, "inertia iyx"));
    zw_model_free(m);
}

/* A mesh that is not there matters to contacts only; and it is there if the package is named. */
static void missing_meshes(void **state)
{
    (void)state;
    zw_package stones = {"stones", ZW_SOURCE_DIR "/test/read/urdf/meshes"};
    zw_read_options options = {.packages = &stones, .package_count = 1};
    for (int named = 0; named < 2; named++) {
        zw_error error;
        zw_model *m = read_loose(named ? &options : NULL);
        zw_system *system = zw_system_compile(m, NULL, &error);
        assert_non_null(system);
        zw_work *work = zw_work_create(system, &error);
        zw_state *start = zw_state_create(system, work, NULL, &error);
        zw_run_options plan, by_hand = {.method = ZW_METHOD_DOP853};
        assert_int_equal(zw_model_count(m, ZW_KIND_GEOM), 3 + named);
        assert_int_equal(zw_run_plan(system, start, NULL, &plan, &error),
                         named ? ZW_OK : ZW_BAD_INPUT);
        assert_true(named || strstr(error.text, "package://stones/box.stl") != NULL);
        assert_int_equal(zw_run_plan(system, start, &by_hand, &plan, &error), ZW_OK);
        zw_state_free(start);
        zw_work_free(work);
        zw_system_free(system);
        zw_model_free(m);
    }
}

/* The base is fixed or free, as the caller says. */
static void base_of_the_robot(void **state)
{
    (void)state;
    static const int joints[] = {[ZW_BASE_DEFAULT] = 3, [ZW_BASE_FIXED] = 2, [ZW_BASE_FREE] = 4};
    for (zw_base base = ZW_BASE_DEFAULT; base <= ZW_BASE_FREE; base++) {
        zw_read_options options = {.base = base};
        zw_model *m = read_loose(&options);
        assert_int_equal(zw_model_count(m, ZW_KIND_JOINT), joints[base]);
        assert_int_equal(zw_model_find(m, ZW_KIND_JOINT, "base_free_joint") >= 0,
                         base == ZW_BASE_FREE);
        zw_model_free(m);
    }
    zw_error error;
    zw_read_options wrong = {.base = ZW_BASE_FREE};
    assert_null(zw_model_read(ZW_SOURCE_DIR "/test/read/everything.xml", &wrong, &error));
    assert_non_null(strstr(error.text, "for URDF"));
    assert_null(zw_model_read(ZW_SOURCE_DIR "/examples/pendulum.zw", &wrong, &error));
    assert_non_null(strstr(error.text, "imports none"));
    zw_model *m = zw_model_parse("import \"loose.urdf\"\nground z = -9",
                                 ZW_SOURCE_DIR "/test/read/urdf/x.zw", &wrong, &error);
    assert_non_null(m);
    assert_true(zw_model_find(m, ZW_KIND_JOINT, "base_free_joint") >= 0);
    zw_model_free(m);
}

/* A robot whose only shape is missing touches nothing, so it runs without contacts, until there is
 * a ground. */
static void missing_shape_and_ground(void **state)
{
    (void)state;
    static const char *const text[] = {"import \"bare.urdf\"",
                                       "import \"bare.urdf\"\nground z = -9"};
    for (int ground = 0; ground < 2; ground++) {
        zw_error error;
        zw_model *m =
            zw_model_parse(text[ground], ZW_SOURCE_DIR "/test/read/urdf/x.zw", NULL, &error);
        assert_non_null(m);
        zw_system *system = zw_system_compile(m, NULL, &error);
        zw_work *work = zw_work_create(system, &error);
        zw_state *start = zw_state_create(system, work, NULL, &error);
        zw_run_options plan;
        assert_int_equal(zw_run_plan(system, start, NULL, &plan, &error),
                         ground ? ZW_BAD_INPUT : ZW_OK);
        assert_true(!ground || strstr(error.text, "package://stones/none.stl") != NULL);
        zw_state_free(start);
        zw_work_free(work);
        zw_system_free(system);
        zw_model_free(m);
    }
}

/* roof.dae: a box of 2 x 1 x 1 m, turned by 90 degrees about z and shifted by 0.1 m, and a corner
 * of a cube of 3 m, 5 m up; in centimetres, as polygons and as a strip, through nodes in nodes. */
static void collada(void **state)
{
    (void)state;
    zw_error error;
    zw_model *m = zw_model_read(ZW_SOURCE_DIR "/test/read/urdf/roof.urdf", NULL, &error);
    assert_non_null(m);
    const zw_mesh_def *mesh = zw_model_def(m, ZW_KIND_MESH, 0);
    assert_int_equal(mesh->vertex_count, 12);
    assert_int_equal(mesh->face_count, 16);
    zw_inertia in;
    assert_int_equal(model_mesh_inertia(mesh, ZW_MESH_EXACT, &in), 1);
    const double box = 2, tip = 27.0 / 6;
    ASSERT_CLOSE(in.mass, box + tip);
    ASSERT_CLOSE(in.com[0], (box * -0.4 + tip * 0.75) / (box + tip));
    ASSERT_CLOSE(in.com[1], (box * 1 + tip * 0.75) / (box + tip));
    ASSERT_CLOSE(in.com[2], (box * 0.5 + tip * 5.75) / (box + tip));
    zw_model_free(m);
}

/* Links that share a joint overlap in it: they do not touch, be it the base and what is fixed to
 * it; what is one joint farther does. */
static void neighbours_of_the_base(void **state)
{
    (void)state;
#define SOLID(name)                                                                                \
    "<link name='" name "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "   \
    "ixz='0' iyz='0'/></inertial><collision><geometry><sphere "                                    \
    "radius='1'/></geometry></collision></link>"
#define JOIN(name, type, from, to)                                                                 \
    "<joint name='" name "' type='" type "'><parent link='" from "'/><child link='" to "'/></"     \
    "joint>"
    zw_model *m =
        robot_from("<robot name='r'>" SOLID("base") SOLID("plate") SOLID("arm") SOLID("cuff")
                       SOLID("hand") JOIN("p", "fixed", "base", "plate")
                           JOIN("a", "continuous", "base", "arm") JOIN("c", "fixed", "arm", "cuff")
                               JOIN("h", "continuous", "arm", "hand") "</robot>");
#undef SOLID
#undef JOIN
    const char *wanted[4][2] = {
        {"base", "arm"}, {"base", "cuff"}, {"plate", "arm"}, {"plate", "cuff"}};
    assert_int_equal(zw_model_count(m, ZW_KIND_EXCLUDE), 4);
    for (int i = 0; i < 4; i++) {
        const zw_exclude_def *def = zw_model_def(m, ZW_KIND_EXCLUDE, i);
        assert_int_equal(def->body1, zw_model_find(m, ZW_KIND_BODY, wanted[i][0]));
        assert_int_equal(def->body2, zw_model_find(m, ZW_KIND_BODY, wanted[i][1]));
    }
    zw_model_free(m);
}

/* Friction and restitution as Bullet reads them; a collision may say its own. */
static void contact_of_urdf(void **state)
{
    (void)state;
    zw_model *m = robot_from(
        "<robot name='r'><link name='a'><contact><lateral_friction value='0.3'/><rolling_friction "
        "value='0.02'/><restitution value='0.5'/><stiffness value='9'/></contact>"
        "<collision name='one'><geometry><sphere radius='1'/></geometry></collision>"
        "<collision name='two'><geometry><sphere radius='1'/></geometry>"
        "<contact_coefficients mu='0.7' kp='1'/></collision></link></robot>");
    const zw_geom_def *one = thing(m, ZW_KIND_GEOM, "one"), *two = thing(m, ZW_KIND_GEOM, "two");
    ASSERT_VECTOR(one->friction, 0.3, 0, 0.02);
    assert_int_equal(one->condim, 6);
    ASSERT_CLOSE(one->restitution, 0.5);
    ASSERT_VECTOR(two->friction, 0.7, 0, 0.02);
    assert_int_equal(zw_model_note_count(m), 3); /* stiffness, kp, and that shapes have no mass */
    zw_model_free(m);
}

/* A link without an inertial has no mass, which is said where shapes could have given it one. */
static void shapes_without_mass_are_named(void **state)
{
    (void)state;
    static const char *const shape =
        "<collision><geometry><sphere radius='1'/></geometry></collision>";
    for (int k = 0; k < 3; k++) {
        char text[400];
        snprintf(text, sizeof text, "<robot name='r'><link name='a'>%s%s</link></robot>",
                 k == 1 ? "<inertial><mass value='0'/></inertial>" : "", k == 2 ? "" : shape);
        zw_model *m = robot_from(text);
        assert_int_equal(zw_model_note_count(m), k == 0);
        if (k == 0) {
            assert_non_null(strstr(zw_model_note(m, 0).text, "without <inertial>"));
        }
        zw_model_free(m);
    }
}

#define BALL(name, inside)                                                                         \
    "<link name='" name "'>" inside                                                                \
    "<collision><geometry><sphere radius='0.1'/></geometry></collision></link>"
#define MASS(number) "<inertial><mass value='" number "'/></inertial>"

static zw_model *parts(const char *text, int balance, zw_error *error)
{
    char path[] = "/tmp/zwang_parts_XXXXXX.urdf";
    int handle = mkstemps(path, 5);
    assert_true(handle >= 0);
    assert_int_equal(write(handle, text, strlen(text)), (ssize_t)strlen(text));
    close(handle);
    zw_read_options options = {.balance_inertia = balance, .base = ZW_BASE_FREE};
    zw_model *m = zw_model_read(path, &options, error);
    remove(path);
    return m;
}

/* Balls of 0.1 m: of the density that is said; of water, or of the mass that is given, where that
 * was asked for, and else refused with the way out. */
static void shapes_that_weigh(void **state)
{
    (void)state;
    const double volume = 4.0 / 3 * acos(-1) * 1e-3;
    const char *dense =
        "<robot name='r'>" BALL("a", "<inertial><density value='300'/></inertial>") "</robot>";
    const char *two = "<robot name='r'>" BALL("a", "") BALL("b", MASS("3")) "</robot>";
    zw_error error;
    zw_inertia list[3];
    zw_model *m = parts(dense, 0, &error);
    assert_non_null(m);
    assert_int_equal(zw_model_inertia(m, list, &error), ZW_OK);
    ASSERT_CLOSE(list[1].mass, 300 * volume);
    ASSERT_CLOSE(list[1].moment[0], 0.4 * 300 * volume * 0.01);
    zw_model_free(m);

    assert_null(parts(two, 0, &error));
    assert_non_null(strstr(error.text, "--balance"));
    m = parts(two, 1, &error);
    assert_non_null(m);
    assert_int_equal(zw_model_inertia(m, list, &error), ZW_OK);
    ASSERT_CLOSE(list[1].mass, 1000 * volume);
    ASSERT_CLOSE(list[2].mass, 3);
    ASSERT_CLOSE(list[2].moment[2], 0.4 * 3 * 0.01);
    assert_true(is_noted(m, "without <inertial>"));
    assert_true(is_noted(m, "mass without moments"));
    zw_model_free(m);
}

/* A tetrahedron whose floor is missing, seen from its top so that the pyramids of its faces cancel
 * or not as they like: with --balance it weighs as its hull, with the moments of one of 3 kg. */
static void meshes_that_are_open(void **state)
{
    (void)state;
    char mesh[] = "/tmp/zwang_open_XXXXXX.obj", text[1000];
    int handle = mkstemps(mesh, 4);
    assert_true(handle >= 0);
    static const char obj[] =
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 3\nf 2 3 4\nf 2 4 3\n";
    assert_int_equal(write(handle, obj, sizeof obj - 1), (ssize_t)sizeof obj - 1);
    close(handle);
    snprintf(
        text, sizeof text,
        "<robot name='r'><link name='a'>" MASS("3") "<collision><geometry><mesh filename='%s'/>"
                                                    "</geometry></collision></link></robot>",
        mesh);
    zw_error error;
    zw_inertia list[2];
    assert_null(parts(text, 0, &error));
    zw_model *m = parts(text, 1, &error);
    assert_non_null(m);
    assert_int_equal(zw_model_inertia(m, list, &error), ZW_OK);
    ASSERT_CLOSE(list[1].mass, 3);
    /* int x^2 = V/10, int x = V/4: 3 (1/10 - 1/16) * 2 about an axis; products -3 (1/20 - 1/16) */
    double own = 6 * (0.1 - 0.0625), mixed = -3 * (0.05 - 0.0625);
    ASSERT_CLOSE(list[1].moment[0] + list[1].moment[1] + list[1].moment[2], 3 * own);
    double least = fmin(list[1].moment[0], fmin(list[1].moment[1], list[1].moment[2]));
    ASSERT_CLOSE(least, fmin(own - mixed, own + 2 * mixed));
    zw_model_free(m);
    remove(mesh);
}

#define MOMENTS(x, y, z)                                                                           \
    "<inertial><mass value='1'/><inertia ixx='" x "' iyy='" y "' izz='" z                          \
    "' ixy='0' ixz='0' iyz='0'/></inertial>"

/* Moments that no body has: in a link that is fast to another one only their sum counts. */
static void moments_of_fast_links(void **state)
{
    (void)state;
    static const char form[] = "<robot name='r'><link name='a'>" MOMENTS(
        "2", "2",
        "2") "</link><link name='b'>%s</link>"
             "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint></robot>";
    static const struct {
        const char *inertial;
        int read;
    } trial[] = {{MOMENTS("0.1", "0.1", "1"), 1},  /* 2.1 2.1 3 */
                 {MOMENTS("-0.1", "0.1", "0"), 1}, /* 1.9 2.1 2 */
                 {MOMENTS("0.1", "0.1", "9"), 0},  /* 2.1 2.1 11 */
                 {MOMENTS("-3", "2", "2"), 0}};    /* -1 4 4 */
    for (size_t i = 0; i < sizeof trial / sizeof *trial; i++) {
        char text[2000];
        zw_error error;
        snprintf(text, sizeof text, form, trial[i].inertial);
        zw_model *m = parts(text, 0, &error);
        assert_int_equal(m != NULL, trial[i].read);
        assert_true(m != NULL || strstr(error.text, "body 'b'") != NULL);
        zw_model_free(m);
    }
}

/* Words of Drake; a sphere that is a point; a package without a name before its path. */
static void shapes_of_drake(void **state)
{
    (void)state;
    zw_model *m = robot_from(
        "<robot name='r'><link name='a'>"
        "<collision name='e'><geometry><drake:ellipsoid a='1' b='2' c='3'/></geometry></collision>"
        "<collision name='c'><geometry><drake:capsule radius='1' "
        "length='4'/></geometry></collision>"
        "<collision name='p'><geometry><sphere radius='0'/></geometry></collision>"
        "<collision name='b'><geometry><box size='0 0 0'/></geometry></collision></link></robot>");
    const zw_geom_def *e = thing(m, ZW_KIND_GEOM, "e"), *c = thing(m, ZW_KIND_GEOM, "c");
    assert_int_equal(e->shape, ZW_SHAPE_ELLIPSOID);
    ASSERT_VECTOR(e->size, 1, 2, 3);
    assert_int_equal(c->shape, ZW_SHAPE_CAPSULE);
    ASSERT_VECTOR(c->size, 1, 2);
    const zw_geom_def *p = thing(m, ZW_KIND_GEOM, "p");
    assert_true(p->size[0] > 0 && p->size[0] <= 1e-6);
    assert_true(is_noted(m, "sphere without size"));
    const zw_geom_def *b =
        zw_model_def(m, ZW_KIND_GEOM, model_find_part(m->bodies, ZW_KIND_GEOM, "b"));
    assert_true(b->shape == ZW_SHAPE_SPHERE && b->size[0] == p->size[0]);
    assert_true(is_noted(m, "box without size"));
    zw_model_free(m);
}

/* What is no robot file for us, and what to do. */
static void files_that_are_not_read(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *message;
    } file[] = {
        {"robot.urdf.xacro", "<robot name='r'><xacro:arm/></robot>",
         "xacro robot.urdf.xacro > robot.urdf"},
        {"a.urdf",
         "<robot name='r'><link name='a'><inertial><mass value='${m}'/></inertial></link></robot>",
         "let xacro expand"},
        {"a.sdf", "<sdf version='1.6'/>", "SDF files are not read"},
        {"a.world", "<sdf version='1.6'/>", "SDF files are not read"}};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        zw_error error;
        assert_null(zw_model_parse(file[i].text, file[i].name, NULL, &error));
        assert_non_null(strstr(error.text, file[i].message));
    }
    zw_error error;
    assert_null(zw_model_read("/nowhere/a.usda", NULL, &error));
    assert_non_null(strstr(error.text, "USD files are not read"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visuals),
        cmocka_unit_test(the_arm),
        cmocka_unit_test(planar_and_floating),
        cmocka_unit_test(notes_of_urdf),
        cmocka_unit_test(words_of_other_tools),
        cmocka_unit_test(files_of_other_tools),
        cmocka_unit_test(missing_meshes),
        cmocka_unit_test(base_of_the_robot),
        cmocka_unit_test(missing_shape_and_ground),
        cmocka_unit_test(collada),
        cmocka_unit_test(neighbours_of_the_base),
        cmocka_unit_test(contact_of_urdf),
        cmocka_unit_test(shapes_without_mass_are_named),
        cmocka_unit_test(shapes_that_weigh),
        cmocka_unit_test(meshes_that_are_open),
        cmocka_unit_test(moments_of_fast_links),
        cmocka_unit_test(shapes_of_drake),
        cmocka_unit_test(files_that_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
