#include "platform/topology.h"

#include <stdlib.h>
#include <string.h>

static void take_topology(struct pending *pending, const Sycl__V1__Reply *reply)
{
	if (reply->body_case != SYCL__V1__REPLY__BODY_TOPOLOGY)
		return;
	/* The message lives in the decoder's memory: packed and unpacked again, it is a copy of our
	 * own. */
	const ProtobufCMessage *message = &reply->topology->base;
	size_t bytes = protobuf_c_message_get_packed_size(message);
	uint8_t *packed = malloc(bytes ? bytes : 1);
	if (!packed)
		return;
	(void)protobuf_c_message_pack(message, packed);
	pending->context = sycl__v1__topology__unpack(NULL, bytes, packed);
	free(packed);
}

static struct topology *topology_delete(struct topology *topology)
{
	if (!topology)
		return NULL;
	sycl__v1__topology__free_unpacked(topology->message, NULL);
	free(topology);
	return NULL;
}

static void topology_cleanup(struct topology **topology)
{
	*topology = topology_delete(*topology);
}

static struct topology *topology_new(Sycl__V1__Topology *message)
{
	struct topology *topology = calloc(1, sizeof(*topology));
	if (!topology) {
		sycl__v1__topology__free_unpacked(message, NULL);
		return NULL;
	}
	*topology = (struct topology){.message = message,
				      .platform_count = (uint32_t)message->n_platforms,
				      .device_count = (uint32_t)message->n_devices,
				      .platforms = message->platforms,
				      .devices = message->devices};
	return topology;
}

uint32_t topology_platform_of(const struct topology *topology, const Sycl__V1__DeviceFacts *device)
{
	uint32_t i = 0;
	while (i < topology->platform_count && topology->platforms[i]->platform != device->platform)
		i++;
	return i;
}

int32_t topology_default_score(const struct topology *topology, const Sycl__V1__DeviceFacts *device)
{
	uint32_t platform = topology_platform_of(topology, device);
	if (!device->available || platform == topology->platform_count)
		return -1;
	/* The test backend's devices only where nothing else is. */
	if (topology->platforms[platform]->backend == SYCL__V1__BACKEND__BACKEND_FAKE)
		return 1;
	switch (device->type) {
	case SYCL__V1__DEVICE_TYPE__DEVICE_TYPE_GPU:
		return topology->platforms[platform]->backend == SYCL__V1__BACKEND__BACKEND_CUDA
			       ? 500
			       : 400;
	case SYCL__V1__DEVICE_TYPE__DEVICE_TYPE_ACCELERATOR:
		return 300;
	case SYCL__V1__DEVICE_TYPE__DEVICE_TYPE_CPU:
		return 200;
	default:
		return 100;
	}
}

static uint32_t root_index(const struct topology *topology)
{
	uint32_t best = topology->platform_count;
	int32_t best_score = -1;
	for (uint32_t i = 0; i < topology->device_count; i++) {
		int32_t score = topology_default_score(topology, topology->devices[i]);
		if (score > best_score) {
			best_score = score;
			best = topology_platform_of(topology, topology->devices[i]);
		}
	}
	for (uint32_t i = 0; i < topology->platform_count && best == topology->platform_count;
	     i++) {
		if (topology->platforms[i]->available)
			best = i;
	}
	return best < topology->platform_count ? best : 0;
}

/* With the state lock. If another thread has published a topology meanwhile, that one stays. */
static sycl_result topology_publish(struct connection *c, struct topology **topology)
{
	if (atomic_load_explicit(&c->topology, memory_order_relaxed))
		return SYCL_SUCCESS;
	c->platforms = calloc((*topology)->platform_count + 1, sizeof(struct platform *));
	c->devices = calloc((*topology)->device_count + 1, sizeof(struct device *));
	if (!c->platforms || !c->devices) {
		free(c->platforms);
		free(c->devices);
		c->platforms = NULL;
		c->devices = NULL;
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory for the list of devices");
	}
	if (c->root && (*topology)->platform_count > 0) {
		uint32_t index = root_index(*topology);
		c->platforms[index] = c->root;
		atomic_store_explicit(&c->root->index, index, memory_order_relaxed);
	}
	atomic_store_explicit(&c->topology, *topology, memory_order_release);
	*topology = NULL;
	return SYCL_SUCCESS;
}

sycl_result topology_get(struct connection *c, const struct topology **topology_out)
{
	struct topology *known = atomic_load_explicit(&c->topology, memory_order_acquire);
	if (known) {
		*topology_out = known;
		return SYCL_SUCCESS;
	}
	Sycl__V1__Discover discover = SYCL__V1__DISCOVER__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_DISCOVER;
	command.discover = &discover;
	struct pending pending = {.take = take_topology};
	sycl_result result = connection_request(c, &command, &pending, UINT64_MAX);
	Sycl__V1__Topology *message = pending.context;
	if (result) {
		if (message)
			sycl__v1__topology__free_unpacked(message, NULL);
		return result;
	}
	if (!message)
		return error_set(SYCL_ERROR_RUNTIME,
				 "the service's list of devices could not be read");
	CLEANUP(topology_cleanup) struct topology *topology = topology_new(message);
	if (!topology)
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory for the list of devices");
	(void)pthread_mutex_lock(&c->state_lock);
	result = topology_publish(c, &topology);
	(void)pthread_mutex_unlock(&c->state_lock);
	if (!result)
		*topology_out = atomic_load_explicit(&c->topology, memory_order_acquire);
	return result;
}

void platforms_free(struct connection *c)
{
	struct topology *topology = atomic_load_explicit(&c->topology, memory_order_relaxed);
	(void)topology_delete(topology);
	free(c->platforms);
	free(c->devices);
}
