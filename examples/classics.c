/* Six classics of constrained motion, each at one instant, through the kernel alone.
 *
 *     make demo
 *
 * Every section fills one zw_gauss, solves it, and prints what came out. The exit code counts the
 * answers whose status was not the expected one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "zwang/gauss.h"

static const double GRAVITY = 9.81;

static double dot(int n, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* ---- 1. A pendulum ------------------------------------------------------------------------ */

/* |r| = l twice differentiated: -(r/l) . a = |v|^2/l. With this sign the rod pulls with lambda. */
static int show_pendulum(void)
{
    static const char *const name[] = {"x", "y"};
    double mass[] = {2.0, 2.0}, fall[] = {0.0, -GRAVITY};
    double r[] = {0.5, -sqrt(0.75)}, speed = 2.0; /* 30 degrees, 1 m, 2 m/s */
    double A[] = {-r[0], -r[1]}, b[] = {speed * speed};
    zw_block rod = {.name = "rod", .kind = ZW_EQUALITY, .rows = 1};
    zw_gauss problem = {.n = 2,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                        .free = fall,
                        .block_count = 1,
                        .block = &rod,
                        .A = {.dense = A},
                        .b = b};
    answer found = answer_find(&problem, NULL);
    const zw_motion *m = &found.motion;

    table_title(1, "A pendulum: 2 kg on a rod of 1 m, at 30 degrees, moving at 2 m/s",
                "Of all accelerations that keep the rod's length, the one nearest to free fall.");
    int surprises = answer_surprises(&found, ZW_OK);
    if (surprises == 0) {
        table_names(2, name);
        table_row("free acceleration", 2, fall);
        table_row("actual acceleration", 2, m->a);
        table_row("F^N  applied force", 2, m->F_N);
        table_row("F^L  force of the rod", 2, m->F_L);
        /* Another acceleration that the rod admits: 1 m/s^2 more along the circle. */
        double step[] = {m->a[0] - r[1] - fall[0], m->a[1] + r[0] - fall[1]};
        printf("   tension of the rod %.4f N; rank %d of %d\n", m->lambda[0], m->rank, m->m);
        printf("   Z = %.4f; with 1 m/s^2 more along the circle, also admissible, %.4f\n", m->Z,
               0.5 * mass[0] * dot(2, step, step));
        table_certificate(&m->certificate);
    }
    answer_free(&found);
    return surprises;
}

/* ---- 2. A four-bar loop in space ----------------------------------------------------------- */

enum { BAR_UNKNOWNS = 18, BAR_ROWS = 20, BAR_BLOCKS = 8 };

/* Three bodies of six unknowns (a_x, a_y, a_z, alpha_x, alpha_y, alpha_z). */
typedef struct bars {
    double mass[BAR_UNKNOWNS], free[BAR_UNKNOWNS];
    double A[2 * BAR_ROWS * BAR_UNKNOWNS], b[2 * BAR_ROWS];
    zw_block block[2 * BAR_BLOCKS];
    int rows, blocks;
} bars;

static const double BAR_PIN[4][2] = {{0.0, 0.0}, {0.0, 1.0}, {3.0, 2.0}, {3.0, 0.0}};
static const double BAR_SPIN[3] = {2.0, 0.0, 1.0}; /* crank, coupler (translating), rocker */

/* The acceleration of body i's point at the pin, times `sign`, minus its centripetal part:
 * a + alpha x r - omega^2 r. */
static void bars_end(bars *s, int body, int pin, double sign)
{
    double r[2] = {BAR_PIN[pin][0] - 0.5 * (BAR_PIN[body][0] + BAR_PIN[body + 1][0]),
                   BAR_PIN[pin][1] - 0.5 * (BAR_PIN[body][1] + BAR_PIN[body + 1][1])};
    double *x = s->A + s->rows * BAR_UNKNOWNS + 6 * body, *y = x + BAR_UNKNOWNS,
           *z = y + BAR_UNKNOWNS, *tilt = z + BAR_UNKNOWNS, *lean = tilt + BAR_UNKNOWNS;
    x[0] = y[1] = z[2] = tilt[3] = lean[4] = sign;
    x[5] = -sign * r[1];
    y[5] = sign * r[0];
    z[3] = sign * r[1];
    z[4] = -sign * r[0];
    for (int i = 0; i < 2; i++) {
        s->b[s->rows + i] += sign * BAR_SPIN[body] * BAR_SPIN[body] * r[i];
    }
}

