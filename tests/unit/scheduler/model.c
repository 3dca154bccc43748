/* See model.h. */
#include "scheduler/model.h"

#include "scheduler/model_state.h"

#include "access_mode.h"
#include "fair_queue/fair_queue.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECENT     40u /* `after` names one of the last so many */
#define HOLD_STEPS 12u
#define LOOKED_AT  1000u /* so many before each, for their order */

/* xorshift64*; no test depends on more than its being the same everywhere. */
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

/* One of the buffers with these contents. */
static struct words *words_of(struct model *model, uint32_t buffer)
{
	return model->shared[buffer] && model_draw(model, 2) ? &model->again[buffer]
							     : &model->words[buffer];
}

/* `count` words from somewhere; ordered as the whole buffer, or as a sub-buffer around them. */
static struct part part_of(struct model *model, uint32_t buffer, uint32_t mode, uint32_t count)
{
	struct part part = {.buffer = buffer, .mode = mode, .count = count};
	part.first = model_draw(model, WORDS - count + 1);
	if (!model->parts || model_draw(model, 3) == 0)
		return part;
	part.order_first = model_draw(model, part.first + 1);
	uint32_t end = part.first + count + model_draw(model, WORDS - part.first - count + 1);
	part.order_count = end - part.order_first;
	return part;
}

/* So many words as a group may use of a buffer. */
static uint32_t some_words(struct model *model)
{
	return model->parts && model_draw(model, 4) > 0 ? 1 + model_draw(model, WORDS) : WORDS;
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
		/* A failure would spread to everything in the end. */
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
					: words_of(model, parts[i].buffer)->buffer,
			.mode = parts[i].mode,
			.offset_bytes = parts[i].first * sizeof(uint32_t),
			.size_bytes = parts[i].count * sizeof(uint32_t),
			.order_offset_bytes = parts[i].order_first * sizeof(uint32_t),
			.order_size_bytes = parts[i].order_count * sizeof(uint32_t),
		};
	}
}

/* The second requirement before the first: what each of them does commutes with what the other does
 * (B4). */
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
	/* The outcome is the same whichever session goes first, and whichever rank changes
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

static struct task_argument global_argument(const struct part *part, uint32_t requirement)
{
	return (struct task_argument){.kind = BACKEND_ARGUMENT_GLOBAL,
				      .requirement = requirement,
				      .offset_bytes = part->first * sizeof(uint32_t)};
}

static void launch_mix(struct model *model)
{
	struct record *record = model_new_record(model);
	uint32_t value = model_draw(model, 1000), to = model_draw(model, BUFFERS),
		 count = some_words(model);
	const struct part parts[2] = {
		part_of(model, to, ACCESS_MODE_READ_WRITE, count),
		part_of(model, model_other_buffer(model, to), ACCESS_MODE_READ, count)};
	struct task_argument arguments[3] = {
		global_argument(&parts[0], 0),
		global_argument(&parts[1], 1),
		{.kind = BACKEND_ARGUMENT_VALUE, .bytes = &value, .size_bytes = 4},
	};
	struct task_request request = {.what = "mix_u32", .action = TASK_LAUNCH};
	request.launch.dimensions = 1;
	request.launch.global[0] = count;
	request.launch.arguments = arguments;
	request.launch.argument_count = 3;
	model_submit(model, record, &request, parts, 2, true, false);
	uint32_t *words = &model->contents[to][parts[0].first];
	const uint32_t *from = &model->contents[parts[1].buffer][parts[1].first];
	/* Copies word by word, as the fake device does: the parts may overlap. */
	for (uint32_t i = 0; i < count && record->expected == EXPECT_GOOD; i++)
		words[i] = words[i] * 31u + from[i] + value;
}

