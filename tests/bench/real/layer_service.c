/* A client of the service. */
#include "real/layer.h"

#include "harness/client.h"
#include "gpu/client.h"
#include "gpu/place.h"

#include <stdlib.h>
#include <string.h>

struct service {
	sycl_platform platform;
	sycl_device device;
	sycl_queue queue; /* in order */
	sycl_kernel_bundle bundle;
	sycl_kernel kernels[LAYER_KERNELS];
	unsigned buffers, graphs, hosts;
	sycl_buffer buffer[LAYER_BUFFERS];
	sycl_executable_graph executable[LAYER_GRAPHS];
	/* USM; if the device has none on the host, the program's own memory. */
	struct service_host {
		uint8_t *begin;
		uint64_t bytes;
		bool is_usm;
	} host[LAYER_BUFFERS];
	sycl_graph recording;
};

static bool service_open_queue(struct service *service)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = SYCL_QUEUE_IN_ORDER;
	return client_good(sycl_queue_create(NULL, service->device, &options, &service->queue),
			   "sycl_queue_create");
}

static bool service_open_kernels(struct service *service, const struct layer_source *source)
{
	bool good =
		client_good(sycl_kernel_bundle_from_source(service->queue, SYCL_SOURCE_PORTABLE,
							   source->text, NULL, &service->bundle),
			    "sycl_kernel_bundle_from_source");
	for (int i = 0; i < LAYER_KERNELS && source->kernels[i] && good; i++)
		good = client_good(sycl_kernel_create(service->bundle, source->kernels[i],
						      &service->kernels[i]),
				   source->kernels[i]);
	return good;
}

static bool layer_service_open(const char *endpoint, const struct layer_source *source,
			       void **state_out)
{
	struct service *service = calloc(1, sizeof(*service));
	*state_out = service;
	return service &&
	       client_good(sycl_platform_open(endpoint, &service->platform),
			   "sycl_platform_open") &&
	       client_good(sycl_device_select(service->platform, sycl_cpu_selector, NULL,
					      &service->device),
			   "sycl_device_select") &&
	       service_open_queue(service) && service_open_kernels(service, source);
}

static bool service_open_gpu(const char *text, const struct layer_source *source, void **state_out)
{
	struct service *service = calloc(1, sizeof(*service));
	struct gpu_place place;
	*state_out = service;
	if (!service || !gpu_place_take(text, &place) ||
	    !client_good(sycl_platform_open(place.with, &service->platform), "sycl_platform_open"))
		return false;
	service->device = gpu_client_device(service->platform, place.device);
	return service->device && service_open_queue(service) &&
	       service_open_kernels(service, source);
}

static void layer_service_close(void *state)
{
	struct service *service = state;
	if (!service)
		return;
	for (unsigned i = 0; i < service->graphs; i++)
		(void)sycl_executable_graph_release(service->executable[i]);
	if (service->recording)
		(void)sycl_graph_release(service->recording);
	for (unsigned i = service->buffers;
	     i-- > 0;) /* parts are released before the buffer that contains them */
		(void)sycl_buffer_release(service->buffer[i]);
	for (unsigned i = 0; i < service->hosts; i++) {
		if (service->host[i].is_usm)
			(void)sycl_free(service->queue, service->host[i].begin);
		else
			free(service->host[i].begin);
	}
	for (int i = 0; i < LAYER_KERNELS; i++)
		if (service->kernels[i])
			(void)sycl_kernel_release(service->kernels[i]);
	if (service->bundle)
		(void)sycl_kernel_bundle_release(service->bundle);
	if (service->queue)
		(void)sycl_queue_release(service->queue);
	if (service->device)
		(void)sycl_device_release(service->device);
	if (service->platform)
		(void)sycl_platform_release(service->platform);
	free(service);
}

static bool service_alloc(void *state, uint64_t bytes, unsigned *buffer_out)
{
	struct service *service = state;
	if (service->buffers == LAYER_BUFFERS ||
	    !client_good(sycl_buffer_create(service->platform, NULL, bytes, SYCL_HOST_NONE,
					    &service->buffer[service->buffers]),
			 "sycl_buffer_create"))
		return false;
	*buffer_out = service->buffers++;
	return true;
}

