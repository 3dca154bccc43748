/*
 * Tables of functions by an enumeration, in which a missing entry does not compile. Such a table is
 * made of a list, LIST(ENTRY), with one ENTRY(kind, function) for each kind.
 */
#ifndef SYCL_ENGINE_DISPATCH_H
#define SYCL_ENGINE_DISPATCH_H

/* For the initializer: LIST(DISPATCH_ENTRY). The compiler warns of a kind that is there twice. */
#define DISPATCH_ENTRY(kind, function) [kind] = (function),

#define DISPATCH_KIND(kind, function) (kind),

/* LIST has `count` entries. */
#define DISPATCH_HAS(LIST, count)                                                                  \
	_Static_assert(sizeof((int[]){LIST(DISPATCH_KIND)}) == (count) * sizeof(int),              \
		       #LIST ": one entry for each kind")

#endif
