/*
 * Images and samplers as arguments. A sampled image is one argument for the application, and two of
 * OpenCL's, an image and a sampler. The portable prelude writes both into the kernel's head. The
 * sampler is right behind the image, and its name begins with OPENCL_SAMPLER_OF. That name and
 * place mark the two as one. In OpenCL C, without the prelude, an image and a sampler are two
 * arguments (E23).
 *
 * A sampled image with layers has a third one behind them, a float whose name begins with
 * OPENCL_LAYER_STEP_OF. Kernels multiply a layer's number by this float. It is 1 except on PoCL
 * before 4.0, which treats the number as normalised if the sampler's coordinates are.
 */
#ifndef SYCL_BACKENDS_OPENCL_IMAGE_ARGUMENTS_H
#define SYCL_BACKENDS_OPENCL_IMAGE_ARGUMENTS_H

#include "opencl/driver/objects.h"

#define OPENCL_SAMPLER_OF    "sycl_sampler_of_"
#define OPENCL_LAYER_STEP_OF "sycl_layer_step_of_"

/* Merges the driver's `count` arguments into those of the application, and puts the position of
 * each into `places`. Returns the number of merged arguments. */
uint32_t opencl_arguments_merge(struct backend_argument_facts *arguments, uint32_t count,
				struct opencl_place *places);

/* Sets argument `index`, an IMAGE or a SAMPLER, of a variant's kernel. Device thread. */
int opencl_image_argument_set(struct backend_kernel *kernel, cl_kernel to, uint32_t index,
			      const struct backend_argument *argument,
			      struct backend_fault *fault_out);

#endif
