/* The textbook route to Gauss's minimum under equality rows, on LAPACK:
 *
 *     D = A W,   y = D^+ (b - A a_free),   a = a_free + W y,   with  W W' = M^-1
 *
 * W = M^-1/2 from all eigenvectors (dsyev), as in the literature, or W = L'^-1 from Cholesky, which
 * is cheaper and as accurate; D^+ by singular values (dgelsd) in both. All memory is allocated
 * beforehand. */
#ifndef ZWANG_BENCH_PSEUDOINVERSE_H
#define ZWANG_BENCH_PSEUDOINVERSE_H

#ifdef ZW_HAVE_LAPACK

#include <string.h>

#include "measure.h"
#include "scene/scene.h"

void dsyev_(const char *, const char *, const int *, double *, const int *, double *, double *,
            const int *, int *);
void dpotrf_(const char *, const int *, double *, const int *, int *);
void dtrtri_(const char *, const char *, const int *, double *, const int *, int *);
void dgelsd_(const int *, const int *, const int *, double *, const int *, double *, const int *,
             double *, const double *, int *, double *, const int *, int *, int *);
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *,
            const double *, const int *, const double *, const int *, const double *, double *,
            const int *);
void dgemv_(const char *, const int *, const int *, const double *, const double *, const int *,
            const double *, const int *, const double *, double *, const int *);

/* OpenBLAS, if that provides LAPACK here. */
extern void openblas_set_num_threads(int) __attribute__((weak));
extern char *openblas_get_config(void) __attribute__((weak));

enum { PEER_WORK = 1 << 18 };

typedef struct peer {
    int n, m;
    double *M, *A, *free, *b; /* the problem: M and the rows of A dense */
    double *V, *W, *D, *value, *y, *S, *work;
    int *iwork;
    double *a, *lambda; /* the answer; lambda only after peer_multipliers */
    int rank;
} peer;

/* Any scene, with all rows taken as equalities. */
static inline peer *peer_create(const scene *s)
{
    size_t n = (size_t)s->problem.n, m = (size_t)s->m, most = n > m ? n : m;
    peer *p = allocate(1, sizeof *p);
    double **part[] = {&p->M, &p->V, &p->W, &p->A,     &p->D,      &p->free, &p->a,
                       &p->b, &p->y, &p->S, &p->value, &p->lambda, &p->work};
    size_t size[] = {n * n, n * n, n * n, m * n, m * n, n, n, m, most, most, n, most, PEER_WORK};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        *part[i] = allocate(size[i], sizeof(double));
    p->iwork = allocate(PEER_WORK, sizeof *p->iwork);
    p->n = s->problem.n;
    p->m = s->m;

    /* Columns of M and A by applying them to unit vectors. */
    double *unit = p->value, *column = allocate(most, sizeof *column);
    for (size_t j = 0; j < n; j++) {
        unit[j] = 1;
        scene_times_M(s, unit, p->M + j * n);
        scene_times_A(s, unit, column);
        for (size_t i = 0; i < m; i++)
            p->A[i + j * m] = column[i];
        unit[j] = 0;
    }
    free(column);
    if (s->free)
        memcpy(p->free, s->free, n * sizeof(double));
    if (s->b)
        memcpy(p->b, s->b, m * sizeof(double));
    return p;
}

static inline void peer_free(peer *p)
{
    double *part[] = {p->M, p->V, p->W, p->A,     p->D,      p->free, p->a,
                      p->b, p->y, p->S, p->value, p->lambda, p->work};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        free(part[i]);
    free(p->iwork);
    free(p);
}

/* W = M^-1/2 */
static inline int peer_root(peer *p)
{
    int n = p->n, info, size = PEER_WORK;
    const double one = 1, zero = 0;
    memcpy(p->V, p->M, (size_t)(n * n) * sizeof(double));
    dsyev_("V", "L", &n, p->V, &n, p->value, p->work, &size, &info);
    for (int j = 0; j < n; j++) /* (V e^-1/4) (V e^-1/4)' */
        for (int i = 0; i < n; i++)
            p->V[i + j * n] /= sqrt(sqrt(p->value[j]));
    dgemm_("N", "T", &n, &n, &n, &one, p->V, &n, p->V, &n, &zero, p->W, &n);
    return info;
}

/* W = L'^-1 */
static inline int peer_cholesky(peer *p)
{
    int n = p->n, info;
    memcpy(p->W, p->M, (size_t)(n * n) * sizeof(double));
    dpotrf_("U", &n, p->W, &n, &info); /* M = U'U, W = U^-1 */
    if (info == 0)
        dtrtri_("U", "N", &n, p->W, &n, &info);
    for (int j = 0; j < n; j++)
        for (int i = j + 1; i < n; i++)
            p->W[i + j * n] = 0;
    return info;
}

/* The motion. Returns 0 on success of LAPACK. `times` > 1 repeats the pseudoinverse, as a method
 * would that changes its set of rows from step to step. */
static inline int peer_solve(peer *p, int eigen, int times)
{
    int n = p->n, m = p->m, one_column = 1, most = n > m ? n : m, info, size = PEER_WORK;
    const double one = 1, zero = 0, minus = -1, rcond = 1e-12;
    if (eigen ? peer_root(p) : peer_cholesky(p))
        return 1;
    do {
        dgemm_("N", "N", &m, &n, &n, &one, p->A, &m, p->W, &n, &zero, p->D, &m);
        memcpy(p->y, p->b, (size_t)m * sizeof(double));
        dgemv_("N", &m, &n, &minus, p->A, &m, p->free, &one_column, &one, p->y, &one_column);
        dgelsd_(&m, &n, &one_column, p->D, &m, p->y, &most, p->S, &rcond, &p->rank, p->work, &size,
                p->iwork, &info);
    } while (--times > 0 && info == 0);
    memcpy(p->a, p->free, (size_t)n * sizeof(double));
    dgemv_("N", &n, &n, &one, p->W, &n, p->y, &one_column, &one, p->a, &one_column);
    return info;
}

/* Multipliers for the certificate, not timed: A' lambda = M (a - a_free) by least squares. */
static inline int peer_multipliers(peer *p)
{
    int n = p->n, m = p->m, one_column = 1, most = n > m ? n : m, info, rank, size = PEER_WORK;
    const double one = 1, zero = 0, rcond = 1e-12;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            p->D[j + i * n] = p->A[i + j * m];
    for (int j = 0; j < n; j++)
        p->y[j] = p->a[j] - p->free[j];
    dgemv_("N", &n, &n, &one, p->M, &n, p->y, &one_column, &zero, p->lambda, &one_column);
    dgelsd_(&n, &m, &one_column, p->D, &n, p->lambda, &most, p->S, &rcond, &rank, p->work, &size,
            p->iwork, &info);
    return info;
}

#endif

#endif
