/*
 * Room in this process' address space for USM. So an address means the same in the engine and here.
 * No memory of the program is ever where a device's memory seems to be. It needs no connection.
 * Any thread.
 */
#ifndef SYCL_CLIENT_USM_PLACE_H
#define SYCL_CLIENT_USM_PLACE_H

#include <stdint.h>

/* Some free place for an arena in the window of shared/usm_window.h, kept by pages that no code can
 * touch. -ENOMEM. */
int usm_place_choose(uint64_t size_bytes, void **address_out);
/* Keep exactly these pages (multiples of the page's size). -EEXIST: something of this process is
 * there; -ENOMEM. */
int usm_place_keep(uint64_t address, uint64_t size_bytes);
void usm_place_give(void *address, uint64_t size_bytes);

#endif
