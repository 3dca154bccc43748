/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file kernel.h Kernels and kernel bundles, from sources and binaries. The rules for all
 * functions are at the top of result.h.
 */
#ifndef SYCLCLIENT_KERNEL_H
#define SYCLCLIENT_KERNEL_H

#include "queue.h"

SYCL_BEGIN_DECLS

/** Languages and forms of sources. */
typedef enum sycl_source_language {
	SYCL_SOURCE_OPENCL_C = 1, /**< for CUDA devices, where clang is installed, too */
	SYCL_SOURCE_PORTABLE = 2, /**< C with the words below; one source for every backend */
	/** the device's built-in kernels: names, separated by semicolons */
	SYCL_SOURCE_BUILTIN = 3,
	SYCL_SOURCE_PTX = 4,      /**< for devices of the CUDA backend */
	SYCL_SOURCE_CUBIN = 5,    /**< a cubin or a fatbin: bytes, for the CUDA backend */
	SYCL_SOURCE_CUDA_CPP = 6, /**< for devices of the CUDA backend, compiled by NVRTC */
	SYCL_SOURCE_SPIRV = 7     /**< a module: bytes, for devices that take it */
} sycl_source_language;

/*
 * The words of a portable source, in short. sycld-portable-kernels(7) has all of them, with types
 * and mathematics:
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
 * Native kernels, from CUDA C++, PTX or a binary, compute their ids themselves, from CUDA's
 * registers:
 *
 * - Dimensions are reversed: SYCL's last one is x. sycl_handler_parallel_for_nd is CUDA's launch
 *   with blocks of `local` threads. sycl_handler_parallel_for chooses blocks that divide the range,
 *   so no thread is beyond it. There is no offset.
 * - Argument `index` is the parameter of that number. An accessor is for a pointer to global
 *   memory, a value for anything else, with the parameter's size. A 64-bit parameter that may be a
 *   pointer takes either, as its type is not known.
 * - Local memory is also a 64-bit parameter, set by sycl_handler_set_local. In PTX it gets the
 *   address: of shared memory if the parameter has .ptr .shared, otherwise a generic one. In CUDA
 *   C++ declare it as unsigned long, and use the kernel's `extern __shared__` array. These
 *   arguments lie in it one after the other, in multiples of 16 bytes.
 * - A kernel's name is that of the source, "space::scale", or the symbol. The option
 *   '--sycl-kernel=scale<float>' requests an instance of a template; "scale<float>" is then its
 *   name.
 * - Options for CUDA C++ are those of NVRTC, separated by blanks, with quotes as in a shell.
 *   Without an option for the architecture, the compiler uses the device's own. Kernels that launch
 *   kernels are refused.
 */

/**
 * Build a source for the queue's device and context. Blocks for a round trip and the compiler's
 * time.
 *
 * Each program in PTX or CUDA C++ has variables of its own.
 *
 * @param queue            Its device and context.
 * @param language         What `source` is.
 * @param source           Text, ended by 0; read during the call.
 * @param options          The compiler's, such as "-DN=4"; NULL: none. PTX takes none.
 * @param[out] bundle_out  The caller releases it with sycl_kernel_bundle_release.
 * @retval SYCL_ERROR_BUILD                  It does not compile, or the compiler took too long. The
 *                                           compiler's messages are in sycl_get_build_log.
 * @retval SYCL_ERROR_KERNEL_NOT_SUPPORTED   It needs a feature that the device lacks, such as half
 *                                           precision.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no compiler, or none for this language.
 *                                           On CUDA: NVRTC is not installed where the service runs.
 * @retval SYCL_ERROR_INVALID                No such language; source is NULL; options for PTX.
 * @retval SYCL_ERROR_QUOTA                  The source is too long, or too many builds run at once.
 * @since 0.1
 *
 * @example
 *	sycl_kernel_bundle bundle = NULL;
 *	result = sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, source, NULL, &bundle);
 *	if (result == SYCL_ERROR_BUILD)
 *		fprintf(stderr, "%s\n", sycl_get_build_log());
 */
SYCL_API sycl_result sycl_kernel_bundle_from_source(sycl_queue queue, sycl_source_language language,
						    const char *source, const char *options,
						    sycl_kernel_bundle *bundle_out);
