/* See model.h. */
#include "scheduler/model.h"

#include "scheduler/model_state.h"

#include "access_mode.h"
#include "fair_queue/fair_queue.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECENT    40u   /* `after` names one of the last ones, this many */
#define LOOKED_AT 1000u /* this many before each are checked for their order */

/* xorshift64*. Tests only need the same numbers everywhere. */
uint32_t model_draw(struct model *model, uint32_t below)
{
	model->random ^= model->random >> 12;
	model->random ^= model->random << 25;
	model->random ^= model->random >> 27;
	return (uint32_t)((model->random * 2685821657736338717ull) >> 33) % below;
}

uint32_t model_draw_device(struct model *model)
{
	uint32_t device = model_draw(model, DEVICES);
	return model->one_device && model_draw(model, 16) > 0 ? 0 : device;
}

struct record *model_new_record(struct model *model)
{
	return &model->records[model->count++];
}

enum expected model_judge(struct model *model, const struct part *parts, uint32_t part_count,
			  bool runs, bool fails, bool after_failed)
{
	bool dependency = after_failed;
	for (uint32_t i = 0; i < part_count; i++) {
		const struct part *part = &parts[i];
		bool needs = !runs || access_mode_needs_contents(part->mode);
		for (uint32_t w = 0; w < part->count && needs; w++)
			dependency |= model->poisoned[part->buffer][part->first + w];
	}
	for (uint32_t i = 0; i < part_count; i++)
		for (uint32_t w = 0; w < parts[i].count && access_mode_writes(parts[i].mode); w++)
			model->poisoned[parts[i].buffer][parts[i].first + w] = dependency || fails;
	return dependency ? EXPECT_DEPENDENCY : fails ? EXPECT_FAILURE : EXPECT_GOOD;
}

uint32_t model_choose_after(struct model *model, struct task **after, uint32_t *launches,
			    const struct backend_fault **past, bool *failed)
{
	uint32_t count = 0;
	*past = NULL;
	*failed = false;
	if (model->count < 2 || model_draw(model, 3) > 0)
		return 0;
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t back = 1 + model_draw(model, model->count - 1 < RECENT ? model->count - 1
										: RECENT);
		/* The record of the task itself is the last one. */
		const struct record *record = &model->records[model->count - 1 - back];
		if (record->host_access)
			continue;
		uint32_t launch = record->launches ? model_draw(model, record->launches) : 0;
		bool has_failed = (record->launches ? record->launch[launch] : record->expected) !=
				  EXPECT_GOOD;
		/* Otherwise the failure would spread to everything. */
		if (has_failed && model_draw(model, record->launches ? 8 : 30) > 0)
			continue;
		*failed |= has_failed;
		if (!record->probe.done) {
			launches[count] =
				record->launches ? task_launch_bit(record->task, launch) : 0;
			after[count++] = record->task;
		} else if (has_failed) {
			*past = record->launches ? &record->probe.launch_faults[launch]
						 : &record->probe.fault;
		}
	}
	return count;
}

static void fill_requirements(struct model *model, const struct part *parts, uint32_t part_count,
			      struct task_requirement *requirements)
{
	for (uint32_t i = 0; i < part_count; i++) {
		/* One of the two buffers with the same contents, not both. */
		bool known = i > 0 && parts[i].buffer == parts[0].buffer;
		requirements[i] = (struct task_requirement){
			.buffer = known ? requirements[0].buffer
					: model_words_of(model, parts[i].buffer)->buffer,
			.mode = parts[i].mode,
			.offset_bytes = parts[i].first * sizeof(uint32_t),
			.size_bytes = parts[i].count * sizeof(uint32_t),
			.order_offset_bytes = parts[i].order_first * sizeof(uint32_t),
			.order_size_bytes = parts[i].order_count * sizeof(uint32_t),
		};
	}
}

