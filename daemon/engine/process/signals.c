#include "process/signals.h"

#include "clock.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>

#define SECOND_NS 1000000000ull

struct engine_signals {
	struct engine *engine;
	int fd;
	uv_poll_t poll;
};

static void on_signal_readable(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	struct engine_signals *signals = poll->data;
	struct signalfd_siginfo got;
	if (read(signals->fd, &got, sizeof(got)) == (ssize_t)sizeof(got))
		engine_stop(signals->engine, 0);
}

static void on_signals_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static sigset_t engine_signal_set(void)
{
	sigset_t set;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	return set;
}

int engine_signals_block(void)
{
	sigset_t set = engine_signal_set();
	return sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? -errno : 0;
}

int engine_signals_create(struct engine *engine, struct engine_signals **signals_out)
{
	sigset_t set = engine_signal_set();
	int blocked = engine_signals_block();
	if (blocked < 0)
		return blocked;
	CLEANUP(close_fd) int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	struct engine_signals *signals = calloc(1, sizeof(*signals));
	if (!signals)
		return -ENOMEM;
	int r = uv_poll_init(engine_loop(engine), &signals->poll, fd);
	if (r < 0) {
		free(signals);
		return r;
	}
	signals->engine = engine;
	signals->fd = take_fd(&fd);
	signals->poll.data = signals;
	(void)uv_poll_start(&signals->poll, UV_READABLE, on_signal_readable);
	*signals_out = signals;
	return 0;
}

bool engine_signals_await(uint64_t deadline_ns)
{
	const sigset_t set = engine_signal_set();
	int r = -1;
	/* A library's handler, or a debugger that detaches, interrupts the wait. */
	for (uint64_t now_ns = clock_now_ns(); r < 0 && now_ns < deadline_ns;
	     now_ns = clock_now_ns()) {
		const struct timespec rest = {
			.tv_sec = (time_t)((deadline_ns - now_ns) / SECOND_NS),
			.tv_nsec = (long)((deadline_ns - now_ns) % SECOND_NS)};
		r = sigtimedwait(&set, NULL, &rest);
	}
	return r >= 0;
}

struct engine_signals *engine_signals_free(struct engine_signals *signals)
{
	if (!signals)
		return NULL;
	uv_close((uv_handle_t *)&signals->poll, on_signals_closed); /* run by engine_free */
	close_fd(&signals->fd);
	return NULL;
}
