/* The reference motions again, as bodies: bodies/NAME.xml is the mechanism of NAME.txt.
 *
 * Names tell which columns of the data a mechanism has. A site "x y z" is at those coordinates of
 * the world (or "x y" in the plane), a site "axis a b c" has them as its z axis, and a joint "w" is
 * one by itself. Columns that nothing is named after are held by construction: their numbers are 0.
 * The start is the keyframe with the name of the case, or "start", or the reference pose.
 *
 * Of the instants only the accelerations are compared: multipliers, and Gauss's function itself,
 * are those of the rows that are left, and here the joints have taken most of them. */
#include "references/moving.h"

#include "base/memory.h"
#include "model/pose.h"
#include "system/system.h"
#include "system/work.h"
#include "tree/sweeps.h"
#include "zwang/bodies.h"

#define FOLDER ZW_SOURCE_DIR "/test/references/"
#define COLUMNS 64
#define LINE 4096

/* Where a column comes from. */
typedef struct source {
    enum { HELD, JOINT, POINT, AXIS } kind;
    int index; /* joint or site */
    int part;  /* which of x, y, z */
} source;

typedef struct twin {
    const char *data, *model;
    int line, cases, count;
    int far; /* what follows in this case is too far for a small campaign */
    double tolerance, precision, step, energy, worst;
    double loose; /* tolerances are taken times this; 0: as they are */
    source column[COLUMNS];
    moving m;
    double *sweeps;
} twin;

/* ---- Where the columns are ------------------------------------------------------------------- */

static source find_source(const zw_model *model, const char *name)
{
    int joint = zw_model_find(model, ZW_KIND_JOINT, name);
    if (joint >= 0) {
        return (source){JOINT, joint, 0};
    }
    for (int i = 0; i < zw_model_count(model, ZW_KIND_SITE); i++) {
        const zw_site_def *site = zw_model_def(model, ZW_KIND_SITE, i);
        char words[100];
        snprintf(words, sizeof words, "%s", site->name);
        char *rest = NULL, *word = strtok_r(words, " ", &rest);
        int axis = strcmp(word, "axis") == 0;
        word = axis ? strtok_r(NULL, " ", &rest) : word;
        for (int part = 0; word != NULL; part++, word = strtok_r(NULL, " ", &rest)) {
            if (strcmp(word, name) == 0) {
                return (source){axis ? AXIS : POINT, i, part};
            }
        }
    }
    return (source){HELD, 0, 0};
}

/* Value, speed and acceleration of a point or direction fixed in a body. */
static void site_motion(const twin *t, const source *s, double out[3])
{
    const tree_mechanism *tree = t->m.system->tree;
    const zw_site_def *site = zw_model_def(t->m.model, ZW_KIND_SITE, s->index);
    const double *R = t->sweeps + tree->at.R + 9 * site->body;
    const double *V = t->sweeps + tree->at.V + 6 * site->body;
    const double *A = t->sweeps + tree->at.A + 6 * site->body;
    const double *com = tree->body[site->body].com, z[3] = {0, 0, 1};
    double unit[4], local[3], arm[3], turn[3], swing[3], bend[3];
    memcpy(unit, site->quat, sizeof unit);
    assert_true(model_quat_unit(unit));
    model_rotate(unit, z, local);
    for (int i = 0; i < 3 && s->kind == POINT; i++) {
        local[i] = site->pos[i] - com[i];
    }
    for (int i = 0; i < 3; i++) {
        arm[i] = R[3 * i] * local[0] + R[3 * i + 1] * local[1] + R[3 * i + 2] * local[2];
    }
    model_cross(turn, V, arm);
    model_cross(swing, A, arm);
    model_cross(bend, V, turn);
    const double *centre = t->sweeps + tree->at.com + 3 * site->body;
    int i = s->part, moves = s->kind == POINT;
    out[0] = arm[i] + moves * centre[i];
    out[1] = turn[i] + moves * V[3 + i];
    out[2] = swing[i] + bend[i] + moves * A[3 + i];
}

