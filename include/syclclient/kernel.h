/* SPDX-License-Identifier: Apache-2.0 */
/** @file kernel.h Kernels and kernel bundles from sources and binaries. The rules for all functions are at the top of result.h. */
#ifndef SYCLCLIENT_KERNEL_H
#define SYCLCLIENT_KERNEL_H

#include "queue.h"

SYCL_BEGIN_DECLS

/** What a source is written in. */
typedef enum sycl_source_language {
	SYCL_SOURCE_OPENCL_C = 1, /**< for devices of the OpenCL backend */
	SYCL_SOURCE_PORTABLE = 2, /**< C with the words below: the same source for every backend */
	SYCL_SOURCE_BUILTIN = 3,  /**< the device's built-in kernels, names separated by semicolons */
	SYCL_SOURCE_PTX = 4,      /**< for devices of the CUDA backend */
	SYCL_SOURCE_CUBIN = 5,    /**< a cubin or a fatbin: bytes, for devices of the CUDA backend */
	SYCL_SOURCE_CUDA_CPP = 6, /**< for devices of the CUDA backend, compiled by NVRTC */
	SYCL_SOURCE_SPIRV = 7     /**< a module: bytes, for devices of the OpenCL backend that take it */
} sycl_source_language;

/*
 * The words of a portable source, in short; share/doc/sycld/portable-kernels.md has them all, with types and
 * mathematics:
 *
 *	SYCL_KERNEL void name(...)                    a kernel
 *	SYCL_GLOBAL(type)                             a pointer, an accessor's argument
 *	SYCL_GLOBAL(const type), SYCL_CONSTANT(type)  the same, read only
 *	SYCL_LOCAL(type)                              a pointer, sycl_handler_set_local's argument
 *	SYCL_LOCAL_ARRAY(type, name, count);          memory of the work-group, in the kernel
 *	any other type                                sycl_handler_set_value's argument
 *	sycl_global_id(d), sycl_global_range(d)       ulong, in SYCL's order of dimensions
 *	sycl_local_id(d), sycl_group_id(d), ...       the same of the work-group
 *	sycl_group_barrier()                          for all work-items of a group
 *	SYCL_GROUP_SCRATCH; sycl_group_reduce_add(x)  what a work-group computes together
 *	sycl_sub_group_shuffle(x, i), ...             a sub-group, where the device has such
 *	sycl_atomic_add(pointer, value), ...          on int, uint, long, ulong, float, double
 *	float4, sycl_float4(a, b, c, d), ...          vectors
 *	sycl_sqrt(x), sycl_min(a, b), ...             mathematics
 *	SYCL_REQUIRES_FP16;                           what the source needs of a device
 */

/*
 * Native kernels, from CUDA C++, PTX or a binary, compute their ids themselves, from CUDA's registers. For them:
 *
 * - Dimensions are reversed: SYCL's last one is x. sycl_handler_parallel_for_nd is CUDA's launch with blocks of `local`
 *   threads; sycl_handler_parallel_for chooses blocks that divide the range, so no thread is beyond it. There is no offset.
 * - Argument `index` is the parameter of that number: an accessor for a pointer to global memory, a value for anything
 *   else, of the parameter's size. Of a 64-bit parameter that may be a pointer nobody knows more: it takes either.
 * - Local memory is also a 64-bit parameter, set by sycl_handler_set_local. In PTX it gets the address (of shared
 *   memory where it says .ptr .shared, else a generic one). In CUDA C++ declare it as unsigned long and use the
 *   kernel's `extern __shared__` array, in which these arguments lie, one behind the other in multiples of 16 bytes.
 * - A kernel's name is as the source has it, "space::scale"; the symbol does as well. Instances of templates are
 *   asked for by the option '--sycl-kernel=scale<float>', and "scale<float>" is the name.
 * - Options for CUDA C++ are NVRTC's, separated by blanks, with quotes as in a shell. Without one for the
 *   architecture the device's own is compiled for. Kernels that launch kernels are refused.
 */

