/* Data from an engine's reports (account/claims.h): part of a session and of an engine. */
#ifndef SYCLD_SUPERVISOR_CLAIMS_STATE_H
#define SYCLD_SUPERVISOR_CLAIMS_STATE_H

#include "control.pb-c.h"
#include "flight_page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLAIMS_REASON_BYTES = 128 };
enum { CLAIMS_DEVICES_MAX = 64 }; /* also of platforms; only the first part of a report has them */

/* Claims about a session; zeroed: none. */
struct session_figures {
	uint64_t request; /* number of the request that is answered */
	uint32_t queues, buffers, objects, weight;
	Sycl__V1__SessionClass session_class;
	bool paused, ended;
	bool has_usage, has_present;
	Sycl__V1__Usage usage;
	Sycl__V1__SessionPresent present; /* `running` points to the next member */
	char running[FLIGHT_KERNEL_NAME_BYTES];
	uint8_t *devices; /* A packed SessionReport with devices only; allocated; NULL: none. */
	size_t devices_bytes;
};

struct device_claim {
	const Sycl__V1__DeviceFacts *facts; /* points into the topology */
	Sycl__V1__Backend backend;
	const char *platform_name;
	/* The device as a packed KnownDevice, allocated. Equal devices have equal bytes. */
	uint8_t *bytes;
	size_t size;
};

struct engine_claims {
	uint64_t request;             /* the last request with a reply; 0: none */
	uint64_t arriving;            /* the request to which a part of the reply has arrived */
	uint64_t at_ns;               /* when the reply to `request` arrived */
	uint64_t serves;              /* this report is the reply to requests up to this one */
	uint64_t window_ns;           /* start of the window in which requests are counted */
	unsigned asked;               /* number of requests in that window */
	Sycl__V1__EngineReport facts; /* latest figures, without topology and sessions */
	Sycl__V1__Topology *topology; /* allocated, bounded, printable; NULL: none was sent */
	size_t delays_bytes_most;     /* claims_delays_bytes_most */
	size_t devices_bytes;         /* at least the sum over its sessions' figures */
	struct device_claim devices[CLAIMS_DEVICES_MAX];
	unsigned device_count;
	Sycl__V1__DevicePresent present[CLAIMS_DEVICES_MAX]; /* open devices */
	Sycl__V1__DeviceSensors sensors[CLAIMS_DEVICES_MAX]; /* sensors of the open devices */
	char sensor_reasons[CLAIMS_DEVICES_MAX][CLAIMS_REASON_BYTES];
	unsigned present_count;
};

/* Frees the contents and zeroes the structure. */
void session_figures_fini(struct session_figures *claim);

#endif