/* Four hinges with axes along z: each three rows for the pin and two for its axis. */
static void bars_build(bars *s)
{
    static const char *const name[] = {"pin O", "axis O", "pin A", "axis A",
                                       "pin B", "axis B", "pin C", "axis C"};
    memset(s, 0, sizeof *s);
    for (int i = 0; i < BAR_UNKNOWNS; i++) {
        s->mass[i] = i % 6 < 3 ? 1.0 : 0.2;
        s->free[i] = i % 6 == 1 ? -GRAVITY : 0.0;
    }
    for (int pin = 0; pin < 4; pin++) {
        if (pin > 0) {
            bars_end(s, pin - 1, pin, -1.0);
        }
        if (pin < 3) {
            bars_end(s, pin, pin, 1.0);
        }
        for (int part = 0; part < 2; part++) {
            s->block[s->blocks] =
                (zw_block){.name = name[s->blocks], .kind = ZW_EQUALITY, .rows = part == 0 ? 3 : 2};
            s->blocks++;
        }
        s->rows += 5;
    }
}

/* The loop without what the report calls redundant: the last pin in its plane, without its axis. */
static void bars_thin(bars *s)
{
    s->blocks -= 1;
    s->block[s->blocks - 1].rows = 2;
    s->rows -= 3;
}

static void bars_double(bars *s)
{
    memcpy(s->A + s->rows * BAR_UNKNOWNS, s->A, (size_t)(s->rows * BAR_UNKNOWNS) * sizeof(double));
    memcpy(s->b + s->rows, s->b, (size_t)s->rows * sizeof(double));
    memcpy(s->block + s->blocks, s->block, (size_t)s->blocks * sizeof(zw_block));
    s->rows *= 2;
    s->blocks *= 2;
}

/* One line of the table; `reference` is the motion of the first line, filled there. */
static int bars_line(const char *label, const bars *s, double *reference, int first)
{
    zw_gauss problem = {.n = BAR_UNKNOWNS,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = s->mass},
                        .free = s->free,
                        .block_count = s->blocks,
                        .block = s->block,
                        .A = {.dense = s->A},
                        .b = s->b};
    answer found = answer_find(&problem, NULL);
    const zw_motion *m = &found.motion;
    int surprises = answer_surprises(&found, ZW_OK);
    if (surprises == 0) {
        double change = 0.0;
        for (int i = 0; i < BAR_UNKNOWNS; i++) {
            reference[i] = first ? m->a[i] : reference[i];
            change = fmax(change, fabs(m->a[i] - reference[i]));
        }
        printf("   %-20s %4d %6d %12.4f %12.4f %12.4f %9.0e %9.0e\n", label, m->m, m->rank, m->a[5],
               m->a[17], sqrt(dot(m->m, m->lambda, m->lambda)), change, m->certificate.worst);
        for (int i = 0; i < m->redundant_count && m->m == BAR_ROWS; i++) {
            printf("%s%s%s", i == 0 ? "     redundant: " : ", ", s->block[m->redundant[i]].name,
                   i + 1 < m->redundant_count ? "" : "\n");
        }
    }
    answer_free(&found);
    return surprises;
}

