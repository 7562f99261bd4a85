/* Any bytes as a .zw file: a model or a message with a place, nothing else. The first byte may make
 * an allocation fail. Sizes are capped, so that a run is short; other files are not read. */
#include <math.h>

#include "require.h"

#include "base/memory.h"
#include "read/zw/zw.h"

static int line_count(const char *text)
{
    int lines = 1;
    for (; *text != 0; text++) {
        lines += *text == '\n';
    }
    return lines;
}

static void check_error(const zw_error *error, const char *text, int starved)
{
    REQUIRE(error->line >= 0 && error->line <= line_count(text));
    require_message(error, starved);
}

static void check_id(const zw_model *m, expr_id id, int forbidden, int may_lack)
{
    if (id == EXPR_NONE && may_lack) {
        return;
    }
    REQUIRE(id >= 0 && id < expr_graph_count(m->graph));
    REQUIRE((expr_graph_node(m->graph, id)->depends & forbidden) == 0);
}

/* What the next stage relies on. */
static void check_model(const zw_model *m)
{
    enum { RATES = EXPR_ON_SPEED | EXPR_ON_ACCEL | EXPR_ON_LAMBDA };
    enum { FORCES = EXPR_ON_ACCEL | EXPR_ON_LAMBDA };
    int rows = 0;
    REQUIRE(m->coord_count > 0);
    check_id(m, m->kinetic, FORCES, 0);
    check_id(m, m->potential, RATES, 0);
    check_id(m, m->lagrangian, FORCES, 0);
    check_id(m, m->rayleigh, FORCES, 0);
    check_id(m, m->metric, FORCES, 1);
    for (int i = 0; i < m->param_count; i++) {
        REQUIRE(isfinite(m->param[i].value) && m->param[i].name != NULL);
    }
    for (int i = 0; i < m->coord_count; i++) {
        check_id(m, m->coord[i].start, ~EXPR_ON_PARAM, 0);
        check_id(m, m->coord[i].speed, ~EXPR_ON_PARAM, 1);
        check_id(m, m->coord[i].force, FORCES, 0);
    }
    for (int i = 0; i < m->constraint_count; i++) {
        const model_constraint *c = &m->constraint[i];
        REQUIRE(c->rows >= 1 && c->rows <= MODEL_DIMENSION && c->name != NULL);
        REQUIRE(c->relation == MODEL_EQUAL || c->rows == 1);
        for (int k = 0; k < c->rows; k++) {
            check_id(m, c->residual[k], FORCES, 0);
        }
        rows += c->rows;
    }
    for (int i = 0; i < m->event_count; i++) {
        check_id(m, m->event[i].root, EXPR_ON_ACCEL, 0);
    }
    for (int i = 0; i < expr_graph_count(m->graph); i++) {
        const expr_node *node = expr_graph_node(m->graph, i);
        REQUIRE(node->place < m->place_count);
        REQUIRE(node->op != EXPR_LAMBDA || node->index < rows);
        REQUIRE(node->op != EXPR_COORD || node->index < m->coord_count);
        REQUIRE(node->op != EXPR_PARAM || node->index < m->param_count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const read_limits limits = {.members = 100, .work = 20000, .nodes = 1e5, .includes = 0};
    if (size == 0 || size > 5000) {
        return 0;
    }
    char *text = malloc(size + 1);
    REQUIRE(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;

    /* A first byte beyond letters is no text: it says which allocation fails. */
    int starved = data[0] >= 0x80 ? data[0] - 0x7f : 0;
    const char *begin = starved ? text + 1 : text;
    zw_error error;
    base_alloc_fail_after(starved);
    zw_model *model = read_zw_text(begin, "fuzz.zw", NULL, 0, &limits, &error);
    base_alloc_fail_after(0);
    if (model == NULL) {
        check_error(&error, begin, starved);
    } else {
        check_model(model);
    }
    zw_model_free(model);
    free(text);
    return 0;
}
