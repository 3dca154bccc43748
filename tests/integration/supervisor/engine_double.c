/*
 * Takes the place of sycl-engine in tests of the supervisor. It uses control.proto and can
 * misbehave. The end of its name, behind "engine-", selects how:
 *
 *   double       is correct: welcomes clients, answers reports, ends on request
 *   exits        exits with 7 at once
 *   unready      never reports that it is ready
 *   garbage      sends bytes that are no message
 *   flood        is ready, then sends messages without a request
 *   silent       is ready, never answers a report request
 *   stubborn     is ready, does not end on request
 *   endless      sends a report without an end
 *   juggler      sends two reports without an end, a part of each in turn
 *   crowd        reports more devices than there can be
 *   teller       sends a trace without an end
 *   hoarder      always has more of a trace, and sends as much as is requested
 *   promiser     always has more of a trace, and sends nothing
 *   chatter      answers other requests with a trace, without an end
 *   repeater     reports each session twice
 *   knower       reports a device without a request to look for one
 *   liar         the same, and each process reports other facts of it
 *   weighty      reports as much as fits, about sessions that it does not have
 *   braggart     claims to have used all time of its devices, and more
 *
 * and, if it looks for the next service when its own has ended:
 *
 *   returns      is correct: continues as before
 *   forger       with another token
 *   pretender    with a session that it did not have
 *   doubler      with a session twice
 *   collector    with sessions that it has reported as closed
 *   newer        as one of a later release
 *   older        as one of another release with the same protocol
 *   pageless     with another file for a flight page
 *   mumbler      with bytes that are no message
 *   waverer      hangs up instead, each time
 *
 * and, if it misbehaves only as the standby:
 *
 *   unable       exits with 12 at once
 *   useless      reports that nothing can be prepared
 *   outdated     is of another version
 *   unwilling    exits when it is adopted
 *   undecided    does nothing when it is adopted
 *   forbidden    reports that its user may not use its devices
 *
 * A client may send a word after its hello. Those with * are answered by a Wake:
 *
 *   crash        writes an entry into the flight page, then SIGSEGV
 *   crash2       the same with two entries
 *   frame        the same with one entry, of the session before its own
 *   abort        an assertion fails, with two entries in the flight page
 *   heap         the C library ends it, with an entry
 *   lose         writes an entry and a fault, hangs up on all peers, and stays
 *   open *       has one more device open
 *   reopen       reports that a hundred times
 *   want         reports a hundred times that it needs a device
 *   hold N *     has N MiB of a device of 64 MiB, or of N, from now on
 *   need N       requests N MiB of that; the answer is a welcome with the MiB that others freed
 *   keep *       frees nothing from now on, and reports that
 *   boast *      frees nothing from now on, and reports that it has
 *   mute *       replies to no request for memory from now on
 *   stall *      the same, but reports its memory
 *   nag          requests memory a thousand times without waiting for an answer
 *   volunteer    reports its memory a hundred times
 *   breed        starts processes that outlive it, and answers with their numbers
 *   lie *        claims as much of devices' time as it can
 *   harm *       exits if it could damage the pages for that
 *   ping *       nothing else
 *   speak *      writes a line into its log
 *   shout *      writes very many
 */
#include "supervisor/engine_double.h"

#include "cleanup.h"
#include "control.pb-c.h"
#include "flight_page.h"
#include "memory_region.h"
#include "packet.h"
#include "session.pb-c.h"
#include "share_page.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct engine_double me = {.control = 3, .manner = "double", .giving = "", .grants = -1};

bool manner(const char *name)
{
	return !strcmp(me.manner, name);
}

void say(Sycl__V1__Control *control, const int *fds, unsigned count)
{
	control->descriptor_count = count;
	if (me.control < 0)
		return;
	if (message_send(me.control, &control->base, fds, count, 0) < 0)
		exit(3);
}

