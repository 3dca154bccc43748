/*
 * Memory and events of the CUDA backend that processes share (F10). The other process is forked
 * before either has touched the driver.
 */
#include "cuda/memory_support.h"

#include "cleanup.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

TestSuite(cuda_share, .timeout = 120);

#define BYTES  (3 * MIB + 12345)
#define CANARY 0xc5

/* The message from one process to the other, with a descriptor or without. */
struct note {
	struct backend_shared_memory shared;
	uint8_t event[64];
	uint32_t word;
};

static void send_note(int socket, const struct note *note)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec part = {.iov_base = (void *)(uintptr_t)note, .iov_len = sizeof(*note)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (note->shared.kind == BACKEND_EXPORT_VMM) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &note->shared.descriptor, sizeof(int));
	}
	cr_assert_eq(sendmsg(socket, &message, MSG_NOSIGNAL), (ssize_t)sizeof(*note));
}

static void receive_note(int socket, struct note *note)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec part = {.iov_base = note, .iov_len = sizeof(*note)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};

	cr_assert_eq(recvmsg(socket, &message, MSG_CMSG_CLOEXEC), (ssize_t)sizeof(*note),
		     "the other process ended");
	note->shared.descriptor = -1;
	const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(&note->shared.descriptor, CMSG_DATA(head), sizeof(int));
}

static void send_word(int socket, uint32_t word)
{
	const struct note note = {.word = word};
	send_note(socket, &note);
}

static uint32_t receive_word(int socket)
{
	struct note note;
	receive_note(socket, &note);
	return note.word;
}

/* The other process runs `other` and then ends. Returns the socket to it. */
static pid_t start_other(void (*other)(int socket), int *socket_out)
{
	int sockets[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	pid_t pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		(void)close(sockets[0]);
		other(sockets[1]);
		_exit(0);
	}
	(void)close(sockets[1]);
	*socket_out = sockets[0];
	return pid;
}

static void end_other(pid_t pid, int socket)
{
	int status = -1;

	(void)close(socket);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the other process ended with %d",
		  status);
}

static void kill_other(pid_t pid)
{
	int status = -1;

	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status));
}

static void export_to(struct gpu *gpu, struct backend_memory *memory, int socket)
{
	struct backend_fault fault = {0};
	struct note note = {0};

	cr_assert_eq(gpu->ops->memory_export(memory, &note.shared, &fault), 0, "%s", fault.text);
	send_note(socket, &note);
	close_fd(&note.shared.descriptor);
}

/* Checks everything up to the end of the granules: behind the exporter's bytes there must be no
 * data of others. */
static struct backend_memory *import_from(struct gpu *gpu, int socket)
{
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};
	struct note note;

	receive_note(socket, &note);
	cr_assert_eq(note.shared.size_bytes % (2 * MIB), 0);
	cr_assert_eq(gpu->ops->memory_import(gpu->devices[0], &note.shared, note.shared.size_bytes,
					     &memory, &fault),
		     0, "%s", fault.text);
	close_fd(&note.shared.descriptor);
	return memory;
}

/* Reads the memory, checks it, and writes into it. */
static void importer(int socket)
{
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	struct backend_memory *memory = import_from(&gpu, socket);
	uint64_t whole = memory->size_bytes;
	unsigned char *bytes = malloc(whole);
	gpu_read(&gpu, memory, 0, bytes, whole);
	cr_assert(gpu_has_pattern(bytes, BYTES, 1), "not what was exported");
	cr_assert(gpu_is_all(bytes + BYTES, whole - BYTES, 0),
		  "somebody's bytes behind the exported ones");
	gpu_pattern(bytes, BYTES, 2);
	gpu_write(&gpu, memory, 0, bytes, BYTES);
	send_word(socket, 1);
	(void)receive_word(socket);
	gpu.ops->memory_free(memory);
	free(bytes);
	gpu_close(&gpu);
}

