/* Shared by the benchmarks: a clock, medians, and certified answers. */
#ifndef ZWANG_BENCH_MEASURE_H
#define ZWANG_BENCH_MEASURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "zwang/gauss.h"

static inline double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void *allocate(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size);
    if (p == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return p;
}

static inline int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Processor time of this thread: the load of other programs does not count. */
static inline double seconds_computed(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Sorts x. An even number of values gives the lower of the two in the middle. */
static inline double median(double *x, int count)
{
    if (count < 1)
        return NAN;
    qsort(x, (size_t)count, sizeof *x, rising);
    return x[(count - 1) / 2];
}

/* The certificate of a claimed answer, by the public function with separate memory. */
static inline zw_certificate certified(const zw_gauss *problem, zw_contact_law law, const double *a,
                                       const double *lambda, const double *C)
{
    zw_certificate c;
    double *scratch = allocate(zw_gauss_certify_scratch(problem), sizeof *scratch);
    zw_gauss_certify(problem, law, a, lambda, C, scratch, &c);
    free(scratch);
    return c;
}

#endif
