/* zwang run: computes the motion, writes files and a short summary. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct watcher {
    zw_record *record; /* or NULL */
    long samples;
    double last;    /* the time of the last one */
    long *happened; /* [events] how often each occurred */
    long named;     /* their sum */
} watcher;

static int observe(void *user, zw_sample_kind kind, int event, const zw_system *system,
                   const zw_state *state, zw_work *work)
{
    watcher *w = user;
    w->samples++;
    w->last = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
    if (kind == ZW_SAMPLE_EVENT && event >= 0) {
        w->happened[event]++;
        w->named++;
    }
    return w->record ? zw_record_observe(w->record, kind, event, system, state, work) : 0;
}

static int poll(void *user, double time)
{
    (void)user;
    cli_progress_show(time);
    return cli_interrupted();
}

/* ---- Summary -------------------------------------------------------------------------------- */

static void show_system(FILE *to, const cli_arguments *arguments, const cli_world *world,
                        const zw_run_options *plan)
{
    int constraints = zw_count(world->system, ZW_KIND_CONSTRAINT);
    cli_label(to, "system");
    fprintf(to, "%s: ", arguments->file);
    cli_show_count(to, zw_count(world->system, ZW_KIND_COORD), "coordinate", "coordinates");
    fputs(", ", to);
    cli_show_count(to, constraints, "constraint", "constraints");
    if (constraints > 0 &&
        zw_forward(world->system, world->state, world->work, NULL, NULL) == ZW_OK) {
        int freedom = zw_count(world->system, ZW_KIND_SPEED) - zw_work_motion(world->work)->rank;
        fprintf(to, ", freedom %d", freedom);
    }
    fputs(zw_count(world->system, ZW_KIND_COORD) > 0 ? "\n" : ": there is nothing to move\n", to);
    if (!arguments->key && !arguments->begin) {
        cli_show_keys(to, world);
    }
    cli_show_assembly(to, world);
    cli_label(to, "method");
    fprintf(to, "%s", zw_method_name(plan->method));
    if (plan->method == ZW_METHOD_DOP853 || plan->method == ZW_METHOD_STIFF) {
        fprintf(to, ", tolerance %.2g\n", plan->tolerance);
    } else {
        fprintf(to, ", step %.6g%s", plan->step,
                plan->contact == ZW_CONTACT_CONVEX ? ", contact convex" : "");
        fprintf(to, plan->accuracy > 0 ? ", accuracy %.2g\n" : "\n", plan->accuracy);
    }
    cli_show_untouched(to, world, plan->method);
}

static void show_events(FILE *to, const cli_world *world, const zw_run_summary *summary,
                        const watcher *w)
{
    enum { SHOWN = 6 };
    int events = zw_count(world->system, ZW_KIND_EVENT), shown = 0, left = 0;
    if (summary->events == (summary->stopped_by >= 0)) {
        return; /* none, or only the one mentioned above */
    }
    cli_label(to, "events");
    for (int i = 0; i < events; i++) {
        if (i == summary->stopped_by) {
            continue;
        }
        if (w->happened[i] > 0 && shown < SHOWN) {
            fprintf(to, "%s%s %ld", shown++ ? ", " : "", zw_name(world->system, ZW_KIND_EVENT, i),
                    w->happened[i]);
        } else {
            left += w->happened[i] > 0;
        }
    }
    if (left > 0) {
        fprintf(to, " and %d more", left);
    }
    if (summary->events > w->named) {
        fprintf(to, "%simpacts %ld", shown ? ", " : "", summary->events - w->named);
    }
    fputc('\n', to);
}

/* The energy theorem, Cardin-Zanzotto (1989), eq. (3.14): E - E(0) is the work done; what is
 * missing is the drift. */
static void show_energy(FILE *to, const zw_run_summary *summary)
{
    double size = 1 + fabs(summary->energy_start);
    if (summary->energy_start == 0 && summary->energy_end == 0 && summary->work == 0 &&
        summary->energy_drift == 0) {
        return; /* probably a system without masses */
    }
    cli_label(to, "energy");
    fprintf(to, "%.10g", summary->energy_start);
    if (fabs(summary->work) > 1e-8 * size) {
        fprintf(to, ", work %.10g", summary->work);
    }
    fprintf(to, " -> %.10g, drift %.2g\n", summary->energy_end, summary->energy_drift);
}

