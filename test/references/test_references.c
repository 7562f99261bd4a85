/* The motions of examples/ against numbers computed elsewhere: see README.md in this folder. */
#include <dirent.h>

#include "references/moving.h"

#define FOLDER ZW_SOURCE_DIR "/test/references/"
#define EXAMPLES ZW_SOURCE_DIR "/examples/"
#define LINE 4096
#define COLUMNS 64
#define TEXT 8192
#define PRECISION 1e-13 /* of the runs; the references suggest 1e-10 on the result */

typedef struct player {
    const char *file;
    int line;
    char example[LINE];
    char text[TEXT]; /* of a `model`, empty if an example is meant */
    char setting_name[16][64];
    zw_setting setting[16];
    int setting_count, common_settings; /* those before the first case */
    int cases;
    char column[COLUMNS][32];
    int column_count;
    int coord_count;  /* columns that came from `coords` */
    double precision; /* of the run */
    double step;      /* its largest step; 0: free */
    double tolerance;
    double energy; /* NAN: not given */
    int far;       /* what follows in this case is too far for a small campaign */

    moving m; /* m.model NULL: not started */

    double worst; /* error over what is allowed */
    char worst_what[128];
    double worst_state; /* |x - ref|/(1 + |ref|) over all states */
    int failures;
} player;

/* ---- Comparing ---------------------------------------------------------------------------- */

static void blame(player *p, const char *what, const char *message)
{
    p->failures++;
    if (p->failures <= 12) {
        print_error("    %s:%d: %s: %s\n", p->file, p->line, what, message);
    }
}

static void compare(player *p, const char *what, double got, double expected, double size)
{
    double error = fabs(got - expected), allowed = p->tolerance * (1 + size);
    double ratio = error / allowed;
    if (!(ratio <= p->worst)) {
        p->worst = ratio;
        snprintf(p->worst_what, sizeof p->worst_what, "%s, line %d", what, p->line);
    }
    if (!(ratio <= 1)) {
        char message[160];
        snprintf(message, sizeof message, "%.16g, expected %.16g, off by %.1e, allowed %.1e", got,
                 expected, error, allowed);
        blame(p, what, message);
    }
}

/* ---- Starting and running ----------------------------------------------------------------- */

static void give_up(player *p, const char *doing)
{
    char who[LINE];
    snprintf(who, sizeof who, "%.200s:%d", p->file, p->line);
    moving_complain(&p->m, who, doing);
    fail();
}

static void start(player *p)
{
    if (p->m.model == NULL) {
        const char *failed =
            p->text[0] != 0 ? moving_open(&p->m, p->text, p->file, p->setting, p->setting_count)
                            : moving_open(&p->m, NULL, p->example, p->setting, p->setting_count);
        if (failed != NULL) {
            give_up(p, failed);
        }
    }
}

static void run_to(player *p, double time)
{
    start(p);
    const char *failed = moving_run_within(&p->m, time, p->precision, p->step);
    if (failed != NULL) {
        give_up(p, failed);
    }
    if (time > 0 && p->m.summary.check_failed >= 0) {
        blame(p, "check", zw_name(p->m.system, ZW_KIND_CHECK, p->m.summary.check_failed));
    }
}

/* ---- The words of a data file ------------------------------------------------------------- */

static int numbers(const char *text, double *value)
{
    int count = 0;
    char *end;
    for (double x = strtod(text, &end); end != text; x = strtod(text, &end)) {
        assert_true(count < COLUMNS);
        value[count++] = x;
        text = end;
    }
    return count;
}

static void on_state(player *p, const char *rest)
{
    double value[COLUMNS];
    int count = numbers(rest, value);
    assert_int_equal(count, p->column_count + 1);
    run_to(p, value[0]);
    for (int i = 0; i < p->column_count; i++) {
        double got = moving_value(&p->m, p->column[i]), size = fabs(value[i + 1]);
        compare(p, p->column[i], got, value[i + 1], size);
        p->worst_state = fmax(p->worst_state, fabs(got - value[i + 1]) / (1 + size));
    }
    if (!isnan(p->energy)) {
        compare(p, "energy", moving_field(&p->m, ZW_FIELD_ENERGY)[0], p->energy, fabs(p->energy));
    }
}

