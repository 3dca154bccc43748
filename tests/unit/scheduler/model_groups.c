/* The groups and host accesses of the model, chosen at random, with their effects on the
 * contents. */
#include "scheduler/model_state.h"

#include "access_mode.h"

#include <string.h>

struct words *model_words_of(struct model *model, uint32_t buffer)
{
	return model->shared[buffer] && model_draw(model, 2) ? &model->again[buffer]
							     : &model->words[buffer];
}

/* Returns `count` words from a random place. They are ordered as the whole buffer, or as a
 * sub-buffer around them. */
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

/* Returns a number of words that a group may use of a buffer. */
static uint32_t some_words(struct model *model)
{
	return model->parts && model_draw(model, 4) > 0 ? 1 + model_draw(model, WORDS) : WORDS;
}

static struct task_argument global_argument(const struct part *part, uint32_t requirement)
{
	return (struct task_argument){.kind = BACKEND_ARGUMENT_GLOBAL,
				      .requirement = requirement,
				      .offset_bytes = part->first * sizeof(uint32_t)};
}

void model_launch_mix(struct model *model)
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
void model_launch_fill(struct model *model)
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

/* Several launches in one task: each needs the words that the one before has written, or none does.
 * Launches with an odd value fail. */
void model_launch_burst(struct model *model)
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

void model_launch_fail(struct model *model)
{
	struct record *record = model_new_record(model);
	uint32_t mode = model_draw(model, 2) ? ACCESS_MODE_READ : ACCESS_MODE_READ_WRITE;
	struct part part = part_of(model, model_draw(model, BUFFERS), mode, some_words(model));
	struct task_request request = {.what = "fail", .action = TASK_LAUNCH};
	request.launch.dimensions = 1;
	request.launch.global[0] = 1;
	model_submit(model, record, &request, &part, 1, true, true);
}

void model_only_order(struct model *model)
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

void model_submit_copy(struct model *model)
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

void model_submit_fill(struct model *model)
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

void model_host_update(struct model *model)
{
	struct record *record = model_new_record(model);
	struct part part =
		part_of(model, model_draw(model, BUFFERS), ACCESS_MODE_READ, some_words(model));
	struct task_request request = {.what = "update", .action = TASK_HOST_UPDATE};
	model_submit(model, record, &request, &part, 1, true, false);
}

static void access_at_host(struct model *model, struct part part)
{
	const uint32_t mode = part.mode, buffer = part.buffer;
	struct record *record = model_new_record(model);
	record->host_access = true;
	record->writes = access_mode_writes(mode);
	record->first = part.first;
	record->count = part.count;
	record->add = access_mode_needs_contents(mode) ? model_draw(model, 100) : 0;
	record->release_at = model->step + model_draw(model, MODEL_HOLD_STEPS);
	record->cancelled = access_mode_needs_contents(mode) && model_draw(model, 8) == 0;
	record->expected = model_judge(model, &part, 1, true, false, false);
	/* A host access is ordered by the words that it accesses. */
	record->parts[0] = part;
	record->parts[0].order_first = part.first;
	record->parts[0].order_count = part.count;
	record->part_count = 1;
	record->words = model_words_of(model, buffer);
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

void model_host_access(struct model *model)
{
	static const uint32_t modes[] = {ACCESS_MODE_READ, ACCESS_MODE_READ, ACCESS_MODE_READ_WRITE,
					 ACCESS_MODE_WRITE_NO_INIT};
	uint32_t mode = modes[model_draw(model, 4)], buffer = model_draw(model, BUFFERS);
	access_at_host(model, part_of(model, buffer, mode, some_words(model)));
}

void model_host_read(struct model *model, uint32_t buffer)
{
	access_at_host(model,
		       (struct part){.buffer = buffer, .mode = ACCESS_MODE_READ, .count = WORDS});
}
