/* Queries the service periodically, and keeps its answers. One thread sends the queries, and may
 * wait for the service. Others read the answers, and wait only for each other. */
#ifndef SYCLD_EXPORTER_SAMPLER_H
#define SYCLD_EXPORTER_SAMPLER_H

#include "history.h"
#include "tally.h"
#include "user_list.h"

#include <pthread.h>
#include <stdbool.h>

struct sampler {
	const char *runtime_directory;
	struct users learnt;  /* the thread's own; `users` is its copy */
	pthread_mutex_t lock; /* guards all later members; no other lock is taken inside it */
	pthread_cond_t wanted;
	struct sample *latest; /* NULL: there is none yet */
	struct history history;
	struct users users;
	struct tally_users known;
	/* Until this time samples are taken each second, for a viewer. */
	uint64_t watched_until_ns;
	bool ends;
	pthread_t thread;
	bool is_started;
};

/* 0 or a negative errno. */
int sampler_start(struct sampler *sampler, const char *runtime_directory, unsigned users);
/* Ends the thread, and frees all memory. */
void sampler_stop(struct sampler *sampler);

/* Called for a viewer: samples are taken each second for a while. */
void sampler_watch(struct sampler *sampler);

#endif
