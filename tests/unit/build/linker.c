/* The build helper links objects for an engine that may start no process (build/linker.h). */
#include "build/support.h"

#include "build/file.h"
#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(build_linker, .timeout = 60);

static struct build_bench bench;
static char object[128], library[128];

static void open_bench(void)
{
	bench_open(&bench);
	(void)snprintf(object, sizeof(object), "%s/kernel.so.o", bench.directory);
	(void)snprintf(library, sizeof(library), "%s/kernel.so", bench.directory);
}

static void close_bench(void)
{
	bench_close(&bench);
}

static void write_object(const void *bytes, size_t count)
{
	CLEANUP(close_fd) int fd = open(object, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert(ge(int, fd, 0));
	cr_assert(eq(int, build_file_write(fd, bytes, count), 0));
}

static void must_link(void)
{
	cr_assert(eq(int, build_service_link(bench.service, LINK_OBJECT, library), 0));
	void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	cr_assert(loaded, "%s", dlerror());
	int (*answer)(int) = NULL;
	*(void **)&answer = dlsym(loaded, "answer");
	cr_assert(answer != NULL);
	cr_expect(eq(int, answer(40), 42));
	(void)dlclose(loaded);
}

Test(build_linker, an_object_becomes_a_library, .init = open_bench, .fini = close_bench)
{
	must_link();
	must_link();
}

/* A linker would read a text as a script, which names files to read and to write. */
Test(build_linker, what_is_no_object_is_refused_and_the_next_one_is_linked, .init = open_bench,
     .fini = close_bench)
{
	char script[256];
	struct stat status;
	Elf64_Ehdr head = {.e_ident = ELFMAG, .e_type = ET_REL};
	(void)snprintf(script, sizeof(script), "OUTPUT(%s/named) INPUT(" LINK_OBJECT ")\n",
		       bench.directory);
	write_object(script, strlen(script));
	cr_expect(eq(int, build_service_link(bench.service, object, library), -ENOEXEC));
	write_object(&head, sizeof(head));
	cr_expect(eq(int, build_service_link(bench.service, object, library), -ENOEXEC));
	write_object("", 0);
	cr_expect(eq(int, build_service_link(bench.service, object, library), -ENOEXEC));
	cr_expect(lt(int, stat(library, &status), 0));
	must_link();
}

/* Other users can fill a folder for all. */
Test(build_linker, the_linker_works_in_the_user_s_own_folder, .fini = close_bench)
{
	(void)setenv("TMPDIR", "/nonexistent", 1);
	open_bench();
	must_link();
}

Test(build_linker, a_file_that_is_missing_is_refused, .init = open_bench, .fini = close_bench)
{
	cr_expect(eq(int, build_service_link(bench.service, object, library), -ENOENT));
	must_link();
}

Test(build_linker, without_a_helper_nothing_is_linked, .init = open_bench, .fini = close_bench)
{
	char line[32] = "";
	FILE *children = fopen("/proc/thread-self/children", "re");
	cr_assert(children && fgets(line, sizeof(line), children));
	(void)fclose(children);
	const pid_t helper = (pid_t)strtol(line, NULL, 10);
	cr_assert(helper > 1 && kill(helper, SIGKILL) == 0);
	cr_expect(eq(int, build_service_link(bench.service, LINK_OBJECT, library), -EPIPE));
	cr_expect(eq(int, build_service_link(bench.service, LINK_OBJECT, library), -EPIPE));
}
