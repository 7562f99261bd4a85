/* Eigenvalues by the QR algorithm, in complex arithmetic: then one shift at a time is enough, and
 * pairs need no care of their own.
 *
 *     A = D B D^-1          balanced by powers of two: rows and columns of about one size
 *     B = Q H Q'            Hessenberg, by reflections
 *     H - s = Q R, H <- R Q + s, with s the eigenvalue of the last 2 x 2 block that is nearer to
 * its last entry (Wilkinson's shift); an entry below the diagonal that is round-off beside its
 *     neighbours is zero, and parts the matrix.
 *
 * What is left is triangular, T = Z' B Z; (T - t_kk) x = 0 is solved from below, and D Z x is the
 * vector. Numbers are pairs, written out, so that every compiler gives the same bits. */
#include "math/dense/eigen.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"

typedef struct pair {
    double re, im;
} pair;

static pair plus(pair a, pair b)
{
    return (pair){a.re + b.re, a.im + b.im};
}

static pair minus(pair a, pair b)
{
    return (pair){a.re - b.re, a.im - b.im};
}

static pair times(pair a, pair b)
{
    return (pair){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static double size(pair a)
{
    return hypot(a.re, a.im);
}

static pair over(pair a, pair b)
{
    double most = fmax(fabs(b.re), fabs(b.im));
    pair s = {b.re / most, b.im / most};
    double square = (s.re * s.re + s.im * s.im) * most;
    return (pair){(a.re * s.re + a.im * s.im) / square, (a.im * s.re - a.re * s.im) / square};
}

static pair root(pair a)
{
    double r = size(a), x = sqrt(0.5 * (r + fabs(a.re)));
    if (x == 0) {
        return (pair){0, 0};
    }
    double y = 0.5 * a.im / x;
    return a.re >= 0 ? (pair){x, y} : (pair){fabs(y), a.im < 0 ? -x : x};
}

typedef struct matrices {
    int n;
    pair *H, *Z;   /* [n][n] */
    double *scale; /* [n] D */
} matrices;

/* ---- Balance and Hessenberg form ------------------------------------------------------------- */

static void balance(const matrices *m)
{
    int n = m->n, again = 1;
    for (int i = 0; i < n; i++) {
        m->scale[i] = 1;
    }
    for (int pass = 0; pass < 20 && again; pass++) {
        again = 0;
        for (int i = 0; i < n; i++) {
            double row = 0, column = 0, f = 1;
            for (int j = 0; j < n; j++) {
                row += j != i ? fabs(m->H[i * n + j].re) : 0;
                column += j != i ? fabs(m->H[j * n + i].re) : 0;
            }
            if (!(row > 0 && column > 0)) {
                continue;
            }
            double before = row + column;
            while (column < row / 2 && f < 1e100) {
                f *= 2;
                column *= 4;
            }
            while (column >= row * 2 && f > 1e-100) {
                f /= 2;
                column /= 4;
            }
            if ((column + row) / f < 0.95 * before) {
                again = 1;
                m->scale[i] *= f;
                for (int j = 0; j < n; j++) {
                    m->H[i * n + j].re /= f;
                    m->H[j * n + i].re *= f;
                }
            }
        }
    }
}

/* H <- P H P, Z <- Z P with P = 1 - 2 u u', u real, in rows k + 1 on. */
static void reflect(const matrices *m, int k, const double *u)
{
    int n = m->n;
    for (int j = 0; j < n; j++) {
        double left = 0;
        for (int i = k + 1; i < n; i++) {
            left += u[i] * m->H[i * n + j].re;
        }
        for (int i = k + 1; i < n; i++) {
            m->H[i * n + j].re -= 2 * u[i] * left;
        }
    }
    for (int j = 0; j < n; j++) {
        double right = 0, z = 0;
        for (int i = k + 1; i < n; i++) {
            right += m->H[j * n + i].re * u[i];
            z += m->Z[j * n + i].re * u[i];
        }
        for (int i = k + 1; i < n; i++) {
            m->H[j * n + i].re -= 2 * right * u[i];
            m->Z[j * n + i].re -= 2 * z * u[i];
        }
    }
}

static void make_hessenberg(const matrices *m, double *u)
{
    int n = m->n;
    for (int k = 0; k < n - 2; k++) {
        double sum = 0, most = 0;
        for (int i = k + 1; i < n; i++) {
            most = fmax(most, fabs(m->H[i * n + k].re));
        }
        for (int i = k + 1; i < n && most > 0; i++) {
            u[i] = m->H[i * n + k].re / most;
            sum += u[i] * u[i];
        }
        if (!(most > 0)) {
            continue;
        }
        u[k + 1] += u[k + 1] < 0 ? -sqrt(sum) : sqrt(sum);
        sum = 0;
        for (int i = k + 1; i < n; i++) {
            sum += u[i] * u[i];
        }
        for (int i = k + 1; i < n; i++) {
            u[i] /= sqrt(sum);
        }
        reflect(m, k, u);
        for (int i = k + 2; i < n; i++) {
            m->H[i * n + k] = (pair){0, 0};
        }
    }
}

/* ---- QR -------------------------------------------------------------------------------------- */

/* The eigenvalue of the 2 x 2 block at the end that is nearer to its last entry. */
static pair shift_of(const matrices *m, int end)
{
    int n = m->n;
    pair a = m->H[(end - 1) * n + end - 1], b = m->H[(end - 1) * n + end];
    pair c = m->H[end * n + end - 1], d = m->H[end * n + end];
    pair half = {0.5 * (a.re - d.re), 0.5 * (a.im - d.im)};
    pair r = root(plus(times(half, half), times(b, c)));
    double along = half.re * r.re + half.im * r.im;
    pair sum = along < 0 ? minus(half, r) : plus(half, r);
    return size(sum) > 0 ? minus(d, over(times(b, c), sum)) : d;
}

/* Rotate lines x and y: (x, y) <- (c x + s y, -s* x + c y), `step` apart. */
static void rotate(pair *x, pair *y, int count, int step, double c, pair s)
{
    pair back = {s.re, -s.im};
    for (int i = 0; i < count; i++) {
        pair u = x[i * step], v = y[i * step];
        pair up = times(s, v), down = times(back, u);
        x[i * step] = (pair){c * u.re + up.re, c * u.im + up.im};
        y[i * step] = (pair){c * v.re - down.re, c * v.im - down.im};
    }
}

/* One step on rows first to end, with the shift. */
static void step(const matrices *m, int first, int end, pair shift, double *cosine, pair *sine)
{
    int n = m->n;
    for (int i = first; i <= end; i++) {
        m->H[i * n + i] = minus(m->H[i * n + i], shift);
    }
    for (int k = first; k < end; k++) {
        pair a = m->H[k * n + k], b = m->H[(k + 1) * n + k];
        double x = size(a), y = size(b), r = hypot(x, y);
        pair unit = x > 0 ? (pair){a.re / x, a.im / x} : (pair){1, 0};
        cosine[k] = r > 0 ? x / r : 1;
        sine[k] = r > 0 ? times(unit, (pair){b.re / r, -b.im / r}) : (pair){0, 0};
        rotate(m->H + k * n + k, m->H + (k + 1) * n + k, n - k, 1, cosine[k], sine[k]);
        m->H[(k + 1) * n + k] = (pair){0, 0};
    }
    for (int k = first; k < end; k++) { /* columns, by the transposed conjugate */
        pair s = {sine[k].re, -sine[k].im};
        rotate(m->H + k, m->H + k + 1, k + 2 <= end ? k + 2 : end + 1, n, cosine[k], s);
        rotate(m->Z + k, m->Z + k + 1, n, n, cosine[k], s);
    }
    for (int i = first; i <= end; i++) {
        m->H[i * n + i] = plus(m->H[i * n + i], shift);
    }
}

static int iterate(const matrices *m, double *cosine, pair *sine)
{
    int n = m->n, count = 0;
    for (int end = n - 1; end > 0;) {
        int first = end;
        for (; first > 0; first--) {
            pair *low = &m->H[first * n + first - 1];
            double beside = size(m->H[first * n + first]) + size(m->H[(first - 1) * n + first - 1]);
            if (size(*low) <= DBL_EPSILON * (beside > 0 ? beside : DBL_MIN)) {
                *low = (pair){0, 0};
                break;
            }
        }
        if (first == end) {
            end--;
            count = 0;
            continue;
        }
        if (++count > 60) {
            return 0;
        }
        pair shift = shift_of(m, end);
        if (count % 10 ==
            0) { /* one that has no reason, where the usual ones go round in circles */
            shift.re += size(m->H[end * n + end - 1]);
        }
        step(m, first, end, shift, cosine, sine);
    }
    return 1;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static void find_vector(const matrices *m, int k, pair *x, double *vector)
{
    int n = m->n;
    double most = 0, sum = 0;
    pair own = m->H[k * n + k];
    for (int i = 0; i < n; i++) {
        most = fmax(most, size(m->H[i * n + i]));
        x[i] = (pair){i == k, 0};
    }
    double least = DBL_EPSILON * (most > 0 ? most : 1);
    for (int i = k - 1; i >= 0; i--) {
        pair rest = {0, 0}, d = minus(m->H[i * n + i], own);
        for (int j = i + 1; j <= k; j++) {
            rest = plus(rest, times(m->H[i * n + j], x[j]));
        }
        d = size(d) < least ? (pair){least, 0} : d;
        x[i] = over((pair){-rest.re, -rest.im}, d);
    }
    for (int i = 0; i < n; i++) {
        pair y = {0, 0};
        for (int j = 0; j <= k; j++) {
            y = plus(y, times(m->Z[i * n + j], x[j]));
        }
        vector[2 * i] = y.re * m->scale[i];
        vector[2 * i + 1] = y.im * m->scale[i];
        sum += vector[2 * i] * vector[2 * i] + vector[2 * i + 1] * vector[2 * i + 1];
    }
    for (int i = 0; i < 2 * n; i++) {
        vector[i] /= sum > 0 ? sqrt(sum) : 1;
    }
}

int dense_eigen(int n, const double *A, double *value, double *vector)
{
    size_t wide = (size_t)n;
    matrices m = {.n = n};
    pair *memory = base_alloc((2 * wide * wide + 2 * wide + 2) * sizeof *memory);
    double *scratch = base_alloc((3 * wide + 3) * sizeof *scratch);
    int done = memory && scratch ? 1 : -1;
    if (done > 0) {
        m.H = memory;
        m.Z = m.H + wide * wide;
        m.scale = scratch;
        for (size_t k = 0; k < wide * wide; k++) {
            m.H[k] = (pair){A[k], 0};
            done = isfinite(A[k]) ? done : 0;
        }
        for (size_t i = 0; i < wide; i++) {
            m.Z[i * wide + i].re = 1;
        }
    }
    if (done > 0) {
        balance(&m);
        make_hessenberg(&m, scratch + wide);
        done = iterate(&m, scratch + wide, m.Z + wide * wide);
    }
    for (int k = 0; k < n && done > 0; k++) {
        value[2 * k] = m.H[k * n + k].re;
        value[2 * k + 1] = m.H[k * n + k].im;
        if (vector) {
            find_vector(&m, k, m.Z + wide * wide + wide, vector + 2 * wide * (size_t)k);
        }
    }
    base_free(memory);
    base_free(scratch);
    return done;
}
