/* One motion, many ways to write it: constraints given three times over; positions constrained,
 * speeds constrained, or coordinates imbedded. */
#include <dirent.h>

#include "references/moving.h"

#define EXAMPLES ZW_SOURCE_DIR "/examples/"
#define TEXT (1 << 16)

/* ---- Every constraint three times --------------------------------------------------------- */

/* The line again, with the name of its constraint lengthened by `tail`. */
static void repeat(char *out, const char *line, size_t length, const char *tail)
{
    size_t word = strcspn(line, " "), name = word + strspn(line + word, " ");
    name += strcspn(line + name, "[: ");
    char *end = out + strlen(out);
    memcpy(end, line, name);
    snprintf(end + name, TEXT - strlen(out), "%s%.*s", tail, (int)(length - name), line + name);
}

static int begins(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && line[length] == ' ';
}

/* Friction goes along: each of the three carries a third of the reaction. A given non-ideal force
 * does not, it is what it is. */
static void triplicate(const char *text, char *out)
{
    out[0] = 0;
    for (const char *line = text; *line != 0; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n") + 1;
        strncat(out, line, length);
        if (begins(line, "constraint") || begins(line, "relation") || begins(line, "friction")) {
            repeat(out, line, length, "_again");
            repeat(out, line, length, "_once_more");
        }
        assert_true(strlen(out) < TEXT / 2);
    }
}

/* How long the file runs, from its `run time` line. */
static double run_time(const char *text)
{
    const char *run = strstr(text, "\nrun ");
    double time = 0;
    assert_non_null(run);
    assert_int_equal(sscanf(run, " run time %lf", &time), 1);
    return time;
}

static void must(moving *m, const char *who, const char *failed)
{
    if (failed != NULL) {
        moving_complain(m, who, failed);
        moving_close(m);
        fail();
    }
}

/* Largest difference of coordinates and speeds, relative to 1 + |x|. */
static double apart(moving *a, moving *b)
{
    double worst = 0;
    int n = zw_count(a->system, ZW_KIND_COORD);
    assert_int_equal(n, zw_count(b->system, ZW_KIND_COORD));
    for (int k = 0; k < 2 * n; k++) {
        zw_field_id id = k < n ? ZW_FIELD_Q : ZW_FIELD_V;
        double x = moving_field(a, id)[k % n], y = moving_field(b, id)[k % n];
        double difference = fabs(x - y) / (1 + fabs(x));
        worst = difference <= worst ? worst : difference;
    }
    return worst;
}

static void three_times_is_once(void **state)
{
    const char *name = *state;
    char path[512], *tripled = malloc(TEXT);
    snprintf(path, sizeof path, EXAMPLES "%s", name);
    char *text = moving_text_of(path);
    assert_true(text != NULL && tripled != NULL);
    triplicate(text, tripled);
    moving once, thrice;
    const char *failed = moving_open(&once, text, path, NULL, 0);
    must(&once, name, failed);
    failed = moving_open(&thrice, tripled, path, NULL, 0);
    must(&thrice, name, failed);
    assert_int_equal(zw_count(thrice.system, ZW_KIND_ROW), 3 * zw_count(once.system, ZW_KIND_ROW));
    /* what may slip is held three times as hard by three */
    if (isfinite(zw_law_of(once.system).N)) {
        moving_close(&once);
        moving_close(&thrice);
        free(text);
        free(tripled);
        return;
    }
    double time = run_time(text) / 20, worst = apart(&once, &thrice);
    for (int k = 1; k <= 4; k++) {
        failed = moving_run(&once, time * k / 4, 1e-13);
        must(&once, name, failed);
        failed = moving_run(&thrice, time * k / 4, 1e-13);
        must(&thrice, name, failed);
        double now = apart(&once, &thrice);
        worst = now <= worst ? worst : now;
    }
    print_message("    %-30s apart by %.1e\n", name, worst);
    moving_close(&once);
    moving_close(&thrice);
    free(text);
    free(tripled);
    assert_true(worst <= 1e-12);
}

/* ---- Holonomic, nonholonomic, imbedded ---------------------------------------------------- */

/* All forms have the same plot line, and so the same outputs. */
typedef struct forms {
    const char *name;
    const char *common;
    const char *text[3];
} forms;

