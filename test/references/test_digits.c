/* The digits that a run states against the digits that it has.
 *
 * Every motion of this folder whose end is known (closed forms, or integrated elsewhere with 40
 * digits) is run by several methods, tolerances and steps; so are bodies with known motions. The
 * digits stated for a coordinate may exceed the true ones, -log10 of the error over the largest
 * value of the motion, by at most one, and in the median over all motions the worst entry may be
 * stated at most three digits too low.
 *
 *     test_digits        a sample; with ZW_CAMPAIGN=small a smaller one
 *     test_digits all    everything, as a table
 */
#include <dirent.h>

#include "references/moving.h"
#include "zwang/bodies.h"
#include "zwang/verdict.h"

#define FOLDER ZW_SOURCE_DIR "/test/references/"
#define EXAMPLES ZW_SOURCE_DIR "/examples/"
enum { LINE = 4096, COLUMNS = 64, TEXT = 8192, MOST = 4000 };

typedef struct problem {
    char name[64];
    char example[LINE]; /* a file, or */
    char text[TEXT];    /* the model itself */
    char setting_name[16][64];
    zw_setting setting[16];
    int setting_count, common_settings, cases;
    char column[COLUMNS][32];
    int column_count;
    double time, value[COLUMNS];
    const char *key; /* bodies: the keyframe to begin with, or NULL */
} problem;

static const char *wanted; /* only motions with this in their name */

typedef struct variant {
    zw_method method;
    double tolerance; /* adaptive methods, */
    int steps;        /* others */
} variant;

