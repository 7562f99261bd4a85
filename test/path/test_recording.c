/* Recordings: what zwang writes comes back to the bit, other dialects mean the same, and what is
 * broken is reported with its place. test/path/broken/NAME.csv must give, to the letter, NAME.txt;
 * review a new message, then write it with
 *
 *     ZW_BLESS=1 <build>/test/path/test_recording
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/memory.h"
#include "path/recording/recording.h"
#include "record/scratch.h"
#include "record/write.h"
#include "scene/dice.h"

static const char pendulum[] = "coord x = 1, y = 0\n"
                               "kinetic (x'^2 + y'^2)/2\n"
                               "potential 9.81*y\n"
                               "constraint rod: x^2 + y^2 = 1\n";

typedef struct world {
    zw_model *model;
    zw_system *system;
} world;

static world world_of(const char *text)
{
    zw_error error = {0};
    world w = {.model = zw_model_parse(text, "test.zw", NULL, &error)};
    w.system = w.model != NULL ? zw_system_compile(w.model, NULL, &error) : NULL;
    if (w.system == NULL) {
        print_error("%s\n", error.text);
    }
    assert_non_null(w.system);
    return w;
}

static void world_free(world *w)
{
    zw_system_free(w->system);
    zw_model_free(w->model);
}

/* A file in the scratch folder. */
static const char *file_of(const char *name, const char *text)
{
    const char *path = scratch(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    return path;
}

static zw_path *must_read(const world *w, const char *file, const zw_path_column *column, int count)
{
    zw_error error = {0};
    zw_path *path = zw_path_read(
        w->system, file, &(zw_path_options){.columns = column, .column_count = count}, &error);
    if (path == NULL) {
        print_error("%s:%d:%d: %s\n", error.file, error.line, error.column, error.text);
    }
    assert_non_null(path);
    return path;
}

static zw_path *read_text(const world *w, const char *text)
{
    return must_read(w, file_of("x.csv", text), NULL, 0);
}

/* What is said of a file that cannot be read. */
static void must_fail(const world *w, const char *file, const zw_path_column *column, int count,
                      zw_status status, const char *message)
{
    zw_error error = {0};
    zw_path *path = zw_path_read(
        w->system, file, &(zw_path_options){.columns = column, .column_count = count}, &error);
    assert_null(path);
    if (error.status != status || strstr(error.text, message) == NULL) {
        print_error("%d %s:%d:%d: %s\nwanted: %s\n", (int)error.status, error.file, error.line,
                    error.column, error.text, message);
    }
    assert_int_equal(error.status, status);
    assert_non_null(strstr(error.text, message));
}

/* ---- What zwang writes ---------------------------------------------------------------------- */

enum { MOST = 1000 };

typedef struct seen {
    zw_record *record;
    int count, n;
    double t[MOST], q[MOST][4], v[MOST][4];
} seen;

static int watch(void *user, zw_sample_kind kind, int event, const zw_system *system,
                 const zw_state *state, zw_work *work)
{
    seen *s = user;
    assert_true(s->count < MOST);
    s->t[s->count] = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
    memcpy(s->q[s->count], zw_field(system, state, work, ZW_FIELD_Q).data,
           (size_t)s->n * sizeof(double));
    memcpy(s->v[s->count], zw_field(system, state, work, ZW_FIELD_V).data,
           (size_t)s->n * sizeof(double));
    s->count++;
    return zw_record_observe(s->record, kind, event, system, state, work);
}

static void compare(const seen *s, const zw_path *path)
{
    size_t bytes = (size_t)s->n * sizeof(double);
    assert_int_equal(path->count, s->count);
    assert_int_equal(path->n, s->n);
    assert_non_null(path->v);
    for (int i = 0; i < s->count; i++) {
        assert_memory_equal(&path->t[i], &s->t[i], sizeof(double));
        assert_memory_equal(path->q + i * s->n, s->q[i], bytes);
        assert_memory_equal(path->v + i * s->n, s->v[i], bytes);
    }
}

static void a_run_comes_back_to_the_bit(void **state)
{
    (void)state;
    static const char *const model[] = {
        pendulum,
        "coord th1 = 2, th2 = 2.5\npoint p = (sin(th1), -cos(th1))\n"
        "mass 1 at p, 1 at p + (sin(th2), -cos(th2))\ngravity (0, -9.81)\nplot time sin(th1)\n",
        "coord x[i,j] = i + 0.1*j for i in 1..2, j in 1..2\n"
        "kinetic sum(x[i,j]'^2 for i in 1..2, j in 1..2)/2\n"
        "potential sum(x[i,j]^2 for i in 1..2, j in 1..2)*1e-3\n"};
    static seen s;
    for (int k = 0; k < 3; k++) {
        zw_error error = {0};
        world w = world_of(model[k]);
        zw_work *work = zw_work_create(w.system, &error);
        zw_state *at = zw_state_create(w.system, work, NULL, &error);
        s = (seen){.n = zw_count(w.system, ZW_KIND_COORD),
                   .record = zw_record_create(w.system, &error)};
        zw_run_options options = {.time = 2, .every = 1.0 / 300, .observer = watch, .user = &s};
        assert_int_equal(zw_run(w.system, at, work, &options, NULL, &error), ZW_OK);
        const char *file[] = {"x.csv", "x.h5"};
        for (int f = 0; f < (record_has_h5() ? 2 : 1); f++) {
            assert_int_equal(zw_record_write(s.record, NULL, scratch(file[f]), &error), ZW_OK);
            zw_path *path = must_read(&w, scratch(file[f]), NULL, 0);
            zw_path_about about = zw_path_look(path);
            compare(&s, path);
            assert_int_equal(about.speeds, 1);
            assert_int_equal(about.pieces, 1);
            assert_true(about.start == 0 && about.end == 2);
            assert_true(about.ignored >= 4);
            assert_non_null(strstr(about.ignored_as, "kinetic_energy"));
            zw_path_free(path);
        }
        zw_record_free(s.record);
        zw_state_free(at);
        zw_work_free(work);
        world_free(&w);
    }
}

/* ---- Dialects ------------------------------------------------------------------------------- */

static void dialects_mean_the_same(void **state)
{
    (void)state;
    static const char *const text[] = {
        "t,x,y,x',y'\n0,1,0,0.5,0\n0.25,-1e-3,2,0,1\n1,3,4,5,6\n",
        "t;x;y;x';y'\n0;1;0;0.5;0\n0.25;-1e-3;2;0;1\n1;3;4;5;6",
        "t\tx\ty\tx'\ty'\n0\t1\t0\t0.5\t0\n0.25\t-1e-3\t2\t0\t1\n1\t3\t4\t5\t6\n",
        "t x y x' y'\n0 1   0 0.5 0\n  0.25 -1e-3 2\t0 1  \n1 3 4 5 6\n",
        "\xef\xbb\xbft,x,y,x',y'\r\n0,1,0,0.5,0\r\n0.25,-1e-3,2,0,1\r\n1,3,4,5,6\r\n",
        "# from somewhere\n\nt,x,y,x',y'\n# first\n0,1,0,0.5,0\n\n  # second\n0.25,-1e-3,2,0,1\n"
        "1,3,4,5,6\n\n",
        "# made by a program\n# t x y x' y'\n0 1 0 0.5 0\n0.25 -1e-3 2 0 1\n1 3 4 5 6\n",
        "#t,x,y,x',y'\n0,1,0,0.5,0\n0.25,-1e-3,2,0,1\n1,3,4,5,6\n",
        "\"t\", \"x\" ,\"y\",\"x'\",\"y'\"\n\"0\",\"1\",0,0.5,0\n0.25 , -1e-3,\t2,0,1\n1,3,4,5,6\n",
        "inflow,t,x,y,x',y'\n,0,1,0,0.5,0\n,0.25,-1e-3,2,0,1\n,1,3,4,5,6\n",
        "time,y,x,y_dot,xd\n0,0,1,0,0.5\n0.25,2,-.001,1,0\n1,4,3,6,5\n",
        "name,y_dot,y,\"a, b\",x,x_dot,t,\n\"p, "
        "q\",0,0,\"\"\"\",1,0.5,0,\n,1,2,word,-0.001,0,0.25,\n"
        "x,6,4,nan,3,5,1,\n",
    };
    const double t[] = {0, 0.25, 1}, q[] = {1, 0, -1e-3, 2, 3, 4}, v[] = {0.5, 0, 0, 1, 5, 6};
    world w = world_of(pendulum);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        zw_path *path = read_text(&w, text[i]);
        assert_int_equal(path->count, 3);
        assert_memory_equal(path->t, t, sizeof t);
        assert_memory_equal(path->q, q, sizeof q);
        assert_non_null(path->v);
        assert_memory_equal(path->v, v, sizeof v);
        zw_path_free(path);
    }
    world_free(&w);
}

