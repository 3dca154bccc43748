/* The resources that the tasks of one session hold. An account may be NULL. */
#ifndef SYCL_ENGINE_SCHED_ACCOUNT_H
#define SYCL_ENGINE_SCHED_ACCOUNT_H

#include "fair_queue/fair_queue.h"

#include <stdbool.h>
#include <stdint.h>

struct list;
struct sched_account;
struct sched_cause;
struct sched_flow;
struct task;

/* The account's session is paused (pause.h). */
struct sched_pause {
	bool is_on;
	struct task *first, *last; /* tasks that wait until it goes on: task.lane_next */
};

bool sched_account_allows(const struct sched_account *account, uint64_t bytes);
void sched_account_charge(struct sched_account *account, struct task *task, uint64_t bytes);
void sched_account_settle(struct task *task);
/* Returns false if the account has this class and weight already. */
bool sched_account_set_rank(struct sched_account *account, enum fair_queue_class class,
			    uint32_t weight);
void sched_account_rank_of(const struct sched_account *account, enum fair_queue_class *class_out,
			   uint32_t *weight_out);
/* A flow for each device that the account has used. */
struct sched_flow **sched_account_flows(struct sched_account *account);
/* The cause with which the session's open tasks fail; NULL: the account has not ended. */
struct sched_cause **sched_account_ended(struct sched_account *account);
struct sched_pause *sched_account_pause(struct sched_account *account);
struct list *sched_account_memories(struct sched_account *account); /* sched_memory.account_link */
/* Has memory been spilled on a device that the account uses? */
bool sched_account_has_spilled(const struct sched_account *account);
void sched_account_settle_spills(struct sched_account *account);

/* A NULL account is not counted. */
void sched_account_sent_more(struct sched_account *account);
void sched_account_sent_less(struct sched_account *account);

#endif