static const forms systems[] = {
    {"pendulum",
     "mass 2 at (x, y)\n"
     "gravity (0, -9.81)\n"
     "plot time x, y, x', y'\n",
     {"coord x = sin(2), y = -cos(2)\n"
      "constraint rod: x^2 + y^2 = 1\n",

      "coord x = sin(2), y = -cos(2)\n"
      "constraint rod: x*x' + y*y' = 0\n",

      "coord th = 2\n"
      "imbed x = sin(th), y = -cos(th)\n"}},

    {"wedge",
     "speed x1' = 0.2, x2' = -0.1\n"
     "kinetic 3/2*x1'^2 + (x2'^2 + y2'^2)/2\n"
     "potential 9.81*y2\n"
     "plot time x1, x2, y2, x1', x2', y2'\n",
     {"coord x1 = 0, x2 = -2, y2 = 2\n"
      "constraint face: y2 = x1 - x2\n",

      "coord x1 = 0, x2 = -2, y2 = 2\n"
      "constraint face: y2' = x1' - x2'\n",

      "coord x1 = 0, x2 = -2\n"
      "imbed y2 = x1 - x2\n"}},

    {"double pendulum",
     "mass 1 at (x1, y1), 2 at (x2, y2)\n"
     "gravity (0, -9.81)\n"
     "plot time x1, y1, x2, y2, x1', y1', x2', y2'\n",
     {"coord x1 = sin(1), y1 = -cos(1), x2 = sin(1) + sin(0.5), y2 = -cos(1) - cos(0.5)\n"
      "constraint upper: x1^2 + y1^2 = 1\n"
      "constraint lower: |(x2, y2) - (x1, y1)| = 1\n",

      "coord x1 = sin(1), y1 = -cos(1), x2 = sin(1) + sin(0.5), y2 = -cos(1) - cos(0.5)\n"
      "constraint upper: x1*x1' + y1*y1' = 0\n"
      "constraint lower: (x2 - x1)*(x2' - x1') + (y2 - y1)*(y2' - y1') = 0\n",

      "coord a = 1, b = 0.5\n"
      "imbed x1 = sin(a), y1 = -cos(a)\n"
      "imbed x2 = x1 + sin(b), y2 = y1 - cos(b)\n"}},
};

/* Largest difference of the outputs, relative to 1 + |x|. */
static double outputs_apart(moving *a, moving *b)
{
    zw_view x = zw_field(a->system, a->state, a->work, ZW_FIELD_OUTPUT);
    zw_view y = zw_field(b->system, b->state, b->work, ZW_FIELD_OUTPUT);
    double worst = 0;
    assert_true(x.count >= 4 && x.count == y.count);
    for (int i = 0; i < x.count; i++) {
        double off = fabs(x.data[i] - y.data[i]) / (1 + fabs(x.data[i]));
        worst = off <= worst ? worst : off;
    }
    return worst;
}

static void all_forms_move_alike(void **state)
{
    const forms *f = *state;
    moving m[3];
    double worst[3] = {0};
    for (int i = 0; i < 3; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", f->text[i], f->common);
        const char *failed = moving_open(&m[i], text, f->name, NULL, 0);
        must(&m[i], f->name, failed);
    }
    for (int second = 1; second <= 10; second++) {
        for (int i = 0; i < 3; i++) {
            const char *failed = moving_run(&m[i], second, 1e-14);
            must(&m[i], f->name, failed);
            double off = outputs_apart(&m[0], &m[i]);
            worst[i] = off <= worst[i] ? worst[i] : off;
        }
    }
    print_message("    %s, 10 s: speeds constrained, apart by %.1e; imbedded, by %.1e\n", f->name,
                  worst[1], worst[2]);
    for (int i = 0; i < 3; i++) {
        moving_close(&m[i]);
        assert_true(worst[i] <= 1e-11);
    }
}

/* ---- The tests ---------------------------------------------------------------------------- */

static int is_example(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 3 && strcmp(entry->d_name + length - 3, ".zw") == 0;
}

int main(int argc, char **argv)
{
    enum { FORMS = sizeof systems / sizeof *systems };
    struct dirent **entry;
    int count = scandir(EXAMPLES, &entry, is_example, alphasort);
    if (count <= 0) {
        return 1;
    }
    struct CMUnitTest *test = calloc((size_t)count + FORMS, sizeof *test);
    size_t tests = 0;
    for (size_t i = 0; i < FORMS && test != NULL; i++) {
        test[tests++] = (struct CMUnitTest){.name = systems[i].name,
                                            .test_func = all_forms_move_alike,
                                            .initial_state = (void *)&systems[i]};
    }
    for (int i = 0; i < count && test != NULL; i++) {
        int wanted = argc == 1;
        for (int k = 1; k < argc; k++) {
            wanted = wanted || strstr(entry[i]->d_name, argv[k]) != NULL;
        }
        if (wanted) {
            test[tests++] = (struct CMUnitTest){.name = entry[i]->d_name,
                                                .test_func = three_times_is_once,
                                                .initial_state = entry[i]->d_name};
        }
    }
    int failed = _cmocka_run_group_tests("forms", test, tests, NULL, NULL);
    for (int i = 0; i < count; i++) {
        free(entry[i]);
    }
    free(entry);
    free(test);
    return failed;
}
