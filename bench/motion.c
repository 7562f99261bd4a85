/* The cost of a motion: from the file to the first step, a step of a small system compared with the
 * same system written by hand in C, eight worlds at once, and long chains.
 *
 *     motion          all tables
 *     motion hand     the hand-written double pendulum alone, for a profiler
 *     motion one      ours alone
 *     motion lanes    ours, many worlds
 *     motion chain N  a chain of N points alone */
#include <dirent.h>
#include <string.h>

#include "measure.h"
#include "step/motion.h"
#include "step/ode/ode.h"
#include "zwang/batch.h"

enum { ROUNDS = 15, WORLDS = 64, STEPS = 12 };

static const double TIME = 10, EARLY = 2, TOLERANCE = 1e-10;

static void must(int good, const zw_error *error)
{
    if (!good) {
        fprintf(stderr, "bench/motion: %s\n", error->text);
        exit(2);
    }
}

static void must_be_ok(zw_status status, const zw_error *error)
{
    must(status == ZW_OK, error);
}

/* ---- A world ------------------------------------------------------------------------------- */

typedef struct world {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
} world;

static world world_of(const char *path, const zw_setting *settings, int count)
{
    zw_error error = {0};
    world w;
    w.model = zw_model_read(path, &(zw_read_options){.settings = settings, .setting_count = count},
                            &error);
    must(w.model != NULL, &error);
    w.system = zw_system_compile(w.model, NULL, &error);
    must(w.system != NULL, &error);
    w.work = zw_work_create(w.system, &error);
    must(w.work != NULL, &error);
    w.state = zw_state_create(w.system, w.work, NULL, &error);
    must(w.state != NULL, &error);
    return w;
}

static void world_free(world *w)
{
    zw_state_free(w->state);
    zw_work_free(w->work);
    zw_system_free(w->system);
    zw_model_free(w->model);
}

/* ---- The double pendulum by hand -------------------------------------------------------------
 *
 * With d = th1 - th2, M = m1 + m2 and the torques of the joints -c th1', -c th2':
 *
 *     | M l1^2          m2 l1 l2 cos d | |a1|   | -m2 l1 l2 sin d w2^2 - M g l1 sin th1 - c w1 |
 *     | m2 l1 l2 cos d  m2 l2^2        | |a2| = |  m2 l1 l2 sin d w1^2 - m2 g l2 sin th2 - c w2 |
 *
 * solved by Cramer's rule. The fifth state, if there is one, is the work of the joints. */
typedef struct pendulum {
    double m1, m2, l1, l2, c, g;
    int works;
} pendulum;

static zw_status by_hand(void *user, double t, const double *y, double *dy, zw_error *error)
{
    const pendulum *p = user;
    (void)t;
    (void)error;
    double w1 = y[2], w2 = y[3], d = y[0] - y[1], mass = p->m1 + p->m2;
    double coupling = p->m2 * p->l1 * p->l2, b = coupling * cos(d), twist = coupling * sin(d);
    double a = mass * p->l1 * p->l1, e = p->m2 * p->l2 * p->l2;
    double f1 = -twist * w2 * w2 - mass * p->g * p->l1 * sin(y[0]) - p->c * w1;
    double f2 = twist * w1 * w1 - p->m2 * p->g * p->l2 * sin(y[1]) - p->c * w2;
    double inverse = 1 / (a * e - b * b);
    dy[0] = w1;
    dy[1] = w2;
    dy[2] = (f1 * e - f2 * b) * inverse;
    dy[3] = (f2 * a - f1 * b) * inverse;
    if (p->works) {
        dy[4] = -p->c * (w1 * w1 + w2 * w2);
    }
    return ZW_OK;
}

static stepper *integrator(step_field *field, step_projection *project, void *user, int n)
{
    zw_error error = {0};
    const step_ode_options options = {.method = STEP_DOP853,
                                      .n = n,
                                      .field = field,
                                      .project = project,
                                      .user = user,
                                      .tolerance = TOLERANCE};
    stepper *ode = step_ode_create(&options, &error);
    must(ode != NULL, &error);
    return ode;
}

/* Seconds for the whole motion. */
static double integrate(stepper *ode, const double *y, double end)
{
    zw_error error = {0};
    double start = seconds_computed();
    must_be_ok(stepper_start(ode, 0, y, &error), &error);
    while (stepper_look(ode)->t < end) {
        must_be_ok(stepper_advance(ode, end, &error), &error);
    }
    return seconds_computed() - start;
}

/* ---- One world ----------------------------------------------------------------------------- */

typedef struct pair {
    world w;
    pendulum by_hand;
    step_motion motion;
    double stage[8], y[8];
    stepper *ours, *hand;
} pair;

