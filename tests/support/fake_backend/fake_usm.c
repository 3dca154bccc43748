/*
 * USM of the fake backend. Every kind of it is memory of this process, so an address is the same on
 * all devices. A kernel or a command may only name such memory, or memory that was registered with
 * HOST_REGISTER.
 */
#include "fake_internal.h"

#include "protocol_limits.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT_LEAST 64u
#define ALIGNMENT_MAX   4096u

static bool usm_contains(const uint8_t *first, uint64_t first_bytes, const void *pointer,
			 uint64_t size_bytes)
{
	uintptr_t begin = (uintptr_t)first, at = (uintptr_t)pointer;
	return at >= begin && at - begin <= first_bytes && size_bytes <= first_bytes - (at - begin);
}

static const struct fake_usm *find_on(const struct backend_device *device, const void *pointer,
				      uint64_t size_bytes)
{
	const struct fake_usm *usm = device->usm;
	while (usm && !usm_contains(usm->data, usm->size_bytes, pointer, size_bytes))
		usm = usm->next;
	return usm;
}

static const struct fake_usm *usm_find_locked(const struct backend_device *device,
					      const void *pointer, uint64_t size_bytes)
{
	const struct fake_usm *usm = find_on(device, pointer, size_bytes);
	for (uint32_t i = 0; !usm && i < FAKE_DEVICES_MAX; i++)
		if (fake_state.slots[i].open && fake_state.slots[i].open != device)
			usm = find_on(fake_state.slots[i].open, pointer, size_bytes);
	return usm;
}

bool fake_usm_reaches_locked(const struct backend_device *device, const void *pointer,
			     uint64_t size_bytes)
{
	const struct fake_usm *usm = usm_find_locked(device, pointer, size_bytes);
	if (usm)
		return usm->kind != BACKEND_USM_DEVICE || find_on(device, pointer, size_bytes);
	if (!(device->slot->options.features & BACKEND_FEATURE_HOST_REGISTER))
		return true;
	for (const struct backend_host *host = device->hosts; host; host = host->next)
		if (usm_contains(host->host, host->size_bytes, pointer, size_bytes))
			return true;
	return false;
}

static void usm_count_locked(struct backend_device *device, const struct fake_usm *usm,
			     int difference)
{
	struct fake_counters *counters = &device->slot->counters;
	counters->usms += (uint32_t)difference;
	counters->usm_bytes += (uint64_t)difference * usm->size_bytes;
}

int fake_usm_alloc(struct backend_device *device, enum backend_usm_kind kind, uint64_t size_bytes,
		   uint64_t alignment_bytes, void **pointer_out, struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_USM_ALLOC, device, fault_out))
		return -ENOMEM;
	if (!fake_has(device, BACKEND_FEATURE_USM))
		return fake_refuse(device, "support USM", fault_out);
	if (size_bytes == 0 || alignment_bytes > ALIGNMENT_MAX ||
	    (alignment_bytes & (alignment_bytes - 1)) != 0) {
		fake_fault(fault_out, STATUS_INVALID, "USM of 0 bytes, or wrongly aligned");
		return -EINVAL;
	}
	if (fake_check_kept(device, fault_out) < 0)
		return -EAGAIN;
	uint64_t alignment = alignment_bytes > ALIGNMENT_LEAST ? alignment_bytes : ALIGNMENT_LEAST;
	struct fake_usm *usm = malloc(sizeof(*usm));
	uint8_t *data = NULL;
	if (usm && size_bytes <= FAKE_ALLOCATION_BYTES_MAX)
		data = aligned_alloc(alignment, (size_bytes + alignment - 1) & ~(alignment - 1));
	if (!data) {
		free(usm);
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no USM of %llu bytes",
			   (unsigned long long)size_bytes);
		return -ENOMEM;
	}
	memset(data, FAKE_POISON, size_bytes);
	fake_lock();
	*usm = (struct fake_usm){
		.next = device->usm, .kind = kind, .data = data, .size_bytes = size_bytes};
	device->usm = usm;
	usm_count_locked(device, usm, 1);
	fake_unlock();
	*pointer_out = data;
	return 0;
}

void fake_usm_free(struct backend_device *device, enum backend_usm_kind kind, void *pointer)
{
	(void)kind;
	if (!pointer)
		return;
	fake_lock();
	struct fake_usm **at = &device->usm;
	while (*at && (*at)->data != pointer)
		at = &(*at)->next;
	struct fake_usm *usm = *at;
	if (usm) {
		*at = usm->next;
		usm_count_locked(device, usm, -1);
	}
	fake_unlock();
	if (!usm)
		return;
	if (usm->program) {
		fake_program_drop(usm->program);
		free(usm);
		return;
	}
	/* Code that still uses it must get wrong contents. */
	memset(usm->data, FAKE_POISON, usm->size_bytes);
	free(usm->data);
	free(usm);
}

static bool is_good_locked(const struct backend_device *device, const struct backend_command *c)
{
	const struct fake_usm *to = usm_find_locked(device, c->usm.destination, c->usm.size_bytes);
	switch (c->kind) {
	case BACKEND_COMMAND_USM_COPY:
		return (to || c->usm.host_destination ||
			fake_usm_reaches_locked(device, c->usm.destination, c->usm.size_bytes)) &&
		       (usm_find_locked(device, c->usm.source, c->usm.size_bytes) ||
			c->usm.host_source ||
			fake_usm_reaches_locked(device, c->usm.source, c->usm.size_bytes));
	case BACKEND_COMMAND_USM_FILL:
		return c->usm.pattern_bytes > 0 && c->usm.pattern_bytes <= FILL_PATTERN_BYTES_MAX &&
		       fake_usm_reaches_locked(device, c->usm.destination, c->usm.size_bytes);
	case BACKEND_COMMAND_USM_ADVISE:
		return to && to->kind == BACKEND_USM_SHARED &&
		       c->usm.advice >= BACKEND_ADVICE_SET_READ_MOSTLY &&
		       c->usm.advice <= BACKEND_ADVICE_UNSET_ACCESSED_BY_HOST;
	default:
		return to && to->kind == BACKEND_USM_SHARED;
	}
}

void fake_usm_run_locked(struct backend_device *device, struct fake_command *command)
{
	const struct backend_command *c = &command->command;
	if (!is_good_locked(device, c)) {
		fake_fault(&command->fault, STATUS_INVALID,
			   "a command names memory that is not USM");
		return;
	}
	uint8_t *to = c->usm.destination;
	if (c->kind == BACKEND_COMMAND_USM_COPY)
		memmove(to, c->usm.source, c->usm.size_bytes);
	else if (c->kind == BACKEND_COMMAND_USM_FILL)
		for (uint64_t i = 0; i < c->usm.size_bytes; i++)
			to[i] = ((const uint8_t *)c->usm.pattern)[i % c->usm.pattern_bytes];
}

void fake_usm_count_locked(struct fake_counters *counters, const struct backend_command *c)
{
	if (c->kind == BACKEND_COMMAND_USM_COPY)
		counters->usm_copies++;
	else if (c->kind == BACKEND_COMMAND_USM_FILL)
		counters->usm_fills++;
	else if (c->kind == BACKEND_COMMAND_USM_PREFETCH)
		counters->prefetches++;
	else
		counters->advices++;
}
