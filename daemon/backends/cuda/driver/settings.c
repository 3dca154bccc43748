#include "cuda/driver/settings.h"

#include "cleanup.h"
#include "cuda/driver/context.h"
#include "status.h"

#include <ctype.h>
#include <string.h>

static int read_text_setting(const char *value, char **text_out)
{
	if (!*value)
		return -EINVAL;
	char *text = strdup(value);
	if (!text)
		return -ENOMEM;
	free(*text_out);
	*text_out = text;
	return 0;
}

static int read_number_setting(const char *value, uint64_t low, uint64_t high, uint64_t *number_out)
{
	char *end = NULL;

	if (!isdigit((unsigned char)*value))
		return -EINVAL;
	errno = 0;
	unsigned long long number = strtoull(value, &end, 10);
	if (errno != 0 || *end || number < low || number > high)
		return -EINVAL;
	*number_out = number;
	return 0;
}

static int read_small_setting(const char *value, uint64_t low, uint64_t high, uint32_t *number_out)
{
	uint64_t number = 0;
	int error = read_number_setting(value, low, high, &number);

	if (error == 0)
		*number_out = (uint32_t)number;
	return error;
}

static int read_peer_path(const char *value, enum cuda_peer_path *path_out)
{
	static const char *const names[] = {
		[CUDA_PEER_AUTO] = "auto", [CUDA_PEER_DIRECT] = "direct",
		[CUDA_PEER_COPY] = "peer", [CUDA_PEER_MANAGED] = "managed",
		[CUDA_PEER_HOST] = "host",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(value, names[i]) != 0)
			continue;
		*path_out = (enum cuda_peer_path)i;
		return 0;
	}
	return -EINVAL;
}

static int read_chain(const char *value, uint32_t *length_out)
{
	uint32_t length = 0;
	int error = read_small_setting(value, 0, CUDA_CHAIN_MAX, &length);

	if (error < 0 || (length & (length - 1)) != 0)
		return -EINVAL;
	*length_out = length;
	return 0;
}

static int read_switch(const char *value, bool *switch_out)
{
	bool on = strcmp(value, "yes") == 0;

	if (!on && strcmp(value, "no") != 0)
		return -EINVAL;
	*switch_out = on;
	return 0;
}

static int read_best_effort(const char *value, bool *beside_out)
{
	const bool beside = strcmp(value, "beside") == 0;

	if (!beside && strcmp(value, "gaps") != 0)
		return -EINVAL;
	*beside_out = beside;
	return 0;
}

static int read_signals(const char *value, enum cuda_signals *signals_out)
{
	static const char *const words[] = {
		[CUDA_SIGNALS_NO] = "no",
		[CUDA_SIGNALS_EVENTS] = "events",
		[CUDA_SIGNALS_ALL] = "all",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(value, words[i]) == 0) {
			*signals_out = (enum cuda_signals)i;
			return 0;
		}
	return -EINVAL;
}

static int read_cupti(const char *value, struct cuda_settings *settings)
{
	settings->uses_cupti = strcmp(value, "no") != 0;
	if (!settings->uses_cupti || strcmp(value, "yes") == 0) {
		free_pointer(&settings->cupti);
		settings->cupti = NULL;
		return 0;
	}
	return read_text_setting(value, &settings->cupti);
}