static void pair_make(pair *p, const char *path, double c)
{
    zw_error error = {0};
    p->w = world_of(path, NULL, 0);
    p->motion = motion_of(p->w.system, p->w.work, p->stage);
    system_bind(p->w.system, p->w.work, state_param(p->w.state));
    must_be_ok(system_set_modes(p->w.system, p->w.work, state_mode(p->w.state), &error), &error);
    motion_pack(&p->motion, p->w.state, p->y);
    p->by_hand = (pendulum){1, 1, 1, 1, c, 9.81, p->motion.size > 4};
    p->ours = integrator(motion_field, motion_project, &p->motion, p->motion.size);
    p->hand = integrator(by_hand, NULL, &p->by_hand, p->motion.size);
}

static void pair_free(pair *p)
{
    stepper_free(p->ours);
    stepper_free(p->hand);
    world_free(&p->w);
}

static void print_pair(const char *name, const char *path, double c)
{
    pair p;
    double ratio[ROUNDS], ours[ROUNDS], hand[ROUNDS], differ = 0;
    pair_make(&p, path, c);
    for (int k = 0; k < ROUNDS; k++) {
        hand[k] = integrate(p.hand, p.y, TIME);
        ours[k] = integrate(p.ours, p.y, TIME);
        ratio[k] = ours[k] / hand[k];
    }
    const stepper_view *a = stepper_look(p.ours), *b = stepper_look(p.hand);
    long steps[2] = {a->steps, b->steps}, rejected[2] = {a->rejected, b->rejected};
    double evaluations[2] = {(double)a->evaluations, (double)b->evaluations};
    integrate(p.hand, p.y, EARLY); /* before chaos has enlarged round-off */
    integrate(p.ours, p.y, EARLY);
    for (int i = 0; i < 4; i++) {
        differ = fmax(differ, fabs(a->y[i] - b->y[i]));
    }
    double slow = median(ratio, ROUNDS);
    printf("| %s | **%.2f** | %.0f | %.0f | %ld, %ld | %ld, %ld | %.1e |\n", name, slow,
           1e9 * median(ours, ROUNDS) / evaluations[0], 1e9 * median(hand, ROUNDS) / evaluations[1],
           steps[0], steps[1], rejected[0], rejected[1], differ);
    pair_free(&p);
}

/* Two points and two rods: accelerations and multipliers from the kernel, and projections. */
static void print_rods(const char *path)
{
    world w = world_of(path, NULL, 0);
    double stage[16], y[16], spent[ROUNDS];
    step_motion motion = motion_of(w.system, w.work, stage);
    zw_error error = {0};
    system_bind(w.system, w.work, state_param(w.state));
    must_be_ok(system_set_modes(w.system, w.work, state_mode(w.state), &error), &error);
    motion_pack(&motion, w.state, y);
    stepper *ode = integrator(motion_field, motion_project, &motion, motion.size);
    for (int k = 0; k < ROUNDS; k++) {
        spent[k] = integrate(ode, y, 1);
    }
    const stepper_view *at = stepper_look(ode);
    double violation[2];
    must_be_ok(system_violation(w.system, w.work, at->t, at->y, at->y + 4, violation, &error),
               &error);
    printf("\nIn Cartesian coordinates, with two rods as constraints (`double_pendulum.zw`): %.0f "
           "ns an "
           "evaluation, projections included; violation %.1e, certificate %.1e.\n",
           1e9 * median(spent, ROUNDS) / (double)at->evaluations, fmax(violation[0], violation[1]),
           w.work->certificate);
    stepper_free(ode);
    world_free(&w);
}

/* ---- Many worlds --------------------------------------------------------------------------- */

/* World i: its own lengths, masses and angles; in the order of the parameters m1 m2 l1 l2 of the
 * file. */
static pendulum variant(int i, int works, double c, double *q)
{
    double x = (double)(i * 37 % WORLDS) / WORLDS, z = (double)(i * 23 % WORLDS) / WORLDS;
    q[0] = 2.0 + 0.2 * x;
    q[1] = 2.5 - 0.2 * z;
    return (pendulum){1, 1 - 0.1 * x, 1 + 0.1 * z, 1 + 0.1 * x, c, 9.81, works};
}

typedef struct crowd {
    world w;
    zw_batch *batch;
    double c;
} crowd;

static void crowd_make(crowd *g, const char *path, double c)
{
    zw_error error = {0};
    g->w = world_of(path, NULL, 0);
    g->c = c;
    g->batch = zw_batch_create(
        &(zw_batch_def){.system = g->w.system, .worlds = WORLDS, .threads = 1}, &error);
    must(g->batch != NULL, &error);
}

