/* Fast and thin bodies: does anything pass through anything else?
 *
 *     tunnel [RUNS [FIRST_SEED [FAMILY]]]
 *
 * RUNS of each family of test/scene/fast.h, or without an argument 5100 in all: speeds of 1 to
 * 1000 m/s, turning at 1 to 1000 rad/s, steps of 0.5 to 50 ms. Fails if one ends on the wrong side
 * or with an error; each is named by its seed. */
#include <inttypes.h>
#include <string.h>

#include "measure.h"
#include "scene/fast.h"

int main(int argc, char **argv)
{
    /* a room of tumbling bodies takes as long as twenty of the others */
    static const int usual[FAST_FAMILIES] = {1300, 1300, 200, 1300, 1000};
    int bad = 0, all = 0;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    fast_case *c = allocate(1, sizeof *c);
    printf("family   runs  through  aborted  seconds  slowest\n");
    for (int f = 0; f < FAST_FAMILIES; f++) {
        int through = 0, aborted = 0, runs = argc > 1 ? atoi(argv[1]) : usual[f];
        double sum = 0, slowest = 0;
        if (argc > 3 && strcmp(argv[3], fast_name((fast_family)f)) != 0) {
            continue;
        }
        for (int k = 0; k < runs; k++) {
            fast_draw(c, (fast_family)f, first + (uint64_t)k);
            fast_report r = fast_run(c);
            through += r.result == FAST_THROUGH;
            aborted += r.result == FAST_ABORTED;
            sum += r.clock;
            slowest = fmax(slowest, r.clock);
            if (r.result != FAST_FINE || r.clock > 2) {
                fprintf(stderr,
                        "%s %" PRIu64
                        ": %s after %d of %d steps of %.3g ms, %.2g m, %.1f s: %s, e %.2g; %s\n",
                        fast_name((fast_family)f), c->seed,
                        r.result == FAST_THROUGH   ? "through"
                        : r.result == FAST_ABORTED ? "aborted"
                                                   : "slow",
                        r.at, c->steps, 1e3 * c->step, r.beyond, r.clock, c->what, c->restitution,
                        r.error);
            }
        }
        bad += through + aborted;
        all += runs;
        printf("%-7s %5d %8d %8d %8.1f %8.2f\n", fast_name((fast_family)f), runs, through, aborted,
               sum, slowest);
    }
    printf("all     %5d\n", all);
    free(c);
    return bad > 0;
}
