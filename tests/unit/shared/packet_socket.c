/* Datagrams with descriptors. Every test counts the process's descriptors before and after. */
#include "packet_socket.h"

#include "cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static unsigned open_descriptors(void)
{
	unsigned count = 0;
	DIR *folder = opendir("/proc/self/fd");
	cr_assert(ne(ptr, folder, NULL));
	while (readdir(folder))
		count++;
	(void)closedir(folder);
	return count;
}

static int ends[2];
static unsigned before;

static void open_ends(void)
{
	before = open_descriptors();
	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0));
}

static void close_ends(void)
{
	close_fd(&ends[0]);
	close_fd(&ends[1]);
}

TestSuite(packet_sockets, .timeout = 10, .init = open_ends);

/* This is in the test itself, because a failed assertion in a test's end would count as a pass. */
#define ASSERT_NO_DESCRIPTOR_LEFT()                                                                \
	do {                                                                                       \
		close_ends();                                                                      \
		cr_assert(eq(uint, open_descriptors(), before));                                   \
	} while (0)

static void make_files(int *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
		cr_assert(ge(int, fds[i], 0));
	}
}

static void close_files(int *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		close_fd(&fds[i]);
}

/* Sends as a hostile peer would: without packet_socket_send and its limits. */
static void send_raw(int socket, const void *bytes, size_t count, const int *fds, unsigned fd_count)
{
	char control[CMSG_SPACE(64 * sizeof(int))] __attribute__((aligned(16))) = {0};
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = count};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (fd_count) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(head), fds, fd_count * sizeof(int));
	}
	cr_assert(eq(long, (long)sendmsg(socket, &message, MSG_NOSIGNAL), (long)count));
}

Test(packet_sockets, datagrams_keep_their_borders)
{
	char buffer[64];
	struct packet_fds fds = PACKET_FDS_INIT;
	cr_assert(eq(int, packet_socket_send(ends[0], "one", 3, NULL, 0, 0), 0));
	cr_assert(eq(int, packet_socket_send(ends[0], "three", 5, NULL, 0, 0), 0));
	cr_assert(eq(long, packet_socket_receive(ends[1], buffer, sizeof(buffer), &fds, 0), 3));
	cr_assert(eq(long, packet_socket_receive(ends[1], buffer, sizeof(buffer), &fds, 0), 5));
	cr_assert(eq(int, memcmp(buffer, "three", 5), 0));
	cr_assert(eq(uint, fds.count, 0));
	ASSERT_NO_DESCRIPTOR_LEFT();
}

Test(packet_sockets, descriptors_arrive_in_order_and_close_on_exec)
{
	char buffer[8];
	int files[PACKET_DESCRIPTORS_MAX];
	struct packet_fds fds = PACKET_FDS_INIT;
	make_files(files, PACKET_DESCRIPTORS_MAX);
	for (unsigned i = 0; i < PACKET_DESCRIPTORS_MAX; i++)
		cr_assert(eq(int, fcntl(files[i], F_SETFL, i % 2 ? O_NONBLOCK : 0), 0));
	cr_assert(
		eq(int, packet_socket_send(ends[0], "x", 1, files, PACKET_DESCRIPTORS_MAX, 0), 0));
	close_files(files, PACKET_DESCRIPTORS_MAX);
	cr_assert(eq(long, packet_socket_receive(ends[1], buffer, sizeof(buffer), &fds, 0), 1));
	cr_assert(eq(uint, fds.count, PACKET_DESCRIPTORS_MAX));
	for (unsigned i = 0; i < PACKET_DESCRIPTORS_MAX; i++) {
		cr_assert(eq(int, fcntl(fds.fds[i], F_GETFD), FD_CLOEXEC));
		cr_assert(eq(int, (fcntl(fds.fds[i], F_GETFL) & O_NONBLOCK) != 0, i % 2 != 0));
	}
	CLEANUP(close_fd) int taken = packet_fds_take(&fds, 3);
	cr_assert(ge(int, taken, 0));
	cr_assert(eq(int, packet_fds_take(&fds, 3), -1));
	cr_assert(eq(int, packet_fds_take(&fds, PACKET_DESCRIPTORS_MAX), -1));
	packet_fds_close(&fds);
	cr_assert(eq(int, fcntl(taken, F_GETFD), FD_CLOEXEC), "closed although it was taken");
	close_fd(&taken);
	ASSERT_NO_DESCRIPTOR_LEFT();
}

