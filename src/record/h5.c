/* HDF5: a group "columns" with a 1-D dataset for each column.
 *
 * A dataset is named after its column, with "/" and "." replaced, since HDF5 reads those as paths;
 * its attributes "name" and "role" are exact. The root's attributes are title, file and the notes
 * (version, method, verdict ...); the source, the summary, the marks and the labels of rows are
 * datasets outside the group "columns". */
#include "base/error.h"
#include "base/memory.h"
#include "record/copy.h"
#include "record/file.h"
#include "record/write.h"

#ifndef ZW_HAVE_HDF5

bool record_has_h5(void)
{
    return false;
}

zw_status record_write_h5(const record_table *table, const char *path, zw_error *error)
{
    zw_status status = record_file_check(table, path, error);
    if (status != ZW_OK) {
        return status;
    }
    return base_fail(error, ZW_NO_FILE,
                     "cannot write %.300s: zwang was built without HDF5 (Debian: libhdf5-dev)",
                     path);
}

#else

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

bool record_has_h5(void)
{
    return true;
}

/* All helpers return whether they succeeded, and close what they opened in any case. */

static hid_t string_type(size_t length)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, length + 1) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

static bool put_attribute(hid_t place, const char *key, const char *text)
{
    hid_t type = string_type(strlen(text)), space = H5Screate(H5S_SCALAR);
    hid_t attribute = type >= 0 && space >= 0
                          ? H5Acreate2(place, key, type, space, H5P_DEFAULT, H5P_DEFAULT)
                          : -1;
    bool ok = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
    ok &= attribute < 0 || H5Aclose(attribute) >= 0;
    ok &= type < 0 || H5Tclose(type) >= 0;
    ok &= space < 0 || H5Sclose(space) >= 0;
    return ok;
}

/* Without a creation time, so that the same table gives the same bytes. */
static hid_t create_set(hid_t place, const char *name, hid_t type, hid_t space)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), set = -1;
    if (list >= 0) {
        set = H5Pset_obj_track_times(list, false) >= 0
                  ? H5Dcreate2(place, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT)
                  : -1;
        H5Pclose(list);
    }
    return set;
}

/* Attributes are limited to 64 kB; a long text is a dataset. */
static bool put_string(hid_t place, const char *name, const char *text)
{
    hid_t type = string_type(strlen(text)), space = H5Screate(H5S_SCALAR);
    hid_t set = type >= 0 && space >= 0 ? create_set(place, name, type, space) : -1;
    bool ok = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    ok &= set < 0 || H5Dclose(set) >= 0;
    ok &= type < 0 || H5Tclose(type) >= 0;
    ok &= space < 0 || H5Sclose(space) >= 0;
    return ok;
}

/* A dataset of doubles, open for attributes; -1 when it failed. Little-endian on every machine. */
static hid_t put_doubles(hid_t place, const char *name, const double *value, size_t count)
{
    const hsize_t size = count;
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t set = space >= 0 ? create_set(place, name, H5T_IEEE_F64LE, space) : -1;
    bool ok = set >= 0 && (count == 0 || H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                                                  H5P_DEFAULT, value) >= 0);
    ok &= space < 0 || H5Sclose(space) >= 0;
    if (!ok && set >= 0) {
        H5Dclose(set);
        set = -1;
    }
    return set;
}

/* A name that had to be changed gets the column's number, and marks until it is unique. */
static void h5_name(char *name, size_t capacity, const record_table *table, int column)
{
    const char *from = table->column[column].name;
    bool dots = true, changed = strlen(from) > 120;
    size_t used = 0;
    for (; from[used] != '\0' && used < 120; used++) {
        name[used] = from[used] == '/' ? '|' : from[used];
        changed |= from[used] == '/';
        dots &= from[used] == '.';
    }
    name[used] = '\0';
    if (changed || dots) {
        snprintf(name + used, capacity - used, " #%d", column);
        while (record_table_find(table, name) >= 0 && strlen(name) + 2 < capacity) {
            strcat(name, "#");
        }
    }
}

static bool put_column(hid_t place, const record_table *table, int column)
{
    char name[200];
    h5_name(name, sizeof name, table, column);
    hid_t set = put_doubles(place, name, record_table_column(table, column), table->row_count);
    bool ok = set >= 0 && put_attribute(set, "name", table->column[column].name) &&
              put_attribute(set, "role", record_role_text(table->column[column].role));
    ok &= set < 0 || H5Dclose(set) >= 0;
    return ok;
}

/* A dataset of all times, and a numbered text for each label. */
static bool put_marks(hid_t root, const record_table *table, double *time)
{
    hid_t group = H5Gcreate2(root, "marks", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = group >= 0;
    for (int i = 0; i < table->mark_count; i++) {
        time[i] = table->mark[i].time;
    }
    hid_t set = ok ? put_doubles(group, "time", time, (size_t)table->mark_count) : -1;
    ok = ok && set >= 0;
    for (int i = 0; ok && i < table->mark_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "label %d", i);
        ok = put_string(group, name, table->mark[i].label);
    }
    ok &= set < 0 || H5Dclose(set) >= 0;
    ok &= group < 0 || H5Gclose(group) >= 0;
    return ok;
}

