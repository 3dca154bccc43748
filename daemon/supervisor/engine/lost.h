/*
 * An engine that has given up its devices, because one failed or a command was past its deadline.
 * It has marked that in its flight page and closed its connections. Its tenant gets the next engine
 * at once. The old process does nothing more, but is held for a moment. Otherwise the first calls
 * of the next engine would wait while a driver cleans up the old process. Each tenant has at most
 * one such process. It counts for no limit, and is killed when its time is over.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_LOST_H
#define SYCLD_SUPERVISOR_ENGINE_LOST_H

#include <stdbool.h>

struct engine;
struct tenant;

/* Has the engine marked in its flight page that it has given up its devices? */
bool engine_lost_is_marked(const struct engine *engine);

/*
 * At its hang-up: start the next engine in its place, settle its end, and hold its process. An
 * engine whose end was requested is ended at once, and the rest follows when its process has ended.
 */
void engine_lost_begin(struct engine *engine);

/* The tenant's engine has opened a device. If it is the next engine, the last one is not held for
 * much longer. */
void engine_lost_is_followed(const struct tenant *tenant);

/* End its process now, if it is held. Its exit is handled later. */
void engine_lost_end(struct engine *engine);

/* The engine's process has ended. */
void engine_lost_reaped(struct engine *engine);

#endif
