/*
 * Switches in the environment, for comparisons and for narrowing down a fault. 0 is off; 1, any
 * other value and no value are on. SWITCH_SPILL and SWITCH_INLINE_ALL are on with 1 only. The
 * service warns of any other value; libraries print nothing.
 */
#ifndef SYCL_SHARED_SWITCHES_H
#define SYCL_SHARED_SWITCHES_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SWITCH_INLINE "SYCLD_INLINE" /* the engine's front thread sends single launches itself */
#define SWITCH_INLINE_ALL                                                                          \
	"SYCLD_INLINE_ALL" /* it does so beside other clients, too: off by default */
#define SWITCH_GRAPH                                                                               \
	"SYCLD_GRAPH" /* graphs are launched as graphs of the device's driver, not node by node */
#define SWITCH_BURST                                                                               \
	"SYCLD_BURST" /* the engine takes launches of one shape that lie behind each other in a    \
			 ring as one task */
#define SWITCH_EARLY                                                                               \
	"SYCLD_EARLY" /* what has been read goes to a device that is about to be idle, while more  \
			 is read */
#define SWITCH_EXPECT                                                                              \
	"SYCLD_EXPECT" /* the engine's front thread is awake when a program that sends at regular  \
			  times is expected to send */
#define SWITCH_EXPRESS                                                                             \
	"SYCLD_EXPRESS" /* groups of a shape whose objects have not changed are checked once, and  \
			   launches on whole buffers are ordered in one pass */
#define SWITCH_STRETCH                                                                             \
	"SYCLD_STRETCH" /* it takes launches of several shapes, each of which needs what the one   \
			   before it writes, as one task, too */
#define SWITCH_GATE                                                                                \
	"SYCLD_GATE" /* where several sessions need a device, their classes and weights decide     \
			whose command goes next */
#define SWITCH_SPILL                                                                               \
	"SYCLD_SPILL" /* memory for which a full device has no room goes to the host: off by       \
			 default */
#define SWITCH_WINDOW                                                                              \
	"SYCLD_WINDOW" /* a session that is not alone has a window on a device, and shorter turns; \
			  none is read far ahead */

#define SWITCH_REPEAT                                                                              \
	"SYCLD_REPEAT" /* the library sends a launch that comes again from what it has kept; in a  \
			  program's environment */

/* True if the value is one that a switch may have; NULL: the variable is not set. */
static inline bool switch_text_is_good(const char *text)
{
	return !text || strcmp(text, "") == 0 || strcmp(text, "0") == 0 || strcmp(text, "1") == 0;
}

static inline bool switch_is_off(const char *name)
{
	const char *text = secure_getenv(name);
	return text && strcmp(text, "0") == 0;
}

static inline bool switch_is_on(const char *name)
{
	const char *text = secure_getenv(name);
	return text && strcmp(text, "1") == 0;
}

#endif
