/* The parameters that vary.
 *
 * Grids and lists are combined in all ways; the first one changes slowest. Random and latin
 * parameters share `samples` draws, which change fastest. A draw is a function of (seed, number of
 * the draw, name) only: so adding a parameter, or running part of a sweep, changes no other number,
 * and no state has to be kept.
 *
 * Latin: the interval is divided into `samples` equal parts, draw k lies in part p(k), and p is a
 * permutation: every part is used once. p(k) is the rank of draw k when all are sorted by their
 * hash of (seed, draw, name). */
#include "batch/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "math/elementary.h"

/* ---- Reading -------------------------------------------------------------------------------- */

static const char *skip(const char *text)
{
    return text + strspn(text, " \t");
}

static int number(const char *from, const char *to, double *value)
{
    char text[200];
    size_t length = (size_t)(to - from);
    if (length >= sizeof text) {
        return 0;
    }
    memcpy(text, from, length);
    text[length] = 0;
    return zw_number(text, value);
}

static zw_status refuse(zw_error *error, const char *text)
{
    return base_fail(error, ZW_BAD_INPUT,
                     "\"%.100s\" is not a range of values; the syntax is NAME = 0.1, 0.2 or NAME = "
                     "0..6 : 200 (also: 200 log), NAME = random 0..6, NAME = latin 0..6",
                     text);
}

/* Parses A..B, which must extend to `to`. */
static int read_ends(sweep_over *over, const char *from, const char *to)
{
    const char *dots = strstr(from, "..");
    return dots && dots < to && number(from, dots, &over->low) && number(dots + 2, to, &over->high);
}

static int read_grid(sweep_over *over, const char *from)
{
    const char *colon = strrchr(from, ':');
    char *end;
    if (!colon || !read_ends(over, from, colon)) {
        return 0;
    }
    long count = strtol(colon + 1, &end, 10);
    const char *rest = skip(end);
    over->log = !strncmp(rest, "log", 3);
    rest = skip(rest + 3 * over->log);
    over->count = count < 0 ? 0 : count > SWEEP_MOST_RUNS ? SWEEP_MOST_RUNS + 1 : (int)count;
    return end != colon + 1 && !*rest;
}

/* The end of an entry of a list: formulas have commas within brackets only. */
static const char *entry_end(const char *from)
{
    int depth = 0;
    for (; *from && (depth > 0 || *from != ','); from++) {
        depth += (*from == '(') - (*from == ')');
    }
    return from;
}

static zw_status read_list(sweep_over *over, const char *from, const char *text, zw_error *error)
{
    int count = 1;
    for (const char *at = entry_end(from); *at; at = entry_end(at + 1)) {
        count++;
    }
    over->value = base_alloc((size_t)count * sizeof *over->value);
    if (!over->value) {
        return base_fail(error, ZW_NO_MEMORY, "out of memory");
    }
    for (const char *at = from;; at++) {
        const char *end = entry_end(at);
        if (!number(at, end, &over->value[over->count++])) {
            return refuse(error, text);
        }
        at = end;
        if (!*at) {
            return ZW_OK;
        }
    }
}

static zw_status read_values(sweep_over *over, const char *from, const char *text, zw_error *error)
{
    static const char *const word[] = {[SWEEP_RANDOM] = "random ", [SWEEP_LATIN] = "latin "};
    for (sweep_how how = SWEEP_RANDOM; how <= SWEEP_LATIN; how++) {
        size_t length = strlen(word[how]);
        if (!strncmp(from, word[how], length)) {
            over->how = how;
            over->count = 1;
            from += length;
            return read_ends(over, from, from + strlen(from)) ? ZW_OK : refuse(error, text);
        }
    }
    over->how = strstr(from, "..") ? SWEEP_GRID : SWEEP_LIST;
    if (over->how == SWEEP_LIST) {
        return read_list(over, from, text, error);
    }
    return read_grid(over, from) ? ZW_OK : refuse(error, text);
}

zw_status sweep_over_read(sweep_over *over, const char *text, zw_error *error)
{
    const char *equals = strchr(text, '='), *from = skip(text);
    *over = (sweep_over){0};
    size_t length = equals ? (size_t)(equals - from) : 0;
    while (length > 0 && (from[length - 1] == ' ' || from[length - 1] == '\t')) {
        length--;
    }
    if (length == 0 || !*skip(equals + 1)) {
        return refuse(error, text);
    }
    over->name = base_alloc(length + 1);
    if (!over->name) {
        return base_fail(error, ZW_NO_MEMORY, "out of memory");
    }
    memcpy(over->name, from, length);
    zw_status status = read_values(over, skip(equals + 1), text, error);
    if (status != ZW_OK) {
        return status;
    }
    if (over->count == 0) {
        return base_fail(error, ZW_BAD_INPUT, "\"%.100s\" has no values", text);
    }
    if (over->count > SWEEP_MOST_RUNS) {
        return base_fail(error, ZW_BAD_INPUT, "\"%.100s\" has more than %d values", text,
                         SWEEP_MOST_RUNS);
    }
    if (over->log && !(over->low > 0 && over->high > 0)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "\"%.100s\": steps of equal ratio need ends above zero", text);
    }
    return ZW_OK;
}

