/* Options and environment. */
#include "cuda/driver/environment.h"
#include "cuda/driver/settings.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(cuda_settings, .timeout = 10);

static int read_one(const char *option, struct cuda_settings *settings, struct backend_fault *fault)
{
	const char *const options[] = {option, NULL};

	*fault = (struct backend_fault){0};
	return cuda_settings_read(options, settings, fault);
}

Test(cuda_settings, no_option_gives_the_defaults)
{
	struct cuda_settings settings;
	struct backend_fault fault = {0};

	cr_assert_eq(cuda_settings_read(NULL, &settings, &fault), 0);
	cr_assert_null(settings.library);
	cr_assert_eq(settings.peer_path, CUDA_PEER_AUTO);
	cr_assert_eq(settings.stack_bytes, 0);
	cr_assert_eq(settings.headroom_bytes, CUDA_HEADROOM_DEFAULT);
	cr_assert_eq(settings.lanes, CUDA_LANES_DEFAULT);
	cr_assert_eq(settings.chain_length, 16);
	cr_assert_eq(settings.copy_kernel_bytes, 65536);
	cr_assert(settings.exact_chains);
	cr_assert(settings.graph_chains);
	cr_assert(settings.chain_marks);
	cr_assert_eq(settings.chain_signals, CUDA_SIGNALS_EVENTS);
	cr_assert(settings.fill_kernel);
	cr_assert_eq(settings.lane_operations, 512);
	cr_assert(settings.overlap);
	cr_assert_eq(settings.overlap_lanes, CUDA_OVERLAP_LANES_MAX);
	cr_assert_eq(settings.latency_multiprocessors, 0);
	cr_assert(settings.best_effort_beside);
	cr_assert_eq(settings.best_effort_spares, CUDA_SPARES_EIGHTH);
	cuda_settings_free(&settings);
}

Test(cuda_settings, F6_every_option_is_read_and_the_last_word_counts)
{
	static const char *const options[] = {"library=/a/b=c.so",
					      "nvrtc=n.so",
					      "peer_path=direct",
					      "peer_path=managed",
					      "stack_bytes=65536",
					      "headroom_bytes=0",
					      "lanes=3",
					      "chain_length=8",
					      "copy_kernel_bytes=0",
					      "exact_chains=no",
					      "graph_chains=no",
					      "chain_marks=no",
					      "chain_signals=no",
					      "chain_signals=all",
					      "fill_kernel=no",
					      "lane_operations=0",
					      "overlap=no",
					      "overlap_lanes=2",
					      "library=/x.so",
					      "latency_multiprocessors=16",
					      "best_effort=beside",
					      "best_effort=gaps",
					      "best_effort_spares=8",
					      NULL};
	struct cuda_settings settings;
	struct backend_fault fault = {0};

	cr_assert_eq(cuda_settings_read(options, &settings, &fault), 0, "%s", fault.text);
	cr_assert_str_eq(settings.library, "/x.so");
	cr_assert_str_eq(settings.nvrtc, "n.so");
	cr_assert_eq(settings.peer_path, CUDA_PEER_MANAGED);
	cr_assert_eq(settings.stack_bytes, 65536);
	cr_assert_eq(settings.headroom_bytes, 0);
	cr_assert_eq(settings.lanes, 3);
	cr_assert_eq(settings.chain_length, 8);
	cr_assert_eq(settings.copy_kernel_bytes, 0);
	cr_assert_not(settings.exact_chains);
	cr_assert_not(settings.graph_chains);
	cr_assert_not(settings.chain_marks);
	cr_assert_eq(settings.chain_signals, CUDA_SIGNALS_ALL);
	cr_assert_not(settings.fill_kernel);
	cr_assert_eq(settings.lane_operations, 0);
	cr_assert_not(settings.overlap);
	cr_assert_eq(settings.overlap_lanes, 2);
	cr_assert_eq(settings.latency_multiprocessors, 16);
	cr_assert_not(settings.best_effort_beside);
	cr_assert_eq(settings.best_effort_spares, 8);
	cuda_settings_free(&settings);
}

