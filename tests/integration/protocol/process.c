/* The program sycl-engine with the fake devices. The test takes the place of the supervisor. */
#include "cleanup.h"
#include "flight_page.h"
#include "protocol/raw_client.h"
#include "status.h"

#include "control.pb-c.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

TestSuite(process, .timeout = 60);

static struct {
	pid_t pid;
	int pidfd, control, flight;
	struct decode_arena decode;
} engine;

/* Runs sycl-engine with these further arguments (NULL ends them) and a control socket as descriptor
 * 3. */
static void spawn(const char *const *more)
{
	int ends[2];
	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0));
	const char *arguments[16] = {SYCL_ENGINE_PROGRAM, "--control-fd", "3"};
	for (int i = 0; more && more[i]; i++)
		arguments[3 + i] = more[i];
	engine.pid = fork();
	if (engine.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (ends[1] == 3)
			(void)fcntl(3, F_SETFD, 0);
		else
			(void)dup2(ends[1], 3);
		(void)execv(SYCL_ENGINE_PROGRAM, (char *const *)(uintptr_t)arguments);
		_exit(127);
	}
	close_fd(&ends[1]);
	engine.control = ends[0];
	engine.flight = -1;
	engine.pidfd = (int)syscall(SYS_pidfd_open, engine.pid, 0);
	cr_assert(ge(int, engine.pidfd, 0));
	cr_assert(eq(int, decode_arena_init(&engine.decode, DECODE_BYTES_MAX), 0));
}

static void wait_readable(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	cr_assert(eq(int, poll(&poll_fd, 1, RAW_WAIT_MS), 1), "nothing came in time");
}

/* Returns the next message of the engine; NULL: it hung up. It is valid until the next call. */
static const Sycl__V1__Control *receive(void)
{
	CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
	ProtobufCMessage *message;
	wait_readable(engine.control);
	int r = message_receive(engine.control, &sycl__v1__control__descriptor, &engine.decode,
				&message, &fds, 0);
	cr_assert(ge(int, r, 0));
	if (r == 0)
		return NULL;
	const Sycl__V1__Control *control = (const Sycl__V1__Control *)message;
	if (control->body_case == SYCL__V1__CONTROL__BODY_READY)
		engine.flight = packet_fds_take(&fds, 0);
	return control;
}

static const Sycl__V1__Control *receive_kind(Sycl__V1__Control__BodyCase kind)
{
	const Sycl__V1__Control *control;
	do {
		control = receive();
		cr_assert(ne(ptr, (void *)(uintptr_t)control, NULL), "the engine hung up");
	} while (control->body_case != kind);
	return control;
}

static void start_engine_process(const char *const *more)
{
	spawn(more);
	const Sycl__V1__Control *control = receive();
	cr_assert(ne(ptr, (void *)(uintptr_t)control, NULL));
	cr_assert(eq(int, (int)control->body_case, SYCL__V1__CONTROL__BODY_READY));
	cr_assert(eq(u32, control->ready->pid, (uint32_t)engine.pid));
}

/* Waits for its end. Returns its exit status, or minus the signal. */
static int wait_end(void)
{
	wait_readable(engine.pidfd);
	int status;
	cr_assert(eq(int, waitpid(engine.pid, &status, 0), engine.pid));
	close_fd(&engine.control);
	close_fd(&engine.flight);
	close_fd(&engine.pidfd);
	decode_arena_fini(&engine.decode);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void send_control(Sycl__V1__Control *control, const int *fds, unsigned count)
{
	control->descriptor_count = count;
	cr_assert(eq(int, message_send(engine.control, &control->base, fds, count, 0), 0));
}

static void hand_off_as(struct raw_client *client, uint64_t session, pid_t peer, uid_t uid)
{
	int ends[2];
	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0));
	raw_init(client, ends[0]);
	Sycl__V1__SessionHandOff message = SYCL__V1__SESSION_HAND_OFF__INIT;
	message.session = session;
	message.pid = (uint32_t)peer;
	message.uid = uid;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_SESSION_HAND_OFF;
	control.session_hand_off = &message;
	int fds[2] = {ends[1], (int)syscall(SYS_pidfd_open, peer, 0)};
	cr_assert(ge(int, fds[1], 0));
	send_control(&control, fds, 2);
	close_fd(&fds[0]);
	close_fd(&fds[1]);
}

