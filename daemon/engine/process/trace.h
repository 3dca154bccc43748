/*
 * A trace of this engine's part of a device's work (proto/control.proto: EngineTraceRequest). The
 * first request with the trace's number begins the trace, and replies have its records in parts.
 * The trace ends when it is stopped and empty, or when another one begins. It also ends when the
 * supervisor orders that or has ended. Front thread.
 */
#ifndef SYCL_ENGINE_ENGINE_TRACE_H
#define SYCL_ENGINE_ENGINE_TRACE_H

#include "control.pb-c.h"

struct engine;

struct engine_trace_options {
	void *context;
	int (*send)(void *context, const ProtobufCMessage *message);
};

/* 0. On -ENOMEM, or when sending failed with another errno, there is no trace. */
int engine_trace(struct engine *engine, const Sycl__V1__EngineTraceRequest *request,
		 const struct engine_trace_options *options);
void engine_trace_end(struct engine *engine);

#endif
