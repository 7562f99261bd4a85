/* Parses the quantities to keep. A formula is anything that a model may plot; here it is only
 * extracted from the text around it, and the reader of the model checks it. */
#include "batch/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"

/* A part of the text, without blanks at its ends. */
typedef struct piece {
    const char *at;
    size_t length;
} piece;

static piece trim(const char *from, const char *to)
{
    while (from < to && strchr(" \t\n", *from)) {
        from++;
    }
    while (to > from && strchr(" \t\n", to[-1])) {
        to--;
    }
    return (piece){from, (size_t)(to - from)};
}

static char *copy(piece p)
{
    char *text = base_alloc(p.length + 1);
    if (text) {
        memcpy(text, p.at, p.length);
    }
    return text;
}

static int is(piece p, const char *word)
{
    return p.length == strlen(word) && !memcmp(p.at, word, p.length);
}

/* Up to the next comma outside of brackets, or to the end. */
static const char *part_end(const char *from, const char *to)
{
    int depth = 0;
    for (; from < to && (depth > 0 || *from != ','); from++) {
        depth += (*from == '(' || *from == '[') - (*from == ')' || *from == ']');
    }
    return from;
}

/* Is `text` of the form WORD(...)? Then gives the word and the content of the brackets. */
static int is_call(piece text, piece *word, piece *inside)
{
    const char *open = memchr(text.at, '(', text.length), *end = text.at + text.length;
    int depth = 0;
    if (!open || end[-1] != ')') {
        return 0;
    }
    for (const char *c = open; c < end; c++) {
        depth += (*c == '(') - (*c == ')');
        if (depth == 0 && c + 1 < end) {
            return 0; /* such as max(x) + max(y) */
        }
    }
    *word = trim(text.at, open);
    *inside = trim(open + 1, end - 1);
    return depth == 0;
}

/* "FORMULA at WORD": splits at the last `at` outside brackets. */
static int is_at(piece text, piece *formula, piece *word)
{
    int depth = 0;
    for (const char *c = text.at + text.length; c-- > text.at + 1;) {
        depth += (*c == ')' || *c == ']') - (*c == '(' || *c == '[');
        if (depth == 0 && c + 4 < text.at + text.length && !memcmp(c, " at ", 4)) {
            *formula = trim(text.at, c);
            *word = trim(c + 4, text.at + text.length);
            return formula->length > 0;
        }
    }
    return 0;
}

/* ---- Formulas ------------------------------------------------------------------------------- */

static zw_status no_memory(zw_error *error)
{
    return base_fail(error, ZW_NO_MEMORY, "out of memory");
}

static zw_status set_formula(sweep_keep *keep, piece formula, zw_error *error)
{
    if (formula.length == 0 || memchr(formula.at, '#', formula.length) ||
        memchr(formula.at, '\n', formula.length)) {
        return base_fail(error, ZW_BAD_INPUT, "\"%.*s\" is not a formula",
                         formula.length > 100 ? 100 : (int)formula.length, formula.at);
    }
    keep->formula = copy(formula);
    return keep->formula ? ZW_OK : no_memory(error);
}

static zw_status set_event(sweep_keep *keep, piece event, zw_error *error)
{
    keep->event = copy(event);
    return keep->event ? ZW_OK : no_memory(error);
}

/* ---- Quantities ----------------------------------------------------------------------------- */

static zw_status refuse(piece text, zw_error *error)
{
    return base_fail(error, ZW_BAD_INPUT,
                     "\"%.*s\" is not a quantity; these are: e at end, e at start, e at EVENT, "
                     "max(e), min(e), mean(e), period(e), count(EVENT), time(EVENT), "
                     "period(EVENT), points(e, EVENT, 20), points(e, every T, 20), lyapunov",
                     text.length > 100 ? 100 : (int)text.length, text.at);
}

