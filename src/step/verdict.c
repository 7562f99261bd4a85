/* The verdict about a run, in words.
 *
 * Each line is one finding with its number and, where a user can do something about it, advice.
 * Nothing is measured here: the numbers are those of the summary. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "step/run.h"
#include "system/contact/contacts.h"
#include "zwang/verdict.h"

/* Forces accurate to fewer than half of the digits of a double are reported. */
#define ENERGY_LOST 0.01 /* drift above which fewer than two digits of the energy are right */
#define POOR 1.5e-8

const char *zw_run_verdict_name(zw_run_verdict_kind kind)
{
    static const char *const name[] = {"proved", "estimated", "assumed", "survived"};
    return (int)kind >= 0 && (int)kind <= ZW_RUN_SURVIVED ? name[kind] : "?";
}

__attribute__((format(printf, 5, 6))) static void add_line(zw_run_verdict *verdict,
                                                           zw_run_verdict_kind kind,
                                                           const char *name, double value,
                                                           const char *format, ...)
{
    if (verdict->count == ZW_RUN_VERDICT_LINES) {
        return;
    }
    zw_run_verdict_line *line = &verdict->line[verdict->count++];
    *line = (zw_run_verdict_line){.kind = kind, .name = name, .value = value};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line->text, sizeof line->text, format, arguments);
    va_end(arguments);
}

static const char *plural(long count)
{
    return count == 1 ? "" : "s";
}

static int fixed_step(const zw_run_summary *summary)
{
    return summary->method != ZW_METHOD_DOP853 && summary->method != ZW_METHOD_STIFF &&
           summary->method != ZW_METHOD_BDF;
}

static const char *finer(const zw_run_summary *summary)
{
    return fixed_step(summary) ? "--step" : "--tol";
}

static void add_measure(zw_run_verdict *verdict, const char *name, double value)
{
    if (value == 0) {
        add_line(verdict, ZW_RUN_PROVED, name, value, "%s exactly", name);
    } else {
        add_line(verdict, ZW_RUN_PROVED, name, value, "%s to %.1g", name, value);
    }
}

static void say_proved(const zw_system *system, const zw_run_summary *summary,
                       zw_run_verdict *verdict)
{
    double violation = fmax(summary->violation_position, summary->violation_velocity);
    if (summary->proved > 0) {
        add_line(verdict, ZW_RUN_PROVED, "steps", (double)summary->proved,
                 "%ld step%s without unseen events", summary->proved, plural(summary->proved));
    }
    if (system->m > 0) {
        add_measure(verdict, "constraints", violation);
    }
    if (summary->certificate < fmax(POOR, summary->accuracy)) {
        add_measure(verdict, "forces", summary->certificate);
    }
}

/* ---- Digits --------------------------------------------------------------------------------- */

static void name_entry(const zw_system *system, int entry, char *name, size_t size)
{
    int nq = zw_count(system, ZW_KIND_COORD), k = entry - nq;
    const char *bare =
        entry < nq ? zw_name(system, ZW_KIND_COORD, entry) : zw_name(system, ZW_KIND_SPEED, k);
    int prime = entry >= nq && !strcmp(bare, zw_name(system, ZW_KIND_COORD, k));
    snprintf(name, size, "%.60s%s", bare, prime ? "'" : "");
}

static void say_difference(const zw_system *system, const zw_digits *digits,
                           zw_run_verdict *verdict)
{
    if (digits->ended) {
        add_line(verdict, ZW_RUN_ESTIMATED, "end", 1,
                 "with smaller errors the run ends differently: the event that ends it is grazed, "
                 "or just missed");
    } else if (digits->differs) {
        add_line(verdict, ZW_RUN_ESTIMATED, "events", (double)(digits->there - digits->here),
                 "%.60s: %ld here, %ld with smaller errors",
                 digits->event < 0 ? "impacts" : zw_name(system, ZW_KIND_EVENT, digits->event),
                 digits->here, digits->there);
    }
}

static void say_digits(const zw_system *system, const zw_run_summary *summary,
                       const zw_digits *digits, zw_run_verdict *verdict)
{
    char name[72];
    int worst = digits->worst;
    if (!digits->known) {
        add_line(verdict, ZW_RUN_ESTIMATED, "digits", NAN, "no digits: %.200s", digits->note);
        return;
    }
    if (worst < 0) {
        add_line(verdict, ZW_RUN_ESTIMATED, "digits", 15, "nothing moves");
        return;
    }
    name_entry(system, worst, name, sizeof name);
    int least = digits->digits[worst];
    if (least > 0) {
        add_line(verdict, ZW_RUN_ESTIMATED, "digits", least,
                 "%d digit%s of the final state, fewest of %s (error %.1g)", least, plural(least),
                 name, digits->error[worst]);
    } else {
        add_line(verdict, ZW_RUN_ESTIMATED, "digits", 0,
                 "no digit of %s at the end can be trusted (error %.1g, size %.1g): chaotic, or "
                 "%s too large; try a smaller one, or a shorter --time",
                 name, digits->error[worst], digits->size[worst], finer(summary));
    }
    if (digits->time_error > 0) {
        add_line(verdict, ZW_RUN_ESTIMATED, "time", digits->time_error,
                 "the time of the end to %.1g", digits->time_error);
    }
    say_difference(system, digits, verdict);
}

