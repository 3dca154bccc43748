/* Ranges and arguments of a kernel launch (E1 - E22). */
#include "base/range_check.h"
#include "group/check.h"
#include "session/hooks.h"
#include "session/session.h"

#include <inttypes.h>

static int check_dimensions(const struct queue *queue, const Sycl__V1__Launch *launch,
			    struct task_request *request, struct backend_fault *fault)
{
	size_t dimensions = launch->n_global;
	if (dimensions < 1 || dimensions > 3 || dimensions > queue->facts->max_work_item_dimensions)
		return fault_set(fault, STATUS_ND_RANGE, "a range has 1 to 3 dimensions, not %zu",
				 dimensions);
	if (launch->n_local && launch->n_local != dimensions)
		return fault_set(fault, STATUS_ND_RANGE,
				 "the local range has %zu dimensions, the global one %zu",
				 launch->n_local, dimensions);
	if (launch->n_offset && launch->n_offset != dimensions)
		return fault_set(fault, STATUS_ND_RANGE,
				 "the offset has %zu dimensions, the global range %zu",
				 launch->n_offset, dimensions);
	request->launch.dimensions = (uint32_t)dimensions;
	for (size_t i = 0; i < dimensions; i++) {
		request->launch.global[i] = launch->global[i];
		request->launch.offset[i] = launch->n_offset ? launch->offset[i] : 0;
	}
	return 0;
}

static bool launch_is_empty(const struct task_request *request)
{
	for (uint32_t i = 0; i < request->launch.dimensions; i++) {
		if (request->launch.global[i] == 0)
			return true;
	}
	return false;
}

/* The ids of work-items must fit into the device's counters. */
static int check_size(const struct queue *queue, const struct task_request *request,
		      struct backend_fault *fault)
{
	uint64_t most = queue->facts->address_bits == 32 ? UINT32_MAX : UINT64_MAX;
	uint64_t items;
	if (!product_fits(request->launch.global, request->launch.dimensions, &items) ||
	    items > most)
		return fault_set(fault, STATUS_ND_RANGE,
				 "the range has more work-items than the device can count");
	for (uint32_t i = 0; i < request->launch.dimensions; i++) {
		if (!range_inside(request->launch.offset[i], request->launch.global[i], most))
			return fault_set(fault, STATUS_ND_RANGE,
					 "offset and range together are more than the device "
					 "can count");
	}
	return 0;
}

/* Checks each dimension of the size that the kernel's source demands. An absent leading dimension
 * counts as 1. */
static int check_required(const struct kernel *kernel, const Sycl__V1__Launch *launch,
			  struct task_request *request, struct backend_fault *fault)
{
	const uint64_t *required = kernel->facts.required_work_group_size;
	uint32_t dimensions = request->launch.dimensions;
	if (required[2] == 0)
		return 0;
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t wanted = required[i] ? required[i] : 1;
		bool absent = i < 3 - dimensions;
		uint32_t place = i - (3 - dimensions);
		uint64_t given = 1;
		if (!absent && launch->n_local)
			given = request->launch.local[place];
		else if (!absent)
			given = request->launch.global[place] % wanted == 0 ? wanted : 0;
		if (given != wanted)
			return fault_set(fault, STATUS_ND_RANGE,
					 "kernel %s requires work-groups of %" PRIu64 " x %" PRIu64
					 " x %" PRIu64,
					 kernel->name, required[0], required[1], required[2]);
		if (!absent)
			request->launch.local[place] = wanted;
	}
	return 0;
}