static bool service_part(void *state, unsigned buffer, uint64_t offset_bytes, uint64_t bytes,
			 unsigned *part_out)
{
	struct service *service = state;
	if (service->buffers == LAYER_BUFFERS ||
	    !client_good(sycl_buffer_create_sub(service->buffer[buffer], offset_bytes, bytes,
						&service->buffer[service->buffers]),
			 "sycl_buffer_create_sub"))
		return false;
	*part_out = service->buffers++;
	return true;
}

static void *service_host(void *state, uint64_t bytes)
{
	struct service *service = state;
	void *memory = NULL;
	if (service->hosts == LAYER_BUFFERS)
		return NULL;
	sycl_result result = sycl_malloc_host(service->queue, bytes, 0, &memory);
	if (result == SYCL_ERROR_FEATURE_NOT_SUPPORTED)
		memory = malloc(bytes);
	else if (!client_good(result, "sycl_malloc_host"))
		return NULL;
	if (!memory)
		return NULL;
	memset(memory, 0, bytes);
	service->host[service->hosts++] = (struct service_host){memory, bytes, result == 0};
	return memory;
}

static bool is_usm(const struct service *service, const void *memory)
{
	for (unsigned i = 0; i < service->hosts; i++) {
		const struct service_host *host = &service->host[i];
		if (host->is_usm && (uintptr_t)memory - (uintptr_t)host->begin < host->bytes)
			return true;
	}
	return false;
}

static bool service_write(void *state, unsigned buffer, const void *from, uint64_t bytes)
{
	struct service *service = state;
	return client_good(sycl_queue_copy_from_host(service->queue, from, service->buffer[buffer],
						     0, bytes, NULL),
			   "sycl_queue_copy_from_host");
}

static bool service_launch(void *state, const struct layer_launch *wanted)
{
	struct service *service = state;
	struct sycl_launch_argument arguments[LAYER_POINTERS + LAYER_VALUES];
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	unsigned count = 0;
	for (unsigned i = 0; i < wanted->pointers; i++)
		arguments[count++] = sycl_launch_buffer(
			service->buffer[wanted->buffers[i]],
			wanted->writes >> i & 1 ? SYCL_ACCESS_READ_WRITE : SYCL_ACCESS_READ);
	for (unsigned i = 0; i < wanted->values; i++)
		arguments[count++] = sycl_launch_value(sizeof(uint32_t), &wanted->words[i]);
	launch.kernel = service->kernels[wanted->kernel];
	launch.global = sycl_range1(wanted->global);
	launch.local = sycl_range1(wanted->local);
	launch.arguments = arguments;
	launch.argument_count = count;
	return client_good(sycl_queue_launch(service->queue, &launch, NULL), "sycl_queue_launch");
}

/* The device writes directly to the program's memory. */
static bool read_into_usm(const struct service *service, unsigned buffer, void *to, uint64_t bytes)
{
	sycl_event event = NULL;
	bool good = client_good(sycl_queue_copy_to_host(service->queue, service->buffer[buffer], 0,
							to, bytes, &event),
				"sycl_queue_copy_to_host") &&
		    client_good(sycl_event_wait(event), "sycl_event_wait");
	if (event)
		(void)sycl_event_release(event);
	return good;
}

static bool service_read(void *state, unsigned buffer, void *to, uint64_t bytes)
{
	struct service *service = state;
	if (is_usm(service, to))
		return read_into_usm(service, buffer, to, bytes);
	sycl_host_accessor accessor;
	void *contents = NULL;
	if (!client_good(sycl_host_accessor_create_ranged(service->buffer[buffer], SYCL_ACCESS_READ,
							  0, bytes, SYCL_FOREVER_NS, &accessor),
			 "a host accessor"))
		return false;
	bool good =
		client_good(sycl_host_accessor_get_pointer(accessor, &contents), "its contents");
	if (good)
		memcpy(to, contents, bytes);
	(void)sycl_host_accessor_release(accessor);
	return good;
}

