/* The flight page: whose commands are on a device now (shared/flight_page.h). */
#ifndef SYCL_ENGINE_SCHED_FLIGHT_H
#define SYCL_ENGINE_SCHED_FLIGHT_H

#include "flight_page.h"

#include <stdint.h>

struct task_command;

/*
 * Free entries of the flight page. The front hands them out; the device thread fills and clears
 * them.
 */
struct sched_flight {
	struct flight_page *page;
	uint32_t free_count;
	uint32_t free[FLIGHT_ENTRIES];
};

void sched_flight_init(struct sched_flight *flight, void *page);
uint32_t sched_flight_take(struct sched_flight *flight);
void sched_flight_give(struct sched_flight *flight, uint32_t entry);
void sched_flight_device_open(struct sched_flight *flight, uint32_t device); /* device thread */
void sched_flight_enter(struct sched_flight *flight,
			const struct task_command *command); /* device thread */
void sched_flight_leave(struct sched_flight *flight,
			const struct task_command *command); /* device thread */
/*
 * Device thread: the first launches of a burst have ended. The burst has one entry, which names the
 * first launch that has not.
 */
void sched_flight_advance(struct sched_flight *flight, const struct task_command *command);

#endif
