/* Events: a group's number in its queue and its completion slot. */
#include "queue/queue.h"
#include "host_task/host_tasks.h"

#include "clock.h"

#include <stdlib.h>

#define START_REST_MIN_NS 20000u
#define START_REST_MAX_NS 10000000u

/* Drops the waits when the program cannot request them any more. An event has no other list, and
 * the events dropped here have none either. */
static void drop_waits(struct event *event)
{
	struct connection *c = event->object.connection;
	if (!atomic_load_explicit(&event->waits, memory_order_relaxed))
		return;
	(void)pthread_mutex_lock(&c->state_lock);
	struct event **waits = event->waits;
	uint32_t count = event->wait_count;
	event->waits = NULL;
	event->wait_count = 0;
	(void)pthread_mutex_unlock(&c->state_lock);
	for (uint32_t i = 0; i < count; i++)
		object_unref(&waits[i]->object);
	free((void *)waits);
}

static void event_destroy(struct object *object)
{
	struct event *event = (struct event *)object;
	struct connection *c = object->connection;
	drop_waits(event);
	for (uint32_t i = 0; i < event->native_count; i++)
		object_unref(&event->natives[i]->object);
	free(event->natives);
	if (event->own_slot) {
		(void)pthread_mutex_lock(&c->state_lock);
		slots_give(&c->slots, event->slot);
		(void)pthread_mutex_unlock(&c->state_lock);
	}
	queue_line_drop(c, event->line);
	object_delete(object);
}

struct event *event_new(struct connection *c, struct queue_line *line)
{
	struct event *event = object_new(sizeof(*event), c);
	if (!event)
		return NULL;
	if (handle_create(&event->object, HANDLE_EVENT, event_destroy) < 0) {
		(void)error_no_memory();
		object_delete(&event->object);
		return NULL;
	}
	event->line = line;
	event->slot = line->slot;
	queue_line_hold(line);
	return event;
}

sycl_result event_check_sent(const struct event *event)
{
	if (!event->graph)
		return SYCL_SUCCESS;
	return error_set(SYCL_ERROR_INVALID,
			 "the event was recorded into a graph: launches have events of their own");
}

bool event_is_complete(const struct event *event)
{
	const struct completion_slot *slot = &event->object.connection->slot_memory[event->slot];
	return sequence_reached(atomic_load_explicit(&slot->sequence, memory_order_acquire),
				event->value);
}

static sycl_result event_outcome(struct connection *c, struct event *event)
{
	if (atomic_load_explicit(&c->slot_memory[event->slot].status, memory_order_acquire) == 0)
		return SYCL_SUCCESS;
	return queue_line_group_result(c, event->line, event->group, event->own_slot);
}

sycl_result event_finish(struct event *event, uint64_t deadline_ns)
{
	struct connection *c = event->object.connection;
	sycl_result sent = event_check_sent(event);
	if (sent)
		return sent;
	if (!event_is_complete(event)) {
		if (host_task_is_here(event->line, event->group, false))
			return error_set_object(
				SYCL_ERROR_INVALID, event->line->remote.id,
				"this thread runs the host task that it would wait for");
		sycl_result result =
			queue_line_wait(c, event->line, event->slot, event->value, deadline_ns);
		if (result)
			return result;
	}
	connection_observe(c);
	lent_ranges_settle(c, event->line);
	return event_outcome(c, event);
}

SYCL_API sycl_result sycl_event_retain(sycl_event event)
{
	return handle_retain(event, HANDLE_EVENT);
}

