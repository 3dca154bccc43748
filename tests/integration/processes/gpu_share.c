/*
 * Memory and events of an NVIDIA GPU, shared between sessions, and between a session and a CUDA
 * program that is independent of this project (tests/gpu/native/importer.cu). Each of them dies at
 * critical moments. On a machine without such a GPU the test uses the double of the driver
 * (tests/support/fake_cuda), and without either it is skipped.
 */
#include "processes/gpu_share_parties.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(processes_gpu_share, .timeout = 240);

enum { HAND_OVERS_FAKE = 100, HAND_OVERS_GPU = 10000 };

static void to_a_program_and_back(const char *kind)
{
	struct exported exported = party_make_and_export(kind, 17);
	cr_expect(exported.mapped >= SHARE_BYTES && exported.mapped % (2 << 20) == 0, "%lu",
		  exported.mapped);
	party_open_in_program(&exported);
	(void)party_ask(&parties.program, "check 17");
	/* A second buffer was made right behind it. The program must read nothing of that buffer,
	 * nor of an earlier owner. */
	(void)party_ask(&parties.program, "rest");
	(void)party_ask(&parties.program, "fill 42");
	(void)party_ask(&parties.program, "sync");
	(void)party_ask(&parties.worker, "check 42");
	(void)party_ask(&parties.worker, "fill 99");
	(void)party_ask(&parties.program, "check 99");
	(void)party_ask(&parties.worker, "write 7");
	(void)party_ask(&parties.program, "check 7");
	(void)party_ask(&parties.program, "rest");
	(void)party_ask(&parties.program, "close");
	(void)party_ask(&parties.worker, "check 7");
	(void)party_ask(&parties.worker, "close");
	close_fd(&exported.descriptor);
}

Test(processes_gpu_share, F10_a_descriptor_shows_a_program_the_buffer_and_nothing_else,
     .init = parties_start, .fini = parties_stop)
{
	to_a_program_and_back("vmm");
}

Test(processes_gpu_share, F10_a_handle_shows_a_program_the_buffer_and_nothing_else,
     .init = parties_start, .fini = parties_stop)
{
	to_a_program_and_back("ipc");
}

/* The importer dies while the memory is open. Then another one starts, and then the session
 * ends. */
static void a_program_dies(const char *kind)
{
	struct exported exported = party_make_and_export(kind, 3);
	for (unsigned value = 4; value < 7; value++) {
		party_open_in_program(&exported);
		(void)party_ask(&parties.program, "check %u", value - 1);
		(void)party_ask(&parties.program, "fill %u", value);
		(void)party_ask(&parties.program, "sync");
		party_end(&parties.program);
		(void)party_ask(&parties.worker, "check %u", value);
		cr_assert(party_start_program(&parties.program));
	}
	(void)party_ask(&parties.worker, "fill 8");
	party_open_in_program(&exported);
	(void)party_ask(&parties.program, "check 8");
	(void)party_ask(&parties.worker, "close");
	close_fd(&exported.descriptor);
}

Test(processes_gpu_share, F10_a_program_that_dies_with_a_descriptor_harms_nobody,
     .init = parties_start, .fini = parties_stop)
{
	a_program_dies("vmm");
}

Test(processes_gpu_share, F10_a_program_that_dies_with_a_handle_harms_nobody, .init = parties_start,
     .fini = parties_stop)
{
	a_program_dies("ipc");
}

/* Two sessions have one buffer. The first dies; the second one keeps the buffer and exports it
 * again. */
