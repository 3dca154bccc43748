/* Tells the service manager how we are (sd_notify); does nothing where there is none. */
#ifndef SYCLD_SUPERVISOR_NOTIFY_H
#define SYCLD_SUPERVISOR_NOTIFY_H

#include <stdbool.h>
#include <uv.h>

struct notify {
	uv_timer_t watchdog;
	uv_timer_t status; /* runs while a status is not to be told yet */
	unsigned sessions;
	unsigned engines;
	bool changed; /* since it was told */
};

/* READY, and WATCHDOG as often as it wants from now on. */
void notify_ready(struct notify *notify, uv_loop_t *loop);

/* STATUS, when it has changed, and not too often: sending waits for the manager to read. */
void notify_status(struct notify *notify, unsigned sessions, unsigned engines);

void notify_reloading(void);
void notify_reloaded(void);
void notify_stopping(void);

#endif
