/*
 * Image memory: only the driver's own transfers can access its layout. So every image has memory of
 * its own, also on a device that works in the host's memory. Sizes are in SYCL's order and reversed
 * here (E3).
 */
#ifndef SYCL_BACKENDS_OPENCL_IMAGE_H
#define SYCL_BACKENDS_OPENCL_IMAGE_H

#include "opencl/driver/objects.h"

/* backend.h. */
int opencl_image_create(struct backend_device *device, const struct backend_image *image,
			struct backend_memory **memory_out, struct backend_fault *fault_out);

/* The size of its pixels, tightly packed. */
int opencl_image_size(const struct backend_image *image, uint64_t *bytes_out,
		      struct backend_fault *fault_out);
/* The facts of an image of the application. False: SYCL has no such image. */
bool opencl_image_describe(cl_mem_object_type type, const cl_image_format *format,
			   const size_t size[3], struct backend_image *image_out);

/* WRITE, READ or COPY that names an image. Other commands are refused, and so are copies between
 * two sides that agree only in size. */
bool opencl_image_is_meant(const struct backend_command *command);
int opencl_image_command(struct backend_lane *lane, const struct backend_command *command,
			 cl_uint wait_count, const cl_event *waits, cl_event *event_out,
			 struct backend_fault *fault_out);

/* The formats that every device of the full profile has (the eleven formats among them), as bits.
 * 0: the device guarantees fewer, or has no images. */
uint32_t opencl_image_formats(const struct opencl_library *cl, cl_device_id device,
			      const struct backend_device_facts *facts);

/* The driver's name of a format that image_format_find knows. */
cl_image_format opencl_native_format(enum backend_image_format number);
/* Makes the image over the buffer, which the caller releases. */
int opencl_image_view(struct backend_device *device, const struct backend_memory *memory,
		      const struct backend_image_view *view, cl_mem *image_out,
		      struct backend_fault *fault_out);

#endif
