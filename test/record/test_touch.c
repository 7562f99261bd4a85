/* Contacts in recordings: columns by pairs of bodies, arrows, and recordings without them. */
#include "step/touch.h"

#include "base/memory.h"
#include "record/scratch.h"

#define FLOOR "<geom name='floor' type='plane' size='0 0 1' friction='.5 0 0'/>"
#define CRATE                                                                                      \
    "<body name='crate' pos='0 0 .1'><freejoint/>"                                                 \
    "<geom name='box' type='box' size='.1 .1 .1' friction='.5 0 0' mass='2'/></body>"
#define BALL                                                                                       \
    "<body name='ball' pos='1 0 .3'><freejoint/><geom size='.1' mass='1' friction='.5 0 "          \
    "0'/></body>"

/* A file as text, cut to the room. */
static char *text_of(const char *path)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    return text;
}

static void record(scene *s, double time, int most, const char *name)
{
    zw_error error = {0};
    zw_record *record = zw_record_create(s->system, &error);
    assert_non_null(record);
    if (most != 24) {
        zw_record_contacts(record, most);
    }
    zw_run_options options = {
        .time = time, .every = time / 4, .step = 0.005, .observer = zw_record_observe};
    options.user = record;
    zw_run_summary summary;
    must(zw_run(s->system, s->state, s->work, &options, &summary, &error), &error);
    zw_record_plain(record, 1);
    must(zw_record_write(record, &summary, scratch(name), &error), &error);
    zw_record_free(record);
}

/* The number of a column in some row. */
static double cell(const char *text, const char *column, int row)
{
    int at = 0, found = -1;
    char line[20000], *rest, *word;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
    for (word = strtok_r(line, ",", &rest); word; word = strtok_r(NULL, ",", &rest), at++) {
        found = strcmp(word, column) == 0 ? at : found;
    }
    if (found < 0) {
        fail_msg("there is no column %s", column);
    }
    for (int k = 0; k <= row; k++) {
        text += strcspn(text, "\n") + 1;
    }
    for (int k = 0; k < found; k++) {
        text += strcspn(text, ",") + 1;
    }
    return strtod(text, NULL);
}

/* A crate that slides to a stop, and a ball that falls: forces, gaps and states by name. */
static void columns_of_pairs(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody>" FLOOR CRATE BALL "</worldbody>");
    v_of(&s)[0] = 1;
    record(&s, 0.4, 24, "slide.csv");
    const char *text = text_of(scratch("slide.csv"));
    for (int row = 0; row < 5; row++) {
        int slides = row < 3; /* it stops after 0.2 s; at that moment the step before counts */
        double friction = cell(text, "friction(crate on floor)", row);
        assert_true(fabs(cell(text, "normal(crate on floor)", row) - 2 * G) < 1e-8);
        assert_true(row == 2 || fabs(friction - (slides ? G : 0)) < 1e-8);
        assert_true(fabs(cell(text, "gap(crate on floor)", row)) < 1e-10);
        assert_true(row == 2 || cell(text, "touch(crate on floor)", row) == (slides ? 2 : 1));
    }
    assert_true(cell(text, "normal(ball on floor)", 0) == 0);
    assert_true(isnan(cell(text, "gap(ball on floor)", 0)));
    assert_true(cell(text, "touch(ball on floor)", 0) == 0);
    assert_true(fabs(cell(text, "normal(ball on floor)", 4) - G) < 1e-8);
    assert_null(strstr(text, "contact 1 from")); /* arrows are for pictures */
    close_scene(&s);
}

/* Arrows at the corners; a plot of the forces. */
static void a_page_shows_forces(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody>" FLOOR CRATE "</worldbody>");
    record(&s, 0.1, 24, "stand.html");
    const char *text = text_of(scratch("stand.html"));
    int arrows = 0;
    assert_non_null(strstr(text, "\"Contact forces\""));
    for (const char *at = text; (at = strstr(at, "{\"kind\":\"arrow\"")) != NULL; at++) {
        arrows++;
    }
    assert_int_equal(arrows, 4);
    close_scene(&s);
}

/* Two rods that hang one below the other: what their hinges carry, in the page and not among the
 * numbers. */
