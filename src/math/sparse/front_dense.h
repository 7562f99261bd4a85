/* The dense algebra of one front; see front.c. */
#ifndef ZW_MATH_FRONT_DENSE_H
#define ZW_MATH_FRONT_DENSE_H

#include <stddef.h>

/* A front [F11 F12; F21 F22] with w columns to eliminate and m rows below. */
typedef struct front_super {
    int w, m;        /* numbers */
    size_t x;        /* of its first unknown, new numbering */
    size_t top, low; /* in numbers */
    size_t top_stride, low_stride;
} front_super;

/* Rounded up to whole vectors. */
static inline size_t front_whole8(size_t x)
{
    return (x + 7) / 8 * 8;
}

/* F11 = L11 U11 with exchanged rows, U12, L21; rest (stride front_whole8(m)) -= L21 U12. 0: a pivot
 * is zero or not finite. */
int front_dense(const front_super *z, double *top, double *low, int *pivot, double *rest);

/* t[0..w) = L11 \ t, and what it takes from the rows below in t[w..w+m). */
void front_forward(const front_super *z, const double *panel, const int *pivot, double *t);
/* t[0..w) = U11 \ (t - U12 t[w..w+m)). */
void front_backward(const front_super *z, const double *panel, double *t);

#endif