static void export_and_import(enum backend_export_kind kind)
{
	static unsigned char bytes[BYTES];
	int socket = -1;
	pid_t pid = start_other(importer, &socket);
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	/* Neighbours with bytes that no other process may read. */
	struct backend_memory *before = gpu_memory(&gpu, 0, 3 * MIB, BACKEND_EXPORT_NONE);
	struct backend_memory *memory = gpu_memory(&gpu, 0, BYTES, kind);
	struct backend_memory *after = gpu_memory(&gpu, 0, 4096, BACKEND_EXPORT_NONE);
	const struct backend_command fills[] = {gpu_fill(before, 0, 3 * MIB, "\xc5", 1),
						gpu_fill(after, 0, 4096, "\xc5", 1)};
	gpu_do(&gpu, 0, 0, &fills[0]);
	gpu_do(&gpu, 0, 0, &fills[1]);
	gpu_pattern(bytes, BYTES, 1);
	gpu_write(&gpu, memory, 0, bytes, BYTES);
	export_to(&gpu, memory, socket);
	cr_assert_eq(receive_word(socket), 1);
	gpu_read(&gpu, memory, 0, bytes, BYTES);
	cr_assert(gpu_has_pattern(bytes, BYTES, 2));
	send_word(socket, 2);
	end_other(pid, socket);
	gpu.ops->memory_free(memory);
	gpu.ops->memory_free(before);
	gpu.ops->memory_free(after);
	gpu_close(&gpu);
}

Test(cuda_share, F10_a_descriptor_opens_the_memory_in_another_process)
{
	export_and_import(BACKEND_EXPORT_VMM);
}

Test(cuda_share, F10_a_handle_opens_the_memory_in_another_process)
{
	export_and_import(BACKEND_EXPORT_CUDA_IPC);
}

/* Imports, and waits to be killed while the memory is in use. */
static void importer_that_dies(int socket)
{
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	struct backend_memory *memory = import_from(&gpu, socket);
	const struct backend_command fill = gpu_fill(memory, 0, MIB, "\x33", 1);
	gpu_do(&gpu, 0, 0, &fill);
	send_word(socket, 1);
	(void)receive_word(socket);
}

static void importer_dies(enum backend_export_kind kind)
{
	static unsigned char bytes[MIB];
	int socket = -1;
	pid_t pid = start_other(importer_that_dies, &socket);
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	struct backend_memory *memory = gpu_memory(&gpu, 0, BYTES, kind);
	export_to(&gpu, memory, socket);
	cr_assert_eq(receive_word(socket), 1);
	kill_other(pid);
	(void)close(socket);
	gpu_read(&gpu, memory, 0, bytes, MIB);
	cr_assert(gpu_is_all(bytes, MIB, 0x33));
	gpu_write(&gpu, memory, 0, "still good", 11);
	gpu_read(&gpu, memory, 0, bytes, 11);
	cr_assert_str_eq((const char *)bytes, "still good");
	gpu.ops->memory_free(memory);
	gpu_close(&gpu);
}

Test(cuda_share, F10_an_importer_of_a_descriptor_dies)
{
	importer_dies(BACKEND_EXPORT_VMM);
}

Test(cuda_share, F10_an_importer_of_a_handle_dies)
{
	importer_dies(BACKEND_EXPORT_CUDA_IPC);
}

static void export_and_wait(int socket, enum backend_export_kind kind)
{
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	struct backend_memory *memory = gpu_memory(&gpu, 0, BYTES, kind);
	const struct backend_command fill = gpu_fill(memory, 0, BYTES, "\x44", 1);
	gpu_do(&gpu, 0, 0, &fill);
	export_to(&gpu, memory, socket);
	(void)receive_word(socket);
}

static void descriptor_exporter(int socket)
{
	export_and_wait(socket, BACKEND_EXPORT_VMM);
}

static void handle_exporter(int socket)
{
	export_and_wait(socket, BACKEND_EXPORT_CUDA_IPC);
}

