#include "process/strict.h"

#include "process/abort.h"
#include "process/engine.h"
#include "process/filter.h"
#include "session/engine_state.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_BYTES = 160 };

/* The list is made once, so it cannot grow after the filter was set. 0 or a negative errno. */
static int needs_processes(struct scheduler *scheduler, bool *needs_out)
{
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	uint32_t platform_count, count;
	bool needs = false;
	int r = scheduler_discover(scheduler, &platforms, &platform_count, &devices, &count);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < count; i++)
		needs |= !devices[i].is_hidden && devices[i].facts->available &&
			 !devices[i].facts->needs_no_processes;
	*needs_out = needs;
	return 0;
}

/* At once, before code in this process does more. Clients read the cause in the flight page. */
_Noreturn static void strict_end_permissive(const char *cause)
{
	char words[WORDS_BYTES];
	(void)snprintf(words, sizeof(words), "cannot forbid processes: %s", cause);
	engine_abort_record(words);
	(void)dprintf(STDERR_FILENO, "sycl-engine: %s; the engine ends\n", words);
	_exit(1);
}

static bool is_decided, is_strict;

Sycl__V1__FilterState strict_state(const struct engine *engine)
{
	if (!engine_filter_is_installed())
		return SYCL__V1__FILTER_STATE__FILTER_STATE_NONE;
	if (is_strict)
		return SYCL__V1__FILTER_STATE__FILTER_STATE_STRICT;
	if (engine->options.filter_is_basic)
		return SYCL__V1__FILTER_STATE__FILTER_STATE_BASIC_SETTING;
	return is_decided ? SYCL__V1__FILTER_STATE__FILTER_STATE_BASIC_DRIVER
			  : SYCL__V1__FILTER_STATE__FILTER_STATE_BASIC_START;
}

void strict_devices_opened(struct engine *engine)
{
	bool needs = false;
	if (is_decided)
		return;
	is_decided = true;
	if (engine->options.filter_is_basic)
		return;
	int r = needs_processes(engine->scheduler, &needs);
	if (r < 0)
		strict_end_permissive("its devices cannot be listed");
	if (needs)
		return;
	r = engine_filter_forbid_processes();
	is_strict = r == 0;
	/* No driver sets filters. -ENOSYS: this engine has no filter; reported when it started. */
	if (r == -ESRCH)
		strict_end_permissive("a thread has set a filter of system calls of its own");
	if (r < 0 && r != -ENOSYS)
		strict_end_permissive(strerror(-r));
}
