#include "base/journal.h"

#include "cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ENTRY_BYTES = 4096 };

/* Ids by enum event_kind; systemd/sycld.catalog explains each. An id never changes. */
static const char *const message_ids[] = {
	[1] = "b6d0d0021bd642709280d860d441b7b5", [2] = "3ee91155fbc7400a8192c96c03a1fd58",
	[3] = "aaf637aee4be4e8595f6a9f61d5a6c6f", [4] = "2a839cd2c78c420f9c83eb73e73709b2",
	[5] = "7b3cae78564c4cdfab149aad735365df", [6] = "f0679fc0c0c34de19acd0f46cddec118",
	[7] = "7806b88880e94984987b1a8fd1e6c8bd",
};

int journal_open(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(path);
	if (length >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, length + 1);
	CLEANUP(close_fd)
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return take_fd(&fd);
}

/* A newline ends a value in this form, so texts of other processes must not contain one. */
static void add_field(char entry[ENTRY_BYTES], size_t *used, const char *name, const char *value)
{
	int length = snprintf(entry + *used, ENTRY_BYTES - *used, "%s=%s\n", name, value);
	if (length < 0 || (size_t)length >= ENTRY_BYTES - *used) {
		entry[*used] = '\0'; /* omits a field without room */
		return;
	}
	for (size_t i = *used; i + 1 < *used + (size_t)length; i++)
		if (entry[i] == '\n')
			entry[i] = ' ';
	*used += (size_t)length;
}

static void add_number(char entry[ENTRY_BYTES], size_t *used, const char *name, uint64_t number)
{
	char text[24];
	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	add_field(entry, used, name, text);
}

static size_t make_entry(char entry[ENTRY_BYTES], int priority, const char *topic, const char *text,
			 const struct log_fields *fields)
{
	size_t used = 0;
	int last = (int)(sizeof(message_ids) / sizeof(*message_ids));
	add_number(entry, &used, "PRIORITY", (uint64_t)priority);
	add_field(entry, &used, "SYSLOG_IDENTIFIER", "sycld");
	add_field(entry, &used, "SYCLD_TOPIC", topic);
	add_field(entry, &used, "MESSAGE", text);
	if (fields->kind > 0 && fields->kind < last)
		add_field(entry, &used, "MESSAGE_ID", message_ids[fields->kind]);
	if (fields->has_uid)
		add_number(entry, &used, "SYCLD_UID", fields->uid);
	if (fields->session)
		add_number(entry, &used, "SYCLD_SESSION", fields->session);
	if (*fields->kernel)
		add_field(entry, &used, "SYCLD_KERNEL", fields->kernel);
	return used;
}

/* 0 or a negative errno. A socket whose reader has ended is closed. */
static int entry_send(int *socket, const char *entry, size_t bytes)
{
	if (*socket < 0)
		return -ENOTCONN;
	if (send(*socket, entry, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes)
		return 0;
	int r = -errno;
	if (r == -ECONNREFUSED || r == -ENOTCONN || r == -ECONNRESET || r == -EPIPE)
		close_fd(socket);
	return r;
}

bool journal_send(const char *path, int *socket, int priority, const char *topic, const char *text,
		  const struct log_fields *fields)
{
	char entry[ENTRY_BYTES];
	size_t bytes = make_entry(entry, priority, topic, text, fields);
	int r = entry_send(socket, entry, bytes);
	if (*socket >= 0)
		return r == 0;
	*socket = journal_open(path);
	return entry_send(socket, entry, bytes) == 0;
}
