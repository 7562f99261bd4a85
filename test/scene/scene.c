/* The memory of scenes. */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 15)

/* Chunks are chained newest first; each is filled from its front. */
typedef struct scene_memory {
    struct scene_memory *next;
    size_t used, size;
    double data[];
} scene_memory;

static scene_memory *memory_grow(scene_memory *next, size_t bytes)
{
    size_t size = bytes > CHUNK ? bytes : CHUNK;
    scene_memory *chunk = calloc(1, sizeof *chunk + size);
    if (!chunk) {
        fprintf(stderr, "scene: out of memory\n");
        abort();
    }
    chunk->next = next;
    chunk->size = size;
    return chunk;
}

void *scene_alloc(scene *s, size_t count, size_t size)
{
    size_t bytes = (count * size + 15) / 16 * 16;
    if (bytes == 0)
        bytes = 16;
    if (!s->memory || s->memory->size - s->memory->used < bytes)
        s->memory = memory_grow(s->memory, bytes);

    void *memory = (char *)s->memory->data + s->memory->used;
    s->memory->used += bytes;
    return memory;
}

const char *scene_text(scene *s, const char *text)
{
    size_t length = strlen(text) + 1;
    return memcpy(scene_alloc(s, length, 1), text, length);
}

scene *scene_new(const char *name, int n)
{
    scene *s = calloc(1, sizeof *s);
    if (!s) {
        fprintf(stderr, "scene: out of memory\n");
        abort();
    }
    s->problem.n = n;
    s->margin = 1;
    s->law = ZW_CONTACT_CONVEX;
    snprintf(s->name, sizeof s->name, "%s", name);
    return s;
}

void scene_free(scene *s)
{
    if (!s)
        return;
    while (s->memory) {
        scene_memory *next = s->memory->next;
        free(s->memory);
        s->memory = next;
    }
    free(s);
}
