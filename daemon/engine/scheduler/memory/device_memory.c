/* The memories of a buffer on devices: found, made and charged to an account. */
#include "scheduler/state/buffer.h"

#include "base/intrusive_list.h"
#include "scheduler/admission/account.h"
#include "scheduler/public/account.h"
#include "scheduler/public/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/scheduler.h"

#include <errno.h>
#include <stdlib.h>

static void charge_memory(struct sched_memory *memory, struct sched_account *account)
{
	sched_account_hold(account);
	sched_quota_take(sched_account_device(account), memory->device, memory->size_bytes);
	memory->account = account;
	list_push_back(sched_account_memories(account), &memory->account_link);
}

void sched_buffer_charge(struct sched_buffer *buffer, struct sched_account *account)
{
	sched_account_hold(account);
	buffer->account = account;
	for (struct sched_memory *memory = buffer->contents->memories; memory;
	     memory = memory->next)
		if (!memory->account && !memory->imported)
			charge_memory(memory, account);
}

struct sched_memory *sched_memory_of(struct sched_buffer *buffer, struct scheduler_device *device)
{
	struct sched_memory *memory = NULL;
	return sched_memory_need(buffer, device, &memory) < 0 ? NULL : memory;
}

/* Not inlined, because every requirement of every group runs only the search. */
static __attribute__((noinline)) int make_memory(struct sched_buffer *buffer,
						 struct scheduler_device *device, bool in_place,
						 struct sched_memory **list,
						 struct sched_memory **memory_out)
{
	struct sched_contents *contents = buffer->contents;
	/* Views of one range are in the same memory, so one of them is charged. */
	struct sched_account *account = in_place && *list ? NULL : buffer->account;
	if (account &&
	    !sched_quota_allows(sched_account_device(account), device, contents->size_bytes))
		return -ENOSPC;
	struct sched_memory *memory = malloc(sizeof(*memory));
	if (!memory)
		return -ENOMEM;
	bool buffers = in_place || contents == &buffer->own;
	*memory = (struct sched_memory){
		.next = *list,
		.buffer = buffers ? buffer : NULL,
		.contents = buffers ? NULL : contents,
		.device = device,
		.size_bytes = contents->size_bytes,
		.host = in_place ? buffer->host : NULL,
		.image = contents->image,
		.is_temporary = contents->is_temporary,
		.shared.descriptor = -1,
	};
	memory->spill.owner = in_place ? NULL : account;
	memory->spill.session = account ? sched_account_session(account) : 0;
	memory->spill.number = ++device->scheduler->memories_made;
	if (account)
		charge_memory(memory, account);
	*list = memory;
	device->memories++;
	*memory_out = memory;
	return 0;
}

int sched_memory_need(struct sched_buffer *buffer, struct scheduler_device *device,
		      struct sched_memory **memory_out)
{
	struct sched_contents *contents = buffer->contents;
	bool in_place = device->unified && sched_place_of(contents, device) == SCHED_HOST_PLACE;
	struct sched_memory **list = in_place ? &buffer->memories : &contents->memories;
	for (struct sched_memory *memory = *list; memory; memory = memory->next)
		if (memory->device == device) {
			*memory_out = memory;
			return 0;
		}
	return make_memory(buffer, device, in_place, list, memory_out);
}