static int show_four_bar(void)
{
    bars all, thin, twice;
    double reference[BAR_UNKNOWNS];
    bars_build(&all);
    thin = twice = all;
    bars_thin(&thin);
    bars_double(&twice);
    table_title(2, "A four-bar loop in space: 18 unknowns, 20 rows, and yet it moves",
                "Rows that follow from others are named. The motion does not care how often a row "
                "is given.");
    printf("   %-20s %4s %6s %12s %12s %12s %9s %9s\n", "hinges given as", "rows", "rank",
           "crank alpha", "rocker alpha", "|lambda|", "change", "worst");
    return bars_line("what is needed", &thin, reference, 1) +
           bars_line("four full hinges", &all, reference, 0) +
           bars_line("the same, twice", &twice, reference, 0);
}

/* ---- 3. Constraints that contradict each other --------------------------------------------- */

static int show_conflict(void)
{
    static const char *const name[] = {"x", "y", "z"};
    static const double A[] = {0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1}, b[] = {0.0, 0.5, 1.0, 2.0};
    double mass[] = {1.0, 1.0, 1.0}, fall[] = {0.0, 0.0, -GRAVITY};
    zw_block block[] = {{.name = "floor", .kind = ZW_EQUALITY, .rows = 1},
                        {.name = "rail", .kind = ZW_EQUALITY, .rows = 1},
                        {.name = "motor", .kind = ZW_EQUALITY, .rows = 1},
                        {.name = "strut", .kind = ZW_EQUALITY, .rows = 1}};
    zw_gauss problem = {.n = 3,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                        .free = fall,
                        .block_count = 4,
                        .block = block,
                        .A = {.dense = A},
                        .b = b};
    zw_gauss_options anyway = {.least_squares = 1};

    table_title(3,
                "A carriage asked for too much: floor z''=0, rail y''=1/2, motor x''=1, strut "
                "x''+z''=2",
                "The rail is innocent. Of the three others none can be left out of the conflict.");
    answer strict = answer_find(&problem, NULL), least = answer_find(&problem, &anyway);
    int surprises = answer_surprises(&strict, ZW_CONFLICT) + answer_surprises(&least, ZW_CONFLICT);
    if (surprises == 0) {
        printf("   status: %s\n", strict.error.text);
        table_names(3, name);
        table_row("least-squares motion", 3, least.motion.a);
        printf("   %-*s floor %.4f, rail %.4f, motor %.4f, strut %.4f\n", TABLE_LABEL,
               "what each row misses", table_tidy(least.motion.residual[0]),
               table_tidy(least.motion.residual[1]), table_tidy(least.motion.residual[2]),
               table_tidy(least.motion.residual[3]));
        table_certificate(&least.motion.certificate);
    }
    answer_free(&strict);
    answer_free(&least);
    return surprises;
}

/* ---- 4. A bead on a wire ------------------------------------------------------------------- */

typedef struct wire {
    double mu;
    double velocity[2];
} wire;

/* C = -mu |F^L| v/|v|: what the wire does besides holding. */
static void wire_friction(void *user, const double *lambda, const double *reaction, double *C)
{
    const wire *w = user;
    double normal = sqrt(dot(2, reaction, reaction));
    double speed = sqrt(dot(2, w->velocity, w->velocity));
    (void)lambda;
    for (int i = 0; i < 2; i++) {
        C[i] = -w->mu * normal * w->velocity[i] / speed;
    }
}

