/* All numbers of an instant, in one array:
 *
 *     head [12]       t, energy, kinetic, potential, power, violation of positions and of speeds,
 *                     certificate, Z, contacts, sleepers, coordinates that were selected (0 or 1)
 *     q, v, a, a_free, F_N, F_L, F_C, lambda, params, outputs
 *     frames [7 each] of bodies: point and quaternion; of equations: points
 *     subject [12]    place, velocity, acceleration, free acceleration of what was selected
 *     contacts [14 each] point, force on the second along the world's axes, normal, state, the
 *                     second body, gap, the two geoms
 *
 * Where the principle has no answer (an impact is due), accelerations are those before. */
#include <stdlib.h>
#include <string.h>

#include "world.h"

static int room_for(int count)
{
    studio_world *w = &studio;
    if (count > w->number_room) {
        double *wider = realloc(w->number, 2 * (size_t)count * sizeof *wider);
        if (wider == NULL) {
            return studio_fail(ZW_NO_MEMORY, "out of memory");
        }
        w->number = wider;
        w->number_room = 2 * count;
    }
    return 1;
}

static void put(const double *list, int count)
{
    studio_world *w = &studio;
    if (list != NULL && count > 0) {
        memcpy(w->number + w->number_count, list, (size_t)count * sizeof *list);
    } else if (count > 0) {
        memset(w->number + w->number_count, 0, (size_t)count * sizeof *list);
    }
    w->number_count += count;
}

static zw_view field(zw_field_id id)
{
    return zw_field(studio.system, studio.state, studio.work, id);
}

static void put_field(zw_field_id id)
{
    zw_view view = field(id);
    put(view.data, view.count);
}

/* What does not come and go. */
static int steady_count(void)
{
    studio_world *w = &studio;
    int n = zw_count(w->system, ZW_KIND_SPEED);
    return STUDIO_HEAD + field(ZW_FIELD_Q).count + 6 * n + zw_count(w->system, ZW_KIND_ROW) +
           field(ZW_FIELD_PARAM).count - w->hidden + field(ZW_FIELD_OUTPUT).count +
           7 * w->frame_count + STUDIO_SUBJECT;
}

static void put_frames(const double *a)
{
    studio_world *w = &studio;
    zw_error ignored;
    zw_frame_look(w->probe, w->state, w->frame, w->frame_count, a, w->motion, &ignored);
    for (int i = 0; i < w->frame_count; i++) {
        put(w->motion[i].pos, 3);
        put(w->motion[i].quat, 4);
    }
}

int studio_selected_frame(zw_frame *frame)
{
    studio_world *w = &studio;
    if (w->selected < 0 || w->selected >= w->frame_count) {
        return 0;
    }
    *frame = w->frame[w->selected];
    if (frame->body > 0) {
        zw_error ignored;
        zw_frame centre;
        char name[160] = "com ";
        strncat(name, zw_name(w->system, ZW_KIND_BODY, frame->body), sizeof name - 8);
        *frame = zw_frame_find(w->probe, name, &centre, &ignored) == ZW_OK ? centre : *frame;
    }
    return 1;
}

/* The centre of mass of a body, or a point of equations: as it moves, and as it would move freely.
 */
static void put_subject(const double *a, const double *free_a)
{
    studio_world *w = &studio;
    zw_frame_motion actual, unforced;
    zw_error ignored;
    zw_frame frame;
    if (!studio_selected_frame(&frame)) {
        put(NULL, STUDIO_SUBJECT);
        return;
    }
    zw_frame_look(w->probe, w->state, &frame, 1, a, &actual, &ignored);
    zw_frame_look(w->probe, w->state, &frame, 1, free_a, &unforced, &ignored);
    put(actual.pos, 3);
    put(actual.velocity, 3);
    put(actual.acceleration, 3);
    put(unforced.acceleration, 3);
}

static int put_contacts(void)
{
    studio_world *w = &studio;
    zw_error ignored;
    int count = w->contact_room > 0 ? zw_contacts(w->system, w->state, w->work, w->contact,
                                                  w->contact_room, &ignored)
                                    : 0;
    count = count < 0 ? 0 : count > w->contact_room ? w->contact_room : count;
    for (int i = 0; i < count; i++) {
        const zw_contact *c = &w->contact[i];
        double force[3] = {0};
        for (int r = 0; r < 3 && r < c->rows; r++) {
            for (int k = 0; k < 3; k++) {
                force[k] += c->force[r] * c->frame[3 * r + k];
            }
        }
        double rest[5] = {c->state, c->body[1], c->gap, c->geom[0], c->geom[1]};
        put(c->pos, 3);
        put(force, 3);
        put(c->frame, 3);
        put(rest, 5);
    }
    return count;
}

const double *studio_look(void)
{
    studio_world *w = &studio;
    int n = zw_count(w->system, ZW_KIND_SPEED);
    w->error = (zw_error){0};
    zw_status status = zw_look(w->system, w->state, w->work, &w->error);
    if (!room_for(steady_count() + STUDIO_CONTACT * w->contact_room)) {
        return NULL;
    }
    const zw_motion *motion = zw_work_motion(w->work);
    int known = motion != NULL && motion->n == n && status == ZW_OK;
    double head[STUDIO_HEAD] = {field(ZW_FIELD_TIME).data[0]};
    memcpy(head + 1, field(ZW_FIELD_ENERGY).data, 4 * sizeof *head);
    memcpy(head + 5, field(ZW_FIELD_VIOLATION).data, 2 * sizeof *head);
    head[7] = known ? motion->certificate.worst : 0;
    head[8] = known ? motion->Z : 0;
    head[11] = w->selected >= 0;
    w->number_count = 0;
    put(head, STUDIO_HEAD);
    put_field(ZW_FIELD_Q);
    put_field(ZW_FIELD_V);
    zw_view a = field(ZW_FIELD_A), free_a = field(ZW_FIELD_A_FREE), rows = field(ZW_FIELD_LAMBDA);
    put(known ? a.data : NULL, n);
    put(known ? free_a.data : NULL, n);
    put(known ? motion->F_N : NULL, n);
    put(known ? motion->F_L : NULL, n);
    put(known ? motion->F_C : NULL, n);
    put(known && rows.count == zw_count(w->system, ZW_KIND_ROW) ? rows.data : NULL,
        zw_count(w->system, ZW_KIND_ROW));
    put(field(ZW_FIELD_PARAM).data, field(ZW_FIELD_PARAM).count - w->hidden);
    put_field(ZW_FIELD_OUTPUT);
    put_frames(known ? a.data : NULL);
    put_subject(known ? a.data : NULL, known ? free_a.data : NULL);
    w->number[9] = put_contacts();
    return w->number;
}

int studio_look_count(void)
{
    return studio.number_count;
}

void studio_select(int subject)
{
    studio.selected = subject;
}
