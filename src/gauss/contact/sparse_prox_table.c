/* The tables are filled in two passes over the rows, one that counts and one that writes. */
#include "gauss/contact/sparse_prox_table.h"

#include <math.h>
#include <string.h>

#include "gauss/tolerances.h"

static int root(int *parent, int j)
{
    while (parent[j] != j) {
        parent[j] = parent[parent[j]];
        j = parent[j];
    }
    return j;
}

/* node_of for all unknowns; the number of nodes. open[] of a set's root is (MANY_LARGEST + 1) times
 * the node that it fills now, plus the unknowns that are in there. */
static int find_nodes(const zw_gauss *problem, int *parent, int *open, int *node_of)
{
    const zw_metric *M = &problem->metric;
    int n = problem->n, nodes = 0;
    for (int j = 0; j < n; j++) {
        parent[j] = j;
        open[j] = 0;
    }
    for (int j = 0; j < n && M->kind == ZW_METRIC_SPARSE; j++) {
        for (int k = M->start[j], a = root(parent, j); k < M->start[j + 1]; k++) {
            int b = parent[M->row[k]] == a ? a : root(parent, M->row[k]), least = a < b ? a : b;
            parent[a] = parent[b] = least;
            a = least;
        }
    }
    for (int j = 0; j < n; j++) {
        int r = root(parent, j);
        if (open[r] % (MANY_LARGEST + 1) == 0 || open[r] % (MANY_LARGEST + 1) == MANY_LARGEST) {
            open[r] = nodes++ * (MANY_LARGEST + 1);
        }
        open[r]++;
        node_of[j] = open[r] / (MANY_LARGEST + 1);
    }
    return nodes;
}

/* Does row i of the block take part? */
static int takes_part(const zw_block *b, int i)
{
    return b->kind != ZW_CONE || i == 0 || b->friction[i - 1] > GAUSS_NO_FRICTION;
}

/* Nodes that rows first..first+count-1 touch, each once; base is the block's first row. */
static int touched(const zw_gauss *problem, const zw_block *b, int first, int count, int base,
                   const int *node_of, int *mark, int stamp, int *list)
{
    int found = 0, last = -1; /* neighbours in a row are mostly of one node */
    for (int i = first; i < first + count; i++) {
        int end = takes_part(b, i - base) ? problem->A.start[i + 1] : 0;
        for (int e = problem->A.start[i]; e < end; e++) {
            int node = node_of[problem->A.column[e]];
            if (node != last && mark[last = node] != stamp) {
                mark[node] = stamp;
                if (list) {
                    list[found] = node;
                }
                found++;
            }
        }
    }
    return found;
}

void many_table_count(many_table *t, const zw_gauss *problem, int *mark)
{
    int *node_of = mark + problem->n, *seen = mark;
    *t = (many_table){.n = problem->n};
    t->nodes = find_nodes(problem, mark, mark + 2 * problem->n, node_of);
    t->entries = problem->metric.kind == ZW_METRIC_SPARSE ? problem->metric.start[t->n] : t->n;
    for (int j = 0; j < t->nodes; j++) {
        seen[j] = 0;
    }
    int *size = mark + 2 * problem->n;
    memset(size, 0, (size_t)problem->n * sizeof *size);
    for (int j = 0; j < problem->n; j++) {
        size[node_of[j]]++;
    }
    for (int k = 0; k < t->nodes; k++) {
        t->squares += (size_t)(size[k] * size[k]);
    }
    int *list = mark + 3 * problem->n;
    for (int k = 0, at = 0, stamp = 0; k < problem->block_count; at += problem->block[k++].rows) {
        const zw_block *b = &problem->block[k];
        int step = b->kind == ZW_CONE ? b->rows : 1;
        for (int i = at; i < at + b->rows; i += step) {
            int found = touched(problem, b, i, step, at, node_of, seen, ++stamp, list), d = 0;
            for (int r = 0; r < step; r++) {
                d += takes_part(b, i + r - at);
            }
            t->units++;
            t->rows += d;
            t->slopes += (size_t)(d * d);
            t->parts += found;
            t->pairs += found * (found - 1) / 2;
            for (int p = 0; p < found; p++) {
                t->numbers += (size_t)(d * size[list[p]]);
            }
        }
    }
}

