#include "step/problem/matrix.h"

#include <string.h>

#include "base/memory.h"
#include "system/bodies/bodies.h"

/* ---- Pattern -------------------------------------------------------------------------------- */

/* The couplings between coordinates other than masses, by coordinate, so that the cost of a column
 * is proportional to its entries. */
typedef struct couplings {
    int *first;  /* [n + 1] in `length`: those of several coordinates that this one is part of */
    int *length; /* of bodies->length */
    int *place;  /* [n] index in coupled[], all of which couple with each other; -1: not in it */
    int *mark;   /* [n] scratch, zero between uses */
    int count;   /* of coupled */
    const int *coupled;
} couplings;

static void free_couplings(couplings *c)
{
    base_free(c->first);
    base_free(c->length);
    base_free(c->place);
    base_free(c->mark);
}

static int joins_several(const struct system_bodies *bodies, int length)
{
    return bodies->length[length].count > 1;
}

static zw_status find_couplings(couplings *c, const zw_system *system, int count,
                                const int *coupled)
{
    const struct system_bodies *bodies = system->bodies;
    size_t n = (size_t)system->n, terms = 0;
    for (int i = 0; i < bodies->length_count; i++) {
        terms += joins_several(bodies, i) ? (size_t)bodies->length[i].count : 0;
    }
    *c = (couplings){.first = base_alloc((n + 2) * sizeof(int)),
                     .length = base_alloc((terms + 1) * sizeof(int)),
                     .place = base_alloc((n + 1) * sizeof(int)),
                     .mark = base_alloc((n + 1) * sizeof(int)),
                     .count = count,
                     .coupled = coupled};
    if (!c->first || !c->length || !c->place || !c->mark) {
        return ZW_NO_MEMORY;
    }
    for (int j = 0; j < system->n; j++) {
        c->place[j] = -1;
    }
    for (int i = count - 1; i >= 0; i--) {
        c->place[coupled[i]] = i;
    }
    /* counted at first[dof + 2], summed up, and filled through first[dof + 1] */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < bodies->length_count; i++) {
            const bodies_term *term = &bodies->term[bodies->length[i].first];
            for (int k = 0; k < bodies->length[i].count && joins_several(bodies, i); k++) {
                if (pass == 0) {
                    c->first[term[k].dof + 2]++;
                } else {
                    c->length[c->first[term[k].dof + 1]++] = i;
                }
            }
        }
        for (int j = 0; j < system->n && pass == 0; j++) {
            c->first[j + 2] += c->first[j + 1];
        }
    }
    return ZW_OK;
}

/* Marks what couples with column j below it: masses, and lengths that contain j. Returns their
 * number; list[] has them, ascending, unless NULL. */
static int column_of(const zw_system *system, const couplings *c, int j, int *list)
{
    const struct system_bodies *bodies = system->bodies;
    int count = 0, n = system->n, last = j, *mark = c->mark;
    for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
        mark[system->M_row[k]] = 1;
        last = system->M_row[k] > last ? system->M_row[k] : last;
    }
    mark[j] = 1;
    for (int i = c->first[j]; i < c->first[j + 1]; i++) {
        const bodies_length *length = &bodies->length[c->length[i]];
        const bodies_term *term = &bodies->term[length->first];
        for (int k = 0; k < length->count; k++) {
            if (term[k].dof > j) {
                mark[term[k].dof] = 1;
                last = term[k].dof > last ? term[k].dof : last;
            }
        }
    }
    for (int i = c->place[j]; i >= 0 && i < c->count; i++) {
        mark[c->coupled[i]] = 1;
        last = c->coupled[i] > last ? c->coupled[i] : last;
    }
    for (int d = j; d <= last && d < n; d++) {
        if (mark[d] && list) {
            list[count] = d;
        }
        count += mark[d];
        mark[d] = 0;
    }
    return count;
}

static void find_entries(impulse_matrix *H, const zw_system *system)
{
    for (int j = 0; j < system->n; j++) {
        int at = H->start[j];
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            while (H->row[at] != system->M_row[k]) {
                at++;
            }
            H->entry[k] = at;
        }
    }
}

