/* Grey pictures: every depth, filter and kind of block, packed by zlib; and broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "read/file/png.h"

/* clang-format off */
static const unsigned char picture0[] = {
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0,
    0, 7, 0, 0, 0, 9, 16, 0, 0, 0, 0, 139, 163, 181, 60, 0, 0, 0,
    3, 116, 69, 88, 116, 97, 0, 98, 220, 73, 162, 59, 0, 0, 0, 144, 73, 68,
    65, 84, 120, 218, 99, 96, 96, 96, 224, 102, 208, 97, 72, 102, 216, 192, 40, 204,
    216, 195, 200, 160, 193, 32, 192, 160, 198, 96, 195, 16, 196, 152, 193, 80, 199, 196,
    80, 196, 80, 206, 80, 195, 216, 200, 216, 198, 208, 205, 56, 129, 153, 145, 147, 241,
    29, 227, 111, 134, 78, 198, 105, 140, 42, 140, 27, 89, 24, 217, 128, 122, 5, 24,
    68, 25, 165, 24, 228, 25, 85, 24, 152, 215, 48, 95, 96, 225, 98, 137, 98, 57,
    192, 106, 195, 122, 142, 145, 213, 141, 65, 147, 193, 158, 49, 148, 33, 155, 161, 145,
    113, 58, 19, 211, 19, 166, 151, 76, 239, 24, 63, 51, 253, 96, 250, 203, 196, 196,
    204, 230, 204, 104, 204, 232, 200, 228, 199, 24, 195, 148, 201, 88, 14, 0, 42, 39,
    26, 47, 135, 121, 124, 241, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
};
static const unsigned char picture1[] = {
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0,
    0, 13, 0, 0, 0, 11, 8, 0, 0, 0, 0, 129, 217, 88, 189, 0, 0, 0,
    3, 116, 69, 88, 116, 97, 0, 98, 220, 73, 162, 59, 0, 0, 0, 55, 73, 68,
    65, 84, 120, 1, 1, 154, 0, 101, 255, 0, 0, 11, 44, 99, 176, 19, 140, 27,
    192, 123, 76, 51, 48, 1, 40, 16, 38, 60, 82, 104, 126, 148, 170, 192, 214, 236,
    2, 2, 114, 119, 124, 129, 134, 139, 144, 149, 154, 159, 164, 169, 174, 3, 9, 238,
    251, 137, 150, 94, 246, 16, 29, 0, 0, 0, 55, 73, 68, 65, 84, 36, 177, 63,
    204, 218, 231, 245, 2, 4, 6, 11, 16, 21, 26, 31, 36, 41, 185, 253, 24, 251,
    17, 0, 172, 208, 10, 90, 192, 60, 206, 118, 52, 8, 242, 242, 8, 1, 70, 41,
    63, 85, 107, 129, 151, 173, 195, 217, 239, 5, 27, 2, 228, 233, 238, 243, 123, 14,
    36, 212, 0, 0, 0, 55, 73, 68, 65, 84, 248, 253, 2, 7, 12, 17, 22, 27,
    32, 3, 67, 51, 65, 78, 92, 105, 119, 4, 18, 159, 173, 186, 200, 4, 120, 56,
    203, 135, 122, 145, 150, 188, 210, 232, 254, 20, 42, 0, 146, 207, 34, 139, 10, 159,
    74, 11, 226, 207, 210, 235, 26, 232, 139, 65, 116, 155, 200, 191, 173, 0, 0, 0,
    0, 73, 69, 78, 68, 174, 66, 96, 130,
};
static const unsigned char picture2[] = {
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0,
    0, 6, 0, 0, 0, 5, 8, 4, 0, 0, 0, 204, 81, 85, 109, 0, 0, 0,
    3, 116, 69, 88, 116, 97, 0, 98, 220, 73, 162, 59, 0, 0, 0, 36, 73, 68,
    65, 84, 120, 1, 99, 96, 96, 224, 102, 212, 97, 74, 102, 222, 192, 34, 204, 202,
    168, 193, 46, 192, 168, 198, 104, 195, 24, 196, 152, 193, 200, 84, 196, 94, 206, 94,
    195, 222, 210, 15, 90, 188, 0, 0, 0, 36, 73, 68, 65, 84, 200, 222, 198, 222,
    205, 206, 204, 201, 247, 142, 229, 55, 75, 39, 203, 52, 22, 21, 22, 22, 54, 118,
    110, 70, 1, 70, 81, 70, 41, 70, 121, 70, 0, 60, 174, 9, 5, 188, 129, 155,
    0, 0, 0, 1, 73, 68, 65, 84, 202, 83, 137, 86, 70, 0, 0, 0, 0, 73,
    69, 78, 68, 174, 66, 96, 130,
};
static const unsigned char picture3[] = {
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0,
    0, 9, 0, 0, 0, 6, 4, 0, 0, 0, 0, 241, 92, 6, 24, 0, 0, 0,
    3, 116, 69, 88, 116, 97, 0, 98, 220, 73, 162, 59, 0, 0, 0, 47, 73, 68,
    65, 84, 120, 1, 1, 36, 0, 219, 255, 0, 11, 195, 3, 203, 0, 1, 136, 98,
    218, 98, 218, 2, 39, 193, 107, 5, 160, 3, 9, 129, 10, 163, 43, 4, 107, 171,
    159, 57, 189, 0, 192, 170, 12, 230, 64, 228, 65, 13, 72, 111, 124, 81, 86, 0,
    0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
};
static const unsigned char picture4[] = {
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0,
    0, 11, 0, 0, 0, 5, 2, 0, 0, 0, 0, 252, 125, 81, 43, 0, 0, 0,
    3, 116, 69, 88, 116, 97, 0, 98, 220, 73, 162, 59, 0, 0, 0, 29, 73, 68,
    65, 84, 120, 1, 99, 48, 54, 54, 96, 228, 98, 248, 199, 180, 113, 227, 6, 102,
    213, 39, 143, 89, 54, 50, 252, 5, 0, 58, 254, 7, 85, 224, 199, 187, 102, 0,
    0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
};
static const unsigned char picture5[] = {
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0,
    0, 17, 0, 0, 0, 4, 1, 0, 0, 0, 0, 64, 13, 233, 127, 0, 0, 0,
    3, 116, 69, 88, 116, 97, 0, 98, 220, 73, 162, 59, 0, 0, 0, 23, 73, 68,
    65, 84, 120, 218, 99, 8, 13, 101, 96, 100, 96, 96, 96, 2, 210, 204, 215, 174,
    49, 0, 0, 18, 88, 3, 7, 179, 150, 49, 207, 0, 0, 0, 0, 73, 69, 78,
    68, 174, 66, 96, 130,
};
static const unsigned char picture6[] = {
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0,
    0, 30, 0, 0, 0, 25, 8, 0, 0, 0, 0, 3, 94, 193, 198, 0, 0, 0,
    3, 116, 69, 88, 116, 97, 0, 98, 220, 73, 162, 59, 0, 0, 0, 165, 73, 68,
    65, 84, 120, 218, 165, 209, 161, 11, 194, 64, 20, 199, 241, 123, 110, 6, 175, 8,
    114, 77, 108, 34, 43, 98, 19, 195, 96, 24, 52, 24, 44, 11, 86, 195, 202, 130,
    197, 32, 194, 130, 216, 68, 44, 98, 19, 219, 176, 90, 247, 239, 249, 197, 126, 207,
    112, 31, 248, 93, 57, 238, 248, 241, 158, 49, 232, 160, 135, 62, 134, 24, 99, 138,
    44, 147, 223, 181, 55, 45, 163, 138, 156, 181, 182, 235, 77, 172, 191, 54, 14, 3,
    140, 48, 193, 12, 115, 172, 144, 231, 146, 132, 85, 227, 104, 123, 19, 59, 245, 115,
    147, 98, 129, 53, 54, 216, 162, 196, 30, 85, 37, 169, 94, 205, 169, 162, 68, 175,
    246, 103, 106, 5, 118, 56, 224, 132, 11, 238, 120, 162, 174, 165, 8, 154, 218, 50,
    104, 161, 71, 156, 113, 197, 3, 47, 188, 241, 65, 211, 200, 45, 172, 90, 200, 66,
    191, 129, 83, 61, 241, 166, 126, 91, 228, 0, 0, 0, 0, 73, 69, 78, 68, 174,
    66, 96, 130,
};
static const unsigned char coloured[] = {
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0,
    0, 3, 0, 0, 0, 3, 8, 2, 0, 0, 0, 217, 74, 34, 232, 0, 0, 0,
    3, 116, 69, 88, 116, 97, 0, 98, 220, 73, 162, 59, 0, 0, 0, 38, 73, 68,
    65, 84, 120, 218, 99, 96, 96, 96, 224, 102, 100, 212, 97, 98, 98, 212, 96, 103,
    23, 96, 100, 84, 99, 100, 100, 42, 98, 103, 47, 103, 103, 175, 97, 103, 7, 0,
    21, 235, 2, 64, 16, 45, 40, 191, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66,
    96, 130,
};
/* clang-format on */

