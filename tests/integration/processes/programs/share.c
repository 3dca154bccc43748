/*
 * A client on an NVIDIA GPU that shares a buffer and an event, on orders from stdin (`worker
 * share`). It answers each with one line: "ok ...", "no ..." or "result ..." of the failure.
 * Descriptors travel over the Unix socket of number `--count`.
 */
#include "processes/programs/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { TEXT_BYTES = 512, HEX_BYTES = 2 * SYCL_SHARE_HANDLE_BYTES + 1 };

static struct {
	int socket;
	sycl_device device;
	sycl_queue queue;
	sycl_platform platform;
	sycl_buffer buffer, neighbour;
	sycl_shared_event event;
	uint64_t size;
} me;

static void to_hex(const uint8_t handle[SYCL_SHARE_HANDLE_BYTES], char text[HEX_BYTES])
{
	for (int i = 0; i < SYCL_SHARE_HANDLE_BYTES; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", handle[i]);
}

static bool from_hex(const char *text, uint8_t handle[SYCL_SHARE_HANDLE_BYTES])
{
	for (int i = 0; i < SYCL_SHARE_HANDLE_BYTES; i++) {
		unsigned byte = 0;
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		handle[i] = (uint8_t)byte;
	}
	return true;
}

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static void send_descriptor(int descriptor)
{
	char byte = 'd';
	struct iovec part = {&byte, 1};
	union control control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	*head = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
				 .cmsg_type = SCM_RIGHTS,
				 .cmsg_len = CMSG_LEN(sizeof(int))};
	memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
	worker_check(sendmsg(me.socket, &message, MSG_NOSIGNAL) == 1,
		     "the descriptor was not sent");
}

static int receive_descriptor(void)
{
	char byte;
	int descriptor = -1;
	struct iovec part = {&byte, 1};
	union control control;
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	worker_check(recvmsg(me.socket, &message, MSG_CMSG_CLOEXEC) == 1, "no descriptor came");
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(&descriptor, CMSG_DATA(head), sizeof(int));
	return descriptor;
}

static void answer_result(sycl_result result)
{
	if (result)
		worker_say_result(result);
	else
		worker_say("ok");
}

static sycl_share_kind kind_of(const char *word)
{
	return strcmp(word, "ipc") == 0 ? SYCL_SHARE_CUDA_IPC : SYCL_SHARE_VMM;
}

/* make KIND SIZE BYTE: makes a buffer full of that byte. Behind it is one full of another byte,
 * which no other process may read. */
static void do_make(const char *words)
{
	char kind[8];
	unsigned value;
	worker_check(sscanf(words, "%7s %" SCNu64 " %u", kind, &me.size, &value) == 3,
		     "make KIND SIZE BYTE");
	uint8_t *bytes = malloc(me.size);
	worker_check(bytes != NULL, "no memory");
	memset(bytes, (int)value, me.size);
	sycl_result result = sycl_buffer_create_exportable(
		me.device, bytes, me.size, SYCL_HOST_CONST, kind_of(kind), &me.buffer);
	if (!result) {
		memset(bytes, 0xca, me.size);
		worker_must(sycl_buffer_create_exportable(me.device, bytes, me.size,
							  SYCL_HOST_CONST, kind_of(kind),
							  &me.neighbour),
			    "the neighbour");
		sycl_handler h;
		worker_must(sycl_handler_begin(me.queue, &h), "begin");
		worker_must(sycl_handler_require(h, me.neighbour, SYCL_ACCESS_READ), "require");
		worker_must(sycl_handler_submit(h, NULL), "submit");
	}
	free(bytes);
	answer_result(result);
}

/* export: answers "ok KIND SIZE MAPPED HEX"; the descriptor goes over the socket. */
static void export(const char *words)
{
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	char hex[HEX_BYTES];
	(void)words;
	sycl_result result = sycl_buffer_export(me.buffer, &shared);
	if (result) {
		answer_result(result);
		return;
	}
	to_hex(shared.handle, hex);
	if (shared.kind == SYCL_SHARE_VMM) {
		send_descriptor(shared.descriptor);
		(void)close(shared.descriptor);
	}
	worker_say("ok %s %" PRIu64 " %" PRIu64 " %s",
		   shared.kind == SYCL_SHARE_VMM ? "vmm" : "ipc", shared.size_bytes,
		   shared.mapped_bytes, hex);
}

