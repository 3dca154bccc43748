#include "process/arrival.h"

#include "session/engine_state.h"
#include "session/session.h"

#include "clock.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#define NS_PER_S 1000000000u

int engine_arrival_open(struct engine *engine)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = engine};
	engine->expect_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (engine->expect_timer < 0)
		return -errno;
	return epoll_ctl(engine->bells, EPOLL_CTL_ADD, engine->expect_timer, &event) < 0 ? -errno
											 : 0;
}

void engine_arrival_note(struct engine *engine, uint64_t pause_ns)
{
	arrival_note(&engine->arrival, pause_ns);
}

/* Sets the timer for the expected end of a pause. If that time has passed, no records are expected
 * again in the same pause. */
void engine_arrival_sleep(struct engine *engine)
{
	uint64_t from_ns, until_ns;
	if (!engine->may_spin || engine->never_expect || engine->quiet_since_ns == 0 ||
	    !engine->last_read || !arrival_expect(&engine->arrival, &from_ns, &until_ns))
		return;
	from_ns += engine->quiet_since_ns;
	if (from_ns <= engine->now_ns)
		return;
	const struct itimerspec at = {.it_value = {.tv_sec = (time_t)(from_ns / NS_PER_S),
						   .tv_nsec = (long)(from_ns % NS_PER_S)}};
	(void)timerfd_settime(engine->expect_timer, TFD_TIMER_ABSTIME, &at, NULL);
}

void engine_arrival_due(struct engine *engine)
{
	uint64_t from_ns, until_ns;
	if (engine->quiet_since_ns == 0 || !engine->last_read ||
	    !arrival_expect(&engine->arrival, &from_ns, &until_ns) ||
	    clock_now_ns() < engine->quiet_since_ns + from_ns)
		return; /* the timer was for a pause that is over */
	engine->expect_until_ns = engine->quiet_since_ns + until_ns;
	session_make_hot(engine->last_read);
}

bool engine_arrival_is_due(const struct engine *engine)
{
	return engine->now_ns < engine->expect_until_ns;
}