static void show_checks(FILE *to, const cli_world *world, const zw_run_summary *summary)
{
    int checks = zw_count(world->system, ZW_KIND_CHECK);
    if (checks == 0) {
        return;
    }
    cli_label(to, "checks");
    if (summary->check_failed >= 0) {
        fprintf(to, "%s FAILED at t = %.9g\n",
                zw_name(world->system, ZW_KIND_CHECK, summary->check_failed), summary->check_time);
        return;
    }
    for (int i = 0; i < checks && i < 6; i++) {
        fprintf(to, "%s%s", i ? ", " : "", zw_name(world->system, ZW_KIND_CHECK, i));
    }
    if (checks > 6) {
        fprintf(to, " and %d more", checks - 6);
    }
    fprintf(to, " %s\n", checks == 1 ? "holds" : "hold");
}

static int widest(const cli_world *world, zw_kind kind, int shown)
{
    int width = 0;
    for (int i = 0; i < shown && i < zw_count(world->system, kind); i++) {
        int length = (int)strlen(zw_name(world->system, kind, i));
        width = length > width ? length : width;
    }
    return width;
}

/* Coordinates and speeds side by side; with quaternions there are fewer speeds. */
static void show_state(FILE *to, const cli_world *world)
{
    enum { SHOWN = 6 };
    zw_view q = zw_field(world->system, world->state, world->work, ZW_FIELD_Q);
    zw_view v = zw_field(world->system, world->state, world->work, ZW_FIELD_V);
    int shown = q.count <= SHOWN + 1 ? q.count : SHOWN;
    int left = widest(world, ZW_KIND_COORD, shown), right = widest(world, ZW_KIND_SPEED, shown);
    for (int i = 0; i < shown; i++) {
        const char *name = zw_name(world->system, ZW_KIND_COORD, i);
        cli_label(to, i ? "" : "state");
        fprintf(to, i < v.count ? "%-*s = %-20.12g " : "%-*s = %.12g", left, name, q.data[i]);
        if (i < v.count) {
            const char *speed = zw_name(world->system, ZW_KIND_SPEED, i);
            const char *prime = cli_prime(world, i);
            fprintf(to, "%s%s%*s = %.12g", speed, prime, right - (int)strlen(speed), "", v.data[i]);
        }
        fputc('\n', to);
    }
    if (q.count > shown) {
        cli_label(to, "");
        fprintf(to, "and %d more\n", q.count - shown);
    }
}

/* The number of correct digits of each number of the state. */
static void show_digits(FILE *to, const cli_world *world, const zw_digits *digits)
{
    enum { SHOWN = 12 };
    int coords = zw_count(world->system, ZW_KIND_COORD);
    if (!digits || !digits->known) {
        return;
    }
    cli_label(to, "digits");
    for (int i = 0; i < digits->count && i < SHOWN; i++) {
        int speed = i - coords;
        fprintf(to, "%s%s%s ", i ? ", " : "",
                zw_name(world->system, speed < 0 ? ZW_KIND_COORD : ZW_KIND_SPEED,
                        speed < 0 ? i : speed),
                speed < 0 ? "" : cli_prime(world, speed));
        if (digits->digits[i] < 0) {
            fputs("(zero)", to);
        } else {
            fprintf(to, "%d", digits->digits[i]);
        }
    }
    if (digits->count > SHOWN) {
        fprintf(to, " and %d more", digits->count - SHOWN);
    }
    fputc('\n', to);
}

