/* The plots as one static picture: small multiples on white, suitable for printing.
 *
 * Sizes are CSS pixels. Text is text, so that it can be searched and restyled. */
#include "base/memory.h"
#include "record/axis.h"
#include "record/copy.h"
#include "record/file.h"
#include "record/thin.h"
#include "record/view.h"
#include "record/write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The colours of Okabe and Ito, which most colour-blind people can distinguish; further curves are
 * dashed. */
static const char *const curve_color[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                          "#e69f00", "#56b4e9", "#444444"};
enum { COLORS = 7 };

enum { MARGIN = 20, GUTTER = 28, LEFT = 64, RIGHT = 12, TOP = 44, BOTTOM = 46 };
enum { FEW_MARKS = 12, DENSE_POINTS = 5000 };
enum { FILE_POINTS = 80000 }; /* about 0.8 MB */

static const char style[] =
    "text{font-family:'Helvetica Neue',Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif;"
    "font-size:11.5px;fill:#333}"
    ".title{font-size:18px;font-weight:600;fill:#111}.file{font-size:12px;fill:#666}"
    ".head{font-size:13.5px;font-weight:600;fill:#111}.label{font-size:12.5px;fill:#111}"
    ".grid{stroke:#e4e4e4;stroke-width:1;fill:none}.zero{stroke:#bbb;stroke-width:1;fill:none}"
    ".axis{stroke:#555;stroke-width:1;fill:none}.mark{stroke:#888;stroke-width:1;"
    "stroke-dasharray:3 3;fill:none}.tick{stroke:#888;stroke-width:1.2;fill:none}"
    ".curve{fill:none;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}"
    ".dense{stroke-width:.6}"
    ".end{text-anchor:end}.middle{text-anchor:middle}";

/* One chart on the page: its frame and scales. */
typedef struct panel {
    const record_table *table;
    const record_chart *chart;
    record_file *file;
    double left, top, width, height; /* of the frame of the curves */
    record_axis x, y;
    int budget;  /* points for each curve */
    double head; /* height of the title above the frame */
} panel;

/* ---- Names ---------------------------------------------------------------------------------- */

/* Typographic names: x' with a prime, and shortened to fit. */
static void put_name(record_file *file, const char *name, int capacity)
{
    char text[200] = "";
    size_t used = 0;
    int letters = 0;
    for (const char *c = name; *c != '\0' && used < sizeof text - 8; c++) {
        bool starts = ((unsigned char)*c & 0xc0) != 0x80;
        if (starts && letters++ == capacity) {
            memcpy(text + used, "\xe2\x80\xa6", 3);
            used += 3;
            break;
        }
        if (*c == '\'') {
            memcpy(text + used, "\xe2\x80\xb2", 3);
            used += 3;
        } else {
            text[used++] = *c;
        }
    }
    text[used] = '\0';
    record_put_escaped(file, text);
}

static int name_length(const char *name, int capacity)
{
    int letters = 0;
    for (const char *c = name; *c != '\0' && letters <= capacity; c++) {
        letters += ((unsigned char)*c & 0xc0) != 0x80;
    }
    return letters;
}

static void put_at(record_file *file, const char *attribute, double value)
{
    record_putf(file, " %s=\"", attribute);
    record_put_number(file, round(100 * value) / 100, 7);
    record_put(file, "\"");
}

static void put_text(record_file *file, double x, double y, const char *class, const char *text,
                     int capacity)
{
    record_put(file, "<text");
    put_at(file, "x", x);
    put_at(file, "y", y);
    record_putf(file, " class=\"%s\">", class);
    put_name(file, text, capacity);
    record_put(file, "</text>\n");
}

static void put_line(record_file *file, const char *class, double x1, double y1, double x2,
                     double y2)
{
    record_putf(file, "<path class=\"%s\" d=\"M", class);
    const double place[] = {x1, y1, x2, y2};
    for (int i = 0; i < 4; i++) {
        record_put(file, i == 0 ? "" : i == 2 ? "L" : " ");
        record_put_number(file, round(100 * place[i]) / 100, 7);
    }
    record_put(file, "\"/>\n");
}

