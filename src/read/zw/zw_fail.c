/* Error messages with places and suggestions. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "read/zw/zw.h"

int read_place_token(reader *r, int token)
{
    if (r->place_of != NULL && r->place_of[token] > 0) {
        return r->place_of[token] - 1;
    }
    const expr_token *t = &r->tokens.token[token];
    int place =
        model_add_place(r->model, t->file, t->line, t->column, t->length > 0 ? t->length : 1);
    if (place < 0) {
        read_no_memory(r);
    } else if (r->place_of != NULL) {
        r->place_of[token] = place + 1;
    }
    return place;
}

int read_place(reader *r, int tree)
{
    return read_place_token(r, r->trees.tree[tree].token);
}

int read_no_memory(reader *r)
{
    if (r->status == ZW_OK) {
        r->status = model_fail(r->model, r->error, ZW_NO_MEMORY, -1, "out of memory");
    }
    return 0;
}

static int fail_at(reader *r, int place, const char *format, va_list arguments)
{
    if (expr_graph_status(r->model->graph) != ZW_OK) {
        read_no_memory(r); /* this error is a consequence of that */
    } else if (r->status == ZW_OK) {
        char message[600];
        vsnprintf(message, sizeof message, format, arguments);
        r->status = model_fail(r->model, r->error, ZW_BAD_INPUT, place, "%s", message);
    }
    return 0;
}

int read_fail(reader *r, int token, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_at(r, token < 0 ? -1 : read_place_token(r, token), format, arguments);
    va_end(arguments);
    return 0;
}

int read_place_whole(reader *r, int tree)
{
    const expr_tree *node = &r->trees.tree[tree];
    const expr_token *from = &r->tokens.token[node->from];
    const expr_token *last = &r->tokens.token[node->to - 1];
    int length =
        from->line == last->line ? last->column + last->length - from->column : from->length;
    int place = model_add_place(r->model, from->file, from->line, from->column, length);
    if (place < 0) {
        read_no_memory(r);
    }
    return place;
}

int read_fail_tree(reader *r, int tree, const char *format, ...)
{
    int place = read_place_whole(r, tree);
    if (place < 0) {
        return 0;
    }
    va_list arguments;
    va_start(arguments, format);
    fail_at(r, place, format, arguments);
    va_end(arguments);
    return 0;
}

int read_fail_fault(reader *r, const expr_fault *fault)
{
    if (fault->status == ZW_NO_MEMORY) {
        return read_no_memory(r);
    }
    int place = model_add_place(r->model, fault->file, fault->line, fault->column, fault->length);
    if (place < 0) {
        return read_no_memory(r);
    }
    if (r->status == ZW_OK) {
        r->status = model_fail(r->model, r->error, fault->status, place, "%s", fault->text);
    }
    return 0;
}

/* ---- Showing ------------------------------------------------------------------------------ */

read_shown read_show_place(const reader *r, int token, int from)
{
    read_shown shown;
    const expr_token *t = &r->tokens.token[token];
    if (t->file == r->tokens.token[from].file) {
        snprintf(shown.text, sizeof shown.text, "line %d", t->line);
    } else {
        const char *name = r->model->file[t->file].name;
        size_t length = strlen(name);
        snprintf(shown.text, sizeof shown.text, "%.60s:%d", length > 60 ? name + length - 60 : name,
                 t->line);
    }
    return shown;
}

read_shown read_show_tokens(const reader *r, int from, int to)
{
    read_shown shown = {""};
    size_t used = 0;
    for (int i = from; i < to; i++) {
        const expr_token *t = &r->tokens.token[i];
        if (used + (size_t)t->length < sizeof shown.text) {
            memcpy(shown.text + used, t->text, (size_t)t->length);
            used += (size_t)t->length;
        }
    }
    return shown;
}

