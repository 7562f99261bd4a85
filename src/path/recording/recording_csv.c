/* Recordings as text: titles, then a line of numbers for each sample.
 *
 * Fields are separated by commas, semicolons, tabs or blanks, whichever the titles use; a field may
 * be quoted. Lines that begin with # are comments, and empty ones are skipped. The titles may be in
 * a comment, if the first other line has numbers. Lines end with LF or CR LF.
 *
 * The file is read as a whole and scanned once; columns that are not needed are skipped. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "expr/lexer.h"
#include "math/decimal.h"
#include "path/recording/recording.h"

#define MOST_BYTES ((uint64_t)1 << 36)
enum { FIRST_BYTES = 1 << 16, LONGEST_LINE = 1 << 26, SHOWN = 40 };

/* ---- The file ------------------------------------------------------------------------------- */

/* The size of the file, where it is known: pipes do not have one. */
static size_t first_capacity(FILE *stream)
{
    long size = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : -1;
    rewind(stream);
    int known = size >= 0 && (uint64_t)size < MOST_BYTES;
    return known && size > FIRST_BYTES ? (size_t)size + 2 : FIRST_BYTES;
}

static zw_status fail_binary(const recording *r, const char *zero)
{
    static const char hdf5[] = "\x89HDF\r\n\x1a\n";
    if (r->size >= 8 && memcmp(r->text, hdf5, 8) == 0) {
        return recording_fail(r, ZW_BAD_INPUT, 0, 0, 0,
                              "this is an HDF5 file; then its name must end in .h5 or .hdf5");
    }
    int line = 1;
    for (const char *c = r->text; c < zero; c++) {
        line += *c == '\n';
    }
    return recording_fail(r, ZW_BAD_INPUT, 0, 0, 0,
                          "there is a zero byte in line %d; is this a text file?", line);
}

