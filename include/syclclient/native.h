/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file native.h The vendor's objects behind those of this library, and the reverse, as
 * numbers. Programs use syclclient/opencl.h or syclclient/cuda.h, which have the vendor's types and
 * are built on these calls.
 *
 * A vendor's handle is valid in one process only. So these calls are for "embedded:" connections,
 * whose engine runs in the program's process. With any other connection they return
 * SYCL_ERROR_FEATURE_NOT_SUPPORTED without a request. There are exceptions on CUDA:
 * sycl_device_get_native returns a device's number in this program's own driver. Native commands
 * (native_command.h) and host tasks of sycl_handler_host_task_native have a bridge through a
 * service.
 *
 * - Backend: the object must belong to the backend that the call names, else
 *   SYCL_ERROR_BACKEND_MISMATCH.
 * - Kinds: OpenCL has all of them. CUDA has devices, contexts, queues and events, and memory inside
 *   a host task that was made by sycl_handler_host_task_native. Other kinds give
 *   SYCL_ERROR_FEATURE_NOT_SUPPORTED.
 * - Ownership, OpenCL: an object made from a native one retains it, and releases it at its end. A
 *   native object that a call returns is retained, and the caller releases it. Lifetimes
 *   are independent.
 * - Ownership, CUDA: the library takes nothing over. The program keeps what it gave as long as it
 *   is used here, and destroys it. What a call returns stays the library's, and is valid while its
 *   object lives.
 * - An invalid native handle is undefined behaviour, as in the vendor's interface. The library
 *   detects some (SYCL_ERROR_INVALID).
 *
 * A context over a native one is a device of its own to the engine: it copies contents of buffers
 * as between devices.
 */
#ifndef SYCLCLIENT_NATIVE_H
#define SYCLCLIENT_NATIVE_H

#include "context.h"
#include "handler.h"
#include "host_task.h"
#include "image.h"
#include "kernel.h"
#include "platform.h"
#include "queue.h"

SYCL_BEGIN_DECLS

/**
 * Get the platform's native object. A round trip; opens a device of the platform if none is open.
 *
 * @param backend          The backend of the object.
 * @param[out] native_out  A platform has no reference count.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The engine is in another process; platforms of this
 *                                           backend are no objects.
 * @retval SYCL_ERROR_BACKEND_MISMATCH       The platform is of another backend.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_get_native(sycl_platform platform, sycl_backend backend,
					      uint64_t *native_out);

/**
 * Get the device's native object. A round trip; opens the device. For a CUDA device of a service it
 * is the number of the same GPU in this program's own driver, found by its UUID. That needs no
 * round trip, but blocks the first time while the driver starts. Otherwise as
 * sycl_platform_get_native.
 *
 * @return Also SYCL_ERROR_FEATURE_NOT_SUPPORTED if this program has no driver, or its driver does
 *         not have that GPU.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_get_native(sycl_device device, sycl_backend backend,
					    uint64_t *native_out);

/**
 * Get the context's native objects: the one that it was made from; otherwise one for each of its
 * devices, which are opened. A round trip for each device. Otherwise as sycl_platform_get_native.
 *
 * @param capacity          Room in natives_out; 0: only count.
 * @param[out] natives_out  Up to `capacity` objects; on OpenCL the caller releases each of them.
 *                          NULL if capacity is 0.
 * @param[out] count_out    How many there are. May be NULL if natives_out is given.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_get_native(sycl_context context, sycl_backend backend,
					     uint32_t capacity, uint64_t *natives_out,
					     uint32_t *count_out);

/**
 * Get the queue's native object. For an out-of-order queue it is one of several that its command
 * groups use. A round trip. On CUDA it waits until everything that was submitted to the queue is
 * complete. Otherwise as sycl_platform_get_native.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_get_native(sycl_queue queue, sycl_backend backend,
					   uint64_t *native_out);

/**
 * End the use of a queue's native object. The program no longer uses what sycl_queue_get_native
 * returned, and has synchronised with its work there. The queue takes command groups again. Never
 * blocks.
 *
 * If the queue was made with SYCL_QUEUE_CHECK_NATIVE, a submission between the two calls gets
 * SYCL_ERROR_INVALID and submits nothing. Without that property such a submission is not detected
 * and has undefined results, and this call does nothing.
 *
 * @retval SYCL_ERROR_INVALID  No such queue; or it checks, and its native object is not in use.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_return_native(sycl_queue queue);

/**
 * Get the memory objects of a buffer that are in use now, one for each context that has used it.
 * There is none if no device has used it. Their contents may not be current: after sycl_queue_wait
 * those of the device that wrote last are. A round trip. Otherwise as sycl_context_get_native.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_get_native(sycl_buffer buffer, sycl_backend backend,
					    uint32_t capacity, uint64_t *natives_out,
					    uint32_t *count_out);

/**
 * Get the memory objects of an image that are in use now. A round trip. As sycl_buffer_get_native.
 * @since 0.1
 */
