/* Launches are collected and sent as chains. Launches that cannot be in one are sent alone. */
#include "cuda/lane/chain.h"
#include "clock.h"
#include "cuda/lanes_driver.h"

#include <criterion/criterion.h>

#define TEMPLATES                                                                                  \
	(2 * CUDA_LEVELS +                                                                         \
	 1u) /* with a word of the client and without, and that of a single launch */

TestSuite(cuda_lanes_chain, .timeout = 10);

static uint32_t finish_all(struct backend_device *device)
{
	struct backend_completion completions[64];
	uint32_t count = 0, more;

	driver_run_all(device);
	while ((more = cuda_progress(device, completions, 64)) > 0) {
		for (uint32_t i = 0; i < more; i++)
			cr_assert_eq(completions[i].fault.status, 0, "%s",
				     completions[i].fault.text);
		count += more;
	}
	return count;
}

static void expect_order(uint32_t count)
{
	cr_assert_eq(driver.ran_count, count);
	for (uint32_t i = 0; i < count; i++)
		cr_assert_eq(driver.ran[i], (int)i);
}

Test(cuda_lanes_chain, templates_are_made_with_the_lane_and_never_by_a_launch)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernels[16] = {{.id = 0}};

	cr_assert_eq(driver.counts.graphs_made, TEMPLATES);
	for (uint64_t i = 0; i < 16; i++)
		lanes_launch(lane, &kernels[0], i + 1);
	cuda_flush(device);
	cr_assert_eq(finish_all(device), 16);
	cr_assert_eq(driver.counts.graphs_made, TEMPLATES);
	/* Copies make no chains. */
	(void)lanes_lane(device, BACKEND_LANE_COPY_IN);
	cr_assert_eq(driver.counts.graphs_made, TEMPLATES);
	lanes_device_free(device);
}

/* Making one may wait for running commands. */
Test(cuda_lanes_chain, F8_templates_of_a_lane_that_comes_later_are_made_when_nothing_runs)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *busy = lanes_lane(device, BACKEND_LANE_COMPUTE), *lane;
	struct backend_kernel kernels[8];

	for (int i = 0; i < 8; i++)
		kernels[i] = (struct backend_kernel){.id = i};
	lanes_launch(busy, &kernels[3], 1);
	cuda_flush(device);
	lane = lanes_lane(device, BACKEND_LANE_LATENCY);
	cr_assert_eq(driver.counts.graphs_made, TEMPLATES);
	cr_assert_eq(device->lanes->awaiting_chains, 1);
	for (int i = 0; i < 3; i++)
		lanes_launch(lane, &kernels[i], (uint64_t)i + 1);
	cuda_flush(device);
	cr_assert_eq(driver.counts.graphs_made, TEMPLATES);
	cr_assert_eq(driver.counts.kernel_launches, 3);
	cr_assert_eq(device->lanes->chains_refused, 0, "nobody was asked for one");
	cr_assert_eq(finish_all(device), 4);

	cuda_chains_make_wanted(device);
	cr_assert_eq(driver.counts.graphs_made, 2 * TEMPLATES);
	cr_assert_eq(device->lanes->awaiting_chains, 0);
	for (int i = 4; i < 8; i++)
		lanes_launch(lane, &kernels[i], (uint64_t)i);
	cuda_flush(device);
	cr_assert_eq(driver.counts.kernel_launches, 3);
	cr_assert_eq(driver.counts.chains[2], 1);
	cr_assert_eq(finish_all(device), 4);
	expect_order(8);
	/* A lane that is freed before it has any command is not waited for. */
	lanes_launch(busy, &kernels[0], 2);
	cuda_flush(device);
	cuda_lane_free(lanes_lane(device, BACKEND_LANE_LATENCY));
	cr_assert_eq(device->lanes->awaiting_chains, 0);
	cr_assert_eq(finish_all(device), 1);
	lanes_device_free(device);
}

Test(cuda_lanes_chain, the_latency_class_has_streams_of_a_higher_priority)
{
	static const enum backend_lane_kind others[] = {BACKEND_LANE_COMPUTE, BACKEND_LANE_COPY_IN,
							BACKEND_LANE_COPY_OUT};
	struct backend_device *device = lanes_device(16, true);

	for (int i = 0; i < 3; i++) { /* also when streams are used again */
		struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_LATENCY);
		cr_assert_eq(driver_priority(lane), -4);
		cuda_lane_free(lane);
		for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++) {
			lane = lanes_lane(device, others[k]);
			cr_assert_eq(driver_priority(lane), 0);
			cuda_lane_free(lane);
		}
	}
	lanes_device_free(device);
}

