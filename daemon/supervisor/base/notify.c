#include "base/notify.h"

#include "clock.h"

#include <systemd/sd-daemon.h>

#include <stdint.h>

enum { STATUS_DELAY_MS = 20, STATUS_INTERVAL_MS = 1000 };

static void on_notify_watchdog(uv_timer_t *timer)
{
	(void)timer;
	(void)sd_notify(0, "WATCHDOG=1");
}

void notify_ready(struct notify *notify, uv_loop_t *loop)
{
	(void)uv_timer_init(loop, &notify->watchdog);
	(void)uv_timer_init(loop, &notify->status);
	notify->status.data = notify;
	uint64_t interval_us = 0;
	if (sd_watchdog_enabled(0, &interval_us) > 0) {
		uint64_t half_ms = interval_us / 2000;
		(void)uv_timer_start(&notify->watchdog, on_notify_watchdog, 0,
				     half_ms ? half_ms : 1);
	}
	(void)sd_notify(0, "READY=1\nSTATUS=no sessions");
}

static void on_notify_status_due(uv_timer_t *timer);

static void notify_send_status(struct notify *notify)
{
	notify->changed = false;
	(void)sd_notifyf(0, "STATUS=sessions: %u, engines: %u", notify->sessions, notify->engines);
	(void)uv_timer_start(&notify->status, on_notify_status_due, STATUS_INTERVAL_MS, 0);
}

static void on_notify_status_due(uv_timer_t *timer)
{
	struct notify *notify = timer->data;
	if (notify->changed)
		notify_send_status(notify);
}

void notify_status(struct notify *notify, unsigned sessions, unsigned engines)
{
	if (notify->sessions == sessions && notify->engines == engines)
		return;
	notify->sessions = sessions;
	notify->engines = engines;
	notify->changed = true;
	if (!uv_is_active((uv_handle_t *)&notify->status))
		(void)uv_timer_start(&notify->status, on_notify_status_due, STATUS_DELAY_MS, 0);
}

void notify_reloading(void)
{
	(void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
			 (unsigned long long)(clock_now_ns() / 1000));
}

void notify_reloaded(void)
{
	(void)sd_notify(0, "READY=1");
}

void notify_stopping(void)
{
	(void)sd_notify(0, "STOPPING=1");
}