static bool service_sync(void *state)
{
	struct service *service = state;
	return client_good(sycl_queue_wait(service->queue), "sycl_queue_wait");
}

static bool service_record_begin(void *state)
{
	struct service *service = state;
	sycl_context context = NULL;
	bool good =
		client_good(sycl_queue_get_context(service->queue, &context), "its context") &&
		client_good(sycl_graph_create(context, service->device, NULL, &service->recording),
			    "sycl_graph_create") &&
		client_good(sycl_graph_begin_recording(service->recording, 1, &service->queue),
			    "sycl_graph_begin_recording");
	if (context)
		(void)sycl_context_release(context);
	return good;
}

static bool service_record_end(void *state, unsigned *graph_out)
{
	struct service *service = state;
	bool good = service->graphs < LAYER_GRAPHS &&
		    client_good(sycl_graph_end_recording(service->recording, 0, NULL),
				"sycl_graph_end_recording") &&
		    client_good(sycl_graph_finalize(service->recording, NULL,
						    &service->executable[service->graphs]),
				"sycl_graph_finalize");
	if (good)
		*graph_out = service->graphs++;
	(void)sycl_graph_release(service->recording);
	service->recording = NULL;
	return good;
}

static bool service_graph(void *state, unsigned graph)
{
	struct service *service = state;
	return client_good(
		sycl_queue_graph(service->queue, service->executable[graph], 0, NULL, NULL),
		"sycl_queue_graph");
}

_Static_assert(sizeof(struct sycl_shared_memory) <= LAYER_SHARED_BYTES, "room for its name");

static bool service_share(void *state, uint64_t bytes, unsigned *buffer_out,
			  struct layer_shared *shared_out)
{
	struct service *service = state;
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	if (service->buffers == LAYER_BUFFERS ||
	    !client_good(sycl_buffer_create_exportable(service->device, NULL, bytes, SYCL_HOST_NONE,
						       SYCL_SHARE_CUDA_IPC,
						       &service->buffer[service->buffers]),
			 "sycl_buffer_create_exportable"))
		return false;
	*buffer_out = service->buffers++;
	if (!client_good(sycl_buffer_export(service->buffer[*buffer_out], &shared),
			 "sycl_buffer_export"))
		return false;
	memcpy(shared_out->bytes, &shared, sizeof(shared));
	return true;
}

static bool service_open_shared(void *state, const struct layer_shared *shared_text,
				unsigned *buffer_out)
{
	struct service *service = state;
	struct sycl_shared_memory shared;
	memcpy(&shared, shared_text->bytes, sizeof(shared));
	if (service->buffers == LAYER_BUFFERS ||
	    !client_good(sycl_buffer_import(service->device, &shared,
					    &service->buffer[service->buffers]),
			 "sycl_buffer_import"))
		return false;
	*buffer_out = service->buffers++;
	return true;
}

/* Work of another connection that is submitted after a group is complete comes behind it, so this
 * waits. */
static bool service_hand_on(void *state, unsigned buffer)
{
	(void)buffer;
	return service_sync(state);
}

static bool service_take(void *state, unsigned buffer)
{
	(void)state;
	(void)buffer;
	return true;
}

#define BODY(open_function)                                                                        \
	{                                                                                          \
		.open = (open_function), .close = layer_service_close, .alloc = service_alloc,     \
		.part = service_part, .host = service_host, .write = service_write,                \
		.launch = service_launch, .read = service_read, .sync = service_sync,              \
		.record_begin = service_record_begin, .record_end = service_record_end,            \
		.graph = service_graph, .share = service_share,                                    \
		.open_shared = service_open_shared, .hand_on = service_hand_on,                    \
		.take = service_take                                                               \
	}

const struct layer_body layer_service = BODY(layer_service_open);
const struct layer_body layer_service_gpu = BODY(service_open_gpu);
