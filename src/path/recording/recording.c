/* Recordings: which column of a file is which coordinate, and the messages when one is missing.
 *
 * Names must be exactly those of the model. The time is the column t, or time if there is no t and
 * the model has no coordinate of that name; the speed of x is x', xd or x_dot, whichever of these
 * comes first and is no coordinate itself. The caller may rename any of them. All other columns are
 * ignored, and so are speeds unless those of all coordinates are there; zw_path_look lists them. */
#include "path/recording/recording.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "read/zw/zw.h"

enum { NAME = 256 };

/* ---- Messages -------------------------------------------------------------------------------- */

void recording_show(char *shown, size_t capacity, const char *text, size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < capacity;) {
        int bytes = expr_utf8_length(text + i);
        int whole = bytes > 0 && i + (size_t)bytes <= length && (unsigned char)text[i] >= 32;
        if (whole && used + (size_t)bytes >= capacity) {
            break;
        }
        memcpy(shown + used, whole ? text + i : "?", whole ? (size_t)bytes : 1);
        used += whole ? (size_t)bytes : 1;
        i += whole ? (size_t)bytes : 1;
    }
    shown[used] = 0;
}

/* model_fail shows a place in a text; here the text is that of a model with one file. */
zw_status recording_fail(const recording *r, zw_status status, int line, int column, int length,
                         const char *format, ...)
{
    static char nothing[] = "";
    char raw[600], message[sizeof raw];
    model_file file = {.name = (char *)r->file, .text = r->text != NULL ? r->text : nothing};
    model_place place = {.line = line, .column = column, .length = length > 0 ? length : 1};
    zw_model model = {.file_count = 1, .file = &file, .place_count = 1, .place = &place};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    recording_show(message, sizeof message, raw,
                   strlen(raw)); /* shortening may have cut names within a character */
    return model_fail(&model, r->error, status, line > 0 ? 0 : -1, "%s", message);
}

zw_status recording_no_memory(const recording *r)
{
    return recording_fail(r, ZW_NO_MEMORY, 0, 0, 0, "%s", zw_status_text(ZW_NO_MEMORY));
}

/* ---- Titles --------------------------------------------------------------------------------- */

zw_status recording_add_title(recording *r, const char *name, size_t length, int column,
                              int characters)
{
    char *copy = base_alloc(length + 1);
    if (copy == NULL ||
        !base_list_reserve(&r->title, &r->title_capacity, r->title_count, sizeof *r->title)) {
        base_free(copy);
        return recording_no_memory(r);
    }
    recording_show(copy, length + 1, name, length);
    r->title[r->title_count++] =
        (recording_title){.name = copy, .column = column, .length = characters};
    return ZW_OK;
}

/* The columns by name, for fast lookup: a chain of a thousand points has thousands. */
static zw_status index_titles(recording *r)
{
    r->first = base_alloc(((size_t)r->title_count + 1) * sizeof *r->first);
    if (r->first == NULL) {
        return recording_no_memory(r);
    }
    for (int i = 0; i < r->title_count; i++) {
        recording_title *title = &r->title[i];
        int before = r->symbols.count;
        int symbol = expr_symbol_add(&r->symbols, title->name, (int)strlen(title->name));
        if (symbol < 0) {
            return recording_no_memory(r);
        }
        title->again = -1;
        if (symbol == before) {
            r->first[symbol] = i;
        } else {
            r->title[r->first[symbol]].again = i;
        }
    }
    return ZW_OK;
}

static int find_title(const recording *r, const char *name)
{
    int symbol = expr_symbol_find(&r->symbols, name, (int)strlen(name));
    return symbol < 0 ? -1 : r->first[symbol];
}

/* ---- What is wanted ------------------------------------------------------------------------- */

static int unknowns(const recording *r)
{
    return zw_count(r->system, ZW_KIND_COORD);
}

static int speeds(const recording *r)
{
    return zw_count(r->system, ZW_KIND_SPEED);
}

/* Is the speed's name that of its coordinate with a mark after it? Then `bare` becomes that name.
 * Where there are quaternions, speeds have names of their own: 0. */