Test(cuda_lanes_chain, TR6_best_effort_has_streams_below_all_others)
{
	static const struct cuda_settings settings = {.chain_length = 16,
						      .best_effort_beside = true};
	struct backend_device *device = lanes_device_with(&settings, true);

	for (int i = 0; i < 3; i++) { /* also when streams are used again */
		struct backend_lane *below = lanes_lane(device, BACKEND_LANE_BESIDE),
				    *middle = lanes_lane(device, BACKEND_LANE_COMPUTE),
				    *above = lanes_lane(device, BACKEND_LANE_LATENCY);
		cr_assert_eq(driver_priority(below), 0);
		cr_assert_eq(driver_priority(middle), -1);
		cr_assert_eq(driver_priority(above), -4);
		cuda_lane_free(below);
		cuda_lane_free(middle);
		cuda_lane_free(above);
	}
	lanes_device_free(device);
}

Test(cuda_lanes_chain, nothing_is_sent_before_flush_and_everything_after)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernels[7];

	for (int i = 0; i < 7; i++) {
		kernels[i] = (struct backend_kernel){.id = i};
		lanes_launch(lane, &kernels[i], (uint64_t)i + 1);
	}
	cr_assert_eq(driver_pending(lane), 0);
	cuda_flush(device);
	/* 4 + 2 + 1, each with its word. */
	cr_assert_eq(driver_pending(lane), 7 + 3);
	cr_assert_eq(driver.counts.chains[2], 1);
	cr_assert_eq(driver.counts.chains[1], 1);
	cr_assert_eq(driver.counts.chains[0], 1);
	cr_assert_eq(driver.counts.kernel_launches, 0);
	cuda_flush(device);
	cr_assert_eq(driver.counts.graph_launches, 3);
	cr_assert_eq(finish_all(device), 7);
	expect_order(7);
	lanes_device_free(device);
}

/* Returns how many nodes were set for one more launch. */
static uint32_t nodes_set(struct backend_lane *lane, struct backend_kernel *kernel)
{
	static uint64_t sequence;
	const uint32_t before = driver.counts.nodes_set;

	lanes_launch(lane, kernel, ++sequence);
	cuda_flush(lane->device);
	cr_assert_eq(finish_all(lane->device), 1);
	cr_assert_eq(driver.ran[driver.ran_count - 1], kernel->id);
	return driver.counts.nodes_set - before;
}

Test(cuda_lanes_chain, a_node_that_has_it_all_is_not_set_again)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_program code = {.holds = 1}, other_code = {.holds = 1};
	struct backend_kernel kernel = {.id = 1, .parameter_bytes = CUDA_NODE_BYTES, .code = &code},
			      other = kernel, large = kernel;

	other.id = 2;
	large.id = 3;
	large.parameter_bytes = CUDA_NODE_BYTES + 1;
	cr_expect_eq(nodes_set(lane, &kernel), 1);
	cr_expect_eq(nodes_set(lane, &kernel), 0);
	kernel.argument = 7;
	cr_expect_eq(nodes_set(lane, &kernel), 1, "another argument");
	cr_expect_eq(nodes_set(lane, &kernel), 0);
	cr_expect_eq(nodes_set(lane, &other), 1, "another function");
	cr_expect_eq(nodes_set(lane, &kernel), 1);
	/* A module may be loaded where an unloaded one was. Then the handle of its function is the
	 * same. */
	kernel.code = &other_code;
	cr_expect_eq(nodes_set(lane, &kernel), 1, "another module");
	cr_expect_eq(nodes_set(lane, &kernel), 0);
	cr_expect_eq(nodes_set(lane, &large), 1, "more arguments than are remembered");
	cr_expect_eq(nodes_set(lane, &large), 1);
	/* A node that could not be set is set again. */
	kernel.argument = 8;
	driver.set_parameters_result = CUDA_ERROR_INVALID_VALUE;
	(void)nodes_set(lane, &kernel);
	driver.set_parameters_result = CUDA_SUCCESS;
	kernel.argument = 0;
	cr_expect_eq(nodes_set(lane, &kernel), 1);
	lanes_device_free(device);
}

