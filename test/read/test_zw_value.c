/* Every operator and function by value, against the same formula in C. */
#include "reading.h"

#define HEAD                                                                                       \
    "param m = 2.5, k = 3, n = 3\n"                                                                \
    "coord x, y, z\ncoord u[i] for i in 1..n\n"                                                    \
    "kinetic x'^2 + y'^2 + z'^2 + sum(u[i]'^2 for i in 1..n)\n"                                    \
    "let r = x*y' + t\n"                                                                           \
    "let c = x < 0.8\n"                                                                            \
    "imbed w = x*sin(y)\n"                                                                         \
    "point p = (x, y), q = (y, z)\n"                                                               \
    "point P = (x, y, z), Q = (z, 1, x)\n"                                                         \
    "constraint rod: x^2 + y^2 = 2\n"                                                              \
    "constraint pin: p = q\n"                                                                      \
    "constraint link[i]: u[i] = x for i in 1..n\n"                                                 \
    "plot time "

/* What the formulas in C may use; the names are those of HEAD. */
typedef struct leaves {
    double m, k, t, x, y, z, vx, vy, vz, ax, ay, u[4], l[7];
} leaves;

static double table_by_hand(double x)
{
    const double at[] = {0.3, 0.6, 0.9, 1.2}, is[] = {1, 3, 2, -1};
    if (x < at[0]) {
        return is[0];
    }
    for (int i = 1; i < 4; i++) {
        if (x < at[i]) {
            return is[i - 1] + (is[i] - is[i - 1]) / (at[i] - at[i - 1]) * (x - at[i - 1]);
        }
    }
    return is[3];
}

