/* Copying and freeing parts of a table; for the files of this folder. */
#ifndef ZW_RECORD_COPY_H
#define ZW_RECORD_COPY_H

#include "record/table.h"

zw_status record_no_memory(zw_error *error);
char *record_copy_text(const char *text); /* NULL: no memory */

void record_plot_clear(record_plot *plot); /* frees the texts and lists of the table's copy */
void record_draw_clear(record_draw *draw);

#endif
