/*
 * Processes that an engine leaves behind. What runs in an engine is its tenant's code; a process
 * that this code has started becomes this service's child when the engine ends, and is ended then.
 * So is whatever that one has started, in turn. Of engines that an earlier service has started, and
 * where the service is a container's first process, whose children all orphans are, only control
 * groups (engine_group.h) help. One that ends by itself while the engine lives is waited for at
 * once: it must not keep its number.
 */
#ifndef SYCLD_SUPERVISOR_ORPHANS_H
#define SYCLD_SUPERVISOR_ORPHANS_H

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

struct supervisor;

enum { ORPHANS_STRANGERS_MAX = 32 };

struct orphans {
	bool are_ours;
	pid_t strangers[ORPHANS_STRANGERS_MAX]; /* children that this process had before it was the
						   service; not to be ended */
	unsigned stranger_count;
	uv_timer_t again;
	uv_signal_t child_ended;
};

/* Before the first engine starts. */
void orphans_init(struct supervisor *supervisor);

/* An engine has ended: so does whatever it has left. Again a moment later, until nothing is left.
 */
void orphans_end(struct supervisor *supervisor);

/* The same, a bounded number of times at once: the loop has ended. Engines that go on do so. */
void orphans_end_now(struct supervisor *supervisor);

#endif
