/* The bound of the log lines of one user's engines (engine/log.h). */
#ifndef SYCLD_SUPERVISOR_LOG_WINDOW_H
#define SYCLD_SUPERVISOR_LOG_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The room that all engines of one user have together. Zeroed: a window begins with the first line.
 * It outlives the engines' logs. */
struct engine_log_window {
	uint64_t until_ms; /* end of the window, in the loop's time */
	size_t room;       /* bytes */
	bool is_reported;  /* the log has a line about the full window */
};

#endif
