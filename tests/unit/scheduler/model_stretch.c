/*
 * Random stretches for model.h, made as in the engine (group/stretch.h). If the scheduler does not
 * accept one, it is submitted launch by launch. Either way each launch has the outcome and the
 * contents that it has alone.
 */
#include "scheduler/model_state.h"

#include "access_mode.h"
#include "group/checked.h"
#include "group/stretch.h"
#include "scheduler/public/kept.h"

#include <stdlib.h>
#include <string.h>

enum { STRETCH_MOST = PARTS / 2 };

struct group_checked {
	struct task_launch launch;
	uint32_t requirement_count;
	struct task_requirement requirements[2];
	struct task_argument arguments[3];
};

/* A launch of mix_u32, or of fill_even_u32, which fails with an odd value. */
struct planned {
	bool mixes;
	uint32_t value, part_count;
	struct part parts[2]; /* the first one is written */
};

const struct task_launch *group_checked_launch(const struct group_checked *checked)
{
	return &checked->launch;
}

const struct task_requirement *group_checked_requirements(const struct group_checked *checked,
							  uint32_t *count_out)
{
	*count_out = checked->requirement_count;
	return checked->requirements;
}

/* Mostly chooses buffers for which no stretch is refused. */
static uint32_t draw_buffer(struct model *model)
{
	uint32_t first = model->shared[0] && model_draw(model, 8) > 0 ? 3 : 0;
	return first + model_draw(model, BUFFERS - first);
}

/* Most need the words that the launch before writes. */
static struct planned plan_launch(struct model *model, const struct planned *before)
{
	struct planned planned = {.mixes = model_draw(model, 3) > 0, .part_count = 1};
	uint32_t to = draw_buffer(model), mode = ACCESS_MODE_READ_WRITE;
	bool follows = before && model_draw(model, 10) > 0;
	if (follows && (!planned.mixes || model_draw(model, 3) == 0))
		to = before->parts[0].buffer;
	if (!planned.mixes && !before && model_draw(model, 2))
		mode = ACCESS_MODE_WRITE_NO_INIT;
	planned.value = 2 * model_draw(model, 1000) + (model_draw(model, 12) == 0);
	planned.parts[0] = (struct part){.buffer = to, .mode = mode, .count = WORDS};
	if (planned.mixes) {
		uint32_t from = follows ? before->parts[0].buffer : draw_buffer(model);
		if (from == to)
			from = (to + 1 + model_draw(model, BUFFERS - 1)) % BUFFERS;
		planned.parts[1] =
			(struct part){.buffer = from, .mode = ACCESS_MODE_READ, .count = WORDS};
		planned.part_count = 2;
	}
	return planned;
}

static const char *kernel_name(const struct planned *planned)
{
	return planned->mixes ? "mix_u32" : "fill_even_u32";
}

static void fill_launch(const struct planned *planned, struct task_argument arguments[3],
			struct task_launch *launch_out)
{
	for (uint32_t i = 0; i < planned->part_count; i++)
		arguments[i] =
			(struct task_argument){.kind = BACKEND_ARGUMENT_GLOBAL, .requirement = i};
	arguments[planned->part_count] = (struct task_argument){.kind = BACKEND_ARGUMENT_VALUE,
								.bytes = &planned->value,
								.size_bytes = sizeof(uint32_t)};
	launch_out->dimensions = 1;
	launch_out->global[0] = WORDS;
	launch_out->arguments = arguments;
	launch_out->argument_count = planned->part_count + 1;
}

static bool fails(const struct planned *planned)
{
	return !planned->mixes && planned->value % 2;
}

static void write_contents(struct model *model, const struct planned *planned,
			   enum expected expected)
{
	uint32_t *words = model->contents[planned->parts[0].buffer];
	const uint32_t *from = model->contents[planned->parts[1].buffer];
	for (uint32_t i = 0; i < WORDS && expected == EXPECT_GOOD; i++)
		words[i] =
			planned->mixes ? words[i] * 31u + from[i] + planned->value : planned->value;
}

