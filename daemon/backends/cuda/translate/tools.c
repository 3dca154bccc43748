#include "cuda/translate/tools.h"

#include "cleanup.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Architectures, and the first version of clang that knows each. */
static const struct {
	int architecture, clang;
} architectures[] = {
	{50, 14}, {52, 14}, {53, 14}, {60, 14}, {61, 14}, {62, 14}, {70, 14},  {72, 14},
	{75, 14}, {80, 14}, {86, 14}, {87, 16}, {89, 16}, {90, 16}, {100, 20}, {120, 20},
};

static int architecture_for(int clang, int device)
{
	int newest = 0;

	for (size_t i = 0; i < sizeof(architectures) / sizeof(*architectures); i++)
		if (architectures[i].clang <= clang && architectures[i].architecture <= device)
			newest = architectures[i].architecture;
	return newest;
}

/* Writes a path, and tells whether the file is there. */
__attribute__((format(printf, 3, 4))) static bool tool_is_at(char path[PATH_MAX], int access_mode,
							     const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int bytes = vsnprintf(path, PATH_MAX, format, arguments);
	va_end(arguments);
	if (bytes > 0 && bytes < PATH_MAX && access(path, access_mode) == 0)
		return true;
	path[0] = '\0';
	return false;
}

/* The version, as in the program's path; 0: the path does not have it. */
static int clang_version_of(const char *path)
{
	for (int version = CUDA_CLANG_NEWEST; version >= CUDA_CLANG_OLDEST; version--) {
		char end[32], folder[32];
		(void)snprintf(end, sizeof(end), "clang-%d", version);
		(void)snprintf(folder, sizeof(folder), "llvm-%d/", version);
		if (strstr(path, end) || strstr(path, folder))
			return version;
	}
	return 0;
}

static bool find_library(int version, char path[PATH_MAX])
{
	static const char *const names[] = {"nvptx64--nvidiacl.bc", "nvptx64-nvidia-cuda.bc"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (tool_is_at(path, R_OK, "/usr/lib/llvm-%d/share/clc/%s", version, names[i]) ||
		    tool_is_at(path, R_OK, "/usr/lib/clc/%s", names[i]) ||
		    tool_is_at(path, R_OK, "/usr/share/clc/%s", names[i]))
			return true;
	return false;
}

static bool find_spirv(int version, char path[PATH_MAX])
{
	/* A later clang reads what an earlier one has written. */
	for (; version >= CUDA_CLANG_OLDEST; version--)
		if (tool_is_at(path, X_OK, "/usr/bin/llvm-spirv-%d", version) ||
		    tool_is_at(path, X_OK, "/usr/lib/llvm-%d/bin/llvm-spirv", version))
			return true;
	return tool_is_at(path, X_OK, "/usr/bin/llvm-spirv");
}

/* The newest clang: it reads libclc of its own version and of earlier ones. Returns its version; 0:
 * there is none. */
static int find_clang(const char *given, char path[PATH_MAX])
{
	if (given) {
		int version = clang_version_of(given);
		return tool_is_at(path, X_OK, "%s", given) ? version ? version : CUDA_CLANG_OLDEST
							   : 0;
	}
	for (int version = CUDA_CLANG_NEWEST; version >= CUDA_CLANG_OLDEST; version--)
		if (tool_is_at(path, X_OK, "/usr/lib/llvm-%d/bin/clang", version) ||
		    tool_is_at(path, X_OK, "/usr/bin/clang-%d", version))
			return version;
	return tool_is_at(path, X_OK, "/usr/bin/clang") ? CUDA_CLANG_OLDEST : 0;
}

static int refuse_without_tool(struct backend_fault *fault_out, const char *what, const char *tool)
{
	return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
				"%s cannot be built for a CUDA device: %s is not installed "
				"(clang-%d to clang-%d are looked for)",
				what, tool, CUDA_CLANG_OLDEST, CUDA_CLANG_NEWEST);
}

int cuda_tools_find(const char *clang, int architecture, bool needs_spirv,
		    struct cuda_tools *tools_out, struct backend_fault *fault_out)
{
	const char *what = needs_spirv ? "SPIR-V" : "OpenCL C";
	struct cuda_tools tools = {.newest = 0};
	int version = find_clang(clang, tools.clang);

	if (version == 0)
		return refuse_without_tool(fault_out, what, clang ? clang : "clang");
	if (!find_library(version, tools.library))
		return refuse_without_tool(fault_out, what, "libclc");
	if (!find_spirv(version, tools.spirv) && needs_spirv)
		return refuse_without_tool(fault_out, what, "llvm-spirv");
	if (needs_spirv && version < CUDA_CLANG_SPIRV)
		return refuse_without_tool(fault_out, what, "clang-16 or a later one");
	tools.version = version;
	tools.newest = architecture_for(version, architecture);
	if (tools.newest == 0)
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"%s knows no architecture that runs on this device",
					tools.clang);
	*tools_out = tools;
	return 0;
}

/* Of the child, until it is the program: its folder, what it prints, and its end, which comes with
 * that of the thread that waits for it. Nothing else may end a program that waits for a file. */
static bool become_tool(const char *folder, const char *log, pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent || chdir(folder) < 0)
		return false;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int output = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return null >= 0 && output >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
	       dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0;
}

/* The error of a child that could not become the program; 0: it has. */
static int tool_error(int report)
{
	int error = 0;
	ssize_t count = 0;

	while ((count = read(report, &error, sizeof(error))) < 0 && errno == EINTR)
		;
	return count == (ssize_t)sizeof(error) ? error : 0;
}

int cuda_tool_run(const char *folder, const char *log, const char *const *arguments)
{
	char *environment[] = {(char *)(uintptr_t) "PATH=/usr/bin:/bin",
			       (char *)(uintptr_t) "LANG=C", (char *)(uintptr_t) "TMPDIR=.", NULL};
	const pid_t parent = getpid();
	int ends[2], status = 0;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	CLEANUP(close_fd) int report = ends[0];
	CLEANUP(close_fd) int report_end = ends[1];
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		if (become_tool(folder, log, parent))
			(void)execve(arguments[0], (char *const *)(uintptr_t)arguments,
				     environment);
		int error = errno > 0 ? -errno : -EIO;
		(void)!write(report_end, &error, sizeof(error));
		_exit(127);
	}
	close_fd(&report_end);
	int error = tool_error(report);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (error < 0)
		return error;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
