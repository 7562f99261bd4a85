/* Contacts: for check, explain and run. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"

cli_touching cli_touching_of(const cli_world *world)
{
    int capacity = zw_contact_capacity(world->system);
    cli_touching t = {.capacity = capacity,
                      .list = capacity > 0 ? calloc((size_t)capacity, sizeof *t.list) : NULL};
    t.count =
        t.list ? zw_contacts(world->system, world->state, world->work, t.list, capacity, &t.error)
               : 0;
    return t;
}

/* A geom by its name, or by its number and the name of its body. */
static void side_name(const zw_contact *it, int side, char *text, size_t capacity)
{
    if (it->geom_name[side][0]) {
        snprintf(text, capacity, "%.60s", it->geom_name[side]);
    } else {
        snprintf(text, capacity, "geom%d of %.60s", it->geom[side], it->body_name[side]);
    }
}

/* The depth by which two bodies overlap, if that exceeds the rounding of a drawing. */
static double depth_of(const cli_touching *t, const zw_contact_sum *sum)
{
    double depth = 1e-6;
    for (int k = 0; k < t->count; k++) {
        const zw_contact *it = &t->list[k];
        int same = it->body[0] == sum->body[0] && it->body[1] == sum->body[1];
        depth = same && -it->gap > depth ? -it->gap : depth;
    }
    return depth > 1e-6 ? depth : 0;
}

void cli_show_touching(FILE *to, const cli_world *world)
{
    enum { SHOWN = 6 };
    cli_touching t = cli_touching_of(world);
    zw_contact_sum sums[SHOWN];
    int pairs = t.count > 0 ? zw_contact_sums(t.list, t.count, sums, SHOWN) : 0;
    if (t.capacity > 0) {
        cli_label(to, "touching");
        if (t.count < 0) {
            fprintf(to, "%s", t.error.text);
        } else if (t.count == 0) {
            fputs("nothing", to);
        }
        for (int k = 0; k < pairs && k < SHOWN; k++) {
            fprintf(to, "%s%s and %s (", k ? ", " : "", sums[k].body_name[0], sums[k].body_name[1]);
            cli_show_count(to, sums[k].count, "point", "points");
            double depth = depth_of(&t, &sums[k]);
            if (depth > 0) {
                fprintf(to, ", %.3g deep", depth);
            }
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
    if (zw_contact_capacity(world->system) > 0 && method != ZW_METHOD_IMPULSE &&
        method != ZW_METHOD_SOFT) {
        cli_label(to, "contact");
        fprintf(to, "not computed by method %s: geoms pass through one another\n",
                zw_method_name(method));
    }
}

/* ---- explain -------------------------------------------------------------------------------- */

static const char *word_of(const zw_contact *it)
{
    static const char *const word[] = {[ZW_TOUCH_OPEN] = "open",
                                       [ZW_TOUCH_STICK] = "sticks",
                                       [ZW_TOUCH_SLIDE] = "slides",
                                       [ZW_TOUCH_JAM] = "jams",
                                       [ZW_TOUCH_HIT] = "hits"};
    int known = it->state >= ZW_TOUCH_OPEN && it->state <= ZW_TOUCH_HIT;
    int smooth = it->rows == 1 && (it->state == ZW_TOUCH_STICK || it->state == ZW_TOUCH_SLIDE);
    return smooth ? "pushes" : word[known ? it->state : ZW_TOUCH_OPEN];
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
    cli_head(stdout, "Bodies in contact: force of the first on the second, along the world's axes");
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

static void show_points(const cli_touching *t, int shown)
{
    enum { NAME = 160 };
    char first[NAME], second[NAME], both[2 * NAME + 8];
    int width = 10;
    double size = size_of(t);
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < shown; k++) {
            const zw_contact *it = &t->list[k];
            side_name(it, 0, first, sizeof first);
            side_name(it, 1, second, sizeof second);
            int length = snprintf(both, sizeof both, "%s on %s", second, first);
            width = length > width ? length : width;
            if (pass == 0) {
                continue;
            }
            printf("  %-*s %-7s", width, both, word_of(it));
            for (int r = 0; r < 3; r++) {
                printf(" %11.5g", cli_tidy(it->force[r], size));
            }
            printf(" %9.2g", it->gap);
            for (int r = 0; r < 3; r++) {
                printf(" %9.3g", cli_tidy(it->slip[r], 10));
            }
            printf("  %.4g, %.4g, %.4g\n", cli_tidy(it->pos[0], 10), cli_tidy(it->pos[1], 10),
                   cli_tidy(it->pos[2], 10));
        }
        if (pass == 0) {
            printf("  %-*s %-7s %11s %11s %11s %9s %9s %9s %9s  at\n", width, "", "state", "normal",
                   "friction 1", "friction 2", "gap", "opening", "slip 1", "slip 2");
        }
    }
    if (t->count > shown) {
        printf("  and %d more; --all shows them\n", t->count - shown);
    }
}

void cli_explain_touching(const cli_arguments *arguments, const cli_world *world)
{
    cli_touching t = cli_touching_of(world);
    if (t.count < 0) {
        cli_head(stdout, "Contacts");
        printf("  %s\n", t.error.text);
    }
    if (t.count > 0) {
        int hits = 0;
        for (int k = 0; k < t.count; k++) {
            hits += t.list[k].state == ZW_TOUCH_HIT;
        }
        cli_head(stdout, "Contacts: force on the first of the two, gap, and its speed against "
                         "the second; along the normal and two directions across it");
        show_points(&t, arguments->all || t.count <= 20 ? t.count : 20);
        if (hits > 0) {
            printf("  Where there is an impact, the forces are those after it.\n");
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

static void put_sums(cli_json *json, const cli_touching *t)
{
    zw_contact_sum *sums = calloc((size_t)t->count + 1, sizeof *sums);
    int pairs = sums ? zw_contact_sums(t->list, t->count, sums, t->count) : 0;
    cli_json_open(json, "contact_sums", '[');
    for (int k = 0; k < pairs; k++) {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "body1", sums[k].body_name[0]);
        cli_json_text(json, "body2", sums[k].body_name[1]);
        cli_json_int(json, "points", sums[k].count);
        cli_json_number(json, "normal", sums[k].normal);
        put_numbers(json, "force", sums[k].force, 3);
        put_numbers(json, "moment", sums[k].moment, 3);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    free(sums);
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
            cli_json_text(json, "state", word_of(it));
            put_numbers(json, "at", it->pos, 3);
            put_numbers(json, "frame", it->frame, 9);
            cli_json_number(json, "gap", it->gap);
            put_numbers(json, "force", it->force, it->rows);
            put_numbers(json, "slip", it->slip, it->rows);
            cli_json_close(json, '}');
        }
        cli_json_close(json, ']');
        put_sums(json, &t);
    }
    free(t.list);
}