read_shown read_show_symbol(const reader *r, int symbol)
{
    read_shown shown;
    const expr_symbol *s = &r->symbols.symbol[symbol];
    int most = s->length < 50 ? s->length : 50;
    snprintf(shown.text, sizeof shown.text, "%.*s%s", most, s->text, most < s->length ? "..." : "");
    return shown;
}

read_shown read_show_index(const reader *r, int name, const int *index)
{
    read_shown shown = read_show_symbol(r, r->name[name].symbol);
    size_t used = strlen(shown.text);
    for (int i = 0; i < r->name[name].indices; i++) {
        used += (size_t)snprintf(shown.text + used, sizeof shown.text - used, "%s%d",
                                 i == 0 ? "[" : ",", index[i]);
    }
    if (r->name[name].indices > 0) {
        snprintf(shown.text + used, sizeof shown.text - used, "]");
    }
    return shown;
}

read_shown read_show_member(const reader *r, int member)
{
    return read_show_index(r, r->member[member].name, r->member[member].index);
}

read_shown read_show_value(const read_value *value)
{
    read_shown shown;
    if (value->n == 1) {
        snprintf(shown.text, sizeof shown.text, "a scalar");
    } else {
        snprintf(shown.text, sizeof shown.text, "a vector of %d components", value->n);
    }
    return shown;
}

/* ---- Guessing ----------------------------------------------------------------------------- */

enum { GUESS_LONGEST = 39 };

static int min3(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

static int same_letter(char a, char b)
{
    return (a | 32) == (b | 32);
}

/* Edit distance: letters inserted, deleted, replaced or swapped with a neighbour. */
static int edit_distance(const char *a, int m, const char *b, int n)
{
    int row[3][GUESS_LONGEST + 1];
    for (int j = 0; j <= n; j++) {
        row[0][j] = j;
    }
    for (int i = 1; i <= m; i++) {
        int *now = row[i % 3], *up = row[(i + 2) % 3], *above = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= n; j++) {
            now[j] = min3(up[j] + 1, now[j - 1] + 1, up[j - 1] + !same_letter(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]) && above[j - 2] + 1 < now[j]) {
                now[j] = above[j - 2] + 1;
            }
        }
    }
    return row[m % 3][n];
}

read_guess read_guess_start(const char *text, int length)
{
    return (read_guess){.text = text, .length = length, .distance = INT_MAX};
}

void read_guess_offer(read_guess *guess, const char *text, int length)
{
    if (length > GUESS_LONGEST || guess->length > GUESS_LONGEST) {
        return;
    }
    int distance = edit_distance(guess->text, guess->length, text, length);
    int longest = length > guess->length ? length : guess->length;
    int most = longest <= 2 ? 1 : longest <= 5 ? 2 : 3;
    if (distance <= most && distance < longest && distance < guess->distance) {
        guess->distance = distance;
        memcpy(guess->best, text, (size_t)length);
        guess->best[length] = 0;
    }
}

read_shown read_guess_show(const read_guess *guess)
{
    read_shown shown = {""};
    if (guess->distance != INT_MAX) {
        snprintf(shown.text, sizeof shown.text, "; did you mean '%s'?", guess->best);
    }
    return shown;
}

read_guess read_guess_name(const reader *r, int symbol)
{
    static const char *const constants[] = {
        "pi", "deg", "inf", "energy", "kinetic_energy", "potential_energy"};
    const expr_symbol *s = &r->symbols.symbol[symbol];
    read_guess guess = read_guess_start(s->text, s->length);
    for (int i = 0; i < r->name_count; i++) {
        const expr_symbol *known = &r->symbols.symbol[r->name[i].symbol];
        if (r->name[i].kind != READ_CONSTRAINT && r->name[i].kind != READ_EVENT) {
            read_guess_offer(&guess, known->text, known->length);
        }
    }
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        read_guess_offer(&guess, constants[i], (int)strlen(constants[i]));
    }
    if (r->robot_token >= 0 && r->robot_name < 0) {
        read_robot_guess(r, &guess);
    }
    return guess;
}