/* A launch that is alone on its lane writes the mark. A later one writes the word, and both
 * count. */
Test(cuda_lanes_chain, a_launch_alone_sets_no_word)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completion;

	for (uint64_t i = 1; i <= 3; i++) {
		lanes_launch(lane, &kernel, i);
		cuda_flush(device);
		cr_assert_eq(cuda_progress(device, &completion, 1), 0, "%lu: it has not run", i);
		cr_assert_eq(finish_all(device), 1);
	}
	cr_expect_eq(driver.counts.words_set, 0);
	for (uint64_t i = 4; i <= 6; i++) {
		lanes_launch(lane, &kernel, i);
		cuda_flush(device);
	}
	cr_expect_eq(driver.counts.words_set, 2, "two that were not alone");
	driver_run(lane, 2); /* the first of them, and its mark */
	cr_assert_eq(cuda_progress(device, &completion, 1), 1);
	cr_expect_eq(completion.sequence, 4);
	cr_assert_eq(cuda_progress(device, &completion, 1), 0);
	cr_assert_eq(finish_all(device), 2);
	/* The word is further than the mark ever was. */
	lanes_launch(lane, &kernel, 7);
	cuda_flush(device);
	cr_assert_eq(cuda_progress(device, &completion, 1), 0);
	cr_assert_eq(finish_all(device), 1);
	lanes_device_free(device);
}

Test(cuda_lanes_chain, the_longest_chain_goes_without_flush)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernels[17];

	for (int i = 0; i < 17; i++) {
		kernels[i] = (struct backend_kernel){.id = i};
		lanes_launch(lane, &kernels[i], (uint64_t)i + 1);
	}
	cr_assert_eq(driver.counts.chains[4], 1);
	cr_assert_eq(driver_pending(lane), 17);
	cuda_flush(device);
	cr_assert_eq(driver.counts.chains[0], 1);
	cr_assert_eq(finish_all(device), 17);
	expect_order(17);
	lanes_device_free(device);
}

Test(cuda_lanes_chain, the_option_bounds_the_length)
{
	struct backend_device *device = lanes_device(4, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 0};

	cr_assert_eq(driver.counts.graphs_made, 2 * 3 + 1);
	for (uint64_t i = 0; i < 10; i++)
		lanes_launch(lane, &kernel, i + 1);
	cr_assert_eq(driver.counts.chains[2], 2);
	cuda_flush(device);
	cr_assert_eq(driver.counts.chains[1], 1);
	cr_assert_eq(driver.counts.chains[4] + driver.counts.chains[3], 0);
	cr_assert_eq(finish_all(device), 10);
	lanes_device_free(device);
}

static void launch_three_plainly(uint32_t chain_length, bool has_graphs)
{
	struct backend_device *device = lanes_device(chain_length, has_graphs);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 0};

	for (uint64_t i = 0; i < 3; i++)
		lanes_launch(lane, &kernel, i + 1);
	cuda_flush(device);
	cr_assert_eq(driver.counts.kernel_launches, 3);
	cr_assert_eq(driver.counts.graph_launches, 0);
	cr_assert_eq(finish_all(device), 3);
	lanes_device_free(device);
}

Test(cuda_lanes_chain, without_chains_launches_go_plainly)
{
	launch_three_plainly(0, true);
	launch_three_plainly(16, false);
}

Test(cuda_lanes_chain, a_chain_that_the_driver_refuses_goes_plainly_with_one_word)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernels[4];

	driver.set_parameters_result = CUDA_ERROR_INVALID_VALUE;
	for (int i = 0; i < 4; i++) {
		kernels[i] = (struct backend_kernel){.id = i};
		lanes_launch(lane, &kernels[i], (uint64_t)i + 1);
	}
	cuda_flush(device);
	cr_assert_eq(driver.counts.kernel_launches, 4);
	cr_assert_eq(driver.counts.graph_launches, 0);
	cr_assert_eq(driver.counts.writes, 1);
	cr_assert_eq(finish_all(device), 4);
	expect_order(4);
	lanes_device_free(device);
}

