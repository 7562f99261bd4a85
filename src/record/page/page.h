/* The report page, made from report*.html, .css and .js by embed.cmake; each ends with a 0. */
#ifndef ZW_RECORD_PAGE_H
#define ZW_RECORD_PAGE_H

extern const unsigned char record_page_html[]; /* with {{places}} to fill */
extern const unsigned char record_page_css[];
extern const unsigned char record_page_js[];

#endif
