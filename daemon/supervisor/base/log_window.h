/* The bound of what engines of one user may write into the log (engine/log.h). */
#ifndef SYCLD_SUPERVISOR_LOG_WINDOW_H
#define SYCLD_SUPERVISOR_LOG_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The room that all engines of one user have together. All 0: a window begins with the first line.
 * It outlives the engines' logs. */
struct engine_log_window {
	uint64_t until_ms; /* end of the window, in the loop's time */
	size_t room;       /* bytes */
	bool is_reported;  /* a line in the log says that the window is full */
};

#endif