/* ---- Assumptions ---------------------------------------------------------------------------- */

static void say_assembly(const zw_system *system, const zw_assembly *assembly,
                         zw_run_verdict *verdict)
{
    char name[72];
    if (assembly->position_change > 1e-9) {
        name_entry(system, assembly->position_coord, name, sizeof name);
        add_line(verdict, ZW_RUN_ASSUMED, "start", assembly->position_change,
                 "the start as given violates the constraints: %s moved by %.3g, the most of all",
                 name, assembly->position_change);
    }
    if (assembly->speed_change > 1e-9) {
        name_entry(system, zw_count(system, ZW_KIND_COORD) + assembly->speed_coord, name,
                   sizeof name);
        add_line(verdict, ZW_RUN_ASSUMED, "start speed", assembly->speed_change,
                 "the speeds as given violate the constraints: %s changed by %.3g, the most of all",
                 name, assembly->speed_change);
    }
}

static const char *what_becomes_of(const zw_run_summary *summary, char *text, size_t size)
{
    int stuck = summary->overlaps_stuck, parted = summary->overlaps - stuck;
    if (stuck == 0) {
        snprintf(text, size, "%s pushed apart", parted == 1 ? "is" : "are");
    } else if (parted == 0) {
        snprintf(text, size, "cannot be separated: %s ignored until they separate",
                 stuck == 1 ? "it is" : "they are");
    } else {
        snprintf(
            text, size,
            "%d of them %s pushed apart; %d cannot be separated and %s ignored until they separate",
            parted, parted == 1 ? "is" : "are", stuck, stuck == 1 ? "is" : "are");
    }
    return text;
}

static void say_contacts(const zw_system *system, const zw_run_summary *summary,
                         zw_run_verdict *verdict)
{
    char text[120];
    if (summary->overlaps > 0) {
        add_line(verdict, ZW_RUN_ASSUMED, "overlaps", summary->overlaps,
                 "%d pair%s of shapes overlap%s at the start, by up to %.2g (%.120s%s), and %s",
                 summary->overlaps, plural(summary->overlaps), summary->overlaps == 1 ? "s" : "",
                 summary->overlap_depth, summary->overlap_name,
                 summary->overlaps > 3 ? ", ..." : "", what_becomes_of(summary, text, sizeof text));
    }
    if (summary->impacts > 0) {
        add_line(verdict, ZW_RUN_ASSUMED, "impacts", (double)summary->impacts,
                 "%ld impact%s by Newton's law, several at an instant %s; they dissipated %.3g of "
                 "energy",
                 summary->impacts, plural(summary->impacts),
                 system->impact == ZW_IMPACT_SIMULTANEOUS ? "all at once" : "one after another",
                 summary->impact_loss);
    }
    if (summary->contact == ZW_CONTACT_CONVEX && summary->contacts > 0) {
        add_line(verdict, ZW_RUN_ASSUMED, "contact", summary->contacts,
                 "contact convex: sliding bodies lift off by friction * speed * step");
    }
    if (summary->method == ZW_METHOD_SOFT) {
        add_line(verdict, ZW_RUN_ASSUMED, "contact", summary->contacts,
                 "contact soft, as in MuJoCo: bodies sink into each other, and fast or thin ones "
                 "may pass through");
    } else if (summary->method != ZW_METHOD_IMPULSE && zw_contact_capacity(system) > 0) {
        add_line(verdict, ZW_RUN_ASSUMED, "contact", 0,
                 "no contact: method %s lets bodies pass through each other; use --method impulse",
                 zw_method_name(summary->method));
    }
}

static void say_order(const zw_run_summary *summary, zw_run_verdict *verdict)
{
    static const char cost[] =
        "their error falls with the step, not its square; --digits estimates it";
    if (summary->linear > 0) {
        add_line(verdict, ZW_RUN_ASSUMED, "linear", (double)summary->linear,
                 "one linearisation in %ld of %ld steps: %s", summary->linear, summary->steps,
                 cost);
    }
    if (summary->stiff > 0) {
        add_line(verdict, ZW_RUN_ASSUMED, "stiff", (double)summary->stiff,
                 "stiff springs or dampers in %ld of %ld steps: %s", summary->stiff, summary->steps,
                 cost);
    }
    if (summary->late > 0) {
        add_line(verdict, ZW_RUN_ASSUMED, "late", (double)summary->late,
                 "landings found up to %.1g s late in %ld of %ld steps: %s", summary->late_by,
                 summary->late, summary->steps, cost);
    }
    if (summary->turned > 0) {
        add_line(verdict, ZW_RUN_ASSUMED, "turned", (double)summary->turned,
                 "sliding that reversed in %ld of %ld steps: %s", summary->turned, summary->steps,
                 cost);
    }
    if (summary->slow > 0) {
        add_line(verdict, ZW_RUN_ASSUMED, "slow", (double)summary->slow,
                 "very slow landings at the end of %ld of "
                 "%ld steps: --digits estimates their error",
                 summary->slow, summary->steps);
    }
}