static void forward(player *p, double time, zw_status expected)
{
    run_to(p, time);
    zw_error error = {0};
    zw_status status = zw_forward(p->m.system, p->m.state, p->m.work, NULL, &error);
    if (status != expected) {
        blame(p, "forward", zw_status_text(status));
        blame(p, "forward", error.text);
    }
}

/* A vector over the coordinates, in the order of `coords`; NULL stands for zeros. */
static void on_vector(player *p, const char *word, const char *rest, const double *got)
{
    double value[COLUMNS], size = 0;
    int count = numbers(rest, value);
    assert_int_equal(count, p->coord_count);
    for (int i = 0; i < count; i++) {
        size = fmax(size, fabs(value[i]));
    }
    for (int i = 0; i < count; i++) {
        int coord = zw_id(p->m.system, ZW_KIND_COORD, p->column[i]);
        assert_true(coord >= 0);
        compare(p, word, got == NULL ? 0.0 : got[coord], value[i], size);
    }
}

static void on_lambda(player *p, const char *rest, const zw_motion *motion)
{
    double value[COLUMNS], size = 0;
    int count = numbers(rest, value);
    assert_int_equal(count, motion->m);
    for (int i = 0; i < count; i++) {
        size = fmax(size, fabs(value[i]));
    }
    for (int i = 0; i < count; i++) {
        compare(p, "lambda", motion->lambda[i], value[i], size);
    }
}

/* What zw_forward must have answered; 0: no such word. */
static int on_answer(player *p, const char *word, const char *rest)
{
    const char *const words[] = {"acceleration", "free", "F_L", "F_C", "C", "lambda", "rank", "Z"};
    int known = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        known = known || strcmp(word, words[i]) == 0;
    }
    if (!known) {
        return 0;
    }
    const zw_motion *motion = zw_work_motion(p->m.work);
    if (strcmp(word, "acceleration") == 0) {
        on_vector(p, word, rest, motion->a);
    } else if (strcmp(word, "free") == 0) {
        on_vector(p, word, rest, moving_field(&p->m, ZW_FIELD_A_FREE));
    } else if (strcmp(word, "F_L") == 0) {
        on_vector(p, word, rest, motion->F_L);
    } else if (strcmp(word, "F_C") == 0) {
        on_vector(p, word, rest, motion->F_C);
    } else if (strcmp(word, "C") == 0) {
        on_vector(p, word, rest, motion->C);
    } else if (strcmp(word, "lambda") == 0) {
        on_lambda(p, rest, motion);
    } else if (strcmp(word, "rank") == 0) {
        compare(p, word, motion->rank, atof(rest), 0);
    } else {
        compare(p, word, motion->Z, atof(rest), fabs(atof(rest)));
    }
    return 1;
}

static void on_columns(player *p, char *rest, int coords)
{
    p->column_count = 0;
    for (char *name = strtok(rest, " "); name != NULL; name = strtok(NULL, " ")) {
        assert_true(p->column_count < COLUMNS / 2);
        snprintf(p->column[p->column_count++], sizeof *p->column, "%.31s", name);
    }
    p->coord_count = coords ? p->column_count : 0;
    for (int i = 0; i < p->coord_count; i++) {
        char *speed = p->column[p->column_count++];
        size_t length = strlen(p->column[i]);
        assert_true(length + 2 <= sizeof *p->column);
        memcpy(speed, p->column[i], length);
        memcpy(speed + length, "'", 2);
    }
}

static void on_set(player *p, const char *rest)
{
    assert_in_range(p->setting_count, 0, 15);
    zw_setting *setting = &p->setting[p->setting_count];
    char *name = p->setting_name[p->setting_count++];
    assert_int_equal(sscanf(rest, "%63s %lf", name, &setting->value), 2);
    setting->name = name;
}

static void on_case(player *p)
{
    if (p->cases++ == 0) {
        p->common_settings = p->setting_count;
    }
    moving_close(&p->m);
    p->setting_count = p->common_settings;
    p->energy = NAN;
}

