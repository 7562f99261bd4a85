#include "path/fit/band.h"

#include <math.h>
#include <string.h>

void band_clear(path_band *band, double small)
{
    size_t stride = (size_t)band->width + 1;
    memset(band->row, 0, (size_t)band->size * stride * sizeof(double));
    for (long i = 0; i < band->size; i++) {
        band->row[(size_t)i * stride] = small;
    }
    band->rest = 0;
}

void band_add(path_band *band, long first, double *x)
{
    int width = band->width;
    for (int c = 0; c < width; c++) {
        double *row = band->row + (first + c) * (width + 1);
        double a = row[0], b = x[c], length = sqrt(a * a + b * b);
        if (b == 0 || length == 0) {
            continue;
        }
        double cosine = a / length, sine = b / length;
        row[0] = length;
        for (int k = 1; k < width - c; k++) {
            double r = row[k], y = x[c + k];
            row[k] = cosine * r + sine * y;
            x[c + k] = cosine * y - sine * r;
        }
        double r = row[width], y = x[width];
        row[width] = cosine * r + sine * y;
        x[width] = cosine * y - sine * r;
    }
    band->rest += x[width] * x[width];
}

void band_solve(const path_band *band, double *x)
{
    int width = band->width;
    for (long i = band->size - 1; i >= 0; i--) {
        const double *row = band->row + i * (width + 1);
        double sum = row[width];
        for (int k = 1; k < width && i + k < band->size; k++) {
            sum -= row[k] * x[i + k];
        }
        x[i] = row[0] != 0 ? sum / row[0] : 0;
    }
}
