/*
 * Notifies the service manager of the service's state (sd_notify). Does nothing without a manager.
 */
#ifndef SYCLD_SUPERVISOR_NOTIFY_H
#define SYCLD_SUPERVISOR_NOTIFY_H

#include <stdbool.h>
#include <uv.h>

struct notify {
	uv_timer_t watchdog;
	uv_timer_t status; /* runs while the next status is held back */
	unsigned sessions;
	unsigned engines;
	bool changed; /* since the last status was sent */
};

/* Send READY, and from now on WATCHDOG as often as the manager requires. */
void notify_ready(struct notify *notify, uv_loop_t *loop);

/* Sends STATUS when it has changed, but not too often, because sending waits for the manager to
 * read. */
void notify_status(struct notify *notify, unsigned sessions, unsigned engines);

void notify_reloading(void);
void notify_reloaded(void);
void notify_stopping(void);

#endif