/* Exchanges the two requirements: their effects commute (B4). */
static void swap_requirements(struct task_request *request, struct task_requirement requirements[2],
			      struct task_argument arguments[3])
{
	const struct task_requirement first = requirements[0];
	requirements[0] = requirements[1];
	requirements[1] = first;
	for (uint32_t i = 0; request->action == TASK_LAUNCH && i < request->launch.argument_count;
	     i++) {
		arguments[i] = request->launch.arguments[i];
		if (arguments[i].kind == BACKEND_ARGUMENT_GLOBAL)
			arguments[i].requirement = 1 - arguments[i].requirement;
	}
	if (request->action == TASK_LAUNCH)
		request->launch.arguments = arguments;
	if (request->action == TASK_COPY) {
		request->copy.source = 1 - request->copy.source;
		request->copy.destination = 1 - request->copy.destination;
	}
}

void model_submit(struct model *model, struct record *record, struct task_request *request,
		  const struct part *parts, uint32_t part_count, bool runs, bool fails)
{
	struct task_requirement requirements[2];
	struct task_argument arguments[3];
	struct task *after[2];
	uint32_t launches[2];
	bool after_failed;
	fill_requirements(model, parts, part_count, requirements);
	if (part_count == 2 && model_draw(model, 2))
		swap_requirements(request, requirements, arguments);
	memcpy(record->parts, parts, part_count * sizeof(*parts));
	record->part_count = part_count;
	request->device = model->harness.devices[model_draw_device(model)];
	if (model->home_lanes && model_draw(model, 2))
		request->home_lane = 1 + model_draw(model, 3);
	request->requirements = requirements;
	request->requirement_count = part_count;
	request->after_count = model_choose_after(model, after, launches,
						  &request->failed_dependency, &after_failed);
	request->after = after;
	request->after_launches = launches;
	if (request->action == TASK_LAUNCH)
		for (uint32_t d = 0; d < DEVICES; d++)
			if (request->device == model->harness.devices[d])
				request->launch.kernel =
					harness_kernel(&model->harness, d, request->what);
	record->expected = model_judge(model, parts, part_count, runs, fails, after_failed);
	model->harness.account = model->sessions[model->count % SESSIONS];
	/* The outcome must not depend on which session goes first, or on changes of rank
	 * meanwhile. */
	if (model->count % 37 == 5)
		(void)sched_account_rank(model->harness.account,
					 model->count / 37 % FAIR_QUEUE_CLASSES,
					 1 + model->count * 13 % FAIR_QUEUE_WEIGHT_MOST);
	record->task = harness_submit(&model->harness, request, &record->probe);
	model->harness.account = NULL;
}

uint32_t model_other_buffer(struct model *model, uint32_t buffer)
{
	if (model->parts && model_draw(model, 4) == 0)
		return buffer;
	return (buffer + 1 + model_draw(model, BUFFERS - 1)) % BUFFERS;
}

static void differ(struct model *model, const struct record *record, const char *what)
{
	if (model->wrong[0] == '\0')
		(void)snprintf(model->wrong, sizeof(model->wrong),
			       "task %u: %s (status %d: %.120s)",
			       (unsigned)(record - model->records), what,
			       record->probe.fault.status, record->probe.fault.text);
}

static bool is_status(enum expected expected, int32_t status)
{
	return status == (expected == EXPECT_GOOD      ? STATUS_SUCCESS
			  : expected == EXPECT_FAILURE ? STATUS_KERNEL
						       : STATUS_DEPENDENCY_FAILED);
}

static void check_status(struct model *model, const struct record *record)
{
	int32_t status = record->probe.fault.status;
	bool good = false;
	if (record->cancelled)
		good = status == STATUS_RUNTIME || (record->expected == EXPECT_DEPENDENCY &&
						    status == STATUS_DEPENDENCY_FAILED);
	else
		good = is_status(record->expected, status);
	if (!good)
		differ(model, record, "another status than the model's");
	for (uint32_t i = 0; i < record->launches; i++)
		if (!is_status(record->launch[i], record->probe.launch_faults[i].status))
			differ(model, record, "another status of a launch than the model's");
	if (record->probe.calls != 1)
		differ(model, record, "reported more than once");
}

static void check_held(struct model *model, struct record *record)
{
	const uint32_t *host = record->words->host + record->first,
		       *expected = record->snapshot + record->first;
	bool no_init = record->writes && record->add == 0;
	if (!no_init && memcmp(host, expected, record->count * sizeof(uint32_t)) != 0)
		differ(model, record, "the host sees other contents than the model");
}

