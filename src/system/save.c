/* A state as bytes: 64-bit words, the least significant byte first.
 *
 *     0 "zwstate\n"   1 version   2 bytes in all   3 fingerprint of the system
 *     4 n   5 nq   6 carried   7 params   8 constraints   9 memory
 *     10 t   11 work   12 remembered   13 undecided   14 ... data, as zw_state has it
 *     last: hash of all before
 *
 * Numbers are the bits of doubles. Words 0 to 2 will not change in future versions. Restored
 * numbers are checked before they are used. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "math/lane.h"
#include "system/work.h"

enum { HEAD = 14, VERSION = 3, WORD = 8 };

/* ---- Writing -------------------------------------------------------------------------------- */

typedef struct sink {
    unsigned char *to; /* NULL: only the hash is needed */
    uint64_t hash;
} sink;

static void put(sink *s, uint64_t word)
{
    for (int k = 0; k < WORD && s->to; k++) {
        *s->to++ = (unsigned char)(word >> 8 * k);
    }
    s->hash = base_hash_word(s->hash, word);
}

static size_t numbers(const zw_state *state)
{
    return (size_t)state->nq + (size_t)state->n + (size_t)state->carried + (size_t)state->params +
           (size_t)state->constraints + (size_t)state->slides + (size_t)state->memory;
}

size_t zw_state_bytes(const zw_state *state)
{
    return (HEAD + numbers(state) + 1) * WORD;
}

static uint64_t magic(void)
{
    static const char text[] = "zwstate\n";
    uint64_t word = 0;
    for (int k = 0; k < WORD; k++) {
        word |= (uint64_t)(unsigned char)text[k] << 8 * k;
    }
    return word;
}

/* All words but the last; returns their hash. */
static uint64_t put_all(const zw_state *state, unsigned char *to)
{
    sink s = {to, BASE_HASH_START};
    const int count[] = {state->n,      state->nq,          state->carried,
                         state->params, state->constraints, state->memory};
    put(&s, magic());
    put(&s, VERSION);
    put(&s, zw_state_bytes(state));
    put(&s, state->fingerprint);
    for (size_t k = 0; k < sizeof count / sizeof *count; k++) {
        put(&s, (uint64_t)count[k]);
    }
    put(&s, base_hash_bits(state->t));
    put(&s, base_hash_bits(state->work));
    put(&s, state->remembered);
    put(&s, state->undecided != 0);
    for (size_t k = 0; k < numbers(state); k++) {
        put(&s, base_hash_bits(state->data[k]));
    }
    return s.hash;
}

zw_status zw_state_save(const zw_state *state, void *bytes, size_t size, zw_error *error)
{
    size_t needed = zw_state_bytes(state);
    if (size < needed) {
        return base_fail(error, ZW_TOO_LARGE, "a state of %zu bytes does not fit into %zu", needed,
                         size);
    }
    uint64_t hash = put_all(state, bytes);
    put(&(sink){(unsigned char *)bytes + needed - WORD, 0}, hash);
    return ZW_OK;
}

uint64_t zw_state_hash(const zw_state *state)
{
    return put_all(state, NULL);
}

ZW_INLINE uint64_t word_of(int at, double x)
{
    uint64_t word = base_hash_word(BASE_HASH_START, base_hash_bits(x));
    return base_hash_word(word, (uint64_t)at);
}

uint64_t state_word(int at, double x)
{
    return word_of(at, x);
}

ZW_CLONES static uint64_t sum_of(const zw_state *state, int first, int end)
{
    uint64_t sum = 0;
    for (int i = first; i < end; i++) {
        sum += word_of(i, state->data[i]);
    }
    return sum;
}

uint64_t state_sum(const zw_state *state)
{
    int params = state->nq + state->n + state->carried, modes = params + state->params;
    return sum_of(state, 0, params) + sum_of(state, modes, modes + state->constraints);
}

uint64_t state_param_sum(const zw_state *state)
{
    int first = state->nq + state->n + state->carried;
    return sum_of(state, first, first + state->params);
}

uint64_t state_digest_of(const zw_state *state, uint64_t sum)
{
    const double when[] = {state->t, state->work};
    uint64_t hash = base_hash_word(base_hash_numbers(BASE_HASH_START, 2, when), sum);
    return hash == 0 ? 1 : hash;
}

uint64_t state_digest(const zw_state *state, int with_params)
{
    return state_digest_of(state, state_sum(state) + (with_params ? state_param_sum(state) : 0));
}

