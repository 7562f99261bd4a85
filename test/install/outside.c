/* A program outside the tree, in C and in C++, with only what is installed: a bead on a wire
 * falls for a second, a motor turns a body, and the kernel is asked by itself. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <zwang/bodies.h>
#include <zwang/gauss.h>
#include <zwang/path.h>
#include <zwang/verdict.h>
#include <zwang/zwang.h>

static int fall(void)
{
    zw_error error;
    zw_model *model = zw_model_parse("coord x = 0, y = 0\nmass 1 at (x, y)\nforce y: -9.81\n"
                                     "constraint wire: y = -x\n",
                                     "wire.zw", NULL, &error);
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, &error) : NULL;
    zw_run_options options;
    memset(&options, 0, sizeof options);
    options.time = 1;
    zw_run_summary summary;
    int fine = 0;
    if (state && zw_run(system, state, work, &options, &summary, &error) == ZW_OK) {
        double x = zw_field(system, state, work, ZW_FIELD_Q).data[0];
        fine = fabs(x - 9.81 / 4) < 1e-12;
    } else {
        fprintf(stderr, "%s:%d: %s\n", error.file, error.line, error.text);
    }
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
    return fine;
}

static int turn(void)
{
    zw_error error;
    zw_model *model = zw_model_create(&error);
    zw_body_def body = zw_body_default();
    body.inertial = 1;
    body.mass = 1;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 2;
    zw_joint_def hinge = zw_joint_default();
    hinge.body = zw_model_add_body(model, &body, &error);
    zw_actuator_def motor = zw_actuator_default();
    motor.target = zw_model_add_joint(model, &hinge, &error);
    zw_model_add_actuator(model, &motor, &error);
    zw_system *system = zw_system_compile(model, NULL, &error);
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, &error) : NULL;
    const double torque = 6;
    int fine = state &&
               zw_state_set(system, state, work, ZW_FIELD_PARAM, 0, 1, &torque, &error) == ZW_OK &&
               zw_forward(system, state, work, NULL, &error) == ZW_OK &&
               fabs(zw_work_motion(work)->a[0] - 3) < 1e-14;
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
    return fine;
}

static int minimise(void)
{
    const double a_free[2] = {0, -1}, row[2] = {1, 1};
    zw_block block;
    memset(&block, 0, sizeof block);
    block.kind = ZW_EQUALITY;
    block.rows = 1;
    zw_gauss problem;
    memset(&problem, 0, sizeof problem);
    problem.n = 2;
    problem.metric.kind = ZW_METRIC_IDENTITY;
    problem.free = a_free;
    problem.block_count = 1;
    problem.block = &block;
    problem.A.dense = row;
    zw_gauss_work *work = zw_gauss_work_create(&problem, NULL, NULL);
    zw_motion motion;
    int fine = work && zw_gauss_solve(&problem, NULL, work, &motion, NULL) == ZW_OK &&
               fabs(motion.a[0] - 0.5) < 1e-15 && fabs(motion.a[1] + 0.5) < 1e-15;
    zw_gauss_work_free(work);
    return fine;
}

int main(void)
{
    int fine = strcmp(zw_version(), ZW_VERSION) == 0 && fall() && turn() && minimise();
    printf("zwang %s: %s\n", zw_version(), fine ? "fine" : "WRONG");
    return !fine;
}
