/* Forward differentiation in interval arithmetic (Moore 1966, Griewank 1989).
 *
 * Constants, and values that depend on parameters alone, are points here: they are taken from the
 * tape's registers. */
#include "expr/enclose.h"

#include "expr/tape_code.h"

#include <string.h>

typedef expr_interval interval;
typedef expr_jet jet;

static jet constant(double x)
{
    return (jet){interval_point(x), interval_point(0.0)};
}

/* Where the value is unbounded there may be a pole, and the rates on both sides of a pole give no
 * bound across it. */
static jet jet_of(interval value, interval rate)
{
    return (jet){value, value.lo == -INFINITY && value.hi == INFINITY ? INTERVAL_ALL : rate};
}

/* A function of x with enclosures of its value and of its derivative by x. */
static jet chain(interval value, interval slope, const jet *x)
{
    return jet_of(value, interval_mul(slope, x->rate));
}

/* A piecewise constant function: if only one value is possible, there is no jump. */
static jet stepwise(double lo, double hi)
{
    return (jet){{lo, hi}, lo == hi ? interval_point(0.0) : INTERVAL_ALL};
}

/* ---- Arithmetic -------------------------------------------------------------------------------*/

static jet add(const jet *x, const jet *y)
{
    return (jet){interval_add(x->value, y->value), interval_add(x->rate, y->rate)};
}

static jet negative(const jet *x)
{
    return (jet){interval_neg(x->value), interval_neg(x->rate)};
}

static jet subtract(const jet *x, const jet *y)
{
    return (jet){interval_sub(x->value, y->value), interval_sub(x->rate, y->rate)};
}

static jet square(const jet *x)
{
    interval twice = {2.0 * x->value.lo, 2.0 * x->value.hi};
    return chain(interval_square(x->value), twice, x);
}

static jet multiply(const jet *x, const jet *y)
{
    if (x == y) {
        return square(x);
    }
    return (jet){interval_mul(x->value, y->value),
                 interval_add(interval_mul(x->rate, y->value), interval_mul(x->value, y->rate))};
}

static jet divide(const jet *x, const jet *y)
{
    interval w = interval_div(x->value, y->value);
    return jet_of(w, interval_div(interval_sub(x->rate, interval_mul(w, y->rate)), y->value));
}

static jet integer_power(const jet *x, int n)
{
    interval slope = interval_mul(interval_point(n), interval_powi(x->value, n - 1));
    return n == 0 ? constant(1.0) : chain(interval_powi(x->value, n), slope, x);
}

static jet power(const jet *x, const jet *y)
{
    interval w = interval_pow(x->value, y->value);
    if (interval_is_zero(y->rate)) {
        interval less = interval_sub(y->value, interval_point(1.0));
        if (y->value.lo == y->value.hi) { /* y - 1 is exact unless y is huge or tiny */
            less = interval_point(y->value.lo - 1.0);
        }
        return chain(w, interval_mul(y->value, interval_pow(x->value, less)), x);
    }
    interval by_x = interval_div(interval_mul(y->value, x->rate), x->value);
    interval by_y = interval_mul(y->rate, interval_log(x->value));
    return (jet){w, interval_mul(w, interval_add(by_x, by_y))};
}

/* ---- Elementary functions ---------------------------------------------------------------------*/

static interval one_and_square(interval x)
{
    return interval_add(interval_point(1.0), interval_square(x));
}

static interval one_less_square(interval x)
{
    return interval_sub(interval_point(1.0), interval_square(x));
}

/* Functions of one argument, by their value w and their slope. */
static jet by_slope(uint32_t operation, const jet *x)
{
    interval w, slope;
    switch (operation) {
    case EXPR_EXP:
        w = slope = interval_exp(x->value);
        break;
    case EXPR_SIN:
        w = interval_sin(x->value);
        slope = interval_cos(x->value);
        break;
    case EXPR_COS:
        w = interval_cos(x->value);
        slope = interval_neg(interval_sin(x->value));
        break;
    case EXPR_TAN:
        w = interval_tan(x->value);
        slope = one_and_square(w);
        break;
    case EXPR_SINH:
        w = interval_sinh(x->value);
        slope = interval_cosh(x->value);
        break;
    case EXPR_COSH:
        w = interval_cosh(x->value);
        slope = interval_sinh(x->value);
        break;
    default: /* EXPR_TANH */
        w = interval_tanh(x->value);
        slope = interval_meet(one_less_square(w), (interval){0.0, 1.0});
    }
    return chain(w, slope, x);
}

static void sine_and_cosine(const jet *x, jet *sine, jet *cosine)
{
    interval s = interval_sin(x->value), c = interval_cos(x->value);
    jet result = chain(s, c, x);
    *cosine = chain(c, interval_neg(s), x);
    *sine = result;
}

