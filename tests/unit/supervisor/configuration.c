/* Section [cuda] of sycld.conf: which lines are accepted, and which are refused and where. */
#include "cleanup.h"
#include "base/configuration.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <unistd.h>
#include <string.h>

TestSuite(configuration_cuda, .timeout = 10);

static int read_text(const char *text, struct configuration *configuration, char message[256])
{
	char path[] = "/tmp/sycl-conf.XXXXXX";
	CLEANUP(close_fd) int fd = mkstemp(path);
	cr_assert(ge(int, fd, 0));
	cr_assert(eq(sz, (size_t)write(fd, text, strlen(text)), strlen(text)));
	int r = configuration_read(path, configuration, message, 256);
	(void)unlink(path);
	return r;
}

static const char *option(const struct configuration *configuration, const char *name)
{
	for (unsigned i = 0; i < CONFIGURATION_CUDA_OPTIONS; i++)
		if (!strcmp(configuration_cuda_names[i], name))
			return configuration->cuda[i].given ? configuration->cuda[i].value : NULL;
	cr_assert(false, "no option %s", name);
	return NULL;
}

Test(configuration_cuda, every_option_is_taken_and_units_are_resolved)
{
	static const char text[] =
		"[cuda]\npeer_path = host\nstack_bytes = 64K\nheadroom_bytes = 1G\nlanes = 64\n"
		"chain_length = 0\noverlap = no\nlibrary = /opt/libcuda.so.1\nnvrtc = libnvrtc.so.13\ncupti = no\nconnections = 32\n"
		"latency_multiprocessors = 16\ncopy_kernel_bytes = 256K\nfill_kernel = no\n"
		"lane_operations = 0\nexact_chains = no\ngraph_chains = no\nchain_marks = no\nchain_signals = all\noverlap_lanes = 2\nbest_effort = gaps\nbest_effort_spares = 8\nclang = /usr/bin/clang-19\n";
	static const char *const wanted[][2] = {
		{"peer_path", "host"},
		{"stack_bytes", "65536"},
		{"headroom_bytes", "1073741824"},
		{"lanes", "64"},
		{"chain_length", "0"},
		{"overlap", "no"},
		{"library", "/opt/libcuda.so.1"},
		{"nvrtc", "libnvrtc.so.13"},
		{"cupti", "no"},
		{"clang", "/usr/bin/clang-19"},
		{"connections", "32"},
		{"latency_multiprocessors", "16"},
		{"copy_kernel_bytes", "262144"},
		{"fill_kernel", "no"},
		{"lane_operations", "0"},
		{"exact_chains", "no"},
		{"graph_chains", "no"},
		{"chain_marks", "no"},
		{"chain_signals", "all"},
		{"overlap_lanes", "2"},
		{"best_effort", "gaps"},
		{"best_effort_spares", "8"},
	};
	struct configuration configuration;
	char message[256] = "";
	cr_assert(eq(int, read_text(text, &configuration, message), 0), "%s", message);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		const char *value = option(&configuration, wanted[i][0]);
		cr_assert(ne(ptr, (void *)(uintptr_t)value, NULL), "%s", wanted[i][0]);
		cr_assert_str_eq(value, wanted[i][1]);
	}
}

Test(configuration_cuda, what_is_not_given_is_left_to_the_backend)
{
	struct configuration configuration;
	char message[256] = "";
	cr_assert(eq(int, read_text("[cuda]\nlanes = 3\n", &configuration, message), 0), "%s",
		  message);
	cr_assert_str_eq(option(&configuration, "lanes"), "3");
	cr_assert(eq(ptr, (void *)(uintptr_t)option(&configuration, "peer_path"), NULL));
	cr_assert(eq(int, read_text("", &configuration, message), 0));
	cr_assert(eq(ptr, (void *)(uintptr_t)option(&configuration, "lanes"), NULL));
}