/* The importer's own work continues, and it can free the memory. Memory with a descriptor stays
 * valid as long as its importers. */
static void exporter_dies(void (*exporter)(int socket), bool lives_on)
{
	static unsigned char bytes[MIB];
	int socket = -1;
	pid_t pid = start_other(exporter, &socket);
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	struct backend_memory *own = gpu_memory(&gpu, 0, MIB, BACKEND_EXPORT_NONE);
	struct backend_memory *memory = import_from(&gpu, socket);
	gpu_read(&gpu, memory, 0, bytes, MIB);
	cr_assert(gpu_is_all(bytes, MIB, 0x44));
	kill_other(pid);
	(void)close(socket);
	if (lives_on) {
		const struct backend_command fill = gpu_fill(memory, 0, MIB, "\x55", 1);
		gpu_do(&gpu, 0, 0, &fill);
		gpu_read(&gpu, memory, 0, bytes, MIB);
		cr_assert(gpu_is_all(bytes, MIB, 0x55));
	}
	gpu.ops->memory_free(memory);
	gpu_write(&gpu, own, 0, "still good", 11);
	gpu_read(&gpu, own, 0, bytes, 11);
	cr_assert_str_eq((const char *)bytes, "still good");
	gpu.ops->memory_free(own);
	gpu_close(&gpu);
}

Test(cuda_share, F10_an_exporter_of_a_descriptor_dies)
{
	exporter_dies(descriptor_exporter, true);
}

Test(cuda_share, F10_an_exporter_of_a_handle_dies)
{
	exporter_dies(handle_exporter, false);
}

/* Memory that is used again contains nothing of its former owner, from its first use on. */
static void comes_zeroed(enum backend_export_kind kind)
{
	const uint64_t whole = 4 * MIB;
	unsigned char *bytes = malloc(whole);
	struct gpu gpu;

	cr_assert_not_null(bytes);
	gpu_open(&gpu, NULL);
	for (int round = 0; round < 3; round++) {
		struct backend_memory *memory = gpu_memory(&gpu, 0, BYTES, kind);
		cr_assert_eq(memory->reserved_bytes, whole);
		/* As an importer would map it. */
		memory->size_bytes = whole;
		gpu_read(&gpu, memory, 0, bytes, whole);
		cr_assert(gpu_is_all(bytes, whole, 0), "round %d", round);
		const struct backend_command fill = gpu_fill(memory, 0, whole, "\xc5", 1);
		gpu_do(&gpu, 0, 0, &fill);
		gpu.ops->memory_free(memory);
	}
	free(bytes);
	gpu_close(&gpu);
}

Test(cuda_share, F10_memory_with_a_descriptor_comes_zeroed)
{
	comes_zeroed(BACKEND_EXPORT_VMM);
}

Test(cuda_share, F10_memory_with_a_handle_comes_zeroed)
{
	comes_zeroed(BACKEND_EXPORT_CUDA_IPC);
}

/* The zeros come late. The first command of a lane must wait for them, and they must never come
 * after it. */
Test(cuda_share, F10_the_first_use_waits_for_the_zeros)
{
	unsigned char got[4096];
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	gpu_command(&gpu, "gate close memset");
	struct backend_memory *memory = gpu_memory(&gpu, 0, BYTES, BACKEND_EXPORT_VMM);
	unsigned char bytes[sizeof(got)];
	gpu_pattern(bytes, sizeof(bytes), 8);
	const struct backend_command write =
		gpu_transfer(BACKEND_COMMAND_WRITE, memory, 100, bytes, sizeof(bytes));
	uint64_t sequence = gpu_submit(&gpu, 0, 0, &write);
	if (gpu.fake) {
		cr_assert(gpu.fake->wait_count("held memset", 1, 60000000000u));
		cr_assert_not(gpu_is_done(&gpu, 0, 0, sequence));
	}
	gpu_command(&gpu, "gate open memset");
	gpu_wait(&gpu, 0, 0, sequence);
	gpu_read(&gpu, memory, 100, got, sizeof(got));
	cr_assert(gpu_has_pattern(got, sizeof(got), 8));
	gpu.ops->memory_free(memory);
	gpu_close(&gpu);
}

