#include "base/outbox.h"
#include "cleanup.h"
#include "packet_socket.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/socket.h>

struct letter {
	struct list link;
	int fd;
	size_t bytes;
	uint8_t packed[];
};

static struct letter *letter_free(struct letter *letter)
{
	if (letter)
		close_fd(&letter->fd);
	free(letter);
	return NULL;
}

DEFINE_CLEANUP(letter)

void outbox_init(struct outbox *outbox, int socket)
{
	outbox->socket = socket;
	list_init(&outbox->waiting);
}

void outbox_fini(struct outbox *outbox)
{
	while (!list_empty(&outbox->waiting)) {
		struct letter *letter = list_entry(outbox->waiting.next, struct letter, link);
		list_remove(&letter->link);
		(void)letter_free(letter);
	}
}

bool outbox_waiting(const struct outbox *outbox)
{
	return !list_empty(&outbox->waiting);
}

int outbox_send(struct outbox *outbox, const ProtobufCMessage *message, int fd)
{
	size_t bytes = protobuf_c_message_get_packed_size(message);
	if (bytes > PACKET_BYTES_MAX)
		return -EMSGSIZE;
	CLEANUP(letter_cleanup) struct letter *letter = calloc(1, sizeof(*letter) + bytes);
	if (!letter)
		return -ENOMEM;
	letter->fd = -1;
	letter->bytes = bytes;
	(void)protobuf_c_message_pack(message, letter->packed);
	if (list_empty(&outbox->waiting)) {
		int r = packet_socket_send(outbox->socket, letter->packed, bytes, &fd, fd >= 0,
					   MSG_DONTWAIT);
		if (r != -EAGAIN)
			return r;
	}
	if (fd >= 0) {
		letter->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (letter->fd < 0)
			return -errno;
	}
	list_push_back(&outbox->waiting, &letter->link);
	letter = NULL;
	return 0;
}

int outbox_flush(struct outbox *outbox)
{
	while (!list_empty(&outbox->waiting)) {
		struct letter *letter = list_entry(outbox->waiting.next, struct letter, link);
		int r = packet_socket_send(outbox->socket, letter->packed, letter->bytes,
					   &letter->fd, letter->fd >= 0, MSG_DONTWAIT);
		if (r == -EAGAIN)
			return 0;
		if (r < 0)
			return r;
		list_remove(&letter->link);
		(void)letter_free(letter);
	}
	return 0;
}