typedef struct picture {
    const unsigned char *bytes;
    size_t length;
    int columns, rows, depth;
} picture;

static const picture pictures[] = {
    {picture0, sizeof picture0, 7, 9, 16},  {picture1, sizeof picture1, 13, 11, 8},
    {picture2, sizeof picture2, 6, 5, 8},   {picture3, sizeof picture3, 9, 6, 4},
    {picture4, sizeof picture4, 11, 5, 2},  {picture5, sizeof picture5, 17, 4, 1},
    {picture6, sizeof picture6, 30, 25, 8},
};
enum { PICTURES = sizeof pictures / sizeof *pictures, MOST = 1000 };

/* What was painted. */
static int grey_at(const picture *p, int r, int c)
{
    return (p->columns == 30 ? r / 3 * 20 + c / 4 * 9
                             : r * r * 37 + c * c * 11 + r * c * 5 + 3 * r) %
           (1 << p->depth);
}

static void test_pictures(void **state)
{
    (void)state;
    for (int k = 0; k < PICTURES; k++) {
        const picture *p = &pictures[k];
        double grey[MOST];
        char why[200] = "";
        long long columns, rows;
        assert_true(read_png_is((const char *)p->bytes, p->length));
        assert_true(read_png_size((const char *)p->bytes, p->length, &columns, &rows, why));
        assert_true(columns == p->columns && rows == p->rows);
        assert_int_equal(read_png_grey((const char *)p->bytes, p->length, grey, why), 1);
        for (int i = 0; i < p->rows * p->columns; i++) {
            assert_true(grey[i] == grey_at(p, i / p->columns, i % p->columns));
        }
    }
}

