/* Controls of a double in a process with another environment: a file and a socket in the library's
 * folder. */
#include "fake_cuda/double.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

TestSuite(cuda_double_remote, .timeout = 30);

static char folder[64] = "/tmp/fake-cuda-test.XXXXXX";

static void make_folder(void)
{
	char path[128];

	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/libcuda.so.1", folder);
	cr_assert_eq(symlink(FAKE_CUDA_LIBRARY, path), 0);
	(void)snprintf(path, sizeof(path), "%s/fake_cuda.conf", folder);
	FILE *file = fopen(path, "we");
	cr_assert_not_null(file);
	(void)fprintf(file, "# three, and somebody listens\ndevices 3\nset socket 1\n");
	(void)fclose(file);
}

static void remove_folder(void)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/libcuda.so.1", folder);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/fake_cuda.conf", folder);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/%d.socket", folder, (int)getpid());
	(void)unlink(path);
	(void)rmdir(folder);
}

static long long send_line(int socket_fd, const char *line)
{
	char answer[64] = "";

	cr_assert_eq(send(socket_fd, line, strlen(line), 0), (ssize_t)strlen(line));
	cr_assert_gt(recv(socket_fd, answer, sizeof(answer) - 1, 0), 0);
	return strtoll(answer, NULL, 10);
}

static int connect_to(pid_t process)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX}, own = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	cr_assert_geq(fd, 0);
	/* The kernel chooses the name, so that an answer can come. */
	cr_assert_eq(bind(fd, (const struct sockaddr *)&own, sizeof(own.sun_family)), 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/%d.socket", folder,
		       (int)process);
	cr_assert_eq(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

Test(cuda_double_remote, a_file_and_a_socket_beside_the_library)
{
	char path[128];
	find_function *find = NULL;
	PFN_cuInit_v2000 init = NULL;
	PFN_cuDeviceGetCount_v2000 count_devices = NULL;
	int count = 0;

	make_folder();
	(void)snprintf(path, sizeof(path), "%s/libcuda.so.1", folder);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(library, "%s", dlerror());
	void *symbol = dlsym(library, "cuGetProcAddress_v2");
	memcpy(&find, &symbol, sizeof(find));
	OK(find("cuInit", (void **)&init, 2000, 0, NULL));
	OK(find("cuDeviceGetCount", (void **)&count_devices, 2000, 0, NULL));
	OK(init(0));
	OK(count_devices(&count));
	cr_assert_eq(count, 3);

	int fd = connect_to(getpid());
	cr_assert_eq(send_line(fd, "count call cuDeviceGetCount"), 1);
	cr_assert_eq(send_line(fd, "command fail cuDeviceGetCount 1 999"), 0);
	cr_assert_eq(count_devices(&count), CUDA_ERROR_UNKNOWN);
	cr_assert_eq(send_line(fd, "command no such thing"), -22);
	cr_assert_eq(send_line(fd, "what"), -22);
	(void)close(fd);
	remove_folder();
}
