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
} problem;

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

static int index_of(moving *m, const char *column)
{
    char bare[64];
    size_t length = strcspn(column, "'");
    snprintf(bare, sizeof bare, "%.*s", (int)length, column);
    int speed = column[length] == '\'';
    int k = zw_id(m->system, speed ? ZW_SPEED : ZW_COORD, bare);
    return k < 0 ? -1 : speed ? zw_count(m->system, ZW_COORD) + k : k;
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
        double error = fabs(moving_value(m, p->column[i]) - p->value[i]);
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

static void try_variant(const problem *p, const variant *v)
{
    moving m;
    zw_digits digits = {0};
    const char *failed =
        moving_open(&m, p->text[0] ? p->text : NULL, p->text[0] ? p->name : p->example, p->setting,
                    p->setting_count);
    assert_null(failed);
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

/* In the sample every motion is run by some of the methods, each motion by others. */
static void try_problem(const problem *p)
{
    static int number;
    int stride = tally.all ? 1 : campaign_is_small() ? 151 : 37;
    if (p->time <= 0 || p->time > (tally.all ? 100 : 10)) {
        return;
    }
    for (int k = 0; k < VARIANTS; k++, number++) {
        if (number % stride == 0) {
            try_variant(p, &variants[k]);
        }
    }
}

/* ---- The data -------------------------------------------------------------------------------- */

static void on_columns(problem *p, char *rest, int coords)
{
    p->column_count = 0;
    for (char *name = strtok(rest, " "); name != NULL; name = strtok(NULL, " ")) {
        snprintf(p->column[p->column_count++], sizeof *p->column, "%.31s", name);
    }
    for (int i = 0, count = coords ? p->column_count : 0; i < count; i++) {
        snprintf(p->column[p->column_count++], sizeof *p->column, "%.30s'", p->column[i]);
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

static const char *wanted;

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
