/* Scenes for derivatives of steps of method impulse: test_rigid.c tests the matrix of a step,
 * test_back.c the backward pass. */
#ifndef ZW_TEST_RIGID_SCENES_H
#define ZW_TEST_RIGID_SCENES_H

#include "../system/world.h"
#include "system/bodies/bodies.h"
#include "system/system.h"
#include "zwang/sensitivity.h"

typedef struct scene {
    const char *name, *file, *text;
    double before;    /* how long it has moved already */
    double tolerance; /* of the steps; 0: as always */
    int convex;       /* the convex law */
    double bounce;    /* of all geoms */
    double speed[6];  /* of the first dofs, at the start; 0: as the file says */
} scene;

static world begin(const scene *of)
{
    world w = {0};
    w.model = of->file ? zw_model_read(of->file, NULL, &w.error)
                       : zw_model_parse(of->text, "test.xml", NULL, &w.error);
    for (int k = 0; w.model && of->bounce > 0 && k < zw_model_count(w.model, ZW_KIND_GEOM); k++) {
        zw_geom_def def = *(const zw_geom_def *)zw_model_def(w.model, ZW_KIND_GEOM, k);
        def.restitution = of->bounce;
        assert_int_equal(zw_model_change(w.model, ZW_KIND_GEOM, k, &def, &w.error), ZW_OK);
    }
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, &w.assembly, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    for (int i = 0; i < 6 && i < w.system->n; i++) {
        state_v(w.state)[i] += of->speed[i];
    }
    zw_wake(w.state);
    if (of->before > 0) {
        zw_run_options options = {.time = of->before, .method = ZW_METHOD_IMPULSE};
        zw_run_summary summary;
        if (zw_run(w.system, w.state, w.work, &options, &summary, &w.error) != ZW_OK) {
            fail_msg("%s: %s", of->name, w.error.text);
        }
    }
    return w;
}

static zw_run_options plan_of(const scene *of)
{
    return (zw_run_options){.method = ZW_METHOD_IMPULSE,
                            .tolerance = of->tolerance,
                            .contact = of->convex ? ZW_CONTACT_CONVEX : ZW_CONTACT_COULOMB};
}

#define FLOOR "<geom type='plane' size='5 5 1' friction='.01 0 0'/>"
#define FREE(place, geom)                                                                          \
    "<body pos='" place "' euler='0 0 20'><freejoint/><geom mass='1' " geom "/></body>"
#define OF(option, inside)                                                                         \
    "<mujoco><option timestep='0.002' " option "/><worldbody>" inside "</worldbody></mujoco>"

#define ARM                                                                                        \
    "<body pos='0 0 1'><joint name='a' type='ball' damping='0.1'/><geom type='box' size='.1 .2 "   \
    ".3' pos='.1 .1 .1' contype='0' conaffinity='0'/><body pos='0.4 0 0'><joint name='b' "         \
    "axis='1 2 3' frictionloss='0.7' stiffness='3'/><joint name='c' type='slide' axis='0 1 1' "    \
    "range='-1 0.01' limited='true'/><geom size='.1' pos='.1 .1 0' contype='0' conaffinity='0'/>"  \
    "</body></body>"
#define MOTORS                                                                                     \
    "<actuator><motor joint='b' forcerange='-.1 .1' forcelimited='true'/><position joint='c' "     \
    "kp='40' kv='3'/><position joint='b' kp='100' kv='1' forcerange='-5 5' "                       \
    "forcelimited='true'/></actuator>"
#define LOOP(limit)                                                                                \
    "<body pos='0 0 1' euler='0 30 0'><joint axis='0 1 0' damping='.1' stiffness='100'/>" BAR      \
    "<body pos='.3 0 0' euler='0 40 0'><joint axis='0 1 0' " limit "/>" BAR                        \
    "<body name='end' pos='.3 0 0' euler='0 -80 0'><joint axis='0 1 0' damping='.1'/>" BAR         \
    "</body></body></body>"
#define COIN(place, turn)                                                                          \
    "<body pos='" place "' euler='" turn "'><freejoint/><geom type='cylinder' size='.13 .1' "      \
    "mass='1' friction='.2 0 0'/></body>"
#define BAR "<geom type='box' size='.1 .02 .02' pos='.1 0 0' mass='1' contype='0' conaffinity='0'/>"
#define EXAMPLE(path) .file = ZW_SOURCE_DIR "/examples/" path

#define PUSHES(geom)                                                                               \
    OF("", "<body pos='-.33 0 .1'><joint type='slide' axis='1 0 0' stiffness='40' "                \
           "springref='.3'/><geom mass='1' " geom "/></body><body pos='-.2 .01 .1'><freejoint/>"   \
           "<geom type='box' size='.1 .08 .1' mass='1'/></body>")

