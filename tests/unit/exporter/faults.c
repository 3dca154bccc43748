/* The last faults, from answers with events. */
#include "fault_list.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>

TestSuite(exporter_faults, .timeout = 20);

static struct fault_list faults;
static uint32_t uid = 7; /* of the next fault */

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
	event.uid = uid;
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

static void follow_service(uint32_t pid, bool filtered)
{
	Sycl__V1__ServiceFacts service = SYCL__V1__SERVICE_FACTS__INIT;
	service.pid = pid;
	service.since_unix_seconds = 5;
	service.filtered = filtered;
	fault_list_note_service(&faults, &service);
}

/* The next service may soon have as many events as the one before had. */
Test(exporter_faults, another_service_is_asked_for_all_its_events)
{
	follow_service(10, false);
	cr_expect(take(3, SYCL__V1__EVENT_KIND__EVENT_KIND_FAULT, 3));
	follow_service(10, false);
	cr_expect(eq(u64, faults.after, 3));
	follow_service(11, false);
	cr_expect(zero(u64, faults.after));
}

/* Events are counted anew when the exporter may see more than before, or less. */
Test(exporter_faults, a_fault_that_comes_again_is_listed_once)
{
	follow_service(10, false);
	cr_expect(take(3, SYCL__V1__EVENT_KIND__EVENT_KIND_FAULT, 3));
	follow_service(10, true);
	cr_expect(zero(u64, faults.after));
	cr_expect(take(3, SYCL__V1__EVENT_KIND__EVENT_KIND_FAULT, 3));
	cr_expect(eq(uint, (unsigned)faults.count, 1));
}

static unsigned faults_below(uint32_t limit)
{
	unsigned count = 0;
	for (unsigned age = 0; fault_list_at(&faults, age); age++)
		count += fault_list_at(&faults, age)->uid < limit;
	return count;
}

Test(exporter_faults, a_user_with_many_faults_does_not_hide_those_of_others)
{
	uint64_t number;
	for (number = 1; number <= 3 + 2 * FAULTS_KEPT; number++) {
		/* The later ones are of one block, as a user may have. */
		uid = (uint32_t)(number <= 3 ? number : 100000 + number);
		cr_expect(take(number, SYCL__V1__EVENT_KIND__EVENT_KIND_FAULT, number));
	}
	cr_expect(eq(uint, faults_below(4), 3));
	cr_expect(eq(u64, fault_list_at(&faults, 0)->unix_ms, (number - 1) * 1000));
	cr_expect(eq(u64, fault_list_at(&faults, FAULTS_KEPT - 1)->unix_ms, 1000));
}
