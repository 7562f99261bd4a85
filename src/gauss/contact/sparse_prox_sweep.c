/* Sweeps over the contacts, block after block (Gauss and Seidel): each moves its multipliers to its
 * own law while all others are fixed,
 *
 *     r_N = max(0, r_N - w_N / W_N),   r_T = the nearest to r_T - w_T / W_T with |r_T| <= r_N,
 *
 * and the bodies that it acts on move on at once. Sweeps act locally, alone they need thousands to
 * carry a load down a tower; but nothing finds the modes of contacts faster, and they can be
 * accelerated: sparse_prox_anderson.c. */
#include <math.h>
#include <string.h>

#include "gauss/contact/sparse_prox_table.h"
#include "math/dense/small.h"

#define PART static inline __attribute__((always_inline))

int many_table_sweeps(many_table *t)
{
    memset(t->U, 0, t->squares * sizeof *t->U);
    t->six = 1;
    for (int k = 0; k < t->entries; k++) {
        const many_entry *e = &t->entry[k];
        int node = t->node_of_position[e->i];
        if (node != t->node_of_position[e->j]) {
            return 0;
        }
        int i = e->i - t->at[node], j = e->j - t->at[node], n = t->size[node];
        double *U = t->U + t->U_at[node];
        U[i * n + j] += e->value;
        if (i != j) {
            U[j * n + i] += e->value;
        }
    }
    for (int k = 0; k < t->nodes; k++) {
        t->six &= t->size[k] == 6;
        if (small_ldl(t->size[k], t->U + t->U_at[k], 0)) {
            return 0;
        }
    }
    memcpy(t->MJ, t->J, t->numbers * sizeof *t->J);
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        double *W = t->W + 2 * k;
        W[0] = W[1] = 0;
        for (int i = 0; i < u->d; i++) {
            double sum = 0;
            for (int p = u->part; p < u->part + u->parts; p++) {
                int node = t->part[p].node, n = t->size[node];
                double *row = t->MJ + t->part[p].J + (size_t)(i * n);
                const double *J = t->J + t->part[p].J + (size_t)(i * n);
                small_ldl_solve(n, t->U + t->U_at[node], row);
                for (int j = 0; j < n; j++) {
                    sum += J[j] * row[j];
                }
            }
            W[i > 0] = fmax(W[i > 0], sum + u->give);
        }
    }
    return 1;
}

/* y += s J M^-1 of one unit for one node. */
PART void push_node(int d, int n, const double *s, const double *row, double *y)
{
    for (int i = 0; i < d; i++, row += n) {
        for (int j = 0; j < n; j++) {
            y[j] += s[i] * row[j];
        }
    }
}

/* x += s J M^-1 of one unit. */
static void move(const many_table *t, const many_unit *u, const double *s, double *x)
{
    for (int p = u->part; p < u->part + u->parts; p++) {
        int node = t->part[p].node;
        push_node(u->d, t->size[node], s, t->MJ + t->part[p].J, x + t->at[node]);
    }
}

void many_motion(const many_table *t, const double *r, double *x)
{
    memset(x, 0, (size_t)t->n * sizeof *x);
    for (int k = 0; k < t->units; k++) {
        move(t, &t->unit[k], r + t->unit[k].first, x);
    }
}

/* Row i of w, before and beyond the free motion. */
PART double look(const many_table *t, const many_unit *u, int n, int i, const double *x)
{
    double w = t->c[u->first + i];
    for (int p = u->part; p < u->part + u->parts; p++) {
        int node = t->part[p].node, size = n > 0 ? n : t->size[node];
        const double *J = t->J + t->part[p].J + (size_t)(i * size), *y = x + t->at[node];
        double sum = 0;
        for (int j = 0; j < size; j++) {
            sum += J[j] * y[j];
        }
        w += sum;
    }
    return w;
}

/* One unit to its law. d > 0 and n > 0 are its rows and the size of all its nodes, where they are
 * known to the compiler. */
PART void settle(const many_table *t, int k, int d, int n, double *r, double *x)
{
    const many_unit *u = &t->unit[k];
    const double *W = t->W + 2 * k;
    double step[MANY_ROWS], size = 0, w = look(t, u, n, 0, x);
    r += u->first;
    step[0] = r[0] - (W[0] > 0 ? (w + u->give * r[0]) / W[0] : 0);
    if (!(step[0] > u->low)) {
        if (r[0] == u->low) {
            return; /* open, and was */
        }
        step[0] = u->low;
    }
    step[0] = step[0] < u->high ? step[0] : u->high;
    d = d > 0 ? d : u->d;
    for (int i = 1; i < d; i++) {
        step[i] = r[i] - (W[1] > 0 ? look(t, u, n, i, x) / W[1] : 0);
        size += step[i] * step[i];
    }
    double share = size > step[0] * step[0] ? step[0] / sqrt(size) : 1;
    for (int i = 0; i < d; i++) {
        double to = i > 0 ? share * step[i] : step[i];
        step[i] = to - r[i];
        r[i] = to;
    }
    for (int p = u->part; p < u->part + u->parts; p++) {
        int node = t->part[p].node;
        push_node(d, n > 0 ? n : t->size[node], step, t->MJ + t->part[p].J, x + t->at[node]);
    }
}

/* A contact of free bodies is what there is most of. */
static void settle_any(const many_table *t, int k, double *r, double *x)
{
    if (t->unit[k].d == 3 && t->six) {
        settle(t, k, 3, 6, r, x);
    } else {
        settle(t, k, 0, 0, r, x);
    }
}

void many_sweep(const many_table *t, double *r, double *x)
{
    for (int k = 0; k < t->units; k++) {
        settle_any(t, k, r, x);
    }
    for (int k = t->units - 1; k >= 0; k--) {
        settle_any(t, k, r, x);
    }
}