Test(packet_sockets, more_descriptors_than_allowed_are_refused_and_closed)
{
	char buffer[8];
	int files[64];
	struct packet_fds fds = PACKET_FDS_INIT;
	make_files(files, 64);
	cr_assert(eq(int, packet_socket_send(ends[0], "x", 1, files, PACKET_DESCRIPTORS_MAX + 1, 0),
		     -EINVAL));
	for (unsigned count = PACKET_DESCRIPTORS_MAX + 1; count <= 64; count++) {
		send_raw(ends[0], "x", 1, files, count);
		cr_assert(eq(long, packet_socket_receive(ends[1], buffer, sizeof(buffer), &fds, 0),
			     -EPROTO));
	}
	cr_assert(eq(uint, fds.count, 0));
	close_files(files, 64);
	ASSERT_NO_DESCRIPTOR_LEFT();
}

Test(packet_sockets, descriptors_cut_off_by_a_full_table_are_refused_and_closed)
{
	char buffer[8];
	int files[2];
	struct packet_fds fds = PACKET_FDS_INIT;
	make_files(files, 2);
	cr_assert(eq(int, packet_socket_send(ends[0], "x", 1, files, 2, 0), 0));
	struct rlimit usual, tight;
	cr_assert(eq(int, getrlimit(RLIMIT_NOFILE, &usual), 0));
	tight = usual;
	tight.rlim_cur = (rlim_t)files[1] + 1;
	close_files(files, 1);
	cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &tight), 0));
	ssize_t r = packet_socket_receive(ends[1], buffer, sizeof(buffer), &fds, 0);
	cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &usual), 0));
	cr_assert(eq(long, r, -EPROTO));
	close_files(files + 1, 1);
	ASSERT_NO_DESCRIPTOR_LEFT();
}

Test(packet_sockets, a_datagram_larger_than_the_buffer_is_refused_with_its_descriptors)
{
	char buffer[8];
	int file;
	struct packet_fds fds = PACKET_FDS_INIT;
	make_files(&file, 1);
	cr_assert(eq(int, packet_socket_send(ends[0], "123456789", 9, &file, 1, 0), 0));
	cr_assert(eq(long, packet_socket_receive(ends[1], buffer, sizeof(buffer), &fds, 0),
		     -EMSGSIZE));
	close_fd(&file);
	ASSERT_NO_DESCRIPTOR_LEFT();
}

Test(packet_sockets, sizes_that_no_datagram_has_are_refused_before_sending)
{
	static char large[PACKET_BYTES_MAX + 1];
	cr_assert(eq(int, packet_socket_send(ends[0], large, PACKET_BYTES_MAX + 1, NULL, 0, 0),
		     -EMSGSIZE));
	cr_assert(eq(int, packet_socket_send(ends[0], large, 0, NULL, 0, 0), -EINVAL));
	cr_assert(eq(int, packet_socket_send(ends[0], large, PACKET_BYTES_MAX, NULL, 0, 0), 0));
	ASSERT_NO_DESCRIPTOR_LEFT();
}

Test(packet_sockets, a_hang_up_is_zero_after_what_was_sent_before)
{
	char buffer[8];
	struct packet_fds fds = PACKET_FDS_INIT;
	cr_assert(eq(int, packet_socket_send(ends[0], "last", 4, NULL, 0, 0), 0));
	close_fd(&ends[0]);
	cr_assert(eq(long, packet_socket_receive(ends[1], buffer, sizeof(buffer), &fds, 0), 4));
	cr_assert(eq(long, packet_socket_receive(ends[1], buffer, sizeof(buffer), &fds, 0), 0));
	cr_assert(eq(int, packet_socket_send(ends[1], "x", 1, NULL, 0, 0), -EPIPE));
	ASSERT_NO_DESCRIPTOR_LEFT();
}

