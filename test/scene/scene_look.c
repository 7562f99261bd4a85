/* Looking at a scene: products, residuals, text. */
#include <math.h>

#include "scene.h"

static void times_dense(const double *value, int n, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += (j <= i ? value[i * n + j] : value[j * n + i]) * x[j];
        y[i] = sum;
    }
}

static void times_sparse(const zw_metric *M, int n, const double *x, double *y)
{
    for (int i = 0; i < n; i++)
        y[i] = 0;
    for (int j = 0; j < n; j++) {
        for (int k = M->start[j]; k < M->start[j + 1]; k++) {
            int i = M->row[k];
            if (i < j)
                continue;
            y[i] += M->value[k] * x[j];
            if (i > j)
                y[j] += M->value[k] * x[i];
        }
    }
}

void scene_times_M(const scene *s, const double *x, double *y)
{
    const zw_metric *M = &s->problem.metric;
    int n = s->problem.n;
    switch (M->kind) {
    case ZW_METRIC_IDENTITY:
    case ZW_METRIC_DIAGONAL:
        for (int i = 0; i < n; i++)
            y[i] = M->kind == ZW_METRIC_IDENTITY ? x[i] : M->value[i] * x[i];
        break;
    case ZW_METRIC_DENSE:
        times_dense(M->value, n, x, y);
        break;
    case ZW_METRIC_BLOCKS: {
        const double *value = M->value;
        for (int k = 0, at = 0; k < M->block_count; k++) {
            times_dense(value, M->block_size[k], x + at, y + at);
            at += M->block_size[k];
            value += M->block_size[k] * M->block_size[k];
        }
        break;
    }
    case ZW_METRIC_SPARSE:
        times_sparse(M, n, x, y);
        break;
    case ZW_METRIC_OPERATOR:
        M->operator_->apply(M->operator_->self, x, y);
        break;
    }
}

/* A_i x, and |A_i||x| in *size. */
static double row_times(const scene *s, int i, const double *x, double *size)
{
    const zw_rows *A = &s->problem.A;
    int n = s->problem.n;
    double sum = 0, sum_size = 0;
    if (A->dense) {
        const double *row = A->dense + (size_t)i * (size_t)n;
        for (int j = 0; j < n; j++) {
            sum += row[j] * x[j];
            sum_size += fabs(row[j] * x[j]);
        }
    } else {
        for (int k = A->start[i]; k < A->start[i + 1]; k++) {
            sum += A->value[k] * x[A->column[k]];
            sum_size += fabs(A->value[k] * x[A->column[k]]);
        }
    }
    *size = sum_size;
    return sum;
}

void scene_times_A(const scene *s, const double *x, double *y)
{
    double size;
    for (int i = 0; i < s->m; i++)
        y[i] = row_times(s, i, x, &size);
}

/* The residual of row i and its size. */
static double residual(const scene *s, int i, const double *a, double *size)
{
    double b = s->problem.b ? s->problem.b[i] : 0;
    double r = row_times(s, i, a, size) - b;
    *size += fabs(b);
    return r;
}

/* normal - |(friction_i residual_i)| and the size of all that. */
static double cone_slack(const scene *s, const zw_block *block, int row, const double *a,
                         double *weight, double *size)
{
    double normal = residual(s, row, a, size), sum = 0;
    for (int k = 1; k < block->rows; k++) {
        double row_size, r = residual(s, row + k, a, &row_size);
        sum += block->friction[k - 1] * r * block->friction[k - 1] * r;
        *size += block->friction[k - 1] * row_size;
    }
    *weight = fabs(normal) + sqrt(sum);
    return normal - sqrt(sum);
}

