/* Sensors: compared with MuJoCo where the motions agree, and with closed forms elsewhere. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "robots.h"

#define SENSORS                                                                                    \
    "<accelerometer name='acc' site='s1'/><accelerometer site='s2'/><accelerometer site='s0'/>"    \
    "<velocimeter name='vel' site='s1'/><velocimeter site='s2'/><velocimeter site='s0'/>"          \
    "<gyro name='gyro' site='s1'/><gyro site='s2'/><force name='f1' site='s1'/>"                   \
    "<force name='f2' site='s2'/><force name='f3' site='s3'/><force name='fw' site='s0'/>"         \
    "<torque name='t1' site='s1'/><torque name='t2' site='s2'/><torque name='t3' site='s3'/>"      \
    "<torque name='tw' site='s0'/><magnetometer name='mag' site='s2'/>"                            \
    "<jointpos name='jp' joint='a'/><jointvel name='jv' joint='a'/><jointpos joint='c'/>"          \
    "<ballquat name='bq' joint='d'/><ballangvel name='bw' joint='d'/>"                             \
    "<tendonpos name='tp' tendon='t'/><tendonvel name='tv' tendon='t'/>"                           \
    "<actuatorpos name='ap' actuator='m0'/><actuatorvel name='av' actuator='m0'/>"                 \
    "<actuatorfrc name='af' actuator='m0'/><actuatorpos actuator='m1'/>"                           \
    "<actuatorvel actuator='m1'/><actuatorfrc actuator='m1'/><actuatorpos actuator='m2'/>"         \
    "<actuatorvel actuator='m2'/><actuatorfrc actuator='m2'/><actuatorpos actuator='m3'/>"         \
    "<actuatorvel actuator='m3'/><actuatorfrc actuator='m3'/><actuatorpos actuator='m4'/>"         \
    "<actuatorvel actuator='m4'/><actuatorfrc actuator='m4'/>"                                     \
    "<actuatorpos actuator='m5'/><actuatorvel actuator='m6'/>"                                     \
    "<framepos objtype='site' objname='s1'/><framepos objtype='xbody' objname='plate'/>"           \
    "<framepos objtype='body' objname='hip'/><framepos objtype='geom' objname='g1'/>"              \
    "<framepos objtype='site' objname='s1' reftype='site' refname='s3'/>"                          \
    "<framequat objtype='site' objname='s1'/><framequat objtype='xbody' objname='plate'/>"         \
    "<framequat objtype='geom' objname='g1' reftype='site' refname='s2'/>"                         \
    "<framequat objtype='body' objname='hip'/>"                                                    \
    "<framexaxis objtype='site' objname='s1'/><frameyaxis objtype='geom' objname='g1'/>"           \
    "<framezaxis objtype='site' objname='s1' reftype='xbody' refname='trunk'/>"                    \
    "<framelinvel objtype='site' objname='s1'/><framelinvel objtype='body' objname='hip'/>"        \
    "<framelinvel objtype='site' objname='s1' reftype='site' refname='s3'/>"                       \
    "<frameangvel objtype='geom' objname='g1'/>"                                                   \
    "<frameangvel objtype='site' objname='s1' reftype='xbody' refname='trunk'/>"                   \
    "<framelinacc objtype='site' objname='s1'/><framelinacc objtype='body' objname='hip'/>"        \
    "<framelinacc objtype='xbody' objname='foot'/><frameangacc objtype='geom' objname='g1'/>"      \
    "<subtreecom name='com' body='trunk'/><subtreecom body='plate'/><subtreecom body='world'/>"    \
    "<subtreelinvel name='cv' body='trunk'/><subtreelinvel body='hip'/>"                           \
    "<subtreeangmom name='L' body='trunk'/><subtreeangmom body='hip'/>"                            \
    "<subtreeangmom body='world'/><clock name='clock'/>"                                           \
    "<accelerometer name='cut' site='s1' cutoff='5'/><jointpos joint='a' cutoff='0.1'/>"

#define BODIES(limits)                                                                             \
    "<mujoco><compiler angle='radian'/><option gravity='0.3 -0.5 -9' magnetic='0.2 -0.5 0.1'>"     \
    "<flag contact='disable'/></option>"                                                           \
    "<worldbody><body name='post' pos='1 0 0'><geom name='g0' type='box' size='0.1 0.2 0.3'/>"     \
    "  <site name='s0' pos='0.1 0 0.2' quat='1 0.1 0 0'/></body>"                                  \
    "<body name='trunk' pos='0.1 0.2 1.5' quat='1 0.2 -0.1 0.3'><freejoint name='base'/>"          \
    "  <geom type='box' size='0.2 0.1 0.3'/><site name='s1' pos='0.1 0 0' quat='1 0.3 0 0.1'/>"    \
    "  <body name='hip' pos='0.2 0 -0.1' quat='1 0 0.5 0'>"                                        \
    "    <joint name='a' axis='1 0 0' pos='0 0 0.1' ref='0.2' armature='0.02' "                    \
    "damping='0.3'" limits "/>"                                                                    \
    "    <joint name='b' axis='0 -1 0.4' pos='0 0 0.1' stiffness='3' springref='0.4'/>"            \
    "    <joint name='c' type='slide' axis='0 0 -2' stiffness='40' ref='0.1'/>"                    \
    "    <inertial pos='0.1 0.05 -0.1' quat='1 0.2 0.3 0' mass='2' diaginertia='0.3 0.2 0.15'/>"   \
    "    <geom name='g1' type='capsule' size='0.1' fromto='0 0 0 0.2 0.1 -0.3'/>"                  \
    "    <body name='plate' pos='0 0 -0.4'><geom type='sphere' size='0.1'/>"                       \
    "      <site name='s3' pos='0.1 0.05 0' quat='1 0 0.4 0.2'/>"                                  \
    "      <body name='foot' pos='0.1 0.1 0'><joint name='d' type='ball' pos='0.05 0 0.02'"        \
    "        damping='0.1'/><site name='s2' pos='0 0.1 -0.1' quat='1 0.3 0.3 0.1'/>"               \
    "        <geom type='cylinder' size='0.1 0.2' pos='0 0 -0.15'/></body>"                        \
    "    </body></body>"                                                                           \
    "</body></worldbody>"                                                                          \
    "<tendon><fixed name='t' stiffness='7' damping='0.4' springlength='0.3'>"                      \
    "  <joint joint='a' coef='1.5'/><joint joint='c' coef='-2'/></fixed></tendon>"                 \
    "<actuator><motor name='m0' joint='a' gear='3' ctrllimited='true' ctrlrange='-0.5 0.5'/>"      \
    "  <position name='m1' joint='b' kp='20'/>"                                                    \
    "  <position name='m2' joint='d' kp='4' gear='0.3 0.5 -0.2'/>"                                 \
    "  <motor name='m3' joint='base' gear='1 2 3 0.1 0.2 0.3'/>"                                   \
    "  <general name='m4' tendon='t' gear='1.5' gainprm='3' biastype='affine' "                    \
    "    biasprm='0.1 -2 -0.3'/>"                                                                  \
    "  <general name='m5' site='s2' refsite='s1' gainprm='0' gear='0.1 -0.4 2 0 0 0'/>"            \
    "  <general name='m6' site='s2' refsite='s1' gainprm='0' gear='0 0 0 0.3 -0.4 2'/>"            \
    "</actuator>"

static const double *readings(robot *r)
{
    robot_accelerations(r);
    return zw_field(r->system, r->state, r->work, ZW_FIELD_SENSOR).data;
}

static const double *reading(robot *r, const char *name)
{
    int i = zw_id(r->system, ZW_KIND_READING, name);
    if (i < 0) {
        fail_msg("there is no %s", name);
    }
    return readings(r) + i;
}

static void shake(robot *r, unsigned *seed)
{
    double *q = state_q(r->state), *v = state_v(r->state);
    memcpy(q, r->system->bodies->q, (size_t)r->system->nq * sizeof *q);
    for (int i = 0; i < r->system->n; i++) {
        v[i] = dice(seed);
    }
    system_move(r->system, q, 1, v);
    for (int i = 0; i < r->system->n; i++) {
        v[i] = 2 * dice(seed);
    }
    for (int i = 0; i < r->system->shape.params; i++) {
        state_param(r->state)[i] = dice(seed);
    }
}

#ifdef ZW_HAVE_MUJOCO

#include <mujoco/mujoco.h>
#include <unistd.h>

static mjModel *load(const char *text)
{
    char path[] = "/tmp/zwang_sense_XXXXXX.xml", problem[1000] = "";
    int file = mkstemps(path, 4);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    mjModel *m = mj_loadXML(path, NULL, problem, sizeof problem);
    unlink(path);
    if (!m) {
        fail_msg("%s", problem);
    }
    return m;
}

static void same_state(robot *r, const mjModel *m, mjData *d)
{
    memcpy(d->qpos, state_q(r->state), (size_t)m->nq * sizeof *d->qpos);
    memcpy(d->qvel, state_v(r->state), (size_t)m->nv * sizeof *d->qvel);
    memcpy(d->ctrl, state_param(r->state), (size_t)m->nu * sizeof *d->ctrl);
    mj_forward(m, d);
}

/* What touch sensors read in the first sample of a run by its soft law. */
typedef struct touches {
    double reading[16];
    int count;
} touches;

