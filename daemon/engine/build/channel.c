/* The engine's end of the socket between the engine and its build helper. */
#include "build/file.h"
#include "build/internal.h"
#include "base/option_list.h"
#include "status.h"

#include "build.pb-c.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int build_channel_send(struct build_service *service, struct build_work *work)
{
	Sycl__V1__BuildPacket packet = SYCL__V1__BUILD_PACKET__INIT;
	Sycl__V1__BuildJob job = SYCL__V1__BUILD_JOB__INIT;
	const struct build_request *request = &work->request;
	CLEANUP(close_fd) int source = -1;

	int error =
		build_file_create("sycl-source", request->source, request->source_bytes, &source);
	if (error < 0)
		return error;
	job.job = work->number;
	job.backend = (uint32_t)request->backend->kind;
	job.device_key = (char *)(uintptr_t)request->device_key; /* only read */
	job.kind = (uint32_t)request->kind;
	job.action = (Sycl__V1__BuildAction)request->action;
	job.dimensions = request->dimensions;
	job.options = (char *)(uintptr_t)request->options;
	job.time_limit_ns = request->time_limit_ns;
	job.memory_limit_bytes = request->memory_limit_bytes;
	if (service->cache_directory)
		job.cache_directory = service->cache_directory;
	job.backend_options = service->backend_options;
	job.n_backend_options = option_list_count((const char *const *)service->backend_options);
	packet.descriptor_count = 1;
	packet.body_case = SYCL__V1__BUILD_PACKET__BODY_JOB;
	packet.job = &job;
	return message_send(service->socket, &packet.base, &source, 1, MSG_DONTWAIT);
}

void build_channel_cancel(struct build_service *service, const struct build_work *work)
{
	Sycl__V1__BuildPacket packet = SYCL__V1__BUILD_PACKET__INIT;
	Sycl__V1__BuildCancel cancel = SYCL__V1__BUILD_CANCEL__INIT;

	cancel.job = work->number;
	packet.body_case = SYCL__V1__BUILD_PACKET__BODY_CANCEL;
	packet.cancel = &cancel;
	/* If the packet cannot be sent, the build ends at its own limit. */
	(void)message_send(service->socket, &packet.base, NULL, 0, MSG_DONTWAIT);
}

/* The log may be hostile text, written by a compiler that a source has taken over. Zero bytes would
 * cut the log. */
static void clean_log(char *log, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (log[i] == '\0')
			log[i] = ' ';
}

static void store_result(struct build_service *service, const struct build_work *work,
			 struct build_cache_entry *entry)
{
	if (service->cache && build_may_keep(&work->request))
		(void)build_cache_store(service->cache, &work->key,
					/* If it cannot be stored, the next request builds again. */
					entry);
}

static void finish_work(struct build_service *service, struct build_work *work,
			const Sycl__V1__BuildDone *done, struct packet_fds *fds)
{
	CLEANUP(close_fd) int log = packet_fds_take(fds, 0);
	CLEANUP(close_fd) int binary = packet_fds_take(fds, 1);
	struct build_cache_entry entry = {0};
	struct build_result result = {.log = "", .build_ns = done->build_ns};

	result.fault.status = done->code <= 0 ? done->code : STATUS_RUNTIME;
	result.fault.native_code = done->native_code;
	(void)snprintf(result.fault.text, sizeof(result.fault.text), "%s", done->text);
	if (log >= 0 && build_file_read_start(log, BACKEND_LOG_BYTES_MAX - 1, &entry.log,
					      &entry.log_bytes) == 0) {
		clean_log(entry.log, entry.log_bytes);
		result.log = entry.log;
	}
	if (result.fault.status == STATUS_SUCCESS) {
		int error = binary < 0 ? -EBADF
				       : build_file_read(binary, BUILD_BINARY_BYTES_MAX,
							 &entry.binary, &entry.binary_bytes);
		result.binary = entry.binary;
		result.binary_bytes = entry.binary_bytes;
		if (error < 0) {
			result.fault.status = STATUS_BUILD;
			(void)snprintf(result.fault.text, sizeof(result.fault.text),
				       "the binary cannot be read: %s", strerror(-error));
		} else if (entry.log) {
			store_result(service, work, &entry);
		}
	}
	build_work_done(service, work, &result);
	build_cache_entry_fini(&entry);
}

void build_channel_receive(struct build_service *service)
{
	for (;;) {
		ProtobufCMessage *message = NULL;
		CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
		int got = message_receive(service->socket, &sycl__v1__build_packet__descriptor,
					  &service->decode, &message, &fds, MSG_DONTWAIT);
		if (got == -EAGAIN || got == -EINTR)
			return;
		if (got <= 0) {
			build_helper_lost(service);
			return;
		}
		const Sycl__V1__BuildPacket *packet = (const Sycl__V1__BuildPacket *)message;
		if (packet->body_case != SYCL__V1__BUILD_PACKET__BODY_DONE)
			continue;
		struct build_work *work = build_work_find(service, packet->done->job);
		if (work) /* otherwise the work was cancelled meanwhile */
			finish_work(service, work, packet->done, &fds);
	}
}
