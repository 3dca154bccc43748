/*
 * Answers of the service summed for metrics: by user, by device, by user and device. The numbers of
 * all three are bounded; users beyond the bound are one row, "(others)".
 */
#ifndef SYCLD_EXPORTER_TALLY_H
#define SYCLD_EXPORTER_TALLY_H

#include "users.h"

#include "admin.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	TALLY_USERS_MOST = 1000, /* --users may say fewer */
	TALLY_DEVICES = 64,
	TALLY_USES = 8192,
	TALLY_DEVICE_BYTES = 24,
	TALLY_STATES = 7,
};

/* The users that have a row of their own: those that came first, as long as they are there. So no
 * user's counters go into another row and back. */
struct tally_users {
	unsigned count, most;
	uint32_t uids[TALLY_USERS_MOST];
};

/* Call with an answer for somebody who sees everything. */
void tally_users_follow(struct tally_users *known, const Sycl__V1__AdminReply *status);

struct tally_user {
	bool is_others;
	uint32_t uid;
	char name[USER_NAME_BYTES];
	double engines, engines_answering, resident_bytes, waiting, spilled_bytes, drained;
	double sessions_ended, engines_failed, submitted, completed, failed;
	double held_bytes, shared_bytes;
	double sessions[TALLY_STATES];
};

struct tally_device {
	uint32_t backend, index;
	char name[TALLY_DEVICE_BYTES];      /* "cuda:0" */
	const Sycl__V1__KnownDevice *known; /* NULL: it was used, and nobody has it now */
};

struct tally_use {
	unsigned user, device;
	bool has_use, has_wait, has_share;
	double device_seconds, commands, failed, faults, to_device, to_host, spills, spilled;
	double waits, wait_p50, wait_p99; /* of "(others)": none */
	double least, most, granted, wants;
};

struct tally {
	unsigned user_count, device_count, use_count;
	struct tally_user users[TALLY_USERS_MOST + 1];
	struct tally_device devices[TALLY_DEVICES];
	struct tally_use uses[TALLY_USES];
	double left_out; /* rows that found no place */
};

extern const char *const tally_state_names[TALLY_STATES];

/* Engines number the devices of all backends; this is the number in the backend's own list. The
 * device must have facts. */
uint32_t tally_backend_index(const Sycl__V1__AdminReply *status, size_t device);

/* `known` NULL: each user has a row. NULL: no memory. The answers must outlive it. */
struct tally *tally_make(const Sycl__V1__AdminReply *status, const Sycl__V1__AdminReply *by_user,
			 const struct tally_users *known, const struct users *names);
struct tally *tally_free(struct tally *tally);

#endif
