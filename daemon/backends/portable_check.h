/*
 * The checking mode of portable sources. The build option below adds checks to each access of the
 * form `name[index]` in a kernel, where `name` is a parameter that is a pointer to global or
 * constant memory, or a pointer to global memory that the kernel's body declares. Each kernel gets
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

/* The block, in 64-bit words. The kernel writes the first ones. portable_check.inc has the same
 * places. */
enum portable_check_word {
	PORTABLE_CHECK_STATE = 0, /* 0: no wrong access; the first one changes it */
	PORTABLE_CHECK_KIND,
	PORTABLE_CHECK_LINE,
	PORTABLE_CHECK_ARGUMENT,
	PORTABLE_CHECK_INDEX,      /* signed */
	PORTABLE_CHECK_COUNT,      /* of elements in the accessor's range */
	PORTABLE_CHECK_ID,         /* three: the global id, in the driver's order */
	PORTABLE_CHECK_FIRST = 10, /* from here on two for each argument: */
	/* bytes of the range, and bits below */
	PORTABLE_CHECK_WORDS = PORTABLE_CHECK_FIRST + 2 * PORTABLE_CHECK_ARGUMENTS
};

enum portable_check_bit {
	PORTABLE_CHECK_MAY_WRITE = 1,
	PORTABLE_CHECK_FILLED = 2, /* no_init: the range was filled with the pattern */
};

/* What a no_init range is filled with. As a float it is a NaN that no arithmetic gives. */
#define PORTABLE_CHECK_PATTERN 0x7fa5c3e1u

/* The source with the checks. malloc'ed, ended by a 0 that is not counted. NULL: nothing to check,
 * or no memory. */
char *portable_check_rewrite(const char *source, size_t bytes, size_t *bytes_out);

/* Where an argument's name comes from: NULL, its name is not known. */
typedef const char *portable_check_name(const void *context, uint64_t argument);

/* The fault of a block that a kernel has written; status 0: no wrong access. The block may be
 * damaged by the kernel. */
void portable_check_fault(const uint64_t *words, const char *kernel, uint32_t dimensions,
			  portable_check_name *name, const void *context,
			  struct backend_fault *fault_out);

#endif
