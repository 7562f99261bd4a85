/* Any problem at all, solved under both laws: no crash, no answer called solved that is not, a
 * status in range with a text, and the same bits when asked twice. */
#include "bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int finite_all(const double *x, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return 0;
    return 1;
}

static void check_list(const puzzle *p, const int *list, int count, int end)
{
    REQUIRE(count >= 0 && count <= end, p);
    for (int i = 0; i < count; i++)
        REQUIRE(list[i] >= 0 && list[i] < end, p);
}

static void check_failure(const puzzle *p, zw_status status, const zw_error *error)
{
    REQUIRE(status > ZW_OK && status <= ZW_INACCURATE, p);
    REQUIRE(error->text[0] != '\0', p);
    REQUIRE(memchr(error->text, '\0', sizeof error->text) != NULL, p);
    REQUIRE(error->status == status, p);
}

/* What was called solved is solved. */
static void check_solved(const puzzle *p, const zw_gauss_options *options, const zw_motion *motion)
{
    static double scratch[8 * MOST_UNKNOWNS + 8 * MOST_ROWS + 64];
    double tolerance = options->tolerance > 0                   ? options->tolerance
                       : options->contact == ZW_CONTACT_COULOMB ? 1e-8
                                                                : 1e-10;
    zw_certificate c;
    REQUIRE(motion->n == p->problem.n && motion->m == p->rows, p);
    REQUIRE(finite_all(motion->a, motion->n) && finite_all(motion->lambda, motion->m), p);
    REQUIRE(finite_all(motion->residual, motion->m), p);
    REQUIRE(finite_all(motion->F_N, motion->n) && finite_all(motion->F_L, motion->n), p);
    REQUIRE(finite_all(motion->F_C, motion->n) && isfinite(motion->Z), p);
    REQUIRE(zw_gauss_certify_scratch(&p->problem) <= sizeof scratch / sizeof *scratch, p);
    REQUIRE(zw_gauss_certify(&p->problem, options->contact, motion->a, motion->lambda, motion->C,
                             scratch, &c) == ZW_OK,
            p);
    if (!(c.worst <= tolerance))
        fprintf(stderr, "certificate %g by %s\n", c.worst, motion->method);
    REQUIRE(c.worst <= tolerance, p);
}

static void check_motion(const puzzle *p, const zw_motion *motion)
{
    check_list(p, motion->redundant, motion->redundant_count, p->problem.block_count);
    check_list(p, motion->conflict, motion->conflict_count, p->problem.block_count);
    check_list(p, motion->undetermined, motion->undetermined_count, p->problem.n);
    REQUIRE(motion->method != NULL && motion->factorizations >= 0 && motion->iterations >= 0, p);
    REQUIRE(motion->rank >= 0 && motion->rank <= p->rows, p);
}

static void solve(const puzzle *p, const zw_gauss_options *options, int twice)
{
    zw_error error;
    zw_motion motion, again;
    double a[MOST_UNKNOWNS], lambda[MOST_ROWS];
    memset(&error, 0, sizeof error);
    zw_gauss_work *work = zw_gauss_work_create(&p->problem, options, &error);
    if (work == NULL) {
        check_failure(p, error.status, &error);
        return;
    }
    memset(&error, 0, sizeof error);
    zw_status status = zw_gauss_solve(&p->problem, options, work, &motion, &error);
    check_motion(p, &motion);
    if (status == ZW_OK) {
        check_solved(p, options, &motion);
        memcpy(a, motion.a, (size_t)motion.n * sizeof *a);
        memcpy(lambda, motion.lambda, (size_t)motion.m * sizeof *lambda);
    } else {
        check_failure(p, status, &error);
    }

    /* The workspace remembers nothing. */
    if (twice)
        REQUIRE(zw_gauss_solve(&p->problem, options, work, &again, NULL) == status, p);
    if (twice && status == ZW_OK) {
        REQUIRE(memcmp(a, again.a, (size_t)again.n * sizeof *a) == 0, p);
        REQUIRE(memcmp(lambda, again.lambda, (size_t)again.m * sizeof *lambda) == 0, p);
    }
    zw_gauss_work_free(work);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static puzzle p;
    bytes in = {data, data + size};
    zw_gauss_options options = zw_gauss_options_default();
    int wish = byte(&in);
    puzzle_read(&in, &p);
    if (wish & 1) {
        numbers(&in, p.guess, p.rows);
        options.guess = p.guess;
        options.guess_only = (wish & 2) != 0;
    }
    options.least_squares = (wish & 4) != 0;
    options.tolerance = wish & 8 ? 1e-6 : 0;
    options.algebra = (zw_algebra)(wish / 16 % 3);
    for (int law = ZW_CONTACT_COULOMB; law <= ZW_CONTACT_CONVEX; law++) {
        options.contact = (zw_contact_law)law;
        solve(&p, &options, wish >= 192);
    }
    return 0;
}
