#include "system/events/tangent.h"

#include <math.h>

tangent tangent_look(const zw_system *system, int constraint, const double *slip)
{
    const system_slip *shape = &system->slip[constraint];
    tangent it = {.width = shape->width,
                  .rank = shape->rank,
                  .rows = shape->rows,
                  .row = shape->row,
                  .size = shape->size,
                  .columns = shape->columns,
                  .column = system->slip_column + shape->first_column,
                  .e = slip + shape->at};
    it.bias = it.e + it.width;
    it.T = it.bias + it.width;
    it.nu = it.T + it.width * it.columns;
    it.miss = it.nu[it.rows * it.size];
    return it;
}

static double norm(int s, const double *x)
{
    double sum = 0;
    for (int i = 0; i < s; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

/* Tangents of a normal in space: the cross product with the axis that is farthest from it (ties:
 * the first), and the cross product with that. */
void tangent_direction(const tangent *it, int k, double *d)
{
    if (it->rank == it->width) {
        for (int i = 0; i < it->width; i++) {
            d[i] = i == k;
        }
        return;
    }
    const double *nu = it->nu;
    int far = 0;
    for (int i = 1; i < TANGENT_WIDTH; i++) {
        far = fabs(nu[i]) < fabs(nu[far]) ? i : far;
    }
    double axis[TANGENT_WIDTH] = {0}, u[TANGENT_WIDTH], w[TANGENT_WIDTH];
    axis[far] = 1;
    for (int i = 0; i < TANGENT_WIDTH; i++) {
        int j = (i + 1) % TANGENT_WIDTH, l = (i + 2) % TANGENT_WIDTH;
        u[i] = nu[j] * axis[l] - nu[l] * axis[j];
    }
    for (int i = 0; i < TANGENT_WIDTH; i++) {
        int j = (i + 1) % TANGENT_WIDTH, l = (i + 2) % TANGENT_WIDTH;
        w[i] = nu[j] * u[l] - nu[l] * u[j];
    }
    const double *chosen = k == 0 ? u : w;
    double size = norm(TANGENT_WIDTH, chosen);
    for (int i = 0; i < TANGENT_WIDTH; i++) {
        d[i] = chosen[i] / size;
    }
}

double tangent_speed(const tangent *it)
{
    return norm(it->width, it->e);
}

double tangent_push(const tangent *it)
{
    return norm(it->size, it->nu);
}

double tangent_force(const tangent *it, const double *lambda)
{
    double force[TANGENT_WIDTH] = {0};
    for (int r = 0; r < it->rows; r++) {
        for (int i = 0; i < it->size; i++) {
            force[i] += it->nu[r * it->size + i] * lambda[it->row[r]];
        }
    }
    return norm(it->size, force);
}
