/* Eight samples of a path at a time, for systems without rows, whose accelerations are M \
 * force. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/dense/small.h"
#include "path/trial/certify.h"

enum { POLL = 4096 };

struct path_lanes {
    zw_real8 *param, *t, *q, *v, *H, *x;
    zw_real8 *terms, *energy;         /* registers */
    zw_real8 *terms_out, *energy_out; /* outputs */
    void *memory;
};

int certify_lanes_fit(const zw_system *system)
{
    return !system->tree && system->m == 0 && system->C_count == 0 && !system->sparse &&
           system->n < 80;
}

static void lay_out(struct path_lanes *lanes, const zw_system *system, base_arena *arena)
{
    size_t n = (size_t)system->n, wide = sizeof(zw_real8);
    const system_tape *terms = &system->tape[PART_TERMS], *energy = &system->tape[PART_ENERGY];
    lanes->param = base_arena_bytes(arena, (size_t)system->shape.params * wide);
    lanes->t = base_arena_bytes(arena, wide);
    lanes->q = base_arena_bytes(arena, n * wide);
    lanes->v = base_arena_bytes(arena, n * wide);
    lanes->x = base_arena_bytes(arena, n * wide);
    lanes->H = base_arena_bytes(arena, n * n * wide);
    lanes->terms = base_arena_bytes(arena, expr_tape_registers(terms->code) * wide);
    lanes->energy = base_arena_bytes(arena, expr_tape_registers(energy->code) * wide);
    lanes->terms_out = base_arena_bytes(arena, (size_t)terms->count * wide);
    lanes->energy_out = base_arena_bytes(arena, (size_t)energy->count * wide);
}

struct path_lanes *certify_lanes_create(const zw_system *system, const double *param)
{
    struct path_lanes *lanes = base_alloc(sizeof *lanes);
    base_arena arena = {0};
    if (lanes) {
        lay_out(lanes, system, &arena);
        lanes->memory = base_alloc(arena.used + 1);
    }
    if (!lanes || !lanes->memory) {
        base_free(lanes);
        return NULL;
    }
    arena = (base_arena){.block = lanes->memory};
    lay_out(lanes, system, &arena);
    for (int k = 0; k < system->shape.params; k++) {
        for (int lane = 0; lane < LANES; lane++) {
            lanes->param[k][lane] = param[k];
        }
    }
    const double *wide = (const double *)lanes->param;
    expr_tape_prepare8(system->tape[PART_TERMS].code, wide, (double *)lanes->terms);
    expr_tape_prepare8(system->tape[PART_ENERGY].code, wide, (double *)lanes->energy);
    return lanes;
}

void certify_lanes_free(struct path_lanes *lanes)
{
    if (lanes) {
        base_free(lanes->memory);
        base_free(lanes);
    }
}

/* Loads eight samples from `first` on, `every` apart; the last one repeats beyond the end. */
static void load(const path_certifier *certifier, const double *q, const double *v, long first,
                 long every)
{
    struct path_lanes *lanes = certifier->lanes;
    long last = (certifier->count - 1) / every * every;
    int n = certifier->n;
    for (int lane = 0; lane < LANES; lane++) {
        long i = first + lane * every < last ? first + lane * every : last;
        (*lanes->t)[lane] = certifier->trial->t[i];
        for (int k = 0; k < n; k++) {
            lanes->q[k][lane] = q[i * n + k];
            lanes->v[k][lane] = v[i * n + k];
        }
    }
}

static void run(const path_certifier *certifier, system_part part, zw_real8 *registers,
                zw_real8 *out)
{
    const struct path_lanes *lanes = certifier->lanes;
    const expr_inputs8 in = {.t = (const double *)lanes->t,
                             .q = (const double *)lanes->q,
                             .v = (const double *)lanes->v};
    expr_tape_run8(certifier->system->tape[part].code, &in, (double *)registers, (double *)out);
}

/* x = M \ force; where M is not positive definite x is not finite. */
static void accelerate(const path_certifier *certifier)
{
    const zw_system *system = certifier->system;
    struct path_lanes *lanes = certifier->lanes;
    const zw_real8 *M = lanes->terms_out + system->at.M;
    const zw_real8 *force = lanes->terms_out + system->at.force;
    zw_real8 *H = lanes->H, zero = {0};
    int n = certifier->n;
    memset(H, 0, (size_t)n * (size_t)n * sizeof *H);
    for (int j = 0; j < n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            H[system->M_row[k] * n + j] = M[k];
        }
        lanes->x[j] = force[j];
    }
    zw_mask8 bad = small_ldl8(n, H, 0);
    small_ldl_solve8(n, H, lanes->x);
    for (int j = 0; j < n; j++) {
        lanes->x[j] = lane_select8(bad, zero / zero, lanes->x[j]);
    }
}