static int feel(void *user, zw_sample_kind kind, int event, const zw_system *system,
                const zw_state *state, zw_work *work)
{
    touches *f = user;
    (void)event;
    if (kind == ZW_SAMPLE_START) {
        zw_view view = zw_field(system, state, work, ZW_FIELD_SENSOR);
        memcpy(f->reading, view.data, (size_t)view.count * sizeof *view.data);
        f->count = view.count;
    }
    return 0;
}

#define ZONE(type, size, pos)                                                                      \
    "<site name='" type "' type='" type "' size='" size "' pos='" pos "' quat='1 .2 -.1 .3'/>"
#define TOUCH(site) "<touch site='" site "'/>"
#define TOUCHING                                                                                   \
    "<mujoco><option cone='elliptic' tolerance='0' iterations='200'/><worldbody>"                  \
    "<geom type='plane' size='5 5 1'/>"                                                            \
    "<body pos='0 0 .2'><freejoint/>"                                                              \
    "<geom type='sphere' size='.1' pos='.3 0 0'/><geom type='sphere' size='.1' pos='-.3 .2 0'/>"   \
    "<geom type='sphere' size='.1' pos='0 -.3 0'/>" ZONE("sphere", ".12", ".3 0 -.1") ZONE(        \
        "capsule", ".05 .2", "-.2 0 .1") ZONE("ellipsoid", ".3 .1 .05", "0 -.2 -.05")              \
        ZONE("cylinder", ".2 .1", ".1 -.2 -.1") ZONE(                                              \
            "box", ".4 .1 .03",                                                                    \
            "0 .1 -.12") "<body pos='0 0 .1'><geom type='box' size='.1 .1 .05' mass='1' "          \
                         "contype='0' conaffinity='0'/>"                                           \
                         "<site name='other' size='2'/></body></body></worldbody><sensor>" TOUCH(  \
                             "sphere") TOUCH("capsule") TOUCH("ellipsoid") TOUCH("cylinder")       \
                             TOUCH("box") TOUCH("other") "</sensor></mujoco>"

