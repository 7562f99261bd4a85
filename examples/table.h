/* Solving and printing for the examples: a heading, rows of numbers, the certificate. */
#ifndef ZWANG_EXAMPLES_TABLE_H
#define ZWANG_EXAMPLES_TABLE_H

#include <math.h>
#include <stdio.h>

#include "zwang/gauss.h"

#define TABLE_LABEL 26 /* width of the first column */

/* A solved problem. The arrays of `motion` live in `work`. */
typedef struct answer {
    zw_gauss_work *work;
    zw_motion motion;
    zw_error error;
    zw_status status;
} answer;

static answer answer_find(const zw_gauss *problem, const zw_gauss_options *options)
{
    answer out = {.work = NULL};
    out.work = zw_gauss_work_create(problem, options, &out.error);
    out.status = out.work == NULL
                     ? out.error.status
                     : zw_gauss_solve(problem, options, out.work, &out.motion, &out.error);
    return out;
}

static void answer_free(answer *a)
{
    zw_gauss_work_free(a->work);
    a->work = NULL;
}

/* 1 and a message if the status is not the one expected. */
static int answer_surprises(const answer *a, zw_status expected)
{
    if (a->status == expected) {
        return 0;
    }
    printf("   UNEXPECTED: %s\n", a->status == ZW_OK ? zw_status_text(ZW_OK) : a->error.text);
    return 1;
}

/* No "-0.0000". */
static double table_tidy(double x)
{
    return fabs(x) < 0.5e-4 ? 0.0 : x;
}

static void table_title(int number, const char *title, const char *message)
{
    printf("\n%d. %s\n   %s\n", number, title, message);
}

static void table_names(int count, const char *const *name)
{
    printf("   %-*s", TABLE_LABEL, "");
    for (int i = 0; i < count; i++) {
        printf(" %10s", name[i]);
    }
    printf("\n");
}

static void table_row(const char *label, int count, const double *x)
{
    printf("   %-*s", TABLE_LABEL, label);
    for (int i = 0; i < count; i++) {
        printf(" %10.4f", table_tidy(x[i]));
    }
    printf("\n");
}

/* How well the answer keeps the law, from the data of the problem alone. */
static void table_certificate(const zw_certificate *c)
{
    printf("   certificate: worst %.0e (forces %.0e, constraints %.0e, cones %.0e)\n", c->worst,
           c->stationarity, c->feasibility, fmax(c->membership, c->natural));
}

#endif
