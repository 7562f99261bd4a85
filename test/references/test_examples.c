/* Every file in examples/: short enough to be read aloud, and it runs to its end as it stands, with
 * its checks, on its constraints, and with a certificate. */
#include <dirent.h>

#include "references/moving.h"

#define EXAMPLES ZW_SOURCE_DIR "/examples/"

static void is_short(const char *name, const char *text)
{
    int lines = 0, longest = 0, now = 0;
    for (const char *c = text; *c != 0; c++) {
        lines += *c == '\n';
        now = *c == '\n' ? 0 : now + 1;
        longest = now > longest ? now : longest;
    }
    if (lines > 20 || longest > 140 || text[0] != '#') {
        print_error("    %s: %d lines, the longest of %d characters\n", name, lines, longest);
        fail();
    }
}

static void runs_as_it_stands(void **state)
{
    const char *name = *state;
    char path[512];
    snprintf(path, sizeof path, EXAMPLES "%s", name);
    char *text = moving_text_of(path);
    assert_non_null(text);
    is_short(name, text);
    free(text);
    moving m;
    const char *failed = moving_open(&m, NULL, path, NULL, 0);
    zw_run_options options = {.tolerance = 0};
    if (failed == NULL &&
        zw_run(m.system, m.state, m.work, &options, &m.summary, &m.error) != ZW_OK) {
        failed = "run";
    }
    if (failed != NULL) {
        moving_complain(&m, name, failed);
        moving_close(&m);
        fail();
    }
    zw_run_summary s = m.summary;
    if (s.check_failed >= 0) {
        print_error("    %s: check %s fails at t = %g\n", name,
                    zw_name(m.system, ZW_KIND_CHECK, s.check_failed), s.check_time);
    }
    moving_close(&m);
    assert_int_equal(s.check_failed, -1);
    assert_true(s.violation_position <= 1e-9 && s.violation_velocity <= 1e-9);
    assert_true(s.certificate <= 1e-8);
    assert_true(s.energy_drift <= 1e-6);
    print_message("    %-30s %ld steps, energy accounted for to %.0e\n", name, s.steps,
                  s.energy_drift);
}

static int is_example(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 3 && strcmp(entry->d_name + length - 3, ".zw") == 0;
}

int main(void)
{
    struct dirent **entry;
    int count = scandir(EXAMPLES, &entry, is_example, alphasort);
    struct CMUnitTest *test = count > 0 ? calloc((size_t)count, sizeof *test) : NULL;
    if (test == NULL) {
        return 1;
    }
    for (int i = 0; i < count; i++) {
        test[i] = (struct CMUnitTest){.name = entry[i]->d_name,
                                      .test_func = runs_as_it_stands,
                                      .initial_state = entry[i]->d_name};
    }
    int failed = _cmocka_run_group_tests("examples", test, (size_t)count, NULL, NULL);
    for (int i = 0; i < count; i++) {
        free(entry[i]);
    }
    free(entry);
    free(test);
    return failed;
}