Test(packet_sockets, an_empty_datagram_with_descriptors_counts_as_a_hang_up_and_leaks_nothing)
{
	char buffer[8];
	int file;
	struct packet_fds fds = PACKET_FDS_INIT;
	make_files(&file, 1);
	send_raw(ends[0], "", 0, &file, 1);
	cr_assert(eq(long, packet_socket_receive(ends[1], buffer, sizeof(buffer), &fds, 0), 0));
	close_fd(&file);
	ASSERT_NO_DESCRIPTOR_LEFT();
}

Test(packet_sockets, nothing_to_read_and_no_room_are_both_EAGAIN)
{
	char buffer[8];
	struct packet_fds fds = PACKET_FDS_INIT;
	cr_assert(eq(long,
		     packet_socket_receive(ends[1], buffer, sizeof(buffer), &fds, MSG_DONTWAIT),
		     -EAGAIN));
	int r;
	do {
		r = packet_socket_send(ends[0], "x", 1, NULL, 0, MSG_DONTWAIT);
	} while (r == 0);
	cr_assert(eq(int, r, -EAGAIN));
	cr_assert(eq(long,
		     packet_socket_receive(ends[1], buffer, sizeof(buffer), &fds, MSG_DONTWAIT),
		     1));
	ASSERT_NO_DESCRIPTOR_LEFT();
}

Test(packet_sockets, listening_makes_a_file_of_the_mode_and_identifies_clients)
{
	char folder[] = "/tmp/sycl-test-XXXXXX";
	char path[64];
	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	(void)snprintf(path, sizeof(path), "%s/socket", folder);
	CLEANUP(close_fd) int listening = -1;
	CLEANUP(close_fd) int connected = -1;
	cr_assert(eq(int, packet_socket_connect(path, &connected), -ENOENT));
	(void)umask(0077);
	cr_assert(eq(int, packet_socket_listen(path, 0666, 4, &listening), 0));
	struct stat facts;
	cr_assert(eq(int, stat(path, &facts), 0));
	cr_assert(eq(uint, facts.st_mode & 07777, 0666));
	int second = -1;
	cr_assert(eq(int, packet_socket_listen(path, 0600, 4, &second), -EADDRINUSE));
	cr_assert(eq(int, second, -1));

	cr_assert(eq(int, packet_socket_connect(path, &connected), 0));
	CLEANUP(close_fd) int accepted = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	cr_assert(ge(int, accepted, 0));
	pid_t pid;
	uid_t uid;
	gid_t gid;
	cr_assert(eq(int, packet_socket_peer(accepted, &pid, &uid, &gid), 0));
	cr_assert(eq(int, pid, getpid()));
	cr_assert(eq(uint, uid, geteuid()));
	cr_assert(eq(uint, gid, getegid()));
	close_fd(&listening);
	cr_assert(eq(int, packet_socket_connect(path, &second), -ECONNREFUSED));
	cr_assert(eq(int, unlink(path), 0));
	cr_assert(eq(int, rmdir(folder), 0));
	close_fd(&accepted);
	close_fd(&connected);
	ASSERT_NO_DESCRIPTOR_LEFT();
}

Test(packet_sockets, a_path_too_long_for_a_socket_is_refused)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
	memset(path, 'a', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	int fd = -1;
	cr_assert(eq(int, packet_socket_connect(path, &fd), -ENAMETOOLONG));
	cr_assert(eq(int, packet_socket_listen(path, 0600, 1, &fd), -ENAMETOOLONG));
	cr_assert(eq(int, packet_socket_connect("", &fd), -EINVAL));
	cr_assert(eq(int, fd, -1));
	ASSERT_NO_DESCRIPTOR_LEFT();
}