/* Of colours the red is the height. */
static void test_colours(void **state)
{
    (void)state;
    const picture p = {coloured, sizeof coloured, 3, 3, 8};
    double grey[MOST];
    char why[200] = "";
    assert_int_equal(read_png_grey((const char *)coloured, sizeof coloured, grey, why), 1);
    for (int i = 0; i < 9; i++) {
        assert_true(grey[i] == grey_at(&p, i / 3, i % 3));
    }
}

static void test_refused(void **state)
{
    (void)state;
    double grey[MOST];
    char why[200] = "";
    assert_false(read_png_is("\x89PNG", 4));
    for (int k = 0; k < PICTURES; k++) { /* cut off anywhere */
        const picture *p = &pictures[k];
        for (size_t n = 8; n < p->length; n++) {
            char *copy = malloc(n);
            assert_non_null(copy);
            memcpy(copy, p->bytes, n);
            why[0] = 0;
            assert_int_equal(read_png_grey(copy, n, grey, why), 0);
            assert_true(why[0] != 0);
            free(copy);
        }
    }
}

/* The check sums of PNG know about every flipped bit; behind them the data may be anything. */
static uint32_t sum_of(const unsigned char *b, size_t count)
{
    uint32_t rest = 0xffffffffu;
    for (size_t i = 0; i < count; i++) {
        rest ^= b[i];
        for (int k = 0; k < 8; k++) {
            rest = rest >> 1 ^ (rest & 1 ? 0xedb88320u : 0);
        }
    }
    return ~rest;
}

/* ---- The fourth filter ----------------------------------------------------------------------- */

static size_t put_chunk(unsigned char *to, const char *kind, const unsigned char *data,
                        size_t count)
{
    uint32_t size = (uint32_t)count, sum;
    for (int i = 0; i < 4; i++) {
        to[i] = (unsigned char)(size >> (24 - 8 * i));
    }
    memcpy(to + 4, kind, 4);
    memcpy(to + 8, data, count);
    sum = sum_of(to + 4, count + 4);
    for (int i = 0; i < 4; i++) {
        to[8 + count + (size_t)i] = (unsigned char)(sum >> (24 - 8 * i));
    }
    return count + 12;
}

