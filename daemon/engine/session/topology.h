/* The scheduler's platforms and devices as a message. */
#ifndef SYCL_ENGINE_TOPOLOGY_H
#define SYCL_ENGINE_TOPOLOGY_H

#include "cleanup.h"
#include "scheduler/public/scheduler.h"

#include "command.pb-c.h"

/* Bits of syclclient/device.h's aspects. */
#define TOPOLOGY_ASPECT_USM_DEVICE        (1ull << 13)
#define TOPOLOGY_ASPECT_USM_HOST          (1ull << 14)
#define TOPOLOGY_ASPECT_USM_ATOMIC_HOST   (1ull << 15)
#define TOPOLOGY_ASPECT_USM_SHARED        (1ull << 16)
#define TOPOLOGY_ASPECT_USM_ATOMIC_SHARED (1ull << 17)

struct topology;

/* Returns the aspects for a client: the backend's. USM aspects depend on whether the client is in
 * this process. */
uint64_t topology_aspects(const struct backend_device_facts *facts, bool in_process);

/* Calls scheduler_discover for one engine of a process at a time. Vendor libraries initialise
 * themselves at the first query, and not all of them allow that from two threads. */
int topology_discover(struct scheduler *scheduler,
		      const struct scheduler_platform_info **platforms_out,
		      uint32_t *platform_count_out,
		      const struct scheduler_device_info **devices_out, uint32_t *device_count_out);

/* Queries the scheduler, which queries the backends in the first call; this may take a second.
 * `in_process`: as above. 0 or a negative errno. */
int topology_create(struct scheduler *scheduler, bool in_process, struct topology **topology_out);
/* Describes a device as a message, which points into its facts. */
void topology_describe(Sycl__V1__DeviceFacts *out, uint32_t number,
		       const struct scheduler_device_info *info, bool in_process);
struct topology *topology_free(struct topology *topology);
DEFINE_CLEANUP(topology)
/* Points into the topology and the scheduler's facts. */
Sycl__V1__Topology *topology_message(struct topology *topology);

#endif