/* Which contacts count, in zones of all shapes, is as there. */
static void compared_touch(void **state)
{
    (void)state;
    mjModel *m = load(TOUCHING);
    mjData *d = mj_makeData(m);
    unsigned seed = 9;
    int some = 0, none = 0;
    for (int k = 0; k < 60; k++) {
        robot r = robot_read(TOUCHING);
        double *q = state_q(r.state), *v = state_v(r.state);
        touches f = {0};
        zw_run_options options = {.time = 1e-3,
                                  .every = 1e-3,
                                  .step = 1e-3,
                                  .method = ZW_METHOD_SOFT,
                                  .observer = feel,
                                  .user = &f};
        q[2] = 0.09;
        for (int i = 4; i < 7; i++) {
            q[i] = 0.1 * dice(&seed);
        }
        system_normalise(r.system, q);
        for (int i = 0; i < 6; i++) {
            v[i] = 0.2 * dice(&seed);
        }
        m->opt.timestep = 1e-3;
        same_state(&r, m, d);
        assert_int_equal(zw_run(r.system, r.state, r.work, &options, NULL, &r.error), ZW_OK);
        assert_int_equal(f.count, m->nsensordata);
        for (int i = 0; i < f.count; i++) {
            double size = 1 + fabs(d->sensordata[i]);
            if (!(fabs(f.reading[i] - d->sensordata[i]) < 1e-6 * size)) {
                fail_msg("state %d, sensor %d: %.9g, MuJoCo %.9g", k, i, f.reading[i],
                         d->sensordata[i]);
            }
            some += f.reading[i] > 0;
            none += f.reading[i] == 0;
        }
        robot_end(&r);
    }
    print_message("%d readings of touch, %d of nothing\n", some, none);
    assert_true(some > 50 && none > 50);
    mj_deleteData(d);
    mj_deleteModel(m);
}

