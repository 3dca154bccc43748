/* SPDX-License-Identifier: Apache-2.0 */
#include "picture.h"

#include <png.h>
#include <stdio.h>
#include <unistd.h>

bool picture_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb)
{
	png_image image = {.version = PNG_IMAGE_VERSION,
			   .width = width,
			   .height = height,
			   .format = PNG_FORMAT_RGB};
	char temporary[4096];
	int length = snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid());
	if (length < 0 || (size_t)length >= sizeof(temporary))
		return false;
	if (png_image_write_to_file(&image, temporary, 0, rgb, 0, NULL) != 0 &&
	    rename(temporary, path) == 0)
		return true;
	(void)unlink(temporary);
	return false;
}