static void crowd_free(crowd *g)
{
    zw_batch_free(g->batch);
    world_free(&g->w);
}

static double crowd_run(crowd *g)
{
    zw_error error = {0};
    const zw_run_options options = {.time = TIME, .tolerance = TOLERANCE};
    for (int i = 0; i < WORLDS; i++) {
        double *q = zw_batch_field(g->batch, i, ZW_FIELD_Q);
        double *v = zw_batch_field(g->batch, i, ZW_FIELD_V);
        double *param = zw_batch_field(g->batch, i, ZW_FIELD_PARAM);
        pendulum p = variant(i, 0, 0, q);
        v[0] = v[1] = *zw_batch_field(g->batch, i, ZW_FIELD_TIME) = 0;
        if (g->w.system->works) {
            v[2] = 0; /* the work done follows the speeds */
        }
        memcpy(param, (double[]){p.m1, p.m2, p.l1, p.l2}, 4 * sizeof *param);
    }
    double start = seconds_computed();
    must_be_ok(zw_batch_run(g->batch, &options, &error), &error);
    return seconds_computed() - start;
}

static double crowd_by_hand(const crowd *g, long *evaluations)
{
    double spent = 0;
    *evaluations = 0;
    for (int i = 0; i < WORLDS; i++) {
        double y[5] = {0};
        pendulum p = variant(i, g->w.system->works, g->c, y);
        stepper *ode = integrator(by_hand, NULL, &p, 4 + p.works);
        spent += integrate(ode, y, TIME);
        *evaluations += stepper_look(ode)->evaluations;
        stepper_free(ode);
    }
    return spent;
}

static void print_crowd(const char *name, const char *path, double c)
{
    crowd g;
    double ratio[ROUNDS], ours[ROUNDS], hand[ROUNDS];
    long by_hand_evaluations = 0, evaluations = 0;
    crowd_make(&g, path, c);
    for (int k = 0; k < ROUNDS; k++) {
        hand[k] = crowd_by_hand(&g, &by_hand_evaluations);
        ours[k] = crowd_run(&g);
        ratio[k] = hand[k] / ours[k];
    }
    for (int i = 0; i < WORLDS; i++) {
        evaluations += zw_batch_look(g.batch, i).evaluations;
    }
    double fast = median(ratio, ROUNDS), seconds = TIME * WORLDS;
    printf("| %s | **%.2f** | %.1f | %.1f | %.0f | %.0f |\n", name, fast,
           1e6 * median(ours, ROUNDS) / seconds, 1e6 * median(hand, ROUNDS) / seconds,
           1e9 * median(ours, ROUNDS) / (double)evaluations,
           1e9 * median(hand, ROUNDS) / (double)by_hand_evaluations);
    crowd_free(&g);
}

/* ---- From the file to the first step ------------------------------------------------------- */

static int stop_now(void *user, double time)
{
    (void)time;
    int *left = user;
    return --*left <= 0;
}

static double first_step(const char *path)
{
    zw_error error = {0};
    zw_run_summary summary;
    int left = 1;
    double start = seconds_computed();
    world w = world_of(path, NULL, 0);
    const zw_run_options options = {.every = 1e9, .poll = stop_now, .user = &left};
    must_be_ok(zw_run(w.system, w.state, w.work, &options, &summary, &error), &error);
    double spent = seconds_computed() - start;
    world_free(&w);
    return spent;
}

static void print_first_steps(void)
{
    char worst[256] = "";
    double most = 0, all[256];
    int count = 0;
    DIR *folder = opendir(ZW_SOURCE_DIR "/examples");
    for (struct dirent *file; folder && (file = readdir(folder)) != NULL;) {
        char path[1024];
        const char *end = strrchr(file->d_name, '.');
        if (end == NULL || strcmp(end, ".zw") != 0 || count == 256) {
            continue;
        }
        snprintf(path, sizeof path, "%s/examples/%s", ZW_SOURCE_DIR, file->d_name);
        double spent[5];
        for (int k = 0; k < 5; k++) {
            spent[k] = first_step(path);
        }
        all[count] = median(spent, 5);
        if (all[count] > most) {
            most = all[count];
            snprintf(worst, sizeof worst, "%s", file->d_name);
        }
        count++;
    }
    if (folder) {
        closedir(folder);
    }
    printf("\n## From file to first step\n\n");
    printf("Reading, deriving, compiling, assembly and the first step of each of the %d examples, "
           "processor time: "
           "median %.2f ms, worst **%.2f ms** (`%s`).\n",
           count, 1e3 * median(all, count), 1e3 * most, worst);
}

/* ---- Chains -------------------------------------------------------------------------------- */

typedef struct steps_seen {
    int count;
    double start, end;
} steps_seen;

