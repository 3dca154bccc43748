#include "process/abort.h"

#include "flight_page.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void aborter(void);

static struct flight_page *_Atomic flight;
static aborter *_Atomic next_abort; /* the C library's */

void engine_abort_record_in(struct flight_page *page)
{
	void *found = dlsym(RTLD_NEXT, "abort");
	aborter *next = NULL;
	memcpy(&next, &found, sizeof(next));
	atomic_store(&next_abort, next);
	atomic_store(&flight, page);
}

void engine_abort_record(const char *words)
{
	struct flight_page *page = atomic_load(&flight);
	uint32_t unknown = 0;
	if (!page)
		return;
	/* Two threads may fail at one time; a failed device was reported before. */
	if (!atomic_compare_exchange_strong(&page->fault.known, &unknown, FLIGHT_FAULT_WRITING))
		return;
	memcpy(page->fault.text, words, strnlen(words, sizeof(page->fault.text) - 1));
	atomic_store_explicit(&page->fault.known, FLIGHT_FAULT_ABORTED, memory_order_release);
}

/*
 * In place of the C library's: what a library has loaded finds this program's first. The prototype
 * is the library's, which has it only where assertions are compiled.
 */
__attribute__((noreturn, visibility("default"))) void
__assert_fail(const char *assertion, const char *file, unsigned line, const char *function);

void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
{
	char words[FLIGHT_FAULT_TEXT_BYTES];
	const char *slash = strrchr(file, '/');
	(void)snprintf(words, sizeof(words), "%s:%u: %s: Assertion `%s' failed.",
		       slash ? slash + 1 : file, line, function ? function : "?", assertion);
	engine_abort_record(words);
	(void)dprintf(STDERR_FILENO, "%s\n", words);
	abort();
}

/*
 * The same where a library ends the process without an assertion: an uncaught C++ exception, LLVM
 * and PoCL themselves. Their messages on standard error are in the service's log. A broken heap
 * that the C library detects does not call this function, and must not: a kernel may have caused
 * it.
 */
__attribute__((noreturn, visibility("default"))) void abort(void);

void abort(void)
{
	aborter *next = atomic_load(&next_abort);
	engine_abort_record("a library has called abort(); its message is in the service's log");
	if (next)
		next();
	(void)signal(SIGABRT, SIG_DFL);
	(void)raise(SIGABRT);
	_exit(128 + SIGABRT);
}