static void hand_off(struct raw_client *client, uint64_t session, pid_t peer)
{
	hand_off_as(client, session, peer, getuid());
}

static void send_stop(bool drain, uint64_t drain_ns)
{
	Sycl__V1__EngineStop stop = SYCL__V1__ENGINE_STOP__INIT;
	stop.drain = drain;
	stop.drain_ns = drain_ns;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_STOP;
	control.stop = &stop;
	send_control(&control, NULL, 0);
}

static const Sycl__V1__EngineReport *request_report(uint64_t request, bool discover)
{
	Sycl__V1__EngineReportRequest message = SYCL__V1__ENGINE_REPORT_REQUEST__INIT;
	message.request = request;
	message.discover = discover;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_REPORT_REQUEST;
	control.report_request = &message;
	send_control(&control, NULL, 0);
	const Sycl__V1__EngineReport *report = receive_kind(SYCL__V1__CONTROL__BODY_REPORT)->report;
	cr_assert(eq(u64, report->request, request));
	return report;
}

/* Start and end */

Test(process, wrong_arguments_are_refused)
{
	static const char *const wrong[][4] = {
		{"--uid", "5", NULL},
		{"--limit", "objects=x", NULL},
		{"--limit", "nothing=1", NULL},
		{"--nonsense", NULL},
		{"word", NULL},
		{"--standby", "somebody", NULL},
		{"--slice-us", "x", NULL},
		{"--slice-us", "1000001", NULL},
		{"--standby=any", "--uid=5", "--gid=5"},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		spawn(wrong[i]);
		cr_assert(eq(int, wait_end(), 2), "row %zu", i);
	}
}

Test(process, ready_comes_with_a_flight_page_that_can_only_be_read)
{
	start_engine_process(NULL);
	cr_assert(ge(int, engine.flight, 0));
	const struct flight_page *page =
		mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, engine.flight, 0);
	cr_assert(ne(ptr, (void *)(uintptr_t)page, MAP_FAILED));
	cr_assert(eq(u64, page->magic, FLIGHT_MAGIC));
	cr_assert(eq(u32, page->entry_count, FLIGHT_ENTRIES));
	cr_assert(
		eq(ptr,
		   mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, engine.flight, 0),
		   MAP_FAILED));
	(void)munmap((void *)(uintptr_t)page, sizeof(*page));
	send_stop(false, 0);
	cr_assert(eq(int, wait_end(), 0));
}

Test(process, TERM_ends_it_cleanly_also_after_devices_were_opened)
{
	start_engine_process(NULL);
	struct raw_client client;
	hand_off(&client, 1, getpid());
	raw_open(&client);
	/* All devices of this machine are listed, so each vendor's library has changed the signals
	 * as it does. */
	const Sycl__V1__EngineReport *report = request_report(1, true);
	uint32_t devices = (uint32_t)report->topology->n_devices;
	for (uint32_t i = 0; i < devices; i++) {
		(void)raw_context(&client, raw_id(OBJECT_CONTEXT, 2 * i), i);
		(void)raw_queue(&client, raw_id(OBJECT_QUEUE, 2 * i + 1),
				raw_id(OBJECT_CONTEXT, 2 * i), i, i, false);
		Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
		group.queue = raw_id(OBJECT_QUEUE, 2 * i + 1);
		group.group = 1;
		Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
		command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
		command.command_group = &group;
		(void)raw_send(&client, &command);
		cr_assert(eq(u32, raw_wait_slot(&client, i, 1), 0));
	}
	cr_assert(eq(int, kill(engine.pid, SIGTERM), 0));
	raw_wait_closed(&client);
	cr_assert(ne(ptr, strstr(client.error_text, "stopping"), NULL), "said: %s",
		  client.error_text);
	cr_assert(eq(int, wait_end(), 0));
	raw_fini(&client);
}

