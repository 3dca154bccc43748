/* The number of a device's lanes, and the number of commands that a lane holds. */
#ifndef SYCL_ENGINE_LANE_LIMITS_H
#define SYCL_ENGINE_LANE_LIMITS_H

#include "base/mailbox.h"

#include <assert.h>

#define SCHED_LANES_DEFAULT 8u
#define SCHED_LANES_MAX     32u /* lanes for computing */
#define SCHED_LANES_LATENCY 8u  /* lanes for computing, for sessions of the latency class */
#define SCHED_LANES_BESIDE  8u  /* and for those of best effort, beside other classes */
#define SCHED_LANES_ALL                                                                            \
	(SCHED_LANES_MAX + 2u + SCHED_LANES_LATENCY +                                              \
	 SCHED_LANES_BESIDE) /* with one lane each way for copies */
#define SCHED_LANE_DEPTH                                                                           \
	96u /* sent and not come back; more would only make a lane harder to share */
#define SCHED_LANE_DEPTH_MOST                                                                      \
	240u /* ... but where they come back sooner than this, and no other lane waits for them:   \
	      */
#define SCHED_LANE_DELAY_NS 500000u
#define SCHED_DEEPER_MOST   3328u /* than SCHED_LANE_DEPTH, of all lanes of a device together */

static_assert(SCHED_LANES_ALL * SCHED_LANE_DEPTH + SCHED_DEEPER_MOST < SCHED_MAILBOX_SLOTS,
	      "full lanes leave room for other messages");

#endif