static void must_not_import(struct gpu *gpu, const struct backend_shared_memory *shared,
			    uint64_t size_bytes, const char *what)
{
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};

	cr_assert_lt(gpu->ops->memory_import(gpu->devices[0], shared, size_bytes, &memory, &fault),
		     0, "%s", what);
	cr_assert_null(memory);
	cr_assert_neq(fault.text[0], '\0');
	cr_assert_not(fault.device_lost, "%s: %s", what, fault.text);
}

/* The values that an importer gets come from a client, so all of them may be wrong. */
Test(cuda_share, F10_lies_about_a_descriptor_are_refused)
{
	struct backend_fault fault = {0};
	struct backend_shared_memory truth = {0}, lie;
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	struct backend_memory *memory = gpu_memory(&gpu, 0, MIB, BACKEND_EXPORT_VMM), *again = NULL;
	cr_assert_eq(gpu.ops->memory_export(memory, &truth, &fault), 0, "%s", fault.text);
	cr_assert(fcntl(truth.descriptor, F_GETFD) & FD_CLOEXEC);
	lie = truth;
	lie.size_bytes = 64 * MIB;
	must_not_import(&gpu, &lie, 64 * MIB, "more than there is");
	must_not_import(&gpu, &lie, MIB, "a mapping larger than the memory");
	lie.size_bytes = 2 * MIB + 4096;
	must_not_import(&gpu, &lie, MIB, "not whole granules");
	must_not_import(&gpu, &truth, truth.size_bytes + 1, "more than is mapped");
	must_not_import(&gpu, &truth, 0, "nothing");
	lie = truth;
	lie.descriptor = -1;
	must_not_import(&gpu, &lie, MIB, "no descriptor");
	lie.descriptor = memfd_create("no memory of a GPU", MFD_CLOEXEC);
	cr_assert_eq(ftruncate(lie.descriptor, 2 * MIB), 0);
	must_not_import(&gpu, &lie, MIB, "ordinary memory");
	close_fd(&lie.descriptor);
	lie.descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
	must_not_import(&gpu, &lie, MIB, "/dev/null");
	close_fd(&lie.descriptor);
	lie = truth;
	lie.kind = (enum backend_export_kind)7;
	must_not_import(&gpu, &lie, MIB, "of no kind");
	/* The right values still work, in the same process, too. */
	cr_assert_eq(gpu.ops->memory_import(gpu.devices[0], &truth, MIB, &again, &fault), 0, "%s",
		     fault.text);
	cr_assert_lt(gpu.ops->memory_export(again, &lie, &fault), 0);
	gpu_write(&gpu, memory, 0, "the same", 9);
	char got[9];
	gpu_read(&gpu, again, 0, got, 9);
	cr_assert_str_eq(got, "the same");
	gpu.ops->memory_free(again);
	gpu.ops->memory_free(memory);
	close_fd(&truth.descriptor);
	gpu_close(&gpu);
}

Test(cuda_share, F10_lies_about_a_handle_are_refused)
{
	struct backend_shared_memory lie = {
		.kind = BACKEND_EXPORT_CUDA_IPC, .descriptor = -1, .size_bytes = 2 * MIB};
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	must_not_import(&gpu, &lie, MIB, "a handle of zeros");
	memset(lie.handle, 0xff, sizeof(lie.handle));
	must_not_import(&gpu, &lie, MIB, "a handle of ones");
	gpu_pattern(lie.handle, sizeof(lie.handle), 1);
	must_not_import(&gpu, &lie, MIB, "a handle of anything");
	struct backend_memory *memory = gpu_memory(&gpu, 0, MIB, BACKEND_EXPORT_NONE);
	struct backend_fault fault = {0};
	cr_assert_lt(gpu.ops->memory_export(memory, &lie, &fault), 0);
	cr_assert_eq(fault.status, STATUS_INVALID);
	gpu.ops->memory_free(memory);
	gpu_close(&gpu);
}

