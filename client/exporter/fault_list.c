#include "fault_list.h"

#include <stdio.h>

bool fault_list_take(struct fault_list *faults, const Sycl__V1__AdminReply *reply)
{
	uint64_t before = faults->after;
	for (size_t i = 0; i < reply->n_events; i++) {
		const Sycl__V1__EventFacts *event = reply->events[i];
		if (event->number > faults->after)
			faults->after = event->number;
		if (event->kind != SYCL__V1__EVENT_KIND__EVENT_KIND_FAULT || !event->of_user)
			continue;
		struct fault *fault = &faults->list[faults->count++ % FAULTS_KEPT];
		*fault = (struct fault){.unix_ms = event->unix_ms, .uid = event->uid};
		(void)snprintf(fault->text, sizeof(fault->text), "%s", event->text);
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
	if (age >= FAULTS_KEPT || age >= faults->count)
		return NULL;
	return &faults->list[(faults->count - 1 - age) % FAULTS_KEPT];
}