/**
 * Make a bundle from a binary: a cubin or a fatbin for devices of the CUDA backend, or a SPIR-V
 * module for OpenCL devices that take it. The first word of a SPIR-V module identifies it. Blocks
 * for a round trip, and with SPIR-V for the compiler's time.
 *
 * @param queue            Its device and context.
 * @param bytes            The binary; read during the call.
 * @param size_bytes       Its size.
 * @param[out] bundle_out  The caller releases it with sycl_kernel_bundle_release.
 * @retval SYCL_ERROR_BUILD                  No such binary, an incomplete one, or one that has
 *                                           nothing for the device.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device takes no binaries.
 * @retval SYCL_ERROR_INVALID                bytes is NULL, or there are none.
 * @retval SYCL_ERROR_QUOTA                  More bytes than a source may have, or too many builds
 *                                           run at once.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_from_binary(sycl_queue queue, const void *bytes,
						    uint64_t size_bytes,
						    sycl_kernel_bundle *bundle_out);
/** States of bundles. A bundle never changes its state; each step makes another bundle. */
typedef enum sycl_bundle_state {
	SYCL_BUNDLE_INPUT = 0,     /**< sources, not compiled */
	SYCL_BUNDLE_OBJECT = 1,    /**< compiled, not linked */
	SYCL_BUNDLE_EXECUTABLE = 2 /**< has kernels */
} sycl_bundle_state;

/**
 * Make a bundle from a source for several devices of a context, to be built or compiled with one
 * call. The library sends nothing to the service yet. Never blocks.
 *
 * @param context          The context.
 * @param device_count     0: all devices of the context.
 * @param devices          Devices of the context, each once. NULL with a count of 0.
 * @param language         What `source` is.
 * @param source           Copied. A text, ended by 0, or the bytes of SYCL_SOURCE_CUBIN and
 *                         SYCL_SOURCE_SPIRV.
 * @param size_bytes       The size of those two; 0 for a text.
 * @param[out] bundle_out  The caller releases it with sycl_kernel_bundle_release.
 * @retval SYCL_ERROR_INVALID  No such language or device; source is NULL; a wrong size_bytes.
 * @retval SYCL_ERROR_QUOTA    The source is too long.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_create_input(sycl_context context, uint32_t device_count,
						     const sycl_device *devices,
						     sycl_source_language language,
						     const void *source, uint64_t size_bytes,
						     sycl_kernel_bundle *bundle_out);
/**
 * Compile a bundle: from input to object, for each of its devices. Blocks for a round trip and the
 * compiler's time for each. Otherwise as sycl_kernel_bundle_from_source. It also has
 * SYCL_ERROR_FEATURE_NOT_SUPPORTED if a device cannot link.
 *
 * Objects of a session may have 256 MiB together (SYCL_ERROR_QUOTA).
 *
 * @param bundle           In the input state.
 * @param[out] bundle_out  Another bundle, which the caller releases.
 * @retval SYCL_ERROR_INVALID  It is not in the input state, or contains built-in kernels or a
 *                             binary.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_compile(sycl_kernel_bundle bundle, const char *options,
						sycl_kernel_bundle *bundle_out);
/**
 * Link objects to an executable, for each device that all of them have. Blocks as
 * sycl_kernel_bundle_compile.
 *
 * A source declares a function of another source as in C. On CUDA the objects are portable ones, or
 * CUDA C++ and PTX, not both. The driver links them when it loads them. Each function and each
 * kernel may be in one object only.
 *
 * @param count            1 to 1,024.
 * @param objects          Bundles of one context in the object state.
 * @param options          The linker's; NULL: none. CUDA takes none.
 * @param[out] bundle_out  The caller releases it.
 * @retval SYCL_ERROR_BUILD    A name is missing or defined twice: see sycl_get_build_log or the
 *                             sentence. If the driver gives no reason (PoCL), the message is
 *                             derived from the sources.
 * @retval SYCL_ERROR_INVALID  A bundle in another state or of another context; no device that all
 *                             of them have.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_link(uint32_t count, const sycl_kernel_bundle *objects,
					     const char *options, sycl_kernel_bundle *bundle_out);
/**
 * Build a bundle: from input to executable, for each of its devices. As sycl_kernel_bundle_compile.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_build(sycl_kernel_bundle bundle, const char *options,
					      sycl_kernel_bundle *bundle_out);
/**
 * Join several bundles of one state and one context to one. Executables keep their own variables.
 * If two of them have a kernel of one name for a device, sycl_kernel_create refuses that name.
 * Inputs are joined for the devices that all of them have. Never blocks.
 *
 * @param count            1 to 1,024.
 * @param bundles          The bundles; they stay as they are.
 * @param[out] bundle_out  The caller releases it.
 * @retval SYCL_ERROR_INVALID  Different states or contexts.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_join(uint32_t count, const sycl_kernel_bundle *bundles,
					     sycl_kernel_bundle *bundle_out);
/**
 * Get the state of a bundle. Never blocks.
 *
 * @param[out] state_out  The state.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_state(sycl_kernel_bundle bundle,
						  sycl_bundle_state *state_out);
/**
 * Get the context of a bundle. Never blocks.
 *
 * @param[out] context_out  The caller releases it with sycl_context_release.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_context(sycl_kernel_bundle bundle,
						    sycl_context *context_out);
/**
 * List the devices of a bundle. Never blocks.
 *
 * @param capacity     Room in devices_out; 0: only count.
 * @param devices_out  Up to `capacity` handles, each to be released by the caller. NULL if capacity
 *                     is 0.
 * @param count_out    How many there are; may be NULL.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_devices(sycl_kernel_bundle bundle, uint32_t capacity,
						    sycl_device *devices_out, uint32_t *count_out);
/**
 * Query whether a bundle has a kernel of a name, as sycl_kernel_bundle_get_kernel_name returns it.
 * Never blocks.
 *
 * @param name          The name.
 * @param device        One of the bundle's; NULL: any.
 * @param[out] has_out  0 or 1.
 * @retval SYCL_ERROR_INVALID  Not in the executable state; the name is NULL.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_has_kernel(sycl_kernel_bundle bundle, const char *name,
						   sycl_device device, int *has_out);
/**
 * Get the number of names of a bundle's kernels, up to 1,024 of each image. Errors as
 * sycl_kernel_bundle_has_kernel. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_kernel_count(sycl_kernel_bundle bundle,
							 uint32_t *count_out);
/**
 * Get one of the names that sycl_kernel_bundle_get_kernel_count counts. A name is the id of a
 * kernel. Never blocks.
 *
 * @param index          0 to the count - 1.
 * @param[out] name_out  Belongs to the library; valid while the bundle lives.
 * @retval SYCL_ERROR_INVALID  No such index; not in the executable state.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_kernel_name(sycl_kernel_bundle bundle, uint32_t index,
							const char **name_out);

/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_bundle_retain(sycl_kernel_bundle bundle);
/**
 * Release one reference. Its kernels keep what they need. Never waits for a device.
 * @since 0.1
 *
 * @example
 *	sycl_kernel_bundle bundle = NULL;
 *	sycl_kernel made = NULL;
 *	result = sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, source, NULL, &bundle);
 *	if (result == SYCL_SUCCESS) {
 *		result = sycl_kernel_create(bundle, "twice", &made);
 *		(void)sycl_kernel_bundle_release(bundle); // the kernel keeps what it needs
 *	}
 */
