/* The operator who gave an order that still applies, and the time. Zeroed: there is no order, or it
 * is not known who gave it. */
#ifndef SYCLD_SUPERVISOR_ORDER_ORIGIN_H
#define SYCLD_SUPERVISOR_ORDER_ORIGIN_H

#include <stdint.h>
#include <sys/types.h>

struct order_origin {
	uid_t uid;
	uint64_t since_unix_seconds; /* only for display; 0: as above */
};

#endif
