/*
 * The running commands, and the recent use of devices. A report computes these values itself.
 * Between reports a turn of the loop only compares two times, and samples all flows four times a
 * second at most.
 */
#ifndef SYCL_ENGINE_PUBLIC_PRESENT_H
#define SYCL_ENGINE_PUBLIC_PRESENT_H

#include "backend.h"

#include <stdbool.h>
#include <stdint.h>

struct sched_account;
struct scheduler;
struct task;

/* Reason for the wait of a session, or of its oldest command. The values are those of proto's
 * SessionWait. */
enum sched_wait {
	SCHED_WAIT_NONE,
	SCHED_WAIT_TURN,     /* another session's turn on the device */
	SCHED_WAIT_SHARE,    /* the user's share of the device's time is used up */
	SCHED_WAIT_DEVICE,   /* commands in front of it on the device */
	SCHED_WAIT_MEMORY,   /* room in the device's memory */
	SCHED_WAIT_COMPILER, /* its kernel is being built or loaded */
	SCHED_WAIT_HOST,     /* a host task or a host access of a program */
	SCHED_WAIT_EVENT,    /* an event from outside */
};

/* A command that runs. */
struct sched_running {
	enum backend_kind backend;
	uint32_t index;        /* index in that backend's list */
	const char *what;      /* name of the kernel, "copy" ...; valid until the next turn */
	uint64_t since_ns;     /* CLOCK_MONOTONIC; when it became the first one of its lane */
	uint64_t used_ns;      /* device time so far; an estimate until the end */
	uint64_t queue, group; /* 0: a command of the scheduler itself */
};

struct sched_device_present {
	enum backend_kind backend;
	uint32_t index;
	uint32_t busy_permille; /* busy part of the window */
	uint32_t commands;      /* commands that were sent and have not returned */
	uint64_t held_bytes;    /* memory of sessions on the device */
};

/*
 * Begins a report, which includes the time of running commands up to now. Accounts include it at a
 * command's end, independently of reports. Returns the length of the window of all `permille`, in
 * ns; 0: there is no window yet.
 */
uint64_t scheduler_present_begin(struct scheduler *scheduler);

/* False: the device is not open. */
bool scheduler_device_present(const struct scheduler *scheduler, uint32_t device,
			      struct sched_device_present *present_out);

/* Returns the command of the account that has run for longest. False: none runs. */
bool sched_account_running(const struct scheduler *scheduler, const struct sched_account *account,
			   struct sched_running *running_out);

/* Returns how many bytes of the account are spilled to the host now. Visits all its memories if any
 * was spilled. */
uint64_t sched_account_spilled(struct sched_account *account);

/* Returns the reason for the wait of the task, or of the task that must end before it. */
enum sched_wait task_waits_for(const struct task *task);

#endif
