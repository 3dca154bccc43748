/* BundleLink: links compiled objects into one program. */
#include "build/objects.h"
#include "build/service.h"
#include "command/command.h"

#include <string.h>

/* Each must be a compiled one of the same device. 0, 1 and a fault, or -EPROTO for an id that names
 * nothing. */
static int take_objects(struct session *session, const Sycl__V1__BundleLink *message,
			const struct context_device *found, struct bundle **objects_out,
			struct backend_fault *fault)
{
	for (size_t i = 0; i < message->n_bundles; i++) {
		int r = object_get(session, message->bundles[i], OBJECT_BUNDLE, &objects_out[i],
				   fault);
		if (r != 0)
			return r;
		if (objects_out[i]->state != BUNDLE_OBJECT)
			return fault_set(fault, STATUS_INVALID,
					 "bundle %zu is no object: compile it", i);
		if (objects_out[i]->is_native_object)
			return fault_set(
				fault, STATUS_FEATURE_NOT_SUPPORTED,
				"objects of native programs can only be linked with each other");
		if (objects_out[i]->device != found->device ||
		    objects_out[i]->context != found->context)
			return fault_set(fault, STATUS_INVALID,
					 "bundle %zu was compiled for another device or context",
					 i);
	}
	return 0;
}

static int start_link(struct bundle *bundle, const Sycl__V1__BundleLink *message,
		      const struct context_device *found, struct bundle *const *objects,
		      struct backend_fault *fault)
{
	CLEANUP(free_pointer) char *packed = NULL;
	const void *bytes[BUILD_OBJECTS_MAX];
	size_t counts[BUILD_OBJECTS_MAX];
	struct build_request request = {
		.backend = found->ops,
		.action = BUILD_ACTION_LINK,
		.device_key = found->facts->key,
		.device_name = found->facts->name,
		.options = message->options,
	};

	for (size_t i = 0; i < message->n_bundles; i++) {
		bytes[i] = objects[i]->bytes;
		counts[i] = objects[i]->byte_count;
	}
	int r = build_objects_pack((uint32_t)message->n_bundles, bytes, counts, &packed,
				   &request.source_bytes);
	if (r == -E2BIG)
		return fault_set(fault, STATUS_QUOTA,
				 "the objects have more than %llu bytes together",
				 (unsigned long long)BUILD_OBJECTS_BYTES_MAX);
	if (r < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for the objects");
	request.source = packed;
	return bundle_submit(bundle, &request, fault);
}

static int check_link(const struct session *session, const Sycl__V1__BundleLink *message,
		      const struct context_device *found, struct backend_fault *fault)
{
	if (message->n_bundles == 0 || message->n_bundles > BUILD_OBJECTS_MAX)
		return fault_set(fault, STATUS_INVALID, "%zu objects cannot be linked; 1 to %u can",
				 message->n_bundles, BUILD_OBJECTS_MAX);
	if (!(found->facts->features & BACKEND_FEATURE_LINK))
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED, "%.100s cannot link",
				 found->facts->name);
	return bundle_check_options(session, message->options, fault);
}

int command_bundle_link(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__BundleLink *message = command->bundle_link;
	struct bundle *bundle;
	struct bundle *objects[BUILD_OBJECTS_MAX];
	struct context_device found;
	struct backend_fault fault;

	int r = object_new(session, message->bundle, OBJECT_BUNDLE, session->record, &bundle);
	if (r != 0)
		return r < 0 ? r : 0;
	bundle->number = session->record;
	r = context_device(session, message->context, message->device, &found, &fault);
	if (r == 0)
		r = check_link(session, message, &found, &fault);
	if (r == 0)
		r = take_objects(session, message, &found, objects, &fault);
	if (r < 0)
		return r;
	if (r == 0) {
		bundle->context = found.context;
		(void)object_ref(&found.context->object);
		bundle->device = found.device;
		bundle->device_index = message->device;
		bundle->object.backend = (uint32_t)found.ops->kind;
		r = start_link(bundle, message, &found, objects, &fault);
	}
	if (r > 0)
		bundle_fail(bundle, &fault);
	return 0;
}