/* The real size decides, whatever the message contains. */
static void liar(int socket)
{
	struct backend_fault fault = {0};
	struct note note = {0};
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	struct backend_memory *memory = gpu_memory(&gpu, 0, MIB, BACKEND_EXPORT_CUDA_IPC);
	cr_assert_eq(gpu.ops->memory_export(memory, &note.shared, &fault), 0, "%s", fault.text);
	note.shared.size_bytes = 256 * MIB;
	send_note(socket, &note);
	(void)receive_word(socket);
	gpu.ops->memory_free(memory);
	gpu_close(&gpu);
}

Test(cuda_share, F10_the_size_of_a_handle_is_the_drivers)
{
	int socket = -1;
	pid_t pid = start_other(liar, &socket);
	struct note note;
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	receive_note(socket, &note);
	must_not_import(&gpu, &note.shared, 256 * MIB, "more than there is");
	send_word(socket, 1);
	end_other(pid, socket);
	gpu_close(&gpu);
}

/* It is another user's process from then on: the driver itself would open its handle. */
static void export_as_another_user(int socket)
{
	enum { ANOTHER = 65534 };
	struct backend_fault fault = {0};
	struct note note = {0};
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	struct backend_memory *memory = gpu_memory(&gpu, 0, MIB, BACKEND_EXPORT_CUDA_IPC);
	cr_assert_eq(gpu.ops->memory_export(memory, &note.shared, &fault), 0, "%s", fault.text);
	cr_assert_eq(setresuid(ANOTHER, ANOTHER, ANOTHER), 0);
	send_note(socket, &note);
	(void)receive_word(socket);
	gpu.ops->memory_free(memory);
	gpu_close(&gpu);
}

Test(cuda_share, F10_a_handle_of_another_user_is_refused)
{
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};
	struct note note;
	struct gpu gpu;
	int socket = -1;

	if (geteuid() != 0)
		cr_skip_test("SKIPPED: two users need root");
	pid_t pid = start_other(export_as_another_user, &socket);
	gpu_open(&gpu, NULL);
	receive_note(socket, &note);
	cr_assert_eq(gpu.ops->memory_import(gpu.devices[0], &note.shared, MIB, &memory, &fault),
		     -EACCES);
	cr_expect(strstr(fault.text, "another user"), "%s", fault.text);
	send_word(socket, 1);
	end_other(pid, socket);
	gpu_close(&gpu);
}

Test(cuda_share, what_a_device_cannot_share_is_said_clearly)
{
	const struct fake_cuda_control *fake = gpu_fake();
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};
	struct gpu gpu;

	if (!fake)
		cr_skip_test("only the driver's double can be set so");
	cr_assert_eq(fake->command("attribute 102 0"), 0); /* virtual memory management */
	gpu_open(&gpu, NULL);
	cr_assert_eq(gpu.ops->memory_create(gpu.devices[0], MIB, NULL, BACKEND_EXPORT_VMM, &memory,
					    &fault),
		     -ENOTSUP);
	cr_assert_eq(fault.status, STATUS_FEATURE_NOT_SUPPORTED);
	cr_assert_lt(gpu.ops->memory_create(gpu.devices[0], MIB, NULL, (enum backend_export_kind)5,
					    &memory, &fault),
		     0);
	gpu_close(&gpu);
}

static void record_or_wait(struct gpu *gpu, enum backend_command_kind kind,
			   struct backend_event *event, uint32_t lane)
{
	const struct backend_command command = {.kind = kind, .event = event};

	(void)gpu_submit(gpu, 0, lane, &command);
}

