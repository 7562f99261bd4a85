#include "record/file.h"

#include "base/error.h"
#include "base/memory.h"
#include "record/copy.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- Files that are complete or absent ------------------------------------------------------- */

/* A device must not be replaced by a file. */
static bool is_device(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0;
}

char *record_file_temporary(const char *path)
{
    static const char ending[] = ".tmp~";
    size_t length = strlen(path), more = is_device(path) ? 0 : sizeof ending - 1;
    char *temporary = base_alloc(length + more + 1);
    if (temporary != NULL) {
        memcpy(temporary, path, length);
        memcpy(temporary + length, ending, more);
    }
    return temporary;
}

zw_status record_file_fail(const char *path, int cause, zw_error *error)
{
    zw_status status = base_fail(error, ZW_NO_FILE, "cannot write %.300s: %s", path,
                                 cause != 0 ? strerror(cause) : "no reason given");
    if (error != NULL) {
        snprintf(error->file, sizeof error->file, "%s", path);
    }
    return status;
}

zw_status record_file_check(const void *table, const char *path, zw_error *error)
{
    if (table == NULL || path == NULL || path[0] == '\0') {
        return base_fail(error, ZW_BAD_INPUT, "recording: no table or no file name");
    }
    return ZW_OK;
}

zw_status record_file_settle(const char *temporary, const char *path, bool ok, zw_error *error)
{
    if (is_device(path)) {
        return ZW_OK;
    }
    if (!ok) {
        remove(temporary);
        return ZW_OK;
    }
    errno = 0;
    if (rename(temporary, path) != 0) {
        int cause = errno;
        remove(temporary);
        return record_file_fail(path, cause, error);
    }
    return ZW_OK;
}

zw_status record_file_open(record_file *file, const char *path, zw_error *error)
{
    *file = (record_file){.path = path, .temporary = record_file_temporary(path)};
    if (file->temporary == NULL) {
        return record_no_memory(error);
    }
    errno = 0;
    file->stream = fopen(file->temporary, "wb");
    if (file->stream == NULL) {
        zw_status status = record_file_fail(path, errno, error);
        base_free(file->temporary);
        return status;
    }
    return ZW_OK;
}

zw_status record_file_close(record_file *file, zw_error *error)
{
    /* The last bytes are written only now, so a full disk may be noticed here first. */
    errno = 0;
    if (fclose(file->stream) != 0 && !file->failed) {
        file->failed = true;
        file->cause = errno;
    }
    zw_status status = record_file_settle(file->temporary, file->path, !file->failed, error);
    if (file->failed) {
        status = record_file_fail(file->path, file->cause, error);
    }
    base_free(file->temporary);
    return status;
}

void record_file_drop(record_file *file)
{
    fclose(file->stream);
    record_file_settle(file->temporary, file->path, false, NULL);
    base_free(file->temporary);
}

/* ---- Text ----------------------------------------------------------------------------------- */

void record_put_bytes(record_file *file, const void *bytes, size_t count)
{
    if (file->failed) {
        return;
    }
    errno = 0;
    if (fwrite(bytes, 1, count, file->stream) != count) {
        file->failed = true;
        file->cause = errno;
    }
}

void record_put(record_file *file, const char *text)
{
    record_put_bytes(file, text, strlen(text));
}

void record_putf(record_file *file, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0) {
        record_put_bytes(file, text,
                         (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
    }
}

/* Replaces the decimal separator of the locale, of one byte or several, by a point. */
static int plain_point(char *text, size_t capacity, const char *raw)
{
    size_t used = 0;
    for (const char *c = raw; *c != '\0' && used + 1 < capacity; c++) {
        if ((*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e') {
            text[used++] = *c;
        } else if (used > 0 && text[used - 1] != '.') {
            text[used++] = '.';
        }
    }
    text[used] = '\0';
    return (int)used;
}

int record_number_text(char *text, size_t capacity, double value, int digits)
{
    if (!isfinite(value)) {
        return snprintf(text, capacity, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    }
    char raw[64];
    snprintf(raw, sizeof raw, "%.*g", digits, value);
    return plain_point(text, capacity, raw);
}

int record_fixed_text(char *text, size_t capacity, double value, int decimals)
{
    char raw[400]; /* a double has up to 309 digits before its point */
    snprintf(raw, sizeof raw, "%.*f", decimals, value);
    return plain_point(text, capacity, raw);
}

void record_put_number(record_file *file, double value, int digits)
{
    char text[64];
    record_number_text(text, sizeof text, value, digits);
    record_put(file, text);
}

/* The number of bytes of the UTF-8 character at `c`; 0 if it is invalid. */
static size_t utf8_length(const unsigned char *c)
{
    if (c[0] < 0x80) {
        return 1;
    }
    size_t length = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    if (c[0] < 0xc2 || c[0] > 0xf4) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
    bool surrogate = c[0] == 0xed && c[1] >= 0xa0;
    bool beyond = c[0] == 0xf4 && c[1] >= 0x90;
    bool forbidden = c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe; /* U+FFFE, U+FFFF: not in XML */
    return overlong || surrogate || beyond || forbidden ? 0 : length;
}

static const char *escape_of(unsigned char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default:
        return c < 0x20 || c == 0x7f ? "\xef\xbf\xbd" : NULL;
    }
}

void record_put_escaped(record_file *file, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
        size_t length = utf8_length(c);
        const char *escape = length == 0 ? "\xef\xbf\xbd" : escape_of(*c);
        if (escape != NULL) {
            record_put(file, escape);
        } else {
            record_put_bytes(file, c, length);
        }
        c += length > 0 ? length : 1;
    }
}

void record_put_json(record_file *file, const char *text)
{
    record_put(file, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
        size_t length = utf8_length(c);
        if (length == 0) {
            record_put(file, "\\ufffd");
        } else if (length == 1 && (*c < 0x20 || *c == 0x7f || strchr("\"\\<>&", *c) != NULL)) {
            record_putf(file, "\\u%04x", (unsigned)*c);
        } else {
            record_put_bytes(file, c, length);
        }
        c += length > 0 ? length : 1;
    }
    record_put(file, "\"");
}

void record_put_base64(record_file *file, const unsigned char *bytes, size_t count)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4 * 256];
    size_t used = 0;
    for (size_t i = 0; i < count; i += 3) {
        unsigned long word = (unsigned long)bytes[i] << 16;
        word |= i + 1 < count ? (unsigned long)bytes[i + 1] << 8 : 0;
        word |= i + 2 < count ? (unsigned long)bytes[i + 2] : 0;
        line[used++] = digit[word >> 18 & 63];
        line[used++] = digit[word >> 12 & 63];
        line[used++] = i + 1 < count ? digit[word >> 6 & 63] : '=';
        line[used++] = i + 2 < count ? digit[word & 63] : '=';
        if (used == sizeof line) {
            record_put_bytes(file, line, used);
            used = 0;
        }
    }
    record_put_bytes(file, line, used);
}