/* Makes and ends the host accesses that are due. */
static void serve_host_accesses(struct model *model)
{
	while (model->first_held < model->count && model->records[model->first_held].handled)
		model->first_held++;
	for (uint32_t i = model->first_held; i < model->count; i++) {
		struct record *record = &model->records[i];
		if (record->handled || !record->probe.done)
			continue;
		if (!record->host_access || record->cancelled ||
		    record->probe.fault.status != STATUS_SUCCESS) {
			check_status(model, record);
			record->handled = true;
			continue;
		}
		if (model->step < record->release_at)
			continue;
		check_status(model, record);
		check_held(model, record);
		uint32_t *host = record->words->host;
		for (uint32_t w = record->first;
		     w < record->first + record->count && record->writes; w++)
			host[w] = record->add ? host[w] + record->add : w;
		record->handled = true;
		record->released = true;
		host_access_release(record->task);
	}
}

static void resume_all(struct model *model)
{
	for (uint32_t i = 0; i < SESSIONS; i++)
		scheduler_resume(model->harness.scheduler, model->sessions[i]);
}

/* A session rests for some steps, and then another one. Outcomes do not depend on that. */
static void rest_some(struct model *model)
{
	if (model->step % 23 == 7)
		scheduler_pause(model->harness.scheduler,
				model->sessions[model->step / 23 % SESSIONS]);
	if (model->step % 23 == 19)
		resume_all(model);
}

void model_catch_up(struct model *model)
{
	resume_all(model);
	for (uint32_t d = 0; d < DEVICES; d++)
		fake_device_gate_open(d);
	model->step += MODEL_HOLD_STEPS;
	for (uint32_t i = model->first_held; i < model->count && !model->wrong[0]; i++) {
		/* In order of submission: all predecessors of an access have been served before
		 * it. */
		if (!harness_wait(&model->harness, &model->records[i].probe))
			differ(model, &model->records[i], "never done");
		serve_host_accesses(model);
	}
}

static void one_step(struct model *model)
{
	uint32_t kind = model_draw(model, 100);
	model->step++;
	rest_some(model);
	if (kind < 25)
		model_launch_mix(model);
	else if (kind < 32)
		model_launch_burst(model);
	else if (kind < 40)
		model_launch_stretch(model);
	else if (kind < 47)
		for (uint32_t i = 0; i < model->kept_in_a_row; i++)
			model_launch_kept(model);
	else if (kind < 56)
		model_launch_fill(model);
	else if (kind < 57)
		model_launch_fail(model);
	else if (kind < 62)
		model_only_order(model);
	else if (kind < 74)
		model_submit_copy(model);
	else if (kind < 80)
		model_submit_fill(model);
	else if (kind < 83)
		model_host_update(model);
	else
		model_host_access(model);
	if (model_draw(model, 50) == 0)
		fake_device_gate_close(model_draw(model, DEVICES));
	if (model_draw(model, 20) == 0)
		for (uint32_t d = 0; d < DEVICES; d++)
			fake_device_gate_open(d);
	if (model_draw(model, 4) == 0)
		scheduler_flush(model->harness.scheduler);
	if (model_draw(model, 8) == 0)
		harness_turn(&model->harness);
	serve_host_accesses(model);
	if (model_draw(model, 60) == 0)
		model_catch_up(model);
}

/* Words are checked one by one, because some may be poisoned. */
static void check_word(struct model *model, uint32_t buffer, uint32_t word)
{
	struct record *record = model_new_record(model);
	resume_all(model);
	record->expected = model->poisoned[buffer][word] ? EXPECT_DEPENDENCY : EXPECT_GOOD;
	record->host_access = true;
	record->first = word;
	record->count = 1;
	record->snapshot[word] = model->contents[buffer][word];
	record->words = model_words_of(model, buffer);
	record->task = harness_host_part(&model->harness, record->words, ACCESS_MODE_READ, word, 1,
					 &record->probe);
	if (!harness_wait(&model->harness, &record->probe))
		differ(model, record, "never done");
	serve_host_accesses(model);
}