static int check_local(const struct queue *queue, const struct kernel *kernel,
		       const Sycl__V1__Launch *launch, struct task_request *request,
		       struct backend_fault *fault)
{
	uint32_t dimensions = request->launch.dimensions;
	for (uint32_t i = 0; launch->n_local && i < dimensions; i++) {
		uint64_t local = request->launch.local[i] = launch->local[i],
			 global = request->launch.global[i];
		if (local == 0 || global % local != 0)
			return fault_set(fault, STATUS_ND_RANGE,
					 "a global range of %" PRIu64
					 " is not divisible by a local one of %" PRIu64,
					 global, local);
		uint64_t most = queue->facts->max_work_item_sizes[3 - dimensions + i];
		if (most && local > most)
			return fault_set(fault, STATUS_ND_RANGE,
					 "a local range of %" PRIu64
					 " is more than the device's %" PRIu64,
					 local, most);
	}
	int r = check_required(kernel, launch, request, fault);
	if (r != 0 || request->launch.local[0] == 0)
		return r;
	uint64_t items = 0;
	bool fits = product_fits(request->launch.local, dimensions, &items);
	if (!fits || items > queue->facts->max_work_group_size)
		return fault_set(
			fault, STATUS_ND_RANGE,
			"a work-group of this local range is larger than the device's %" PRIu64,
			queue->facts->max_work_group_size);
	if (kernel->facts.max_work_group_size && items > kernel->facts.max_work_group_size)
		return fault_set(fault, STATUS_ND_RANGE,
				 "a work-group of %" PRIu64 " is larger than kernel %s's %" PRIu64,
				 items, kernel->name, kernel->facts.max_work_group_size);
	return 0;
}

/* Sums over the arguments of one launch. */
struct argument_sums {
	uint64_t parameter_bytes, local_bytes;
};

static int check_accessor(const struct group_scratch *scratch, const struct task_request *request,
			  const Sycl__V1__Argument *message, uint32_t index,
			  struct task_argument *argument, struct backend_fault *fault)
{
	if (message->accessor >= request->requirement_count)
		return fault_set(fault, STATUS_KERNEL_ARGUMENT,
				 "argument %u is requirement %u of %u", index, message->accessor,
				 request->requirement_count);
	if (scratch->buffers[message->accessor]->image.dimensions > 0)
		return fault_set(fault, STATUS_KERNEL_ARGUMENT,
				 "argument %u is a pointer; an image was given", index);
	if (message->offset_bytes > scratch->buffers[message->accessor]->size_bytes)
		return fault_set(fault, STATUS_KERNEL_ARGUMENT,
				 "argument %u points behind the end of its buffer", index);
	argument->kind = BACKEND_ARGUMENT_GLOBAL;
	argument->requirement = message->accessor;
	argument->offset_bytes = message->offset_bytes;
	const struct task_requirement *requirement = &request->requirements[message->accessor];
	uint64_t end = requirement->offset_bytes + requirement->size_bytes;
	uint64_t rest = end > message->offset_bytes ? end - message->offset_bytes : 0;
	argument->reach = rest << 3 | requirement->mode;
	return 0;
}

static int check_value(const struct backend_argument_facts *facts,
		       const Sycl__V1__Argument *message, uint32_t index,
		       struct task_argument *argument, struct backend_fault *fault)
{
	size_t bytes = message->bytes.len;
	if (bytes == 0 || (facts->kind == BACKEND_ARGUMENT_VALUE && facts->size_bytes &&
			   bytes != facts->size_bytes))
		return fault_set(fault, STATUS_KERNEL_ARGUMENT, "argument %u has %u bytes, not %zu",
				 index, facts->size_bytes, bytes);
	argument->kind = BACKEND_ARGUMENT_VALUE;
	argument->bytes = message->bytes.data;
	argument->size_bytes = bytes;
	return 0;
}

static int check_local_memory(const Sycl__V1__Launch *launch, const Sycl__V1__Argument *message,
			      uint32_t index, struct task_argument *argument,
			      struct backend_fault *fault)
{
	if (!launch->n_local)
		return fault_set(fault, STATUS_KERNEL_ARGUMENT,
				 "argument %u is local memory, which a basic range does not have",
				 index);
	if (message->local_bytes == 0)
		return fault_set(fault, STATUS_KERNEL_ARGUMENT,
				 "argument %u is local memory of 0 bytes", index);
	argument->kind = BACKEND_ARGUMENT_LOCAL;
	argument->size_bytes = message->local_bytes;
	return 0;
}

