#include "opencl/driver/signals.h"

#include <string.h>

void opencl_signals_save(struct opencl_signals *saved_out)
{
	memset(saved_out, 0, sizeof(*saved_out));
	for (int number = 1; number < OPENCL_SIGNALS; number++)
		(void)sigaction(number, NULL, &saved_out->actions[number]);
}

void opencl_signals_restore(const struct opencl_signals *saved)
{
	for (int number = 1; number < OPENCL_SIGNALS; number++) {
		const struct sigaction *action = &saved->actions[number];
		struct sigaction now;
		if (number == SIGFPE || sigaction(number, NULL, &now) < 0 ||
		    now.sa_handler == action->sa_handler)
			continue;
		(void)sigaction(number, action, NULL);
	}
}
