/* Comma-separated values, RFC 4180, which spreadsheets, numpy and R read without options.
 *
 * The origin of the numbers is written above the titles, in lines that begin with #, and a last
 * column `event` names the events of a row, if the recording has any; a plain file has neither. A
 * name that a spreadsheet would take for a formula (=, +, -, @) is preceded by an apostrophe,
 * unless it is a formula, as the names of plotted columns are. */
#include "record/file.h"
#include "record/write.h"

#include <stdio.h>
#include <string.h>

/* A name with commas, quotes, line breaks or blanks at its ends is quoted, and so is one that would
 * begin a comment. */
static void put_name(record_file *file, const char *name, bool is_formula)
{
    char guarded[512];
    if (!is_formula && name[0] != '\0' && strchr("=+-@", name[0]) != NULL) {
        snprintf(guarded, sizeof guarded, "'%s", name);
        name = guarded;
    }
    size_t length = strlen(name);
    bool plain = strpbrk(name, ",\"\r\n#") == NULL && name[0] != ' ' && name[length - 1] != ' ';
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

/* The texts have no line breaks. */
static void put_notes(record_file *file, const record_table *table)
{
    for (int i = 0; i < table->note_count; i++) {
        record_put(file, "# ");
        record_put(file, table->note[i].label);
        record_put(file, ": ");
        for (const char *c = table->note[i].text; *c != '\0'; c++) {
            record_put_bytes(file, *c == '\n' || *c == '\r' ? " " : c, 1);
        }
        record_put(file, "\n");
    }
}

static void put_titles(record_file *file, const record_table *table, bool labels)
{
    const char *comma = "";
    for (int c = 0; c < table->column_count; c++) {
        if (record_is_number(table, c)) {
            record_put(file, comma);
            put_name(file, table->column[c].name, table->column[c].role == RECORD_ROLE_PLOT);
            comma = ",";
        }
    }
    if (labels) {
        const char *title = table->label_title ? table->label_title : "event";
        record_putf(file, ",%s%s", title, record_table_find(table, title) < 0 ? "" : " (label)");
    }
    record_put(file, "\n");
}

/* The events of a row; *next is the first label not yet written. */
static void put_labels(record_file *file, const record_table *table, size_t row, int *next)
{
    const char *before = ",";
    int first = *next;
    while (*next < table->label_count && table->label[*next].row == row) {
        (*next)++;
    }
    for (int i = first; i < *next; i++) {
        record_put(file, before);
        put_name(file, table->label[i].text, false);
        before = " ";
    }
    record_put(file, first == *next ? ",\n" : "\n");
}

zw_status record_write_csv(const record_table *table, const char *path, zw_error *error)
{
    record_file file;
    zw_status status = record_file_check(table, path, error);
    if (status != ZW_OK || (status = record_file_open(&file, path, error)) != ZW_OK) {
        return status;
    }
    bool labels = table->label_count > 0 && !table->plain;
    int next = 0;
    if (!table->plain) {
        put_notes(&file, table);
    }
    put_titles(&file, table, labels);
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
        used = used > 0 ? used - 1 : 0; /* without its last comma */
        record_put_bytes(&file, text, (size_t)used);
        if (labels) {
            put_labels(&file, table, row, &next);
        } else {
            record_put(&file, "\n");
        }
    }
    return record_file_close(&file, error);
}