static void what_is_not_used_is_named(void **state)
{
    (void)state;
    world w = world_of(pendulum);
    zw_path *path = read_text(&w, "t,x,y\n0,1,0\n1,1,1\n");
    zw_path_about about = zw_path_look(path);
    assert_int_equal(about.ignored, 0);
    assert_string_equal(about.ignored_as, "");
    assert_int_equal(about.speeds, 0);
    zw_path_free(path);

    path = read_text(&w, "t,x,y,\n0,1,0,\n1,1,1,\n");
    assert_string_equal(zw_path_look(path).ignored_as, "(untitled)");
    zw_path_free(path);

    path = read_text(&w, "t,x,y,y',\"a, b\",time\n0,1,0,4,x,\n1,1,1,4,y,\n");
    about = zw_path_look(path);
    assert_null(path->v);
    assert_int_equal(about.speeds, -1);
    assert_int_equal(about.ignored, 3);
    assert_string_equal(about.ignored_as, "y', a, b, time");
    zw_path_free(path);

    /* A coordinate goes before a speed of that name, and before the time. */
    world odd = world_of("coord x = 1, xd = 2, time = 3\nkinetic (x'^2 + xd'^2 + time'^2)/2\n");
    path = read_text(&odd, "t,x,xd,time\n0,1,2,3\n1,4,5,6\n");
    assert_int_equal(zw_path_look(path).speeds, 0);
    assert_true(path->q[4] == 5 && path->q[5] == 6);
    zw_path_free(path);
    must_fail(&odd, file_of("x.csv", "x,xd,time\n0,1,2\n"), NULL, 0, ZW_BAD_INPUT,
              "there is no column 't' for the time");
    world_free(&odd);
    world_free(&w);
}

