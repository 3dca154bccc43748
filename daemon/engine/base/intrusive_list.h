/* A doubly linked list whose links lie in its members. A link that is in no list points to itself.
 */
#ifndef SYCL_ENGINE_INTRUSIVE_LIST_H
#define SYCL_ENGINE_INTRUSIVE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *previous;
};

#define list_entry(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void list_init(struct list *list)
{
	list->next = list;
	list->previous = list;
}

/* For a head: true if it has no members. For a link: true if it is in no list. */
static inline bool list_empty(const struct list *list)
{
	return list->next == list;
}

static inline void list_push_back(struct list *head, struct list *link)
{
	link->next = head;
	link->previous = head->previous;
	head->previous->next = link;
	head->previous = link;
}

/* Nothing happens to a link that is in no list. */
static inline void list_remove(struct list *link)
{
	link->previous->next = link->next;
	link->next->previous = link->previous;
	list_init(link);
}

#endif
