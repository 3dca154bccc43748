/* Who has given an order that still holds, and when. All 0: nobody, or an earlier service took it.
 */
#ifndef SYCLD_SUPERVISOR_ORDER_ORIGIN_H
#define SYCLD_SUPERVISOR_ORDER_ORIGIN_H

#include <stdint.h>
#include <sys/types.h>

struct order_origin {
	uid_t uid;
	uint64_t since_unix_seconds; /* for people to read; 0: there is no order */
};

#endif
