/* What MJCF means, by facts that need no other engine; read/compare_mjcf compares with MuJoCo. */
#include "robots.h"

#include <stdlib.h>

#include "read/robot/robot.h"

#define PI 3.14159265358979323846

static void units_follow_the_compiler(void **state)
{
    (void)state;
    const char *body = "<worldbody><body><joint name='h' range='-90 180' ref='90' springref='30'/>"
                       "<joint name='s' type='slide' range='-1 2' ref='3'/>"
                       "<geom type='box' size='1 1 1' euler='0 0 90'/></body></worldbody>";
    zw_model *m = mjcf_from(body);
    const zw_joint_def *h = thing(m, ZW_KIND_JOINT, "h"), *s = thing(m, ZW_KIND_JOINT, "s");
    assert_true(h->limited && s->limited); /* autolimits */
    ASSERT_VECTOR(h->range, -PI / 2, PI);
    ASSERT_CLOSE(h->ref, PI / 2);
    ASSERT_CLOSE(h->springref, PI / 6);
    ASSERT_VECTOR(s->range, -1, 2);
    ASSERT_CLOSE(s->ref, 3);
    ASSERT_VECTOR(m->bodies->geom[0].quat, sqrt(0.5), 0, 0, sqrt(0.5));
    zw_model_free(m);

    m = mjcf_from("<compiler angle='radian'/><worldbody><body><joint name='h' range='-1 2'/>"
                  "<geom type='box' size='1 1 1' axisangle='0 0 5 1.5'/></body></worldbody>");
    h = thing(m, ZW_KIND_JOINT, "h");
    ASSERT_VECTOR(h->range, -1, 2);
    ASSERT_VECTOR(m->bodies->geom[0].quat, cos(0.75), 0, 0, sin(0.75));
    zw_model_free(m);
}

/* Frames are folded into what they hold, in any depth. */
static void frames_leave_no_trace(void **state)
{
    (void)state;
    zw_model *m =
        mjcf_from("<worldbody><frame pos='1 0 0' euler='0 0 90'><frame pos='1 0 0'>"
                  "<body name='b' pos='0 1 0'><joint name='j' axis='1 0 0'/>"
                  "<frame pos='0 0 3' quat='0 1 0 0'><joint name='k' type='slide' "
                  "axis='0 1 0' pos='1 1 1'/><geom name='g' type='box' size='1 1 1' "
                  "pos='1 0 0'/><site name='s'/></frame></body></frame></frame></worldbody>");
    const zw_body_def *b = thing(m, ZW_KIND_BODY, "b");
    ASSERT_VECTOR(b->pos, 0, 1, 0); /* 1 + R90 (1 + (0 1 0)) = (1,0,0) + (0,1,0) + (-1,0,0) */
    ASSERT_VECTOR(b->quat, sqrt(0.5), 0, 0, sqrt(0.5));
    const zw_joint_def *k = thing(m, ZW_KIND_JOINT, "k");
    ASSERT_VECTOR(k->axis, 0, -1, 0); /* half a turn about x */
    ASSERT_VECTOR(k->pos, 1, -1, 2);
    const zw_geom_def *g = thing(m, ZW_KIND_GEOM, "g");
    ASSERT_VECTOR(g->pos, 1, 0, 3);
    assert_int_equal(m->bodies->site[0].body, 1);
    zw_model_free(m);
}

static void replicate_makes_copies(void **state)
{
    (void)state;
    zw_model *m = mjcf_from("<worldbody><replicate count='2' offset='0 0 10' sep='_'>"
                            "<replicate count='12' offset='1 0 0' euler='0 0 90'>"
                            "<body name='b'><freejoint name='f'/><geom type='sphere' size='1'/>"
                            "</body></replicate></replicate></worldbody>");
    assert_int_equal(zw_model_count(m, ZW_KIND_BODY), 25);
    assert_int_equal(zw_model_count(m, ZW_KIND_JOINT), 24);
    const zw_body_def *b = thing(m, ZW_KIND_BODY, "b03_1"); /* the innermost number first */
    /* 1 x, then 1 y, then -1 x: each step in the frame of the copy before */
    ASSERT_VECTOR(b->pos, 0, 1, 10);
    b = thing(m, ZW_KIND_BODY, "b11_0");
    ASSERT_VECTOR(b->pos, 0, 1, 0);
    zw_model_free(m);
}