double scene_violation(const scene *s, const double *a)
{
    double worst = 0;
    for (int k = 0, row = 0; k < s->problem.block_count; row += s->problem.block[k++].rows) {
        const zw_block *block = &s->problem.block[k];
        int steps = block->kind == ZW_CONE ? 1 : block->rows;
        for (int i = 0; i < steps; i++) {
            double size, weight, r;
            if (block->kind == ZW_CONE)
                r = -cone_slack(s, block, row, a, &weight, &size);
            else
                r = -residual(s, row + i, a, &size);
            if (block->kind == ZW_EQUALITY)
                r = fabs(r);
            if (r > worst * size)
                worst = r / size;
        }
    }
    return worst;
}

double scene_margin(const scene *s, const double *a)
{
    double least = 1;
    for (int k = 0, row = 0; k < s->problem.block_count; row += s->problem.block[k++].rows) {
        double size, weight, slack;
        if (s->problem.block[k].kind != ZW_CONE)
            continue;
        slack = cone_slack(s, &s->problem.block[k], row, a, &weight, &size);
        double depth = weight > 1e-14 * size ? slack / weight : 0;
        if (depth < least)
            least = depth;
    }
    return least;
}

/* ---- Text --------------------------------------------------------------------------------- */

static void write_line(FILE *out, const double *x, int count)
{
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%.17g", i ? " " : "", x ? x[i] : 0.0);
    fprintf(out, "\n");
}

static void write_metric(const scene *s, scene *scratch, FILE *out)
{
    int n = s->problem.n;
    double *x = scene_alloc(scratch, (size_t)n, sizeof *x);
    double *y = scene_alloc(scratch, (size_t)n, sizeof *y);
    fprintf(out, "metric\n");
    for (int i = 0; i < n; i++) {
        x[i] = 1;
        scene_times_M(s, x, y);
        x[i] = 0;
        write_line(out, y, n);
    }
}

static void write_rows(const scene *s, scene *scratch, FILE *out)
{
    const zw_rows *A = &s->problem.A;
    int n = s->problem.n;
    double *x = scene_alloc(scratch, (size_t)n, sizeof *x);
    fprintf(out, "A\n");
    for (int i = 0; i < s->m; i++) {
        if (A->dense) {
            write_line(out, A->dense + (size_t)i * (size_t)n, n);
            continue;
        }
        for (int j = 0; j < n; j++)
            x[j] = 0;
        for (int k = A->start[i]; k < A->start[i + 1]; k++)
            x[A->column[k]] += A->value[k];
        write_line(out, x, n);
    }
}

static void write_blocks(const scene *s, FILE *out)
{
    static const char *const kinds[] = {"equality", "inequality", "cone"};
    for (int k = 0; k < s->problem.block_count; k++) {
        const zw_block *block = &s->problem.block[k];
        fprintf(out, "block %s %d", kinds[block->kind], block->rows);
        for (int i = 0; i < ZW_CONE_ROWS - 1; i++)
            fprintf(out, " %.17g", block->friction[i]);
        fprintf(out, " %s\n", block->name ? block->name : "-");
    }
}

void scene_write(const scene *s, FILE *out)
{
    const zw_gauss *p = &s->problem;
    scene *scratch = scene_new("", 0);

    fprintf(out, "problem %s\n%d %d %d %s\n", s->name, p->n, s->m, p->block_count,
            s->law == ZW_CONTACT_CONVEX ? "convex" : "coulomb");
    write_metric(s, scratch, out);
    fprintf(out, p->force ? "force\n" : "free\n");
    write_line(out, p->force ? p->force : p->free, p->n);
    write_blocks(s, out);
    write_rows(s, scratch, out);
    fprintf(out, "b\n");
    write_line(out, p->b, s->m);
    fprintf(out, "compliance\n");
    write_line(out, p->compliance, s->m);
    fprintf(out, "C\n");
    write_line(out, p->C, p->n);
    fprintf(out, "conflict %d", s->conflict_count);
    for (int i = 0; i < s->conflict_count; i++)
        fprintf(out, " %d", s->conflict[i]);
    fprintf(out, "\nend\n");
    scene_free(scratch);
}