static void say_ready(void)
{
	struct memory_region *flight;
	if (memory_region_create_published("flight", sizeof(struct flight_page), &flight) < 0)
		exit(4);
	me.flight = flight;
	Sycl__V1__EngineReady ready = SYCL__V1__ENGINE_READY__INIT;
	ready.pid = (uint32_t)getpid();
	ready.version = (char *)(uintptr_t)SYCLD_VERSION;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_READY;
	control.ready = &ready;
	say(&control, &flight->fd, 1);
}

static void say_state(uint64_t session, Sycl__V1__SessionState__State what)
{
	Sycl__V1__SessionState state = SYCL__V1__SESSION_STATE__INIT;
	state.session = session;
	state.state = what;
	state.command = (char *)(uintptr_t) "double\033[31mclient\xff";
	state.reason = (char *)(uintptr_t) "hung up";
	Sycl__V1__DeviceUsage *devices[CLAIMS_MAX];
	state.devices = devices;
	state.n_devices =
		what == SYCL__V1__SESSION_STATE__STATE__STATE_CLOSED ? claims(devices) : 0;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_SESSION_STATE;
	control.session_state = &state;
	say(&control, NULL, 0);
}

/* Facts of this process for the tests: uid, names in the environment, and its descriptors above 3
 * at the start. */
static char facts[FACTS_BYTES];

static void collect_facts(unsigned long warm, long prepared)
{
	int length = snprintf(facts, sizeof(facts),
			      "pid=%ld uid=%ld gid=%ld warm=%lu prepared=%ld env=", (long)getpid(),
			      (long)getuid(), (long)getgid(), warm, prepared);
	for (char **entry = environ; *entry && length < FACTS_BYTES - 128; entry++)
		length += snprintf(facts + length, sizeof(facts) - (size_t)length, "%.*s,",
				   (int)strcspn(*entry, "="), *entry);
	DIR *open_fds = opendir("/proc/self/fd");
	length += snprintf(facts + length, sizeof(facts) - (size_t)length, " fds=");
	const struct dirent *entry;
	while (open_fds && (entry = readdir(open_fds)))
		if (entry->d_name[0] != '.' && strtol(entry->d_name, NULL, 10) != dirfd(open_fds))
			length += snprintf(facts + length, sizeof(facts) - (size_t)length, "%s,",
					   entry->d_name);
	if (open_fds)
		(void)closedir(open_fds);
}

static void welcome(int socket, uint64_t session)
{
	Sycl__V1__Welcome message = SYCL__V1__WELCOME__INIT;
	message.session = session;
	message.service_version = facts;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_WELCOME;
	packet.welcome = &message;
	(void)message_send(socket, &packet.base, NULL, 0, MSG_DONTWAIT);
}

void send_wake(int socket)
{
	Sycl__V1__Wake message = SYCL__V1__WAKE__INIT;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_WAKE;
	packet.wake = &message;
	(void)message_send(socket, &packet.base, NULL, 0, MSG_DONTWAIT);
}

static void say_devices(uint64_t devices)
{
	Sycl__V1__BackendDevices row = SYCL__V1__BACKEND_DEVICES__INIT, *rows[] = {&row};
	row.backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	row.devices = devices;
	Sycl__V1__DevicesInUse in_use = SYCL__V1__DEVICES_IN_USE__INIT;
	in_use.n_devices = 1;
	in_use.devices = rows;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_DEVICES_IN_USE;
	control.devices_in_use = &in_use;
	say(&control, NULL, 0);
}

static void open_device(int socket)
{
	static uint64_t open;
	open = open << 1 | 1;
	say_devices(open);
	send_wake(socket);
}

static void say_wants(uint32_t watch)
{
	Sycl__V1__EngineWants wants = SYCL__V1__ENGINE_WANTS__INIT;
	wants.watch = watch;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_WANTS;
	control.wants = &wants;
	say(&control, NULL, 0);
}

static void obey(void);