/* One line if all is well, otherwise one for each problem. */
static void show_verdict(FILE *to, const zw_run_verdict *verdict)
{
    const char *label = "verdict";
    for (int kind = ZW_RUN_PROVED; kind <= ZW_RUN_SURVIVED; kind++) {
        char text[1024];
        if (kind <= ZW_RUN_ESTIMATED) {
            if (zw_run_verdict_text(verdict, (zw_run_verdict_kind)kind, text, sizeof text) > 0) {
                cli_label(to, label);
                fprintf(to, "%s\n", text);
                label = "";
            }
            continue;
        }
        for (int i = 0; i < verdict->count; i++) {
            if ((int)verdict->line[i].kind == kind) {
                cli_label(to, label);
                fprintf(to, "%s: %s\n", zw_run_verdict_name((zw_run_verdict_kind)kind),
                        verdict->line[i].text);
                label = "";
            }
        }
    }
}

static void show_summary(FILE *to, const cli_outcome *it, const watcher *w)
{
    const cli_world *world = it->world;
    const zw_run_summary *summary = it->summary;
    cli_label(to, "time");
    fprintf(to, "%.10g in ", summary->end);
    cli_show_count(to, summary->steps, "step", "steps");
    fprintf(to, " (%ld rejected), ", summary->rejected);
    cli_show_time(to, it->wall);
    if (summary->stopped_by >= 0) {
        fprintf(to, ", ended by %s", zw_name(world->system, ZW_KIND_EVENT, summary->stopped_by));
    }
    fputc('\n', to);
    show_events(to, world, summary, w);
    show_state(to, world);
    show_digits(to, world, it->digits);
    show_energy(to, summary);
    if (zw_count(world->system, ZW_KIND_ROW) > 0) {
        cli_label(to, "violation");
        fprintf(to, "%.2g position, %.2g velocity\n", summary->violation_position,
                summary->violation_velocity);
    }
    if (summary->contacts > 0) {
        cli_label(to, "contacts");
        fprintf(to, "%d at most, %.2g deep at worst\n", summary->contacts, summary->depth);
        if (summary->overlaps > 0) {
            cli_label(to, "");
            fprintf(to, "%d pair%s overlap at the start: %s%s\n", summary->overlaps,
                    summary->overlaps == 1 ? "" : "s", summary->overlap_name,
                    summary->overlaps > 3 ? ", ..." : "");
        }
        if (w->record && zw_record_pairs(w->record) < 0) {
            cli_label(to, "");
            fputs("many pairs: they have columns in the files only with --contacts all\n", to);
        }
    }
    cli_label(to, "certificate");
    fprintf(to, "%.2g at worst\n", summary->certificate);
    show_checks(to, world, summary);
    if (it->status == ZW_OK) {
        show_verdict(to, it->verdict);
    }
}

/* ---- Goals ----------------------------------------------------------------------------------- */

static void show_reach(FILE *to, const cli_world *world, const zw_reach_report *report)
{
    enum { SHOWN = 6 };
    int most = zw_count(world->system, ZW_KIND_COORD) + zw_count(world->system, ZW_KIND_ROW);
    zw_reach_unknown *list = calloc((size_t)most + 1, sizeof *list);
    int count = list ? zw_reach_unknowns(world->system, world->state, list) : 0;
    cli_label(to, "reach");
    fputs("found ", to);
    for (int i = 0; i < count && i < SHOWN; i++) {
        fprintf(to, list[i].multiplier ? "%slambda(%s) = %.12g" : "%s%s' = %.12g", i ? ", " : "",
                list[i].name, list[i].value);
    }
    if (count > SHOWN) {
        fprintf(to, " and %d more", count - SHOWN);
    }
    fputc('\n', to);
    cli_label(to, "");
    fprintf(to, "misses the goal by %.2g; action %.12g, length %.12g%s\n", report->miss,
            report->action, report->length, report->least ? ", the least nearby" : "");
    free(list);
}

/* Does the command print text? */
static int talks(const cli_arguments *arguments)
{
    return !arguments->quiet && !arguments->json;
}