/* z = x^2 twice differentiated: -2 x x'' + z'' = 2 x'^2. */
static int show_bead(void)
{
    static const char *const name[] = {"x", "z"};
    wire w = {.mu = 0.2, .velocity = {0.5, -1.0}}; /* at x = -1, sliding down */
    double mass[] = {1.0, 1.0}, fall[] = {0.0, -GRAVITY}, A[] = {2.0, 1.0},
           b[] = {2.0 * w.velocity[0] * w.velocity[0]};
    zw_block parabola = {.name = "wire", .kind = ZW_EQUALITY, .rows = 1};
    zw_gauss problem = {.n = 2,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                        .free = fall,
                        .block_count = 1,
                        .block = &parabola,
                        .A = {.dense = A},
                        .b = b,
                        .law = wire_friction,
                        .law_user = &w};
    answer found = answer_find(&problem, NULL);
    const zw_motion *m = &found.motion;

    table_title(4, "A bead of 1 kg on the wire z = x^2, at x = -1, with sliding friction 0.2",
                "A constraint that does work: C = -mu |F^L| v/|v| enters the extended principle.");
    int surprises = answer_surprises(&found, ZW_OK);
    if (surprises == 0) {
        table_names(2, name);
        table_row("F^N  gravity", 2, m->F_N);
        table_row("F^L  the wire holds", 2, m->F_L);
        table_row("F^C  the wire rubs", 2, m->F_C);
        table_row("actual acceleration", 2, m->a);
        printf("   power along the wire: of F^L %.4f W, of F^C %.4f W, of C %.4f W\n",
               table_tidy(dot(2, w.velocity, m->F_L)), dot(2, w.velocity, m->F_C),
               dot(2, w.velocity, m->C));
        table_certificate(&m->certificate);
    }
    answer_free(&found);
    return surprises;
}

/* ---- 5. A block in a corner ---------------------------------------------------------------- */

enum { CORNER_CONTACTS = 4, CORNER_ROWS = 12 };

static const zw_block CORNER[CORNER_CONTACTS] = {
    {.name = "block on floor", .kind = ZW_CONE, .rows = 3, .friction = {0.3, 0.3}},
    {.name = "block on wall", .kind = ZW_CONE, .rows = 3, .friction = {0.3, 0.3}},
    {.name = "rider on block", .kind = ZW_CONE, .rows = 3, .friction = {0.8, 0.8}},
    {.name = "block on stop", .kind = ZW_CONE, .rows = 3, .friction = {0.3, 0.3}}};

/* What a contact does: pushing or not, sliding or not. */
static const char *contact_state(const double *lambda, const double *residual)
{
    double slip = sqrt(dot(2, residual + 1, residual + 1));
    return lambda[0] <= 1e-9 ? "open" : slip <= 1e-9 ? "stick" : "slide";
}

static void corner_table(const char *law, const answer *found)
{
    const zw_motion *m = &found->motion;
    printf("   %-20s %-6s %12s %12s %12s %12s\n", law, "state", "normal m/s", "slip m/s",
           "push N s", "rub N s");
    for (int k = 0; k < CORNER_CONTACTS; k++) {
        const double *w = m->residual + 3 * k, *r = m->lambda + 3 * k;
        printf("   %-20s %-6s %12.6f %12.6f %12.6f %12.6f\n", CORNER[k].name, contact_state(r, w),
               table_tidy(w[0]), table_tidy(sqrt(dot(2, w + 1, w + 1))), table_tidy(r[0]),
               table_tidy(sqrt(dot(2, r + 1, r + 1))));
    }
    table_certificate(&m->certificate);
}

/* The convex answer checked against Coulomb's law; 1 if even that fails. */
static int corner_certify(const zw_gauss *problem, const zw_motion *claimed)
{
    zw_certificate verdict;
    double *scratch = malloc(zw_gauss_certify_scratch(problem) * sizeof *scratch);
    if (scratch == NULL || zw_gauss_certify(problem, ZW_CONTACT_COULOMB, claimed->a,
                                            claimed->lambda, NULL, scratch, &verdict) != ZW_OK) {
        free(scratch);
        return 1;
    }
    printf("   the same answer, checked against Coulomb's law: worst %.0e\n", verdict.worst);
    free(scratch);
    return !(verdict.worst > 1e-8);
}

/* Velocity form: block (2 kg) and rider (1 kg) at 1 m/s along x, a step of 10 ms, the block pushed
 * to the wall with 30 N. Rows of a contact: normal, slide, slide; the stop is 5 cm ahead. */
