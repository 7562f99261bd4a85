/* Any bytes as a saved state: it is refused with a message, or a world goes on from it.
 *
 * The hash over a saved state would let nothing through, so the bytes are wishes: which numbers of
 * a sound state, with contacts, sleepers and a memory of both, become what. Its hashes are made
 * anew, as a deliberate attacker would. With an odd first byte the bytes are the file itself. */
#include <math.h>

#include "require.h"

#include "system/work.h"
#include "zwang/bodies.h"

/* A box and a ball asleep, a box that falls on them, an arm at its stop that a motor holds. */
static const char text[] =
    "<mujoco><option timestep='0.01'/><worldbody><geom type='plane' size='5 5 1'/>"
    "<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
    "<body pos='1 0 .1'><freejoint/><geom size='.1' condim='6'/></body>"
    "<body pos='.05 0 .45'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
    "<body pos='0 3 1'><joint name='arm' axis='0 1 0' limited='true' range='-10 10'"
    " frictionloss='.1'/><geom type='capsule' fromto='0 0 0 .5 0 0' size='.05'/></body>"
    "</worldbody><actuator><position joint='arm' kp='20'/></actuator></mujoco>";

typedef struct world_of_file {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state; /* sound; two sleep, one falls */
} world_of_file;

static zw_run_options plan(double time, int convex)
{
    return (zw_run_options){.time = time,
                            .every = 0.01,
                            .step = 0.01,
                            .tolerance = 1,
                            .method = ZW_METHOD_IMPULSE,
                            .contact = convex ? ZW_CONTACT_CONVEX : ZW_CONTACT_DEFAULT};
}

static const world_of_file *build(void)
{
    static world_of_file h; /* of this program, not of the library */
    if (h.state == NULL) {
        zw_error error = {0};
        h.model = zw_model_parse(text, "fuzz.xml", NULL, &error);
        REQUIRE(h.model != NULL);
        zw_world_def world = *zw_model_world(h.model);
        world.sleep = 1;
        REQUIRE(zw_model_set_world(h.model, &world, &error) == ZW_OK);
        h.system = zw_system_compile(h.model, NULL, &error);
        REQUIRE(h.system != NULL);
        h.work = zw_work_create(h.system, &error);
        REQUIRE(h.work != NULL);
        h.state = zw_state_create(h.system, h.work, NULL, &error);
        REQUIRE(h.state != NULL);
        const zw_run_options options = plan(0.25, 0);
        REQUIRE(zw_run(h.system, h.state, h.work, &options, NULL, &error) == ZW_OK);
        REQUIRE(h.state->remembered != 0);
    }
    return &h;
}

static double wish(double was, int how)
{
    static const double odd[] = {0,     -0.0,   1,    -1,   0.5, 1e-300,   1e300,     -1e300,
                                 1e-12, -1e-12, 1e15, 1e10, NAN, INFINITY, -INFINITY, 4294967296.0};
    if (how < 16) {
        return odd[how];
    }
    return how < 64 ? how - 32 : was * (1 + 1e-3 * (how - 160));
}

/* Three bytes a wish: which number, in two, and what it becomes. */
static void change(zw_state *state, const uint8_t *data, size_t size)
{
    size_t head =
               (size_t)(state->nq + state->n + state->carried + state->params + state->constraints),
           all = head + (size_t)state->memory;
    for (size_t k = 0; k + 2 < size; k += 3) {
        size_t at = ((size_t)data[k] | (size_t)data[k + 1] << 8) % (all + 2);
        double *x = at == all ? &state->t : at == all + 1 ? &state->work : &state->data[at];
        *x = wish(*x, data[k + 2]);
    }
}

/* Faster or farther away than this, the kernel tries everything before it gives up, which is a
 * second in earnest and a minute here. */
static int is_absurd(zw_state *state)
{
    int absurd = 0;
    for (int i = 0; i < state->nq + state->n; i++) {
        absurd |= !(fabs(state->data[i]) < 1e6);
    }
    return absurd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const world_of_file *h = build();
    if (size == 0 || size > 4000) {
        return 0;
    }
    zw_error error = {0};
    zw_state *state = NULL, *wanted = NULL;
    if (data[0] & 1) {
        state = zw_state_restore(h->system, data + 1, size - 1, &error);
    } else {
        REQUIRE(zw_state_copy(h->state, &wanted, &error) == ZW_OK);
        change(wanted, data + 1, size - 1);
        wanted->remembered = data[0] & 2 ? 0 : state_digest(wanted, (data[0] & 4) != 0);
        size_t bytes = zw_state_bytes(wanted);
        unsigned char *file = malloc(bytes);
        REQUIRE(file != NULL && zw_state_save(wanted, file, bytes, &error) == ZW_OK);
        state = zw_state_restore(h->system, file, bytes, &error);
        free(file);
        zw_state_free(wanted);
    }
    if (state == NULL) {
        REQUIRE(error.status == ZW_BAD_INPUT && strlen(error.text) > 0);
        return 0;
    }
    const zw_run_options options = plan(state->t + 0.02, (data[0] & 8) != 0);
    zw_status status =
        is_absurd(state) ? ZW_OK : zw_run(h->system, state, h->work, &options, NULL, &error);
    REQUIRE(status == ZW_OK || strlen(error.text) > 0);
    for (int i = 0; i < h->system->nq && status == ZW_OK; i++) {
        REQUIRE(isfinite(state_q(state)[i]));
    }
    zw_state_free(state);
    return 0;
}
