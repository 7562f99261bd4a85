/* Greyscale images in PNG files (ISO 15948), with deflate (RFC 1951): as much as height fields
 * need.
 *
 * A file is a signature and chunks: length, name, data, check sum. IHDR has the sizes; the data of
 * all IDAT, one after the other, is a zlib stream; other chunks are ignored. Unpacked, each row is
 * a filter byte and its pixels, each byte as a difference:
 *
 *     0 none    1 to the left one    2 to the upper one    3 to their mean    4 to whichever of
 *     left, upper and upper left is nearest to left + upper - upper left
 *
 * Deflate is a stream of bits, the lowest of each byte first. A block is stored, or compressed with
 * a fixed or a transmitted Huffman code: symbols below 256 are bytes, 256 ends the block, others
 * repeat 3 to 258 bytes at a distance given by a second code. A code is defined by the lengths of
 * its words: words of equal length are consecutive numbers in the order of the symbols, starting at
 * twice the end of the shorter ones.
 *
 * Nothing is read beyond the file or written beyond the image, whatever the file contains. */
#include "read/file/png.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { MOST_BITS = 15, SYMBOLS = 288, DISTANCES = 30 };

typedef struct code {
    int count[MOST_BITS + 1]; /* words of each length */
    int symbol[SYMBOLS];      /* in the order of their words */
} code;

typedef struct stream {
    const unsigned char *in;
    size_t length, at;
    uint32_t bits;
    int held; /* bits not used yet */
    unsigned char *out;
    size_t capacity, written;
    int bad;
} stream;

/* ---- Deflate --------------------------------------------------------------------------------- */

static int take(stream *s, int count)
{
    while (s->held < count) {
        if (s->at >= s->length) {
            s->bad = 1;
            return 0;
        }
        s->bits |= (uint32_t)s->in[s->at++] << s->held;
        s->held += 8;
    }
    int value = (int)(s->bits & ((1u << count) - 1));
    s->bits >>= count;
    s->held -= count;
    return value;
}

static void put(stream *s, unsigned char byte)
{
    if (s->written < s->capacity) {
        s->out[s->written++] = byte;
    } else {
        s->bad = 1;
    }
}

/* 0: there cannot be that many words of these lengths. */
static int make_code(code *c, const unsigned char *length, int symbols)
{
    int place[MOST_BITS + 2] = {0}, left = 1;
    memset(c->count, 0, sizeof c->count);
    for (int i = 0; i < symbols; i++) {
        c->count[length[i]]++;
    }
    c->count[0] = 0;
    for (int k = 1; k <= MOST_BITS; k++) {
        left = 2 * left - c->count[k];
        place[k + 1] = place[k] + c->count[k];
        if (left < 0) {
            return 0;
        }
    }
    for (int i = 0; i < symbols; i++) {
        if (length[i] > 0) {
            c->symbol[place[length[i]]++] = i;
        }
    }
    return 1;
}

static int next_symbol(stream *s, const code *c)
{
    int word = 0, first = 0, before = 0;
    for (int k = 1; k <= MOST_BITS; k++) {
        word = 2 * word + take(s, 1);
        if (word - first < c->count[k]) {
            return c->symbol[before + word - first];
        }
        before += c->count[k];
        first = 2 * (first + c->count[k]);
    }
    s->bad = 1;
    return 0;
}

static void stored(stream *s)
{
    s->bits = 0;
    s->held = 0;
    int count = take(s, 16), again = take(s, 16);
    s->bad |= (count ^ again) != 0xffff;
    for (int i = 0; i < count && !s->bad; i++) {
        put(s, (unsigned char)take(s, 8));
    }
}

