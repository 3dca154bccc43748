/*
 * Copies from and to the program's own memory: by way of memory shared with the engine, which
 * cannot reach the program's. The program's bytes are read when the group is submitted, or in their
 * turn, as written bytes are. The latter is a host task of its own, before or behind the copy.
 */
#include "submit/submit.h"
#include "host_task/host_tasks.h"
#include "usm/staging.h"

#include <stdlib.h>
#include <string.h>

static void staging_drop_user(void *staging)
{
	usm_staging_change_users(staging, UINT32_MAX);
}

static sycl_result staging_copy_in(sycl_host_task task, void *user_data)
{
	(void)task;
	const struct usm_staging *staging = user_data;
	memcpy(staging->shared, staging->program, staging->size_bytes);
	return SYCL_SUCCESS;
}

static sycl_result staging_copy_out(sycl_host_task task, void *user_data)
{
	(void)task;
	const struct usm_staging *staging = user_data;
	memcpy(staging->program, staging->shared, staging->size_bytes);
	return SYCL_SUCCESS;
}

struct program_copy {
	void *destination;
	const void *source;
	uint64_t size_bytes;
};

static sycl_result staging_copy_in_program(sycl_host_task task, void *user_data)
{
	(void)task;
	const struct program_copy *copy = user_data;
	memcpy(copy->destination, copy->source, copy->size_bytes);
	return SYCL_SUCCESS;
}

static void event_release_if_any(sycl_event *event)
{
	if (*event)
		(void)sycl_event_release(*event);
}

struct host_part {
	sycl_host_task_function *function;
	void *user_data;
	sycl_user_data_destroy *destroy;
};

static sycl_result handler_depend_on(sycl_handler to, const struct handler *from, sycl_event event)
{
	sycl_result result = event ? sycl_handler_depends_on(to, event) : SYCL_SUCCESS;
	for (uint32_t i = 0; !result && !event && i < from->depends_on.count; i++)
		result = sycl_handler_depends_on(
			to, handle_of(&handler_dependency_at(from, i)->event->object));
	return result;
}

/*
 * A host task behind `event`, or without one behind what the handler depends on. Its user data is
 * destroyed in any case.
 */
static sycl_result send_host_part(const struct handler *handler, const struct host_part *part,
				  sycl_event event, sycl_event *event_out)
{
	struct handler *made = NULL;
	sycl_result result = handler_new(handler->queue, &made);
	if (result) {
		part->destroy(part->user_data);
		return result;
	}
	made->step_of = handler;
	sycl_handler handle = handle_of(&made->object);
	result = sycl_handler_host_task(handle, part->function, part->user_data, part->destroy);
	if (result)
		part->destroy(part->user_data);
	if (!result)
		result = handler_depend_on(handle, handler, event);
	if (!result)
		return sycl_handler_submit(handle, event_out);
	struct failure why;
	error_get(&why);
	(void)sycl_handler_discard(handle);
	return error_set_failure(&why);
}

/* Submits a group without an action that has the handler's requirements, so that the copy comes
 * behind them. `event_out` is NULL if there are none: then the handler's events order the copy. */
static sycl_result send_requisites(const struct handler *handler, sycl_event *event_out)
{
	*event_out = NULL;
	if (handler->requirements.count == 0)
		return SYCL_SUCCESS;
	struct handler view = *handler;
	view.action = HANDLER_ACTION_NONE;
	return handler_submit_step(&view, event_out);
}

/* The copy itself, with this memory in place of the program's, behind one more event (NULL: none).
 */
