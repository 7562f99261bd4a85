/* JSON that is valid for any names and numbers. */
#include <math.h>
#include <string.h>

#include "cli.h"

/* The number of bytes of a well-formed UTF-8 character, 0 if it is invalid. */
static int utf8_length(const unsigned char *c)
{
    int length = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    if (c[0] > 0xf4 || (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
        (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f)) {
        return 0;
    }
    for (int i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

static void put_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        int length = utf8_length(c);
        if (length == 0) {
            fputs("\\ufffd", to);
        } else if (*c < 0x20 || *c == 0x7f) {
            fprintf(to, "\\u%04x", *c);
        } else if (*c == '"' || *c == '\\') {
            fprintf(to, "\\%c", *c);
        } else {
            fwrite(c, 1, (size_t)length, to);
        }
        c += length ? length : 1;
    }
    fputc('"', to);
}

/* Writes the comma, the line break and the key before a value. */
static void begin(cli_json *json, const char *key)
{
    if (json->depth > 0) {
        fprintf(json->to, "%s\n%*s", json->first ? "" : ",", 2 * json->depth, "");
    }
    json->first = 0;
    if (key) {
        put_text(json->to, key);
        fputs(": ", json->to);
    }
}

void cli_json_open(cli_json *json, const char *key, char bracket)
{
    begin(json, key);
    fputc(bracket, json->to);
    json->depth++;
    json->first = 1;
}

void cli_json_close(cli_json *json, char bracket)
{
    json->depth--;
    if (!json->first) {
        fprintf(json->to, "\n%*s", 2 * json->depth, "");
    }
    fputc(bracket, json->to);
    json->first = 0;
    if (json->depth == 0) {
        fputc('\n', json->to);
    }
}

void cli_json_number(cli_json *json, const char *key, double value)
{
    begin(json, key);
    if (isfinite(value)) {
        fprintf(json->to, "%.17g", value);
    } else {
        fputs("null", json->to);
    }
}

void cli_json_int(cli_json *json, const char *key, long value)
{
    begin(json, key);
    fprintf(json->to, "%ld", value);
}

void cli_json_bool(cli_json *json, const char *key, int value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->to);
}

void cli_json_text(cli_json *json, const char *key, const char *value)
{
    begin(json, key);
    put_text(json->to, value);
}

void cli_json_error(cli_json *json, const zw_error *error)
{
    cli_json_open(json, "error", '{');
    cli_json_text(json, "status", zw_status_text(error->status));
    cli_json_text(json, "message", error->text);
    cli_json_text(json, "file", error->file);
    cli_json_int(json, "line", error->line);
    cli_json_int(json, "column", error->column);
    cli_json_close(json, '}');
}