/* A kernel that writes a range, without the contents before. */
static void launch_fill(struct model *model)
{
	struct record *record = model_new_record(model);
	uint32_t value = model_draw(model, 1000), to = model_draw(model, BUFFERS);
	uint32_t count =
		model_draw(model, 4) == 0 ? 1 + model_draw(model, WORDS) : some_words(model);
	uint32_t mode =
		model_draw(model, 2) ? ACCESS_MODE_WRITE_NO_INIT : ACCESS_MODE_READ_WRITE_NO_INIT;
	struct part part = part_of(model, to, mode, count);
	struct task_argument arguments[2] = {
		global_argument(&part, 0),
		{.kind = BACKEND_ARGUMENT_VALUE, .bytes = &value, .size_bytes = 4},
	};
	struct task_request request = {.what = "fill_u32", .action = TASK_LAUNCH};
	request.launch.dimensions = 2;
	request.launch.global[0] = 1;
	request.launch.global[1] = count;
	request.launch.arguments = arguments;
	request.launch.argument_count = 2;
	model_submit(model, record, &request, &part, 1, true, false);
	for (uint32_t i = 0; i < count && record->expected == EXPECT_GOOD; i++)
		model->contents[to][part.first + i] = value;
}

/* Several launches in one task, of which each needs what the one before has written, or none does.
 * Some fail, if a value is odd. */
static void launch_burst(struct model *model)
{
	struct record *record = model_new_record(model);
	uint32_t values[SCHED_BURST_MAX], to = model_draw(model, BUFFERS),
					  count = 2 + model_draw(model, SCHED_BURST_MAX - 1);
	bool is_chained = model_draw(model, 2), odd = model_draw(model, 12) == 0;
	uint32_t words = some_words(model), first_odd = count;
	struct part part = part_of(
		model, to, is_chained ? ACCESS_MODE_READ_WRITE : ACCESS_MODE_WRITE_NO_INIT, words);
	for (uint32_t i = 0; i < count; i++) {
		values[i] = model_draw(model, 1000) * 2 + (odd && model_draw(model, 6) == 0);
		if (values[i] % 2 && first_odd == count)
			first_odd = i;
	}
	struct task_argument arguments[2] = {
		global_argument(&part, 0),
		{.kind = BACKEND_ARGUMENT_VALUE, .bytes = &values[0], .size_bytes = 4},
	};
	struct task_request request = {.what = "fill_even_u32", .action = TASK_LAUNCH};
	request.launch.dimensions = 1;
	request.launch.global[0] = words;
	request.launch.arguments = arguments;
	request.launch.argument_count = 2;
	request.launch.count = count;
	request.launch.values = (const uint8_t *)&values[1];
	request.launch.value_bytes = 4;
	model_submit(model, record, &request, &part, 1, true,
		     is_chained ? first_odd < count : values[count - 1] % 2);
	record->launches = count;
	bool runs = record->expected != EXPECT_DEPENDENCY;
	for (uint32_t i = 0; i < count; i++)
		record->launch[i] = !runs || (is_chained && i > first_odd) ? EXPECT_DEPENDENCY
				    : values[i] % 2                        ? EXPECT_FAILURE
									   : EXPECT_GOOD;
	/* The report on all launches: there is a failure. */
	if (runs && first_odd < count)
		record->expected = EXPECT_FAILURE;
	for (uint32_t i = 0; i < words && runs && !model->poisoned[to][part.first]; i++)
		model->contents[to][part.first + i] = values[count - 1];
}

static void launch_fail(struct model *model)
{
	struct record *record = model_new_record(model);
	uint32_t mode = model_draw(model, 2) ? ACCESS_MODE_READ : ACCESS_MODE_READ_WRITE;
	struct part part = part_of(model, model_draw(model, BUFFERS), mode, some_words(model));
	struct task_request request = {.what = "fail", .action = TASK_LAUNCH};
	request.launch.dimensions = 1;
	request.launch.global[0] = 1;
	model_submit(model, record, &request, &part, 1, true, true);
}

static void only_order(struct model *model)
{
	struct record *record = model_new_record(model);
	uint32_t first = model_draw(model, BUFFERS);
	const struct part parts[2] = {
		part_of(model, first, ACCESS_MODE_WRITE_NO_INIT, some_words(model)),
		part_of(model, model_other_buffer(model, first), ACCESS_MODE_READ,
			some_words(model))};
	struct task_request request = {.what = "noop",
				       .action = model_draw(model, 2) ? TASK_LAUNCH : TASK_BARRIER};
	request.launch.dimensions = 2;
	request.launch.global[0] = 4;
	model_submit(model, record, &request, parts, 2, false, false);
}

