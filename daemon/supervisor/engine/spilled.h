/* Reports of engines about memory of full devices. */
#ifndef SYCLD_SUPERVISOR_ENGINE_SPILLED_H
#define SYCLD_SUPERVISOR_ENGINE_SPILLED_H

#include "control.pb-c.h"

#include <stdbool.h>

struct engine;

/* Makes an event of the report. False: no engine sends that, or so often. */
bool engine_has_spilled(struct engine *engine, const Sycl__V1__EngineSpilled *report);

#endif
