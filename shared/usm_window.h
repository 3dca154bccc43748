/*
 * The window of addresses for USM of kinds host and shared. Such USM has the same addresses in a
 * client and in its engine. The client chooses the address, and the engine accepts it only inside
 * this window. The kernel puts nothing there by itself: no heap, stack, libraries or reservations
 * of a driver. So a client can collide only with other clients of its engine, and all choose at
 * random. (AddressSanitizer's shadow lies below the window, ThreadSanitizer's inside: with
 * ThreadSanitizer there is no such USM.)
 */
#ifndef SYCL_SHARED_USM_WINDOW_H
#define SYCL_SHARED_USM_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define USM_WINDOW_BEGIN  0x110000000000ull /* 17 TiB */
#define USM_WINDOW_END    0x400000000000ull /* 64 TiB */
#define USM_PLACE_BYTES   (2ull << 20)      /* addresses of arenas are multiples of this */
#define USM_ALIGNMENT_MAX 4096u             /* highest alignment of one allocation */

/* True if an arena may lie at this address. */
static inline bool usm_place_good(uint64_t address, uint64_t size_bytes)
{
	return address % USM_PLACE_BYTES == 0 && address >= USM_WINDOW_BEGIN &&
	       address < USM_WINDOW_END && size_bytes <= USM_WINDOW_END - address;
}

#endif
