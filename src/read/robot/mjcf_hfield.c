/* Height fields of MJCF: from a file, from a list of numbers, or flat.
 *
 * As in MuJoCo, the numbers are shifted and scaled so that the lowest is 0 and the highest size[2].
 * A list of numbers is in the order seen from above, the row of the largest y first, and so is an
 * image (a greyscale PNG, of which all 16 bits are used, not only the upper 8); in a binary file
 * the row of the smallest y is first. That has two 4-byte integers, rows and columns, then a float
 * for each point, all little-endian. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "read/file/file.h"
#include "read/file/png.h"
#include "read/robot/mjcf.h"

enum { MOST_POINTS = 16000000, MOST_LINES = 46340 };

static uint32_t little(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static int sizes(mjcf *m, int element, const char *attribute, long long rows, long long columns)
{
    return (rows >= 2 && columns >= 2 && rows <= MOST_LINES && columns <= MOST_LINES &&
            rows * columns <= MOST_POINTS) ||
           form_fail(&m->xml, element, attribute,
                     "%lld rows and %lld columns; each must be 2 to %d, and at most %d points",
                     rows, columns, MOST_LINES, MOST_POINTS);
}

/* The top row of an image is that of the largest y. */
static int from_picture(mjcf *m, int element, const char *path, const char *bytes, size_t length,
                        zw_hfield_def *def, double **height)
{
    long long rows, columns;
    char why[200] = "";
    if (!read_png_size(bytes, length, &columns, &rows, why)) {
        return form_fail(&m->xml, element, "file", "'%.200s': %s", path, why);
    }
    if (!sizes(m, element, "file", rows, columns)) {
        return 0;
    }
    size_t count = (size_t)(rows * columns), row = (size_t)columns;
    double *grey = base_alloc(count * sizeof *grey);
    *height = base_alloc(count * sizeof **height);
    int ok = grey != NULL && *height != NULL ? read_png_grey(bytes, length, grey, why) : -1;
    for (size_t r = 0; ok > 0 && r < (size_t)rows; r++) {
        memcpy(*height + r * row, grey + ((size_t)rows - 1 - r) * row, row * sizeof *grey);
    }
    base_free(grey);
    def->rows = (int)rows;
    def->columns = (int)columns;
    return ok < 0    ? xml_no_memory(&m->xml)
           : ok == 0 ? form_fail(&m->xml, element, "file", "'%.200s': %s", path, why)
                     : 1;
}

static int from_bytes(mjcf *m, int element, const char *path, const char *bytes, size_t length,
                      zw_hfield_def *def, double **height)
{
    long long rows = length >= 8 ? (int32_t)little(bytes) : 0;
    long long columns = length >= 8 ? (int32_t)little(bytes + 4) : 0;
    if (!sizes(m, element, "file", rows, columns)) {
        return 0;
    }
    size_t count = (size_t)(rows * columns);
    if (length != 8 + 4 * count) {
        return form_fail(&m->xml, element, "file",
                         "'%.200s' says %lld rows and %lld columns; that makes %zu bytes, and "
                         "there are %zu",
                         path, rows, columns, 8 + 4 * count, length);
    }
    *height = base_alloc(count * sizeof **height);
    if (*height == NULL) {
        return xml_no_memory(&m->xml);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = little(bytes + 8 + 4 * i);
        float single;
        memcpy(&single, &bits, sizeof single);
        (*height)[i] = (double)single;
        if (!isfinite(single)) {
            return form_fail(&m->xml, element, "file",
                             "'%.200s': the height in row %zu, column %zu is not finite", path,
                             i / (size_t)columns, i % (size_t)columns);
        }
    }
    def->rows = (int)rows;
    def->columns = (int)columns;
    return 1;
}

static int from_file(mjcf *m, int element, const char *file, zw_hfield_def *def, double **height)
{
    size_t length;
    char *path, *bytes = mjcf_asset_bytes(m, element, file, "height field", &path, &length, NULL);
    int ok = 0;
    if (bytes != NULL) {
        ok = read_png_is(bytes, length) ? from_picture(m, element, path, bytes, length, def, height)
                                        : from_bytes(m, element, path, bytes, length, def, height);
    }
    base_free(bytes);
    base_free(path);
    return ok;
}