static void submit_copy(struct model *model)
{
	struct record *record = model_new_record(model);
	uint32_t to = model_draw(model, BUFFERS), count = 1 + model_draw(model, WORDS);
	bool host = model_draw(model, 2);
	struct part parts[2] = {
		part_of(model, to, ACCESS_MODE_WRITE_NO_INIT, count),
		part_of(model, model_other_buffer(model, to), ACCESS_MODE_READ, count)};
	uint32_t apart = parts[0].first < parts[1].first ? parts[1].first - parts[0].first
							 : parts[0].first - parts[1].first;
	if (parts[1].buffer == to && apart < count)
		parts[1].buffer = (to + 1) % BUFFERS;
	uint32_t first = parts[0].first, from = parts[1].first;
	struct task_request request = {.what = "copy", .action = TASK_COPY};
	for (uint32_t i = 0; i < WORDS; i++)
		record->snapshot[i] =
			host ? model_draw(model, 5000) : model->contents[parts[1].buffer][i];
	request.copy.source = host ? -1 : 1;
	request.copy.destination = 0;
	request.copy.host = record->snapshot + from;
	request.copy.source_offset_bytes = from * sizeof(uint32_t);
	request.copy.destination_offset_bytes = first * sizeof(uint32_t);
	request.copy.size_bytes = count * sizeof(uint32_t);
	model_submit(model, record, &request, parts, host ? 1 : 2, true, false);
	for (uint32_t i = 0; i < count && record->expected == EXPECT_GOOD; i++)
		model->contents[to][first + i] = record->snapshot[from + i];
}

static void submit_fill(struct model *model)
{
	struct record *record = model_new_record(model);
	uint32_t to = model_draw(model, BUFFERS), count = 1 + model_draw(model, WORDS),
		 value = model_draw(model, 1000);
	struct part part = part_of(model, to, ACCESS_MODE_WRITE, count);
	struct task_request request = {.what = "fill", .action = TASK_FILL};
	request.fill.offset_bytes = part.first * sizeof(uint32_t);
	request.fill.size_bytes = count * sizeof(uint32_t);
	request.fill.pattern = &value;
	request.fill.pattern_bytes = sizeof(value);
	model_submit(model, record, &request, &part, 1, true, false);
	for (uint32_t i = 0; i < count && record->expected == EXPECT_GOOD; i++)
		model->contents[to][part.first + i] = value;
}

static void host_update(struct model *model)
{
	struct record *record = model_new_record(model);
	struct part part =
		part_of(model, model_draw(model, BUFFERS), ACCESS_MODE_READ, some_words(model));
	struct task_request request = {.what = "update", .action = TASK_HOST_UPDATE};
	model_submit(model, record, &request, &part, 1, true, false);
}

