/*
 * Sessions that end at any moment (N4): random commands of three sessions on three devices. They
 * come in bursts, in parts, behind one another, on separate buffers and on shared ones. One session
 * ends, sometimes twice, while devices' threads send, set aside, spill and complete. Each end is
 * reported exactly once. The other sessions' own buffers must be as if these were alone. Shared
 * ones are either right or reported as lost. ThreadSanitizer checks the rest.
 */
#include "scheduler/harness.h"

#include "access_mode.h"
#include "fair_queue/fair_queue.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEVICES = 3,
	SESSIONS = 3,
	OWN = 4,
	SHARED = 2,
	TASKS = 400,
	WORDS = 8192,
	BYTES = WORDS * 4,
	ROUNDS = 36
};

struct command {
	struct probe probe;
	uint32_t session;
	struct words *words; /* NULL: none */
	bool is_shared;
	uint32_t launches;
};

struct round {
	struct harness harness;
	uint64_t random;
	struct sched_account *accounts[SESSIONS];
	struct words own[SESSIONS][OWN], shared[SESSIONS][SHARED];
	struct command commands[TASKS];
	enum scheduler_drop what;
	bool tight;
};

/* Sums of all rounds, which show that sessions ended during work. */
struct seen {
	uint64_t dropped, parts, bursts, spills;
};

static const struct backend_fault ended = {.status = STATUS_CONNECTION_LOST,
					   .text = "its session has ended"};

static int race_drop_report_failure(const char *what)
{
	(void)fprintf(stderr, "%s\n", what);
	return 1;
}

static uint32_t random_of_round(struct round *round, uint32_t bound)
{
	round->random = round->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(round->random >> 33) % bound;
}

static void start_round(struct round *round, uint32_t number)
{
	static const uint32_t kinds[] = {
		BACKEND_FEATURE_EXPORT_VMM, FAKE_FEATURES_ALL & ~(uint32_t)BACKEND_FEATURE_INLINE,
		FAKE_FEATURES_ALL & ~(uint32_t)(BACKEND_FEATURE_POLLED | BACKEND_FEATURE_PEER)};
	struct scheduler_config config = {
		.processors = 4, .slice_ns = 1, .never_fair_queue = number % 4 == 3};
	*round = (struct round){.random = number + 1,
				.what = number % 2 ? SCHEDULER_DROP_UNSEEN : SCHEDULER_DROP_ALL,
				.tight = number % 3 == 2};
	config.spills = round->tight;
	config.spill_least_bytes = 1;
	fake_reset();
	for (uint32_t i = 0; i < DEVICES; i++)
		fake_device_options(
			i, (struct fake_device_options){
				   .features = kinds[number % 3],
				   .preferred_lanes = 2,
				   .bursts = number % 5 == 0,
				   .memory_bytes =
					   round->tight ? (SHARED + 2) * FAKE_GRANULE_BYTES : 0});
	harness_start_with(&round->harness, DEVICES, &config);
	for (uint32_t i = 0; i < SESSIONS; i++) {
		if (sched_account_create(UINT64_MAX, &round->accounts[i]) < 0 ||
		    sched_account_rank(round->accounts[i],
				       i == 0 ? FAIR_QUEUE_BEST_EFFORT : FAIR_QUEUE_NORMAL,
				       FAIR_QUEUE_WEIGHT) < 0)
			exit(race_drop_report_failure("no account"));
		for (uint32_t k = 0; k < OWN; k++)
			harness_words(&round->harness, &round->own[i][k], WORDS, true, 0);
		for (uint32_t k = 0; k < SHARED; k++) {
			if (i == 0)
				harness_words_shared(&round->harness, &round->shared[i][k], WORDS,
						     true, 0, k, BACKEND_EXPORT_VMM);
			else
				harness_words_again(&round->shared[i][k], &round->shared[0][k]);
		}
	}
}

static void submit_command(struct round *round, uint32_t index)
{
	static const uint32_t values[] = {0, 0, 0};
	struct command *command = &round->commands[index];
	uint32_t kind = random_of_round(round, 8);
	command->is_shared = kind == 0;
	if (kind < 6)
		command->words =
			command->is_shared
				? &round->shared[command->session][random_of_round(round, SHARED)]
				: &round->own[command->session][random_of_round(round, OWN)];
	command->launches = kind == 1 ? 4 : 1;
	const struct use use = {.words = command->words, .mode = ACCESS_MODE_READ_WRITE};
	struct task *after = NULL;
	for (uint32_t i = index; i > 0 && index - i < 8 && !after; i--)
		if (round->commands[i - 1].session == command->session &&
		    !round->commands[i - 1].probe.done && !round->commands[i - 1].is_shared)
			after = round->commands[i - 1].probe.task;
	struct launch launch = {.device = random_of_round(round, DEVICES),
				.kernel = command->words ? "increment_u32" : "noop",
				.uses = &use,
				.use_count = command->words ? 1 : 0,
				.items = WORDS,
				.home_lane = random_of_round(round, 3),
				.shares_home = true,
				.after = &after,
				.after_count = after && random_of_round(round, 2) ? 1 : 0,
				.session = command->session + 1,
				.group = index + 1,
				.splittable = command->launches == 1,
				.burst = command->launches == 1 ? 0 : command->launches};
	launch.values = command->launches == 1 ? NULL : values;
	round->harness.account = round->accounts[command->session];
	(void)harness_launch(&round->harness, &launch, &command->probe);
	round->harness.account = NULL;
}

