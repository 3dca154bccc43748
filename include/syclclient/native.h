/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file native.h The vendor's objects behind those of this library, and the other way round, as numbers. Programs use
 * syclclient/opencl.h or syclclient/cuda.h, which have the vendor's types; these are what those are made of.
 *
 * A vendor's handle means something in one process only. So all of this is for "embedded:" connections, whose engine runs in
 * the application's own process; with any other, SYCL_ERROR_FEATURE_NOT_SUPPORTED is the answer, before anything is asked.
 * But on CUDA sycl_device_get_native tells a device's number in this program's own driver, and native commands (native_command.h)
 * and host tasks of sycl_handler_host_task_native have a bridge through a service.
 *
 * - Backend: what is asked for must be of the object's backend, else SYCL_ERROR_BACKEND_MISMATCH.
 * - Kinds: OpenCL has all; CUDA has devices, contexts, queues and events, and memory inside of a host task that was made
 *   by sycl_handler_host_task_native. Others give SYCL_ERROR_FEATURE_NOT_SUPPORTED.
 * - Ownership, OpenCL: what is made of a native object retains it, and releases it at its end; what is given is a reference of the
 *   caller's, to be released. Lifetimes are not tied.
 * - Ownership, CUDA: nothing is taken over: the application keeps what it gave as long as it is used here, and destroys it
 *  ; what is given stays this library's, and good while its object lives.
 * - A native handle that is none is undefined, as everywhere in the vendor's interface; some are found out (SYCL_ERROR_INVALID).
 *
 * A context over a native one is a device of its own to the engine: contents of buffers come and go as between devices.
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
 * The platform's native object. A round trip; opens a device of the platform if none is open.
 *
 * @param[out] native_out  A platform is not counted.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  Another process has the engine; this backend's platforms are no objects.
 * @retval SYCL_ERROR_BACKEND_MISMATCH       The platform is of another backend.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_get_native(sycl_platform platform, sycl_backend backend, uint64_t *native_out);

/**
 * The device's native object; else as sycl_platform_get_native. A round trip; opens the device. Of a service's CUDA
 * device: the number that this program's own driver has for the same GPU, found by its UUID. No round trip then; blocks the first
 * time while the driver starts.
 *
 * @return Also SYCL_ERROR_FEATURE_NOT_SUPPORTED where this program has no driver, or does not see that GPU.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_get_native(sycl_device device, sycl_backend backend, uint64_t *native_out);

/**
 * The context's native objects: of one that was made of a native one, that; of any other one for each of its devices, which
 * are opened. Else as sycl_platform_get_native. A round trip for each device.
 *
 * @param capacity          Room in natives_out.
 * @param[out] natives_out  Up to `capacity`; of OpenCL each a reference of the caller's. NULL if capacity is 0.
 * @param[out] count_out    How many there are; NULL if natives_out is given.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_get_native(sycl_context context, sycl_backend backend, uint32_t capacity,
					     uint64_t *natives_out, uint32_t *count_out);

/**
 * The queue's native object; else as sycl_platform_get_native. Of an out-of-order queue it is one of several that its
 * command groups go to. A round trip; with CUDA this waits until all that was submitted to the queue is complete.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_get_native(sycl_queue queue, sycl_backend backend, uint64_t *native_out);

/**
 * What sycl_queue_get_native has given out is not used any more, and the program has synchronised with what it put there: the
 * queue takes command groups again. Of a queue that was made with SYCL_QUEUE_CHECK_NATIVE, whoever submits to it between the two
 * calls is told so: SYCL_ERROR_INVALID, and nothing was submitted. Without that property it is not noticed and has undefined results,
 * and this call does nothing. Never blocks; from any thread.
 *
 * @retval SYCL_ERROR_INVALID  No such queue; or it checks, and nothing of it has been given out.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_return_native(sycl_queue queue);

/**
 * The memory objects of a buffer that are in use now, one for each context that has used it; 0 of a buffer that no device has
 * used. Whether their contents are current is not told: after sycl_queue_wait those of the device that wrote last are. A round
 * trip; parameters and errors as of sycl_context_get_native.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_get_native(sycl_buffer buffer, sycl_backend backend, uint32_t capacity,
					    uint64_t *natives_out, uint32_t *count_out);

/** As sycl_buffer_get_native, of an image. A round trip. @since 0.1 */
SYCL_API sycl_result sycl_image_get_native(sycl_image image, sycl_backend backend, uint32_t capacity,
					   uint64_t *natives_out, uint32_t *count_out);

