#include "engine_abort.h"

#include "flight_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct flight_page *_Atomic told;

void engine_abort_tells(struct flight_page *page)
{
	atomic_store(&told, page);
}

static void record(struct flight_page *page, const char *words)
{
	uint32_t unknown = 0;
	/* Two threads may fail at one time; a device that has failed was said before. */
	if (!atomic_compare_exchange_strong(&page->fault.known, &unknown, FLIGHT_FAULT_WRITING))
		return;
	memcpy(page->fault.text, words, strnlen(words, sizeof(page->fault.text) - 1));
	atomic_store_explicit(&page->fault.known, FLIGHT_FAULT_ABORTED, memory_order_release);
}

/*
 * In place of the C library's: what a library has loaded finds this program's first. The prototype is the library's, which has it only where
 * assertions are compiled.
 */
__attribute__((noreturn, visibility("default"))) void __assert_fail(const char *assertion, const char *file, unsigned line,
								    const char *function);

void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
{
	char words[FLIGHT_FAULT_TEXT_BYTES];
	const char *slash = strrchr(file, '/');
	(void)snprintf(words, sizeof(words), "%s:%u: %s: Assertion `%s' failed.", slash ? slash + 1 : file, line,
		       function ? function : "?", assertion);
	struct flight_page *page = atomic_load(&told);
	if (page)
		record(page, words);
	(void)dprintf(STDERR_FILENO, "%s\n", words);
	abort();
}
