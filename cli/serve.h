/* A small server for one browser on this machine: pages from memory, below a secret address. */
#ifndef ZW_CLI_SERVE_H
#define ZW_CLI_SERVE_H

#include <stddef.h>

typedef struct serve_page {
    char *name; /* after the token: "assets/index.js"; "": the first page */
    const char *kind;
    char *bytes;
    size_t size;
} serve_page;

typedef struct serve_site {
    serve_page *page;
    int count, capacity;
    char token[33]; /* 128 random bits, in hexadecimal digits */
    int port;
    void *daemon;
} serve_site;

/* Adds a page; name and bytes are copied. 0: no memory. */
int serve_add(serve_site *site, const char *name, const char *kind, const void *bytes, size_t size);
/* Adds all files of a folder and its subfolders; returns their number, -1: no memory. */
int serve_add_folder(serve_site *site, const char *folder, const char *inside);

/* Listens on 127.0.0.1. Returns NULL, or the reason of a failure. */
const char *serve_start(serve_site *site, int port);
void serve_stop(serve_site *site); /* and frees the pages */

#endif