/* Functions of one argument, by their value w and the reciprocal of their slope. */
static jet by_inverse_slope(uint32_t operation, const jet *x)
{
    interval w, inverse, rate = x->rate;
    switch (operation) {
    case EXPR_SQRT:
        w = inverse = interval_sqrt(x->value);
        rate = interval_mul(interval_point(0.5), rate);
        break;
    case EXPR_LOG:
        w = interval_log(x->value);
        inverse = x->value;
        break;
    case EXPR_ATAN:
        w = interval_atan(x->value);
        inverse = one_and_square(x->value);
        break;
    default:
        w = operation == EXPR_ASIN ? interval_asin(x->value) : interval_acos(x->value);
        rate = operation == EXPR_ASIN ? rate : interval_neg(rate);
        inverse = interval_sqrt(one_less_square(x->value));
    }
    return (jet){w, interval_div(rate, inverse)};
}

static jet angle(const jet *y, const jet *x)
{
    interval w = interval_atan2(y->value, x->value);
    interval r = interval_add(interval_square(x->value), interval_square(y->value));
    interval turn = interval_sub(interval_mul(x->value, y->rate), interval_mul(y->value, x->rate));
    int cut = x->value.lo < 0.0 && interval_has(y->value, 0.0);
    return (jet){w, cut ? INTERVAL_ALL : interval_div(turn, r)};
}

/* |d hypot| <= hypot(dx, dy), also at the origin. */
static jet length(const jet *x, const jet *y)
{
    interval w = interval_hypot(x->value, y->value);
    double most = interval_hypot(x->rate, y->rate).hi;
    interval rate = interval_add(interval_mul(x->value, x->rate), interval_mul(y->value, y->rate));
    return (jet){w, interval_meet(interval_div(rate, w), (interval){-most, most})};
}

/* ---- Kinks ------------------------------------------------------------------------------------*/

static jet absolute(const jet *x, double side)
{
    if (side > 0.0 || (side != side && x->value.lo >= 0.0)) {
        return *x;
    }
    if (side < 0.0 || (side != side && x->value.hi <= 0.0)) {
        return negative(x);
    }
    return (jet){interval_abs(x->value), interval_hull(x->rate, interval_neg(x->rate))};
}

static double sign_of(double x)
{
    return (x > 0.0) - (x < 0.0);
}

static jet sign(const jet *x, double side)
{
    if (side == side) {
        return constant(sign_of(side));
    }
    return stepwise(sign_of(x->value.lo), sign_of(x->value.hi));
}

static jet round_down(const jet *x, double side)
{
    return side == side ? constant(side) : stepwise(floor(x->value.lo), floor(x->value.hi));
}

static jet least(const jet *x, const jet *y, double side)
{
    if (side < 0.0 || (!(side > 0.0) && x->value.hi < y->value.lo)) {
        return *x;
    }
    if (side > 0.0 || y->value.hi < x->value.lo) {
        return *y;
    }
    interval value = {fmin(x->value.lo, y->value.lo), fmin(x->value.hi, y->value.hi)};
    return (jet){value, interval_hull(x->rate, y->rate)};
}

static jet most(const jet *x, const jet *y, double side)
{
    jet down[] = {negative(x), negative(y)};
    jet low = least(&down[0], &down[1], -side);
    return negative(&low);
}

/* Signs that a - b can have, as bits: below, at and above zero. */
enum { BELOW = 1, AT = 2, ABOVE = 4 };

static jet comparison(const jet *a, const jet *b, double side, int wanted)
{
    int seen = side < 0.0 ? BELOW : side > 0.0 ? ABOVE : side == 0.0 ? AT : 0;
    if (seen == 0) {
        int equal = a->value.lo <= b->value.hi && b->value.lo <= a->value.hi;
        seen = (a->value.lo < b->value.hi ? BELOW : 0) | (equal ? AT : 0) |
               (a->value.hi > b->value.lo ? ABOVE : 0);
    }
    return stepwise((seen & ~wanted) == 0, (seen & wanted) != 0);
}

static int may_hold(const jet *x)
{
    return !interval_is_zero(x->value);
}

static int must_hold(const jet *x)
{
    return !interval_has(x->value, 0.0);
}

static jet both(const jet *x, const jet *y)
{
    return stepwise(must_hold(x) && must_hold(y), may_hold(x) && may_hold(y));
}

static jet either(const jet *x, const jet *y)
{
    return stepwise(must_hold(x) || must_hold(y), may_hold(x) || may_hold(y));
}

static jet select(const jet *condition, const jet *yes, const jet *no)
{
    if (must_hold(condition) || !may_hold(condition)) {
        return must_hold(condition) ? *yes : *no;
    }
    return (jet){interval_hull(yes->value, no->value), INTERVAL_ALL};
}

/* ---- The interpreter --------------------------------------------------------------------------*/