/* The error message for a sample without a finite acceleration. */
static zw_status blame(const path_certifier *certifier, const double *q, const double *v, long i,
                       zw_error *error)
{
    int n = certifier->n;
    double t = certifier->trial->t[i];
    zw_status status = system_accelerate(certifier->system, certifier->work, t, q + i * n,
                                         v + i * n, certifier->scratch[0], error);
    return status != ZW_OK ? status
                           : base_fail(error, ZW_NOT_FINITE,
                                       "at t = %.9g an acceleration has no finite value", t);
}

zw_status certify_lanes_model(path_certifier *certifier, const double *q, const double *v,
                              double *a, long every, zw_error *error)
{
    const zw_system *system = certifier->system;
    struct path_lanes *lanes = certifier->lanes;
    int n = certifier->n;
    for (long first = 0, polled = 0; first < certifier->count; first += LANES * every) {
        if (first - polled >= POLL) {
            polled = first;
            zw_status status = certify_polled(certifier, first, error);
            if (status != ZW_OK) {
                return status;
            }
        }
        load(certifier, q, v, first, every);
        run(certifier, PART_TERMS, lanes->terms, lanes->terms_out);
        accelerate(certifier);
        zw_real8 power = lanes->terms_out[system->at.dLdt];
        for (int k = 0; k < n; k++) {
            power += lanes->terms_out[system->at.Q + k] * lanes->v[k];
        }
        for (int lane = 0; lane < LANES && first + lane * every < certifier->count; lane++) {
            long i = first + lane * every;
            for (int k = 0; k < n; k++) {
                a[i * n + k] = lanes->x[k][lane];
                if (!isfinite(lanes->x[k][lane])) {
                    return blame(certifier, q, v, i, error);
                }
            }
            if (every == 1) {
                certifier->trial->power[i] = system->works ? power[lane] : 0;
            }
        }
    }
    return ZW_OK;
}

/* Without rows all of R is tangential: R = M (a - model), of squared norm B^-1 R . R. Here B = M;
 * see certify_split.c for other metrics. */
zw_status certify_lanes_split(path_certifier *certifier, zw_error *error)
{
    const zw_system *system = certifier->system;
    struct path_lanes *lanes = certifier->lanes;
    zw_trial *trial = certifier->trial;
    const zw_real8 *M = lanes->terms_out + system->at.M;
    int n = certifier->n;
    for (long first = 0, polled = 0; first < certifier->count; first += LANES) {
        if (first - polled >= POLL) {
            polled = first;
            zw_status status = certify_polled(certifier, first, error);
            if (status != ZW_OK) {
                return status;
            }
        }
        load(certifier, trial->q, trial->v, first, 1);
        run(certifier, PART_TERMS, lanes->terms, lanes->terms_out);
        run(certifier, PART_ENERGY, lanes->energy, lanes->energy_out);
        for (int lane = 0; lane < LANES && first + lane < certifier->count; lane++) {
            long i = first + lane;
            const double *apart = certifier->apart + i * n, *blur = certifier->blur[2] + i * n;
            const double *a = trial->a + i * n;
            double *extra = trial->extra + i * n, size = 0, miss = 0, all = 0;
            memset(extra, 0, (size_t)n * sizeof *extra);
            for (int j = 0; j < n; j++) {
                for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
                    int row = system->M_row[k];
                    double mass = M[k][lane];
                    extra[row] += mass * apart[j];
                    extra[j] += row == j ? 0 : mass * apart[row];
                    miss += row == j ? mass * blur[j] * blur[j] : 0;
                    all += (row == j ? mass : 2 * mass) * a[j] * a[row];
                }
            }
            for (int j = 0; j < n; j++) {
                size += extra[j] * apart[j];
            }
            certifier->square[i] = fmax(size, 0);
            trial->extra_size[i] = sqrt(certifier->square[i]);
            trial->extra_error[i] = sqrt(miss);
            certifier->forces[i] = all;
            certifier->energy[i] = lanes->energy_out[0][lane];
        }
    }
    return ZW_OK;
}