static void packed(stream *s, const code *bytes, const code *distances)
{
    static const short run[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                  31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const char run_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    while (!s->bad) {
        int symbol = next_symbol(s, bytes);
        if (symbol < 256) {
            put(s, (unsigned char)symbol);
            continue;
        }
        if (symbol == 256) {
            return;
        }
        if (symbol > 285) {
            s->bad = 1;
            return;
        }
        int count = run[symbol - 257] + take(s, run_bits[symbol - 257]);
        int d = next_symbol(s, distances), more = d < 4 ? 0 : d / 2 - 1;
        if (d >= DISTANCES) {
            s->bad = 1;
            return;
        }
        size_t back = (size_t)(d < 4 ? d + 1 : ((2 + (d & 1)) << more) + 1 + take(s, more));
        s->bad |= back > s->written;
        for (int i = 0; i < count && !s->bad; i++) {
            put(s, s->out[s->written - back]);
        }
    }
}

/* The lengths of a block's codes are themselves encoded: 16 repeats the last one, 17 and 18 repeat
 * zeros. */
static int read_codes(stream *s, code *bytes, code *distances)
{
    static const unsigned char order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                            11, 4,  12, 3, 13, 2, 14, 1, 15};
    unsigned char length[SYMBOLS + 32] = {0}, first[19] = {0};
    int symbols = take(s, 5) + 257, others = take(s, 5) + 1, listed = take(s, 4) + 4, at = 0;
    for (int i = 0; i < listed; i++) {
        first[order[i]] = (unsigned char)take(s, 3);
    }
    if (symbols > 286 || others > DISTANCES || !make_code(bytes, first, 19)) {
        return 0;
    }
    while (at < symbols + others && !s->bad) {
        int symbol = next_symbol(s, bytes), times = 1;
        unsigned char value = symbol < 16 ? (unsigned char)symbol : 0;
        if (symbol == 16) {
            times = 3 + take(s, 2);
            value = at > 0 ? length[at - 1] : 0;
            s->bad |= at == 0;
        } else if (symbol > 16) {
            times = symbol == 17 ? 3 + take(s, 3) : 11 + take(s, 7);
        }
        if (at + times > symbols + others) {
            return 0;
        }
        memset(length + at, value, (size_t)times);
        at += times;
    }
    return !s->bad && make_code(bytes, length, symbols) &&
           make_code(distances, length + symbols, others);
}

static void fixed_codes(code *bytes, code *distances)
{
    unsigned char length[SYMBOLS];
    for (int i = 0; i < SYMBOLS; i++) {
        length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    }
    make_code(bytes, length, SYMBOLS);
    memset(length, 5, DISTANCES);
    make_code(distances, length, DISTANCES);
}

