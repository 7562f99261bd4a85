/* Bodies thrown onto the ground with a spin, at steps from 5 ms to 0.1 s: every step is solved,
 * without overlaps, and no energy is gained. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "scene/toss.h"

/* Energy may rise by the error of a step that turns a body by h times its spin, 35/s at most: a
 * free one swings about what it has, and one that meets an edge does so where it ends the step. */
static void throw(unsigned first, unsigned count, double h, double most)
{
    double rise = 0, certificate = 0, depth = 0;
    for (unsigned seed = first; seed < first + count; seed++) {
        toss r;
        if (toss_open(&r, seed) != ZW_OK || toss_go(&r, (int)(1.2 / h), h) != ZW_OK) {
            fail_msg("toss %u at %g s, step %d: %s", seed, h, r.steps, r.s.error.text);
        }
        if (!(r.rise <= most && r.s.certificate <= 1e-8 && r.s.depth <= 1e-8)) {
            fail_msg("toss %u at %g s: energy rises by %.3g, certificate %.2g, depth %.2g", seed, h,
                     r.rise, r.s.certificate, r.s.depth);
        }
        rise = fmax(rise, r.rise);
        certificate = fmax(certificate, r.s.certificate);
        depth = fmax(depth, r.s.depth);
        touch_close(&r.s);
    }
    print_message("%g s: energy rises by %.2g, certificate %.2g, depth %.2g\n", h, rise,
                  certificate, depth);
}

static void at_long_steps(void **state)
{
    (void)state;
    throw(20, 40, 0.1, 0.2);
    throw(20, 10, 0.05, 0.1);
}

static void at_short_steps(void **state)
{
    (void)state;
    throw(20, 10, 0.02, 0.02);
    throw(20, 5, 0.005, 0.005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_long_steps),
        cmocka_unit_test(at_short_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
