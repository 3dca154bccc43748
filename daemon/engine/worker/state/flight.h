/* The flight page as an engine has it: device/flight.h. */
#ifndef SYCL_ENGINE_WORKER_STATE_FLIGHT_H
#define SYCL_ENGINE_WORKER_STATE_FLIGHT_H

#include "flight_page.h"

#include <stdint.h>

/*
 * Free entries of the flight page. The front hands them out; the device thread fills and clears
 * them.
 */
struct worker_flight {
	struct flight_page *page;
	uint32_t free_count;
	uint32_t free[FLIGHT_ENTRIES];
};

#endif
