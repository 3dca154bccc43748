/* A device's threads sleep and are woken; the front thread's side of their mailboxes. */
#include "base/mailbox.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Most messages that are not published yet, so that the device begins while the front still
 * submits. */
#define PUBLISH_EVERY 32u

void sched_sleeper_prepare(struct sched_sleeper *sleeper)
{
	atomic_store(&sleeper->sleeps, 1);
}

void sched_sleeper_cancel(struct sched_sleeper *sleeper)
{
	atomic_store(&sleeper->sleeps, 0);
}

void sched_sleeper_sleep(struct sched_sleeper *sleeper, uint64_t ns)
{
	struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u),
				.tv_nsec = (long)(ns % 1000000000u)};
	bool limited = ns != SCHED_SLEEP_UNTIL_WOKEN;
	do {
		(void)syscall(SYS_futex, &sleeper->sleeps, FUTEX_WAIT_PRIVATE, 1,
			      limited ? &time : NULL, NULL, 0);
	} while (!limited && atomic_load(&sleeper->sleeps) == 1);
}

bool sched_sleeper_wake(struct sched_sleeper *sleeper)
{
	if (atomic_load(&sleeper->sleeps) == 0 || atomic_exchange(&sleeper->sleeps, 0) == 0)
		return false;
	(void)syscall(SYS_futex, &sleeper->sleeps, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return true;
}

bool sched_port_publish(struct sched_port *port)
{
	port->unpublished = 0;
	return sched_mailbox_publish(&port->out) && sched_sleeper_wake(&port->sleeper);
}

static bool put_message(struct sched_port *port, struct sched_message *message)
{
	port->away++;
	sched_mailbox_write(&port->out, message);
	return ++port->unpublished >= PUBLISH_EVERY && sched_port_publish(port);
}

bool sched_port_post(struct sched_port *port, struct sched_message *message)
{
	if (!port->waiting.first && port->away < SCHED_MAILBOX_SLOTS)
		return put_message(port, message);
	sched_message_append(&port->waiting, message);
	return false;
}

struct sched_message *sched_port_take(struct sched_port *port)
{
	struct sched_message *message = sched_mailbox_read(&port->back);
	if (message)
		port->away--;
	return message;
}

void sched_port_refill(struct sched_port *port)
{
	while (port->waiting.first && port->away < SCHED_MAILBOX_SLOTS)
		(void)put_message(port, sched_message_take(&port->waiting));
}
