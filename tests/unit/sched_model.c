/* See sched_model.h. */
#include "sched_model.h"

#include "sched_harness.h"

#include "access_mode.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFERS    7u
#define WORDS      24u
#define DEVICES    3u
#define RECENT     40u /* `after` names one of the last so many */
#define HOLD_STEPS 12u

enum expected { EXPECT_GOOD, EXPECT_FAILURE, EXPECT_DEPENDENCY, EXPECT_REFUSED };

struct record {
	struct probe probe;
	struct task *task;
	enum expected expected;
	bool host_access, writes, handled, released, cancelled;
	uint32_t buffer, release_at, add;
	struct words *words;      /* of a host access */
	uint32_t snapshot[WORDS]; /* of a host access at its grant; source of a copy from the host */
};

struct model {
	struct harness harness;
	struct words words[BUFFERS];
	struct words again[BUFFERS]; /* of a shared one: another buffer with the same contents */
	bool shared[BUFFERS];
	bool home_lanes;
	uint32_t contents[BUFFERS][WORDS];
	bool poisoned[BUFFERS];
	struct record *records;
	uint32_t count, first_held, step;
	uint64_t random;
	char wrong[256];
};

/* xorshift64*; no test depends on more than its being the same everywhere. */
static uint32_t draw(struct model *model, uint32_t below)
{
	model->random ^= model->random >> 12;
	model->random ^= model->random << 25;
	model->random ^= model->random >> 27;
	return (uint32_t)((model->random * 2685821657736338717ull) >> 33) % below;
}

static struct record *new_record(struct model *model)
{
	return &model->records[model->count++];
}

/* One of the buffers with these contents. */
static struct words *words_of(struct model *model, uint32_t buffer)
{
	return model->shared[buffer] && draw(model, 2) ? &model->again[buffer] : &model->words[buffer];
}

static bool is_whole_no_init(uint32_t mode, uint32_t count)
{
	return !access_mode_needs_contents(mode) && count == WORDS;
}

/* What becomes of a task with these uses; also what it leaves of the buffers that it writes. */
static enum expected judge(struct model *model, const struct use *uses, const uint32_t *buffers, uint32_t use_count,
			   bool runs, bool fails, bool after_failed)
{
	bool dependency = after_failed;
	for (uint32_t i = 0; i < use_count; i++) {
		uint32_t count = uses[i].count ? uses[i].count : WORDS;
		if (model->poisoned[buffers[i]] && !(runs && is_whole_no_init(uses[i].mode, count)))
			dependency = true;
	}
	for (uint32_t i = 0; i < use_count; i++)
		if (access_mode_writes(uses[i].mode))
			model->poisoned[buffers[i]] = dependency || fails;
	return dependency ? EXPECT_DEPENDENCY : fails ? EXPECT_FAILURE : EXPECT_GOOD;
}

/* Up to two recent tasks; those that failed and were told are given as a fault. */
static uint32_t choose_after(struct model *model, struct task **after, const struct backend_fault **past, bool *failed)
{
	uint32_t count = 0;
	*past = NULL;
	*failed = false;
	if (model->count < 2 || draw(model, 3) > 0)
		return 0;
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t back = 1 + draw(model, model->count - 1 < RECENT ? model->count - 1 : RECENT);
		/* The record of the task itself is the last one. */
		const struct record *record = &model->records[model->count - 1 - back];
		if (record->host_access)
			continue;
		/* A failure would spread to everything in the end. */
		if (record->expected != EXPECT_GOOD && draw(model, 30) > 0)
			continue;
		*failed |= record->expected != EXPECT_GOOD;
		if (!record->probe.done)
			after[count++] = record->task;
		else if (record->expected != EXPECT_GOOD)
			*past = &record->probe.fault;
	}
	return count;
}

