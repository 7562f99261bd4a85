/* zwang run --json: the settings, the results and the verdict, under stable names. */
#include <string.h>

#include "cli.h"

static void put_setup(cli_json *json, const cli_outcome *it)
{
    const cli_arguments *arguments = it->arguments;
    const zw_system *system = it->world->system;
    const zw_run_summary *summary = it->summary;
    cli_json_text(json, "zwang", zw_version());
    cli_json_text(json, "file", arguments->file);
    cli_json_bool(json, "ok", it->status == ZW_OK && summary->check_failed < 0);
    cli_json_open(json, "system", '{');
    cli_json_int(json, "coordinates", zw_count(system, ZW_KIND_COORD));
    cli_json_int(json, "speeds", zw_count(system, ZW_KIND_SPEED));
    cli_json_int(json, "constraints", zw_count(system, ZW_KIND_CONSTRAINT));
    cli_json_int(json, "rows", zw_count(system, ZW_KIND_ROW));
    cli_json_close(json, '}');
    cli_json_open(json, "set", '{');
    for (int i = 0; i < arguments->setting_count; i++) {
        cli_json_number(json, arguments->setting[i].name, arguments->setting[i].value);
    }
    cli_json_close(json, '}');
    if (arguments->key) {
        cli_json_text(json, "key", arguments->key);
    }
    if (arguments->begin) {
        cli_json_text(json, "from", arguments->begin);
    }
    cli_json_text(json, "method", zw_method_name(summary->method));
    cli_json_number(json, "tolerance", summary->tolerance);
    if (summary->accuracy > 0) {
        cli_json_number(json, "accuracy", summary->accuracy);
    }
    if (summary->step > 0) {
        cli_json_number(json, "step", summary->step);
    }
    if (summary->contact != ZW_CONTACT_DEFAULT) {
        cli_json_text(json, "contact", zw_contact_law_name(summary->contact));
    }
}

static void put_course(cli_json *json, const cli_outcome *it)
{
    const zw_system *system = it->world->system;
    const zw_run_summary *summary = it->summary;
    cli_json_open(json, "time", '{');
    cli_json_number(json, "start", summary->start);
    cli_json_number(json, "end", summary->end);
    cli_json_number(json, "wall", it->wall);
    cli_json_close(json, '}');
    cli_json_bool(json, "interrupted", summary->interrupted);
    if (summary->stopped_by >= 0) {
        cli_json_text(json, "ended_by", zw_name(system, ZW_KIND_EVENT, summary->stopped_by));
    }
    cli_json_open(json, "steps", '{');
    cli_json_int(json, "accepted", summary->steps);
    cli_json_int(json, "rejected", summary->rejected);
    cli_json_int(json, "evaluations", summary->evaluations);
    cli_json_int(json, "proved", summary->proved);
    cli_json_int(json, "unproved", summary->unproved);
    cli_json_int(json, "halved", summary->halved);
    cli_json_int(json, "inexact", summary->inexact);
    cli_json_int(json, "linear", summary->linear);
    cli_json_int(json, "stiff", summary->stiff);
    cli_json_int(json, "late", summary->late);
    cli_json_number(json, "late_by", summary->late_by);
    cli_json_int(json, "slow", summary->slow);
    cli_json_int(json, "turned", summary->turned);
    cli_json_close(json, '}');
    cli_json_open(json, "events", '{');
    for (int i = 0; i < zw_count(system, ZW_KIND_EVENT); i++) {
        cli_json_int(json, zw_name(system, ZW_KIND_EVENT, i), it->happened[i]);
    }
    cli_json_close(json, '}');
    cli_json_open(json, "impacts", '{');
    cli_json_int(json, "count", summary->impacts);
    cli_json_number(json, "loss", summary->impact_loss);
    cli_json_close(json, '}');
}

