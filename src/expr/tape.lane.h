/* The interpreter, over lanes. A lane does what expr_apply does, which a test checks. The last
 * operand of a kink is its side (tape.h), NaN where the operands decide. */

#define RUN(OP, WORDS, STATEMENT)                                                                  \
    case OP:                                                                                       \
        do {                                                                                       \
            STATEMENT;                                                                             \
            code += (WORDS);                                                                       \
        } while (--left != 0);                                                                     \
        break;

#define D r[code[0]]
#define A r[code[1]]
#define B r[code[2]]
#define C r[code[3]]
#define E r[code[4]]
#define TRUTH(mask) lane_select(mask, one, zero)

/* long: one case per operation */
static TAPE_CLONES void LANE(execute)(const uint32_t *code, zw_real *r, double *out)
{
    const zw_real zero = LANE_ZERO, one = zero + 1.0;
    for (;;) {
        uint32_t head = *code++, left = head >> TAPE_RUN_SHIFT;
        switch (head & ((1u << TAPE_RUN_SHIFT) - 1u)) {
            RUN(EXPR_ADD, 3, D = A + B)
            RUN(EXPR_SUB, 3, D = A - B)
            RUN(EXPR_MUL, 3, D = A * B)
            RUN(EXPR_DIV, 3, D = A / B)
            RUN(EXPR_NEG, 2, D = -A)
            RUN(TAPE_MUL_ADD, 4, D = A * B + C)
            RUN(TAPE_MUL_SUB, 4, D = A * B - C)
            RUN(TAPE_SUB_MUL, 4, D = A - B * C)
            RUN(TAPE_DOT, 5, D = A * B + C * E)
            RUN(TAPE_CROSS, 5, D = A * B - C * E)
            RUN(TAPE_SIN_COS, 3, lane_sin_cos(&B, &D, &A))
            RUN(EXPR_POW, 3, lane_call2(pow, &A, &B, &D))
            RUN(EXPR_POWI, 3, lane_powi(&A, (int)code[2], &D))
            RUN(EXPR_SQRT, 2, lane_call1(sqrt, &A, &D))
            RUN(EXPR_EXP, 2, lane_call1(exp, &A, &D))
            RUN(EXPR_LOG, 2, lane_call1(log, &A, &D))
            RUN(EXPR_SIN, 2, lane_call1(sin, &A, &D))
            RUN(EXPR_COS, 2, lane_call1(cos, &A, &D))
            RUN(EXPR_TAN, 2, lane_call1(tan, &A, &D))
            RUN(EXPR_ASIN, 2, lane_call1(asin, &A, &D))
            RUN(EXPR_ACOS, 2, lane_call1(acos, &A, &D))
            RUN(EXPR_ATAN, 2, lane_call1(atan, &A, &D))
            RUN(EXPR_SINH, 2, lane_call1(sinh, &A, &D))
            RUN(EXPR_COSH, 2, lane_call1(cosh, &A, &D))
            RUN(EXPR_TANH, 2, lane_call1(tanh, &A, &D))
            RUN(EXPR_ATAN2, 3, lane_call2(atan2, &A, &B, &D))
            RUN(EXPR_HYPOT, 3, lane_call2(hypot, &A, &B, &D))
            RUN(EXPR_ABS, 3, zw_real x = A; zw_real m = B;
                D = lane_select(m > zero, x, lane_select(m < zero, -x, lane_abs(x))))
            RUN(EXPR_SIGN, 3, zw_real x = lane_select(B == B, B, A);
                D = lane_select(x > zero, one,
                                lane_select(x < zero, -one, lane_select(x == zero, zero, x))))
            RUN(EXPR_FLOOR, 3, zw_real m = B; zw_real x = A; lane_call1(floor, &x, &D);
                D = lane_select(m == m, m, D))
            RUN(EXPR_MIN, 4, zw_real x = A; zw_real y = B; zw_real m = C;
                D = lane_select(
                    m < zero, x,
                    lane_select(m > zero, y, lane_select(x < y, x, lane_select(y <= x, y, x + y)))))
            RUN(EXPR_MAX, 4, zw_real x = A; zw_real y = B; zw_real m = C;
                D = lane_select(
                    m > zero, x,
                    lane_select(m < zero, y, lane_select(x > y, x, lane_select(y >= x, y, x + y)))))
            RUN(EXPR_LESS, 4, zw_real m = C; D = lane_select(m == m, TRUTH(m < zero), TRUTH(A < B)))
            RUN(EXPR_LESS_EQUAL, 4, zw_real m = C;
                D = lane_select(m == m, TRUTH(m <= zero), TRUTH(A <= B)))
            RUN(EXPR_EQUAL, 3, D = TRUTH(A == B))
            RUN(EXPR_AND, 3, D = TRUTH((A != zero) & (B != zero)))
            RUN(EXPR_OR, 3, D = TRUTH((A != zero) | (B != zero)))
            RUN(EXPR_NOT, 2, D = TRUTH(A == zero))
            RUN(EXPR_SELECT, 4, D = lane_select(A != zero, B, C))
            RUN(TAPE_OUT, 2, lane_put(out, code[0], &A))
        default: /* TAPE_END */
            return;
        }
    }
}

#undef RUN
#undef D
#undef A
#undef B
#undef C
#undef E
#undef TRUTH
