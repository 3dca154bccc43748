/*
 * Platforms and devices of the service, requested once, on first need (A20). The handles of
 * platforms and devices are made on demand. The connection has weak references to them, so that the
 * same platform is the same handle while it is held (N3).
 */
#ifndef SYCL_CLIENT_TOPOLOGY_H
#define SYCL_CLIENT_TOPOLOGY_H

#include "platform/platform.h"

struct topology {
	Sycl__V1__Topology *message; /* the unpacked copy */
	uint32_t platform_count, device_count;
	Sycl__V1__PlatformFacts **platforms;
	Sycl__V1__DeviceFacts **devices;
};

/* The first call makes a round trip. The topology belongs to the connection and lives as long. */
sycl_result topology_get(struct connection *connection, const struct topology **topology_out);
void platforms_free(struct connection *connection);

/* Position in topology.platforms of a device's platform; platform_count when the service sent
 * nonsense. */
uint32_t topology_platform_of(const struct topology *topology, const Sycl__V1__DeviceFacts *device);

/* The default selector's score of a device. */
int32_t topology_default_score(const struct topology *topology,
			       const Sycl__V1__DeviceFacts *device);

#endif
