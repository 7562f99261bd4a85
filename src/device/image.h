/* A system in the form that a device uses: image.c. */
#ifndef ZW_DEVICE_IMAGE_H
#define ZW_DEVICE_IMAGE_H

#include "device/world.h"

typedef struct image_link {
    size_t at, to; /* positions in the block: the pointer at `at` points to `to` */
} image_link;

/* Begins with the device_model. */
typedef struct device_image {
    unsigned char *block;
    size_t used, capacity;
    image_link *link;
    int links, link_capacity;
    int failed; /* no memory */
} device_image;

/* ZW_OK: steps of this system by the soft law can be taken on a device; otherwise the reason, by
 * name. */
zw_status image_check(const zw_system *system, zw_error *error);

/* NULL: a device can compute the readings of its sensors; otherwise what it cannot. */
const char *image_senses(const zw_system *system);

/* For steps of this length, with capacity for this many contact points per world; 0: as many as the
 * file requests, or IMAGE_POINTS. */
enum { IMAGE_POINTS = 48 };
zw_status image_make(const zw_system *system, double step, int points, device_image *image,
                     zw_error *error);
/* Sets all pointers for a block at address `base`. */
void image_settle(device_image *image, const void *base);
void image_free(device_image *image);

#endif
