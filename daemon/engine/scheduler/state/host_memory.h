/* Host memory that devices register. */
#ifndef SYCL_ENGINE_SCHED_HOST_MEMORY_H
#define SYCL_ENGINE_SCHED_HOST_MEMORY_H

#include "base/mailbox.h"
#include "scheduler/state/notice.h"

#include "backend.h"

#include <stdbool.h>
#include <stdint.h>

struct scheduler;
struct scheduler_device;

/* A wait until devices have registered a host range, or have failed to. */
struct sched_host_wait {
	struct scheduler *scheduler;
	struct sched_host_wait *next;
	uint64_t devices; /* devices that have not replied */
	void *owner;
	struct sched_notice notice;
	struct backend_fault fault;
};

/* Host memory that devices register. */
struct sched_host {
	struct sched_host_wait *waits;
	uint32_t holds; /* number of graphs with nodes that copy from or to the memory */
	struct scheduler *scheduler;
	struct sched_host *previous, *next;
	void *host;
	uint64_t size_bytes;
	struct sched_registration *registrations;
	void (*release)(void *owner); /* NULL: not unregistered */
	void *owner;
};

/* The registration with one device. */
struct sched_registration {
	struct sched_message message;
	struct sched_registration *next;
	struct sched_host *host;
	struct scheduler_device *device;
	bool away;
	/* the loader's, until the message comes back */
	struct backend_host *handle;
	struct backend_fault fault;
};

void sched_host_device_opened(struct scheduler_device *device);
/* Bit per device with which this range is registered, and not about to be unregistered. */
uint64_t sched_host_registered(const struct scheduler *scheduler, const void *host,
			       uint64_t size_bytes);
/* A graph names the memory, and may outlive its owner's use. */
void sched_host_hold(struct sched_host *host);
void sched_host_drop(struct sched_host *host);
void sched_registration_returned(void *object);
void sched_host_wait_notify(void *object);

#endif
