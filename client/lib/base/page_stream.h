/*
 * Copies that bypass the caches. The C library bypasses them for copies much larger than the
 * caches, but not for one part of such a copy. It then reads each line before it overwrites the
 * line. So a part takes up to a half longer there, and fills the caches with unneeded bytes.
 */
#ifndef SYCL_CLIENT_PAGE_STREAM_H
#define SYCL_CLIENT_PAGE_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Sanitizers replace memcpy. One checked call costs less than a check of each load. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <emmintrin.h>

#define PAGE_STREAM_PAGE_BYTES 4096u

static inline void page_stream_line(uint8_t *destination, const uint8_t *source)
{
	__m128i *to = (__m128i *)(void *)destination;
	const __m128i *from = (const __m128i *)(const void *)source;
	__m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
	__m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
	_mm_stream_si128(to, a);
	_mm_stream_si128(to + 1, b);
	_mm_stream_si128(to + 2, c);
	_mm_stream_si128(to + 3, d);
}

/* Two pages are copied at a time, because the processor prefetches within each page separately. */
static inline void page_stream(uint8_t *destination, const uint8_t *source, size_t bytes)
{
	size_t head = (0 - (uintptr_t)destination) % 64, pages = PAGE_STREAM_PAGE_BYTES;
	head = head < bytes ? head : bytes;
	memcpy(destination, source, head);
	size_t at = head;
	for (; bytes - at >= 2 * pages; at += 2 * pages) {
		for (size_t line = at; line < at + pages; line += 64) {
			page_stream_line(destination + line, source + line);
			page_stream_line(destination + line + pages, source + line + pages);
		}
	}
	_mm_sfence(); /* must precede the notification of other threads */
	memcpy(destination + at, source + at, bytes - at);
}
#else
static inline void page_stream(uint8_t *destination, const uint8_t *source, size_t bytes)
{
	memcpy(destination, source, bytes);
}
#endif

#endif
