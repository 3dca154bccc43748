/* The control groups of this machine, for tests that need a writable cgroup2. */
#ifndef SYCL_TESTS_SUPERVISOR_CONTROL_GROUP_H
#define SYCL_TESTS_SUPERVISOR_CONTROL_GROUP_H

#include "supervisor/harness.h"

/* Finds where the first cgroup2 is mounted. False: nowhere, and the output is untouched. */
bool control_group_mount(char mount_out[HARNESS_PATH_BYTES]);
/* Writes a file of the group in this folder. False: the kernel has refused. */
bool control_group_write(const char *folder, const char *file, const char *value);

#endif
