#include "flight.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAMED_MAX 3

struct suspect {
	uint64_t session, queue, group;
	char what[FLIGHT_KERNEL_NAME_BYTES];
};

static struct suspect copy_of(const struct flight_entry *entry, uint64_t session)
{
	struct suspect suspect = {.session = session, .queue = entry->queue, .group = entry->group};
	memcpy(suspect.what, entry->what, sizeof(suspect.what));
	suspect.what[sizeof(suspect.what) - 1] = 0;
	for (char *c = suspect.what; *c; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
	return suspect;
}

static size_t describe(const struct suspect *suspect, uint64_t own_session, char *text, size_t bytes)
{
	int n = suspect->session == own_session
			? snprintf(text, bytes, "'%s' (this session, command group %" PRIu64 " of queue %" PRIu64 ")",
				   suspect->what, suspect->group, suspect->queue & 0xffffffff)
			: snprintf(text, bytes, "'%s' (session %" PRIu64 ")", suspect->what, suspect->session);
	return n < 0 ? 0 : ((size_t)n < bytes ? (size_t)n : bytes - 1);
}

uint64_t flight_blame(const struct flight_page *page, uint64_t own_session, char *text, size_t text_bytes)
{
	if (page->magic != FLIGHT_MAGIC || page->layout != FLIGHT_LAYOUT)
		return 0;
	struct suspect named[NAMED_MAX];
	uint64_t count = atomic_load_explicit(&page->more, memory_order_relaxed);
	unsigned names = 0;
	for (uint32_t i = 0; i < FLIGHT_ENTRIES; i++) {
		uint64_t session = atomic_load_explicit(&page->entries[i].session, memory_order_acquire);
		if (session == 0)
			continue;
		count++;
		if (names < NAMED_MAX)
			named[names++] = copy_of(&page->entries[i], session);
	}
	if (count == 0)
		return 0;
	int n = count == 1 && names == 1
			? snprintf(text, text_bytes, "the engine died while it ran ")
			: snprintf(text, text_bytes,
				   "the engine died with %" PRIu64 " command groups in flight, one of them at fault: ",
				   count);
	size_t used = n < 0 ? 0 : (size_t)n;
	for (unsigned i = 0; i < names && used + 3 < text_bytes; i++) {
		if (i > 0)
			used += (size_t)snprintf(text + used, text_bytes - used, ", ");
		used += describe(&named[i], own_session, text + used, text_bytes - used);
	}
	if (names < count && used + 8 < text_bytes)
		(void)snprintf(text + used, text_bytes - used, " ...");
	return count;
}
