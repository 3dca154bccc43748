/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a picture to a file. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes a PNG, 3 bytes (red, green, blue) for each pixel, row by row from the top. It first writes
 * a temporary file beside it, so that a reader of the path gets a complete picture. False: the
 * write failed, and no file is left.
 */
bool picture_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb);

#endif