static void put_stroke(record_file *file, int curve)
{
    record_putf(file, " stroke=\"%s\"", curve_color[curve % COLORS]);
    if (curve >= COLORS) {
        record_put(file, " stroke-dasharray=\"6 3\"");
    }
}

/* ---- Scales --------------------------------------------------------------------------------- */

static double x_value(const panel *p, size_t row)
{
    return p->chart->x >= 0 ? record_table_column(p->table, p->chart->x)[row] : (double)row;
}

static void include(double *low, double *high, double value, bool log)
{
    if (isfinite(value)) {
        value = log ? fabs(value) : value;
        *low = log && value == 0 ? *low : fmin(*low, value);
        *high = fmax(*high, value);
    }
}

static void set_scales(panel *p)
{
    const record_chart *chart = p->chart;
    const bool over_time = chart->kind == RECORD_PLOT_TIME;
    double low = INFINITY, high = -INFINITY;
    for (size_t row = 0; row < p->table->row_count; row++) {
        include(&low, &high, x_value(p, row), false);
    }
    record_axis_make(&p->x, low, high, false, over_time ? 0 : 0.05, (int)(p->width / 60));
    low = INFINITY;
    high = -INFINITY;
    for (int i = 0; i < chart->curve_count; i++) {
        const double *value = record_table_column(p->table, chart->curve[i]);
        for (size_t row = 0; row < p->table->row_count; row++) {
            include(&low, &high, value[row], chart->log_y);
        }
    }
    record_axis_make(&p->y, low, high, chart->log_y, 0.05, (int)(p->height / 30));
    if (chart->kind == RECORD_PLOT_XY && !chart->log_y) {
        record_axis_equalise(&p->x, &p->y, p->width, p->height, (int)(p->height / 30));
    }
}

static double across(const panel *p, double value)
{
    return p->width * record_axis_place(&p->x, value);
}

static double down(const panel *p, double value)
{
    return p->height * (1 - record_axis_place(&p->y, value));
}

/* ---- A panel -------------------------------------------------------------------------------- */

static double tick_place(const record_axis *axis, double tick)
{
    return (tick - axis->low) / (axis->high - axis->low);
}

static void put_grid(const panel *p)
{
    record_file *file = p->file;
    char label[64];
    double bottom = p->top + p->height, right = p->left + p->width;
    for (int i = 0; i < p->x.tick_count; i++) {
        double x = p->left + p->width * tick_place(&p->x, p->x.tick[i]);
        put_line(file, p->x.tick[i] == 0 && p->x.low < 0 ? "zero" : "grid", x, p->top, x, bottom);
        record_axis_label(&p->x, p->x.tick[i], label, sizeof label);
        put_text(file, x, bottom + 16, "middle", label, 40);
    }
    for (int i = 0; i < p->y.tick_count; i++) {
        double y = bottom - p->height * tick_place(&p->y, p->y.tick[i]);
        bool zero = p->y.tick[i] == 0 && !p->y.log;
        put_line(file, zero ? "zero" : "grid", p->left, y, right, y);
        record_axis_label(&p->y, p->y.tick[i], label, sizeof label);
        put_text(file, p->left - 7, y + 4, "end", label, 40);
    }
    record_axis_factor_text(&p->x, label, sizeof label);
    if (label[0] != '\0') {
        put_text(file, right, bottom + 33, "end", label, 40);
    }
    record_axis_factor_text(&p->y, label, sizeof label);
    if (label[0] != '\0') {
        put_text(file, p->left - 7, p->top - 8, "end", label, 40);
    }
}

static void put_frame(const panel *p)
{
    record_file *file = p->file;
    double bottom = p->top + p->height;
    put_line(file, "axis", p->left, p->top, p->left, bottom);
    put_line(file, "axis", p->left, bottom, p->left + p->width, bottom);
    put_text(file, p->left + p->width / 2, bottom + 34, "label middle", p->chart->x_label, 50);
    if (p->chart->y_label[0] != '\0') {
        record_put(file, "<text class=\"label middle\" transform=\"translate(");
        record_put_number(file, p->left - LEFT + 14, 7);
        record_put(file, " ");
        record_put_number(file, p->top + p->height / 2, 7);
        record_put(file, ") rotate(-90)\">");
        put_name(file, p->chart->y_label, 36);
        record_put(file, "</text>\n");
    }
    put_text(file, p->left, p->top - p->head, "head", p->chart->title, 60);
}

