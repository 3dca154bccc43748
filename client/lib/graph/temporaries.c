/* Temporaries of graphs: the nodes that may use one, and the check that bytes are written before
 * they are read (sycl_buffer_create_temporary). */
#include "graph/executable_graph.h"

#include "access_mode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a temporary that nodes have written, in ranges that do not touch. */
struct written {
	const struct buffer *root;
	struct written_range {
		uint64_t begin, end;
	} * ranges;
	uint32_t count, capacity;
};

struct written_list {
	struct written *entries;
	uint32_t count, capacity;
};

sycl_result graph_check_no_temporaries(const struct handler *handler)
{
	for (uint32_t i = 0; i < handler->requirements.count; i++) {
		struct buffer *buffer = handler_requirement_at(handler, i)->buffer;
		if (buffer_root(buffer)->is_temporary)
			return error_set_object(SYCL_ERROR_INVALID, buffer->remote.id,
						"a temporary of graphs is for nodes of graphs");
	}
	return SYCL_SUCCESS;
}

sycl_result graph_check_temporary(const struct handler *handler, struct buffer *buffer)
{
	bool for_host = handler->action == HANDLER_ACTION_HOST_TASK ||
			handler->action == HANDLER_ACTION_UPDATE ||
			(handler->host_source && !handler->host_is_usm);
	if (!for_host || !buffer_root(buffer)->is_temporary)
		return SYCL_SUCCESS;
	return error_set_object(SYCL_ERROR_INVALID, buffer->remote.id,
				"the host cannot access a temporary of graphs");
}

/* NULL: no memory. */
static struct written *written_find_or_make(struct written_list *list, const struct buffer *root)
{
	for (uint32_t i = list->count; i > 0; i--) {
		if (list->entries[i - 1].root == root)
			return &list->entries[i - 1];
	}
	if (list->count == list->capacity) {
		uint32_t capacity = list->capacity ? list->capacity * 2 : 8;
		struct written *entries = reallocarray(list->entries, capacity, sizeof(*entries));
		if (!entries)
			return NULL;
		list->entries = entries;
		list->capacity = capacity;
	}
	list->entries[list->count] = (struct written){.root = root};
	return &list->entries[list->count++];
}

static bool written_has(const struct written *written, uint64_t begin, uint64_t end)
{
	for (uint32_t i = 0; i < written->count; i++) {
		if (written->ranges[i].begin <= begin && end <= written->ranges[i].end)
			return true;
	}
	return begin == end;
}

/* Adds a range, joined with all ranges that it touches. -1: no memory. */
static int written_add(struct written *written, uint64_t begin, uint64_t end)
{
	if (begin == end)
		return 0;
	if (written->count == written->capacity) {
		uint32_t capacity = written->capacity ? written->capacity * 2 : 4;
		struct written_range *ranges =
			reallocarray(written->ranges, capacity, sizeof(*ranges));
		if (!ranges)
			return -1;
		written->ranges = ranges;
		written->capacity = capacity;
	}
	uint32_t kept = 0;
	for (uint32_t i = 0; i < written->count; i++) {
		struct written_range other = written->ranges[i];
		if (other.end < begin || end < other.begin) {
			written->ranges[kept++] = other;
			continue;
		}
		begin = other.begin < begin ? other.begin : begin;
		end = other.end > end ? other.end : end;
	}
	written->ranges[kept] = (struct written_range){begin, end};
	written->count = kept + 1;
	return 0;
}

struct use {
	struct buffer *buffer;
	uint64_t begin, end; /* offsets in the root */
	uint32_t mode;
};

/* False: not of a temporary. */
static bool temporary_use(const struct handler *handler, uint32_t index, struct use *use_out)
{
	const struct handler_requirement *requirement = handler_requirement_at(handler, index);
	struct buffer *buffer = requirement->buffer;
	if (!buffer_root(buffer)->is_temporary)
		return false;
	*use_out = (struct use){
		.buffer = buffer,
		.begin = buffer->origin_bytes + requirement->begin,
		.end = buffer->origin_bytes + requirement->end,
		.mode = requirement->mode,
	};
	return true;
}

static sycl_result check_written_first(struct written_list *list, const struct handler *handler)
{
	struct use use;
	for (uint32_t i = 0; i < handler->requirements.count; i++) {
		if (!temporary_use(handler, i, &use))
			continue;
		const struct written *written = written_find_or_make(list, buffer_root(use.buffer));
		if (!written)
			return error_no_memory();
		if (access_mode_needs_contents(use.mode) &&
		    !written_has(written, use.begin, use.end))
			return error_set_object(
				SYCL_ERROR_INVALID, use.buffer->remote.id,
				"a node needs bytes %" PRIu64 " to %" PRIu64
				" of a temporary, and none before it writes all of them",
				use.begin, use.end);
	}
	/* A node needs the contents before it, so its own writes are added after the check. */
	for (uint32_t i = 0; i < handler->requirements.count; i++) {
		if (!temporary_use(handler, i, &use) || !access_mode_writes(use.mode))
			continue;
		struct written *written = written_find_or_make(list, buffer_root(use.buffer));
		if (!written || written_add(written, use.begin, use.end) < 0)
			return error_no_memory();
	}
	return SYCL_SUCCESS;
}

/* Nodes that use the same bytes, one of them writing, are ordered by edges. So a node that runs
 * before another one also precedes it in the list. */
sycl_result graph_check_flattened(const struct executable_graph *graph)
{
	struct written_list list = {.count = 0};
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t i = 0; i < graph->count && !result; i++) {
		if (graph->nodes[i].handler)
			result = check_written_first(&list, graph->nodes[i].handler);
	}
	for (uint32_t i = 0; i < list.count; i++)
		free(list.entries[i].ranges);
	free(list.entries);
	return result;
}
