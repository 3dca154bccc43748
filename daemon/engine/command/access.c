/* Host accessors: requested, granted through their slot, ended by Release. */
#include "command/command.h"
#include "access_mode.h"

#include <string.h>

/* A refused accessor is reported, then its slot is written, so that a waiting thread wakes up. */
static void refuse_host_accessor(struct host_accessor *accessor, const struct backend_fault *fault)
{
	object_fail(&accessor->object, 0, fault);
	session_write_slot(accessor->object.session, accessor->slot, accessor->slot_value, 1);
}

int command_host_access(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__HostAccess *message = command->host_access;
	int r = session_check_slot(session, message->slot);
	if (r < 0)
		return r;
	struct host_accessor *accessor;
	r = object_new(session, message->accessor, OBJECT_HOST_ACCESSOR, 0, &accessor);
	if (r > 0)
		session_write_slot(session, message->slot, message->slot_value, 1);
	if (r != 0)
		return r < 0 ? r : 0;
	accessor->work.kind = WORK_HOST_ACCESS;
	accessor->slot = message->slot;
	accessor->slot_value = message->slot_value;

	struct buffer *buffer;
	struct backend_fault fault;
	r = object_get(session, message->buffer, OBJECT_BUFFER, &buffer, &fault);
	if (r < 0)
		return r;
	if (r == 0 && !access_mode_valid(message->mode))
		r = fault_set(&fault, STATUS_ACCESSOR, "%u is no access mode", message->mode);
	if (r == 0 && buffer->temporary)
		r = fault_set(&fault, STATUS_INVALID,
			      "a temporary of graphs has no contents outside of their launches");
	struct task_requirement requirement = {.mode = message->mode,
					       .offset_bytes = message->offset_bytes,
					       .size_bytes = message->size_bytes,
					       .order_offset_bytes = message->order_offset_bytes,
					       .order_size_bytes = message->order_size_bytes};
	if (r == 0)
		r = group_check_ranges(&requirement, buffer->size_bytes, &fault);
	if (r == 0)
		r = group_check_image_whole(buffer, &requirement, &fault);
	if (r == 0 && session->groups_open >= session->limits.groups_in_flight)
		r = fault_set(&fault, STATUS_QUOTA,
			      "too many command groups and host accesses are in flight");
	if (r == 0) {
		requirement.buffer = buffer->sched;
		r = host_access_submit(session->engine->scheduler, &requirement, session->work,
				       &accessor->work, &accessor->task);
		if (r < 0)
			r = group_submit_fault(r, "the host accessor", &fault);
	}
	if (r > 0) {
		refuse_host_accessor(accessor, &fault);
		return 0;
	}
	accessor->buffer = buffer;
	(void)object_ref(&buffer->object);
	/* The task's reference, until the accessor is granted or refused. */
	(void)object_ref(&accessor->object);
	session->groups_open++;
	return 0;
}

void host_accessor_done(struct host_accessor *accessor, const struct task_outcome *outcome)
{
	struct session *session = accessor->object.session;
	session->groups_open--;
	session->usage.device_ns += outcome->device_ns;
	session->usage.bytes_to_device += outcome->bytes_to_device;
	session->usage.bytes_to_host += outcome->bytes_to_host;
	if (outcome->fault.status) {
		accessor->task = NULL;
		if (!accessor->object.released)
			refuse_host_accessor(accessor, &outcome->fault);
	} else {
		accessor->granted = true;
		if (accessor->object.released)
			host_accessor_end(accessor);
		else
			session_write_slot(session, accessor->slot, accessor->slot_value, 0);
	}
	object_unref(&accessor->object);
}

void host_accessor_end(struct host_accessor *accessor)
{
	struct task *task = accessor->task;
	if (!task)
		return;
	/* If access was granted, the task is over now. If not, on_task_done still comes, and must
	 * not end the task again. */
	accessor->task = NULL;
	host_access_release(task);
}