/**
 * Build a source for the queue's device and context. Blocks for a round trip and the compiler's time.
 *
 * Each program in PTX or CUDA C++ has variables of its own.
 *
 * @param source           Text, ended by 0; read during the call.
 * @param options          The compiler's, e.g. "-DN=4"; NULL: none. PTX takes none.
 * @param[out] bundle_out  The caller's: sycl_kernel_bundle_release.
 * @retval SYCL_ERROR_BUILD                  It does not compile, or took too long: the compiler's words are in
 *                                           sycl_get_build_log.
 * @retval SYCL_ERROR_KERNEL_NOT_SUPPORTED   It needs what the device has not, such as half precision.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no compiler, or not for this language; on CUDA: NVRTC is not
 *                                           installed where the service runs.
 * @retval SYCL_ERROR_INVALID                No such language; source is NULL; options for PTX.
 * @retval SYCL_ERROR_QUOTA                  The source is too long, or too many builds run at once.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_from_source(sycl_queue queue, sycl_source_language language, const char *source,
						    const char *options, sycl_kernel_bundle *bundle_out);
/**
 * A bundle from what a compiler made before: a cubin or a fatbin, for devices of the CUDA backend, or a SPIR-V module,
 * which is known by its first word, for those of the OpenCL backend that take it. Blocks for a round trip, and for
 * SPIR-V for the compiler's time.
 *
 * @param bytes            Read during the call.
 * @param[out] bundle_out  The caller's: sycl_kernel_bundle_release.
 * @retval SYCL_ERROR_BUILD                  Neither of the two, cut off, or nothing in it runs on the device.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device takes no binaries.
 * @retval SYCL_ERROR_INVALID                bytes is NULL, or there are none.
 * @retval SYCL_ERROR_QUOTA                  More bytes than a source may have, or too many builds run at once.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_from_binary(sycl_queue queue, const void *bytes, uint64_t size_bytes,
						    sycl_kernel_bundle *bundle_out);
/** What has been done to a bundle. Each state is another bundle: none changes. */
typedef enum sycl_bundle_state {
	SYCL_BUNDLE_INPUT = 0,     /**< sources, not compiled */
	SYCL_BUNDLE_OBJECT = 1,    /**< compiled, not linked: what one source lacks another may have */
	SYCL_BUNDLE_EXECUTABLE = 2 /**< has kernels */
} sycl_bundle_state;

/**
 * A source for several devices of a context, to be built or compiled with one call. The service hears nothing of it so
 * far. Never blocks.
 *
 * @param device_count     0: all devices of the context.
 * @param devices          Of the context, each once; NULL with a count of 0.
 * @param source           Copied. A text, ended by 0, or the bytes of SYCL_SOURCE_CUBIN and SYCL_SOURCE_SPIRV.
 * @param size_bytes       Of those two; 0 for a text.
 * @param[out] bundle_out  The caller's: sycl_kernel_bundle_release.
 * @retval SYCL_ERROR_INVALID  No such language or device; source is NULL; a wrong size_bytes.
 * @retval SYCL_ERROR_QUOTA    The source is too long.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_create_input(sycl_context context, uint32_t device_count,
						     const sycl_device *devices, sycl_source_language language,
						     const void *source, uint64_t size_bytes,
						     sycl_kernel_bundle *bundle_out);
/**
 * From input to object, for each device of the bundle. Blocks for a round trip and the compiler's time for each.
 * Options and errors as sycl_kernel_bundle_from_source, and SYCL_ERROR_FEATURE_NOT_SUPPORTED where a device cannot
 * link.
 *
 * Objects of a session may have 256 MiB together (SYCL_ERROR_QUOTA).
 *
 * @param[out] bundle_out      The caller's, another bundle than the first.
 * @retval SYCL_ERROR_INVALID  It is not in the input state, or has built-in kernels or a binary in it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_compile(sycl_kernel_bundle bundle, const char *options,
						sycl_kernel_bundle *bundle_out);
/**
 * Objects become an executable, for each device that all of them have. Blocks as sycl_kernel_bundle_compile.
 *
 * A function of another source is declared as in C. On CUDA objects are portable ones, or CUDA C++ and PTX, not both,
 * and the driver links them when they are loaded. A function and a kernel may be in one object only.
 *
 * @param count     1 to 64.
 * @param objects   Bundles of one context in the object state.
 * @param options   The linker's; NULL: none. CUDA takes none.
 * @param[out] bundle_out      The caller's.
 * @retval SYCL_ERROR_BUILD    Something is missing or there twice: sycl_get_build_log or the sentence says what. Where the
 *                             driver does not say (PoCL), it is what the sources let suppose.
 * @retval SYCL_ERROR_INVALID  A bundle in another state or of another context; no device that all of them have.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_link(uint32_t count, const sycl_kernel_bundle *objects, const char *options,
					     sycl_kernel_bundle *bundle_out);
/** From input to executable, for each device of the bundle. As sycl_kernel_bundle_compile. @since 0.1 */
SYCL_API sycl_result sycl_kernel_bundle_build(sycl_kernel_bundle bundle, const char *options,
					      sycl_kernel_bundle *bundle_out);
