#include "build/link_child.h"

#include "build/child.h"
#include "build/file.h"
#include "cleanup.h"
#include "packet_socket.h"
#include "protocol_limits.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKER  "/usr/bin/ld"
#define OBJECT  "kernel.o"
#define LIBRARY "kernel.so"
#define LOG     "log"
#if defined(__aarch64__)
#define LIBGCC_FILES "/usr/lib/gcc/aarch64-*/*/libgcc.a"
#else
#define LIBGCC_FILES "/usr/lib/gcc/x86_64-*/*/libgcc.a"
#endif
#define LIBRARY_BYTES (1ull << 30)

/* Under its limits: a linker that is taken over may do no more than a compiler. */
static void limit_linker(void)
{
	const struct rlimit none = {0, 0};
	const struct rlimit file = {LIBRARY_BYTES, LIBRARY_BYTES};
	const struct rlimit data = {LIMIT_BUILD_MEMORY_BYTES, LIMIT_BUILD_MEMORY_BYTES};
	const struct rlimit time = {BUILD_LINK_NS / 1000000000u, BUILD_LINK_NS / 1000000000u};
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)umask(077);
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)setrlimit(RLIMIT_FSIZE, &file);
	(void)setrlimit(RLIMIT_DATA, &data);
	(void)setrlimit(RLIMIT_CPU, &time);
}

/* The linker would read any other file as a script, which names files to read and write. */
static bool is_object(const char *bytes, size_t count)
{
	Elf64_Ehdr head;
	if (count < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	return memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_type == ET_REL;
}

/* A copy, because the engine could change its file meanwhile. */
static int copy_object(int object)
{
	CLEANUP(free_pointer) char *bytes = NULL;
	size_t count = 0;
	int r = build_file_read(object, BUILD_BINARY_BYTES_MAX, &bytes, &count);
	if (r == 0 && !is_object(bytes, count))
		r = -ENOEXEC;
	CLEANUP(close_fd)
	int copy = r < 0 ? -1 : open(OBJECT, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (r == 0 && copy < 0)
		r = -errno;
	return r < 0 ? r : build_file_write(copy, bytes, count);
}

/* Standard output and error are the log; nothing else stays open. */
static int open_log(void)
{
	CLEANUP(close_fd) int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CLEANUP(close_fd) int log = open(LOG, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (null < 0 || log < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
		return -errno;
	return 0;
}

_Noreturn void build_link_run(int object, const char *folder)
{
	glob_t libgcc;
	char *environment[] = {NULL};
	build_child_reset_signals();
	if (chdir(folder) < 0 || open_log() < 0)
		_exit(1);
	int r = copy_object(object);
	if (r < 0) {
		(void)dprintf(STDERR_FILENO, "%s\n",
			      r == -ENOEXEC ? "it is no object file" : strerror(-r));
		_exit(1);
	}
	/* What kernels call of the compiler's own functions. Any version has them. */
	bool has_libgcc = glob(LIBGCC_FILES, 0, NULL, &libgcc) == 0;
	/* Last, because a sanitizer of this process needs more memory than that. */
	limit_linker();
	execle(LINKER, "ld", "--hash-style=both", "--eh-frame-hdr", "-shared", "-o", LIBRARY,
	       OBJECT, "-lm", has_libgcc ? libgcc.gl_pathv[0] : (char *)NULL, (char *)NULL,
	       environment);
	(void)dprintf(STDERR_FILENO, LINKER ": %s\n", strerror(errno));
	_exit(1);
}

int build_link_receive(int socket, int *object_out, char parent_out[PATH_MAX])
{
	CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
	ssize_t count = packet_socket_receive(socket, parent_out, PATH_MAX, &fds, MSG_DONTWAIT);
	if (count == 0 || count == -ECONNRESET)
		return 0;
	if (count < 0)
		return (int)count;
	parent_out[count - 1] = '\0';
	*object_out = packet_fds_take(&fds, 0);
	return 1;
}

/* The engine can replace files of its user. A pipe in place of one would stop the helper, if it
 * waited for a writer. */
static void read_log(const char *folder, char *text, size_t bytes)
{
	char path[PATH_MAX];
	(void)snprintf(path, sizeof(path), "%s/" LOG, folder);
	CLEANUP(close_fd) int log = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t count = log < 0 ? -1 : read(log, text, bytes - 1);
	text[count > 0 ? count : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

void build_link_answer(int socket, bool linked, const char *folder)
{
	struct build_link_answer answer = {.text = ""};
	char path[PATH_MAX], log[sizeof(answer.text) - 32] = "";
	CLEANUP(close_fd) int library = -1;
	if (linked && folder) {
		(void)snprintf(path, sizeof(path), "%s/" LIBRARY, folder);
		library = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	} else if (folder) {
		read_log(folder, log, sizeof(log));
	}
	(void)snprintf(answer.text, sizeof(answer.text), "a kernel is not linked: %s",
		       log[0] ? log : "the linker has not ended by itself");
	(void)packet_socket_send(socket, &answer, sizeof(answer), &library, library >= 0 ? 1 : 0,
				 MSG_DONTWAIT);
}
