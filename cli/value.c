/* A number on the command line may be written as in a model: `--set slope=30*deg`, `-t 2*pi`.
 * A tiny model computes it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { LENGTH = 200 };

/* Formulas only: nothing that could end the line or begin a comment. */
static int is_formula(const char *text)
{
    return text[0] && strlen(text) < LENGTH && !strpbrk(text, "\n\r#,=\"");
}

static int compute(const char *text, double *value)
{
    char line[LENGTH + 64];
    int done = 0;
    snprintf(line, sizeof line, "param value_ = %s\ncoord x_\nkinetic x_'^2\n", text);
    zw_model *model = zw_model_parse(line, "value", NULL, 0, NULL);
    zw_system *system = model ? zw_system_compile(model, NULL) : NULL;
    zw_work *work = system ? zw_work_create(system, NULL) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, NULL) : NULL;
    if (state) {
        *value = zw_field(system, state, work, ZW_FIELD_PARAM).data[0];
        done = 1;
    }
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
    return done;
}

int cli_value(const char *text, double *value)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end) {
        if (!is_formula(text) || !compute(text, &number)) {
            return 0;
        }
    }
    *value = number;
    return isfinite(number);
}
