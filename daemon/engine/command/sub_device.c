/*
 * Sub-devices (J2): a device is divided, or the application's own part of a device is taken. Each
 * sub-device is an object of the session. A context of a sub-device holds it, too. So the
 * sub-device's number keeps its meaning while any object uses it.
 */
#include "command/command.h"
#include "session/topology.h"

#include <inttypes.h>
#include <string.h>

static_assert((int)BACKEND_PARTITION_BY_AFFINITY ==
		      (int)SYCL__V1__PARTITION__PARTITION_BY_AFFINITY_DOMAIN,
	      "numbers of the protocol");
static_assert(PARTITION_VALUES_MAX >= SUB_DEVICES_MAX, "each may have a count");

int context_hold_sub_devices(struct session *session, struct context *context)
{
	for (uint32_t i = 0; i < context->device_count; i++) {
		struct sub_device *sub_device = session_sub_device(session, context->devices[i]);
		if (!sub_device)
			continue;
		if (!context->sub_devices)
			context->sub_devices =
				calloc(context->device_count, sizeof(struct sub_device *));
		if (!context->sub_devices)
			return -ENOMEM;
		context->sub_devices[i] = sub_device;
		(void)object_ref(&sub_device->object);
	}
	return 0;
}

static int check_counts(const Sycl__V1__SubDevicesCreate *message,
			const struct backend_device_facts *facts, struct backend_division *division,
			uint32_t *counts, struct backend_fault *fault)
{
	uint64_t units = 0;
	for (size_t i = 0; i < message->n_values; i++) {
		units += message->values[i];
		if (message->values[i])
			counts[division->count++] = message->values[i];
	}
	if (division->count == 0)
		return fault_set(fault, STATUS_INVALID, "no sub-device has a compute unit");
	if (units > facts->max_compute_units)
		return fault_set(fault, STATUS_INVALID,
				 "%" PRIu64 " compute units are requested, %.100s has %u", units,
				 facts->name, facts->max_compute_units);
	if (division->count > facts->partition_max_sub_devices)
		return fault_set(fault, STATUS_INVALID,
				 "%u sub-devices are requested, %.100s allows %u", division->count,
				 facts->name, facts->partition_max_sub_devices);
	return 0;
}

/* Checks that the device can be divided so. 0, or 1 with a fault. counts: room for
 * PARTITION_VALUES_MAX. */
static int check_division(const Sycl__V1__SubDevicesCreate *message,
			  const struct backend_device_facts *facts,
			  struct backend_division *division, uint32_t *counts,
			  struct backend_fault *fault)
{
	const uint32_t partition = (uint32_t)message->partition,
		       first = message->n_values ? message->values[0] : 0;
	if (partition < BACKEND_PARTITION_EQUALLY || partition > BACKEND_PARTITION_BY_AFFINITY)
		return fault_set(fault, STATUS_INVALID, "%u is no way to divide a device",
				 partition);
	bool takes_one = partition != BACKEND_PARTITION_BY_COUNTS;
	if (message->n_values == 0 || message->n_values > (takes_one ? 1 : PARTITION_VALUES_MAX))
		return fault_set(fault, STATUS_INVALID,
				 "%zu values; this way to divide a device takes 1 to %u",
				 message->n_values, takes_one ? 1 : PARTITION_VALUES_MAX);
	if (partition == BACKEND_PARTITION_BY_AFFINITY &&
	    (first < BACKEND_AFFINITY_NUMA || first > BACKEND_AFFINITY_NEXT_PARTITIONABLE))
		return fault_set(fault, STATUS_INVALID, "%u is no affinity domain", first);
	if (!(facts->partition_properties >> partition & 1) ||
	    (partition == BACKEND_PARTITION_BY_AFFINITY &&
	     !(facts->partition_domains >> first & 1)))
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "%.100s cannot be divided in this way", facts->name);
	*division = (struct backend_division){.partition = (enum backend_partition)partition,
					      .counts = counts};
	division->units = partition == BACKEND_PARTITION_EQUALLY ? first : 0;
	division->domain = partition == BACKEND_PARTITION_BY_AFFINITY ? (enum backend_affinity)first
								      : BACKEND_AFFINITY_NONE;
	if (partition == BACKEND_PARTITION_BY_COUNTS)
		return check_counts(message, facts, division, counts, fault);
	if (partition == BACKEND_PARTITION_EQUALLY &&
	    (first == 0 || first > facts->max_compute_units))
		return fault_set(fault, STATUS_INVALID,
				 "sub-devices of %u compute units; %.100s has %u", first,
				 facts->name, facts->max_compute_units);
	return 0;
}

static uint32_t sub_devices_left(const struct session *session)
{
	const uint32_t have = session->objects.counts[OBJECT_SUB_DEVICE];
	return have < SUB_DEVICES_MAX ? SUB_DEVICES_MAX - have : 0;
}

static int sub_device_quota_fault(struct backend_fault *fault)
{
	return fault_set(fault, STATUS_QUOTA, "a session may have at most %u sub-devices",
			 SUB_DEVICES_MAX);
}

