/* Limits on what a session's tasks hold: a request of a few bytes can take megabytes of edges. */
#include "scheduler/admission/account.h"

#include "base/cause.h"
#include "base/intrusive_list.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/admission/flow.h"
#include "scheduler/public/account.h"
#include "scheduler/public/device.h"
#include "scheduler/state/task.h"
#include "scheduler/admission/use.h"

#include <errno.h>
#include <stdlib.h>

struct sched_account {
	uint64_t most_bytes, bytes;
	uint64_t session;    /* its number; 0: not known */
	uint32_t references; /* the owner, tasks */
	uint32_t sent;       /* commands of the session that are on a device */
	enum fair_queue_class class;
	uint32_t weight;
	struct sched_flow *flows;
	struct sched_cause *ended;
	struct sched_pause pause;
	struct list memories; /* the memories that are charged to it */
	struct sched_quota device;
};

int sched_account_create(uint64_t most_bytes, struct sched_account **account_out)
{
	struct sched_account *account = malloc(sizeof(*account));
	if (!account)
		return -ENOMEM;
	*account = (struct sched_account){.most_bytes = most_bytes,
					  .references = 1,
					  .class = FAIR_QUEUE_NORMAL,
					  .weight = FAIR_QUEUE_WEIGHT,
					  .device = {.most_bytes = UINT64_MAX}};
	list_init(&account->memories);
	*account_out = account;
	return 0;
}

struct sched_account *sched_account_drop(struct sched_account *account)
{
	if (account && --account->references == 0) {
		account->flows = sched_flow_free_all(account->flows);
		sched_cause_drop(account->ended);
		free(account);
	}
	return NULL;
}

void sched_account_hold(struct sched_account *account)
{
	account->references++;
}

void sched_account_name(struct sched_account *account, uint64_t session)
{
	account->session = session;
}

uint64_t sched_account_session(const struct sched_account *account)
{
	return account->session;
}

void sched_account_change(struct sched_account *account, uint64_t most_bytes)
{
	account->most_bytes = most_bytes;
}

bool sched_account_set_rank(struct sched_account *account, enum fair_queue_class class,
			    uint32_t weight)
{
	if (account->class == class && account->weight == weight)
		return false;
	account->class = class;
	account->weight = weight;
	return true;
}

void sched_account_rank_of(const struct sched_account *account, enum fair_queue_class *class_out,
			   uint32_t *weight_out)
{
	*class_out = account->class;
	*weight_out = account->weight;
}

struct sched_quota *sched_account_device(struct sched_account *account)
{
	return &account->device;
}

/* The bytes of the quota in use, without memory whose free is on its way to this device. */
static uint64_t quota_staying_bytes(const struct sched_quota *quota,
				    const struct scheduler_device *device)
{
	return quota->bytes - (device ? quota->leaving_bytes[device->index] : 0);
}

bool sched_quota_allows(const struct sched_quota *quota, const struct scheduler_device *device,
			uint64_t bytes)
{
	for (; quota; quota = quota->above) {
		uint64_t stays = quota_staying_bytes(quota, device);
		if (stays > quota->most_bytes || bytes > quota->most_bytes - stays)
			return false;
	}
	return true;
}

void sched_quota_take(struct sched_quota *quota, const struct scheduler_device *device,
		      uint64_t bytes)
{
	for (; quota; quota = quota->above) {
		quota->bytes += bytes;
		uint64_t stays = quota_staying_bytes(quota, device);
		if (quota->peak_bytes < stays)
			quota->peak_bytes = stays;
	}
}

void sched_quota_give(struct sched_quota *quota, uint64_t bytes)
{
	for (; quota; quota = quota->above)
		quota->bytes -= bytes;
}

void sched_quota_leave(struct sched_quota *quota, const struct scheduler_device *device,
		       uint64_t bytes)
{
	for (; quota; quota = quota->above)
		quota->leaving_bytes[device->index] += bytes;
}

void sched_quota_left(struct sched_quota *quota, const struct scheduler_device *device,
		      uint64_t bytes)
{
	for (; quota; quota = quota->above) {
		quota->leaving_bytes[device->index] -= bytes;
		quota->bytes -= bytes;
	}
}

uint64_t sched_account_bytes(const struct sched_account *account)
{
	return account->bytes;
}

bool sched_account_allows(const struct sched_account *account, uint64_t bytes)
{
	return !account || (account->bytes <= account->most_bytes &&
			    bytes <= account->most_bytes - account->bytes);
}

void sched_account_sent_more(struct sched_account *account)
{
	if (account)
		account->sent++;
}

void sched_account_sent_less(struct sched_account *account)
{
	if (account)
		account->sent--;
}

uint32_t sched_account_sent(const struct sched_account *account)
{
	return account->sent;
}

struct sched_flow **sched_account_flows(struct sched_account *account)
{
	return &account->flows;
}

struct sched_cause **sched_account_ended(struct sched_account *account)
{
	return &account->ended;
}

struct sched_pause *sched_account_pause(struct sched_account *account)
{
	return &account->pause;
}

struct list *sched_account_memories(struct sched_account *account)
{
	return &account->memories;
}

bool sched_account_has_spilled(const struct sched_account *account)
{
	for (const struct sched_flow *flow = account->flows; flow; flow = flow->next)
		if (flow->device && atomic_load_explicit(&flow->device->spill_counts.spills,
							 memory_order_relaxed) > 0)
			return true;
	return false;
}

/* Visits the memories only if one of them may have spills, since a session can have very many. */
void sched_account_settle_spills(struct sched_account *account)
{
	if (!sched_account_has_spilled(account))
		return;
	for (struct list *link = account->memories.next; link != &account->memories;
	     link = link->next)
		sched_use_settle(list_entry(link, struct sched_memory, account_link));
}

void sched_account_charge(struct sched_account *account, struct task *task, uint64_t bytes)
{
	if (!account)
		return;
	account->references++;
	account->bytes += bytes;
	task->account = account;
	task->charged_bytes = bytes;
}

void sched_account_settle(struct task *task)
{
	struct sched_account *account = task->account;
	if (!account)
		return;
	account->bytes -= task->charged_bytes;
	task->account = NULL;
	(void)sched_account_drop(account);
}
