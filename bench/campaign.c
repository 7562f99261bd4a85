/* The full random campaign: seeded problems of all sizes, kinds, ranks and units; each answer is
 * checked by zw_gauss_certify, and each unsolved seed is listed.
 *
 *     campaign [PROBLEMS [FIRST_SEED [PROCESSES]]]
 *
 * PROBLEMS (100 000, or the environment variable CAMPAIGN_PROBLEMS) is the size of the main set;
 * the others scale with it:
 *
 *     convex      everything at full difficulty: condition 1e8, mass ratio 1e6, deficient ranks
 *     massless    the same with singular metrics                                           1/20
 *     parallel    the same with rows that are parallel to 1e-5: harder than required      1/10
 *     conflict    contradictory problems: the right answer is to report that       1/20
 *     Coulomb     every family of contact scenes, 1/5 in all
 *     closing     walls that close in on a body: no solution                                  1/100
 *
 * Every fifth problem is solved again from the multipliers of a problem whose free motion differs
 * by 1e-3. Fails if an answer called solved is not, or a convex problem with a known admissible
 * motion is called contradictory. */
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"
#include "scene/dice.h"
#include "scene/scene.h"

enum { WARM_EVERY = 5, NAME = 32, METHODS = 12, SETS = SCENE_FAMILIES + 5, LISTED = 40 };

static const double convex_tolerance = 1e-10, coulomb_tolerance = 1e-8;

/* ---- Sets --------------------------------------------------------------------------------- */

typedef enum promise { SOLVABLE, CONTRADICTORY, NO_COULOMB } promise;

typedef struct set {
    char name[24];
    zw_contact_law law;
    promise promise;
    scene_random_params params; /* of random ones */
    int family;                 /* of contact ones; -1: random */
    int count;
} set;

static set *set_named(set *s, const char *name, int count)
{
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s", name);
    s->count = count > 0 ? count : 1;
    s->family = -1;
    s->law = ZW_CONTACT_CONVEX;
    s->params = scene_random_everything(1);
    s->params.features &= ~(unsigned)SCENE_PARALLEL;
    return s;
}

static void sets_fill(set *list, int problems)
{
    set_named(&list[0], "convex", problems);
    set_named(&list[1], "massless", problems / 20)->params.features |= SCENE_MASSLESS;
    set_named(&list[2], "parallel", problems / 10)->params.features |= SCENE_PARALLEL;
    set *conflict = set_named(&list[3], "conflict", problems / 20);
    conflict->params.infeasible = 1;
    conflict->promise = CONTRADICTORY;
    for (int f = 0; f <= SCENE_FAMILIES; f++) {
        int share = f < SCENE_FAMILIES ? problems / 5 / SCENE_FAMILIES + 1 : problems / 100;
        set *s = set_named(&list[4 + f], scene_family_name((scene_family)f), share);
        s->family = f;
        s->law = ZW_CONTACT_COULOMB;
        s->promise = f < SCENE_FAMILIES ? SOLVABLE : NO_COULOMB;
    }
}

static scene *set_scene(const set *s, uint64_t seed)
{
    return s->family < 0 ? scene_random(seed, &s->params)
                         : scene_contact((scene_family)s->family, seed);
}

/* ---- One problem -------------------------------------------------------------------------- */

/* The outcome of one solve. */
typedef struct result {
    int status, factorizations;
    double worst, time;
    char method[NAME];
} result;

typedef struct record {
    int done, has_warm;
    result cold, warm;
} record;

static void solve(const scene *s, const zw_gauss_options *options, zw_gauss_work *work,
                  zw_motion *motion, result *out)
{
    double start = seconds_computed();
    zw_status status = zw_gauss_solve(&s->problem, options, work, motion, NULL);
    out->time = seconds_computed() - start;
    out->status = (int)status;
    out->factorizations = motion->factorizations;
    snprintf(out->method, sizeof out->method, "%s", motion->method ? motion->method : "none");
    if (status == ZW_OK || status == ZW_INACCURATE || status == ZW_JAMMED)
        out->worst =
            certified(&s->problem, options->contact, motion->a, motion->lambda, motion->C).worst;
}