SYCL_API sycl_result sycl_kernel_bundle_release(sycl_kernel_bundle bundle);
/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_reference_count(sycl_kernel_bundle bundle,
							    uint32_t *count_out);

/**
 * Get the compiler's messages about a bundle that was built, such as warnings, also if the service
 * had the program in its cache. Never blocks.
 *
 * @param[out] log_out  Belongs to the library; valid while the bundle lives. "" if there are none.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_log(sycl_kernel_bundle bundle, const char **log_out);

/**
 * Get the compiler's messages of the calling thread's last build: its errors, or the warnings of a
 * build that succeeded, also if the service had the program in its cache. Never blocks.
 *
 * @return A text of the library, valid until this thread builds again or ends; "" if there are
 *         none. A text does not mean that the build failed: its result says so.
 * @since 0.1
 */
SYCL_API const char *sycl_get_build_log(void);

/**
 * Make a kernel from a bundle, for every device for which the bundle has it. A queue uses the
 * kernel of its device. A round trip for each device. From then on each submission checks the
 * arguments against the service's description of the kernel.
 *
 * @param bundle           In the executable state.
 * @param name             1 to 2,048 bytes; copied.
 * @param[out] kernel_out  The caller releases it with sycl_kernel_release. It keeps the bundle
 *                         alive.
 * @retval SYCL_ERROR_INVALID  No name; the bundle is not in the executable state, or has two
 *                             kernels of that name for a device.
 * @retval SYCL_ERROR_KERNEL   The bundle has no kernel of that name. The sentence lists the kernels
 *                             that it has, similar names first.
 * @since 0.1
 *
 * @example
 *	sycl_kernel_bundle bundle = NULL;
 *	sycl_kernel first = NULL, second = NULL;
 *	result = sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, source, NULL, &bundle);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_kernel_create(bundle, "first", &first);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_kernel_create(bundle, "second", &second);
 */
