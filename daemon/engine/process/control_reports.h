/* Reports of an engine to its supervisor without a request: sessions that open and close, devices
 * that the engine opens or needs, and memory that it needs (control.proto). Front thread. */
#ifndef SYCL_ENGINE_CONTROL_REPORTS_H
#define SYCL_ENGINE_CONTROL_REPORTS_H

#include "control.pb-c.h"

#include <stdint.h>

struct device_usages;
struct engine;
struct room_link;

struct control_reports {
	struct engine *engine;
	struct room_link *room;
	/* Sends a message; a failure needs no handling, since the loss of the supervisor is
	 * detected anyway. */
	void *context;
	int (*send)(void *context, const ProtobufCMessage *control);
};

/* Makes `reports` the engine's observer. `reports` must stay at its address until the engine has
 * another observer. */
void control_reports_begin(struct control_reports *reports);
/* A session has closed, or could not be taken. `context`: the reports, as for an observer. */
void control_report_closed(void *context, uint64_t session, const char *command, const char *reason,
			   const Sycl__V1__Usage *usage, const struct device_usages *devices);

#endif