/* Its pages may still be behind other messages, at most as many as fit. */
static void lie(void)
{
	struct pollfd control = {.fd = me.control, .events = POLLIN};
	while (!me.claims) {
		if (me.control < 0 || poll(&control, 1, -1) < 0)
			exit(14);
		obey();
	}
	memset(me.claims->address, 0xff, sizeof(struct share_claims));
	say_wants(0);
}

static void put_in_flight(unsigned index, uint64_t session)
{
	struct flight_page *page = me.flight->address;
	struct flight_entry *entry = &page->entries[index];
	entry->queue = 2;
	entry->group = 40 + index;
	(void)snprintf(entry->what, sizeof(entry->what), "doomed_kernel");
	atomic_store(&entry->session, session);
}

static void crash(unsigned entries, uint64_t session)
{
	for (unsigned i = 0; i < entries; i++)
		put_in_flight(i * 7, session);
	(void)signal(SIGSEGV, SIG_DFL);
	(void)raise(SIGSEGV);
}

/* Prints a line; one that does not fit is lost. */
static void say_line(const char *line)
{
	ssize_t written = write(STDERR_FILENO, line, strlen(line));
	(void)written;
}

enum { HOARD_MAX = 8 };

static Sycl__V1__SessionHandOff hoard[HOARD_MAX];
static unsigned hoard_count;

static void end_session(unsigned i)
{
	say_state(me.sessions[i].id, SYCL__V1__SESSION_STATE__STATE__STATE_CLOSED);
	if (manner("collector") && hoard_count < HOARD_MAX)
		hoard[hoard_count++] = me.sessions[i].hand_off;
	close_fd(&me.sessions[i].socket);
	me.sessions[i] = me.sessions[--me.count];
}

/* Acts as if a device had failed for good; its driver keeps the process for long. */
static void lose(uint64_t session)
{
	struct flight_page *page = me.flight->address;
	put_in_flight(0, session);
	page->fault.native_code = 700;
	(void)snprintf(page->fault.text, sizeof(page->fault.text), "the device failed");
	page->open_devices = 5;
	atomic_store(&page->fault.known, 1);
	(void)shutdown(me.control, SHUT_RDWR);
	for (unsigned i = 0; i < me.count; i++)
		(void)shutdown(me.sessions[i].socket, SHUT_RDWR);
	for (;;)
		(void)pause();
}

/* Ends by itself and writes down why, while a command runs. */
static void give_up(uint64_t session)
{
	struct flight_page *page = me.flight->address;
	put_in_flight(0, session);
	(void)snprintf(page->fault.text, sizeof(page->fault.text), "it cannot be safe");
	atomic_store(&page->fault.known, FLIGHT_FAULT_ABORTED);
	_exit(1);
}

/* Makes a child in its own session, and one whose parent has ended. The first ends no sooner than
 * the client's hang-up. */
static void breed(int socket)
{
	pid_t pids[2] = {0};
	int pipes[2];
	if (pipe(pipes) < 0)
		exit(16);
	pids[0] = fork();
	if (pids[0] == 0) {
		(void)setsid();
		pid_t grandchild = fork();
		if (grandchild != 0)
			(void)!write(pipes[1], &grandchild, sizeof(grandchild));
		for (;;)
			(void)pause();
	}
	if (read(pipes[0], &pids[1], sizeof(pids[1])) != sizeof(pids[1]))
		exit(17);
	(void)snprintf(facts, sizeof(facts), "child=%ld grandchild=%ld", (long)pids[0],
		       (long)pids[1]);
	welcome(socket, 0);
}

