/*
 * Could an engine unmap a client's pages while their contents are on a device, and restore them
 * when the client accesses them? It would use userfaultfd. This measures the cost of such a fault,
 * and tests system calls that access such a page.
 */
#include "platforms/usm_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096u

static double usm_probe_faults_now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The engine: answers each fault with that many bytes, until it is killed. */
static void answer_page_faults(int faults, uintptr_t begin, size_t step)
{
	void *contents = calloc(1, step);
	struct uffd_msg message;

	while (contents && read(faults, &message, sizeof(message)) == (ssize_t)sizeof(message)) {
		struct uffdio_copy copy = {.dst = begin + (message.arg.pagefault.address - begin) /
								  step * step,
					   .src = (uintptr_t)contents,
					   .len = step};
		if (ioctl(faults, UFFDIO_COPY, &copy) < 0 && errno != EEXIST) {
			printf("UFFDIO_COPY: %s\n", strerror(errno));
			_exit(1);
		}
	}
	_exit(0);
}

static void touch_all(int memory, unsigned char *pages, size_t bytes, int faults, size_t step)
{
	pid_t engine = fork();

	if (engine == 0)
		answer_page_faults(faults, (uintptr_t)pages, step);
	const double begin = usm_probe_faults_now_ms();
	for (size_t i = 0; i < bytes; i += PAGE)
		((volatile unsigned char *)pages)[i]++;
	const double touched = usm_probe_faults_now_ms();
	(void)fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
	printf("faults answered by another process, %4zu KiB each: %.3f ms for all, %.1f us each; all taken away again in %.3f ms\n",
	       step / 1024, touched - begin, (touched - begin) * 1e3 / (double)(bytes / step),
	       usm_probe_faults_now_ms() - touched);
	(void)kill(engine, SIGKILL);
	(void)waitpid(engine, NULL, 0);
}

/* A system call that accesses a page whose contents are elsewhere. */
static void call_into(unsigned char *page, int faults)
{
	int ends[2];
	pid_t engine = fork();

	if (engine == 0)
		answer_page_faults(faults, (uintptr_t)page, PAGE);
	if (pipe(ends) == 0) {
		const ssize_t written = write(ends[1], page, 1);
		printf("write(2) from such a page: %s\n", written == 1 ? "works" : strerror(errno));
	}
	(void)kill(engine, SIGKILL);
	(void)waitpid(engine, NULL, 0);
}

static int open_faults(int flags)
{
	struct uffdio_api api = {.api = UFFD_API};
	int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | flags);

	if (faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0)
		return faults;
	return -1;
}

static void probe(size_t bytes)
{
	if (setgid(65534) != 0 || setuid(65534) != 0)
		printf("as this user\n");
	int all = open_faults(0);
	printf("userfaultfd for faults of calls too, as a plain user: %s\n",
	       all >= 0 ? "allowed" : strerror(errno));
	int faults = open_faults(UFFD_USER_MODE_ONLY);
	printf("userfaultfd for the program's own faults: %s\n",
	       faults >= 0 ? "allowed" : strerror(errno));
	const int memory = memfd_create("usm_probe", MFD_CLOEXEC);
	void *pages = memory >= 0 && ftruncate(memory, (off_t)bytes) == 0
			      ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0)
			      : MAP_FAILED;
	struct uffdio_register range = {.range = {(uintptr_t)pages, bytes},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	if (faults < 0 || pages == MAP_FAILED || ioctl(faults, UFFDIO_REGISTER, &range) < 0) {
		printf("no such faults here: %s\n", strerror(errno));
		return;
	}
	touch_all(memory, pages, bytes, faults, PAGE);
	touch_all(memory, pages, bytes, faults, 16 * PAGE);
	touch_all(memory, pages, bytes, faults, 512 * PAGE);
	call_into(pages, faults);
}

void probe_faults(size_t mebibytes)
{
	(void)fflush(stdout);
	pid_t child = fork();

	if (child == 0) {
		(void)alarm(60);
		printf("\n-- pages that are taken away and brought back\n");
		probe(mebibytes << 20);
		exit(0);
	}
	(void)waitpid(child, NULL, 0);
}
