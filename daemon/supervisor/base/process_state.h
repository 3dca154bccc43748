/* Inherited state of a process, and its detachment: done once, at the start of main. */
#ifndef SYCLD_SUPERVISOR_PROCESS_STATE_H
#define SYCLD_SUPERVISOR_PROCESS_STATE_H

/*
 * Undo what the process may have inherited: blocked and ignored signals, closed standard
 * descriptors, a lax umask, a low limit of descriptors. 0 or a negative errno.
 */
int process_state_reset(void);

/* Close every descriptor from 3 on except `keep` and `keep + 1` (-1: none), so that an
 * application's descriptors do not stay open in the service. */
void process_state_close_foreign(int keep);

/*
 * Go on in a new session without a terminal: forks twice, the starter's child exits with 0.
 * Standard input is /dev/null, output and errors go to `log_fd`, which stays the caller's. 0 or a
 * negative errno.
 */
int process_state_detach(int log_fd);

#endif
