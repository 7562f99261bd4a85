/* Chains in maximal coordinates: the cost of an acceleration, and the violation of the joints.
 *
 *     maximal [T]     tables; times are those of this thread, the least of several runs; T: how
 * long the heavy chains move (0.1)
 *
 * Besides every time the table has the certificate of the answer, and the difference of the
 * joint accelerations from those of the O(n) sweeps in reduced coordinates, relative to the
 * largest. In the second table the gap is the largest violation of any joint at any step, in
 * metres or radians. */
#include <string.h>

#include "measure.h"
#include "system/work.h"
#include "zwang/bodies.h"

typedef struct stage {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
} stage;

static void demand(int ok, const zw_error *error)
{
    if (!ok) {
        fprintf(stderr, "%s\n", error->text);
        exit(1);
    }
}

/* Links of 0.1 m and 0.1 kg, hinges crosswise; the last one has `heavy` times the mass. */
static zw_model *chain(int links, double heavy)
{
    zw_error error = {0};
    zw_model *model = zw_model_create(&error);
    demand(model != NULL, &error);
    for (int i = 0, parent = 0; i < links; i++) {
        zw_body_def body = zw_body_default();
        zw_joint_def joint = zw_joint_default();
        double mass = 0.1 * (i == links - 1 ? heavy : 1);
        body.parent = parent;
        body.pos[0] = i == 0 ? 0 : 0.1;
        body.inertial = 1;
        body.mass = mass;
        body.com[0] = 0.05;
        body.inertia[0] = 1e-5 * mass;
        body.inertia[1] = body.inertia[2] = 1e-3 * mass;
        parent = zw_model_add_body(model, &body, &error);
        demand(parent > 0, &error);
        joint.body = parent;
        joint.axis[0] = i % 2;
        joint.axis[1] = 1 - i % 2;
        joint.axis[2] = 0;
        demand(zw_model_add_joint(model, &joint, &error) >= 0, &error);
    }
    return model;
}

static stage stage_of(zw_model *model, int maximal)
{
    zw_error error = {0};
    zw_world_def world = *zw_model_world(model);
    stage s = {.model = model};
    world.maximal = maximal;
    demand(zw_model_set_world(model, &world, &error) == ZW_OK, &error);
    s.system = zw_system_compile(model, NULL, &error);
    demand(s.system != NULL, &error);
    s.work = zw_work_create(s.system, &error);
    demand(s.work != NULL, &error);
    s.state = zw_state_create(s.system, s.work, NULL, &error);
    demand(s.state != NULL, &error);
    return s;
}

static void stage_end(stage *s)
{
    zw_state_free(s->state);
    zw_work_free(s->work);
    zw_system_free(s->system);
    zw_model_free(s->model);
}

/* Least time of an acceleration, evaluated as in the steps of a run. */
static double accelerate(stage *s, int runs)
{
    double least = INFINITY;
    for (int k = 0; k < runs; k++) {
        zw_error error = {0};
        double start = seconds_computed();
        demand(system_accelerate(s->system, s->work, 0, state_q(s->state), state_v(s->state),
                                 s->work->a, &error) == ZW_OK,
               &error);
        least = fmin(least, seconds_computed() - start);
    }
    return least;
}

static void cost(int links)
{
    stage tree = stage_of(chain(links, 1), 0), free = stage_of(chain(links, 1), 1);
    double fast = accelerate(&tree, 15), time = accelerate(&free, 15), apart = 0, size = 0;
    const double *a = tree.work->a, *b = free.work->a + 6 * links; /* joints follow the bodies */
    for (int i = 0; i < links; i++) {
        apart = fmax(apart, fabs(a[i] - b[i]));
        size = fmax(size, fabs(a[i]));
    }
    printf("%6d %8d %8d %12.3f %12.2f %12.4f %10.1e %10.1e\n", links, free.system->n,
           free.system->m, 1e3 * time, 1e6 * time / links, 1e3 * fast, apart / size,
           free.work->certificate);
    stage_end(&tree);
    stage_end(&free);
}

static void hang(int links, double time)
{
    stage s = stage_of(chain(links, 1e6), 1);
    zw_error error = {0};
    zw_run_summary summary;
    const zw_run_options options = {.time = time, .tolerance = 1e-8, .every = 0.1 * time};
    double start = seconds_computed();
    demand(zw_run(s.system, s.state, s.work, &options, &summary, &error) == ZW_OK, &error);
    printf("%6d %8g %8ld %10.1e %10.1e %10.1e %10.1f\n", links, time, summary.steps,
           summary.violation_position, summary.energy_drift, summary.certificate,
           seconds_computed() - start);
    fflush(stdout);
    stage_end(&s);
}

int main(int argc, char **argv)
{
    static const int links[] = {30, 100, 300, 1000};
    printf("an acceleration in maximal coordinates\n");
    printf("%6s %8s %8s %12s %12s %12s %10s %10s\n", "links", "speeds", "rows", "ms", "us/link",
           "ms reduced", "apart", "certif.");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        cost(links[i]);
    }
    printf("\na mass of 10^6 links at the end, falling from a level chain at rest\n");
    printf("%6s %8s %8s %10s %10s %10s %10s\n", "links", "time", "steps", "gap", "drift", "certif.",
           "seconds");
    hang(100, argc > 1 ? atof(argv[1]) : 0.1);
    hang(1000, argc > 1 ? atof(argv[1]) : 0.1);
    return 0;
}
