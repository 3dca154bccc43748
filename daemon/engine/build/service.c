#include "build/service.h"

#include "build/internal.h"
#include "build/name.h"
#include "clock.h"
#include "base/option_list.h"
#include "processors.h"
#include "protocol_limits.h"
#include "status.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define BUILD_HELPER_END_MS 2000

static void build_work_free(struct build_work *work)
{
	list_remove(&work->link);
	while (!list_empty(&work->jobs)) {
		struct build_job *job = list_entry(work->jobs.next, struct build_job, link);
		list_remove(&job->link);
		free(job);
	}
	free((char *)(uintptr_t)work->request.device_key);
	free((char *)(uintptr_t)work->request.device_name);
	free((char *)(uintptr_t)work->request.source);
	free((char *)(uintptr_t)work->request.options);
	free(work);
}

/* The helper may have ended. Otherwise it gets a moment to stop its compilers by itself when its
 * socket hangs up. */
static void end_helper(struct build_service *service)
{
	if (service->helper <= 0)
		return;
	int pidfd = pidfd_open(service->helper, 0);
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};
	if (pidfd >= 0)
		while (poll(&ended, 1, BUILD_HELPER_END_MS) < 0 && errno == EINTR)
			;
	close_fd(&pidfd);
	if (!(ended.revents & POLLIN))
		(void)kill(service->helper, SIGKILL);
	/* In an application, other code may have collected the helper already. */
	while (waitpid(service->helper, NULL, 0) < 0 && errno == EINTR)
		;
}

static void on_build_handle_closed(uv_handle_t *handle)
{
	struct build_handles *handles = handle->data;
	if (--handles->open == 0)
		free(handles);
}

struct build_service *build_service_free(struct build_service *service)
{
	if (!service)
		return NULL;
	while (!list_empty(&service->works))
		build_work_free(list_entry(service->works.next, struct build_work, link));
	if (service->handles) {
		struct build_handles *handles = service->handles;
		handles->poll.data = handles->timer.data = handles->turn.data = handles;
		uv_close((uv_handle_t *)&handles->poll, on_build_handle_closed);
		uv_close((uv_handle_t *)&handles->timer, on_build_handle_closed);
		uv_close((uv_handle_t *)&handles->turn, on_build_handle_closed);
	}
	close_fd(&service->socket);
	build_linker_close(&service->linker);
	end_helper(service);
	service->cache = build_cache_free(service->cache);
	decode_arena_fini(&service->decode);
	free(service->cache_directory);
	option_list_free(service->backend_options);
	free(service);
	return NULL;
}

static void build_set_timer(struct build_service *service);

/* A cold build takes a second and more, in which an engine seems to do nothing. */
static void log_slow_build(const struct build_service *service, const struct build_work *work)
{
	static const char *const kinds[] = {
		[BACKEND_SOURCE_OPENCL_C] = "OpenCL C", [BACKEND_SOURCE_PORTABLE] = "portable",
		[BACKEND_SOURCE_BUILTIN] = "built-in",  [BACKEND_SOURCE_PTX] = "PTX",
		[BACKEND_SOURCE_CUBIN] = "cubin",       [BACKEND_SOURCE_CUDA_CPP] = "CUDA C++",
		[BACKEND_SOURCE_SPIRV] = "SPIR-V",
	};
	const struct build_request *request = &work->request;
	const char *what =
		request->action == BUILD_ACTION_LINK ? "objects to link" : kinds[request->kind];
	char name[BUILD_NAME_BYTES];
	unsigned waiting = 0;
	if (service->report_fd < 0)
		return;
	build_name(request->kind, request->source,
		   request->action == BUILD_ACTION_LINK ? 0 : request->source_bytes, name);
	for (const struct list *link = service->works.next; link != &service->works;
	     link = link->next)
		waiting += list_entry(link, struct build_work, link)->state == BUILD_WAITING;
	(void)dprintf(
		service->report_fd,
		"builds %s%s%s%zu bytes of %s%s for %.100s; %u others are being built, %u wait\n",
		*name ? "kernel '" : "", name, *name ? "' (" : "", request->source_bytes, what,
		*name ? ")" : "", request->device_name, service->running - 1, waiting);
}

void build_service_log_to(struct build_service *service, int fd)
{
	service->report_fd = fd;
}

