/* Twins: equality rows that are parallel.
 *
 * They are the usual redundancy (a block given twice), and there may be many: too many to treat
 * each as a dependent row. They are found by one random projection of each row, kept in buckets.
 * The first of a family represents all and has their multiplier R; the others become inactive. In
 * the user's units lambda_e = scale_e r_e, and with row e = t_e (first row) the least norm of all
 * is
 *
 *     r_e = t_e (weight/scale_e)^2 R,     weight^-2 = sum t_e^2 scale_e^-2:
 *
 * the family is one row with the scale `weight`. Compliant rows have no twins. */
#include <math.h>
#include <string.h>

#include "gauss/sparse/sparse_kkt.h"

/* Unit rows whose entries differ by no more are parallel. Their projections, onto numbers between
 * -1 and 1, then differ by no more than n times that. */
static const double TWIN_FLOOR = 1e-13;

double sparse_dice(int j)
{
    unsigned h = (unsigned)j * 2654435761u + 12345u;
    h = (h ^ (h >> 15)) * 2246822519u;
    h = (h ^ (h >> 13)) * 3266489917u;
    return (double)(h >> 8) / 8388608.0 - 1.0;
}

/* Is row p = +-(row e) after both have been given length one? Returns the sign, or 0. */
static int parallel(gauss_sparse *s, int e, int p, double *scatter)
{
    const double *base = s->base;
    double dot = 0.0, error = 0.0;
    for (int k = s->start[s->n + e] + 1; k < s->start[s->n + e + 1]; k++) {
        scatter[s->row[k]] = base[k] / s->length[e];
    }
    for (int k = s->start[s->n + p] + 1; k < s->start[s->n + p + 1]; k++) {
        dot += scatter[s->row[k]] * base[k];
    }
    double sign = dot < 0.0 ? -1.0 : 1.0;
    for (int k = s->start[s->n + p] + 1; k < s->start[s->n + p + 1]; k++) {
        scatter[s->row[k]] -= sign * base[k] / s->length[p];
        error = fmax(error, fabs(scatter[s->row[k]]));
        scatter[s->row[k]] = 0.0;
    }
    for (int k = s->start[s->n + e] + 1; k < s->start[s->n + e + 1]; k++) {
        error = fmax(error, fabs(scatter[s->row[k]]));
        scatter[s->row[k]] = 0.0;
    }
    return error <= TWIN_FLOOR ? (int)sign : 0;
}

/* One number for each direction, whatever its sign. */
static double projection(const gauss_sparse *s, int e)
{
    double sum = 0.0;
    for (int k = s->start[s->n + e] + 1; k < s->start[s->n + e + 1]; k++) {
        sum += s->base[k] * sparse_dice(s->row[k]);
    }
    return fabs(sum) / s->length[e];
}

/* The bucket of a projection, which may be of any size. */
static int bucket_of(const gauss_sparse *s, double key)
{
    double slot = key > 0.0 ? key / (1.0 + key) * s->me : 0.0;
    return slot < s->me - 1 ? (int)slot : s->me - 1;
}

/* The first row of its family that row e is parallel to, or e. */
static int find_first(gauss_sparse *s, int e, double *sign)
{
    const double window = s->n * TWIN_FLOOR;
    int from = bucket_of(s, s->key[e] - window), to = bucket_of(s, s->key[e] + window);
    for (int bucket = from; bucket <= to; bucket++) {
        for (int other = s->order[bucket]; other >= 0; other = s->next[other]) {
            if (fabs(s->key[e] - s->key[other]) <= window) {
                int found = parallel(s, other, e, s->y[0]);
                if (found != 0) {
                    *sign = found;
                    return other;
                }
            }
        }
    }
    return e;
}

void sparse_twins(gauss_sparse *s)
{
    memset(s->y[0], 0, (size_t)s->n * sizeof(double));
    for (int e = 0; e < s->me; e++) {
        s->order[e] = -1;
    }
    for (int e = 0; e < s->me; e++) {
        double L = s->length[e] > 0.0 ? s->length[e] : 1.0, sign = 1.0;
        s->weight[e] = s->scale[e] > 0.0 ? L * L / (s->scale[e] * s->scale[e]) : 0.0;
        s->twin[e] = e;
        s->twin_sign[e] = 1.0;
        s->off[e] = s->length[e] > 0.0 || s->E[e] > 0.0 ? 0 : 1;
        if (!(s->length[e] > 0.0) || s->E[e] > 0.0) {
            continue;
        }
        s->key[e] = projection(s, e);
        int first = find_first(s, e, &sign), bucket = bucket_of(s, s->key[e]);
        if (first < e) {
            s->twin[e] = first;
            s->twin_sign[e] = sign * s->length[e] / s->length[first];
            s->weight[first] += s->weight[e];
            s->off[e] = 1;
        } else {
            s->next[e] = s->order[bucket];
            s->order[bucket] = e;
        }
    }
    for (int e = 0; e < s->me; e++) { /* weight: the scale of one row with the same norm */
        double L = s->length[e] > 0.0 ? s->length[e] : 1.0;
        s->weight[e] = s->weight[e] > 0.0 ? L / sqrt(s->weight[e]) : 0.0;
    }
}
