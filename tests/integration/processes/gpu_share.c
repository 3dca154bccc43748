/*
 * Memory and events of an NVIDIA GPU between sessions, and between a session and a CUDA program
 * that is independent of this project (tests/gpu/native/importer.cu). Each of them dies at awkward
 * moments. On a machine without such a GPU the same runs on the double of the driver
 * (tests/support/fake_cuda), without either it is skipped.
 */
#include "processes/fake_service.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

TestSuite(processes_gpu_share, .timeout = 240);

enum { SIZE = 100000, HEX = 128, HAND_OVERS_FAKE = 100, HAND_OVERS_GPU = 10000 };

/* A process that executes orders, and the socket over which descriptors reach it. */
struct party {
	struct child child;
	int socket;
	char line[LINE_BYTES]; /* its last answer */
};

static struct {
	struct private_service *service;
	bool real; /* a GPU */
	struct party worker, second, program;
} test;

static bool exists(const char *folder, const char *name, char path[PATH_MAX])
{
	return build_path(folder, name, path, PATH_MAX) == 0 && access(path, X_OK) == 0;
}

/* Sends "NAME ARGUMENTS"; the answer is in `line`. */
__attribute__((format(printf, 2, 3))) static void send_and_read(struct party *party,
								const char *format, ...)
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

/* As above, and it answers "ok"; what follows that. */
#define ask(party, ...)                                                                            \
	__extension__({                                                                            \
		send_and_read(party, __VA_ARGS__);                                                 \
		cr_assert(strncmp((party)->line, "ok", 2) == 0, "%s", (party)->line);              \
		(party)->line + ((party)->line[2] ? 3 : 2);                                        \
	})

/* Sends the order, which fails with this code, or for another reason with this word. */
#define expect_refused(party, word, ...)                                                           \
	do {                                                                                       \
		send_and_read(party, __VA_ARGS__);                                                 \
		cr_expect(strncmp((party)->line, "result", 6) == 0 && strstr((party)->line, word), \
			  "%s", (party)->line);                                                    \
	} while (0)

/* One end for the test, the other one inherited under its own number. */
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

/* As that user; 0: as this one. */
static bool start_worker_of(struct party *party, unsigned uid)
{
	int end = make_socket(party);
	char number[16], user[16];
	(void)snprintf(number, sizeof(number), "%d", end);
	(void)snprintf(user, sizeof(user), "%u", uid);
	const char *const arguments[] = {"--count", number, uid ? "--uid" : NULL, user, NULL};
	worker_start_with(&party->child, NULL, test.service->endpoint, "share", arguments);
	(void)close(end);
	return ready(party);
}

static bool start_worker(struct party *party)
{
	return start_worker_of(party, 0);
}

static bool start_program(struct party *party)
{
	char path[PATH_MAX], number[16];
	cr_assert(exists("tests", test.real ? "share_importer" : "share_importer_fake", path));
	int end = make_socket(party);
	(void)snprintf(number, sizeof(number), "%d", end);
	const char *const argv[] = {path, number, NULL};
	cr_assert_eq(child_start(argv, NULL, &party->child), 0);
	(void)close(end);
	return ready(party);
}

static void end_party(struct party *party)
{
	child_end(&party->child);
	close_fd(&party->socket);
}

static bool has_gpu(void)
{
	char path[PATH_MAX];
	return exists("tests", "share_importer", path) && access("/dev/nvidiactl", F_OK) == 0;
}

/* The real driver where there is one, else its double: a service, a session and a CUDA program on
 * it. */
static bool start_on(bool real)
{
	char configuration[PATH_MAX + 64], path[PATH_MAX];
	test.real = real;
	if ((real && !has_gpu()) || (!real && !exists("tests", "share_importer_fake", path)))
		return false;
	if (!real && (build_path("tests", "fake_cuda/libcuda.so.1", path, sizeof(path)) < 0 ||
		      access(path, R_OK) < 0))
		return false;
	test.worker = test.second = test.program =
		(struct party){.child = CHILD_INIT, .socket = -1};
	if (real && !start_program(&test.program)) {
		end_party(&test.program);
		return false;
	}
	(void)snprintf(configuration, sizeof(configuration), "[cuda]\nlibrary = %s\n", path);
	test.service = processes_service(real ? NULL : configuration, false);
	cr_assert(start_worker(&test.worker), "the service shows no such GPU");
	cr_assert(real || start_program(&test.program));
	return true;
}