zw_status zw_state_copy(const zw_state *from, zw_state **to, zw_error *error)
{
    if (*to == NULL) {
        *to = base_alloc(from->bytes);
        if (*to == NULL) {
            return base_no_memory(error);
        }
    } else if ((*to)->bytes != from->bytes || (*to)->fingerprint != from->fingerprint) {
        return base_fail(error, ZW_BAD_INPUT, "a state cannot become one of another system");
    }
    memmove(*to, from, from->bytes);
    return ZW_OK;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static uint64_t get(const unsigned char *bytes, size_t word)
{
    uint64_t value = 0;
    for (int k = 0; k < WORD; k++) {
        value |= (uint64_t)bytes[word * WORD + (size_t)k] << 8 * k;
    }
    return value;
}

static double get_number(const unsigned char *bytes, size_t word)
{
    uint64_t bits = get(bytes, word);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Are these the bytes of a state, complete and undamaged? */
static zw_status check_bytes(const unsigned char *bytes, size_t size, zw_error *error)
{
    if (size < WORD || get(bytes, 0) != magic()) {
        return base_fail(error, ZW_BAD_INPUT, "this is not a state of zwang");
    }
    if (size >= 2 * WORD && get(bytes, 1) != VERSION) {
        return base_fail(error, ZW_BAD_INPUT,
                         "this state has version %llu; only version %d is supported",
                         (unsigned long long)get(bytes, 1), VERSION);
    }
    if (size < (HEAD + 1) * WORD || get(bytes, 2) > size) {
        return base_fail(error, ZW_BAD_INPUT, "the state is truncated: it has only %zu bytes",
                         size);
    }
    if (get(bytes, 2) != size) {
        return base_fail(error, ZW_BAD_INPUT, "the state has %llu bytes, but there are %zu",
                         (unsigned long long)get(bytes, 2), size);
    }
    size_t words = size / WORD;
    uint64_t hash = BASE_HASH_START;
    for (size_t k = 0; k + 1 < words; k++) {
        hash = base_hash_word(hash, get(bytes, k));
    }
    if (size % WORD != 0 || hash != get(bytes, words - 1)) {
        return base_fail(error, ZW_BAD_INPUT, "the state is damaged: its hash does not match");
    }
    return ZW_OK;
}

static zw_status check_system(const zw_state *state, const unsigned char *bytes, size_t size,
                              zw_error *error)
{
    static const char *const what[] = {"speeds",     "coordinates", "carried multipliers",
                                       "parameters", "constraints", "numbers of memory"};
    const int count[] = {state->n,      state->nq,          state->carried,
                         state->params, state->constraints, state->memory};
    for (size_t k = 0; k < sizeof count / sizeof *count; k++) {
        uint64_t there = get(bytes, 4 + k);
        if (there != (uint64_t)count[k]) {
            return base_fail(error, ZW_BAD_INPUT,
                             "the state belongs to another system: it has %llu %s, this one %d",
                             (unsigned long long)there, what[k], count[k]);
        }
    }
    if (get(bytes, 3) != state->fingerprint || size != zw_state_bytes(state)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "the state belongs to another system of this size, with other names, "
                         "formulas or masses");
    }
    return ZW_OK;
}

/* Can constraint c be in this mode? */
static int is_mode(const zw_system *system, int c, double mode)
{
    const model_constraint *constraint = &system->model->constraint[c];
    int rough = constraint->friction != EXPR_NONE, opens = constraint->relation == MODEL_AT_LEAST;
    return mode == SYSTEM_CLOSED || (mode == SYSTEM_OPEN && opens) ||
           ((mode == SYSTEM_STUCK || mode == SYSTEM_HELD) && rough);
}

static zw_status check_numbers(const zw_system *system, zw_state *state, zw_error *error)
{
    const double *q = state_q(state), *mode = state_mode(state);
    int finite = isfinite(state->t) && isfinite(state->work);
    for (int i = 0; i < state->nq + state->n + state->carried; i++) {
        finite &= isfinite(q[i]) != 0;
    }
    for (int i = 0; i < state->slides; i++) { /* components of vectors no longer than one */
        finite &= fabs(state_slide(state)[i]) <= 1 + 1e-9;
    }
    if (!finite) {
        return base_fail(error, ZW_BAD_INPUT, "the state has numbers that are not finite");
    }
    for (int c = 0; c < state->constraints; c++) {
        if (!is_mode(system, c, mode[c])) {
            return base_fail(error, ZW_BAD_INPUT,
                             "the state has constraint %s in a mode that it cannot be in",
                             system->model->constraint[c].name);
        }
    }
    return ZW_OK;
}

zw_state *zw_state_restore(const zw_system *system, const void *bytes, size_t size, zw_error *error)
{
    zw_status status = check_bytes(bytes, size, error);
    if (status != ZW_OK) {
        return NULL;
    }
    zw_state *state = state_allocate(system);
    if (!state) {
        base_no_memory(error);
        return NULL;
    }
    status = check_system(state, bytes, size, error);
    if (status == ZW_OK) {
        state->t = get_number(bytes, 10);
        state->work = get_number(bytes, 11);
        state->remembered = get(bytes, 12);
        state->undecided = get(bytes, 13) != 0;
        for (size_t k = 0; k < numbers(state); k++) {
            state->data[k] = get_number(bytes, HEAD + k);
        }
        status = check_numbers(system, state, error);
    }
    if (status != ZW_OK) {
        zw_state_free(state);
        return NULL;
    }
    return state;
}