static void submit(struct model *model, struct record *record, struct task_request *request, const struct use *uses,
		   const uint32_t *buffers, uint32_t use_count, bool runs, bool fails)
{
	struct task_requirement requirements[2];
	struct task *after[2];
	bool after_failed;
	for (uint32_t i = 0; i < use_count; i++)
		requirements[i] = (struct task_requirement){
			.buffer = words_of(model, buffers[i])->buffer,
			.mode = uses[i].mode,
			.offset_bytes = uses[i].first * sizeof(uint32_t),
			.size_bytes = (uses[i].count ? uses[i].count : WORDS) * sizeof(uint32_t),
		};
	request->device = model->harness.devices[draw(model, DEVICES)];
	if (model->home_lanes && draw(model, 2))
		request->home_lane = 1 + draw(model, 3);
	request->requirements = requirements;
	request->requirement_count = use_count;
	request->after_count = choose_after(model, after, &request->failed_dependency, &after_failed);
	request->after = after;
	if (request->action == TASK_LAUNCH)
		for (uint32_t d = 0; d < DEVICES; d++)
			if (request->device == model->harness.devices[d])
				request->launch.kernel = harness_kernel(&model->harness, d, request->what);
	record->expected = judge(model, uses, buffers, use_count, runs, fails, after_failed);
	record->task = harness_submit(&model->harness, request, &record->probe);
}

static uint32_t other_buffer(struct model *model, uint32_t buffer)
{
	return (buffer + 1 + draw(model, BUFFERS - 1)) % BUFFERS;
}

static void launch_mix(struct model *model)
{
	struct record *record = new_record(model);
	uint32_t value = draw(model, 1000), to = draw(model, BUFFERS);
	uint32_t buffers[2] = {to, other_buffer(model, to)};
	struct use uses[2] = {{.mode = ACCESS_MODE_READ_WRITE}, {.mode = ACCESS_MODE_READ}};
	struct task_argument arguments[3] = {
		{.kind = BACKEND_ARGUMENT_GLOBAL, .requirement = 0},
		{.kind = BACKEND_ARGUMENT_GLOBAL, .requirement = 1},
		{.kind = BACKEND_ARGUMENT_VALUE, .bytes = &value, .size_bytes = 4},
	};
	struct task_request request = {.what = "mix_u32", .action = TASK_LAUNCH};
	request.launch.dimensions = 1;
	request.launch.global[0] = WORDS;
	request.launch.arguments = arguments;
	request.launch.argument_count = 3;
	submit(model, record, &request, uses, buffers, 2, true, false);
	for (uint32_t i = 0; i < WORDS && record->expected == EXPECT_GOOD; i++)
		model->contents[to][i] = model->contents[to][i] * 31u + model->contents[buffers[1]][i] + value;
}

/* A kernel that writes a range, without the contents before. */
static void launch_fill(struct model *model)
{
	struct record *record = new_record(model);
	uint32_t value = draw(model, 1000), to = draw(model, BUFFERS);
	struct use use = {.mode = draw(model, 2) ? ACCESS_MODE_WRITE_NO_INIT : ACCESS_MODE_READ_WRITE_NO_INIT};
	if (draw(model, 4) == 0) {
		use.first = draw(model, WORDS - 1);
		use.count = 1 + draw(model, WORDS - use.first);
	}
	uint32_t count = use.count ? use.count : WORDS;
	struct task_argument arguments[2] = {
		{.kind = BACKEND_ARGUMENT_GLOBAL, .offset_bytes = use.first * sizeof(uint32_t)},
		{.kind = BACKEND_ARGUMENT_VALUE, .bytes = &value, .size_bytes = 4},
	};
	struct task_request request = {.what = "fill_u32", .action = TASK_LAUNCH};
	request.launch.dimensions = 2;
	request.launch.global[0] = 1;
	request.launch.global[1] = count;
	request.launch.arguments = arguments;
	request.launch.argument_count = 2;
	submit(model, record, &request, &use, &to, 1, true, false);
	for (uint32_t i = 0; i < count && record->expected == EXPECT_GOOD; i++)
		model->contents[to][use.first + i] = value;
}

