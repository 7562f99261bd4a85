/* The report page, made by embed.cmake: the template and its style, and the scripts of web/ where
 * tools/build-report has made them. Each is zero-terminated; the scripts are empty where they were
 * not built. */
#ifndef ZW_RECORD_PAGE_H
#define ZW_RECORD_PAGE_H

extern const unsigned char record_page_html[]; /* with {{...}} placeholders */
extern const unsigned char record_page_css[];  /* */
extern const unsigned char record_page_js[];   /* the views in the plane, charts, time control */
extern const unsigned char
    record_page_space[]; /* the view in space, which must precede the other script */

#endif