static int show_corner(void)
{
    const double h = 0.01;
    double mass[] = {2, 2, 2, 1, 1, 1};
    double fall[] = {1, -30.0 / 2.0 * h, -GRAVITY * h, 1, 0, -GRAVITY * h};
    double A[CORNER_ROWS * 6] = {0}, b[CORNER_ROWS] = {0};
    static const int axis[CORNER_CONTACTS][3] = {{2, 0, 1}, {1, 0, 2}, {2, 0, 1}, {0, 1, 2}};
    for (int k = 0; k < CORNER_CONTACTS; k++) {
        for (int i = 0; i < 3; i++) {
            double *row = A + (3 * k + i) * 6;
            row[axis[k][i]] = k >= 2 ? -1.0 : 1.0; /* the stop is ahead, the rider relative */
            row[3 + axis[k][i]] = k == 2 ? 1.0 : 0.0;
        }
    }
    b[9] = -0.05 / h; /* the gap may close, not more: -u_x >= -gap/h */
    zw_gauss problem = {.n = 6,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                        .free = fall,
                        .block_count = CORNER_CONTACTS,
                        .block = CORNER,
                        .A = {.dense = A},
                        .b = b};
    zw_gauss_options coulomb = {.contact = ZW_CONTACT_COULOMB},
                     convex = {.contact = ZW_CONTACT_CONVEX};

    table_title(5, "A block slides along a corner with a rider on it: a step of 10 ms, impulses",
                "Coulomb's law keeps contact. The convex law, Gauss's own minimum, lifts off as it "
                "slides.");
    answer exact = answer_find(&problem, &coulomb), lifted = answer_find(&problem, &convex);
    int surprises = answer_surprises(&exact, ZW_OK) + answer_surprises(&lifted, ZW_OK);
    if (surprises == 0) {
        corner_table("Coulomb's law", &exact);
        corner_table("convex law", &lifted);
        surprises += corner_certify(&problem, &lifted.motion);
    }
    answer_free(&exact);
    answer_free(&lifted);
    return surprises;
}

/* ---- 6. No masses at all ------------------------------------------------------------------- */

/* x'' = s + v1 + v2 with v1 = A^+ (b - A s), v2 = (I - A^+ A) c: Fan et al. (2005), eqs. (40)-(47).
 */
static int show_underdetermined(void)
{
    static const char *const name[] = {"x1", "x2", "x3"};
    double A[] = {1, 1, 1, 1, -1, 0}, b[] = {3.0, 1.0}, s[] = {0, 0, 1}, c[] = {1, 2, 4};
    zw_block block[] = {{.name = "sum", .kind = ZW_EQUALITY, .rows = 1},
                        {.name = "difference", .kind = ZW_EQUALITY, .rows = 1}};
    zw_gauss problem = {.n = 3,
                        .metric = {.kind = ZW_METRIC_IDENTITY},
                        .free = s,
                        .block_count = 2,
                        .block = block,
                        .A = {.dense = A},
                        .b = b,
                        .C = c};
    answer found = answer_find(&problem, NULL);
    const zw_motion *m = &found.motion;

    table_title(6, "No masses: three unknowns of which only x1+x2+x3 = 3 and x1-x2 = 1 is known",
                "A preference s, the least change v1 that obeys, and what is left of a wish c.");
    int surprises = answer_surprises(&found, ZW_OK);
    if (surprises == 0) {
        table_names(3, name);
        table_row("s   preferred", 3, m->F_N);
        table_row("v1  what the rows ask", 3, m->F_L);
        table_row("v2  what they leave of c", 3, m->F_C);
        table_row("x''", 3, m->a);
        printf("   v1 . v2 = %.4f\n", table_tidy(dot(3, m->F_L, m->F_C)));
        table_certificate(&m->certificate);
    }
    answer_free(&found);
    return surprises;
}

int main(void)
{
    printf("zwang: of all motions that the constraints admit, the one nearest to the free one.\n");
    int surprises = show_pendulum() + show_four_bar() + show_conflict() + show_bead() +
                    show_corner() + show_underdetermined();
    printf("\n%s\n", surprises == 0 ? "All as expected." : "Not as expected: see above.");
    return surprises;
}