static void build_start_waiting(struct build_service *service)
{
	struct list *next;

	for (struct list *link = service->works.next;
	     link != &service->works && service->running < service->running_max; link = next) {
		struct build_work *work = list_entry(link, struct build_work, link);
		next = link->next;
		if (work->state != BUILD_WAITING)
			continue;
		int error = service->helper_gone ? -EPIPE : build_channel_send(service, work);
		if (error == 0) {
			work->state = BUILD_RUNNING;
			work->deadline_ns =
				clock_deadline_ns(work->request.time_limit_ns + BUILD_GRACE_NS);
			service->running++;
			service->counters.builds++;
			log_slow_build(service, work);
			continue;
		}
		const char *text =
			error == -EPIPE || error == -ECONNRESET
				? "the build helper has ended: this engine cannot build any more"
				: "the build could not be handed to the build helper";
		build_work_failed(service, work, STATUS_RUNTIME, text);
		next = service->works.next; /* the callback may have changed the list */
	}
	build_set_timer(service);
}

static void on_build_turn(uv_idle_t *idle)
{
	struct build_service *service = idle->data;
	uint64_t end = service->next_number; /* work that callbacks submit has its turn later */
	struct list *next;

	(void)uv_idle_stop(idle);
	for (struct list *link = service->works.next; link != &service->works; link = next) {
		struct build_work *work = list_entry(link, struct build_work, link);
		struct build_cache_entry entry = {0};
		next = link->next;
		if (work->state != BUILD_NEW || work->number >= end)
			continue;
		if (!service->cache || !build_may_keep(&work->request) ||
		    build_cache_load(service->cache, &work->key, &entry) < 0) {
			work->state = BUILD_WAITING;
			continue;
		}
		const struct build_result result = {
			.binary = entry.binary,
			.binary_bytes = entry.binary_bytes,
			.log = entry.log,
			.from_cache = true,
		};
		service->counters.cache_hits++;
		build_work_done(service, work, &result);
		build_cache_entry_fini(&entry);
		next = service->works.next; /* the callback may have changed the list */
	}
	build_start_waiting(service);
}

static void on_readable(uv_poll_t *poll_handle, int status, int events)
{
	struct build_service *service = poll_handle->data;
	(void)events;

	if (status < 0) {
		build_helper_lost(service);
		return;
	}
	build_channel_receive(service);
	build_start_waiting(service);
}

/* Ends late builds for a helper that does not end them in time itself. */
static void on_builds_late(uv_timer_t *timer)
{
	struct build_service *service = timer->data;
	uint64_t now = clock_now_ns();
	struct list *next;

	for (struct list *link = service->works.next; link != &service->works; link = next) {
		struct build_work *work = list_entry(link, struct build_work, link);
		next = link->next;
		if (work->state != BUILD_RUNNING || work->deadline_ns > now)
			continue;
		build_channel_cancel(service, work);
		build_work_failed(service, work, STATUS_RUNTIME,
				  "the build helper did not answer in time");
		next = service->works.next;
	}
	build_start_waiting(service);
}

static void build_set_timer(struct build_service *service)
{
	uint64_t first = UINT64_MAX, now = clock_now_ns();

	for (struct list *link = service->works.next; link != &service->works; link = link->next) {
		const struct build_work *work = list_entry(link, struct build_work, link);
		if (work->state == BUILD_RUNNING && work->deadline_ns < first)
			first = work->deadline_ns;
	}
	if (first == UINT64_MAX)
		(void)uv_timer_stop(&service->handles->timer);
	else
		(void)uv_timer_start(&service->handles->timer, on_builds_late,
				     first > now ? (first - now) / 1000000 + 1 : 0, 0);
}

int build_service_set_options(struct build_service *service, const char *const *backend_options)
{
	char **copy = option_list_copy(backend_options);
	if (!copy)
		return -ENOMEM;
	option_list_free(service->backend_options);
	service->backend_options = copy;
	return 0;
}

int build_service_attach(struct build_service *service, uv_loop_t *loop,
			 const char *cache_directory)
{
	if (cache_directory) {
		service->cache_directory = strdup(cache_directory);
		if (!service->cache_directory)
			return -ENOMEM;
		/* Without a usable folder each build takes longer, but none fails. */
		if (build_cache_open(cache_directory, 0, &service->cache) < 0)
			free_pointer(&service->cache_directory);
	}
	struct build_handles *handles = calloc(1, sizeof(*handles));
	if (!handles)
		return -ENOMEM;
	int error = uv_poll_init(loop, &handles->poll, service->socket);
	if (error < 0) {
		free(handles);
		return error;
	}
	(void)uv_timer_init(loop, &handles->timer);
	(void)uv_idle_init(loop, &handles->turn);
	handles->poll.data = handles->timer.data = handles->turn.data = service;
	handles->open = 3;
	service->handles = handles;
	return uv_poll_start(&handles->poll, UV_READABLE | UV_DISCONNECT, on_readable);
}

void build_helper_lost(struct build_service *service)
{
	service->helper_gone = true;
	(void)uv_poll_stop(&service->handles->poll);
	for (struct list *link = service->works.next; link != &service->works;) {
		struct build_work *work = list_entry(link, struct build_work, link);
		link = link->next;
		if (work->state != BUILD_RUNNING)
			continue;
		build_work_failed(service, work, STATUS_RUNTIME,
				  "the build helper ended while it built this");
		link = service->works.next;
	}
}

