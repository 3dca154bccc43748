/* How an engine ends when a device's driver has lost this process. */
#ifndef SYCL_ENGINE_ENGINE_LOST_H
#define SYCL_ENGINE_ENGINE_LOST_H

#include "backend.h"

struct engine;

/* Front thread. Every task has failed, or will, with this fault; the flight page names the command
 * groups that may have been running. */
void engine_lose(struct engine *engine, enum backend_kind kind, const struct backend_fault *fault);

#endif
