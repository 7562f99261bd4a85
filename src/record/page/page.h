/* The report page, made by embed.cmake: the template and its style, and the scripts of web/ where
 * tools/build-report has made them. Each ends with a 0; without scripts those are empty. */
#ifndef ZW_RECORD_PAGE_H
#define ZW_RECORD_PAGE_H

extern const unsigned char record_page_html[];  /* with {{places}} to fill */
extern const unsigned char record_page_css[];   /* */
extern const unsigned char record_page_js[];    /* the views in the plane, charts, time */
extern const unsigned char record_page_space[]; /* the view in space, before the other */

#endif