Test(cuda_lanes_chain, cooperative_and_large_launches_send_what_was_collected_and_go_by_themselves)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel first = {.id = 0}, cooperative = {.id = 1, .cooperative = true},
			      large = {.id = 2, .parameter_bytes = CUDA_CHAIN_STORAGE_BYTES + 1},
			      last = {.id = 3};

	lanes_launch(lane, &first, 1);
	lanes_launch(lane, &cooperative, 2);
	lanes_launch(lane, &large, 3);
	lanes_launch(lane, &last, 4);
	cuda_flush(device);
	cr_assert_eq(driver.counts.kernel_launches, 2);
	cr_assert_eq(driver.counts.chains[0], 2);
	cr_assert_eq(finish_all(device), 4);
	expect_order(4);
	lanes_device_free(device);
}

Test(cuda_lanes_chain, a_copy_comes_after_what_was_collected_before_it)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 7};
	const struct backend_command copy = {.kind = BACKEND_COMMAND_COPY,
					     .transfer = {.size_bytes = 1}};

	lanes_launch(lane, &kernel, 1);
	lanes_submit(lane, &copy, 2);
	lanes_launch(lane, &kernel, 3);
	cuda_flush(device);
	cr_assert_eq(finish_all(device), 3);
	cr_assert_eq(driver.ran[0], 7);
	cr_assert_eq(driver.ran[1], 1000 + BACKEND_COMMAND_COPY);
	cr_assert_eq(driver.ran[2], 7);
	lanes_device_free(device);
}

Test(cuda_lanes_chain, a_command_in_flight_holds_its_kernel)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 0}, cooperative = {.id = 1, .cooperative = true};

	lanes_launch(lane, &kernel, 1);
	lanes_launch(lane, &kernel, 2);
	lanes_launch(lane, &cooperative, 3);
	cr_assert_eq(kernel.holds, 2);
	cr_assert_eq(cooperative.holds, 1);
	cr_assert_eq(finish_all(device), 3);
	cr_assert_eq(kernel.holds, 0);
	cr_assert_eq(cooperative.holds, 0);
	lanes_device_free(device);
}

static struct backend_direct_completion direct_to(struct backend_host *host, uint64_t offset,
						  uint32_t value)
{
	return (struct backend_direct_completion){
		.host = host, .offset_bytes = offset, .value = value};
}

static int launch_direct(struct backend_lane *lane, struct backend_kernel *kernel,
			 uint64_t sequence, struct backend_direct_completion completion)
{
	const struct backend_command command = {.kind = BACKEND_COMMAND_LAUNCH,
						.launch = {.kernel = kernel}};
	struct backend_fault fault = {0};

	return cuda_submit(lane, &command, NULL, 0, sequence, &completion, &fault);
}

Test(cuda_lanes_chain, a_direct_completion_ends_a_chain_and_is_written_before_the_word)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	static uint32_t slots[4];
	struct backend_host host = {.size_bytes = sizeof(slots),
				    .address = (CUdeviceptr)(uintptr_t)slots};
	struct backend_kernel kernel = {.id = 0};
	struct backend_completion completion;

	lanes_launch(lane, &kernel, 1);
	cr_assert_eq(launch_direct(lane, &kernel, 2, direct_to(&host, 4, 42)), 0);
	lanes_launch(lane, &kernel, 3);
	cuda_flush(device);
	cr_assert_eq(driver.counts.chains[1], 1);
	cr_assert_eq(driver.counts.chains[0], 1);
	/* Two kernels and the slot have run, but not the word. */
	cr_assert_eq(driver_run(lane, 3), 3);
	cr_assert_eq(slots[1], 42);
	cr_assert_eq(cuda_progress(device, &completion, 1), 0);
	cr_assert_eq(driver_run(lane, 1), 1);
	cr_assert_eq(cuda_progress(device, &completion, 1), 1);
	cr_assert_eq(finish_all(device), 2);
	cr_assert_eq(slots[0] + slots[2] + slots[3], 0);
	lanes_device_free(device);
}

Test(cuda_lanes_chain, a_direct_completion_outside_of_its_memory_is_refused)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_host host = {.size_bytes = 16, .address = 4096},
			    tiny = {.size_bytes = 2, .address = 4096};
	struct backend_kernel kernel = {.id = 0};

	cr_assert_eq(launch_direct(lane, &kernel, 1, direct_to(&host, 16, 1)), -22);
	cr_assert_eq(launch_direct(lane, &kernel, 1, direct_to(&host, 2, 1)), -22);
	cr_assert_eq(launch_direct(lane, &kernel, 1, direct_to(&host, UINT64_MAX - 3, 1)), -22);
	cr_assert_eq(launch_direct(lane, &kernel, 1, direct_to(&tiny, 0, 1)), -22);
	cuda_flush(device);
	cr_assert_eq(driver_pending(lane), 0);
	cr_assert_eq(device->lanes->in_flight, 0);
	lanes_device_free(device);
}