/* A body of another file, three times: with all that refers to nothing else, and no more. */
static void attached_models(void **state)
{
    (void)state;
    zw_model *m =
        mjcf_from("<asset><model name='bars' file='mjcf/loops.xml'/></asset><worldbody>"
                  "<replicate count='3' offset='0 5 0' sep='-'><frame pos='0 0 7'>"
                  "<attach model='bars' body='bar1' prefix='my '/></frame></replicate></worldbody>"
                  "<equality><joint name='own' joint1='my j1-0' joint2='my j1-2'/></equality>"
                  "<actuator><motor joint='my j2-1'/></actuator><keyframe><key qpos='1 2 3 4 5 "
                  "6'/></keyframe>");
    assert_int_equal(zw_model_count(m, ZW_KIND_BODY), 7);
    assert_int_equal(zw_model_count(m, ZW_KIND_JOINT), 6);
    assert_int_equal(zw_model_count(m, ZW_KIND_GEOM), 6);
    const zw_body_def *bar = thing(m, ZW_KIND_BODY, "my bar1-2");
    ASSERT_VECTOR(bar->pos, 0, 10, 7);
    const zw_body_def *inner = thing(m, ZW_KIND_BODY, "my bar2-2");
    assert_int_equal(inner->parent, zw_model_find(m, ZW_KIND_BODY, "my bar1-2"));
    ASSERT_VECTOR(inner->pos, 0, 0, 1);

    /* of its seven constraints, the one to the world and the gear go along; of its tendons t1 */
    assert_int_equal(zw_model_count(m, ZW_KIND_EQUALITY), 1 + 3 * 2);
    assert_int_equal(zw_model_count(m, ZW_KIND_TENDON), 3);
    assert_int_equal(zw_model_count(m, ZW_KIND_EXCLUDE), 3);
    assert_int_equal(zw_model_count(m, ZW_KIND_PAIR), 0);
    assert_int_equal(zw_model_find(m, ZW_KIND_EQUALITY, "own"), 0); /* this file's come first */
    const zw_equality_def *gear = thing(m, ZW_KIND_EQUALITY, "my gear-1");
    assert_int_equal(gear->first, zw_model_find(m, ZW_KIND_JOINT, "my j1-1"));
    assert_int_equal(gear->second, zw_model_find(m, ZW_KIND_JOINT, "my j2-1"));
    const zw_tendon_def *t = thing(m, ZW_KIND_TENDON, "my t1-2");
    assert_int_equal(t->joint[1], zw_model_find(m, ZW_KIND_JOINT, "my j2-2"));
    const zw_equality_def *nail = thing(m, ZW_KIND_EQUALITY, "my nail-0");
    assert_int_equal(nail->second, 0);
    zw_model_free(m);
}

static void notes_tell_what_has_no_effect(void **state)
{
    (void)state;
    zw_model *m = mjcf_from("<visual><map zfar='3'/></visual><worldbody>\n<light/>"
                            "<geom type='sphere' size='1' user='1'/>\n"
                            "<geom type='sphere' size='1' user='7'/></worldbody>");
    const char *wanted[] = {"visual", "map", "light", "geom user"};
    const int count[] = {1, 1, 1, 2}, line[] = {1, 1, 2, 2};
    assert_int_equal(zw_model_note_count(m), 4);
    for (int i = 0; i < 4; i++) {
        zw_note note = zw_model_note(m, i);
        assert_string_equal(note.text, wanted[i]);
        assert_int_equal(note.count, count[i]);
        assert_int_equal(note.line, line[i]);
    }
    assert_int_equal(zw_model_note(m, 4).count, 0);
    zw_model_free(m);
}