SYCL_API sycl_result sycl_image_get_native(sycl_image image, sycl_backend backend,
					   uint32_t capacity, uint64_t *natives_out,
					   uint32_t *count_out);

/**
 * Get the programs of a bundle, one for each of its images. Compiled objects and sources of this
 * library are no native objects: SYCL_ERROR_FEATURE_NOT_SUPPORTED. A round trip for each. Otherwise
 * as sycl_context_get_native.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_native(sycl_kernel_bundle bundle, sycl_backend backend,
						   uint32_t capacity, uint64_t *natives_out,
						   uint32_t *count_out);

/**
 * Get the kernel's native object, for its bundle's first device. A round trip. Otherwise as
 * sycl_platform_get_native.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_native(sycl_kernel kernel, sycl_backend backend,
					    uint64_t *native_out);

/**
 * Get the native events behind an event: those that it was made from. A command on CUDA has one
 * that is recorded on the first request, as sycl_event_has_native_event says. Other events have
 * none. A round trip for each. Otherwise as sycl_context_get_native.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_get_natives(sycl_event event, sycl_backend backend,
					    uint32_t capacity, uint64_t *natives_out,
					    uint32_t *count_out);

/**
 * Get the platform of a native one. It equals all other handles of that platform. A round trip.
 *
 * @param connection         Any platform of the connection.
 * @param backend            The backend of the native object.
 * @param native             The native object.
 * @param[out] platform_out  The caller releases it.
 * @retval SYCL_ERROR_INVALID  The connection has no such platform.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_make_native(sycl_platform connection, sycl_backend backend,
					       uint64_t native, sycl_platform *platform_out);

/**
 * Get the device of a native one. It equals all other handles of that device. A part of a device is
 * no device here. A round trip. Otherwise as sycl_platform_make_native.
 *
 * @param[out] device_out  The caller releases it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_make_native(sycl_platform connection, sycl_backend backend,
					     uint64_t native, sycl_device *device_out);

/**
 * Make a context over a native one. Everything that is made in it lives there. Two round trips;
 * opens devices.
 *
 * @param connection        Any platform of the connection.
 * @param backend           The backend of the native object.
 * @param native            The native object.
 * @param options           NULL: none.
 * @param[out] context_out  The caller releases it. The native context is released when this one,
 *                          everything made in it, and buffers with memory there have ended.
 * @retval SYCL_ERROR_INVALID  No context, or one with a device that the connection does not have.
 * @retval SYCL_ERROR_QUOTA    Too many are open.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_make_native(sycl_platform connection, sycl_backend backend,
					      uint64_t native,
					      const struct sycl_context_options *options,
					      sycl_context *context_out);

/**
 * Make a queue over a native one. Groups submitted to it go there and nowhere else. Two round
 * trips.
 *
 * @param context         Made from the native queue's context, or one whose native context that is.
 * @param backend         The backend of the native object.
 * @param native          The native object.
 * @param options         For the asynchronous handler. Its properties must be 0: they are those of
 *                        the native queue. NULL: none.
 * @param[out] queue_out  The caller releases it. It is in order, unless the native one is not
 *                        (OpenCL).
 * @retval SYCL_ERROR_INVALID  No queue, or of another context.
 * @retval SYCL_ERROR_QUOTA    The context has too many.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_make_native(sycl_context context, sycl_backend backend,
					    uint64_t native,
					    const struct sycl_queue_options *options,
					    sycl_queue *queue_out);

/**
 * Make a buffer whose contents are those of a native memory object. Kernels of its context use that
 * object. Elsewhere the engine uses copies, and brings back at once what is written there. The
 * buffer has no host memory and writes nothing back. Two round trips.
 *
 * @param context          The native memory's.
 * @param backend          The backend of the native object.
 * @param native           The native object.
 * @param available        The buffer is not used before this event. If the event fails, commands
 *                         that need the contents fail. NULL: none.
 * @param[out] buffer_out  One dimension, in bytes. The caller releases it.
 * @retval SYCL_ERROR_INVALID  No memory, memory of another context, or an image's.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_make_native(sycl_context context, sycl_backend backend,
					     uint64_t native, sycl_event available,
					     sycl_buffer *buffer_out);

/**
 * Make an image whose contents are those of a native one, with its format and its size of 1 to 3
 * dimensions. Samplers belong to accesses here, not to images. Otherwise as
 * sycl_buffer_make_native.
 *
 * @param available       The image is not used before this event. If the event fails, commands that
 *                        need the contents fail. NULL: none.
 * @param[out] image_out  The caller releases it.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  SYCL has no such format, or no image of this type.
 * @since 0.1
 */