static int launch_check_argument(struct session *session, const struct queue *queue,
				 const struct task_request *request, const Sycl__V1__Launch *launch,
				 const struct backend_argument_facts *facts, uint32_t index,
				 struct argument_sums *sums, struct backend_fault *fault)
{
	struct group_scratch *scratch = &session->engine->scratch;
	const Sycl__V1__Argument *message = launch->arguments[index];
	struct task_argument *argument = &scratch->arguments[index];
	*argument = (struct task_argument){.kind = BACKEND_ARGUMENT_UNKNOWN};
	int r;
	switch (message->value_case) {
	case SYCL__V1__ARGUMENT__VALUE_ACCESSOR:
		r = check_accessor(scratch, request, message, index, argument, fault);
		sums->parameter_bytes += sizeof(void *);
		break;
	case SYCL__V1__ARGUMENT__VALUE_BYTES:
		r = check_value(facts, message, index, argument, fault);
		sums->parameter_bytes += message->bytes.len;
		break;
	case SYCL__V1__ARGUMENT__VALUE_USM_ADDRESS:
		r = group_check_usm_argument(session, queue, message->usm_address, index, argument,
					     fault);
		sums->parameter_bytes += sizeof(void *);
		break;
	case SYCL__V1__ARGUMENT__VALUE_LOCAL_BYTES:
		r = check_local_memory(launch, message, index, argument, fault);
		if (__builtin_add_overflow(sums->local_bytes, message->local_bytes,
					   &sums->local_bytes))
			sums->local_bytes = UINT64_MAX;
		break;
	case SYCL__V1__ARGUMENT__VALUE_IMAGE:
		r = group_check_image_argument(scratch, queue, request, message, facts, index,
					       argument, fault);
		sums->parameter_bytes += sizeof(void *);
		break;
	case SYCL__V1__ARGUMENT__VALUE_IS_SAMPLER:
		r = group_check_sampler_argument(message, index, argument, fault);
		sums->parameter_bytes += sizeof(void *);
		break;
	default:
		return fault_set(fault, STATUS_KERNEL_ARGUMENT, "argument %u is not set", index);
	}
	if (r == 0 && facts->kind != BACKEND_ARGUMENT_UNKNOWN && facts->kind != argument->kind &&
	    !group_image_fits_word(facts, argument))
		r = fault_set(fault, STATUS_KERNEL_ARGUMENT,
			      "argument %u is not of the kind that the kernel declares", index);
	return r;
}

static int check_arguments(struct session *session, const struct queue *queue,
			   const struct kernel *kernel, const Sycl__V1__Launch *launch,
			   struct task_request *request, struct backend_fault *fault)
{
	bool has_presets = kernel->facts.has_presets;
	if (launch->n_arguments > kernel->facts.argument_count ||
	    (launch->n_arguments < kernel->facts.argument_count && !has_presets))
		return fault_set(fault, STATUS_KERNEL_ARGUMENT,
				 "kernel %s has %u arguments, not %zu", kernel->name,
				 kernel->facts.argument_count, launch->n_arguments);
	struct argument_sums sums = {0, kernel->facts.local_mem_bytes};
	session->engine->scratch.view_count = 0;
	for (uint32_t i = 0; i < kernel->facts.argument_count; i++) {
		bool is_given =
			i < launch->n_arguments &&
			launch->arguments[i]->value_case != SYCL__V1__ARGUMENT__VALUE__NOT_SET;
		if (has_presets && !is_given) {
			session->engine->scratch.arguments[i] =
				(struct task_argument){.kind = BACKEND_ARGUMENT_UNKNOWN};
			continue;
		}
		int r = launch_check_argument(session, queue, request, launch,
					      &kernel->facts.arguments[i], i, &sums, fault);
		if (r != 0)
			return r;
	}
	if (queue->facts->max_parameter_bytes &&
	    sums.parameter_bytes > queue->facts->max_parameter_bytes)
		return fault_set(fault, STATUS_KERNEL_ARGUMENT,
				 "the arguments have %" PRIu64 " bytes, the device takes %" PRIu64,
				 sums.parameter_bytes, queue->facts->max_parameter_bytes);
	if (sums.local_bytes > queue->facts->local_mem_bytes)
		return fault_set(fault, STATUS_KERNEL_ARGUMENT,
				 "a work-group needs %" PRIu64
				 " bytes of local memory, the device has %" PRIu64,
				 sums.local_bytes, queue->facts->local_mem_bytes);
	if (kernel->facts.max_local_mem_bytes &&
	    sums.local_bytes - kernel->facts.local_mem_bytes > kernel->facts.max_local_mem_bytes)
		return fault_set(fault, STATUS_KERNEL_ARGUMENT,
				 "arguments of %" PRIu64
				 " bytes of local memory; kernel %s has room for %" PRIu64,
				 sums.local_bytes - kernel->facts.local_mem_bytes, kernel->name,
				 kernel->facts.max_local_mem_bytes);
	request->launch.arguments = session->engine->scratch.arguments;
	request->launch.argument_count = kernel->facts.argument_count;
	return 0;
}

