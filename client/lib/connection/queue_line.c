#include "connection/queue_line.h"

#include "connection/connection.h"
#include "connection/limits.h"
#include "base/lone_thread.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

sycl_result queue_line_create(struct connection *c, bool in_order, bool profiling,
			      line_released *released, struct queue_line **line_out)
{
	struct queue_line *line = calloc(1, sizeof(*line));
	if (!line)
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory for a queue");
	line->in_order = in_order;
	line->profiling = profiling;
	line->holders = 1;
	sycl_result result = remote_name(c, OBJECT_QUEUE, &line->remote);
	if (result) {
		free(line);
		return result;
	}
	(void)pthread_mutex_lock(&c->state_lock);
	struct id_entry *entry = object_ids_find(&c->ids, line->remote.id);
	int r = slots_take_counter(&c->slots, &line->slot);
	if (r == 0) {
		entry->line = line;
		entry->released = released;
		entry->slot = line->slot;
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	if (r < 0) {
		remote_forget(c, &line->remote);
		free(line);
		return error_set(SYCL_ERROR_QUOTA,
				 "all %u completion slots of the session are in use",
				 c->slots.count);
	}
	*line_out = line;
	return SYCL_SUCCESS;
}

struct queue_line *queue_line_free(struct queue_line *line)
{
	if (!line)
		return NULL;
	for (uint32_t i = 0; i < line->failure_count; i++)
		free(line->failures[i].text);
	free(line->failures);
	lent_ranges_fini(&line->lent);
	free(line->remote.why);
	free(line);
	return NULL;
}

void queue_line_hold(struct queue_line *line)
{
	(void)count_add(&line->holders, 1, memory_order_relaxed);
}

void queue_line_drop(struct connection *c, struct queue_line *line)
{
	/* The line is not freed here, because the engine may still report on its groups. The
	 * engine's last report is Released, or the end of the session. */
	if (count_add(&line->holders, -1u, memory_order_acq_rel) == 1)
		remote_release(c, &line->remote);
}

static void forget_oldest(struct queue_line *line)
{
	struct group_failure *oldest = &line->failures[0];
	line->forgotten_to = oldest->group;
	if (oldest->text) {
		free(oldest->text);
		line->text_count--;
	}
	line->failure_count--;
	memmove(oldest, oldest + 1, line->failure_count * sizeof(*oldest));
}

/* Returns the position of a group in the list, or the position for its insertion. */
static uint32_t position_of(const struct queue_line *line, uint64_t group)
{
	uint32_t low = 0, high = line->failure_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (line->failures[middle].group < group)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void queue_line_add_failure(struct queue_line *line, uint64_t group, const struct failure *failure)
{
	if (line->failure_count == LINE_FAILURES_MAX)
		forget_oldest(line);
	if (line->failure_count == line->failure_capacity) {
		uint32_t capacity = line->failure_capacity ? line->failure_capacity * 2 : 8;
		struct group_failure *more = realloc(line->failures, capacity * sizeof(*more));
		if (!more) {
			/* Without memory the failure is lost, and a query for it fails. */
			if (group > line->forgotten_to)
				line->forgotten_to = group;
			return;
		}
		line->failures = more;
		line->failure_capacity = capacity;
	}
	uint32_t at = position_of(line, group);
	if (at < line->failure_count && line->failures[at].group == group)
		return; /* reported twice */
	memmove(&line->failures[at + 1], &line->failures[at],
		(line->failure_count - at) * sizeof(*line->failures));
	line->failures[at] = (struct group_failure){.group = group,
						    .code = failure->code,
						    .native_code = failure->native_code,
						    .backend = failure->backend,
						    .object = failure->object};
	line->failure_count++;
	if (line->text_count < LINE_FAILURE_TEXTS_MAX) {
		line->failures[at].text = strdup(failure->text);
		line->text_count += line->failures[at].text != NULL;
	}
}

/* Reads the slot only if the answer depends on it. The service writes it often, from another
 * processor, so each read is slow. */
bool queue_line_is_full(const struct connection *c, struct queue_line *line)
{
	uint32_t most = c->limits.groups_in_flight;
	if (most == 0 || (uint32_t)line->groups - line->done < most)
		return false;
	most = connection_most_groups(c);
	line->done =
		atomic_load_explicit(&c->slot_memory[line->slot].sequence, memory_order_relaxed);
	uint32_t open = (uint32_t)line->groups - line->done;
	return (int32_t)open >= 0 && open >= most;
}

static sycl_result failure_report(struct queue_line *line, struct group_failure *failure,
				  bool consumed)
{
	failure->reported = failure->reported || consumed;
	struct failure detail = {.code = failure->code,
				 .native_code = failure->native_code,
				 .backend = failure->backend,
				 .object = failure->object ? failure->object : line->remote.id};
	(void)strncpy(detail.text,
		      failure->text ? failure->text
				    : "a command group failed; its reason was not kept",
		      sizeof(detail.text) - 1);
	return error_set_failure(&detail);
}

sycl_result queue_line_group_result(struct connection *c, struct queue_line *line, uint64_t group,
				    bool certainly_failed)
{
	(void)pthread_mutex_lock(&c->state_lock);
	(void)replies_drain(c); /* the reason was sent before the slot was written */
	uint32_t at = position_of(line, group);
	sycl_result result = SYCL_SUCCESS;
	if (at < line->failure_count && line->failures[at].group == group)
		result = failure_report(line, &line->failures[at], !line->handler);
	else if (certainly_failed || group <= line->forgotten_to)
		result = error_set_object(
			SYCL_ERROR_RUNTIME, line->remote.id,
			"command group %" PRIu64 " failed; its reason was not kept", group);
	(void)pthread_mutex_unlock(&c->state_lock);
	return result;
}

sycl_result queue_line_first_unreported(struct connection *c, struct queue_line *line,
					uint64_t group)
{
	sycl_result result = SYCL_SUCCESS;
	(void)pthread_mutex_lock(&c->state_lock);
	(void)replies_drain(c);
	for (uint32_t i = 0; i < line->failure_count && line->failures[i].group <= group && !result;
	     i++) {
		if (!line->failures[i].reported)
			result = failure_report(line, &line->failures[i], true);
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	return result;
}