Test(process, a_stop_with_drain_waits_for_the_last_session)
{
	start_engine_process(NULL);
	struct raw_client client;
	hand_off(&client, 1, getpid());
	raw_open(&client);
	send_stop(true, 60000000000ull);
	for (int i = 0; i < 100; i++)
		raw_round_trip(&client);
	close_fd(&client.socket);
	cr_assert(eq(int, wait_end(), 0));
	raw_fini(&client);
}

Test(process, a_stop_with_drain_ends_the_sessions_when_its_time_is_over)
{
	start_engine_process(NULL);
	struct raw_client client;
	hand_off(&client, 1, getpid());
	raw_open(&client);
	send_stop(true, 50000000);
	raw_wait_closed(&client);
	cr_assert(eq(int, wait_end(), 0));
	raw_fini(&client);
}

Test(process, N5_sessions_go_on_when_the_supervisor_dies)
{
	start_engine_process(NULL);
	struct raw_client clients[2];
	for (int i = 0; i < 2; i++) {
		hand_off(&clients[i], (uint64_t)i + 1, getpid());
		raw_open(&clients[i]);
	}
	close_fd(&engine.control);
	for (int i = 0; i < 100; i++)
		raw_round_trip(&clients[0]);
	close_fd(&clients[0].socket);
	raw_round_trip(&clients[1]);
	close_fd(&clients[1].socket);
	cr_assert(eq(int, wait_end(), 0));
	raw_fini(&clients[0]);
	raw_fini(&clients[1]);
}

Test(process, N5_it_ends_with_a_supervisor_that_dies_while_nobody_is_served)
{
	start_engine_process(NULL);
	close_fd(&engine.control);
	cr_assert(eq(int, wait_end(), 0));
}

static void send_identity(const char *socket_path)
{
	uint8_t token[ENGINE_TOKEN_BYTES] = {1};
	Sycl__V1__EngineIdentity identity = SYCL__V1__ENGINE_IDENTITY__INIT;
	identity.token = (ProtobufCBinaryData){sizeof(token), token};
	identity.socket = (char *)(uintptr_t)socket_path;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_IDENTITY;
	control.identity = &identity;
	send_control(&control, NULL, 0);
}

/* The connection is closed with unread data. The engine then gets an error before the rest that it
 * could read. */
Test(process, N5_what_a_supervisor_sent_last_counts_though_it_died_with_something_unread)
{
	char folder[] = "/tmp/sycld-process-XXXXXX";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct raw_client client;
	int status;
	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/next.sock", folder);
	spawn(NULL);
	wait_readable(engine.control);
	cr_assert(eq(int, kill(engine.pid, SIGSTOP), 0));
	cr_assert(eq(int, waitpid(engine.pid, &status, WUNTRACED), engine.pid));
	cr_assert(WIFSTOPPED(status));
	send_identity(address.sun_path);
	hand_off(&client, 1, getpid());
	close_fd(&engine.control);
	cr_assert(eq(int, kill(engine.pid, SIGCONT), 0));
	raw_open(&client);
	raw_round_trip(&client);
	/* The engine has the path of the next service. */
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	cr_assert(eq(int, bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0));
	cr_assert(eq(int, listen(listener, 1), 0));
	wait_readable(listener);
	close_fd(&listener);
	(void)unlink(address.sun_path);
	(void)rmdir(folder);
	raw_fini(&client);
	cr_assert(eq(int, wait_end(), 0));
}

/* Sessions */