/* Returns true if one of them must end before the other begins. */
static bool conflict(const struct part *a, const struct part *b)
{
	const uint32_t a_first = a->order_count ? a->order_first : 0,
		       a_count = a->order_count ? a->order_count : WORDS;
	const uint32_t b_first = b->order_count ? b->order_first : 0,
		       b_count = b->order_count ? b->order_count : WORDS;
	return a->buffer == b->buffer &&
	       (access_mode_writes(a->mode) || access_mode_writes(b->mode)) &&
	       a_first < b_first + b_count && b_first < a_first + a_count;
}

static bool records_conflict(const struct record *a, const struct record *b)
{
	bool is_so = false;
	for (uint32_t i = 0; i < a->part_count * b->part_count; i++)
		is_so |= conflict(&a->parts[i / b->part_count], &b->parts[i % b->part_count]);
	return is_so;
}

/* Tasks were reported in the order of submission if it matters (B6). A withdrawn host access does
 * not count. */
static void check_order(struct model *model)
{
	for (uint32_t later = 1; later < model->count; later++) {
		const struct record *second = &model->records[later];
		for (uint32_t i = later > LOOKED_AT ? later - LOOKED_AT : 0;
		     i < later && !second->cancelled; i++) {
			const struct record *first = &model->records[i];
			if (!first->cancelled && first->probe.order > second->probe.order &&
			    records_conflict(first, second))
				differ(model, second, "over before one that it had to come behind");
		}
	}
}

static void check_final_contents(struct model *model)
{
	model_catch_up(model);
	check_order(model);
	for (uint32_t b = 0; b < BUFFERS * WORDS && !model->wrong[0]; b++)
		check_word(model, b / WORDS, b % WORDS);
}

/* Chooses the kinds of the devices; with features, at least one supports sharing. */
static void choose_devices(struct model *model, const struct model_options *all)
{
	const bool features = all->features, tight = all->tight;
	static const uint32_t choice[] = {BACKEND_FEATURE_POLLED, BACKEND_FEATURE_LOADER,
					  BACKEND_FEATURE_PEER,   BACKEND_FEATURE_COPY_LANES,
					  BACKEND_FEATURE_INLINE, BACKEND_FEATURE_HOST_REGISTER,
					  BACKEND_FEATURE_BESIDE};
	for (uint32_t d = 0; d < DEVICES; d++) {
		struct fake_device_options options = {.unified = model_draw(model, 3) == 0,
						      .manual = model_draw(model, 2)};
		options.bursts = features && model_draw(model, 2);
		options.rows = features && model_draw(model, 2);
		options.lane_room = features ? model_draw(model, 3) * 2 : 0;
		for (uint32_t i = 0; features && i < sizeof(choice) / sizeof(choice[0]); i++)
			options.features |= model_draw(model, 3) ? choice[i] : 0;
		if (features && d == 0) {
			options.unified = false;
			options.features |= BACKEND_FEATURE_EXPORT_VMM;
		}
		if (features)
			options.preferred_lanes = model_draw(model, 5);
		if (features && model_draw(model, 2))
			options.lane_copy_bytes = model_draw(model, 2 * WORDS * 4);
		if (all->reads_itself) {
			options.unified = false;
			options.rows = true;
			options.lane_copy_bytes = WORDS * sizeof(uint32_t);
			options.features |= BACKEND_FEATURE_HOST_REGISTER;
		}
		/* Two ordinary buffers, and shared ones, of which another one may be used
		 * elsewhere. */
		if (tight) {
			options.memory_bytes =
				(2u + (features && d == 0 ? 3u : 0u) + model_draw(model, 2)) *
				WORDS * sizeof(uint32_t);
			options.features &= ~(uint32_t)BACKEND_FEATURE_PEER;
		}
		fake_device_options(d, options);
	}
}

