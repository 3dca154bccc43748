/*
 * Switches in the environment, for comparisons and for narrowing down a fault. 0 is off; 1, any
 * other value and no value are on. SWITCH_SPILL, SWITCH_INLINE_ALL, SWITCH_KEEP_ALL and
 * SWITCH_STRETCH_ALL are on with 1 only. The service warns of any other value; libraries print
 * nothing.
 */
#ifndef SYCL_SHARED_SWITCHES_H
#define SYCL_SHARED_SWITCHES_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The engine's front thread sends single launches itself. */
#define SWITCH_INLINE "SYCLD_INLINE"
/* The front thread sends them even while other clients are active: off by default. */
#define SWITCH_INLINE_ALL "SYCLD_INLINE_ALL"
/* Graphs are launched as graphs of the device's driver, not node by node. */
#define SWITCH_GRAPH "SYCLD_GRAPH"
/* The engine takes launches of one shape that follow each other in a ring as one task. */
#define SWITCH_BURST "SYCLD_BURST"
/* A device that is about to be idle gets the commands read so far, while more are read. */
#define SWITCH_EARLY "SYCLD_EARLY"
/* The engine's front thread is awake when a program that sends at regular times should send. */
#define SWITCH_EXPECT "SYCLD_EXPECT"
/* Groups of a shape whose objects have not changed are checked once, and launches on whole buffers
 * are ordered in one pass. */
#define SWITCH_EXPRESS "SYCLD_EXPRESS"
/* The engine takes launches of several shapes, each of which needs the results of the one before
 * it, as one task. */
#define SWITCH_STRETCH "SYCLD_STRETCH"
/* Also where kernels take long, or it is not known how long: off by default. */
#define SWITCH_STRETCH_ALL "SYCLD_STRETCH_ALL"
/* A stretch that comes again and again is taken as a whole, by a task that was kept. */
#define SWITCH_KEEP "SYCLD_KEEP"
/* It is kept when it comes for the second time, not only once that seems worthwhile: off by
 * default. */
#define SWITCH_KEEP_ALL "SYCLD_KEEP_ALL"
/* So is the task of a graph that is launched again and again; not without SWITCH_KEEP. */
#define SWITCH_KEEP_GRAPHS "SYCLD_KEEP_GRAPHS"
/* A kept task reads the few bytes that its program reads behind it; not without SWITCH_KEEP. */
#define SWITCH_KEEP_READS "SYCLD_KEEP_READS"
/* If several sessions need a device, their classes and weights decide whose command goes next. */
#define SWITCH_GATE "SYCLD_GATE"
/* Memory for which a full device has no room goes to the host: off by default. */
#define SWITCH_SPILL "SYCLD_SPILL"
/* A session beside others has a window on a device, and shorter turns; none is read far ahead. */
#define SWITCH_WINDOW "SYCLD_WINDOW"
/* The library sends a repeated launch from the data of the former one; in a program's environment.
 */
#define SWITCH_REPEAT "SYCLD_REPEAT"

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