/* A zlib stream of one block that is stored as it is. */
static size_t put_stored(unsigned char *to, const unsigned char *data, size_t count)
{
    uint32_t a = 1, b = 0;
    const unsigned char head[] = {0x78,
                                  1,
                                  1,
                                  (unsigned char)count,
                                  (unsigned char)(count >> 8),
                                  (unsigned char)~count,
                                  (unsigned char)(~count >> 8)};
    memcpy(to, head, sizeof head);
    memcpy(to + sizeof head, data, count);
    for (size_t i = 0; i < count; i++) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    const unsigned char sum[] = {(unsigned char)(b >> 8), (unsigned char)b, (unsigned char)(a >> 8),
                                 (unsigned char)a};
    memcpy(to + sizeof head + count, sum, sizeof sum);
    return sizeof head + count + sizeof sum;
}

/* Paeth's guess as the standard has it: of equal distances left is first, then above. */
static int paeth(int left, int above, int corner)
{
    int p = left + above - corner;
    int distance[3] = {abs(p - left), abs(p - above), abs(p - corner)};
    int value[3] = {left, above, corner}, best = 0;
    for (int k = 1; k < 3; k++) {
        best = distance[k] < distance[best] ? k : best;
    }
    return value[best];
}

/* Pixels of few values, so that most distances are equal. */
static void test_paeth(void **state)
{
    (void)state;
    enum { SIDE = 30 };
    unsigned char pixel[SIDE][SIDE], rows[SIDE * (SIDE + 1)], packed[SIDE * (SIDE + 1) + 20];
    unsigned char file[SIDE * (SIDE + 1) + 200] = {137, 80, 78, 71, 13, 10, 26, 10};
    const unsigned char head[] = {0, 0, 0, SIDE, 0, 0, 0, SIDE, 8, 0, 0, 0, 0};
    unsigned draw = 1;
    for (int r = 0; r < SIDE; r++) {
        rows[r * (SIDE + 1)] = 4;
        for (int c = 0; c < SIDE; c++) {
            draw = draw * 1103515245u + 12345u;
            pixel[r][c] = (unsigned char)(draw >> 16 & 3);
            int left = c > 0 ? pixel[r][c - 1] : 0, above = r > 0 ? pixel[r - 1][c] : 0;
            int corner = r > 0 && c > 0 ? pixel[r - 1][c - 1] : 0;
            rows[r * (SIDE + 1) + 1 + c] =
                (unsigned char)(pixel[r][c] - paeth(left, above, corner));
        }
    }
    size_t size = 8, stored = put_stored(packed, rows, sizeof rows);
    size += put_chunk(file + size, "IHDR", head, sizeof head);
    size += put_chunk(file + size, "IDAT", packed, stored);
    size += put_chunk(file + size, "IEND", head, 0);
    double grey[SIDE * SIDE];
    char why[200] = "";
    assert_int_equal(read_png_grey((const char *)file, size, grey, why), 1);
    for (int i = 0; i < SIDE * SIDE; i++) {
        assert_true(grey[i] == pixel[i / SIDE][i % SIDE]);
    }
}

static void test_anything(void **state)
{
    (void)state;
    int survived = 0;
    for (int k = 0; k < PICTURES; k++) {
        const picture *p = &pictures[k];
        unsigned char *copy = malloc(p->length);
        assert_non_null(copy);
        for (size_t bit = 8 * 33; bit < 8 * p->length; bit++) {
            double grey[MOST];
            char why[200] = "";
            memcpy(copy, p->bytes, p->length);
            copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
            int plain = read_png_grey((const char *)copy, p->length, grey, why);
            for (size_t at = 33; at + 12 <= p->length;) { /* with its sums made right again */
                size_t size = (size_t)copy[at + 2] << 8 | copy[at + 3];
                if (at + 12 + size > p->length) {
                    break;
                }
                uint32_t sum = sum_of(copy + at + 4, size + 4);
                for (int i = 0; i < 4; i++) {
                    copy[at + 8 + size + (size_t)i] = (unsigned char)(sum >> (24 - 8 * i));
                }
                at += 12 + size;
            }
            survived += read_png_grey((const char *)copy, p->length, grey, why) == 1 && plain != 1;
        }
        free(copy);
    }
    assert_true(survived > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures), cmocka_unit_test(test_paeth),
        cmocka_unit_test(test_colours),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