static void launch_alone(struct model *model, const struct planned *planned)
{
	struct record *record = model_new_record(model);
	struct task_argument arguments[3];
	struct task_request request = {.what = kernel_name(planned), .action = TASK_LAUNCH};
	fill_launch(planned, arguments, &request.launch);
	model_submit(model, record, &request, planned->parts, planned->part_count, true,
		     fails(planned));
	write_contents(model, planned, record->expected);
}

static bool add_launch(struct model *model, uint32_t device, const struct planned *planned,
		       struct group_checked *checked, struct group_stretch *stretch)
{
	*checked = (struct group_checked){.requirement_count = planned->part_count};
	fill_launch(planned, checked->arguments, &checked->launch);
	checked->launch.kernel = harness_kernel(&model->harness, device, kernel_name(planned));
	for (uint32_t i = 0; i < planned->part_count; i++)
		checked->requirements[i] = (struct task_requirement){
			.buffer = model->words[planned->parts[i].buffer].buffer,
			.mode = planned->parts[i].mode,
			.size_bytes = WORDS * sizeof(uint32_t)};
	return group_stretch_add(stretch, checked, (const uint8_t *)&planned->value,
				 sizeof(planned->value));
}

/* Returns false if the scheduler does not accept it. */
static bool submit_stretch(struct model *model, uint32_t device,
			   const struct group_stretch *stretch, struct record *record,
			   bool *after_failed)
{
	struct task *after[2];
	uint32_t launches[2];
	struct task_request request = {.device = model->harness.devices[device],
				       .owner = &record->probe,
				       .what = "stretch",
				       .account = model->sessions[model->count % SESSIONS],
				       .after = after,
				       .after_launches = launches};
	request.after_count = model_choose_after(model, after, launches, &request.failed_dependency,
						 after_failed);
	if (model->home_lanes && model_draw(model, 2))
		request.home_lane = 1 + model_draw(model, 3);
	group_stretch_put(stretch, &request);
	if (task_submit(model->harness.scheduler, &request, &record->task) < 0)
		return false;
	record->probe.task = record->task;
	record->probe.launches = stretch->count;
	return true;
}

struct model_kept {
	struct sched_kept *task;
	struct planned plan[STRETCH_MOST];
	uint32_t count, device;
};

/* Some stretches are kept. */
static void keep_some(struct model *model, const struct planned *plan, uint32_t count,
		      uint32_t device, struct task *task)
{
	struct model_kept **place = &model->kept[model_draw(model, MODEL_KEPT)];
	if (model_draw(model, 3) == 0)
		return;
	if (*place)
		(void)sched_kept_drop((*place)->task); /* also while its task is open */
	else
		*place = calloc(1, sizeof(**place));
	struct model_kept *kept = *place;
	kept->task = sched_kept_create();
	kept->count = count;
	kept->device = device;
	memcpy(kept->plan, plan, count * sizeof(*plan));
	/* One that has failed already is not kept. */
	(void)sched_kept_watch(kept->task, task);
}

/* Predicts them as if they were submitted alone. */
static void judge_stretch(struct model *model, const struct planned *plan, uint32_t count,
			  struct record *record, bool after_failed)
{
	record->launches = count;
	record->expected = EXPECT_GOOD;
	for (uint32_t i = 0; i < count; i++) {
		record->launch[i] = model_judge(model, plan[i].parts, plan[i].part_count, true,
						fails(&plan[i]), i == 0 && after_failed);
		write_contents(model, &plan[i], record->launch[i]);
		if (record->expected == EXPECT_GOOD)
			record->expected = record->launch[i];
		memcpy(&record->parts[record->part_count], plan[i].parts,
		       plan[i].part_count * sizeof(plan[i].parts[0]));
		record->part_count += plan[i].part_count;
	}
}

