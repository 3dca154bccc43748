/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the contents of a buffer are read and written: by the library, or in shared virtual memory.
 * That lies in this process, too, so boxes of it are copied here. Between a buffer of each kind
 * nothing is copied.
 */
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

sycl_result buffer_to_host(sycl_handler handler, cl_mem from, size_t offset, void *to, size_t bytes)
{
	return from->svm ? sycl_handler_memcpy(handler, to, from->svm + offset, bytes)
			 : sycl_handler_copy_to_host(handler, from->sycl, offset, to, bytes);
}

sycl_result buffer_from_host(sycl_handler handler, const void *from, cl_mem to, size_t offset,
			     size_t bytes)
{
	return to->svm ? sycl_handler_memcpy(handler, to->svm + offset, from, bytes)
		       : sycl_handler_copy_from_host(handler, from, to->sycl, offset, bytes);
}

sycl_result buffer_copy(sycl_handler handler, cl_mem from, size_t from_offset, cl_mem to,
			size_t to_offset, size_t bytes)
{
	if (!from->svm && !to->svm)
		return sycl_handler_copy(handler, from->sycl, from_offset, to->sycl, to_offset,
					 bytes);
	if (!from->svm || !to->svm)
		return SYCL_ERROR_FEATURE_NOT_SUPPORTED;
	return sycl_handler_memcpy(handler, to->svm + to_offset, from->svm + from_offset, bytes);
}

sycl_result buffer_fill(sycl_handler handler, cl_mem memory, size_t offset, size_t bytes,
			const void *pattern, size_t pattern_bytes)
{
	return memory->svm ? sycl_handler_usm_fill(handler, memory->svm + offset, bytes, pattern,
						   pattern_bytes)
			   : sycl_handler_fill(handler, memory->sycl, offset, bytes, pattern,
					       pattern_bytes);
}

struct box_copy {
	char *to;
	const char *from;
	struct sycl_copy_rect box;
};

static sycl_result copy_box_now(sycl_host_task task, void *argument)
{
	const struct box_copy *copy = argument;
	const struct sycl_copy_rect *box = &copy->box;
	(void)task;
	for (uint64_t slice = 0; slice < box->slices; slice++)
		for (uint64_t row = 0; row < box->rows; row++)
			memcpy(copy->to + box->destination_offset_bytes +
				       slice * box->destination_slice_pitch_bytes +
				       row * box->destination_row_pitch_bytes,
			       copy->from + box->source_offset_bytes +
				       slice * box->source_slice_pitch_bytes +
				       row * box->source_row_pitch_bytes,
			       box->width_bytes);
	return SYCL_SUCCESS;
}

static sycl_result copy_box(sycl_handler handler, const void *from, void *to,
			    const struct sycl_copy_rect *box)
{
	struct box_copy *copy = malloc(sizeof(*copy));
	if (!copy)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	*copy = (struct box_copy){to, from, *box};
	sycl_result r = sycl_handler_host_task(handler, copy_box_now, copy, free);
	if (r != SYCL_SUCCESS)
		free(copy);
	return r;
}

sycl_result buffer_rect_to_host(sycl_handler handler, cl_mem from, void *to,
				const struct sycl_copy_rect *box)
{
	return from->svm ? copy_box(handler, from->svm, to, box)
			 : sycl_handler_copy_rect_to_host(handler, from->sycl, to, box);
}

sycl_result buffer_rect_from_host(sycl_handler handler, const void *from, cl_mem to,
				  const struct sycl_copy_rect *box)
{
	return to->svm ? copy_box(handler, from, to->svm, box)
		       : sycl_handler_copy_rect_from_host(handler, from, to->sycl, box);
}

sycl_result buffer_copy_rect(sycl_handler handler, cl_mem from, cl_mem to,
			     const struct sycl_copy_rect *box)
{
	if (!from->svm && !to->svm)
		return sycl_handler_copy_rect(handler, from->sycl, to->sycl, box);
	return from->svm && to->svm ? copy_box(handler, from->svm, to->svm, box)
				    : SYCL_ERROR_FEATURE_NOT_SUPPORTED;
}
