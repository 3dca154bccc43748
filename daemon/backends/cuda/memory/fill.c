/*
 * Fills by the driver's memsets, which take aligned units of 1, 2 and 4 bytes. With a longer
 * pattern, a block is written first, column by column. A memset with a pitch writes one column of
 * many repetitions at once. Then copies double the block. All of this is asynchronous and needs
 * neither host memory nor a kernel.
 */
#include "cuda/memory/state.h"

#include "protocol_limits.h"

#include <string.h>

#define BLOCK_BYTES 65536u

struct fill {
	const struct cuda_library *cuda;
	CUstream stream;
	CUdeviceptr address;
	uint64_t size_bytes;
	const unsigned char *pattern;
	size_t period;
};

/* The length of the shortest beginning that, repeated, makes the whole pattern. */
static size_t find_period(const unsigned char *pattern, size_t bytes)
{
	for (size_t period = 1; period < bytes; period++)
		if (bytes % period == 0 && memcmp(pattern, pattern + period, bytes - period) == 0)
			return period;
	return bytes;
}

static uint16_t read_16(const unsigned char *bytes)
{
	uint16_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}

static uint32_t read_32(const unsigned char *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* The period is 1, 2 or 4, and the address is a multiple of the period. The rest at the end is
 * shorter than the pattern. */
static CUresult fill_words(const struct fill *fill)
{
	const struct cuda_library *cuda = fill->cuda;
	uint64_t count = fill->size_bytes / fill->period, done = count * fill->period;
	CUresult result = CUDA_SUCCESS;

	if (count > 0 && fill->period == 1)
		result =
			cuda->cuMemsetD8Async(fill->address, fill->pattern[0], count, fill->stream);
	else if (count > 0 && fill->period == 2)
		result = cuda->cuMemsetD16Async(fill->address, read_16(fill->pattern), count,
						fill->stream);
	else if (count > 0)
		result = cuda->cuMemsetD32Async(fill->address, read_32(fill->pattern), count,
						fill->stream);
	for (; result == CUDA_SUCCESS && done < fill->size_bytes; done++)
		result = cuda->cuMemsetD8Async(fill->address + done,
					       fill->pattern[done - count * fill->period], 1,
					       fill->stream);
	return result;
}

/* The greatest possible width of this column: 4, 2 or 1. All rows must be as aligned as the first
 * one. */
static size_t column_bytes(const struct fill *fill, size_t column, uint64_t rows)
{
	for (size_t width = 4; width > 1; width /= 2) {
		bool row_fits = rows == 1 || fill->period % width == 0;
		if (row_fits && (fill->address + column) % width == 0 &&
		    fill->period - column >= width)
			return width;
	}
	return 1;
}

/* Writes the first `rows` repetitions. */
static CUresult set_rows(const struct fill *fill, uint64_t rows)
{
	const struct cuda_library *cuda = fill->cuda;
	CUresult result = CUDA_SUCCESS;

	for (size_t column = 0, width; result == CUDA_SUCCESS && column < fill->period;
	     column += width) {
		CUdeviceptr address = fill->address + column;
		const unsigned char *bytes = fill->pattern + column;
		width = column_bytes(fill, column, rows);
		size_t pitch = rows == 1 ? width : fill->period;
		if (width == 4)
			result = cuda->cuMemsetD2D32Async(address, pitch, read_32(bytes), 1, rows,
							  fill->stream);
		else if (width == 2)
			result = cuda->cuMemsetD2D16Async(address, pitch, read_16(bytes), 1, rows,
							  fill->stream);
		else
			result = cuda->cuMemsetD2D8Async(address, pitch, bytes[0], 1, rows,
							 fill->stream);
	}
	return result;
}

static CUresult fill_by_doubling(struct fill *fill)
{
	/* If the range is shorter than the pattern, the pattern ends with the range. */
	if (fill->period > fill->size_bytes)
		fill->period = fill->size_bytes;
	uint64_t rows = fill->size_bytes / fill->period, most = BLOCK_BYTES / fill->period;
	if (rows > most)
		rows = most;
	CUresult result = set_rows(fill, rows);
	for (uint64_t done = rows * fill->period, next;
	     result == CUDA_SUCCESS && done < fill->size_bytes; done += next) {
		uint64_t left = fill->size_bytes - done;
		next = left < done ? left : done;
		result = fill->cuda->cuMemcpyDtoDAsync(fill->address + done, fill->address, next,
						       fill->stream);
	}
	return result;
}

bool cuda_fill_is_simple(CUdeviceptr address, uint64_t size_bytes, const void *pattern,
			 size_t pattern_bytes)
{
	const size_t period = find_period(pattern, pattern_bytes);

	return (period == 1 || period == 2 || period == 4) && address % period == 0 &&
	       size_bytes % period == 0;
}

CUresult cuda_fill(const struct cuda_library *library, CUstream stream, CUdeviceptr address,
		   uint64_t size_bytes, const void *pattern, size_t pattern_bytes)
{
	struct fill fill = {
		.cuda = library,
		.stream = stream,
		.address = address,
		.size_bytes = size_bytes,
		.pattern = pattern,
		.period = find_period(pattern, pattern_bytes),
	};

	if (size_bytes == 0 || fill.period == 0 || fill.period > FILL_PATTERN_BYTES_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if ((fill.period == 1 || fill.period == 2 || fill.period == 4) &&
	    address % fill.period == 0)
		return fill_words(&fill);
	return fill_by_doubling(&fill);
}