/* Waits on its GPU for the other process's work on its own. */
static void waiter(int socket)
{
	struct backend_event *event = NULL;
	struct backend_fault fault = {0};
	struct note note;
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	receive_note(socket, &note);
	cr_assert_eq(gpu.ops->event_open(gpu.devices[0], note.event, &event, &fault), 0, "%s",
		     fault.text);
	struct backend_memory *memory = import_from(&gpu, socket);
	unsigned char *pages = gpu_pages(MIB);
	struct backend_host *host = NULL;
	cr_assert_eq(gpu.ops->host_register(gpu.devices[0], pages, MIB, &host, &fault), 0, "%s",
		     fault.text);
	const struct backend_command read =
		gpu_transfer(BACKEND_COMMAND_READ, memory, 0, pages, MIB);
	record_or_wait(&gpu, BACKEND_COMMAND_EVENT_WAIT, event, 0);
	uint64_t sequence = gpu_submit(&gpu, 0, 0, &read);
	/* Only the event delays it here. */
	send_word(socket, gpu_is_done(&gpu, 0, 0, sequence) ? 7 : 1);
	gpu_wait(&gpu, 0, 0, sequence);
	cr_assert(gpu_is_all(pages, MIB, 0x66), "read before it was written");
	gpu.ops->event_free(event);
	gpu.ops->memory_free(memory);
	gpu.ops->host_unregister(host);
	(void)munmap(pages, MIB);
	gpu_close(&gpu);
}

Test(cuda_share, F10_an_event_is_waited_for_in_another_process)
{
	struct backend_event *event = NULL;
	struct backend_fault fault = {0};
	struct gpu_hold hold;
	struct note note = {0};
	int socket = -1;
	pid_t pid = start_other(waiter, &socket);
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	const struct cuda_library *cuda = &gpu.backend->library;
	struct backend_memory *memory = gpu_memory(&gpu, 0, MIB, BACKEND_EXPORT_VMM);
	cr_assert_eq(gpu.ops->event_create(gpu.devices[0], &event, note.event, &fault), 0, "%s",
		     fault.text);
	/* A kernel on a stream of the test delays the lane. */
	CUevent held = NULL;
	gpu_hold_start(&gpu, &hold);
	cr_assert_eq(cuda->cuEventCreate(&held, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
	cr_assert_eq(cuda->cuEventRecord(held, hold.stream), CUDA_SUCCESS);
	cr_assert_eq(cuda->cuStreamWaitEvent(gpu.lanes[0][0].lane->stream, held, 0), CUDA_SUCCESS);
	const struct backend_command fill = gpu_fill(memory, 0, MIB, "\x66", 1);
	(void)gpu_submit(&gpu, 0, 0, &fill);
	record_or_wait(&gpu, BACKEND_COMMAND_EVENT_RECORD, event, 0);
	send_note(socket, &note);
	export_to(&gpu, memory, socket);
	cr_assert_eq(receive_word(socket), 1, "the other did not wait");
	gpu_hold_end(&hold);
	gpu_wait(&gpu, 0, 0, gpu.lanes[0][0].sent);
	end_other(pid, socket);
	cr_assert_eq(cuda->cuEventDestroy(held), CUDA_SUCCESS);
	gpu.ops->event_free(event);
	gpu.ops->memory_free(memory);
	gpu_close(&gpu);
}

Test(cuda_share, F10_events_that_are_none_are_refused)
{
	struct backend_event *event = NULL;
	struct backend_fault fault = {0};
	uint8_t handle[64];
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	for (int i = 0; i < 2; i++) {
		memset(handle, i ? 0xff : 0, sizeof(handle));
		cr_assert_lt(gpu.ops->event_open(gpu.devices[0], handle, &event, &fault), 0);
		cr_assert_null(event);
		cr_assert_not(fault.device_lost, "%s", fault.text);
	}
	gpu.ops->event_free(NULL);
	const struct backend_command wait = {.kind = BACKEND_COMMAND_EVENT_WAIT};
	gpu_submit_fails(&gpu, 0, &wait, STATUS_INVALID);
	gpu_close(&gpu);
}
