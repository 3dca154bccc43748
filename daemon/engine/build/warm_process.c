/* The warm process itself: opens the backend, and forks for each build. */
#include "build/warm.h"

#include "cleanup.h"
#include "packet.h"
#include "protocol_limits.h"
#include "vendor_role.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WARM_SOCKET = 3, WARM_FIRST_OTHER = BUILD_CHILD_FOLDER + 1 };

/* The socket and the folder in fixed places, every other one closed. What a driver prints here
 * belongs to no build. */
static int warm_place_files(int socket, const char *folder)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int moved = fcntl(socket, F_DUPFD_CLOEXEC, 16);
	int place = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int high = place < 0 ? -1 : fcntl(place, F_DUPFD_CLOEXEC, 16);

	if (null < 0 || moved < 0 || high < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(null, 2) < 0 || dup3(moved, WARM_SOCKET, O_CLOEXEC) < 0 ||
	    dup2(high, BUILD_CHILD_FOLDER) < 0)
		return -errno;
	(void)close(4);
	(void)close(5);
	return close_range(WARM_FIRST_OTHER, ~0u, 0) < 0 ? -errno : 0;
}

static void warm_send(const struct build_warm_answer *answer)
{
	(void)send(WARM_SOCKET, answer, sizeof(*answer), MSG_NOSIGNAL);
}

static _Noreturn void become_build(const struct build_child_device *device,
				   const Sycl__V1__BuildJob *job, struct packet_fds *fds,
				   pid_t warm)
{
	const struct build_child_files files = {.source = packet_fds_take(fds, 0),
						.log = packet_fds_take(fds, 1),
						.binary = packet_fds_take(fds, 2),
						.report = packet_fds_take(fds, 3)};
	int folder = packet_fds_take(fds, 4);

	(void)setpgid(0, 0);
	(void)prctl(PR_SET_NAME, "sycl-build");
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != warm)
		_exit(1);
	/* Not close-on-exec: a linker that the driver starts uses the same name. */
	if (folder < 0 || dup2(folder, BUILD_CHILD_FOLDER) < 0)
		_exit(1);
	build_child_run_warm(device, job, &files);
}

static void warm_start_build(const struct build_child_device *device, const Sycl__V1__BuildJob *job,
			     struct packet_fds *fds)
{
	struct build_warm_answer answer = {.error = 0};
	pid_t warm = getpid(), pid = fork();

	if (pid == 0)
		become_build(device, job, fds, warm);
	if (pid > 0)
		(void)setpgid(pid, pid); /* both call it; the first call has effect */
	answer.error = pid < 0 ? -errno : 0;
	answer.pid = pid;
	warm_send(&answer);
}

static void warm_collect_build(pid_t pid)
{
	struct build_warm_answer answer = {.error = 0};

	while (wait4(pid, &answer.status, 0, &answer.usage) < 0)
		if (errno != EINTR) {
			answer.error = -errno;
			break;
		}
	warm_send(&answer);
}

static void warm_serve(const struct build_child_device *device, struct decode_arena *decode)
{
	for (;;) {
		ProtobufCMessage *message = NULL;
		CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
		int got = message_receive(WARM_SOCKET, &sycl__v1__build_packet__descriptor, decode,
					  &message, &fds, 0);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			return;
		const Sycl__V1__BuildPacket *packet = (const Sycl__V1__BuildPacket *)message;
		if (packet->body_case == SYCL__V1__BUILD_PACKET__BODY_JOB)
			warm_start_build(device, packet->job, &fds);
		else if (packet->body_case == SYCL__V1__BUILD_PACKET__BODY_CANCEL)
			warm_collect_build((pid_t)packet->cancel->job);
	}
}

_Noreturn void build_warm_run(const Sycl__V1__BuildJob *job, int socket, const char *folder,
			      const char *const *options)
{
	struct build_child_device device = {.error = 0};
	struct build_warm_answer answer = {.error = 0};
	struct decode_arena decode;

	vendor_role_set(&(struct vendor_role){.only_builds = true});
	if (warm_place_files(socket, folder) < 0 ||
	    decode_arena_init(&decode, DECODE_BYTES_MAX) < 0)
		_exit(1);
	(void)prctl(PR_SET_NAME, "sycl-build-warm");
	build_child_reset_signals();
	build_child_limit_warm();
	build_child_open(job, BUILD_CHILD_FOLDER_PATH, options, &device);
	answer.error = device.error;
	if (answer.error == 0)
		answer.error = device.ops->warm ? device.ops->warm(device.backend, device.device,
								   &device.fault)
						: -EOPNOTSUPP;
	warm_send(&answer);
	if (answer.error == 0)
		warm_serve(&device, &decode);
	_exit(0);
}
