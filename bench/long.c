/* A million steps of conservative constrained systems with the structure-preserving methods: does
 * the energy drift, do the constraints hold? Robots are made conservative: without dampers, motors.
 *
 *     long [steps]      1000000 without
 *
 * The gain is that of the least-squares line through the energy over the whole run; it should be
 * compared with the amplitude of the energy's oscillation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "zwang/bodies.h"
#include "zwang/zwang.h"

typedef struct fit {
    double n, t, e, tt, te, ee, first, swing;
} fit;

static int add(void *user, zw_sample_kind kind, int event, const zw_system *system,
               const zw_state *state, zw_work *work)
{
    fit *f = user;
    double t = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
    double e = zw_field(system, state, work, ZW_FIELD_ENERGY).data[0];
    (void)kind;
    (void)event;
    f->first = f->n > 0 ? f->first : e;
    e -= f->first;
    f->n += 1;
    f->t += t;
    f->e += e;
    f->tt += t * t;
    f->te += t * e;
    f->ee += e * e;
    f->swing = fmax(f->swing, fabs(e));
    return 0;
}

/* Removes from a robot whatever does work, and starts from the keyframe. */
static zw_status make_conservative(zw_model *model, const char *key, zw_error *error)
{
    zw_status status = ZW_OK;
    for (int i = zw_model_count(model, ZW_KIND_ACTUATOR); status == ZW_OK && i > 0; i--) {
        status = zw_model_remove(model, ZW_KIND_ACTUATOR, i - 1, error);
    }
    for (int i = 0; status == ZW_OK && i < zw_model_count(model, ZW_KIND_JOINT); i++) {
        zw_joint_def joint = *(const zw_joint_def *)zw_model_def(model, ZW_KIND_JOINT, i);
        joint.damping = 0;
        status = zw_model_change(model, ZW_KIND_JOINT, i, &joint, error);
    }
    int index = zw_model_find(model, ZW_KIND_KEY, key);
    if (status == ZW_OK && index >= 0) {
        zw_key_def start = *(const zw_key_def *)zw_model_def(model, ZW_KIND_KEY, index);
        start.start = 1;
        status = zw_model_change(model, ZW_KIND_KEY, index, &start, error);
    }
    return status;
}

/* key: of a robot, or NULL. */
static int row(const char *name, const char *key, zw_method method, double step, long steps)
{
    char path[512];
    zw_error error = {0};
    snprintf(path, sizeof path, "%s/examples/%s", ZW_SOURCE_DIR, name);
    zw_model *model = zw_model_read(path, NULL, &error);
    if (model && key && make_conservative(model, key, &error) != ZW_OK) {
        zw_model_free(model);
        model = NULL;
    }
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, &error) : NULL;
    fit f = {0};
    zw_run_summary summary = {0};
    double time = step * (double)steps;
    const zw_run_options options = {.time = time,
                                    .every = time / 5000,
                                    .step = step,
                                    .method = method,
                                    .observer = add,
                                    .user = &f};
    clock_t start = clock();
    zw_status status =
        state ? zw_run(system, state, work, &options, &summary, &error) : error.status;
    if (status != ZW_OK) {
        printf("%s: %s\n", name, error.text);
    } else {
        double spread = f.tt - f.t * f.t / f.n;
        double slope = (f.te - f.t * f.e / f.n) / spread;
        double rest = f.ee - f.e * f.e / f.n - slope * slope * spread;
        double doubt = sqrt(rest / (f.n - 2) / spread);
        printf("| %s | %s | %g | %ld | %.2g | %.2g | %.2g | %.2g | %.2g | %.1f |\n", name,
               zw_method_name(method), step, summary.steps, f.swing, slope * time, 2 * doubt * time,
               summary.violation_position, summary.violation_velocity,
               1e6 * (double)(clock() - start) / CLOCKS_PER_SEC / (double)summary.steps);
    }
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
    return status != ZW_OK;
}

int main(int count, char **word)
{
    long steps = count > 1 ? atol(word[1]) : 1000000;
    printf("| system | method | step | steps | energy swings by | line gains | "
           "and its doubt (2 sigma) | violation, position | velocity | us a step |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
    zw_method variational = ZW_METHOD_VARIATIONAL, midpoint = ZW_METHOD_MIDPOINT;
    int failed = row("double_pendulum.zw", NULL, variational, 2e-4, steps);
    failed |= row("four_bar.zw", NULL, variational, 2e-4, steps);
    failed |= row("spherical_pendulum.zw", NULL, variational, 1e-3, steps);
    failed |= row("bodies/four_bar.xml", "up", midpoint, 1e-3, steps);
    failed |= row("bodies/gyroscope.xml", "spinning", midpoint, 5e-4, steps);
    failed |= row("bodies/gyroscope.xml", "spinning", variational, 5e-4, steps);
    return failed;
}
