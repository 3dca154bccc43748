#include "process/reconnect.h"
#include "cleanup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define FIRST_WAIT_MS 10u
#define MOST_WAIT_MS  1000u

struct reconnect {
	struct sockaddr_un address;
	char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
	void (*connected)(void *context, int socket);
	void *context;
	uint64_t wait_ms;
	uv_timer_t timer;
	uv_fs_event_t change;
	unsigned open_handles;
};

static void on_retry_timer(uv_timer_t *timer);

static void stop_watching(struct reconnect *reconnect)
{
	(void)uv_timer_stop(&reconnect->timer);
	(void)uv_fs_event_stop(&reconnect->change);
}

/* -EAGAIN: all engines connect to the service at once. */
static int try_once(const struct reconnect *reconnect)
{
	CLEANUP(close_fd)
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&reconnect->address, sizeof(reconnect->address)) <
	    0)
		return -errno;
	return take_fd(&fd);
}

static void try_to_reconnect(struct reconnect *reconnect)
{
	int fd = try_once(reconnect);
	if (fd >= 0) {
		stop_watching(reconnect);
		reconnect->connected(reconnect->context, fd);
		return;
	}
	(void)uv_timer_start(&reconnect->timer, on_retry_timer, reconnect->wait_ms, 0);
	reconnect->wait_ms =
		reconnect->wait_ms * 2 < MOST_WAIT_MS ? reconnect->wait_ms * 2 : MOST_WAIT_MS;
}

static void on_retry_timer(uv_timer_t *timer)
{
	try_to_reconnect(timer->data);
}

/* The folder has changed. The socket's file exists before the service listens on the socket. */
static void on_runtime_folder_changed(uv_fs_event_t *change, const char *name, int events,
				      int status)
{
	struct reconnect *reconnect = change->data;
	const char *wanted = strrchr(reconnect->address.sun_path, '/') + 1;
	(void)events;
	if (status < 0 || (name && strcmp(name, wanted) != 0))
		return;
	reconnect->wait_ms = FIRST_WAIT_MS;
	try_to_reconnect(reconnect);
}

static void start_watching(struct reconnect *reconnect)
{
	/* If the folder cannot be watched, the timer finds the socket. */
	(void)uv_fs_event_start(&reconnect->change, on_runtime_folder_changed, reconnect->folder,
				0);
	(void)uv_timer_start(&reconnect->timer, on_retry_timer, reconnect->wait_ms, 0);
}

void reconnect_again(struct reconnect *reconnect)
{
	stop_watching(reconnect);
	start_watching(reconnect);
	reconnect->wait_ms =
		reconnect->wait_ms * 2 < MOST_WAIT_MS ? reconnect->wait_ms * 2 : MOST_WAIT_MS;
}

int reconnect_create(uv_loop_t *loop, const char *socket_path,
		     void (*connected)(void *context, int socket), void *context,
		     struct reconnect **reconnect_out)
{
	const char *slash = strrchr(socket_path, '/');
	size_t length = strlen(socket_path);
	struct reconnect *reconnect = calloc(1, sizeof(*reconnect));
	if (!reconnect)
		return -ENOMEM;
	if (!slash || slash == socket_path || length >= sizeof(reconnect->address.sun_path)) {
		free(reconnect);
		return -EINVAL;
	}
	reconnect->address.sun_family = AF_UNIX;
	memcpy(reconnect->address.sun_path, socket_path, length + 1);
	memcpy(reconnect->folder, socket_path, (size_t)(slash - socket_path));
	reconnect->connected = connected;
	reconnect->context = context;
	reconnect->wait_ms = FIRST_WAIT_MS;
	(void)uv_timer_init(loop, &reconnect->timer);
	(void)uv_fs_event_init(loop, &reconnect->change);
	reconnect->open_handles = 2;
	reconnect->timer.data = reconnect;
	reconnect->change.data = reconnect;
	start_watching(reconnect);
	*reconnect_out = reconnect;
	return 0;
}

static void on_reconnect_closed(uv_handle_t *handle)
{
	struct reconnect *reconnect = handle->data;
	if (--reconnect->open_handles == 0)
		free(reconnect);
}

struct reconnect *reconnect_free(struct reconnect *reconnect)
{
	if (!reconnect)
		return NULL;
	uv_close((uv_handle_t *)&reconnect->timer, on_reconnect_closed);
	uv_close((uv_handle_t *)&reconnect->change, on_reconnect_closed);
	return NULL;
}
