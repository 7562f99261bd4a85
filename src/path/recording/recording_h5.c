/* Recordings as HDF5: every one-dimensional dataset of numbers is a column, at the root or in a
 * group below it.
 *
 * zwang's own files (record/h5.c) have them in the group "columns", each with its true name as an
 * attribute "name"; then only that group counts, since the marks beside it have times of their own.
 */
#include "path/recording/recording.h"

#ifndef ZW_HAVE_HDF5

zw_path *recording_read_h5(recording *r)
{
    recording_fail(r, ZW_NO_FILE, 0, 0, 0,
                   "cannot be read: zwang was built without HDF5 (Debian: libhdf5-dev)");
    return NULL;
}

#else

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"

enum { NAME = 512 };

/* For each title: where the dataset is, and its length. */
typedef struct h5_set {
    char *place; /* "columns/x" */
    long count;
} h5_set;

typedef struct h5_scan {
    recording *r;
    const char *group; /* "" at the root */
    h5_set *set;
    int count, capacity;
    zw_status status;
} h5_scan;

/* The number of values of a list of numbers, or -1 for anything else. MATLAB writes lists as tables
 * of one row. */
static long length_of(hid_t set)
{
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    hsize_t size[H5S_MAX_RANK] = {0}, count = 1, longest = 0;
    int rank = space >= 0 && H5Sget_simple_extent_type(space) == H5S_SIMPLE
                   ? H5Sget_simple_extent_dims(space, size, NULL)
                   : 0;
    for (int i = 0; i < rank; i++) {
        longest = size[i] > longest ? size[i] : longest;
        count = size[i] == 0 || count < ((hsize_t)1 << 40) / size[i] ? count * size[i] : 0;
    }
    if (type >= 0) {
        H5Tclose(type);
    }
    if (space >= 0) {
        H5Sclose(space);
    }
    int numbers = kind == H5T_FLOAT || kind == H5T_INTEGER;
    return numbers && rank > 0 && count == longest ? (long)count : -1;
}

/* The attribute "name", as record/h5.c writes it; or else the name of the dataset. */
static void name_of(hid_t set, const char *link, char name[NAME])
{
    snprintf(name, NAME, "%s", link);
    if (H5Aexists(set, "name") <= 0) {
        return;
    }
    hid_t attribute = H5Aopen(set, "name", H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    char text[NAME] = "";
    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
        H5Tget_size(type) < sizeof text && H5Aread(attribute, type, text) >= 0 && text[0] != 0) {
        snprintf(name, NAME, "%s", text);
    }
    if (type >= 0) {
        H5Tclose(type);
    }
    if (attribute >= 0) {
        H5Aclose(attribute);
    }
}

static zw_status take_set(h5_scan *s, hid_t set, const char *link)
{
    char name[NAME];
    long count = length_of(set);
    if (count < 0) {
        return ZW_OK;
    }
    size_t length = strlen(s->group) + strlen(link) + 2;
    char *place = base_alloc(length);
    if (place == NULL || !base_list_reserve(&s->set, &s->capacity, s->count, sizeof *s->set)) {
        base_free(place);
        return recording_no_memory(s->r);
    }
    snprintf(place, length, "%s%s%s", s->group, s->group[0] ? "/" : "", link);
    s->set[s->count++] = (h5_set){place, count};
    name_of(set, link, name);
    return recording_add_title(s->r, name, strlen(name), 0, 0);
}

/* Only objects in this file: external links are not followed. */
static herr_t visit_set(hid_t group, const char *link, const H5L_info_t *info, void *user)
{
    h5_scan *s = user;
    if (info->type != H5L_TYPE_HARD) {
        return 0;
    }
    hid_t it = H5Oopen(group, link, H5P_DEFAULT);
    if (it >= 0 && H5Iget_type(it) == H5I_DATASET) {
        s->status = take_set(s, it, link);
    }
    if (it >= 0) {
        H5Oclose(it);
    }
    return s->status != ZW_OK;
}

static void visit_in(h5_scan *s, hid_t place, const char *group)
{
    s->group = group;
    H5Literate(place, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_set, s);
    s->group = "";
}

static herr_t visit_group(hid_t root, const char *link, const H5L_info_t *info, void *user)
{
    h5_scan *s = user;
    if (info->type != H5L_TYPE_HARD) {
        return 0;
    }
    hid_t it = H5Oopen(root, link, H5P_DEFAULT);
    if (it >= 0 && H5Iget_type(it) == H5I_GROUP) {
        visit_in(s, it, link);
    }
    if (it >= 0) {
        H5Oclose(it);
    }
    return s->status != ZW_OK;
}