SYCL_API sycl_result sycl_kernel_create(sycl_kernel_bundle bundle, const char *name,
					sycl_kernel *kernel_out);
/**
 * Make a kernel from a portable source: sycl_kernel_bundle_from_source and sycl_kernel_create in
 * one call, with their errors and blocking. The compiler's warnings are then in
 * sycl_get_build_log, which is "" if there are none.
 *
 * @param queue            Its device and context.
 * @param source           Text, ended by 0; read during the call.
 * @param name             The kernel's name.
 * @param[out] kernel_out  The caller releases it with sycl_kernel_release.
 * @since 0.1
 *
 * @example
 *	static const char scale[] = "SYCL_KERNEL void scale(SYCL_GLOBAL(float) x, float a)"
 *				    "{ x[sycl_global_id(0)] *= a; }";
 *	sycl_kernel made = NULL;
 *	result = sycl_kernel_from_source(queue, scale, "scale", &made);
 *	fputs(sycl_get_build_log(), stderr); // errors or warnings; "" if there are none
 */
SYCL_API sycl_result sycl_kernel_from_source(sycl_queue queue, const char *source, const char *name,
					     sycl_kernel *kernel_out);
/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_retain(sycl_kernel kernel);
/**
 * Release one reference. Running work keeps what it needs. Never waits for a device.
 * @since 0.1
 *
 * @example
 *	sycl_kernel made = NULL;
 *	const sycl_range range = sycl_range1(1000);
 *	result = sycl_kernel_from_source(queue, source, "twice", &made);
 *	if (result == SYCL_SUCCESS)
 *		result = SYCL_LAUNCH(queue, made, range, NULL, SYCL_READ_WRITE(buffer));
 *	if (made)
 *		(void)sycl_kernel_release(made); // also while it runs
 */
SYCL_API sycl_result sycl_kernel_release(sycl_kernel kernel);
/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_reference_count(sycl_kernel kernel, uint32_t *count_out);

/** Queries of a kernel, each with the type of its answer. */
typedef enum sycl_kernel_info {
	SYCL_KERNEL_INFO_NAME = 1,     /**< char[] */
	SYCL_KERNEL_INFO_NUM_ARGS = 2, /**< uint32_t */
	/** uint64_t, the largest for this kernel on its device */
	SYCL_KERNEL_INFO_WORK_GROUP_SIZE = 3,
	SYCL_KERNEL_INFO_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 4, /**< uint64_t */
	SYCL_KERNEL_INFO_PRIVATE_MEM_BYTES = 5,                  /**< uint64_t */
	SYCL_KERNEL_INFO_LOCAL_MEM_BYTES = 6,                    /**< uint64_t */
	SYCL_KERNEL_INFO_COMPILE_WORK_GROUP_SIZE = 7, /**< uint64_t[3], SYCL's order; 0: none */
	/** uint64_t, for a launch, beside the kernel's own */
	SYCL_KERNEL_INFO_MAX_LOCAL_MEM_BYTES = 8,
	SYCL_KERNEL_INFO_REGISTERS = 9,           /**< uint32_t, of a work-item; 0: not known */
	SYCL_KERNEL_INFO_MAX_SUB_GROUP_SIZE = 10, /**< uint32_t; 0: not known */
	SYCL_KERNEL_INFO_IS_NATIVE = 11,          /**< uint32_t, 1: a native kernel, see above */
	SYCL_KERNEL_INFO_MAX_NUM_SUB_GROUPS = 12, /**< uint32_t, of a work-group; 0: not known */
	/** uint32_t, required by its source; 0: none */
	SYCL_KERNEL_INFO_COMPILE_NUM_SUB_GROUPS = 13,
	/** uint32_t, required by its source; 0: none */
	SYCL_KERNEL_INFO_COMPILE_SUB_GROUP_SIZE = 14,
	/** char[]: "reqd_work_group_size(1,2,4)", SYCL's order; "": no such attribute */
	SYCL_KERNEL_INFO_ATTRIBUTES = 15,
	/**
	 * uint64_t[3], the largest range, SYCL's order; only of built-in kernels and on custom
	 * devices
	 */
	SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE = 16
} sycl_kernel_info;

