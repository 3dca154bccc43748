/* Bundles: the common part of bundle.c, bundle_image.c, bundle_info.c and bundle_make.c. */
#ifndef SYCL_CLIENT_BUNDLE_H
#define SYCL_CLIENT_BUNDLE_H

#include "kernel/kernel.h"

#define BUNDLE_SOURCES_MAX 1024u
#define BUNDLE_OPTIONS_MAX 4096u

/* bundle.c. Makes a bundle of this state with one user reference and room for `image_count` images.
 * It holds the devices. */
sycl_result bundle_new(struct context *context, sycl_bundle_state state, uint32_t device_count,
		       struct device *const *devices, uint32_t image_count,
		       struct bundle **bundle_out);
/* Frees a bundle that the program never received. Keeps the last error and returns its code. */
sycl_result bundle_discard(struct bundle *bundle, sycl_result result);
/* Called when the bundle has all its images: joins their logs, which become the thread's build log,
 * too, and makes the handle. */
sycl_result bundle_finish(struct bundle *bundle, sycl_kernel_bundle *bundle_out);

/* The input of bundle_image.c: text or bytes. */
struct build_input {
	uint32_t kind; /* Sycl__V1__SourceKind */
	const void *bytes;
	size_t size_bytes;
	const char *options;
	bool compile_only;
};
/*
 * Builds an image by a round trip, which includes the compiler's time. The image has no user
 * reference; its reference is the caller's. On failure the thread's build log has the compiler's
 * output.
 */
sycl_result bundle_image_build(struct context *context, struct device *device,
			       const struct build_input *input, struct bundle_image **image_out);
/* As bundle_image_build, from `count` objects for this device. */
sycl_result bundle_image_link(struct context *context, struct device *device, uint32_t count,
			      struct bundle_image *const *objects, const char *options,
			      struct bundle_image **image_out);
/* As bundle_image_build, from programs of the application. A failure has the vendor's error code.
 */
sycl_result bundle_image_make_native(struct context *context, struct device *device,
				     sycl_bundle_state state, uint32_t count,
				     const uint64_t *natives, struct bundle_image **image_out);
/* kernel.c: makes a kernel for each of the bundle's images, which all belong to the kernel's
 * program. */
sycl_result kernel_make_native(struct bundle *bundle, const char *name, uint64_t native,
			       sycl_kernel *kernel_out);
/*
 * True if the image's list of kernels has the name. `maybe`: also true if the list is incomplete.
 */
bool bundle_image_has(const struct bundle_image *image, const char *name, bool maybe);

/* bundle_variable.c: called at the end of the image. */
void bundle_image_forget_variables(struct bundle_image *image);

void bundle_source_unref(struct bundle_source *source);

#endif
