/* Which bodies sleep, from the memory of the state alone. */
#include "base/error.h"
#include "step/run.h"
#include "system/subset/subset.h"

int zw_sleepers(const zw_system *system, const zw_state *state, int *asleep, zw_error *error)
{
    zw_state *now = (zw_state *)state; /* not modified */
    const struct system_bodies *bodies = system->bodies;
    subset_groups groups;
    int parts = bodies ? bodies->part_count : 0, count = 0;
    for (int i = 0; i < parts && asleep; i++) {
        asleep[i] = 0;
    }
    if (!bodies || !(bodies->sleep > 0) || !run_remembers_step(now)) {
        return 0;
    }
    if (subset_groups_create(&groups, system) != ZW_OK) {
        base_no_memory(error);
        return -1;
    }
    const double *clock = run_step_memory(system, now) + bodies_step_memory(system) -
                          bodies_sleep_memory(system) + 1 + system->shape.params;
    for (int i = 1; i < parts; i++) {
        int group = groups.body[bodies->part[i].frame.body];
        int sleeps = group >= 0 && clock[2 * group] < 0;
        count += sleeps;
        if (asleep) {
            asleep[i] = sleeps;
        }
    }
    subset_groups_free(&groups);
    return count;
}
