/* Whole steps compared with MuJoCo's: humanoids fall to the floor and lie there; collision
 * detection is included.
 *
 *     peers                          tables; times are those of this thread
 *     peers --count MODEL ENGINE STEPS   only these steps: tools/count-instructions counts them
 *
 * MODEL is `humanoid` or `humanoids` (22 of it, on a circle), ENGINE `mujoco`, `coulomb` (method
 * impulse with Coulomb's law, one linearisation per step) or `soft` (MuJoCo's own law). All have
 * the same model, step and start. One round runs every engine once, from the start; a ratio is the
 * median over the rounds.
 *
 * Residual: for the soft law the norm of the gradient of the function that both minimise, which
 * MuJoCo compares with its tolerance (divided by meaninertia times the number of speeds); for
 * Coulomb's law the certificate. Both are the largest of the run. */
#include <string.h>

#ifdef ZW_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

#include "measure.h"
#include "step/impulse/impulse.h"
#include "step/soft_step.h"

#define HUMANOID "/work/shared/models/mujoco_samples/humanoid.xml"
#define STEP 0.005 /* of the file */

enum { ROUNDS = 7, CROWD = 22 };
typedef enum engine { MUJOCO, COULOMB, SOFT, ENGINES } engine;
static const char *const engine_name[] = {"mujoco", "coulomb", "soft"};

/* ---- One text of MJCF for all --------------------------------------------------------------- */

static char *text_of_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    char *text = allocate(1 << 20, 1);
    text[fread(text, 1, (1 << 20) - 1, file)] = 0;
    fclose(file);
    return text;
}

/* The part of a text from one string to the end of another; "" if either is missing. */
static char *between(const char *text, const char *from, const char *to)
{
    const char *begin = strstr(text, from), *end = begin ? strstr(begin, to) : NULL;
    size_t length = end ? (size_t)(end - begin) + strlen(to) : 0;
    char *part = allocate(length + 1, 1);
    if (length > 0) {
        memcpy(part, begin, length);
    }
    return part;
}

/* Appends `part`, with "-k" added to its names. */
static void append_named(char *to, const char *part, int k)
{
    static const char *const attribute[] = {" name=\"", " joint=\"", " body1=\"", " body2=\""};
    char *end = to + strlen(to);
    while (*part) {
        const char *quote = NULL;
        for (int i = 0; i < 4; i++) {
            size_t length = strlen(attribute[i]);
            if (strncmp(part, attribute[i], length) == 0) {
                quote = strchr(part + length, '"');
            }
        }
        if (quote) {
            end += sprintf(end, "%.*s-%d", (int)(quote - part), part, k);
            part = quote;
        }
        *end++ = *part++;
    }
    *end = 0;
}

/* Many copies of the file's humanoid around the centre, without lights, cameras and keyframes. */
static char *crowd_of(const char *one)
{
    static const char torso[] = "<body name=\"torso\" pos=\"0 0 1.282\" childclass=\"body\">";
    char *defaults = between(one, "<default>", "</default>\n\n  <worldbody>");
    char *body = between(one, torso, "</worldbody>");
    char *text = allocate(1 << 20, 1);
    *strstr(defaults, "<worldbody>") = 0;
    *strstr(body, "</worldbody>") = 0;
    strcat(text, "<mujoco><option timestep=\"0.005\"/><asset><material name=\"body\"/></asset>");
    strcat(text, defaults);
    strcat(text, "<worldbody><geom name=\"floor\" size=\"0 0 .05\" type=\"plane\" condim=\"3\"/>");
    for (int k = 0; k < CROWD; k++) {
        double angle = 2 * acos(-1) * k / CROWD;
        sprintf(text + strlen(text),
                "<body name=\"torso-%d\" pos=\"%.12g %.12g 1.282\" euler=\"0 0 %.12g\" "
                "childclass=\"body\">",
                k, 4 * sin(angle), -4 * cos(angle), 360.0 * k / CROWD);
        append_named(text, body + strlen(torso), k);
    }
    strcat(text, "</worldbody>");
    static const char *const section[] = {"contact", "tendon", "actuator"};
    for (int i = 0; i < 3; i++) {
        char from[40], to[40];
        snprintf(from, sizeof from, "<%s>", section[i]);
        snprintf(to, sizeof to, "</%s>", section[i]);
        char *part = between(one, from, to);
        for (int k = 0; k < CROWD; k++) {
            append_named(text, part, k);
        }
        free(part);
    }
    strcat(text, "</mujoco>");
    free(defaults);
    free(body);
    return text;
}

