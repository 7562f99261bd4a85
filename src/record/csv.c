/* Comma-separated values, RFC 4180: what a spreadsheet, numpy or R reads without being asked. */
#include "record/file.h"
#include "record/write.h"

#include <string.h>

/* A name with commas, quotes, line breaks or blanks at its ends is quoted. */
static void put_name(record_file *file, const char *name)
{
    size_t length = strlen(name);
    bool plain = strpbrk(name, ",\"\r\n") == NULL && name[0] != ' ' && name[length - 1] != ' ';
    if (plain) {
        record_put(file, name);
        return;
    }
    record_put(file, "\"");
    for (const char *c = name; *c != '\0'; c++) {
        record_put_bytes(file, c, 1);
        if (*c == '"') {
            record_put(file, "\"");
        }
    }
    record_put(file, "\"");
}

zw_status record_write_csv(const record_table *table, const char *path, zw_error *error)
{
    record_file file;
    zw_status status = record_file_check(table, path, error);
    if (status != ZW_OK || (status = record_file_open(&file, path, error)) != ZW_OK) {
        return status;
    }
    const char *comma = "";
    for (int c = 0; c < table->column_count; c++) {
        if (record_is_number(table, c)) {
            record_put(&file, comma);
            put_name(&file, table->column[c].name);
            comma = ",";
        }
    }
    record_put(&file, "\n");
    for (size_t row = 0; row < table->row_count && !file.failed; row++) {
        char text[64] = "";
        int used = 0;
        for (int c = 0; c < table->column_count; c++) {
            if (record_is_number(table, c)) {
                record_put_bytes(&file, text, (size_t)used);
                used =
                    record_number_text(text, sizeof text, record_table_column(table, c)[row], 17);
                text[used++] = ',';
            }
        }
        used = used > 0 ? used : 1;
        text[used - 1] = '\n';
        record_put_bytes(&file, text, (size_t)used);
    }
    return record_file_close(&file, error);
}
