/* The build helper links objects for an engine that may start no process (build/linker.h). */
#include "build/support.h"

#include "build/file.h"
#include "build/internal.h"
#include "build/link_child.h"
#include "cleanup.h"
#include "packet_socket.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* Sends what an engine that was taken over may send. The helper answers that there is no library.
 */
static void must_be_refused(const int *fds, unsigned count)
{
	CLEANUP(packet_fds_close) struct packet_fds received = PACKET_FDS_INIT;
	const int socket = bench.service->linker.socket;
	struct build_link_answer answer;
	cr_assert(eq(int, packet_socket_send(socket, "/nonexistent", 12, fds, count, 0), 0));
	cr_assert(eq(long, packet_socket_receive(socket, &answer, sizeof(answer), &received, 0),
		     sizeof(answer)));
	cr_expect(eq(u32, received.count, 0u));
}

Test(build_linker, the_helper_outlives_requests_that_no_engine_makes, .init = open_bench,
     .fini = close_bench)
{
	static char text[2 * PATH_MAX];
	int ends[2];
	CLEANUP(close_fd) int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	CLEANUP(close_fd) int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_fd) int good = open(LINK_OBJECT, O_RDONLY | O_CLOEXEC);
	cr_assert(eq(int, pipe(ends), 0));
	const int many[] = {zero, good, folder, ends[0], ends[1], zero, zero, zero};
	must_be_refused(NULL, 0);
	must_be_refused(&zero, 1);
	must_be_refused(&folder, 1);
	must_be_refused(&ends[0], 1);
	must_be_refused(&ends[1], 1);
	must_be_refused(many, 8);
	/* Too long, so there is no answer. */
	cr_assert(eq(
		int,
		packet_socket_send(bench.service->linker.socket, text, sizeof(text), &good, 1, 0),
		0));
	close_fd(&ends[0]);
	close_fd(&ends[1]);
	must_link();
}