/* A row of colour samples and names below the title; those that do not fit are counted. */
static void put_legend(const panel *p)
{
    const record_chart *chart = p->chart;
    double x = p->left, y = p->top - 9;
    for (int i = 0; i < chart->curve_count && chart->curve_count > 1; i++) {
        const char *name = p->table->column[chart->curve[i]].name;
        double length = 24 + 7.0 * name_length(name, 18);
        if (x + length > p->left + p->width - 60 || i + 1 == chart->curve_count) {
            int more = chart->curve_count - i + chart->left_out;
            if (more > 1 || x + length > p->left + p->width) {
                char text[32];
                snprintf(text, sizeof text, "and %d more", more);
                put_text(p->file, x, y, "file", text, 40);
                return;
            }
        }
        record_put(p->file, "<path class=\"curve\"");
        put_stroke(p->file, i);
        record_put(p->file, " d=\"M");
        record_put_number(p->file, x, 7);
        record_put(p->file, " ");
        record_put_number(p->file, y - 4, 7);
        record_put(p->file, "h14\"/>\n");
        put_text(p->file, x + 19, y, "", name, 18);
        x += length + 10;
    }
}

/* Events as dashed lines, or as short ones at the top when there are many; those that would touch
 * the previous one are left out. */
static void put_marks(const panel *p)
{
    const double length = p->table->mark_count > FEW_MARKS ? 7 : p->height;
    double before = -3;
    for (int i = 0; i < p->table->mark_count && p->chart->kind == RECORD_PLOT_TIME; i++) {
        double x = across(p, p->table->mark[i].time);
        if (x >= 0 && x <= p->width && fabs(x - before) >= 3) {
            record_put(p->file, "<g><title>");
            put_name(p->file, p->table->mark[i].label, 80);
            record_put(p->file, "</title>");
            put_line(p->file, length < 10 ? "tick" : "mark", p->left + x, p->top, p->left + x,
                     p->top + length);
            record_put(p->file, "</g>\n");
            before = x;
        }
    }
}

/* The number of points that a tolerance keeps, counted only until it exceeds the budget; with a
 * file, the path is written. */
static size_t thin_curve(const panel *p, int curve, record_file *file, double tolerance,
                         unsigned char *cover)
{
    const double *value = record_table_column(p->table, p->chart->curve[curve]);
    const double cell = fmax(0.5, 3 * tolerance);
    if (cover != NULL) {
        memset(cover, 0, record_thin_cover_size(p->width, p->height, cell));
    }
    record_thin thin;
    record_thin_begin(&thin, file, tolerance, p->width, p->height, cover, cell);
    for (size_t row = 0; row < p->table->row_count; row++) {
        if (file == NULL && thin.kept > (size_t)p->budget) {
            break;
        }
        record_thin_add(&thin, across(p, x_value(p, row)), down(p, value[row]));
    }
    record_thin_end(&thin);
    return thin.kept;
}

/* Uses the finest tolerance within the budget; a trajectory that fills its region is drawn with a
 * thin line, so that its windings are visible. */
static void put_curve(const panel *p, int curve, unsigned char *cover)
{
    double tolerance = 0.08;
    size_t kept = thin_curve(p, curve, NULL, tolerance, cover);
    const bool dense = cover != NULL && (kept > DENSE_POINTS || kept > (size_t)p->budget);
    while (kept > (size_t)p->budget && tolerance < 4) {
        tolerance *= 2;
        kept = thin_curve(p, curve, NULL, tolerance, cover);
    }
    record_put(p->file, dense ? "<path class=\"curve dense\"" : "<path class=\"curve\"");
    put_stroke(p->file, curve);
    record_put(p->file, " d=\"");
    if (thin_curve(p, curve, p->file, tolerance, cover) == 0) {
        record_put(p->file, "M0 0"); /* an empty but valid path */
    }
    record_put(p->file, "\"/>\n");
}