/* What changes MuJoCo's motion and not ours is marked, with the reason; a value that does not is
 * not. */
static void notes_tell_what_differs(void **state)
{
    static const struct {
        const char *text, *word;
        int differs;
    } list[] = {{"<option noslip_iterations='5'/>", "option noslip_iterations: ", 1},
                {"<option noslip_iterations='0'/>", "option noslip_iterations", 0},
                {"<option iterations='3'/>", "option iterations: ", 1},
                {"<option jacobian='dense'/>", "option jacobian", 0},
                {"<option><flag multiccd='disable'/></option>", "flag multiccd: ", 1},
                {"<option><flag warmstart='disable'/></option>", "flag warmstart", 0},
                {"<worldbody><body sleep='init'/></worldbody>", "body sleep: ", 1},
                {"<compiler fusestatic='true'/>", "compiler fusestatic: in a fluid", 1}};
    (void)state;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        zw_model *m = mjcf_from(list[k].text);
        assert_int_equal(zw_model_note_count(m), 1);
        zw_note note = zw_model_note(m, 0);
        assert_int_equal(strncmp(note.text, list[k].word, strlen(list[k].word)), 0);
        assert_int_equal(note.differs, list[k].differs);
        zw_model_free(m);
    }
}

/* Of a geom, its class, its material; three numbers are opaque; a picture has no one colour. */
static void colours(void **state)
{
    (void)state;
    zw_model *m = mjcf_from(
        "<default><default class='c'><geom rgba='0 0 1 .5'/></default></default>"
        "<asset><material name='red' rgba='1 0 0 1' specular='1' shininess='.5'/>"
        "<texture name='t' type='2d' builtin='checker' width='8' height='8'/>"
        "<material name='tiles' texture='t'/></asset><worldbody>"
        "<geom name='none' size='1'/><geom name='own' size='1' rgba='.1 .2 .3'/>"
        "<geom name='class' class='c' size='1'/><geom name='material' material='red' size='1'/>"
        "<geom name='both' material='red' rgba='0 1 0 1' size='1'/>"
        "<geom name='picture' material='tiles' size='1'/><geom name='empty' rgba='' size='1'/>"
        "</worldbody>");
    const struct {
        const char *name;
        double rgba[4], shine;
    } wanted[] = {{"none", {0.5, 0.5, 0.5, -1}, 0.25}, {"own", {0.1, 0.2, 0.3, 1}, 0.25},
                  {"class", {0, 0, 1, 0.5}, 0.25},     {"material", {1, 0, 0, 1}, 0.5},
                  {"both", {0, 1, 0, 1}, 0.5},         {"picture", {1, 1, 1, -1}, 0.25},
                  {"empty", {0.5, 0.5, 0.5, 1}, 0.25}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const zw_geom_def *g = thing(m, ZW_KIND_GEOM, wanted[i].name);
        assert_memory_equal(g->rgba, wanted[i].rgba, sizeof g->rgba);
        ASSERT_CLOSE(g->shine, wanted[i].shine);
    }
    zw_model_free(m);
}

/* A chain of bodies in each other, deeper than any stack of calls would like. */
static void deep_chains(void **state)
{
    (void)state;
    enum { N = 15000 };
    const char *open = "<body pos='0 0 1'><joint axis='0 1 0'/><geom type='sphere' size='.1'/>";
    char *text = malloc(N * (strlen(open) + 10) + 100), *at = text;
    assert_non_null(text);
    at += sprintf(at, "<mujoco><worldbody>");
    for (int i = 0; i < N; i++) {
        at += sprintf(at, "%s", open);
    }
    for (int i = 0; i < N; i++) {
        at += sprintf(at, "</body>");
    }
    sprintf(at, "</worldbody></mujoco>");
    zw_model *m = robot_from(text);
    assert_int_equal(zw_model_count(m, ZW_KIND_BODY), N + 1);
    assert_int_equal(m->bodies->body[N].parent, N - 1);
    assert_int_equal(m->bodies->joint[N - 1].body, N);
    zw_model_free(m);
    free(text);
}