/**
 * All that several bundles have, in one. They are in one state and of one context. Executables keep their own
 * variables; a kernel of a name that two of them have for a device cannot be made. Inputs: for the devices that all of
 * them have. Never blocks.
 *
 * @param count                1 to 64.
 * @param[out] bundle_out      The caller's.
 * @retval SYCL_ERROR_INVALID  Different states or contexts.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_join(uint32_t count, const sycl_kernel_bundle *bundles,
					     sycl_kernel_bundle *bundle_out);
/** What has been done to a bundle so far. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_bundle_get_state(sycl_kernel_bundle bundle, sycl_bundle_state *state_out);
/** The context of a bundle; the caller's to release: sycl_context_release. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_bundle_get_context(sycl_kernel_bundle bundle, sycl_context *context_out);
/**
 * The devices that a bundle is for. Never blocks.
 *
 * @param devices_out  Room for `capacity`, may be NULL with 0; each with a reference: sycl_device_release.
 * @param count_out    How many there are; NULL: not asked.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_devices(sycl_kernel_bundle bundle, uint32_t capacity,
						    sycl_device *devices_out, uint32_t *count_out);
/**
 * Has a bundle a kernel of that name, as sycl_kernel_bundle_get_kernel_name writes it? Never blocks.
 *
 * @param device               One of the bundle's; NULL: any.
 * @param[out] has_out         0 or 1.
 * @retval SYCL_ERROR_INVALID  Not in the executable state; the name is NULL.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_has_kernel(sycl_kernel_bundle bundle, const char *name, sycl_device device,
						   int *has_out);
/**
 * How many names a bundle's kernels have, up to 1,024 of each image. Errors as sycl_kernel_bundle_has_kernel. Never
 * blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_kernel_count(sycl_kernel_bundle bundle, uint32_t *count_out);
/**
 * One of the names that sycl_kernel_bundle_get_kernel_count counts, which are the kernels' ids. Never blocks.
 *
 * @param[out] name_out        The library's, good while the bundle lives.
 * @retval SYCL_ERROR_INVALID  No such index; not in the executable state.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_kernel_name(sycl_kernel_bundle bundle, uint32_t index,
							const char **name_out);

/** One more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_bundle_retain(sycl_kernel_bundle bundle);
/** End one reference; its kernels keep what they need. Never waits for a device. @since 0.1 */
SYCL_API sycl_result sycl_kernel_bundle_release(sycl_kernel_bundle bundle);
/** The caller's references now, for tests. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_bundle_get_reference_count(sycl_kernel_bundle bundle, uint32_t *count_out);

/**
 * The compiler's words about a bundle that was built, e.g. warnings. Never blocks.
 *
 * @param[out] log_out  The library's, good while the bundle lives; "" if there are none.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_log(sycl_kernel_bundle bundle, const char **log_out);

/**
 * The compiler's words of the calling thread's last failed build; "" if the last one did not fail. Never blocks.
 *
 * @return The library's, good until this thread builds again or ends.
 * @since 0.1
 */
SYCL_API const char *sycl_get_build_log(void);

