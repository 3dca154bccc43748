/* Keeps an engine's process for a while after its device was lost for good and all its connections
 * are closed. */
#ifndef SYCL_ENGINE_ENGINE_LINGER_H
#define SYCL_ENGINE_ENGINE_LINGER_H

#include <stdbool.h>

struct engine;

/* True if the process may stay for a while without harm to others. Calls no driver. Front thread,
 * after engine_run has returned -EIO. */
bool engine_may_linger(const struct engine *engine);

/* Do nothing until the supervisor ends the process. Returns after a bounded time without that, and
 * at TERM or INT. */
void engine_linger(struct engine *engine);

#endif