static void host_access(struct model *model)
{
	static const uint32_t modes[] = {ACCESS_MODE_READ, ACCESS_MODE_READ, ACCESS_MODE_READ_WRITE,
					 ACCESS_MODE_WRITE_NO_INIT};
	struct record *record = model_new_record(model);
	uint32_t mode = modes[model_draw(model, 4)], buffer = model_draw(model, BUFFERS);
	struct part part = part_of(model, buffer, mode, some_words(model));
	record->host_access = true;
	record->writes = access_mode_writes(mode);
	record->first = part.first;
	record->count = part.count;
	record->add = access_mode_needs_contents(mode) ? model_draw(model, 100) : 0;
	record->release_at = model->step + model_draw(model, HOLD_STEPS);
	record->cancelled = access_mode_needs_contents(mode) && model_draw(model, 8) == 0;
	record->expected = model_judge(model, &part, 1, true, false, false);
	/* A host access orders by what it accesses. */
	record->parts[0] = part;
	record->parts[0].order_first = part.first;
	record->parts[0].order_count = part.count;
	record->part_count = 1;
	record->words = words_of(model, buffer);
	record->task = harness_host_part(&model->harness, record->words, mode, part.first,
					 part.count, &record->probe);
	memcpy(record->snapshot, model->contents[buffer], sizeof(record->snapshot));
	if (record->cancelled) {
		host_access_release(record->task);
		record->released = true;
		return;
	}
	if (!record->writes || record->expected != EXPECT_GOOD)
		return;
	for (uint32_t i = part.first; i < part.first + part.count; i++)
		model->contents[buffer][i] =
			record->add ? model->contents[buffer][i] + record->add : i;
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

/* Grants and releases that are due. */
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

void model_catch_up(struct model *model)
{
	for (uint32_t d = 0; d < DEVICES; d++)
		fake_device_gate_open(d);
	model->step += HOLD_STEPS;
	for (uint32_t i = model->first_held; i < model->count && !model->wrong[0]; i++) {
		/* In order of submission: whatever an access waits for has been served before it.
		 */
		if (!harness_wait(&model->harness, &model->records[i].probe))
			differ(model, &model->records[i], "never done");
		serve_host_accesses(model);
	}
}

static void one_step(struct model *model)
{
	uint32_t kind = model_draw(model, 100);
	model->step++;
	if (kind < 25)
		launch_mix(model);
	else if (kind < 32)
		launch_burst(model);
	else if (kind < 40)
		model_launch_stretch(model);
	else if (kind < 56)
		launch_fill(model);
	else if (kind < 57)
		launch_fail(model);
	else if (kind < 62)
		only_order(model);
	else if (kind < 74)
		submit_copy(model);
	else if (kind < 80)
		submit_fill(model);
	else if (kind < 83)
		host_update(model);
	else
		host_access(model);
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

/* Word by word, because some may be poisoned. */
static void check_word(struct model *model, uint32_t buffer, uint32_t word)
{
	struct record *record = model_new_record(model);
	record->expected = model->poisoned[buffer][word] ? EXPECT_DEPENDENCY : EXPECT_GOOD;
	record->host_access = true;
	record->first = word;
	record->count = 1;
	record->snapshot[word] = model->contents[buffer][word];
	record->words = words_of(model, buffer);
	record->task = harness_host_part(&model->harness, record->words, ACCESS_MODE_READ, word, 1,
					 &record->probe);
	if (!harness_wait(&model->harness, &record->probe))
		differ(model, record, "never done");
	serve_host_accesses(model);
}

/* Must one of them be over before the other begins? */
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

/* Tasks came back in the order of submission wherever that counts (B6); a withdrawn host access
 * does not count. */
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

/* Which of the devices are of which kind; with features, one at least can share. */
static void choose_devices(struct model *model, bool features, bool tight)
{
	static const uint32_t choice[] = {BACKEND_FEATURE_POLLED, BACKEND_FEATURE_LOADER,
					  BACKEND_FEATURE_PEER,   BACKEND_FEATURE_COPY_LANES,
					  BACKEND_FEATURE_INLINE, BACKEND_FEATURE_HOST_REGISTER};
	for (uint32_t d = 0; d < DEVICES; d++) {
		struct fake_device_options options = {.unified = model_draw(model, 3) == 0,
						      .manual = model_draw(model, 2)};
		options.bursts = features && model_draw(model, 2);
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
		/* Two buffers; and those that live there for good, of which another one may be used
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
	for (uint32_t b = 0; b < BUFFERS; b++) {
		harness_words_free(&model->harness, &model->words[b]);
		if (model->shared[b])
			harness_words_free(&model->harness, &model->again[b]);
	}
	for (uint32_t i = 0; i < SESSIONS; i++)
		model->sessions[i] = sched_account_drop(model->sessions[i]);
	return harness_stop(&model->harness);
}

static uint64_t last_spills, last_stretches;

uint64_t model_spills(void)
{
	return last_spills;
}

uint64_t model_stretches(void)
{
	return last_stretches;
}

/* The clock stands still: no wait for room is over because this machine is slow. */
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
	model->records = calloc(tasks + PARTS + BUFFERS * WORDS, sizeof(*model->records));
	model->random = seed * 0x9e3779b97f4a7c15ull + 1;
	model->home_lanes = options->features;
	model->parts = options->parts;
	model->one_device = options->one_device;
	fake_reset();
	/* Only kernels that are short, by the device's clock, are in stretches. */
	if (options->one_device)
		fake_clock(1000000, 10);
	choose_devices(model, options->features, options->tight);
	harness_start_with(&model->harness, DEVICES,
			   &(struct scheduler_config){.lane_choice = options->lanes,
						      .lane_seed = seed,
						      .processors = seed % 2 ? 2 : 4,
						      .never_whole = options->never_whole,
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
