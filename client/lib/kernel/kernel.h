/* Bundles and kernels. */
#ifndef SYCL_CLIENT_KERNEL_H
#define SYCL_CLIENT_KERNEL_H

#include "platform/platform.h"

/* What a bundle in the input state holds; shared by the bundles that were joined from it. */
struct bundle_source {
	_Atomic uint32_t references;
	uint32_t kind; /* Sycl__V1__SourceKind */
	size_t size_bytes;
	char bytes[];
};

/* One object of the service: a source compiled, or a program, for one device. Without users of its
 * own. */
struct bundle_image {
	struct object object;
	struct remote remote;
	struct context *context;
	struct device *device;
	char *log;    /* NULL: none */
	char **names; /* names of the image's kernels */
	uint32_t name_count;
	bool names_left_out; /* there are more */
	uint64_t native; /* the application's program, as it is; 0: built here, or linked of several
			  */
	pthread_mutex_t variables_lock;   /* held for a round trip: each name is requested once */
	struct usm_allocation *variables; /* that were requested; the image's */
};

struct bundle {
	struct object object;
	sycl_bundle_state state;
	struct context *context;
	struct device **devices; /* held */
	uint32_t device_count;
	struct bundle_source **sources; /* sources of an input */
	uint32_t source_count;
	struct bundle_image **images; /* held; of the others */
	uint32_t image_count;
	char *log;            /* logs of all images; NULL: none */
	const char **kernels; /* names, the images', without repetition */
	uint32_t kernel_count;
};

struct kernel_argument {
	uint32_t kind; /* Sycl__V1__ArgumentKind */
	uint32_t size_bytes;
	uint32_t address; /* sycl_address_space */
	bool is_const;
	char *type_name, *name; /* NULL: not known */
};

/* A kernel for one device. The kernel that the caller has holds those for the bundle's other
 * devices. */
struct kernel {
	struct object object;
	struct remote remote;
	struct bundle *bundle;      /* held; NULL in one that another kernel holds */
	struct bundle_image *image; /* held */
	struct kernel **others;
	uint32_t other_count;
	char *name;
	struct kernel_argument *arguments;
	uint32_t argument_count;
	uint64_t max_work_group_size, preferred_multiple, private_mem_bytes, local_mem_bytes;
	uint64_t required_work_group_size[3]; /* 0: none */
	uint64_t max_global_size[3];          /* of a built-in kernel; 0: unknown */
	uint64_t max_local_mem_bytes;
	uint32_t registers, sub_group_size, is_native;
	uint32_t shape;   /* where the last known one that it was sent with stands (shapes.h), 0:
			     none; under the submit lock */
	bool has_presets; /* the application's own: arguments that are not given are as they have
			     been set */
};

DEFINE_PIN(bundle, sycl_kernel_bundle, HANDLE_BUNDLE)
DEFINE_PIN(kernel, sycl_kernel, HANDLE_KERNEL)

/* kernel.c: the kernel as that device runs it; NULL: its bundle has it not for that device. */
struct kernel *kernel_on(struct kernel *kernel, const struct device *device);

#endif