/**
 * Query a kernel. Never blocks: all answers came with sycl_kernel_create. For a kernel of several
 * devices it is the first device's answer. Otherwise as sycl_device_get_info.
 *
 * @retval SYCL_ERROR_INVALID  Also: SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE of a kernel that is not built
 *                             in, on a device that is not a custom one, or where the driver has no
 *                             answer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_info(sycl_kernel kernel, sycl_kernel_info info, size_t bytes,
					  void *value, size_t *bytes_out);

/**
 * Query a kernel on one of its devices. Never blocks. Otherwise as sycl_kernel_get_info.
 *
 * @param device  A device that the kernel was built for.
 * @retval SYCL_ERROR_INVALID  Also: it was not built for that device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_device_info(sycl_kernel kernel, sycl_device device,
						 sycl_kernel_info info, size_t bytes, void *value,
						 size_t *bytes_out);
/**
 * Get the bundle of a kernel. Never blocks.
 *
 * @param[out] bundle_out  The caller releases it with sycl_kernel_bundle_release.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_bundle(sycl_kernel kernel, sycl_kernel_bundle *bundle_out);

/** Kinds of arguments. */
typedef enum sycl_argument_kind {
	SYCL_ARGUMENT_UNKNOWN = 0, /**< not known: any kind is accepted */
	SYCL_ARGUMENT_VALUE = 1,
	SYCL_ARGUMENT_GLOBAL = 2, /**< a pointer to global or constant memory */
	SYCL_ARGUMENT_LOCAL = 3,
	SYCL_ARGUMENT_IMAGE = 4,
	SYCL_ARGUMENT_SAMPLER = 5
} sycl_argument_kind;

/** Where an argument lies, or what it points to. */
typedef enum sycl_address_space {
	SYCL_ADDRESS_UNKNOWN = 0,
	SYCL_ADDRESS_PRIVATE = 1, /**< no pointer */
	SYCL_ADDRESS_GLOBAL = 2,
	SYCL_ADDRESS_CONSTANT = 3, /**< OpenCL's; on CUDA it is global memory */
	SYCL_ADDRESS_LOCAL = 4
} sycl_address_space;

/** Bits of SYCL_ARGUMENT_INFO_QUALIFIERS: how a pointer is declared in OpenCL C. */
typedef enum sycl_argument_qualifier {
	SYCL_ARGUMENT_QUALIFIER_CONST = 1,
	SYCL_ARGUMENT_QUALIFIER_RESTRICT = 2,
	SYCL_ARGUMENT_QUALIFIER_VOLATILE = 4,
	SYCL_ARGUMENT_QUALIFIER_PIPE = 8
} sycl_argument_qualifier;

/** What a kernel in OpenCL C does with an image. */
typedef enum sycl_argument_access {
	SYCL_ARGUMENT_ACCESS_NONE = 0, /**< no image, or not known */
	SYCL_ARGUMENT_ACCESS_READ = 1,
	SYCL_ARGUMENT_ACCESS_WRITE = 2,
	SYCL_ARGUMENT_ACCESS_READ_WRITE = 3
} sycl_argument_access;

/** Queries of an argument, each with the type of its answer. Compilers keep different facts. */
typedef enum sycl_argument_info {
	SYCL_ARGUMENT_INFO_KIND = 1,          /**< uint32_t, enum sycl_argument_kind */
	SYCL_ARGUMENT_INFO_SIZE_BYTES = 2,    /**< uint32_t, of a value; 0: not known */
	SYCL_ARGUMENT_INFO_TYPE_NAME = 3,     /**< char[]; "": not known */
	SYCL_ARGUMENT_INFO_NAME = 4,          /**< char[]; "": not known */
	SYCL_ARGUMENT_INFO_ADDRESS_SPACE = 5, /**< uint32_t, enum sycl_address_space */
	SYCL_ARGUMENT_INFO_IS_CONST = 6,      /**< uint32_t, 1: a pointer to const */
	/** uint32_t, bits of enum sycl_argument_qualifier; 0 also if they are not known */
	SYCL_ARGUMENT_INFO_QUALIFIERS = 7,
	SYCL_ARGUMENT_INFO_ACCESS = 8 /**< uint32_t, enum sycl_argument_access */
} sycl_argument_info;