static int is_marked(const recording *r, int speed, char bare[NAME])
{
    snprintf(bare, NAME, "%s", zw_name(r->system, ZW_KIND_SPEED, speed));
    size_t length = strlen(bare);
    if (length > 1 && bare[length - 1] == '\'') {
        bare[length - 1] = 0;
    }
    if (zw_id(r->system, ZW_KIND_COORD, bare) >= 0) {
        return 1;
    }
    snprintf(bare, NAME, "%s", zw_name(r->system, ZW_KIND_SPEED, speed));
    return 0;
}

/* The model's name for entry k of recording.of. */
static void wanted_name(const recording *r, int k, char name[NAME])
{
    int n = unknowns(r);
    if (k == 0) {
        snprintf(name, NAME, "t");
    } else {
        char bare[NAME];
        int marked = k > n && is_marked(r, k - 1 - n, bare);
        snprintf(name, NAME, "%.*s%s", NAME - 2,
                 k > n ? bare : zw_name(r->system, ZW_KIND_COORD, k - 1), marked ? "'" : "");
    }
}

static zw_status claim(recording *r, int k, int column)
{
    recording_title *title = &r->title[column];
    char name[NAME], other[NAME];
    wanted_name(r, k, name);
    if (title->again >= 0) {
        const recording_title *twin = &r->title[title->again];
        return recording_fail(r, ZW_BAD_INPUT, r->title_line, twin->column, twin->length,
                              "there are two columns '%.100s'", title->name);
    }
    if (title->wanted > 0) {
        wanted_name(r, title->wanted - 1, other);
        return recording_fail(r, ZW_BAD_INPUT, r->title_line, title->column, title->length,
                              "the column '%.100s' cannot be both %.100s and %.100s", title->name,
                              other, name);
    }
    title->wanted = 1 + k;
    r->of[k] = column;
    return ZW_OK;
}

/* "; did you mean 'x'?", or a list of the columns; *column is the position of the guess. */
static read_shown guess_title(const recording *r, const char *name, int *column)
{
    read_guess guess = read_guess_start(name, (int)strlen(name));
    for (int i = 0; i < r->title_count; i++) {
        int length = (int)strlen(r->title[i].name);
        if (r->title[i].wanted == 0 && length > 0) {
            read_guess_offer(&guess, r->title[i].name, length);
        }
    }
    *column = guess.distance != INT_MAX ? find_title(r, guess.best) : -1;
    return read_guess_show(&guess);
}

static void append(char *text, size_t capacity, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, capacity - used, "%s", more);
}

static zw_status fail_missing(const recording *r, const char *name, const char *why)
{
    int column;
    char there[200] = "";
    read_shown guess = guess_title(r, name, &column);
    if (column >= 0) {
        const recording_title *title = &r->title[column];
        return recording_fail(r, ZW_BAD_INPUT, r->title_line, title->column, title->length,
                              "there is no column '%.100s'%s%s", name, why, guess.text);
    }
    for (int i = 0; i < r->title_count && strlen(there) < sizeof there / 2; i++) {
        char one[64];
        snprintf(one, sizeof one, "%s%.40s", i > 0 ? ", " : "", r->title[i].name);
        append(there, sizeof there, one);
        if (strlen(there) >= sizeof there / 2 && i + 1 < r->title_count) {
            append(there, sizeof there, " ...");
        }
    }
    return recording_fail(r, ZW_BAD_INPUT, r->title_line, r->title_line > 0, 1,
                          "there is no column '%.100s'%s; there are: %s", name, why, there);
}

/* ---- Names that the caller gave ------------------------------------------------------------- */

/* The entry of "t", "x" or "x'"; -1: the model has none of that name. */
static int wanted_find(const recording *r, const char *name)
{
    size_t length = strlen(name);
    char bare[NAME];
    if (strcmp(name, "t") == 0) {
        return 0;
    }
    int coord = zw_id(r->system, ZW_KIND_COORD, name);
    if (coord >= 0) {
        return 1 + coord;
    }
    int speed = zw_id(r->system, ZW_KIND_SPEED, name);
    if (speed >= 0) {
        return 1 + unknowns(r) + speed;
    }
    if (length < 2 || length >= NAME || name[length - 1] != '\'') {
        return -1;
    }
    memcpy(bare, name, length - 1);
    bare[length - 1] = 0;
    speed = zw_id(r->system, ZW_KIND_SPEED,
                  bare); /* in equations, speeds are named as their coordinates */
    return speed < 0 ? -1 : 1 + unknowns(r) + speed;
}