static void perturb(scene *s, uint64_t seed)
{
    dice d = dice_of(seed ^ UINT64_C(0x9A7));
    double *x = s->free ? s->free : s->force;
    for (int i = 0; x && i < s->problem.n; i++)
        x[i] *= 1 + 1e-3 * dice_between(&d, -1, 1);
}

static void examine(const set *kind, uint64_t seed, record *out)
{
    scene *s = set_scene(kind, seed);
    zw_gauss_options options = zw_gauss_options_default();
    options.contact = kind->law;
    zw_error error = {0};
    zw_motion motion = {0};
    zw_gauss_work *work = zw_gauss_work_create(&s->problem, &options, &error);
    if (work == NULL) {
        out->cold.status = (int)error.status;
    } else {
        solve(s, &options, work, &motion, &out->cold);
        if (seed % WARM_EVERY == 0 && kind->promise == SOLVABLE && out->cold.status == ZW_OK) {
            scene *before = scene_copy(s);
            double *guess = allocate((size_t)s->m, sizeof *guess);
            perturb(before, seed);
            if (zw_gauss_solve(&before->problem, &options, work, &motion, NULL) == ZW_OK) {
                memcpy(guess, motion.lambda, (size_t)s->m * sizeof *guess);
                options.guess = guess;
                solve(s, &options, work, &motion, &out->warm);
                out->has_warm = 1;
            }
            free(guess);
            scene_free(before);
        }
    }
    out->done = 1;
    zw_gauss_work_free(work);
    scene_free(s);
}

/* ---- All of them, on all cores ------------------------------------------------------------ */

typedef struct campaign {
    set set[SETS];
    record *records[SETS]; /* shared by the processes */
    uint64_t first;
    int processes, total;
    int *done; /* shared: problems finished, by process */
} campaign;

static void *shared_reserve(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return p;
}

static void work_through(const campaign *c, int process)
{
    for (int k = 0; k < SETS; k++)
        for (int i = process; i < c->set[k].count; i += c->processes) {
            examine(&c->set[k], c->first + (uint64_t)i, &c->records[k][i]);
            c->done[process]++;
        }
}

static void show_progress(const campaign *c)
{
    if (!isatty(STDERR_FILENO))
        return;
    int sum = 0;
    for (int p = 0; p < c->processes; p++)
        sum += ((volatile int *)c->done)[p];
    fprintf(stderr, "\r%d of %d ", sum, c->total);
}

/* Returns the number of processes that crashed. */
static int run_all(campaign *c)
{
    int broken = 0, left = c->processes;
    fflush(stdout);
    for (int p = 0; p < c->processes; p++) {
        pid_t child = fork();
        if (child < 0) {
            perror("fork");
            exit(2);
        }
        if (child == 0) {
            work_through(c, p);
            _exit(0);
        }
    }
    while (left > 0) {
        int status;
        pid_t child = waitpid(-1, &status, WNOHANG);
        if (child > 0) {
            left--;
            broken += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        } else {
            usleep(100000);
            show_progress(c);
        }
    }
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%30s\r", "");
    return broken;
}

/* ---- Tables ------------------------------------------------------------------------------- */

/* The sum over some records; `pick` is 0 for cold results and 1 for warm ones. */
typedef struct sum {
    int count, solved, conflict, no_solution, jammed, inaccurate, other, wrong;
    double worst;            /* among the solved */
    double *time, *factored; /* of the solved, `solved` of them */
    char method[METHODS][NAME];
    int by[METHODS], methods;
} sum;

static void sum_method(sum *t, const char *method)
{
    int k = 0;
    while (k < t->methods && strcmp(t->method[k], method) != 0)
        k++;
    if (k == METHODS)
        return;
    if (k == t->methods)
        memcpy(t->method[t->methods++], method, NAME);
    t->by[k]++;
}

