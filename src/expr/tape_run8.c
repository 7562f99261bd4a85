/* Eight worlds. */
#include "expr/tape_code.h"
#include "math/elementary.h"
#include "math/lane.h"

#include <string.h>

static inline zw_real8 lane_abs8(zw_real8 x)
{
    const zw_mask8 sign = (zw_mask8)(-(zw_real8){0});
    return (zw_real8)((zw_mask8)x & ~sign);
}

#define zw_real zw_real8
#define LANE(name) name##8
#define LANE_ZERO                                                                                  \
    (zw_real8)                                                                                     \
    {                                                                                              \
        0                                                                                          \
    }
#define TAPE_CLONES ZW_CLONES
#define lane_select lane_select8
#define lane_abs lane_abs8
#define lane_call1(f, x, y) math_##f##8((const double *)(x), (double *)(y))
#define lane_call2(f, x, y, z) math_##f##8((const double *)(x), (const double *)(y), (double *)(z))
#define lane_powi(x, n, y) math_powi8((const double *)(x), n, (double *)(y))
#define lane_sin_cos(x, s, c) math_sincos8((const double *)(x), (double *)(s), (double *)(c))
#define lane_put(out, i, x) memcpy((out) + (size_t)(i)*LANES, x, sizeof(zw_real8))
#include "expr/tape.lane.h"

static void load8(const tape_input *input, const double *from, double *registers)
{
    if (input->count > 0) {
        memcpy(registers + (size_t)input->base * LANES, from + (size_t)input->first * LANES,
               (size_t)input->count * LANES * sizeof *registers);
    }
}

void expr_tape_prepare8(const expr_tape *tape, const double *param, double *registers)
{
    for (size_t i = 0; i < (size_t)tape->constants * LANES; i++) {
        registers[i] = tape->constant[i / LANES];
    }
    load8(&tape->input[EXPR_PARAM], param, registers);
    execute8(tape->prologue, (zw_real8 *)(void *)registers, NULL);
}

void expr_tape_run8(const expr_tape *tape, const expr_inputs8 *inputs, double *registers,
                    double *out)
{
    load8(&tape->input[EXPR_TIME], inputs->t, registers);
    load8(&tape->input[EXPR_COORD], inputs->q, registers);
    load8(&tape->input[EXPR_SPEED], inputs->v, registers);
    load8(&tape->input[EXPR_ACCEL], inputs->a, registers);
    load8(&tape->input[EXPR_LAMBDA], inputs->lambda, registers);
    execute8(tape->code, (zw_real8 *)(void *)registers, out);
}