Test(cuda_settings, a_wrong_option_is_refused_by_name)
{
	static const char *const wrong[] = {"",
					    "lanes",
					    "=1",
					    "colour=blue",
					    "LANES=2",
					    "lanes=",
					    "lanes=0",
					    "lanes=65",
					    "lanes=2x",
					    "lanes= 2",
					    "lanes=-1",
					    "lanes=+2",
					    "chain_length=3",
					    "copy_kernel_bytes=1048577",
					    "copy_kernel_bytes=64K",
					    "exact_chains=16",
					    "graph_chains=16",
					    "chain_marks=16",
					    "chain_signals=yes",
					    "fill_kernel=maybe",
					    "lane_operations=1001",
					    "overlap=maybe",
					    "overlap_lanes=1025",
					    "overlap=",
					    "latency_multiprocessors=1025",
					    "latency_multiprocessors=-8",
					    "best_effort=yes",
					    "best_effort=",
					    "best_effort_spares=1025",
					    "chain_length=32",
					    "stack_bytes=524289",
					    "stack_bytes=99999999999999999999",
					    "headroom_bytes=1e9",
					    "peer_path=",
					    "peer_path=both",
					    "library=",
					    "a_name_that_is_longer_than_any_option_is=1"};
	struct cuda_settings settings = {.lanes = 77};
	struct backend_fault fault;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cr_assert_eq(read_one(wrong[i], &settings, &fault), -22, "\"%s\" was taken",
			     wrong[i]);
		cr_assert_eq(fault.status, -8);
		cr_assert_neq(fault.text[0], '\0');
		cr_assert_eq(settings.lanes, 77);
	}
	(void)read_one("lanes=99", &settings, &fault);
	cr_assert_not_null(strstr(fault.text, "lanes"));
	(void)read_one("colour=blue", &settings, &fault);
	cr_assert_not_null(strstr(fault.text, "colour=blue"));
}

Test(cuda_settings, a_hostile_environment_is_made_clean)
{
	char folder[] = "/tmp/cuda_settings_XXXXXX";
	char path[64];

	cr_assert_not_null(mkdtemp(folder));
	(void)setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	(void)setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
	(void)setenv("CUDA_", "x", 1);
	(void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
	(void)setenv("CUDA_MODULE_LOADING", "LAZY", 1);
	(void)setenv("CUDA_CACHE_DISABLE", "1", 1);
	(void)setenv("CUDA_CACHE_PATH", "/somewhere/else", 1);
	(void)setenv("CUDA_VISIBLE_DEVICES", "GPU-0,GPU-1", 1);
	(void)setenv("CUDA_MPS_PIPE_DIRECTORY", "/run/mps", 1);
	(void)setenv("CUDART_VERSION", "kept", 1);
	cuda_environment_prepare(folder, 24);
	cr_assert_null(getenv("CUDA_LAUNCH_BLOCKING"));
	cr_assert_null(getenv("CUDA_DISABLE_PTX_JIT"));
	cr_assert_null(getenv("CUDA_"));
	cr_assert_null(getenv("CUDA_CACHE_DISABLE"));
	cr_assert_str_eq(getenv("CUDA_DEVICE_MAX_CONNECTIONS"), "24");
	cr_assert_str_eq(getenv("CUDA_MODULE_LOADING"), "EAGER");
	cr_assert_str_eq(getenv("CUDA_VISIBLE_DEVICES"), "GPU-0,GPU-1");
	cr_assert_str_eq(getenv("CUDA_MPS_PIPE_DIRECTORY"), "/run/mps");
	cr_assert_str_eq(getenv("CUDART_VERSION"), "kept");
	(void)snprintf(path, sizeof(path), "%s/cuda", folder);
	cr_assert_str_eq(getenv("CUDA_CACHE_PATH"), path);
	(void)rmdir(path);
	(void)rmdir(folder);
}

Test(cuda_settings, a_cache_that_others_can_write_is_not_used)
{
	char folder[] = "/tmp/cuda_settings_XXXXXX";

	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(chmod(folder, 0777), 0);
	cuda_environment_prepare(folder, 24);
	cr_assert_null(getenv("CUDA_CACHE_PATH"));
	cr_assert_str_eq(getenv("CUDA_CACHE_DISABLE"), "1");
	cuda_environment_prepare(NULL, 24);
	cr_assert_str_eq(getenv("CUDA_CACHE_DISABLE"), "1");
	(void)rmdir(folder);
}