/* Finds the start if the file prescribes where to arrive. */
static int find_start(const cli_arguments *arguments, const cli_world *world, FILE *talk)
{
    zw_error error = {0};
    zw_reach_report report = {0};
    zw_reach_options options = {.poll = poll};
    if (arguments->begin || !zw_reach_asked(world->system)) {
        return CLI_OK;
    }
    zw_status status =
        zw_reach(world->system, world->state, world->work, &options, &report, &error);
    if (report.interrupted) {
        fputs("zwang: interrupted while the initial speeds were being computed\n", stderr);
        return CLI_INTERRUPTED;
    }
    if (status != ZW_OK) {
        cli_show_error(&error);
        return status == ZW_BAD_INPUT ? CLI_MODEL : CLI_FAILED;
    }
    if (talks(arguments)) {
        show_reach(talk, world, &report);
    }
    return CLI_OK;
}

/* ---- The command ---------------------------------------------------------------------------- */

typedef struct written_run {
    zw_record *record;
    const zw_run_summary *summary;
    int plain;
} written_run;

static zw_status write_run(void *user, const char *path, int piped, zw_error *error)
{
    written_run *it = user;
    zw_record_plain(it->record, it->plain || piped);
    return zw_record_write(it->record, it->summary, path, error);
}

/* Saves the final state, from which another run can resume. */
static int save_state(const cli_arguments *arguments, const cli_world *world, FILE *talk)
{
    zw_error error = {0};
    if (arguments->hash && talks(arguments)) {
        cli_label(talk, "hash");
        fprintf(talk, "%016llx\n", (unsigned long long)zw_state_hash(world->state));
    }
    if (!arguments->save) {
        return CLI_OK;
    }
    char place[PATH_MAX];
    if (zw_state_write(world->state, cli_output_place(arguments->save, place), &error) != ZW_OK) {
        cli_show_error(&error);
        return CLI_FILE;
    }
    if (talks(arguments)) {
        cli_label(talk, "saved");
        fprintf(talk, "%s\n", arguments->save);
    }
    return CLI_OK;
}

static int finish(const cli_outcome *it, watcher *w, FILE *talk)
{
    const zw_run_summary *summary = it->summary;
    int code = cli_code_of(it->status), stopped = cli_interrupted() && summary->interrupted;
    char note[64] = "";
    fflush(stdout);
    if (it->status != ZW_OK) {
        cli_show_error(it->error);
        if (w->samples > 0) {
            fprintf(stderr, "zwang: the motion ends at t = %.9g\n", summary->end);
        }
    }
    if (stopped) {
        fprintf(stderr, "zwang: interrupted at t = %.9g\n", summary->end);
        code = code ? code : CLI_INTERRUPTED;
    }
    if (it->status != ZW_OK || stopped) {
        snprintf(note, sizeof note, " (up to t = %.6g)", w->last);
    }
    if (w->record && w->samples > 0) {
        cli_arguments files = *it->arguments;
        files.quiet |= files.json;
        written_run run = {w->record, summary, files.plain};
        zw_record_conclude(w->record, it->verdict);
        int written = cli_outputs_write(&files, write_run, &run, note, talk);
        code = code ? code : written;
    }
    if (it->status == ZW_OK) {
        int saved = save_state(it->arguments, it->world, talk);
        code = code ? code : saved;
    }
    if (summary->check_failed >= 0) {
        fprintf(stderr, "zwang: check %s does not hold from t = %.9g on\n",
                zw_name(it->world->system, ZW_KIND_CHECK, summary->check_failed),
                summary->check_time);
        code = code ? code : CLI_FAILED;
    }
    return code;
}

/* The run itself, with its companion runs if --digits was given. */
static zw_status compute(const cli_arguments *arguments, const cli_world *world,
                         const zw_run_options *plan, watcher *w, zw_run_summary *summary,
                         zw_digits *digits, zw_error *error)
{
    zw_run_options options = *plan;
    options.observer = observe;
    options.poll = poll;
    options.user = w;
    return arguments->digits
               ? zw_run_digits(world->system, world->state, world->work, &options, summary, digits,
                               error)
               : zw_run(world->system, world->state, world->work, &options, summary, error);
}

