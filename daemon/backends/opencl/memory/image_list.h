/*
 * The formats that a device lists for each kind of images. A driver lists them for a context only,
 * which takes a second and hundreds of MiB of a GPU's memory with NVIDIA's. So the list is kept in
 * a file, by the facts' key: that of the device and the driver's version.
 */
#ifndef SYCL_BACKENDS_OPENCL_IMAGE_LIST_H
#define SYCL_BACKENDS_OPENCL_IMAGE_LIST_H

#include "opencl/driver/objects.h"

/* Fills the general formats and the rules for views of a device with images, whose key is filled.
 * `folder` has the files; NULL: none is kept. A file that is not whole is made again. */
void opencl_image_list_fill(const struct opencl_library *cl, cl_device_id device,
			    const char *folder, struct backend_device_facts *facts);

#endif