static sycl_result send_copy(const struct handler *handler, struct usm_staging *staging,
			     sycl_event behind, sycl_event *event_out)
{
	struct handler view = *handler;
	CLEANUP(event_unpin) struct event *before = NULL;
	struct handler_dependency *dependencies = NULL;
	uint32_t count = handler->depends_on.count;
	sycl_result result = behind ? event_pin(behind, &before) : SYCL_SUCCESS;
	if (result)
		return result;
	view.usm.range = &staging->range;
	view.step_of = handler;
	if (before) {
		if (count == DEPENDENCIES_MAX)
			return error_set(SYCL_ERROR_QUOTA,
					 "a command group depends on at most %u events",
					 DEPENDENCIES_MAX);
		dependencies = calloc(count + 1, sizeof(*dependencies));
		if (!dependencies)
			return error_no_memory();
		if (count > 0)
			memcpy(dependencies, handler->depends_on.items,
			       count * sizeof(*dependencies));
		dependencies[count].event = before;
		view.depends_on = (struct handler_list){dependencies, count + 1, count + 1};
	}
	result = handler_submit_step(&view, event_out);
	free(dependencies);
	if (result)
		return result;
	CLEANUP(event_unpin) struct event *sent = NULL;
	if (event_pin(*event_out, &sent) == SYCL_SUCCESS)
		usm_staging_set_group(staging, sent);
	return SYCL_SUCCESS;
}

/* Copies from the program: now, or as a command in order if a host task may still write those
 * bytes. */
static sycl_result staging_send_from_program(const struct handler *handler,
					     struct usm_staging *staging, sycl_event *event_out)
{
	struct connection *c = handler->object.connection;
	(void)pthread_mutex_lock(&c->state_lock);
	bool in_turn = c->host_tasks->count > 0;
	(void)pthread_mutex_unlock(&c->state_lock);
	if (!in_turn) {
		memcpy(staging->shared, staging->program, staging->size_bytes);
		return send_copy(handler, staging, NULL, event_out);
	}
	CLEANUP(event_release_if_any) sycl_event requisites = NULL;
	CLEANUP(event_release_if_any) sycl_event read = NULL;
	sycl_result result = send_requisites(handler, &requisites);
	if (result)
		return result;
	usm_staging_change_users(staging, 1);
	const struct host_part part = {staging_copy_in, staging, staging_drop_user};
	result = send_host_part(handler, &part, requisites, &read);
	return result ? result : send_copy(handler, staging, read, event_out);
}

static sycl_result staging_send_to_program(const struct handler *handler,
					   struct usm_staging *staging, sycl_event *event_out)
{
	CLEANUP(event_release_if_any) sycl_event copied = NULL;
	sycl_result result = send_copy(handler, staging, NULL, &copied);
	if (result)
		return result;
	usm_staging_change_users(staging, 1);
	const struct host_part part = {staging_copy_out, staging, staging_drop_user};
	return send_host_part(handler, &part, copied, event_out);
}

/* Both ends are memory of the program: a host task copies. */
static sycl_result staging_send_within_program(const struct handler *handler, sycl_event *event_out)
{
	CLEANUP(event_release_if_any) sycl_event requisites = NULL;
	sycl_result result = send_requisites(handler, &requisites);
	if (result)
		return result;
	struct program_copy *copy = malloc(sizeof(*copy));
	if (!copy)
		return error_no_memory();
	*copy = (struct program_copy){handler->usm.destination, handler->usm.source,
				      handler->size_bytes};
	const struct host_part part = {staging_copy_in_program, copy, free};
	return send_host_part(handler, &part, requisites, event_out);
}

static sycl_result send_staged(const struct handler *handler, sycl_event *event_out)
{
	bool to_program = handler->usm.program_destination;
	void *program =
		to_program ? handler->usm.destination : (void *)(uintptr_t)handler->usm.source;
	struct usm_staging *staging = NULL;
	sycl_result result =
		usm_staging_new(handler->object.connection, program, handler->size_bytes, &staging);
	if (result)
		return result;
	result = to_program ? staging_send_to_program(handler, staging, event_out)
			    : staging_send_from_program(handler, staging, event_out);
	usm_staging_change_users(staging, UINT32_MAX);
	return result;
}

sycl_result usm_submit_staged(const struct handler *handler, sycl_event *event_out)
{
	/* Needed here, even if the caller passes no place for it. */
	sycl_event event = NULL;
	sycl_result result = handler->usm.program_destination && handler->usm.program_source
				     ? staging_send_within_program(handler, &event)
				     : send_staged(handler, &event);
	if (result)
		return result;
	if (event_out)
		*event_out = event;
	else
		(void)sycl_event_release(event);
	return SYCL_SUCCESS;
}
