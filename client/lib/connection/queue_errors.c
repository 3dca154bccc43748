/* Failures of command groups on their way to asynchronous handlers (M2 - M5). */
#include "connection/connection.h"
#include "connection/queue_line.h"

#include <stdlib.h>
#include <string.h>

struct collected {
	struct sycl_async_error *errors;
	char **texts; /* owned, one for each error; NULL: the text was not kept */
	uint32_t count;
};

static void collected_free(struct collected *collected)
{
	for (uint32_t i = 0; i < collected->count; i++)
		free(collected->texts[i]);
	free((void *)collected->texts);
	free(collected->errors);
}

/* Copies all failures that were not reported, and marks them as reported. With the state lock. */
static sycl_result collect_unreported(struct queue_line *line, struct collected *collected)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < line->failure_count; i++)
		count += !line->failures[i].reported;
	if (count == 0)
		return SYCL_SUCCESS;
	collected->errors = calloc(count, sizeof(*collected->errors));
	collected->texts = calloc(count, sizeof(char *));
	if (!collected->errors || !collected->texts)
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory for %u errors", count);
	for (uint32_t i = 0; i < line->failure_count; i++) {
		struct group_failure *failure = &line->failures[i];
		if (failure->reported)
			continue;
		failure->reported = true;
		uint32_t n = collected->count++;
		collected->texts[n] = failure->text ? strdup(failure->text) : NULL;
		collected->errors[n] = (struct sycl_async_error){
			.result = failure->code,
			.native_code = failure->native_code,
			.backend = failure->backend,
			.group = failure->group,
			.text = collected->texts[n]
					? collected->texts[n]
					: "a command group failed; its reason was not kept",
		};
	}
	return SYCL_SUCCESS;
}

sycl_result queue_line_throw(struct connection *c, struct queue_line *line,
			     sycl_async_handler *handler, void *user_data)
{
	if (!handler) {
		handler = line->handler;
		user_data = line->handler_data;
	}
	if (!handler)
		return queue_line_first_unreported(c, line, UINT64_MAX);
	CLEANUP(collected_free) struct collected collected = {.count = 0};
	(void)pthread_mutex_lock(&c->state_lock);
	(void)replies_drain(c);
	sycl_result result = collect_unreported(line, &collected);
	(void)pthread_mutex_unlock(&c->state_lock);
	if (!result && collected.count > 0)
		handler(collected.count, collected.errors, user_data);
	return result;
}

void queue_line_throw_late(struct connection *c, struct queue_line *line)
{
	if (!line->handler)
		return;
	struct failure before;
	error_get(&before);
	(void)queue_line_throw(c, line, NULL, NULL);
	error_note_failure(&before);
}

/* Called when the engine has released the line. Frees it now, or after its handler has received the
 * failures. */
static void end_line(struct connection *c, struct queue_line *line)
{
	lent_ranges_end(c, line);
	bool unreported = false;
	for (uint32_t i = 0; i < line->failure_count && line->handler; i++)
		unreported = unreported || !line->failures[i].reported;
	if (!unreported) {
		(void)queue_line_free(line);
		return;
	}
	line->next_closed = c->closed_queues;
	c->closed_queues = line;
}

void queue_line_released(struct connection *c, struct id_entry *entry)
{
	end_line(c, entry->line);
	entry->line = NULL;
}

void queue_line_receive_failure(struct connection *c, const Sycl__V1__Reply *reply)
{
	struct id_entry *entry = object_ids_find(&c->ids, reply->group_failed->queue);
	if (!entry || !entry->line)
		return;
	struct failure failure;
	failure_from_failed(reply->status, &failure);
	queue_line_add_failure(entry->line, reply->group_failed->group, &failure);
}

void queue_lines_throw_closed(struct connection *c)
{
	for (;;) {
		(void)pthread_mutex_lock(&c->state_lock);
		struct queue_line *line = c->closed_queues;
		if (line)
			c->closed_queues = line->next_closed;
		(void)pthread_mutex_unlock(&c->state_lock);
		if (!line)
			return;
		queue_line_throw_late(c, line);
		(void)queue_line_free(line);
	}
}

/* The lines are first removed from the table of names. Otherwise a reply that is read meanwhile
 * could free a line by its name. */
void queue_lines_throw_last(struct connection *c)
{
	if (c->ids.used == 0)
		return; /* no object was ever made; perhaps the connection was never open */
	(void)pthread_mutex_lock(&c->state_lock);
	(void)replies_drain(c);
	for (uint32_t i = 0; i < c->ids.used; i++) {
		struct queue_line *line = c->ids.entries[i].line;
		c->ids.entries[i].line = NULL;
		if (!line)
			continue;
		c->ids.entries[i].released = NULL;
		end_line(c, line);
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	queue_lines_throw_closed(c);
}

void queue_lines_free(struct connection *c)
{
	for (uint32_t i = 0; i < c->ids.used; i++)
		c->ids.entries[i].line = queue_line_free(c->ids.entries[i].line);
}