static void launch_fail(struct model *model)
{
	struct record *record = new_record(model);
	uint32_t to = draw(model, BUFFERS);
	struct use use = {.mode = draw(model, 2) ? ACCESS_MODE_READ : ACCESS_MODE_READ_WRITE};
	struct task_request request = {.what = "fail", .action = TASK_LAUNCH};
	request.launch.dimensions = 1;
	request.launch.global[0] = 1;
	submit(model, record, &request, &use, &to, 1, true, true);
}

static void only_order(struct model *model)
{
	struct record *record = new_record(model);
	uint32_t first = draw(model, BUFFERS);
	uint32_t buffers[2] = {first, other_buffer(model, first)};
	struct use uses[2] = {{.mode = ACCESS_MODE_WRITE_NO_INIT}, {.mode = ACCESS_MODE_READ}};
	struct task_request request = {.what = "noop", .action = draw(model, 2) ? TASK_LAUNCH : TASK_BARRIER};
	request.launch.dimensions = 2;
	request.launch.global[0] = 4;
	submit(model, record, &request, uses, buffers, 2, false, false);
}

static void copy(struct model *model)
{
	struct record *record = new_record(model);
	uint32_t to = draw(model, BUFFERS);
	uint32_t buffers[2] = {to, other_buffer(model, to)};
	uint32_t first = draw(model, WORDS - 1), from = draw(model, WORDS - 1);
	uint32_t count = 1 + draw(model, WORDS - (first > from ? first : from));
	bool host = draw(model, 2);
	struct use uses[2] = {{.mode = ACCESS_MODE_WRITE_NO_INIT, .first = first, .count = count},
			      {.mode = ACCESS_MODE_READ, .first = from, .count = count}};
	struct task_request request = {.what = "copy", .action = TASK_COPY};
	for (uint32_t i = 0; i < WORDS; i++)
		record->snapshot[i] = host ? draw(model, 5000) : model->contents[buffers[1]][i];
	request.copy.source = host ? -1 : 1;
	request.copy.destination = 0;
	request.copy.host = record->snapshot + from;
	request.copy.source_offset_bytes = from * sizeof(uint32_t);
	request.copy.destination_offset_bytes = first * sizeof(uint32_t);
	request.copy.size_bytes = count * sizeof(uint32_t);
	submit(model, record, &request, uses, buffers, host ? 1 : 2, true, false);
	for (uint32_t i = 0; i < count && record->expected == EXPECT_GOOD; i++)
		model->contents[to][first + i] = record->snapshot[from + i];
}

static void fill(struct model *model)
{
	struct record *record = new_record(model);
	uint32_t to = draw(model, BUFFERS), first = draw(model, WORDS - 1), count = 1 + draw(model, WORDS - first);
	uint32_t value = draw(model, 1000);
	struct use use = {.mode = ACCESS_MODE_WRITE, .first = first, .count = count};
	struct task_request request = {.what = "fill", .action = TASK_FILL};
	request.fill.offset_bytes = first * sizeof(uint32_t);
	request.fill.size_bytes = count * sizeof(uint32_t);
	request.fill.pattern = &value;
	request.fill.pattern_bytes = sizeof(value);
	submit(model, record, &request, &use, &to, 1, true, false);
	for (uint32_t i = 0; i < count && record->expected == EXPECT_GOOD; i++)
		model->contents[to][first + i] = value;
}

static void host_update(struct model *model)
{
	struct record *record = new_record(model);
	uint32_t buffer = draw(model, BUFFERS);
	struct use use = {.mode = ACCESS_MODE_READ};
	struct task_request request = {.what = "update", .action = TASK_HOST_UPDATE};
	submit(model, record, &request, &use, &buffer, 1, true, false);
}

