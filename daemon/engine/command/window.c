/*
 * Windows of memory that the second-level cache keeps, a property of queues (R6). Each launch of
 * the queue carries the window, as lanes are shared among queues and sessions. The device gets the
 * number of bytes that should persist, for all queues together.
 */
#include "command/command.h"

#include <inttypes.h>
#include <math.h>

static uint64_t persisting_bytes(const struct backend_l2_window *window)
{
	return window->hit == BACKEND_L2_PERSISTING ? window->size_bytes : 0;
}

static void set_window(struct queue *queue, const struct queue_l2 *l2)
{
	const uint64_t before = persisting_bytes(&queue->l2.window),
		       now = persisting_bytes(&l2->window);

	queue->l2 = *l2;
	session_objects_change(queue->object.session);
	if (before != now)
		scheduler_l2_change(queue->device, before, now);
}

static int window_check_numbers(const struct queue *queue, const Sycl__V1__QueueWindow *message,
				struct backend_fault *fault)
{
	const uint64_t most = queue->facts->l2_window_bytes;
	if (most == 0)
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "the device %s has no windows of memory for its cache",
				 queue->facts->name);
	if (message->size_bytes > most)
		return fault_set(fault, STATUS_INVALID,
				 "a window of %" PRIu64
				 " bytes; the device %s has them up to %" PRIu64,
				 message->size_bytes, queue->facts->name, most);
	if (!isfinite(message->hit_ratio) || message->hit_ratio < 0 || message->hit_ratio > 1)
		return fault_set(fault, STATUS_INVALID, "a window's hit ratio is 0 to 1");
	if (message->hit > BACKEND_L2_PERSISTING || message->miss > BACKEND_L2_STREAMING)
		return fault_set(
			fault, STATUS_INVALID,
			"hits of a window are normal, streaming or persisting; its misses are normal or streaming");
	return 0;
}

static int window_check_memory(struct session *session, const struct queue *queue,
			       const Sycl__V1__QueueWindow *message, struct usm **usm_out,
			       struct backend_fault *fault)
{
	struct usm *usm = usm_table_find(&session->usm, message->usm_address, message->size_bytes);
	if (!usm || !usm->ready || usm->object.released)
		return fault_set(fault, STATUS_INVALID,
				 "a window of %" PRIu64 " bytes at %#" PRIx64
				 " is not inside any USM allocation",
				 message->size_bytes, message->usm_address);
	if (usm->kind != BACKEND_USM_DEVICE || usm->device_index != queue->device_index ||
	    usm->context != queue->context)
		return fault_set(
			fault, STATUS_INVALID,
			"a window lies in device USM of the queue's device and context, not at %#" PRIx64,
			message->usm_address);
	*usm_out = usm;
	return 0;
}

int command_queue_window(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__QueueWindow *message = command->queue_window;
	struct queue *queue;
	struct usm *usm = NULL;
	struct backend_fault fault;
	struct queue_l2 l2 = {.usm = 0};
	int r = object_get(session, message->queue, OBJECT_QUEUE, &queue, &fault);
	if (r < 0)
		return r;
	if (r == 0 && message->size_bytes > 0) {
		r = window_check_numbers(queue, message, &fault);
		if (r == 0)
			r = window_check_memory(session, queue, message, &usm, &fault);
		if (r == 0)
			l2 = (struct queue_l2){{message->usm_address, message->size_bytes,
						message->hit_ratio,
						(enum backend_l2_use)message->hit,
						(enum backend_l2_use)message->miss},
					       usm->object.id};
	}
	if (r != 0) {
		reply_status(session, session->record, message->queue, &fault);
		return 0;
	}
	set_window(queue, &l2);
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.number = session->record;
	session_reply(session, &reply);
	return 0;
}

void queue_l2_end(struct queue *queue)
{
	static const struct queue_l2 none;
	if (queue->device)
		set_window(queue, &none);
}
