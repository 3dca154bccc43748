/*
 * Starts the service with the restrictions of its unit (systemd/sycld.service.in), on machines
 * where no systemd runs: a container with a GPU, for example. What the container does not permit
 * is left out and reported.
 */
#ifndef SYCL_TESTS_CONFINED_H
#define SYCL_TESTS_CONFINED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { SETTINGS_MAX = 96, NODES_MAX = 512 };

/* A line of the unit's part [Service], and what became of it. */
struct setting {
	char name[48], value[256];
	char state[16], note[320];
};

/* A device file that the service may open. */
struct node {
	char path[64];
	int tree;                /* a copy of its mount, -1 if there is none */
	struct setting *setting; /* the line that allows it; NULL: DevicePolicy=closed does */
};

struct confined {
	struct setting settings[SETTINGS_MAX];
	size_t settings_count;
	struct node nodes[NODES_MAX];
	size_t nodes_count;
	const char *unit, *run, *cache, *keep;
	FILE *calls;          /* the numbers of permitted system calls; NULL: not known */
	char group[PATH_MAX]; /* the control group that was made, "" if none */
	int number;           /* in the name of that group */
	bool has_mounts;      /* this process has a mount namespace of its own */
	unsigned watchdog_seconds;
};

/* Each sets the state and the note, a format and its values. `error` is a positive errno. */
__attribute__((format(printf, 2, 3))) void setting_applied(struct setting *setting,
							   const char *note, ...);
__attribute__((format(printf, 2, 3))) void setting_absent(struct setting *setting, const char *note,
							  ...);
void setting_refused(struct setting *setting, const char *what, int error);
/* The first setting with this name, NULL if the unit has none. */
struct setting *confined_find(struct confined *confined, const char *name);

typedef void setting_function(struct confined *confined, struct setting *setting);

/* process.c: what a process inherits. */
setting_function confine_group, confine_group_memory, confine_delegate, confine_limit, confine_oom,
	confine_mask, confine_folder, confine_capabilities, confine_privileges, confine_watchdog;
/* Removes the control group and those in it. Their processes have ended. */
void confined_remove_group(struct confined *confined);

/* mounts.c: namespaces, and what the service finds in the file system. */
setting_function confine_mounts, confine_network, confine_hostname, confine_system, confine_proc,
	confine_writable, confine_control_groups, confine_tunables, confine_modules,
	confine_kernel_logs, confine_home, confine_temporary, confine_device, confine_devices;

/* filter.c: filters of system calls. Nothing that needs rights works after these. */
setting_function filter_architecture, filter_families, filter_namespaces, filter_realtime,
	filter_set_id, filter_personality, filter_clock, filter_host, filter_calls,
	filter_error_number;

#endif
