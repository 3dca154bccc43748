/* Memory and events that sessions share, found by their external names. */
#include "cleanup.h"
#include "session/engine_state.h"
#include "session/objects.h"
#include "session/shares.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

TestSuite(shares, .timeout = 10);

static struct engine engine;

static void start_share_lists(void)
{
	list_init(&engine.shared_memories);
	list_init(&engine.event_shares);
}

static int memfd(void)
{
	int fd = memfd_create("shared", MFD_CLOEXEC);
	cr_assert(ge(int, fd, 0));
	return fd;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

Test(shares, F10_a_duplicate_is_the_same_descriptor_and_nothing_else_is)
{
	CLEANUP(close_fd) int a = memfd();
	CLEANUP(close_fd) int b = memfd();
	CLEANUP(close_fd) int again = fcntl(a, F_DUPFD_CLOEXEC, 100);
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", a);
	CLEANUP(close_fd) int reopened = open(path, O_RDWR | O_CLOEXEC);
	cr_assert(ge(int, reopened, 0));
	cr_assert(eq(int, descriptors_equal(a, a), 1));
	cr_assert(eq(int, descriptors_equal(a, again), 1));
	cr_assert(eq(int, descriptors_equal(a, b), 0));
	cr_assert(eq(int, descriptors_equal(a, reopened), 0),
		  "another open file of one memory is not what was given away");
	cr_assert(lt(int, descriptors_equal(a, 1000), 1), "no descriptor at all");
}

Test(shares, F10_what_could_block_or_is_no_memory_is_refused)
{
	CLEANUP(close_fd) int memory = memfd();
	cr_assert(descriptor_may_be_memory(memory));
	CLEANUP(close_fd) int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	cr_assert(descriptor_may_be_memory(null), "the driver looks closer at character devices");
	int ends[2];
	cr_assert(eq(int, pipe2(ends, O_CLOEXEC), 0));
	cr_assert(not(descriptor_may_be_memory(ends[0])));
	close_fd(&ends[0]);
	close_fd(&ends[1]);
	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0));
	cr_assert(not(descriptor_may_be_memory(ends[0])));
	close_fd(&ends[0]);
	close_fd(&ends[1]);
	CLEANUP(close_fd) int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert(not(descriptor_may_be_memory(folder)));
	CLEANUP(close_fd) int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	cr_assert(not(descriptor_may_be_memory(file)),
		  "a file of a filesystem that could make its reader wait");
	cr_assert(not(descriptor_may_be_memory(1000)));
}

Test(shares, F10_memory_is_found_by_its_name_while_a_buffer_holds_it, .init = start_share_lists)
{
	struct buffer first = {.size_bytes = 4096}, second = {.size_bytes = 4096};
	struct shared_memory *memory = shared_memory_create(&engine, BACKEND_EXPORT_VMM, 2, 4096);
	cr_assert(ne(ptr, memory, NULL));
	shared_memory_join(memory, &first);
	CLEANUP(close_fd) int given = memfd();
	CLEANUP(close_fd) int other = memfd();
	struct backend_shared_memory name = {
		.kind = BACKEND_EXPORT_VMM, .descriptor = given, .size_bytes = 2 << 20};
	cr_assert(eq(ptr, shared_memory_find(&engine, &name), NULL), "not exported yet");

	int kept = fcntl(given, F_DUPFD_CLOEXEC, 0);
	name.descriptor = kept;
	cr_assert(eq(int, shared_memory_name(memory, &name), 0));
	name.descriptor = given;
	cr_assert(eq(ptr, shared_memory_find(&engine, &name), memory));
	/* The first name stays; the second one's descriptor is closed. */
	name.descriptor = memfd();
	cr_assert(eq(int, shared_memory_name(memory, &name), 0));
	cr_assert(not(is_open(name.descriptor)));
	name.descriptor = other;
	cr_assert(eq(ptr, shared_memory_find(&engine, &name), NULL));
	name = (struct backend_shared_memory){.kind = BACKEND_EXPORT_CUDA_IPC, .descriptor = -1};
	cr_assert(eq(ptr, shared_memory_find(&engine, &name), NULL), "another kind of name");

	shared_memory_join(memory, &second);
	shared_memory_leave(&first);
	cr_assert(eq(ptr, first.shared, NULL));
	cr_assert(eq(ptr, shared_memory_any(memory), &second));
	cr_assert(is_open(kept));
	shared_memory_leave(&second);
	cr_assert(not(is_open(kept)), "with the last buffer goes the descriptor");
	cr_assert(list_empty(&engine.shared_memories));
	shared_memory_leave(&second);
}

Test(shares, F10_memory_is_found_by_its_handle, .init = start_share_lists)
{
	struct buffer buffer = {.size_bytes = 4096};
	struct shared_memory *memory =
		shared_memory_create(&engine, BACKEND_EXPORT_CUDA_IPC, 0, 4096);
	shared_memory_join(memory, &buffer);
	struct backend_shared_memory name = {.kind = BACKEND_EXPORT_CUDA_IPC, .descriptor = -1};
	cr_assert(eq(ptr, shared_memory_find(&engine, &name), NULL),
		  "no name is not a name of zeroes");
	memset(name.handle, 7, sizeof(name.handle));
	cr_assert(eq(int, shared_memory_name(memory, &name), 0));
	cr_assert(eq(ptr, shared_memory_find(&engine, &name), memory));
	name.handle[63] ^= 1;
	cr_assert(eq(ptr, shared_memory_find(&engine, &name), NULL));
	shared_memory_leave(&buffer);
}

Test(shares, F10_events_are_found_by_device_and_handle, .init = start_share_lists)
{
	struct sched_event *sched = (struct sched_event *)(uintptr_t)4096;
	uint8_t handle[SHARE_HANDLE_BYTES] = {1, 2, 3};
	struct event_share *made = event_share_create(&engine, 0, NULL);
	made->sched = sched;
	cr_assert(eq(ptr, event_share_find(&engine, 0, (uint8_t[SHARE_HANDLE_BYTES]){0}), NULL),
		  "it has no name yet");
	struct event_share *opened = event_share_create(&engine, 1, handle);
	opened->sched = sched;
	cr_assert(eq(ptr, event_share_find(&engine, 1, handle), opened));
	cr_assert(eq(ptr, event_share_find(&engine, 0, handle), NULL), "another device's");
	opened->sched = NULL;
	cr_assert(eq(ptr, event_share_find(&engine, 1, handle), NULL), "nobody holds it any more");
	shares_fini(&engine);
	cr_assert(list_empty(&engine.event_shares));
}