/* All columns at the state, after zw_forward: values, speeds, accelerations. */
static void look(twin *t, double out[COLUMNS][3])
{
    const tree_mechanism *tree = t->m.system->tree;
    const double *q = moving_field(&t->m, ZW_FIELD_Q), *v = moving_field(&t->m, ZW_FIELD_V);
    const double *a = moving_field(&t->m, ZW_FIELD_A);
    tree_kinematics(tree, q, t->sweeps);
    tree_velocities(tree, v, t->sweeps);
    tree_accelerations(tree, a, t->sweeps);
    for (int i = 0; i < t->count; i++) {
        const source *s = &t->column[i];
        const tree_joint *joint = &tree->joint[s->index];
        out[i][0] = out[i][1] = out[i][2] = 0;
        if (s->kind == JOINT) {
            out[i][0] = q[joint->q];
            out[i][1] = v[joint->v];
            out[i][2] = a[joint->v];
        } else if (s->kind != HELD) {
            site_motion(t, s, out[i]);
        }
    }
}

/* ---- Starting and running -------------------------------------------------------------------- */

static void close_twin(twin *t)
{
    base_free(t->sweeps);
    t->sweeps = NULL;
    moving_close(&t->m);
}

static void open_twin(twin *t, const char *start)
{
    char path[500];
    close_twin(t);
    snprintf(path, sizeof path, FOLDER "bodies/%s", t->model);
    t->m.model = zw_model_read(path, NULL, &t->m.error);
    int key = t->m.model ? zw_model_find(t->m.model, ZW_KIND_KEY, start) : -1;
    if (key >= 0) {
        zw_key_def def = *(const zw_key_def *)zw_model_def(t->m.model, ZW_KIND_KEY, key);
        def.start = 1;
        assert_int_equal(zw_model_change(t->m.model, ZW_KIND_KEY, key, &def, NULL), ZW_OK);
    } else {
        assert_true(t->m.model == NULL || zw_model_count(t->m.model, ZW_KIND_KEY) == 0);
    }
    t->m.system = t->m.model ? zw_system_compile(t->m.model, NULL, &t->m.error) : NULL;
    t->m.work = t->m.system ? zw_work_create(t->m.system, &t->m.error) : NULL;
    zw_assembly assembly = {0};
    t->m.state = t->m.work ? zw_state_create(t->m.system, t->m.work, &assembly, &t->m.error) : NULL;
    if (t->m.state == NULL) {
        moving_complain(&t->m, path, "start");
        fail();
    }
    assert_true(assembly.position_change <= 1e-15 && assembly.speed_change <= 1e-14);
    t->sweeps = tree_work_create(t->m.system->tree, 1);
    assert_non_null(t->sweeps);
}