static void columns_can_be_renamed(void **state)
{
    (void)state;
    static const zw_path_column column[] = {
        {"x", "pos x [m]"}, {"y", "x"}, {"t", "frame"}, {"x'", "u"}, {"y'", "v"}};
    world w = world_of(pendulum);
    const char *text = "frame,pos x [m],x,u,v,y\n0,1,2,3,4,5\n1,6,7,8,9,10\n";
    zw_path *path = must_read(&w, file_of("x.csv", text), column, 5);
    assert_true(path->q[0] == 1 && path->q[1] == 2 && path->v[2] == 8 && path->v[3] == 9);
    assert_string_equal(zw_path_look(path).ignored_as, "y");
    zw_path_free(path);

    const zw_path_column wrong[] = {
        {"z", "x"}, {"x", "pos x"}, {"y", "u"}, {"y", "v"}, {"z'", "u"}};
    const char *file = file_of("x.csv", text);
    must_fail(&w, file, &wrong[0], 1, ZW_BAD_INPUT, "'z' is neither a coordinate of the model");
    must_fail(&w, file, &wrong[1], 1, ZW_BAD_INPUT, "there is no column 'pos x' to be x");
    must_fail(&w, file, &wrong[2], 2, ZW_BAD_INPUT, "y was given two columns");
    must_fail(&w, file, &wrong[4], 1, ZW_BAD_INPUT, "'z'' is neither a coordinate of the model");
    must_fail(&w, file, &column[1], 1, ZW_BAD_INPUT, "the column 'x' cannot be both y and x");
    world_free(&w);
}

static void a_time_given_twice_parts_two_pieces(void **state)
{
    (void)state;
    world w = world_of(pendulum);
    zw_path *path = read_text(&w, "t,x,y\n0,1,0\n1,1,1\n1,2,2\n3,3,3\n");
    assert_int_equal(zw_path_look(path).pieces, 2);
    assert_int_equal(path->count, 4);
    zw_path_free(path);
    world_free(&w);
}

/* ---- Broken --------------------------------------------------------------------------------- */

static int check_file(const world *w, const char *name)
{
    zw_error error = {0};
    char said[1400], path[600];
    zw_path *read = zw_path_read(w->system, name, NULL, &error);
    if (read != NULL) {
        zw_path_free(read);
        print_error("%s: was read without complaint\n", name);
        return 0;
    }
    snprintf(said, sizeof said, "%s:%d:%d: %s\n", error.file, error.line, error.column, error.text);
    snprintf(path, sizeof path, "%.*s.txt", (int)strlen(name) - 4, name);
    if (getenv("ZW_BLESS") != NULL) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fputs(said, file);
        fclose(file);
    }
    char *known = scratch_read(path, NULL);
    int good = error.status == ZW_BAD_INPUT && known != NULL && strcmp(said, known) == 0;
    if (!good) {
        print_error("%s\n  said:   %s\n  wanted: %s\n", name, said, known ? known : "(no file)");
    }
    free(known);
    return good;
}