SYCL_API sycl_result sycl_event_release(sycl_event handle)
{
	PIN(event, event, handle);
	sycl_result result = object_take(&event->object);
	if (result)
		return result;
	if (object_users(&event->object) == 0) {
		drop_waits(event);
		/* Nobody can signal it any more. */
		if (event->is_host)
			(void)host_event_signal(event->object.connection, event->line, event->group,
						SYCL_ERROR_EVENT);
	}
	connection_handle_released(event->object.connection);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_event_get_reference_count(sycl_event event, uint32_t *count_out)
{
	return handle_get_reference_count(event, HANDLE_EVENT, count_out);
}

SYCL_API sycl_result sycl_event_wait(sycl_event handle)
{
	PIN(event, event, handle);
	return event_finish(event, UINT64_MAX);
}

SYCL_API sycl_result sycl_event_wait_for(sycl_event handle, uint64_t timeout_ns)
{
	PIN(event, event, handle);
	return event_finish(event, clock_deadline_ns(timeout_ns));
}

SYCL_API sycl_result sycl_event_wait_all(uint32_t count, const sycl_event *events,
					 uint64_t timeout_ns)
{
	if (count > 0 && !events)
		return error_set(SYCL_ERROR_INVALID, "a list of %u events is NULL", count);
	uint64_t deadline_ns = clock_deadline_ns(timeout_ns);
	/* Every handle first: a wait must not end half-way for a value that is no handle. */
	for (uint32_t i = 0; i < count; i++) {
		PIN(event, event, events[i]);
	}
	struct failure first = {.code = SYCL_SUCCESS};
	for (uint32_t i = 0; i < count; i++) {
		sycl_result result = sycl_event_wait_for(
			events[i], timeout_ns == SYCL_FOREVER_NS ? timeout_ns : 0);
		if (result == SYCL_ERROR_TIMEOUT) {
			uint64_t now = clock_now_ns();
			result = sycl_event_wait_for(events[i],
						     deadline_ns > now ? deadline_ns - now : 0);
		}
		if (result == SYCL_ERROR_TIMEOUT)
			return result;
		if (result && first.code == SYCL_SUCCESS)
			error_get(&first);
	}
	return first.code ? error_set_failure(&first) : SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_event_signal(sycl_event handle, sycl_result outcome)
{
	PIN(event, event, handle);
	if (outcome > 0)
		return error_set(SYCL_ERROR_INVALID, "%d is no result", (int)outcome);
	if (!event->is_host)
		return error_set(SYCL_ERROR_INVALID, "the program does not signal this event");
	return host_event_signal(event->object.connection, event->line, event->group, outcome);
}

struct any_wait {
	uint32_t count;
	struct event **events;
	uint32_t found; /* `count`: none */
};

static bool any_is_complete(struct connection *c, void *context)
{
	struct any_wait *wait = context;
	(void)c;
	for (wait->found = 0; wait->found < wait->count; wait->found++)
		if (event_is_complete(wait->events[wait->found]))
			return true;
	return false;
}

static sycl_result wait_for_any(struct any_wait *wait, uint64_t timeout_ns, uint32_t *index_out)
{
	struct connection *c = wait->events[0]->object.connection;
	for (uint32_t i = 0; i < wait->count; i++) {
		sycl_result sent = event_check_sent(wait->events[i]);
		if (sent)
			return sent;
		if (wait->events[i]->object.connection != c)
			return error_set(SYCL_ERROR_INVALID,
					 "the events belong to different connections");
	}
	if (!any_is_complete(c, wait)) {
		sycl_result result =
			connection_wait(c, any_is_complete, wait, WAIT_SPINS | WAIT_RUNS,
					clock_deadline_ns(timeout_ns));
		if (result)
			return result;
	}
	connection_observe(c);
	/* Another thread's check may have run meanwhile: `found` is this call's own. */
	if (!any_is_complete(c, wait))
		return error_set(SYCL_ERROR_RUNTIME, "no event is complete");
	*index_out = wait->found;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_event_wait_any(uint32_t count, const sycl_event *events,
					 uint64_t timeout_ns, uint32_t *index_out)
{
	REQUIRE_OUTPUT(index_out);
	if (count == 0 || !events)
		return error_set(SYCL_ERROR_INVALID, "the list of events is empty");
	struct event **pinned = calloc(count, sizeof(struct event *));
	if (!pinned)
		return error_no_memory();
	sycl_result result = SYCL_SUCCESS;
	uint32_t held = 0;
	for (; held < count && !result; held++) {
		struct object *object = NULL;
		result = handle_pin(events[held], HANDLE_EVENT, &object);
		if (result)
			break;
		pinned[held] = (struct event *)object;
	}
	struct any_wait wait = {.count = count, .events = pinned};
	if (!result)
		result = wait_for_any(&wait, timeout_ns, index_out);
	struct failure why;
	if (result)
		error_get(&why);
	while (held > 0)
		object_unref(&pinned[--held]->object);
	free((void *)pinned);
	return result ? error_set_failure(&why) : SYCL_SUCCESS;
}

struct profile_answer {
	uint64_t submit_ns, start_ns, end_ns;
	uint32_t state;
	bool known;
};

static void pending_take_profile(struct pending *pending, const Sycl__V1__Reply *reply)
{
	if (reply->body_case != SYCL__V1__REPLY__BODY_PROFILE)
		return;
	struct profile_answer *answer = pending->context;
	*answer = (struct profile_answer){.submit_ns = reply->profile->submit_ns,
					  .start_ns = reply->profile->start_ns,
					  .end_ns = reply->profile->end_ns,
					  .state = reply->profile->state,
					  .known = true};
}

static sycl_result event_query_profile(struct event *event, struct profile_answer *answer)
{
	*answer = (struct profile_answer){.known = false};
	Sycl__V1__ProfileQuery query = SYCL__V1__PROFILE_QUERY__INIT;
	query.queue = event->line->remote.id;
	query.group = event->group;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_PROFILE_QUERY;
	command.profile_query = &query;
	struct pending pending = {.take = pending_take_profile, .context = answer};
	sycl_result result =
		connection_request(event->object.connection, &command, &pending, UINT64_MAX);
	if (!result && !answer->known)
		return error_set(SYCL_ERROR_RUNTIME, "the service gave no times");
	return result;
}

SYCL_API sycl_result sycl_event_get_status(sycl_event handle, sycl_command_status *status_out)
{
	PIN(event, event, handle);
	REQUIRE_OUTPUT(status_out);
	sycl_result sent = event_check_sent(event);
	if (sent)
		return sent;
	if (event_is_complete(event)) {
		*status_out = SYCL_COMMAND_COMPLETE;
		return SYCL_SUCCESS;
	}
	struct profile_answer answer;
	sycl_result result = event_query_profile(event, &answer);
	if (result)
		return result;
	/* The event may have become complete meanwhile; it never goes back (H9). */
	bool complete = answer.state >= SYCL_COMMAND_COMPLETE || event_is_complete(event);
	*status_out = complete ? SYCL_COMMAND_COMPLETE
			       : (answer.state == SYCL_COMMAND_RUNNING ? SYCL_COMMAND_RUNNING
								       : SYCL_COMMAND_SUBMITTED);
	return SYCL_SUCCESS;
}

/* Returns the time until the service is queried again for a beginning: an eighth of the time waited
 * so far. */
static uint64_t start_rest_ns(uint64_t waited_ns)
{
	uint64_t rest_ns = waited_ns / 8;
	if (rest_ns < START_REST_MIN_NS)
		return START_REST_MIN_NS;
	return rest_ns > START_REST_MAX_NS ? START_REST_MAX_NS : rest_ns;
}

/* No slot reports a beginning. The service has it at the end for certain, and sooner where the
 * driver reports it: it is queried in between. */
static sycl_result await_start(struct event *event, struct profile_answer *answer)
{
	const uint64_t since_ns = clock_now_ns();
	for (bool over = false;;) {
		sycl_result result = event_query_profile(event, answer);
		if (result || over || answer->start_ns != 0)
			return result;
		uint64_t now_ns = clock_now_ns();
		result = event_finish(event, now_ns + start_rest_ns(now_ns - since_ns));
		over = event_is_complete(event);
		if (over)
			result = event_finish(event, UINT64_MAX); /* whether the group failed */
		if (result && (over || result != SYCL_ERROR_TIMEOUT))
			return result;
	}
}

SYCL_API sycl_result sycl_event_get_profiling(sycl_event handle, sycl_profiling what,
					      uint64_t *ns_out)
{
	PIN(event, event, handle);
	REQUIRE_OUTPUT(ns_out);
	if ((uint32_t)what > SYCL_PROFILING_END)
		return error_set(SYCL_ERROR_INVALID, "%d is no time of an event", (int)what);
	sycl_result sent = event_check_sent(event);
	if (sent)
		return sent;
	if (event->untimed)
		return error_set(SYCL_ERROR_INVALID,
				 "the graph was finalized without SYCL_GRAPH_ENABLE_PROFILING");
	if (!event->line->profiling)
		return error_set_object(SYCL_ERROR_INVALID, event->line->remote.id,
					"the queue was made without SYCL_QUEUE_ENABLE_PROFILING");
	struct profile_answer answer = {.known = false};
	sycl_result result =
		what == SYCL_PROFILING_END ? event_finish(event, UINT64_MAX) : SYCL_SUCCESS;
	if (!result)
		result = what == SYCL_PROFILING_START ? await_start(event, &answer)
						      : event_query_profile(event, &answer);
	if (!result)
		*ns_out =
			what == SYCL_PROFILING_SUBMIT
				? answer.submit_ns
				: (what == SYCL_PROFILING_START ? answer.start_ns : answer.end_ns);
	return result;
}
