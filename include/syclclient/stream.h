/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file stream.h Text that kernels print. The rules for all functions are at the top of
 * result.h.
 */
#ifndef SYCLCLIENT_STREAM_H
#define SYCLCLIENT_STREAM_H

#include "buffer.h"

SYCL_BEGIN_DECLS

/*
 * A stream is a buffer into which kernels of portable sources print. A kernel has it as a
 * parameter, SYCL_STREAM, which sycl_handler_set_accessor sets with SYCL_ACCESS_READ_WRITE. It
 * prints with
 *
 *	sycl_print(stream, "%d of %d: %g\n", i, n, x);
 *
 * Statements never mix, but those of different work-items may come in any order. The kernel stores
 * the format and up to eight values: int, uint, long, ulong, float, double, and what converts to
 * them. sycl_stream_read makes the text, in this process. Formats are those of printf without n and
 * s; lengths such as l are ignored.
 */

/** The largest number of bytes of a stream. */
#define SYCL_STREAM_BYTES_MAX (64ull << 20)

/**
 * Make a stream. A statement takes 16 bytes, 8 for each value, and those of its format. Statements
 * that find no room are counted. Blocks as sycl_buffer_create.
 *
 * @param platform         Any platform of the connection.
 * @param bytes            Room for statements, 64 to SYCL_STREAM_BYTES_MAX; rounded up to a
 *                         multiple of 8.
 * @param[out] stream_out  A buffer in every way. The caller releases it with sycl_buffer_release.
 * @retval SYCL_ERROR_INVALID  No such number of bytes.
 * @since 0.1
 */
SYCL_API sycl_result sycl_stream_create(sycl_platform platform, uint64_t bytes,
					sycl_buffer *stream_out);

/**
 * Take the text that kernels printed since the last read. Blocks for the earlier groups that use
 * the stream, as a host accessor does. One thread at a time may read a stream.
 *
 * @param capacity        Room in `text`, in bytes, with the final 0. 0 with NULL: only bytes_out is
 *                        wanted.
 * @param[out] text       Ends with a 0. If it is too small for all of the text, it stays untouched
 *                        and nothing is taken.
 * @param[out] bytes_out  Bytes of all of the text, with the 0; also if `capacity` is too small.
 * @param[out] lost_out   Statements that found no room since then; may be NULL.
 * @retval SYCL_ERROR_INVALID            It is no stream; text is NULL with a capacity; or the
 *                                       capacity is less than *bytes_out.
 * @retval SYCL_ERROR_DEPENDENCY_FAILED  As sycl_host_accessor_create.
 * @since 0.1
 */
SYCL_API sycl_result sycl_stream_read(sycl_buffer stream, uint64_t capacity, char *text,
				      uint64_t *bytes_out, uint64_t *lost_out);
/**
 * Take the text with a limit on the wait. Otherwise as sycl_stream_read.
 *
 * @param timeout_ns  Longest wait, ns of CLOCK_MONOTONIC. 0: do not wait for a device.
 * @retval SYCL_ERROR_TIMEOUT  Not in time; nothing is taken.
 * @since 0.1
 */
SYCL_API sycl_result sycl_stream_read_for(sycl_buffer stream, uint64_t timeout_ns,
					  uint64_t capacity, char *text, uint64_t *bytes_out,
					  uint64_t *lost_out);

/**
 * A function for the text that kernels printed with printf. It gets all of it in one call, on the
 * thread that requested it, and may call any function of this library.
 *
 * @param text       The text as the kernels printed it, without a final 0; valid during the call.
 * @param bytes      Its bytes; 0 if all that was printed is lost.
 * @param is_cut     1: some text is lost. 0: nothing is.
 * @param user_data  As passed to sycl_platform_take_output.
 */
typedef void sycl_output_handler(const char *text, uint64_t bytes, uint32_t is_cut,
				 void *user_data);

/**
 * Pass what kernels of this connection have printed since the last call to a function, in one
 * call. If there is nothing, the function is not called. No other connection gets the text, and it
 * is in no log. The text of a kernel is there when its group is complete. Blocks as long as the
 * function does, and never for a device.
 *
 * This is printf of OpenCL C. The service keeps 1 MiB of each group, and the library 16 MiB until
 * it is taken; the rest is lost. So that the text can be attributed, kernels that contain printf
 * run one at a time, among all programs of one user. With an endpoint "embedded:" drivers print to
 * this process's standard output, and nothing is there to be taken. CUDA's printf is not passed on:
 * its driver writes at moments of its own. sycl_print above works everywhere.
 *
 * @param platform   Any platform of the connection.
 * @param handler    Not NULL.
 * @param user_data  Passed to the handler.
 * @retval SYCL_ERROR_INVALID  handler is NULL.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_take_output(sycl_platform platform, sycl_output_handler *handler,
					       void *user_data);

SYCL_END_DECLS
#endif