static void sum_add(sum *t, const set *kind, const result *r)
{
    double tolerance = kind->law == ZW_CONTACT_COULOMB ? coulomb_tolerance : convex_tolerance;
    t->count++;
    t->conflict += r->status == ZW_CONFLICT;
    t->no_solution += r->status == ZW_NO_SOLUTION;
    t->jammed += r->status == ZW_JAMMED;
    t->inaccurate += r->status == ZW_INACCURATE;
    t->other += r->status != ZW_OK && r->status < ZW_CONFLICT;
    t->wrong +=
        kind->promise == SOLVABLE && kind->law == ZW_CONTACT_CONVEX && r->status == ZW_CONFLICT;
    if (r->status != ZW_OK)
        return;
    t->time[t->solved] = r->time;
    t->factored[t->solved++] = r->factorizations;
    t->wrong += !(r->worst <= tolerance);
    t->worst = r->worst <= t->worst ? t->worst : r->worst; /* NaN stays */
    sum_method(t, r->method);
}

static sum sum_of(const campaign *c, int from, int to, int warm)
{
    sum t = {0};
    size_t most = 0;
    for (int k = from; k < to; k++)
        most += (size_t)c->set[k].count;
    t.time = allocate(most, sizeof(double));
    t.factored = allocate(most, sizeof(double));
    for (int k = from; k < to; k++)
        for (int i = 0; i < c->set[k].count; i++) {
            const record *r = &c->records[k][i];
            if (warm ? r->has_warm : r->done)
                sum_add(&t, &c->set[k], warm ? &r->warm : &r->cold);
        }
    return t;
}

static void sum_free(sum *t)
{
    free(t->time);
    free(t->factored);
}

static void print_row(const char *name, sum *t)
{
    printf("| %s | %d | %d | %.3f | ", name, t->count, t->solved,
           t->count ? 100.0 * t->solved / t->count : 0.0);
    printf("%d | %d | %d | %d | %d | ", t->jammed, t->inaccurate, t->conflict, t->no_solution,
           t->other);
    if (t->solved == 0) {
        printf("- | - | - | - |\n");
        return;
    }
    double factored = median(t->factored, t->solved), time = median(t->time, t->solved);
    printf("%.1e | %.0f, %.0f | %.0f, %.0f | ", t->worst, factored, t->factored[t->solved - 1],
           1e6 * time, 1e6 * t->time[t->solved - 1]);
    for (int k = 0; k < t->methods; k++)
        printf("%s%s %d", k ? ", " : "", t->method[k], t->by[k]);
    printf(" |\n");
}

