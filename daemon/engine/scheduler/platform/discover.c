/* Lists the existing platforms and devices: all backends are queried once, at the first need. */
#include "scheduler/state/device.h"
#include "scheduler/state/host_memory.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"

#include "cleanup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char nothing[] = "";

struct found {
	struct backend_topology topologies[16];
};

#define BACKENDS_MAX (sizeof(((struct found *)0)->topologies) / sizeof(struct backend_topology))

/* The backend is built in but cannot be used: its platform has no devices and a reason. */
static void make_unavailable(struct sched_backend *backend, const struct backend_fault *fault,
			     struct backend_topology *topology_out)
{
	backend->handle = NULL;
	char *reason = NULL;
	if (asprintf(&reason, "%s",
		     fault->text[0] ? fault->text : "its library or driver is not installed") < 0)
		reason = NULL;
	backend->unavailable = (struct backend_platform_facts){
		.kind = backend->ops->kind,
		.name = (char *)(uintptr_t)backend->ops->name,
		.vendor = nothing,
		.version = nothing,
		.profile = nothing,
		.extensions = nothing,
		.unavailable_reason = reason,
	};
	*topology_out =
		(struct backend_topology){.platforms = &backend->unavailable, .platform_count = 1};
}

enum step { PREPARE, OPEN };

/* Selects the options "NAME:OPTION" with the backend's name. */
static int begin_discovery(const struct scheduler *scheduler, struct sched_backend *backend,
			   enum step step, struct backend_fault *fault)
{
	size_t length = strlen(backend->ops->name);
	uint32_t count = 0;
	while (scheduler->backend_options[count])
		count++;
	CLEANUP(free_pointer) const char **options = calloc(count + 1, sizeof(*options));
	if (!options)
		return -ENOMEM;
	count = 0;
	for (uint32_t i = 0; scheduler->backend_options[i]; i++) {
		const char *option = scheduler->backend_options[i];
		if (strncmp(option, backend->ops->name, length) == 0 && option[length] == ':')
			options[count++] = option + length + 1;
	}
	const struct backend_settings settings = {.cache_directory = scheduler->cache_directory,
						  .options = options};
	if (step == PREPARE) {
		backend->ops->prepare(&settings);
		return 0;
	}
	return backend->ops->open(&settings, &backend->handle, fault);
}

static void enumerate_backend(struct scheduler *scheduler, struct sched_backend *backend,
			      struct backend_topology *topology_out)
{
	struct backend_fault fault = {.status = 0};
	if (backend->ops->version != BACKEND_OPS_VERSION) {
		(void)snprintf(fault.text, sizeof(fault.text), "its table is of version %u, not %u",
			       backend->ops->version, BACKEND_OPS_VERSION);
		make_unavailable(backend, &fault, topology_out);
		return;
	}
	if (begin_discovery(scheduler, backend, OPEN, &fault) < 0) {
		make_unavailable(backend, &fault, topology_out);
		return;
	}
	if (backend->ops->enumerate(backend->handle, topology_out, &fault) < 0) {
		backend->ops->close(backend->handle);
		make_unavailable(backend, &fault, topology_out);
	}
}

struct asking {
	struct scheduler *scheduler;
	struct sched_backend *backend;
	struct backend_topology *topology;
	pthread_t thread;
	bool started;
};

static void *enumerate_on_a_thread(void *argument)
{
	const struct asking *asking = argument;
	enumerate_backend(asking->scheduler, asking->backend, asking->topology);
	return NULL;
}

/*
 * All at the same time: each vendor's library takes a tenth of a second and more to start. What
 * they read from the environment is set before.
 */
