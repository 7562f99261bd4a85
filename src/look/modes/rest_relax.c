/* The way of a robot to rest by steps of method impulse, where the search of rest.c does not find
 * one: it topples, lands, tips over an edge and lands again.
 *
 * The motion is that of the robot, without its time; where its kinetic energy becomes less, all
 * speeds are set to 0 (kinetic damping): it has passed the lowest place on its way. From rest a
 * step then gains what is left to gain. It is over where that is NOTHING of the most that there
 * was, and it has failed where the energy has grown for LONG steps on end (a fall without a floor),
 * or after MOST. Steps are a twentieth of the time in which something falls as far as the largest
 * geom reaches. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "look/modes/rest_touch.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"
#include "tree/sweeps.h"

#define NOTHING 1e-20
enum { LONG = 400, MOST = 4000 };

static double step_of(const zw_system *system)
{
    const contact_world *world = system->bodies->contact;
    const double *g = system->tree->gravity;
    double reach = 0, pull = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    for (int i = 0; world && i < world->geom_count; i++) {
        double r = world->geom[i].radius;
        reach = isfinite(r) && !world->still[i] ? fmax(reach, r) : reach;
    }
    return pull > 0 && reach > 0 ? 0.05 * sqrt(reach / pull) : 0;
}

static double energy_of(const zw_system *system, zw_state *state, double *sweeps)
{
    double energy[2];
    tree_kinematics(system->tree, state_q(state), sweeps);
    tree_velocities(system->tree, state_v(state), sweeps);
    tree_energies(system->tree, state_q(state), state_v(state), sweeps, energy);
    return energy[0];
}

static void stop(const zw_system *system, zw_state *state)
{
    memset(state_v(state), 0, (size_t)system->n * sizeof(double));
    zw_wake(state);
}

zw_status rest_relax(const zw_system *system, zw_state *state, zw_work *work, double step,
                     zw_error *error)
{
    const zw_run_options run = {.method = ZW_METHOD_IMPULSE, .step = step * step_of(system)};
    double *sweeps = base_alloc((size_t)system->tree->at.count * sizeof *sweeps);
    double before = 0, most = 0, t = state->t;
    int grows = 0, done = 0;
    zw_status status = sweeps ? ZW_OK : ZW_NO_MEMORY;
    for (int k = 0; k < MOST && grows < LONG && !done && status == ZW_OK; k++) {
        int from_rest = before == 0;
        status = zw_step(system, state, work, &run, error);
        state->t = t;
        double energy = status == ZW_OK ? energy_of(system, state, sweeps) : 0;
        most = fmax(most, energy);
        done = from_rest && energy <= NOTHING * most;
        grows = energy < before ? 0 : grows + 1;
        if (energy < before) {
            stop(system, state);
        }
        before = energy < before ? 0 : energy;
    }
    stop(system, state);
    base_free(sweeps);
    return status != ZW_OK ? status : done ? ZW_OK : ZW_NOT_REACHED;
}
