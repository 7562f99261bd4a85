/* Local least squares.
 *
 * A window of W neighbouring samples is fitted by a polynomial of degree D, in the basis of
 * basis.h. The fit is used in the middle part of the window, 1/FIT_HOPS of its length, and the next
 * window begins one such part later. At the ends of a piece the outermost windows are used up to
 * its end.
 *
 * Error. Let c_j be the coefficients in the orthonormal basis. Those of a smooth motion decay
 * geometrically with j, until noise, rounding or the local error of an integrator ends the decay at
 * a level s. Around j = D, therefore,
 *
 *     s^2 = mean of c_j^2,   j = D - 1 ... D + 4       (the last four serve only this estimate)
 *
 * is the noise level where noise dominates. Where truncation dominates it is the size of the first
 * neglected terms, about that of the last term kept. Independent errors of this size in all kept
 * coefficients make the d-th derivative uncertain by
 *
 *     error_d(t)^2 = s^2 sum_(j <= D) p_j^(d)(t)^2
 *
 * which for white noise is the error of least squares, and for truncation at least the last kept
 * term, |c_D p_D^(d)|: an upper estimate, since the neglected terms are smaller. s is never taken
 * below the deviation of the samples from the fit, nor below the noise that the caller states, and
 * it is averaged over neighbouring windows, since six numbers may all be small by chance.
 *
 * W and D are chosen to minimise the error of the second derivative over the whole piece
 * (fit_choose.c). Where the samples deviate from the fit by more than their noise, shorter windows
 * of any degree are tried.
 *
 * The error of an integrator varies on the scale of its steps. A window inside one step would
 * reproduce that error without detecting it. Therefore the longest of the adequate windows is used,
 * and deviations of the samples from it count as noise up to the accuracy that the caller expects
 * of the recording. */
#include "path/fit/fit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/dense/dense.h"
#include "path/fit/fit_inner.h"

#define MORE 3     /* windows tried after the first that resolves the samples */
#define CHOSEN 1.5 /* the least of several estimates underestimates the error */
#define END 2.0    /* and so does the estimate of an extrapolation */

/* ---- Windows --------------------------------------------------------------------------------- */

void fit_window(fitter *f, long start, int samples, int size)
{
    for (int i = 0; i < samples; i++) {
        f->when[i] = f->samples->t[start + (long)i * f->stride];
    }
    int kept = 0;
    while (kept < FIT_KEPT && !(f->kept[kept].basis.size >= size &&
                                basis_fits(&f->kept[kept].basis, samples, f->when))) {
        kept++;
    }
    if (kept == FIT_KEPT) { /* drop the oldest */
        kept = f->oldest;
        f->oldest = (f->oldest + 1) % FIT_KEPT;
        f->kept[kept].cached = 0;
        basis_make(&f->kept[kept].basis, samples, f->when, size);
    }
    f->shape = &f->kept[kept];
    f->basis = &f->shape->basis;
    f->size = f->basis->size < size ? f->basis->size : size;
}

/* Values are taken relative to the middle sample. */
static void take_column(fitter *f, long start, int k)
{
    int samples = f->basis->samples;
    const double *y = f->y + (size_t)k * (size_t)f->samples->count + start;
    double middle = y[(long)(samples / 2) * f->stride];
    for (int i = 0; i < samples; i++) {
        f->near[i] = y[(long)i * f->stride] - middle;
    }
}

void fit_project(fitter *f, long start)
{
    for (int k = 0; k < f->samples->n; k++) {
        take_column(f, start, k);
        dense_multiply(f->size, f->basis->samples, f->basis->p, f->basis->samples, f->near,
                       f->c + (size_t)k * BASIS_MOST);
    }
}

