/*
 * Mailboxes between the front thread and one thread of a device: one ring of pointers each way,
 * with one writer and one reader.
 *
 * Every message that is posted comes back once. At most SCHED_MAILBOX_SLOTS are in flight (the
 * front counts). So neither ring can be full, no thread waits for room, and no position is given
 * back.
 */
#ifndef SYCL_ENGINE_SCHED_MAILBOX_H
#define SYCL_ENGINE_SCHED_MAILBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_MAILBOX_SLOTS 8192u /* a power of two */

enum sched_message_kind {
	/* to the device's thread */
	SCHED_MESSAGE_COMMAND, /* struct task: run its command */
	/* Struct task: the front has its failure, and no later message names the task. */
	SCHED_MESSAGE_FORGET,
	SCHED_MESSAGE_MEMORY_PREPARE, /* struct task: make or import the memory of shared contents
				       */
	SCHED_MESSAGE_MEMORY_EXPORT,  /* struct task */
	SCHED_MESSAGE_MEMORY_FREE,    /* struct sched_memory */
	SCHED_MESSAGE_PROGRAM_FREE,   /* struct sched_program */
	SCHED_MESSAGE_KERNEL_FREE,    /* struct sched_kernel */
	SCHED_MESSAGE_EVENT_MAKE,     /* struct sched_event */
	SCHED_MESSAGE_EVENT_FREE,
	SCHED_MESSAGE_NATIVE, /* struct sched_native */
	SCHED_MESSAGE_GRAPH,  /* struct sched_graph: make it or a part of it, or end it */
	SCHED_MESSAGE_LOSE, /* struct sched_loss: another device of the backend has lost the process
			     */
	/* to the loader, where the device has one */
	SCHED_MESSAGE_PROGRAM_LOAD,
	SCHED_MESSAGE_PROGRAM_ADD, /* struct sched_addition */
	SCHED_MESSAGE_KERNEL_CREATE,
	SCHED_MESSAGE_OCCUPANCY,     /* struct sched_occupancy */
	SCHED_MESSAGE_HOST_REGISTER, /* struct sched_registration */
	SCHED_MESSAGE_HOST_UNREGISTER,
	SCHED_MESSAGE_USM_ALLOCATE, /* struct sched_usm */
	SCHED_MESSAGE_USM_FREE,
	SCHED_MESSAGE_KINDS
};

/* First member of each struct that is sent. Belongs to the side that has the message. */
struct sched_message {
	enum sched_message_kind kind;
	struct sched_message *next; /* for lists of the side that has the message */
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

/* True if messages were published. Sequentially consistent, since the caller then reads the
 * reader's sleep flag. */
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
 * A thread's sleep. The sleeper sets its flag, checks once more for work, then waits. A waker
 * publishes work, then checks the flag. All four are sequentially consistent, so at least one of
 * the two reads what the other wrote.
 */
struct sched_sleeper {
	_Atomic uint32_t
		sleeps; /* a futex; 1: the thread that sets it to 0 must wake the sleeper */
};

#define SCHED_SLEEP_UNTIL_WOKEN UINT64_MAX

void sched_sleeper_prepare(struct sched_sleeper *sleeper);
void sched_sleeper_cancel(struct sched_sleeper *sleeper);
/* Sleeps for `ns` at most. */
void sched_sleeper_sleep(struct sched_sleeper *sleeper, uint64_t ns);
/* Any thread. True if the thread was asleep. */
bool sched_sleeper_wake(struct sched_sleeper *sleeper);

/* Messages in order, without a limit, that wait for room. */
struct sched_message_list {
	struct sched_message *first, *last;
};

static inline void sched_message_append(struct sched_message_list *list,
					struct sched_message *message)
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

/* The front's end of the way to one thread, and that thread's bed. The front counts; rings are each
 * side's. */
struct sched_port {
	struct sched_mailbox out, back;
	struct sched_sleeper sleeper;
	struct sched_message_list waiting; /* messages that wait for room */
	uint32_t away;                     /* messages in `out`, with the thread, and in `back` */
	uint32_t unpublished;
};

/* Front thread: goes out now or when there is room. True if a wake-up was sent. */
bool sched_port_post(struct sched_port *port, struct sched_message *message);
/* Front thread: wakes the device's thread for posted messages, if it sleeps. True if a wake-up was
 * sent. */
bool sched_port_publish(struct sched_port *port);
/* Front thread: the next message that came back, or NULL. */
struct sched_message *sched_port_take(struct sched_port *port);
/* Front thread, after the last sched_port_take: sends the messages that waited for room. */
void sched_port_refill(struct sched_port *port);

#endif
