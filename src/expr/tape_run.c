/* One world. */
#include "expr/tape_code.h"
#include "math/elementary.h"
#include "math/lane.h"

#include <string.h>

#define zw_real double
#define LANE(name) name
#define LANE_ZERO 0.0
#define TAPE_CLONES
#define lane_select lane_select1
#define lane_abs fabs
#define lane_call1(f, x, y) (*(y) = math_##f(*(x)))
#define lane_call2(f, x, y, z) (*(z) = math_##f(*(x), *(y)))
#define lane_powi(x, n, y) (*(y) = math_powi(*(x), n))
#define lane_sin_cos(x, s, c) math_sincos(*(x), s, c)
#define lane_put(out, i, x) ((out)[i] = *(x))
#include "expr/tape.lane.h"

/* The leaves in use, to their registers. */
static void load(const tape_input *input, const double *from, double *registers)
{
    if (input->count > 0) {
        memcpy(registers + input->base, from + input->first,
               (size_t)input->count * sizeof *registers);
    }
}

void expr_tape_prepare(const expr_tape *tape, const double *param, double *registers)
{
    if (tape->constants > 0) {
        memcpy(registers, tape->constant, (size_t)tape->constants * sizeof *registers);
    }
    load(&tape->input[EXPR_PARAM], param, registers);
    execute(tape->prologue, registers, NULL);
}

void expr_tape_run(const expr_tape *tape, const expr_inputs *inputs, double *registers, double *out)
{
    load(&tape->input[EXPR_TIME], &inputs->t, registers);
    load(&tape->input[EXPR_COORD], inputs->q, registers);
    load(&tape->input[EXPR_SPEED], inputs->v, registers);
    load(&tape->input[EXPR_ACCEL], inputs->a, registers);
    load(&tape->input[EXPR_LAMBDA], inputs->lambda, registers);
    execute(tape->code, registers, out);
}

void expr_tape_latch(const expr_tape *tape, const double *side, double *registers)
{
    if (tape->kinks > 0) {
        memcpy(registers + tape->constants - tape->kinks, side,
               (size_t)tape->kinks * sizeof *registers);
    }
}
