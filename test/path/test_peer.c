/* Paths of an independent engine: the extra force that makes MuJoCo's path of a double pendulum a
 * motion must shrink with the step at the order of MuJoCo's integrator. */
#include "references/moving.h"

#include "zwang/path.h"

#ifndef ZW_HAVE_MUJOCO

int main(void)
{
    puts("MuJoCo is missing (Debian: libmujoco-dev): its paths are not certified");
    return 77;
}

#else

#include <mujoco/mujoco.h>
#include <unistd.h>

#define SECONDS 2.0

/* Two rods with heavy ends: the second angle is relative to the first. */
static const char *const mjcf =
    "<mujoco><option timestep='%.17g' integrator='%s' gravity='0 0 -9.81'>"
    "<flag constraint='disable'/></option><worldbody>"
    "<body><joint name='a' type='hinge' axis='0 -1 0'/>"
    "<inertial pos='0 0 -1' mass='1' diaginertia='.02 .02 .02'/>"
    "<body pos='0 0 -1'><joint name='b' type='hinge' axis='0 -1 0'/>"
    "<inertial pos='0 0 -.7' mass='.5' diaginertia='.01 .01 .01'/>"
    "</body></body></worldbody></mujoco>";
static const char *const equations = "coord a = 0, b = 0\n"
                                     "point p = (sin(a), -cos(a))\n"
                                     "point r = p + 0.7*(sin(a + b), -cos(a + b))\n"
                                     "mass 1 at p, 0.5 at r\n"
                                     "kinetic 0.01*a'^2 + 0.005*(a' + b')^2\n"
                                     "gravity (0, -9.81)\n";

static mjModel *peer_load(double step, const char *integrator)
{
    char name[] = "/tmp/zwang-peer-XXXXXX.xml", message[500] = "";
    int file = mkstemps(name, 4);
    assert_true(file >= 0);
    FILE *to = fdopen(file, "w");
    fprintf(to, mjcf, step, integrator);
    fclose(to);
    mjModel *model = mj_loadXML(name, NULL, message, sizeof message);
    unlink(name);
    if (!model) {
        fail_msg("MuJoCo: %s", message);
    }
    return model;
}

/* The root mean square of the extra force along MuJoCo's path; speeds recorded or not. */
static double extra(moving *m, double step, const char *integrator, int speeds)
{
    mjModel *model = peer_load(step, integrator);
    mjData *data = mj_makeData(model);
    long count = lround(SECONDS / step) + 1;
    double *t = malloc((size_t)count * sizeof *t), *q = malloc(2 * (size_t)count * sizeof *q);
    double *v = malloc(2 * (size_t)count * sizeof *v);
    assert_true(data && t && q && v);
    data->qpos[0] = 0.4;
    data->qpos[1] = 0.1;
    data->qvel[1] = -0.2;
    for (long i = 0; i < count; i++) {
        t[i] = (double)i * step;
        memcpy(q + 2 * i, data->qpos, 2 * sizeof *q);
        memcpy(v + 2 * i, data->qvel, 2 * sizeof *v);
        mj_step(model, data);
    }
    zw_error error = {0};
    zw_path *path = zw_path_create(m->system, count, t, q, speeds ? v : NULL, &error);
    zw_trial *trial = path ? zw_path_certify(m->system, path, NULL, &error) : NULL;
    if (!trial) {
        fail_msg("%s", error.text);
    }
    zw_trial_report report = *zw_trial_look(trial);
    print_message("    %-6s step %-8g %-9s extra %.3e, of the fit %.1e: %s\n", integrator, step,
                  speeds ? "q and q'" : "q", sqrt(report.defect), sqrt(report.defect_error),
                  report.verdict == ZW_VERDICT_MOTION       ? "a motion"
                  : report.verdict == ZW_VERDICT_NOT_MOTION ? "not a motion"
                                                            : "cannot tell");
    zw_trial_free(trial);
    zw_path_free(path);
    mj_deleteData(data);
    mj_deleteModel(model);
    free(t);
    free(q);
    free(v);
    return sqrt(report.defect);
}

static void shrinks(const char *integrator, double step, int speeds, double order)
{
    moving m;
    assert_null(moving_open(&m, equations, "peer", NULL, 0));
    double before = extra(&m, step, integrator, speeds);
    for (int k = 0; k < 3; k++) {
        step /= 2;
        double now = extra(&m, step, integrator, speeds), observed = log2(before / now);
        print_message("        order %.2f\n", observed);
        assert_true(fabs(observed - order) < 0.1);
        before = now;
    }
    moving_close(&m);
}

static void euler(void **state)
{
    (void)state;
    shrinks("Euler", 0.004, 0, 1);
}

static void runge_kutta(void **state)
{
    (void)state;
    shrinks("RK4", 0.04, 0, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(euler),
        cmocka_unit_test(runge_kutta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
