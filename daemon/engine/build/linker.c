#include "build/linker.h"

#include "build/file.h"
#include "build/internal.h"
#include "build/link_child.h"
#include "cleanup.h"
#include "packet_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Longer than the helper permits a linker. */
enum { ANSWER_MS = 30000 };

void build_linker_init(struct build_linker *linker)
{
	linker->socket = -1;
	(void)pthread_mutex_init(&linker->lock, NULL);
}

int build_linker_connect(struct build_linker *linker, int *helper_socket_out)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	linker->socket = pair[0];
	*helper_socket_out = pair[1];
	return 0;
}

void build_linker_close(struct build_linker *linker)
{
	(void)pthread_mutex_lock(&linker->lock);
	close_fd(&linker->socket);
	(void)pthread_mutex_unlock(&linker->lock);
}

static int wait_for_answer(int socket)
{
	struct pollfd answered = {.fd = socket, .events = POLLIN};
	int count;
	do
		count = poll(&answered, 1, ANSWER_MS);
	while (count < 0 && errno == EINTR);
	return count < 0 ? -errno : count == 0 ? -ETIMEDOUT : 0;
}

/* The library, which the caller closes, or a negative errno. -EPIPE: there is no helper. */
static int request_library(int socket, int object, const char *folder)
{
	CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
	struct build_link_answer answer = {.text = ""};
	if (packet_socket_send(socket, folder, strlen(folder) + 1, &object, 1, 0) < 0)
		return -EPIPE;
	int r = wait_for_answer(socket);
	if (r < 0)
		return r;
	if (packet_socket_receive(socket, &answer, sizeof(answer), &fds, 0) !=
	    (ssize_t)sizeof(answer))
		return -EPIPE;
	answer.text[sizeof(answer.text) - 1] = '\0';
	if (fds.count == 1)
		return packet_fds_take(&fds, 0);
	(void)dprintf(STDERR_FILENO, "sycl-engine: %s\n", answer.text);
	return -ENOEXEC;
}

static int copy_library(int from, const char *path)
{
	CLEANUP(free_pointer) char *bytes = NULL;
	size_t count = 0;
	CLEANUP(close_fd) int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	if (to < 0)
		return -errno;
	int r = build_file_read(from, BUILD_BINARY_BYTES_MAX, &bytes, &count);
	return r < 0 ? r : build_file_write(to, bytes, count);
}

/* As request_library, one request at a time. */
static int request_in_turn(struct build_linker *linker, int object, const char *folder)
{
	(void)pthread_mutex_lock(&linker->lock);
	int r = linker->socket < 0 ? -EPIPE : request_library(linker->socket, object, folder);
	/* An answer that comes late would be taken for that of the next request. */
	if (r < 0 && r != -ENOEXEC)
		close_fd(&linker->socket);
	(void)pthread_mutex_unlock(&linker->lock);
	return r;
}

int build_service_link(void *context, const char *object, const char *library)
{
	struct build_service *service = context;
	const char *folder = service->cache_directory ? service->cache_directory : "";
	CLEANUP(close_fd) int from = open(object, O_RDONLY | O_CLOEXEC);
	int r = from < 0 ? -errno : request_in_turn(&service->linker, from, folder);
	CLEANUP(close_fd) int linked = r < 0 ? -1 : r;
	if (r >= 0)
		r = copy_library(linked, library);
	if (r < 0)
		(void)dprintf(STDERR_FILENO, "sycl-engine: the build helper cannot link %s: %s\n",
			      object, strerror(-r));
	return r < 0 ? r : 0;
}
