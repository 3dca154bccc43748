/* The bound of what engines of one user may write into the log (engine/log.h). */
#ifndef SYCLD_SUPERVISOR_LOG_WINDOW_H
#define SYCLD_SUPERVISOR_LOG_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the engines of one user may say, all together; zeroed: a window begins with the first words.
 * It outlives their logs. */
struct engine_log_window {
	uint64_t until_ms; /* of the loop's time; then another one begins */
	size_t room;       /* bytes */
	bool is_told;      /* that it is full */
};

#endif