#define RUN(OP, WORDS, STATEMENT)                                                                  \
    case OP:                                                                                       \
        STATEMENT;                                                                                 \
        words = (WORDS);                                                                           \
        break;

#define D r[code[0]]
#define A r[code[1]]
#define B r[code[2]]
#define C r[code[3]]
#define E r[code[4]]

/* One instruction; its number of words. long: one case per operation */
static int execute(uint32_t operation, const uint32_t *code, jet *r, jet *out)
{
    jet p, q;
    int words;
    switch (operation) {
        RUN(EXPR_ADD, 3, D = add(&A, &B))
        RUN(EXPR_SUB, 3, D = subtract(&A, &B))
        RUN(EXPR_MUL, 3, D = multiply(&A, &B))
        RUN(EXPR_DIV, 3, D = divide(&A, &B))
        RUN(EXPR_NEG, 2, D = negative(&A))
        RUN(TAPE_MUL_ADD, 4, p = multiply(&A, &B); D = add(&p, &C))
        RUN(TAPE_MUL_SUB, 4, p = multiply(&A, &B); D = subtract(&p, &C))
        RUN(TAPE_SUB_MUL, 4, p = multiply(&B, &C); D = subtract(&A, &p))
        RUN(TAPE_DOT, 5, p = multiply(&A, &B); q = multiply(&C, &E); D = add(&p, &q))
        RUN(TAPE_CROSS, 5, p = multiply(&A, &B); q = multiply(&C, &E); D = subtract(&p, &q))
        RUN(TAPE_SIN_COS, 3, sine_and_cosine(&B, &D, &A))
        RUN(EXPR_POW, 3, D = power(&A, &B))
        RUN(EXPR_POWI, 3, D = integer_power(&A, (int)code[2]))
        RUN(EXPR_ATAN2, 3, D = angle(&A, &B))
        RUN(EXPR_HYPOT, 3, D = length(&A, &B))
        RUN(EXPR_ABS, 3, D = absolute(&A, B.value.lo))
        RUN(EXPR_SIGN, 3, D = sign(&A, B.value.lo))
        RUN(EXPR_FLOOR, 3, D = round_down(&A, B.value.lo))
        RUN(EXPR_MIN, 4, D = least(&A, &B, C.value.lo))
        RUN(EXPR_MAX, 4, D = most(&A, &B, C.value.lo))
        RUN(EXPR_LESS, 4, D = comparison(&A, &B, C.value.lo, BELOW))
        RUN(EXPR_LESS_EQUAL, 4, D = comparison(&A, &B, C.value.lo, BELOW | AT))
        RUN(EXPR_EQUAL, 3, D = comparison(&A, &B, NAN, AT))
        RUN(EXPR_AND, 3, D = both(&A, &B))
        RUN(EXPR_OR, 3, D = either(&A, &B))
        RUN(EXPR_NOT, 2, D = stepwise(!may_hold(&A), !must_hold(&A)))
        RUN(EXPR_SELECT, 4, D = select(&A, &B, &C))
        RUN(TAPE_OUT, 2, out[code[0]] = A)
    case EXPR_SQRT:
    case EXPR_LOG:
    case EXPR_ASIN:
    case EXPR_ACOS:
        RUN(EXPR_ATAN, 2, D = by_inverse_slope(operation, &A))
    default:
        D = by_slope(operation, &A);
        words = 2;
    }
    return words;
}

#undef RUN
#undef D
#undef A
#undef B
#undef C
#undef E

/* Registers of temporaries are set here too, but overwritten before they are read. */
void expr_enclose_prepare(const expr_tape *tape, const double *prepared, expr_jet *registers)
{
    for (int i = 0; i < tape->registers; i++) {
        registers[i] = constant(prepared[i]);
    }
}

static void load(const tape_input *input, const jet *from, jet *registers)
{
    if (input->count > 0) {
        memcpy(registers + input->base, from + input->first,
               (size_t)input->count * sizeof *registers);
    }
}

void expr_enclose_run(const expr_tape *tape, const expr_jets *inputs, expr_jet *registers,
                      expr_jet *out)
{
    load(&tape->input[EXPR_TIME], &inputs->t, registers);
    load(&tape->input[EXPR_COORD], inputs->q, registers);
    load(&tape->input[EXPR_SPEED], inputs->v, registers);
    load(&tape->input[EXPR_ACCEL], inputs->a, registers);
    load(&tape->input[EXPR_LAMBDA], inputs->lambda, registers);
    const uint32_t run = 1u << TAPE_RUN_SHIFT;
    const uint32_t *code = tape->code;
    for (uint32_t head = *code++; head % run != TAPE_END; head = *code++) {
        for (uint32_t left = head / run; left > 0; left--) {
            code += execute(head % run, code, registers, out);
        }
    }
}