/* 1: the output is complete. */
static int inflate(stream *s)
{
    code bytes, distances;
    int head = take(s, 8), flags = take(s, 8), last = 0;
    if ((head & 15) != 8 || (256 * head + flags) % 31 != 0 || (flags & 32) != 0) {
        return 0;
    }
    while (!last && !s->bad) {
        last = take(s, 1);
        int kind = take(s, 2);
        if (kind == 0) {
            stored(s);
        } else if (kind == 1) {
            fixed_codes(&bytes, &distances);
            packed(s, &bytes, &distances);
        } else if (kind == 2 && read_codes(s, &bytes, &distances)) {
            packed(s, &bytes, &distances);
        } else {
            s->bad = 1;
        }
    }
    return !s->bad && s->written == s->capacity;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static uint32_t big(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

/* The remainder of x^32 times the bytes, from the lowest bit on. */
static uint32_t check_sum(const unsigned char *bytes, size_t count)
{
    uint32_t rest = 0xffffffffu;
    for (size_t i = 0; i < count; i++) {
        rest ^= bytes[i];
        for (int k = 0; k < 8; k++) {
            rest = rest >> 1 ^ (rest & 1 ? 0xedb88320u : 0);
        }
    }
    return ~rest;
}

int read_png_is(const char *bytes, size_t length)
{
    return length >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static int fail(char why[200], const char *text)
{
    snprintf(why, 200, "%s", text);
    return 0;
}

int read_png_size(const char *bytes, size_t length, long long *columns, long long *rows,
                  char why[200])
{
    const unsigned char *b = (const unsigned char *)bytes;
    if (length < 33 || big(b + 8) != 13 || memcmp(b + 12, "IHDR", 4) != 0 ||
        big(b + 29) != check_sum(b + 12, 17)) {
        return fail(why, "the header of the picture is damaged");
    }
    int depth = b[24], colours = b[25];
    *columns = big(b + 16);
    *rows = big(b + 20);
    int known = colours < 7 && colours != 1 && colours != 5;
    int small = (colours == 0 || colours == 3) && (depth == 1 || depth == 2 || depth == 4);
    if (!known || !(small || depth == 8 || (depth == 16 && colours != 3))) {
        return fail(why, "the header of the picture is damaged");
    }
    return b[28] == 0 ||
           fail(why, "the picture is interlaced; interlaced pictures are not supported");
}

/* Concatenates all data up to the chunk IEND; returns their length; 0: a chunk is damaged or
 * missing. */
static size_t gather(const unsigned char *b, size_t length, unsigned char *to)
{
    size_t at = 8, count = 0;
    while (length - at >= 12) {
        size_t size = big(b + at);
        if (size > length - at - 12 || big(b + at + 8 + size) != check_sum(b + at + 4, size + 4)) {
            return 0;
        }
        if (memcmp(b + at + 4, "IDAT", 4) == 0) {
            memcpy(to + count, b + at + 8, size);
            count += size;
        } else if (memcmp(b + at + 4, "IEND", 4) == 0) {
            return count;
        }
        at += 12 + size;
    }
    return 0;
}

/* The red values of the palette; 0: there is none. */
static int palette(const unsigned char *b, size_t length, unsigned char red[256])
{
    for (size_t at = 8; length - at >= 12;) {
        size_t size = big(b + at);
        if (size > length - at - 12) {
            return 0;
        }
        for (size_t i = 0; memcmp(b + at + 4, "PLTE", 4) == 0 && i < 256 && i < size / 3; i++) {
            red[i] = b[at + 8 + 3 * i];
        }
        if (memcmp(b + at + 4, "PLTE", 4) == 0) {
            return 1;
        }
        at += 12 + size;
    }
    return 0;
}

/* Undoes the filter; `step` is the distance to the byte on the left. 0: unknown filter. */
static int unfilter(unsigned char *row, const unsigned char *above, size_t count, size_t step)
{
    int filter = row[0];
    for (size_t i = 1; i <= count && filter < 5; i++) {
        int left = i > step ? row[i - step] : 0, up = above != NULL ? above[i] : 0;
        int corner = above != NULL && i > step ? above[i - step] : 0;
        int to_left = up - corner, to_up = left - corner, to_corner = to_left + to_up;
        to_left = to_left < 0 ? -to_left : to_left;
        to_up = to_up < 0 ? -to_up : to_up;
        to_corner = to_corner < 0 ? -to_corner : to_corner;
        int nearest = to_left <= to_up && to_left <= to_corner ? left
                      : to_up <= to_corner                     ? up
                                                               : corner;
        int guess[5] = {0, left, up, (left + up) / 2, nearest};
        row[i] = (unsigned char)(row[i] + guess[filter]);
    }
    return filter < 5;
}

static double pixel(const unsigned char *row, size_t i, int depth, int channels)
{
    if (depth >= 8) {
        const unsigned char *p = row + 1 + i * (size_t)(channels * depth / 8);
        return depth == 16 ? 256.0 * p[0] + p[1] : p[0];
    }
    size_t bit = i * (size_t)depth;
    return (row[1 + bit / 8] >> (8 - depth - (int)(bit % 8))) & ((1 << depth) - 1);
}

int read_png_grey(const char *bytes, size_t length, double *grey, char why[200])
{
    long long columns, rows;
    const unsigned char *b = (const unsigned char *)bytes;
    if (!read_png_size(bytes, length, &columns, &rows, why)) {
        return 0;
    }
    static const int channels_of[] = {1, 0, 3, 1, 2, 0, 4};
    unsigned char red[256] = {0};
    int depth = b[24], channels = channels_of[b[25]], listed = b[25] == 3;
    if (listed && !palette(b, length, red)) {
        return fail(why, "the picture has no palette");
    }
    size_t bits = (size_t)columns * (size_t)(depth * channels), count = (bits + 7) / 8;
    size_t step = (size_t)(depth * channels + 7) / 8, stride = count + 1;
    unsigned char *data = base_alloc(length);
    stream s = {.in = data, .capacity = (size_t)rows * stride};
    s.out = base_alloc(s.capacity);
    int ok = data != NULL && s.out != NULL ? 1 : -1;
    if (ok > 0) {
        s.length = gather(b, length, data);
        ok = (s.length > 0 && inflate(&s)) || fail(why, "the data of the picture are damaged");
    }
    for (size_t r = 0; ok > 0 && r < (size_t)rows; r++) {
        unsigned char *row = s.out + r * stride;
        ok = unfilter(row, r > 0 ? row - stride : NULL, count, step) ||
             fail(why, "the data of the picture are damaged");
        for (size_t i = 0; ok > 0 && i < (size_t)columns; i++) {
            double value = pixel(row, i, depth, channels);
            grey[r * (size_t)columns + i] = listed ? red[(int)value] : value;
        }
    }
    base_free(data);
    base_free(s.out);
    return ok;
}