Test(process, N4_a_peer_that_died_is_noticed_while_another_process_holds_its_socket)
{
	start_engine_process(NULL);
	pid_t peer = fork();
	if (peer == 0) {
		(void)pause();
		_exit(0);
	}
	struct raw_client client;
	hand_off(&client, 7, peer);
	raw_open(&client);
	cr_assert(eq(int, kill(peer, SIGKILL), 0));
	const Sycl__V1__SessionState *state;
	do {
		state = receive_kind(SYCL__V1__CONTROL__BODY_SESSION_STATE)->session_state;
	} while (state->state != SYCL__V1__SESSION_STATE__STATE__STATE_CLOSED);
	cr_assert(eq(u64, state->session, 7));
	cr_assert(ne(ptr, strstr(state->reason, "process ended"), NULL), "said: %s", state->reason);
	(void)waitpid(peer, NULL, 0);
	raw_fini(&client);
	send_stop(false, 0);
	cr_assert(eq(int, wait_end(), 0));
}

Test(process, A17_A20_devices_are_asked_only_when_somebody_wants_them)
{
	start_engine_process(NULL);
	struct raw_client client;
	hand_off(&client, 3, getpid());
	raw_open(&client);
	raw_round_trip(&client);
	cr_assert(eq(ptr, request_report(1, false)->topology, NULL));
	raw_round_trip(&client);
	(void)raw_fake_device(&client);
	const Sycl__V1__EngineReport *report = request_report(2, false);
	cr_assert(ne(ptr, report->topology, NULL));
	cr_assert(eq(sz, report->n_sessions, 1));
	cr_assert(eq(u64, report->sessions[0]->session, 3));
	cr_assert(eq(str, report->sessions[0]->command, (char *)(uintptr_t) "raw client"));
	cr_assert(gt(u64, report->resident_bytes, 100000));
	cr_assert(gt(u32, report->descriptors, 5));
	cr_assert(gt(u32, report->mappings, 10));
	cr_assert(gt(u64, report->commands_decoded, 2));
	cr_assert(not(report->more));
	raw_fini(&client);
	send_stop(false, 0);
	cr_assert(eq(int, wait_end(), 0));
}

Test(process, a_report_of_many_sessions_comes_in_parts)
{
	enum { SESSIONS = 250 };
	start_engine_process(NULL);
	static struct raw_client clients[SESSIONS];
	for (uint64_t i = 0; i < SESSIONS; i++)
		hand_off(&clients[i], i + 1, getpid());
	static bool seen[SESSIONS + 1];
	const Sycl__V1__EngineReport *report = request_report(9, false);
	for (;;) {
		for (size_t i = 0; i < report->n_sessions; i++)
			seen[report->sessions[i]->session] = true;
		if (!report->more)
			break;
		report = receive_kind(SYCL__V1__CONTROL__BODY_REPORT)->report;
		cr_assert(eq(u64, report->request, 9));
	}
	for (int i = 1; i <= SESSIONS; i++)
		cr_assert(seen[i], "session %d", i);
	for (int i = 0; i < SESSIONS; i++)
		raw_fini(&clients[i]);
	send_stop(false, 0);
	cr_assert(eq(int, wait_end(), 0));
}

/* Privileges */

static uint64_t status_number(const char *field, int base)
{
	char path[64], line[256];
	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)engine.pid);
	FILE *file = fopen(path, "re");
	cr_assert(ne(ptr, file, NULL));
	uint64_t value = UINT64_MAX;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, field, strlen(field)) == 0)
			value = strtoull(line + strlen(field) + 1, NULL, base);
	}
	(void)fclose(file);
	return value;
}

/* Tries, as that user, to trace the engine and to read its memory and descriptors. 0: all attempts
 * fail. */