static void start_share_parties(void)
{
	if (!start_on(true) && !start_on(false))
		cr_skip_test("SKIPPED: neither an NVIDIA GPU nor the double of its driver");
}

static void stop(void)
{
	end_party(&test.worker);
	end_party(&test.second);
	end_party(&test.program);
	test.service = private_service_free(test.service);
}

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static void send_descriptor(struct party *to, int descriptor)
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

static int receive_descriptor(struct party *from)
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

/* The export of a session; the descriptor stays the test's. */
struct exported {
	char kind[8], hex[HEX + 1];
	unsigned long size, mapped;
	int descriptor;
};

static struct exported export_from(struct party *party)
{
	struct exported exported = {.descriptor = -1};
	const char *words = ask(party, "export");
	cr_assert_eq(sscanf(words, "%7s %lu %lu %128s", exported.kind, &exported.size,
			    &exported.mapped, exported.hex),
		     4, "%s", words);
	if (strcmp(exported.kind, "vmm") == 0)
		exported.descriptor = receive_descriptor(party);
	return exported;
}

static void import_into(struct party *worker, const struct exported *exported)
{
	if (exported->descriptor >= 0)
		send_descriptor(worker, exported->descriptor);
	(void)ask(worker, "import %s %lu %lu %s", exported->kind, exported->size, exported->mapped,
		  exported->hex);
}

static void open_in_program(const struct exported *exported)
{
	if (exported->descriptor < 0) {
		(void)ask(&test.program, "open-ipc %lu %s", exported->size, exported->hex);
		return;
	}
	send_descriptor(&test.program, exported->descriptor);
	(void)ask(&test.program, "open-vmm %lu %lu", exported->size, exported->mapped);
}

static struct exported make_and_export(const char *kind, unsigned value)
{
	(void)ask(&test.worker, "make %s %d %u", kind, SIZE, value);
	return export_from(&test.worker);
}

/* Nothing is charged to the session any more: a moment after it has released what it had. */
static bool is_charged_nothing(void *party)
{
	return strcmp(ask((struct party *)party, "usage"), "0") == 0;
}

static void to_a_program_and_back(const char *kind)
{
	struct exported exported = make_and_export(kind, 17);
	cr_expect(exported.mapped >= SIZE && exported.mapped % (2 << 20) == 0, "%lu",
		  exported.mapped);
	open_in_program(&exported);
	(void)ask(&test.program, "check 17");
	/* A second buffer was made right behind it: nothing of that, or of whoever had the memory
	 * before. */
	(void)ask(&test.program, "rest");
	(void)ask(&test.program, "fill 42");
	(void)ask(&test.program, "sync");
	(void)ask(&test.worker, "check 42");
	(void)ask(&test.worker, "fill 99");
	(void)ask(&test.program, "check 99");
	(void)ask(&test.worker, "write 7");
	(void)ask(&test.program, "check 7");
	(void)ask(&test.program, "rest");
	(void)ask(&test.program, "close");
	(void)ask(&test.worker, "check 7");
	(void)ask(&test.worker, "close");
	close_fd(&exported.descriptor);
}

Test(processes_gpu_share, F10_a_descriptor_shows_a_program_the_buffer_and_nothing_else,
     .init = start_share_parties, .fini = stop)
{
	to_a_program_and_back("vmm");
}

Test(processes_gpu_share, F10_a_handle_shows_a_program_the_buffer_and_nothing_else,
     .init = start_share_parties, .fini = stop)
{
	to_a_program_and_back("ipc");
}