/**
 * The programs of a bundle, one for each of its images. Parameters and errors as of sycl_context_get_native; what was compiled
 * or is a source of this library is no native object: SYCL_ERROR_FEATURE_NOT_SUPPORTED. A round trip for each.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_native(sycl_kernel_bundle bundle, sycl_backend backend, uint32_t capacity,
						   uint64_t *natives_out, uint32_t *count_out);

/** The kernel's native object, for its bundle's first device; else as sycl_platform_get_native. A round trip. @since 0.1 */
SYCL_API sycl_result sycl_kernel_get_native(sycl_kernel kernel, sycl_backend backend, uint64_t *native_out);

/**
 * The native events behind an event: those that it was made of; of a command of CUDA one that is recorded when it is first asked for,
 * as sycl_event_has_native_event says; else none. Parameters and errors as of sycl_context_get_native. A round trip for
 * each.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_get_natives(sycl_event event, sycl_backend backend, uint32_t capacity,
					    uint64_t *natives_out, uint32_t *count_out);

/**
 * The platform of a native one: the same handle as always. A round trip.
 *
 * @param connection         Any platform of the connection.
 * @param[out] platform_out  The caller's to release.
 * @retval SYCL_ERROR_INVALID  There is no such platform here.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_make_native(sycl_platform connection, sycl_backend backend, uint64_t native,
					       sycl_platform *platform_out);

/**
 * The device of a native one: the same handle as always. Parameters and errors as of sycl_platform_make_native; a part of a
 * device is no device here. A round trip.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_make_native(sycl_platform connection, sycl_backend backend, uint64_t native,
					     sycl_device *device_out);

/**
 * A context over a native one: all that is made in it lives there. Two round trips; opens devices.
 *
 * @param options           NULL: none.
 * @param[out] context_out  The caller's to release. The native context is let go when this, all that was made in it, and buffers
 *                          that have memory there are gone.
 * @retval SYCL_ERROR_INVALID  No context, or one with a device that is not here.
 * @retval SYCL_ERROR_QUOTA    Too many are open.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_make_native(sycl_platform connection, sycl_backend backend, uint64_t native,
					      const struct sycl_context_options *options, sycl_context *context_out);

/**
 * A queue over a native one, and over nothing else: what is submitted goes there. Two round trips.
 *
 * @param context         Made of the native queue's context, or one whose native context that is.
 * @param options         For the handler; its properties must be 0: they are the native queue's. NULL: none.
 * @param[out] queue_out  The caller's to release; in order, unless the native one is not (OpenCL).
 * @retval SYCL_ERROR_INVALID  No queue, or of another context.
 * @retval SYCL_ERROR_QUOTA    The context has too many.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_make_native(sycl_context context, sycl_backend backend, uint64_t native,
					    const struct sycl_queue_options *options, sycl_queue *queue_out);

/**
 * A buffer whose contents are a native memory object's. Kernels of its context use that; elsewhere copies are used, and what is
 * written there is brought back at once. It has no host memory of its own and writes nothing back. Two round trips.
 *
 * @param context          The native memory's.
 * @param available        The buffer is not used before this event has happened; if it fails, so does what needs the contents. NULL: none.
 * @param[out] buffer_out  One dimension, in bytes; the caller's to release.
 * @retval SYCL_ERROR_INVALID  No memory, of another context, or an image's.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_make_native(sycl_context context, sycl_backend backend, uint64_t native,
					     sycl_event available, sycl_buffer *buffer_out);

/**
 * An image whose contents are a native one's, with its format and its size of 1 to 3 dimensions; else as sycl_buffer_make_native. Samplers belong to accesses here, not to images.
 *
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  SYCL has no such format, or no image of this type.
 * @since 0.1
 */
SYCL_API sycl_result sycl_image_make_native(sycl_context context, sycl_backend backend, uint64_t native,
					    sycl_event available, sycl_image *image_out);

