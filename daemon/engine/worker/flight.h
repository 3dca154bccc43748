/* The flight page: whose commands are on a device now (shared/flight_page.h). */
#ifndef SYCL_ENGINE_WORKER_FLIGHT_H
#define SYCL_ENGINE_WORKER_FLIGHT_H

#include "flight_page.h"

#include <stdint.h>

struct task_command;

/*
 * Free entries of the flight page. The front hands them out; the device thread fills and clears
 * them.
 */
struct worker_flight {
	struct flight_page *page;
	uint32_t free_count;
	uint32_t free[FLIGHT_ENTRIES];
};

void worker_flight_init(struct worker_flight *flight, void *page);
uint32_t worker_flight_take(struct worker_flight *flight);
void worker_flight_give(struct worker_flight *flight, uint32_t entry);
void worker_flight_device_open(struct worker_flight *flight, uint32_t device); /* device thread */
void worker_flight_enter(struct worker_flight *flight,
			 const struct task_command *command); /* device thread */
void worker_flight_leave(struct worker_flight *flight,
			 const struct task_command *command); /* device thread */
/*
 * Device thread: the first launches of a burst have ended. The burst has one entry, which names the
 * first launch that has not.
 */
void worker_flight_advance(struct worker_flight *flight, const struct task_command *command);

#endif
