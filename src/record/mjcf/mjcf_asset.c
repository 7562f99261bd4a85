/* Meshes and height fields, inline. */
#include <math.h>

#include "record/mjcf/mjcf.h"

static void put_ints(mjcf_writer *w, const char *attribute, const int *x, int count)
{
    record_putf(&w->file, " %s=\"", attribute);
    for (int i = 0; i < count; i++) {
        record_putf(&w->file, "%s%d", i > 0 ? " " : "", x[i]);
    }
    record_put(&w->file, "\"");
}

static void put_mesh(mjcf_writer *w, int index)
{
    static const char *const rule[] = {"exact", "legacy", "shell", "convex"};
    const zw_mesh_def *mesh = &w->b->mesh[index];
    record_put(&w->file, "    <mesh");
    mjcf_put_name(w, "name", ZW_KIND_MESH, index);
    mjcf_put_text(w, "inertia", rule[mesh->rule]);
    mjcf_put_reals(w, "vertex", mesh->vertex, 3 * mesh->vertex_count);
    if (mesh->face_count > 0) {
        put_ints(w, "face", mesh->face, 3 * mesh->face_count);
    }
    record_put(&w->file, "/>\n");
}

/* MuJoCo shifts the lowest height to 0 and scales the highest to size[2]; the row of the largest y
 * is written first. mjcf_body.c shifts the geoms to compensate. */
static void put_hfield(mjcf_writer *w, int index)
{
    const zw_hfield_def *h = &w->b->hfield[index];
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < h->height_count; i++) {
        low = fmin(low, h->height[i]);
        high = fmax(high, h->height[i]);
    }
    double size[4] = {h->half[0], h->half[1], high > low ? high - low : 1, h->base + low};
    if (!(size[3] > 0)) {
        size[3] =
            size[2]; /* the depth of the base is only drawn, and has no effect on the motion */
    }
    record_put(&w->file, "    <hfield");
    mjcf_put_name(w, "name", ZW_KIND_HFIELD, index);
    mjcf_put_int(w, "nrow", h->rows);
    mjcf_put_int(w, "ncol", h->columns);
    mjcf_put_reals(w, "size", size, 4);
    record_put(&w->file, " elevation=\"");
    for (int r = h->rows - 1; r >= 0; r--) {
        for (int c = 0; c < h->columns; c++) {
            record_put_number(&w->file, h->height[r * h->columns + c] - low, 17);
            record_put(&w->file, c + 1 < h->columns ? " " : r > 0 ? "\n" : "");
        }
    }
    record_put(&w->file, "\"/>\n");
}

void mjcf_put_assets(mjcf_writer *w)
{
    record_put(&w->file, "  <asset>\n");
    for (int i = 0; i < w->b->count[ZW_KIND_MESH]; i++) {
        put_mesh(w, i);
    }
    for (int i = 0; i < w->b->count[ZW_KIND_HFIELD]; i++) {
        put_hfield(w, i);
    }
    record_put(&w->file, "  </asset>\n");
}