static void a_page_shows_joints(void **state)
{
    (void)state;
    scene s = open_scene(
        "<worldbody><body name='upper'><joint name='hook'/><geom size='.05' pos='0 0 -.5' "
        "mass='3'/>"
        "<body pos='0 0 -1'><joint name='knee'/><geom size='.05' pos='0 0 -.5' mass='2'/></body>"
        "</body><body pos='2 0 0'><freejoint name='loose'/><geom size='.05' "
        "mass='1'/></body></worldbody>");
    record(&s, 0.1, 24, "hang.html");
    record(&s, 0.2, 24, "hang.csv");
    const char *text = text_of(scratch("hang.html"));
    assert_non_null(strstr(text, "\"Joint forces\""));
    static const char hook[] = "\"force(hook)\",\"constant\":",
                      knee[] = "\"force(knee)\",\"constant\":";
    assert_non_null(strstr(text, hook));
    assert_non_null(strstr(text, knee));
    assert_true(fabs(strtod(strstr(text, hook) + sizeof hook - 1, NULL) - 5 * G) < 1e-12);
    assert_true(fabs(strtod(strstr(text, knee) + sizeof knee - 1, NULL) - 2 * G) < 1e-12);
    assert_null(strstr(text, "\"force(loose)\""));
    assert_null(strstr(text_of(scratch("hang.csv")), "force(hook)"));
    close_scene(&s);
}

/* Of two pairs more than one is too many; none at all when asked for none. */
static void too_many_pairs(void **state)
{
    (void)state;
    static const int most[] = {1, 0, -1, 2};
    for (int k = 0; k < 4; k++) {
        scene s = open_scene("<worldbody>" FLOOR CRATE BALL "</worldbody>");
        record(&s, 0.4, most[k], "few.csv");
        int there = strstr(text_of(scratch("few.csv")), "normal(") != NULL;
        assert_int_equal(there, k > 1);
        close_scene(&s);
    }
}

/* Methods that do not compute contact record none. */
static void others_have_none(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody>" FLOOR CRATE "</worldbody>");
    zw_error error = {0};
    zw_record *r = zw_record_create(s.system, &error);
    zw_run_options options = {.time = 0.1,
                              .every = 0.05,
                              .method = ZW_METHOD_DOP853,
                              .observer = zw_record_observe,
                              .user = r};
    must(zw_run(s.system, s.state, s.work, &options, NULL, &error), &error);
    assert_int_equal(zw_record_pairs(r), 0);
    assert_true(fabs(v_of(&s)[2] + G * 0.1) < 1e-9); /* and fall, in what is shown as in what is */
    assert_true(fabs(zw_field(s.system, s.state, s.work, ZW_FIELD_A).data[2] + G) < 1e-9);
    zw_record_free(r);
    close_scene(&s);
}

/* Out of memory at any allocation: a status, and nothing is left. */
static void memory_may_end(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody>" FLOOR CRATE "</worldbody>");
    int failures = 0, done = 0;
    v_of(&s)[0] = 1;
    for (int k = 1; !done && k < 400; k++) {
        zw_error error = {0};
        zw_contact list[8];
        zw_work *work = zw_work_create(s.system, &error);
        base_alloc_fail_after(k);
        zw_status status = zw_forward(s.system, s.state, work, NULL, &error);
        int count = zw_contacts(s.system, s.state, work, list, 8, &error);
        base_alloc_fail_after(0);
        done = status == ZW_OK && count == 4;
        failures += !done;
        assert_true(status == ZW_OK || status == ZW_NO_MEMORY);
        zw_work_free(work);
    }
    assert_true(done && failures > 10);
    for (int k = done = failures = 0; !done && k < 400; k++) {
        zw_error error = {0};
        zw_record *r = zw_record_create(s.system, &error);
        must(zw_forward(s.system, s.state, s.work, NULL, &error), &error);
        base_alloc_fail_after(k + 1);
        int bad = zw_record_observe(r, ZW_SAMPLE_OUTPUT, -1, s.system, s.state, s.work);
        zw_status status = zw_record_write(r, NULL, scratch("fail.csv"), &error);
        base_alloc_fail_after(0);
        done = !bad && status == ZW_OK;
        failures += !done;
        assert_true(status == ZW_OK || status == ZW_NO_MEMORY);
        zw_record_free(r);
    }
    assert_true(done && failures > 5);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_pairs), cmocka_unit_test(a_page_shows_forces),
        cmocka_unit_test(too_many_pairs),   cmocka_unit_test(others_have_none),
        cmocka_unit_test(memory_may_end),   cmocka_unit_test(a_page_shows_joints),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