static void flags_and_options(void **state)
{
    (void)state;
    zw_model *m = mjcf_from("<option integrator='implicitfast' cone='elliptic'><flag "
                            "contact='disable' passive='disable' gravity='enable'/></option>"
                            "<option gravity='1 2 3' timestep='.01'/>");
    const zw_world_def *w = zw_model_world(m);
    assert_int_equal(w->integrator, ZW_INTEGRATOR_IMPLICIT_FAST);
    assert_int_equal(w->elliptic, 1);
    assert_int_equal(w->without, ZW_WITHOUT_CONTACT | ZW_WITHOUT_SPRING | ZW_WITHOUT_DAMPER);
    ASSERT_VECTOR(w->gravity, 1, 2, 3);
    ASSERT_CLOSE(w->timestep, 0.01);
    zw_model_free(m);
}

/* What newer releases know and the MuJoCo of the tests does not. */
static void newer_words(void **state)
{
    (void)state;
    zw_model *m = mjcf_from(
        "<worldbody><body name='a' gravcomp='.5'><joint name='j' range='-1 3' actuatorfrcrange='-2 "
        "2'/><geom type='sphere' size='1'/><site name='s' pos='1 0 0'/></body><body name='b'>"
        "<joint name='k'/><geom type='sphere' size='1'/><site name='t' pos='0 1 0'/></body>"
        "</worldbody><equality><connect name='c' site1='s' site2='t'/><weld name='w' site1='s' "
        "site2='t'/></equality><compiler angle='radian'/><actuator><position name='p' joint='j' "
        "kp='4' kv='3' timeconst='.2' inheritrange='.5'/><position name='d' joint='j' kp='4' "
        "dampratio='1'/></actuator><sensor><jointactuatorfrc joint='j'/><e_kinetic/></sensor>");
    const zw_joint_def *j = thing(m, ZW_KIND_JOINT, "j");
    assert_true(j->force_limited);
    ASSERT_VECTOR(j->force_range, -2, 2);
    ASSERT_CLOSE(((const zw_body_def *)thing(m, ZW_KIND_BODY, "a"))->gravcomp, 0.5);
    const zw_equality_def *c = thing(m, ZW_KIND_EQUALITY, "c");
    assert_int_equal(c->placed, 1);
    ASSERT_VECTOR(c->pos1, 1, 0, 0);
    ASSERT_VECTOR(c->pos2, 0, 1, 0);
    const zw_actuator_def *p = thing(m, ZW_KIND_ACTUATOR, "p");
    assert_int_equal(p->dynamics, ZW_DYNAMICS_FILTER_EXACT);
    ASSERT_CLOSE(p->dyn_prm[0], 0.2);
    ASSERT_VECTOR(p->bias_prm, 0, -4, -3);
    ASSERT_VECTOR(p->ctrl_range, 0, 2); /* the middle of -1 3, half as wide */
    assert_true(p->ctrl_limited);
    ASSERT_CLOSE(((const zw_actuator_def *)thing(m, ZW_KIND_ACTUATOR, "d"))->damp_ratio, 1);
    zw_model_free(m);
}

/* A piston pushes with its area: given, or pi/4 of the square of its diameter. */
static void areas_of_cylinders(void **state)
{
    (void)state;
    zw_model *m =
        mjcf_from("<worldbody><body><joint name='j'/><geom type='sphere' size='1'/></body>"
                  "</worldbody><actuator><cylinder name='d' joint='j' diameter='.4'/>"
                  "<cylinder name='a' joint='j' area='.3'/></actuator>");
    const zw_actuator_def *d = thing(m, ZW_KIND_ACTUATOR, "d");
    assert_true(fabs(d->gain_prm[0] - 0.04 * acos(-1)) < 1e-15);
    ASSERT_CLOSE(((const zw_actuator_def *)thing(m, ZW_KIND_ACTUATOR, "a"))->gain_prm[0], 0.3);
    zw_model_free(m);
}