/* The importer dies with the memory open, then another one comes, then the session goes. */
static void a_program_dies(const char *kind)
{
	struct exported exported = make_and_export(kind, 3);
	for (unsigned value = 4; value < 7; value++) {
		open_in_program(&exported);
		(void)ask(&test.program, "check %u", value - 1);
		(void)ask(&test.program, "fill %u", value);
		(void)ask(&test.program, "sync");
		end_party(&test.program);
		(void)ask(&test.worker, "check %u", value);
		cr_assert(start_program(&test.program));
	}
	(void)ask(&test.worker, "fill 8");
	open_in_program(&exported);
	(void)ask(&test.program, "check 8");
	(void)ask(&test.worker, "close");
	close_fd(&exported.descriptor);
}

Test(processes_gpu_share, F10_a_program_that_dies_with_a_descriptor_harms_nobody,
     .init = start_share_parties, .fini = stop)
{
	a_program_dies("vmm");
}

Test(processes_gpu_share, F10_a_program_that_dies_with_a_handle_harms_nobody,
     .init = start_share_parties, .fini = stop)
{
	a_program_dies("ipc");
}

/* Two sessions have one buffer; the first dies, the second one keeps it and exports it again. */
static void a_session_dies(const char *kind)
{
	struct exported exported = make_and_export(kind, 11);
	cr_assert(start_worker(&test.second));
	import_into(&test.second, &exported);
	(void)ask(&test.second, "check 11");
	(void)ask(&test.second, "fill 12");
	(void)ask(&test.worker, "check 12");
	(void)ask(&test.worker, "write 13");
	(void)ask(&test.second, "check 13");
	close_fd(&exported.descriptor);
	/* With work under way. */
	(void)ask(&test.worker, "fill-later 14");
	end_party(&test.worker);
	(void)ask(&test.second, "fill 15");
	(void)ask(&test.second, "check 15");
	exported = export_from(&test.second);
	open_in_program(&exported);
	(void)ask(&test.program, "check 15");
	close_fd(&exported.descriptor);
	(void)ask(&test.second, "close");
	cr_assert(wait_until(is_charged_nothing, &test.second, SOON));
}

Test(processes_gpu_share, F10_a_session_that_dies_leaves_its_descriptors_memory_to_the_others,
     .init = start_share_parties, .fini = stop)
{
	a_session_dies("vmm");
}

Test(processes_gpu_share, F10_a_session_that_dies_leaves_its_handles_memory_to_the_others,
     .init = start_share_parties, .fini = stop)
{
	a_session_dies("ipc");
}

/* Two sessions have one buffer; the first is killed while its host writes it, and the other's
 * groups go on, that wait and later ones. */
Test(processes_gpu_share, D8_F10_a_session_killed_while_it_holds_a_host_accessor_holds_nobody_up,
     .init = start_share_parties, .fini = stop)
{
	static const char *const kinds[] = {"vmm", "ipc"};
	for (int i = 0; i < 2; i++) {
		struct exported exported = make_and_export(kinds[i], 11);
		cr_assert(start_worker(&test.second));
		import_into(&test.second, &exported);
		(void)ask(&test.second, "check 11");
		(void)ask(&test.worker, "hold");
		(void)ask(&test.second, "fill-later 12");
		end_party(&test.worker);
		(void)ask(&test.second, "check 12");
		(void)ask(&test.second, "fill 13");
		(void)ask(&test.second, "write 14");
		(void)ask(&test.second, "check 14");
		(void)ask(&test.second, "close");
		cr_assert(wait_until(is_charged_nothing, &test.second, SOON));
		end_party(&test.second);
		close_fd(&exported.descriptor);
		cr_assert(start_worker(&test.worker));
	}
}