static void on_model(player *p, FILE *file)
{
    char line[LINE];
    p->text[0] = 0;
    while (fgets(line, sizeof line, file) != NULL && strcmp(line, "end\n") != 0) {
        p->line++;
        assert_true(strlen(p->text) + strlen(line) < sizeof p->text);
        strcat(p->text, line);
    }
    p->line++;
}

static void on_line(player *p, char *line, FILE *file)
{
    char word[32] = "";
    line[strcspn(line, "\n")] = 0;
    sscanf(line, "%31s", word);
    char *rest = line + strlen(word);
    rest += strspn(rest, " ");
    if (word[0] == 0 || word[0] == '#') {
        return;
    }
    p->far = strcmp(word, "case") != 0 && (p->far || moving_far(word, rest));
    if (p->far) {
        return;
    }
    if (strcmp(word, "example") == 0) {
        snprintf(p->example, sizeof p->example, EXAMPLES "%s", rest);
    } else if (strcmp(word, "model") == 0) {
        on_model(p, file);
    } else if (strcmp(word, "case") == 0) {
        on_case(p);
    } else if (strcmp(word, "set") == 0) {
        on_set(p, rest);
    } else if (strcmp(word, "coords") == 0 || strcmp(word, "columns") == 0) {
        on_columns(p, rest, word[2] == 'o');
    } else if (strcmp(word, "tolerance") == 0) {
        p->tolerance = atof(rest);
    } else if (strcmp(word, "precision") == 0) {
        p->precision = atof(rest);
    } else if (strcmp(word, "step") == 0) {
        p->step = atof(rest);
    } else if (strcmp(word, "energy") == 0) {
        p->energy = atof(rest);
    } else if (strcmp(word, "state") == 0) {
        on_state(p, rest);
    } else if (strcmp(word, "instant") == 0) {
        forward(p, atof(rest), ZW_OK);
    } else if (strcmp(word, "conflict") == 0) {
        forward(p, atof(rest), ZW_CONFLICT);
    } else if (!on_answer(p, word, rest)) {
        fail_msg("%s:%d: unknown word %s", p->file, p->line, word);
    }
}

/* ---- The tests ---------------------------------------------------------------------------- */

static int close_player(void **state)
{
    player *p = *state;
    moving_close(&p->m);
    return 0;
}

static void plays(void **state)
{
    player *p = *state;
    char path[LINE], line[LINE];
    snprintf(path, sizeof path, FOLDER "%s", p->file);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    p->energy = NAN;
    p->precision = PRECISION;
    p->step = 0;
    p->tolerance = 1e-10;
    while (fgets(line, sizeof line, file) != NULL) {
        p->line++;
        on_line(p, line, file);
    }
    fclose(file);
    print_message("    %-30s states within %.1e; worst %.2g of what is allowed (%s)\n", p->file,
                  p->worst_state, p->worst, p->worst_what);
    assert_int_equal(p->failures, 0);
}

static int is_data(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

/* All data files, or those named on the command line. */
int main(int argc, char **argv)
{
    struct dirent **entry;
    int count = scandir(FOLDER, &entry, is_data, alphasort);
    if (count <= 0) {
        return 1;
    }
    struct CMUnitTest *test = calloc((size_t)count, sizeof *test);
    player *players = calloc((size_t)count, sizeof *players);
    size_t tests = 0;
    for (int i = 0; i < count && test != NULL && players != NULL; i++) {
        int wanted = argc == 1;
        for (int k = 1; k < argc; k++) {
            wanted = wanted || strstr(entry[i]->d_name, argv[k]) != NULL;
        }
        if (wanted) {
            players[i].file = entry[i]->d_name;
            test[tests++] = (struct CMUnitTest){.name = entry[i]->d_name,
                                                .test_func = plays,
                                                .teardown_func = close_player,
                                                .initial_state = &players[i]};
        }
    }
    int failed = _cmocka_run_group_tests("references", test, tests, NULL, NULL);
    for (int i = 0; i < count; i++) {
        free(entry[i]);
    }
    free(entry);
    free(test);
    free(players);
    return failed;
}
