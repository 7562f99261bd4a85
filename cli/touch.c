/* What touches: for check, explain and run. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"

cli_touching cli_touching_of(const cli_world *world)
{
    int room = zw_contact_room(world->system);
    cli_touching t = {.room = room, .list = room > 0 ? calloc((size_t)room, sizeof *t.list) : NULL};
    t.count =
        t.list ? zw_contacts(world->system, world->state, world->work, t.list, room, &t.error) : 0;
    return t;
}

/* A geom by its name, or by that of its body and its number. */
static void put_side(FILE *to, const zw_contact *it, int side)
{
    if (it->geom_name[side][0]) {
        fprintf(to, "%s", it->geom_name[side]);
    } else {
        fprintf(to, "geom%d of %s", it->geom[side], it->body_name[side]);
    }
}

void cli_show_touching(FILE *to, const cli_world *world)
{
    enum { SHOWN = 6 };
    cli_touching t = cli_touching_of(world);
    zw_contact_sum sums[SHOWN];
    int pairs = t.count > 0 ? zw_contact_sums(t.list, t.count, sums, SHOWN) : 0;
    if (t.room > 0) {
        cli_label(to, "touching");
        if (t.count < 0) {
            fprintf(to, "%s", t.error.text);
        } else if (t.count == 0) {
            fputs("nothing", to);
        }
        for (int k = 0; k < pairs && k < SHOWN; k++) {
            fprintf(to, "%s%s and %s (", k ? ", " : "", sums[k].body_name[0], sums[k].body_name[1]);
            cli_show_count(to, sums[k].count, "point", "points");
            fputc(')', to);
        }
        if (pairs > SHOWN) {
            fprintf(to, " and %d more", pairs - SHOWN);
        }
        fputc('\n', to);
    }
    free(t.list);
}

void cli_show_untouched(FILE *to, const cli_world *world, zw_method method)
{
    if (zw_contact_room(world->system) > 0 && method != ZW_METHOD_IMPULSE &&
        method != ZW_METHOD_SOFT) {
        cli_label(to, "contact");
        fprintf(to, "not computed by method %s: geoms pass through one another\n",
                zw_method_name(method));
    }
}

/* ---- explain -------------------------------------------------------------------------------- */

static const char *word_of(int state)
{
    static const char *const word[] = {"open", "sticks", "slides", "jams"};
    return word[state >= ZW_TOUCH_OPEN && state <= ZW_TOUCH_JAM ? state : ZW_TOUCH_OPEN];
}

static double size_of(const cli_touching *t)
{
    double most = 0;
    for (int k = 0; k < t->count; k++) {
        most = fmax(most, fabs(t->list[k].force[0]));
    }
    return 10 * most;
}

static void show_sums(const cli_arguments *arguments, const cli_touching *t)
{
    zw_contact_sum *sums = calloc((size_t)t->count + 1, sizeof *sums);
    int pairs = sums ? zw_contact_sums(t->list, t->count, sums, t->count) : 0;
    int shown = arguments->all || pairs <= 20 ? pairs : 20;
    double size = size_of(t);
    cli_head(stdout, "Bodies that touch: what the second gets from the first");
    for (int k = 0; k < shown; k++) {
        const zw_contact_sum *it = &sums[k];
        printf("  %s -> %s: %d, normal %.6g, force", it->body_name[0], it->body_name[1], it->count,
               cli_tidy(it->normal, size));
        for (int i = 0; i < 3; i++) {
            printf("%s %.6g", i ? "," : "", cli_tidy(it->force[i], size));
        }
        printf("\n");
    }
    if (pairs > shown) {
        printf("  and %d more\n", pairs - shown);
    }
    free(sums);
}

void cli_explain_touching(const cli_arguments *arguments, const cli_world *world)
{
    cli_touching t = cli_touching_of(world);
    if (t.count < 0) {
        cli_head(stdout, "Contacts");
        printf("  %s\n", t.error.text);
    }
    if (t.count > 0) {
        int shown = arguments->all || t.count <= 20 ? t.count : 20;
        double size = size_of(&t);
        cli_head(stdout, "Contacts: normal and friction force in a step from here, gap, slip");
        for (int k = 0; k < shown; k++) {
            const zw_contact *it = &t.list[k];
            double across = sqrt(it->force[1] * it->force[1] + it->force[2] * it->force[2]);
            double slip = sqrt(it->slip[1] * it->slip[1] + it->slip[2] * it->slip[2]);
            fputs("  ", stdout);
            put_side(stdout, it, 1);
            fputs(" on ", stdout);
            put_side(stdout, it, 0);
            printf(" at %.6g, %.6g, %.6g: %s, normal %.6g, friction %.6g, gap %.2g, slip %.2g\n",
                   cli_tidy(it->pos[0], 10), cli_tidy(it->pos[1], 10), cli_tidy(it->pos[2], 10),
                   word_of(it->state), cli_tidy(it->force[0], size), cli_tidy(across, size),
                   it->gap, slip);
        }
        if (t.count > shown) {
            printf("  and %d more\n", t.count - shown);
        }
        show_sums(arguments, &t);
    }
    free(t.list);
}

static void put_numbers(cli_json *json, const char *key, const double *x, int count)
{
    cli_json_open(json, key, '[');
    for (int k = 0; k < count; k++) {
        cli_json_number(json, NULL, x[k]);
    }
    cli_json_close(json, ']');
}

void cli_explain_json_touching(cli_json *json, const cli_world *world)
{
    cli_touching t = cli_touching_of(world);
    if (t.count > 0) {
        cli_json_open(json, "contacts", '[');
        for (int k = 0; k < t.count; k++) {
            const zw_contact *it = &t.list[k];
            cli_json_open(json, NULL, '{');
            cli_json_text(json, "geom1", it->geom_name[0]);
            cli_json_text(json, "geom2", it->geom_name[1]);
            cli_json_text(json, "body1", it->body_name[0]);
            cli_json_text(json, "body2", it->body_name[1]);
            cli_json_text(json, "state", word_of(it->state));
            put_numbers(json, "at", it->pos, 3);
            put_numbers(json, "frame", it->frame, 9);
            cli_json_number(json, "gap", it->gap);
            put_numbers(json, "force", it->force, it->rows);
            put_numbers(json, "slip", it->slip, it->rows);
            cli_json_close(json, '}');
        }
        cli_json_close(json, ']');
    }
    free(t.list);
}