static void run_to(twin *t, double time)
{
    if (t->m.model == NULL) {
        open_twin(t, "start");
    }
    const char *failed = moving_run_within(&t->m, time, t->precision, t->step);
    if (failed == NULL &&
        zw_forward(t->m.system, t->m.state, t->m.work, NULL, &t->m.error) != ZW_OK) {
        failed = "ask";
    }
    if (failed != NULL) {
        moving_complain(&t->m, t->model, failed);
        fail();
    }
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static void compare(twin *t, const char *what, int column, double got, double expected, double size)
{
    double error = fabs(got - expected) / (t->tolerance * (1 + size));
    error /= t->loose > 0 ? t->loose : 1;
    t->worst = error <= t->worst ? t->worst : error;
    if (!(error <= 1)) {
        fail_msg("%s, line %d of %s, %s of column %d: %.16g, expected %.16g, off by %.1e", t->model,
                 t->line, t->data, what, column, got, expected, fabs(got - expected));
    }
}

static int numbers(const char *text, double *value)
{
    int count = 0;
    char *end;
    for (double x = strtod(text, &end); end != text; x = strtod(text, &end)) {
        assert_true(count < 2 * COLUMNS);
        value[count++] = x;
        text = end;
    }
    return count;
}

static void on_state(twin *t, const char *rest)
{
    double value[2 * COLUMNS], got[COLUMNS][3];
    assert_int_equal(numbers(rest, value), 1 + 2 * t->count);
    run_to(t, value[0]);
    look(t, got);
    for (int i = 0; i < t->count; i++) {
        double q = value[1 + i], v = value[1 + t->count + i];
        compare(t, "place", i, got[i][0], q, fabs(q));
        compare(t, "speed", i, got[i][1], v, fabs(v));
    }
    if (!isnan(t->energy)) {
        double energy = moving_field(&t->m, ZW_FIELD_ENERGY)[0];
        compare(t, "energy", 0, energy, t->energy, fabs(t->energy));
    }
}

static void on_acceleration(twin *t, const char *rest)
{
    double value[2 * COLUMNS], got[COLUMNS][3], size = 0;
    assert_int_equal(numbers(rest, value), t->count);
    look(t, got);
    for (int i = 0; i < t->count; i++) {
        size = fmax(size, fabs(value[i]));
    }
    for (int i = 0; i < t->count; i++) {
        compare(t, "acceleration", i, got[i][2], value[i], size);
    }
}

static void on_columns(twin *t, char *rest)
{
    int named = 0;
    t->count = 0;
    if (t->m.model == NULL) {
        open_twin(t, "start");
    }
    for (char *name = strtok(rest, " "); name != NULL; name = strtok(NULL, " ")) {
        assert_true(t->count < COLUMNS);
        t->column[t->count] = find_source(t->m.model, name);
        named += t->column[t->count++].kind != HELD;
    }
    assert_true(named >= zw_model_count(t->m.model, ZW_KIND_JOINT) / 3);
}

static void on_line(twin *t, char *line)
{
    char word[32] = "";
    line[strcspn(line, "\n")] = 0;
    sscanf(line, "%31s", word);
    char *rest = line + strlen(word);
    rest += strspn(rest, " ");
    t->far = strcmp(word, "case") != 0 && (t->far || moving_far(word, rest));
    if (t->far) {
        return;
    }
    if (strcmp(word, "coords") == 0) {
        on_columns(t, rest);
    } else if (strcmp(word, "case") == 0) {
        open_twin(t, rest);
    } else if (strcmp(word, "tolerance") == 0) {
        t->tolerance = atof(rest);
    } else if (strcmp(word, "precision") == 0) {
        t->precision = atof(rest);
    } else if (strcmp(word, "step") == 0) {
        t->step = atof(rest);
    } else if (strcmp(word, "energy") == 0) {
        t->energy = atof(rest);
    } else if (strcmp(word, "state") == 0) {
        on_state(t, rest);
    } else if (strcmp(word, "instant") == 0) {
        run_to(t, atof(rest));
    } else if (strcmp(word, "acceleration") == 0) {
        on_acceleration(t, rest);
    }
}

static int end_twin(void **state)
{
    close_twin(*state);
    return 0;
}

static void plays(void **state)
{
    twin *t = *state;
    char path[500], line[LINE];
    snprintf(path, sizeof path, FOLDER "%s", t->data);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    t->energy = NAN;
    t->precision = 1e-13;
    t->tolerance = 1e-10;
    while (fgets(line, sizeof line, file) != NULL) {
        t->line++;
        on_line(t, line);
    }
    fclose(file);
    print_message(
        "    %-24s worst %.2g of what is allowed; violation %.1e, %.1e, certificate %.1e\n",
        t->model, t->worst, t->m.summary.violation_position, t->m.summary.violation_velocity,
        t->m.summary.certificate);
    assert_true(t->worst > 0);
}

/* ---- The same system said twice -------------------------------------------------------------- */

static const char *const EQUATIONS =
    "param  m1 = 0, c1 = 0, J1 = 0, m2 = 0, c2 = 0, J2 = 0\n"
    "coord  a = 0, b = 0\n"
    "mass   m1 at (c1*cos(a), -c1*sin(a))\n"
    "mass   m2 at (0.5*cos(a) + c2*cos(a + b), -0.5*sin(a) - c2*sin(a + b))\n"
    "kinetic J1/2*a'^2 + J2/2*(a' + b')^2\n"
    "gravity (0, -9.81)\n";

/* examples/bodies/double_pendulum.xml, its capsules' moments in the equations of the textbook. */
static void double_pendulum_as_equations(void **state)
{
    (void)state;
    moving bodies, equations;
    zw_inertia part[3];
    const char *failed =
        moving_open(&bodies, NULL, ZW_SOURCE_DIR "/examples/bodies/double_pendulum.xml", NULL, 0);
    assert_null(failed);
    assert_int_equal(zw_model_inertia(bodies.model, part, NULL), ZW_OK);
    zw_setting setting[] = {{"m1", part[1].mass},      {"c1", part[1].com[0]},
                            {"J1", part[1].moment[0]}, {"m2", part[2].mass},
                            {"c2", part[2].com[0]},    {"J2", part[2].moment[0]}};
    failed = moving_open(&equations, EQUATIONS, "equations.zw", setting, 6);
    assert_null(failed);
    double worst = 0;
    for (int tenth = 1; tenth <= 50; tenth++) {
        assert_null(moving_run(&bodies, 0.1 * tenth, 1e-14));
        assert_null(moving_run(&equations, 0.1 * tenth, 1e-14));
        for (int i = 0; i < 2; i++) {
            double q = moving_field(&equations, ZW_FIELD_Q)[i];
            double v = moving_field(&equations, ZW_FIELD_V)[i];
            worst = fmax(worst, fabs(moving_field(&bodies, ZW_FIELD_Q)[i] - q) / (1 + fabs(q)));
            worst = fmax(worst, fabs(moving_field(&bodies, ZW_FIELD_V)[i] - v) / (1 + fabs(v)));
        }
    }
    print_message("    double pendulum, bodies and equations: %.1e apart in 5 s\n", worst);
    assert_true(worst > 0 && worst <= 1e-11);
    moving_close(&bodies);
    moving_close(&equations);
}

/* The cranks of the parallelograms go ten times round, and at each of the twenty singular instants
 * on the way the round-off of their angles, 1e-14 in the end, counts a thousandfold. */
static twin list[] = {
    {.data = "andrews_squeezer.txt", .model = "andrews_squeezer.xml"},
    {.data = "bricard.txt", .model = "bricard.xml"},
    {.data = "dzhanibekov.txt", .model = "dzhanibekov.xml"},
    {.data = "flyball_governor.txt", .model = "flyball_governor.xml"},
    {.data = "lagrange_top.txt", .model = "lagrange_top.xml"},
    {.data = "lagrange_top_steady.txt", .model = "lagrange_top.xml"},
    {.data = "parallelograms.txt", .model = "parallelograms.xml", .loose = 10},
    {.data = "pendulum.txt", .model = "pendulum.xml"},
    {.data = "slider_crank.txt", .model = "slider_crank.xml"},
    {.data = "spherical_pendulum.txt", .model = "spherical_pendulum.xml"},
};
enum { TWINS = sizeof list / sizeof *list };

/* All, or those whose data is named on the command line. */
int main(int argc, char **argv)
{
    struct CMUnitTest test[TWINS + 1];
    size_t tests = 0;
    for (size_t i = 0; i < TWINS; i++) {
        int wanted = argc == 1;
        for (int k = 1; k < argc; k++) {
            wanted = wanted || strstr(list[i].data, argv[k]) != NULL;
        }
        if (wanted) {
            test[tests++] = (struct CMUnitTest){.name = list[i].data,
                                                .test_func = plays,
                                                .teardown_func = end_twin,
                                                .initial_state = &list[i]};
        }
    }
    if (argc == 1) {
        test[tests++] = (struct CMUnitTest)cmocka_unit_test(double_pendulum_as_equations);
    }
    return _cmocka_run_group_tests("bodies", test, tests, NULL, NULL);
}
