/* How much of a device a kernel can have. The device's loader thread finds it out, and the session
 * gets the reply when that thread has replied. */
#include "command/command.h"

#define OCCUPANCY_QUESTIONS_MAX 64u /* queries of a session at one time */

struct occupancy_request {
	struct kernel *kernel; /* held */
	uint64_t number;       /* number of the request to reply to */
};

static int occupancy_read_local(const Sycl__V1__OccupancyQuery *message, uint64_t local[3],
				struct backend_fault *fault)
{
	if (message->n_local > 3)
		return fault_set(fault, STATUS_ND_RANGE, "a range has 1 to 3 dimensions, not %zu",
				 message->n_local);
	for (size_t i = 0; i < 3; i++)
		local[i] = message->n_local ? 1 : 0;
	/* Absent dimensions are the slow ones. */
	for (size_t i = 0; i < message->n_local; i++) {
		if (message->local[i] == 0)
			return fault_set(fault, STATUS_ND_RANGE, "a work-group has no size of 0");
		local[3 - message->n_local + i] = message->local[i];
	}
	return 0;
}

int command_occupancy_query(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__OccupancyQuery *message = command->occupancy_query;
	struct kernel *kernel;
	struct backend_fault fault;
	uint64_t local[3];
	int r = object_get(session, message->kernel, OBJECT_KERNEL, &kernel, &fault);
	if (r < 0)
		return r;
	if (r == 0 && !kernel->ready)
		r = fault_set(&fault, STATUS_KERNEL,
			      "kernel %s is not ready: the answer to its request comes first",
			      kernel->name);
	if (r == 0)
		r = occupancy_read_local(message, local, &fault);
	if (r == 0 && session->occupancy_open == OCCUPANCY_QUESTIONS_MAX)
		r = fault_set(&fault, STATUS_QUOTA,
			      "a session may have at most %u such requests at the same time",
			      OCCUPANCY_QUESTIONS_MAX);
	struct occupancy_request *request = r == 0 ? malloc(sizeof(*request)) : NULL;
	if (r == 0 && (!request || sched_kernel_occupancy(kernel->sched, local,
							  message->local_mem_bytes, request) < 0)) {
		free(request);
		r = fault_set(&fault, STATUS_MEMORY_ALLOCATION,
			      "the engine has no memory for the request");
	}
	if (r != 0) {
		reply_status(session, session->record, message->kernel, &fault);
		return 0;
	}
	*request = (struct occupancy_request){kernel, session->record};
	session->occupancy_open++;
	(void)object_ref(&kernel->object); /* until the query has a reply */
	return 0;
}

struct session *occupancy_known(struct occupancy_request *request,
				const struct backend_occupancy *occupancy,
				const struct backend_fault *fault)
{
	struct kernel *kernel = request->kernel;
	struct session *session = kernel->object.session;
	session->occupancy_open--;
	if (!occupancy) {
		reply_status(session, request->number, kernel->object.id, fault);
	} else {
		Sycl__V1__Occupancy message = SYCL__V1__OCCUPANCY__INIT;
		message.kernel = kernel->object.id;
		message.groups_per_compute_unit = occupancy->groups_per_compute_unit;
		message.max_cooperative_groups = occupancy->max_cooperative_groups;
		message.max_cluster_groups = occupancy->max_cluster_groups;
		message.suggested_group_size = occupancy->suggested_group_size;
		Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
		reply.number = request->number;
		reply.body_case = SYCL__V1__REPLY__BODY_OCCUPANCY;
		reply.occupancy = &message;
		session_reply(session, &reply);
	}
	free(request);
	object_unref(&kernel->object);
	return session;
}