/* Without constraints the motions agree, and so do all sensors that MuJoCo has. */
static void compared(void **state)
{
    (void)state;
    const char *text = BODIES("") "<sensor>" SENSORS "</sensor></mujoco>";
    mjModel *m = load(text);
    mjData *d = mj_makeData(m);
    robot r = robot_read(text);
    unsigned seed = 4;
    double worst = 0;
    m->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT;
    assert_int_equal(r.system->bodies->reading_count, m->nsensordata);
    for (int k = 0; k < 100; k++) {
        shake(&r, &seed);
        r.state->t = d->time = 0.1 * k;
        same_state(&r, m, d);
        const double *ours = readings(&r);
        for (int i = 0; i < m->nsensor; i++) {
            int at = m->sensor_adr[i];
            double size = 1, far = 0;
            for (int j = at; j < at + m->sensor_dim[i]; j++) {
                size = fmax(size, fabs(d->sensordata[j]));
                far = fmax(far, fabs(ours[j] - d->sensordata[j]));
            }
            if (!(far <= 1e-9 * size)) {
                fail_msg("state %d, sensor %d (%s): %.9g %.9g, MuJoCo %.9g %.9g", k, i,
                         zw_name(r.system, ZW_KIND_READING, at), ours[at], ours[at + 1],
                         d->sensordata[at], d->sensordata[at + 1]);
            }
            worst = fmax(worst, far / size);
        }
    }
    print_message("%d sensors, %d numbers, 100 states: %.1e apart at most\n", m->nsensor,
                  m->nsensordata, worst);
    robot_end(&r);
    mj_deleteData(d);
    mj_deleteModel(m);
}

/* Limits within their margins: distance and speed. */
static void compared_limits(void **state)
{
    (void)state;
    const char *text = BODIES(" limited='true' range='-0.5 0.6' margin='0.4'") //
        "<sensor><jointlimitpos joint='a'/><jointlimitvel joint='a'/></sensor></mujoco>";
    mjModel *m = load(text);
    mjData *d = mj_makeData(m);
    robot r = robot_read(text);
    unsigned seed = 4;
    int some = 0;
    for (int k = 0; k < 50; k++) {
        shake(&r, &seed);
        state_q(r.state)[7] = -0.49 + 0.02 * k;
        same_state(&r, m, d);
        const double *ours = readings(&r);
        some += ours[0] != 0;
        close_to("distance", ours[0], d->sensordata[0], 1e-14);
        close_to("its rate", ours[1], d->sensordata[1], 1e-14);
    }
    assert_true(some > 10 && some < 45);
    robot_end(&r);
    mj_deleteData(d);
    mj_deleteModel(m);
}

