/* Equality constraints. Frames that MJCF cannot express relative to bodies become sites of the
 * file. MuJoCo's soft rows of a weld differ between the two forms. */
#include <stdio.h>
#include <string.h>

#include "record/mjcf/mjcf.h"

static int is_frames(const zw_equality_def *e)
{
    return e->kind == ZW_EQUALITY_CONNECT || e->kind == ZW_EQUALITY_WELD;
}

static int is_unturned(const double quat[4])
{
    return quat[1] == 0 && quat[2] == 0 && quat[3] == 0;
}

/* Connect: an anchor on the first body. Weld: an anchor on the second, and perhaps its pose in the
 * first. */
static int by_bodies(const zw_equality_def *e)
{
    return e->kind == ZW_EQUALITY_CONNECT ? e->placed == 0 : e->placed > 0 && is_unturned(e->quat2);
}

static void site_name(const mjcf_writer *w, char name[80], int index, int side)
{
    int length = snprintf(name, 40, "equality%d.frame%d", index, side + 1);
    while (model_find_part(w->b, ZW_KIND_SITE, name) >= 0 && length < 78) {
        name[length++] = '_';
        name[length] = 0;
    }
}

/* The pose `inner` within the frame `outer`, relative to the frame `base`. */
static model_pose seen_from(const model_pose *base, const model_pose *outer,
                            const model_pose *inner)
{
    model_pose there = model_pose_chain(outer, inner), seen;
    double back[4] = {base->quat[0], -base->quat[1], -base->quat[2], -base->quat[3]}, d[3];
    for (int i = 0; i < 3; i++) {
        d[i] = there.pos[i] - base->pos[i];
    }
    model_rotate(back, d, seen.pos);
    model_quat_multiply(seen.quat, back, there.quat);
    return seen;
}

/* The frame of a side: the one given, or the place of the other side's frame in the
 * reference pose. */
static model_pose frame_of(const mjcf_writer *w, const zw_equality_def *e, int side)
{
    const double *pos[2] = {e->pos1, e->pos2}, *quat[2] = {e->quat1, e->quat2};
    const int body[2] = {e->first, e->second};
    int given = e->placed == 1 ? side : e->placed == 0 ? 0 : 1;
    model_pose frame;
    memcpy(frame.pos, pos[given], sizeof frame.pos);
    memcpy(frame.quat, quat[given], sizeof frame.quat);
    return given == side ? frame : seen_from(&w->pose[body[side]], &w->pose[body[given]], &frame);
}

void mjcf_put_own_sites(mjcf_writer *w, int body)
{
    for (int i = 0; i < w->b->count[ZW_KIND_EQUALITY]; i++) {
        const zw_equality_def *e = &w->b->equality[i];
        for (int side = 0; is_frames(e) && !by_bodies(e) && side < 2; side++) {
            if ((side == 0 ? e->first : e->second) != body) {
                continue;
            }
            char name[80];
            model_pose frame = frame_of(w, e, side);
            site_name(w, name, i, side);
            record_put(&w->file, "<site");
            mjcf_put_text(w, "name", name);
            mjcf_put_reals(w, "pos", frame.pos, 3);
            mjcf_put_reals(w, "quat", frame.quat, 4);
            record_put(&w->file, "/>\n");
        }
    }
}

/* relpose is the position of the anchor in the first body, and the orientation of the second body
 * there. */
static void put_bodies(mjcf_writer *w, const zw_equality_def *e)
{
    mjcf_put_name(w, "body1", ZW_KIND_BODY, e->first);
    mjcf_put_name(w, "body2", ZW_KIND_BODY, e->second);
    mjcf_put_reals(w, "anchor", e->kind == ZW_EQUALITY_WELD ? e->pos2 : e->pos1, 3);
    if (e->kind == ZW_EQUALITY_WELD && e->placed == 1) {
        double relpose[7];
        memcpy(relpose, e->pos1, sizeof e->pos1);
        memcpy(&relpose[3], e->quat1, sizeof e->quat1);
        mjcf_put_reals(w, "relpose", relpose, 7);
    }
}

static void put_frames(mjcf_writer *w, const zw_equality_def *e, int index)
{
    record_put(&w->file, e->kind == ZW_EQUALITY_WELD ? "    <weld" : "    <connect");
    if (e->name != NULL) {
        mjcf_put_text(w, "name", e->name);
    }
    if (by_bodies(e)) {
        put_bodies(w, e);
    }
    for (int side = 0; !by_bodies(e) && side < 2; side++) {
        char name[80];
        site_name(w, name, index, side);
        mjcf_put_text(w, side == 0 ? "site1" : "site2", name);
    }
    if (e->kind == ZW_EQUALITY_WELD) {
        mjcf_put_reals(w, "torquescale", &e->torquescale, 1);
    }
}

static void put_coupling(mjcf_writer *w, const zw_equality_def *e)
{
    int tendons = e->kind == ZW_EQUALITY_TENDON;
    zw_kind kind = tendons ? ZW_KIND_TENDON : ZW_KIND_JOINT;
    record_put(&w->file, tendons ? "    <tendon" : "    <joint");
    if (e->name != NULL) {
        mjcf_put_text(w, "name", e->name);
    }
    mjcf_put_name(w, tendons ? "tendon1" : "joint1", kind, e->first);
    if (e->second >= 0) {
        mjcf_put_name(w, tendons ? "tendon2" : "joint2", kind, e->second);
    }
    mjcf_put_reals(w, "polycoef", e->poly, 5);
}

void mjcf_put_equalities(mjcf_writer *w)
{
    record_put(&w->file, "  <equality>\n");
    for (int i = 0; i < w->b->count[ZW_KIND_EQUALITY]; i++) {
        const zw_equality_def *e = &w->b->equality[i];
        if (is_frames(e)) {
            put_frames(w, e, i);
        } else if (e->kind == ZW_EQUALITY_JOINT || e->kind == ZW_EQUALITY_TENDON) {
            put_coupling(w, e);
        } else {
            mjcf_refuse(w, ZW_KIND_EQUALITY, i,
                        "MuJoCo has only connect, weld, and couplings of joints and tendons");
            continue;
        }
        mjcf_put_bool(w, "active", e->active);
        mjcf_put_soft(w, "solref", "solimp", &e->soft);
        record_put(&w->file, "/>\n");
    }
    record_put(&w->file, "  </equality>\n");
}
