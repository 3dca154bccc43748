/*
 * The USM allocations of one session, ordered by address; none overlap. Every address that a client
 * names is looked up here. Front thread. Holds pointers only: the allocations are the caller's.
 */
#ifndef SYCL_ENGINE_USM_TABLE_H
#define SYCL_ENGINE_USM_TABLE_H

#include <stdint.h>

struct usm;

struct usm_table {
	struct usm **items;
	uint32_t count, capacity;
};

void usm_table_fini(struct usm_table *table);
/* Its address and size are set, and stay so. -EEXIST: it overlaps one that is there. -ENOMEM. */
int usm_table_insert(struct usm_table *table, struct usm *usm);
void usm_table_remove(struct usm_table *table, const struct usm *usm);
/* The one that holds all of these bytes (0 bytes: that address); NULL: there is none. */
struct usm *usm_table_find(const struct usm_table *table, uint64_t address, uint64_t size_bytes);

#endif
