/*
 * The way between the front thread and one device's thread: one ring of pointers each way, one writer and one reader
 * each.
 *
 * Every message that goes to a device comes back once, and at most SCHED_MAILBOX_SLOTS are away at a time (the front
 * counts); so neither ring can be full, nobody ever waits for room, and no position needs to be given back.
 */
#ifndef SYCL_ENGINE_SCHED_MAILBOX_H
#define SYCL_ENGINE_SCHED_MAILBOX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SCHED_MAILBOX_SLOTS 4096u /* a power of two */

enum sched_message_kind {
	SCHED_MESSAGE_SEND,         /* struct task: run its command */
	SCHED_MESSAGE_FORGET,       /* struct task: its failure is known to the front, nothing sent later names it */
	SCHED_MESSAGE_MEMORY_FREE,  /* struct sched_memory */
	SCHED_MESSAGE_PROGRAM_LOAD, /* struct sched_program */
	SCHED_MESSAGE_PROGRAM_FREE,
	SCHED_MESSAGE_KERNEL_CREATE, /* struct sched_kernel */
	SCHED_MESSAGE_KERNEL_FREE,
};

/* First member of what is sent. Belongs to the side that has it. */
struct sched_message {
	enum sched_message_kind kind;
	struct sched_message *next; /* for lists of the side that has it */
};

struct sched_mailbox {
	_Alignas(64) _Atomic uint64_t published; /* written by the writer */
	uint64_t written;                        /* the writer's own: not all of it published */
	_Alignas(64) uint64_t read;              /* the reader's own */
	_Alignas(64) struct sched_message *slots[SCHED_MAILBOX_SLOTS];
};

static inline void sched_mailbox_write(struct sched_mailbox *mailbox, struct sched_message *message)
{
	mailbox->slots[mailbox->written++ & (SCHED_MAILBOX_SLOTS - 1)] = message;
}

/* True if there was something to publish. Sequentially consistent: the reader's sleep flag is looked at after it. */
static inline bool sched_mailbox_publish(struct sched_mailbox *mailbox)
{
	if (atomic_load_explicit(&mailbox->published, memory_order_relaxed) == mailbox->written)
		return false;
	atomic_store(&mailbox->published, mailbox->written);
	return true;
}

static inline bool sched_mailbox_has_mail(struct sched_mailbox *mailbox)
{
	return atomic_load(&mailbox->published) != mailbox->read;
}

/* NULL: empty. */
static inline struct sched_message *sched_mailbox_read(struct sched_mailbox *mailbox)
{
	if (atomic_load_explicit(&mailbox->published, memory_order_acquire) == mailbox->read)
		return NULL;
	return mailbox->slots[mailbox->read++ & (SCHED_MAILBOX_SLOTS - 1)];
}

/*
 * A thread's sleep. The sleeper says that it sleeps, looks once more for work, then waits; a waker publishes work, then
 * looks at the flag. All four are sequentially consistent, so one of the two sees the other.
 */
struct sched_sleeper {
	_Atomic uint32_t sleeps; /* 1: whoever takes it back must wake */
	pthread_mutex_t lock;
	pthread_cond_t woken;
	bool signalled;
};

int sched_sleeper_init(struct sched_sleeper *sleeper);
void sched_sleeper_fini(struct sched_sleeper *sleeper);
void sched_sleeper_prepare(struct sched_sleeper *sleeper);
void sched_sleeper_cancel(struct sched_sleeper *sleeper);
void sched_sleeper_sleep(struct sched_sleeper *sleeper);
/* Any thread. True if it slept. */
bool sched_sleeper_wake(struct sched_sleeper *sleeper);

/* Messages in order, without a limit: for those that wait for room. */
struct sched_message_list {
	struct sched_message *first, *last;
};

static inline void sched_message_append(struct sched_message_list *list, struct sched_message *message)
{
	message->next = NULL;
	if (list->last)
		list->last->next = message;
	else
		list->first = message;
	list->last = message;
}

static inline struct sched_message *sched_message_take(struct sched_message_list *list)
{
	struct sched_message *message = list->first;
	if (message) {
		list->first = message->next;
		if (!list->first)
			list->last = NULL;
	}
	return message;
}

#endif
