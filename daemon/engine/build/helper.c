/*
 * The build helper: one thread, no vendor library, one child per build. The helper ends a build at
 * its limits, together with processes that the compiler has started (linkers). So each build is a
 * process group of its own.
 */
#include "build/child.h"
#include "build/file.h"
#include "build/internal.h"
#include "build/link_child.h"
#include "build/warm.h"
#include "cleanup.h"
#include "clock.h"
#include "private_folder.h"
#include "protocol_limits.h"
#include "packet.h"
#include "status.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define HELPER_JOBS_MAX 16u

struct helper_job {
	uint64_t number;
	pid_t pid; /* also the number of the process group */
	int pidfd, log, binary, report;
	uint64_t start_ns, deadline_ns, memory_limit_bytes, time_limit_ns;
	bool timed_out;
	bool is_link;                 /* without a number, a report and a binary */
	bool is_warm;                 /* a fork of the warm process */
	struct private_folder folder; /* folder in which the compiler may write */
};

struct helper {
	int socket, links;
	const char *const *backend_options; /* NULL: those of each job */
	struct decode_arena decode;
	struct build_warm warm;
	struct helper_job jobs[HELPER_JOBS_MAX];
	unsigned count;
};

static volatile sig_atomic_t end_requested;

static void on_end_signal(int signal_number)
{
	(void)signal_number;
	end_requested = 1;
}

static void answer_job(const struct helper *helper, uint64_t number,
		       const struct build_report *report, uint64_t build_ns, const int *fds,
		       unsigned fd_count)
{
	Sycl__V1__BuildPacket packet = SYCL__V1__BUILD_PACKET__INIT;
	Sycl__V1__BuildDone done = SYCL__V1__BUILD_DONE__INIT;
	char text[BACKEND_TEXT_BYTES];

	(void)snprintf(text, sizeof(text), "%.*s", (int)sizeof(text) - 1, report->text);
	done.job = number;
	done.code = report->status;
	done.native_code = report->native_code;
	done.text = text;
	done.build_ns = build_ns;
	packet.descriptor_count = fd_count;
	packet.body_case = SYCL__V1__BUILD_PACKET__BODY_DONE;
	packet.done = &done;
	(void)message_send(helper->socket, &packet.base, fds, fd_count, 0);
}

static void close_job(struct helper *helper, struct helper_job *job)
{
	close_fd(&job->pidfd);
	close_fd(&job->log);
	close_fd(&job->binary);
	close_fd(&job->report);
	private_folder_remove(&job->folder);
	*job = helper->jobs[--helper->count];
}

/* Kills all processes of this build. Its leader is not collected yet, so no other process can have
 * its number. */
static void kill_job(const struct helper_job *job)
{
	(void)kill(-job->pid, SIGKILL);
	(void)kill(job->pid, SIGKILL);
}

static int collect_child(struct helper *helper, const struct helper_job *job,
			 struct rusage *usage_out)
{
	int status = 0;

	if (job->is_warm)
		return build_warm_collect(&helper->warm, job->pid, usage_out);
	while (wait4(job->pid, &status, 0, usage_out) < 0)
		if (errno != EINTR)
			return 0;
	return status;
}

/* Explains how a child ended that sent no report. */
static void explain_child_end(const struct helper_job *job, int status, const struct rusage *usage,
			      struct build_report *report)
{
	bool much_memory = (uint64_t)usage->ru_maxrss * 1024u > job->memory_limit_bytes / 2;

