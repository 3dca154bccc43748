/* The last faults, from answers with events. */
#include "fault_list.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>

TestSuite(exporter_faults, .timeout = 20);

static struct fault_list faults;

/* One answer with an event of that number and kind, or with none. */
static bool take(uint64_t number, Sycl__V1__EventKind kind, uint64_t last)
{
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	Sycl__V1__EventFacts event = SYCL__V1__EVENT_FACTS__INIT, *list[] = {&event};
	char text[32];
	(void)snprintf(text, sizeof(text), "fault %llu", (unsigned long long)number);
	event.number = number;
	event.kind = kind;
	event.of_user = true;
	event.uid = 7;
	event.unix_ms = number * 1000;
	event.text = text;
	reply.events = list;
	reply.n_events = number > 0;
	reply.events_last = last;
	return fault_list_take(&faults, &reply);
}

Test(exporter_faults, the_latest_come_first_and_old_ones_go)
{
	cr_expect(eq(ptr, (void *)(uintptr_t)fault_list_at(&faults, 0), NULL));
	for (uint64_t number = 1; number <= FAULTS_KEPT + 2; number++)
		cr_expect(take(number, SYCL__V1__EVENT_KIND__EVENT_KIND_FAULT, number));
	cr_expect(not(take(0, 0, FAULTS_KEPT + 2)));
	cr_expect(eq(u64, faults.after, FAULTS_KEPT + 2));
	cr_expect(eq(u64, fault_list_at(&faults, 0)->unix_ms, (FAULTS_KEPT + 2) * 1000ull));
	cr_expect(eq(u64, fault_list_at(&faults, FAULTS_KEPT - 1)->unix_ms, 3000));
	cr_expect(eq(str, (char *)(uintptr_t)fault_list_at(&faults, 0)->text, "fault 34"));
	cr_expect(eq(ptr, (void *)(uintptr_t)fault_list_at(&faults, FAULTS_KEPT), NULL));
}

Test(exporter_faults, other_events_are_passed_over)
{
	cr_expect(take(5, SYCL__V1__EVENT_KIND__EVENT_KIND_ORDER, 9));
	cr_expect(eq(u64, faults.after, 9));
	cr_expect(eq(ptr, (void *)(uintptr_t)fault_list_at(&faults, 0), NULL));
}

/* The next service counts from 1 on; the faults of the one before stay. */
Test(exporter_faults, a_restart_of_the_service_keeps_them)
{
	cr_expect(take(300, SYCL__V1__EVENT_KIND__EVENT_KIND_FAULT, 300));
	cr_expect(take(0, 0, 2));
	cr_expect(zero(u64, faults.after));
	cr_expect(take(1, SYCL__V1__EVENT_KIND__EVENT_KIND_FAULT, 2));
	cr_expect(not(take(0, 0, 2)));
	cr_expect(eq(u64, fault_list_at(&faults, 0)->unix_ms, 1000));
	cr_expect(eq(u64, fault_list_at(&faults, 1)->unix_ms, 300000));
}
