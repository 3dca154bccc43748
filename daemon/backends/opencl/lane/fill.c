#include "opencl/lane/fill.h"

#include "protocol_limits.h"
#include "opencl/driver/fault.h"
#include "opencl/driver/sent.h"
#include "status.h"

#include <string.h>

#define OPENCL_FILL_BLOCK_BYTES 65536u

static bool driver_can_fill(const struct opencl_fill_request *request)
{
	size_t pattern = request->pattern_bytes;

	return (pattern & (pattern - 1)) == 0 && request->offset_bytes % pattern == 0 &&
	       request->size_bytes % pattern == 0;
}

/* The first block is written from host memory. Then copies that do not overlap double the filled
 * part: a few commands for any size. The lane is in order, so only the first command has the waits.
 * */
static int fill_by_copies(struct backend_lane *lane, const struct opencl_fill_request *request,
			  void *block, uint64_t block_bytes, cl_event *event_out)
{
	const struct opencl_library *cl = lane->device->cl;
	cl_mem buffer = request->memory->buffer;
	uint64_t done = block_bytes, size = request->size_bytes;

	cl_int code = cl->EnqueueWriteBuffer(lane->queue, buffer, CL_FALSE, request->offset_bytes,
					     block_bytes, block, request->wait_count,
					     request->waits, event_out);
	while (code == CL_SUCCESS && done < size) {
		uint64_t next = done < size - done ? done : size - done;
		cl_event event = NULL;
		code = cl->EnqueueCopyBuffer(lane->queue, buffer, buffer, request->offset_bytes,
					     request->offset_bytes + done, next, 0, NULL, &event);
		code = opencl_sent(cl, code, event, event_out);
		done += next;
	}
	return code;
}

int opencl_fill(struct backend_lane *lane, const struct opencl_fill_request *request,
		cl_event *event_out, void **staging_out, struct backend_fault *fault_out)
{
	const struct opencl_library *cl = lane->device->cl;
	size_t pattern = request->pattern_bytes;

	if (pattern == 0 || pattern > FILL_PATTERN_BYTES_MAX || request->size_bytes == 0) {
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "a fill of %llu bytes with a pattern of %zu",
				   (unsigned long long)request->size_bytes, pattern);
		return -EINVAL;
	}
	if (driver_can_fill(request)) {
		cl_int code = cl->EnqueueFillBuffer(lane->queue, request->memory->buffer,
						    request->pattern, pattern,
						    request->offset_bytes, request->size_bytes,
						    request->wait_count, request->waits, event_out);
		return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "fill a buffer");
	}

	uint64_t block_bytes = OPENCL_FILL_BLOCK_BYTES / pattern * pattern;
	if (block_bytes > request->size_bytes)
		block_bytes = request->size_bytes;
	char *block = malloc(block_bytes);
	if (!block)
		return opencl_no_memory(fault_out, "a pattern");
	for (uint64_t i = 0; i < block_bytes; i += pattern)
		memcpy(block + i, request->pattern,
		       pattern < block_bytes - i ? pattern : block_bytes - i);
	int code = fill_by_copies(lane, request, block, block_bytes, event_out);
	/* Commands that were sent before a failure still read the block. */
	if (*event_out)
		*staging_out = block;
	else
		free(block);
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "fill a buffer");
}