	report->status = STATUS_BUILD;
	report->native_code = 0;
	if (job->timed_out || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
		(void)snprintf(report->text, sizeof(report->text),
			       "the build was stopped: it took longer than %llu ms",
			       (unsigned long long)(job->time_limit_ns / 1000000u));
	else if (WIFSIGNALED(status) && much_memory)
		(void)snprintf(
			report->text, sizeof(report->text),
			"the compiler crashed (signal %d); it was near its limit of %llu MiB of memory",
			WTERMSIG(status), (unsigned long long)(job->memory_limit_bytes >> 20));
	else if (WIFSIGNALED(status))
		(void)snprintf(report->text, sizeof(report->text),
			       "the compiler crashed (signal %d)", WTERMSIG(status));
	else
		(void)snprintf(report->text, sizeof(report->text),
			       "the compiler ended without a result (exit status %d)",
			       WEXITSTATUS(status));
}

static void finish_link(struct helper *helper, struct helper_job *job)
{
	struct rusage usage = {0};

	kill_job(job);
	int status = collect_child(helper, job, &usage);
	build_link_answer(helper->links, !job->timed_out && status == 0, job->folder.path);
	close_job(helper, job);
}

static void finish_job(struct helper *helper, struct helper_job *job)
{
	struct build_report report = {0};
	struct rusage usage = {0};
	uint64_t build_ns = clock_now_ns() - job->start_ns;

	kill_job(job);
	int status = collect_child(helper, job, &usage);
	bool whole = read(job->report, &report, sizeof(report)) == (ssize_t)sizeof(report);
	report.text[sizeof(report.text) - 1] = '\0';
	/* A report counts only if the child has exited by itself and in time. */
	if (!whole || job->timed_out || !WIFEXITED(status))
		explain_child_end(job, status, &usage, &report);
	const int fds[] = {job->log, job->binary};
	private_folder_remove(
		&job->folder); /* first: when the result arrives, nothing of the build is left */
	answer_job(helper, job->number, &report, build_ns, fds,
		   report.status == STATUS_SUCCESS ? 2 : 1);
	close_job(helper, job);
}

static void refuse_job(const struct helper *helper, uint64_t number, const char *text)
{
	struct build_report report = {.status = STATUS_RUNTIME};

	(void)snprintf(report.text, sizeof(report.text), "%s", text);
	answer_job(helper, number, &report, 0, NULL, 0);
}

static int make_files(struct helper_job *job, int *report_end_out)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	job->report = ends[0];
	*report_end_out = ends[1];
	(void)fcntl(job->report, F_SETFL, O_NONBLOCK); /* an absent report must not be waited for */
	job->log = memfd_create("sycl-build-log", MFD_CLOEXEC);
	job->binary = memfd_create("sycl-build-binary", MFD_CLOEXEC);
	return job->log < 0 || job->binary < 0 ? -errno : 0;
}

/*
 * A cache for this build only. PoCL reads back what it has compiled. In a shared cache other builds
 * of the same source may add to that or remove it meanwhile, and the binary would be broken.
 * Without a folder the backend uses no cache.
 */
static void make_folder(struct helper_job *job, const char *cache_directory)
{
	if (private_folder_make(cache_directory[0] ? cache_directory : NULL, "sycld-compiler",
				&job->folder) < 0)
		job->folder = PRIVATE_FOLDER_NONE;
}

/* What a child does, which never returns. */
struct helper_task {
	const Sycl__V1__BuildJob *message; /* NULL: link */
	const struct build_child_files *files;
};

/* Both processes call setpgid; the first call has effect. */
static int follow_job(struct helper *helper, struct helper_job *job)
{
	(void)setpgid(job->pid, job->pid);
	job->pidfd = pidfd_open(job->pid, 0);
	if (job->pidfd < 0) {
		int error = -errno;
		struct rusage usage = {0};
		kill_job(job);
		(void)collect_child(helper, job, &usage);
		return error;
	}
	return 0;
}

static int fork_job(struct helper *helper, struct helper_job *job, const struct helper_task *task)
{
	pid_t parent = getpid();

	if (task->message) {
		build_warm_note(&helper->warm, task->message, task->files->backend_options);
		job->is_warm =
			build_warm_fork(&helper->warm, task->message, task->files, &job->pid) == 0;
		if (job->is_warm)
			return follow_job(helper, job);
	}
	job->pid = fork();
	if (job->pid < 0)
		return -errno;
	if (job->pid == 0) {
		(void)setpgid(0, 0);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		if (!task->message)
			build_link_run(task->files->source, task->files->folder);
		build_child_run(task->message, task->files);
	}
	return follow_job(helper, job);
}

static void start_job(struct helper *helper, const Sycl__V1__BuildJob *message,
		      struct packet_fds *fds)
{
	CLEANUP(close_fd) int source = packet_fds_take(fds, 0);
	CLEANUP(close_fd) int report_end = -1;

