#include "scheduler/request/stretch.h"

#include "access_mode.h"
#include "scheduler/request/fill.h"
#include "scheduler/public/program.h"
#include "scheduler/memory/residency.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/program.h"
#include "scheduler/state/scheduler.h"

#include <string.h>

/* ------------------------------------- may it be one ------------------------------------ */

static bool stretch_needs_contents(const struct task_requirement *requirement)
{
	return access_mode_needs_contents(requirement->mode);
}

/* The author's launch that wrote the contents, as a number that grows: if a launch fails, those
 * with larger numbers fail as well. */
static uint32_t author_launch_number(const struct task *author,
				     const struct sched_contents *contents)
{
	return task_is_stretch(author) ? task_launches_of(author, contents) : 0;
}

/* True if the first launch needs contents of `author` that are lost if the author fails. */
static bool first_launch_needs(const struct task_request *request, const struct task *author,
			       uint32_t launch)
{
	for (uint32_t i = 0; i < request->requirement_count; i++) {
		const struct task_requirement *requirement = &request->requirements[i];
		struct sched_contents *contents = requirement->buffer->contents;
		if (requirement->late || !stretch_needs_contents(requirement))
			continue;
		for (uint32_t k = 0; k < contents->pieces.count; k++) {
			const struct sched_piece *piece =
				sched_piece_of(interval_map_get(&contents->pieces, k));
			if (piece->author == author &&
			    author_launch_number(author, contents) >= launch)
				return true;
		}
	}
	return false;
}

static bool requirement_fails_whole_stretch(const struct task_request *request,
					    const struct task_requirement *requirement)
{
	struct sched_contents *contents = requirement->buffer->contents;
	for (uint32_t i = 0; i < contents->pieces.count; i++) {
		const struct task *author =
			sched_piece_of(interval_map_get(&contents->pieces, i))->author;
		if (author &&
		    !first_launch_needs(request, author, author_launch_number(author, contents)))
			return false;
	}
	return true;
}

/* True if the task has ended, or the first launch waits for it anyway. */
static bool task_is_awaited_anyway(const struct task_request *request, const struct task *task)
{
	if (!task || task->state == TASK_DONE)
		return true;
	for (uint32_t i = 0; i < request->after_count; i++)
		if (request->after[i] == task)
			return true;
	for (uint32_t i = 0; i < request->requirement_count; i++) {
		const struct task_requirement *requirement = &request->requirements[i];
		if (!requirement->is_later &&
		    requirement->buffer->contents->first_span.writer == task)
			return true;
	}
	return false;
}

static bool list_is_awaited_anyway(const struct task_request *request,
				   const struct task_link_list *list)
{
	for (const struct task_link *link = list->first; link; link = link->next)
		if (!task_is_awaited_anyway(request, link->use->task))
			return false;
	return true;
}

/*
 * True if the whole stretch may wait for this requirement. All launches wait for what any launch
 * waits for. But a later launch may have to wait for a host accessor or another queue that itself
 * waits for the first launch. A whole buffer has one span (whole.h).
 */
static bool requirement_orders_whole_stretch(const struct task_request *request,
					     const struct task_requirement *requirement)
{
	const struct sched_span *span = &requirement->buffer->contents->first_span;
	if (!requirement->is_later && !requirement->is_written_later)
		return true;
	if (requirement->is_later && !task_is_awaited_anyway(request, span->writer))
		return false;
	return list_is_awaited_anyway(request, &span->host_readers) &&
	       (!access_mode_writes(requirement->mode) ||
		list_is_awaited_anyway(request, &span->readers));
}

bool sched_stretch_allows(const struct task_request *request)
{
	const struct scheduler *scheduler = request->device->scheduler;
	if (scheduler->spills)
		return false;
	for (uint32_t i = 0; i < request->launch.count; i++) {
		const struct task_launch *launch = request->launch.members[i].launch;
		const struct sched_kernel *kernel = launch->kernel;
		if (!kernel->made || !kernel->handle ||
		    !sched_variants_are_ready(kernel->variants, launch->dimensions))
			return false;
	}
	for (uint32_t i = 0; i < request->requirement_count; i++) {
		struct sched_memory *memory = scheduler->accesses[i].memory;
		const struct task_requirement *requirement = &request->requirements[i];
		if (!memory || !atomic_load_explicit(&memory->handle, memory_order_acquire) ||
		    (requirement->late && !requirement_fails_whole_stretch(request, requirement)) ||
		    !requirement_orders_whole_stretch(request, requirement))
			return false;
	}
	return true;
}

/* ----------------------------------------- made ----------------------------------------- */

static uint32_t stretch_count_arguments(const struct task_request *request)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < request->launch.count; i++)
		count += request->launch.members[i].launch->argument_count;
	return count;
}

