#include "processes/gpu_share_parties.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

struct parties parties;

static bool exists(const char *folder, const char *name, char path[PATH_MAX])
{
	return build_path(folder, name, path, PATH_MAX) == 0 && access(path, X_OK) == 0;
}

void party_order(struct party *party, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	cr_assert_eq(child_say(&party->child, line), 0, "it does not take '%s'", line);
	cr_assert_eq(child_read_line(&party->child, party->line, sizeof(party->line), SOON), 1,
		     "no answer to '%s'", line);
}

/* One end is for the test; the other one is inherited under its own number. */
static int make_socket(struct party *party)
{
	int ends[2];
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	party->socket = ends[0];
	(void)fcntl(ends[1], F_SETFD, 0);
	return ends[1];
}

static bool ready(struct party *party)
{
	do {
		cr_assert_eq(child_read_line(&party->child, party->line, sizeof(party->line), SOON),
			     1, "it says nothing: %s", party->line);
		cr_assert(strncmp(party->line, "FAIL", 4) != 0, "%s", party->line);
	} while (strncmp(party->line, "ready", 5) != 0 && strncmp(party->line, "none", 4) != 0);
	return party->line[0] == 'r';
}

bool party_start_worker_of(struct party *party, unsigned uid)
{
	int end = make_socket(party);
	char number[16], user[16];
	(void)snprintf(number, sizeof(number), "%d", end);
	(void)snprintf(user, sizeof(user), "%u", uid);
	const char *const arguments[] = {"--count", number, uid ? "--uid" : NULL, user, NULL};
	worker_start_with(&party->child, NULL, parties.service->endpoint, "share", arguments);
	(void)close(end);
	return ready(party);
}

bool party_start_worker(struct party *party)
{
	return party_start_worker_of(party, 0);
}

bool party_start_program(struct party *party)
{
	char path[PATH_MAX], number[16];
	cr_assert(exists("tests", parties.real ? "share_importer" : "share_importer_fake", path));
	int end = make_socket(party);
	(void)snprintf(number, sizeof(number), "%d", end);
	const char *const argv[] = {path, number, NULL};
	cr_assert_eq(child_start(argv, NULL, &party->child), 0);
	(void)close(end);
	return ready(party);
}

void party_end(struct party *party)
{
	child_end(&party->child);
	close_fd(&party->socket);
}

bool parties_have_gpu(void)
{
	char path[PATH_MAX];
	return exists("tests", "share_importer", path) && access("/dev/nvidiactl", F_OK) == 0;
}

/* Starts a service, a session and a CUDA program on the real driver if there is one, otherwise on
 * its double. */
static bool start_on(bool real)
{
	char configuration[PATH_MAX + 64], path[PATH_MAX];
	parties.real = real;
	if ((real && !parties_have_gpu()) ||
	    (!real && !exists("tests", "share_importer_fake", path)))
		return false;
	if (!real && (build_path("tests", "fake_cuda/libcuda.so.1", path, sizeof(path)) < 0 ||
		      access(path, R_OK) < 0))
		return false;
	parties.worker = parties.second = parties.program =
		(struct party){.child = CHILD_INIT, .socket = -1};
	if (real && !party_start_program(&parties.program)) {
		party_end(&parties.program);
		return false;
	}
	(void)snprintf(configuration, sizeof(configuration), "[cuda]\nlibrary = %s\n", path);
	parties.service = processes_service(real ? NULL : configuration, false);
	cr_assert(party_start_worker(&parties.worker), "the service shows no such GPU");
	cr_assert(real || party_start_program(&parties.program));
	return true;
}

void parties_start(void)
{
	if (!start_on(true) && !start_on(false))
		cr_skip_test("SKIPPED: neither an NVIDIA GPU nor the double of its driver");
}

void parties_stop(void)
{
	party_end(&parties.worker);
	party_end(&parties.second);
	party_end(&parties.program);
	parties.service = private_service_free(parties.service);
}

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

void party_send_descriptor(struct party *to, int descriptor)
{
	char byte = 'd';
	struct iovec part = {&byte, 1};
	union control control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	*CMSG_FIRSTHDR(&message) = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						    .cmsg_type = SCM_RIGHTS,
						    .cmsg_len = CMSG_LEN(sizeof(int))};
	memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &descriptor, sizeof(int));
	cr_assert_eq(sendmsg(to->socket, &message, MSG_NOSIGNAL), 1);
}

int party_receive_descriptor(struct party *from)
{
	char byte;
	int descriptor = -1;
	struct iovec part = {&byte, 1};
	union control control;
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	cr_assert_eq(recvmsg(from->socket, &message, MSG_CMSG_CLOEXEC), 1);
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	cr_assert(head && head->cmsg_type == SCM_RIGHTS);
	memcpy(&descriptor, CMSG_DATA(head), sizeof(int));
	return descriptor;
}

struct exported party_export(struct party *party)
{
	struct exported exported = {.descriptor = -1};
	const char *words = party_ask(party, "export");
	cr_assert_eq(sscanf(words, "%7s %lu %lu %128s", exported.kind, &exported.size,
			    &exported.mapped, exported.hex),
		     4, "%s", words);
	if (strcmp(exported.kind, "vmm") == 0)
		exported.descriptor = party_receive_descriptor(party);
	return exported;
}

void party_import(struct party *worker, const struct exported *exported)
{
	if (exported->descriptor >= 0)
		party_send_descriptor(worker, exported->descriptor);
	(void)party_ask(worker, "import %s %lu %lu %s", exported->kind, exported->size,
			exported->mapped, exported->hex);
}

void party_open_in_program(const struct exported *exported)
{
	if (exported->descriptor < 0) {
		(void)party_ask(&parties.program, "open-ipc %lu %s", exported->size, exported->hex);
		return;
	}
	party_send_descriptor(&parties.program, exported->descriptor);
	(void)party_ask(&parties.program, "open-vmm %lu %lu", exported->size, exported->mapped);
}

struct exported party_make_and_export(const char *kind, unsigned value)
{
	(void)party_ask(&parties.worker, "make %s %d %u", kind, SHARE_BYTES, value);
	return party_export(&parties.worker);
}

bool party_is_charged_nothing(void *party)
{
	return strcmp(party_ask((struct party *)party, "usage"), "0") == 0;
}
