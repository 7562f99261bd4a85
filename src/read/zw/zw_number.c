/* A single number, for example on a command line, written as in a model: evaluated as the parameter
 * of a small model. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "read/zw/zw.h"

enum { LENGTH = 200 };

/* Formulas only: nothing that could end the line or begin a comment. */
static int is_formula(const char *text)
{
    return text[0] && strlen(text) < LENGTH && !strpbrk(text, "\n\r#,=\"");
}

int zw_number(const char *text, double *value)
{
    static const read_limits small = {.members = 1000, .work = 1e5, .nodes = 1e4};
    char line[LENGTH + 64];
    if (!is_formula(text)) {
        return 0;
    }
    snprintf(line, sizeof line, "param value_ = %s\ncoord x_\nkinetic x_'^2\n", text);
    zw_model *model = read_zw_text(line, "value", NULL, 0, &small, NULL);
    if (model) {
        *value = model->param[0].value;
    }
    int done = model && isfinite(*value);
    zw_model_free(model);
    return done;
}
