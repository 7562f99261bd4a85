/* What the fuzzers of readers demand: a condition, or a message that can be printed. */
#ifndef ZWANG_FUZZ_REQUIRE_H
#define ZWANG_FUZZ_REQUIRE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/lexer.h"
#include "zwang/zwang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The message is printable, and its caret is there if it shows a line (blank ones are not). */
static inline void require_message(const zw_error *error, int starved)
{
    REQUIRE(error->status == ZW_BAD_INPUT || (starved && error->status == ZW_NO_MEMORY));
    REQUIRE(strlen(error->text) > 0 && strlen(error->text) < sizeof error->text - 1);
    REQUIRE((error->line > 0) == (error->column > 0));
    REQUIRE(strchr(error->text, '\n') == NULL || strchr(error->text, '^') != NULL);
    for (const char *c = error->text; *c != 0;) {
        int length = expr_utf8_length(c);
        REQUIRE(length > 0 && ((unsigned char)*c >= 32 || *c == '\t' || *c == '\n'));
        c += length;
    }
}

#endif