static void a_session_dies(const char *kind)
{
	struct exported exported = party_make_and_export(kind, 11);
	cr_assert(party_start_worker(&parties.second));
	party_import(&parties.second, &exported);
	(void)party_ask(&parties.second, "check 11");
	(void)party_ask(&parties.second, "fill 12");
	(void)party_ask(&parties.worker, "check 12");
	(void)party_ask(&parties.worker, "write 13");
	(void)party_ask(&parties.second, "check 13");
	close_fd(&exported.descriptor);
	/* Work is in flight meanwhile. */
	(void)party_ask(&parties.worker, "fill-later 14");
	party_end(&parties.worker);
	(void)party_ask(&parties.second, "fill 15");
	(void)party_ask(&parties.second, "check 15");
	exported = party_export(&parties.second);
	party_open_in_program(&exported);
	(void)party_ask(&parties.program, "check 15");
	close_fd(&exported.descriptor);
	(void)party_ask(&parties.second, "close");
	cr_assert(wait_until(party_is_charged_nothing, &parties.second, SOON));
}

Test(processes_gpu_share, F10_a_session_that_dies_leaves_its_descriptors_memory_to_the_others,
     .init = parties_start, .fini = parties_stop)
{
	a_session_dies("vmm");
}

Test(processes_gpu_share, F10_a_session_that_dies_leaves_its_handles_memory_to_the_others,
     .init = parties_start, .fini = parties_stop)
{
	a_session_dies("ipc");
}

/* Two sessions have one buffer. The first is killed while its host writes it. The other's groups
 * run: those that wait and later ones. */
Test(processes_gpu_share, D8_F10_a_session_killed_while_it_holds_a_host_accessor_holds_nobody_up,
     .init = parties_start, .fini = parties_stop)
{
	static const char *const kinds[] = {"vmm", "ipc"};
	for (int i = 0; i < 2; i++) {
		struct exported exported = party_make_and_export(kinds[i], 11);
		cr_assert(party_start_worker(&parties.second));
		party_import(&parties.second, &exported);
		(void)party_ask(&parties.second, "check 11");
		(void)party_ask(&parties.worker, "hold");
		(void)party_ask(&parties.second, "fill-later 12");
		party_end(&parties.worker);
		(void)party_ask(&parties.second, "check 12");
		(void)party_ask(&parties.second, "fill 13");
		(void)party_ask(&parties.second, "write 14");
		(void)party_ask(&parties.second, "check 14");
		(void)party_ask(&parties.second, "close");
		cr_assert(wait_until(party_is_charged_nothing, &parties.second, SOON));
		party_end(&parties.second);
		close_fd(&exported.descriptor);
		cr_assert(party_start_worker(&parties.worker));
	}
}

Test(processes_gpu_share, F10_the_memory_of_a_dead_engine_stays_with_a_program,
     .init = parties_start, .fini = parties_stop)
{
	struct exported exported = party_make_and_export("vmm", 21);
	party_open_in_program(&exported);
	(void)party_ask(&parties.program, "check 21");
	pid_t engine = processes_engine(parties.service);
	parties.service->faults = true;
	cr_assert_eq(kill(engine, SIGKILL), 0);
	cr_assert(wait_until(processes_gone, &engine, SOON));
	(void)party_ask(&parties.program, "check 21");
	(void)party_ask(&parties.program, "fill 22");
	(void)party_ask(&parties.program, "check 22");
	/* The next engine imports it as another program's memory. */
	cr_assert(party_start_worker(&parties.second));
	party_import(&parties.second, &exported);
	(void)party_ask(&parties.second, "check 22");
	(void)party_ask(&parties.program, "close");
	(void)party_ask(&parties.second, "fill 23");
	(void)party_ask(&parties.second, "check 23");
	close_fd(&exported.descriptor);
}

/* Returns memory that a program has made. */
static struct exported make_in_program(const char *kind, unsigned value)
{
	struct exported exported = {.size = SHARE_BYTES, .descriptor = -1};
	(void)snprintf(exported.kind, sizeof(exported.kind), "%s", kind);
	const char *words = party_ask(&parties.program, "make-%s %d %u", kind, SHARE_BYTES, value);
	memset(exported.hex, '0', SHARE_HEX);
	cr_assert(sscanf(words, "%lu %128s", &exported.mapped, exported.hex) >= 1, "%s", words);
	if (strcmp(kind, "vmm") == 0)
		exported.descriptor = party_receive_descriptor(&parties.program);
	return exported;
}

