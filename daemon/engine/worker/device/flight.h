/* The flight page: whose commands are on a device now (shared/flight_page.h). */
#ifndef SYCL_ENGINE_WORKER_FLIGHT_H
#define SYCL_ENGINE_WORKER_FLIGHT_H

#include "worker/state/flight.h"

#include <stdint.h>

struct task_command;

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
