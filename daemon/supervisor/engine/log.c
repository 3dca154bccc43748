#include "engine/log.h"

#include "cleanup.h"
#include "base/foreign_socket.h"
#include "base/log.h"
#include "base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { READ_BYTES = 4096, READS_PER_TURN = 4 };

struct engine_log {
	uv_poll_t poll;
	uv_timer_t again; /* runs while the window is full and nothing is read */
	struct engine_log_window *window;
	unsigned open_handles;
	int fd;
	char whose[ENGINE_LOG_WHOSE_BYTES];
	char line[ENGINE_LOG_LINE_BYTES];
	size_t used;
	bool skips; /* skips the rest of a line that was too long */
	char assertion[ENGINE_LOG_LINE_BYTES];
	char last[ENGINE_LOG_LINE_BYTES];
};

int engine_log_pair(int *ours_out, int *theirs_out)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return -errno;
	foreign_socket_refuse_descriptors(pair[0]);
	*ours_out = pair[0];
	*theirs_out = pair[1];
	return 0;
}

static struct engine_log_window *log_window_now(struct engine_log *log)
{
	struct engine_log_window *window = log->window;
	uint64_t now = uv_now(log->poll.loop);
	if (now >= window->until_ms)
		*window = (struct engine_log_window){.until_ms = now + ENGINE_LOG_WINDOW_MS,
						     .room = ENGINE_LOG_WINDOW_BYTES};
	return window;
}

static void log_window_spend(struct engine_log_window *window, size_t bytes)
{
	window->room -= window->room < bytes ? window->room : bytes;
}

static void engine_log_end_line(struct engine_log *log)
{
	char text[ENGINE_LOG_LINE_BYTES];
	log->line[log->used] = '\0';
	text_copy_printable(text, sizeof(text), log->line);
	log->used = 0;
	if (!*text)
		return;
	if (strstr(text, "Assertion"))
		memcpy(log->assertion, text, sizeof(text));
	memcpy(log->last, text, sizeof(text));
	if (log->window->room == 0)
		return;
	log_window_spend(log->window, ENGINE_LOG_LINE_COST);
	log_info("engine", "%s says: %s", log->whose, text);
}

static void engine_log_append(struct engine_log *log, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (bytes[i] == '\n' && !log->skips)
			engine_log_end_line(log);
		if (bytes[i] == '\n')
			log->skips = false;
		else if (!log->skips)
			log->line[log->used++] = bytes[i];
		if (log->used == sizeof(log->line) - 1) {
			engine_log_end_line(log);
			log->skips = true;
		}
	}
}

/* Reads some data. False: there is none now, or there will be none. */
static bool engine_log_read_some(struct engine_log *log, bool *ended_out)
{
	char bytes[READ_BYTES];
	ssize_t count = foreign_socket_receive(log->fd, bytes, sizeof(bytes));
	/* A signal arrived, or descriptors were sent along, which are ignored. */
	if (count == -EINTR || count == -EPROTO) {
		log_window_spend(log->window, 1);
		return true;
	}
	*ended_out = count == 0 || (count < 0 && count != -EAGAIN);
	if (count <= 0)
		return false;
	engine_log_append(log, bytes, (size_t)count);
	log_window_spend(log->window, (size_t)count);
	return true;
}

static void on_engine_log_window_over(uv_timer_t *timer);

static void on_engine_log_readable(uv_poll_t *poll, int status, int events)
{
	struct engine_log *log = poll->data;
	struct engine_log_window *window = log_window_now(log);
	bool ended = status < 0;
	(void)events;
	for (int i = 0;
	     i < READS_PER_TURN && !ended && window->room > 0 && engine_log_read_some(log, &ended);
	     i++)
		continue;
	if (ended || window->room == 0)
		(void)uv_poll_stop(&log->poll);
	if (ended || window->room > 0)
		return;
	(void)uv_timer_start(&log->again, on_engine_log_window_over, ENGINE_LOG_WINDOW_MS, 0);
	if (!window->is_reported)
		log_warning(
			"engine",
			"%s writes more than the log keeps: further lines of this user's engines are lost for a while",
			log->whose);
	window->is_reported = true;
}

static void on_engine_log_window_over(uv_timer_t *timer)
{
	struct engine_log *log = timer->data;
	(void)uv_poll_start(&log->poll, UV_READABLE, on_engine_log_readable);
}

static void on_engine_log_closed(uv_handle_t *handle)
{
	struct engine_log *log = handle->data;
	if (--log->open_handles == 0)
		free(log);
}

struct engine_log *engine_log_open(uv_loop_t *loop, int descriptor, const char *whose,
				   struct engine_log_window *window)
{
	CLEANUP(foreign_socket_close) int fd = descriptor;
	struct engine_log *log = fd < 0 ? NULL : calloc(1, sizeof(*log));
	if (!log)
		return NULL;
	log->poll.data = log;
	log->again.data = log;
	log->window = window;
	(void)snprintf(log->whose, sizeof(log->whose), "%s", whose);
	if (uv_poll_init(loop, &log->poll, fd) < 0) {
		free(log);
		return NULL;
	}
	log->fd = take_fd(&fd);
	(void)uv_timer_init(loop, &log->again);
	log->open_handles = 2;
	(void)uv_poll_start(&log->poll, UV_READABLE, on_engine_log_readable);
	return log;
}

void engine_log_finish(struct engine_log *log)
{
	bool ended = false;
	if (!log)
		return;
	(void)log_window_now(log);
	for (int i = 0; i < ENGINE_LOG_WINDOW_BYTES / READ_BYTES && !ended &&
			engine_log_read_some(log, &ended);
	     i++)
		continue;
	if (log->used)
		engine_log_end_line(log);
}

const char *engine_log_assertion(const struct engine_log *log)
{
	return log ? log->assertion : "";
}

const char *engine_log_last(const struct engine_log *log)
{
	return log ? log->last : "";
}

int engine_log_release(struct engine_log *log)
{
	if (!log)
		return -1;
	int fd = take_fd(&log->fd);
	uv_close((uv_handle_t *)&log->poll, on_engine_log_closed);
	uv_close((uv_handle_t *)&log->again, on_engine_log_closed);
	return fd;
}

struct engine_log *engine_log_free(struct engine_log *log)
{
	int fd = engine_log_release(log);
	foreign_socket_close(&fd);
	return NULL;
}
