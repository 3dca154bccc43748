/* Images on a backend's table of operations: common parts of the tests of images. */
#ifndef SYCL_TESTS_CONFORMANCE_IMAGES_SUPPORT_H
#define SYCL_TESTS_CONFORMANCE_IMAGES_SUPPORT_H

#include "image_format.h"
#include "targets/target.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct images {
	struct fixture fixture;
	struct backend_program *program;
	struct backend_kernel *kernel;
};

/* Opens the first device, which must support images. `source`: portable, or NULL for none. */
void images_open(struct images *images, const char *source, const char *kernel);
void images_close(struct images *images);
/* Uses another kernel of the same program. */
void images_use(struct images *images, const char *kernel);

struct backend_image images_describe(enum backend_image_format format, uint32_t dimensions,
				     const uint64_t *size);
/* Makes an image, which must succeed. */
struct backend_memory *images_make(struct images *images, const struct backend_image *image);
uint64_t images_bytes(const struct backend_image *image);
void images_write(struct images *images, struct backend_memory *memory,
		  const struct backend_image *image, const void *bytes);
void images_read(struct images *images, struct backend_memory *memory,
		 const struct backend_image *image, void *bytes);
/* Returns pseudo-random bytes, the same each time; malloc'ed. */
void *images_noise(uint64_t bytes, uint32_t seed);

struct backend_argument images_argument(struct backend_memory *memory, bool writes);
struct backend_argument images_sampled(struct backend_memory *memory,
				       struct backend_sampler sampler);
/* Launches the kernel on lane 0 and waits; it must succeed. */
void images_launch(struct images *images, uint32_t dimensions, const uint64_t *global,
		   const struct backend_argument *arguments, uint32_t count);
/* The command must be refused with this status. */
void images_launch_fails(struct images *images, const struct backend_argument *arguments,
			 uint32_t count, int32_t status);

#endif
