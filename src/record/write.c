#include "record/write.h"

#include <string.h>

#include "base/error.h"

zw_status record_write(const record_table *table, const char *path, zw_error *error)
{
    static const struct {
        const char *ending;
        zw_status (*write)(const record_table *, const char *, zw_error *);
    } known[] = {{".csv", record_write_csv},
                 {".h5", record_write_h5},
                 {".hdf5", record_write_h5},
                 {".svg", record_write_svg},
                 {".html", record_write_html}};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t tail = strlen(known[i].ending);
        if (length > tail && strcmp(path + length - tail, known[i].ending) == 0) {
            return known[i].write(table, path, error);
        }
    }
    return base_fail(
        error, ZW_BAD_INPUT,
        "%.300s: the file name must end in .csv, .h5, .svg or .html, which selects the format",
        path);
}
