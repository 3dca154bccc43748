/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file launch.h A kernel launch in one call. The rules for all functions are at the top of
 * result.h.
 *
 * sycl_queue_launch does what sycl_handler_begin, the sycl_handler_set_... calls,
 * sycl_handler_parallel_for or sycl_handler_parallel_for_nd and sycl_queue_submit do together. It
 * needs no handler. SYCL_LAUNCH and SYCL_LAUNCH_ND write such a call in one line, in C and in C++:
 *
 *	SYCL_LAUNCH(queue, kernel, range, NULL, SYCL_READ(x), SYCL_READ_WRITE(y), SYCL_VALUE(a));
 *
 * A program may submit the same kernel with the same queue, ranges and buffers many times, in any
 * of these ways. From the third time on, the library sends only what is new to the service: values,
 * addresses and events.
 */
#ifndef SYCLCLIENT_LAUNCH_H
#define SYCLCLIENT_LAUNCH_H

#include "handler.h"

SYCL_BEGIN_DECLS

/** Kinds of an argument. */
typedef enum sycl_launch_argument_kind {
	SYCL_LAUNCH_VALUE = 1, /**< `size_bytes` bytes at `pointer`: sycl_handler_set_value */
	/** bytes of `buffer` with `mode`: sycl_handler_set_ranged_accessor */
	SYCL_LAUNCH_ACCESSOR = 2,
	SYCL_LAUNCH_LOCAL = 3, /**< `size_bytes` of local memory: sycl_handler_set_local */
	SYCL_LAUNCH_USM = 4    /**< `pointer` itself: sycl_handler_set_usm (usm.h) */
} sycl_launch_argument_kind;

/** What a value is, as far as the checking mode compares it with the kernel's parameter. */
typedef enum sycl_value_type {
	SYCL_VALUE_UNTYPED = 0, /**< not known, or another type: not compared */
	SYCL_VALUE_INTEGER = 1, /**< an integer of any size, with or without a sign */
	SYCL_VALUE_FLOATING = 2 /**< float or double */
} sycl_value_type;

/**
 * An argument of the kernel. The library ignores members that its kind does not name. 48 bytes, no
 * padding.
 */
struct sycl_launch_argument {
	int32_t kind; /**< a sycl_launch_argument_kind */
	int32_t mode; /**< of an accessor a sycl_access_mode, of a value a sycl_value_type */
	sycl_buffer buffer;
	uint64_t offset_bytes; /**< of an accessor */
	uint64_t size_bytes; /**< of an accessor: SYCL_REST_BYTES for all from `offset_bytes` on */
	const void *pointer;
	uint64_t reserved; /**< must be 0 */
};

/** A launch of a kernel. Start from SYCL_LAUNCH_INIT. */
struct sycl_launch {
	uint32_t struct_bytes; /**< sizeof(struct sycl_launch) */
	uint32_t reserved;     /**< must be 0 */
	sycl_kernel kernel;
	sycl_range global;
	/** dimensions 0: none, as sycl_handler_parallel_for; otherwise as _nd */
	sycl_range local;
	const struct sycl_launch_argument *arguments; /**< the kernel's, in its order */
	const sycl_event *depends_on;                 /**< as sycl_handler_depends_on for each */
	uint32_t argument_count, depends_on_count;
};
#define SYCL_LAUNCH_INIT                                                                           \
	{                                                                                          \
		sizeof(struct sycl_launch), 0, 0, {0, 0, {0, 0, 0}}, {0, 0, {0, 0, 0}}, 0, 0, 0, 0 \
	}

/**
 * Launch a kernel with one call. The call reads everything before it returns, so the structure can
 * be used again. Blocks as sycl_queue_submit does: never for a device.
 *
 * @param queue           Where to submit the launch.
 * @param launch          The kernel, its ranges, its arguments and what it depends on.
 * @param[out] event_out  The caller's to release; NULL: no event is made.
 * @retval SYCL_ERROR_INVALID          Wrong struct_bytes or reserved; a list that is NULL.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT  No such kind of argument; more than a kernel has.
 * @return Otherwise as sycl_handler_begin, the sycl_handler_set_... calls and sycl_queue_submit.
 * @since 0.1
 *
 * @example
 *	const float factor = 2;
 *	result = SYCL_LAUNCH(queue, kernel, sycl_range1(1000), NULL, SYCL_READ_WRITE(buffer),
 *			     SYCL_VALUE(factor));
 */
SYCL_API sycl_result sycl_queue_launch(sycl_queue queue, const struct sycl_launch *launch,
				       sycl_event *event_out);

