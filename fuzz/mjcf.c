/* Any bytes as an MJCF or URDF file: a model or a message with a place, nothing else. The first
 * byte may make an allocation fail. Other files are not read. */
#include <math.h>

#include "require.h"

#include "base/memory.h"
#include "model/bodies.h"
#include "read/robot/mjcf.h"

static void check_unit(const double quat[4])
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += quat[i] * quat[i];
    }
    REQUIRE(fabs(sum - 1) < 1e-12);
}

/* What the next stage relies on. */
static void check_model(const zw_model *m)
{
    const model_bodies *b = m->bodies;
    REQUIRE(b != NULL && b->count[ZW_KIND_BODY] > 0);
    for (int k = 0; k <= ZW_KIND_HFIELD; k++) {
        for (int i = k == ZW_KIND_BODY ? 1 : 0; i < b->count[k]; i++) {
            void *def = model_part_at(b, (zw_kind)k, i);
            model_refs refs;
            model_part_refs((zw_kind)k, def, &refs);
            for (int r = 0; r < refs.count; r++) {
                REQUIRE(*refs.at[r] < b->count[refs.kind[r]]);
                REQUIRE(*refs.at[r] >= (refs.may_lack[r] ? -1 : 0));
            }
            const char *name = *model_part_name(def);
            REQUIRE(name == NULL || model_find_part(b, (zw_kind)k, name) == i);
            REQUIRE(*model_part_place(def) < m->place_count);
        }
    }
    for (int i = 1; i < b->count[ZW_KIND_BODY]; i++) {
        REQUIRE(b->body[i].parent < i);
        check_unit(b->body[i].quat);
    }
    for (int i = 0; i < b->count[ZW_KIND_GEOM]; i++) {
        check_unit(b->geom[i].quat);
    }
    for (int i = 0; i < b->count[ZW_KIND_JOINT]; i++) {
        const zw_joint_def *j = &b->joint[i];
        REQUIRE(j->kind < ZW_JOINT_SLIDE || fabs(model_dot(j->axis, j->axis) - 1) < 1e-12);
    }
}

/* All bodies but the world can be taken away again. */
static void remove_all(zw_model *m)
{
    zw_error error;
    while (zw_model_count(m, ZW_KIND_BODY) > 1) {
        int last = zw_model_count(m, ZW_KIND_BODY);
        REQUIRE(zw_model_remove(m, ZW_KIND_BODY, last / 2 > 0 ? last / 2 : 1, &error) == ZW_OK);
        check_model(m);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const robot_limits limits = {.files = 0, .copies = 300};
    if (size == 0 || size > 8000) {
        return 0;
    }
    char *text = malloc(size + 1);
    REQUIRE(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;

    /* A first byte beyond letters is no text: it says which allocation fails. */
    int starved = data[0] >= 0x80 && data[0] != 0xef ? data[0] - 0x7f : 0;
    zw_error error;
    base_alloc_fail_after(starved);
    zw_model *model = robot_text(starved ? text + 1 : text, "fuzz.xml", &limits, &error);
    base_alloc_fail_after(0);
    if (model == NULL) {
        require_message(&error, starved);
    } else {
        check_model(model);
        remove_all(model);
    }
    zw_model_free(model);

    /* The bytes as a mesh, too. */
    read_mesh mesh = {0};
    char why[200] = "";
    int ok = read_mesh_bytes(&mesh, data[0] & 1 ? "a.stl" : "a.obj", (const char *)data, size, why);
    REQUIRE(ok == 1 || (ok == 0 && why[0] != 0));
    read_mesh_free(&mesh);
    free(text);
    return 0;
}
