/* The file that a service leaves for the next one: what is in it, and files of other formats. */
#include "service/service_state.h"

#include "base/kept_file.h"
#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Places in the file. */
enum {
	AT_FORMAT = 8,
	AT_CHECKSUM = 16,
	AT_SESSIONS = 24,
	AT_ENGINE_COUNT = 48,
	AT_ACCOUNT_COUNT = 52,
	HEAD_BYTES = 56,
	FILE_BYTES = 1024,
	PIECE = 100, /* most bytes of one call */
};

static unsigned interruptions; /* calls that will fail as if a signal had arrived */

ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __wrap_write(int fd, const void *buffer, size_t size);
ssize_t __real_write(int fd, const void *buffer, size_t size);

static bool is_interrupted(void)
{
	if (interruptions == 0)
		return false;
	interruptions--;
	errno = EINTR;
	return true;
}

/* Each is short. */
ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	return is_interrupted() ? -1 : __real_read(fd, buffer, size < PIECE ? size : PIECE);
}

ssize_t __wrap_write(int fd, const void *buffer, size_t size)
{
	return is_interrupted() ? -1 : __real_write(fd, buffer, size < PIECE ? size : PIECE);
}

static char folder_path[] = "/tmp/sycld-state-XXXXXX";
static int folder = -1;