static void host_access(struct model *model)
{
	static const uint32_t modes[] = {ACCESS_MODE_READ, ACCESS_MODE_READ, ACCESS_MODE_READ_WRITE,
					 ACCESS_MODE_WRITE_NO_INIT};
	struct record *record = new_record(model);
	uint32_t mode = modes[draw(model, 4)], buffer = draw(model, BUFFERS);
	struct use use = {.mode = mode};
	record->host_access = true;
	record->writes = access_mode_writes(mode);
	record->buffer = buffer;
	record->add = access_mode_needs_contents(mode) ? draw(model, 100) : 0;
	record->release_at = model->step + draw(model, HOLD_STEPS);
	record->cancelled = access_mode_needs_contents(mode) && draw(model, 8) == 0;
	record->expected = judge(model, &use, &buffer, 1, true, false, false);
	record->words = words_of(model, buffer);
	record->task = harness_host(&model->harness, record->words, mode, &record->probe);
	memcpy(record->snapshot, model->contents[buffer], sizeof(record->snapshot));
	if (record->cancelled) {
		host_access_release(record->task);
		record->released = true;
		return;
	}
	if (!record->writes || record->expected != EXPECT_GOOD)
		return;
	for (uint32_t i = 0; i < WORDS; i++)
		model->contents[buffer][i] = record->add ? model->contents[buffer][i] + record->add : i;
}

static void differ(struct model *model, const struct record *record, const char *what)
{
	if (model->wrong[0] == '\0')
		(void)snprintf(model->wrong, sizeof(model->wrong), "task %u: %s (status %d: %.120s)",
			       (unsigned)(record - model->records), what, record->probe.fault.status,
			       record->probe.fault.text);
}

static void check_status(struct model *model, const struct record *record)
{
	int32_t status = record->probe.fault.status;
	bool good = false;
	if (record->cancelled)
		good = status == STATUS_RUNTIME ||
		       (record->expected == EXPECT_DEPENDENCY && status == STATUS_DEPENDENCY_FAILED);
	else if (record->expected == EXPECT_GOOD)
		good = status == STATUS_SUCCESS;
	else if (record->expected == EXPECT_FAILURE)
		good = status == STATUS_KERNEL;
	else
		good = status == STATUS_DEPENDENCY_FAILED;
	if (!good)
		differ(model, record, "another status than the model's");
	if (record->probe.calls != 1)
		differ(model, record, "told more than once");
}

static void check_held(struct model *model, struct record *record)
{
	uint32_t *host = record->words->host;
	bool no_init = record->writes && record->add == 0;
	if (!no_init && memcmp(host, record->snapshot, sizeof(record->snapshot)) != 0)
		differ(model, record, "the host sees other contents than the model");
}

/* Grants and releases that are due. */
static void serve_host_accesses(struct model *model)
{
	while (model->first_held < model->count && model->records[model->first_held].handled)
		model->first_held++;
	for (uint32_t i = model->first_held; i < model->count; i++) {
		struct record *record = &model->records[i];
		if (record->handled || !record->probe.done)
			continue;
		if (!record->host_access || record->cancelled || record->probe.fault.status != STATUS_SUCCESS) {
			check_status(model, record);
			record->handled = true;
			continue;
		}
		if (model->step < record->release_at)
			continue;
		check_status(model, record);
		check_held(model, record);
		uint32_t *host = record->words->host;
		for (uint32_t w = 0; w < WORDS && record->writes; w++)
			host[w] = record->add ? host[w] + record->add : w;
		record->handled = true;
		record->released = true;
		host_access_release(record->task);
	}
}

/* Everything so far is done, so that what follows meets past failures and free lanes. */
static void catch_up(struct model *model)
{
	for (uint32_t d = 0; d < DEVICES; d++)
		fake_device_gate_open(d);
	model->step += HOLD_STEPS;
	for (uint32_t i = model->first_held; i < model->count && !model->wrong[0]; i++) {
		/* In order of submission: whatever an access waits for has been served before it. */
		if (!harness_wait(&model->harness, &model->records[i].probe))
			differ(model, &model->records[i], "never done");
		serve_host_accesses(model);
	}
}