static void make_buffers(struct model *model, bool features)
{
	for (uint32_t b = 0; b < BUFFERS; b++) {
		model->shared[b] = features && b < 3;
		if (model->shared[b]) {
			harness_words_shared(&model->harness, &model->words[b], WORDS, true,
					     b * 100, 0, BACKEND_EXPORT_VMM);
			harness_words_again(&model->again[b], &model->words[b]);
		} else {
			harness_words(&model->harness, &model->words[b], WORDS, true, b * 100);
		}
		for (uint32_t i = 0; i < WORDS; i++)
			model->contents[b][i] = b * 100 + i;
	}
}

static const char *free_buffers(struct model *model)
{
	model_drop_kept(model);
	for (uint32_t b = 0; b < BUFFERS; b++) {
		harness_words_free(&model->harness, &model->words[b]);
		if (model->shared[b])
			harness_words_free(&model->harness, &model->again[b]);
	}
	for (uint32_t i = 0; i < SESSIONS; i++)
		model->sessions[i] = sched_account_drop(model->sessions[i]);
	return harness_stop(&model->harness);
}

static uint64_t last_spills, last_stretches, last_kept, last_reads;

uint64_t model_spills(void)
{
	return last_spills;
}

uint64_t model_kept_launches(void)
{
	return last_kept;
}

uint64_t model_kept_reads(void)
{
	return last_reads;
}

uint64_t model_stretches(void)
{
	return last_stretches;
}

/* The clock stands still, so a slow machine ends no wait for room. */
static uint64_t no_time(void)
{
	return 1000000000000;
}

static void release_nothing(void *owner)
{
	(void)owner;
}

const char *model_run(uint64_t seed, uint32_t tasks, const struct model_options *options)
{
	static char result[320];
	struct model *model = calloc(1, sizeof(*model));
	if (!model)
		return "no memory";
	model->records = calloc(tasks + 20 * PARTS + BUFFERS * WORDS, sizeof(*model->records));
	model->random = seed * 0x9e3779b97f4a7c15ull + 1;
	model->home_lanes = options->features;
	model->parts = options->parts;
	model->one_device = options->one_device;
	model->kept_in_a_row = options->reads_itself ? 5 : 1;
	fake_reset();
	/* Only kernels that are short by the device's clock are in stretches. */
	if (options->one_device)
		fake_clock(1000000, 10);
	choose_devices(model, options);
	harness_start_with(&model->harness, DEVICES,
			   &(struct scheduler_config){.lane_choice = options->lanes,
						      .lane_seed = seed,
						      .processors = seed % 2 ? 2 : 4,
						      .never_whole = options->never_whole,
						      .never_keep_reads = options->never_keep_reads,
						      .spills = options->tight,
						      .spill_least_bytes = 1,
						      .clock_ns = options->tight ? no_time : NULL});
	for (uint32_t i = 0; i < SESSIONS; i++)
		(void)sched_account_create(UINT64_MAX, &model->sessions[i]);
	for (uint32_t i = 0; i < SESSIONS && seed % 3; i++)
		(void)sched_account_rank(model->sessions[i],
					 (uint32_t)(seed + i) % FAIR_QUEUE_CLASSES,
					 1 + (uint32_t)seed * 97 % FAIR_QUEUE_WEIGHT_MOST);
	make_buffers(model, options->features);
	struct sched_host *everything = NULL;
	if (options->features)
		(void)scheduler_host_register(model->harness.scheduler, NULL, UINT64_MAX,
					      &everything);
	while (model->count < tasks && !model->wrong[0])
		one_step(model);
	check_final_contents(model);
	struct scheduler_counters counters;
	scheduler_counters(model->harness.scheduler, &counters);
	last_spills = counters.spill.spills;
	last_stretches = counters.stretches;
	last_kept = counters.kept_launches;
	last_reads = counters.kept_reads;
	if (everything && !model->wrong[0])
		scheduler_host_unregister(everything, release_nothing, NULL);
	const char *left = model->wrong[0] ? NULL : free_buffers(model);
	(void)snprintf(result, sizeof(result), "seed %llu: %s", (unsigned long long)seed,
		       left ? left : model->wrong);
	bool good = !left && !model->wrong[0];
	if (good) {
		free(model->records);
		free(model);
	}
	return good ? NULL : result;
}