/* An orientation of the class gives way to the same kind of the element; numbers that the element
 * leaves out stay the class's. */
static void classes_are_written_over(void **state)
{
    (void)state;
    zw_model *m =
        mjcf_from("<default><geom euler='0 0 90' type='box' size='1 2 3' friction='5 6 7'/>"
                  "<default class='c'><geom size='4'/></default></default><worldbody>"
                  "<geom name='a'/><geom name='b' euler='0 0 0' class='c' friction='1'/>"
                  "</worldbody>");
    const zw_geom_def *a = thing(m, ZW_KIND_GEOM, "a"), *b = thing(m, ZW_KIND_GEOM, "b");
    ASSERT_VECTOR(a->quat, sqrt(0.5), 0, 0, sqrt(0.5));
    ASSERT_VECTOR(b->quat, 1, 0, 0, 0);
    ASSERT_VECTOR(b->size, 4, 2, 3);
    ASSERT_VECTOR(b->friction, 1, 6, 7);
    zw_model_free(m);
}

static void the_whole_file(void **state)
{
    (void)state;
    zw_error error;
    zw_model *m = zw_model_read(ZW_SOURCE_DIR "/test/read/everything.xml", NULL, &error);
    if (m == NULL) {
        print_error("%s:%d: %s\n", error.file, error.line, error.text);
    }
    assert_non_null(m);
    assert_string_equal(m->title, "everything");
    assert_int_equal(zw_model_count(m, ZW_KIND_BODY), 9);
    assert_int_equal(zw_model_find(m, ZW_KIND_BODY, "ball-2") > 0, 1);
    assert_int_equal(zw_model_find(m, ZW_KIND_BODY, "guest") > 0, 1);
    const zw_mesh_def *stl = zw_model_def(m, ZW_KIND_MESH, 0),
                      *obj = zw_model_def(m, ZW_KIND_MESH, 1),
                      *text = zw_model_def(m, ZW_KIND_MESH, 2);
    assert_int_equal(stl->vertex_count, 8); /* equal corners are one */
    assert_int_equal(stl->face_count, 12);
    assert_int_equal(obj->face_count, 12);
    assert_int_equal(text->vertex_count, 8);
    zw_inertia a, b, c;
    model_mesh_inertia(stl, 0, &a);
    model_mesh_inertia(text, 0, &b);
    model_mesh_inertia(obj, 0, &c);
    ASSERT_CLOSE(a.mass, 6);
    ASSERT_CLOSE(b.mass, 6);
    ASSERT_CLOSE(c.mass, 6e-3);
    /* a text is written as seen from above, like a picture, a file from the smallest y on */
    for (int k = 0; k < 3; k++) {
        static const char *const name[] = {"hill", "field", "painted"};
        const zw_hfield_def *field = zw_model_def(m, ZW_KIND_HFIELD, k);
        assert_string_equal(field->name, name[k]);
        assert_int_equal(field->rows, 2);
        assert_int_equal(field->columns, 3);
        ASSERT_VECTOR(field->half, 1, 2);
        ASSERT_CLOSE(field->base, 0.1);
        ASSERT_VECTOR(field->height, 0, 0.1, 0.2, 0.3, 0.4, 0.6);
    }
    const zw_geom_def *hat = zw_model_def(m, ZW_KIND_GEOM, zw_model_find(m, ZW_KIND_GEOM, "hat"));
    assert_int_equal(hat->shape, ZW_SHAPE_CONE);
    ASSERT_VECTOR(hat->size, 0.2, 1);
    ASSERT_VECTOR(hat->pos, 0, 0, 2);
    const zw_geom_def *rock = zw_model_def(m, ZW_KIND_GEOM, zw_model_find(m, ZW_KIND_GEOM, "rock"));
    assert_int_equal(rock->triangles, 1);
    zw_model_free(m);
}

