/*
 * Processes that an engine leaves behind. An engine runs its tenant's code. A process that this
 * code has started becomes this service's child when the engine ends. It is then ended, and so are
 * the processes that it has started. For engines that an earlier service has started, only control
 * groups (engine/groups.h) can do this. The same applies if the service is a container's first
 * process, which gets all orphans as children. A child that ends while the engine lives is reaped
 * at once, so that it does not keep its number.
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
	/* Children that this process had before it became the service; they are not ended. */
	pid_t inherited[ORPHANS_INHERITED_MAX];
	unsigned inherited_count;
	pid_t refused; /* the last one that was logged as not killed; 0: none */
	uv_timer_t again;
	uv_signal_t child_ended;
};

/* Before the first engine starts. */
void orphans_init(struct supervisor *supervisor);

/* Called when an engine has ended: ends the processes that it has left. Repeats that after a short
 * time, until none is left. */
void orphans_end(struct supervisor *supervisor);

/* As orphans_end, a bounded number of times at once, because the loop has ended. Engines that
 * continue are not ended. */
void orphans_end_now(struct supervisor *supervisor);

#endif