static const variant variants[] = {
    {ZW_METHOD_DOP853, 1e-10, 0},     {ZW_METHOD_RK4, 0, 400},      {ZW_METHOD_DOP853, 1e-6, 0},
    {ZW_METHOD_VARIATIONAL, 0, 500},  {ZW_METHOD_STIFF, 1e-7, 0},   {ZW_METHOD_DOP853, 1e-13, 0},
    {ZW_METHOD_VARIATIONAL4, 0, 300}, {ZW_METHOD_EULER, 0, 1000},   {ZW_METHOD_DOP853, 1e-8, 0},
    {ZW_METHOD_DOP853, 1e-3, 0},      {ZW_METHOD_DOP853, 1e-12, 0}, {ZW_METHOD_RK4, 0, 3000},
    {ZW_METHOD_STIFF, 1e-10, 0},      {ZW_METHOD_DOP853, 1e-15, 0}, {ZW_METHOD_MIDPOINT, 0, 700},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static struct {
    int all, count, unknown, skipped;
    double below[MOST]; /* how many digits too few were stated for the worst entry */
    double above;       /* and how many too many for any */
} tally;

/* ---- One motion ------------------------------------------------------------------------------ */

static double entry_of(moving *m, int k)
{
    int nq = zw_count(m->system, ZW_KIND_COORD);
    return k < nq ? moving_field(m, ZW_FIELD_Q)[k] : moving_field(m, ZW_FIELD_V)[k - nq];
}

static int index_of(moving *m, const char *column)
{
    char bare[64];
    size_t length = strcspn(column, "'");
    snprintf(bare, sizeof bare, "%.*s", (int)length, column);
    int speed = column[length] == '\'';
    int k = zw_id(m->system, speed ? ZW_KIND_SPEED : ZW_KIND_COORD, bare);
    if (k < 0 && !speed &&
        (k = zw_id(m->system, ZW_KIND_SPEED, bare)) >= 0) { /* bodies have their own */
        speed = 1;
    }
    return k < 0 ? -1 : speed ? zw_count(m->system, ZW_KIND_COORD) + k : k;
}

static void compare(moving *m, const problem *p, const variant *v, const zw_digits *digits)
{
    double true_worst = 16, above = -99;
    int stated_worst = 16;
    char where[40] = "";
    for (int i = 0; i < p->column_count; i++) {
        int k = index_of(m, p->column[i]);
        if (k < 0 || digits->digits[k] < 0) {
            continue;
        }
        double error = fabs(entry_of(m, k) - p->value[i]);
        double have = fmin(16, -log10(error / digits->size[k]));
        true_worst = fmin(true_worst, fmax(have, 0));
        stated_worst = digits->digits[k] < stated_worst ? digits->digits[k] : stated_worst;
        if (digits->digits[k] - have > above) {
            above = digits->digits[k] == 0 ? 0 : digits->digits[k] - have;
            snprintf(where, sizeof where, "%s", p->column[i]);
        }
    }
    if (where[0] == 0) {
        return;
    }
    assert_true(tally.count < MOST);
    tally.below[tally.count++] = true_worst - stated_worst;
    tally.above = fmax(tally.above, above);
    if (tally.all || above > 1) {
        print_message(
            "%-24s %2d %-12s %-6.0e %5d  stated %2d, has %4.1f; at most %+5.1f (%s)%s%s\n", p->name,
            p->cases, zw_method_name(v->method), v->tolerance, v->steps, stated_worst, true_worst,
            above, where, digits->differs ? " events differ" : "", above > 1 ? "  TOO MANY" : "");
    }
}

static void begin_with_key(moving *m, const char *name)
{
    int index = zw_model_find(m->model, ZW_KIND_KEY, name);
    assert_true(index >= 0);
    zw_key_def key = *(const zw_key_def *)zw_model_def(m->model, ZW_KIND_KEY, index);
    key.start = 1;
    zw_state_free(m->state);
    zw_work_free(m->work);
    zw_system_free(m->system);
    m->state = NULL;
    m->work = NULL;
    assert_int_equal(zw_model_change(m->model, ZW_KIND_KEY, index, &key, &m->error), ZW_OK);
    assert_non_null(m->system = zw_system_compile(m->model, NULL, &m->error));
    assert_non_null(m->work = zw_work_create(m->system, &m->error));
    assert_non_null(m->state = zw_state_create(m->system, m->work, NULL, &m->error));
}

static void try_variant(const problem *p, const variant *v)
{
    moving m;
    zw_digits digits = {0};
    const char *failed =
        moving_open(&m, p->text[0] ? p->text : NULL, p->text[0] ? p->name : p->example, p->setting,
                    p->setting_count);
    assert_null(failed);
    if (p->key) {
        begin_with_key(&m, p->key);
    }
    zw_run_options options = {.time = p->time,
                              .every = p->time / 20,
                              .method = v->method,
                              .tolerance = v->tolerance,
                              .step = v->steps ? p->time / v->steps : 0};
    if (zw_run_digits(m.system, m.state, m.work, &options, &m.summary, &digits, &m.error) !=
        ZW_OK) {
        tally.skipped++; /* not every method can do everything */
    } else if (!digits.known) {
        tally.unknown++;
        if (tally.all) {
            print_message("%-24s %2d %-12s %-6.0e %5d  %s\n", p->name, p->cases,
                          zw_method_name(v->method), v->tolerance, v->steps, digits.note);
        }
    } else {
        compare(&m, p, v, &digits);
    }
    zw_digits_free(&digits);
    moving_close(&m);
}

static int chosen(int number)
{
    return number % (tally.all ? 1 : campaign_is_small() ? 301 : 83) == 0;
}

/* In the sample every motion is run by some of the methods, each motion by others. */
static void try_problem(const problem *p)
{
    static int number;
    if (p->time <= 0 || p->time > (tally.all ? 100 : 10)) {
        return;
    }
    for (int k = 0; k < VARIANTS; k++, number++) {
        if (chosen(number)) {
            try_variant(p, &variants[k]);
        }
    }
}

/* ---- The data -------------------------------------------------------------------------------- */

static void on_columns(problem *p, char *rest, int coords)
{
    p->column_count = 0;
    for (char *name = strtok(rest, " "); name != NULL; name = strtok(NULL, " ")) {
        snprintf(p->column[p->column_count++], sizeof *p->column, "%.30s", name);
    }
    for (int i = 0, count = coords ? p->column_count : 0; i < count; i++) {
        char *speed = p->column[p->column_count++];
        memcpy(speed, p->column[i], sizeof *p->column - 1);
        strcat(speed, "'");
    }
}

static void on_state(problem *p, const char *rest)
{
    char *end;
    p->time = strtod(rest, &end);
    for (int i = 0; i < p->column_count; i++) {
        p->value[i] = strtod(end, &end);
    }
}

static void on_model(problem *p, FILE *file)
{
    char line[LINE];
    p->text[0] = 0;
    while (fgets(line, sizeof line, file) != NULL && strcmp(line, "end\n") != 0) {
        strcat(p->text, line);
    }
}

static void on_case(problem *p)
{
    if (p->cases++ == 0) {
        p->common_settings = p->setting_count;
    }
    try_problem(p);
    p->setting_count = p->common_settings;
    p->time = 0;
}

static void on_line(problem *p, char *line, FILE *file)
{
    char word[32] = "";
    line[strcspn(line, "\n")] = 0;
    sscanf(line, "%31s", word);
    char *rest = line + strlen(word);
    rest += strspn(rest, " ");
    if (strcmp(word, "example") == 0) {
        snprintf(p->example, sizeof p->example, EXAMPLES "%s", rest);
    } else if (strcmp(word, "model") == 0) {
        on_model(p, file);
    } else if (strcmp(word, "case") == 0) {
        on_case(p);
    } else if (strcmp(word, "set") == 0) {
        char *name = p->setting_name[p->setting_count];
        zw_setting *setting = &p->setting[p->setting_count++];
        assert_int_equal(sscanf(rest, "%63s %lf", name, &setting->value), 2);
        setting->name = name;
    } else if (strcmp(word, "coords") == 0 || strcmp(word, "columns") == 0) {
        on_columns(p, rest, word[2] == 'o');
    } else if (strcmp(word, "state") == 0) {
        on_state(p, rest);
    }
}

static int is_data(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

static void references(void)
{
    struct dirent **entry;
    int count = scandir(FOLDER, &entry, is_data, alphasort);
    for (int i = 0; i < count; i++) {
        char path[LINE], line[LINE];
        static problem p;
        p = (problem){0};
        snprintf(p.name, sizeof p.name, "%.*s", (int)strcspn(entry[i]->d_name, "."),
                 entry[i]->d_name);
        snprintf(path, sizeof path, FOLDER "%s", entry[i]->d_name);
        free(entry[i]);
        if (wanted && !strstr(p.name, wanted)) {
            continue;
        }
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file) != NULL) {
            on_line(&p, line, file);
        }
        fclose(file);
        on_case(&p);
    }
    free(entry);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

#define BOX                                                                                        \
    "<body name='b' pos='0 0 .1'><freejoint name='f'/><geom name='g' type='box' size='.1 .1 "      \
    ".1'/></body>"
#define BALL                                                                                       \
    "<body name='b' pos='0 0 .1'><freejoint name='f'/><geom name='g' type='sphere' "               \
    "size='.1'/></body>"
#define WORLD(options, friction, body)                                                             \
    "<mujoco><option timestep='.01' " options "/><default><geom friction='" friction               \
    " 0 0'/></default><worldbody><geom type='plane' size='9 9 1'/>" body "</worldbody>"            \
    "<keyframe><key name='k' qpos='0 0 .1 1 0 0 0' qvel='2 0 0 0 0 0'/></keyframe></mujoco>"

/* Closed forms. The speed 2 of the keyframe holds where `moves` is set. */
static const struct {
    const char *name, *text;
    int moves;
    double time, x, vx;
} closed[] = {
    /* sliding with mu = 0.3: x = 2 t - 0.3 g t^2/2; and at rest from t = 2/(0.3 g) on */
    {"block_slides.xml", WORLD("gravity='0 0 -10'", ".3", BOX), 1, 0.4, 0.56, 0.8},
    {"block_stops.xml", WORLD("gravity='0 0 -10'", ".3", BOX), 1, 1.25, 2.0 / 3, 0},
    /* no friction on a slope */
    {"block_on_ice.xml", WORLD("gravity='3 0 -10'", "0", BOX), 0, 0.7, 0.735, 2.1},
    /* held by friction: tan = 0.3 < mu */
    {"block_stays.xml", WORLD("gravity='3 0 -10'", ".5", BOX), 0, 0.7, 0, 0},
    /* slides down: a = 3 - 0.2 * 10 */
    {"block_slides_down.xml", WORLD("gravity='3 0 -10'", ".2", BOX), 0, 0.9, 0.405, 0.9},
    /* a ball rolls down: a = 5/7 * 3 */
    {"ball_rolls.xml", WORLD("gravity='3 0 -10'", "1", BALL), 0, 0.7, 0.525, 1.5},
    /* slides until 2 - 0.2 g t = 5/2 * 0.2 g t, then rolls with 5/7 of its speed: t = 2/7 */
    {"ball_slides_and_rolls.xml", WORLD("gravity='0 0 -10'", ".2", BALL), 1, 1,
     2 * 2 / 7. - 4 / 49. + 10 / 7. * (1 - 2 / 7.), 10 / 7.},
};

static const variant body_variants[] = {
    {ZW_METHOD_IMPULSE, 0, 100}, {ZW_METHOD_IMPULSE, 0, 37},      {ZW_METHOD_IMPULSE, 0, 400},
    {ZW_METHOD_DOP853, 1e-9, 0}, {ZW_METHOD_VARIATIONAL, 0, 200}, {ZW_METHOD_MIDPOINT, 0, 200},
    {ZW_METHOD_RK4, 0, 100},     {ZW_METHOD_EULER, 0, 500},
};
enum { BODY_VARIANTS = sizeof body_variants / sizeof *body_variants };

static void closed_forms(void)
{
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++) {
        static problem p;
        p = (problem){.time = closed[i].time,
                      .column = {"f.x", "f.vx"},
                      .column_count = 2,
                      .value = {closed[i].x, closed[i].vx}};
        snprintf(p.name, sizeof p.name, "%s", closed[i].name);
        snprintf(p.text, sizeof p.text, "%s", closed[i].text);
        p.key = closed[i].moves ? "k" : NULL;
        for (int k = 0; k < 3 && (!wanted || strstr(p.name, wanted)); k++) {
            if (tally.all || k == 0) {
                try_variant(&p, &body_variants[k]);
            }
        }
    }
}

