#include "library/share_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

sycl_platform share_second;
sycl_queue share_other_queue;
sycl_device share_device, share_other_device;
const sycl_share_kind share_kinds[2] = {SYCL_SHARE_VMM, SYCL_SHARE_CUDA_IPC};

void share_end_second(void)
{
	MUST(sycl_queue_release(share_other_queue));
	MUST(sycl_device_release(share_other_device));
	MUST(sycl_platform_release(share_second));
	share_second = NULL;
}

sycl_buffer share_exportable(sycl_share_kind kind, uint32_t value)
{
	uint32_t words[N];
	sycl_buffer buffer = NULL;
	for (int i = 0; i < N; i++)
		words[i] = value;
	MUST(sycl_buffer_create_exportable(share_device, words, BYTES, SYCL_HOST_CONST, kind,
					   &buffer));
	return buffer;
}

struct sycl_shared_memory share_exported(sycl_buffer buffer)
{
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	MUST(sycl_buffer_export(buffer, &shared));
	return shared;
}

sycl_buffer share_imported(sycl_device where, const struct sycl_shared_memory *shared)
{
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_import(where, shared, &buffer));
	return buffer;
}

void share_close(struct sycl_shared_memory *shared)
{
	if (shared->descriptor >= 0)
		(void)close(shared->descriptor);
	shared->descriptor = -1;
}

bool share_holds(sycl_buffer buffer, uint32_t value)
{
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	MUST(sycl_host_accessor_create_for(buffer, SYCL_ACCESS_READ, LONG_NS, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &words));
	bool all = all_are(words, value);
	MUST(sycl_host_accessor_release(accessor));
	return all;
}

void share_write_words(sycl_buffer buffer, uint32_t value)
{
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	MUST(sycl_host_accessor_create_for(buffer, SYCL_ACCESS_WRITE_NO_INIT, LONG_NS, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &words));
	for (int i = 0; i < N; i++)
		((uint32_t *)words)[i] = value;
	MUST(sycl_host_accessor_release(accessor));
}

void share_settle(sycl_queue on, sycl_buffer buffer)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_require(handler, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_submit(handler, &event));
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
}

void share_fill_and_wait(sycl_queue on, sycl_buffer buffer, uint32_t value)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_fill(handler, buffer, 0, BYTES, &value, sizeof(value)));
	MUST(sycl_handler_submit(handler, &event));
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
}

unsigned share_open_descriptors(void)
{
	unsigned count = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (readdir(folder))
		count++;
	(void)closedir(folder);
	return count;
}

static uint32_t fake_memories(void)
{
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	return counters.memories;
}

void share_expect_memories(uint32_t count)
{
	struct sycl_usage usage = SYCL_USAGE_INIT;
	while (fake_memories() != count)
		MUST(sycl_platform_get_usage(platform, &usage));
}