/**
 * One kernel of a bundle, for every device that the bundle has it for: a queue takes the one of its device. A round
 * trip for each: what the service knows of its arguments is checked at each submission from then on.
 *
 * @param name             1 to 255 bytes; copied.
 * @param[out] kernel_out  The caller's to release; it keeps the bundle alive.
 * @retval SYCL_ERROR_INVALID  No name; the bundle is not in the executable state, or has two of that name for a device.
 * @retval SYCL_ERROR_KERNEL   The bundle has no kernel of that name.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_create(sycl_kernel_bundle bundle, const char *name, sycl_kernel *kernel_out);
/**
 * A portable source and one kernel of it: sycl_kernel_bundle_from_source and sycl_kernel_create in one, with their
 * errors and their blocking.
 *
 * @param[out] kernel_out  The caller's to release.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_from_source(sycl_queue queue, const char *source, const char *name,
					     sycl_kernel *kernel_out);
/** One more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_retain(sycl_kernel kernel);
/** End one reference; running work keeps what it needs. Never waits for a device. @since 0.1 */
SYCL_API sycl_result sycl_kernel_release(sycl_kernel kernel);
/** The caller's references now, for tests. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_get_reference_count(sycl_kernel kernel, uint32_t *count_out);

/** What can be asked of a kernel; the type of the answer behind each. */
typedef enum sycl_kernel_info {
	SYCL_KERNEL_INFO_NAME = 1,                /**< char[] */
	SYCL_KERNEL_INFO_NUM_ARGS = 2,            /**< uint32_t */
	SYCL_KERNEL_INFO_WORK_GROUP_SIZE = 3,     /**< uint64_t, the largest for this kernel on its device */
	SYCL_KERNEL_INFO_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 4, /**< uint64_t */
	SYCL_KERNEL_INFO_PRIVATE_MEM_BYTES = 5,   /**< uint64_t */
	SYCL_KERNEL_INFO_LOCAL_MEM_BYTES = 6,     /**< uint64_t */
	SYCL_KERNEL_INFO_COMPILE_WORK_GROUP_SIZE = 7, /**< uint64_t[3], SYCL's order; 0: none */
	SYCL_KERNEL_INFO_MAX_LOCAL_MEM_BYTES = 8, /**< uint64_t, that a launch may ask for beside the kernel's own */
	SYCL_KERNEL_INFO_REGISTERS = 9,           /**< uint32_t, of a work-item; 0: not known */
	SYCL_KERNEL_INFO_MAX_SUB_GROUP_SIZE = 10, /**< uint32_t; 0: not known */
	SYCL_KERNEL_INFO_IS_NATIVE = 11,          /**< uint32_t, 1: it computes its ids itself: "Native kernels" */
	SYCL_KERNEL_INFO_MAX_NUM_SUB_GROUPS = 12, /**< uint32_t, of a work-group; 0: not known */
	SYCL_KERNEL_INFO_COMPILE_NUM_SUB_GROUPS = 13, /**< uint32_t, that its source asks for; 0: none */
	SYCL_KERNEL_INFO_COMPILE_SUB_GROUP_SIZE = 14, /**< uint32_t, that its source asks for; 0: none */
	SYCL_KERNEL_INFO_ATTRIBUTES = 15, /**< char[]: "reqd_work_group_size(1,2,4)", SYCL's order; "": no such attribute */
	SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE = 16 /**< uint64_t[3], the largest range, SYCL's order: of a built-in kernel, or on a custom device, only */
} sycl_kernel_info;

/**
 * Ask a kernel something. Never blocks: all answers came with sycl_kernel_create. Parameters and errors as
 * sycl_device_get_info. Of a kernel for several devices it is the first one's answer.
 *
 * @retval SYCL_ERROR_INVALID  Also: SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE of a kernel that is not built in, on a device that
 *                             is not a custom one, or where the driver does not tell.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_info(sycl_kernel kernel, sycl_kernel_info info, size_t bytes, void *value,
					  size_t *bytes_out);

/**
 * As sycl_kernel_get_info, of one device that the kernel was built for. Never blocks.
 *
 * @retval SYCL_ERROR_INVALID  Also: it was not built for that device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_device_info(sycl_kernel kernel, sycl_device device, sycl_kernel_info info,
						 size_t bytes, void *value, size_t *bytes_out);
/** The bundle of a kernel; the caller's to release: sycl_kernel_bundle_release. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_get_bundle(sycl_kernel kernel, sycl_kernel_bundle *bundle_out);

/** What an argument is. */
typedef enum sycl_argument_kind {
	SYCL_ARGUMENT_UNKNOWN = 0, /**< the compiler kept nothing: anything goes */
	SYCL_ARGUMENT_VALUE = 1,
	SYCL_ARGUMENT_GLOBAL = 2, /**< a pointer to global or constant memory */
	SYCL_ARGUMENT_LOCAL = 3,
	SYCL_ARGUMENT_IMAGE = 4,
	SYCL_ARGUMENT_SAMPLER = 5
} sycl_argument_kind;

/** Where it lies, or what it points to. */
typedef enum sycl_address_space {
	SYCL_ADDRESS_UNKNOWN = 0,
	SYCL_ADDRESS_PRIVATE = 1, /**< no pointer */
	SYCL_ADDRESS_GLOBAL = 2,
	SYCL_ADDRESS_CONSTANT = 3, /**< OpenCL's; on CUDA it is global memory */
	SYCL_ADDRESS_LOCAL = 4
} sycl_address_space;

