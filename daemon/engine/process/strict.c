#include "process/strict.h"

#include "process/engine.h"
#include "process/filter.h"
#include "session/engine_state.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The list is made once, so it cannot grow after the filter was set. */
static bool needs_processes(struct scheduler *scheduler)
{
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	uint32_t platform_count, count;
	if (scheduler_discover(scheduler, &platforms, &platform_count, &devices, &count) < 0)
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (!devices[i].is_hidden && devices[i].facts->available &&
		    !devices[i].facts->needs_no_processes)
			return true;
	return false;
}

void strict_devices_opened(struct engine *engine)
{
	static bool is_decided;
	if (is_decided)
		return;
	is_decided = true;
	if (engine->options.filter_is_basic || needs_processes(engine->scheduler))
		return;
	int r = engine_filter_forbid_processes();
	if (r == -ESRCH) {
		/* No driver does that. The engine ends at once, before that thread does more. */
		(void)dprintf(STDERR_FILENO,
			      "sycl-engine: cannot forbid processes: a thread has set a filter of "
			      "system calls of its own; the engine ends\n");
		_exit(1);
	}
	if (r < 0 && r != -ENOSYS) /* reported when the engine started */
		(void)dprintf(STDERR_FILENO, "sycl-engine: cannot forbid processes: %s\n",
			      strerror(-r));
}