static void from_a_program(const char *kind)
{
	struct exported exported = make_in_program(kind, 31);
	party_import(&parties.worker, &exported);
	(void)party_ask(&parties.worker, "check 31");
	(void)party_ask(&parties.worker, "fill 32");
	(void)party_ask(&parties.program, "check 32");
	(void)party_ask(&parties.program, "rest");
	(void)party_ask(&parties.program, "fill 33");
	(void)party_ask(&parties.program, "sync");
	(void)party_ask(&parties.worker, "check 33");
	party_order(&parties.worker, "export");
	cr_assert(strstr(parties.worker.line, "SYCL_ERROR_INVALID"),
		  "it is the program's to export: %s", parties.worker.line);
	(void)party_ask(&parties.worker, "close");
	cr_assert(wait_until(party_is_charged_nothing, &parties.worker, SOON));
	(void)party_ask(&parties.program, "check 33");
	(void)party_ask(&parties.program, "close");
	close_fd(&exported.descriptor);
}

Test(processes_gpu_share, F10_a_programs_descriptor_is_imported, .init = parties_start,
     .fini = parties_stop)
{
	from_a_program("vmm");
}

Test(processes_gpu_share, F10_a_programs_handle_is_imported, .init = parties_start,
     .fini = parties_stop)
{
	from_a_program("ipc");
}

Test(processes_gpu_share, F10_an_exporting_program_that_dies_harms_nobody, .init = parties_start,
     .fini = parties_stop)
{
	struct exported exported = make_in_program("vmm", 41);
	party_import(&parties.worker, &exported);
	party_end(&parties.program);
	/* The descriptor and the mapping keep the memory. */
	(void)party_ask(&parties.worker, "check 41");
	(void)party_ask(&parties.worker, "fill 42");
	close_fd(&exported.descriptor);
	(void)party_ask(&parties.worker, "check 42");
	(void)party_ask(&parties.worker, "close");
	/* Once the owner of a handle has ended, there is only one guarantee: no other process is
	 * affected. */
	cr_assert(party_start_program(&parties.program));
	exported = make_in_program("ipc", 43);
	party_import(&parties.worker, &exported);
	(void)party_ask(&parties.worker, "check 43");
	party_end(&parties.program);
	(void)party_ask(&parties.worker, "close");
	(void)party_ask(&parties.worker, "make vmm %d 44", SHARE_BYTES);
	(void)party_ask(&parties.worker, "check 44");
}

/* A handle that names no memory, or memory of another size, is refused. The session, its buffer and
 * the other session are not affected. */
