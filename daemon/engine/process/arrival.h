/*
 * The front thread is awake shortly before a program that sends at regular times is expected to
 * send (base/arrival.h). Front thread.
 */
#ifndef SYCL_ENGINE_PROCESS_ARRIVAL_H
#define SYCL_ENGINE_PROCESS_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* Makes the timer; the engine closes it. 0 or a negative errno. */
int engine_arrival_open(struct engine *engine);
/* Something has come after `pause_ns` in which nothing did. */
void engine_arrival_note(struct engine *engine, uint64_t pause_ns);
/* The thread is about to sleep. */
void engine_arrival_sleep(struct engine *engine);
/* The timer has expired. */
void engine_arrival_due(struct engine *engine);
/* True if records are expected now. */
bool engine_arrival_is_due(const struct engine *engine);

#endif
