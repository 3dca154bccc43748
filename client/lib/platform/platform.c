/* Platforms: the connection itself, and the platforms behind it. */
#include "platform/topology.h"

#include "wake.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static void platform_destroy(struct object *object)
{
	struct platform *platform = (struct platform *)object;
	struct connection *c = object->connection;
	(void)pthread_mutex_lock(&c->state_lock);
	if (c->root == platform)
		c->root = NULL;
	uint32_t index = atomic_load_explicit(&platform->index, memory_order_relaxed);
	if (index != INDEX_UNRESOLVED && c->platforms && c->platforms[index] == platform)
		c->platforms[index] = NULL;
	(void)pthread_mutex_unlock(&c->state_lock);
	object_delete(object);
}

struct platform *platform_new(struct connection *c, uint32_t index)
{
	struct platform *platform = calloc(1, sizeof(*platform));
	if (!platform)
		return NULL;
	platform->object.connection = c;
	platform->index = index;
	if (handle_create(&platform->object, HANDLE_PLATFORM, platform_destroy) < 0) {
		free(platform);
		return NULL;
	}
	connection_ref(c);
	object_keep(&platform->object);
	return platform;
}

sycl_result platform_at(struct connection *c, uint32_t index, struct platform **platform_out)
{
	(void)pthread_mutex_lock(&c->state_lock);
	struct platform *platform = c->platforms[index];
	if (!platform || !object_try_ref(&platform->object)) {
		platform = platform_new(c, index);
		if (platform)
			c->platforms[index] = platform;
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	if (!platform)
		return error_no_memory();
	*platform_out = platform;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_platform_retain(sycl_platform platform)
{
	return handle_retain(platform, HANDLE_PLATFORM);
}

SYCL_API sycl_result sycl_platform_release(sycl_platform platform)
{
	return handle_release(platform, HANDLE_PLATFORM);
}

SYCL_API sycl_result sycl_platform_get_reference_count(sycl_platform platform, uint32_t *count_out)
{
	return handle_get_reference_count(platform, HANDLE_PLATFORM, count_out);
}

/* Gives the caller a reference to the platform. */
static sycl_result platform_give(struct connection *c, uint32_t index, sycl_platform *out)
{
	struct platform *platform = NULL;
	sycl_result result = platform_at(c, index, &platform);
	if (result)
		return result;
	result = object_give(&platform->object);
	if (!result)
		*out = handle_of(&platform->object);
	object_unref(&platform->object);
	return result;
}

SYCL_API sycl_result sycl_platform_get_platforms(sycl_platform handle, uint32_t capacity,
						 sycl_platform *platforms_out, uint32_t *count_out)
{
	PIN(platform, platform, handle);
	if (capacity > 0)
		REQUIRE_OUTPUT(platforms_out);
	if (!platforms_out)
		REQUIRE_OUTPUT(count_out);
	const struct topology *topology = NULL;
	sycl_result result = topology_get(platform->object.connection, &topology);
	if (result)
		return result;
	uint32_t given = 0;
	for (; given < capacity && given < topology->platform_count && !result; given++)
		result = platform_give(platform->object.connection, given, &platforms_out[given]);
	if (result) {
		for (uint32_t i = 0; i + 1 < given; i++)
			(void)sycl_platform_release(platforms_out[i]);
		return result;
	}
	if (count_out)
		*count_out = topology->platform_count;
	return SYCL_SUCCESS;
}

static sycl_result platform_facts(struct platform *platform,
				  const Sycl__V1__PlatformFacts **facts_out)
{
	const struct topology *topology = NULL;
	sycl_result result = topology_get(platform->object.connection, &topology);
	if (result)
		return result;
	uint32_t index = atomic_load_explicit(&platform->index, memory_order_relaxed);
	if (index >= topology->platform_count)
		return error_set(SYCL_ERROR_PLATFORM, "the service has no platform");
	*facts_out = topology->platforms[index];
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_platform_get_info(sycl_platform handle, sycl_platform_info info,
					    size_t bytes, void *value, size_t *bytes_out)
{
	PIN(platform, platform, handle);
	struct connection *c = platform->object.connection;
	if (info == SYCL_PLATFORM_INFO_SESSION)
		return info_give(&c->session, sizeof(c->session), bytes, value, bytes_out);
	if (info == SYCL_PLATFORM_INFO_CLASS)
		return info_give(&c->session_class, sizeof(c->session_class), bytes, value,
				 bytes_out);
	if (info == SYCL_PLATFORM_INFO_WEIGHT)
		return info_give(&c->weight, sizeof(c->weight), bytes, value, bytes_out);
	if (info == SYCL_PLATFORM_INFO_ENDPOINT)
		return info_give_text(c->endpoint, bytes, value, bytes_out);
	const Sycl__V1__PlatformFacts *facts = NULL;
	sycl_result result = platform_facts(platform, &facts);
	if (result)
		return result;
	uint32_t number = 0;
	switch (info) {
	case SYCL_PLATFORM_INFO_NAME:
		return info_give_text(facts->name, bytes, value, bytes_out);
	case SYCL_PLATFORM_INFO_VENDOR:
		return info_give_text(facts->vendor, bytes, value, bytes_out);
	case SYCL_PLATFORM_INFO_VERSION:
		return info_give_text(facts->version, bytes, value, bytes_out);
	case SYCL_PLATFORM_INFO_PROFILE:
		return info_give_text(facts->profile, bytes, value, bytes_out);
	case SYCL_PLATFORM_INFO_EXTENSIONS:
		return info_give_text(facts->extensions, bytes, value, bytes_out);
	case SYCL_PLATFORM_INFO_BACKEND:
		number = (uint32_t)facts->backend;
		return info_give(&number, sizeof(number), bytes, value, bytes_out);
	case SYCL_PLATFORM_INFO_AVAILABLE:
		number = facts->available ? 1 : 0;
		return info_give(&number, sizeof(number), bytes, value, bytes_out);
	case SYCL_PLATFORM_INFO_UNAVAILABLE_REASON:
		return info_give_text(facts->unavailable_reason, bytes, value, bytes_out);
	default:
		return error_set(SYCL_ERROR_INVALID, "%d is no platform info", (int)info);
	}
}

static void pending_take_usage(struct pending *pending, const Sycl__V1__Reply *reply)
{
	if (reply->body_case != SYCL__V1__REPLY__BODY_USAGE)
		return;
	struct sycl_usage *usage = pending->context;
	const Sycl__V1__Usage *from = reply->usage;
	usage->groups_submitted = from->groups_submitted;
	usage->groups_completed = from->groups_completed;
	usage->groups_failed = from->groups_failed;
	usage->device_ns = from->device_ns;
	usage->bytes_to_device = from->bytes_to_device;
	usage->bytes_to_host = from->bytes_to_host;
	usage->buffer_bytes = from->buffer_bytes;
	usage->arena_bytes = from->arena_bytes;
	usage->groups_resubmitted = from->groups_resubmitted;
}

/* The size of the structure before it had groups_resubmitted. A program that was compiled then has
 * room for no more. */
#define USAGE_BYTES_FIRST offsetof(struct sycl_usage, groups_resubmitted)

SYCL_API sycl_result sycl_platform_get_usage(sycl_platform handle, struct sycl_usage *usage_out)
{
	PIN(platform, platform, handle);
	REQUIRE_OUTPUT(usage_out);
	uint32_t bytes = usage_out->struct_bytes;
	if ((bytes != sizeof(*usage_out) && bytes != USAGE_BYTES_FIRST) || usage_out->reserved != 0)
		return error_set(
			SYCL_ERROR_INVALID,
			"usage: struct_bytes or reserved is wrong; start from SYCL_USAGE_INIT");
	struct sycl_usage usage = {.struct_bytes = bytes};
	Sycl__V1__UsageQuery query = SYCL__V1__USAGE_QUERY__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_USAGE_QUERY;
	command.usage_query = &query;
	struct pending pending = {.take = pending_take_usage, .context = &usage};
	sycl_result result =
		connection_request(platform->object.connection, &command, &pending, UINT64_MAX);
	if (!result)
		memcpy(usage_out, &usage, bytes);
	return result;
}

/* With the state lock. Makes an epoll of two descriptors: the session socket, and a bell that rings
 * when another thread has read the socket. */
static int make_poll_set(struct connection *c)
{
	CLEANUP(close_fd) int kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	CLEANUP(close_fd) int loop = epoll_create1(EPOLL_CLOEXEC);
	if (kick < 0 || loop < 0)
		return -errno;
	struct epoll_event event = {.events = EPOLLIN};
	if (epoll_ctl(loop, EPOLL_CTL_ADD, kick, &event) < 0 ||
	    epoll_ctl(loop, EPOLL_CTL_ADD, c->socket, &event) < 0)
		return -errno;
	c->kick_fd = take_fd(&kick);
	c->loop_fd = take_fd(&loop);
	return 0;
}

SYCL_API sycl_result sycl_platform_get_fd(sycl_platform handle, int *fd_out)
{
	PIN(platform, platform, handle);
	REQUIRE_OUTPUT(fd_out);
	struct connection *c = platform->object.connection;
	(void)pthread_mutex_lock(&c->state_lock);
	int r = c->loop_fd < 0 ? make_poll_set(c) : 0;
	(void)pthread_mutex_unlock(&c->state_lock);
	if (r < 0)
		return error_set_errno(r, "a descriptor for event loops cannot be made");
	*fd_out = c->loop_fd;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_platform_prepare_read(sycl_platform handle)
{
	PIN(platform, platform, handle);
	struct connection *c = platform->object.connection;
	(void)pthread_mutex_lock(&c->state_lock);
	sycl_result result = SYCL_SUCCESS;
	if (c->loop_fd < 0) {
		result = error_set(SYCL_ERROR_INVALID,
				   "get the descriptor first: sycl_platform_get_fd");
	} else {
		c->prepared++;
		connection_await_any(c);
		wake_prepare_sleep(&c->header->client_sleeps);
		(void)replies_drain(c);
		result = connection_check(c);
		if (result)
			c->prepared--;
		/* Host tasks had their turn before: dispatch must be called all the same. */
		else if (c->hooks->tasks.ready(c) && c->hooks->tasks.may_run(c))
			wake_ring_bell(c->kick_fd);
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	return result;
}

/* With the state lock. */
static void end_preparation(struct connection *c)
{
	if (c->prepared > 0)
		c->prepared--;
	if (c->prepared == 0 && c->sleepers == 0)
		wake_cancel_sleep(&c->header->client_sleeps);
}

SYCL_API sycl_result sycl_platform_cancel_read(sycl_platform handle)
{
	PIN(platform, platform, handle);
	struct connection *c = platform->object.connection;
	(void)pthread_mutex_lock(&c->state_lock);
	end_preparation(c);
	(void)pthread_mutex_unlock(&c->state_lock);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_platform_dispatch(sycl_platform handle)
{
	PIN(platform, platform, handle);
	struct connection *c = platform->object.connection;
	(void)pthread_mutex_lock(&c->state_lock);
	uint64_t rung = 0;
	if (c->kick_fd >= 0 && read(c->kick_fd, &rung, sizeof(rung)) < 0)
		rung = 0; /* the bell was not rung */
	/*
	 * A thread that sleeps on the socket must read the socket itself, or would go on sleeping.
	 */
	if (!c->polling)
		connection_read_socket(c);
	end_preparation(c);
	(void)replies_drain(c);
	(void)pthread_cond_broadcast(&c->changed);
	(void)pthread_mutex_unlock(&c->state_lock);
	connection_run_ready(c);
	return connection_check(c);
}