/* Into a model that has a file of its own: folders are the robot's, the title is the model's. */
static void imported(void **state)
{
    (void)state;
    zw_error error;
    for (int k = 0; k < 2; k++) {
        zw_model *m = model_create();
        model_file *file = model_add_file(m);
        file->name = model_text_copy("/nowhere/a.zw", 13);
        file->text = model_text_copy("import \"robot.xml\"\n", 19);
        int place = model_add_place(m, 0, 1, 8, 11);
        const char *path = k == 0 ? ZW_SOURCE_DIR "/test/read/everything.xml"
                                  : ZW_SOURCE_DIR "/test/read/urdf/arm.urdf";
        assert_int_equal(robot_import(m, path, place, NULL, &error), ZW_OK);
        assert_true(zw_model_count(m, ZW_KIND_BODY) > 5);
        assert_null(m->title);
        assert_int_equal(m->place[m->bodies->body[1].place].file, 1);
        assert_int_equal(robot_import(m, path, place, NULL, &error), ZW_BAD_INPUT);
        zw_model_free(m);
    }
    zw_model *m = model_create();
    model_file *file = model_add_file(m);
    file->name = model_text_copy("a.zw", 4);
    file->text = model_text_copy("import \"robot.xml\"\n", 19);
    int place = model_add_place(m, 0, 1, 8, 11);
    assert_int_equal(robot_import(m, "nowhere.xml", place, NULL, &error), ZW_BAD_INPUT);
    assert_string_equal(error.file, "a.zw");
    assert_int_equal(error.column, 8);
    zw_model_free(m);
}

/* Neither parameters nor equations belong to a robot file. */
static void no_settings(void **state)
{
    (void)state;
    zw_error error;
    zw_setting setting = {"m", 1};
    assert_null(zw_model_parse("<mujoco/>", "a.xml",
                               &(zw_read_options){.settings = &setting, .setting_count = 1},
                               &error));
    assert_int_equal(error.status, ZW_BAD_INPUT);
}

/* What MJCF has no words for: of one geom before of all, and room for contacts. */
static void custom_numbers(void **state)
{
    (void)state;
    zw_model *m = robot_from(
        "<mujoco><custom><numeric name='restitution:a' data='0.5'/><numeric name='restitution' "
        "data='0.2'/><numeric name='contact_capacity' data='900'/><numeric name='mine' data='1'/>"
        "</custom><worldbody><geom name='a' size='1'/><geom name='b' "
        "size='1'/></worldbody></mujoco>");
    const zw_geom_def *a = thing(m, ZW_KIND_GEOM, "a"), *b = thing(m, ZW_KIND_GEOM, "b");
    ASSERT_CLOSE(a->restitution, 0.5);
    ASSERT_CLOSE(b->restitution, 0.2);
    assert_int_equal(zw_model_world(m)->contact_capacity, 900);
    assert_int_equal(zw_model_note_count(m), 1);
    zw_model_free(m);
}