/* All rows as dots; beyond the budget, evenly spaced rows. */
static void put_dots(const panel *p, int curve)
{
    const double *value = record_table_column(p->table, p->chart->curve[curve]);
    size_t rows = p->table->row_count, each = rows / (size_t)p->budget + 1, count = 0;
    record_putf(p->file, "<path class=\"curve\" stroke=\"%s\" d=\"", curve_color[curve % COLORS]);
    for (size_t row = 0; row < rows; row += each) {
        double x = across(p, x_value(p, row)), y = down(p, value[row]);
        if (isfinite(x) && isfinite(y)) {
            record_put(p->file, "M");
            record_put_number(p->file, round(100 * x) / 100, 7);
            record_put(p->file, " ");
            record_put_number(p->file, round(100 * y) / 100, 7);
            record_put(p->file, "h0");
            count++;
        }
    }
    record_put(p->file, count > 0 ? "\"/>\n" : "M0 0\"/>\n");
}

/* A map: levels from dark to bright, with one path for each level. */
static void put_fields(const panel *p)
{
    enum { LEVELS = 32 };
    static const int dark[] = {48, 18, 90}, middle[] = {0, 140, 140}, bright[] = {250, 225, 60};
    const record_chart *chart = p->chart;
    const double *color = record_table_column(p->table, chart->color - 1);
    const double *up = record_table_column(p->table, chart->curve[0]);
    double low = INFINITY, high = -INFINITY, side[2];
    double left = INFINITY, right = -INFINITY, bottom = -INFINITY, top = INFINITY;
    for (size_t row = 0; row < p->table->row_count; row++) {
        double x = across(p, x_value(p, row)), y = down(p, up[row]);
        include(&low, &high, color[row], false);
        include(&left, &right, x, false);
        include(&top, &bottom, y, false);
    }
    side[0] = (right - left) / (chart->fields[0] > 1 ? chart->fields[0] - 1 : 1);
    side[1] = (bottom - top) / (chart->fields[1] > 1 ? chart->fields[1] - 1 : 1);
    for (int level = 0; level < LEVELS; level++) {
        double part = (level + 0.5) / LEVELS, way = part < 0.5 ? 2 * part : 2 * part - 1;
        const int *from = part < 0.5 ? dark : middle, *to = part < 0.5 ? middle : bright;
        int rgb[3], any = 0;
        for (int k = 0; k < 3; k++) {
            rgb[k] = (int)lround(from[k] + way * (to[k] - from[k]));
        }
        for (size_t row = 0; row < p->table->row_count; row++) {
            double high_part = high > low ? (color[row] - low) / (high - low) : 0.5;
            double x = across(p, x_value(p, row)), y = down(p, up[row]);
            int own = isfinite(color[row]) ? (int)(high_part * LEVELS) : -1;
            if (isfinite(x) && isfinite(y) && (own < LEVELS ? own : LEVELS - 1) == level) {
                const double at[] = {x - side[0] / 2, y - side[1] / 2, side[0], side[1], -side[0]};
                static const char *const word[] = {"M", " ", "h", "v", "h"};
                if (any++ == 0) {
                    record_putf(p->file, "<path fill=\"#%02x%02x%02x\" d=\"", rgb[0], rgb[1],
                                rgb[2]);
                }
                for (int k = 0; k < 5; k++) {
                    record_put(p->file, word[k]);
                    record_put_number(p->file, round(100 * at[k]) / 100, 7);
                }
                record_put(p->file, "z");
            }
        }
        record_put(p->file, any ? "\"/>\n" : "");
    }
}

