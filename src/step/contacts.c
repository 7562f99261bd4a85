/* What touches, for those who ask. After a step the answer is there; elsewhere a step is tried. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "step/impulse.h"

/* From here over the world's timestep, with a work of its own: what zw_forward left stays. */
static zw_status try_step(const zw_system *system, const zw_state *state, zw_work *work,
                          zw_error *error)
{
    zw_state *now = (zw_state *)state; /* only read */
    const double *q = state_q(now), *v = state_v(now);
    double *next = base_alloc((size_t)(system->nq + system->n + 1) * sizeof *next);
    step_impulse *impulse = next ? impulse_create(system, work, error) : NULL;
    zw_status status = ZW_OK;
    if (!impulse) {
        status = base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    } else {
        system_bind(system, work, state_param(now));
        status =
            impulse_step(impulse, system->bodies->timestep, q, v, next, next + system->nq, error);
    }
    impulse_free(impulse);
    base_free(next);
    return status;
}

static int copy(const contact_list *from, zw_contact *list, int room)
{
    int count = from ? from->count : 0;
    for (int k = 0; k < count && k < room; k++) {
        list[k] = from->contact[k];
    }
    return count;
}

int zw_contacts(const zw_system *system, const zw_state *state, zw_work *work, zw_contact *list,
                int room, zw_error *error)
{
    if (zw_contact_room(system) == 0) {
        return 0;
    }
    if (work->touched && work->touched->of == state_digest(state, 0)) {
        return copy(work->touched, list, room);
    }
    zw_work *own = zw_work_create(system, error);
    int count = -1;
    if (own && try_step(system, state, own, error) == ZW_OK) {
        count = copy(own->touched, list, room);
    }
    zw_work_free(own);
    return count;
}
