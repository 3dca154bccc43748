/* The object of an engine, and its handles in the loop. */
#ifndef SYCLD_ENGINE_HANDLES_H
#define SYCLD_ENGINE_HANDLES_H

#include "service/engine_state.h"

#include <stdint.h>
#include <uv.h>

struct tenant;

static inline uint64_t engine_milliseconds(uint64_t ns)
{
	return ns / 1000000u;
}

/* NULL: no memory. */
struct engine *engine_new(struct tenant *tenant);

/* Frees an engine without handles. */
void engine_destroy(struct engine *engine);

/* Frees an engine, some of whose handles may be open. */
void engine_drop(struct engine *engine);

/* Opens the handles of the engine's process and of its two timers. 0 or a negative errno, with some
 * of them open. */
int engine_open_handles(struct engine *engine, uv_loop_t *loop);

/* Frees the engine when its handles are closed. */
void engine_close_handles(struct engine *engine);

/* 0 or a negative errno. */
int engine_open_control_poll(struct engine *engine);

void engine_close_control_poll(struct engine *engine);

#endif
