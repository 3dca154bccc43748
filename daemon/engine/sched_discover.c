/* Which platforms and devices there are: asked of all backends once, on first need. */
#include "sched_internal.h"

#include "cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char nothing[] = "";

struct found {
	struct backend_topology topologies[16];
};

#define BACKENDS_MAX (sizeof(((struct found *)0)->topologies) / sizeof(struct backend_topology))

/* Built in, but not to be used here: a platform without devices that says why. */
static void make_unavailable(struct sched_backend *backend, const struct backend_fault *fault,
			     struct backend_topology *topology_out)
{
	backend->handle = NULL;
	char *reason = NULL;
	if (asprintf(&reason, "%s", fault->text[0] ? fault->text : "its library or driver is not here") < 0)
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
	*topology_out = (struct backend_topology){.platforms = &backend->unavailable, .platform_count = 1};
}

static void ask(struct scheduler *scheduler, struct sched_backend *backend, struct backend_topology *topology_out)
{
	struct backend_fault fault = {.status = 0};
	if (backend->ops->version != BACKEND_OPS_VERSION) {
		(void)snprintf(fault.text, sizeof(fault.text), "its table is of version %u, not %u",
			       backend->ops->version, BACKEND_OPS_VERSION);
		make_unavailable(backend, &fault, topology_out);
		return;
	}
	if (backend->ops->open(scheduler->cache_directory, &backend->handle, &fault) < 0) {
		make_unavailable(backend, &fault, topology_out);
		return;
	}
	if (backend->ops->enumerate(backend->handle, topology_out, &fault) < 0) {
		backend->ops->close(backend->handle);
		make_unavailable(backend, &fault, topology_out);
	}
}

static void add(struct scheduler *scheduler, const struct backend_ops *ops, const struct backend_topology *topology)
{
	uint32_t base = scheduler->platform_count;
	for (uint32_t i = 0; i < topology->platform_count; i++)
		scheduler->platforms[scheduler->platform_count++] =
			(struct scheduler_platform_info){.facts = &topology->platforms[i], .ops = ops};
	for (uint32_t i = 0; i < topology->device_count && scheduler->device_count < SCHED_DEVICES_MAX; i++)
		scheduler->infos[scheduler->device_count++] = (struct scheduler_device_info){
			.facts = &topology->devices[i],
			.ops = ops,
			.platform = base + topology->devices[i].platform,
			.backend_index = i,
		};
}

static int discover(struct scheduler *scheduler)
{
	if (scheduler->backend_count > BACKENDS_MAX)
		return -E2BIG;
	CLEANUP(free_pointer) struct found *found = calloc(1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	uint32_t platforms = 0, devices = 0;
	for (uint32_t i = 0; i < scheduler->backend_count; i++) {
		ask(scheduler, &scheduler->backends[i], &found->topologies[i]);
		platforms += found->topologies[i].platform_count;
		devices += found->topologies[i].device_count;
	}
	scheduler->discovered = true;
	scheduler->platforms = calloc(platforms + 1, sizeof(*scheduler->platforms));
	scheduler->infos = calloc(devices + 1, sizeof(*scheduler->infos));
	if (!scheduler->platforms || !scheduler->infos)
		return -ENOMEM;
	for (uint32_t i = 0; i < scheduler->backend_count; i++)
		add(scheduler, scheduler->backends[i].ops, &found->topologies[i]);
	return 0;
}

int scheduler_discover(struct scheduler *scheduler, const struct scheduler_platform_info **platforms_out,
		       uint32_t *platform_count_out, const struct scheduler_device_info **devices_out,
		       uint32_t *device_count_out)
{
	int result = scheduler->discovered ? 0 : discover(scheduler);
	if (result < 0)
		return result;
	*platforms_out = scheduler->platforms;
	*platform_count_out = scheduler->platform_count;
	*devices_out = scheduler->infos;
	*device_count_out = scheduler->device_count;
	return 0;
}

bool scheduler_discovered(const struct scheduler *scheduler)
{
	return scheduler->discovered;
}

int scheduler_device(struct scheduler *scheduler, uint32_t device, struct scheduler_device **device_out)
{
	int result = scheduler->discovered ? 0 : discover(scheduler);
	if (result < 0)
		return result;
	if (device >= scheduler->device_count)
		return -ENODEV;
	if (!scheduler->devices[device]) {
		result = sched_device_start(scheduler, device, &scheduler->devices[device]);
		if (result < 0)
			return result;
	}
	*device_out = scheduler->devices[device];
	return 0;
}