/* Only the end of a chain is reported. So long kernels, and kernels without an estimate, are not in
 * chains. */
Test(cuda_lanes_chain, chains_end_soon_by_what_their_kernels_took_lately)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel fresh = {.id = 0, .is_new = true},
			      middling = {.id = 1, .is_new = true, .pace = {.period_ns = 30000}},
			      slow = {.id = 2, .is_new = true, .pace = {.period_ns = 5000000}};

	for (uint64_t i = 1; i <= 4; i++)
		lanes_launch(lane, &fresh, i);
	cuda_flush(device);
	cr_assert_eq(driver.counts.chains[0], 4);
	for (uint64_t i = 5; i <= 8; i++)
		lanes_launch(lane, &middling, i);
	cuda_flush(device);
	cr_assert_eq(driver.counts.chains[1],
		     2); /* three would be enough, but there is no such template */
	for (uint64_t i = 9; i <= 12; i++)
		lanes_launch(lane, &slow, i);
	cuda_flush(device);
	cr_assert_eq(driver.counts.chains[0], 8);
	cr_assert_eq(finish_all(device), 12);
	/* The present estimate is used next time. */
	cr_assert_gt(fresh.pace.period_ns, 0);
	cr_assert_neq(slow.pace.period_ns,
		      5000000); /* independent of the time that they took here */
	lanes_device_free(device);
}

/* Makes the pending commands from `from` on seem to have been sent a second ago, and polled without
 * a pause since. */
static void make_old(struct backend_device *device, const struct backend_lane *lane, size_t from)
{
	struct cuda_lane_state *state = lane->state;

	state->last_end_ns = 0;
	for (size_t i = from; i < state->sent_end; i++)
		cuda_pending_at(state, i)->submit_ns -= 1000000000;
	device->lanes->all_polled_ns = clock_now_ns();
}

static uint32_t chains_of_two(struct backend_device *device, struct backend_lane *lane,
			      struct backend_kernel *kernels[2], uint64_t *sequence)
{
	const uint32_t before = driver.counts.chains[1];

	for (uint32_t i = 0; i < 2; i++) {
		kernels[i]->pace.period_ns =
			1000; /* independent of the time that this test takes */
		lanes_launch(lane, kernels[i], ++*sequence);
	}
	cuda_flush(device);
	return driver.counts.chains[1] - before;
}

/* A kernel that was short before and is long now delays the kernels before it once, and then not
 * for many launches. */
Test(cuda_lanes_chain, B18_a_kernel_that_took_long_beside_others_goes_alone_for_a_while)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel first = {.id = 0, .is_new = true}, second = {.id = 1, .is_new = true};
	struct backend_kernel *kernels[] = {&first, &second};
	uint64_t sequence = 0;

	for (uint32_t surprise = 0, expected = 64; surprise < 3; surprise++, expected *= 2) {
		cr_assert_eq(chains_of_two(device, lane, kernels, &sequence), 1,
			     "after surprise %u", surprise);
		make_old(device, lane, ((struct cuda_lane_state *)lane->state)->head);
		cr_assert_eq(finish_all(device), 2);
		for (uint32_t i = 0; i < expected; i++) {
			cr_assert_eq(chains_of_two(device, lane, kernels, &sequence), 0,
				     "launch %u after surprise %u", i, surprise);
			cr_assert_eq(finish_all(device), 2);
		}
	}
	lanes_device_free(device);
}

/* The end of a command that was not polled for a while was detected late. So the command need not
 * have taken long. */
Test(cuda_lanes_chain, B18_a_chain_that_was_seen_late_is_no_surprise)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel first = {.id = 0, .is_new = true}, second = {.id = 1, .is_new = true};
	struct backend_kernel *kernels[] = {&first, &second};
	uint64_t sequence = 0;

	cr_assert_eq(chains_of_two(device, lane, kernels, &sequence), 1);
	make_old(device, lane, ((struct cuda_lane_state *)lane->state)->head);
	device->lanes->all_polled_ns = 0;
	cr_assert_eq(finish_all(device), 2);
	cr_assert_eq(chains_of_two(device, lane, kernels, &sequence), 1);
	cr_assert_eq(finish_all(device), 2);
	lanes_device_free(device);
}