/* One entry of the state: its name has no prime in a list of speeds. */
static void put_entries(cli_json *json, const cli_outcome *it, zw_kind kind, zw_field_id field,
                        const char *key)
{
    const cli_world *world = it->world;
    zw_view value = zw_field(world->system, world->state, world->work, field);
    const zw_digits *digits = it->digits && it->digits->known ? it->digits : NULL;
    int first = kind == ZW_KIND_SPEED ? zw_count(world->system, ZW_KIND_COORD) : 0;
    cli_json_open(json, key, '[');
    for (int i = 0; i < value.count; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", zw_name(world->system, kind, i));
        cli_json_number(json, "value", value.data[i]);
        if (digits) {
            cli_json_number(json, "error", digits->error[first + i]);
            if (digits->digits[first + i] >= 0) {
                cli_json_int(json, "digits", digits->digits[first + i]);
            }
        }
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void put_measures(cli_json *json, const cli_outcome *it)
{
    const zw_run_summary *summary = it->summary;
    cli_json_open(json, "energy", '{');
    cli_json_number(json, "start", summary->energy_start);
    cli_json_number(json, "end", summary->energy_end);
    cli_json_number(json, "work", summary->work);
    cli_json_number(json, "drift", summary->energy_drift);
    cli_json_close(json, '}');
    cli_json_open(json, "violation", '{');
    cli_json_number(json, "position", summary->violation_position);
    cli_json_number(json, "velocity", summary->violation_velocity);
    cli_json_close(json, '}');
    cli_json_number(json, "certificate", summary->certificate);
    cli_json_open(json, "contacts", '{');
    cli_json_int(json, "most", summary->contacts);
    cli_json_number(json, "depth", summary->depth);
    cli_json_int(json, "jams", summary->jams);
    cli_json_int(json, "overlaps", summary->overlaps);
    if (summary->overlaps > 0) {
        cli_json_number(json, "overlap_depth", summary->overlap_depth);
        cli_json_text(json, "overlap_name", summary->overlap_name);
        cli_json_int(json, "overlaps_stuck", summary->overlaps_stuck);
    }
    cli_json_close(json, '}');
    cli_json_open(json, "checks", '[');
    for (int i = 0; i < zw_count(it->world->system, ZW_KIND_CHECK); i++) {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", zw_name(it->world->system, ZW_KIND_CHECK, i));
        cli_json_bool(json, "holds", i != summary->check_failed);
        cli_json_int(json, "instants", summary->checked);
        if (i == summary->check_failed) {
            cli_json_number(json, "time", summary->check_time);
        }
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void put_verdict(cli_json *json, const zw_run_verdict *verdict)
{
    cli_json_open(json, "verdict", '{');
    cli_json_bool(json, "clean", verdict->clean);
    for (int kind = ZW_RUN_PROVED; kind <= ZW_RUN_SURVIVED; kind++) {
        cli_json_open(json, zw_run_verdict_name((zw_run_verdict_kind)kind), '[');
        for (int i = 0; i < verdict->count; i++) {
            const zw_run_verdict_line *line = &verdict->line[i];
            if ((int)line->kind == kind) {
                cli_json_open(json, NULL, '{');
                cli_json_text(json, "name", line->name);
                cli_json_number(json, "value", line->value);
                cli_json_text(json, "text", line->text);
                cli_json_close(json, '}');
            }
        }
        cli_json_close(json, ']');
    }
    cli_json_close(json, '}');
}

void cli_run_json(const cli_outcome *it)
{
    cli_json json = {.to = stdout};
    cli_json_open(&json, NULL, '{');
    put_setup(&json, it);
    put_course(&json, it);
    cli_json_open(&json, "state", '{');
    put_entries(&json, it, ZW_KIND_COORD, ZW_FIELD_Q, "coordinates");
    put_entries(&json, it, ZW_KIND_SPEED, ZW_FIELD_V, "speeds");
    cli_json_close(&json, '}');
    put_measures(&json, it);
    if (it->status == ZW_OK) {
        put_verdict(&json, it->verdict);
    } else {
        cli_json_error(&json, it->error);
    }
    cli_json_close(&json, '}');
}
