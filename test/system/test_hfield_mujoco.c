/* Height fields compared with MuJoCo's: the same file, with the same heights in a binary file, read
 * by both; shapes dropped into it at random. On a hill the deepest point is the same, as a rule:
 * MuJoCo 2.2.2's portal refinement may find a depth that is not the least, so it is deeper here and
 * there, but never shallower. On a saddle prisms have contacts beside the surface too: there only
 * the latter is asked. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifndef ZW_HAVE_MUJOCO

int main(void)
{
    printf("skipped: MuJoCo is not here\n");
    return 77;
}

#else

#include <mujoco/mujoco.h>
#include <unistd.h>

#include "model/pose.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"
#include "zwang/bodies.h"

enum { ROWS = 9, COLUMNS = 7 };

static const char *const TEXT =
    "<mujoco><asset><hfield name='h' file='%s.bin' size='1.2 1.6 .4 .1'/></asset>"
    "<worldbody><geom type='hfield' hfield='h' pos='.1 .2 .3' euler='0 0 30'/>"
    "<body><freejoint/><geom type='%s' size='.15 .1 .08'/></body></worldbody></mujoco>";

static void write_file(const char *name, const char *ending, const void *bytes, size_t length)
{
    char path[200];
    snprintf(path, sizeof path, "%s%s", name, ending);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

/* Heights of a hill or of a saddle, in floats. */
static void write_heights(const char *name, int hill)
{
    struct {
        int32_t rows, columns;
        float height[ROWS * COLUMNS];
    } file = {ROWS, COLUMNS, {0}};
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        float x = (float)(i % COLUMNS) / 3 - 1, y = (float)(i / COLUMNS) / 4 - 1;
        file.height[i] = hill ? 5 - x * x - 2 * y * y + x * y / 2 : 3 + x * x - y * y + x / 5;
    }
    write_file(name, ".bin", &file, sizeof file);
}

/* The deepest point of ours at this pose; 1 if there is one. */
static int deepest(const contact_world *world, const double *q, double margin, collide_point *out)
{
    collide_pose ground, shape;
    collide_point list[128];
    memcpy(ground.pos, world->geom[0].pos, sizeof ground.pos);
    memcpy(ground.R, world->geom[0].R, sizeof ground.R);
    memcpy(shape.pos, q, sizeof shape.pos);
    model_quat_matrix(q + 3, shape.R);
    int count = collide_pair(&world->geom[0].shape, &ground, &world->geom[1].shape, &shape, margin,
                             list, 128);
    assert_true(count <= 128);
    for (int i = 0; i < count; i++) {
        if (i == 0 || list[i].gap < out->gap) {
            *out = list[i];
        }
    }
    return count > 0;
}

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 40) / (double)(1 << 24) * 2 - 1;
}

typedef struct tally {
    int touch, same, only_one;
    double shallower, pos;
} tally;

static void drop(const contact_world *world, const mjModel *m, mjData *d, uint64_t *seed, tally *t)
{
    double q[7] = {0.8 * uniform(seed), 0.8 * uniform(seed), 0.8 + 0.5 * uniform(seed)};
    for (int i = 3; i < 7; i++) {
        q[i] = uniform(seed);
    }
    model_quat_unit(q + 3);
    memcpy(d->qpos, q, sizeof q);
    mj_fwdPosition(m, d);
    collide_point ours = {0};
    int best = -1, found = deepest(world, q, 0, &ours);
    for (int i = 0; i < d->ncon; i++) {
        best = best < 0 || d->contact[i].dist < d->contact[best].dist ? i : best;
    }
    if (!found || best < 0) { /* it may only be that one of them sees a point at the very margin */
        t->only_one += found ? ours.gap < -1e-4 : best >= 0 && d->contact[best].dist < -1e-4;
        return;
    }
    if (ours.gap < -0.06) {
        return; /* what is through the surface has no answer to compare */
    }
    t->touch++;
    double off = d->contact[best].dist - ours.gap, bent = 0, away = 0;
    for (int i = 0; i < 3; i++) {
        bent = fmax(bent, fabs(d->contact[best].frame[i] - ours.normal[i]));
        away = fmax(away, fabs(d->contact[best].pos[i] - ours.pos[i]));
    }
    t->shallower = fmax(t->shallower, off);
    if (fabs(off) < 1e-4 && bent < 5e-3) {
        t->same++;
        t->pos = fmax(t->pos, away);
    }
}

static void compare(const char *shape, int hill, double least, double shallow)
{
    char name[] = "/tmp/zwang-hfield-XXXXXX", text[1000], path[200], message[300] = "";
    int file = mkstemp(name);
    assert_true(file >= 0);
    close(file);
    write_heights(name, hill);
    int length = snprintf(text, sizeof text, TEXT, name, shape);
    write_file(name, ".xml", text, (size_t)length);
    snprintf(path, sizeof path, "%s.xml", name);

    zw_error error = {0};
    zw_model *model = zw_model_read(path, NULL, &error);
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    mjModel *m = mj_loadXML(path, NULL, message, sizeof message);
    if (!system || !m) {
        fail_msg("%s%s", error.text, message);
    }
    mjData *d = mj_makeData(m);
    uint64_t seed = 7;
    tally t = {0};
    for (int k = 0; k < 3000; k++) {
        drop(system->bodies->contact, m, d, &seed, &t);
    }
    printf("%-9s %s: %d touch, %d the same (points within %.1e), shallower by at most %.1e, %d by "
           "one alone\n",
           shape, hill ? "hill" : "saddle", t.touch, t.same, t.pos, t.shallower, t.only_one);
    mj_deleteData(d);
    mj_deleteModel(m);
    zw_system_free(system);
    zw_model_free(model);
    const char *const ending[] = {"", ".bin", ".xml"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", name, ending[i]);
        remove(path);
    }
    assert_true(t.touch > 100 && t.only_one <= 5);
    assert_true(t.same > least * t.touch);
    assert_true(t.shallower < shallow);
}

static void heights_are_the_same(void **state)
{
    (void)state;
    compare("sphere", 1, 0.7, 1e-5);
    compare("capsule", 1, 0, 1e-5);
    compare("box", 1, 0.7, 0.02);
    compare("sphere", 0, 0.7, 1e-5);
    compare("box", 0, 0.7, 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(heights_are_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