void many_table_lay_out(many_table *t, base_arena *arena)
{
    size_t n = (size_t)t->n, rows = (size_t)t->rows, nodes = (size_t)t->nodes;
    t->node_of = base_arena_ints(arena, n);
    t->position = base_arena_ints(arena, n);
    t->node_of_position = base_arena_ints(arena, n);
    t->size = base_arena_ints(arena, nodes);
    t->at = base_arena_ints(arena, nodes + 1);
    t->entry = base_arena_bytes(arena, (size_t)t->entries * sizeof *t->entry);
    t->mass = base_arena_doubles(arena, n);
    t->ease = base_arena_doubles(arena, n);
    t->unit = base_arena_bytes(arena, (size_t)t->units * sizeof *t->unit);
    t->part = base_arena_bytes(arena, (size_t)t->parts * sizeof *t->part);
    t->J = base_arena_doubles(arena, t->numbers);
    t->row = base_arena_ints(arena, rows);
    t->scale = base_arena_doubles(arena, rows);
    t->c = base_arena_doubles(arena, rows);
    t->U_at = base_arena_bytes(arena, nodes * sizeof(size_t));
    t->U = base_arena_doubles(arena, t->squares);
    t->MJ = base_arena_doubles(arena, t->numbers);
    t->JT = base_arena_bytes(arena, 6 * (size_t)t->parts * sizeof *t->JT);
    t->W = base_arena_doubles(arena, 2 * (size_t)t->units);
}

static void fill_metric(many_table *t, const zw_gauss *problem)
{
    const zw_metric *M = &problem->metric;
    int count = 0;
    memset(t->mass, 0, (size_t)t->n * sizeof *t->mass);
    for (int j = 0; j < t->n; j++) {
        int from = M->kind == ZW_METRIC_SPARSE ? M->start[j] : j;
        int to = M->kind == ZW_METRIC_SPARSE ? M->start[j + 1] : j + 1;
        for (int k = from; k < to; k++) {
            int i = M->kind == ZW_METRIC_SPARSE ? M->row[k] : j;
            t->entry[count++] = (many_entry){t->position[i], t->position[j], M->value[k]};
            t->mass[t->position[j]] += i == j ? M->value[k] : 0;
        }
    }
    for (int j = 0; j < t->n; j++) {
        t->ease[j] = t->mass[j] > 0 ? 1 / t->mass[j] : 0;
    }
}

/* One unit: its rows, its parts, and the size of its part of J M^-1 J', the diagonal of M taken for
 * M. */
static void fill_unit(many_table *t, many_unit *u, const zw_gauss *problem, const zw_block *b,
                      int base, int i, int step, size_t *J, int *where)
{
    double normal = 0, tangent = 0;
    for (int p = 0; p < u->parts; p++) {
        t->part[u->part + p].J = *J;
        where[t->part[u->part + p].node] = p;
        size_t count = (size_t)(u->d * t->size[t->part[u->part + p].node]);
        memset(t->J + *J, 0, count * sizeof *t->J);
        *J += count;
    }
    for (int r = 0, k = 0; r < step; r++) {
        if (!takes_part(b, i + r - base)) {
            continue;
        }
        int row = i + r, at = u->first + k;
        double scale = b->kind == ZW_CONE && r > 0 ? b->friction[r - 1] : 1, sum = 0;
        double c = problem->b ? -problem->b[row] : 0, *to = NULL;
        for (int e = problem->A.start[row], last = -1; e < problem->A.start[row + 1]; e++) {
            int j = problem->A.column[e], node = t->node_of[j], place = t->position[j];
            double value = problem->A.value[e];
            if (node != last) {
                const many_part *part = &t->part[u->part + where[node]];
                to = t->J + part->J + (size_t)(k * t->size[node]) - t->at[node];
                last = node;
            }
            to[place] += scale * value;
            c += value * problem->free[j];
            sum += value * value * t->ease[place];
        }
        t->row[at] = row;
        t->scale[at] = scale;
        t->c[at] = scale * c;
        sum *= scale * scale;
        u->give = problem->compliance && step == 1 ? problem->compliance[row] : 0;
        normal = k == 0 ? sum + u->give : normal;
        tangent = k > 0 ? fmax(tangent, sum) : tangent;
        k++;
    }
    normal = u->is_convex ? fmax(normal, tangent) : normal;
    tangent = u->is_convex ? normal : tangent;
    u->normal = normal > 0 ? 1 / normal : 0;
    u->tangent = tangent > 0 ? 1 / tangent : 0;
}