/* ---- Problems that did not end the run ------------------------------------------------------- */

static void say_survived(const zw_system *system, const zw_run_summary *summary,
                         zw_run_verdict *verdict)
{
    if (summary->check_failed >= 0) {
        add_line(verdict, ZW_RUN_SURVIVED, "check", summary->check_time,
                 "check %.60s does not hold from t = %.9g on",
                 zw_name(system, ZW_KIND_CHECK, summary->check_failed), summary->check_time);
    }
    if (summary->unproved > 0) {
        add_line(verdict, ZW_RUN_SURVIVED, "unproved", (double)summary->unproved,
                 "%ld of %ld steps not proved free of unseen events; try a smaller %s",
                 summary->unproved, summary->proved + summary->unproved, finer(summary));
    }
    if (!(summary->certificate < fmax(POOR, summary->accuracy))) {
        add_line(verdict, ZW_RUN_SURVIVED, "forces", summary->certificate,
                 "forces satisfy Gauss's principle only to %.1g (%s)", summary->certificate,
                 fixed_step(summary) ? "try a smaller --step" : "see `zwang explain`");
    }
    if (!(summary->energy_drift <= ENERGY_LOST)) {
        add_line(verdict, ZW_RUN_SURVIVED, "energy", summary->energy_drift,
                 "unexplained energy: %.2g of 1 + |energy at the start|; try a smaller %s",
                 summary->energy_drift, finer(summary));
    }
    if (summary->singular > 0) {
        add_line(verdict, ZW_RUN_SURVIVED, "singular", (double)summary->singular,
                 "%ld singular position%s passed by ordinary steps: the motion may continue on "
                 "another branch after %s",
                 summary->singular, plural(summary->singular),
                 summary->singular == 1 ? "it" : "them");
    }
    if (summary->jams > 0) {
        add_line(verdict, ZW_RUN_SURVIVED, "jams", (double)summary->jams,
                 "%ld jam%s: sliding that no finite force is consistent with, stopped by impulses",
                 summary->jams, plural(summary->jams));
    }
    if (summary->inexact > 0) {
        add_line(verdict, ZW_RUN_SURVIVED, "inexact", (double)summary->inexact,
                 "%ld step%s whose equations were solved less accurately than asked; try a smaller "
                 "--step",
                 summary->inexact, plural(summary->inexact));
    }
    if (summary->halved > 0) {
        add_line(verdict, ZW_RUN_SURVIVED, "halved", (double)summary->halved,
                 "%ld step%s split into pieces, because the whole one had no solution",
                 summary->halved, plural(summary->halved));
    }
}

void zw_run_conclude(const zw_system *system, const zw_assembly *assembly,
                     const zw_run_summary *summary, const zw_digits *digits,
                     zw_run_verdict *verdict)
{
    *verdict = (zw_run_verdict){0};
    say_proved(system, summary, verdict);
    if (digits) {
        say_digits(system, summary, digits, verdict);
    }
    if (assembly) {
        say_assembly(system, assembly, verdict);
    }
    say_contacts(system, summary, verdict);
    say_order(summary, verdict);
    say_survived(system, summary, verdict);
    verdict->clean = !digits || (digits->known && !digits->differs && !digits->ended &&
                                 (digits->worst < 0 || digits->digits[digits->worst] > 0));
    for (int i = 0; i < verdict->count; i++) {
        verdict->clean &= verdict->line[i].kind < ZW_RUN_ASSUMED;
    }
}

int zw_run_verdict_text(const zw_run_verdict *verdict, zw_run_verdict_kind kind, char *text,
                        size_t size)
{
    size_t used = 0;
    const char *between = kind == ZW_RUN_PROVED ? ", " : "; ";
    for (int i = 0; i < verdict->count && used < size; i++) {
        const zw_run_verdict_line *line = &verdict->line[i];
        if (line->kind == kind) {
            int more = used ? snprintf(text + used, size - used, "%s%s", between, line->text)
                            : snprintf(text, size, "%s: %s", zw_run_verdict_name(kind), line->text);
            used += more > 0 ? (size_t)more : 0;
        }
    }
    if (used == 0 && size > 0) {
        text[0] = 0;
    }
    return (int)(used < size ? used : size - 1);
}