static void silent(const char *message)
{
    (void)message;
}

#endif

/* A pendulum against its stop: the limit's force holds the weight. */
static void a_stop_holds(void **state)
{
    (void)state;
    robot r = robot_read(
        "<mujoco><compiler angle='radian'/><option gravity='0 0 -10'/><worldbody><body>"
        "<joint name='pin' axis='0 1 0' limited='true' range='0 3' margin='0.01'/>"
        "<inertial pos='-0.5 0 0' mass='2' diaginertia='0.1 0.1 0.1'/></body></worldbody><sensor>"
        "<jointlimitpos name='p' joint='pin'/><jointlimitvel name='v' joint='pin'/>"
        "<jointlimitfrc name='f' joint='pin'/></sensor></mujoco>");
    close_to("force", *reading(&r, "f"), 2 * 10 * 0.5, 1e-12);
    close_to("distance", *reading(&r, "p"), -0.01, 1e-15);
    close_to("rate", *reading(&r, "v"), 0, 1e-15);
    robot_end(&r);
}

/* A limit that was closed at the start reads 0 once a motor has lifted the joint from it, by both
 * laws. */
static void a_stop_that_is_left_reads_nothing(void **state)
{
    (void)state;
    for (int law = 0; law < 2; law++) {
        robot r = robot_read(
            "<mujoco><compiler angle='radian'/><option gravity='0 0 -10' timestep='1e-3'/>"
            "<worldbody><body><joint name='pin' axis='0 1 0' limited='true' range='0 3'/>"
            "<inertial pos='-0.5 0 0' mass='2' diaginertia='0.5 0.5 0.5'/></body></worldbody>"
            "<actuator><motor name='up' joint='pin'/></actuator><sensor>"
            "<jointlimitpos name='p' joint='pin'/><jointlimitvel name='v' joint='pin'/>"
            "<jointlimitfrc name='f' joint='pin'/></sensor></mujoco>");
        const double lift = 20;
        const zw_run_options by = {.method = law ? ZW_METHOD_DEFAULT : ZW_METHOD_IMPULSE,
                                   .contact = law ? ZW_CONTACT_SOFT : ZW_CONTACT_DEFAULT};
        assert_true(*reading(&r, "f") > 9);
        zw_state_set(r.system, r.state, r.work, ZW_FIELD_PARAM,
                     zw_id(r.system, ZW_KIND_PARAM, "up"), 1, &lift, &r.error);
        for (int k = 0; k < 100; k++) {
            assert_int_equal(zw_step(r.system, r.state, r.work, &by, &r.error), ZW_OK);
        }
        assert_int_equal(zw_look(r.system, r.state, r.work, &r.error), ZW_OK);
        assert_true(zw_field(r.system, r.state, r.work, ZW_FIELD_Q).data[0] > 0.01);
        assert_true(*reading(&r, "p") == 0 && *reading(&r, "v") == 0 && *reading(&r, "f") == 0);
        robot_end(&r);
    }
}

/* What old versions do not have: forces of motors by joint and tendon; energies. And what newer
 * ones have not: accelerations relative to a frame that moves are rates of the velocities. */
