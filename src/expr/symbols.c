#include "expr/symbols.h"

#include <string.h>

#include "base/list.h"
#include "base/memory.h"

/* FNV-1a. */
static unsigned symbol_hash(const char *text, int length)
{
    unsigned hash = 2166136261u;
    for (int i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    }
    return hash;
}

/* The slot of a spelling, or the empty one where it belongs. */
static int symbol_slot(const expr_symbols *symbols, const char *text, int length, unsigned hash)
{
    unsigned mask = (unsigned)symbols->slot_count - 1;
    for (unsigned s = hash & mask;; s = (s + 1) & mask) {
        int id = symbols->slot[s] - 1;
        if (id < 0) {
            return (int)s;
        }
        const expr_symbol *known = &symbols->symbol[id];
        if (known->hash == hash && known->length == length &&
            memcmp(known->text, text, (size_t)length) == 0) {
            return (int)s;
        }
    }
}

static int symbols_widen(expr_symbols *symbols)
{
    int wider = symbols->slot_count == 0 ? 64 : 2 * symbols->slot_count;
    int *slot = base_alloc((size_t)wider * sizeof *slot);
    if (slot == NULL) {
        return 0;
    }
    base_free(symbols->slot);
    symbols->slot = slot;
    symbols->slot_count = wider;
    for (int i = 0; i < symbols->count; i++) {
        const expr_symbol *known = &symbols->symbol[i];
        slot[symbol_slot(symbols, known->text, known->length, known->hash)] = i + 1;
    }
    return 1;
}

int expr_symbol_find(const expr_symbols *symbols, const char *text, int length)
{
    if (symbols->slot_count == 0) {
        return -1;
    }
    return symbols->slot[symbol_slot(symbols, text, length, symbol_hash(text, length))] - 1;
}

int expr_symbol_add(expr_symbols *symbols, const char *text, int length)
{
    if (2 * (symbols->count + 1) > symbols->slot_count && !symbols_widen(symbols)) {
        return -1;
    }
    unsigned hash = symbol_hash(text, length);
    int slot = symbol_slot(symbols, text, length, hash);
    if (symbols->slot[slot] > 0) {
        return symbols->slot[slot] - 1;
    }
    if (!base_list_reserve(&symbols->symbol, &symbols->capacity, symbols->count,
                           sizeof *symbols->symbol)) {
        return -1;
    }
    symbols->symbol[symbols->count] = (expr_symbol){text, length, hash};
    symbols->slot[slot] = ++symbols->count;
    return symbols->count - 1;
}

void expr_symbols_free(expr_symbols *symbols)
{
    base_free(symbols->symbol);
    base_free(symbols->slot);
    *symbols = (expr_symbols){0};
}
