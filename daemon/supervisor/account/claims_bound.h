/* Cuts the facts that an engine reports to what the service keeps of them, in place. */
#ifndef SYCLD_SUPERVISOR_CLAIMS_BOUND_H
#define SYCLD_SUPERVISOR_CLAIMS_BOUND_H

#include "command.pb-c.h"

enum {
	CLAIMS_NAME_BYTES_MAX = 255,  /* names, versions, and other short texts */
	CLAIMS_TEXT_BYTES_MAX = 4096, /* lists of extensions and kernels, and reasons */
	CLAIMS_VALUES_MAX = 64,       /* of each list of numbers, and bytes of a uuid */
};

/*
 * Cuts texts and makes them printable, cuts lists, and removes fields of a later release, whose
 * sizes nobody knows. The topology and what it refers to must be writable memory. Does not block.
 */
void claims_bound_topology(Sycl__V1__Topology *topology);

#endif