Test(processes_gpu_share, F10_the_memory_of_a_dead_engine_stays_with_a_program,
     .init = start_share_parties, .fini = stop)
{
	struct exported exported = make_and_export("vmm", 21);
	open_in_program(&exported);
	(void)ask(&test.program, "check 21");
	pid_t engine = processes_engine(test.service);
	test.service->faults = true;
	cr_assert_eq(kill(engine, SIGKILL), 0);
	cr_assert(wait_until(processes_gone, &engine, SOON));
	(void)ask(&test.program, "check 21");
	(void)ask(&test.program, "fill 22");
	(void)ask(&test.program, "check 22");
	/* The next engine takes it as another program's. */
	cr_assert(start_worker(&test.second));
	import_into(&test.second, &exported);
	(void)ask(&test.second, "check 22");
	(void)ask(&test.program, "close");
	(void)ask(&test.second, "fill 23");
	(void)ask(&test.second, "check 23");
	close_fd(&exported.descriptor);
}

/* Memory that a program has made. */
static struct exported make_in_program(const char *kind, unsigned value)
{
	struct exported exported = {.size = SIZE, .descriptor = -1};
	(void)snprintf(exported.kind, sizeof(exported.kind), "%s", kind);
	const char *words = ask(&test.program, "make-%s %d %u", kind, SIZE, value);
	memset(exported.hex, '0', HEX);
	cr_assert(sscanf(words, "%lu %128s", &exported.mapped, exported.hex) >= 1, "%s", words);
	if (strcmp(kind, "vmm") == 0)
		exported.descriptor = receive_descriptor(&test.program);
	return exported;
}

static void from_a_program(const char *kind)
{
	struct exported exported = make_in_program(kind, 31);
	import_into(&test.worker, &exported);
	(void)ask(&test.worker, "check 31");
	(void)ask(&test.worker, "fill 32");
	(void)ask(&test.program, "check 32");
	(void)ask(&test.program, "rest");
	(void)ask(&test.program, "fill 33");
	(void)ask(&test.program, "sync");
	(void)ask(&test.worker, "check 33");
	send_and_read(&test.worker, "export");
	cr_assert(strstr(test.worker.line, "SYCL_ERROR_INVALID"),
		  "it is the program's to export: %s", test.worker.line);
	(void)ask(&test.worker, "close");
	cr_assert(wait_until(is_charged_nothing, &test.worker, SOON));
	(void)ask(&test.program, "check 33");
	(void)ask(&test.program, "close");
	close_fd(&exported.descriptor);
}

Test(processes_gpu_share, F10_a_programs_descriptor_is_imported, .init = start_share_parties,
     .fini = stop)
{
	from_a_program("vmm");
}

Test(processes_gpu_share, F10_a_programs_handle_is_imported, .init = start_share_parties,
     .fini = stop)
{
	from_a_program("ipc");
}

Test(processes_gpu_share, F10_an_exporting_program_that_dies_harms_nobody,
     .init = start_share_parties, .fini = stop)
{
	struct exported exported = make_in_program("vmm", 41);
	import_into(&test.worker, &exported);
	end_party(&test.program);
	/* The descriptor and the mapping keep it. */
	(void)ask(&test.worker, "check 41");
	(void)ask(&test.worker, "fill 42");
	close_fd(&exported.descriptor);
	(void)ask(&test.worker, "check 42");
	(void)ask(&test.worker, "close");
	/* Once the owner of a handle has ended, only one thing is promised: no other process
	 * suffers. */
	cr_assert(start_program(&test.program));
	exported = make_in_program("ipc", 43);
	import_into(&test.worker, &exported);
	(void)ask(&test.worker, "check 43");
	end_party(&test.program);
	(void)ask(&test.worker, "close");
	(void)ask(&test.worker, "make vmm %d 44", SIZE);
	(void)ask(&test.worker, "check 44");
}

/* A name that is no memory, or has another size, is refused; the session, its buffer and its
 * neighbour stay. */
