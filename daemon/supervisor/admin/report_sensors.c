#include "admin/report_sensors.h"

#include <stdbool.h>

/* Engines read at different times, up to a second apart. Honest readings differ by less than
 * these. */
enum { CELSIUS_APART = 10, WATTS_APART = 400 };

static Sycl__V1__DeviceSensors disagreement = {
	.base = PROTOBUF_C_MESSAGE_INIT(&sycl__v1__device_sensors__descriptor),
	.unavailable = (char *)"engines report different readings",
};

static bool figures_differ(uint64_t a, uint64_t b, uint64_t apart)
{
	return (a > b ? a - b : b - a) > apart;
}

static bool readings_differ(const Sycl__V1__DeviceSensors *a, const Sycl__V1__DeviceSensors *b)
{
	return a->total_bytes != b->total_bytes ||
	       figures_differ(a->temperature_celsius, b->temperature_celsius, CELSIUS_APART) ||
	       figures_differ(a->power_milliwatts, b->power_milliwatts, WATTS_APART * 1000ull) ||
	       figures_differ(a->free_bytes, b->free_bytes, a->total_bytes / 2);
}

Sycl__V1__DeviceSensors *report_sensors_join(Sycl__V1__DeviceSensors *before,
					     Sycl__V1__DeviceSensors *claim)
{
	if (!claim || before == &disagreement)
		return before;
	if (!before || (*before->unavailable && !*claim->unavailable))
		return claim;
	if (*claim->unavailable)
		return before;
	return readings_differ(before, claim) ? &disagreement : before;
}
