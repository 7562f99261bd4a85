/* zwang optimise: which parameters and initial values minimise the cost of a file? */
#include <math.h>

#include "cli.h"
#include "zwang/optimise.h"

static void show(const zw_optimum *best)
{
    zw_optimum_report r = zw_optimum_report_of(best);
    cli_label(stdout, "cost");
    printf("%.6g -> %.6g after %d motion%s\n", r.before, r.cost, r.motions,
           r.motions == 1 ? "" : "s");
    cli_label(stdout, "slope");
    printf("%.2g at most%s\n", r.slope,
           r.converged ? "" : "; the search stopped before it converged");
    if (r.kinks > 0) {
        cli_label(stdout, "note");
        printf("another sequence of events is equally likely: the slope is for this one\n");
    }
    cli_head(stdout, "Unknowns");
    printf("  %-16s %16s %16s\n", "", "as written", "best");
    for (int k = 0; k < r.unknowns; k++) {
        zw_optimum_value x = zw_optimum_look(best, k);
        printf("  %-16s %16.9g %16.9g%s\n", x.name, x.before, x.value,
               x.at_bound < 0   ? "    at its lower bound"
               : x.at_bound > 0 ? "    at its upper bound"
                                : "");
    }
}

static void show_json(const cli_arguments *arguments, const zw_optimum *best)
{
    zw_optimum_report r = zw_optimum_report_of(best);
    cli_json json = {.to = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "zwang", zw_version());
    cli_json_text(&json, "file", arguments->file);
    cli_json_bool(&json, "ok", 1);
    cli_json_number(&json, "before", r.before);
    cli_json_number(&json, "cost", r.cost);
    cli_json_number(&json, "slope", r.slope);
    cli_json_bool(&json, "converged", r.converged);
    cli_json_int(&json, "motions", r.motions);
    cli_json_int(&json, "kinks", r.kinks);
    cli_json_open(&json, "unknowns", '{');
    for (int k = 0; k < r.unknowns; k++) {
        zw_optimum_value x = zw_optimum_look(best, k);
        cli_json_open(&json, x.name, '{');
        cli_json_number(&json, "before", x.before);
        cli_json_number(&json, "value", x.value);
        cli_json_number(&json, "low", x.low);
        cli_json_number(&json, "high", x.high);
        cli_json_int(&json, "at_bound", x.at_bound);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, '}');
    cli_json_close(&json, '}');
}

static int poll(void *user, double time)
{
    (void)user;
    (void)time;
    return cli_interrupted();
}

int cli_optimise(const cli_arguments *arguments)
{
    cli_world world;
    zw_error error = {0};
    int code = cli_load_system(arguments, &world, &error);
    if (code != CLI_OK) {
        return cli_fail(arguments, &error, code);
    }
    const zw_optimise_options options = {.run = arguments->run, .poll = poll};
    cli_catch_interrupt();
    zw_optimum *best = zw_optimise(world.model, world.system, &options, &error);
    if (!best && cli_interrupted()) {
        fprintf(stderr, "zwang: interrupted\n");
        code = CLI_INTERRUPTED;
    } else if (!best) {
        code = cli_fail(arguments, &error,
                        error.status == ZW_BAD_INPUT ? CLI_MODEL : cli_code_of(error.status));
    } else if (arguments->json) {
        show_json(arguments, best);
    } else if (!arguments->quiet) {
        show(best);
    }
    zw_optimum_free(best);
    cli_unload(&world);
    return code;
}