	if (source < 0 || helper->count == HELPER_JOBS_MAX) {
		refuse_job(helper, message->job,
			   source < 0 ? "the build has no source" : "too many builds at one time");
		return;
	}
	struct helper_job *job = &helper->jobs[helper->count++];
	*job = (struct helper_job){
		.number = message->job,
		.pid = -1,
		.pidfd = -1,
		.log = -1,
		.binary = -1,
		.report = -1,
		.start_ns = clock_now_ns(),
		.deadline_ns = clock_deadline_ns(message->time_limit_ns),
		.time_limit_ns = message->time_limit_ns,
		.memory_limit_bytes = message->memory_limit_bytes,
		.folder = PRIVATE_FOLDER_NONE,
	};
	int error = make_files(job, &report_end);
	if (error == 0) {
		make_folder(job, message->cache_directory);
		const struct build_child_files files = {source,           job->log,
							job->binary,      report_end,
							job->folder.path, helper->backend_options};
		error = fork_job(helper, job, &(struct helper_task){message, &files});
	}
	if (error < 0) {
		refuse_job(helper, message->job, "the build could not be started");
		close_job(helper, job);
	}
}

/*
 * The engine sends one object at a time, and waits. The linker works in the user's cache folder: no
 * other user can fill it.
 */
static void start_link_job(struct helper *helper, int object, const char *parent)
{
	if (helper->count == HELPER_JOBS_MAX) {
		build_link_answer(helper->links, false, NULL);
		return;
	}
	struct helper_job *job = &helper->jobs[helper->count++];
	*job = (struct helper_job){
		.is_link = true,
		.pid = -1,
		.pidfd = -1,
		.log = -1,
		.binary = -1,
		.report = -1,
		.deadline_ns = clock_deadline_ns(BUILD_LINK_NS),
		.folder = PRIVATE_FOLDER_NONE,
	};
	make_folder(job, parent);
	if (!job->folder.path)
		make_folder(job, "");
	const struct build_child_files files = {.source = object, .folder = job->folder.path};
	int error = job->folder.path ? 0 : -EIO;
	if (error == 0)
		error = fork_job(helper, job, &(struct helper_task){NULL, &files});
	if (error < 0) {
		build_link_answer(helper->links, false, NULL);
		close_job(helper, job);
	}
}

static struct helper_job *find_job(struct helper *helper, uint64_t number)
{
	for (unsigned i = 0; i < helper->count; i++)
		if (helper->jobs[i].number == number && !helper->jobs[i].is_link)
			return &helper->jobs[i];
	return NULL;
}

static void cancel_job(struct helper *helper, uint64_t number)
{
	struct helper_job *job = find_job(helper, number);
	struct rusage usage = {0};

	if (!job)
		return;
	kill_job(job);
	(void)collect_child(helper, job, &usage);
	close_job(helper, job);
}

/* Handles one packet. False: the engine has closed the socket. */
static bool helper_take_packet(struct helper *helper)
{
	ProtobufCMessage *message = NULL;
	CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;

	int got = message_receive(helper->socket, &sycl__v1__build_packet__descriptor,
				  &helper->decode, &message, &fds, MSG_DONTWAIT);
	if (got == -EAGAIN || got == -EINTR)
		return true;
	if (got <= 0)
		return false;
	const Sycl__V1__BuildPacket *packet = (const Sycl__V1__BuildPacket *)message;
	if (packet->body_case == SYCL__V1__BUILD_PACKET__BODY_JOB)
		start_job(helper, packet->job, &fds);
	else if (packet->body_case == SYCL__V1__BUILD_PACKET__BODY_CANCEL)
		cancel_job(helper, packet->cancel->job);
	return true;
}

/* Handles one object. False: the engine has closed the socket. */
static bool helper_take_object(struct helper *helper)
{
	CLEANUP(close_fd) int object = -1;
	char parent[PATH_MAX];

	int got = build_link_receive(helper->links, &object, parent);
	if (got == 1)
		start_link_job(helper, object, parent);
	return got != 0;
}

static int next_timeout_ms(const struct helper *helper)
{
	uint64_t first = build_warm_deadline_ns(&helper->warm, helper->count > 0);
	uint64_t now = clock_now_ns();

	for (unsigned i = 0; i < helper->count; i++)
		if (!helper->jobs[i].timed_out && helper->jobs[i].deadline_ns < first)
			first = helper->jobs[i].deadline_ns;
	if (first == UINT64_MAX)
		return -1;
	if (first <= now)
		return 0;
	uint64_t milliseconds = (first - now) / 1000000u + 1;
	return milliseconds > 1000000 ? 1000000 : (int)milliseconds;
}

