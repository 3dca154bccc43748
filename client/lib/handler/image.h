/* Images and samplers as arguments of a command group. */
#ifndef SYCL_CLIENT_HANDLER_IMAGE_H
#define SYCL_CLIENT_HANDLER_IMAGE_H

#include "handler/handler.h"
#include "memory/image.h"

/* handler_image_fits: true if the image or sampler fits the argument that the kernel declares.
 * handler_check_image checks argument `index` of the handler. */
bool handler_image_fits(const struct handler_argument *given, const struct kernel_argument *wanted);
sycl_result handler_check_image(const struct handler *handler, uint32_t index);
void handler_put_image(const struct handler_argument *from, Sycl__V1__Argument *to,
		       Sycl__V1__ImageArgument *image, Sycl__V1__SamplerArgument *sampler);

/* The message of a view, and its sizes. */
struct view_message {
	Sycl__V1__ImageView view;
	uint64_t size[2];
};
void handler_put_view(const struct handler *handler, const struct handler_argument *from,
		      Sycl__V1__ImageArgument *image, struct view_message *view);

#endif