#ifdef __cplusplus /* which warns of C's casts */
#define SYCL_LAUNCH_CAST(type, value) static_cast<type>(value)
#else
#define SYCL_LAUNCH_CAST(type, value) ((type)(value))
#endif

/** An argument: the whole buffer, with an access mode. @since 0.1 */
static inline struct sycl_launch_argument sycl_launch_buffer(sycl_buffer buffer,
							     sycl_access_mode mode)
{
	struct sycl_launch_argument argument = {SYCL_LAUNCH_ACCESSOR, 0,    NULL, 0,
						SYCL_REST_BYTES,      NULL, 0};
	argument.mode = SYCL_LAUNCH_CAST(int32_t, mode);
	argument.buffer = buffer;
	return argument;
}

/** An argument: `size_bytes` bytes at `value`, which the launch copies. @since 0.1 */
static inline struct sycl_launch_argument sycl_launch_value(uint64_t size_bytes, const void *value)
{
	struct sycl_launch_argument argument = {SYCL_LAUNCH_VALUE, 0, NULL, 0, 0, NULL, 0};
	argument.size_bytes = size_bytes;
	argument.pointer = value;
	return argument;
}

/**
 * The same, with the value's type. In checking mode a launch with a float or double for an integer
 * parameter, or the reverse, fails with SYCL_ERROR_KERNEL_ARGUMENT, if the device's compiler has
 * kept the types of the parameters.
 * @since 0.1
 */
static inline struct sycl_launch_argument
sycl_launch_typed_value(uint64_t size_bytes, const void *value, sycl_value_type type)
{
	struct sycl_launch_argument argument = sycl_launch_value(size_bytes, value);
	argument.mode = SYCL_LAUNCH_CAST(int32_t, type);
	return argument;
}

/** An argument: local memory for each work-group. @since 0.1 */
static inline struct sycl_launch_argument sycl_launch_local(uint64_t size_bytes)
{
	struct sycl_launch_argument argument = {SYCL_LAUNCH_LOCAL, 0, NULL, 0, 0, NULL, 0};
	argument.size_bytes = size_bytes;
	return argument;
}

/** An argument: a pointer into USM. @since 0.1 */
static inline struct sycl_launch_argument sycl_launch_usm(const void *pointer)
{
	struct sycl_launch_argument argument = {SYCL_LAUNCH_USM, 0, NULL, 0, 0, NULL, 0};
	argument.pointer = pointer;
	return argument;
}

/**
 * Launch a kernel with a list of arguments; SYCL_LAUNCH and SYCL_LAUNCH_ND count them. Otherwise as
 * sycl_queue_launch.
 *
 * @param local  Dimensions 0: the library chooses the work-groups.
 * @since 0.1
 */
static inline sycl_result sycl_queue_launch_list(sycl_queue queue, sycl_kernel kernel,
						 sycl_range global, sycl_range local,
						 sycl_event *event_out, size_t count,
						 const struct sycl_launch_argument *arguments)
{
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	if (count > UINT32_MAX)
		return SYCL_ERROR_KERNEL_ARGUMENT;
	launch.kernel = kernel;
	launch.global = global;
	launch.local = local;
	launch.arguments = arguments;
	launch.argument_count = SYCL_LAUNCH_CAST(uint32_t, count);
	return sycl_queue_launch(queue, &launch, event_out);
}

/** No work-group size: the library chooses one. @since 0.1 */
static inline sycl_range sycl_launch_any_local(void)
{
	sycl_range local = {0, 0, {0, 0, 0}};
	return local;
}

SYCL_END_DECLS

/** An argument of SYCL_LAUNCH: a buffer that the kernel reads. @since 0.1 */
#define SYCL_READ(buffer) sycl_launch_buffer((buffer), SYCL_ACCESS_READ)
/**
 * An argument of SYCL_LAUNCH: a buffer that the kernel writes; what it leaves out stays.
 * @since 0.1
 */