static zw_status collect(h5_scan *s, hid_t root)
{
    hid_t ours =
        H5Lexists(root, "columns", H5P_DEFAULT) > 0 ? H5Gopen2(root, "columns", H5P_DEFAULT) : -1;
    if (ours >= 0) {
        visit_in(s, ours, "columns");
        H5Gclose(ours);
    } else {
        visit_in(s, root, "");
        if (s->status == ZW_OK) {
            H5Literate(root, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_group, s);
        }
    }
    if (s->status == ZW_OK && s->count == 0) {
        s->status = recording_fail(s->r, ZW_BAD_INPUT, 0, 0, 0,
                                   "there are no lists of numbers, neither at the root of the file "
                                   "nor in its groups");
    }
    return s->status;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

/* Reads one column into `to`, with this stride. */
static zw_status fetch(const h5_scan *s, hid_t root, int column, double *spare, double *to,
                       int stride)
{
    const h5_set *from = &s->set[column];
    const char *name = s->r->title[column].name;
    hid_t set = H5Dopen2(root, from->place, H5P_DEFAULT);
    int ok = set >= 0 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, spare) >= 0;
    if (set >= 0) {
        H5Dclose(set);
    }
    if (!ok) {
        return recording_fail(s->r, ZW_NO_FILE, 0, 0, 0, "the dataset '%.100s' cannot be read",
                              from->place);
    }
    for (long i = 0; i < from->count; i++) {
        if (!isfinite(spare[i])) {
            return recording_fail(s->r, ZW_BAD_INPUT, 0, 0, 0,
                                  "'%.100s' is not finite in sample %ld", name, i + 1);
        }
        to[i * stride] = spare[i];
    }
    return ZW_OK;
}

static zw_status check_lengths(const h5_scan *s)
{
    const recording *r = s->r;
    long count = s->set[r->of[0]].count;
    for (int k = 1; k < 1 + 2 * zw_count(r->system, ZW_KIND_COORD); k++) {
        if (r->of[k] >= 0 && s->set[r->of[k]].count != count) {
            return recording_fail(
                r, ZW_BAD_INPUT, 0, 0, 0, "'%.100s' has %ld samples, but the time '%.100s' has %ld",
                r->title[r->of[k]].name, s->set[r->of[k]].count, r->title[r->of[0]].name, count);
        }
    }
    if (count < 2) {
        return recording_fail(r, ZW_BAD_INPUT, 0, 0, 0, "there %s; a motion has two at least",
                              count == 0 ? "are no samples" : "is one sample only");
    }
    return ZW_OK;
}

static zw_status check_times(const h5_scan *s, const zw_path *path)
{
    const double *t = path->t;
    for (long i = 1; i < path->count; i++) {
        if (t[i] < t[i - 1]) {
            return recording_fail(s->r, ZW_BAD_INPUT, 0, 0, 0,
                                  "the time decreases in sample %ld, from %.9g to %.9g", i + 1,
                                  t[i - 1], t[i]);
        }
    }
    return ZW_OK;
}

static zw_status fill(const h5_scan *s, hid_t root, zw_path *path)
{
    const recording *r = s->r;
    int n = path->n, speeds = path->v != NULL ? path->speeds : 0;
    double *spare = base_alloc((size_t)path->count * sizeof *spare);
    zw_status status = spare != NULL ? ZW_OK : recording_no_memory(r);
    for (int k = 0; k < 1 + n + speeds && status == ZW_OK; k++) {
        double *to = k == 0 ? path->t : k <= n ? path->q + (k - 1) : path->v + (k - 1 - n);
        if (r->of[k] >= 0) {
            status = fetch(s, root, r->of[k], spare, to, k == 0 ? 1 : k <= n ? n : speeds);
        }
    }
    base_free(spare);
    return status == ZW_OK ? check_times(s, path) : status;
}

/* ---- All ------------------------------------------------------------------------------------ */

/* Why a file does not open: HDF5 itself only reports a stack of its own functions. */
static void fail_open(const recording *r)
{
    errno = 0;
    char byte;
    FILE *stream = fopen(r->file, "rb");
    if (stream == NULL || (fread(&byte, 1, 1, stream) != 1 && ferror(stream))) {
        recording_fail(r, ZW_NO_FILE, 0, 0, 0, "cannot be read: %s",
                       errno != 0 ? strerror(errno) : "cannot be opened");
    } else {
        recording_fail(r, ZW_BAD_INPUT, 0, 0, 0, "this is not an HDF5 file, or it is damaged");
    }
    if (stream != NULL) {
        fclose(stream);
    }
}

static zw_path *read_file(recording *r)
{
    h5_scan s = {.r = r, .group = ""};
    zw_path *path = NULL;
    hid_t root = H5Fopen(r->file, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (root < 0) {
        fail_open(r);
        return NULL;
    }
    zw_status status = collect(&s, root);
    status = status == ZW_OK ? recording_match(r) : status;
    status = status == ZW_OK ? check_lengths(&s) : status;
    if (status == ZW_OK) {
        path = recording_path(r, s.set[r->of[0]].count);
    }
    if (path != NULL && fill(&s, root, path) != ZW_OK) {
        zw_path_free(path);
        path = NULL;
    }
    H5Fclose(root);
    for (int i = 0; i < s.count; i++) {
        base_free(s.set[i].place);
    }
    base_free(s.set);
    return path;
}

zw_path *recording_read_h5(recording *r)
{
    /* HDF5 prints its errors; the library must not print. */
    H5E_auto2_t print = NULL;
    void *data = NULL;
    H5Eget_auto2(H5E_DEFAULT, &print, &data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    zw_path *path = read_file(r);
    H5Eset_auto2(H5E_DEFAULT, print, data);
    return path;
}

#endif