Test(processes_gpu_share, F10_forged_names_and_sizes_are_refused, .init = parties_start,
     .fini = parties_stop)
{
	char zeroes[SHARE_HEX + 1], forged[SHARE_HEX + 1];
	memset(zeroes, '0', SHARE_HEX);
	memset(forged, '7', SHARE_HEX);
	zeroes[SHARE_HEX] = forged[SHARE_HEX] = '\0';
	struct exported exported = party_make_and_export("vmm", 51);
	cr_assert(party_start_worker(&parties.second));

	party_order(&parties.second, "import ipc %d %d %s", SHARE_BYTES, 2 << 20, forged);
	cr_expect(strncmp(parties.second.line, "result", 6) == 0, "%s", parties.second.line);
	int ends[2];
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	party_send_descriptor(&parties.second, ends[0]);
	party_expect_refused(&parties.second, "SYCL_ERROR_INVALID", "import vmm %d %d %s",
			     SHARE_BYTES, 2 << 20, zeroes);
	int memory = memfd_create("no device's", MFD_CLOEXEC);
	cr_assert_eq(ftruncate(memory, 2 << 20), 0);
	party_send_descriptor(&parties.second, memory);
	party_order(&parties.second, "import vmm %d %d %s", SHARE_BYTES, 2 << 20, zeroes);
	cr_expect(strncmp(parties.second.line, "result", 6) == 0, "%s", parties.second.line);

	/* Memory of this engine with a size that is too large, too small, or another one
	 * underneath. */
	const unsigned long wrong[][2] = {{exported.size + 1, exported.mapped},
					  {exported.size - 1, exported.mapped},
					  {exported.size, exported.mapped * 2}};
	for (int i = 0; i < 3; i++) {
		party_send_descriptor(&parties.second, exported.descriptor);
		party_expect_refused(&parties.second, "SYCL_ERROR_INVALID", "import vmm %lu %lu %s",
				     wrong[i][0], wrong[i][1], zeroes);
	}
	/* Memory of another program, with a size that is too large. */
	struct exported foreign = make_in_program("vmm", 52);
	party_send_descriptor(&parties.second, foreign.descriptor);
	party_order(&parties.second, "import vmm %d %lu %s", SHARE_BYTES, foreign.mapped * 2,
		    zeroes);
	cr_expect(strncmp(parties.second.line, "result", 6) == 0, "%s", parties.second.line);

	cr_assert(wait_until(party_is_charged_nothing, &parties.second, SOON));
	party_import(&parties.second, &exported);
	(void)party_ask(&parties.second, "check 51");
	(void)party_ask(&parties.worker, "fill 53");
	(void)party_ask(&parties.second, "check 53");
	(void)party_ask(&parties.program, "check 52");
	close_fd(&ends[0]);
	close_fd(&ends[1]);
	close_fd(&memory);
	close_fd(&exported.descriptor);
	close_fd(&foreign.descriptor);
}

/* Each in turn changes the memory and records the event. The other one waits for the event on the
 * device, not on the host. */
static void hand_over(int rounds)
{
	struct exported exported = party_make_and_export("vmm", 0);
	party_open_in_program(&exported);
	for (int i = 1; i <= rounds; i++) {
		unsigned mine = (unsigned)i % 127 * 2, yours = mine + 1;
		(void)party_ask(&parties.worker, "fill-later %u", mine);
		(void)party_ask(&parties.worker, "record");
		(void)party_ask(&parties.program, "wait");
		(void)party_ask(&parties.program, "check %u", mine);
		(void)party_ask(&parties.program, "fill %u", yours);
		(void)party_ask(&parties.program, "record");
		(void)party_ask(&parties.worker, "wait");
		(void)party_ask(&parties.worker, "check %u", yours);
	}
	close_fd(&exported.descriptor);
}

Test(processes_gpu_share, F10_a_sessions_event_hands_memory_over_many_times, .init = parties_start,
     .fini = parties_stop)
{
	char hex[SHARE_HEX + 1];
	(void)snprintf(hex, sizeof(hex), "%.128s", party_ask(&parties.worker, "make-event"));
	(void)party_ask(&parties.program, "open-event %s", hex);
	hand_over(parties.real ? HAND_OVERS_GPU / 4 : HAND_OVERS_FAKE);
	(void)party_ask(&parties.program, "close-event");
	(void)party_ask(&parties.worker, "close-event");
}

Test(processes_gpu_share, F10_a_programs_event_hands_memory_over_many_times, .init = parties_start,
     .fini = parties_stop)
{
	char hex[SHARE_HEX + 1];
	(void)snprintf(hex, sizeof(hex), "%.128s", party_ask(&parties.program, "make-event"));
	(void)party_ask(&parties.worker, "open-event %s", hex);
	hand_over(parties.real ? HAND_OVERS_GPU / 4 : HAND_OVERS_FAKE);
	(void)party_ask(&parties.worker, "close-event");
	(void)party_ask(&parties.program, "close-event");
}

