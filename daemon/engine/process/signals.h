/*
 * TERM and INT end the engine cleanly. They stay blocked in every thread and are read from a
 * descriptor. A vendor's library may install handlers of its own when it opens a device; blocked
 * signals never reach those.
 */
#ifndef SYCL_ENGINE_ENGINE_SIGNALS_H
#define SYCL_ENGINE_ENGINE_SIGNALS_H

#include "cleanup.h"
#include "process/engine.h"

struct engine_signals;

/*
 * Blocks the signals in this thread and in the threads that it will start. 0 or a negative errno.
 */
int engine_signals_block(void);
/* Before any thread exists, or after engine_signals_block: they inherit the mask. */
int engine_signals_create(struct engine *engine, struct engine_signals **signals_out);
/* Wait for one of them in place of the loop, which runs no more. False: none came until then, of
 * CLOCK_MONOTONIC. */
bool engine_signals_await(uint64_t deadline_ns);
/* After engine_run and before engine_free. Accepts NULL, returns NULL. */
struct engine_signals *engine_signals_free(struct engine_signals *signals);
DEFINE_CLEANUP(engine_signals)

#endif