/* text and meaning; L is the leaves */
#define CASES(X)                                                                                   \
    X("x + y - z", L.x + L.y - L.z)                                                                \
    X("x - (y - z)", L.x - (L.y - L.z))                                                            \
    X("x - y + z", L.x - L.y + L.z)                                                                \
    X("x/y/z", L.x / L.y / L.z)                                                                    \
    X("x/y*z", L.x / L.y * L.z)                                                                    \
    X("x/(y*z)", L.x / (L.y * L.z))                                                                \
    X("m*x + k*y", L.m *L.x + L.k * L.y)                                                           \
    X("-x^2", -(L.x * L.x))                                                                        \
    X("(-x)^2", L.x *L.x)                                                                          \
    X("2^x^y", pow(2, pow(L.x, L.y)))                                                              \
    X("(2^x)^y", pow(pow(2, L.x), L.y))                                                            \
    X("x^-2", 1 / (L.x * L.x))                                                                     \
    X("x^3*y", L.x *L.x *L.x *L.y)                                                                 \
    X("x^k", L.x *L.x *L.x)                                                                        \
    X("-x*y", -L.x *L.y)                                                                           \
    X("2*-x", -2 * L.x)                                                                            \
    X("+x - +y", L.x - L.y)                                                                        \
    X("x*1e-3 + .5 + 2. + 1.25e+1", L.x * 1e-3 + 0.5 + 2 + 12.5)                                   \
    X("30*deg", 30 * 3.14159265358979323846 / 180)                                                 \
    X("pi + e", 3.14159265358979323846 + 2.71828182845904523536)                                   \
    X("min(x, inf)", L.x)                                                                          \
    X("t*x", L.t *L.x)                                                                             \
    X("x'*y", L.vx *L.y)                                                                           \
    X("x'' + y''", L.ax + L.ay)                                                                    \
    X("x'^2", L.vx *L.vx)                                                                          \
    X("sqrt(x) + exp(y) + log(z) + ln(x)", sqrt(L.x) + exp(L.y) + log(L.z) + log(L.x))             \
    X("sin(x) + cos(y) + tan(z)", sin(L.x) + cos(L.y) + tan(L.z))                                  \
    X("asin(x/2) + acos(y/2) + atan(z)", asin(L.x / 2) + acos(L.y / 2) + atan(L.z))                \
    X("sinh(x) + cosh(y) + tanh(z)", sinh(L.x) + cosh(L.y) + tanh(L.z))                            \
    X("atan2(x', y') + hypot(x, y)", atan2(L.vx, L.vy) + hypot(L.x, L.y))                          \
    X("abs(x') + sign(y') + floor(3*z)", fabs(L.vx) + (L.vy > 0 ? 1 : -1) + floor(3 * L.z))        \
    X("sin (x)", sin(L.x))                                                                         \
    X("min(x, y) + max(x, y, z)", fmin(L.x, L.y) + fmax(L.x, fmax(L.y, L.z)))                      \
    X("clamp(x, 0.5, 1)", fmin(fmax(L.x, 0.5), 1))                                                 \
    X("if(x < y, x, z)", L.x < L.y ? L.x : L.z)                                                    \
    X("if(c, 1, 2)", L.x < 0.8 ? 1 : 2)                                                            \
    X("piecewise(x < 0.5, y, x < 1, z, 7)", L.x < 0.5 ? L.y : L.x < 1 ? L.z : 7)                   \
    X("table(x, 0.3, 1, 0.6, 3, 0.9, 2, 1.2, -1)", table_by_hand(L.x))                             \
    X("table(0, 0.3, 1, 0.6, 3) + table(9, 0.3, 1, 0.6, 3)", 4)                                    \
    X("(x < y) + (x <= y)*2 + (x > y)*4 + (x >= y)*8", L.x < L.y ? 3 : 12)                         \
    X("(x == x) + (x != x)*2 + (x != y)*4", 5)                                                     \
    X("if(x < y and y < z or not z < x, 1, 0)", (L.x < L.y && L.y < L.z) || !(L.z < L.x) ? 1 : 0)  \
    X("if(not x < y and y < z, 1, 0)", !(L.x < L.y) && L.y < L.z ? 1 : 0)                          \
    X("|x'|", fabs(L.vx))                                                                          \
    X("|p|", hypot(L.x, L.y))                                                                      \
    X("|p - q| + |P|", hypot(L.x - L.y, L.y - L.z) + sqrt(L.x * L.x + L.y * L.y + L.z * L.z))      \
    X("||x'| - |y'||", fabs(fabs(L.vx) - fabs(L.vy)))                                              \
    X("norm(p) + norm(x')", hypot(L.x, L.y) + fabs(L.vx))                                          \
    X("p . q", L.x *L.y + L.y * L.z)                                                               \
    X("dot(P, Q)", L.x *L.z + L.y + L.z * L.x)                                                     \
    X("m*p . q/2", L.m *(L.x * L.y + L.y * L.z) / 2)                                               \
    X("p x q", L.x *L.z - L.y * L.y)                                                               \
    X("cross(p, q)", L.x *L.z - L.y * L.y)                                                         \
    X("(P x Q).x", L.y *L.x - L.z)                                                                 \
    X("(P x Q).y", L.z *L.z - L.x * L.x)                                                           \
    X("(P x Q) . (1, 2, 3)", L.y *L.x - L.z + 2 * (L.z * L.z - L.x * L.x) + 3 * (L.x - L.y * L.z)) \
    X("p.x + q.y + P.z", L.x + L.z + L.z)                                                          \
    X("(2*p - q/2 + p*k).y", 2 * L.y - L.z / 2 + 3 * L.y)                                          \
    X("(-p).x", -L.x)                                                                              \
    X("if(x < y, p, q).x", L.x < L.y ? L.x : L.y)                                                  \
    X("p'.x + p.x'", 2 * L.vx)                                                                     \
    X("|p'|", hypot(L.vx, L.vy))                                                                   \
    X("p''.y", L.ay)                                                                               \
    X("r", L.x *L.vy + L.t)                                                                        \
    X("r'", L.vx *L.vy + L.x * L.ay + 1)                                                           \
    X("w'", L.vx *sin(L.y) + L.x * cos(L.y) * L.vy)                                                \
    X("der(x*y)", L.vx *L.y + L.x * L.vy)                                                          \
    X("(x*y)'", L.vx *L.y + L.x * L.vy)                                                            \
    X("der(der(x^2))", 2 * L.vx * L.vx + 2 * L.x * L.ax)                                           \
    X("(x^2)''", 2 * L.vx * L.vx + 2 * L.x * L.ax)                                                 \
    X("sum(u[i] for i in 1..n)", L.u[1] + L.u[2] + L.u[3])                                         \
    X("sum(i*u[n+1-i] for i in 1..n)", L.u[3] + 2 * L.u[2] + 3 * L.u[1])                           \
    X("prod(u[i] for i in 1..2)", L.u[1] * L.u[2])                                                 \
    X("sum(u[i]*u[j] for i in 1..n, j in 1..i)",                                                   \
      L.u[1] * L.u[1] + L.u[2] * (L.u[1] + L.u[2]) + L.u[3] * (L.u[1] + L.u[2] + L.u[3]))          \
    X("sum(sum(u[i]*j for j in i..n) for i in 1..n)", 6 * L.u[1] + 5 * L.u[2] + 3 * L.u[3])        \
    X("sum(x for i in 1..0) + prod(x for i in 1..0)", 1)                                           \
    X("sum((u[i], 1) for i in 1..n) . (1, 1)", L.u[1] + L.u[2] + L.u[3] + 3)                       \
    X("u[2]' + u[n]", V(4) + L.u[3])                                                               \
    X("lambda(rod)", L.l[0])                                                                       \
    X("lambda(pin).y", L.l[2])                                                                     \
    X("lambda(link[2])", L.l[4])                                                                   \
    X("kinetic_energy", K)                                                                         \
    X("potential_energy", 0)                                                                       \
    X("energy", K)                                                                                 \
    X("(x +\n   y)*\n   z", (L.x + L.y) * L.z)                                                     \
    X("x + # a comment\n   y", L.x + L.y)

