/* SPDX-License-Identifier: Apache-2.0 */
/** @file stream.h Text that kernels print. The rules for all functions are at the top of result.h. */
#ifndef SYCLCLIENT_STREAM_H
#define SYCLCLIENT_STREAM_H

#include "buffer.h"

SYCL_BEGIN_DECLS

/*
 * A stream is a buffer that kernels of portable sources print into. A kernel has it as a parameter, SYCL_STREAM, which
 * sycl_handler_set_accessor sets with SYCL_ACCESS_READ_WRITE, and prints with
 *
 *	sycl_print(stream, "%d of %d: %g\n", i, n, x);
 *
 * Whole statements never mix; in which order those of different work-items come is not said. The kernel puts down the
 * format and up to eight values (int, uint, long, ulong, float, double and what becomes one of them); sycl_stream_read
 * makes the text, here in this process. Formats are those of printf but for n and s; lengths such as l are read over.
 */

/** Bytes that a stream may have at most. */
#define SYCL_STREAM_BYTES_MAX (64ull << 20)

/**
 * Make a stream. A statement takes 16 bytes, 8 for each value and those of its format; what finds no room is counted.
 * Blocks as sycl_buffer_create.
 *
 * @param bytes            Room for statements, 64 to SYCL_STREAM_BYTES_MAX; rounded up to a multiple of 8.
 * @param[out] stream_out  The caller's: sycl_buffer_release. It is a buffer in every way.
 * @retval SYCL_ERROR_INVALID  No such number of bytes.
 * @since 0.1
 */
SYCL_API sycl_result sycl_stream_create(sycl_platform platform, uint64_t bytes, sycl_buffer *stream_out);

/**
 * Take the text that was printed since it was read last. Blocks for the groups before it that use the stream, as a host
 * accessor does. Only one thread at a time may read one stream.
 *
 * @param capacity        Of `text`, bytes, the 0 at the end included; 0 with NULL: only bytes_out is wanted.
 * @param[out] text       Ended by a 0. Untouched when it is too small for all of it, and nothing is taken then.
 * @param[out] bytes_out  Bytes of all of the text, with the 0; also when `capacity` is too small.
 * @param[out] lost_out   Statements that found no room since then; NULL: not asked.
 * @retval SYCL_ERROR_INVALID  It is no stream; text is NULL with a capacity; or the capacity is less than *bytes_out.
 * @retval SYCL_ERROR_DEPENDENCY_FAILED  As sycl_host_accessor_create.
 * @since 0.1
 */
SYCL_API sycl_result sycl_stream_read(sycl_buffer stream, uint64_t capacity, char *text, uint64_t *bytes_out,
				      uint64_t *lost_out);
/**
 * As sycl_stream_read, at most timeout_ns (CLOCK_MONOTONIC); 0 asks without waiting for a device.
 *
 * @retval SYCL_ERROR_TIMEOUT  Not yet; nothing is taken.
 * @since 0.1
 */
SYCL_API sycl_result sycl_stream_read_for(sycl_buffer stream, uint64_t timeout_ns, uint64_t capacity, char *text,
					  uint64_t *bytes_out, uint64_t *lost_out);

SYCL_END_DECLS
#endif
