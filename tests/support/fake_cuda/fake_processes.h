/* Tries one way to start a process or thread, in the process of the double: "fork", "vfork",
 * "execve", "posix_spawn", "clone", "thread". Or tries to make a folder where the driver looks for
 * MPS: "mps". Returns 0 or the errno; EINVAL for other words. */
#ifndef SYCL_TESTS_FAKE_PROCESSES_H
#define SYCL_TESTS_FAKE_PROCESSES_H

int fake_processes_try(const char *what);

/* From now on no thread of this process can set a filter of system calls: that fails with EINVAL,
 * as in a kernel without filters. 0 or a negative errno. */
int fake_processes_refuse_filters(void);

#endif
