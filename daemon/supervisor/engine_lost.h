/*
 * An engine that a device has failed: it has said so in its flight page and hung up. To its tenant it is gone from then on, and the next one
 * is started. Its process is held for a while, as it does nothing any more: while a driver takes a process apart, the first calls
 * of the next engine would wait for that. One of each tenant, which counts for none of the limits, and which is killed when its time is over.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_LOST_H
#define SYCLD_SUPERVISOR_ENGINE_LOST_H

#include <stdbool.h>

struct engine;
struct tenant;

/* Does the flight page say that a device has failed it? */
bool engine_lost_says(const struct engine *engine);

/*
 * At its hang-up: the next one takes its place, its end is settled, and its process is held. One that was asked to end is ended at once, and
 * the rest is done when it is gone.
 */
void engine_lost_begin(struct engine *engine);

/* The tenant's engine has opened a device: if it is the next one, the last one is not held for much longer. */
void engine_lost_is_followed(const struct tenant *tenant);

/* End its process now, if it is held. It is seen to be gone later. */
void engine_lost_let_go(struct engine *engine);

/* Its process is gone. */
void engine_lost_gone(struct engine *engine);

#endif
