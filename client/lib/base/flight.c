#include "base/flight.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAMED_MAX 3

struct suspect {
	uint64_t session, queue, group;
	char what[FLIGHT_KERNEL_NAME_BYTES];
};

static void make_printable(char *text)
{
	for (char *c = text; *c; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
}

static struct suspect suspect_copy(const struct flight_entry *entry, uint64_t session)
{
	struct suspect suspect = {.session = session, .queue = entry->queue, .group = entry->group};
	memcpy(suspect.what, entry->what, sizeof(suspect.what));
	suspect.what[sizeof(suspect.what) - 1] = 0;
	make_printable(suspect.what);
	return suspect;
}

static size_t describe_suspect(const struct suspect *suspect, uint64_t own_session, char *text,
			       size_t bytes)
{
	int n = suspect->session == own_session
			? snprintf(text, bytes,
				   "'%s' (this session, command group %" PRIu64 " of queue %" PRIu64
				   ")",
				   suspect->what, suspect->group, suspect->queue & 0xffffffff)
			: snprintf(text, bytes, "'%s' (session %" PRIu64 ")", suspect->what,
				   suspect->session);
	return n < 0 ? 0 : ((size_t)n < bytes ? (size_t)n : bytes - 1);
}

static size_t text_append(size_t used, size_t bytes, int written)
{
	size_t end = used + (written < 0 ? 0 : (size_t)written);
	return end < bytes ? end : bytes - 1;
}

/*
 * Reads the last result of the device's driver. False: the engine did not end because of a device.
 */
static bool read_fault(const struct flight_page *page, struct failure *failure)
{
	if (atomic_load_explicit(&page->fault.known, memory_order_acquire) != FLIGHT_FAULT_DEVICE)
		return false;
	failure->code = SYCL_ERROR_DEVICE_LOST;
	failure->native_code = page->fault.native_code;
	failure->backend = page->fault.backend;
	char words[FLIGHT_FAULT_TEXT_BYTES];
	memcpy(words, page->fault.text, sizeof(words));
	words[sizeof(words) - 1] = 0;
	make_printable(words);
	(void)snprintf(failure->text, sizeof(failure->text), "%s", words);
	return true;
}

/* Reads a failed assertion of the engine or of a library in it. The command that ran then is not at
 * fault. False: no assertion failed. */
static bool read_abort(const struct flight_page *page, struct failure *failure)
{
	if (atomic_load_explicit(&page->fault.known, memory_order_acquire) != FLIGHT_FAULT_ABORTED)
		return false;
	char words[FLIGHT_FAULT_TEXT_BYTES];
	memcpy(words, page->fault.text, sizeof(words));
	words[sizeof(words) - 1] = 0;
	make_printable(words);
	failure->code = SYCL_ERROR_CONNECTION_LOST;
	(void)snprintf(failure->text, sizeof(failure->text),
		       "the engine aborted by itself, no command group is known to be at fault: %s",
		       words);
	return true;
}

struct suspects {
	uint64_t count;
	unsigned names;
	struct suspect named[NAMED_MAX];
};

/* Reads the entries of the own session if `own`, else those of all other sessions. */
static void read_entries(const struct flight_page *page, uint64_t own_session, bool own,
			 struct suspects *suspects)
{
	for (uint32_t i = 0; i < FLIGHT_ENTRIES; i++) {
		uint64_t session =
			atomic_load_explicit(&page->entries[i].session, memory_order_acquire);
		if (session == 0 || (session == own_session) != own)
			continue;
		suspects->count++;
		if (suspects->names < NAMED_MAX)
			suspects->named[suspects->names++] =
				suspect_copy(&page->entries[i], session);
	}
}

static size_t text_append_subject(bool fault, uint64_t count, bool named, char *text, size_t used,
				  size_t bytes)
{
	const char *how = fault ? ": it ran " : "the engine died while it ran ";
	if (count == 1 && named)
		return text_append(used, bytes, snprintf(text + used, bytes - used, "%s", how));
	return text_append(used, bytes,
			   snprintf(text + used, bytes - used,
				    "%s%" PRIu64
				    " command groups in flight, one of them at fault: ",
				    fault ? ": there were " : "the engine died with ", count));
}

uint64_t flight_blame(const struct flight_page *page, uint64_t own_session,
		      struct failure *failure_out)
{
	if (page->magic != FLIGHT_MAGIC || page->layout != FLIGHT_LAYOUT)
		return 0;
	if (read_abort(page, failure_out))
		return 0;
	struct suspects suspects = {
		.count = atomic_load_explicit(&page->more, memory_order_relaxed)};
	bool fault = read_fault(page, failure_out);
	/* This session's own groups come first, so that their owner finds them among many. */
	read_entries(page, own_session, true, &suspects);
	read_entries(page, own_session, false, &suspects);
	uint64_t count = suspects.count;
	unsigned names = suspects.names;
	if (count == 0)
		return 0;
	failure_out->code = SYCL_ERROR_DEVICE_LOST;
	char *text = failure_out->text;
	size_t bytes = sizeof(failure_out->text);
	size_t used = text_append_subject(fault, count, names == 1, text, fault ? strlen(text) : 0,
					  bytes);
	for (unsigned i = 0; i < names && used + 3 < bytes; i++) {
		if (i > 0)
			used = text_append(used, bytes, snprintf(text + used, bytes - used, ", "));
		used += describe_suspect(&suspects.named[i], own_session, text + used,
					 bytes - used);
	}
	if (names < count && used + 8 < bytes)
		(void)snprintf(text + used, bytes - used, " ...");
	return count;
}