static const char *const REST =
    "<sensor><jointactuatorfrc name='ja' joint='a'/><jointactuatorfrc name='jb' joint='b'/>"
    "<actuatorfrc name='m0' actuator='m0'/><actuatorfrc name='m4' actuator='m4'/>"
    "<tendonactuatorfrc name='ta' tendon='t'/>"
    "<e_potential name='V'/><e_kinetic name='K'/>"
    "<framelinvel name='v' objtype='site' objname='s1' reftype='site' refname='s2'/>"
    "<frameangvel name='w' objtype='site' objname='s1' reftype='site' refname='s2'/>"
    "<framepos name='p' objtype='site' objname='s1' reftype='site' refname='s2'/>"
    "<framelinacc name='a' objtype='site' objname='s1' reftype='site' refname='s2'/>"
    "<frameangacc name='alpha' objtype='site' objname='s1' reftype='site' refname='s2'/>"
    "<accelerometer name='acc' site='s2'/><framelinvel name='u' objtype='site' objname='s2'/>"
    "<framelinacc name='du' objtype='site' objname='s2'/>"
    "</sensor></mujoco>";

static void forces_of_motors_and_energies(void **state)
{
    (void)state;
    char text[20000];
    snprintf(text, sizeof text, "%s%s", BODIES(""), REST);
    robot r = robot_read(text);
    unsigned seed = 4;
    for (int k = 0; k < 20; k++) {
        shake(&r, &seed);
        double m0 = *reading(&r, "m0"), m4 = *reading(&r, "m4");
        close_to("tendon", *reading(&r, "ta"), m4, 1e-13); /* without gears */
        close_to("joint", *reading(&r, "ja"), 3 * m0 + 1.5 * 1.5 * m4, 1e-12);
        double kinetic = *reading(&r, "K"), potential = *reading(&r, "V");
        const double *energy = zw_field(r.system, r.state, r.work, ZW_FIELD_ENERGY).data;
        close_to("kinetic", kinetic, energy[1], 0);
        close_to("potential", potential, energy[2], 0);
    }
    robot_end(&r);
}

/* Velocities are rates of positions, accelerations of velocities, along the motion that is run;
 * with a loop that is held, so that MuJoCo's motion is another. */
static void accelerations_are_rates(void **state)
{
    (void)state;
    static const char *const value[] = {"p.x", "v.x", "w.x", "u.x"};
    static const char *const rate[] = {"v.x", "a.x", "alpha.x", "du.x"};
    const double h = 1e-4, g[3] = {0.3, -0.5, -9};
    char text[20000];
    snprintf(text, sizeof text,
             "%s<option><flag contact='disable'/></option><equality><connect body1='foot' "
             "body2='trunk' anchor='0 0 0'/>"
             "</equality>%s",
             BODIES(""), REST);
    robot r = robot_read(text);
    unsigned seed = 4;
    double before[4][3], now[4][3];
    for (int i = 0; i < r.system->n; i++) {
        state_v(r.state)[i] = dice(&seed);
    }
    system_bind(r.system, r.work, state_param(r.state));
    assert_int_equal(
        system_project_velocity(r.system, r.work, 0, state_q(r.state), state_v(r.state), &r.error),
        ZW_OK);
    robot_run(&r, 0.1, 1e-12);
    for (int i = 0; i < 4; i++) {
        memcpy(before[i], reading(&r, value[i]), sizeof before[i]);
    }
    robot_run(&r, 0.1 + h, 1e-13);
    for (int i = 0; i < 4; i++) {
        memcpy(now[i], reading(&r, rate[i]), sizeof now[i]);
    }
    double size = 0;
    robot_run(&r, 0.1 + 2 * h, 1e-13);
    for (int i = 0; i < 4; i++) {
        const double *after = reading(&r, value[i]);
        for (int k = 0; k < 3; k++) {
            double sensed =
                i == 3 ? now[i][k] + g[k] : now[i][k]; /* an accelerometer reads gravity as well */
            close_to(rate[i], (after[k] - before[i][k]) / (2 * h), sensed, 2e-5);
            size = fmax(size, fabs(sensed));
        }
    }
    assert_true(size > 1);
    robot_end(&r);
}

/* Where the sensor is: at rest an accelerometer reads the supporting force, a force sensor the
 * weight beyond it; also on what is welded, and on the world. */
