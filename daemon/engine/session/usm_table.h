/*
 * The USM allocations of one session, ordered by address, without overlaps. Every address that a
 * client names is looked up here. Front thread. The table has pointers only; the caller owns the
 * allocations.
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
/* The address and size must be set and stay unchanged. -EEXIST: it overlaps another allocation.
 * -ENOMEM. */
int usm_table_insert(struct usm_table *table, struct usm *usm);
void usm_table_remove(struct usm_table *table, const struct usm *usm);
/* Finds the allocation that contains all of these bytes (0 bytes: that address); NULL: there is
 * none. */
struct usm *usm_table_find(const struct usm_table *table, uint64_t address, uint64_t size_bytes);

#endif
