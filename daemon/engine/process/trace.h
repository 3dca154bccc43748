/*
 * A trace of this engine's part of a device's work (proto/control.proto: EngineTraceRequest). The
 * first request with its number begins it, and replies have it piece by piece. It ends when it is
 * stopped and empty, when the supervisor orders that or has ended, and when another one begins.
 * Front thread.
 */
#ifndef SYCL_ENGINE_ENGINE_TRACE_H
#define SYCL_ENGINE_ENGINE_TRACE_H

#include "control.pb-c.h"

struct engine;

struct engine_trace_options {
	void *context;
	int (*send)(void *context, const ProtobufCMessage *message);
};

/* 0; -ENOMEM, or what sending failed with: then there is no trace. */
int engine_trace(struct engine *engine, const Sycl__V1__EngineTraceRequest *request,
		 const struct engine_trace_options *options);
void engine_trace_end(struct engine *engine);

#endif
