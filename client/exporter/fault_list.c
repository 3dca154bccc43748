#include "fault_list.h"

#include <stdio.h>
#include <string.h>

enum { UID_BLOCK = 65536 };

void fault_list_note_service(struct fault_list *faults, const Sycl__V1__ServiceFacts *service)
{
	if (faults->service_pid == service->pid &&
	    faults->service_since == service->since_unix_seconds &&
	    faults->is_filtered == (bool)service->filtered)
		return;
	faults->service_pid = service->pid;
	faults->service_since = service->since_unix_seconds;
	faults->is_filtered = service->filtered;
	faults->after = 0;
}

static uint32_t fault_owner(uint32_t uid)
{
	return uid < UID_BLOCK ? uid : uid - uid % UID_BLOCK;
}

static unsigned faults_of_owner(const struct fault_list *faults, uint32_t owner)
{
	unsigned count = 0;
	for (unsigned i = 0; i < faults->count; i++)
		count += fault_owner(faults->list[i].uid) == owner;
	return count;
}

/* The user of the new fault counts as one more. */
static void fault_list_drop_one(struct fault_list *faults, uint32_t new_owner)
{
	unsigned dropped = 0, most = 0;
	for (unsigned i = 0; i < faults->count; i++) {
		uint32_t owner = fault_owner(faults->list[i].uid);
		unsigned count = faults_of_owner(faults, owner) + (owner == new_owner);
		if (count <= most)
			continue;
		most = count;
		dropped = i;
	}
	faults->count--;
	memmove(&faults->list[dropped], &faults->list[dropped + 1],
		(faults->count - dropped) * sizeof(*faults->list));
}

/* When events are counted anew, the service may give some of them once more. */
static bool fault_is_listed(const struct fault_list *faults, const struct fault *fault)
{
	for (unsigned i = 0; i < faults->count; i++)
		if (faults->list[i].unix_ms == fault->unix_ms &&
		    faults->list[i].uid == fault->uid &&
		    strcmp(faults->list[i].text, fault->text) == 0)
			return true;
	return false;
}

static void fault_list_add(struct fault_list *faults, const Sycl__V1__EventFacts *event)
{
	struct fault fault = {.unix_ms = event->unix_ms, .uid = event->uid};
	(void)snprintf(fault.text, sizeof(fault.text), "%s", event->text);
	if (fault_is_listed(faults, &fault))
		return;
	if (faults->count == FAULTS_KEPT)
		fault_list_drop_one(faults, fault_owner(fault.uid));
	faults->list[faults->count++] = fault;
}

bool fault_list_take(struct fault_list *faults, const Sycl__V1__AdminReply *reply)
{
	uint64_t before = faults->after;
	for (size_t i = 0; i < reply->n_events; i++) {
		const Sycl__V1__EventFacts *event = reply->events[i];
		if (event->number > faults->after)
			faults->after = event->number;
		if (event->kind == SYCL__V1__EVENT_KIND__EVENT_KIND_FAULT && event->of_user)
			fault_list_add(faults, event);
	}
	if (reply->events_last > faults->after)
		faults->after = reply->events_last;
	/* A lower number is from another service, which counts from 1 on. */
	if (reply->n_events == 0 && reply->events_last < before) {
		faults->after = 0;
		return true;
	}
	return reply->n_events > 0;
}

const struct fault *fault_list_at(const struct fault_list *faults, unsigned age)
{
	return age < faults->count ? &faults->list[faults->count - 1 - age] : NULL;
}