/* Executes the word that a client sent after its hello. */
static void run_word(unsigned i, const char *text)
{
	if (!strcmp(text, "crash")) {
		crash(1, me.sessions[i].id);
	} else if (!strcmp(text, "crash2")) {
		crash(2, me.sessions[i].id);
	} else if (!strcmp(text, "frame")) {
		crash(1, me.sessions[i].id - 1);
	} else if (!strcmp(text, "abort")) {
		put_in_flight(0, me.sessions[i].id);
		put_in_flight(7, me.sessions[i].id);
		say_line("clEnqueue.c:12: f: Assertion `found->ref_count > 0' failed.\n");
		abort();
	} else if (!strcmp(text, "give up")) {
		give_up(me.sessions[i].id);
	} else if (!strcmp(text, "heap")) {
		put_in_flight(0, me.sessions[i].id);
		say_line("free(): invalid pointer\n");
		abort();
	} else if (!strcmp(text, "speak")) {
		say_line("a \033[31mred\033[0m word\n");
		send_wake(me.sessions[i].socket);
	} else if (!strcmp(text, "shout")) {
		for (int times = 0; times < 100000; times++)
			say_line("one of very many lines, each of which is of some length\n");
		send_wake(me.sessions[i].socket);
	} else if (!strcmp(text, "lose")) {
		lose(me.sessions[i].id);
	} else if (!strcmp(text, "breed")) {
		breed(me.sessions[i].socket);
	} else if (!strcmp(text, "open")) {
		open_device(me.sessions[i].socket);
	} else if (!strcmp(text, "reopen")) {
		for (int times = 0; times < 100; times++)
			say_devices(1);
	} else if (!strcmp(text, "want")) {
		for (uint32_t times = 0; times < 100; times++)
			say_wants(times);
	} else if (!strcmp(text, "lie")) {
		lie();
		send_wake(me.sessions[i].socket);
	} else if (run_memory_word(me.sessions[i].socket, text)) {
		return;
	} else if (!strcmp(text, "harm") && (me.grants < 0 || me.harmed > 0)) {
		exit(15);
	} else {
		send_wake(me.sessions[i].socket);
	}
}

/* Returns false if the session has ended and another one is in its place. */
static bool serve_session(unsigned i)
{
	char text[4096];
	struct packet_fds fds = PACKET_FDS_INIT;
	ssize_t size = packet_socket_receive(me.sessions[i].socket, text, sizeof(text) - 1, &fds,
					     MSG_DONTWAIT);
	if (size == -EAGAIN)
		return true;
	packet_fds_close(&fds);
	if (size <= 0) {
		end_session(i);
		return false;
	}
	text[size] = '\0';
	if (!me.sessions[i].welcomed) {
		me.sessions[i].welcomed = true;
		say_state(me.sessions[i].id, SYCL__V1__SESSION_STATE__STATE__STATE_OPEN);
		welcome(me.sessions[i].socket, me.sessions[i].id);
	} else {
		run_word(i, text);
	}
	return true;
}

static void take_session(const Sycl__V1__SessionHandOff *hand_off, struct packet_fds *fds)
{
	if (me.count == SESSIONS_MAX)
		exit(5);
	me.sessions[me.count].id = hand_off->session;
	me.sessions[me.count].hand_off = *hand_off;
	me.sessions[me.count].welcomed = me.sessions[me.count].paused = false;
	me.sessions[me.count++].socket = packet_fds_take(fds, 0);
}

static bool comes_back(void)
{
	static const char *const manners[] = {"returns", "forger",   "pretender", "doubler",
					      "newer",   "older",    "pageless",  "mumbler",
					      "waverer", "collector"};
	for (size_t i = 0; i < sizeof(manners) / sizeof(*manners); i++)
		if (manner(manners[i]))
			return true;
	return false;
}

static void say_ended(int socket, const char *reason)
{
	char text[256];
	Sycl__V1__SessionError error = SYCL__V1__SESSION_ERROR__INIT;
	(void)snprintf(text, sizeof(text), "ended by the operator: %s", reason);
	error.code = -1;
	error.text = text;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_ERROR;
	packet.error = &error;
	(void)message_send(socket, &packet.base, NULL, 0, MSG_DONTWAIT);
}

static void take_order(const Sycl__V1__SessionOrder *order)
{
	for (unsigned i = me.count; i-- > 0;) {
		if (order->session != 0 && order->session != me.sessions[i].id)
			continue;
		if (order->act == SYCL__V1__SESSION_ORDER__ACT__ACT_END) {
			say_ended(me.sessions[i].socket, order->reason);
			end_session(i);
		} else if (order->act != SYCL__V1__SESSION_ORDER__ACT__ACT_LIMIT) {
			me.sessions[i].paused =
				order->act == SYCL__V1__SESSION_ORDER__ACT__ACT_PAUSE;
		}
	}
}