static const scene scenes[] = {
    {.name = "a free body", .text = OF("", FREE("0 0 0", "type='box' size='.1 .2 .3'"))},
    {.name = "a ball that rests", .text = OF("", FLOOR FREE("0 0 .1", "size='.1'")), .before = .1},
    {.name = "a ball that slides",
     .text = OF("gravity='6 1 -9'", FLOOR FREE("0 0 .1", "size='.1' friction='.1 0 0'")),
     .before = .1},
    {.name = "a ball that rolls",
     .text = OF("gravity='2 1 -9'", FLOOR FREE("0 0 .1", "size='.1' friction='.5 0 0'")),
     .before = .3},
    {.name = "spin and rolling friction",
     .text =
         OF("gravity='2 1 -9'", FLOOR FREE("0 0 .1", "size='.1' condim='6' friction='.5 .01 .01'")),
     .before = .3,
     .tolerance = 1e-15},
    {.name = "a box that rests",
     .text = OF("", FLOOR FREE("0 0 .1", "type='box' size='.2 .3 .1'")),
     .before = .1},
    {.name = "a box that slides",
     .text = OF("gravity='6 1 -9'",
                FLOOR FREE("0 0 .1", "type='box' size='.2 .3 .1' friction='.3 0 0'")),
     .before = .1},
    {.name = "a ball that slides, convex law",
     .text = OF("gravity='6 1 -9'", FLOOR FREE("0 0 .1", "size='.1' friction='.1 0 0'")),
     .before = .1,
     .convex = 1},
    {.name = "without friction",
     .text = OF("", FLOOR FREE("0 0 .1", "size='.1' condim='1'")),
     .before = .1},
    {.name = "a box on a box",
     .text = OF("gravity='4 0 -9'",
                FLOOR FREE("0 0 .1", "type='box' size='.2 .3 .1'")
                    FREE("0 .1 .25", "type='box' size='.1 .1 .05' friction='.2 0 0'")),
     .before = .1},
    {.name = "a coin that wobbles", /* its lowest point turns by 70 times what it turns */
     .text = OF("", FLOOR COIN("0 0 .10195", ".85 0 20")),
     .before = .01,
     .tolerance = 1e-15,
     .speed = {0, 0, 0, 0, .3, .1}},
    {.name = "a pendulum in air", /* slow across: drag bends within a step's speeds */
     .text = OF("density='50' viscosity='.1'",
                "<body pos='0 0 1'><joint type='ball' stiffness='2'/><geom size='.1' pos='.2 0 0' "
                "contype='0' conaffinity='0'/></body>"),
     .speed = {.1, .3, .2},
     .tolerance = 1e-15},
    {.name = "joints of all kinds",
     .text = "<mujoco><option timestep='0.002'/><worldbody>" ARM "</worldbody>" MOTORS "</mujoco>",
     .before = .1},
    {.name = "the same later",
     .text = "<mujoco><option timestep='0.002'/><worldbody>" ARM "</worldbody>" MOTORS "</mujoco>",
     .before = .5},
    {.name = "stiff: all at the end of the step",
     .text = "<mujoco><option timestep='0.05'/><worldbody>" ARM "</worldbody>" MOTORS "</mujoco>",
     .before = .5},
    {.name = "a ball that lands",
     .text = OF("", FLOOR FREE("0 0 .11", "size='.1' friction='.1 0 0'")),
     .before = .044},
    {.name = "a box that lands",
     .text = OF("", "<geom type='plane' size='5 5 1' friction='.01 0 0' euler='2 3 0'/>" FREE(
                        "0 0 .15", "type='box' size='.2 .3 .1'")),
     .before = .044},
    {.name = "a coin that lands on its rim",
     .text = OF("", FLOOR COIN("0 0 .11", "1 0 20")),
     .before = .038,
     .tolerance = 1e-15},
    {.name = "a ball that bounces",
     .text = OF("", FLOOR FREE("0 0 .11", "size='.1' friction='.1 0 0'")),
     .before = .044,
     .bounce = 0.6},
    {.name = "a loop that meets a limit and leaves it", /* the joints' impulses are part of it */
     .text = "<mujoco><option timestep='0.002'/><worldbody>" LOOP(
         "range='-4 2' limited='true'") "</worldbody><equality><connect body1='end' "
                                        "body2='world' anchor='.2 0 0'/></equality></mujoco>",
     .before = .048},
    {.name = "a capsule that pushes a box, past its edges", /* points of many parts' numbers */
     .text = PUSHES("type='capsule' fromto='0 0 -.2 0 0 .2' size='.03'")},
    {.name = "a box that pushes a box, face on face",
     .text = PUSHES("type='box' size='.03 .1 .05'")},
    {.name = "a Stewart platform", EXAMPLE("bodies/stewart.xml"), .before = .1},
    {.name = "a bicycle", EXAMPLE("bodies/bicycle.xml"), .before = .1},
    {.name = "a tippe top", EXAMPLE("contact/tippe_top.xml"), .before = .3},
    {.name = "a gripper", EXAMPLE("contact/gripper_capsule.xml"), .before = .3},
    {.name = "a quadruped", EXAMPLE("contact/quadruped.xml"), .before = .3},
    {.name = "a humanoid on the ground", EXAMPLE("contact/humanoid_falls.xml"), .before = 1.5},
};

#endif
