/* Bundles and kernels. */
#ifndef SYCL_CLIENT_KERNEL_H
#define SYCL_CLIENT_KERNEL_H

#include "platform/platform.h"

/* The source of a bundle in the input state. Bundles that were joined from it share it. */
struct bundle_source {
	_Atomic uint32_t references;
	uint32_t kind; /* Sycl__V1__SourceKind */
	size_t size_bytes;
	char bytes[];
};

/* One object of the service for one device: a compiled source, or a program. It has no user
 * references. */
struct bundle_image {
	struct object object;
	struct remote remote;
	struct context *context;
	struct device *device;
	char *log;    /* NULL: none */
	char **names; /* names of the image's kernels */
	uint32_t name_count;
	bool names_left_out; /* the list of names is incomplete */
	/* The application's program as it is; 0: the program was built here, or linked of several
	 * ones. */
	uint64_t native;
	/* Held for a round trip, so that each name is requested once. */
	pthread_mutex_t variables_lock;
	struct usm_allocation *variables; /* the requested ones; the image owns them */
};

struct bundle {
	struct object object;
	sycl_bundle_state state;
	struct context *context;
	struct device **devices; /* held */
	uint32_t device_count;
	struct bundle_source **sources; /* sources of an input */
	uint32_t source_count;
	struct bundle_image **images; /* held; bundles may share images */
	uint32_t image_count;
	char *log;            /* logs of all images; NULL: none */
	const char **kernels; /* names without repetition; the images own them */
	uint32_t kernel_count;
};

struct kernel_argument {
	uint32_t kind; /* Sycl__V1__ArgumentKind */
	uint32_t size_bytes;
	uint32_t address;            /* sycl_address_space */
	uint32_t qualifiers, access; /* sycl_argument_qualifier; sycl_argument_access */
	bool is_const;
	char *type_name, *name; /* NULL: not known */
};

/* A kernel for one device. The program's kernel holds those for the bundle's other devices. */
struct kernel {
	struct object object;
	struct remote remote;
	struct bundle *bundle;      /* held; NULL if another kernel holds this one */
	struct bundle_image *image; /* held */
	struct kernel **others;
	uint32_t other_count;
	char *name;
	struct kernel_argument *arguments;
	uint32_t argument_count;
	uint64_t max_work_group_size, preferred_multiple, private_mem_bytes, local_mem_bytes;
	uint64_t required_work_group_size[3]; /* 0: none */
	uint64_t max_global_size[3];          /* for a built-in kernel; 0: unknown */
	uint64_t max_local_mem_bytes;
	uint32_t registers, sub_group_size, is_native;
	/* Number of the last known shape of a launch of this kernel (shapes.h); 0: none; under the
	 * submit lock. */
	uint32_t shape;
	/* For the application's own kernel: arguments that the group leaves out keep the
	 * application's values. */
	bool has_presets;
};

DEFINE_PIN(bundle, sycl_kernel_bundle, HANDLE_BUNDLE)
DEFINE_PIN(kernel, sycl_kernel, HANDLE_KERNEL)

/* kernel.c: returns the kernel for that device; NULL: its bundle has none. */
struct kernel *kernel_on(struct kernel *kernel, const struct device *device);

#endif