static size_t value_storage(const struct task_launch *launch)
{
	size_t bytes = 0;
	for (uint32_t i = 0; i < launch->argument_count; i++)
		if (launch->arguments[i].kind == BACKEND_ARGUMENT_VALUE)
			bytes += sched_align_storage(launch->arguments[i].size_bytes);
	return bytes;
}

size_t sched_stretch_storage(const struct task_request *request)
{
	const uint32_t count = request->launch.count, arguments = stretch_count_arguments(request);
	size_t bytes = sched_align_storage(sizeof(struct task_burst)) +
		       sched_align_storage(count * sizeof(struct task_burst_member)) +
		       sched_align_storage(arguments * sizeof(struct backend_argument)) +
		       sched_align_storage(arguments * sizeof(struct sched_memory *));
	for (uint32_t i = 0; i < count; i++)
		bytes += value_storage(request->launch.members[i].launch);
	return bytes;
}

/* Returns where the values of the next launch go. */
static uint8_t *fill_member_arguments(struct task_command *command, uint32_t first,
				      const struct task_request *request,
				      const struct task_member *member, uint8_t *at)
{
	const struct sched_access *accesses = request->device->scheduler->accesses;
	const uint8_t *values = member->values;
	for (uint32_t i = 0; i < member->launch->argument_count; i++) {
		const struct task_argument *from = &member->launch->arguments[i];
		struct backend_argument *to = &command->arguments[first + i];
		*to = (struct backend_argument){.kind = from->kind};
		command->argument_memories[first + i] = NULL;
		if (from->kind == BACKEND_ARGUMENT_VALUE) {
			memcpy(at, values, from->size_bytes);
			to->value.bytes = at;
			to->value.size_bytes = from->size_bytes;
			values += from->size_bytes;
			at += sched_align_storage(from->size_bytes);
		} else if (from->kind == BACKEND_ARGUMENT_GLOBAL) {
			command->argument_memories[first + i] =
				accesses[member->requirements[from->requirement]].memory;
			to->global.offset_bytes = from->offset_bytes;
			to->global.reach = from->reach;
		} else {
			to->local_bytes = from->size_bytes;
		}
	}
	return at;
}

static void fill_members(struct task_command *command, const struct task_request *request,
			 uint8_t *at)
{
	uint32_t argument = 0;
	for (uint32_t i = 0; i < request->launch.count; i++) {
		const struct task_member *from = &request->launch.members[i];
		struct task_burst_member *to = &command->burst->members[i];
		sched_launch_fill(&to->backend, from->launch);
		to->backend.launch.arguments = &command->arguments[argument];
		to->kernel = from->launch->kernel;
		/* The first is the command's. */
		to->kernel->references += i > 0;
		at = fill_member_arguments(command, argument, request, from, at);
		argument += from->launch->argument_count;
	}
}

void sched_stretch_fill(struct task_command *command, const struct task_request *request,
			uint8_t *at)
{
	const uint32_t count = request->launch.count, arguments = stretch_count_arguments(request);
	struct scheduler_counters *counters = &request->device->scheduler->counters;
	struct task_burst *burst = (struct task_burst *)(void *)at;
	at += sched_align_storage(sizeof(*burst));
	burst->members = (struct task_burst_member *)(void *)at;
	at += sched_align_storage(count * sizeof(*burst->members));
	command->arguments = (struct backend_argument *)(void *)at;
	at += sched_align_storage(arguments * sizeof(struct backend_argument));
	command->argument_memories = (struct sched_memory **)(void *)at;
	at += sched_align_storage(arguments * sizeof(struct sched_memory *));
	burst->count = count;
	burst->value_stride = 0;
	burst->is_chained = true;
	burst->is_whole = burst->is_kept = false;
	burst->measured = 0;
	burst->row = NULL;
	burst->row_tries = burst->changed = burst->row_read = 0;
	burst->read = NULL;
	burst->row_has_read = burst->sends_read = burst->has_read = false;
	burst->out = burst->failed = 0;
	burst_set_over(burst, 0);
	command->burst = burst;
	fill_members(command, request, at);
	/* For code that visits a command's memories: the command has those of all launches. */
	command->backend = burst->members[0].backend;
	command->backend.launch.argument_count = arguments;
	counters->bursts++;
	counters->burst_launches += count;
	counters->stretches++;
	counters->stretch_launches += count;
}

/* ---------------------------------------- used ------------------------------------------ */

void sched_stretch_unuse(const struct task *task)
{
	const struct task_burst *burst = task->command.burst;
	for (uint32_t i = 1; i < burst->count; i++)
		sched_kernel_drop(burst->members[i].kernel);
}
