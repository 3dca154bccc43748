/* The messages between supervisor and engine (proto/control.proto). */
#ifndef SYCLD_SUPERVISOR_ENGINE_CONTROL_H
#define SYCLD_SUPERVISOR_ENGINE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct engine_process;
struct session;
struct tenant;

/* The parameters of the present trace. */
struct trace_terms {
	uint64_t id;
	uint32_t backend, index; /* the device */
	bool stops;              /* engines stop recording */
	bool is_exact;           /* devices measure each command's times */
};

/* Never block. 0, or a negative errno of message_send; -EAGAIN: the engine does not read. */
int engine_send_session(struct engine *engine, const struct session *session);
int engine_send_stop(struct engine *engine, uint64_t drain_ns);
/* `session` 0: all sessions of this engine. `act`: of proto/control.proto. `text`: a reason, or a
 * limit's name. */
int engine_send_order(struct engine *engine, uint64_t session, int act, const char *text,
		      uint64_t value);
int engine_send_report_request(struct engine *engine, uint64_t request, bool discover);
/* `request` 0: the trace ends, whatever the terms are. */
int engine_send_trace_request(struct engine *engine, uint64_t request,
			      const struct trace_terms *terms, unsigned most);
/* Sends the pages of shared/share_page.h. The caller keeps the descriptors. */
int engine_send_division(struct engine *engine, int grants, int claims);
/* engine/arbiter.h. The device is a UUID. */
struct memory_request_terms {
	uint64_t request;
	const uint8_t *device;
	size_t device_bytes;
	uint64_t bytes, within_ns, hold_ns;
};
int engine_send_memory_request(struct engine *engine, const struct memory_request_terms *terms);
int engine_send_memory_answer(struct engine *engine, uint64_t ask, uint64_t bytes);
/* Sends the engine's name for the next service, and the address of that service. */
int engine_send_identity(struct engine *engine, const char *socket_path);
/* Messages to an engine that returns. First it may present its sessions, and its flight page if
 * that is wanted. Then it is taken over, or refused for the reason `refused` (not NULL). */
int engine_send_greeting(struct engine *engine, bool wants_page);
int engine_send_taken(struct engine *engine, const char *refused, int log);
/* Sends the standby the tenant whose engine it becomes. `cache_directory` NULL: none. */
int engine_send_adopt(const struct engine_process *process, const struct tenant *tenant,
		      const char *cache_directory);

#endif