SYCL_API sycl_result sycl_image_make_native(sycl_context context, sycl_backend backend,
					    uint64_t native, sycl_event available,
					    sycl_image *image_out);

/**
 * Make an event that is complete when all of several native events are. It fails if one of them
 * does. Round trips, but no wait.
 *
 * @param context         The events' context, or that of one of them.
 * @param backend         The backend of the native objects.
 * @param count           1 to 64.
 * @param natives         The native events.
 * @param[out] event_out  The caller releases it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_make_native(sycl_context context, sycl_backend backend,
					    uint32_t count, const uint64_t *natives,
					    sycl_event *event_out);

/**
 * Make a kernel over a native one. If a command group does not set an argument, the argument has
 * the value that it had in the native kernel at the launch. The program keeps alive what such
 * arguments point to. Arguments of a command group apply to that group alone. Waits for the
 * service: some round trips.
 *
 * @param context          The native kernel's.
 * @param backend          The backend of the native object.
 * @param native           The native object.
 * @param[out] kernel_out  The caller releases it.
 * @retval SYCL_ERROR_INVALID  No kernel, or of another context.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_make_native(sycl_context context, sycl_backend backend,
					     uint64_t native, sycl_kernel *kernel_out);

/**
 * Make a bundle in a state over a native program, for the context's devices. It is compiled, linked
 * or built if necessary. Waits for the service: some round trips and the compiler's time.
 *
 * @param context          The native program's.
 * @param backend          The backend of the native object.
 * @param state            The state of the bundle.
 * @param native           The native object.
 * @param[out] bundle_out  The caller releases it.
 * @retval SYCL_ERROR_INVALID  An executable program and another state; a program with any binary
 *                             and the input state; a program of another context; any error of the
 *                             backend, with its code.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_make_native(sycl_context context, sycl_backend backend,
						    sycl_bundle_state state, uint64_t native,
						    sycl_kernel_bundle *bundle_out);

/**
 * Make a bundle over several native programs. Executable ones stay as they are; all others are
 * compiled and linked into one. Waits as sycl_kernel_bundle_make_native.
 *
 * @param context          The native programs'.
 * @param device_count     0: all devices of the context.
 * @param devices          Of the context; NULL if device_count is 0.
 * @param backend          The backend of the native objects.
 * @param state            The state of the bundle.
 * @param count            1 to 1,024.
 * @param natives          The native programs.
 * @param[out] bundle_out  The caller releases it.
 * @retval SYCL_ERROR_INVALID  As for sycl_kernel_bundle_make_native, except errors of the backend.
 * @retval SYCL_ERROR_BUILD    The backend could not compile or link them.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_make_natives(sycl_context context, uint32_t device_count,
						     const sycl_device *devices,
						     sycl_backend backend, sycl_bundle_state state,
						     uint32_t count, const uint64_t *natives,
						     sycl_kernel_bundle *bundle_out);

/**
 * Make an executable bundle over the programs of native kernels, with the kernels of these names.
 * Waits as sycl_kernel_bundle_make_natives, and otherwise as that.
 *
 * @param natives  The native kernels.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_from_native_kernels(sycl_context context,
							    uint32_t device_count,
							    const sycl_device *devices,
							    sycl_backend backend, uint32_t count,
							    const uint64_t *natives,
							    sycl_kernel_bundle *bundle_out);

/**
 * Set the action: a host task that uses native handles. As sycl_handler_host_task (host_task.h),
 * with differences. What the task requires by sycl_handler_set_host_accessor is brought to the
 * queue's device and stays there. When the function begins, everything that was submitted to the
 * queue before is complete. What the function sends to the native queue must be complete when it
 * returns. On CUDA the function itself makes the context current.
 *
 * On CUDA it also works through a service, with a context and a stream of this program's own, as
 * native_command.h says of native commands. Then it needs no round trips, except to open a buffer.
 * Never blocks, except as said there.
 *
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The backend has no native objects; through a service as
 *                                           sycl_handler_native_command.
 * @return Also what sycl_handler_native_command returns for contexts.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_host_task_native(sycl_handler handler,
						   sycl_host_task_function *function,
						   void *user_data,
						   sycl_user_data_destroy *destroy);

/**
 * Get the native queue, inside a host task's function. It is one of the queue's own; ownership as
 * everywhere. A round trip.
 *
 * @param task             The running host task.
 * @param backend          The backend of the queue.
 * @param[out] native_out  The native queue.
 * @retval SYCL_ERROR_INVALID           The host task was not made by sycl_handler_host_task_native.
 * @retval SYCL_ERROR_BACKEND_MISMATCH  Its queue is of another backend.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_task_get_native_queue(sycl_host_task task, sycl_backend backend,
						     uint64_t *native_out);

/**
 * Get the native context of the queue's device, inside a host task's function. A round trip. As
 * sycl_host_task_get_native_queue.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_task_get_native_context(sycl_host_task task, sycl_backend backend,
						       uint64_t *native_out);

/**
 * Get the native device of the queue, inside a host task's function. A round trip. As
 * sycl_host_task_get_native_queue.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_task_get_native_device(sycl_host_task task, sycl_backend backend,
						      uint64_t *native_out);

/**
 * Get the native memory behind a host accessor, inside a host task's function: that of the whole
 * buffer, also for a sub-buffer. Images have none. As sycl_host_task_get_native_queue.
 *
 * @param index            As given to sycl_handler_set_host_accessor.
 * @param[out] native_out  The native memory.
 * @retval SYCL_ERROR_INVALID  There is no such host accessor, or its buffer has 0 bytes.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_task_get_native_memory(sycl_host_task task, sycl_backend backend,
						      uint32_t index, uint64_t *native_out);

/**
 * Query whether a platform has an extension. The whole name is compared. Works with every
 * connection. The first call takes a round trip.
 *
 * @param backend       The backend of the platform.
 * @param extension     The name.
 * @param[out] has_out  1 or 0.
 * @retval SYCL_ERROR_BACKEND_MISMATCH  The platform is of another backend.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_has_extension(sycl_platform platform, sycl_backend backend,
						 const char *extension, uint32_t *has_out);

/** Query a device for an extension, as sycl_platform_has_extension. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_device_has_extension(sycl_device device, sycl_backend backend,
					       const char *extension, uint32_t *has_out);

SYCL_END_DECLS
#endif
