#include "show.h"

const char *device_type_name(Sycl__V1__DeviceType type)
{
	switch (type) {
	case SYCL__V1__DEVICE_TYPE__DEVICE_TYPE_CPU:
		return "cpu";
	case SYCL__V1__DEVICE_TYPE__DEVICE_TYPE_GPU:
		return "gpu";
	case SYCL__V1__DEVICE_TYPE__DEVICE_TYPE_ACCELERATOR:
		return "accelerator";
	case SYCL__V1__DEVICE_TYPE__DEVICE_TYPE_CUSTOM:
		return "custom";
	default:
		return "unknown";
	}
}

const char *backend_name(Sycl__V1__Backend backend)
{
	switch (backend) {
	case SYCL__V1__BACKEND__BACKEND_OPENCL:
		return "opencl";
	case SYCL__V1__BACKEND__BACKEND_CUDA:
		return "cuda";
	case SYCL__V1__BACKEND__BACKEND_FAKE:
		return "fake";
	default:
		return "unknown";
	}
}

const char *engine_state_name(Sycl__V1__EngineState state)
{
	switch (state) {
	case SYCL__V1__ENGINE_STATE__ENGINE_STATE_NONE:
		return "none";
	case SYCL__V1__ENGINE_STATE__ENGINE_STATE_STARTING:
		return "starting";
	case SYCL__V1__ENGINE_STATE__ENGINE_STATE_READY:
		return "ready";
	case SYCL__V1__ENGINE_STATE__ENGINE_STATE_NOT_ANSWERING:
		return "not answering";
	case SYCL__V1__ENGINE_STATE__ENGINE_STATE_STOPPING:
		return "stopping";
	default:
		return "unknown";
	}
}

static const char *phase_name(Sycl__V1__SessionPhase phase)
{
	switch (phase) {
	case SYCL__V1__SESSION_PHASE__SESSION_PHASE_WAITING:
		return "waiting";
	case SYCL__V1__SESSION_PHASE__SESSION_PHASE_HANDSHAKE:
		return "handshake";
	case SYCL__V1__SESSION_PHASE__SESSION_PHASE_OPEN:
		return "open";
	case SYCL__V1__SESSION_PHASE__SESSION_PHASE_OVER:
		return "over";
	default:
		return "unknown";
	}
}

const char *session_state_name(const Sycl__V1__SessionFacts *session)
{
	bool is_open = session->phase == SYCL__V1__SESSION_PHASE__SESSION_PHASE_OPEN;
	if (is_open && session->ended)
		return "ended, still running";
	return is_open && session->paused ? "paused" : phase_name(session->phase);
}

const char *limit_source_name(Sycl__V1__LimitSource source)
{
	switch (source) {
	case SYCL__V1__LIMIT_SOURCE__LIMIT_SOURCE_DEFAULT:
		return "default";
	case SYCL__V1__LIMIT_SOURCE__LIMIT_SOURCE_CONFIGURATION:
		return "sycld.conf";
	case SYCL__V1__LIMIT_SOURCE__LIMIT_SOURCE_ORDER:
		return "order";
	default:
		return "unknown";
	}
}

const char *session_class_name(Sycl__V1__SessionClass class)
{
	switch (class) {
	case SYCL__V1__SESSION_CLASS__SESSION_CLASS_LATENCY:
		return "latency";
	case SYCL__V1__SESSION_CLASS__SESSION_CLASS_NORMAL:
		return "normal";
	case SYCL__V1__SESSION_CLASS__SESSION_CLASS_BEST_EFFORT:
		return "best-effort";
	default:
		return "unknown";
	}
}

const char *service_mode_name(Sycl__V1__ServiceMode mode)
{
	switch (mode) {
	case SYCL__V1__SERVICE_MODE__SERVICE_MODE_SYSTEM:
		return "system";
	case SYCL__V1__SERVICE_MODE__SERVICE_MODE_USER:
		return "user";
	default:
		return "unknown";
	}
}

const char *share_mode_name(Sycl__V1__ShareMode mode)
{
	switch (mode) {
	case SYCL__V1__SHARE_MODE__SHARE_MODE_UNSPECIFIED:
		return "none";
	case SYCL__V1__SHARE_MODE__SHARE_MODE_CONCURRENT:
		return "concurrent";
	case SYCL__V1__SHARE_MODE__SHARE_MODE_EXCLUSIVE:
		return "exclusive";
	default:
		return "unknown";
	}
}