static char *text_of(const char *model)
{
    char *one = text_of_file(HUMANOID);
    if (!one || strcmp(model, "humanoids") != 0) {
        return one;
    }
    char *all = crowd_of(one);
    free(one);
    return all;
}

/* ---- A run from the start ------------------------------------------------------------------- */

typedef struct figures {
    double seconds, contacts, rows, iterations; /* per step */
    double residual, depth;                     /* the largest */
    double height;                              /* of the first torso, at the end */
    int failed;
    char reason[1024];
} figures;

static figures fail(const char *reason)
{
    figures f = {.failed = 1};
    snprintf(f.reason, sizeof f.reason, "%s", reason);
    return f;
}

static double mean_inertia = 1; /* of all speeds: MuJoCo's scale of its residual */

#ifdef ZW_HAVE_MUJOCO
static mjModel *load(const char *text, char *problem, int size)
{
    mjVFS *vfs = allocate(1, sizeof *vfs);
    mjModel *m = NULL;
    mj_defaultVFS(vfs);
    if (mj_makeEmptyFileVFS(vfs, "model.xml", (int)strlen(text)) == 0) {
        memcpy(vfs->filedata[0], text, strlen(text));
        m = mj_loadXML("model.xml", vfs, problem, size);
    }
    mj_deleteVFS(vfs);
    free(vfs);
    if (m) { /* enough memory, so that it drops no contact */
        m->nconmax = 60 * (m->nv / 27 + 1);
        m->njmax = 5 * m->nconmax;
        m->nstack = 4000000;
    }
    return m;
}

static figures run_mujoco(const char *text, long steps)
{
    figures f = {0};
    char problem[300] = "not read";
    mjModel *m = load(text, problem, sizeof problem);
    mjData *d = m ? mj_makeData(m) : NULL;
    if (!d) {
        return fail(problem);
    }
    mean_inertia = m->stat.meaninertia * fmax(1, m->nv);
    double start = seconds_computed();
    for (long k = 0; k < steps; k++) {
        mj_step(m, d);
        f.contacts += d->ncon;
        f.rows += d->nefc;
        f.iterations += d->solver_iter;
        if (d->nefc > 0 && d->solver_iter > 0) {
            int last = d->solver_iter < mjNSOLVER ? d->solver_iter : mjNSOLVER;
            f.residual = fmax(f.residual, d->solver[last - 1].gradient);
        }
        for (int i = 0; i < d->ncon; i++) {
            f.depth = fmax(f.depth, -d->contact[i].dist);
        }
    }
    f.seconds = seconds_computed() - start;
    f.height = d->qpos[2];
    mj_deleteData(d);
    mj_deleteModel(m);
    return f;
}
#else
static figures run_mujoco(const char *text, long steps)
{
    (void)text;
    (void)steps;
    return fail("built without MuJoCo");
}
#endif

typedef struct world {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
    zw_error error;
} world;

static int open_world(world *w, const char *text)
{
    *w = (world){.model = zw_model_parse(text, "model.xml", NULL, &w->error)};
    w->system = w->model ? zw_system_compile(w->model, NULL, &w->error) : NULL;
    w->work = w->system ? zw_work_create(w->system, &w->error) : NULL;
    w->state = w->work ? zw_state_create(w->system, w->work, NULL, &w->error) : NULL;
    if (w->state) {
        system_bind(w->system, w->work, state_param(w->state));
    }
    return w->state != NULL;
}

static void close_world(world *w)
{
    zw_state_free(w->state);
    zw_work_free(w->work);
    zw_system_free(w->system);
    zw_model_free(w->model);
}

static void run_coulomb(world *w, long steps, figures *f)
{
    step_impulse *s = impulse_create(w->system, w->work, &w->error);
    double *q = state_q(w->state), *v = state_v(w->state);
    f->failed = s == NULL;
    if (s) {
        impulse_set_tolerance(s, 1);
    }
    double start = seconds_computed();
    for (long k = 0; k < steps && !f->failed; k++) {
        f->failed = impulse_step(s, 0, STEP, q, v, q, v, &w->error) != ZW_OK;
        f->contacts += s->touch.found.count;
        f->rows += s->problem.rows;
        f->iterations += s->problem.answer.iterations;
        f->residual = fmax(f->residual, s->residual);
        for (int i = 0; i < s->touch.found.count; i++) {
            f->depth = fmax(f->depth, -s->touch.found.point[i].gap);
        }
    }
    f->seconds = seconds_computed() - start;
    impulse_free(s);
}