static void one_step(struct model *model)
{
	uint32_t kind = draw(model, 100);
	model->step++;
	if (kind < 35)
		launch_mix(model);
	else if (kind < 56)
		launch_fill(model);
	else if (kind < 57)
		launch_fail(model);
	else if (kind < 62)
		only_order(model);
	else if (kind < 74)
		copy(model);
	else if (kind < 80)
		fill(model);
	else if (kind < 83)
		host_update(model);
	else
		host_access(model);
	if (draw(model, 50) == 0)
		fake_device_gate_close(draw(model, DEVICES));
	if (draw(model, 20) == 0)
		for (uint32_t d = 0; d < DEVICES; d++)
			fake_device_gate_open(d);
	if (draw(model, 4) == 0)
		scheduler_flush(model->harness.scheduler);
	if (draw(model, 8) == 0)
		harness_turn(&model->harness);
	serve_host_accesses(model);
	if (draw(model, 60) == 0)
		catch_up(model);
}

static void finish(struct model *model)
{
	catch_up(model);
	for (uint32_t b = 0; b < BUFFERS && !model->wrong[0]; b++) {
		struct record *record = new_record(model);
		record->expected = model->poisoned[b] ? EXPECT_DEPENDENCY : EXPECT_GOOD;
		record->host_access = true;
		record->buffer = b;
		memcpy(record->snapshot, model->contents[b], sizeof(record->snapshot));
		record->words = words_of(model, b);
		record->task = harness_host(&model->harness, record->words, ACCESS_MODE_READ, &record->probe);
		if (!harness_wait(&model->harness, &record->probe))
			differ(model, record, "never done");
		serve_host_accesses(model);
	}
}

/* Which of the devices are of which kind; with features, one at least can share. */
static void choose_devices(struct model *model, bool features)
{
	static const uint32_t choice[] = {BACKEND_FEATURE_POLLED, BACKEND_FEATURE_LOADER, BACKEND_FEATURE_PEER,
					  BACKEND_FEATURE_COPY_LANES};
	for (uint32_t d = 0; d < DEVICES; d++) {
		struct fake_device_options options = {.unified = draw(model, 3) == 0, .manual = draw(model, 2)};
		for (uint32_t i = 0; features && i < sizeof(choice) / sizeof(choice[0]); i++)
			options.features |= draw(model, 3) ? choice[i] : 0;
		if (features && d == 0) {
			options.unified = false;
			options.features |= BACKEND_FEATURE_EXPORT_VMM;
		}
		if (features)
			options.preferred_lanes = draw(model, 5);
		fake_device_options(d, options);
	}
}

static void make_buffers(struct model *model, bool features)
{
	for (uint32_t b = 0; b < BUFFERS; b++) {
		model->shared[b] = features && b < 3;
		if (model->shared[b]) {
			harness_words_shared(&model->harness, &model->words[b], WORDS, true, b * 100, 0,
					     BACKEND_EXPORT_VMM);
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
	for (uint32_t b = 0; b < BUFFERS; b++) {
		harness_words_free(&model->harness, &model->words[b]);
		if (model->shared[b])
			harness_words_free(&model->harness, &model->again[b]);
	}
	return harness_stop(&model->harness);
}

const char *model_run(uint64_t seed, uint32_t tasks, const struct model_options *options)
{
	static char result[320];
	struct model *model = calloc(1, sizeof(*model));
	if (!model)
		return "no memory";
	model->records = calloc(tasks + BUFFERS, sizeof(*model->records));
	model->random = seed * 0x9e3779b97f4a7c15ull + 1;
	model->home_lanes = options->features;
	fake_reset();
	choose_devices(model, options->features);
	harness_start_with(&model->harness, DEVICES,
			   &(struct scheduler_config){
				   .lane_choice = options->lanes, .lane_seed = seed, .processors = seed % 2 ? 2 : 4});
	make_buffers(model, options->features);
	while (model->count < tasks && !model->wrong[0])
		one_step(model);
	finish(model);
	const char *left = model->wrong[0] ? NULL : free_buffers(model);
	(void)snprintf(result, sizeof(result), "seed %llu: %s", (unsigned long long)seed, left ? left : model->wrong);
	bool good = !left && !model->wrong[0];
	if (good) {
		free(model->records);
		free(model);
	}
	return good ? NULL : result;
}
