/* How the process of an engine stays for a while when a device's driver has lost it and everybody
 * has been hung up on. */
#ifndef SYCL_ENGINE_ENGINE_LINGER_H
#define SYCL_ENGINE_ENGINE_LINGER_H

#include <stdbool.h>

struct engine;

/* May the process stay for a while without harm to others? The driver is not asked. Front thread,
 * after engine_run has returned -EIO. */
bool engine_may_linger(const struct engine *engine);

/* Do nothing, until the supervisor ends the process. Returns when nobody has done so for long, and
 * at TERM or INT. */
void engine_linger(struct engine *engine);

#endif
