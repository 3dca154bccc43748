#include "base/log_queue.h"

#include "clock.h"
#include "poll_now.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MILLISECOND_NS 1000000ull

struct line {
	STAILQ_ENTRY(line) link;
	size_t bytes, written;
	char text[];
};

/* Ways of writing without blocking. */
enum manner {
	AS_IT_IS, /* a file, which always has room */
	SENT,     /* a socket, for which each call can be non-blocking */
	/* A pipe or terminal, opened again, so that O_NONBLOCK is set for this process only. */
	REOPENED,
	/* A pipe or terminal that cannot be opened again. It is polled before each write. Another
	 * writer may fill it in between, which is rare. */
	IF_ASKED,
};

static struct {
	pid_t owner; /* 0: there is no queue; a forked child does not use its copy */
	int fd;
	int own_fd; /* REOPENED; else -1 */
	enum manner manner;
	bool has_finished;
	STAILQ_HEAD(, line) lines;
	size_t bytes;
	unsigned long lost;
	log_queue_lost_line *lost_line;
	uv_timer_t turn;
} queue = {.own_fd = -1};

static void log_queue_choose_manner(void)
{
	struct stat facts;
	queue.manner = AS_IT_IS;
	if (fstat(queue.fd, &facts) < 0)
		return;
	if (S_ISSOCK(facts.st_mode))
		queue.manner = SENT;
	if (!S_ISFIFO(facts.st_mode) && !S_ISCHR(facts.st_mode))
		return;
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", queue.fd);
	queue.own_fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	queue.manner = queue.own_fd >= 0 ? REOPENED : IF_ASKED;
}

/* Returns the number of written bytes, or a negative errno. -EAGAIN: there is no room now. */
static ssize_t log_queue_write_now(const char *text, size_t bytes)
{
	struct pollfd asked = {.fd = queue.fd, .events = POLLOUT};
	ssize_t count = -1;
	if (queue.manner == IF_ASKED && poll_now(&asked, 1) == 0)
		return -EAGAIN;
	if (queue.manner == SENT)
		count = send(queue.fd, text, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
	else
		count = write(queue.own_fd >= 0 ? queue.own_fd : queue.fd, text, bytes);
	if (count < 0 && errno == EINTR)
		return -EAGAIN;
	return count < 0 ? -errno : count;
}

static void log_queue_drop_first(void)
{
	struct line *line = STAILQ_FIRST(&queue.lines);
	STAILQ_REMOVE_HEAD(&queue.lines, link);
	queue.bytes -= sizeof(*line) + line->bytes;
	free(line);
}

/* True: no line waits any more. Lines that can never be written, because the reader has hung up,
 * are dropped. */
static bool log_queue_flush(void)
{
	struct line *line;
	while ((line = STAILQ_FIRST(&queue.lines))) {
		ssize_t count = log_queue_write_now(line->text + line->written,
						    line->bytes - line->written);
		if (count == -EAGAIN)
			return false;
		line->written += count < 0 ? line->bytes - line->written : (size_t)count;
		if (line->written == line->bytes)
			log_queue_drop_first();
	}
	return true;
}

static bool log_queue_append(const char *text, size_t bytes, size_t written)
{
	struct line *line = malloc(sizeof(*line) + bytes);
	if (!line)
		return false;
	*line = (struct line){.bytes = bytes, .written = written};
	memcpy(line->text, text, bytes);
	STAILQ_INSERT_TAIL(&queue.lines, line, link);
	queue.bytes += sizeof(*line) + bytes;
	return true;
}

/* Appends the count of lost lines, after the waiting lines and before the next one. It waits until
 * half of the room is free again, so that not every gap gets a line. */
static void log_queue_append_lost(void)
{
	char text[LOG_LINE_BYTES];
	if (queue.lost > 0 && queue.bytes <= LOG_QUEUE_BYTES / 2 &&
	    log_queue_append(text, queue.lost_line(text, queue.lost), 0))
		queue.lost = 0;
}

/* True: no line waits any more. */
static bool log_queue_run_turn(void)
{
	if (!log_queue_flush())
		return false;
	log_queue_append_lost();
	return log_queue_flush();
}

static void on_log_queue_timer(uv_timer_t *turn)
{
	if (log_queue_run_turn())
		(void)uv_timer_stop(turn);
}

int log_queue_open(uv_loop_t *loop, int fd, log_queue_lost_line *lost_line)
{
	int r = uv_timer_init(loop, &queue.turn);
	if (r < 0)
		return r;
	uv_unref((uv_handle_t *)&queue.turn);
	STAILQ_INIT(&queue.lines);
	queue.fd = fd;
	queue.lost_line = lost_line;
	log_queue_choose_manner();
	queue.owner = getpid();
	return 0;
}

bool log_queue_write(const char *line, size_t bytes)
{
	if (queue.owner == 0 || queue.owner != getpid())
		return false;
	ssize_t count = log_queue_run_turn() && queue.lost == 0 ? log_queue_write_now(line, bytes)
								: -EAGAIN;
	if (count < 0 && count != -EAGAIN)
		return true;
	size_t written = count < 0 ? 0 : (size_t)count;
	if (written == bytes)
		return true;
	log_queue_append_lost();
	bool has_room = queue.bytes + sizeof(struct line) + bytes <= LOG_QUEUE_BYTES;
	/* A partly written line must be completed. */
	bool is_kept = written > 0 || (queue.lost == 0 && has_room && !queue.has_finished);
	if (!is_kept || !log_queue_append(line, bytes, written))
		queue.lost++;
	if (!queue.has_finished && !uv_is_active((uv_handle_t *)&queue.turn))
		(void)uv_timer_start(&queue.turn, on_log_queue_timer, LOG_QUEUE_TURN_MS,
				     LOG_QUEUE_TURN_MS);
	return true;
}

void log_queue_finish(void)
{
	if (queue.owner != getpid())
		return;
	uint64_t deadline = clock_deadline_ns(LOG_QUEUE_FINISH_MS * MILLISECOND_NS);
	while (!log_queue_run_turn() && clock_now_ns() < deadline) {
		struct pollfd asked = {.fd = queue.fd, .events = POLLOUT};
		(void)poll(&asked, 1, LOG_QUEUE_TURN_MS);
	}
	while (!STAILQ_EMPTY(&queue.lines))
		log_queue_drop_first();
	queue.has_finished = true;
}
