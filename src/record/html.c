/* A self-contained page: the template report.html with its placeholders filled in.
 *
 * Where the scripts of web/ are compiled in (page.h) the page is animated by the views of the
 * studio, the three-dimensional one only if something is drawn in space; otherwise the charts are a
 * static picture.
 *
 * Numbers are little-endian floats in base64, each column minus an offset, so that small motions
 * about large values keep their digits; times are doubles. A recording with more rows than a screen
 * can show is sampled evenly, and for columns of which only the size matters, such as violations,
 * each sample is the largest of the rows that it represents. */
#include "base/memory.h"
#include "record/copy.h"
#include "record/file.h"
#include "record/page/page.h"
#include "record/view.h"
#include "record/write.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { MOST_SAMPLES = 200000, FEWEST_SAMPLES = 400 };
enum { MOST_NUMBERS = 4000000 }; /* about 21 MB of page */

/* The contents of the page, collected before the first byte is written. */
typedef struct page {
    const record_table *table;
    record_file *file;
    record_view view;
    size_t samples;
    int *channel;         /* [2 columns]: the channel of each column, then of its drift; -1: none */
    int *order;           /* [2 columns]: the inverse of `channel` */
    int channel_count;    /* */
    unsigned char *bytes; /* [8 samples] scratch */
} page;

/* ---- What is needed ------------------------------------------------------------------------- */

static void need(page *p, int column, bool drift)
{
    int key = 2 * column + drift;
    if (column >= 0 && p->channel[key] < 0) {
        p->order[p->channel_count] = key;
        p->channel[key] = p->channel_count++;
    }
}

static void need_all(page *p)
{
    for (int i = 0; i < p->view.count; i++) {
        const record_chart *chart = &p->view.chart[i];
        if (chart->kind != RECORD_PLOT_TIME) {
            need(p, chart->x, false);
        }
        need(p, chart->color - 1, false);
        for (int k = 0; k < chart->curve_count; k++) {
            need(p, chart->curve[k], chart->drift);
        }
    }
    for (int i = 0; i < p->table->draw_count; i++) {
        const record_draw *draw = &p->table->draw[i];
        for (int k = 0; k < draw->point_count; k++) {
            for (int d = 0; d < draw->dimension; d++) {
                need(p, draw->point[k].column[d], false);
            }
        }
        if (draw->kind == RECORD_DRAW_CIRCLE && draw->radius == 0) {
            need(p, draw->radius_column, false);
        }
    }
}

static void set_samples(page *p)
{
    size_t most = MOST_NUMBERS / (size_t)(p->channel_count + 1);
    most = most < FEWEST_SAMPLES ? FEWEST_SAMPLES : most > MOST_SAMPLES ? MOST_SAMPLES : most;
    p->samples = p->table->row_count < most ? p->table->row_count : most;
}