/**
 * An event that is complete when all of these native events are. It fails if one of them does. Round trips, but no wait.
 *
 * @param context        The events' context, or that of one of them.
 * @param count          1 to 64.
 * @param[out] event_out The caller's to release.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_make_native(sycl_context context, sycl_backend backend, uint32_t count,
					    const uint64_t *natives, sycl_event *event_out);

/**
 * A kernel over a native one. Arguments that have been set in it and are not set in a command group are as they were at the
 * launch; what they point to is the application's to keep. What a command group sets holds for it alone. Waits for the service, some
 * round trips.
 *
 * @param[out] kernel_out  The caller's to release.
 * @retval SYCL_ERROR_INVALID  No kernel, or of another context.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_make_native(sycl_context context, sycl_backend backend, uint64_t native,
					     sycl_kernel *kernel_out);

/**
 * A bundle in this state over a native program, for the context's devices; it is compiled, linked or built if need be.
 * Waits for the service: some round trips and the compiler's time.
 *
 * @param[out] bundle_out  The caller's to release.
 * @retval SYCL_ERROR_INVALID  An executable program and another state; a program with any binary and the input state; a
 *                             program of another context; any error of the backend's, with its code.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_make_native(sycl_context context, sycl_backend backend, sycl_bundle_state state,
						    uint64_t native, sycl_kernel_bundle *bundle_out);

/**
 * The same over several programs: those that are executable as they are, all others compiled and linked into one. Waits as
 * sycl_kernel_bundle_make_native.
 *
 * @param device_count  0: all devices of the context.
 * @param devices       Of the context; NULL if device_count is 0.
 * @param count         1 to 64.
 * @retval SYCL_ERROR_INVALID  As for sycl_kernel_bundle_make_native, but for errors of the backend's.
 * @retval SYCL_ERROR_BUILD    The backend could not compile or link them.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_make_natives(sycl_context context, uint32_t device_count, const sycl_device *devices,
						     sycl_backend backend, sycl_bundle_state state, uint32_t count,
						     const uint64_t *natives, sycl_kernel_bundle *bundle_out);

/**
 * An executable bundle over the programs of these native kernels, with the kernels that are named so. Parameters and
 * errors as of sycl_kernel_bundle_make_natives.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_from_native_kernels(sycl_context context, uint32_t device_count,
							    const sycl_device *devices, sycl_backend backend,
							    uint32_t count, const uint64_t *natives,
							    sycl_kernel_bundle *bundle_out);

/**
 * As sycl_handler_host_task (host_task.h) for a function that uses native handles: what it requires by
 * sycl_handler_set_host_accessor is brought to the queue's device and stays there, and all that was submitted to the queue before is
 * complete when it begins. What the function sends to the native queue must be complete when it returns; CUDA's context
 * it has to make current itself. On CUDA also through a service, with a context and a stream of this program's own, as
 * native_command.h says of native commands; no round trips then, but where a buffer is opened. Never blocks but for what is
 * said there.
 *
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The backend has no native objects; through a service as sycl_handler_native_command.
 * @return Also what sycl_handler_native_command returns of contexts.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_host_task_native(sycl_handler handler, sycl_host_task_function *function, void *user_data,
						   sycl_user_data_destroy *destroy);

/**
 * The native queue, inside of a host task's function: one of the queue's own; ownership as everywhere. A round trip.
 *
 * @retval SYCL_ERROR_INVALID           The host task was not made by sycl_handler_host_task_native.
 * @retval SYCL_ERROR_BACKEND_MISMATCH  Its queue is of another backend.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_task_get_native_queue(sycl_host_task task, sycl_backend backend, uint64_t *native_out);

/** As sycl_host_task_get_native_queue, the context of the queue's device. A round trip. @since 0.1 */
SYCL_API sycl_result sycl_host_task_get_native_context(sycl_host_task task, sycl_backend backend, uint64_t *native_out);

/** As sycl_host_task_get_native_queue, the queue's device. A round trip. @since 0.1 */
SYCL_API sycl_result sycl_host_task_get_native_device(sycl_host_task task, sycl_backend backend, uint64_t *native_out);

/**
 * As sycl_host_task_get_native_queue, the memory behind a host accessor: the whole buffer's, of a sub-buffer too. Images have
 * none.
 *
 * @param index  Of the host accessor.
 * @retval SYCL_ERROR_INVALID  There is no such host accessor, or its buffer has 0 bytes.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_task_get_native_memory(sycl_host_task task, sycl_backend backend, uint32_t index,
						      uint64_t *native_out);

/**
 * Has the platform this extension? Its whole name is compared. Of every connection; a round trip the first time.
 *
 * @param[out] has_out  1 or 0.
 * @retval SYCL_ERROR_BACKEND_MISMATCH  The platform is of another backend.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_has_extension(sycl_platform platform, sycl_backend backend, const char *extension,
						 uint32_t *has_out);

/** As sycl_platform_has_extension, of a device. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_device_has_extension(sycl_device device, sycl_backend backend, const char *extension,
					       uint32_t *has_out);

SYCL_END_DECLS
#endif
