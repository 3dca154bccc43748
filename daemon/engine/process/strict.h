/* Decides when an engine's process needs no other processes any more, and forbids them then. */
#ifndef SYCL_ENGINE_STRICT_H
#define SYCL_ENGINE_STRICT_H

#include "command.pb-c.h"

struct engine;

/*
 * The first devices are open: drivers have made what they need. If no device that sessions may use
 * needs processes, and the operator has not excluded it, the filter of system calls becomes
 * stricter (engine_filter_forbid_processes). If that fails, also because a thread has a filter of
 * its own and would stay an exception, the process ends; standard error and the flight page get the
 * cause. Only where the kernel has no such filters, which was reported when the engine started, it
 * goes on. Front thread.
 */
void strict_devices_opened(struct engine *engine);

/* For reports: what the filter forbids now, and why it is not stricter. Front thread. */
Sycl__V1__FilterState strict_state(const struct engine *engine);

#endif