/* points(e, EVENT, 20) or points(e, every T, 20) */
static zw_status read_points(sweep_keeps *keeps, sweep_keep *keep, piece text, piece inside,
                             zw_error *error)
{
    const char *end = inside.at + inside.length, *first = part_end(inside.at, end);
    const char *second = first < end ? part_end(first + 1, end) : end;
    piece when = first < end ? trim(first + 1, second) : (piece){end, 0};
    piece last = second < end ? trim(second + 1, end) : (piece){end, 0};
    double count = 0;
    char *number = copy(last);
    int ok = number && zw_number(number, &count);
    base_free(number);
    if (!ok || when.length == 0) {
        return refuse(text, error);
    }
    if (!(count >= 1 && count <= SWEEP_MOST_POINTS && count == (int)count)) {
        return base_fail(error, ZW_BAD_INPUT, "%.6g points: it must be 1 to %d", count,
                         SWEEP_MOST_POINTS);
    }
    keep->columns = (int)count;
    piece formula = trim(inside.at, first);
    zw_status status = set_formula(keep, formula, error);
    if (status != ZW_OK) {
        return status;
    }
    base_free(keep->title);
    keep->title = copy(formula);
    if (when.length < 6 || memcmp(when.at, "every ", 6)) {
        keep->kind = SWEEP_POINTS;
        return set_event(keep, when, error);
    }
    keep->kind = SWEEP_STROBE;
    when = trim(when.at + 6, when.at + when.length);
    char *every = copy(when);
    if (every && keeps->every && strcmp(every, keeps->every)) {
        base_free(every);
        return base_fail(error, ZW_BAD_INPUT,
                         "points are taken every %.60s, or every %.*s, but not both", keeps->every,
                         when.length > 60 ? 60 : (int)when.length, when.at);
    }
    base_free(keeps->every);
    keeps->every = every;
    return every && keep->title ? ZW_OK : no_memory(error);
}

static zw_status read_call(sweep_keeps *keeps, sweep_keep *keep, piece text, zw_error *error)
{
    static const struct {
        const char *word;
        sweep_kind kind;
    } known[] = {{"max", SWEEP_MAX},       {"min", SWEEP_MIN},     {"mean", SWEEP_MEAN},
                 {"period", SWEEP_PERIOD}, {"count", SWEEP_COUNT}, {"time", SWEEP_TIME},
                 {"points", SWEEP_POINTS}};
    piece word, inside;
    size_t which = 0, all = sizeof known / sizeof *known;
    if (!is_call(text, &word, &inside) || inside.length == 0) {
        return refuse(text, error);
    }
    while (which < all && !is(word, known[which].word)) {
        which++;
    }
    if (which == all) {
        return refuse(text, error);
    }
    keep->kind = known[which].kind;
    if (keep->kind == SWEEP_POINTS) {
        return read_points(keeps, keep, text, inside, error);
    }
    if (part_end(inside.at, inside.at + inside.length) < inside.at + inside.length) {
        return base_fail(error, ZW_BAD_INPUT,
                         "\"%.*s\" is a formula; say when to take it, for example \"%.*s at end\"",
                         (int)text.length, text.at, (int)text.length, text.at);
    }
    return keep->kind == SWEEP_COUNT || keep->kind == SWEEP_TIME ? set_event(keep, inside, error)
                                                                 : set_formula(keep, inside, error);
}

static zw_status read_one(sweep_keeps *keeps, sweep_keep *keep, piece text, zw_error *error)
{
    piece formula, when;
    *keep = (sweep_keep){.expr = -1, .event_id = -1, .columns = 1, .title = copy(text)};
    if (!keep->title) {
        return no_memory(error);
    }
    if (is(text, "lyapunov")) {
        keep->kind = SWEEP_LYAPUNOV;
        keeps->lyapunov = 1;
        return ZW_OK;
    }
    if (is_at(text, &formula, &when)) {
        keep->kind = is(when, "end") ? SWEEP_END : is(when, "start") ? SWEEP_START : SWEEP_AT;
        zw_status status = keep->kind == SWEEP_AT ? set_event(keep, when, error) : ZW_OK;
        return status == ZW_OK ? set_formula(keep, formula, error) : status;
    }
    return read_call(keeps, keep, text, error);
}

