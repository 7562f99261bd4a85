/* What overlaps at the start comes apart without energy from nowhere: random chains whose shapes
 * are in one another, at rest and without weight. Nothing acts on them but contact, which moves
 * what overlaps and gives no speeds; so they end at rest, however they squeeze each other and
 * whatever friction there is. */
#include "touch.h"

static double draw(uint64_t *seed, double low, double high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*seed >> 11) / 9007199254740992.0;
}

static int add_body(uint64_t *seed, char *to, size_t capacity, int k)
{
    static const char *const shape[] = {"box", "capsule", "cylinder", "ellipsoid"};
    double x[11]; /* drawn one after the other: arguments have no order */
    for (int i = 0; i < 11; i++) {
        x[i] = draw(seed, 0, 1);
    }
    int at = snprintf(to, capacity, "<body name='b%d' pos='%.3f %.3f %.3f'>", k, .4 * x[0] - .2,
                      .4 * x[1] - .2, .4 * x[2] - .2);
    at += snprintf(to + at, capacity - (size_t)at,
                   k == 0 ? "<freejoint/>" : "<joint axis='%.2f %.2f 1'/>", 2 * x[3] - 1,
                   2 * x[4] - 1);
    at += snprintf(to + at, capacity - (size_t)at,
                   "<geom type='%s' size='%.3f %.3f %.3f' friction='%.2f .01 .01' condim='%d'/>",
                   shape[(int)(4 * x[5])], .05 + .1 * x[6], .05 + .1 * x[7], .05 + .1 * x[8],
                   1.5 * x[9], x[10] < .5 ? 3 : 6);
    return at;
}

static void write_chain(uint64_t seed, char *text, size_t capacity)
{
    int count = 4 + (int)draw(&seed, 0, 4);
    int at = snprintf(text, capacity, "<option gravity='0 0 0'/><worldbody>");
    for (int k = 0; k < count; k++) {
        at += add_body(&seed, text + at, capacity - (size_t)at, k);
    }
    for (int k = 0; k < count; k++) {
        at += snprintf(text + at, capacity - (size_t)at, "</body>");
    }
    snprintf(text + at, capacity - (size_t)at, "</worldbody>");
}

static void they_part_and_stay_at_rest(void **state)
{
    (void)state;
    int overlap = 0;
    double worst = 0;
    for (int k = 0; k < 60; k++) {
        char text[4000];
        write_chain((uint64_t)k, text, sizeof text);
        scene s = open_scene(text);
        const zw_run_options options = {
            .time = 0.2, .step = k % 3 ? 0.005 : 0.002, .method = ZW_METHOD_IMPULSE};
        zw_run_summary it;
        zw_error error = {0};
        must(zw_run(s.system, s.state, s.work, &options, &it, &error), &error);
        double fastest = 0;
        for (int i = 0; i < (int)zw_field(s.system, s.state, s.work, ZW_FIELD_V).count; i++) {
            fastest = fmax(fastest, fabs(v_of(&s)[i]));
        }
        if (!(fastest < 1e-9) || !(it.energy_drift < 1e-12)) {
            printf("%d: fastest %.2g, energy %.2g, drift %.2g\n%s\n", k, fastest, it.energy_end,
                   it.energy_drift, text);
        }
        assert_true(fastest < 1e-9 && it.energy_drift < 1e-12);
        worst = fmax(worst, fastest);
        overlap += it.overlaps > it.overlaps_stuck;
        close_scene(&s);
    }
    printf("%d of 60 had shapes to part; fastest %.2g\n", overlap, worst);
    assert_true(overlap > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_part_and_stay_at_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