static void helper_stop_late_jobs(struct helper *helper)
{
	uint64_t now = clock_now_ns();

	for (unsigned i = 0; i < helper->count; i++) {
		if (helper->jobs[i].timed_out || helper->jobs[i].deadline_ns > now)
			continue;
		helper->jobs[i].timed_out = true;
		kill_job(&helper->jobs[i]); /* the end of the child is then handled as any other */
	}
}

static void serve_jobs(struct helper *helper)
{
	while (!end_requested) {
		struct pollfd fds[HELPER_JOBS_MAX + 3];
		unsigned count = helper->count;
		for (unsigned i = 0; i < count; i++)
			fds[i] = (struct pollfd){.fd = helper->jobs[i].pidfd, .events = POLLIN};
		fds[count] = (struct pollfd){.fd = helper->socket, .events = POLLIN};
		fds[count + 1] = (struct pollfd){.fd = helper->links, .events = POLLIN};
		fds[count + 2] = (struct pollfd){.fd = helper->warm.socket, .events = POLLIN};
		if (poll(fds, count + 3, next_timeout_ms(helper)) < 0 && errno != EINTR)
			return;
		/*
		 * From the last job to the first: closing a job moves the last job into its place.
		 */
		for (unsigned i = count; i > 0; i--)
			if (fds[i - 1].revents)
				(helper->jobs[i - 1].is_link ? finish_link : finish_job)(
					helper, &helper->jobs[i - 1]);
		helper_stop_late_jobs(helper);
		if (fds[count + 2].revents && fds[count + 2].fd == helper->warm.socket)
			build_warm_receive(&helper->warm);
		build_warm_check(&helper->warm, helper->count > 0);
		if (fds[count].revents && !helper_take_packet(helper))
			return;
		if (fds[count + 1].revents && !helper_take_object(helper))
			return;
	}
}

static int move_socket(int *socket, int place)
{
	if (*socket == place)
		return fcntl(place, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
	int moved = dup3(*socket, place, O_CLOEXEC);
	if (moved < 0)
		return -errno;
	*socket = moved;
	return 0;
}

/* Keeps nothing of the engine but the sockets, has no terminal, and ends with the engine. */
int build_helper_settle(struct build_helper_sockets *sockets)
{
	struct sigaction action = {.sa_handler = on_end_signal};

	(void)prctl(PR_SET_NAME, "sycl-build");
	(void)setsid();
	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		(void)signal(signal_number, SIG_DFL);
	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGINT, &action, NULL);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	/* Moved out of the way first: it may be in the other one's place. */
	if (sockets->links == 3) {
		sockets->links = fcntl(3, F_DUPFD_CLOEXEC, 5);
		if (sockets->links < 0)
			return -errno;
	}
	int error = move_socket(&sockets->builds, 3);
	if (error == 0 && sockets->links >= 0)
		error = move_socket(&sockets->links, 4);
	if (error < 0)
		return error;
	return close_range(sockets->links < 0 ? 4 : 5, ~0u, 0) < 0 ? -errno : 0;
}

int build_helper_serve(struct build_helper_sockets sockets, const char *const *backend_options)
{
	struct helper helper = {.socket = -1};

	if (build_helper_settle(&sockets) < 0 ||
	    decode_arena_init(&helper.decode, DECODE_BYTES_MAX) < 0)
		return 1;
	helper.socket = sockets.builds;
	helper.links = sockets.links;
	helper.backend_options = backend_options;
	build_warm_init(&helper.warm);
	serve_jobs(&helper);
	while (helper.count > 0) {
		struct rusage usage = {0};
		kill_job(&helper.jobs[0]);
		(void)collect_child(&helper, &helper.jobs[0], &usage);
		close_job(&helper, &helper.jobs[0]);
	}
	build_warm_end(&helper.warm);
	decode_arena_fini(&helper.decode);
	return 0;
}

int build_helper_main(int socket)
{
	return build_helper_serve((struct build_helper_sockets){.builds = socket, .links = -1},
				  NULL);
}