void fit_leave(fitter *f, long start)
{
    int samples = f->basis->samples;
    for (int k = 0; k < f->samples->n; k++) {
        take_column(f, start, k);
        for (int j = 0; j < f->size; j++) {
            dense_axpy(samples, -f->c[(size_t)k * BASIS_MOST + (size_t)j],
                       f->basis->p + (size_t)j * (size_t)samples, f->near);
        }
        f->left[k] = dense_dot(samples, f->near, f->near);
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* A part of the piece, and the window whose fit is used there. */
typedef struct block {
    long from, to; /* samples */
    long start;    /* of the window */
    int degree;
    int end; /* the block is not in the middle of its window */
} block;

/* Number of samples from the first of a window to its last, inclusive. */
static long span_of(const fit_shape *s)
{
    return (long)(s->window - 1) * s->stride + 1;
}

static long hop_of(const fit_shape *s)
{
    return span_of(s) / FIT_HOPS > 0 ? span_of(s) / FIT_HOPS : 1;
}

static long block_count(const fitter *f, const fit_shape *s)
{
    return (f->end - f->first + hop_of(s) - 1) / hop_of(s);
}

static block block_at(const fitter *f, const fit_shape *s, long k)
{
    long hop = hop_of(s), span = span_of(s);
    block b = {.from = f->first + k * hop, .degree = s->degree};
    b.to = b.from + hop < f->end ? b.from + hop : f->end;
    b.start = b.from + hop / 2 - span / 2;
    if (b.start < f->first || b.start + span > f->end) {
        b.start = b.start < f->first ? f->first : f->end - span;
        b.degree = s->end_degree;
        b.end = 1;
    }
    return b;
}

/* Values of the basis at the samples of the block, followed by the errors for s = 1 of every
 * degree: the polynomials of a lower degree are the first ones of a higher. Kept for all windows of
 * the same shape. */
static void set_table(fitter *f, const block *b)
{
    long from = b->from - b->start, to = b->to - b->start;
    size_t terms = (size_t)f->size;
    fit_kept *shape = f->shape;
    if (shape->cached == f->size && shape->from == from && shape->to >= to) {
        return;
    }
    for (long i = from; i < to; i++) {
        double p[3][BASIS_MOST], *row = shape->table + (size_t)(i - from) * 6 * terms;
        basis_at(f->basis, f->size, f->samples->t[b->start + i], p);
        for (size_t d = 0; d < 3; d++) {
            double sum = 0, *length = row + (3 + d) * terms;
            memcpy(row + d * terms, p[d], terms * sizeof(double));
            for (size_t j = 0; j < terms; j++) {
                sum += p[d][j] * p[d][j];
                length[j] = sqrt(sum);
            }
        }
    }
    shape->cached = f->size;
    shape->from = from;
    shape->to = to;
}

/* Fits column k of the block; the sample b->from is at [0]. Returns the mean square of the
 * deviations of the samples from the fit. */
static double fit_column(const fitter *f, const block *b, int k, double *const *y)
{
    const double *c = f->c + (size_t)k * BASIS_MOST;
    const double *at = f->y + (size_t)k * (size_t)f->samples->count;
    double middle = at[b->start + (long)(f->basis->samples / 2) * f->stride], rest = 0;
    int n = f->samples->n, terms = b->degree + 1;
    for (long i = 0; i < b->to - b->from; i++) {
        const double *p = f->shape->table + i * 6 * f->size;
        double sum[3] = {0};
        for (int j = 0; j < terms; j++) {
            sum[0] += c[j] * p[j];
            sum[1] += c[j] * p[f->size + j];
            sum[2] += c[j] * p[2 * f->size + j];
        }
        double miss = at[b->from + i] - middle - sum[0];
        rest += miss * miss;
        y[0][i * n + k] = middle + sum[0];
        y[1][i * n + k] = sum[1];
        y[2][i * n + k] = sum[2];
    }
    return rest / (double)(b->to - b->from);
}

/* Fits the block. In y[d] and gain[d] the sample b->from is at [0]; gain is the error for s = 1;
 * level and miss receive s^2 and the mean square of the deviations, column k at [k * stride]. */
static void fit_block(fitter *f, const block *b, double *const *y, double *const *gain,
                      double *level, double *miss, long stride)
{
    int n = f->samples->n;
    set_table(f, b);
    for (int k = 0; k < n; k++) {
        double rest = fit_column(f, b, k, y), floor = f->samples->noise[k];
        miss[k * stride] = rest;
        level[k * stride] = fmax(fmax(fit_level(f, k, b->degree), rest), floor * floor);
        level[k * stride] *= b->end ? END * END : 1;
    }
    for (long i = 0; i < b->to - b->from; i++) {
        for (int d = 0; d < 3; d++) {
            for (int k = 0; k < n; k++) {
                gain[d][i * n + k] = f->shape->table[(6 * i + 3 + d) * f->size + b->degree];
            }
        }
    }
}

/* Turns gain into the error; returns the score of the block. */
static double settle(const fitter *f, long count, double *const *gain, const double *level,
                     const double *miss)
{
    int n = f->samples->n;
    double score = 0;
    for (int k = 0; k < n; k++) {
        double s = sqrt(level[k]), sum = 0, scale = f->samples->scale[k];
        for (long i = k; i < count * n; i += n) {
            for (int d = 0; d < 3; d++) {
                gain[d][i] *= s;
            }
            sum += gain[2][i] * gain[2][i];
        }
        if (scale > 0) {
            sum *= 1 + miss[k] / (4 * f->allowed[k]);
            score += sum / ((double)count * scale * scale);
        }
    }
    return sqrt(score);
}

/* ---- A piece --------------------------------------------------------------------------------- */

/* The mean over a window and its neighbours. */
static double smooth(const double *x, long k, long blocks)
{
    long from = k > 0 ? k - 1 : 0, to = k + 1 < blocks ? k + 1 : k;
    double sum = 0;
    for (long i = from; i <= to; i++) {
        sum += x[i];
    }
    return sum / (double)(to - from + 1);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(fitter *f, long count, const double *x)
{
    memcpy(f->sorted, x, (size_t)count * sizeof *x);
    qsort(f->sorted, (size_t)count, sizeof *x, by_size);
    return f->sorted[count / 2];
}

/* Fits all blocks of the piece with windows of one shape. */
static void sweep(fitter *f, const fit_shape *s)
{
    const path_fit *fit = f->fit;
    int n = f->samples->n;
    long blocks = block_count(f, s);
    f->stride = s->stride;
    for (int pass = 0; pass < 2; pass++) {
        for (int c = 0; c < n && pass == 1; c++) {
            f->usual[c] = fmax(f->usual[c], median(f, blocks, f->miss + c * blocks));
        }
        for (long k = 0; k < blocks; k++) {
            block b = block_at(f, s, k);
            double *y[3], *gain[3];
            for (int d = 0; d < 3; d++) {
                y[d] = fit->y[d] + b.from * n;
                gain[d] = fit->error[d] + b.from * n;
            }
            if (pass == 0) {
                fit_window(f, b.start, s->window, s->degree + 1 + FIT_SPARE);
                fit_project(f, b.start);
                fit_block(f, &b, y, gain, f->level + k, f->miss + k, blocks);
                continue;
            }
            for (int c = 0; c < n; c++) {
                f->mean[c] = fmax(smooth(f->level + c * blocks, k, blocks), f->usual[c]);
                f->mean[n + c] = smooth(f->miss + c * blocks, k, blocks);
            }
            double score = settle(f, b.to - b.from, gain, f->mean, f->mean + n);
            for (long i = b.from; i < b.to; i++) {
                fit->score[i] = score;
            }
        }
    }
}

/* The best degree for this window and block. */
static int local_degree(fitter *f, const block *b)
{
    double least = INFINITY;
    int best = 3;
    long last = b->to - 1 - b->from;
    set_table(f, b);
    for (int degree = 3; degree + FIT_SPARE < f->size; degree++) {
        double gain = 0;
        for (int i = 0; i < 3; i++) { /* second derivatives at the first, middle and last sample */
            double length = f->shape->table[(6 * (i * last / 2) + 5) * f->size + degree];
            gain += length * length;
        }
        double score = fit_score(f, degree) * gain;
        best = score < least ? degree : best;
        least = fmin(least, score);
    }
    return best;
}

/* Tries a shorter window for the block, and keeps it if it is much better. */
static void try_block(fitter *f, const fit_shape *s, block *b, double now)
{
    int window = s->window;
    int n = f->samples->n;
    size_t capacity = (size_t)f->rows * (size_t)n;
    double *y[3], *gain[3];
    for (int d = 0; d < 3; d++) {
        y[d] = f->trial + (size_t)d * capacity;
        gain[d] = f->trial + (size_t)(d + 3) * capacity;
    }
    f->stride = s->stride;
    fit_window(f, b->start, window, window - 1 < BASIS_MOST ? window - 1 : BASIS_MOST);
    fit_project(f, b->start);
    fit_leave(f, b->start);
    b->degree = local_degree(f, b);
    fit_block(f, b, y, gain, f->mean, f->mean + n, 1);
    for (int k = 0; k < n;
         k++) { /* here all samples of the window count, not only those of the block */
        f->mean[n + k] = fmax(f->mean[n + k], fit_miss(f, k, b->degree));
        f->mean[k] = CHOSEN * CHOSEN * fmax(fmax(f->mean[k], f->mean[n + k]), f->usual[k]);
    }
    double score = settle(f, b->to - b->from, gain, f->mean, f->mean + n);
    if (score < 0.5 * now) {
        size_t bytes = (size_t)((b->to - b->from) * n) * sizeof(double);
        for (int d = 0; d < 3; d++) {
            memcpy(f->fit->y[d] + b->from * n, y[d], bytes);
            memcpy(f->fit->error[d] + b->from * n, gain[d], bytes);
        }
        int bad = 0;
        for (int k = 0; k < n; k++) {
            bad |= f->mean[n + k] > 4 * f->allowed[k];
        }
        for (long i = b->from; i < b->to; i++) {
            f->fit->score[i] = score;
            f->bad[i] = (unsigned char)bad;
        }
    }
}

/* Do the samples of the block deviate from their fit by more than is allowed? */
static int unresolved(const fitter *f, long k, long blocks)
{
    for (int c = 0; c < f->samples->n; c++) {
        if (smooth(f->miss + c * blocks, k, blocks) > 4 * f->allowed[c]) {
            return 1;
        }
    }
    return 0;
}

/* Shorter and shorter windows where the typical ones do not resolve the samples. Deviations below
 * the accuracy of the recording are attributed to the recorder, and no shorter window is used to
 * follow them. */
static void refine_rough(fitter *f, const fit_shape *typical)
{
    long blocks = block_count(f, typical), bad = 0;
    for (long k = 0; k < blocks; k++) {
        block b = block_at(f, typical, k);
        int now = unresolved(f, k, blocks);
        memset(f->bad + b.from, now, (size_t)(b.to - b.from));
        memset(f->rough + b.from, now ? MORE : 0, (size_t)(b.to - b.from));
        bad += now;
    }
    fit_shape s = *typical;
    while (bad > 0 && s.window >= FIT_LEAST) {
        blocks = block_count(f, &s);
        for (long k = 0; k < blocks; k++) {
            block b = block_at(f, &s, k);
            double now = 0;
            for (long i = b.from; i < b.to; i++) {
                now = f->rough[i] ? fmax(now, f->fit->score[i]) : now;
            }
            if (now > 0) {
                try_block(f, &s, &b, now);
            }
            for (long i = b.from; i < b.to; i++) {
                f->rough[i] = (unsigned char)(f->rough[i] - (f->rough[i] > 0 && !f->bad[i]));
            }
        }
        s.window = s.window * 3 / 5;
        if (s.stride > 1 && s.window < 100) {
            s.window *= s.stride > 2 ? 4 : s.stride;
            s.stride = s.stride > 2 ? s.stride / 4 : 1;
        }
    }
}

/* Too short for error estimates: the values are right, the derivatives are guesses of unknown
 * error. */
static void fit_short_piece(fitter *f)
{
    int n = f->samples->n;
    for (long i = f->first; i < f->end; i++) {
        long k = i + 1 < f->end ? i : i - 1;
        f->fit->score[i] = INFINITY;
        for (int c = 0; c < n; c++) {
            double rate = 0;
            if (k >= f->first) {
                rate = (f->samples->y[(k + 1) * n + c] - f->samples->y[k * n + c]) /
                       (f->samples->t[k + 1] - f->samples->t[k]);
            }
            f->fit->y[0][i * n + c] = f->samples->y[i * n + c];
            f->fit->y[1][i * n + c] = rate;
            f->fit->y[2][i * n + c] = 0;
            f->fit->error[0][i * n + c] = f->samples->noise[c];
            f->fit->error[1][i * n + c] = f->fit->error[2][i * n + c] = INFINITY;
        }
    }
}

static fit_shape fit_piece(fitter *f)
{
    for (int k = 0; k < FIT_KEPT; k++) {
        f->kept[k].basis.samples = 0;
    }
    if (f->end - f->first < FIT_LEAST) {
        fit_short_piece(f);
        return (fit_shape){0};
    }
    fit_shape s = fit_choose(f);
    sweep(f, &s);
    refine_rough(f, &s);
    fit_jumps(f, &s);
    return s;
}

/* ---- All ------------------------------------------------------------------------------------- */

static void lay_out_fit(path_fit *fit, base_arena *arena, size_t count, size_t n)
{
    for (int d = 0; d < 3; d++) {
        fit->y[d] = base_arena_doubles(arena, count * n);
        fit->error[d] = base_arena_doubles(arena, count * n);
    }
    fit->noise = base_arena_doubles(arena, n);
    fit->allowed = base_arena_doubles(arena, n);
    fit->score = base_arena_doubles(arena, count);
    fit->cut = base_arena_bytes(arena, (count + 1) * sizeof(long));
}

static void lay_out(fitter *f, base_arena *arena)
{
    size_t count = (size_t)f->samples->count, n = (size_t)f->samples->n;
    f->y = base_arena_doubles(arena, count * n);
    f->level = base_arena_doubles(arena, (count + 1) * n);
    f->miss = base_arena_doubles(arena, (count + 1) * n);
    f->sorted = base_arena_doubles(arena, count + 15 * n);
    f->bad = base_arena_bytes(arena, count);
    f->rough = base_arena_bytes(arena, count);
    f->usual = base_arena_doubles(arena, n);
    f->mean = base_arena_doubles(arena, 2 * n);
    f->left = base_arena_doubles(arena, n);
    f->allowed = base_arena_doubles(arena, n);
    f->near = base_arena_doubles(arena, FIT_LONGEST);
    f->when = base_arena_doubles(arena, FIT_LONGEST);
    f->c = base_arena_doubles(arena, n * BASIS_MOST);
    f->rows = (f->samples->count > FIT_LONGEST ? f->samples->count : FIT_LONGEST) / FIT_HOPS + 2;
    f->trial = base_arena_doubles(arena, 6 * (size_t)f->rows * n);
    for (int k = 0; k < FIT_KEPT; k++) {
        f->kept[k].table = base_arena_doubles(arena, (size_t)f->rows * 6 * BASIS_MOST);
    }
}

static void fit_all(fitter *f)
{
    const path_samples *samples = f->samples;
    long longest = 0;
    for (long i = 0; i < samples->count; i++) {
        for (int k = 0; k < samples->n; k++) {
            f->y[(size_t)k * (size_t)samples->count + (size_t)i] = samples->y[i * samples->n + k];
        }
    }
    for (int p = 0; p < samples->pieces; p++) {
        f->first = samples->start[p];
        f->end = samples->start[p + 1];
        fit_shape s = fit_piece(f);
        if (f->end - f->first > longest) {
            longest = f->end - f->first;
            f->fit->degree = s.degree;
            f->fit->window = s.window;
            memcpy(f->fit->allowed, f->allowed, (size_t)samples->n * sizeof(double));
        }
    }
    for (int k = 0; k < samples->n; k++) {
        double sum = 0;
        for (long i = k; i < samples->count * samples->n; i += samples->n) {
            double miss = samples->y[i] - f->fit->y[0][i];
            sum += miss * miss;
        }
        f->fit->noise[k] = sqrt(sum / (double)samples->count);
    }
}

static int create_bases(fitter *f)
{
    int made = 1;
    for (int k = 0; k < FIT_KEPT && made; k++) {
        made = basis_create(&f->kept[k].basis, FIT_LONGEST);
    }
    return made;
}

static void free_bases(fitter *f)
{
    for (int k = 0; k < FIT_KEPT; k++) {
        basis_free(&f->kept[k].basis);
    }
}

zw_status path_fit_make(path_fit *fit, const path_samples *samples, zw_error *error)
{
    fitter f = {.samples = samples, .fit = fit};
    base_arena outside = {0}, inside = {0};
    *fit = (path_fit){0};
    lay_out_fit(fit, &outside, (size_t)samples->count, (size_t)samples->n);
    lay_out(&f, &inside);
    fit->memory = base_alloc(outside.used + 1);
    void *memory = fit->memory ? base_alloc(inside.used + 1) : NULL;
    if (!memory || !create_bases(&f)) {
        free_bases(&f);
        base_free(memory);
        path_fit_free(fit);
        return base_no_memory(error);
    }
    outside = (base_arena){.block = fit->memory};
    inside = (base_arena){.block = memory};
    lay_out_fit(fit, &outside, (size_t)samples->count, (size_t)samples->n);
    lay_out(&f, &inside);
    fit_all(&f);
    free_bases(&f);
    base_free(memory);
    return ZW_OK;
}

void path_fit_free(path_fit *fit)
{
    base_free(fit->memory);
    *fit = (path_fit){0};
}