static int try_as(uid_t uid)
{
	pid_t child = fork();
	if (child == 0) {
		if (setgid(uid) < 0 || setuid(uid) < 0)
			_exit(9);
		char path[64];
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/3", (int)engine.pid);
		int result = ptrace(PTRACE_SEIZE, engine.pid, NULL, NULL) == 0 ? 1 : 0;
		result |= open(path, O_RDONLY) >= 0 ? 2 : 0;
		(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)engine.pid);
		result |= open(path, O_RDONLY) >= 0 ? 4 : 0;
		_exit(result);
	}
	int status;
	cr_assert(eq(int, waitpid(child, &status, 0), child));
	return WEXITSTATUS(status);
}

/* Sessions of one engine can share memory with each other, for example by cudaIpc handles. So it
 * stays in one uid. */
Test(process, a_session_of_another_uid_is_refused)
{
	start_engine_process(NULL);
	struct raw_client foreign, own;
	hand_off_as(&foreign, 1, getpid(), getuid() + 1);
	raw_wait_closed(&foreign);
	cr_assert(eq(int, foreign.error_code, STATUS_QUOTA));
	cr_assert(ne(ptr, strstr(foreign.error_text, "another user"), NULL), "said: %s",
		  foreign.error_text);
	hand_off(&own, 2, getpid());
	raw_open(&own);
	(void)raw_fake_device(&own);
	raw_fini(&own);
	raw_fini(&foreign);
	send_stop(false, 0);
	cr_assert(eq(int, wait_end(), 0));
}

/* The hard limit. */
static uint64_t memory_that_can_be_locked(void)
{
	struct rlimit limit;
	cr_assert(eq(int, prlimit(engine.pid, RLIMIT_MEMLOCK, NULL, &limit), 0));
	return limit.rlim_max;
}

Test(process, it_has_no_more_than_it_needs_of_the_kernel)
{
	start_engine_process(NULL);
	cr_expect(eq(u64, status_number("Seccomp:", 10), SECCOMP_MODE_FILTER));
}

/* The service manager's unit allows more than users have otherwise. */
static void needs_more_to_lock(void)
{
	const struct rlimit much = {64u << 20, 64u << 20};
	if (access("/dev/nvidiactl", F_OK) == 0)
		cr_skip_test("SKIPPED: NVIDIA's driver is here, which locks what users request");
	if (setrlimit(RLIMIT_MEMLOCK, &much) < 0)
		cr_skip_test("SKIPPED: this user may lock no more than an engine");
}

Test(process, it_can_lock_little_memory, .init = needs_more_to_lock)
{
	start_engine_process(NULL);
	cr_expect(le(u64, memory_that_can_be_locked(), 8u << 20));
}

/* Emptying it needs a right that root does not have everywhere. */
static void expect_no_bounding_set(void)
{
	if (prctl(PR_CAPBSET_READ, CAP_SETPCAP, 0, 0, 0) == 1)
		cr_expect(eq(u64, status_number("CapBnd:", 16), 0));
}

Test(process, as_root_it_becomes_its_tenant_for_good)
{
	static const char *const as_tenant[] = {"--uid", "54321", "--gid", "54321", NULL};
	if (getuid() != 0) {
		/* Without the right to change its uid it must not serve at all. */
		spawn(as_tenant);
		cr_assert(eq(int, wait_end(), 1));
		return;
	}
	start_engine_process(as_tenant);
	cr_assert(eq(u64, status_number("Uid:", 10), 54321));
	cr_assert(eq(u64, status_number("Gid:", 10), 54321));
	cr_assert(eq(u64, status_number("CapPrm:", 16), 0));
	cr_assert(eq(u64, status_number("CapEff:", 16), 0));
	expect_no_bounding_set();
	cr_assert(eq(u64, status_number("NoNewPrivs:", 10), 1));
	cr_assert(eq(int, try_as(54321), 0), "the tenant itself");
	cr_assert(eq(int, try_as(54322), 0), "another user");
	struct raw_client client;
	hand_off_as(&client, 1, getpid(), 54321);
	raw_open(&client);
	(void)raw_fake_device(&client);
	const Sycl__V1__EngineReport *report = request_report(1, false);
	cr_assert(gt(u32, report->descriptors, 5), "it can still count its own");
	raw_fini(&client);
	send_stop(false, 0);
	cr_assert(eq(int, wait_end(), 0));
}

