/* The devices that a session may name: the scheduler's, and its own sub-devices. */
#include "session/session.h"
#include "session/topology.h"

#include <string.h>

int session_discover(struct session *session, struct backend_fault *fault)
{
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	uint32_t platform_count, count;
	int r = topology_discover(session->engine->scheduler, &platforms, &platform_count, &devices,
				  &count);
	if (r < 0)
		return fault_set(fault, STATUS_PLATFORM, "the devices could not be queried: %s",
				 strerror(-r));
	return 0;
}

struct sub_device *session_sub_device(const struct session *session, uint32_t number)
{
	for (struct list *link = session->sub_devices.next; link != &session->sub_devices;
	     link = link->next) {
		struct sub_device *sub_device = list_entry(link, struct sub_device, link);
		if (sub_device->number == number)
			return sub_device;
	}
	return NULL;
}

const struct scheduler_device_info *session_device_info(const struct session *session,
							uint32_t number)
{
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	uint32_t platform_count, count;
	struct scheduler *scheduler = session->engine->scheduler;
	if (topology_discover(scheduler, &platforms, &platform_count, &devices, &count) < 0)
		return NULL;
	if (number < count)
		return devices[number].is_hidden ? NULL : &devices[number];
	return session_sub_device(session, number) ? scheduler_device_info(scheduler, number)
						   : NULL;
}

/* `opened`: the device if it is already open, else NULL. */
static int context_open_device(struct session *session, uint32_t device, uint32_t features,
			       struct scheduler_device *opened, struct context_device *out,
			       struct backend_fault *fault)
{
	if (session_discover(session, fault))
		return 1;
	const struct scheduler_device_info *info = session_device_info(session, device);
	if (!info)
		return fault_set(fault, STATUS_INVALID, "there is no device %u", device);
	const struct backend_device_facts *facts = info->facts;
	if (!facts->available)
		return fault_set(fault, STATUS_RUNTIME, "the device %s is not available",
				 facts->name);
	if (features & ~facts->features)
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "the device %s shares nothing of this kind", facts->name);
	const struct sub_device *sub_device =
		info->is_sub_device ? session_sub_device(session, device) : NULL;
	if (sub_device)
		opened = sub_device->device;
	int r = opened ? 0 : scheduler_device(session->engine->scheduler, device, &opened);
	if (r < 0)
		return fault_set(fault, STATUS_RUNTIME, "the device %s cannot be used: %s",
				 facts->name, strerror(-r));
	*out = (struct context_device){NULL, opened, facts, info->ops};
	return 0;
}

int feature_device(struct session *session, uint32_t device, uint32_t features,
		   struct context_device *out, struct backend_fault *fault)
{
	return context_open_device(session, device, features, NULL, out, fault);
}

int context_device(struct session *session, uint64_t id, uint32_t device,
		   struct context_device *out, struct backend_fault *fault)
{
	struct context *context;
	int r = object_get(session, id, OBJECT_CONTEXT, &context, fault);
	if (r != 0)
		return r;
	uint32_t i = 0;
	while (i < context->device_count && context->devices[i] != device)
		i++;
	if (i == context->device_count)
		return fault_set(fault, STATUS_INVALID, "device %u is not one of the context",
				 device);
	r = context_open_device(session, device, 0, context->natives ? context->natives[i] : NULL,
				out, fault);
	if (r == 0)
		out->context = context;
	return r;
}