static zw_status fail_rename(const recording *r, const char *name)
{
    read_guess guess = read_guess_start(name, (int)strlen(name));
    for (int i = 0; i < unknowns(r); i++) {
        const char *coord = zw_name(r->system, ZW_KIND_COORD, i);
        read_guess_offer(&guess, coord, (int)strlen(coord));
    }
    return recording_fail(r, ZW_BAD_INPUT, 0, 0, 0,
                          "'%.100s' is neither a coordinate of the model nor the speed of one%s",
                          name, read_guess_show(&guess).text);
}

static zw_status match_renamed(recording *r)
{
    zw_status status = ZW_OK;
    for (int i = 0; i < r->rename_count && status == ZW_OK; i++) {
        const zw_path_column *rename = &r->rename[i];
        int k = wanted_find(r, rename->name), column = find_title(r, rename->column);
        char why[NAME];
        snprintf(why, sizeof why, " to be %.100s", rename->name);
        if (k < 0) {
            status = fail_rename(r, rename->name);
        } else if (r->of[k] >= 0) {
            status = recording_fail(r, ZW_BAD_INPUT, 0, 0, 0, "%.100s was given two columns",
                                    rename->name);
        } else {
            status = column < 0 ? fail_missing(r, rename->column, why) : claim(r, k, column);
        }
    }
    return status;
}

/* ---- All ------------------------------------------------------------------------------------ */

static zw_status match_coordinates(recording *r)
{
    zw_status status = ZW_OK;
    for (int i = 0; i < unknowns(r) && status == ZW_OK; i++) {
        const char *name = zw_name(r->system, ZW_KIND_COORD, i);
        int column = find_title(r, name);
        if (r->of[1 + i] < 0 && !(r->some && column < 0)) {
            status = column < 0 ? fail_missing(r, name, " for this coordinate of the model")
                                : claim(r, 1 + i, column);
        }
    }
    return status;
}

static zw_status match_time(recording *r)
{
    int column = find_title(r, "t");
    if (r->of[0] >= 0) {
        return ZW_OK;
    }
    if (column < 0 || r->title[column].wanted > 0) {
        column = find_title(r, "time");
    }
    if (column < 0 || r->title[column].wanted > 0) {
        return fail_missing(r, "t", " for the time (nor one 'time')");
    }
    return claim(r, 0, column);
}

/* Speeds are all used or none. */
static zw_status match_speeds(recording *r)
{
    static const char *const mark[] = {"'", "d", "_dot"};
    int n = unknowns(r), all = speeds(r), found = 0;
    for (int i = 0; i < all; i++) {
        char bare[NAME];
        int marked = is_marked(r, i, bare);
        for (int k = 0; k < (marked ? 3 : 1) && r->of[1 + n + i] < 0; k++) {
            char name[NAME + 8];
            snprintf(name, sizeof name, "%s%s", bare, marked ? mark[k] : "");
            int column = find_title(r, name);
            if (column >= 0 && r->title[column].wanted == 0) {
                zw_status status = claim(r, 1 + n + i, column);
                if (status != ZW_OK) {
                    return status;
                }
            }
        }
        found += r->of[1 + n + i] >= 0;
    }
    r->speeds = found == all || (r->some && found > 0) ? 1 : found > 0 ? -1 : 0;
    for (int k = 1 + n; k < 1 + n + all && r->speeds < 0; k++) {
        if (r->of[k] >= 0) {
            r->title[r->of[k]].wanted = 0;
            r->of[k] = -1;
        }
    }
    return ZW_OK;
}

zw_status recording_match(recording *r)
{
    int count = 1 + unknowns(r) + speeds(r);
    r->of = base_alloc((size_t)count * sizeof *r->of);
    if (r->of == NULL) {
        return recording_no_memory(r);
    }
    for (int k = 0; k < count; k++) {
        r->of[k] = -1;
    }
    zw_status status = index_titles(r);
    status = status == ZW_OK ? match_renamed(r) : status;
    status = status == ZW_OK ? match_coordinates(r) : status;
    status = status == ZW_OK ? match_time(r) : status;
    return status == ZW_OK ? match_speeds(r) : status;
}