struct build_work *build_work_find(struct build_service *service, uint64_t number)
{
	for (struct list *link = service->works.next; link != &service->works; link = link->next) {
		struct build_work *work = list_entry(link, struct build_work, link);
		if (work->number == number && work->state == BUILD_RUNNING)
			return work;
	}
	return NULL;
}

void build_work_done(struct build_service *service, struct build_work *work,
		     const struct build_result *result)
{
	if (work->state == BUILD_RUNNING)
		service->running--;
	/* Removed first, so that requests and cancels of the callbacks do not find the work. */
	list_remove(&work->link);
	while (!list_empty(&work->jobs)) {
		struct build_job *job = list_entry(work->jobs.next, struct build_job, link);
		list_remove(&job->link);
		job->work = NULL;
		job->done(job->owner, result);
		free(job);
	}
	build_work_free(work);
}

void build_work_failed(struct build_service *service, struct build_work *work, int32_t status,
		       const char *text)
{
	struct build_result result = {.log = "", .fault = {.status = status}};

	(void)snprintf(result.fault.text, sizeof(result.fault.text), "%s", text);
	build_work_done(service, work, &result);
}

static struct build_work *build_work_find_equal(struct build_service *service,
						const struct build_key *key, uint64_t time_limit_ns,
						uint64_t memory_limit_bytes)
{
	for (struct list *link = service->works.next; link != &service->works; link = link->next) {
		struct build_work *work = list_entry(link, struct build_work, link);
		if (memcmp(work->key.bytes, key->bytes, sizeof(key->bytes)) == 0 &&
		    work->request.time_limit_ns == time_limit_ns &&
		    work->request.memory_limit_bytes == memory_limit_bytes)
			return work;
	}
	return NULL;
}

static int build_work_new(struct build_service *service, const struct build_request *request,
			  struct build_work **work_out)
{
	struct build_work *work = calloc(1, sizeof(*work));
	if (!work)
		return -ENOMEM;
	list_init(&work->link);
	list_init(&work->jobs);
	char *source = malloc(request->source_bytes + 1);
	work->request = *request;
	work->request.source = source;
	work->request.device_key = strdup(request->device_key);
	work->request.device_name =
		strdup(request->device_name ? request->device_name : "a device");
	work->request.options = strdup(request->options ? request->options : "");
	if (!source || !work->request.device_key || !work->request.device_name ||
	    !work->request.options) {
		build_work_free(work);
		return -ENOMEM;
	}
	if (request->source_bytes > 0)
		memcpy(source, request->source, request->source_bytes);
	source[request->source_bytes] = '\0';
	work->number = service->next_number++;
	list_push_back(&service->works, &work->link);
	*work_out = work;
	return 0;
}

int build_service_submit(struct build_service *service, const struct build_request *request,
			 build_done *done, void *owner, struct build_job **job_out)
{
	struct build_request limited = *request;
	struct build_key key;

	if (!service->handles)
		return -EINVAL;
	if (!limited.time_limit_ns)
		limited.time_limit_ns = LIMIT_BUILD_NS;
	if (!limited.memory_limit_bytes)
		limited.memory_limit_bytes = LIMIT_BUILD_MEMORY_BYTES;
	int error = build_key_make(&limited, &key);
	if (error < 0)
		return error;
	struct build_job *job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	struct build_work *work = build_work_find_equal(service, &key, limited.time_limit_ns,
							limited.memory_limit_bytes);
	if (!work) {
		error = build_work_new(service, &limited, &work);
		if (error < 0) {
			free(job);
			return error;
		}
		work->key = key;
	}
	*job = (struct build_job){.service = service, .work = work, .done = done, .owner = owner};
	list_push_back(&work->jobs, &job->link);
	(void)uv_idle_start(&service->handles->turn, on_build_turn);
	*job_out = job;
	return 0;
}

void build_job_cancel(struct build_job *job)
{
	if (!job)
		return;
	struct build_service *service = job->service;
	struct build_work *work = job->work;

	list_remove(&job->link);
	free(job);
	if (list_empty(&work->link) || !list_empty(&work->jobs))
		return; /* the work is reported now, or other jobs still need it */
	if (work->state == BUILD_RUNNING) {
		build_channel_cancel(service, work);
		service->running--;
		(void)uv_idle_start(&service->handles->turn, on_build_turn); /* its place is free */
	}
	build_work_free(work);
}

void build_service_counters(const struct build_service *service,
			    struct build_service_counters *counters_out)
{
	*counters_out = service->counters;
}