zw_status sweep_keeps_read(sweep_keeps *keeps, const char *text, zw_error *error)
{
    const char *all = text ? text : "", *to = all + strlen(all);
    zw_status status = ZW_OK;
    keeps->strobe = keeps->after = -1;
    for (const char *from = all; status == ZW_OK && from <= to;) {
        const char *end = part_end(from, to);
        piece one = trim(from, end);
        if (one.length == 0) {
            return base_fail(error, ZW_BAD_INPUT,
                             keeps->count == 0 && end == to
                                 ? "nothing to keep of each run; for example \"max(x), x at end\""
                                 : "there is nothing between two commas in \"%.200s\"",
                             all);
        }
        if (!base_list_reserve(&keeps->keep, &keeps->capacity, keeps->count, sizeof *keeps->keep)) {
            return no_memory(error);
        }
        status = read_one(keeps, &keeps->keep[keeps->count++], one, error);
        keeps->columns += keeps->keep[keeps->count - 1].columns;
        from = end + 1;
    }
    return status;
}

void sweep_keeps_clear(sweep_keeps *keeps)
{
    for (int i = 0; i < keeps->count; i++) {
        base_free(keeps->keep[i].title);
        base_free(keeps->keep[i].formula);
        base_free(keeps->keep[i].event);
    }
    for (int i = 0; i < keeps->expr_count; i++) {
        base_free(keeps->expr[i]);
    }
    base_free(keeps->keep);
    base_free(keeps->expr);
    base_free(keeps->every);
    *keeps = (sweep_keeps){0};
}

/* ---- In a model ----------------------------------------------------------------------------- */

/* The index of a formula among those of the sweep; -1: no memory. */
static int expr_of(sweep_keeps *keeps, const char *formula)
{
    for (int i = 0; i < keeps->expr_count; i++) {
        if (!strcmp(keeps->expr[i], formula)) {
            return i;
        }
    }
    if (!base_list_reserve(&keeps->expr, &keeps->expr_capacity, keeps->expr_count,
                           sizeof *keeps->expr) ||
        !(keeps->expr[keeps->expr_count] = copy((piece){formula, strlen(formula)}))) {
        return -1;
    }
    return keeps->expr_count++;
}

static zw_status unknown_event(const sweep_keep *keep, const zw_system *system, zw_error *error)
{
    int count = zw_count(system, ZW_KIND_EVENT);
    base_fail(error, ZW_BAD_INPUT, "\"%.100s\": there is no event '%.60s'", keep->title,
              keep->event);
    for (int i = 0; i < count && i < 8; i++) {
        base_fail_more(error, "%s %s", i ? "," : "; there are impacts,",
                       zw_name(system, ZW_KIND_EVENT, i));
    }
    if (count == 0) {
        base_fail_more(error, "; this system has impacts only");
    }
    return ZW_BAD_INPUT;
}

zw_status sweep_keeps_bind(sweep_keeps *keeps, const char *after, const zw_system *system,
                           zw_error *error)
{
    for (int i = 0; i < keeps->count; i++) {
        sweep_keep *keep = &keeps->keep[i];
        /* period(hit) refers to the event, period(x) to the coordinate */
        if (keep->kind == SWEEP_PERIOD && (!strcmp(keep->formula, "impacts") ||
                                           zw_id(system, ZW_KIND_EVENT, keep->formula) >= 0)) {
            keep->kind = SWEEP_PERIOD_EVENT;
            keep->event = keep->formula;
            keep->formula = NULL;
        }
        if (keep->event) {
            keep->event_id = !strcmp(keep->event, "impacts")
                                 ? SWEEP_IMPACTS
                                 : zw_id(system, ZW_KIND_EVENT, keep->event);
            if (keep->event_id == -1) {
                return unknown_event(keep, system, error);
            }
        }
        if (keep->formula && (keep->expr = expr_of(keeps, keep->formula)) < 0) {
            return no_memory(error);
        }
    }
    if ((keeps->every && (keeps->strobe = expr_of(keeps, keeps->every)) < 0) ||
        (after && (keeps->after = expr_of(keeps, after)) < 0)) {
        return no_memory(error);
    }
    return ZW_OK;
}

char *sweep_keeps_lines(const sweep_keeps *keeps)
{
    static const char word[] = "plot time ";
    size_t capacity = 1, used = 0;
    for (int i = 0; i < keeps->expr_count; i++) {
        capacity += sizeof word + strlen(keeps->expr[i]) + 1;
    }
    char *text = base_alloc(capacity);
    for (int i = 0; text && i < keeps->expr_count; i++) {
        used += (size_t)snprintf(text + used, capacity - used, "%s%s\n", word, keeps->expr[i]);
    }
    return text;
}