static void take_identity(const Sycl__V1__EngineIdentity *identity)
{
	if (!comes_back() || identity->token.len != sizeof(me.token))
		return;
	memcpy(me.token, identity->token.data, sizeof(me.token));
	(void)snprintf(me.successor, sizeof(me.successor), "%s", identity->socket);
}

static void come_back(bool page_wanted)
{
	Sycl__V1__ReturnedSession rows[SESSIONS_MAX + HOARD_MAX], *list[SESSIONS_MAX + HOARD_MAX];
	Sycl__V1__EngineReturn message = SYCL__V1__ENGINE_RETURN__INIT;
	message.protocol = CONTROL_PROTOCOL + manner("newer");
	message.version =
		(char *)(uintptr_t)(manner("newer") || manner("older") ? "9.8.7" : SYCLD_VERSION);
	me.token[0] ^= manner("forger");
	message.token = (ProtobufCBinaryData){sizeof(me.token), me.token};
	message.sessions = list;
	for (unsigned i = 0; i < me.count; i++) {
		sycl__v1__returned_session__init(&rows[i]);
		rows[i].hand_off = &me.sessions[i].hand_off;
		rows[i].hand_off->session += manner("pretender");
		rows[i].open = me.sessions[i].welcomed;
		rows[i].command = (char *)(uintptr_t) "re\033[31mturned";
		list[message.n_sessions++] = &rows[i];
	}
	if (manner("doubler") && me.count)
		list[message.n_sessions++] = &rows[0];
	for (unsigned i = 0; i < hoard_count; i++) {
		Sycl__V1__ReturnedSession *row = &rows[message.n_sessions];
		sycl__v1__returned_session__init(row);
		row->hand_off = &hoard[i];
		list[message.n_sessions++] = row;
	}
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_ENGINE_RETURN;
	control.engine_return = &message;
	int page = manner("pageless") || !me.flight ? STDERR_FILENO : me.flight->fd;
	if (manner("mumbler"))
		(void)send(me.control, "\xff\xff\xff\xff", 4, MSG_NOSIGNAL);
	else
		say(&control, &page, page_wanted);
}

static void go_on(struct packet_fds *fds)
{
	CLEANUP(close_fd) int log = packet_fds_take(fds, 0);
	me.draining = false;
	if (log >= 0 && dup2(log, STDERR_FILENO) < 0)
		exit(16);
}

static void look_for_successor(void)
{
	if (me.control < 0 && me.successor[0] &&
	    packet_socket_connect(me.successor, &me.control) < 0)
		me.control = -1;
}

