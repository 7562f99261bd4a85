/* A table as a file. Each writer fills a temporary file next to `path` and renames it on success,
 * so that under its final name a file is complete or absent. (Files in /dev are written in place.)
 * An error message has the file's name and the reason given by the operating system. The same table
 * gives the same bytes. */
#ifndef ZW_RECORD_WRITE_H
#define ZW_RECORD_WRITE_H

#include "record/table.h"

/* Names, then numbers in full precision; nan, inf and -inf where a number is not finite. */
zw_status record_write_csv(const record_table *table, const char *path, zw_error *error);

/* A 1-D dataset for each column; ZW_NO_FILE in a build without HDF5. */
zw_status record_write_h5(const record_table *table, const char *path, zw_error *error);
bool record_has_h5(void);

/* The plots as one static picture; coordinates and energy over time if the table has none. */
zw_status record_write_svg(const record_table *table, const char *path, zw_error *error);

/* A self-contained page for any browser: animation, charts, summary and source. In a build without
 * the scripts of web/: the picture of record_write_svg, summary and source. */
zw_status record_write_html(const record_table *table, const char *path, zw_error *error);

/* One of these, by the extension of the path. */
zw_status record_write(const record_table *table, const char *path, zw_error *error);

#endif