/* Reads all bytes and appends a 0. A zero byte within is an error, as a text has none. */
static zw_status take_bytes(recording *r, FILE *stream)
{
    size_t capacity = first_capacity(stream);
    r->text = base_alloc(capacity);
    for (size_t got = 1; r->text != NULL && got > 0;) {
        errno = 0;
        got = fread(r->text + r->size, 1, capacity - r->size - 1, stream);
        const char *zero = memchr(r->text + r->size, 0, got);
        r->size += got;
        if (zero != NULL) {
            return fail_binary(r, zero);
        }
        if (got > 0 && r->size == capacity - 1) {
            char *wider = 2 * capacity <= MOST_BYTES ? base_alloc(2 * capacity) : NULL;
            if (wider != NULL) {
                memcpy(wider, r->text, r->size);
            }
            base_free(r->text);
            r->text = wider;
            capacity *= 2;
        }
    }
    if (r->text == NULL) {
        return recording_no_memory(r);
    }
    if (ferror(stream)) {
        return recording_fail(r, ZW_NO_FILE, 0, 0, 0, "cannot be read: %s",
                              errno != 0 ? strerror(errno) : "a read failed");
    }
    if (r->size >= 3 && memcmp(r->text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
        r->size -= 3;
        memmove(r->text, r->text + 3, r->size + 1);
    }
    return ZW_OK;
}

static zw_status take_file(recording *r)
{
    errno = 0;
    FILE *stream = fopen(r->file, "rb");
    if (stream == NULL) {
        return recording_fail(r, ZW_NO_FILE, 0, 0, 0, "cannot be read: %s",
                              errno != 0 ? strerror(errno) : "cannot be opened");
    }
    zw_status status = take_bytes(r, stream);
    fclose(stream);
    return status;
}

/* ---- Lines ---------------------------------------------------------------------------------- */

typedef struct scan {
    recording *r;
    const char *line, *stop; /* of the line: its first byte, and the one after its last */
    const char *next;        /* line */
    int number;              /* of the line, from 1 */
    char separator;          /* ' ': any run of blanks and tabs */
    int *slot;               /* [titles] where in `row` a column goes, or -1 */
    double *row;             /* [1 + 2 n] time, coordinates, speeds */
    const char *time;        /* where the time is in this line */
    double before;           /* the time of the previous sample */
} scan;

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A tab is a blank unless it is the separator. */
static const char *skip_blanks(const scan *s, const char *at)
{
    while (at < s->stop && is_blank(*at) && (*at != '\t' || s->separator != '\t')) {
        at++;
    }
    return at;
}

static zw_status fail_at(const scan *s, const char *from, const char *to, const char *message)
{
    int column = 1, length = 0;
    for (const char *c = s->line; c < to || c < from;) {
        int bytes = expr_utf8_length(c);
        column += c < from;
        length += c >= from;
        c += bytes > 0 ? bytes : 1;
    }
    return recording_fail(s->r, ZW_BAD_INPUT, s->number, column, length, "%s", message);
}

/* The next line that is neither empty nor a comment, or 0; *comment becomes the last comment. */
static int next_line(scan *s, scan *comment)
{
    const char *end = s->r->text + s->r->size;
    while (s->next < end) {
        const char *stop = memchr(s->next, '\n', (size_t)(end - s->next));
        s->line = s->next;
        s->next = stop != NULL ? stop + 1 : end;
        s->stop = stop != NULL ? stop : end;
        s->number++;
        const char *first = s->line;
        while (first < s->stop && is_blank(*first)) {
            first++;
        }
        if (first == s->stop) {
            continue;
        }
        while (is_blank(s->stop[-1]) && (s->stop[-1] != '\t' || s->separator == ' ')) {
            s->stop--;
        }
        if (*first != '#') {
            return 1;
        }
        if (comment != NULL) {
            *comment = *s;
        }
    }
    return 0;
}

typedef struct field {
    const char *from, *to; /* its content, without quotes and surrounding blanks */
    const char *end;       /* the separator after it, or the end of the line */
    int torn;              /* its quote is not closed, or something follows the closing one */
} field;

static const char *field_end(const scan *s, const char *at)
{
    if (s->separator == ' ') {
        while (at < s->stop && !is_blank(*at)) {
            at++;
        }
        return at;
    }
    const char *found = memchr(at, s->separator, (size_t)(s->stop - at));
    return found != NULL ? found : s->stop;
}

static field field_at(const scan *s, const char *at)
{
    field f = {.from = skip_blanks(s, at)};
    if (f.from == s->stop || *f.from != '"') {
        f.end = f.to = field_end(s, f.from);
        while (f.to > f.from && is_blank(f.to[-1])) {
            f.to--;
        }
        return f;
    }
    f.to = ++f.from;
    while (f.to < s->stop && (*f.to != '"' || (f.to + 1 < s->stop && f.to[1] == '"'))) {
        f.to += *f.to == '"' ? 2 : 1;
    }
    if (f.to == s->stop) {
        f.torn = 1;
        f.end = s->stop;
        return f;
    }
    f.end = field_end(s, f.to + 1);
    f.torn = skip_blanks(s, f.to + 1) < f.end;
    return f;
}

/* Where the next field begins; NULL: this was the last. */
static const char *next_field(const scan *s, const char *end)
{
    if (s->separator == ' ') {
        end = skip_blanks(s, end);
        return end < s->stop ? end : NULL;
    }
    return end < s->stop ? end + 1 : NULL;
}

static zw_status fail_torn(const scan *s, const field *f)
{
    return fail_at(s, f->from - 1, f->end,
                   "the quotes of this field do not close, or not at its end");
}

/* ---- Titles --------------------------------------------------------------------------------- */

/* The separator that occurs most often between the titles. x[1,2] has its own comma. */
static char separator_of(const char *at, const char *stop)
{
    static const char known[] = ",;\t";
    int count[3] = {0}, quoted = 0, depth = 0, blank = 0, best = 0;
    for (; at < stop; at++) {
        const char *which = *at != 0 ? strchr(known, *at) : NULL;
        quoted ^= *at == '"';
        depth += *at == '[';
        depth -= *at == ']' && depth > 0;
        if (which != NULL && !quoted && depth == 0) {
            count[which - known]++;
        }
        blank |= *at == ' ' && !quoted;
    }
    for (int i = 1; i < 3; i++) {
        best = count[i] > count[best] ? i : best;
    }
    return count[best] == 0 && blank ? ' ' : known[best];
}

static zw_status take_title(scan *s, const field *f)
{
    int column = 1, length = 0;
    size_t used = 0;
    char *name = base_alloc((size_t)(f->to - f->from) + 1);
    if (name == NULL) {
        return recording_no_memory(s->r);
    }
    for (const char *c = s->line; c < f->to;) {
        int bytes = expr_utf8_length(c);
        column += c < f->from;
        length += c >= f->from;
        c += bytes > 0 ? bytes : 1;
    }
    const char *from =
        f->from; /* an apostrophe hides from spreadsheets what looks like a formula */
    from += f->to - from > 1 && from[0] == '\'' && strchr("=+-@", from[1]) != NULL;
    for (const char *c = from; c < f->to; c++) {
        name[used++] = *c;
        c += *c == '"' && c + 1 < f->to && c[1] == '"'; /* "" is a quote within quotes */
    }
    zw_status status = recording_add_title(s->r, name, used, column, length > 0 ? length : 1);
    base_free(name);
    return status;
}

static zw_status take_titles(scan *s, const char *at)
{
    zw_status status = ZW_OK;
    s->r->title_line = s->number;
    s->separator = separator_of(at, s->stop);
    for (at = skip_blanks(s, at); at != NULL && status == ZW_OK;) {
        field f = field_at(s, at);
        status = f.torn ? fail_torn(s, &f) : take_title(s, &f);
        at = next_field(s, f.end);
    }
    return status;
}

static int begins_with_number(const scan *s)
{
    double value;
    const char *at = s->line;
    while (at < s->stop && (is_blank(*at) || *at == '"')) {
        at++;
    }
    int used = math_decimal(
        at, s->stop, &value); /* the whole field must be a number: "inflow" and "2nd" are titles */
    return used > 0 && (at + used == s->stop || strchr(" \t\r\",;", at[used]) != NULL);
}

/* Reads the titles; s is then before the first line of numbers. */
static zw_status take_head(scan *s)
{
    scan comment = {0};
    if (!next_line(s, &comment)) {
        return recording_fail(s->r, ZW_BAD_INPUT, 0, 0, 0,
                              s->r->size == 0 ? "the file is empty"
                                              : "there are only empty lines and comments");
    }
    if (s->stop - s->line > LONGEST_LINE) {
        return fail_at(s, s->line, s->line + 1, "this line is longer than 64 MB");
    }
    if (!begins_with_number(s)) {
        return take_titles(s, s->line);
    }
    if (comment.line == NULL) {
        return fail_at(s, s->line, s->stop,
                       "the first line must have the titles of the columns, this one has numbers");
    }
    const char *at = strchr(comment.line, '#') + 1;
    zw_status status = take_titles(&comment, at);
    s->separator = comment.separator;
    s->next = s->line; /* this line is the first sample */
    s->number--;
    return status;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static zw_status fail_number(const scan *s, const char *at, int column)
{
    char message[300], shown[SHOWN + 1];
    const char *title = s->r->title[column].name;
    field f = field_at(s, at);
    double value;
    if (f.torn) {
        return fail_torn(s, &f);
    }
    size_t length = (size_t)(f.to - f.from);
    recording_show(shown, sizeof shown, f.from, length);
    int used = math_decimal(f.from, f.to, &value);
    int comma = used > 0 && f.from + used + 1 < f.to && f.from[used] == ',' &&
                f.from[used + 1] >= '0' && f.from[used + 1] <= '9';
    if (length == 0) {
        snprintf(message, sizeof message, "there is no number for '%.100s' here", title);
    } else if (used > 0 && f.from + used == f.to) {
        snprintf(message, sizeof message, "'%.100s' is not finite here: %s", title, shown);
    } else if (comma) {
        snprintf(message, sizeof message, "%s: numbers have a decimal point, not a comma", shown);
    } else {
        snprintf(message, sizeof message, "'%s%s' is not a number, for '%.100s'", shown,
                 strlen(shown) < length ? "..." : "", title);
    }
    return fail_at(s, f.from, f.to, message);
}

/* Reads a number that is needed into the row; *at moves past the field. */
static zw_status take_number(scan *s, const char **at, int column)
{
    const char *from = skip_blanks(s, *at);
    int quoted = from < s->stop && *from == '"';
    double *value = &s->row[s->slot[column]];
    int used = math_decimal(from + quoted, s->stop, value);
    const char *end = from + quoted + used;
    if (quoted && end < s->stop && *end == '"') {
        end++;
    } else if (quoted) {
        used = 0;
    }
    if (end < s->stop && is_blank(*end)) {
        const char *after = skip_blanks(s, end);
        end = s->separator == ' ' ? end : after;
    }
    int ends = end == s->stop || *end == s->separator || (s->separator == ' ' && is_blank(*end));
    if (used == 0 || !ends || !isfinite(*value)) {
        return fail_number(s, *at, column);
    }
    if (s->slot[column] == 0) {
        s->time = from;
    }
    *at = end;
    return ZW_OK;
}

static zw_status fail_count(const scan *s, int fields, const char *from)
{
    char message[100];
    snprintf(message, sizeof message, "there are %d fields in this line, but %d titles", fields,
             s->r->title_count);
    return fail_at(s, from, fields > s->r->title_count ? s->stop : from, message);
}

static zw_status take_line(scan *s)
{
    int column = 0, titles = s->r->title_count, more = 0;
    const char *extra = NULL;
    for (const char *at = skip_blanks(s, s->line); at != NULL; column++) {
        const char *end = at;
        if (column >= titles) { /* go on counting */
            extra = extra != NULL ? extra : at;
            end = field_at(s, at).end;
            more++;
        } else if (s->slot[column] >= 0) {
            zw_status status = take_number(s, &end, column);
            if (status != ZW_OK) {
                return status;
            }
        } else {
            const char *from = skip_blanks(s, at);
            if (from < s->stop && *from == '"') {
                field f = field_at(s, from);
                if (f.torn) {
                    return fail_torn(s, &f);
                }
                end = f.end;
            } else {
                end = field_end(s, from);
            }
        }
        at = next_field(s, end);
    }
    return column == titles ? ZW_OK : fail_count(s, column, more > 0 ? extra : s->stop);
}

static zw_status fail_time(const scan *s)
{
    char message[100];
    field f = field_at(s, s->time);
    snprintf(message, sizeof message, "the time decreases here, from %.9g to %.9g", s->before,
             s->row[0]);
    return fail_at(s, f.from, f.to, message);
}

/* ---- All ------------------------------------------------------------------------------------ */

/* An upper bound of the number of rows: there are no more than lines, nor than the separators and
 * line ends allow. */
static long most_rows(const recording *r)
{
    long lines = 1;
    for (const char *c = r->text; (c = memchr(c, '\n', (size_t)(r->text + r->size - c))) != NULL;) {
        lines++;
        c++;
    }
    long fit = (long)(r->size / (size_t)r->title_count) + 1;
    return lines < fit ? lines : fit;
}

static zw_status take_rows(scan *s, zw_path *path)
{
    size_t n = (size_t)path->n, v = (size_t)path->speeds;
    long rows = 0, most = path->count;
    while (next_line(s, NULL)) {
        if (s->stop - s->line > LONGEST_LINE) {
            return fail_at(s, s->line, s->line + 1, "this line is longer than 64 MB");
        }
        zw_status status = take_line(s);
        if (status == ZW_OK && rows > 0 && s->row[0] < s->before) {
            status = fail_time(s);
        }
        if (status != ZW_OK) {
            return status;
        }
        s->before = s->row[0];
        if (rows == most) { /* impossible, see most_rows */
            return recording_no_memory(s->r);
        }
        path->first_line = rows > 0 ? path->first_line : s->number;
        path->last_line = s->number;
        path->t[rows] = s->row[0];
        memcpy(path->q + (size_t)rows * n, s->row + 1, n * sizeof *path->q);
        if (path->v != NULL) {
            memcpy(path->v + (size_t)rows * v, s->row + 1 + n, v * sizeof *path->v);
        }
        rows++;
    }
    path->count = rows;
    if (rows < 2) {
        return recording_fail(s->r, ZW_BAD_INPUT, 0, 0, 0, "there %s; a motion has two at least",
                              rows == 0 ? "are no samples" : "is one sample only");
    }
    return ZW_OK;
}

/* Where each column goes. */
static zw_status lay_out(scan *s)
{
    const recording *r = s->r;
    int wanted = 1 + zw_count(r->system, ZW_KIND_COORD) + zw_count(r->system, ZW_KIND_SPEED);
    s->slot = base_alloc((size_t)r->title_count * sizeof *s->slot);
    s->row = base_alloc((size_t)wanted * sizeof *s->row);
    if (s->slot == NULL || s->row == NULL) {
        return recording_no_memory(r);
    }
    for (int i = 0; i < r->title_count; i++) {
        s->slot[i] = r->title[i].wanted - 1;
    }
    return ZW_OK;
}

zw_path *recording_read_csv(recording *r)
{
    scan s = {.r = r};
    zw_path *path = NULL;
    zw_status status = take_file(r);
    s.next = r->text;
    status = status == ZW_OK ? take_head(&s) : status;
    status = status == ZW_OK ? recording_match(r) : status;
    status = status == ZW_OK ? lay_out(&s) : status;
    if (status == ZW_OK) {
        path = recording_path(r, most_rows(r));
    }
    if (path != NULL && take_rows(&s, path) != ZW_OK) {
        zw_path_free(path);
        path = NULL;
    }
    base_free(s.slot);
    base_free(s.row);
    return path;
}
