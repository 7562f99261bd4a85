/* Formatting of labels, errors and durations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

enum { LABEL = 13 };

static int is_coloured(FILE *to)
{
    const char *terminal = getenv("TERM"), *no = getenv("NO_COLOR");
    return isatty(fileno(to)) && !(no && no[0]) && !(terminal && !strcmp(terminal, "dumb"));
}

void cli_label(FILE *to, const char *label)
{
    int coloured = is_coloured(to);
    fprintf(to, "%s%-*s%s", coloured ? "\033[1m" : "", LABEL, label, coloured ? "\033[0m" : "");
}

void cli_head(FILE *to, const char *title)
{
    int coloured = is_coloured(to);
    fprintf(to, "\n%s%s%s\n", coloured ? "\033[1m" : "", title, coloured ? "\033[0m" : "");
}

/* "file:line:column: error: message"; the following lines show the place. */
void cli_show_error(const zw_error *error)
{
    int coloured = is_coloured(stderr);
    const char *bold = coloured ? "\033[1m" : "", *red = coloured ? "\033[1;31m" : "",
               *off = coloured ? "\033[0m" : "";
    const char *text = error->text[0] ? error->text : zw_status_text(error->status);
    fflush(stdout);
    if (error->file[0] && error->line > 0) {
        fprintf(stderr, "%s%s:%d:%d: %s%serror:%s ", bold, error->file, error->line, error->column,
                off, red, off);
    } else if (error->file[0] && !strstr(text, error->file)) {
        fprintf(stderr, "%s%s: %s%serror:%s ", bold, error->file, off, red, off);
    } else {
        fprintf(stderr, "%szwang: error:%s ", red, off);
    }
    fprintf(stderr, "%s\n", text);
}

void cli_show_keys(FILE *to, const cli_world *world)
{
    enum { SHOWN = 8 };
    int named = 0;
    for (int i = 0; i < zw_model_count(world->model, ZW_KIND_KEY); i++) {
        const zw_key_def *key = zw_model_def(world->model, ZW_KIND_KEY, i);
        if (!key->name || !key->name[0] || named >= SHOWN) {
            continue;
        }
        if (named == 0) {
            cli_label(to, "keys");
        }
        fprintf(to, "%s%s", named++ ? ", " : "", key->name);
    }
    if (named > 0) {
        fputs(": other initial states, by --key\n", to);
    }
}

/* Reports what assembly changed, if that is significant. */
void cli_show_assembly(FILE *to, const cli_world *world)
{
    const zw_assembly *assembly = &world->assembly;
    const char *label = "assembled";
    if (assembly->position_change > 1e-9) {
        cli_label(to, label);
        fprintf(to, "%s moved by %.3g to meet the constraints\n",
                zw_name(world->system, ZW_KIND_COORD, assembly->position_coord),
                assembly->position_change);
        label = "";
    }
    if (assembly->speed_change > 1e-9) {
        cli_label(to, label);
        fprintf(to, "%s%s changed by %.3g to meet the constraints\n",
                zw_name(world->system, ZW_KIND_SPEED, assembly->speed_coord),
                cli_prime(world, assembly->speed_coord), assembly->speed_change);
    }
    if (assembly->impact_speed >= 0) {
        cli_label(to, "start");
        fprintf(to, "impact at t = 0 changed %s%s from %.6g to %.6g\n",
                zw_name(world->system, ZW_KIND_SPEED, assembly->impact_speed),
                cli_prime(world, assembly->impact_speed), assembly->impact_before,
                assembly->impact_after);
    }
}

const char *cli_prime(const cli_world *world, int speed)
{
    int same = !strcmp(zw_name(world->system, ZW_KIND_SPEED, speed),
                       zw_name(world->system, ZW_KIND_COORD, speed));
    return same ? "'" : "";
}

static void show_note(FILE *to, const char *label, zw_note note)
{
    cli_label(to, label);
    fprintf(to, "%s", note.text);
    if (note.count > 1) {
        fprintf(to, ", %d times", note.count);
    }
    if (note.line > 0) {
        fprintf(to, ", first in line %d", note.line);
    }
    fputc('\n', to);
}

/* Features of the description that have no effect; first those that MuJoCo's motion depends on. */
void cli_show_notes(FILE *to, const cli_world *world)
{
    enum { SHOWN = 12 };
    for (int differs = 1; differs >= 0; differs--) {
        int shown = 0, left = 0;
        for (int i = 0; i < zw_model_note_count(world->model); i++) {
            zw_note note = zw_model_note(world->model, i);
            if (note.differs != differs) {
                continue;
            }
            if (shown < SHOWN) {
                show_note(to, shown > 0 ? "" : differs ? "differs" : "no effect", note);
            }
            left += shown++ >= SHOWN;
        }
        if (left > 0) {
            cli_label(to, "");
            fprintf(to, "and %d more\n", left);
        }
    }
}

void cli_show_time(FILE *to, double seconds)
{
    if (seconds < 1 && seconds > 0) {
        fprintf(to, "%.3g ms", seconds * 1e3);
    } else if (seconds < 100) {
        fprintf(to, "%.3g s", seconds);
    } else if (seconds < 6000) {
        fprintf(to, "%.0f min %02.0f s", floor(seconds / 60), floor(fmod(seconds, 60)));
    } else {
        fprintf(to, "%.0f h %02.0f min", floor(seconds / 3600), floor(fmod(seconds / 60, 60)));
    }
}

void cli_show_count(FILE *to, long count, const char *one, const char *many)
{
    fprintf(to, "%ld %s", count, count == 1 ? one : many);
}

double cli_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