/* 0, or 1 with a fault. More in *count_out than there are ids for: none was made. */
static int divide_device(struct session *session, const Sycl__V1__SubDevicesCreate *message,
			 struct scheduler_device **devices, uint32_t *count_out,
			 struct backend_fault *fault)
{
	struct scheduler *scheduler = session->engine->scheduler;
	uint32_t counts[PARTITION_VALUES_MAX], count = 0, ids = (uint32_t)message->n_objects;
	const uint32_t room = sub_devices_left(session);
	struct backend_division division;
	const struct scheduler_device_info *info = session_device_info(session, message->device);
	if (!info)
		return fault_set(fault, STATUS_INVALID, "there is no device %u", message->device);
	if (check_division(message, info->facts, &division, counts, fault))
		return 1;
	if (scheduler_sub_devices_create(scheduler, message->device, &division,
					 ids < room ? ids : room, devices, &count, fault) < 0)
		return 1;
	/* Without ids the client requested only the number of sub-devices. */
	if (count <= ids && count > room)
		return sub_device_quota_fault(fault);
	*count_out = count;
	return 0;
}

static int take_native_sub_device(struct session *session,
				  const Sycl__V1__SubDevicesCreate *message,
				  struct scheduler_device **devices, uint32_t *count_out,
				  struct backend_fault *fault)
{
	if (!session_has_natives(session))
		return fault_set(
			fault, STATUS_FEATURE_NOT_SUPPORTED,
			"native handles are for programs with an engine of their own in their process");
	if (sub_devices_left(session) == 0)
		return sub_device_quota_fault(fault);
	if (message->n_objects != 1)
		return fault_set(fault, STATUS_INVALID,
				 "%zu ids were given for one native sub-device",
				 message->n_objects);
	if (scheduler_sub_device_take(session->engine->scheduler,
				      (enum backend_kind)message->backend, message->native, devices,
				      fault) < 0)
		return 1;
	*count_out = 1;
	return 0;
}

/* Make an object for each device, which owns it from now on. 0; 1: there was no room for one, the
 * client has been sent the failure, and no object is left; or negative. */
static int sub_devices_make_objects(struct session *session,
				    const Sycl__V1__SubDevicesCreate *message,
				    struct scheduler_device **devices, uint32_t count)
{
	struct sub_device *made[SUB_DEVICES_MAX];
	uint32_t i = 0;
	int r = 0;
	while (i < count && r == 0) {
		r = object_new(session, message->objects[i], OBJECT_SUB_DEVICE, session->record,
			       &made[i]);
		if (r != 0)
			break;
		list_push_back(&session->sub_devices, &made[i]->link);
		made[i]->device = devices[i];
		made[i]->number = scheduler_device_number(devices[i]);
		i++;
	}
	if (r == 0)
		return 0;
	for (uint32_t k = i; k < count; k++)
		scheduler_device_release(devices[k]);
	while (i > 0) {
		made[--i]->object.silent = true;
		object_release(&made[i]->object);
	}
	return r;
}

struct answer {
	Sycl__V1__Reply reply;
	Sycl__V1__SubDevices message;
	Sycl__V1__DeviceFacts facts[SUB_DEVICES_MAX];
	Sycl__V1__DeviceFacts *list[SUB_DEVICES_MAX];
};

static void sub_devices_fill_answer(struct session *session,
				    struct scheduler_device *const *devices, uint32_t made,
				    uint32_t count, struct answer *answer)
{
	sycl__v1__reply__init(&answer->reply);
	sycl__v1__sub_devices__init(&answer->message);
	for (uint32_t i = 0; i < made; i++) {
		uint32_t number = scheduler_device_number(devices[i]);
		topology_describe(&answer->facts[i], number,
				  scheduler_device_info(session->engine->scheduler, number),
				  session_in_process(session));
		answer->list[i] = &answer->facts[i];
	}
	answer->message.count = count;
	answer->message.n_devices = made;
	answer->message.devices = answer->list;
	answer->reply.number = session->record;
	answer->reply.body_case = SYCL__V1__REPLY__BODY_SUB_DEVICES;
	answer->reply.sub_devices = &answer->message;
}

int command_sub_devices_create(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__SubDevicesCreate *message = command->sub_devices_create;
	struct scheduler_device *devices[SCHED_DEVICES_MAX];
	struct backend_fault fault;
	struct answer answer;
	uint32_t count = 0;
	if (message->n_objects > SUB_DEVICES_MAX)
		return session_violation(session, "%zu ids for sub-devices", message->n_objects);
	int r = message->native ? take_native_sub_device(session, message, devices, &count, &fault)
				: divide_device(session, message, devices, &count, &fault);
	const uint32_t made = r == 0 && count <= message->n_objects ? count : 0;
	if (r == 0)
		sub_devices_fill_answer(session, devices, made, count, &answer);
	if (r == 0 && sycl__v1__reply__get_packed_size(&answer.reply) > PACKET_BYTES_MAX) {
		r = fault_set(&fault, STATUS_QUOTA,
			      "the description of %u sub-devices does not fit into a reply", made);
		for (uint32_t i = 0; i < made; i++)
			scheduler_device_release(devices[i]);
	}
	if (r > 0) {
		reply_status(session, session->record, 0, &fault);
		return 0;
	}
	r = sub_devices_make_objects(session, message, devices, made);
	if (r == 0)
		session_reply(session, &answer.reply);
	return r < 0 ? r : 0;
}