Test(processes_gpu_share, F10_forged_names_and_sizes_are_refused, .init = start_share_parties,
     .fini = stop)
{
	char zeroes[HEX + 1], forged[HEX + 1];
	memset(zeroes, '0', HEX);
	memset(forged, '7', HEX);
	zeroes[HEX] = forged[HEX] = '\0';
	struct exported exported = make_and_export("vmm", 51);
	cr_assert(start_worker(&test.second));

	send_and_read(&test.second, "import ipc %d %d %s", SIZE, 2 << 20, forged);
	cr_expect(strncmp(test.second.line, "result", 6) == 0, "%s", test.second.line);
	int ends[2];
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	send_descriptor(&test.second, ends[0]);
	expect_refused(&test.second, "SYCL_ERROR_INVALID", "import vmm %d %d %s", SIZE, 2 << 20,
		       zeroes);
	int memory = memfd_create("no device's", MFD_CLOEXEC);
	cr_assert_eq(ftruncate(memory, 2 << 20), 0);
	send_descriptor(&test.second, memory);
	send_and_read(&test.second, "import vmm %d %d %s", SIZE, 2 << 20, zeroes);
	cr_expect(strncmp(test.second.line, "result", 6) == 0, "%s", test.second.line);

	/* This engine's memory, said to be larger, smaller, or of another size beneath. */
	const unsigned long wrong[][2] = {{exported.size + 1, exported.mapped},
					  {exported.size - 1, exported.mapped},
					  {exported.size, exported.mapped * 2}};
	for (int i = 0; i < 3; i++) {
		send_descriptor(&test.second, exported.descriptor);
		expect_refused(&test.second, "SYCL_ERROR_INVALID", "import vmm %lu %lu %s",
			       wrong[i][0], wrong[i][1], zeroes);
	}
	/* Another program's, said to be larger. */
	struct exported foreign = make_in_program("vmm", 52);
	send_descriptor(&test.second, foreign.descriptor);
	send_and_read(&test.second, "import vmm %d %lu %s", SIZE, foreign.mapped * 2, zeroes);
	cr_expect(strncmp(test.second.line, "result", 6) == 0, "%s", test.second.line);

	cr_assert(wait_until(is_charged_nothing, &test.second, SOON));
	import_into(&test.second, &exported);
	(void)ask(&test.second, "check 51");
	(void)ask(&test.worker, "fill 53");
	(void)ask(&test.second, "check 53");
	(void)ask(&test.program, "check 52");
	close_fd(&ends[0]);
	close_fd(&ends[1]);
	close_fd(&memory);
	close_fd(&exported.descriptor);
	close_fd(&foreign.descriptor);
}

/* Each in turn changes the memory and records the event; the other one waits for that on the
 * device, not on the host. */
static void hand_over(int rounds)
{
	struct exported exported = make_and_export("vmm", 0);
	open_in_program(&exported);
	for (int i = 1; i <= rounds; i++) {
		unsigned mine = (unsigned)i % 127 * 2, yours = mine + 1;
		(void)ask(&test.worker, "fill-later %u", mine);
		(void)ask(&test.worker, "record");
		(void)ask(&test.program, "wait");
		(void)ask(&test.program, "check %u", mine);
		(void)ask(&test.program, "fill %u", yours);
		(void)ask(&test.program, "record");
		(void)ask(&test.worker, "wait");
		(void)ask(&test.worker, "check %u", yours);
	}
	close_fd(&exported.descriptor);
}

Test(processes_gpu_share, F10_a_sessions_event_hands_memory_over_many_times,
     .init = start_share_parties, .fini = stop)
{
	char hex[HEX + 1];
	(void)snprintf(hex, sizeof(hex), "%.128s", ask(&test.worker, "make-event"));
	(void)ask(&test.program, "open-event %s", hex);
	hand_over(test.real ? HAND_OVERS_GPU / 4 : HAND_OVERS_FAKE);
	(void)ask(&test.program, "close-event");
	(void)ask(&test.worker, "close-event");
}

Test(processes_gpu_share, F10_a_programs_event_hands_memory_over_many_times,
     .init = start_share_parties, .fini = stop)
{
	char hex[HEX + 1];
	(void)snprintf(hex, sizeof(hex), "%.128s", ask(&test.program, "make-event"));
	(void)ask(&test.worker, "open-event %s", hex);
	hand_over(test.real ? HAND_OVERS_GPU / 4 : HAND_OVERS_FAKE);
	(void)ask(&test.worker, "close-event");
	(void)ask(&test.program, "close-event");
}