#define SYCL_WRITE(buffer) sycl_launch_buffer((buffer), SYCL_ACCESS_WRITE)
/** An argument of SYCL_LAUNCH: a buffer that the kernel reads and writes. @since 0.1 */
#define SYCL_READ_WRITE(buffer) sycl_launch_buffer((buffer), SYCL_ACCESS_READ_WRITE)
/** The sycl_value_type of a variable; SYCL_VALUE_UNTYPED without _Generic. @since 0.1 */
#if defined(__cplusplus)
#define SYCL_VALUE_TYPE_OF(variable) sycl_value_type_of(&(variable))
/* clang-format off */
static inline sycl_value_type sycl_value_type_of(const volatile void *) { return SYCL_VALUE_UNTYPED; }
static inline sycl_value_type sycl_value_type_of(const float *) { return SYCL_VALUE_FLOATING; }
static inline sycl_value_type sycl_value_type_of(const double *) { return SYCL_VALUE_FLOATING; }
static inline sycl_value_type sycl_value_type_of(const char *) { return SYCL_VALUE_INTEGER; }
static inline sycl_value_type sycl_value_type_of(const signed char *) { return SYCL_VALUE_INTEGER; }
static inline sycl_value_type sycl_value_type_of(const unsigned char *) { return SYCL_VALUE_INTEGER; }
static inline sycl_value_type sycl_value_type_of(const short *) { return SYCL_VALUE_INTEGER; }
static inline sycl_value_type sycl_value_type_of(const unsigned short *) { return SYCL_VALUE_INTEGER; }
static inline sycl_value_type sycl_value_type_of(const int *) { return SYCL_VALUE_INTEGER; }
static inline sycl_value_type sycl_value_type_of(const unsigned *) { return SYCL_VALUE_INTEGER; }
static inline sycl_value_type sycl_value_type_of(const long *) { return SYCL_VALUE_INTEGER; }
static inline sycl_value_type sycl_value_type_of(const unsigned long *) { return SYCL_VALUE_INTEGER; }
static inline sycl_value_type sycl_value_type_of(const long long *) { return SYCL_VALUE_INTEGER; }
static inline sycl_value_type sycl_value_type_of(const unsigned long long *) { return SYCL_VALUE_INTEGER; }
/* clang-format on */
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
/* clang-format off */
#define SYCL_VALUE_TYPE_OF(variable)                                                               \
	_Generic((variable),                                                                       \
		float: SYCL_VALUE_FLOATING, double: SYCL_VALUE_FLOATING,                           \
		char: SYCL_VALUE_INTEGER, signed char: SYCL_VALUE_INTEGER,                         \
		unsigned char: SYCL_VALUE_INTEGER, short: SYCL_VALUE_INTEGER,                      \
		unsigned short: SYCL_VALUE_INTEGER, int: SYCL_VALUE_INTEGER,                       \
		unsigned: SYCL_VALUE_INTEGER, long: SYCL_VALUE_INTEGER,                            \
		unsigned long: SYCL_VALUE_INTEGER, long long: SYCL_VALUE_INTEGER,                  \
		unsigned long long: SYCL_VALUE_INTEGER, default: SYCL_VALUE_UNTYPED)
/* clang-format on */
#else
#define SYCL_VALUE_TYPE_OF(variable) SYCL_VALUE_UNTYPED
#endif

/** An argument of SYCL_LAUNCH: the value of a variable, with its type. @since 0.1 */
#define SYCL_VALUE(variable)                                                                       \
	sycl_launch_typed_value(sizeof(variable), &(variable), SYCL_VALUE_TYPE_OF(variable))

#ifndef __cplusplus
/**
 * Launch a kernel in work-groups of `local` items: as SYCL_LAUNCH, with one more parameter.
 * @since 0.1
 */
#define SYCL_LAUNCH_ND(queue, kernel, global, local, event_out, ...)                               \
	sycl_queue_launch_list((queue), (kernel), (global), (local), (event_out),                  \
			       sizeof((const struct sycl_launch_argument[]){__VA_ARGS__}) /        \
				       sizeof(struct sycl_launch_argument),                        \
			       (const struct sycl_launch_argument[]){__VA_ARGS__})
#else
template <typename... Arguments>
inline sycl_result sycl_queue_launch_arguments(sycl_queue queue, sycl_kernel kernel,
					       sycl_range global, sycl_range local,
					       sycl_event *event_out, Arguments... arguments)
{
	const struct sycl_launch_argument list[] = {arguments...}; /* C++ has no array literals */
	return sycl_queue_launch_list(queue, kernel, global, local, event_out, sizeof...(arguments),
				      list);
}
#define SYCL_LAUNCH_ND(queue, kernel, global, local, event_out, ...)                               \
	sycl_queue_launch_arguments((queue), (kernel), (global), (local), (event_out), __VA_ARGS__)
#endif

/**
 * Launch a kernel once for each item of a range. The arguments of the kernel follow, in its order,
 * at least one: SYCL_READ, SYCL_WRITE, SYCL_READ_WRITE, SYCL_VALUE, sycl_launch_buffer,
 * sycl_launch_value, sycl_launch_local, sycl_launch_usm. `event_out` may be NULL. Results and
 * blocking are those of sycl_queue_launch.
 * @since 0.1
 */
#define SYCL_LAUNCH(queue, kernel, range, event_out, ...)                                          \
	SYCL_LAUNCH_ND(queue, kernel, range, sycl_launch_any_local(), event_out, __VA_ARGS__)

#endif