/* The recorded event may never happen: that depends on its driver. A session that waits for the
 * event may wait for ever, but no other session does. */
Test(processes_gpu_share, F10_a_program_that_dies_before_its_event_happens_harms_nobody,
     .init = parties_start, .fini = parties_stop)
{
	char hex[SHARE_HEX + 1];
	struct exported exported = party_make_and_export("vmm", 81);
	(void)snprintf(hex, sizeof(hex), "%.128s", party_ask(&parties.worker, "make-event"));
	(void)party_ask(&parties.program, "open-event %s", hex);
	party_open_in_program(&exported);
	(void)party_ask(&parties.program, "spin 600");
	(void)party_ask(&parties.program, "record");
	(void)party_ask(&parties.worker, "wait");
	party_end(&parties.program);
	cr_assert_eq(child_say(&parties.worker.child, "check 81"), 0);
	cr_assert(party_start_worker(&parties.second));
	(void)party_ask(&parties.second, "make vmm %d 82", SHARE_BYTES);
	(void)party_ask(&parties.second, "check 82");
	(void)party_ask(&parties.second, "fill 83");
	(void)party_ask(&parties.second, "check 83");
	int r = child_read_line(&parties.worker.child, parties.worker.line,
				sizeof(parties.worker.line), 0);
	cr_log_info("who waits for a dead process' event %s",
		    r == 1 ? "goes on" : "goes on waiting");
	party_end(&parties.worker);
	(void)party_ask(&parties.second, "fill 84");
	(void)party_ask(&parties.second, "check 84");
	parties.service->faults = true;
	close_fd(&exported.descriptor);
}

Test(processes_gpu_share, F10_a_forged_event_is_refused, .init = parties_start,
     .fini = parties_stop)
{
	char forged[SHARE_HEX + 1];
	memset(forged, '7', SHARE_HEX);
	forged[SHARE_HEX] = '\0';
	party_order(&parties.worker, "open-event %s", forged);
	cr_expect(strncmp(parties.worker.line, "result", 6) == 0, "%s", parties.worker.line);
	(void)party_ask(&parties.worker, "make vmm %d 61", SHARE_BYTES);
	(void)party_ask(&parties.worker, "check 61");
}

static void share_once(const char *kind)
{
	struct exported exported = party_make_and_export(kind, 71);
	cr_assert(party_start_worker(&parties.second));
	party_import(&parties.second, &exported);
	party_open_in_program(&exported);
	(void)party_ask(&parties.program, "check 71");
	(void)party_ask(&parties.program, "close");
	close_fd(&exported.descriptor);
	(void)party_ask(&parties.worker, "close");
	party_end(&parties.second);
	cr_assert(private_service_wait_sessions(parties.service, 1, SOON));
}

/* Free device memory as another process reads it. The engine frees it soon after the last user of
 * it has ended. */
static bool is_free_again(void *wanted)
{
	unsigned long free_bytes = strtoul(party_ask(&parties.program, "free"), NULL, 10);
	return free_bytes >= *(const unsigned long *)wanted;
}

static void share_by_each(const struct private_service *service)
{
	(void)service;
	share_once("vmm");
	share_once("ipc");
	cr_assert(wait_until(party_is_charged_nothing, &parties.worker, SOON));
}

Test(processes_gpu_share, F10_what_was_shared_is_given_back, .init = parties_start,
     .fini = parties_stop)
{
	/* The engine opens the management library meanwhile, in a thread. */
	struct footprint base = footprint_settle(parties.service, share_by_each);
	unsigned long base_free = strtoul(party_ask(&parties.program, "free"), NULL, 10);
	for (int i = 0; i < 8; i++)
		share_once(i % 2 ? "ipc" : "vmm");
	cr_assert(wait_until(party_is_charged_nothing, &parties.worker, SOON));
	footprint_expect(&base);
	cr_assert(wait_until(is_free_again, &base_free, SOON), "device memory is not given back");
}
