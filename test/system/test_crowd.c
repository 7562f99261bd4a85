/* Many geoms on few trees: whatever way the pairs are sought, they are those of all geoms against
 * all others, in their order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "read/xml.h"
#include "scene/dice.h"
#include "system/bodies.h"
#include "system/contacts.h"
#include "tree/sweeps.h"

enum { CHAINS = 8, LINKS = 10 };

typedef struct crowd {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    double q[CHAINS * (6 + LINKS) + 8], v[CHAINS * (5 + LINKS) + 8];
} crowd;

/* Chains of capsules, a floor, a wall of boxes. */
static void open_crowd(crowd *c, const char *more)
{
    static char text[40000];
    zw_error error = {0};
    char *end = text;
    end += sprintf(end, "<mujoco><worldbody><geom name='floor' type='plane' size='9 9 1'/>"
                        "<geom name='wall' type='box' size='.1 2 .3' pos='1 0 0'/>"
                        "<geom type='box' size='.1 2 .3' pos='-1 0 .1'/>");
    for (int i = 0; i < CHAINS; i++) {
        end += sprintf(end, "<body pos='%g 0 .5'><freejoint/><geom name='head%d' size='.07'/>",
                       0.2 * i, i);
        for (int k = 1; k < LINKS; k++) {
            end += sprintf(end,
                           "<body pos='0 0 .15'><joint axis='%d 1 0'/><geom type='capsule' "
                           "fromto='0 0 0 0 0 .14' size='.04' margin='.002'/>",
                           k % 3);
        }
        for (int k = 0; k < LINKS; k++) {
            end += sprintf(end, "</body>");
        }
    }
    sprintf(end, "</worldbody>%s</mujoco>", more);
    c->model = zw_model_parse(text, "crowd.xml", NULL, 0, &error);
    c->system = c->model ? zw_system_compile(c->model, &error) : NULL;
    c->work = c->system ? zw_work_create(c->system, &error) : NULL;
    if (!c->work) {
        fail_msg("%s", error.text);
    }
}

static void close_crowd(crowd *c)
{
    zw_work_free(c->work);
    zw_system_free(c->system);
    zw_model_free(c->model);
}

/* All heads within a metre or so, joints anyhow, turned anyhow. */
static void throw(crowd * c, dice *d)
{
    const tree_mechanism *tree = c->system->tree;
    for (int i = 0; i < tree->nq; i++) {
        c->q[i] = dice_between(d, -1, 1);
    }
    for (int i = 0; i < tree->nv; i++) {
        c->v[i] = dice_between(d, -1, 1);
    }
    tree_kinematics(tree, c->q, c->work->sweeps);
    tree_velocities(tree, c->v, c->work->sweeps);
}

static int points_by_hand(const crowd *c, const contact_work *found, double h, double margin,
                          contact_key *key, double *gap, int room)
{
    const contact_world *world = c->system->bodies->contact;
    int count = 0;
    for (int a = 0; a < world->geom_count; a++) {
        for (int b = a + 1; b < world->geom_count; b++) {
            collide_point list[64];
            if (!contact_may(world, c->system->tree, a, b)) {
                continue;
            }
            double keep = world->geom[a].law.margin + world->geom[b].law.margin;
            double far = margin + keep + (h > 0 ? found->reach[a] + found->reach[b] : 0);
            int points = collide_pair(&world->geom[a].shape, &found->pose[a], &world->geom[b].shape,
                                      &found->pose[b], far, list, 64);
            for (int k = 0; k < points && count < room; k++, count++) {
                key[count] = (contact_key){{(uint32_t)a, (uint32_t)b}, list[k].feature};
                gap[count] = list[k].gap - keep;
            }
        }
    }
    return count;
}

static void test_all_pairs(void **state)
{
    (void)state;
    enum { ROOM = 4000 };
    static contact_key key[ROOM];
    static double gap[ROOM];
    crowd c = {0};
    contact_work found;
    zw_error error = {0};
    dice d = dice_of(3);
    int all = 0, of_two = 0;
    open_crowd(&c, "");
    const contact_world *world = c.system->bodies->contact;
    assert_non_null(world->crowd);
    assert_int_equal(contact_work_create(&found, world), ZW_OK);
    for (int round = 0; round < 30; round++) {
        double h = round % 3 == 0 ? 0 : 0.01, margin = round % 2 * 0.003;
        throw(&c, &d);
        if (contact_find(c.system, &found, c.work->sweeps, h, margin, &error) != ZW_OK) {
            fail_msg("%s", error.text);
        }
        int count = points_by_hand(&c, &found, h, margin, key, gap, ROOM);
        assert_int_equal(found.count, count);
        for (int k = 0; k < count; k++) {
            const contact_point *point = &found.point[k];
            assert_memory_equal(&point->key, &key[k], sizeof *key);
            assert_true(point->gap == gap[k]);
            of_two += key[k].geom[0] > 2 && point->body[0] / LINKS != point->body[1] / LINKS;
        }
        all += count;
    }
    assert_true(all > 1000 && of_two > 100);
    contact_work_free(&found);
    close_crowd(&c);
}

/* A pair of a file may have a margin of its own: then it is sought as ever. */
static void test_no_crowd(void **state)
{
    (void)state;
    crowd c = {0};
    open_crowd(&c, "<contact><pair geom1='head0' geom2='head1' margin='0.5'/></contact>");
    assert_null(c.system->bodies->contact->crowd);
    close_crowd(&c);
}

static void test_memory(void **state)
{
    (void)state;
    crowd c = {0};
    dice d = dice_of(5);
    open_crowd(&c, "");
    throw(&c, &d);
    for (int k = 1;; k++) {
        zw_error error = {0};
        contact_work found = {0};
        base_alloc_fail_after(k);
        zw_status status = contact_work_create(&found, c.system->bodies->contact);
        if (status == ZW_OK) {
            status = contact_find(c.system, &found, c.work->sweeps, 0, 0, &error);
            base_alloc_fail_after(0);
            contact_work_free(&found);
        }
        base_alloc_fail_after(0);
        if (status == ZW_OK) {
            assert_true(k > 8);
            break;
        }
        assert_int_equal(status, ZW_NO_MEMORY);
    }
    close_crowd(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_pairs),
                                       cmocka_unit_test(test_no_crowd),
                                       cmocka_unit_test(test_memory)};
    if (!xml_available()) {
        puts("skipped: built without expat");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