/* The standby: started early, adopted later */

static void send_prepare(Sycl__V1__Backend backend, uint64_t devices)
{
	Sycl__V1__BackendDevices row = SYCL__V1__BACKEND_DEVICES__INIT, *rows[] = {&row};
	Sycl__V1__StandbyPrepare prepare = SYCL__V1__STANDBY_PREPARE__INIT;
	row.backend = backend;
	row.devices = devices;
	prepare.n_devices = devices ? 1 : 0;
	prepare.devices = rows;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_STANDBY_PREPARE;
	control.standby_prepare = &prepare;
	send_control(&control, NULL, 0);
}

static void send_adopt(bool change_user, uint32_t uid)
{
	Sycl__V1__EngineAdopt adopt = SYCL__V1__ENGINE_ADOPT__INIT;
	adopt.change_user = change_user;
	adopt.uid = adopt.gid = uid;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_ADOPT;
	control.adopt = &adopt;
	send_control(&control, NULL, 0);
}

static void stand_by(const char *whose)
{
	const char *const arguments[] = {"--standby", whose, NULL};
	spawn(arguments);
	send_prepare(SYCL__V1__BACKEND__BACKEND_UNSPECIFIED, 0);
	const Sycl__V1__Control *control = receive();
	cr_assert(ne(ptr, (void *)(uintptr_t)control, NULL));
	cr_assert(eq(int, (int)control->body_case, SYCL__V1__CONTROL__BODY_STANDBY_READY));
	cr_assert(eq(u32, control->standby_ready->pid, (uint32_t)engine.pid));
}

/* The session builds and runs like any other. */
static void must_serve(uid_t uid)
{
	struct raw_client client;
	cr_assert(eq(u32, receive_kind(SYCL__V1__CONTROL__BODY_READY)->ready->pid,
		     (uint32_t)engine.pid));
	hand_off_as(&client, 1, getpid(), uid);
	raw_open(&client);
	cr_assert(eq(ptr, request_report(1, false)->topology, NULL), "A17");
	(void)raw_fake_device(&client);
	raw_fini(&client);
	send_stop(false, 0);
	cr_assert(eq(int, wait_end(), 0));
}

Test(process, a_standby_becomes_an_engine_of_its_own_user)
{
	stand_by("own");
	send_adopt(false, 0);
	must_serve(getuid());
}

Test(process, a_standby_can_lock_little_memory, .init = needs_more_to_lock)
{
	stand_by("own");
	cr_expect(le(u64, memory_that_can_be_locked(), 8u << 20));
}

Test(process, as_root_a_standby_becomes_an_engine_of_any_user)
{
	if (getuid() != 0) {
		/* Without the right to change its uid there is no standby. */
		static const char *const any[] = {"--standby", "any", NULL};
		spawn(any);
		cr_assert(eq(int, wait_end(), 1));
		return;
	}
	stand_by("any");
	cr_assert(eq(u64, status_number("Uid:", 10), 0));
	cr_assert(eq(u64, status_number("CapEff:", 16), 0xc0),
		  "of root's capabilities only SETUID and SETGID");
	expect_no_bounding_set();
	cr_assert(eq(u64, status_number("NoNewPrivs:", 10), 1));
	send_adopt(true, 54321);
	(void)receive_kind(SYCL__V1__CONTROL__BODY_READY);
	cr_assert(eq(u64, status_number("Uid:", 10), 54321));
	cr_assert(eq(u64, status_number("Gid:", 10), 54321));
	cr_assert(eq(u64, status_number("Seccomp:", 10), SECCOMP_MODE_FILTER));
	cr_assert(eq(u64, status_number("CapPrm:", 16), 0));
	cr_assert(eq(u64, status_number("CapEff:", 16), 0));
	expect_no_bounding_set();
	cr_assert(eq(int, try_as(54321), 0), "its user");
	cr_assert(eq(int, try_as(54322), 0), "another user");
	struct raw_client client;
	hand_off_as(&client, 1, getpid(), 54321);
	raw_open(&client);
	(void)raw_fake_device(&client);
	raw_fini(&client);
	send_stop(false, 0);
	cr_assert(eq(int, wait_end(), 0));
}

