/* The server of zwang view, by GNU libmicrohttpd.
 *
 * 1. It listens on 127.0.0.1 only.
 * 2. A request is answered from a list that is complete before the server starts: no path of a
 *    request ever reaches the file system.
 * 3. Every address begins with the token. Without it there is no page. The whole token is compared,
 *    so that the time does not depend on the part that matches.
 * 4. The Host header must name this machine: a page from elsewhere whose name resolves to this
 * machine is refused.
 * 5. Few connections, each with little memory and a short timeout. */
#include "serve.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef ZW_HAVE_MICROHTTPD
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#endif

/* ---- Pages ---------------------------------------------------------------------------------- */

int serve_add(serve_site *site, const char *name, const char *kind, const void *bytes, size_t size)
{
    if (site->count == site->capacity) {
        int capacity = 2 * site->capacity + 16;
        serve_page *wider = realloc(site->page, (size_t)capacity * sizeof *wider);
        if (!wider) {
            return 0;
        }
        site->page = wider;
        site->capacity = capacity;
    }
    char *own = malloc(strlen(name) + 1), *copy = malloc(size + 1);
    if (!own || !copy) {
        free(own);
        free(copy);
        return 0;
    }
    strcpy(own, name);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    site->page[site->count++] = (serve_page){own, kind, copy, size};
    return 1;
}

static const char *kind_of(const char *name)
{
    static const char *const kind[][2] = {
        {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},   {".wasm", "application/wasm"},
        {".json", "application/json"},         {".webp", "image/webp"}};
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending && i < sizeof kind / sizeof *kind; i++) {
        if (!strcmp(ending, kind[i][0])) {
            return kind[i][1];
        }
    }
    return "application/octet-stream";
}

static int add_file(serve_site *site, const char *path, const char *name, size_t size)
{
    FILE *stream = fopen(path, "rb");
    char *bytes = malloc(size + 1);
    size_t got = stream && bytes ? fread(bytes, 1, size, stream) : 0;
    int ok = bytes && serve_add(site, name, kind_of(name), bytes, got);
    if (ok && !strcmp(name, "index.html")) {
        ok = serve_add(site, "", kind_of(name), bytes, got);
    }
    if (stream) {
        fclose(stream);
    }
    free(bytes);
    return ok;
}

int serve_add_folder(serve_site *site, const char *folder, const char *inside)
{
    DIR *list = opendir(folder);
    int count = 0;
    for (struct dirent *entry; count >= 0 && list && (entry = readdir(list));) {
        char path[4096], name[1024];
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        snprintf(name, sizeof name, "%s%s", inside, entry->d_name);
        if (entry->d_name[0] == '.' || stat(path, &about) != 0) {
            continue;
        }
        int more = 0;
        if (S_ISREG(about.st_mode)) {
            more = add_file(site, path, name, (size_t)about.st_size) ? 1 : -1;
        } else if (S_ISDIR(about.st_mode) && strlen(name) + 2 < sizeof name && !inside[0]) {
            strcat(name, "/");
            more = serve_add_folder(site, path, name);
        }
        count = more < 0 ? -1 : count + more;
    }
    if (list) {
        closedir(list);
    }
    return count;
}

static void forget(serve_site *site)
{
    for (int i = 0; i < site->count; i++) {
        free(site->page[i].name);
        free(site->page[i].bytes);
    }
    free(site->page);
    *site = (serve_site){0};
}

#ifdef ZW_HAVE_MICROHTTPD

/* ---- Answers -------------------------------------------------------------------------------- */

/* 128 random bits that cannot be guessed. */
static int make_token(char token[33])
{
    unsigned char random[16];
    if (getentropy(random, sizeof random) != 0) {
        return 0;
    }
    for (int i = 0; i < 16; i++) {
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    }
    return 1;
}

/* The page at "/TOKEN/"; NULL: there is none, or the token is wrong. */
static const serve_page *find(const serve_site *site, const char *url)
{
    size_t length = strlen(url);
    if (length < 34 || url[0] != '/' || url[33] != '/') {
        return NULL;
    }
    unsigned differs = 0;
    for (int i = 0; i < 32; i++) {
        differs |= (unsigned)(url[1 + i] ^ site->token[i]);
    }
    for (int i = 0; differs == 0 && i < site->count; i++) {
        if (!strcmp(url + 34, site->page[i].name)) {
            return &site->page[i];
        }
    }
    return NULL;
}

static int is_here(const serve_site *site, const char *host)
{
    char number[40], name[40];
    snprintf(number, sizeof number, "127.0.0.1:%d", site->port);
    snprintf(name, sizeof name, "localhost:%d", site->port);
    return host && (!strcmp(host, number) || !strcmp(host, name));
}

static enum MHD_Result answer(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    static int once; /* its address marks requests whose header has been seen */
    const serve_site *site = user;
    (void)version;
    (void)upload;
    if (*state == NULL) {
        *state = &once;
        return MHD_YES;
    }
    if (*upload_size > 0) { /* the body of a request is ignored */
        *upload_size = 0;
        return MHD_YES;
    }
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    int reads = !strcmp(method, "GET") || !strcmp(method, "HEAD");
    const serve_page *page = reads && is_here(site, host) ? find(site, url) : NULL;
    static char nothing[] = "there is nothing here\n";
    struct MHD_Response *response =
        page ? MHD_create_response_from_buffer(page->size, page->bytes, MHD_RESPMEM_PERSISTENT)
             : MHD_create_response_from_buffer(strlen(nothing), nothing, MHD_RESPMEM_PERSISTENT);
    if (!response) {
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", page ? page->kind : "text/plain");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "X-Frame-Options", "DENY");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    unsigned status = page ? MHD_HTTP_OK : reads ? MHD_HTTP_NOT_FOUND : MHD_HTTP_METHOD_NOT_ALLOWED;
    enum MHD_Result done = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return done;
}

/* Suppresses messages of the library about malformed requests. */
static void hush(void *user, const char *format, va_list arguments)
{
    (void)user;
    (void)format;
    (void)arguments;
}

const char *serve_start(serve_site *site, int port)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!make_token(site->token)) {
        return "this system has no random numbers";
    }
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ERROR_LOG, (uint16_t)port, NULL, NULL, answer,
        site, MHD_OPTION_EXTERNAL_LOGGER, hush, NULL, MHD_OPTION_SOCK_ADDR, &place,
        MHD_OPTION_CONNECTION_LIMIT, 64U, MHD_OPTION_CONNECTION_TIMEOUT, 15U,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768, MHD_OPTION_END);
    const union MHD_DaemonInfo *about =
        daemon ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!about) {
        return port > 0 ? "this port cannot be used; perhaps another program does"
                        : "no port can be opened on 127.0.0.1";
    }
    site->port = about->port;
    site->daemon = daemon;
    return NULL;
}

void serve_stop(serve_site *site)
{
    if (site->daemon) {
        MHD_stop_daemon(site->daemon);
    }
    forget(site);
}

#else

const char *serve_start(serve_site *site, int port)
{
    (void)site;
    (void)port;
    return "this build has no server: it was made without libmicrohttpd (Debian: "
           "libmicrohttpd-dev)";
}

void serve_stop(serve_site *site)
{
    forget(site);
}

#endif