static bool group_launch_is_plain(const Sycl__V1__Launch *launch)
{
	return !launch->cooperative && launch->n_cluster == 0;
}

/* The work-groups of a cooperative launch run at one time, so the launch cannot run in parts. */
static int check_splittable(const Sycl__V1__Launch *launch, struct task_request *request,
			    struct backend_fault *fault)
{
	if (launch->splittable && launch->cooperative)
		return fault_set(fault, STATUS_INVALID, "a cooperative launch cannot be split");
	request->launch.splittable = launch->splittable;
	return 0;
}

/*
 * An early launch is a permission. A device without early launches ignores it, and so does a
 * cooperative, clustered or splittable launch. But a kernel that never waits is refused, as it
 * would run beside the work that it depends on.
 */
static int launch_check_early(const struct queue *queue, const struct kernel *kernel,
			      const Sycl__V1__Launch *launch, struct task_request *request,
			      struct backend_launch_properties *properties,
			      struct backend_fault *fault)
{
	if (!launch->early || !(queue->facts->features & BACKEND_FEATURE_EARLY))
		return 0;
	if (!kernel->facts.waits)
		return fault_set(
			fault, STATUS_INVALID,
			"kernel %s never waits for the launch before it, as far as is known: it cannot begin early",
			kernel->name);
	if (!group_launch_is_plain(launch) || launch->splittable)
		return 0;
	*properties = (struct backend_launch_properties){.early = true};
	request->launch.properties = properties;
	return 0;
}

/* Finds the window of the queue. False: the queue has none, or the window's memory was freed. */
static bool find_window(struct session *session, const struct queue *queue,
			struct backend_l2_window *window_out)
{
	const struct backend_l2_window *window = &queue->l2.window;
	if (window->size_bytes == 0)
		return false;
	/* Other memory may have this address by now. */
	const struct usm *usm = usm_table_find(&session->usm, window->address, window->size_bytes);
	if (!usm || usm->object.id != queue->l2.usm || usm->object.released)
		return false;
	*window_out = *window;
	return true;
}

/* The queue's settings for all of its launches. */
static void launch_put_window(struct session *session, const struct queue *queue,
			      struct task_request *request,
			      struct backend_launch_properties *properties)
{
	struct backend_l2_window window;
	if (!find_window(session, queue, &window))
		return;
	if (!request->launch.properties)
		*properties = (struct backend_launch_properties){.cooperative = false};
	properties->window = window;
	request->launch.properties = properties;
}