static int from_text(mjcf *m, int element, const mjcf_hfield *x, zw_hfield_def *def,
                     double **height)
{
    double *list = NULL;
    int numbers = 0;
    if (!sizes(m, element, xml_find(&m->xml, element, "nrow") >= 0 ? "nrow" : NULL, x->nrow,
               x->ncol) ||
        !mjcf_list(m, element, x->elevation, &list, &numbers)) {
        return 0;
    }
    int count = x->nrow * x->ncol, ok = 1;
    if (list != NULL && numbers != count) {
        ok = form_fail(&m->xml, element, "elevation",
                       "%d rows and %d columns make %d heights; there are %d", x->nrow, x->ncol,
                       count, numbers);
    }
    *height = ok ? base_alloc((size_t)count * sizeof **height) : NULL;
    if (ok && *height == NULL) {
        ok = xml_no_memory(&m->xml);
    }
    for (int i = 0; ok && list != NULL && i < count; i++) {
        int row = x->nrow - 1 - i / x->ncol;
        (*height)[row * x->ncol + i % x->ncol] = list[i];
        if (!isfinite(list[i])) {
            ok = form_fail(&m->xml, element, "elevation", "height %d is not finite", i + 1);
        }
    }
    base_free(list);
    def->rows = x->nrow;
    def->columns = x->ncol;
    return ok;
}

/* Shifts and scales the heights to 0 .. `high`. */
static void normalize(double *height, int count, double high)
{
    double low = INFINITY, top = -INFINITY;
    for (int i = 0; i < count; i++) {
        low = fmin(low, height[i]);
        top = fmax(top, height[i]);
    }
    for (int i = 0; i < count; i++) {
        height[i] = top > low ? high * ((height[i] - low) / (top - low)) : 0;
    }
}

static int check(mjcf *m, int element, const mjcf_hfield *x)
{
    static const char *const what[] = {"half length in x", "half length in y", "elevation", "base"};
    if ((x->given & form_bit(mjcf_hfield_rows, "size")) == 0) {
        return form_fail(&m->xml, element, NULL,
                         "a height field needs a size: half lengths in x and y, elevation, base");
    }
    for (int i = 0; i < 4; i++) {
        if (!(x->size[i] > 0) || !isfinite(x->size[i])) {
            return form_fail(&m->xml, element, "size", "its %s is %g; it must be positive", what[i],
                             x->size[i]);
        }
    }
    for (int i = 0; x->file != NULL && i < 3; i++) {
        static const char *const word[] = {"nrow", "ncol", "elevation"};
        if (xml_find(&m->xml, element, word[i]) >= 0) {
            return form_fail(&m->xml, element, word[i], "the file already gives this");
        }
    }
    return 1;
}

int mjcf_hfield_read(mjcf *m, int element)
{
    mjcf_hfield x = {0};
    zw_hfield_def def = zw_hfield_default();
    double *height = NULL;
    if (!form_apply(&m->xml, element, mjcf_hfield_rows, &x, &x.given) || !check(m, element, &x)) {
        return 0;
    }
    if (x.name == NULL && (x.file == NULL || (x.name = mjcf_asset_name(m, x.file)) == NULL)) {
        return x.file != NULL ? 0
                              : form_fail(&m->xml, element, NULL, "this height field needs a name");
    }
    int ok = x.file != NULL ? from_file(m, element, x.file, &def, &height)
                            : from_text(m, element, &x, &def, &height);
    if (ok) {
        def.name = x.name;
        def.height_count = def.rows * def.columns;
        def.height = height;
        def.half[0] = x.size[0];
        def.half[1] = x.size[1];
        def.base = x.size[3];
        def.place = xml_place(&m->xml, element);
        normalize(height, def.height_count, x.size[2]);
        ok = mjcf_add(m, ZW_KIND_HFIELD, &def, NULL);
    }
    base_free(height);
    return ok;
}