static void at_rest(void **state)
{
    (void)state;
    robot r = robot_read(
        "<mujoco><option gravity='0 0 -10'/><worldbody><body name='table'>"
        "<geom type='box' size='1 1 0.1' mass='7'/><site name='under'/>"
        "<body name='lamp' pos='0.5 0 0'><geom size='0.1' mass='2'/><site name='foot'/>"
        "<body name='bulb' pos='0 0 1'><geom size='0.1' mass='1'/></body></body></body>"
        "<body name='swing' pos='3 0 0'><joint axis='0 1 0'/><geom size='0.1' pos='0 0 -1'/>"
        "<site name='seat' pos='0 0 -1'/></body></worldbody><sensor>"
        "<accelerometer name='a' site='seat'/><force name='lamp' site='foot'/>"
        "<force name='table' site='under'/><torque name='tilt' site='under'/></sensor></mujoco>");
    const double *x = readings(&r);
    const double wanted[] = {0, 0, 10, 0, 0, 30, 0, 0, 100, 0, -15, 0};
    for (int i = 0; i < 12; i++) {
        close_to(zw_name(r.system, ZW_KIND_READING, i), x[i], wanted[i], 1e-12);
    }
    assert_string_equal(zw_name(r.system, ZW_KIND_READING, 11), "tilt.z");
    assert_int_equal(zw_id(r.system, ZW_KIND_READING, "table.x"), 6);
    robot_end(&r);
}

/* Recordings have a column for each number; names that could be mistaken are not. */
static void in_recordings(void **state)
{
    (void)state;
    robot r = robot_read("<mujoco><worldbody><body><joint name='pin' axis='0 1 0'/>"
                         "<geom size='0.1' pos='0.5 0 0'/><site name='tip'/></body></worldbody>"
                         "<sensor><gyro name='imu' site='tip'/><jointpos name='pin' joint='pin'/>"
                         "<clock name='imu.x'/></sensor></mujoco>");
    const char *path = "test_bodies_sense.csv";
    char line[2000] = "";
    double last = 0;
    zw_record *record = zw_record_create(r.system, &r.error);
    const zw_run_options options = {.time = 1, .observer = zw_record_observe, .user = record};
    zw_run_summary summary;
    assert_non_null(record);
    assert_int_equal(zw_run(r.system, r.state, r.work, &options, &summary, &r.error), ZW_OK);
    assert_int_equal(zw_record_write(record, &summary, path, &r.error), ZW_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    do { /* a head of comments comes first */
        assert_non_null(fgets(line, sizeof line, file));
    } while (line[0] == '#');
    const char *wanted = "certificate,sensor(imu.x_),sensor(imu.y),sensor(imu.z),sensor(pin),"
                         "sensor(imu.x)\n";
    assert_non_null(strstr(line, wanted));
    int column = 0;
    for (const char *at = line; at < strstr(line, "sensor(pin)"); at++) {
        column += *at == ',';
    }
    while (fgets(line, sizeof line, file)) {
        const char *at = line;
        for (int k = 0; k < column; k++) {
            at = strchr(at, ',') + 1;
        }
        last = strtod(at, NULL);
    }
    fclose(file);
    remove(path);
    close_to("pin", last, state_q(r.state)[0], 0);
    zw_record_free(record);
    robot_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef ZW_HAVE_MUJOCO
        cmocka_unit_test(compared),
        cmocka_unit_test(compared_touch),
        cmocka_unit_test(compared_limits),
#endif
        cmocka_unit_test(a_stop_holds),
        cmocka_unit_test(a_stop_that_is_left_reads_nothing),
        cmocka_unit_test(forces_of_motors_and_energies),
        cmocka_unit_test(accelerations_are_rates),
        cmocka_unit_test(at_rest),
        cmocka_unit_test(in_recordings)};
#ifdef ZW_HAVE_MUJOCO
    mju_user_warning = silent;
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