static int setting_read(const char *name, const char *value, struct cuda_settings *settings)
{
	if (strcmp(name, "library") == 0)
		return read_text_setting(value, &settings->library);
	if (strcmp(name, "nvrtc") == 0)
		return read_text_setting(value, &settings->nvrtc);
	if (strcmp(name, "clang") == 0)
		return read_text_setting(value, &settings->clang);
	if (strcmp(name, "cupti") == 0)
		return read_cupti(value, settings);
	if (strcmp(name, "peer_path") == 0)
		return read_peer_path(value, &settings->peer_path);
	if (strcmp(name, "stack_bytes") == 0)
		return read_number_setting(value, 0, CUDA_STACK_BYTES_MAX, &settings->stack_bytes);
	if (strcmp(name, "headroom_bytes") == 0)
		return read_number_setting(value, 0, UINT64_MAX, &settings->headroom_bytes);
	if (strcmp(name, "lanes") == 0)
		return read_small_setting(value, 1, CUDA_LANES_MAX, &settings->lanes);
	if (strcmp(name, "connections") == 0)
		return read_small_setting(value, 1, CUDA_CONNECTIONS_MAX, &settings->connections);
	if (strcmp(name, "chain_length") == 0)
		return read_chain(value, &settings->chain_length);
	if (strcmp(name, "latency_multiprocessors") == 0)
		return read_small_setting(value, 0, CUDA_LATENCY_MULTIPROCESSORS_MAX,
					  &settings->latency_multiprocessors);
	if (strcmp(name, "copy_kernel_bytes") == 0)
		return read_small_setting(value, 0, CUDA_COPY_KERNEL_BYTES_MAX,
					  &settings->copy_kernel_bytes);
	if (strcmp(name, "exact_chains") == 0)
		return read_switch(value, &settings->exact_chains);
	if (strcmp(name, "graph_chains") == 0)
		return read_switch(value, &settings->graph_chains);
	if (strcmp(name, "chain_marks") == 0)
		return read_switch(value, &settings->chain_marks);
	if (strcmp(name, "chain_signals") == 0)
		return read_signals(value, &settings->chain_signals);
	if (strcmp(name, "fill_kernel") == 0)
		return read_switch(value, &settings->fill_kernel);
	if (strcmp(name, "lane_operations") == 0)
		return read_small_setting(value, 0, CUDA_LANE_OPERATIONS_MAX,
					  &settings->lane_operations);
	if (strcmp(name, "overlap_lanes") == 0)
		return read_small_setting(value, 0, CUDA_OVERLAP_LANES_MAX,
					  &settings->overlap_lanes);
	if (strcmp(name, "overlap") == 0)
		return read_switch(value, &settings->overlap);
	if (strcmp(name, "best_effort") == 0)
		return read_best_effort(value, &settings->best_effort_beside);
	if (strcmp(name, "best_effort_spares") == 0)
		return read_small_setting(value, 0, CUDA_LATENCY_MULTIPROCESSORS_MAX,
					  &settings->best_effort_spares);
	return -ENOENT;
}

static int read_option(const char *option, struct cuda_settings *settings,
		       struct backend_fault *fault_out)
{
	const char *equals = strchr(option, '=');
	char name[32] = "";

	if (equals && (size_t)(equals - option) < sizeof(name))
		memcpy(name, option, (size_t)(equals - option));
	int error = equals ? setting_read(name, equals + 1, settings) : -ENOENT;
	if (error == -ENOMEM)
		return cuda_no_memory(fault_out, "an option");
	if (error == -ENOENT)
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_INVALID,
			"\"%.80s\" is no option of the CUDA backend: it has library, nvrtc, clang, cupti, peer_path, "
			"stack_bytes, headroom_bytes, lanes, connections, chain_length, exact_chains, graph_chains, chain_marks, chain_signals, copy_kernel_bytes, fill_kernel, lane_operations, latency_multiprocessors, overlap, overlap_lanes, best_effort and best_effort_spares",
			option);
	if (error < 0)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the CUDA backend's option %s does not take \"%.80s\"",
					name, equals + 1);
	return 0;
}

int cuda_settings_read(const char *const *options, struct cuda_settings *settings_out,
		       struct backend_fault *fault_out)
{
	struct cuda_settings settings = {
		.headroom_bytes = CUDA_HEADROOM_DEFAULT,
		.lanes = CUDA_LANES_DEFAULT,
		.connections = CUDA_CONNECTIONS_DEFAULT,
		.chain_length = CUDA_CHAIN_MAX,
		.copy_kernel_bytes = CUDA_COPY_KERNEL_BYTES_DEFAULT,
		.exact_chains = true,
		.graph_chains = true,
		.chain_marks = true,
		.chain_signals = CUDA_SIGNALS_EVENTS,
		.fill_kernel = true,
		.lane_operations = CUDA_LANE_OPERATIONS_DEFAULT,
		.overlap = true,
		.overlap_lanes = CUDA_OVERLAP_LANES_MAX,
		.best_effort_beside = true,
		.best_effort_spares = CUDA_SPARES_EIGHTH,
	};

	for (; options && *options; options++) {
		int error = read_option(*options, &settings, fault_out);
		if (error < 0) {
			cuda_settings_free(&settings);
			return error;
		}
	}
	*settings_out = settings;
	return 0;
}

void cuda_settings_free(struct cuda_settings *settings)
{
	free_pointer(&settings->library);
	free_pointer(&settings->nvrtc);
	free_pointer(&settings->clang);
	free_pointer(&settings->cupti);
}
