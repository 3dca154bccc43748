/*
 * An engine that has given up its devices, because one failed or a command was past its deadline:
 * it has said so in its flight page and closed its connections. Its tenant gets the next engine at
 * once. The old process does nothing more, but is kept for a moment: the first calls of the next
 * engine would wait while a driver cleans up the old process. One such process for each tenant; it
 * counts for no limit, and is killed when its time is over.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_LOST_H
#define SYCLD_SUPERVISOR_ENGINE_LOST_H

#include <stdbool.h>

struct engine;
struct tenant;

/* Does the flight page say that the engine has given up its devices? */
bool engine_lost_says(const struct engine *engine);

/*
 * At its hang-up: the next one takes its place, its end is settled, and its process is held. One
 * that was asked to end is ended at once, and the rest is done when it is gone.
 */
void engine_lost_begin(struct engine *engine);

/* The tenant's engine has opened a device: if it is the next one, the last one is not held for much
 * longer. */
void engine_lost_is_followed(const struct tenant *tenant);

/* End its process now, if it is held. It is seen to be gone later. */
void engine_lost_let_go(struct engine *engine);

/* Its process is gone. */
void engine_lost_gone(struct engine *engine);

#endif