static void obey(void)
{
	ProtobufCMessage *message = NULL;
	struct packet_fds fds = PACKET_FDS_INIT;
	int r = message_receive(me.control, &sycl__v1__control__descriptor, &me.arena, &message,
				&fds, MSG_DONTWAIT);
	if (r == -EAGAIN)
		return;
	if (r <= 0) { /* the supervisor has ended: continue for the open sessions */
		close_fd(&me.control);
		me.draining = true;
		return;
	}
	const Sycl__V1__Control *control = (const Sycl__V1__Control *)message;
	if (control->body_case == SYCL__V1__CONTROL__BODY_IDENTITY)
		take_identity(control->identity);
	else if (control->body_case == SYCL__V1__CONTROL__BODY_GREETING && manner("waverer"))
		close_fd(&me.control);
	else if (control->body_case == SYCL__V1__CONTROL__BODY_GREETING)
		come_back(control->greeting->wants_page);
	else if (control->body_case == SYCL__V1__CONTROL__BODY_TAKEN && *control->taken->refused)
		me.successor[0] = '\0';
	else if (control->body_case == SYCL__V1__CONTROL__BODY_TAKEN)
		go_on(&fds);
	else if (control->body_case == SYCL__V1__CONTROL__BODY_ORDER && !manner("stubborn"))
		take_order(control->order);
	else if (control->body_case == SYCL__V1__CONTROL__BODY_DIVISION)
		take_division(&fds);
	else if (control->body_case == SYCL__V1__CONTROL__BODY_MEMORY_REQUEST)
		give_memory(control->memory_request);
	else if (control->body_case == SYCL__V1__CONTROL__BODY_MEMORY_ANSWER)
		welcome(me.needing, control->memory_answer->bytes / MIB);
	else if (control->body_case == SYCL__V1__CONTROL__BODY_SESSION_HAND_OFF)
		take_session(control->session_hand_off, &fds);
	else if (control->body_case == SYCL__V1__CONTROL__BODY_REPORT_REQUEST && manner("chatter"))
		send_trace_part(control->report_request->request, 0);
	else if (control->body_case == SYCL__V1__CONTROL__BODY_REPORT_REQUEST && manner("juggler"))
		report_in_turn(control->report_request->request);
	else if (control->body_case == SYCL__V1__CONTROL__BODY_REPORT_REQUEST && !manner("silent"))
		report(control->report_request->request, control->report_request->discover);
	else if (control->body_case == SYCL__V1__CONTROL__BODY_TRACE_REQUEST &&
		 control->trace_request->trace && !manner("silent"))
		send_trace_part(control->trace_request->request,
				manner("hoarder") ? control->trace_request->most : 0);
	else if (control->body_case == SYCL__V1__CONTROL__BODY_STOP && !manner("stubborn")) {
		me.draining = true;
		while (!control->stop->drain && me.count)
			end_session(0);
	}
	packet_fds_close(&fds);
}

static void turn_double(void)
{
	struct pollfd polls[SESSIONS_MAX + 1];
	polls[0] = (struct pollfd){.fd = me.control, .events = POLLIN};
	for (unsigned i = 0; i < me.count; i++)
		polls[i + 1] = (struct pollfd){.fd = me.sessions[i].socket, .events = POLLIN};
	if (poll(polls, me.count + 1, me.control < 0 && me.successor[0] ? 5 : -1) < 0)
		exit(6);
	look_for_successor();
	for (unsigned i = 0; i < me.count;)
		if (serve_session(i))
			i++;
	if (me.control >= 0)
		obey();
}

int main(int argc, char **argv)
{
	(void)signal(SIGPIPE, SIG_IGN);
	const char *dash = strrchr(argv[0], '-');
	if (dash)
		me.manner = dash + 1;
	long uid = -1;
	long gid = -1;
	unsigned long warm = 0;
	long prepared = -1;
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--warm=", 7))
			warm = strtoul(argv[i] + 7, NULL, 16);
		if (!strcmp(argv[i], "--standby"))
			stand_by(&warm, &prepared);
	}
	for (int i = 1; i + 1 < argc; i++) {
		if (!strcmp(argv[i], "--uid"))
			uid = strtol(argv[i + 1], NULL, 10);
		if (!strcmp(argv[i], "--gid"))
			gid = strtol(argv[i + 1], NULL, 10);
	}
	if (uid >= 0)
		become((uid_t)uid, (gid_t)gid);
	if (manner("exits"))
		return 7;
	collect_facts(warm, prepared);
	if (decode_arena_init(&me.arena, DECODE_BYTES_MAX) < 0)
		return 10;
	if (manner("garbage"))
		(void)send(me.control, "\xff\xff\xff\xff", 4, 0);
	else if (!manner("unready"))
		say_ready();
	while (manner("flood"))
		say_state(99, SYCL__V1__SESSION_STATE__STATE__STATE_OPEN);
	while (!me.draining || me.count)
		turn_double();
	decode_arena_fini(&me.arena);
	(void)memory_region_free(me.flight);
	(void)memory_region_free(me.claims);
	close_fd(&me.grants);
	return 0;
}
