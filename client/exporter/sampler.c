#include "sampler.h"

#include "clock.h"
#include "protocol_limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { EVENTS_TIMEOUT_MS = 3000, EVENT_ANSWERS_MOST = 16 };

#define WATCHED_NS   8000000000ull
#define STEP_SLOW_NS 5000000000ull
#define STEP_FAST_NS 1000000000ull

static void learn_users(struct users *users, const struct sample *sample)
{
	const Sycl__V1__AdminReply *status = sample->status.reply;
	if (!sample->is_up)
		return;
	for (size_t i = 0; i < status->n_accounts; i++)
		users_learn(users, status->accounts[i]->uid);
	for (size_t i = 0; i < status->n_engines; i++)
		users_learn(users, status->engines[i]->uid);
	for (size_t i = 0; i < status->n_sessions; i++)
		users_learn(users, status->sessions[i]->uid);
}

/* Logs a line whenever the service goes up or down. */
static void log_change(const struct sample *before, const struct sample *now)
{
	bool was_up = before && before->is_up;
	if (before && was_up == now->is_up)
		return;
	if (!now->is_up)
		(void)fprintf(stderr, "sycld-exporter: %s\n", now->problem);
	else
		(void)fprintf(
			stderr, "sycld-exporter: the service answers%s\n",
			now->status.reply->service->filtered
				? ", but shows only this process's own user: the process is not in "
				  "the observers' group (sycld.conf(5))"
				: "");
}

/* Names are looked up in a copy, outside the lock, because a user database may block. */
static void sampler_take(struct sampler *sampler, struct users *copy)
{
	struct sample *sample = sample_take(sampler->runtime_directory);
	if (!sample)
		return;
	learn_users(copy, sample);
	(void)pthread_mutex_lock(&sampler->lock);
	struct sample *before = sampler->latest;
	memcpy(sampler->users.list, copy->list, copy->count * sizeof(*copy->list));
	sampler->users.count = copy->count;
	history_add(&sampler->history, sample);
	if (sample->is_up)
		tally_users_follow(&sampler->known, sample->status.reply);
	sampler->latest = sample;
	(void)pthread_mutex_unlock(&sampler->lock);
	log_change(before, sample);
	(void)sample_free(before);
}

/* Takes the faults since the last time. This thread alone changes the list, but others read it. A
 * service of an earlier release has no events. */
static void sampler_take_faults(struct sampler *sampler)
{
	struct fault_list *faults = &sampler->history.faults;
	bool more = true;
	fault_list_note_service(faults, sampler->latest->status.reply->service);
	for (unsigned i = 0; i < EVENT_ANSWERS_MOST && more; i++) {
		Sycl__V1__EventsQuery query = SYCL__V1__EVENTS_QUERY__INIT;
		Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
		struct answer answer;
		char problem[SAMPLE_PROBLEM_BYTES];
		query.after = faults->after;
		request.protocol = PROTOCOL_VERSION;
		request.body_case = SYCL__V1__ADMIN_REQUEST__BODY_EVENTS;
		request.events = &query;
		if (status_request(sampler->runtime_directory, &request, EVENTS_TIMEOUT_MS, &answer,
				   problem, sizeof(problem)) < 0)
			return;
		(void)pthread_mutex_lock(&sampler->lock);
		more = fault_list_take(faults, answer.reply);
		(void)pthread_mutex_unlock(&sampler->lock);
		answer_free(&answer);
	}
}

static void deadline_after(uint64_t ns, struct timespec *deadline_out)
{
	(void)clock_gettime(CLOCK_MONOTONIC, deadline_out);
	ns += (uint64_t)deadline_out->tv_nsec;
	deadline_out->tv_sec += (time_t)(ns / 1000000000ull);
	deadline_out->tv_nsec = (long)(ns % 1000000000ull);
}

/* Waits until the next sample is due. A new viewer makes it due sooner. False: the thread must
 * end. */
static bool sampler_wait(struct sampler *sampler)
{
	const uint64_t begun_ns = clock_now_ns();
	(void)pthread_mutex_lock(&sampler->lock);
	while (!sampler->ends) {
		uint64_t now_ns = clock_now_ns();
		uint64_t step_ns = now_ns < sampler->watched_until_ns ? STEP_FAST_NS : STEP_SLOW_NS;
		struct timespec deadline;
		if (now_ns - begun_ns >= step_ns)
			break;
		deadline_after(begun_ns + step_ns - now_ns, &deadline);
		(void)pthread_cond_timedwait(&sampler->wanted, &sampler->lock, &deadline);
	}
	bool goes_on = !sampler->ends;
	(void)pthread_mutex_unlock(&sampler->lock);
	return goes_on;
}

static void *sampler_run(void *context)
{
	struct sampler *sampler = context;
	do {
		sampler_take(sampler, &sampler->learnt);
		if (sampler->latest && sampler->latest->is_up)
			sampler_take_faults(sampler);
	} while (sampler_wait(sampler));
	return NULL;
}

int sampler_start(struct sampler *sampler, const char *runtime_directory, unsigned users)
{
	pthread_condattr_t attributes;
	*sampler = (struct sampler){.runtime_directory = runtime_directory};
	sampler->known.most = users;
	(void)pthread_mutex_init(&sampler->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&sampler->wanted, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	int r = history_init(&sampler->history);
	if (r == 0)
		r = users_init(&sampler->users);
	if (r == 0)
		r = users_init(&sampler->learnt);
	if (r == 0)
		users_give_names(&sampler->users);
	if (r == 0)
		r = -pthread_create(&sampler->thread, NULL, sampler_run, sampler);
	sampler->is_started = r == 0;
	return r;
}

void sampler_stop(struct sampler *sampler)
{
	(void)pthread_mutex_lock(&sampler->lock);
	sampler->ends = true;
	(void)pthread_cond_signal(&sampler->wanted);
	(void)pthread_mutex_unlock(&sampler->lock);
	if (sampler->is_started)
		(void)pthread_join(sampler->thread, NULL);
	sampler->latest = sample_free(sampler->latest);
	history_fini(&sampler->history);
	users_give_names(NULL);
	users_fini(&sampler->users);
	users_fini(&sampler->learnt);
	(void)pthread_cond_destroy(&sampler->wanted);
	(void)pthread_mutex_destroy(&sampler->lock);
}

void sampler_watch(struct sampler *sampler)
{
	(void)pthread_mutex_lock(&sampler->lock);
	sampler->watched_until_ns = clock_now_ns() + WATCHED_NS;
	(void)pthread_cond_signal(&sampler->wanted);
	(void)pthread_mutex_unlock(&sampler->lock);
}