/* It writes a buffer that the stretch may need, and may fail. */
static void leave_in_flight(struct model *model, uint32_t device)
{
	struct planned planned = {.value = model_draw(model, 1000), .part_count = 1};
	planned.parts[0] = (struct part){
		.buffer = draw_buffer(model), .mode = ACCESS_MODE_WRITE_NO_INIT, .count = WORDS};
	fake_device_gate_close(device);
	launch_alone(model, &planned);
}

void model_launch_stretch(struct model *model)
{
	static struct group_stretch stretch;
	struct planned plan[STRETCH_MOST];
	struct group_checked checked[STRETCH_MOST];
	uint32_t count = 2 + model_draw(model, STRETCH_MOST - 1), device = model_draw_device(model);
	bool after_failed = false;
	/* A stretch with few predecessors is accepted more often. */
	if (model_draw(model, 2))
		model_catch_up(model);
	if (model_draw(model, 2))
		leave_in_flight(model, device);
	for (uint32_t i = 0; i < count; i++)
		plan[i] = plan_launch(model, i > 0 ? &plan[i - 1] : NULL);
	group_stretch_clear(&stretch);
	while (stretch.count < count &&
	       add_launch(model, device, &plan[stretch.count], &checked[stretch.count], &stretch))
		;
	uint32_t taken = stretch.count < 2 ? 0 : stretch.count;
	if (taken) {
		struct record *record = model_new_record(model);
		if (submit_stretch(model, device, &stretch, record, &after_failed)) {
			judge_stretch(model, plan, taken, record, after_failed);
			keep_some(model, plan, taken, device, record->task);
		} else {
			memset(record, 0, sizeof(*record));
			model->count--;
			taken = 0;
		}
	}
	for (uint32_t i = taken; i < count; i++)
		launch_alone(model, &plan[i]);
}

/* The same buffers and kernels with other values. */
void model_launch_kept(struct model *model)
{
	const uint8_t *values[STRETCH_MOST];
	uint32_t first = 0;
	while (first < MODEL_KEPT && !model->kept[first])
		first++;
	if (first == MODEL_KEPT) {
		model_launch_fill(model);
		return;
	}
	struct model_kept *kept = model->kept[model_draw(model, MODEL_KEPT)];
	if (!kept)
		kept = model->kept[first];
	if (model_draw(model, 4))
		model_catch_up(model);
	if (model_draw(model, 4) == 0)
		leave_in_flight(model, kept->device);
	for (uint32_t i = 0; i < kept->count; i++) {
		if (model_draw(model, 3))
			kept->plan[i].value =
				2 * model_draw(model, 1000) + (model_draw(model, 12) == 0);
		values[i] = (const uint8_t *)&kept->plan[i].value;
	}
	struct record *record = model_new_record(model);
	const struct task_kept_request request = {
		.owner = &record->probe,
		.account = model->sessions[model->count % SESSIONS],
		.flight_group = 100,
		.home_lane = model->home_lanes ? 1 + model_draw(model, 3) : 0,
		.values = values};
	if (task_submit_kept(kept->task, &request, &record->task) == 0) {
		record->probe.task = record->task;
		record->probe.launches = kept->count;
		judge_stretch(model, kept->plan, kept->count, record, false);
		/* Mostly the same, as programs do. */
		if (model_draw(model, 4))
			model_host_read(model,
					kept->plan[model_draw(model, 6) ? 0 : kept->count - 1]
						.parts[0]
						.buffer);
		return;
	}
	memset(record, 0, sizeof(*record));
	model->count--;
	for (uint32_t i = 0; i < kept->count; i++)
		launch_alone(model, &kept->plan[i]);
}

void model_drop_kept(struct model *model)
{
	for (uint32_t i = 0; i < MODEL_KEPT; i++) {
		if (model->kept[i])
			(void)sched_kept_drop(model->kept[i]->task);
		free(model->kept[i]);
		model->kept[i] = NULL;
	}
}
