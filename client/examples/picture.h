/* SPDX-License-Identifier: Apache-2.0 */
/* A picture into a file. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes a PNG, 3 bytes (red, green, blue) a pixel, row by row from the top. It first writes a
 * temporary file beside it, so that a reader of the path gets a whole picture. False: not written,
 * and nothing is left there.
 */
bool picture_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb);

#endif