zw_status matrix_create(impulse_matrix *H, const zw_system *system, int count, const int *coupled)
{
    size_t n = (size_t)system->n, masses = (size_t)system->M_start[system->n];
    couplings c;
    zw_status found = find_couplings(&c, system, count, coupled);
    signed char *sign = base_alloc(n + 1);
    *H = (impulse_matrix){.n = system->n, .start = base_alloc((n + 1) * sizeof(int))};
    for (int j = 0; j < system->n && found == ZW_OK && H->start; j++) {
        H->start[j + 1] = H->start[j] + column_of(system, &c, j, NULL);
    }
    size_t entries = H->start ? (size_t)H->start[n] : 0;
    H->row = base_alloc((entries + 1) * sizeof(int));
    H->value = base_alloc((entries + 1) * sizeof(double));
    H->entry = base_alloc((masses + 1) * sizeof(int));
    if (found == ZW_OK && sign && H->start && H->row && H->value && H->entry) {
        for (int j = 0; j < system->n; j++) {
            column_of(system, &c, j, H->row + H->start[j]);
            sign[j] = 1;
        }
        find_entries(H, system);
        H->ldl = sparse_ldl_analyse(system->n, H->start, H->row, sign);
    }
    free_couplings(&c);
    base_free(sign);
    if (!H->ldl) {
        matrix_free(H);
        return ZW_NO_MEMORY;
    }
    return ZW_OK;
}

void matrix_free(impulse_matrix *H)
{
    base_free(H->start);
    base_free(H->row);
    base_free(H->value);
    base_free(H->entry);
    sparse_ldl_free(H->ldl);
    *H = (impulse_matrix){0};
}

/* ---- Numbers -------------------------------------------------------------------------------- */

void matrix_set(impulse_matrix *H, const zw_system *system, const double *sweeps)
{
    const double *M = sweeps + system->tree->at.M;
    memset(H->value, 0, (size_t)H->start[H->n] * sizeof(double));
    for (int k = 0; k < system->tree->entries; k++) {
        H->value[H->entry[system->bodies->entry[k]]] = M[k];
    }
    const struct system_bodies *bodies = system->bodies;
    for (int k = 0; k < bodies->extra_count; k++) { /* armatures of tendons; none through space */
        const bodies_extra *extra = &bodies->extra[k];
        H->value[H->entry[extra->at]] += bodies_extra_mass(bodies, extra, bodies->coef);
    }
}

/* The position of (i, j), which must be in the pattern. */
static double *at(impulse_matrix *H, int i, int j)
{
    int low = H->start[i < j ? i : j], high = H->start[(i < j ? i : j) + 1] - 1;
    int wanted = i < j ? j : i;
    while (low < high) {
        int middle = (low + high) / 2;
        if (H->row[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return &H->value[low];
}

void matrix_stiffen(impulse_matrix *H, double weight, int count, const int *dof, const double *coef)
{
    for (int a = 0; a < count; a++) {
        for (int b = 0; b < count; b++) {
            if (dof[a] > dof[b] || a == b) {
                *at(H, dof[a], dof[b]) += weight * coef[a] * coef[b];
            }
        }
    }
}

void matrix_times(const impulse_matrix *H, const double *x, double *y)
{
    memset(y, 0, (size_t)H->n * sizeof *y);
    for (int j = 0; j < H->n; j++) {
        double from = x[j], sum = H->value[H->start[j]] * from; /* the diagonal comes first */
        for (int k = H->start[j] + 1; k < H->start[j + 1]; k++) {
            int i = H->row[k];
            y[i] += H->value[k] * from;
            sum += H->value[k] * x[i];
        }
        y[j] += sum;
    }
}

double matrix_diagonal(const impulse_matrix *H, int i)
{
    return H->value[H->start[i]];
}

int matrix_factor(impulse_matrix *H)
{
    return sparse_ldl_factor(H->ldl, H->value, 1e-14) == 0;
}

void matrix_solve(impulse_matrix *H, double *x)
{
    sparse_ldl_solve(H->ldl, x);
}
