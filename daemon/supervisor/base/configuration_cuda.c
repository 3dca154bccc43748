/* Section [cuda]. Values are checked here, so that an error message has the line. The backend
 * defines the meaning of each key. */
#include "base/configuration.h"

#include <stdio.h>
#include <string.h>

#define STACK_BYTES_MAX             524288u
#define LANES_MAX                   64u
#define CONNECTIONS_MAX             32u
#define LATENCY_MULTIPROCESSORS_MAX 1024u
#define COPY_KERNEL_BYTES_MAX       1048576u
#define LANE_OPERATIONS_MAX         1000u

const char *const configuration_cuda_names[CONFIGURATION_CUDA_OPTIONS] = {
	"peer_path",
	"stack_bytes",
	"headroom_bytes",
	"lanes",
	"chain_length",
	"overlap",
	"library",
	"nvrtc",
	"connections",
	"latency_multiprocessors",
	"copy_kernel_bytes",
	"fill_kernel",
	"lane_operations",
	"exact_chains",
	"best_effort",
	"best_effort_spares",
	"cupti",
	"graph_chains",
	"chain_marks",
	"overlap_lanes",
	"chain_signals",
	"clang",
};

static const char *const wants[CONFIGURATION_CUDA_OPTIONS] = {
	"auto, direct, peer, managed or host",
	"a number of bytes up to 512K",
	"a number of bytes (K, M, G, T allowed)",
	"a number from 1 to 64",
	"0, 1, 2, 4, 8 or 16",
	"yes or no",
	"a library's name or its whole path",
	"a library's name or its whole path",
	"a number from 1 to 32",
	"a number up to 1024",
	"a number of bytes up to 1M",
	"yes or no",
	"a number up to 1000",
	"yes or no",
	"beside or gaps",
	"a number up to 1024",
	"yes, no, a library's name or its whole path",
	"yes or no",
	"yes or no",
	"a number up to 1024",
	"no, events or all",
	"a program's whole path",
};

enum {
	PEER_PATH = 0,
	STACK_BYTES,
	HEADROOM_BYTES,
	LANES,
	CHAIN_LENGTH,
	OVERLAP,
	LIBRARY,
	NVRTC,
	CONNECTIONS,
	LATENCY_MULTIPROCESSORS,
	COPY_KERNEL_BYTES,
	FILL_KERNEL,
	LANE_OPERATIONS,
	EXACT_CHAINS,
	BEST_EFFORT,
	BEST_EFFORT_SPARES,
	CUPTI,
	GRAPH_CHAINS,
	CHAIN_MARKS,
	OVERLAP_LANES,
	CHAIN_SIGNALS,
	CLANG
};

static bool text_is_choice(const char *value, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(value, *words))
			return true;
	return false;
}

/* A path must not depend on the folder in which the service was started. */
static bool text_is_library(const char *value)
{
	return *value == '/' || (*value && !strchr(value, '/'));
}

static bool cuda_option_set_number(const char *value, bool with_unit, uint64_t least, uint64_t most,
				   struct configuration_text *option)
{
	uint64_t number;
	if (!configuration_number(value, with_unit, most, &number) || number < least)
		return false;
	(void)snprintf(option->value, sizeof(option->value), "%llu", (unsigned long long)number);
	return true;
}

static bool cuda_option_set_text(const char *value, bool good, struct configuration_text *option)
{
	size_t length = strlen(value);
	if (!good || length >= sizeof(option->value))
		return false;
	memcpy(option->value, value, length + 1);
	return true;
}

static bool cuda_option_set(unsigned index, const char *value, struct configuration_text *option)
{
	static const char *const paths[] = {"auto", "direct", "peer", "managed", "host", NULL};
	static const char *const lengths[] = {"0", "1", "2", "4", "8", "16", NULL};
	static const char *const switches[] = {"yes", "no", NULL};
	static const char *const best_effort[] = {"beside", "gaps", NULL};
	static const char *const signals[] = {"no", "events", "all", NULL};
	switch (index) {
	case PEER_PATH:
		return cuda_option_set_text(value, text_is_choice(value, paths), option);
	case STACK_BYTES:
		return cuda_option_set_number(value, true, 0, STACK_BYTES_MAX, option);
	case HEADROOM_BYTES:
		return cuda_option_set_number(value, true, 0, UINT64_MAX >> 1, option);
	case LANES:
		return cuda_option_set_number(value, false, 1, LANES_MAX, option);
	case CHAIN_LENGTH:
		return cuda_option_set_text(value, text_is_choice(value, lengths), option);
	case OVERLAP:
	case FILL_KERNEL:
	case EXACT_CHAINS:
	case GRAPH_CHAINS:
	case CHAIN_MARKS:
		return cuda_option_set_text(value, text_is_choice(value, switches), option);
	case CHAIN_SIGNALS:
		return cuda_option_set_text(value, text_is_choice(value, signals), option);
	case CLANG:
		return cuda_option_set_text(value, *value == '/', option);
	case CONNECTIONS:
		return cuda_option_set_number(value, false, 1, CONNECTIONS_MAX, option);
	case BEST_EFFORT:
		return cuda_option_set_text(value, text_is_choice(value, best_effort), option);
	case LATENCY_MULTIPROCESSORS:
	case BEST_EFFORT_SPARES:
	case OVERLAP_LANES:
		return cuda_option_set_number(value, false, 0, LATENCY_MULTIPROCESSORS_MAX, option);
	case COPY_KERNEL_BYTES:
		return cuda_option_set_number(value, true, 0, COPY_KERNEL_BYTES_MAX, option);
	case LANE_OPERATIONS:
		return cuda_option_set_number(value, false, 0, LANE_OPERATIONS_MAX, option);
	default:
		return cuda_option_set_text(value, text_is_library(value), option);
	}
}

bool configuration_cuda_set(struct configuration *configuration, unsigned index, const char *value,
			    const char **wants_out)
{
	struct configuration_text *option = &configuration->cuda[index];
	option->given = cuda_option_set(index, value, option);
	if (!option->given)
		*wants_out = wants[index];
	return option->given;
}
