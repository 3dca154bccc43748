/* Rows of launches: made and freed. row_send.c prepares and sends them. */
#include "cuda/lane/row.h"

#include <errno.h>
#include <stdlib.h>

void cuda_row_free(struct backend_row *row)
{
	if (!row || --row->references > 0)
		return;
	for (uint32_t i = 0; i < row->series.node_count; i++) {
		if (row->series.nodes[i] && row->series.nodes[i]->kernel)
			cuda_kernel_free(row->series.nodes[i]->kernel);
		free(row->series.nodes[i]);
	}
	free(row);
}

int cuda_row_make(struct backend_device *device, uint32_t count, struct backend_row **row_out)
{
	if (count == 0 || count > CUDA_SERIES_MAX)
		return -EAGAIN;
	struct backend_row *row = calloc(1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->device = device;
	row->references = 1;
	row->series.count = row->series.node_count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct cuda_collected *node =
			aligned_alloc(_Alignof(struct cuda_collected), sizeof(*node));
		row->series.nodes[i] = node;
		if (!node) {
			cuda_row_free(row);
			return -ENOMEM;
		}
		node->kernel = NULL;
	}
	*row_out = row;
	return 0;
}
