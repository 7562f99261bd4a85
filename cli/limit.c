/* zwang limit: unconstrained systems with increasing added mass and friction, and their limit. */
#include <math.h>

#include "cli.h"

static int poll(void *user, double time)
{
    (void)user;
    cli_progress_show(time);
    return cli_interrupted();
}

/* ---- The table ------------------------------------------------------------------------------ */

static void show_head(FILE *to, const cli_arguments *arguments, const cli_world *world,
                      const zw_limit *limit)
{
    const zw_run_options *plan = zw_limit_plan(limit);
    zw_law law = zw_limit_law(limit);
    cli_label(to, "system");
    fprintf(to, "%s: ", arguments->file);
    cli_show_count(to, zw_count(world->system, ZW_KIND_COORD), "coordinate", "coordinates");
    fputs(", ", to);
    cli_show_count(to, zw_count(world->system, ZW_KIND_CONSTRAINT), "constraint", "constraints");
    fputs("\n", to);
    cli_label(to, "limit");
    fprintf(to, "%s, alpha = %g, beta = %g; t = 0 to %g, tolerance %.2g\n", law.name, law.alpha,
            law.beta, plan->time, plan->tolerance);
    fprintf(to, "\n%8s %9s %9s %7s %9s %17s\n", "N", "distance", "at end", "ratio", "|Phi|",
            "|N Phi - lambda|");
    fflush(to);
}

/* The limit itself has no distance. */
static void show_row(FILE *to, const zw_limit_row *row, double wall)
{
    int finite = isfinite(row->N) != 0;
    char distance[24] = "", end[24] = "", ratio[24] = "", multiplier[24] = "";
    if (finite) {
        snprintf(distance, sizeof distance, "%.2e", row->distance);
        snprintf(end, sizeof end, "%.2e", row->distance_end);
        snprintf(multiplier, sizeof multiplier, "%.2e", row->multiplier);
    }
    if (isfinite(row->ratio)) {
        snprintf(ratio, sizeof ratio, "%.2f", row->ratio);
    }
    fprintf(to, "%8.3g %9s %9s %7s %9.2e %17s   ", row->N, distance, end, ratio, row->phi,
            multiplier);
    cli_show_count(to, row->steps, "step", "steps");
    fprintf(to, " (%ld rejected), ", row->rejected);
    cli_show_time(to, wall);
    fputs("\n", to);
    fflush(to);
}

/* The estimated order of convergence. */
static void show_order(FILE *to, const zw_limit *limit)
{
    zw_limit_order o = zw_limit_order_of(limit);
    double error = zw_limit_look(limit, 0)->distance;
    fputs("\n", to);
    cli_label(to, "error");
    fprintf(to, "%.2g: the limit compared with a run at ten times the tolerance\n", error);
    cli_label(to, "order");
    if (o.rows < 2) {
        fputs("unknown: fewer than two distances exceed that error\n", to);
    } else if (fabs(o.order - 1) < 0.1) {
        fprintf(to, "%.3f from N = %g to %g: with ten times the N a tenth of the distance\n",
                o.order, o.from, o.to);
    } else {
        fprintf(to, "%.3f from N = %g to %g, not 1: N is still too small for so long a time\n",
                o.order, o.from, o.to);
    }
}

/* ---- The command ---------------------------------------------------------------------------- */

static zw_status write_limit(void *user, const char *path, int piped, zw_error *error)
{
    (void)piped;
    return zw_limit_write(user, path, error);
}

/* One row, as far as the motion goes; *wall in seconds. */
static zw_status take(zw_limit *limit, double N, double *wall, zw_error *error)
{
    cli_progress_start(0, zw_limit_plan(limit)->time);
    double start = cli_clock();
    zw_status status = zw_limit_add(limit, N, error);
    *wall = cli_clock() - start;
    cli_progress_end();
    return status;
}

static int carry_out(const cli_arguments *arguments, const cli_world *world, zw_limit *limit)
{
    FILE *talk = cli_outputs_use_stdout(arguments) ? stderr : stdout;
    double to = arguments->to > 0 ? arguments->to : 1e8, wall;
    double next = arguments->from > 0 ? arguments->from : 10, N = INFINITY;
    zw_error error = {0};
    zw_status status = ZW_OK;
    if (!arguments->quiet) {
        show_head(talk, arguments, world, limit);
    }
    cli_catch_interrupt();
    for (;;) {
        int before = zw_limit_count(limit);
        status = take(limit, N, &wall, &error);
        if (status != ZW_OK || zw_limit_count(limit) == before) {
            break;
        }
        if (!arguments->quiet) {
            show_row(talk, zw_limit_look(limit, before), wall);
        }
        if (next > to * (1 + 1e-9)) {
            break;
        }
        N = next;
        next *= 10;
    }
    int code = cli_code_of(status), any = zw_limit_count(limit) > 0;
    if (any && !arguments->quiet) {
        show_order(talk, limit);
    }
    fflush(stdout);
    if (status != ZW_OK) {
        cli_show_error(&error);
        fprintf(stderr, "zwang: the rows end before N = %g\n", N);
    } else if (cli_interrupted()) {
        fprintf(stderr, "zwang: interrupted at N = %g\n", N);
        code = CLI_INTERRUPTED;
    }
    int written = any ? cli_outputs_write(arguments, write_limit, limit, "", talk) : CLI_OK;
    return code ? code : written;
}

/* Refuses what would take too long, or is invalid. */
static int check(const cli_arguments *arguments, const cli_world *world, const zw_run_options *plan)
{
    double from = arguments->from > 0 ? arguments->from : 10;
    double to = arguments->to > 0 ? arguments->to : 1e8;
    double numbers = plan->time / plan->every * zw_count(world->system, ZW_KIND_COORD);
    if (plan->every < 0) {
        fputs("zwang: --every needs a time here: paths are compared at the same times\n", stderr);
        return CLI_USAGE;
    }
    if (!(numbers <= 1e7)) {
        fprintf(stderr, "zwang: up to t = %.6g there would be %.2g samples\n", plan->time,
                plan->time / plan->every);
        return CLI_USAGE;
    }
    if (from > to || to / from > 1e30) {
        fprintf(stderr, "zwang: N goes up by factors of ten: from %g to %g is %s\n", from, to,
                from > to ? "no way up" : "too far");
        return CLI_USAGE;
    }
    return CLI_OK;
}

int cli_limit(const cli_arguments *arguments)
{
    cli_world world;
    zw_error error = {0};
    zw_limit *limit = NULL;
    zw_run_options plan, requested = arguments->run;
    int code = cli_load(arguments, &world, &error);
    if (code == CLI_OK &&
        zw_run_plan(world.system, world.state, &arguments->run, &plan, &error) != ZW_OK) {
        code = CLI_USAGE;
    }
    requested.poll = poll;
    if (code == CLI_OK && (code = check(arguments, &world, &plan)) == CLI_OK &&
        (code = cli_outputs_possible(arguments)) == CLI_OK) {
        limit = zw_limit_create(world.model, &requested, &error);
        code = limit ? CLI_OK : error.status == ZW_NO_MEMORY ? CLI_FAILED : CLI_MODEL;
    }
    if (error.status != ZW_OK) {
        cli_show_error(&error);
    } else if (code == CLI_OK) {
        code = carry_out(arguments, &world, limit);
    }
    zw_limit_free(limit);
    cli_unload(&world);
    return code;
}