/* The event that it has recorded may never happen: its driver decides. A session that waits for the
 * event may wait for ever, but no other does. */
Test(processes_gpu_share, F10_a_program_that_dies_before_its_event_happens_harms_nobody,
     .init = start_share_parties, .fini = stop)
{
	char hex[HEX + 1];
	struct exported exported = make_and_export("vmm", 81);
	(void)snprintf(hex, sizeof(hex), "%.128s", ask(&test.worker, "make-event"));
	(void)ask(&test.program, "open-event %s", hex);
	open_in_program(&exported);
	(void)ask(&test.program, "spin 600");
	(void)ask(&test.program, "record");
	(void)ask(&test.worker, "wait");
	end_party(&test.program);
	cr_assert_eq(child_say(&test.worker.child, "check 81"), 0);
	cr_assert(start_worker(&test.second));
	(void)ask(&test.second, "make vmm %d 82", SIZE);
	(void)ask(&test.second, "check 82");
	(void)ask(&test.second, "fill 83");
	(void)ask(&test.second, "check 83");
	int r = child_read_line(&test.worker.child, test.worker.line, sizeof(test.worker.line), 0);
	cr_log_info("who waits for a dead process' event %s",
		    r == 1 ? "goes on" : "goes on waiting");
	end_party(&test.worker);
	(void)ask(&test.second, "fill 84");
	(void)ask(&test.second, "check 84");
	test.service->faults = true;
	close_fd(&exported.descriptor);
}

Test(processes_gpu_share, F10_a_forged_event_is_refused, .init = start_share_parties, .fini = stop)
{
	char forged[HEX + 1];
	memset(forged, '7', HEX);
	forged[HEX] = '\0';
	send_and_read(&test.worker, "open-event %s", forged);
	cr_expect(strncmp(test.worker.line, "result", 6) == 0, "%s", test.worker.line);
	(void)ask(&test.worker, "make vmm %d 61", SIZE);
	(void)ask(&test.worker, "check 61");
}

static void share_once(const char *kind)
{
	struct exported exported = make_and_export(kind, 71);
	cr_assert(start_worker(&test.second));
	import_into(&test.second, &exported);
	open_in_program(&exported);
	(void)ask(&test.program, "check 71");
	(void)ask(&test.program, "close");
	close_fd(&exported.descriptor);
	(void)ask(&test.worker, "close");
	end_party(&test.second);
	cr_assert(private_service_wait_sessions(test.service, 1, SOON));
}

/* Free device memory as a bystander sees it; the engine gives it back soon after the last holder
 * has. */
static bool is_free_again(void *wanted)
{
	unsigned long free_bytes = strtoul(ask(&test.program, "free"), NULL, 10);
	return free_bytes >= *(const unsigned long *)wanted;
}

Test(processes_gpu_share, F10_what_was_shared_is_given_back, .init = start_share_parties,
     .fini = stop)
{
	share_once("vmm");
	share_once("ipc");
	cr_assert(wait_until(is_charged_nothing, &test.worker, SOON));
	unsigned long base_free = strtoul(ask(&test.program, "free"), NULL, 10);
	struct footprint base = footprint_take(processes_engine(test.service));
	for (int i = 0; i < 8; i++)
		share_once(i % 2 ? "ipc" : "vmm");
	cr_assert(wait_until(is_charged_nothing, &test.worker, SOON));
	footprint_expect(&base);
	cr_assert(wait_until(is_free_again, &base_free, SOON), "device memory is not given back");
}

/* ------------------------------------ between users ------------------------------------- */

enum { GRANTER = 64021, GUEST = 64022 };

static struct fake_service users = FAKE_SERVICE_INIT;

