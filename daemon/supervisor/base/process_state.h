/* Inherited state of a process, and its detachment; both at the start of main. */
#ifndef SYCLD_SUPERVISOR_PROCESS_STATE_H
#define SYCLD_SUPERVISOR_PROCESS_STATE_H

/* Resets inherited state: blocked and ignored signals, closed standard descriptors, a lax umask, a
 * low limit of descriptors. 0 or a negative errno. */
int process_state_reset(void);

/* Closes every descriptor from 3 on except `keep` and `keep + 1` (-1: none). So an application's
 * descriptors do not stay open in the service. */
void process_state_close_foreign(int keep);

/*
 * Continues in a new session without a terminal: forks twice, and the starter's child exits with 0.
 * Standard input becomes /dev/null, and output and errors go to `log_fd`, which the caller keeps. 0
 * or a negative errno.
 */
int process_state_detach(int log_fd);

#endif
