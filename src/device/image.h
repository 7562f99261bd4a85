/* A system as a device sees it: image.c. */
#ifndef ZW_DEVICE_IMAGE_H
#define ZW_DEVICE_IMAGE_H

#include "device/world.h"

typedef struct image_link {
    size_t at, to; /* places in the block: the pointer at `at` leads to `to` */
} image_link;

/* Begins with the device_model. */
typedef struct device_image {
    unsigned char *block;
    size_t used, capacity;
    image_link *link;
    int links, link_capacity;
    int failed; /* no memory */
} device_image;

/* ZW_OK: the soft law's steps of this system can be taken on a device; else the reason, by name. */
zw_status image_check(const zw_system *system, zw_error *error);

/* For steps of this length, with room for so many contact points a world; 0: as many as the file
 * asks for, or IMAGE_POINTS. */
enum { IMAGE_POINTS = 48 };
zw_status image_make(const zw_system *system, double step, int points, device_image *image,
                     zw_error *error);
/* All pointers as they are where the block begins at `base`. */
void image_settle(device_image *image, const void *base);
void image_free(device_image *image);

#endif