/* ---- Paths ---------------------------------------------------------------------------------- */

static int note_ignored(const recording *r, zw_path *path)
{
    static const char untitled[] = "(untitled)";
    size_t capacity = 1, used = 0;
    for (int i = 0; i < r->title_count; i++) {
        capacity += r->title[i].wanted == 0 ? strlen(r->title[i].name) + sizeof untitled + 2 : 0;
    }
    path->ignored_as = base_alloc(capacity);
    if (path->ignored_as == NULL) {
        return 0;
    }
    for (int i = 0; i < r->title_count; i++) {
        if (r->title[i].wanted == 0) {
            used += (size_t)snprintf(path->ignored_as + used, capacity - used, "%s%s",
                                     path->ignored > 0 ? ", " : "",
                                     r->title[i].name[0] ? r->title[i].name : untitled);
            path->ignored++;
        }
    }
    return 1;
}

/* Notes which numbers were recorded; returns whether there are any. */
static int note_known(const recording *r, zw_path *path)
{
    int all = unknowns(r) + speeds(r), any = 0;
    path->known = base_alloc(((size_t)all + 1) * sizeof *path->known);
    for (int k = 0; k < all && path->known; k++) {
        path->known[k] = r->of[1 + k] >= 0;
        any |= path->known[k];
    }
    if (path->known && !any) {
        fail_missing(r, zw_name(r->system, ZW_KIND_COORD, 0), " nor any other coordinate or speed");
    }
    return path->known && any;
}

zw_path *recording_path(const recording *r, long count)
{
    zw_path *path = path_allocate(r->system, count, r->speeds > 0, r->error);
    if (path != NULL) {
        path->some_speeds = r->speeds < 0;
        snprintf(path->file, sizeof path->file, "%s", r->file);
        if (!note_ignored(r, path)) {
            zw_path_free(path);
            path = NULL;
        }
    }
    if (path == NULL) {
        recording_no_memory(r);
        return NULL;
    }
    if (r->some && !note_known(r, path)) {
        zw_path_free(path);
        return NULL;
    }
    return path;
}

zw_path_about zw_path_look(const zw_path *path)
{
    return (zw_path_about){
        .samples = path->count,
        .pieces = path->pieces,
        .start = path->count > 0 ? path->t[0] : 0,
        .end = path->count > 0 ? path->t[path->count - 1] : 0,
        .speeds = path->v != NULL     ? 1
                  : path->some_speeds ? -1
                                      : 0,
        .ignored = path->ignored,
        .ignored_as = path->ignored_as != NULL ? path->ignored_as : "",
    };
}

/* ---- Reading -------------------------------------------------------------------------------- */

static int ends(const char *file, const char *ending)
{
    size_t length = strlen(file), tail = strlen(ending);
    return length > tail && strcmp(file + length - tail, ending) == 0;
}

static void recording_clear(recording *r)
{
    for (int i = 0; i < r->title_count; i++) {
        base_free(r->title[i].name);
    }
    expr_symbols_free(&r->symbols);
    base_free(r->title);
    base_free(r->first);
    base_free(r->of);
    base_free(r->text);
}

zw_path *zw_path_read(const zw_system *system, const char *file, const zw_path_options *options,
                      zw_error *error)
{
    zw_path_options given = options != NULL ? *options : (zw_path_options){0};
    recording r = {.system = system,
                   .some = given.partial,
                   .file = file,
                   .rename = given.columns,
                   .rename_count = given.column_count,
                   .error = error};
    int h5 = ends(file, ".h5") || ends(file, ".hdf5");
    zw_path *path = h5 ? recording_read_h5(&r) : recording_read_csv(&r);
    zw_status status = path != NULL ? path_finish(path, error) : ZW_OK;
    if (path != NULL && status == ZW_OK && !(path->t[path->count - 1] > path->t[0])) {
        status = recording_fail(&r, ZW_BAD_INPUT, 0, 0, 0, "all samples are of one time");
    }
    if (path != NULL && status != ZW_OK) {
        zw_path_free(path);
        path = NULL;
    }
    recording_clear(&r);
    return path;
}