void many_table_fill(many_table *t, const zw_gauss *problem, zw_contact_law law, int *mark)
{
    int *seen = mark, *list = mark + 3 * problem->n, stamp = 0, pair = 0;
    size_t J = 0;
    memcpy(t->node_of, mark + problem->n, (size_t)t->n * sizeof(int));
    memset(t->size, 0, (size_t)t->nodes * sizeof(int));
    for (int j = 0; j < t->n; j++) {
        t->position[j] = t->size[t->node_of[j]]++;
    }
    t->at[0] = 0;
    for (int k = 0; k < t->nodes; k++) {
        t->at[k + 1] = t->at[k] + t->size[k];
        seen[k] = 0;
    }
    for (int j = 0; j < t->n; j++) {
        t->position[j] += t->at[t->node_of[j]];
        t->node_of_position[t->position[j]] = t->node_of[j];
    }
    for (int k = 0; k < t->nodes; k++) {
        t->U_at[k] = k > 0 ? t->U_at[k - 1] + (size_t)(t->size[k - 1] * t->size[k - 1]) : 0;
    }
    fill_metric(t, problem);
    t->units = t->rows = t->parts = t->boxes = t->is_convex = 0;
    t->slopes = 0;
    for (int k = 0, at = 0; k < problem->block_count; at += problem->block[k++].rows) {
        const zw_block *b = &problem->block[k];
        int step = b->kind == ZW_CONE ? b->rows : 1;
        for (int i = at; i < at + b->rows; i += step) {
            many_unit *u = &t->unit[t->units++];
            *u = (many_unit){.kind = b->kind, .first = t->rows, .part = t->parts, .pair = pair};
            u->low = b->kind == ZW_BOX ? b->limit[0] : b->kind == ZW_EQUALITY ? -HUGE_VAL : 0;
            u->high = b->kind == ZW_BOX ? b->limit[1] : HUGE_VAL;
            t->boxes |= b->kind == ZW_BOX || problem->compliance;
            u->parts = touched(problem, b, i, step, at, t->node_of, seen, ++stamp, list);
            for (int p = 0; p < u->parts; p++) {
                t->part[t->parts++].node = list[p];
            }
            for (int r = 0; r < step; r++) {
                u->d += takes_part(b, i + r - at);
            }
            t->rows += u->d;
            u->is_convex = law == ZW_CONTACT_CONVEX && u->d > 1;
            t->is_convex |= u->is_convex;
            u->G = t->slopes;
            t->slopes += (size_t)(u->d * u->d);
            pair += u->parts * (u->parts - 1) / 2;
            fill_unit(t, u, problem, b, at, i, step, &J, mark + 2 * problem->n);
        }
    }
}

void many_metric_times(const many_table *t, const double *x, double *y)
{
    memset(y, 0, (size_t)t->n * sizeof *y);
    for (int k = 0; k < t->entries; k++) {
        const many_entry *e = &t->entry[k];
        y[e->i] += e->value * x[e->j];
        if (e->i != e->j) {
            y[e->j] += e->value * x[e->i];
        }
    }
}

#define PART static inline __attribute__((always_inline))

/* w += J x of one unit and node. */
PART void rows_times(int d, int n, const double *J, const double *x, double *w)
{
    for (int i = 0; i < d; i++, J += n) {
        double sum = 0;
        for (int j = 0; j < n; j++) {
            sum += J[j] * x[j];
        }
        w[i] += sum;
    }
}

/* y -= J' r of one unit and node. */
PART void rows_push(int d, int n, const double *J, const double *r, double *y)
{
    for (int i = 0; i < d; i++, J += n) {
        for (int j = 0; j < n; j++) {
            y[j] -= r[i] * J[j];
        }
    }
}

/* Units of three rows on nodes of six unknowns are what there is most of: the compiler knows. */
void many_rows_times(const many_table *t, const double *x, double *w)
{
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        memset(w + u->first, 0, (size_t)u->d * sizeof *w);
        for (int p = u->part; p < u->part + u->parts; p++) {
            int n = t->size[t->part[p].node];
            const double *J = t->J + t->part[p].J, *from = x + t->at[t->part[p].node];
            if (u->d == 3 && n == 6) {
                rows_times(3, 6, J, from, w + u->first);
            } else {
                rows_times(u->d, n, J, from, w + u->first);
            }
        }
    }
}

void many_rows_push(const many_table *t, const double *r, double *y)
{
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        const double *push = r + u->first;
        for (int p = u->part; p < u->part + u->parts; p++) {
            int n = t->size[t->part[p].node];
            const double *J = t->J + t->part[p].J;
            double *to = y + t->at[t->part[p].node];
            if (u->d == 3 && n == 6) {
                rows_push(3, 6, J, push, to);
            } else {
                rows_push(u->d, n, J, push, to);
            }
        }
    }
}
