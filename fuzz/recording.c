/* Any bytes as a recording: a path or a message with a place, nothing else. What was read is
 * written out again and must come back to the bit. The first byte may make an allocation fail. */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "require.h"

#include "base/memory.h"
#include "expr/lexer.h"
#include "path/path.h"

static const char model_text[] = "coord x = 1\ncoord y[i] = 0 for i in 1..2\n"
                                 "kinetic (x'^2 + y[1]'^2 + y[2]'^2)/2\n";

static const zw_system *the_system(void)
{
    static zw_system *system; /* of the whole run */
    if (system == NULL) {
        zw_model *model = zw_model_parse(model_text, "fuzz.zw", NULL, NULL);
        REQUIRE(model != NULL);
        system = zw_system_compile(model, NULL, NULL);
        REQUIRE(system != NULL);
    }
    return system;
}

/* The bytes as a file in memory. */
static zw_path *read_bytes(const void *data, size_t size, int starved, zw_error *error)
{
    static const zw_path_column column = {"y[2]", "z"};
    char name[64];
    int file = memfd_create("recording", 0);
    REQUIRE(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    base_alloc_fail_after(starved);
    zw_path *path = zw_path_read(the_system(), name,
                                 &(zw_path_options){.columns = &column, .column_count = 1}, error);
    base_alloc_fail_after(0);
    close(file);
    return path;
}

/* The message is printable and its caret is there. */
static void check_error(const zw_error *error, size_t size, int starved)
{
    REQUIRE(error->status == ZW_BAD_INPUT || (starved && error->status == ZW_NO_MEMORY));
    REQUIRE(strlen(error->text) > 0 && strlen(error->text) < sizeof error->text - 1);
    REQUIRE(error->line >= 0 && (size_t)error->line <= size + 1);
    REQUIRE((error->line > 0) == (error->column > 0));
    REQUIRE(error->line == 0 || strchr(error->text, '^') != NULL);
    for (const char *c = error->text; *c != 0;) {
        int length = expr_utf8_length(c);
        REQUIRE(length > 0 && ((unsigned char)*c >= 32 || *c == '\t' || *c == '\n'));
        c += length;
    }
}

static void check_path(const zw_path *path)
{
    zw_path_about about = zw_path_look(path);
    REQUIRE(path->n == 3 && path->count >= 2 && path->pieces >= 1);
    REQUIRE(about.end > about.start && (about.speeds == 1) == (path->v != NULL));
    REQUIRE((about.ignored > 0) || about.ignored_as[0] == 0);
    for (long i = 0; i < path->count; i++) {
        REQUIRE(isfinite(path->t[i]) && (i == 0 || path->t[i] >= path->t[i - 1]));
        for (long k = 3 * i; k < 3 * i + 3; k++) {
            REQUIRE(isfinite(path->q[k]) && (path->v == NULL || isfinite(path->v[k])));
        }
    }
}

static void check_again(const zw_path *path)
{
    size_t capacity = 100 + (size_t)path->count * 200, used = 0;
    char *text = malloc(capacity);
    zw_error error;
    REQUIRE(text != NULL);
    used += (size_t)snprintf(text, capacity, "t,x,y[1],z%s", path->v ? ",x',y[1]',y[2]'" : "");
    for (long i = 0; i < path->count; i++) {
        used += (size_t)snprintf(text + used, capacity - used, "\n%.17g", path->t[i]);
        for (long k = 3 * i; k < 3 * i + 3; k++) {
            used += (size_t)snprintf(text + used, capacity - used, ",%.17g", path->q[k]);
        }
        for (long k = 3 * i; path->v != NULL && k < 3 * i + 3; k++) {
            used += (size_t)snprintf(text + used, capacity - used, ",%.17g", path->v[k]);
        }
    }
    zw_path *again = read_bytes(text, used, 0, &error);
    size_t bytes = 3 * (size_t)path->count * sizeof(double);
    REQUIRE(again != NULL && again->count == path->count && again->pieces == path->pieces);
    REQUIRE(memcmp(again->t, path->t, bytes / 3) == 0 && memcmp(again->q, path->q, bytes) == 0);
    REQUIRE((again->v == NULL) == (path->v == NULL));
    REQUIRE(path->v == NULL || memcmp(again->v, path->v, bytes) == 0);
    zw_path_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 5000) {
        return 0;
    }
    /* A first byte beyond letters is no title: it says which allocation fails. */
    int starved = data[0] >= 0x80 && data[0] < 0xef ? data[0] - 0x7f : 0;
    size_t skipped = starved > 0;
    zw_error error = {0};
    zw_path *path = read_bytes(data + skipped, size - skipped, starved, &error);
    if (path == NULL) {
        check_error(&error, size, starved);
    } else {
        check_path(path);
        check_again(path);
    }
    zw_path_free(path);
    return 0;
}