/* Sensors that are not supported are listed, whatever they are mounted on. */
static void sensors_that_are_listed(void **state)
{
    (void)state;
    zw_model *m = robot_from(
        "<mujoco><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset><worldbody>"
        "<camera name='eye'/><body name='b'><joint name='j'/><geom name='g' type='mesh' mesh='m'/>"
        "</body></worldbody><sensor><framepos objtype='camera' objname='eye'/><framequat "
        "objtype='body' objname='b' reftype='camera' refname='eye'/><framepos objtype='geom' "
        "objname='g'/><jointpos joint='j' delay='0.01' nsample='2'/><jointpos joint='j' "
        "interval='0.1'/><jointpos joint='j' delay='0'/></sensor></mujoco>");
    assert_int_equal(zw_model_count(m, ZW_KIND_SENSOR), 1);
    static const char *const text[] = {"framepos camera (cameras are not read)",
                                       "framequat camera (cameras are not read)",
                                       "framepos of a mesh geom (MuJoCo moves its frame",
                                       "jointpos delay (histories of sensors are not kept)",
                                       "jointpos interval (histories of sensors are not kept)"};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        int found = 0;
        for (int i = 0; i < zw_model_note_count(m); i++) {
            found |= strncmp(zw_model_note(m, i).text, text[k], strlen(text[k])) == 0;
        }
        assert_true(found);
    }
    zw_model_free(m);
}

/* Bodies beside <worldbody>, as in files that others include there: MuJoCo checks their words and
 * leaves them out. So do we, with a note. */
static void bodies_outside_of_the_world(void **state)
{
    (void)state;
    zw_model *m = robot_from("<mujoco><body name='a' pos='0 0 1'><joint/><geom size='1'/></body>"
                             "<frame><body name='b'/></frame><worldbody><body name='c'><joint/>"
                             "<geom size='1'/></body></worldbody></mujoco>");
    assert_int_equal(zw_model_find(m, ZW_KIND_BODY, "a"), -1);
    assert_int_equal(zw_model_find(m, ZW_KIND_BODY, "b"), -1);
    assert_true(zw_model_find(m, ZW_KIND_BODY, "c") >= 0);
    assert_int_equal(zw_model_note_count(m), 2);
    assert_string_equal(zw_model_note(m, 0).text, "body");
    assert_string_equal(zw_model_note(m, 1).text, "frame");
    zw_model_free(m);
}

/* Meshes whose files are missing are listed where they are for display only: on bodies with an
 * inertial of their own, on the world, or without density. Where they touch or weigh the file is
 * refused (broken_robot/mesh_missing.xml). */
static void missing_meshes_for_display(void **state)
{
    (void)state;
    zw_model *m = mjcf_from("<default><default class='visual'><geom contype='0' conaffinity='0' "
                            "type='mesh' mesh='nowhere'/></default></default>"
                            "<asset><mesh file='nowhere.stl'/><mesh name='unused' file='no.obj'/>"
                            "</asset><worldbody><geom class='visual'/><body name='b'><joint/>"
                            "<inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/>"
                            "<geom class='visual'/></body><body name='c'><joint/>"
                            "<geom class='visual' density='0'/><geom name='g' size='1'/></body>"
                            "</worldbody>");
    assert_int_equal(zw_model_count(m, ZW_KIND_MESH), 0);
    assert_int_equal(zw_model_count(m, ZW_KIND_GEOM), 1);
    assert_int_equal(zw_model_note_count(m), 1);
    assert_string_equal(zw_model_note(m, 0).text, "mesh file (not found; for display only)");
    assert_int_equal(zw_model_note(m, 0).count, 2);
    zw_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_meshes_for_display),
        cmocka_unit_test(custom_numbers),
        cmocka_unit_test(bodies_outside_of_the_world),
        cmocka_unit_test(sensors_that_are_listed),
        cmocka_unit_test(units_follow_the_compiler),
        cmocka_unit_test(frames_leave_no_trace),
        cmocka_unit_test(replicate_makes_copies),
        cmocka_unit_test(notes_tell_what_has_no_effect),
        cmocka_unit_test(notes_tell_what_differs),
        cmocka_unit_test(colours),
        cmocka_unit_test(deep_chains),
        cmocka_unit_test(flags_and_options),
        cmocka_unit_test(newer_words),
        cmocka_unit_test(areas_of_cylinders),
        cmocka_unit_test(classes_are_written_over),
        cmocka_unit_test(attached_models),
        cmocka_unit_test(the_whole_file),
        cmocka_unit_test(no_settings),
        cmocka_unit_test(imported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
