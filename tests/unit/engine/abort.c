/* An assertion that fails in an engine's process is written into the flight page. */
#include "process/abort.h"
#include "flight_page.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The call of a library that was compiled with assertions. */
void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function);

TestSuite(engine_abort, .timeout = 30);

static void fail_assertion(void)
{
	__assert_fail("found->ref_count > 0", "/some/where/pocl.c", 12, "f");
}

static struct flight_page *fail_in_child(uint32_t known, void (*how)(void))
{
	struct flight_page *page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(ne(ptr, page, MAP_FAILED));
	atomic_store(&page->fault.known, known);
	pid_t pid = fork();
	cr_assert(ge(int, pid, 0));
	if (pid == 0) {
		(void)signal(SIGABRT, SIG_DFL);
		engine_abort_record_in(page);
		how();
	}
	int status = 0;
	cr_assert(eq(int, waitpid(pid, &status, 0), pid));
	cr_assert(WIFSIGNALED(status));
	cr_assert(eq(int, WTERMSIG(status), SIGABRT));
	return page;
}

Test(engine_abort, the_words_of_an_assertion_are_in_the_flight_page)
{
	struct flight_page *page = fail_in_child(FLIGHT_FAULT_NONE, fail_assertion);
	cr_expect(eq(u32, atomic_load(&page->fault.known), FLIGHT_FAULT_ABORTED));
	cr_expect(eq(str, page->fault.text,
		     (char *)(uintptr_t) "pocl.c:12: f: Assertion `found->ref_count > 0' failed."));
	(void)munmap(page, sizeof(*page));
}

Test(engine_abort, a_device_that_has_failed_before_stays_the_reason)
{
	struct flight_page *page = fail_in_child(FLIGHT_FAULT_DEVICE, fail_assertion);
	cr_expect(eq(u32, atomic_load(&page->fault.known), FLIGHT_FAULT_DEVICE));
	(void)munmap(page, sizeof(*page));
}

/* Finds the function as a library does that was loaded at run time: by its name, behind the
 * program's own. */
static void abort_as_a_library(void)
{
	void *found = dlsym(RTLD_DEFAULT, "abort");
	void (*call)(void) = NULL;
	memcpy(&call, &found, sizeof(call));
	call();
}

Test(engine_abort, that_a_library_has_called_abort_is_in_the_flight_page)
{
	struct flight_page *page = fail_in_child(FLIGHT_FAULT_NONE, abort_as_a_library);
	cr_expect(eq(u32, atomic_load(&page->fault.known), FLIGHT_FAULT_ABORTED));
	cr_expect(ne(ptr, strstr(page->fault.text, "abort()"), NULL));
	(void)munmap(page, sizeof(*page));
}