/* Runs what has been prepared. */
static int carry_out(const cli_arguments *arguments, const cli_world *world,
                     const zw_run_options *plan, watcher *w)
{
    FILE *talk = cli_outputs_use_stdout(arguments) ? stderr : stdout;
    zw_error error = {0};
    zw_run_summary summary = {0};
    zw_digits digits = {0};
    zw_run_verdict verdict;
    cli_outcome it = {.arguments = arguments,
                      .world = world,
                      .summary = &summary,
                      .digits = arguments->digits ? &digits : NULL,
                      .verdict = &verdict,
                      .happened = w->happened,
                      .error = &error};
    if (talks(arguments)) {
        show_system(talk, arguments, world, plan);
        fflush(talk);
    }
    cli_catch_interrupt();
    int code = find_start(arguments, world, talk);
    if (code != CLI_OK) {
        return code;
    }
    fflush(talk);
    cli_progress_start(zw_field(world->system, world->state, world->work, ZW_FIELD_TIME).data[0],
                       plan->time);
    double start = cli_clock();
    it.status = compute(arguments, world, plan, w, &summary, &digits, &error);
    it.wall = cli_clock() - start;
    cli_progress_end();
    zw_run_conclude(world->system, &world->assembly, &summary, it.digits, &verdict);
    if (talks(arguments) && w->samples > 0) {
        show_summary(talk, &it, w);
    }
    code = finish(&it, w, talk);
    if (arguments->json) {
        cli_run_json(&it);
    }
    zw_digits_free(&digits);
    return code;
}

/* The options of the run. A fixed step that is longer than the whole run is a mistake. */
static int plan_run(const cli_arguments *arguments, const cli_world *world, zw_run_options *plan,
                    zw_error *error)
{
    if (zw_run_plan(world->system, world->state, &arguments->run, plan, error) != ZW_OK) {
        return CLI_USAGE;
    }
    int fixed = plan->method != ZW_METHOD_DOP853 && plan->method != ZW_METHOD_STIFF &&
                plan->method != ZW_METHOD_BDF;
    double now = zw_field(world->system, world->state, world->work, ZW_FIELD_TIME).data[0];
    if (fixed && arguments->run.step > plan->time - now) {
        *error = (zw_error){.status = ZW_BAD_INPUT};
        snprintf(error->text, sizeof error->text,
                 "--step %g is longer than the whole run, from t = %g to %g; %s takes steps well "
                 "below that, such as --step %g",
                 arguments->run.step, now, plan->time, zw_method_name(plan->method),
                 (plan->time - now) / 1000);
        return CLI_USAGE;
    }
    return CLI_OK;
}

int cli_run(const cli_arguments *arguments)
{
    cli_world world;
    zw_error error = {0};
    zw_run_options plan;
    watcher w = {0};
    if (arguments->json && cli_outputs_use_stdout(arguments)) {
        fputs("zwang: --json and -o - cannot both have the standard output\n", stderr);
        return CLI_USAGE;
    }
    int code = cli_load(arguments, &world, &error);
    code = code == CLI_OK ? plan_run(arguments, &world, &plan, &error) : code;
    if (code == CLI_OK) {
        w.happened = calloc((size_t)zw_count(world.system, ZW_KIND_EVENT) + 1, sizeof(long));
        w.record = arguments->output_count ? zw_record_create(world.system, &error) : NULL;
        code = !w.happened || (arguments->output_count && !w.record) ? CLI_FAILED : CLI_OK;
        if (w.record && arguments->contacts) {
            zw_record_contacts(w.record, arguments->contacts[0] == 'a' ? -1 : 0);
        }
        if (w.record && zw_record_expect(w.record, world.state, &plan, &error) != ZW_OK) {
            code = CLI_USAGE;
        }
    }
    if (code != CLI_OK) {
        if (arguments->json) {
            cli_explain_json_error(arguments, &error);
        }
        cli_show_error(&error);
    } else {
        code = cli_outputs_possible(arguments);
        code = code ? code : carry_out(arguments, &world, &plan, &w);
    }
    zw_record_free(w.record);
    free(w.happened);
    cli_unload(&world);
    return code;
}