/* import KIND SIZE MAPPED HEX */
static void import(const char *words)
{
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	char kind[8], hex[HEX_BYTES];
	worker_check(sscanf(words, "%7s %" SCNu64 " %" SCNu64 " %128s", kind, &shared.size_bytes,
			    &shared.mapped_bytes, hex) == 4 &&
			     from_hex(hex, shared.handle),
		     "import KIND SIZE MAPPED HEX");
	shared.kind = kind_of(kind);
	if (shared.kind == SYCL_SHARE_VMM)
		shared.descriptor = receive_descriptor();
	me.size = shared.size_bytes;
	sycl_result result = sycl_buffer_import(me.device, &shared, &me.buffer);
	if (shared.descriptor >= 0)
		(void)close(shared.descriptor);
	answer_result(result);
}

/* check BYTE */
static void do_check(const char *words)
{
	sycl_host_accessor accessor;
	void *bytes = NULL;
	uint64_t others = 0;
	sycl_result result = sycl_host_accessor_create(me.buffer, SYCL_ACCESS_READ, &accessor);
	if (result) {
		answer_result(result);
		return;
	}
	worker_must(sycl_host_accessor_get_pointer(accessor, &bytes), "pointer");
	for (uint64_t i = 0; i < me.size; i++)
		others += ((const uint8_t *)bytes)[i] != (uint8_t)atoi(words);
	if (others)
		worker_say("no %" PRIu64 " of %" PRIu64 " bytes differ, the first is %u", others,
			   me.size, *(const uint8_t *)bytes);
	else
		worker_say("ok");
	worker_must(sycl_host_accessor_release(accessor), "accessor");
}

static sycl_result end_group(sycl_handler handler)
{
	sycl_event event;
	sycl_result result = sycl_handler_submit(handler, &event);
	if (!result) {
		result = sycl_event_wait(event);
		worker_must(sycl_event_release(event), "event");
	}
	return result;
}

/* fill BYTE: fills on the device, and waits; fill-later BYTE: does not wait. */
static sycl_handler filling(const char *words)
{
	uint8_t value = (uint8_t)atoi(words);
	sycl_handler handler;
	worker_must(sycl_handler_begin(me.queue, &handler), "begin");
	worker_must(sycl_handler_fill(handler, me.buffer, 0, me.size, &value, 1), "fill");
	return handler;
}

static void share_program_do_fill(const char *words)
{
	answer_result(end_group(filling(words)));
}

static void fill_later(const char *words)
{
	answer_result(sycl_handler_submit(filling(words), NULL));
}

/* write BYTE: the host writes, and afterwards the device. */
static void write_host(const char *words)
{
	sycl_host_accessor accessor;
	sycl_handler handler;
	void *bytes = NULL;
	worker_must(sycl_host_accessor_create(me.buffer, SYCL_ACCESS_WRITE_NO_INIT, &accessor),
		    "accessor");
	worker_must(sycl_host_accessor_get_pointer(accessor, &bytes), "pointer");
	memset(bytes, atoi(words), me.size);
	worker_must(sycl_host_accessor_release(accessor), "accessor");
	worker_must(sycl_handler_begin(me.queue, &handler), "begin");
	worker_must(sycl_handler_require(handler, me.buffer, SYCL_ACCESS_READ_WRITE), "require");
	answer_result(end_group(handler));
}

/* hold: makes a host accessor that writes, for ever. */
static void do_hold(const char *words)
{
	sycl_host_accessor accessor;
	void *bytes = NULL;
	(void)words;
	worker_must(sycl_host_accessor_create(me.buffer, SYCL_ACCESS_READ_WRITE, &accessor),
		    "accessor");
	worker_must(sycl_host_accessor_get_pointer(accessor, &bytes), "pointer");
	memset(bytes, 0x5e, me.size / 2);
	worker_say("ok");
}

