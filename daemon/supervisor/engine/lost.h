/*
 * An engine that has abandoned its devices, because one failed or a command exceeded its deadline.
 * It has marked that in its flight page and closed its connections. Its tenant gets the next engine
 * at once. The old process is idle, but is held for a short time. Otherwise the first calls of the
 * next engine would wait while a driver cleans up the old process. Each tenant has at most one such
 * process. It counts towards no limit, and is killed after that time.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_LOST_H
#define SYCLD_SUPERVISOR_ENGINE_LOST_H

#include <stdbool.h>

struct engine;
struct tenant;

/* True if the engine has marked in its flight page that it has abandoned its devices. */
bool engine_lost_is_marked(const struct engine *engine);

/*
 * Called at the engine's hang-up. Starts the next engine in its place, settles its end, and holds
 * its process. An engine whose end was requested is ended at once, and settled when its process has
 * ended.
 */
void engine_lost_begin(struct engine *engine);

/* Called when the tenant's engine has opened a device. If it is the next engine, the last one is
 * not held much longer. */
void engine_lost_is_followed(const struct tenant *tenant);

/* Ends the engine's process now, if it is held. Its exit is handled later. */
void engine_lost_end(struct engine *engine);

/* Called when the engine's process has ended. */
void engine_lost_reaped(struct engine *engine);

#endif
