/* How the table copies and frees; for the files of this folder. */
#ifndef ZW_RECORD_COPY_H
#define ZW_RECORD_COPY_H

#include "record/table.h"

zw_status record_no_memory(zw_error *error);
char *record_copy_text(const char *text); /* NULL when there is no memory */

void record_plot_clear(record_plot *plot); /* frees what the table's copy owns */
void record_draw_clear(record_draw *draw);

#endif
