/* Files to tokens. Includes are resolved before parsing, so that the list of tokens is not
 * reallocated afterwards; the token of an include's text holds the number of its file. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "read/file/file.h"
#include "read/zw/zw.h"

static int is_include(const reader *r, int token)
{
    const expr_token *t = &r->tokens.token[token];
    return t->kind == EXPR_TOKEN_NAME && t->begins_line &&
           read_symbol_is(r, t->symbol, "include") && t[1].kind == EXPR_TOKEN_STRING;
}

/* A line that starts with a keyword is a new statement: if the previous one is not finished, a
 * bracket is missing or it ends with an operator. */
static int check_lines(reader *r, int first)
{
    int open[EXPR_MOST_NESTED + 1];
    int depth = 0;
    for (int i = first; i < r->tokens.count; i++) {
        const expr_token *t = &r->tokens.token[i];
        int begins =
            i > first && t->begins_line && t->kind == EXPR_TOKEN_NAME && read_is_word(r, t->symbol);
        if (begins && depth > 0) {
            return read_fail(r, open[depth - 1],
                             "this '%c' is not closed before the next statement (line %d)",
                             *r->tokens.token[open[depth - 1]].text, t->line);
        }
        if (begins && t[-1].kind != EXPR_TOKEN_NEWLINE) {
            return read_fail(
                r, i - 1,
                "a line that ends with %s continues on the next one, but that begins a statement",
                expr_token_text((expr_token_kind)t[-1].kind));
        }
        if ((t->kind == EXPR_TOKEN_OPEN || t->kind == EXPR_TOKEN_OPEN_SQUARE) &&
            depth < EXPR_MOST_NESTED) {
            open[depth++] = i;
        } else if ((t->kind == EXPR_TOKEN_CLOSE || t->kind == EXPR_TOKEN_CLOSE_SQUARE) &&
                   depth > 0) {
            depth--;
        }
    }
    return 1;
}

/* The path of an include, relative to the file that contains it. */
static char *include_path(reader *r, int token)
{
    const expr_token *t = &r->tokens.token[token];
    const char *home = r->model->file[t->file].name;
    char *path = read_path_join(home, read_path_folder(home), t->text + 1, (size_t)t->length - 2);
    if (path == NULL) {
        read_no_memory(r);
    }
    return path;
}

static int follow_include(reader *r, int token)
{
    if (!r->limits.includes) {
        return read_fail(r, token, "other files cannot be included here");
    }
    char *path = include_path(r, token);
    if (path == NULL) {
        return 0;
    }
    for (int i = 0; i < r->model->file_count; i++) {
        if (strcmp(r->model->file[i].name, path) == 0) {
            base_free(path);
            if (r->file_open[i]) {
                return read_fail(r, token,
                                 "this file is being read already; the includes are circular");
            }
            r->tokens.token[token].symbol = -1; /* its statements have been read already */
            return 1;
        }
    }
    int file = r->model->file_count;
    int ok = read_file_open(r, path, token);
    base_free(path);
    r->tokens.token[token].symbol = file;
    return ok;
}

/* Tokens of the last file of the model, and of the files it includes. */
static int file_lex(reader *r)
{
    int file = r->model->file_count - 1;
    int first = r->tokens.count;
    expr_fault fault = {0};
    r->file_start[file] = first;
    zw_status status = expr_lex(r->model->file[file].text, file, &r->symbols, &r->tokens, &fault);
    if (status == ZW_NO_MEMORY) {
        return read_no_memory(r);
    }
    if (!check_lines(r, first)) {
        return 0;
    }
    if (status != ZW_OK) {
        return read_fail_fault(r, &fault);
    }
    int end = r->tokens.count;
    r->file_open[file] = 1;
    for (int i = first; i + 1 < end; i++) {
        if (is_include(r, i) && !follow_include(r, i + 1)) {
            return 0;
        }
    }
    r->file_open[file] = 0;
    return 1;
}

/* The model takes ownership of the text and keeps a copy of the name. */
static int file_keep(reader *r, const char *name, char *text)
{
    model_file *file = text != NULL ? model_add_file(r->model) : NULL;
    if (file == NULL) {
        base_free(text);
        return read_no_memory(r);
    }
    file->text = text;
    file->name = model_text_copy(name, strlen(name));
    return file->name != NULL || read_no_memory(r);
}

int read_file_text(reader *r, const char *name, const char *text)
{
    return file_keep(r, name, model_text_copy(text, strlen(text))) && file_lex(r);
}

/* The last file contains a zero byte, at which its text ends. */
static int fail_zero(reader *r)
{
    expr_fault fault = {.status = ZW_BAD_INPUT, .line = 1, .column = 1, .length = 1};
    fault.file = r->model->file_count - 1;
    for (const char *c = r->model->file[fault.file].text; *c != 0; c++) {
        fault.column = *c == '\n' ? 1 : fault.column + 1;
        fault.line += *c == '\n';
    }
    snprintf(fault.text, sizeof fault.text, "there is a zero byte here; is this a text file?");
    return read_fail_fault(r, &fault);
}

int read_file_open(reader *r, const char *path, int token)
{
    if (r->model->file_count == READ_MOST_FILES) {
        return read_fail(r, token, "there are more than %d files", READ_MOST_FILES);
    }
    size_t length;
    read_file_state state;
    char *text = read_file_bytes(r->options, path, &length, &state);
    if (text == NULL) {
        return state == READ_FILE_MISSING
                   ? read_fail(r, token, "cannot open the file '%.200s'%s", path,
                               read_similar_file(r->options, path).text)
               : state == READ_FILE_TOO_LARGE
                   ? read_fail(r, token, "'%.200s' has more than " READ_FILE_MOST_TEXT, path)
               : state == READ_FILE_UNREADABLE
                   ? read_fail(r, token, "'%.200s' cannot be read; is it a folder?", path)
                   : read_no_memory(r);
    }
    const char *zero = memchr(text, 0, length);
    if (!file_keep(r, path, text)) {
        return 0;
    }
    return zero == NULL ? file_lex(r) : fail_zero(r);
}

/* The first line of the file, if it is a comment. */
int read_title(reader *r)
{
    const char *at = r->model->file[0].text;
    if (r->model->title != NULL) {
        return 1;
    }
    at += strncmp(at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    at += strspn(at, " \t\r\n");
    if (*at != '#') {
        return 1;
    }
    at += strspn(at, "# \t");
    size_t length = strcspn(at, "\r\n");
    while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\t')) {
        length--;
    }
    if (length > 0) {
        r->model->title = model_text_copy(at, length);
        return r->model->title != NULL ? 1 : read_no_memory(r);
    }
    return 1;
}
