/* docs/language.md means what it says: every block marked zw is read, compiled and run; where a
 * block of text follows, its numbers come out; and what is marked wrong is refused with the words
 * that are printed there. */
#include "references/moving.h"

#define PAGE ZW_SOURCE_DIR "/docs/language.md"
#define BLOCKS 64

typedef struct block {
    char name[32]; /* "language.md:12" */
    int wrong;
    char *text;
    char *said; /* what the text block after it says, or NULL */
} block;

/* ---- Finding the blocks ------------------------------------------------------------------- */

/* The lines up to the closing fence, as a copy; `line` moves after the fence. */
static char *body(const char **line)
{
    const char *end = strstr(*line, "\n```");
    assert_non_null(end);
    size_t length = (size_t)(end + 1 - *line);
    char *copy = calloc(length + 1, 1);
    assert_non_null(copy);
    memcpy(copy, *line, length);
    *line = end + 4;
    *line += *(*line) == '\n';
    return copy;
}

static int fence(const char **line, const char *tag)
{
    char whole[32];
    size_t length = (size_t)snprintf(whole, sizeof whole, "```%s\n", tag);
    if (strncmp(*line, whole, length) != 0) {
        return 0;
    }
    *line += length;
    return 1;
}

static int find_blocks(const char *page, block *found)
{
    int count = 0;
    const char *line = page;
    while (*line != 0) {
        int number = 1;
        for (const char *c = page; c < line; c++) {
            number += *c == '\n';
        }
        int wrong = fence(&line, "zw-wrong");
        if (wrong || fence(&line, "zw")) {
            assert_true(count < BLOCKS);
            block *b = &found[count++];
            *b = (block){.wrong = wrong, .text = body(&line)};
            snprintf(b->name, sizeof b->name, "language.md:%d", number);
            b->said = fence(&line, "text") ? body(&line) : NULL;
        } else {
            line += strcspn(line, "\n");
            line += *line == '\n';
        }
    }
    return count;
}

/* ---- Right blocks ------------------------------------------------------------------------- */

static void must(moving *m, const char *who, const char *failed)
{
    if (failed != NULL) {
        moving_complain(m, who, failed);
        moving_close(m);
        fail();
    }
}

/* "at t = 1: x = -0.98629175, x' = 2": run there and compare to the digits that are printed. */
static void as_said(moving *m, const block *b, const char *said)
{
    double time, value;
    char name[32];
    int used = 0;
    assert_int_equal(sscanf(said, "at t = %lf:%n", &time, &used), 1);
    must(m, b->name, moving_run(m, time, 1e-12));
    for (said += used; sscanf(said, " %31[^ =] = %lf%n", name, &value, &used) == 2; said += used) {
        double got = moving_value(m, name);
        if (fabs(got - value) > 1e-8 * (1 + fabs(value))) {
            print_error("    %s: %s = %.9g, but the page says %.9g\n", b->name, name, got, value);
            moving_close(m);
            fail();
        }
        said += said[used] == ',';
    }
    while (*said == '\n') {
        said++;
    }
    if (*said != 0) {
        as_said(m, b, said);
    }
}

static void runs(void **state)
{
    const block *b = *state;
    moving m;
    must(&m, b->name, moving_open(&m, b->text, PAGE, NULL, 0));
    if (b->said != NULL) {
        as_said(&m, b, b->said);
    } else {
        must(&m, b->name, moving_run(&m, 0.5, 0));
    }
    assert_int_equal(m.summary.check_failed, -1);
    assert_true(m.summary.violation_position < 1e-9);
    moving_close(&m);
}

/* ---- Wrong blocks ------------------------------------------------------------------------- */

static void is_refused(void **state)
{
    const block *b = *state;
    char message[1400];
    moving m;
    const char *failed = moving_open(&m, b->text, "wrong.zw", NULL, 0);
    if (failed == NULL) {
        failed = moving_run(&m, 0.1, 0);
    }
    if (failed == NULL) {
        print_error("    %s: was taken\n", b->name);
        fail();
    }
    snprintf(message, sizeof message, "%s:%d:%d: error: %s\n", m.error.file, m.error.line,
             m.error.column, m.error.text);
    if (strcmp(message, b->said) != 0) {
        print_error("    %s: the page says\n%s    but it is\n%s", b->name, b->said, message);
        moving_close(&m);
        fail();
    }
    moving_close(&m);
}

int main(void)
{
    static block found[BLOCKS];
    struct CMUnitTest test[BLOCKS];
    char *page = moving_text_of(PAGE);
    if (page == NULL) {
        return 1;
    }
    int count = find_blocks(page, found);
    for (int i = 0; i < count; i++) {
        test[i] = (struct CMUnitTest){.name = found[i].name,
                                      .test_func = found[i].wrong ? is_refused : runs,
                                      .initial_state = &found[i]};
    }
    int failed = _cmocka_run_group_tests("language", test, (size_t)count, NULL, NULL);
    for (int i = 0; i < count; i++) {
        free(found[i].text);
        free(found[i].said);
    }
    free(page);
    return failed;
}
