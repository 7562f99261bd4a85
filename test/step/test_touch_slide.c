/* What slides is said to slide, and on more points than hold it the friction of each is against its
 * own slip.
 *
 * A cart stands on two wheels, which touch the floor along lines, and on a ball: five points for
 * three loads. As it slides and turns, every point slides in another direction, so that friction,
 * and with it the motion, depends on which of the loads they are. Any of these answers is one by
 * Coulomb's law; but whichever it is, the friction of every point is mu N against its slip. */
#include "touch.h"

#include "scene/campaign.h"
#include "scene/dice.h"

static const char cart[] =
    "<default><geom friction='.8 0 0'/></default><worldbody>"
    "<geom type='plane' size='0 0 1'/><body pos='0 0 .03'><freejoint/>"
    "<geom type='box' size='.1 .05 .01' mass='2.6'/>"
    "<geom type='sphere' pos='.08 0 -.015' size='.015' mass='.01'/>"
    "<body pos='-.07 .06 0' zaxis='0 1 0'><joint damping='.03'/>"
    "<geom type='cylinder' size='.03 .01' mass='.03'/></body>"
    "<body pos='-.07 -.06 0' zaxis='0 1 0'><joint damping='.03'/>"
    "<geom type='cylinder' size='.03 .01' mass='.03'/></body></body></worldbody>";

/* The largest difference of a friction force from mu N against the slip, relative to mu N. */
static double off_direction(const zw_contact *list, int count, int *sliding)
{
    double worst = 0;
    for (int k = 0; k < count; k++) {
        const zw_contact *it = &list[k];
        double slip = hypot(it->slip[1], it->slip[2]), most = 0.8 * it->force[0];
        if (it->rows == 3 && it->force[0] > 0.01 && slip > 1e-2) {
            double off = hypot(it->force[1] + most * it->slip[1] / slip,
                               it->force[2] + most * it->slip[2] / slip);
            worst = fmax(worst, off / most);
            ++*sliding;
        }
    }
    return worst;
}

static void every_point_slides_its_way(void **state)
{
    (void)state;
    int count = campaign(200), sliding = 0;
    double worst = 0;
    dice d = dice_of(1);
    for (int k = 0; k < count; k++) {
        scene s = open_scene(cart);
        zw_error error = {0};
        zw_contact list[16];
        double *v = v_of(&s);
        for (int i = 0; i < 8; i++) { /* along the floor, about the vertical, and the wheels */
            int moves = i < 2 || i >= 5;
            v[i] = moves ? (i < 2 ? 1 : i == 5 ? 5 : 30) * dice_between(&d, -1, 1) : 0;
        }
        must(zw_forward(s.system, s.state, s.work, NULL, &error), &error);
        assert_true(zw_work_motion(s.work)->certificate.worst < 1e-8);
        int found = zw_contacts(s.system, s.state, s.work, list, 16, &error);
        worst = fmax(worst, off_direction(list, found, &sliding));
        close_scene(&s);
    }
    printf("%d sliding points, off by %.1e\n", sliding, worst);
    assert_true(sliding > 2 * count);
    assert_true(worst < 1e-6);
}

/* A box slides and spins: the slip of its corners turns by 10 to 20 mrad a step, and the sum of
 * what friction did in a step is less than mu N by up to 5e-5. It slides all the same; and sticks
 * once it has come to rest. */
static void what_turns_slides(void **state)
{
    (void)state;
    static const double tolerance[] = {0, 1};
    for (int k = 0; k < 2; k++) {
        scene s = open_scene("<worldbody><geom type='plane' size='0 0 1' friction='.3 0 0'/>"
                             "<body pos='0 0 .1'><freejoint/><geom type='box' size='.2 .15 .1' "
                             "mass='2' friction='.3 0 0'/></body></worldbody>");
        const zw_run_options options = {
            .method = ZW_METHOD_IMPULSE, .step = 0.002, .tolerance = tolerance[k]};
        int sliding = 0, sticking = 0;
        v_of(&s)[0] = 1;
        v_of(&s)[5] = 6;
        for (int step = 0; step < 400; step++) {
            zw_error error = {0};
            zw_contact list[16];
            must(zw_step(s.system, s.state, s.work, &options, &error), &error);
            int found = zw_contacts(s.system, s.state, s.work, list, 16, &error);
            for (int i = 0; i < found; i++) {
                int slides = hypot(list[i].slip[1], list[i].slip[2]) > 1e-6;
                if (list[i].force[0] > 1e-3) {
                    assert_int_equal(list[i].state, slides ? ZW_TOUCH_SLIDE : ZW_TOUCH_STICK);
                    sliding += slides;
                    sticking += !slides;
                }
            }
        }
        assert_true(sliding > 400 && sticking > 100);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_slides_its_way),
        cmocka_unit_test(what_turns_slides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
