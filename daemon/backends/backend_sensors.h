/*
 * What the management library of NVIDIA's driver reports of a device (libnvidia-ml.so.1, NVML). It
 * is opened when the first call needs it, and is never closed. Any thread, but one at a time; a
 * call may take a second, so neither the front thread nor a device's thread may call it.
 */
#ifndef SYCL_BACKEND_SENSORS_H
#define SYCL_BACKEND_SENSORS_H

#include <stdbool.h>
#include <stdint.h>

enum { SENSORS_REASON_BYTES = 128 };

/* 0: not known. */
struct backend_sensors {
	uint64_t total_bytes, used_bytes, free_bytes; /* of all processes */
	uint32_t temperature_celsius;
	uint32_t power_milliwatts, power_limit_milliwatts;
	uint32_t clock_mhz, clock_most_mhz; /* of the compute units */
	bool utilisation_known;
	uint32_t utilisation_percent;
	bool sm_occupancy_known;
	uint32_t sm_occupancy_permille; /* resident warps of the most, since the last reading */
};

/*
 * Reads the sensors of the device with this UUID. `library`: another file, for tests; NULL: the
 * driver's. 0, or a negative errno with the reason, and nothing is known then.
 */
int backend_sensors_read(const char *library, const uint8_t uuid[16],
			 struct backend_sensors *sensors_out,
			 char reason_out[SENSORS_REASON_BYTES]);

#endif
