/* Certificates of any claimed answer to any problem: no crash, no number that hides another, and
 * the same verdict when the rows of a block are measured in another unit. */
#include "bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double scratch[8 * MOST_UNKNOWNS + 8 * MOST_ROWS + 64];

/* The certificate asks for a well-formed problem: a workspace is made of nothing else. */
static int well_formed(const puzzle *p)
{
    zw_gauss_work *work = zw_gauss_work_create(&p->problem, NULL, NULL);
    zw_gauss_work_free(work);
    return work != NULL;
}

static int finite_all(const double *x, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return 0;
    return 1;
}

/* Neither over- nor underflow is near, not even in products of a few of these. */
static int ordinary(const double *x, int count)
{
    for (int i = 0; i < count; i++)
        if (x[i] != 0 && !(fabs(x[i]) > 1e-20 && fabs(x[i]) < 1e20))
            return 0;
    return 1;
}

static void check(const puzzle *p, zw_status status, const zw_certificate *c)
{
    const double part[] = {c->stationarity, c->feasibility, c->membership, c->natural};
    REQUIRE(status == ZW_OK || status == ZW_BAD_INPUT, p);
    REQUIRE((status == ZW_OK) == (isfinite(c->worst) != 0), p);
    REQUIRE(c->worst_block >= -1 && c->worst_block < p->problem.block_count, p);
    for (int i = 0; i < 4 && status == ZW_OK; i++)
        REQUIRE(part[i] >= 0 && part[i] <= c->worst, p);
}

/* Every coordinate has mass: those without are measured by their rows. */
static int has_mass(const puzzle *p)
{
    zw_gauss still = {.n = p->problem.n, .metric = p->problem.metric};
    zw_gauss_work *work = zw_gauss_work_create(&still, NULL, NULL);
    zw_motion motion;
    int yes = work != NULL && zw_gauss_solve(&still, NULL, work, &motion, NULL) == ZW_OK;
    zw_gauss_work_free(work);
    return yes;
}

/* Rows that have no length or take no part: they have no unit either. */
static int any_idle(const puzzle *p)
{
    for (int i = 0, n = p->problem.n; i < p->rows; i++) {
        double sum = 0;
        for (int k = p->problem.A.dense ? i * n : p->row_start[i];
             k < (p->problem.A.dense ? (i + 1) * n : p->row_start[i + 1]); k++)
            sum += fabs(p->A[k]);
        if (sum == 0)
            return 1;
    }
    for (int k = 0; k < p->problem.block_count; k++)
        for (int i = 1; p->block[k].kind == ZW_CONE && i < p->block[k].rows; i++)
            if (p->block[k].friction[i - 1] == 0)
                return 1;
    return 0;
}

/* Rows, offset and multipliers of one block in a unit 4 times as large; powers of two are exact. */
static void rescale(puzzle *p, double *lambda, int block)
{
    int at = 0, n = p->problem.n;
    for (int k = 0; k < block; k++)
        at += p->block[k].rows;
    for (int i = at; i < at + p->block[block].rows; i++) {
        int from = p->problem.A.dense ? i * n : p->row_start[i];
        int to = p->problem.A.dense ? (i + 1) * n : p->row_start[i + 1];
        for (int j = from; j < to; j++)
            p->A[j] *= 4;
        p->b[i] *= 4;
        p->compliance[i] *= 16;
        lambda[i] /= 4;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static puzzle p;
    bytes in = {data, data + size};
    double a[MOST_UNKNOWNS], lambda[MOST_ROWS], C[MOST_UNKNOWNS];
    zw_contact_law law = byte(&in) % 2 ? ZW_CONTACT_COULOMB : ZW_CONTACT_CONVEX;
    puzzle_read(&in, &p);
    numbers(&in, a, p.problem.n);
    numbers(&in, lambda, p.rows);
    numbers(&in, C, p.problem.n);
    const double *claimed = byte(&in) % 2 ? C : NULL;
    if (!well_formed(&p))
        return 0;

    zw_certificate c, other;
    zw_status status = zw_gauss_certify(&p.problem, law, a, lambda, claimed, scratch, &c);
    check(&p, status, &c);
    if (!finite_all(a, p.problem.n) || !finite_all(lambda, p.rows))
        REQUIRE(status != ZW_OK, &p);

    int plain = ordinary(a, p.problem.n) && ordinary(lambda, p.rows) &&
                ordinary(p.A, MOST_ENTRIES) && ordinary(p.b, p.rows) &&
                ordinary(p.compliance, p.rows) &&
                ordinary(p.metric, MOST_UNKNOWNS * MOST_UNKNOWNS) && !any_idle(&p) && has_mass(&p);
    if (plain && status == ZW_OK && p.problem.block_count > 0) {
        rescale(&p, lambda, below(&in, p.problem.block_count));
        zw_gauss_certify(&p.problem, law, a, lambda, claimed, scratch, &other);
        REQUIRE(fabs(other.worst - c.worst) <= 1e-9 * c.worst, &p);
    }
    return 0;
}