static bool put_summary(hid_t root, const record_table *table)
{
    hid_t group = H5Gcreate2(root, "summary", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = group >= 0;
    for (int i = 0; ok && i < table->summary_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d", i);
        ok = put_string(group, name, table->summary[i].text);
        hid_t set = ok ? H5Dopen2(group, name, H5P_DEFAULT) : -1;
        ok = set >= 0 && put_attribute(set, "label", table->summary[i].label);
        ok &= set < 0 || H5Dclose(set) >= 0;
    }
    ok &= group < 0 || H5Gclose(group) >= 0;
    return ok;
}

/* The labels of rows: labels/row and, of the same length, labels/text. */
static bool put_labels(hid_t root, const record_table *table)
{
    size_t count = (size_t)table->label_count, width = 1;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(table->label[i].text) + 1;
        width = length > width ? length : width;
    }
    const hsize_t size = count;
    char *text = base_alloc(count * width + 1);
    double *row = base_alloc((count + 1) * sizeof *row);
    for (size_t i = 0; text != NULL && row != NULL && i < count; i++) {
        memcpy(text + i * width, table->label[i].text, strlen(table->label[i].text));
        row[i] = (double)table->label[i].row;
    }
    hid_t group = text != NULL && row != NULL
                      ? H5Gcreate2(root, "labels", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                      : -1;
    hid_t rows = group >= 0 ? put_doubles(group, "row", row, count) : -1;
    hid_t type = string_type(width - 1), space = H5Screate_simple(1, &size, NULL);
    hid_t set = rows >= 0 && type >= 0 && space >= 0 ? create_set(group, "text", type, space) : -1;
    bool ok =
        set >= 0 && (count == 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0);
    ok &= set < 0 || H5Dclose(set) >= 0;
    ok &= rows < 0 || H5Dclose(rows) >= 0;
    ok &= type < 0 || H5Tclose(type) >= 0;
    ok &= space < 0 || H5Sclose(space) >= 0;
    ok &= group < 0 || H5Gclose(group) >= 0;
    base_free(text);
    base_free(row);
    return ok;
}

static bool put_notes(hid_t root, const record_table *table)
{
    bool ok = true;
    for (int i = 0; ok && i < table->note_count; i++) {
        ok = put_attribute(root, table->note[i].label, table->note[i].text);
    }
    return ok;
}

static bool put_table(hid_t root, const record_table *table, double *time)
{
    bool ok = put_attribute(root, "title", table->text[RECORD_TEXT_TITLE]) &&
              put_attribute(root, "file", table->text[RECORD_TEXT_FILE]) &&
              put_string(root, "source", table->text[RECORD_TEXT_SOURCE]) &&
              put_summary(root, table) && put_marks(root, table, time) && put_notes(root, table) &&
              (table->label_count == 0 || put_labels(root, table));
    hid_t group = ok ? H5Gcreate2(root, "columns", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    ok = ok && group >= 0;
    for (int c = 0; ok && c < table->column_count; c++) {
        ok = !record_is_number(table, c) || put_column(group, table, c);
    }
    ok &= group < 0 || H5Gclose(group) >= 0;
    return ok;
}

/* The bytes of the file as HDF5 would write it; NULL: no memory. The caller frees it. */
static unsigned char *make_image(const record_table *table, double *time, size_t *size)
{
    enum { GROWTH = 1 << 20 }; /* increment in bytes by which HDF5's memory image grows */
    unsigned char *image = NULL;
    ssize_t length = -1;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t root = access >= 0 && H5Pset_fapl_core(access, GROWTH, false) >= 0
                     ? H5Fcreate("recording", H5F_ACC_TRUNC, H5P_DEFAULT, access)
                     : -1;
    if (root >= 0 && put_table(root, table, time) && H5Fflush(root, H5F_SCOPE_LOCAL) >= 0) {
        length = H5Fget_file_image(root, NULL, 0);
    }
    if (length > 0) {
        image = base_alloc((size_t)length);
    }
    if (image != NULL && H5Fget_file_image(root, image, (size_t)length) != length) {
        base_free(image);
        image = NULL;
    }
    if (root >= 0) {
        H5Fclose(root);
    }
    if (access >= 0) {
        H5Pclose(access);
    }
    *size = length > 0 ? (size_t)length : 0;
    return image;
}

/* HDF5 writes to memory only: when a disk is full, it keeps its file open, and its exit handler,
 * which closes files, crashes (HDF5 1.10). */
zw_status record_write_h5(const record_table *table, const char *path, zw_error *error)
{
    zw_status status = record_file_check(table, path, error);
    if (status != ZW_OK) {
        return status;
    }
    unsigned char *image = NULL;
    size_t size = 0;
    double *time = base_alloc((size_t)table->mark_count * sizeof *time);
    if (time != NULL) {
        /* HDF5 prints its errors; the library must not print. */
        H5E_auto2_t print = NULL;
        void *data = NULL;
        H5Eget_auto2(H5E_DEFAULT, &print, &data);
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
        image = make_image(table, time, &size);
        H5Eset_auto2(H5E_DEFAULT, print, data);
    }
    base_free(time);
    if (image == NULL) {
        return record_no_memory(error);
    }
    record_file file;
    status = record_file_open(&file, path, error);
    if (status == ZW_OK) {
        record_put_bytes(&file, image, size);
        status = record_file_close(&file, error);
    }
    base_free(image);
    return status;
}

#endif