/* Whatever the range is. */
static int check_properties(const struct queue *queue, const Sycl__V1__Launch *launch,
			    struct backend_launch_properties *properties,
			    struct backend_fault *fault)
{
	uint64_t groups = 1;
	if (launch->cooperative && !(queue->facts->features & BACKEND_FEATURE_COOPERATIVE))
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "the device %s has no cooperative launches", queue->facts->name);
	if (launch->n_cluster && !(queue->facts->features & BACKEND_FEATURE_CLUSTER))
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "the device %s has no clusters", queue->facts->name);
	if (!launch->n_local)
		return fault_set(fault, STATUS_ND_RANGE,
				 "a launch with properties has work-groups of a size given");
	if (launch->n_cluster && launch->n_cluster != launch->n_global)
		return fault_set(fault, STATUS_ND_RANGE,
				 "the cluster has %zu dimensions, the global range %zu",
				 launch->n_cluster, launch->n_global);
	*properties = (struct backend_launch_properties){.cooperative = launch->cooperative};
	for (size_t i = 0; i < launch->n_cluster; i++) {
		properties->cluster[i] = launch->cluster[i];
		groups *= launch->cluster[i] <= CLUSTER_GROUPS_MAX ? launch->cluster[i]
								   : CLUSTER_GROUPS_MAX + 1;
	}
	if (launch->n_cluster && (groups == 0 || groups > CLUSTER_GROUPS_MAX))
		return fault_set(fault, STATUS_ND_RANGE, "a cluster has 1 to %u work-groups",
				 CLUSTER_GROUPS_MAX);
	return 0;
}

/* Only for a range that is not empty, with a local range that fits. */
static int check_clusters(const struct task_request *request,
			  const struct backend_launch_properties *properties,
			  struct backend_fault *fault)
{
	for (uint32_t i = 0; properties->cluster[0] && i < request->launch.dimensions; i++) {
		uint64_t groups = request->launch.global[i] / request->launch.local[i];
		if (groups % properties->cluster[i] != 0)
			return fault_set(fault, STATUS_ND_RANGE,
					 "%" PRIu64
					 " work-groups are not divisible by a cluster of %u",
					 groups, properties->cluster[i]);
	}
	return 0;
}

static int check_range(const struct queue *queue, const struct kernel *kernel,
		       const Sycl__V1__Launch *launch, struct task_request *request,
		       struct backend_launch_properties *properties, struct backend_fault *fault)
{
	int r = 0;
	if (!group_launch_is_plain(launch)) {
		r = check_properties(queue, launch, properties, fault);
		request->launch.properties = properties;
	}
	/* For an empty range the local range is not checked (E5). */
	if (r != 0 || launch_is_empty(request))
		return r;
	r = check_size(queue, request, fault);
	if (r == 0)
		r = check_local(queue, kernel, launch, request, fault);
	if (r == 0 && !group_launch_is_plain(launch))
		r = check_clusters(request, properties, fault);
	return r;
}

int group_check_launch(struct session *session, const struct queue *queue,
		       const Sycl__V1__CommandGroup *group, struct task_request *request,
		       struct backend_fault *fault)
{
	const Sycl__V1__Launch *launch = group->launch;
	struct kernel *kernel;
	int r = object_get(session, launch->kernel, OBJECT_KERNEL, &kernel, fault);
	if (r != 0)
		return r;
	if (!kernel->ready)
		return fault_set(fault, STATUS_KERNEL,
				 "kernel %s is not ready: the answer to its request comes first",
				 kernel->name);
	if (kernel->bundle->context != queue->context ||
	    kernel->bundle->device_index != queue->device_index)
		return fault_set(fault, STATUS_INVALID,
				 "kernel %s was built for another context or device than its "
				 "queue's",
				 kernel->name);
	request->action = TASK_LAUNCH;
	request->what = kernel->name;
	request->launch.kernel = kernel->sched;
	r = check_dimensions(queue, launch, request, fault);
	if (r == 0)
		r = check_arguments(session, queue, kernel, launch, request, fault);
	if (r == 0)
		r = check_splittable(launch, request, fault);
	if (r == 0)
		r = check_range(queue, kernel, launch, request,
				&session->engine->scratch.properties, fault);
	if (r == 0)
		r = launch_check_early(queue, kernel, launch, request,
				       &session->engine->scratch.properties, fault);
	if (r == 0 && kernel->bundle->dimensions && !launch_is_empty(request))
		r = session->engine->hooks->needs_dimensions(kernel->bundle,
							     request->launch.dimensions, fault);
	if (r == 0)
		launch_put_window(session, queue, request, &session->engine->scratch.properties);
	return r;
}
