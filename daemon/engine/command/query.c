/* Requests that only query. */
#include "command/command.h"
#include "clock.h"
#include "graph/run.h"
#include "session/topology.h"

#include <inttypes.h>
#include <string.h>

int command_discover(struct session *session, const Sycl__V1__Command *command)
{
	(void)command;
	CLEANUP(topology_cleanup) struct topology *topology = NULL;
	int r = topology_create(session->engine->scheduler, session_in_process(session), &topology);
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.number = session->record;
	reply.body_case = SYCL__V1__REPLY__BODY_TOPOLOGY;
	if (r == 0)
		reply.topology = topology_message(topology);
	if (r == 0 && sycl__v1__reply__get_packed_size(&reply) > PACKET_BYTES_MAX)
		r = -EMSGSIZE;
	if (r == 0) {
		session_reply(session, &reply);
		return 0;
	}
	struct backend_fault fault;
	(void)fault_set(&fault, STATUS_PLATFORM, "the devices could not be queried: %s",
			strerror(-r));
	reply_status(session, session->record, 0, &fault);
	return 0;
}

int command_ping(struct session *session, const Sycl__V1__Command *command)
{
	(void)command;
	Sycl__V1__Pong pong = SYCL__V1__PONG__INIT;
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.number = session->record;
	reply.body_case = SYCL__V1__REPLY__BODY_PONG;
	reply.pong = &pong;
	session_reply(session, &reply);
	return 0;
}

int command_usage_query(struct session *session, const Sycl__V1__Command *command)
{
	(void)command;
	Sycl__V1__Usage usage;
	session_usage_fill(session, &usage);
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.number = session->record;
	reply.body_case = SYCL__V1__REPLY__BODY_USAGE;
	reply.usage = &usage;
	session_reply(session, &reply);
	return 0;
}

enum { STATE_SUBMITTED = 0, STATE_RUNNING = 1, STATE_COMPLETE = 2 };

static uint64_t session_relative_ns(const struct session *session, uint64_t ns)
{
	return ns > session->start_ns ? ns - session->start_ns : 0;
}

/* The state is known of every group; times are kept by profiling queues, of their latest groups. */
static int fill_profile(struct session *session, const struct queue *queue, uint64_t number,
			Sycl__V1__Profile *profile, struct backend_fault *fault)
{
	const struct window_entry *entry = group_window_find(&queue->window, number);
	profile->state = STATE_COMPLETE;
	if (entry) {
		struct group *group = list_entry(entry, struct group, entry);
		/* All nodes may be visited. */
		session->record_cost += group->run ? group->run->count / 16 : 0;
		bool running =
			group->run ? graph_run_running(group->run) : task_running(group->task);
		if (running && queue->profiling && !group->run && !group->start_ns)
			group->start_ns = task_begun_ns(group->task);
		profile->state = running ? STATE_RUNNING : STATE_SUBMITTED;
		profile->submit_ns = session_relative_ns(session, group->submit_ns);
		profile->start_ns = session_relative_ns(session, group->start_ns);
		return 0;
	}
	if (!queue->profiling)
		return 0;
	struct profile_times times;
	if (!profile_ring_get(&queue->profiles, number, &times))
		return fault_set(fault, STATUS_PROFILING,
				 "the times of command group %" PRIu64
				 " are not kept any more: a queue keeps those of its latest %u",
				 number, PROFILE_GROUPS_KEPT);
	profile->submit_ns = session_relative_ns(session, times.submit_ns);
	profile->start_ns = session_relative_ns(session, times.start_ns);
	profile->end_ns = session_relative_ns(session, times.end_ns);
	return 0;
}

int command_find_queue(struct session *session, uint64_t id, struct queue **queue_out,
		       struct backend_fault *fault)
{
	if (object_id_type(id) == OBJECT_QUEUE) {
		struct object *known = object_table_find(&session->objects, id);
		if (known && known->released) {
			*queue_out = (struct queue *)known;
			return 0;
		}
		if (!known && object_table_gone(&session->objects, id))
			return fault_set(
				fault, STATUS_PROFILING,
				"the queue was released, and with it the times of its groups");
	}
	return object_get(session, id, OBJECT_QUEUE, queue_out, fault);
}

int command_profile_query(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__ProfileQuery *message = command->profile_query;
	struct queue *queue;
	struct backend_fault fault;
	Sycl__V1__Profile profile = SYCL__V1__PROFILE__INIT;
	profile.state = STATE_COMPLETE;
	int r = command_find_queue(session, message->queue, &queue, &fault);
	if (r < 0)
		return r;
	if (r == 0 && (message->group == 0 || message->group > queue->window.last))
		return session_violation(session,
					 "a query names command group %" PRIu64
					 " of a queue that has had %" PRIu64,
					 message->group, queue->window.last);
	if (r == 0)
		r = fill_profile(session, queue, message->group, &profile, &fault);
	Sycl__V1__Status status;
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.number = session->record;
	if (r > 0) {
		status_fill(session, &status, message->queue, &fault);
		reply.status = &status;
	}
	reply.body_case = SYCL__V1__REPLY__BODY_PROFILE;
	reply.profile = &profile;
	session_reply(session, &reply);
	return 0;
}
