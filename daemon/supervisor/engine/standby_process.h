/* The process of a standby: started, ordered to prepare devices, polled, and handed over or ended.
 * standby.c decides when. Loop thread. */
#ifndef SYCLD_SUPERVISOR_STANDBY_PROCESS_H
#define SYCLD_SUPERVISOR_STANDBY_PROCESS_H

#include "engine/standby.h"

#define STANDBY_FAILURE_BYTES 128u

struct standby {
	struct supervisor *supervisor;
	enum standby_state state;
	struct device_set asked; /* all devices that the process was requested to prepare */
	struct engine_process process;
	struct engine_log *log; /* the process' standard error; owns process.log */
	uint64_t since_ns;
	char failure[STANDBY_FAILURE_BYTES]; /* reason for killing the process; "": none */
	uv_poll_t control_poll;
	uv_poll_t exit_poll;
	uv_timer_t deadline;
	unsigned open_handles;
};

/* Starts a process, which prepares these devices, as the keeper's standby. 0 or a negative errno.
 * If the process ends without a new owner, that is logged, and standby_review is called. */
int standby_start(struct supervisor *supervisor, const struct device_set *devices);
/* Orders a standby to prepare these devices as well. Until it has, it is not handed out. */
void standby_request(struct standby *standby, const struct device_set *devices);
/* Ends the standby: by a hang-up, and after some seconds by a signal. */
void standby_end(struct standby *standby);
/* Hands the process over to a new owner, and frees the standby. */
void standby_give_process(struct standby *standby, struct engine_process *process_out);
/* Kills the process at once, and frees the standby. */
void standby_kill_now(struct standby *standby);

#endif