static void prepare_state(void)
{
	cr_assert(ne(ptr, mkdtemp(folder_path), NULL));
	folder = open(folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert(ge(int, folder, 0));
}

static void clean_state(void)
{
	(void)unlinkat(folder, "engines", 0);
	close_fd(&folder);
	(void)rmdir(folder_path);
}

TestSuite(service_state, .init = prepare_state, .fini = clean_state, .timeout = 20);

Test(service_state, what_was_kept_of_engines_is_read_again)
{
	struct service_state_engine engines[2] = {
		{.uid = 7, .pid = 70, .retired = 1, .devices = SERVICE_STATE_DEVICES_LISTED},
		{.uid = 8,
		 .pid = 80,
		 .current = 1,
		 .devices = SERVICE_STATE_DEVICES_ALL,
		 .sessions_listed = 1},
	};
	struct service_state_account account = {.uid = 9, .device_ns = 90};
	engines[0].listed.devices[2] = 5;
	struct service_state state = {.sessions_before = 11,
				      .sessions_mark = 12,
				      .engine_count = 2,
				      .account_count = 1,
				      .engines = engines,
				      .accounts = &account};
	struct service_state read = {.engines = NULL};
	cr_assert(zero(int, service_state_save(folder, &state)));
	cr_assert(zero(int, service_state_load(folder, &read)));
	cr_assert(eq(u32, read.engine_count, 2));
	cr_assert(eq(u32, read.account_count, 1));
	cr_expect(eq(u64, read.sessions_before, 11));
	cr_expect(eq(u32, read.sessions_mark, 12));
	cr_expect(zero(int, memcmp(read.engines, engines, sizeof(engines))));
	cr_expect(zero(int, memcmp(read.accounts, &account, sizeof(account))));
	service_state_fini(&read);
}

Test(service_state, a_signal_is_not_taken_for_an_error)
{
	struct service_state_account accounts[4] = {{.uid = 9}};
	struct service_state state = {.account_count = 4, .accounts = accounts};
	struct service_state read = {.engines = NULL};
	interruptions = 2;
	cr_assert(zero(int, service_state_save(folder, &state)));
	cr_assert(zero(u32, interruptions));
	interruptions = 2;
	cr_assert(zero(int, service_state_load(folder, &read)));
	cr_assert(zero(u32, interruptions));
	cr_expect(zero(int, memcmp(read.accounts, accounts, sizeof(accounts))));
	service_state_fini(&read);
}

static void put(uint8_t *bytes, size_t at, uint64_t value, size_t size)
{
	memcpy(bytes + at, &value, size);
}

/* A file as releases with an earlier format wrote it: engines of 56 bytes in format 1, of 128 in
 * format 2. Returns its size. */
static size_t make_file(uint8_t *bytes, uint32_t format, size_t each)
{
	size_t size = HEAD_BYTES + 2 * each + 72;
	memset(bytes, 0, FILE_BYTES);
	put(bytes, 0, 0x6574617473637973u, 8); /* the magic number */
	put(bytes, AT_FORMAT, format, 4);
	put(bytes, AT_SESSIONS, 11, 8);
	put(bytes, AT_ENGINE_COUNT, 2, 4);
	put(bytes, AT_ACCOUNT_COUNT, 1, 4);
	for (unsigned i = 0; i < 2; i++) {
		size_t at = HEAD_BYTES + (size_t)i * each;
		put(bytes, at, 7 + i, 4);       /* uid */
		put(bytes, at + 4, 70 + i, 4);  /* pid */
		put(bytes, at + 8, 700 + i, 8); /* start_ticks */
		put(bytes, at + 48, i, 4);      /* current */
		put(bytes, at + 52, 1 - i, 4);  /* refused */
	}
	put(bytes, HEAD_BYTES + 2 * each, 9, 4); /* an account's uid */
	put(bytes, AT_CHECKSUM, kept_file_checksum(bytes, size), 8);
	return size;
}

static size_t make_old(uint8_t *bytes, uint32_t format)
{
	return make_file(bytes, format, 56);
}

static int load_of(const uint8_t *bytes, size_t size, struct service_state *state_out)
{
	cr_assert(zero(int, kept_file_replace(folder, "engines", bytes, size)));
	return service_state_load(folder, state_out);
}

Test(service_state, a_file_of_format_1_is_read_and_says_nothing_of_devices)
{
	uint8_t bytes[FILE_BYTES];
	struct service_state state = {.engines = NULL};
	cr_assert(zero(int, load_of(bytes, make_old(bytes, 1), &state)));
	cr_assert(eq(u32, state.engine_count, 2));
	for (unsigned i = 0; i < 2; i++) {
		const struct service_state_engine *engine = &state.engines[i];
		cr_expect(eq(u32, engine->uid, 7 + i));
		cr_expect(eq(u32, engine->pid, 70 + i));
		cr_expect(eq(u64, engine->start_ticks, 700 + i));
		cr_expect(eq(u32, engine->current, i));
		cr_expect(eq(u32, engine->refused, 1 - i));
		cr_expect(zero(u32, engine->retired));
		cr_expect(eq(u32, engine->devices, SERVICE_STATE_DEVICES_UNKNOWN));
		cr_expect(device_set_is_empty(&engine->listed));
	}
	cr_assert(eq(u32, state.account_count, 1));
	cr_expect(eq(u32, state.accounts[0].uid, 9));
	cr_expect(eq(u64, state.sessions_before, 11));
	service_state_fini(&state);
}

/* Its engines return with each session whose proof is right. */
Test(service_state, a_file_of_format_2_is_read_and_says_nothing_of_open_sessions)
{
	uint8_t bytes[FILE_BYTES];
	struct service_state state = {.engines = NULL};
	size_t size = make_file(bytes, 2, 128);
	put(bytes, HEAD_BYTES + 56, 1, 4); /* retired */
	put(bytes, 12, 5, 4);              /* was reserved */
	put(bytes, AT_CHECKSUM, 0, 8);
	put(bytes, AT_CHECKSUM, kept_file_checksum(bytes, size), 8);
	cr_assert(zero(int, load_of(bytes, size, &state)));
	cr_assert(eq(u32, state.engine_count, 2));
	cr_expect(zero(u32, state.sessions_mark));
	for (unsigned i = 0; i < 2; i++) {
		cr_expect(eq(u32, state.engines[i].uid, 7 + i));
		cr_expect(eq(u32, state.engines[i].retired, 1 - i));
		cr_expect(zero(u32, state.engines[i].sessions_listed));
	}
	cr_expect(eq(u32, state.accounts[0].uid, 9));
	service_state_fini(&state);
}

Test(service_state, files_of_other_formats_and_damaged_ones_are_refused)
{
	uint8_t bytes[FILE_BYTES];
	struct service_state state = {.engines = NULL};
	cr_expect(eq(int, load_of(bytes, make_old(bytes, 0), &state), -EPROTONOSUPPORT));
	cr_expect(eq(int, load_of(bytes, make_old(bytes, 4), &state), -EPROTONOSUPPORT));
	/* Sizes of one format, the number of the other one. */
	cr_expect(eq(int, load_of(bytes, make_old(bytes, 2), &state), -EBADMSG));
	size_t size = make_old(bytes, 1);
	cr_expect(eq(int, load_of(bytes, size - 1, &state), -EBADMSG));
	cr_expect(eq(int, load_of(bytes, size + 1, &state), -EBADMSG));
	bytes[HEAD_BYTES] ^= 1;
	cr_expect(eq(int, load_of(bytes, size, &state), -EBADMSG));
	cr_expect(eq(ptr, state.engines, NULL));
}