Test(process, N5_a_standby_ends_with_its_supervisor_and_when_it_is_told)
{
	stand_by("own");
	cr_assert(eq(int, shutdown(engine.control, SHUT_RDWR), 0));
	cr_assert(eq(int, wait_end(), 0));
	stand_by("own");
	send_stop(false, 0);
	cr_assert(eq(int, wait_end(), 0));
	stand_by("own");
	cr_assert(eq(int, kill(engine.pid, SIGTERM), 0));
	cr_assert(eq(int, wait_end(), -SIGTERM));
}

/* The engine has one user, and does nothing without a request. */
Test(process, a_standby_takes_only_what_is_for_one)
{
	struct raw_client client;
	stand_by("own");
	hand_off(&client, 1, getpid());
	cr_assert(eq(int, wait_end(), 1), "a session before it has a user");
	raw_fini(&client);
	stand_by("own");
	cr_assert(eq(long, send(engine.control, "\xff\xff\xff", 3, MSG_NOSIGNAL), 3));
	cr_assert(eq(int, wait_end(), 1), "no message");
	stand_by("own");
	send_adopt(true, 54321);
	cr_assert(eq(int, wait_end(), 1),
		  "another user, although it was said that it keeps its own");
	stand_by("own");
	send_prepare((Sycl__V1__Backend)200, 1);
	cr_assert(eq(int, wait_end(), 1), "an unknown backend");
	stand_by("own");
	send_prepare(SYCL__V1__BACKEND__BACKEND_FAKE, 1);
	cr_assert(eq(int, wait_end(), 5), "a backend that can do nothing ahead");
}

/* No descriptors left */

Test(process, without_descriptors_a_session_is_refused_and_later_ones_are_served)
{
	enum { SESSIONS = 24, DESCRIPTORS = 40 };
	static struct raw_client clients[SESSIONS + 1];
	start_engine_process(NULL);
	const struct rlimit limit = {DESCRIPTORS, DESCRIPTORS};
	cr_assert(eq(int, prlimit(engine.pid, RLIMIT_NOFILE, &limit, NULL), 0));
	for (unsigned i = 0; i < SESSIONS; i++)
		hand_off(&clients[i], i + 1, getpid());
	/* Silent clients use two each. A client that finds no room gets that error. */
	raw_wait_closed(&clients[SESSIONS - 1]);
	cr_assert(eq(int, clients[SESSIONS - 1].error_code, STATUS_QUOTA));
	cr_assert(ne(ptr, strstr(clients[SESSIONS - 1].error_text, "descriptors"), NULL));
	cr_assert(le(u32, (uint32_t)request_report(1, false)->n_sessions, SESSIONS));

	for (unsigned i = 0; i < SESSIONS; i++)
		raw_fini(&clients[i]);
	for (uint64_t request = 2; request_report(request, false)->n_sessions > 0; request++)
		;
	hand_off(&clients[SESSIONS], SESSIONS + 1, getpid());
	raw_open(&clients[SESSIONS]);
	raw_round_trip(&clients[SESSIONS]);
	raw_fini(&clients[SESSIONS]);
	send_stop(false, 0);
	cr_assert(eq(int, wait_end(), 0));
}
