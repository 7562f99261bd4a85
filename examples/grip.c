/* A control loop: a gripper comes down over a capsule, closes until its sensor reads enough force,
 * and lifts it.
 *
 *     build/release/examples/grip [examples/contact/gripper_capsule.xml]
 *
 * Each turn of the loop reads what the last step did, writes controls, and makes a step of 5 ms. */
#include <stdio.h>
#include <stdlib.h>

#include "zwang/bodies.h"

typedef struct robot {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
    int left, right, lift; /* motors: parameters of the system */
    int height;            /* coordinate of the capsule */
} robot;

static zw_status open_robot(robot *r, const char *path, zw_error *error)
{
    r->model = zw_model_read(path, NULL, error);
    r->system = r->model ? zw_system_compile(r->model, NULL, error) : NULL;
    r->work = r->system ? zw_work_create(r->system, error) : NULL;
    r->state = r->work ? zw_state_create(r->system, r->work, NULL, error) : NULL;
    if (!r->state) {
        return error->status;
    }
    r->left = zw_id(r->system, ZW_KIND_PARAM, "left");
    r->right = zw_id(r->system, ZW_KIND_PARAM, "right");
    r->lift = zw_id(r->system, ZW_KIND_PARAM, "lift");
    r->height = zw_id(r->system, ZW_KIND_COORD, "capsule.joint.z");
    return ZW_OK;
}

static void close_robot(robot *r)
{
    zw_state_free(r->state);
    zw_work_free(r->work);
    zw_system_free(r->system);
    zw_model_free(r->model);
}

/* How hard the left finger pressed on the capsule in the last step. */
static double grip_of(robot *r, zw_error *error)
{
    zw_contact list[32];
    zw_contact_sum sum[8];
    int left = zw_id(r->system, ZW_KIND_BODY, "left"),
        capsule = zw_id(r->system, ZW_KIND_BODY, "capsule");
    int count = zw_contacts(r->system, r->state, r->work, list, 32, error);
    int pairs = zw_contact_sums(list, count < 32 ? count : 32, sum, 8);
    double grip = 0;
    for (int k = 0; k < pairs && k < 8; k++) {
        int a = sum[k].body[0], b = sum[k].body[1];
        grip += (a == left && b == capsule) || (a == capsule && b == left) ? sum[k].normal : 0;
    }
    return grip;
}

static zw_status set(robot *r, int motor, double control, zw_error *error)
{
    return zw_state_set(r->system, r->state, r->work, ZW_FIELD_PARAM, motor, 1, &control, error);
}

/* One turn: down, then press harder until 1.5 N are measured, then lift. All at 20 cm a second. */
static zw_status turn(robot *r, double *press, double *height, zw_error *error)
{
    const double h = 0.005, low = -0.18;
    double t = zw_field(r->system, r->state, r->work, ZW_FIELD_TIME).data[0];
    double grip = grip_of(r, error);
    if (t < 1) {
        *height = *height > low ? *height - 0.2 * h : low;
    } else if (grip < 1.5) {
        *press += 2 * h;
    } else if (*height < 0) {
        *height += 0.2 * h;
    }
    zw_status status = set(r, r->left, *press, error);
    status = status == ZW_OK ? set(r, r->right, *press, error) : status;
    status = status == ZW_OK ? set(r, r->lift, *height, error) : status;
    return status == ZW_OK
               ? zw_step(r->system, r->state, r->work,
                         &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = h}, error)
               : status;
}

int main(int count, char **word)
{
    zw_error error = {.status = ZW_OK};
    robot r = {0};
    double press = -0.5, lift = 0, height = 0; /* the fingers begin open */
    zw_status status =
        open_robot(&r, count > 1 ? word[1] : "examples/contact/gripper_capsule.xml", &error);
    for (int k = 0; k <= 700 && status == ZW_OK; k++) {
        height = zw_field(r.system, r.state, r.work, ZW_FIELD_Q).data[r.height];
        if (k % 100 == 0) {
            printf("%.2f s: pressed with %.2f N, capsule at %.4f m\n", 0.005 * k,
                   grip_of(&r, &error), height);
        }
        status = turn(&r, &press, &lift, &error);
    }
    if (status != ZW_OK) {
        fprintf(stderr, "%s:%d: %s\n", error.file, error.line, error.text);
    }
    close_robot(&r);
    return status != ZW_OK || height < 0.2;
}
