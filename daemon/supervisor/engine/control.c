#include "engine/control.h"

#include "engine/succession.h"
#include "account/account.h"
#include "control.pb-c.h"
#include "engine/engine.h"
#include "engine/process.h"
#include "flight_page.h"
#include "base/foreign_socket.h"
#include "base/log.h"
#include "packet.h"
#include "base/session_proof.h"
#include "engine/sharing.h"
#include "service/supervisor.h"
#include "base/text.h"
#include "trace_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int control_send(struct engine *engine, Sycl__V1__Control *control, const int *fds,
			unsigned fd_count)
{
	control->descriptor_count = fd_count;
	return message_send(engine->control, &control->base, fds, fd_count, MSG_DONTWAIT);
}

int engine_send_session(struct engine *engine, const struct session *session)
{
	Sycl__V1__SessionHandOff hand_off = SYCL__V1__SESSION_HAND_OFF__INIT;
	hand_off.session = session->id;
	hand_off.uid = session->peer.uid;
	hand_off.gid = session->peer.gid;
	hand_off.pid = (uint32_t)session->peer.pid;
	hand_off.since_ns = session->since_ns;
	const struct session_claim claim = {hand_off.session, hand_off.since_ns, hand_off.uid,
					    hand_off.gid, hand_off.pid};
	hand_off.proof = session_proof(engine->tenant->supervisor->succession->secret, &claim);
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_SESSION_HAND_OFF;
	control.session_hand_off = &hand_off;
	int fds[] = {session->socket, session->peer.pidfd};
	return control_send(engine, &control, fds, 2);
}

int engine_send_stop(struct engine *engine, uint64_t drain_ns)
{
	Sycl__V1__EngineStop stop = SYCL__V1__ENGINE_STOP__INIT;
	stop.drain = drain_ns > 0;
	stop.drain_ns = drain_ns;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_STOP;
	control.stop = &stop;
	return control_send(engine, &control, NULL, 0);
}

int engine_send_order(struct engine *engine, uint64_t session, int act, const char *text,
		      uint64_t value)
{
	Sycl__V1__SessionOrder order = SYCL__V1__SESSION_ORDER__INIT;
	order.session = session;
	order.act = (Sycl__V1__SessionOrder__Act)act;
	order.value = value;
	if (order.act == SYCL__V1__SESSION_ORDER__ACT__ACT_LIMIT)
		order.limit = (char *)(uintptr_t)text;
	else if (text)
		order.reason = (char *)(uintptr_t)text;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_ORDER;
	control.order = &order;
	return engine->control < 0 ? -EPIPE : control_send(engine, &control, NULL, 0);
}

int engine_send_report_request(struct engine *engine, uint64_t request, bool discover)
{
	Sycl__V1__EngineReportRequest asked = SYCL__V1__ENGINE_REPORT_REQUEST__INIT;
	asked.request = request;
	asked.discover = discover;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_REPORT_REQUEST;
	control.report_request = &asked;
	return control_send(engine, &control, NULL, 0);
}

int engine_send_trace_request(struct engine *engine, uint64_t request,
			      const struct trace_terms *terms, unsigned most)
{
	Sycl__V1__EngineTraceRequest asked = SYCL__V1__ENGINE_TRACE_REQUEST__INIT;
	asked.request = request;
	asked.trace = request ? terms->id : 0;
	asked.backend = (Sycl__V1__Backend)terms->backend;
	asked.index = terms->index;
	asked.stop = terms->stops;
	asked.exact = terms->is_exact;
	asked.most = most;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_TRACE_REQUEST;
	control.trace_request = &asked;
	return engine->control < 0 ? -EPIPE : control_send(engine, &control, NULL, 0);
}

int engine_send_division(struct engine *engine, int grants, int claims)
{
	Sycl__V1__EngineDivision division = SYCL__V1__ENGINE_DIVISION__INIT;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_DIVISION;
	control.division = &division;
	return control_send(engine, &control, (const int[]){grants, claims}, 2);
}

int engine_send_memory_request(struct engine *engine, const struct memory_request_terms *terms)
{
	Sycl__V1__MemoryRequest request = SYCL__V1__MEMORY_REQUEST__INIT;
	request.request = terms->request;
	request.device =
		(ProtobufCBinaryData){terms->device_bytes, (uint8_t *)(uintptr_t)terms->device};
	request.bytes = terms->bytes;
	request.within_ns = terms->within_ns;
	request.hold_ns = terms->hold_ns;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_MEMORY_REQUEST;
	control.memory_request = &request;
	return engine->control < 0 ? -EPIPE : control_send(engine, &control, NULL, 0);
}

int engine_send_memory_answer(struct engine *engine, uint64_t ask, uint64_t bytes)
{
	Sycl__V1__MemoryAnswer answer = SYCL__V1__MEMORY_ANSWER__INIT;
	answer.ask = ask;
	answer.bytes = bytes;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_MEMORY_ANSWER;
	control.memory_answer = &answer;
	return engine->control < 0 ? -EPIPE : control_send(engine, &control, NULL, 0);
}

int engine_send_identity(struct engine *engine, const char *socket_path)
{
	Sycl__V1__EngineIdentity identity = SYCL__V1__ENGINE_IDENTITY__INIT;
	identity.token = (ProtobufCBinaryData){sizeof(engine->token), engine->token};
	identity.socket = (char *)(uintptr_t)socket_path;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_IDENTITY;
	control.identity = &identity;
	return control_send(engine, &control, NULL, 0);
}

int engine_send_greeting(struct engine *engine, bool wants_page)
{
	Sycl__V1__EngineGreeting greeting = SYCL__V1__ENGINE_GREETING__INIT;
	greeting.protocol = CONTROL_PROTOCOL;
	greeting.wants_page = wants_page;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_GREETING;
	control.greeting = &greeting;
	return control_send(engine, &control, NULL, 0);
}

int engine_send_taken(struct engine *engine, const char *refused, int log)
{
	Sycl__V1__EngineTaken taken = SYCL__V1__ENGINE_TAKEN__INIT;
	if (refused)
		taken.refused = (char *)(uintptr_t)refused;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_TAKEN;
	control.taken = &taken;
	return control_send(engine, &control, &log, log >= 0);
}

int engine_send_adopt(const struct engine_process *process, const struct tenant *tenant,
		      const char *cache_directory)
{
	Sycl__V1__EngineAdopt adopt = SYCL__V1__ENGINE_ADOPT__INIT;
	adopt.change_user = tenant->supervisor->privileged;
	adopt.uid = tenant->uid;
	adopt.gid = tenant->gid;
	if (cache_directory)
		adopt.cache_directory = (char *)(uintptr_t)cache_directory;
	adopt.open_devices = tenant->warm_devices;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_ADOPT;
	control.adopt = &adopt;
	return message_send(process->control, &control.base, NULL, 0, MSG_DONTWAIT);
}
