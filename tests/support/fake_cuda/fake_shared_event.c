#include "fake_shared_event.h"

#include "fake.h"
#include "fake_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS 200000

struct page {
	_Atomic uint64_t sent, reached;
};

struct fake_shared_event {
	unsigned references;
	struct page *page;
};

static struct fake_shared_event *shared_event_map(int file)
{
	struct fake_shared_event *event = calloc(1, sizeof(*event));
	void *page = MAP_FAILED;

	if (event)
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	(void)close(file);
	if (page == MAP_FAILED) {
		free(event);
		return NULL;
	}
	event->references = 1;
	event->page = page;
	return event;
}

struct fake_shared_event *fake_shared_event_make(char *name_out, size_t name_bytes)
{
	int file = fake_file_make("event", 4096, name_out, name_bytes);

	if (file < 0)
		return NULL;
	return shared_event_map(file);
}

struct fake_shared_event *fake_shared_event_open(const char handle[64])
{
	int file = fake_file_open("event", handle);

	return file < 0 ? NULL : shared_event_map(file);
}

struct fake_shared_event *fake_shared_event_ref(struct fake_shared_event *event)
{
	event->references++;
	return event;
}

void fake_shared_event_unref(struct fake_shared_event *event)
{
	if (!event || --event->references)
		return;
	(void)munmap(event->page, 4096);
	free(event);
}

void fake_shared_event_unlink(const char *name)
{
	fake_file_remove(name);
}

void fake_shared_event_name(const char *name, char handle_out[64])
{
	memset(handle_out, 0, 64);
	memcpy(handle_out, name, strnlen(name, 63));
}

uint64_t fake_shared_event_begin(struct fake_shared_event *event)
{
	return atomic_fetch_add(&event->page->sent, 1) + 1;
}

uint64_t fake_shared_event_last(const struct fake_shared_event *event)
{
	return atomic_load(&event->page->sent);
}

bool fake_shared_event_done(const struct fake_shared_event *event)
{
	return atomic_load(&event->page->reached) >= atomic_load(&event->page->sent);
}

void fake_shared_event_set(struct fake_shared_event *event, uint64_t number)
{
	uint64_t reached = atomic_load(&event->page->reached);

	/* Records of two streams may happen in any order. A wait for the later one must not end
	 * with the earlier one. */
	while (reached < number &&
	       !atomic_compare_exchange_weak(&event->page->reached, &reached, number))
		;
}

/* Another process reports it only through the page. */
void fake_shared_event_await(struct fake_shared_event *event, uint64_t number)
{
	const struct timespec poll = {.tv_nsec = POLL_NS};

	while (atomic_load(&event->page->reached) < number && !fake.sticky)
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &poll, NULL);
}
