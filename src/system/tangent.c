/* Gram and Schmidt on at most three components: the rows of the constraint first, then the unit
 * vectors, each time the one with the largest rest (ties: the first). */
#include "system/tangent.h"

#include <math.h>

int tangent_support(const zw_system *system, int constraint, int *support)
{
    int begin = system->A_start[system->first_row[constraint]];
    int end = system->A_start[system->first_row[constraint + 1]];
    int count = 0, last = -1;
    for (;;) { /* the next larger column */
        int next = system->n;
        for (int k = begin; k < end; k++) {
            int column = system->A_column[k];
            next = column > last && column < next ? column : next;
        }
        if (next == system->n) {
            return count;
        }
        if (support && count < TANGENT_SUPPORT) {
            support[count] = next;
        }
        count++;
        last = next;
    }
}

int tangent_count(const zw_system *system, int constraint)
{
    int rows = system->first_row[constraint + 1] - system->first_row[constraint];
    int support = tangent_support(system, constraint, NULL);
    return support > rows ? support - rows : 0;
}

static void remove_part(int s, double basis[][TANGENT_SUPPORT], int count, double *x)
{
    for (int k = 0; k < count; k++) {
        double along = 0;
        for (int i = 0; i < s; i++) {
            along += basis[k][i] * x[i];
        }
        for (int i = 0; i < s; i++) {
            x[i] -= along * basis[k][i];
        }
    }
}

static double norm(int s, const double *x)
{
    double sum = 0;
    for (int i = 0; i < s; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

static int append(int s, double basis[][TANGENT_SUPPORT], int count, const double *x)
{
    double size = norm(s, x);
    if (!(size > 0) || count >= s) {
        return count;
    }
    for (int i = 0; i < s; i++) {
        basis[count][i] = x[i] / size;
    }
    return count + 1;
}

/* An orthonormal basis of the rows over the support; answers their number. */
static int normals(const zw_system *system, int constraint, const double *A, int *support, int *s,
                   double basis[][TANGENT_SUPPORT])
{
    int count = 0, size = tangent_support(system, constraint, support);
    size = size < TANGENT_SUPPORT ? size : TANGENT_SUPPORT;
    for (int r = system->first_row[constraint]; r < system->first_row[constraint + 1]; r++) {
        double x[TANGENT_SUPPORT] = {0};
        for (int e = system->A_start[r]; e < system->A_start[r + 1]; e++) {
            for (int i = 0; i < size; i++) {
                x[i] = system->A_column[e] == support[i] ? A[e] : x[i];
            }
        }
        remove_part(size, basis, count, x);
        count = append(size, basis, count, x);
    }
    *s = size;
    return count;
}

double tangent_speed(const zw_system *system, int constraint, const double *A, const double *v,
                     double *s, int *support)
{
    int own[TANGENT_SUPPORT] = {0}, size = 0;
    double basis[TANGENT_SUPPORT + 1][TANGENT_SUPPORT];
    int *at = support ? support : own;
    int count = normals(system, constraint, A, at, &size, basis);
    for (int i = 0; i < size; i++) {
        s[i] = v[at[i]];
    }
    remove_part(size, basis, count, s);
    return norm(size, s);
}

void tangent_vector(const zw_system *system, int constraint, int k, const double *A, double *t)
{
    int support[TANGENT_SUPPORT] = {0}, s = 0;
    double basis[TANGENT_SUPPORT + 1][TANGENT_SUPPORT];
    int count = normals(system, constraint, A, support, &s, basis);
    for (int wanted = count + k + 1; count < wanted;) {
        double best[TANGENT_SUPPORT] = {0};
        for (int j = 0; j < s; j++) {
            double x[TANGENT_SUPPORT] = {0};
            x[j] = 1;
            remove_part(s, basis, count, x);
            if (norm(s, x) > norm(s, best)) {
                for (int i = 0; i < s; i++) {
                    best[i] = x[i];
                }
            }
        }
        int before = count;
        count = append(s, basis, count, best);
        if (count == before) {
            break;
        }
    }
    for (int i = 0; i < s; i++) {
        t[i] = basis[count - 1][i];
    }
}