Test(configuration_cuda, mistakes_name_file_line_and_what_is_wanted)
{
	static const struct {
		const char *text, *where, *words;
	} cases[] = {
		{"[cuda]\npeer_path = fast\n", ":2: ", "auto, direct, peer, managed or host"},
		{"[cuda]\n\nstack_bytes = 513K\n", ":3: ", "up to 512K"},
		{"[cuda]\nstack_bytes = -1\n", ":2: ", "stack_bytes needs"},
		{"[cuda]\nheadroom_bytes = much\n", ":2: ", "headroom_bytes needs"},
		{"[cuda]\nlanes = 0\n", ":2: ", "1 to 64"},
		{"[cuda]\nlanes = 65\n", ":2: ", "1 to 64"},
		{"[cuda]\nlanes = 1K\n", ":2: ", "1 to 64"},
		{"[cuda]\nchain_length = 3\n", ":2: ", "0, 1, 2, 4, 8 or 16"},
		{"[cuda]\ncopy_kernel_bytes = 2M\n", ":2: ", "up to 1M"},
		{"[cuda]\noverlap = 1\n", ":2: ", "yes or no"},
		{"[cuda]\nfill_kernel = on\n", ":2: ", "yes or no"},
		{"[cuda]\nexact_chains = 1\n", ":2: ", "yes or no"},
		{"[cuda]\ngraph_chains = 1\n", ":2: ", "yes or no"},
		{"[cuda]\nchain_marks = 1\n", ":2: ", "yes or no"},
		{"[cuda]\nchain_signals = yes\n", ":2: ", "no, events or all"},
		{"[cuda]\noverlap_lanes = 1025\n", ":2: ", "1024"},
		{"[cuda]\nlane_operations = 1001\n", ":2: ", "up to 1000"},
		{"[cuda]\nlatency_multiprocessors = 1025\n", ":2: ", "up to 1024"},
		{"[cuda]\nlatency_multiprocessors = few\n",
		 ":2: ", "latency_multiprocessors needs"},
		{"[cuda]\nbest_effort = yes\n", ":2: ", "beside or gaps"},
		{"[cuda]\nbest_effort_spares = 1025\n", ":2: ", "up to 1024"},
		{"[cuda]\nlibrary =\n", ":2: ", "library needs"},
		{"[cuda]\nlibrary = lib/libcuda.so\n", ":2: ", "whole path"},
		{"[cuda]\nnvrtc = ../libnvrtc.so\n", ":2: ", "whole path"},
		{"[cuda]\ncupti = ./libcupti.so\n", ":2: ", "whole path"},
		{"[cuda]\nclang = clang-19\n", ":2: ", "whole path"},
		{"[cuda]\nlane = 1\n", ":2: ", "no such key in [cuda]"},
		{"[cuda]\nlanes = 1\n[service]\n[cuda]\nlanes = 2\n", ":5: ", "twice"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct configuration configuration;
		char message[256] = "";
		cr_assert(eq(int, read_text(cases[i].text, &configuration, message), -EINVAL),
			  "case %zu", i);
		cr_assert(ne(ptr, strstr(message, cases[i].where), NULL), "case %zu: %s", i,
			  message);
		cr_assert(ne(ptr, strstr(message, cases[i].words), NULL), "case %zu: %s", i,
			  message);
	}
}

Test(configuration_cuda, a_value_that_is_too_long_is_refused_not_cut)
{
	char text[400] = "[cuda]\nlibrary = /";
	size_t length = strlen(text);
	memset(text + length, 'x', 300);
	memcpy(text + length + 300, "\n", 2);
	struct configuration configuration;
	char message[256] = "";
	cr_assert(eq(int, read_text(text, &configuration, message), -EINVAL));
	cr_assert(ne(ptr, strstr(message, "too long"), NULL), "%s", message);
}

Test(configuration_cuda, the_standby_can_be_left_out)
{
	struct configuration configuration;
	char message[256] = "";
	cr_assert(eq(int, read_text("", &configuration, message), 0));
	cr_assert(configuration.standby);
	cr_assert(eq(int, read_text("[service]\nstandby = no\n", &configuration, message), 0), "%s",
		  message);
	cr_assert(not(configuration.standby));
	cr_assert(lt(int, read_text("[service]\nstandby = maybe\n", &configuration, message), 0));
	cr_assert(ne(ptr, strstr(message, "standby needs yes or no"), NULL), "%s", message);
}

Test(configuration_cuda, a_full_device_is_an_error_unless_spilling_is_configured)
{
	struct configuration configuration;
	char message[256] = "";
	cr_assert(eq(int, read_text("[service]\n", &configuration, message), 0));
	cr_assert(not(configuration.spill));
	cr_assert(eq(int, read_text("[service]\nspill = yes\n", &configuration, message), 0), "%s",
		  message);
	cr_assert(configuration.spill);
	cr_assert(lt(int, read_text("[service]\nspill = 1\n", &configuration, message), 0));
	cr_assert(ne(ptr, strstr(message, "spill needs yes or no"), NULL), "%s", message);
}

Test(configuration_cuda, slices_are_a_number_of_microseconds_and_0_switches_them_off)
{
	static const char *const wrong[] = {"-1", "1000001", "5m", "1K", "no"};
	struct configuration configuration;
	char text[64], message[256] = "";
	cr_assert(eq(int, read_text("[service]\n", &configuration, message), 0));
	cr_assert(eq(u64, configuration.slice_us, CONFIGURATION_SLICE_US));
	cr_assert(eq(int, read_text("[service]\nslice_us = 0\n", &configuration, message), 0), "%s",
		  message);
	cr_assert(zero(u64, configuration.slice_us));
	cr_assert(eq(int, read_text("[service]\nslice_us = 1000000\n", &configuration, message), 0),
		  "%s", message);
	cr_assert(eq(u64, configuration.slice_us, 1000000));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		(void)snprintf(text, sizeof(text), "[service]\nslice_us = %s\n", wrong[i]);
		cr_assert(lt(int, read_text(text, &configuration, message), 0), "%s", wrong[i]);
		cr_assert(ne(ptr, strstr(message, "slice_us needs a number"), NULL), "%s", message);
	}
}