void sweep_over_clear(sweep_over *over)
{
    base_free(over->name);
    base_free(over->value);
    base_free(over->part);
    *over = (sweep_over){0};
}

/* ---- Values --------------------------------------------------------------------------------- */

int sweep_over_runs(const sweep_over *over, int count, int samples, zw_error *error)
{
    double runs = samples > 0 ? samples : 1;
    const sweep_over *drawn = NULL;
    for (int i = 0; i < count; i++) {
        runs *= over[i].count;
        drawn = over[i].how >= SWEEP_RANDOM ? &over[i] : drawn;
    }
    if (drawn && samples <= 0) {
        base_fail(error, ZW_BAD_INPUT,
                  "the number of samples of %.60s is missing: for example --samples 100",
                  drawn->name);
        return 0;
    }
    if (!drawn && samples > 0) {
        base_fail(error, ZW_BAD_INPUT, "%d samples, but no parameter is random or latin", samples);
        return 0;
    }
    if (runs > SWEEP_MOST_RUNS) {
        base_fail(error, ZW_BAD_INPUT, "this would be %.4g runs; at most %d are allowed", runs,
                  SWEEP_MOST_RUNS);
        return 0;
    }
    return (int)runs;
}

/* The hash of (seed, name, draw): its steps are bijective, and two more mix the last word well. */
static uint64_t draw_hash(const sweep_over *over, uint64_t seed, uint64_t what, int draw)
{
    uint64_t hash = base_hash_text(base_hash_word(BASE_HASH_START, seed), over->name);
    hash = base_hash_word(base_hash_word(hash, what), (uint64_t)draw);
    return base_hash_word(base_hash_word(hash, 0x9e37), 0x79b9);
}

/* In [0, 1), from 53 bits. */
static double draw_part(const sweep_over *over, uint64_t seed, int draw)
{
    return (double)(draw_hash(over, seed, 1, draw) >> 11) * 0x1p-53;
}

/* A draw and its hash. */
typedef struct ranked {
    uint64_t hash;
    int draw;
} ranked;

static int compare(const void *a, const void *b)
{
    const ranked *p = a, *q = b;
    return p->hash != q->hash ? (p->hash > q->hash) - (p->hash < q->hash)
                              : (p->draw > q->draw) - (p->draw < q->draw);
}

zw_status sweep_over_rank(sweep_over *over, int samples, uint64_t seed, zw_error *error)
{
    if (over->how != SWEEP_LATIN) {
        return ZW_OK;
    }
    ranked *list = base_alloc((size_t)samples * sizeof *list);
    over->part = base_alloc((size_t)samples * sizeof *over->part);
    for (int i = 0; list && over->part && i < samples; i++) {
        list[i] = (ranked){draw_hash(over, seed, 2, i), i};
    }
    if (list && over->part) {
        qsort(list, (size_t)samples, sizeof *list, compare);
        for (int i = 0; i < samples; i++) {
            over->part[list[i].draw] = i;
        }
    }
    zw_status status = list && over->part ? ZW_OK : base_fail(error, ZW_NO_MEMORY, "out of memory");
    base_free(list);
    return status;
}

static double between(const sweep_over *over, double part)
{
    if (over->log) {
        return over->low * math_pow(over->high / over->low, part);
    }
    return over->low + (over->high - over->low) * part;
}

static double value_of(const sweep_over *over, int samples, uint64_t seed, int index, int draw)
{
    switch (over->how) {
    case SWEEP_LIST:
        return over->value[index];
    case SWEEP_RANDOM:
        return between(over, draw_part(over, seed, draw));
    case SWEEP_LATIN:
        return between(over, (over->part[draw] + draw_part(over, seed, draw)) / samples);
    default: /* both ends are exact */
        return index == 0                 ? over->low
               : index == over->count - 1 ? over->high
                                          : between(over, (double)index / (over->count - 1));
    }
}

double sweep_over_value(const sweep_over *over, int count, int samples, uint64_t seed, int run,
                        int which)
{
    int draws = samples > 0 ? samples : 1, rest = run / draws;
    for (int i = count - 1; i > which; i--) {
        rest /= over[i].count; /* 1 for random and latin ones */
    }
    return value_of(&over[which], samples, seed, rest % over[which].count, run % draws);
}