/* The row of a sample; the first and the last row are always included. */
static size_t row_of(const page *p, size_t sample)
{
    if (p->samples < 2) {
        return 0;
    }
    double part = (double)sample / (double)(p->samples - 1);
    return (size_t)(part * (double)(p->table->row_count - 1) + 0.5);
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static double worst_between(const double *value, size_t first, size_t last)
{
    double worst = value[first];
    for (size_t row = first; row <= last; row++) {
        worst = fabs(value[row]) > fabs(worst) || isnan(worst) ? value[row] : worst;
    }
    return worst;
}

static double sample_value(const page *p, int key, size_t sample)
{
    const int column = key / 2;
    const double *value = record_table_column(p->table, column);
    const record_role role = p->table->column[column].role;
    const size_t row = row_of(p, sample);
    if (role == RECORD_ROLE_VIOLATION || role == RECORD_ROLE_CERTIFICATE) {
        return worst_between(value, sample > 0 ? row_of(p, sample - 1) + 1 : 0, row);
    }
    return value[row];
}

static void store(unsigned char *bytes, uint64_t word, int count)
{
    for (int i = 0; i < count; i++) {
        bytes[i] = (unsigned char)(word >> 8 * i & 0xff);
    }
}

static float to_float(double value)
{
    double tame = value > FLT_MAX ? FLT_MAX : value < -FLT_MAX ? -FLT_MAX : value;
    return isfinite(value) ? (float)tame : (float)NAN;
}

static void put_finite(record_file *file, double value)
{
    if (isfinite(value)) {
        record_put_number(file, value, 17);
    } else {
        record_put(file, "null");
    }
}

/* A float of 19.62 + 1e-9 loses the 1e-9; a float of the difference from 19.62 keeps it. */
static double offset_of(double low, double high)
{
    double middle = low / 2 + high / 2;
    return low <= high && fabs(middle) > 10 * (high / 2 - low / 2) ? middle : 0;
}

static void put_channel(const page *p, int key)
{
    const bool drift = key % 2 != 0;
    const double start = drift ? record_first_finite(p->table, key / 2) : 0;
    double low = INFINITY, high = -INFINITY;
    bool gaps = false;
    for (size_t i = 0; i < p->samples; i++) {
        double value = sample_value(p, key, i) - start;
        gaps |= !isfinite(value);
        low = isfinite(value) ? fmin(low, value) : low;
        high = isfinite(value) ? fmax(high, value) : high;
    }
    record_put(p->file, "{\"name\":");
    record_put_json(p->file, p->table->column[key / 2].name);
    if (!(low < high) && (!gaps || !(low <= high))) {
        record_put(p->file, ",\"constant\":");
        put_finite(p->file, low);
        record_put(p->file, "}");
        return;
    }
    const double offset = offset_of(low, high);
    for (size_t i = 0; i < p->samples; i++) {
        float number = to_float(sample_value(p, key, i) - start - offset);
        uint32_t word;
        memcpy(&word, &number, sizeof word);
        store(p->bytes + 4 * i, word, 4);
    }
    record_put(p->file, ",\"offset\":");
    put_finite(p->file, offset);
    record_put(p->file, ",\"data\":\"");
    record_put_base64(p->file, p->bytes, 4 * p->samples);
    record_put(p->file, "\"}");
}

static void put_time(const page *p)
{
    for (size_t i = 0; i < p->samples; i++) {
        double time = record_time_of(p->table, row_of(p, i));
        uint64_t word;
        memcpy(&word, &time, sizeof word);
        store(p->bytes + 8 * i, word, 8);
    }
    record_put(p->file, "\"");
    record_put_base64(p->file, p->bytes, 8 * p->samples);
    record_put(p->file, "\"");
}

/* ---- Descriptions --------------------------------------------------------------------------- */

static void put_chart(const page *p, const record_chart *chart)
{
    static const char *const kind[] = {[RECORD_PLOT_TIME] = "time",
                                       [RECORD_PLOT_PHASE] = "phase",
                                       [RECORD_PLOT_XY] = "xy",
                                       [RECORD_PLOT_DOTS] = "dots"};
    record_file *file = p->file;
    record_putf(file, "{\"kind\":\"%s\",\"title\":", kind[chart->kind]);
    record_put_json(file, chart->title);
    record_put(file, ",\"xLabel\":");
    record_put_json(file, chart->x_label);
    record_put(file, ",\"yLabel\":");
    record_put_json(file, chart->y_label);
    if (chart->color > 0) {
        record_putf(file, ",\"color\":%d,\"fields\":[%d,%d]", p->channel[2 * (chart->color - 1)],
                    chart->fields[0], chart->fields[1]);
    }
    record_putf(file, ",\"log\":%s,\"drift\":%s,\"forces\":%s,\"leftOut\":%d,\"x\":%d,\"y\":[",
                chart->log_y ? "true" : "false", chart->drift ? "true" : "false",
                chart->forces ? "true" : "false", chart->left_out,
                chart->kind == RECORD_PLOT_TIME ? -1 : p->channel[2 * chart->x]);
    for (int i = 0; i < chart->curve_count; i++) {
        record_putf(file, "%s%d", i > 0 ? "," : "", p->channel[2 * chart->curve[i] + chart->drift]);
    }
    record_put(file, "]}");
}

/* A channel's number, or a constant in brackets. */
static void put_place(const page *p, int column, double fixed)
{
    if (column >= 0) {
        record_putf(p->file, "%d", p->channel[2 * column]);
    } else {
        record_put(p->file, "[");
        put_finite(p->file, fixed);
        record_put(p->file, "]");
    }
}

/* Three digits of a vertex are enough for a picture. */
static void put_faces(record_file *file, const record_draw *draw)
{
    record_put(file, ",\"vertices\":[");
    for (int i = 0; i < 3 * draw->vertex_count; i++) {
        record_putf(file, "%s%.3g", i > 0 ? "," : "", draw->vertex[i]);
    }
    record_put(file, "],\"faces\":[");
    for (int i = 0; i < draw->face_length; i++) {
        record_putf(file, "%s%d", i > 0 ? "," : "", draw->face[i]);
    }
    record_put(file, "]");
}

static void put_draw(const page *p, const record_draw *draw)
{
    static const char *const kind[] = {
        [RECORD_DRAW_POINT] = "point",   [RECORD_DRAW_LINE] = "line",
        [RECORD_DRAW_CIRCLE] = "circle", [RECORD_DRAW_TRAIL] = "trail",
        [RECORD_DRAW_SPRING] = "spring", [RECORD_DRAW_POLYGON] = "polygon",
        [RECORD_DRAW_TEXT] = "text",     [RECORD_DRAW_BOX] = "box",
        [RECORD_DRAW_ARROW] = "arrow",   [RECORD_DRAW_SOLID] = "solid",
        [RECORD_DRAW_PLANE] = "plane"};
    record_file *file = p->file;
    record_putf(file, "{\"kind\":\"%s\",\"dimension\":%d,\"width\":", kind[draw->kind],
                draw->dimension);
    put_finite(file, draw->width);
    record_put(file, ",\"seconds\":");
    put_finite(file, draw->seconds);
    if (draw->kind == RECORD_DRAW_CIRCLE || (draw->kind == RECORD_DRAW_LINE && draw->radius > 0)) {
        record_put(file, ",\"radius\":");
        put_place(p, draw->radius == 0 ? draw->radius_column : -1, draw->radius);
    }
    if (draw->color != NULL) {
        record_put(file, ",\"color\":");
        record_put_json(file, draw->color);
    }
    if (draw->text != NULL) {
        record_put(file, ",\"text\":");
        record_put_json(file, draw->text);
    }
    record_put(file, ",\"points\":[");
    for (int i = 0; i < draw->point_count; i++) {
        record_put(file, i > 0 ? ",[" : "[");
        for (int d = 0; d < draw->dimension; d++) {
            record_put(file, d > 0 ? "," : "");
            put_place(p, draw->point[i].column[d], draw->point[i].fixed[d]);
        }
        record_put(file, "]");
    }
    record_put(file, "]");
    if (draw->kind == RECORD_DRAW_SOLID) {
        put_faces(file, draw);
    }
    record_put(file, "}");
}

static void put_recording(const page *p)
{
    const record_table *table = p->table;
    record_file *file = p->file;
    record_putf(file, "{\"rows\":%zu,\"samples\":%zu,\"timeName\":", table->row_count, p->samples);
    record_put_json(file, table->time >= 0 ? table->column[table->time].name : "sample");
    record_put(file, ",\n\"time\":");
    put_time(p);
    record_put(file, ",\n\"channels\":[");
    for (int i = 0; i < p->channel_count; i++) {
        record_put(file, i > 0 ? ",\n" : "");
        put_channel(p, p->order[i]);
    }
    record_put(file, "],\n\"charts\":[");
    for (int i = 0; i < p->view.count; i++) {
        record_put(file, i > 0 ? ",\n" : "");
        put_chart(p, &p->view.chart[i]);
    }
    record_put(file, "],\n\"draws\":[");
    for (int i = 0; i < table->draw_count; i++) {
        record_put(file, i > 0 ? ",\n" : "");
        put_draw(p, &table->draw[i]);
    }
    record_put(file, "],\n\"marks\":[");
    for (int i = 0; i < table->mark_count; i++) {
        record_put(file, i > 0 ? ",\n{\"time\":" : "{\"time\":");
        put_finite(file, table->mark[i].time);
        record_put(file, ",\"label\":");
        record_put_json(file, table->mark[i].label);
        record_put(file, "}");
    }
    record_put(file, "]}");
}

static void put_lines(const page *p, const record_summary *line, int count)
{
    for (int i = 0; i < count; i++) {
        record_put(p->file, "<tr><th scope=\"row\">");
        record_put_escaped(p->file, line[i].label);
        record_put(p->file, "</th><td>");
        record_put_escaped(p->file, line[i].text);
        record_put(p->file, "</td></tr>\n");
    }
}

static void put_summary(const page *p)
{
    put_lines(p, p->table->note, p->table->note_count);
    put_lines(p, p->table->summary, p->table->summary_count);
}

/* ---- The template --------------------------------------------------------------------------- */

static void put_title(const page *p)
{
    const char *title = p->table->text[RECORD_TEXT_TITLE], *file = p->table->text[RECORD_TEXT_FILE];
    record_put_escaped(p->file, title[0] != '\0' ? title : file[0] != '\0' ? file : "Recording");
}

static void put_file_name(const page *p)
{
    record_put_escaped(p->file, p->table->text[RECORD_TEXT_FILE]);
}

static void put_source(const page *p)
{
    record_put_escaped(p->file, p->table->text[RECORD_TEXT_SOURCE]);
}

static void put_style(const page *p)
{
    record_put(p->file, (const char *)record_page_css);
}

static bool is_drawn_in_space(const record_table *table)
{
    for (int i = 0; i < table->draw_count; i++) {
        if (table->draw[i].dimension == 3) {
            return true;
        }
    }
    return false;
}

static void put_scripts(const page *p)
{
    const unsigned char *const part[2] = {
        is_drawn_in_space(p->table) ? record_page_space
                                    : record_page_js + strlen((const char *)record_page_js),
        record_page_js};
    for (int i = 0; i < 2; i++) {
        if (part[i][0] != 0) {
            record_put(p->file, "<script>\n");
            record_put(p->file, (const char *)part[i]);
            record_put(p->file, "</script>\n");
        }
    }
}

/* The charts as a picture, for pages without scripts. */
static void put_plain(const page *p)
{
    zw_error ignored;
    if (record_page_js[0] == 0) {
        record_put_svg(p->file, p->table, &ignored);
        record_put(p->file,
                   "<p class=\"card note\">This build of zwang has no scripts for reports: "
                   "there are charts, and no animation.</p>");
    } else {
        record_put(p->file, "<noscript><p class=\"card note\">The animation and the charts need "
                            "JavaScript, which is switched off in this browser. Nothing is loaded "
                            "from a network.</p></noscript>");
    }
}

static const struct {
    const char *place;
    void (*put)(const page *p);
} filling[] = {
    {"{{title}}", put_title},     {"{{file}}", put_file_name},      {"{{source}}", put_source},
    {"{{summary}}", put_summary}, {"{{recording}}", put_recording}, {"{{style}}", put_style},
    {"{{scripts}}", put_scripts}, {"{{plain}}", put_plain},
};

static void put_page(const page *p)
{
    const char *rest = (const char *)record_page_html;
    const char *place;
    while ((place = strstr(rest, "{{")) != NULL) {
        record_put_bytes(p->file, rest, (size_t)(place - rest));
        rest = place + 2;
        for (size_t i = 0; i < sizeof filling / sizeof filling[0]; i++) {
            size_t length = strlen(filling[i].place);
            if (strncmp(place, filling[i].place, length) == 0) {
                filling[i].put(p);
                rest = place + length;
            }
        }
    }
    record_put(p->file, rest);
}

/* ---- All together --------------------------------------------------------------------------- */

static void page_free(page *p)
{
    record_view_free(&p->view);
    base_free(p->channel);
    base_free(p->order);
    base_free(p->bytes);
}

static zw_status page_make(page *p, const record_table *table, zw_error *error)
{
    *p = (page){.table = table};
    const size_t keys = 2 * (size_t)table->column_count;
    zw_status status = record_view_make(&p->view, table, true, error);
    if (status != ZW_OK) {
        return status;
    }
    p->channel = base_alloc(keys * sizeof *p->channel);
    p->order = base_alloc(keys * sizeof *p->order);
    if (p->channel != NULL && p->order != NULL) {
        for (size_t i = 0; i < keys; i++) {
            p->channel[i] = -1;
        }
        need_all(p);
        set_samples(p);
        p->bytes = base_alloc(8 * p->samples);
    }
    if (p->bytes == NULL) {
        page_free(p);
        return record_no_memory(error);
    }
    return ZW_OK;
}

zw_status record_write_html(const record_table *table, const char *path, zw_error *error)
{
    page p;
    record_file file;
    zw_status status = record_file_check(table, path, error);
    if (status != ZW_OK || (status = page_make(&p, table, error)) != ZW_OK) {
        return status;
    }
    status = record_file_open(&file, path, error);
    if (status == ZW_OK) {
        p.file = &file;
        put_page(&p);
        status = record_file_close(&file, error);
    }
    page_free(&p);
    return status;
}
