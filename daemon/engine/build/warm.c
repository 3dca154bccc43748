#include "build/warm.h"

#include "cleanup.h"
#include "clock.h"
#include "packet.h"
#include "protocol_limits.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program with one source is not worth a second process. */
#define WARM_BUILDS_MIN 2u
#define WARM_START_NS   60000000000ull
#define WARM_IDLE_NS    60000000000ull
/* The process only has to fork. */
#define WARM_ANSWER_MS 10000

void build_warm_init(struct build_warm *warm)
{
	*warm = (struct build_warm){.pid = -1, .socket = -1, .folder = PRIVATE_FOLDER_NONE};
}

static void warm_stop(struct build_warm *warm, enum build_warm_state state)
{
	close_fd(&warm->socket);
	if (warm->pid > 0) {
		(void)kill(warm->pid, SIGKILL);
		while (waitpid(warm->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	private_folder_remove(&warm->folder);
	free(warm->device_key);
	build_warm_init(warm);
	warm->state = state;
}

void build_warm_end(struct build_warm *warm)
{
	warm_stop(warm, BUILD_WARM_NONE);
}

/* The child of the helper: keeps its end of the socket, and ends with the helper. */
static _Noreturn void become_warm(const Sycl__V1__BuildJob *job, int socket, pid_t helper,
				  const struct build_warm *warm, const char *const *options)
{
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != helper)
		_exit(1);
	build_warm_run(job, socket, warm->folder.path, options);
}

static int warm_start(struct build_warm *warm, const Sycl__V1__BuildJob *job,
		      const char *const *options)
{
	int pair[2];
	pid_t helper = getpid();

	if (private_folder_make(job->cache_directory[0] ? job->cache_directory : NULL, "sycld-warm",
				&warm->folder) < 0) {
		warm->folder = PRIVATE_FOLDER_NONE;
		return -EIO;
	}
	warm->device_key = strdup(job->device_key);
	if (!warm->device_key || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -ENOMEM;
	warm->socket = pair[0];
	warm->backend = job->backend;
	warm->pid = fork();
	if (warm->pid == 0)
		become_warm(job, pair[1], helper, warm, options);
	close_fd(&pair[1]);
	if (warm->pid < 0)
		return -errno;
	warm->deadline_ns = clock_deadline_ns(WARM_START_NS);
	warm->state = BUILD_WARM_STARTING;
	return 0;
}

void build_warm_note(struct build_warm *warm, const Sycl__V1__BuildJob *job,
		     const char *const *options)
{
	warm->builds++;
	if (warm->state == BUILD_WARM_READY)
		warm->deadline_ns = clock_deadline_ns(WARM_IDLE_NS);
	if (warm->state == BUILD_WARM_NONE && warm->builds >= WARM_BUILDS_MIN &&
	    warm_start(warm, job, options) < 0)
		warm_stop(warm, BUILD_WARM_REFUSED);
}

/* Waits for one answer. The process waits for nobody but the helper. */
static int warm_answer(const struct build_warm *warm, struct build_warm_answer *answer_out)
{
	struct pollfd fd = {.fd = warm->socket, .events = POLLIN};
	int ready = poll(&fd, 1, WARM_ANSWER_MS);
	if (ready <= 0)
		return ready < 0 ? -errno : -ETIMEDOUT;
	if (recv(warm->socket, answer_out, sizeof(*answer_out), MSG_DONTWAIT) !=
	    (ssize_t)sizeof(*answer_out))
		return -EPIPE;
	return answer_out->error;
}

static int warm_ask(struct build_warm *warm, Sycl__V1__BuildPacket *packet, const int *fds,
		    unsigned count, struct build_warm_answer *answer_out)
{
	packet->descriptor_count = count;
	int error = message_send(warm->socket, &packet->base, fds, count, MSG_DONTWAIT);
	if (error == 0)
		error = warm_answer(warm, answer_out);
	if (error != 0)
		warm_stop(warm, BUILD_WARM_REFUSED);
	return error;
}

int build_warm_fork(struct build_warm *warm, const Sycl__V1__BuildJob *job,
		    const struct build_child_files *files, pid_t *pid_out)
{
	Sycl__V1__BuildPacket packet = SYCL__V1__BUILD_PACKET__INIT;
	struct build_warm_answer answer = {.error = 0};

	if (warm->state != BUILD_WARM_READY || warm->backend != job->backend || !files->folder ||
	    strcmp(warm->device_key, job->device_key) != 0)
		return -EAGAIN;
	CLEANUP(close_fd) int folder = open(files->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -EAGAIN;
	const int fds[] = {files->source, files->log, files->binary, files->report, folder};
	packet.body_case = SYCL__V1__BUILD_PACKET__BODY_JOB;
	packet.job = (Sycl__V1__BuildJob *)(uintptr_t)job;
	if (warm_ask(warm, &packet, fds, sizeof(fds) / sizeof(*fds), &answer) != 0)
		return -EAGAIN;
	*pid_out = answer.pid;
	return 0;
}

int build_warm_collect(struct build_warm *warm, pid_t pid, struct rusage *usage_out)
{
	Sycl__V1__BuildPacket packet = SYCL__V1__BUILD_PACKET__INIT;
	Sycl__V1__BuildCancel cancel = SYCL__V1__BUILD_CANCEL__INIT;
	struct build_warm_answer answer = {.error = 0};

	cancel.job = (uint64_t)pid;
	packet.body_case = SYCL__V1__BUILD_PACKET__BODY_CANCEL;
	packet.cancel = &cancel;
	/* If that process has ended, its builds were killed with it. */
	if (warm->state != BUILD_WARM_READY || warm_ask(warm, &packet, NULL, 0, &answer) != 0)
		return W_EXITCODE(0, SIGKILL);
	*usage_out = answer.usage;
	return answer.status;
}

void build_warm_receive(struct build_warm *warm)
{
	struct build_warm_answer answer = {.error = 0};

	if (warm->state != BUILD_WARM_STARTING || warm_answer(warm, &answer) != 0) {
		warm_stop(warm, BUILD_WARM_REFUSED);
		return;
	}
	private_folder_remove(&warm->folder); /* from now on it compiles nothing */
	warm->folder = PRIVATE_FOLDER_NONE;
	warm->state = BUILD_WARM_READY;
	warm->deadline_ns = clock_deadline_ns(WARM_IDLE_NS);
}

uint64_t build_warm_deadline_ns(const struct build_warm *warm, bool has_builds)
{
	bool waits = warm->state == BUILD_WARM_STARTING ||
		     (warm->state == BUILD_WARM_READY && !has_builds);
	return waits ? warm->deadline_ns : UINT64_MAX;
}

void build_warm_check(struct build_warm *warm, bool has_builds)
{
	if (build_warm_deadline_ns(warm, has_builds) <= clock_now_ns())
		warm_stop(warm,
			  warm->state == BUILD_WARM_READY ? BUILD_WARM_NONE : BUILD_WARM_REFUSED);
}