static void start_users(void)
{
	char path[PATH_MAX];
	if (geteuid() != 0)
		cr_skip_test("SKIPPED: two users need root; run the tests as root to see this one");
	test.real = has_gpu();
	if (!test.real && (build_path("tests", "fake_cuda/libcuda.so.1", path, sizeof(path)) < 0 ||
			   access(path, R_OK) < 0))
		cr_skip_test("SKIPPED: neither an NVIDIA GPU nor the double of its driver");
	test.worker = test.second = test.program =
		(struct party){.child = CHILD_INIT, .socket = -1};
	if (test.real) {
		test.service = processes_service(NULL, true);
	} else {
		fake_service_start(&users, "", "", true);
		test.service = users.service;
	}
	cr_assert(start_worker_of(&test.worker, GRANTER));
	cr_assert(start_worker_of(&test.second, GUEST));
	pid_t granter = private_service_engine(test.service, GRANTER),
	      guest = private_service_engine(test.service, GUEST);
	cr_assert(granter > 0 && guest > 0 && granter != guest, "engines %d and %d", (int)granter,
		  (int)guest);
}

static void stop_users(void)
{
	end_party(&test.worker);
	end_party(&test.second);
	if (test.real)
		test.service = private_service_free(test.service);
	else
		fake_service_end(&users);
}

/* The descriptor is all that it takes, and nothing else does: both read and write, one after the
 * other. */
Test(processes_gpu_share, F10_M10_a_descriptor_grants_another_user_the_buffer_and_nothing_else,
     .init = start_users, .fini = stop_users)
{
	struct exported exported = make_and_export("vmm", 21);
	import_into(&test.second, &exported);
	(void)ask(&test.second, "check 21");
	(void)ask(&test.second, "fill 22");
	(void)ask(&test.second, "check 22");
	(void)ask(&test.worker, "check 22");
	(void)ask(&test.worker, "write 23");
	(void)ask(&test.worker, "check 23");
	(void)ask(&test.second, "check 23");
	/* An imported buffer is a guest's: only its owner may export it. */
	expect_refused(&test.second, "INVALID", "export");
	close_fd(&exported.descriptor);
	/* Nothing takes back what was granted; the owner's own end is none of the guest's. */
	(void)ask(&test.worker, "close");
	cr_assert(wait_until(is_charged_nothing, &test.worker, SOON));
	(void)ask(&test.second, "check 23");
	(void)ask(&test.second, "fill 24");
	(void)ask(&test.second, "check 24");
	(void)ask(&test.second, "close");
	cr_assert(wait_until(is_charged_nothing, &test.second, SOON));
}

Test(processes_gpu_share,
     F10_N5_a_granter_that_dies_with_its_engine_leaves_the_memory_to_another_user,
     .init = start_users, .fini = stop_users)
{
	struct exported exported = make_and_export("vmm", 31);
	import_into(&test.second, &exported);
	close_fd(&exported.descriptor);
	(void)ask(&test.worker, "fill-later 32");
	pid_t engine = private_service_engine(test.service, GRANTER);
	cr_assert_eq(kill(engine, SIGKILL), 0);
	end_party(&test.worker);
	(void)ask(&test.second, "fill 33");
	(void)ask(&test.second, "check 33");
	(void)ask(&test.second, "close");
	cr_assert(wait_until(is_charged_nothing, &test.second, SOON));
}

Test(processes_gpu_share, F10_N5_a_guest_that_dies_with_its_engine_harms_the_granter_not,
     .init = start_users, .fini = stop_users)
{
	struct exported exported = make_and_export("vmm", 41);
	import_into(&test.second, &exported);
	(void)ask(&test.second, "fill-later 42");
	pid_t engine = private_service_engine(test.service, GUEST);
	cr_assert_eq(kill(engine, SIGKILL), 0);
	end_party(&test.second);
	(void)ask(&test.worker, "fill 43");
	(void)ask(&test.worker, "check 43");
	/* The descriptor is good for the next one. */
	cr_assert(start_worker_of(&test.second, GUEST));
	import_into(&test.second, &exported);
	(void)ask(&test.second, "check 43");
	close_fd(&exported.descriptor);
	(void)ask(&test.second, "close");
	(void)ask(&test.worker, "close");
}