#define V(i) v[i]
#define L (*l)
#define K (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3] + v[4] * v[4] + v[5] * v[5])
/* One function for all: the number says which. */
static double by_hand(int number, const leaves *l, const double *v)
{
    int i = 0;
#define HAND(text, formula)                                                                        \
    if (i++ == number) {                                                                           \
        return formula;                                                                            \
    }
    CASES(HAND)
#undef HAND
    (void)v;
    return NAN;
}
#undef L

static const char *const texts[] = {
#define TEXT(text, formula) text,
    CASES(TEXT)
#undef TEXT
};

static void formulas_mean_what_they_say(void **state)
{
    (void)state;
    for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++) {
        char text[2000];
        snprintf(text, sizeof text, HEAD "%s\n", texts[i]);
        for (uint64_t seed = 1; seed <= 5; seed++) {
            world w = world_of(text, seed);
            leaves l = {.m = 2.5,
                        .k = 3,
                        .t = w.t,
                        .x = w.q[0],
                        .y = w.q[1],
                        .z = w.q[2],
                        .vx = w.v[0],
                        .vy = w.v[1],
                        .vz = w.v[2],
                        .ax = w.a[0],
                        .ay = w.a[1]};
            memcpy(l.u + 1, w.q + 3, 3 * sizeof(double));
            memcpy(l.l, w.lambda, sizeof l.l);
            double got = curve(&w, 0), wanted = by_hand(i, &l, w.v);
            if (!(fabs(got - wanted) <= 1e-12 * (1 + fabs(wanted)))) {
                print_error("%s: got %.17g, wanted %.17g\n", texts[i], got, wanted);
                fail();
            }
            world_free(&w);
        }
    }
}

/* Every node knows where it comes from: the quotient is the one of line 3, column 10. */
static void nodes_know_their_place(void **state)
{
    (void)state;
    world w = world_of("coord x, y\nkinetic x'^2 + y'^2\nplot time x/y\n", 1);
    const expr_node *node = expr_graph_node(w.model->graph, w.model->plot[0].curve[0].y);
    assert_int_equal(node->op, EXPR_DIV);
    const model_place *place = &w.model->place[node->place];
    assert_int_equal(place->file, 0);
    assert_int_equal(place->line, 3);
    assert_int_equal(place->column, 12);
    world_free(&w);
}

/* The same file twice gives the same graph. */
static void reading_repeats_itself(void **state)
{
    (void)state;
    char text[2000];
    snprintf(text, sizeof text, HEAD "energy, lambda(pin).x, p . q\n");
    zw_model *a = read_text(text), *b = read_text(text);
    assert_int_equal(expr_graph_count(a->graph), expr_graph_count(b->graph));
    for (int i = 0; i < expr_graph_count(a->graph); i++) {
        const expr_node *m = expr_graph_node(a->graph, i), *n = expr_graph_node(b->graph, i);
        assert_int_equal(m->op, n->op);
        assert_memory_equal(m->operand, n->operand, sizeof m->operand);
        assert_int_equal(m->place, n->place);
    }
    zw_model_free(a);
    zw_model_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_mean_what_they_say),
        cmocka_unit_test(nodes_know_their_place),
        cmocka_unit_test(reading_repeats_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
