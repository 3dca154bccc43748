#include "names.h"

#include <stdbool.h>

/* The names of each enumeration, indexed by its values. A value without a name is "unknown". */
static const struct {
	const ProtobufCEnumDescriptor *type;
	const char *names[6];
} enums[] = {
	{&sycl__v1__backend__descriptor, {NULL, "opencl", "cuda", "fake"}},
	{&sycl__v1__device_type__descriptor, {NULL, "cpu", "gpu", "accelerator", "custom"}},
	{&sycl__v1__engine_state__descriptor,
	 {NULL, "none", "starting", "ready", "not answering", "stopping"}},
	{&sycl__v1__limit_source__descriptor, {NULL, "default", "sycld.conf", "order"}},
	{&sycl__v1__service_mode__descriptor, {NULL, "system", "user"}},
	{&sycl__v1__session_class__descriptor, {NULL, "latency", "normal", "best-effort"}},
	{&sycl__v1__session_phase__descriptor, {NULL, "waiting", "handshake", "open", "over"}},
	{&sycl__v1__share_mode__descriptor, {"none", "concurrent", "exclusive"}},
};

const char *value_name(const ProtobufCEnumDescriptor *type, int value)
{
	const char *name = NULL;
	for (size_t i = 0; i < sizeof(enums) / sizeof(enums[0]); i++) {
		if (enums[i].type == type && value >= 0 &&
		    (size_t)value < sizeof(enums[i].names) / sizeof(enums[i].names[0]))
			name = enums[i].names[value];
	}
	return name ? name : "unknown";
}

const char *backend_name(Sycl__V1__Backend backend)
{
	return value_name(&sycl__v1__backend__descriptor, (int)backend);
}

const char *session_state_name(const Sycl__V1__SessionFacts *session)
{
	bool is_open = session->phase == SYCL__V1__SESSION_PHASE__SESSION_PHASE_OPEN;
	if (is_open && session->ended)
		return "ended, still running";
	if (is_open && session->paused)
		return "paused";
	return value_name(&sycl__v1__session_phase__descriptor, (int)session->phase);
}