/* make-event: "ok HEX"; open-event HEX. */
static void make_event(const char *words)
{
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES];
	char hex[HEX_BYTES];
	(void)words;
	sycl_result result = sycl_shared_event_create(me.device, &me.event);
	if (result) {
		answer_result(result);
		return;
	}
	worker_must(sycl_shared_event_get_handle(me.event, handle), "handle");
	to_hex(handle, hex);
	worker_say("ok %s", hex);
}

static void open_event(const char *words)
{
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES];
	worker_check(from_hex(words, handle), "open-event HEX");
	answer_result(sycl_shared_event_open(me.device, handle, &me.event));
}

/* wait, record: groups on the buffer, so later groups on it come after them. They are not waited
 * for. */
static sycl_handler with_buffer(void)
{
	sycl_handler handler;
	worker_must(sycl_handler_begin(me.queue, &handler), "begin");
	worker_must(sycl_handler_require(handler, me.buffer, SYCL_ACCESS_READ_WRITE), "require");
	return handler;
}

static void share_program_wait_event(const char *words)
{
	(void)words;
	sycl_handler handler = with_buffer();
	worker_must(sycl_handler_wait_event(handler, me.event), "wait");
	answer_result(sycl_handler_submit(handler, NULL));
}

static void do_record(const char *words)
{
	(void)words;
	sycl_handler handler = with_buffer();
	worker_must(sycl_handler_record_event(handler, me.event), "record");
	answer_result(end_group(handler));
}

static void close_event(const char *words)
{
	(void)words;
	answer_result(sycl_shared_event_release(me.event));
	me.event = NULL;
}

/* usage: "ok BYTES" of buffers that the session is charged for. */
static void usage(const char *words)
{
	struct sycl_usage usage = SYCL_USAGE_INIT;
	(void)words;
	worker_must(sycl_platform_get_usage(me.platform, &usage), "usage");
	worker_say("ok %" PRIu64, usage.buffer_bytes);
}

static void close_memory(const char *words)
{
	(void)words;
	sycl_result result = sycl_buffer_release(me.buffer);
	if (me.neighbour)
		worker_must(sycl_buffer_release(me.neighbour), "the neighbour");
	me.buffer = me.neighbour = NULL;
	answer_result(result);
}

static const struct {
	const char *name;
	void (*run)(const char *words);
} commands[] = {
	{"make", do_make},
	{"export", export},
	{"import", import},
	{"check", do_check},
	{"fill", share_program_do_fill},
	{"fill-later", fill_later},
	{"write", write_host},
	{"hold", do_hold},
	{"make-event", make_event},
	{"open-event", open_event},
	{"wait", share_program_wait_event},
	{"record", do_record},
	{"close-event", close_event},
	{"usage", usage},
	{"close", close_memory},
};

static void obey(const char *line)
{
	char name[32] = "";
	int used = 0;
	(void)sscanf(line, "%31s %n", name, &used);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(name, commands[i].name) == 0) {
			commands[i].run(line + used);
			return;
		}
	}
	worker_check(false, "such a command");
}

static int32_t share_program_choose_cuda(sycl_device device, void *unused)
{
	uint32_t backend = 0;
	(void)unused;
	worker_must(sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend),
					 &backend, NULL),
		    "backend");
	return backend == SYCL_BACKEND_KIND_CUDA ? 1 : -1;
}

int worker_share(struct worker *worker)
{
	char line[TEXT_BYTES];
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = SYCL_QUEUE_IN_ORDER;
	me.socket = (int)worker->count;
	worker_must(sycl_platform_open(worker->endpoint, &me.platform), "sycl_platform_open");
	if (sycl_device_select(me.platform, share_program_choose_cuda, NULL, &me.device) != 0) {
		worker_say("none");
		return 77;
	}
	worker_must(sycl_queue_create(NULL, me.device, &options, &me.queue), "sycl_queue_create");
	worker_say("ready");
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
	}
	return 0;
}
