#include "path/trial/quadrature.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { NODES = 10, FEWER = 8, REACH = 40 };

/* weight[k]: the integral from `from` to `to` of the Lagrange polynomial of node x[k], over the
 * length of the interval. The polynomials are multiplied out around `from`; x is scaled so that
 * nodes are about one apart, and ten of them lose at most three of sixteen digits, far less than
 * the error of an integrand known at ten samples. */
static void weigh(int count, const double *x, double from, double to, double *weight)
{
    for (int k = 0; k < count; k++) {
        double p[NODES + 1] = {1}, scale = 1, sum = 0, length = to - from;
        int degree = 0;
        for (int j = 0; j < count; j++) {
            if (j == k) {
                continue;
            }
            double root = x[j] - from;
            scale *= x[k] - x[j];
            p[++degree] = 0;
            for (int d = degree; d > 0; d--) {
                p[d] = p[d - 1] - root * p[d];
            }
            p[0] *= -root;
        }
        for (int d = degree; d >= 0; d--) {
            sum = sum * length + p[d] / (d + 1);
        }
        weight[k] = sum / scale;
    }
}

/* An interval and the samples around it: weights of the mean value, and their difference from the
 * weights of eight samples. */
typedef struct rule {
    int known, nodes;
    long node[NODES]; /* relative to the sample at the beginning of the interval */
    double mean[NODES], less[NODES];
} rule;

/* x: nodes in order; the interval is from `from` to `to`. */
static void make_rule(rule *r, const double *x, double from, double to)
{
    double fewer[NODES];
    int inner = r->nodes > FEWER ? FEWER : r->nodes > 2 ? r->nodes - 1 : r->nodes;
    int first = 0;
    while (first + inner < r->nodes &&
           x[first + inner] - 0.5 * (from + to) < 0.5 * (from + to) - x[first]) {
        first++;
    }
    weigh(r->nodes, x, from, to, r->mean);
    weigh(inner, x + first, from, to, fewer);
    memcpy(r->less, r->mean, sizeof r->less);
    for (int k = 0; k < inner; k++) {
        r->less[first + k] -= fewer[k];
    }
    r->known = 1;
}

/* Even times: the ten samples around the interval, `before` of them before its beginning. */
static void make_even(rule *r, int nodes, int before)
{
    double x[NODES];
    *r = (rule){.nodes = nodes};
    for (int k = 0; k < nodes; k++) {
        r->node[k] = k - before;
        x[k] = k - before;
    }
    make_rule(r, x, 0, 1);
}

/* Uneven times: samples closer together than a fraction of their mean distance are skipped, as
 * their difference would get too large a weight. An event recorded between two outputs may be close
 * to one of them. */
static void make_uneven(rule *r, long count, const double *t, long i)
{
    long low = i - NODES / 2 > 0 ? i - NODES / 2 : 0;
    long high = i + 1 + NODES / 2 < count - 1 ? i + 1 + NODES / 2 : count - 1;
    double unit = (t[high] - t[low]) / (double)(high - low), x[NODES];
    double apart = 0.3 * unit, left = t[i], right = t[i];
    long before = i - 1, after = i + 1, end = i + REACH < count ? i + REACH : count;
    *r = (rule){.nodes = 1};
    low = i - REACH > 0 ? i - REACH : 0;
    while (r->nodes < NODES && (before >= low || after < end)) {
        int back = before >= low && (after >= end || t[i] - t[before] < t[after] - t[i]);
        long at = back ? before-- : after++;
        if (back && left - t[at] >= apart) {
            memmove(r->node + 1, r->node, (size_t)r->nodes++ * sizeof *r->node);
            r->node[0] = at - i;
            left = t[at];
        } else if (!back && t[at] - right >= apart) {
            r->node[r->nodes++] = at - i;
            right = t[at];
        }
    }
    for (int k = 0; k < r->nodes; k++) {
        x[k] = (t[i + r->node[k]] - t[i]) / unit;
    }
    make_rule(r, x, 0, (t[i + 1] - t[i]) / unit);
}

/* One interval: sum[n + k] = sum[k] + length * mean of column k. */
static void add_interval(const rule *r, double length, int n, const double *y, double *sum,
                         double *rough, double *carry)
{
    for (int k = 0; k < n; k++) {
        double mean = 0, less = 0;
        for (int j = 0; j < r->nodes; j++) {
            mean += r->mean[j] * y[r->node[j] * n + k];
        }
        for (int j = 0; rough && j < r->nodes; j++) {
            less += r->less[j] * y[r->node[j] * n + k];
        }
        double add = length * mean + carry[k], next = sum[k] + add;
        carry[k] = fabs(sum[k]) >= fabs(add) ? sum[k] - next + add : add - next + sum[k];
        sum[n + k] = next;
        if (rough) {
            rough[n + k] = fabs(less);
        }
    }
}

void path_integrate(long count, const double *t, int n, const double *y, double *sum, double *rough,
                    double *carry)
{
    rule list[NODES] = {0}, own;
    int nodes = count < NODES ? (int)count : NODES;
    long even = 1, last = 0; /* samples last - even + 1 .. last are evenly spaced */
    memset(carry, 0, (size_t)n * sizeof *carry);
    for (long i = 0; i + 1 < count; i++) {
        long first = i - (nodes / 2 - 1);
        first = first < 0 ? 0 : first + nodes > count ? count - nodes : first;
        for (; last < first + nodes - 1; last++) {
            double step = t[last + 1] - t[last],
                   before = last > 0 ? step - t[last] + t[last - 1] : 0;
            double near = 4 * DBL_EPSILON * fmax(fabs(t[last + 1]), fabs(t[last]));
            even = even == 1 || fabs(before) <= near ? even + 1 : 2;
        }
        int before = (int)(i - first);
        rule *r = even >= nodes ? &list[before] : &own;
        if (even < nodes) {
            make_uneven(r, count, t, i);
        } else if (!r->known) {
            make_even(r, nodes, before);
        }
        add_interval(r, t[i + 1] - t[i], n, y + i * n, sum + i * n, rough ? rough + i * n : NULL,
                     carry);
    }
    for (int k = 0; rough && k < n; k++) {
        rough[k] = count > 1 ? rough[n + k] : 0;
    }
}
