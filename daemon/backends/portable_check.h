/*
 * The checking mode of portable sources. The build option below adds checks to each access of the
 * form `name[index]` in a kernel, where `name` is a parameter that is a pointer to global, constant
 * or local memory, or what the kernel's body declares of global and local memory. Each kernel gets
 * one more parameter, a block of words. The engine writes into it what each accessor permits, and
 * reads from it the first wrong access. The words that the checks call are in
 * prelude/portable_check.inc.
 */
#ifndef SYCL_BACKENDS_PORTABLE_CHECK_H
#define SYCL_BACKENDS_PORTABLE_CHECK_H

#include "backend_fault.h"

#include <stddef.h>
#include <stdint.h>

#define PORTABLE_CHECK_OPTION    "--sycl-check"
#define PORTABLE_CHECK_PARAMETER "sycl_check_"
/* Later arguments are not checked. */
#define PORTABLE_CHECK_ARGUMENTS 64u

/* The block, in 64-bit words. The kernel writes the first ones. portable_check.inc and
 * portable_races.inc have the same places. */
enum portable_check_word {
	PORTABLE_CHECK_STATE = 0, /* 0: no wrong access; the first one changes it */
	PORTABLE_CHECK_KIND,
	PORTABLE_CHECK_LINE,
	PORTABLE_CHECK_ARGUMENT,
	PORTABLE_CHECK_INDEX,      /* signed */
	PORTABLE_CHECK_COUNT,      /* of elements in the accessor's range */
	PORTABLE_CHECK_ID,         /* three: the global id, in the driver's order */
	PORTABLE_CHECK_NAME = 9,   /* three with up to 24 characters: the name of
				    * what is no argument */
	PORTABLE_CHECK_HOW = 12,   /* enum portable_check_how */
	PORTABLE_CHECK_OTHER_ROLE, /* of a race: enum portable_check_role */
	PORTABLE_CHECK_OTHER_LINE, /* of a race */
	PORTABLE_CHECK_OTHER_ID,   /* of a race, three: the other work-item */
	PORTABLE_CHECK_SLOTS = 18, /* of the table behind the block, a power of two */
	PORTABLE_CHECK_KEEPS,      /* portable_check_keeps */
	PORTABLE_CHECK_FIRST = 20, /* from here on two for each argument: */
	/* bytes of the range, and bits below */
	PORTABLE_CHECK_WORDS = PORTABLE_CHECK_FIRST + 2 * PORTABLE_CHECK_ARGUMENTS + 4
};

/* The argument of memory that is none: local memory that the kernel declares, and each pointer to
 * local memory. */
#define PORTABLE_CHECK_NAMED UINT64_MAX

/* How an element is accessed. */
enum portable_check_how {
	PORTABLE_CHECK_READS = 1,
	PORTABLE_CHECK_WRITES = 2,
	PORTABLE_CHECK_ADDRESS = 4,
	PORTABLE_CHECK_ATOMIC = 8,
	PORTABLE_CHECK_RACES = 16, /* a race with this access is looked for */
};

/* What another work-item did. */
enum portable_check_role {
	PORTABLE_CHECK_WRITER = 3,
	PORTABLE_CHECK_READER = 4, /* and 5 */
	PORTABLE_CHECK_ATOMICS = 6 /* and 7 */
};

/* Behind the block, zeros at first: the last accesses to elements, for races within a work-group.
 * A slot is for one element at a time (prelude/portable_races.inc). */
#define PORTABLE_CHECK_SLOT_BYTES 64u
#define PORTABLE_CHECK_SLOTS_MAX  16384u

enum portable_check_bit {
	PORTABLE_CHECK_MAY_WRITE = 1,
	PORTABLE_CHECK_FILLED = 2, /* no_init: the range was filled with the pattern */
};

/* What a no_init range is filled with. As a float it is a NaN that no arithmetic gives. */
#define PORTABLE_CHECK_PATTERN 0x7fa5c3e1u

/* The source with the checks. malloc'ed, ended by a 0 that is not counted. NULL: nothing to check,
 * or no memory. `options`: the build's; NULL: none. */
char *portable_check_rewrite(const char *source, size_t bytes, const char *options,
			     size_t *bytes_out);

/* A kernel's parameter that is a pointer. The texts are parts of the source. */
struct portable_check_parameter {
	const char *kernel, *name;
	size_t kernel_bytes, name_bytes;
	uint32_t argument;
};

/* Calls `each` for the pointers among the parameters of each kernel, for compilers that keep no
 * names of them. `parameter` is valid during the call. Without memory, `each` is not called. */
void portable_check_parameters(const char *source, size_t bytes,
			       void (*each)(void *context,
					    const struct portable_check_parameter *parameter),
			       void *context);

/* The number of slots for the last accesses: four for each work-item, of few launches; a power of
 * two. */
static inline uint64_t portable_check_slot_count(const uint64_t *global, uint32_t dimensions)
{
	uint64_t items = 1, slots = 64;

	for (uint32_t i = 0; i < dimensions && items < PORTABLE_CHECK_SLOTS_MAX; i++)
		items *= global[i];
	while (slots < PORTABLE_CHECK_SLOTS_MAX && slots < items * 4)
		slots *= 2;
	return slots;
}

/* PORTABLE_CHECK_KEEPS for a device that runs so many work-items at one time, with two elements
 * each: of how many elements one gets a slot where none is free, less 1, and which of them. With
 * another `seed` these are others. 0: each element gets one. */
static inline uint64_t portable_check_keeps(uint64_t items, uint64_t slots, uint32_t seed)
{
	uint64_t elements = 1;

	while (elements < 65536 && slots > 0 && elements * slots < items * 2)
		elements *= 2;
	return elements == 1 ? 0 : (uint64_t)seed << 32 | (elements - 1);
}

/* The source of an argument's name. NULL: the name is not known. */
typedef const char *portable_check_name(const void *context, uint64_t argument);

/* The fault of a block that a kernel has written; status 0: no wrong access. The block may be
 * damaged by the kernel. */
void portable_check_fault(const uint64_t *words, const char *kernel, uint32_t dimensions,
			  portable_check_name *name, const void *context,
			  struct backend_fault *fault_out);

#endif