static void broken_recordings_are_explained(void **state)
{
    (void)state;
    world w = world_of(pendulum);
    char here[512];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(ZW_SOURCE_DIR "/test/path/broken"), 0);
    DIR *folder = opendir(".");
    assert_non_null(folder);
    int count = 0, wrong = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".csv") == 0) {
            wrong += !check_file(&w, entry->d_name);
            count++;
        }
    }
    closedir(folder);
    assert_int_equal(chdir(here), 0);
    assert_true(count >= 40);
    assert_int_equal(wrong, 0);
    world_free(&w);
}

static void files_that_are_none(void **state)
{
    (void)state;
    world w = world_of(pendulum);
    must_fail(&w, scratch("none.csv"), NULL, 0, ZW_NO_FILE, "No such file");
    must_fail(&w, scratch_folder, NULL, 0, ZW_NO_FILE, "directory");
    if (record_has_h5()) {
        must_fail(&w, scratch("none.h5"), NULL, 0, ZW_NO_FILE, "No such file");
        must_fail(&w, file_of("text.h5", "t,x,y\n"), NULL, 0, ZW_BAD_INPUT, "not an HDF5 file");
    } else {
        must_fail(&w, scratch("none.h5"), NULL, 0, ZW_NO_FILE, "without HDF5");
    }
    world_free(&w);
}

/* A line of 80 MB: an answer, and no overflow of int. */
static void an_absurd_line_is_reported(void **state)
{
    (void)state;
    world w = world_of(pendulum);
    size_t size = 80000000;
    for (int first = 0; first < 2; first++) {
        FILE *file = fopen(scratch("long.csv"), "wb");
        char *block = malloc(size);
        assert_true(file != NULL && block != NULL);
        memset(block, 'a', size);
        fputs(first ? "" : "t,x,y\n0,1,", file);
        assert_int_equal(fwrite(block, 1, size, file), size);
        free(block);
        assert_int_equal(fclose(file), 0);
        must_fail(&w, scratch("long.csv"), NULL, 0, ZW_BAD_INPUT, "longer than 64 MB");
    }
    world_free(&w);
}

/* Whichever allocation fails, the answer is that, and nothing is lost (the sanitizers look). */
static void starved(const world *w, const char *file)
{
    zw_error error;
    for (int k = 1;; k++) {
        base_alloc_fail_after(k);
        zw_path *path = zw_path_read(w->system, file, NULL, &error);
        base_alloc_fail_after(0);
        if (path != NULL) {
            assert_true(k > 5);
            zw_path_free(path);
            return;
        }
        assert_int_equal(error.status, ZW_NO_MEMORY);
        assert_true(k < 1000);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    world w = world_of(pendulum);
    const char *text = "t,x,y,x',y',e\n0,1,0,0.5,0,1\n0.25,-1e-3,2,0,1,1\n1,3,4,5,6,1\n";
    starved(&w, file_of("x.csv", text));
    if (record_has_h5()) {
        zw_error error;
        record_table *table = record_table_create(&error);
        const char *const name[] = {"t", "x", "y", "x'", "y'", "other"};
        for (int i = 0; i < 6; i++) {
            record_table_add_column(table, name[i], RECORD_ROLE_OTHER, NULL, &error);
        }
        for (int i = 0; i < 5; i++) {
            record_table_add_row(table, (double[]){i, 1, 2, 3, 4, 5}, &error);
        }
        assert_int_equal(record_write_h5(table, scratch("x.h5"), &error), ZW_OK);
        record_table_free(table);
        starved(&w, scratch("x.h5"));
    }
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_comes_back_to_the_bit),
        cmocka_unit_test(dialects_mean_the_same),
        cmocka_unit_test(what_is_not_used_is_named),
        cmocka_unit_test(columns_can_be_renamed),
        cmocka_unit_test(a_time_given_twice_parts_two_pieces),
        cmocka_unit_test(broken_recordings_are_explained),
        cmocka_unit_test(files_that_are_none),
        cmocka_unit_test(an_absurd_line_is_reported),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