static void end_victim(struct round *round, enum scheduler_drop what)
{
	(void)scheduler_drop(round->harness.scheduler, round->accounts[0], what, &ended);
}

/* The victim submits until it has ended; the others continue. */
static void run_round(struct round *round)
{
	uint32_t end = 40 + random_of_round(round, TASKS / 2);
	for (uint32_t i = 0; i < TASKS; i++) {
		struct command *command = &round->commands[i];
		command->session = i < end ? random_of_round(round, SESSIONS)
					   : 1 + random_of_round(round, SESSIONS - 1);
		submit_command(round, i);
		if (random_of_round(round, 16) == 0)
			harness_turn(&round->harness);
		if (i == end)
			end_victim(round, round->what);
		if (i == end + 5)
			end_victim(round, round->what);
	}
}

static const char *check_reports(const struct round *round)
{
	for (uint32_t i = 0; i < TASKS; i++) {
		const struct command *command = &round->commands[i];
		int32_t status = command->probe.fault.status;
		if (command->probe.calls != 1)
			return "a command was not reported once";
		if (command->session == 0 || status == STATUS_SUCCESS ||
		    (round->tight && status == STATUS_MEMORY_ALLOCATION))
			continue;
		/* None of its own groups needs a shared buffer. */
		if (status != STATUS_DEPENDENCY_FAILED || (!command->is_shared && !round->tight) ||
		    (round->what == SCHEDULER_DROP_UNSEEN && !round->tight))
			return command->probe.fault.text;
	}
	return NULL;
}

static uint32_t increments(const struct round *round, const struct words *words)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < TASKS; i++)
		if (round->commands[i].words == words &&
		    round->commands[i].probe.fault.status == STATUS_SUCCESS)
			count += round->commands[i].launches;
	return count;
}

static const char *check_words(struct round *round, struct words *words, uint32_t count)
{
	struct probe probe;
	struct task *access = harness_host(&round->harness, words, ACCESS_MODE_READ, &probe);
	if (!harness_wait(&round->harness, &probe))
		return "contents do not come";
	if (probe.fault.status != STATUS_SUCCESS)
		return probe.fault.status == STATUS_DEPENDENCY_FAILED ? NULL
								      : "contents cannot be had";
	for (uint32_t i = 0; i < words->count; i++)
		if (words->host[i] != count + i)
			return "contents are wrong";
	host_access_release(access);
	return NULL;
}

static const char *check_round(struct round *round)
{
	const char *wrong =
		harness_settle(&round->harness) ? check_reports(round) : "not all commands ended";
	for (uint32_t i = 1; i < SESSIONS && !wrong; i++)
		for (uint32_t k = 0; k < OWN && !wrong; k++)
			wrong = check_words(round, &round->own[i][k],
					    increments(round, &round->own[i][k]));
	for (uint32_t k = 0; k < SHARED && !wrong; k++) {
		uint32_t count = 0;
		for (uint32_t i = 0; i < SESSIONS; i++)
			count += increments(round, &round->shared[i][k]);
		wrong = check_words(round, &round->shared[1][k], count);
	}
	struct scheduler_counters counters;
	scheduler_counters(round->harness.scheduler, &counters);
	if (!wrong && (counters.fair_queue_waiting > 0 || counters.tasks_open > 0 ||
		       sched_account_sent(round->accounts[0]) > 0 ||
		       sched_account_bytes(round->accounts[0]) > 0))
		wrong = "something was not given back";
	return wrong;
}

static const char *stop_round(struct round *round)
{
	for (uint32_t i = 0; i < SESSIONS; i++) {
		for (uint32_t k = 0; k < OWN; k++)
			harness_words_free(&round->harness, &round->own[i][k]);
		for (uint32_t k = 0; k < SHARED; k++)
			harness_words_free(&round->harness, &round->shared[i][k]);
		(void)sched_account_drop(round->accounts[i]);
	}
	return harness_stop(&round->harness);
}

static void count_paths(const struct round *round, struct seen *seen)
{
	struct scheduler_counters counters;
	scheduler_counters(round->harness.scheduler, &counters);
	seen->parts += counters.split_parts;
	seen->bursts += counters.bursts;
	seen->spills += counters.spill.spills;
	for (uint32_t i = 0; i < TASKS; i++)
		seen->dropped += round->commands[i].probe.fault.status == STATUS_CONNECTION_LOST;
}

int main(void)
{
	static struct round round;
	struct seen seen = {.dropped = 0};
	for (uint32_t i = 0; i < ROUNDS; i++) {
		start_round(&round, i);
		run_round(&round);
		const char *wrong = check_round(&round);
		if (wrong)
			return race_drop_report_failure(wrong);
		count_paths(&round, &seen);
		wrong = stop_round(&round);
		if (wrong)
			return race_drop_report_failure(wrong);
	}
	if (seen.dropped == 0 || seen.parts == 0 || seen.bursts == 0 || seen.spills == 0)
		return race_drop_report_failure(
			"nothing was dropped, sent in parts or in bursts, or spilled");
	return 0;
}
