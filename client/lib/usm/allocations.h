/* The connection's table of allocations: see usm.h. With the state lock. */
#ifndef SYCL_CLIENT_USM_ALLOCATIONS_H
#define SYCL_CLIENT_USM_ALLOCATIONS_H

#include "usm/usm.h"

/* -EEXIST: the allocation overlaps another one; -ENOMEM. */
int usm_allocations_insert(struct usm_state *usm, struct usm_allocation *allocation);
void usm_allocations_remove(struct usm_state *usm, const struct usm_allocation *allocation);
/* The last allocation that begins at the address or before it. Returns its place in the table, or
 * -1. */
int64_t usm_allocations_before(const struct usm_state *usm, uint64_t address);
/* The allocation that has all of these bytes (0: that address) and is not freed. `context` 0: in
 * any context. */
struct usm_allocation *usm_allocations_find(const struct usm_state *usm, uint64_t context,
					    uint64_t address, uint64_t size_bytes);

#endif