static void print_head(const char *title)
{
    printf("\n## %s\n\n", title);
    printf("| set | problems | solved | %% | jammed | inaccurate | conflict | no solution | other |"
           " worst certificate | factorizations median, worst | us median, worst | by method |\n");
    printf("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

/* Rows for sets from .. to, and one for all of them. Returns the number of wrong answers. */
static int print_sets(const campaign *c, int from, int to, int warm, const char *all)
{
    for (int k = from; k < to; k++) {
        sum t = sum_of(c, k, k + 1, warm);
        print_row(c->set[k].name, &t);
        sum_free(&t);
    }
    sum t = sum_of(c, from, to, warm);
    if (all)
        print_row(all, &t);
    sum_free(&t);
    return t.wrong;
}

/* The share of warm starts that Newton's method solved without the cold methods. */
static void print_warm(const campaign *c, int from, int to, const char *name)
{
    sum t = sum_of(c, from, to, 1);
    int direct = 0;
    for (int k = 0; k < t.methods; k++)
        direct += strcmp(t.method[k], "newton") == 0 || strcmp(t.method[k], "equality") == 0
                      ? t.by[k]
                      : 0;
    if (t.solved > 0)
        printf("Warm, %s: %d of %d settled directly (**%.2f %%**), median %.0f factorizations.\n",
               name, direct, t.count, 100.0 * direct / t.count, median(t.factored, t.solved));
    sum_free(&t);
}

static const char *status_name(int status)
{
    static const char *const names[] = {
#define STATUS_NAME(code, text) #code,
        ZW_STATUS_TABLE(STATUS_NAME)
#undef STATUS_NAME
    };
    return status >= 0 && status < (int)(sizeof names / sizeof *names) ? names[status] : "?";
}

static int as_it_should(const set *kind, const result *r)
{
    if (kind->promise == CONTRADICTORY)
        return r->status == ZW_CONFLICT;
    if (kind->promise == NO_COULOMB)
        return r->status == ZW_NO_SOLUTION || r->status == ZW_JAMMED;
    return r->status == ZW_OK;
}

static void print_unsolved(const campaign *c)
{
    printf("\n## Seeds without the right answer\n\n");
    for (int k = 0; k < SETS; k++) {
        int listed = 0, left = 0;
        for (int i = 0; i < c->set[k].count; i++) {
            const record *r = &c->records[k][i];
            uint64_t seed = c->first + (uint64_t)i;
            int cold = r->done && as_it_should(&c->set[k], &r->cold);
            int warm = !r->has_warm || as_it_should(&c->set[k], &r->warm);
            if (cold && warm)
                continue;
            const result *bad = cold ? &r->warm : &r->cold;
            if (listed++ < LISTED)
                printf("- %s %" PRIu64 "%s: %s, %s, %.1e\n", c->set[k].name, seed,
                       cold ? " (warm)" : "", !r->done ? "broke down" : bad->method,
                       status_name(bad->status), bad->worst);
            else
                left++;
        }
        if (left > 0)
            printf("- %s: and %d more\n", c->set[k].name, left);
    }
}

int main(int argc, char **argv)
{
    const char *wish = argc > 1 ? argv[1] : getenv("CAMPAIGN_PROBLEMS");
    campaign c = {.first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
                  .processes = argc > 3 ? atoi(argv[3]) : (int)sysconf(_SC_NPROCESSORS_ONLN)};
    int problems = wish ? atoi(wish) : 100000, wrong = 0;
    c.processes = c.processes < 1 ? 1 : c.processes > 64 ? 64 : c.processes;
    c.done = shared_reserve(64 * sizeof *c.done);
    sets_fill(c.set, problems < 1 ? 1 : problems);
    for (int k = 0; k < SETS; k++) {
        c.records[k] = shared_reserve((size_t)c.set[k].count * sizeof(record));
        c.total += c.set[k].count;
    }
    double start = seconds_now();
    int broken = run_all(&c);
    printf("%d problems, seeds from %" PRIu64 ", %d processes, %.0f s; certificates by "
           "zw_gauss_certify: at most %.0e convex, %.0e Coulomb\n",
           c.total, c.first, c.processes, seconds_now() - start, convex_tolerance,
           coulomb_tolerance);

    print_head("The convex law, cold");
    wrong += print_sets(&c, 0, 4, 0, NULL);
    print_head("Coulomb's law, cold");
    wrong += print_sets(&c, 4, 4 + SCENE_FAMILIES, 0, "**all families**");
    wrong += print_sets(&c, SETS - 1, SETS, 0, NULL);
    print_head("Warm: from the multipliers of a problem whose free motion differs by 1e-3");
    wrong += print_sets(&c, 0, 3, 1, NULL);
    wrong += print_sets(&c, 4, 4 + SCENE_FAMILIES, 1, "**all families**");
    printf("\n");
    print_warm(&c, 0, 1, "convex");
    print_warm(&c, 4, 4 + SCENE_FAMILIES, "Coulomb");
    print_unsolved(&c);
    printf("\n%d wrong answers, %d processes broke down\n", wrong, broken);
    return wrong > 0 || broken > 0;
}