/** What can be asked of an argument; the type of the answer behind each. What a compiler keeps differs. */
typedef enum sycl_argument_info {
	SYCL_ARGUMENT_INFO_KIND = 1,          /**< uint32_t, enum sycl_argument_kind */
	SYCL_ARGUMENT_INFO_SIZE_BYTES = 2,    /**< uint32_t, of a value; 0: not known */
	SYCL_ARGUMENT_INFO_TYPE_NAME = 3,     /**< char[]; "": not known */
	SYCL_ARGUMENT_INFO_NAME = 4,          /**< char[]; "": not known */
	SYCL_ARGUMENT_INFO_ADDRESS_SPACE = 5, /**< uint32_t, enum sycl_address_space */
	SYCL_ARGUMENT_INFO_IS_CONST = 6       /**< uint32_t, 1: what it points to is only read */
} sycl_argument_info;

/**
 * Ask something of one argument. Never blocks. Parameters and errors as sycl_device_get_info, and SYCL_ERROR_INVALID
 * where there is no such argument.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_argument_info(sycl_kernel kernel, uint32_t index, sycl_argument_info info,
						   size_t bytes, void *value, size_t *bytes_out);

/**
 * How a work-group of this size is divided. Never blocks.
 *
 * @param[out] size_out   Work-items of its largest sub-group.
 * @param[out] count_out  Sub-groups.
 * @retval SYCL_ERROR_ND_RANGE               No such range, or larger than the kernel takes.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no sub-groups, or does not tell.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_sub_groups(sycl_kernel kernel, sycl_range local, uint32_t *size_out,
						uint32_t *count_out);

/**
 * Find a variable of the bundle's program by its name: where it lies on the device, and how large it is. The first
 * question about a name blocks for a round trip, later ones never do.
 *
 * The pointer is device USM of the bundle's context (usm.h): sycl_handler_memcpy and the fills read and write the variable as
 * commands in order, nodes of graphs and kernels may have it as well. Nothing is ordered by it, neither these commands among
 * each other nor the bundle's kernels, which use it without saying so: events or an in-order queue do that. What is written to a
 * `__constant__` variable is for kernels that begin later. There is one variable for each bundle and device; kernels of the bundle
 * see it, also when they were made before. It goes with the bundle's last reference, its kernels' included: never give it to sycl_free.
 *
 * Only CUDA C++, PTX and binaries for devices of the CUDA backend have such variables: `__device__`, `__constant__` and `__managed__`
 * ones, by the symbol's name, which in a namespace is the mangled one. The portable form and OpenCL have none: OpenCL C has
 * variables of its programs, but no call that finds one.
 *
 * @param device               Of the bundle; NULL: its only one.
 * @param name                 1 to 255 bytes; read during the call.
 * @param[out] size_bytes_out  NULL: not asked for.
 * @retval SYCL_ERROR_INVALID                No such variable; the bundle is not executable, or not for the device.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  Not on this device: no variable can be found by its name.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION      Also, rarely: this program uses the address for something else; the same source built
 *                                           once more has its variables elsewhere.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_variable(sycl_kernel_bundle bundle, sycl_device device, const char *name,
						     void **pointer_out, uint64_t *size_bytes_out);

/** As sycl_device_get_backend_info: always an error. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_get_backend_info(sycl_kernel kernel, uint32_t info, size_t bytes, void *value,
						  size_t *bytes_out);

/** How much of a device a kernel can have at one time. */
typedef struct sycl_occupancy {
	uint32_t struct_bytes;            /**< sizeof(struct sycl_occupancy), so it can grow */
	uint32_t groups_per_compute_unit; /**< resident at one time */
	uint32_t max_cooperative_groups;  /**< of one cooperative launch; 0: none */
	uint32_t max_cluster_groups;      /**< work-groups of one cluster; 0: none */
	uint32_t suggested_group_size;    /**< work-items of a work-group that fills the device best */
	uint32_t reserved;                /**< 0 */
} sycl_occupancy;
#define SYCL_OCCUPANCY_INIT { sizeof(sycl_occupancy), 0, 0, 0, 0, 0 }

/**
 * Ask how work-groups of a size would lie on the device. Blocks for a round trip.
 *
 * @param local                  Of a work-group; dimensions 0: only suggested_group_size is asked for.
 * @param local_mem_bytes        What its arguments of local memory have together.
 * @param[in,out] occupancy_out  Start from SYCL_OCCUPANCY_INIT.
 * @retval SYCL_ERROR_ND_RANGE               No such range, or larger than the kernel takes.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION      More local memory than the kernel can have.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device does not tell.
 * @retval SYCL_ERROR_INVALID                struct_bytes is not right.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_occupancy(sycl_kernel kernel, sycl_range local, uint64_t local_mem_bytes,
					       sycl_occupancy *occupancy_out);

SYCL_END_DECLS
#endif
