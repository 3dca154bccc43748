#include "base/failure_list.h"
#include "base/fault.h"
#include "status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void failure_list_fini(struct failure_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		free(list->runs[i].text);
	free(list->runs);
	*list = (struct failure_list){.count = 0};
}

/* Index of the first run that ends at or behind `group`. */
static uint32_t failure_position(const struct failure_list *list, uint64_t group)
{
	uint32_t low = 0, high = list->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (list->runs[middle].last < group)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void remove_failure_run(struct failure_list *list, uint32_t index)
{
	if (list->runs[index].text) {
		free(list->runs[index].text);
		list->texts--;
	}
	list->count--;
	memmove(&list->runs[index], &list->runs[index + 1],
		(list->count - index) * sizeof(*list->runs));
}

static bool failures_have_one_cause(const struct failure_run *run,
				    const struct backend_fault *fault)
{
	return run->status == fault->status && run->native_code == fault->native_code;
}

static bool join_failure_runs(struct failure_list *list, uint32_t index, uint64_t group,
			      const struct backend_fault *fault)
{
	struct failure_run *before = index > 0 ? &list->runs[index - 1] : NULL;
	struct failure_run *behind = index < list->count ? &list->runs[index] : NULL;
	bool joins_before =
		before && before->last + 1 == group && failures_have_one_cause(before, fault);
	bool joins_behind =
		behind && behind->first == group + 1 && failures_have_one_cause(behind, fault);
	if (joins_before) {
		before->last = joins_behind ? behind->last : group;
		if (joins_behind)
			remove_failure_run(list, index);
	} else if (joins_behind) {
		behind->first = group;
	}
	return joins_before || joins_behind;
}

int failure_list_add(struct failure_list *list, uint64_t group, const struct backend_fault *fault)
{
	if (list->closed_from && group >= list->closed_from)
		return 0;
	uint32_t index = failure_position(list, group);
	if (join_failure_runs(list, index, group, fault))
		return 0;
	if (list->count == list->capacity) {
		uint32_t capacity = list->capacity ? list->capacity * 2 : 8;
		struct failure_run *runs = realloc(list->runs, capacity * sizeof(*runs));
		if (!runs)
			return -ENOMEM;
		list->runs = runs;
		list->capacity = capacity;
	}
	memmove(&list->runs[index + 1], &list->runs[index],
		(list->count - index) * sizeof(*list->runs));
	list->runs[index] = (struct failure_run){.first = group,
						 .last = group,
						 .status = fault->status,
						 .native_code = fault->native_code};
	list->count++;
	if (list->texts < FAILURE_TEXTS_MAX) {
		list->runs[index].text = strdup(fault->text);
		list->texts += list->runs[index].text != NULL;
	}
	return 0;
}

bool failure_list_find(const struct failure_list *list, uint64_t group,
		       struct backend_fault *fault_out)
{
	if (list->closed_from && group >= list->closed_from) {
		(void)fault_set(fault_out, STATUS_QUOTA,
				"command group %" PRIu64 " was refused: too many groups of its "
				"queue had failed",
				group);
		return true;
	}
	uint32_t index = failure_position(list, group);
	if (index == list->count || list->runs[index].first > group)
		return false;
	const struct failure_run *run = &list->runs[index];
	if (run->text)
		(void)fault_set(fault_out, run->status, "%s", run->text);
	else
		(void)fault_set(fault_out, run->status, "command group %" PRIu64 " failed (%s)",
				group, status_name(run->status));
	fault_out->native_code = run->native_code;
	return true;
}

bool failure_list_open(struct failure_list *list, uint64_t group)
{
	if (!list->closed_from && list->count >= FAILURE_RUNS_MAX)
		list->closed_from = group;
	return !list->closed_from;
}
