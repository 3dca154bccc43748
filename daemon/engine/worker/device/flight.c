/* The flight page: whose commands are on a device now (shared/flight_page.h). */
#include "worker/device/flight.h"

#include "scheduler/state/program.h"
#include "scheduler/state/task.h"

#include <string.h>

void worker_flight_init(struct worker_flight *flight, void *page)
{
	flight->page = page;
	flight->free_count = 0;
	if (!page)
		return;
	flight->page->magic = FLIGHT_MAGIC;
	flight->page->layout = FLIGHT_LAYOUT;
	flight->page->entry_count = FLIGHT_ENTRIES;
	for (uint32_t i = FLIGHT_ENTRIES; i > 0; i--)
		flight->free[flight->free_count++] = i - 1;
}

uint32_t worker_flight_take(struct worker_flight *flight)
{
	return flight->free_count > 0 ? flight->free[--flight->free_count] : SCHED_NO_FLIGHT;
}

void worker_flight_give(struct worker_flight *flight, uint32_t entry)
{
	flight->free[flight->free_count++] = entry;
}

void worker_flight_device_open(struct worker_flight *flight, uint32_t device)
{
	if (flight->page && device < 64)
		atomic_fetch_or(&flight->page->open_devices, 1ull << device);
}

void worker_flight_enter(struct worker_flight *flight, const struct task_command *command)
{
	if (!flight->page || command->flight_session == 0)
		return;
	uint32_t more = command_launch_count(command) - (command->flight != SCHED_NO_FLIGHT);
	if (more > 0)
		atomic_fetch_add(&flight->page->more, more);
	if (command->flight == SCHED_NO_FLIGHT)
		return;
	struct flight_entry *entry = &flight->page->entries[command->flight];
	entry->queue = command->flight_queue;
	entry->group = command->flight_group;
	memcpy(entry->what, command->what, sizeof(entry->what));
	atomic_store_explicit(&entry->session, command->flight_session, memory_order_release);
}

void worker_flight_leave(struct worker_flight *flight, const struct task_command *command)
{
	if (!flight->page || command->flight_session == 0)
		return;
	/* Launches of a suspect burst that have ended are no suspects. */
	uint32_t less = command->suspect ? (command->burst ? burst_over(command->burst) : 0)
					 : command_launch_count(command) -
						   (command->flight != SCHED_NO_FLIGHT);
	if (less > 0)
		atomic_fetch_sub(&flight->page->more, less);
	if (!command->suspect && command->flight != SCHED_NO_FLIGHT)
		atomic_store_explicit(&flight->page->entries[command->flight].session, 0,
				      memory_order_release);
}

/* The launches of a stretch have names of their own. */
static void flight_name_launch(struct flight_entry *entry, const struct task_burst *burst)
{
	const char *name = burst->members[burst_over(burst)].kernel->name;
	size_t length = strnlen(name, sizeof(entry->what) - 1);
	memcpy(entry->what, name, length);
	memset(entry->what + length, 0, sizeof(entry->what) - length);
}

void worker_flight_advance(struct worker_flight *flight, const struct task_command *command)
{
	if (!flight->page || command->flight_session == 0 || command->flight == SCHED_NO_FLIGHT)
		return;
	struct flight_entry *entry = &flight->page->entries[command->flight];
	entry->group = command->flight_group + burst_over(command->burst);
	if (command->burst->members)
		flight_name_launch(entry, command->burst);
}