static void run_soft(world *w, long steps, figures *f)
{
    soft_problem *s = NULL;
    double *q = state_q(w->state), *v = state_v(w->state), gained;
    f->failed = soft_create(w->system, w->work, STEP, &s, &w->error) != ZW_OK;
    double start = seconds_computed();
    for (long k = 0; k < steps && !f->failed; k++) {
        f->failed = soft_step(s, (double)k * STEP, STEP, q, v, q, v, &gained, &w->error) != ZW_OK;
        f->contacts += s->contacts;
        f->rows += s->rows;
        f->iterations += s->iterations;
        f->residual = fmax(f->residual, s->slope / mean_inertia);
        for (int i = 0; i < s->contacts; i++) {
            f->depth = fmax(f->depth, -s->found.point[s->block[s->first_contact + i].of].gap);
        }
    }
    f->seconds = seconds_computed() - start;
    soft_free(s);
}

static figures run(const char *text, engine e, long steps)
{
    world w;
    figures f = {0};
    if (e == MUJOCO) {
        f = run_mujoco(text, steps);
    } else if (!open_world(&w, text)) {
        f = fail(w.error.text);
        close_world(&w);
    } else {
        (e == SOFT ? run_soft : run_coulomb)(&w, steps, &f);
        f.height = state_q(w.state)[2];
        snprintf(f.reason, sizeof f.reason, "%s", w.error.text);
        close_world(&w);
    }
    double *a_step[] = {&f.seconds, &f.contacts, &f.rows, &f.iterations};
    for (int k = 0; k < 4; k++) {
        *a_step[k] /= (double)steps;
    }
    return f;
}

/* ---- Tables --------------------------------------------------------------------------------- */

static void compare(const char *model, long steps, int rounds)
{
    char *text = text_of(model);
    double seconds[ENGINES][ROUNDS], ratio[ENGINES][ROUNDS];
    figures f[ENGINES] = {0};
    for (int round = 0; round < rounds; round++) {
        for (int e = 0; e < ENGINES; e++) {
            f[e] = run(text, (engine)e, steps);
            seconds[e][round] = f[e].seconds;
            ratio[e][round] = f[MUJOCO].seconds / f[e].seconds;
        }
    }
    for (int e = 0; e < ENGINES; e++) {
        if (f[e].failed) {
            printf("| %s | %s | *%s* |\n", model, engine_name[e], f[e].reason);
            continue;
        }
        printf("| %s | %s | ", model, engine_name[e]);
        printf(f[MUJOCO].failed ? " |" : "%.2f |", median(ratio[e], rounds));
        printf(" %.2f | %.1f | %.1f | %.2f | %.1e | %.1e | %.4f |\n",
               1e6 * median(seconds[e], rounds), f[e].contacts, f[e].rows, f[e].iterations,
               f[e].residual, f[e].depth, f[e].height);
    }
    fflush(stdout);
    free(text);
}

static int count(const char *model, const char *engine_wanted, long steps)
{
    char *text = text_of(model);
    if (!text || steps < 0) {
        fprintf(stderr, "peers: no " HUMANOID ", or no number of steps\n");
        return 77;
    }
    for (int e = 0; e < ENGINES; e++) {
        if (strcmp(engine_wanted, engine_name[e]) == 0) {
            figures f = run(text, (engine)e, steps);
            free(text);
            fprintf(stderr, "%s", f.failed ? f.reason : "");
            return f.failed ? 77 : 0;
        }
    }
    free(text);
    fprintf(stderr, "peers: engines are mujoco, coulomb, soft\n");
    return 2;
}

int main(int arguments, char **argument)
{
    if (arguments == 5 && strcmp(argument[1], "--count") == 0) {
        return count(argument[2], argument[3], atol(argument[4]));
    }
    FILE *file = fopen(HUMANOID, "rb");
    if (!file) {
        printf("Skipped: there is no " HUMANOID " here.\n");
        return 0;
    }
    fclose(file);
    printf(
        "\n## Humanoids on the floor\n\n"
        "| model | engine | MuJoCo's time / this | us a step | contacts | rows | iterations | "
        "worst residual | depth [m] | torso at [m] |\n|---|---|---|---|---|---|---|---|---|---|\n");
    compare("humanoid", 1000, ROUNDS);
    compare("humanoids", 1000, 5);
    return 0;
}