static void enumerate_backends(struct scheduler *scheduler, struct backend_topology *topologies)
{
	struct asking askings[BACKENDS_MAX];
	sigset_t all, before;
	(void)sigfillset(&all);
	for (uint32_t i = 0; i < scheduler->backend_count; i++) {
		struct backend_fault unimportant = {.status = 0};
		struct sched_backend *backend = &scheduler->backends[i];
		if (backend->ops->version == BACKEND_OPS_VERSION && backend->ops->prepare)
			(void)begin_discovery(scheduler, backend, PREPARE, &unimportant);
	}
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	for (uint32_t i = 0; i < scheduler->backend_count; i++) {
		askings[i] = (struct asking){scheduler, &scheduler->backends[i], &topologies[i], 0,
					     false};
		/* The last backend is queried on this thread. */
		askings[i].started = i + 1 < scheduler->backend_count &&
				     pthread_create(&askings[i].thread, NULL, enumerate_on_a_thread,
						    &askings[i]) == 0;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (uint32_t i = 0; i < scheduler->backend_count; i++)
		if (!askings[i].started)
			(void)enumerate_on_a_thread(&askings[i]);
	for (uint32_t i = 0; i < scheduler->backend_count; i++)
		if (askings[i].started)
			(void)pthread_join(askings[i].thread, NULL);
}

/* A device that is hidden keeps its number, so that all engines number devices alike. */
static bool device_is_hidden(const struct scheduler *scheduler, const struct backend_ops *ops,
			     uint32_t index)
{
	const struct scheduler_devices *devices = &scheduler->allowed;
	if (!devices->restricted)
		return false;
	return (unsigned)ops->kind >= SCHEDULER_BACKEND_KINDS || index >= 64 ||
	       !(devices->allowed[ops->kind] >> index & 1);
}

static void add_discovered_device(struct scheduler *scheduler, const struct backend_ops *ops,
				  const struct backend_topology *topology)
{
	uint32_t base = scheduler->platform_count;
	for (uint32_t i = 0; i < topology->platform_count; i++)
		scheduler->platforms[scheduler->platform_count++] =
			(struct scheduler_platform_info){.facts = &topology->platforms[i],
							 .ops = ops};
	for (uint32_t i = 0;
	     i < topology->device_count && scheduler->listed_count < SCHED_DEVICES_MAX; i++)
		scheduler->infos[scheduler->listed_count++] = (struct scheduler_device_info){
			.facts = &topology->devices[i],
			.ops = ops,
			.platform = base + topology->devices[i].platform,
			.backend_index = i,
			.is_hidden = device_is_hidden(scheduler, ops, i),
		};
}

static int discover_devices(struct scheduler *scheduler)
{
	if (scheduler->backend_count > BACKENDS_MAX)
		return -E2BIG;
	CLEANUP(free_pointer) struct found *found = calloc(1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	uint32_t platforms = 0;
	enumerate_backends(scheduler, found->topologies);
	for (uint32_t i = 0; i < scheduler->backend_count; i++)
		platforms += found->topologies[i].platform_count;
	scheduler->discovered = true;
	scheduler->platforms = calloc(platforms + 1, sizeof(*scheduler->platforms));
	scheduler->infos =
		calloc(SCHED_DEVICES_MAX,
		       sizeof(*scheduler->infos)); /* also for native contexts, which come later */
	if (!scheduler->platforms || !scheduler->infos)
		return -ENOMEM;
	for (uint32_t i = 0; i < scheduler->backend_count; i++)
		add_discovered_device(scheduler, scheduler->backends[i].ops, &found->topologies[i]);
	scheduler->device_count = scheduler->listed_count;
	return 0;
}

int scheduler_discover(struct scheduler *scheduler,
		       const struct scheduler_platform_info **platforms_out,
		       uint32_t *platform_count_out,
		       const struct scheduler_device_info **devices_out, uint32_t *device_count_out)
{
	int result = scheduler->discovered ? 0 : discover_devices(scheduler);
	if (result < 0)
		return result;
	*platforms_out = scheduler->platforms;
	*platform_count_out = scheduler->platform_count;
	*devices_out = scheduler->infos;
	*device_count_out = scheduler->listed_count;
	return 0;
}

bool scheduler_discovered(const struct scheduler *scheduler)
{
	return scheduler->discovered;
}

int scheduler_device(struct scheduler *scheduler, uint32_t device,
		     struct scheduler_device **device_out)
{
	int result = scheduler->discovered ? 0 : discover_devices(scheduler);
	if (result < 0)
		return result;
	if (device >= scheduler->listed_count || scheduler->infos[device].is_hidden)
		return -ENODEV;
	if (!scheduler->devices[device]) {
		result = sched_device_start(scheduler, device, 0, &scheduler->devices[device]);
		if (result < 0)
			return result;
		sched_host_device_opened(scheduler->devices[device]);
	}
	*device_out = scheduler->devices[device];
	return 0;
}
