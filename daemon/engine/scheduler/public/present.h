/*
 * What runs now, and how busy devices were lately. For reports: all of it is computed when a report
 * asks for it. Between reports a turn of the loop compares two times, and takes a sample of all
 * flows four times a second at most.
 */
#ifndef SYCL_ENGINE_PUBLIC_PRESENT_H
#define SYCL_ENGINE_PUBLIC_PRESENT_H

#include "backend.h"

#include <stdbool.h>
#include <stdint.h>

struct sched_account;
struct scheduler;
struct task;

/* What a session, or its oldest command, waits for. The values are those of proto's SessionWait. */
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
	uint32_t index;    /* of that backend's list */
	const char *what;  /* name of the kernel, "copy" ...; valid until the next turn */
	uint64_t since_ns; /* CLOCK_MONOTONIC: since then nothing of its lane is in front of it */
	uint64_t used_ns;  /* device time so far, which is an estimate until it ends */
	uint64_t queue, group; /* 0: the scheduler's own */
};

struct sched_device_present {
	enum backend_kind backend;
	uint32_t index;
	uint32_t busy_permille; /* of the window */
	uint32_t commands;      /* that were sent and have not come back */
	uint64_t held_bytes;    /* memory of sessions there */
};

/*
 * Begins a report, which shows the time of what runs up to now. Accounts have that when it ends,
 * and do not depend on reports. Returns the length of the window of all `permille`, in ns; 0: too
 * short to say.
 */
uint64_t scheduler_present_begin(struct scheduler *scheduler);

/* False: the device is not open. */
bool scheduler_device_present(const struct scheduler *scheduler, uint32_t device,
			      struct sched_device_present *present_out);

/* The command of the account that has run for longest. False: none runs. */
bool sched_account_running(const struct scheduler *scheduler, const struct sched_account *account,
			   struct sched_running *running_out);

/* Device memory of the account that is in the host now. Visits its memories if any was spilled. */
uint64_t sched_account_spilled(struct sched_account *account);

/* What the task waits for, or the task that is in front of it. */
enum sched_wait task_waits_for(const struct task *task);

#endif