static int watch_steps(void *user, double time)
{
    (void)time;
    steps_seen *seen = user;
    if (seen->count == 0) {
        seen->start = seconds_computed();
    }
    seen->end = seconds_computed();
    return seen->count++ == STEPS;
}

typedef struct chain_cost {
    double step, evaluation; /* seconds per point */
    double compile;
    zw_run_summary summary;
} chain_cost;

static chain_cost chain(int n)
{
    chain_cost cost;
    zw_error error = {0};
    const zw_setting points = {"n", n};
    steps_seen seen = {0};
    double start = seconds_computed();
    world w = world_of(ZW_SOURCE_DIR "/examples/chain.zw", &points, 1);
    cost.compile = seconds_computed() - start;
    const zw_run_options options = {.every = 1e9, .poll = watch_steps, .user = &seen};
    must_be_ok(zw_run(w.system, w.state, w.work, &options, &cost.summary, &error), &error);
    double spent = (seen.end - seen.start) / n;
    double share = (double)(seen.count - 1) / (double)seen.count;
    cost.step = spent / (seen.count - 1);
    cost.evaluation = spent / (share * (double)cost.summary.evaluations);
    world_free(&w);
    return cost;
}

static void print_chains(void)
{
    static const int size[] = {100, 300, 1000, 3000, 10000};
    double least = INFINITY, most = 0;
    printf("\n## Chains in Cartesian coordinates\n\n");
    printf("| points | us a step and point | ns an evaluation and point | steps, rejected | "
           "violation | "
           "certificate | file to start, ms |\n|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        enum { RUNS = 3 };
        double step[RUNS], evaluation[RUNS];
        chain_cost cost;
        for (int i = 0; i < RUNS; i++) {
            cost = chain(size[k]);
            step[i] = cost.step;
            evaluation[i] = cost.evaluation;
        }
        double now = median(step, RUNS);
        least = fmin(least, now);
        most = fmax(most, now);
        printf("| %d | **%.2f** | %.0f | %ld, %ld | %.1e | %.1e | %.1f |\n", size[k], 1e6 * now,
               1e9 * median(evaluation, RUNS), cost.summary.steps, cost.summary.rejected,
               fmax(cost.summary.violation_position, cost.summary.violation_velocity),
               cost.summary.certificate, 1e3 * cost.compile);
        fflush(stdout);
    }
    printf("\nMost over least: **%.2f**.\n", most / least);
}

/* ---- All ----------------------------------------------------------------------------------- */

static const char *const PLAIN = ZW_SOURCE_DIR "/bench/double_pendulum.zw",
                         *const DAMPED = ZW_SOURCE_DIR "/examples/double_pendulum_angles.zw",
                         *const RODS = ZW_SOURCE_DIR "/examples/double_pendulum.zw";

static void lanes(void)
{
    crowd g;
    crowd_make(&g, PLAIN, 0);
    crowd_run(&g);
    crowd_free(&g);
}

static void one(int hand)
{
    pair p;
    pair_make(&p, PLAIN, 0);
    for (int k = 0; k < 20; k++) {
        integrate(hand ? p.hand : p.ours, p.y, TIME);
    }
    pair_free(&p);
}

int main(int count, char **argument)
{
    if (count > 1) {
        if (strcmp(argument[1], "chain") == 0 && count > 2) {
            chain_cost cost = chain(atoi(argument[2]));
            printf("%g us a step and point\n", 1e6 * cost.step);
        } else if (strcmp(argument[1], "lanes") == 0) {
            lanes();
        } else {
            one(strcmp(argument[1], "hand") == 0);
        }
        return 0;
    }
    printf("## The double pendulum, one world\n\n");
    printf("DOP853, tolerance %.0e, %g s; processor time, median of %d rounds, both in every "
           "round.\n\n",
           TOLERANCE, TIME, ROUNDS);
    printf("| angles | times slower than by hand | ns an evaluation | by hand | steps | rejected | "
           "difference at 2 s |\n|---|---|---|---|---|---|---|\n");
    print_pair("no friction", PLAIN, 0);
    print_pair("friction in the joints", DAMPED, 0.02);
    print_rods(RODS);
    printf("\n## The double pendulum, %d worlds in eight lanes\n\n", WORLDS);
    printf(
        "Different masses, lengths and angles, each with its own steps; by hand they run one after "
        "another.\n\n");
    printf("| angles | times faster than by hand | us a world and second | by hand | ns an "
           "evaluation | "
           "by hand |\n|---|---|---|---|---|---|\n");
    print_crowd("no friction", PLAIN, 0);
    print_crowd("friction in the joints", DAMPED, 0.02);
    print_first_steps();
    print_chains();
    return 0;
}
