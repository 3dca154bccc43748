/*
 * Asks the service again and again, and keeps what it said. One thread asks, which may wait for the
 * service; others read, and wait for nobody but each other.
 */
#ifndef SYCLD_EXPORTER_SAMPLER_H
#define SYCLD_EXPORTER_SAMPLER_H

#include "history.h"
#include "tally.h"
#include "users.h"

#include <pthread.h>
#include <stdbool.h>

struct sampler {
	const char *runtime_directory;
	pthread_mutex_t lock; /* guards all that follows; nothing is taken inside it */
	pthread_cond_t wanted;
	struct sample *latest; /* NULL: not yet */
	struct history history;
	struct users users;
	struct tally_users known;
	uint64_t watched_until_ns; /* somebody looks: samples come each second */
	bool ends;
	pthread_t thread;
	bool is_started;
};

/* 0 or a negative errno. */
int sampler_start(struct sampler *sampler, const char *runtime_directory, unsigned users);
/* Ends the thread, and frees everything. */
void sampler_stop(struct sampler *sampler);

/* Somebody looks: samples come each second for a while. */
void sampler_watch(struct sampler *sampler);

#endif