/* Otherwise a busy device's thread would take ever fewer launches as one. */
Test(cuda_lanes_chain, TR5_a_command_that_was_seen_late_need_not_have_taken_long)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1, .is_new = true};
	struct backend_completion completion;

	for (int is_late = 0; is_late < 2; is_late++) {
		kernel.pace.period_ns = 1000;
		lanes_launch(lane, &kernel, 1 + (uint64_t)is_late);
		cuda_flush(device);
		driver_run_all(device);
		make_old(device, lane, ((struct cuda_lane_state *)lane->state)->head);
		device->lanes->all_polled_ns = is_late ? 0 : clock_now_ns();
		cr_assert_eq(cuda_progress(device, &completion, 1), 1);
		cr_assert(completion.estimated);
		cr_assert_geq(completion.end_ns - completion.start_ns, 1000000000);
		if (is_late) {
			cr_expect_eq(kernel.pace.period_ns, 875);
			cr_expect_eq(completion.late_ns, completion.end_ns - completion.start_ns);
		} else {
			cr_expect_gt(kernel.pace.period_ns, 100000000, "it was running");
			cr_expect_lt(completion.late_ns, 900000000);
		}
	}
	lanes_device_free(device);
}

/* For a larger range there is no estimate, even if there is one for smaller ranges. */
Test(cuda_lanes_chain, B18_a_launch_over_a_larger_range_than_any_goes_alone)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel first = {.id = 0, .is_new = true}, second = {.id = 1, .is_new = true};
	struct backend_kernel *kernels[] = {&first, &second};
	uint64_t sequence = 0;

	first.pace.items = second.pace.items = 1;
	second.items = 2;
	cr_assert_eq(chains_of_two(device, lane, kernels, &sequence), 1,
		     "twice as many are much the same");
	cr_assert_eq(finish_all(device), 2);
	cr_assert_eq(second.pace.items, 2);
	second.items = 6;
	cr_assert_eq(chains_of_two(device, lane, kernels, &sequence), 0);
	cr_assert_eq(finish_all(device), 2);
	cr_assert_eq(chains_of_two(device, lane, kernels, &sequence), 1);
	cr_assert_eq(finish_all(device), 2);
	lanes_device_free(device);
}

/* A node refers to the function that last ran in it. The code of that function is kept; all other
 * code is released. */
Test(cuda_lanes_chain, templates_keep_the_code_of_what_ran_in_them_last)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_program first = {.holds = 1}, second = {.holds = 1};
	struct backend_kernel old = {.id = 0, .code = &first}, new = {.id = 1, .code = &second};

	for (uint64_t i = 1; i <= 7; i++) /* 4 + 2 + 1 */
		lanes_launch(lane, &old, i);
	cuda_flush(device);
	cr_assert_eq(first.kept, 7);
	for (uint64_t i = 8; i <= 10; i++) /* 2 + 1 */
		lanes_launch(lane, &new, i);
	cuda_flush(device);
	cr_assert_eq(first.kept, 4);
	cr_assert_eq(second.kept, 3);
	cr_assert_eq(finish_all(device), 10);
	/* As long as it has other users nothing changes; then the code without users is
	 * released. */
	device->on_abandoned(device);
	cr_assert_eq(first.kept, 4);
	first.holds--;
	device->on_abandoned(device);
	cr_assert_eq(first.holds, 0);
	cr_assert_eq(second.kept, 3);
	/* All of it is released with the lane. */
	cuda_lane_free(lane);
	cr_assert_eq(second.kept, 0);
	cr_assert_eq(second.holds, 1);
	lanes_device_free(device);
}

/* A kernel that cannot be replaced in a node stays in it, and so stays loaded. */
Test(cuda_lanes_chain, code_is_kept_while_the_driver_refuses_to_forget_it)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_program code = {.holds = 1};
	struct backend_kernel kernel = {.id = 0, .code = &code};

	lanes_launch(lane, &kernel, 1);
	cuda_flush(device);
	cr_assert_eq(finish_all(device), 1);
	code.holds--;
	driver.set_parameters_result = CUDA_ERROR_INVALID_VALUE;
	device->on_abandoned(device);
	cr_assert_eq(code.kept, 1);
	driver.set_parameters_result = CUDA_SUCCESS;
	device->on_abandoned(device);
	cr_assert_eq(code.kept, 0);
	lanes_device_free(device);
}
