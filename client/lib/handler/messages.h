/* The messages of a command group. */
#ifndef SYCL_CLIENT_HANDLER_MESSAGES_H
#define SYCL_CLIENT_HANDLER_MESSAGES_H

#include "handler/handler.h"
#include "connection/lent_ranges.h"

/* The messages of one group are in one block, so that every path frees all of them. */
struct group_messages {
	Sycl__V1__CommandGroup group;
	Sycl__V1__Launch launch;
	Sycl__V1__Copy copy;
	Sycl__V1__MemoryEnd source, destination;
	Sycl__V1__ArenaRange arena;
	Sycl__V1__Box box;
	Sycl__V1__ImageBox image_box;
	/* For a copy from the program's memory. NULL: there is none, or the queue's line has it. */
	struct lent_range *lent;
	Sycl__V1__Fill fill;
	Sycl__V1__HostUpdate update;
	Sycl__V1__SharedEventAction event_action;
	Sycl__V1__HostTask host_task;
	Sycl__V1__NativeCommand native;
	Sycl__V1__GraphCondition condition;
	Sycl__V1__UsmCopy usm_copy;
	Sycl__V1__UsmFill usm_fill;
	Sycl__V1__UsmRange usm_range;
	Sycl__V1__UsmAdvise usm_advise;
	Sycl__V1__ArenaRange usm_arena;
	uint32_t cluster[3];
	Sycl__V1__Requirement *requirements, **requirement_list;
	Sycl__V1__EventRef *events, **event_list;
	Sycl__V1__Argument *arguments, **argument_list;
	/* One for each argument if any argument is an image or a sampler. */
	Sycl__V1__ImageArgument *images;
	Sycl__V1__SamplerArgument *samplers;
	struct view_message *views;
	struct connection *connection;
	void *block;
	/* Large enough for most groups, which then allocate no memory. */
	_Alignas(16) uint8_t small[2048];
};

/*
 * Fills in everything but the group's number, its slots, and the host task's slot. The messages
 * point into the handler. Takes shared memory for bytes that are copied from the program. Before
 * the call, `block` must be `small` and `lent` NULL. The caller calls group_messages_fini on every
 * path.
 */
sycl_result group_messages_fill(struct group_messages *messages, struct handler *handler);
void group_messages_fini(struct group_messages *messages);
/* usm_messages.c: adds the action if it is one of USM and not empty. */
void usm_put_action(struct group_messages *messages, struct handler *handler);

#endif