/* Against the adaptive method with a small tolerance. */
static void other_methods(void)
{
    static const char *const name[] = {"bodies/double_pendulum.xml", "bodies/gyroscope.xml",
                                       "bodies/cart_pole.xml", "bodies/bricard.xml"};
    int number = 0;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        static problem p;
        moving m;
        p = (problem){.time = 1};
        snprintf(p.name, sizeof p.name, "%s", name[i]);
        snprintf(p.example, sizeof p.example, EXAMPLES "%s", name[i]);
        if ((wanted && !strstr(p.name, wanted)) || moving_open(&m, NULL, p.example, NULL, 0)) {
            continue;
        }
        zw_run_options exact = {.time = 1, .method = ZW_METHOD_DOP853, .tolerance = 1e-13};
        if (zw_run(m.system, m.state, m.work, &exact, &m.summary, &m.error) == ZW_OK) {
            int nq = zw_count(m.system, ZW_KIND_COORD),
                count = nq + zw_count(m.system, ZW_KIND_SPEED);
            for (int k = 0; k < count && k < COLUMNS; k++, p.column_count++) {
                snprintf(p.column[k], sizeof p.column[k], k < nq ? "%.30s" : "%.29s'",
                         k < nq ? zw_name(m.system, ZW_KIND_COORD, k)
                                : zw_name(m.system, ZW_KIND_SPEED, k - nq));
                p.value[k] = entry_of(&m, k);
            }
            for (int k = 0; k < BODY_VARIANTS; k++) {
                if (tally.all || number++ % (campaign_is_small() ? 20 : 6) == 0) {
                    try_variant(&p, &body_variants[k]);
                }
            }
        }
        moving_close(&m);
    }
}

/* ---- The test -------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void digits_can_be_trusted(void **state)
{
    (void)state;
    references();
    closed_forms();
    other_methods();
    qsort(tally.below, (size_t)tally.count, sizeof *tally.below, by_size);
    double median = tally.count ? tally.below[tally.count / 2] : 0;
    print_message(
        "    %d motions: at most %.1f digits too many; too few by %.1f in the median, %.1f "
        "at most; %d without an estimate, %d that a method cannot run\n",
        tally.count, tally.above, median, tally.count ? tally.below[tally.count - 1] : 0,
        tally.unknown, tally.skipped);
    assert_true(tally.above <= 1);
    assert_true(median <= 3);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(digits_can_be_trusted)};
    tally.all = argc > 1 && strcmp(argv[1], "all") == 0;
    wanted = argc > 2 ? argv[2] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
