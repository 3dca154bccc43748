/*
 * Processes that an engine leaves behind. An engine runs its tenant's code. A process that this
 * code has started becomes this service's child when the engine ends. It is ended then, and so are
 * the processes that it has started. Only control groups (engine/groups.h) help with engines that
 * an earlier service has started. The same holds if the service is a container's first process,
 * which gets all orphans as children. A child that ends while the engine lives is waited for at
 * once, so that it does not keep its number.
 */
#ifndef SYCLD_SUPERVISOR_ORPHANS_H
#define SYCLD_SUPERVISOR_ORPHANS_H

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

struct supervisor;

enum { ORPHANS_INHERITED_MAX = 32 };

struct orphans {
	bool are_ours;
	pid_t inherited[ORPHANS_INHERITED_MAX]; /* children that this process had before it became
						   the service; they are not ended */
	unsigned inherited_count;
	uv_timer_t again;
	uv_signal_t child_ended;
};

/* Before the first engine starts. */
void orphans_init(struct supervisor *supervisor);

/* An engine has ended: end the processes that it has left. Again a moment later, until none is
 * left. */
void orphans_end(struct supervisor *supervisor);

/* The same, a bounded number of times at once, as the loop has ended. Engines that go on are left
 * alone. */
void orphans_end_now(struct supervisor *supervisor);

#endif