static zw_status put_panel(panel *p, zw_error *error)
{
    unsigned char *cover = NULL;
    set_scales(p);
    if (p->chart->kind != RECORD_PLOT_TIME) {
        cover = base_alloc(record_thin_cover_size(p->width, p->height, 0.5));
        if (cover == NULL) {
            return record_no_memory(error);
        }
    }
    record_put(p->file, "<g>\n");
    put_grid(p);
    put_marks(p);
    record_put(p->file, "<g transform=\"translate(");
    record_put_number(p->file, p->left, 7);
    record_put(p->file, " ");
    record_put_number(p->file, p->top, 7);
    record_put(p->file, ")\">\n");
    /* The first curve is drawn last, on top of the others. */
    for (int i = p->chart->curve_count - 1; i >= 0; i--) {
        if (p->chart->kind == RECORD_PLOT_DOTS && p->chart->color > 0) {
            put_fields(p);
        } else if (p->chart->kind == RECORD_PLOT_DOTS) {
            put_dots(p, i);
        } else {
            put_curve(p, i, cover);
        }
    }
    record_put(p->file, "</g>\n");
    put_frame(p);
    put_legend(p);
    record_put(p->file, "</g>\n");
    base_free(cover);
    return ZW_OK;
}

/* ---- The page ------------------------------------------------------------------------------- */

static void put_head(record_file *file, const record_table *table, double width, double height)
{
    record_put(file, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    put_at(file, "width", width);
    put_at(file, "height", height);
    record_putf(file, " viewBox=\"0 0 %d %d\" role=\"img\">\n<title>", (int)width, (int)height);
    record_put_escaped(file, table->text[RECORD_TEXT_TITLE]);
    record_put(file, "</title>\n<style>");
    record_put(file, style);
    record_put(file, "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    if (table->text[RECORD_TEXT_TITLE][0] != '\0') {
        put_text(file, MARGIN, MARGIN + 14, "title", table->text[RECORD_TEXT_TITLE], 90);
    }
    if (table->text[RECORD_TEXT_FILE][0] != '\0') {
        put_text(file, MARGIN, MARGIN + 30, "file", table->text[RECORD_TEXT_FILE], 60);
    }
}

static zw_status put_page(record_file *file, const record_table *table, const record_view *view,
                          zw_error *error)
{
    const int columns = view->count > 1 ? 2 : 1;
    const int rows = view->count > 0 ? (view->count + columns - 1) / columns : 0;
    const bool headed = table->text[RECORD_TEXT_TITLE][0] != '\0' ||
                        table->text[RECORD_TEXT_FILE][0] != '\0' || rows == 0;
    const double head = MARGIN + (headed ? 46 : 0);
    const double width = columns == 1 ? 680 : 450, height = columns == 1 ? 430 : 310;
    put_head(file, table, 2 * MARGIN + columns * width + (columns - 1) * GUTTER,
             head + rows * (height + 12) + MARGIN);
    if (rows == 0) {
        put_text(file, MARGIN, MARGIN + 34, "file", "This recording has nothing to plot.", 60);
    }
    int curves = 0;
    bool legends = false;
    for (int i = 0; i < view->count; i++) {
        curves += view->chart[i].curve_count;
        legends |= view->chart[i].curve_count > 1;
    }
    for (int i = 0; i < view->count; i++) {
        panel p = {.table = table,
                   .chart = &view->chart[i],
                   .file = file,
                   .left = MARGIN + (i % columns) * (width + GUTTER) + LEFT,
                   .top = head + (i / columns) * (height + 12) + TOP,
                   .width = width - LEFT - RIGHT,
                   .height = height - TOP - BOTTOM,
                   .budget = FILE_POINTS / curves + 200,
                   .head = legends ? 26 : 12};
        zw_status status = put_panel(&p, error);
        if (status != ZW_OK) {
            return status;
        }
    }
    record_put(file, "</svg>\n");
    return ZW_OK;
}

zw_status record_put_svg(record_file *file, const record_table *table, zw_error *error)
{
    record_view view;
    zw_status status = record_view_make(&view, table, false, error);
    if (status == ZW_OK) {
        status = put_page(file, table, &view, error);
        record_view_free(&view);
    }
    return status;
}

zw_status record_write_svg(const record_table *table, const char *path, zw_error *error)
{
    record_file file;
    zw_status status = record_file_check(table, path, error);
    if (status != ZW_OK || (status = record_file_open(&file, path, error)) != ZW_OK) {
        return status;
    }
    record_put(&file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    status = record_put_svg(&file, table, error);
    if (status == ZW_OK) {
        return record_file_close(&file, error);
    }
    record_file_drop(&file);
    return status;
}
