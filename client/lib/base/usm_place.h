/*
 * Reserves addresses in this process for USM, so that an address is the same here and in the
 * engine. The program's own memory never has the address of device memory. Needs no connection. Any
 * thread.
 */
#ifndef SYCL_CLIENT_USM_PLACE_H
#define SYCL_CLIENT_USM_PLACE_H

#include <stdint.h>

/* Reserves some free addresses for an arena in the window of shared/usm_window.h, by inaccessible
 * pages. -ENOMEM. */
int usm_place_choose(uint64_t size_bytes, void **address_out);
/* Reserves exactly these pages (multiples of the page's size). -EEXIST: this process uses some of
 * them; -ENOMEM. */
int usm_place_keep(uint64_t address, uint64_t size_bytes);
void usm_place_give(void *address, uint64_t size_bytes);

#endif