/**
 * Query one argument of a kernel. Never blocks. Otherwise as sycl_device_get_info; also
 * SYCL_ERROR_INVALID if there is no such argument.
 *
 * @param index  The argument's number, from 0.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_argument_info(sycl_kernel kernel, uint32_t index,
						   sycl_argument_info info, size_t bytes,
						   void *value, size_t *bytes_out);

/**
 * Get how a work-group of a size is divided into sub-groups. Never blocks.
 *
 * @param local           The work-group.
 * @param[out] size_out   Work-items of its largest sub-group.
 * @param[out] count_out  Sub-groups.
 * @retval SYCL_ERROR_ND_RANGE               No such range, or larger than the kernel takes.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no sub-groups, or has no answer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_sub_groups(sycl_kernel kernel, sycl_range local,
						uint32_t *size_out, uint32_t *count_out);

/**
 * Find a variable of the bundle's program by its name: its address on the device and its size. The
 * first request for a name blocks for a round trip, later ones never block.
 *
 * The pointer is device USM of the bundle's context (usm.h). sycl_handler_memcpy and the fills read
 * and write the variable as ordered commands; nodes of graphs and kernels may use it as well. The
 * pointer orders nothing: neither these commands, nor the bundle's kernels, whose use is not
 * declared. Use events or an in-order queue for that. Writes to a `__constant__` variable affect
 * kernels that begin later.
 *
 * There is one variable for each bundle and device. All kernels of the bundle use it, also those
 * that were made before. It ends with the last reference to the bundle, those of its kernels
 * included. Never pass it to sycl_free.
 *
 * Only CUDA C++, PTX and binaries for devices of the CUDA backend have such variables:
 * `__device__`, `__constant__` and `__managed__` ones. The name is the symbol's, in a namespace the
 * mangled one. The portable form has no variables, and OpenCL has no call that finds one.
 *
 * @param device               Of the bundle; NULL: its only one.
 * @param name                 1 to 255 bytes; read during the call.
 * @param[out] pointer_out     Its address on the device.
 * @param[out] size_bytes_out  Its size; may be NULL.
 * @retval SYCL_ERROR_INVALID                No such variable; the bundle is not executable, or not
 *                                           for the device.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  Variables cannot be found by name on this device.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION      Also, rarely: this program uses the address for
 *                                           something else. The same source, built again, has its
 *                                           variables elsewhere.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_variable(sycl_kernel_bundle bundle, sycl_device device,
						     const char *name, void **pointer_out,
						     uint64_t *size_bytes_out);

/** As sycl_device_get_backend_info: always an error. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_get_backend_info(sycl_kernel kernel, uint32_t info, size_t bytes,
						  void *value, size_t *bytes_out);

/** The number of work-groups of a kernel that a device can hold at the same time. */
typedef struct sycl_occupancy {
	uint32_t struct_bytes;            /**< sizeof(struct sycl_occupancy), so it can grow */
	uint32_t groups_per_compute_unit; /**< resident at one time */
	uint32_t max_cooperative_groups;  /**< of one cooperative launch; 0: none */
	uint32_t max_cluster_groups;      /**< work-groups of one cluster; 0: none */
	/** work-items of a work-group that fills the device best */
	uint32_t suggested_group_size;
	uint32_t reserved; /**< 0 */
} sycl_occupancy;
#define SYCL_OCCUPANCY_INIT                                                                        \
	{                                                                                          \
		sizeof(sycl_occupancy), 0, 0, 0, 0, 0                                              \
	}

/**
 * Get how many work-groups of a size a device can hold. Blocks for a round trip.
 *
 * @param local                  The work-group. Dimensions 0: only suggested_group_size is
 * computed.
 * @param local_mem_bytes        The kernel's arguments of local memory, together.
 * @param[in,out] occupancy_out  Start from SYCL_OCCUPANCY_INIT.
 * @retval SYCL_ERROR_ND_RANGE               No such range, or larger than the kernel takes.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION      More local memory than the kernel can have.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no answer.
 * @retval SYCL_ERROR_INVALID                struct_bytes is wrong.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_occupancy(sycl_kernel kernel, sycl_range local,
					       uint64_t local_mem_bytes,
					       sycl_occupancy *occupancy_out);

SYCL_END_DECLS
#endif
