/* Finds commands that have ended. Completion words are read. About every millisecond, the driver is
 * queried for one stream: a failed device writes no words, and any call returns its failure. */
#include "cuda/clock/device_clock.h"
#include "cuda/lane/begin.h"
#include "cuda/lane/check.h"
#include "cuda/lane/lane.h"
#include "cuda/lane/room.h"
#include "cuda/lane/series.h"
#include "cuda/program/pace.h"

#include "clock.h"
#include "status.h"

#include <errno.h>

#define ASK_EVERY_NS 1000000u
#define CLOSE_NS     20000u /* if polls follow each other within this time, */
#define LOOKS_MOST   15u    /* so many polls at most skip the clock */

/* Completions that one call of progress() fills. */
struct report {
	struct backend_device *device;
	struct backend_completion *completions;
	uint32_t count, capacity;
	uint64_t now_ns;
	/* For the present lane: commands that have ended and are not reported yet, how many of
	 * these are copies by kernels, the estimated time of these copies, and how many launches
	 * the others have. */
	uint32_t left, copies;
	uint64_t copies_ns;
	uint32_t launches;
};

static struct backend_completion *lane_next_completion(struct report *report,
						       const struct cuda_lane_state *state,
						       const struct cuda_pending *pending)
{
	struct backend_completion *completion = &report->completions[report->count++];

	completion->lane = state->lane;
	completion->sequence = pending->sequence;
	backend_fault_none(&completion->fault);
	completion->start_ns = completion->end_ns = 0;
	completion->estimated = false;
	completion->late_ns = 0;
	completion->failed_launches = 0;
	completion->profile = 0;
	return completion;
}

static void lane_end_first_pending(struct report *report, struct cuda_lane_state *state)
{
	const struct cuda_pending *pending = cuda_pending_at(state, state->head);

	if (state->rest.is_open && state->head == state->sent_end - 1)
		state->rest.is_open = false; /* the device is lost */
	state->operations -= pending->operations;
	state->host_functions -= pending->host_functions;
	cuda_pending_end(report->device, cuda_pending_at(state, state->head));
	state->head++;
	if (state->sent_end < state->head) /* unsent commands that were reported as lost */
		state->sent_end = state->head;
	report->device->lanes->in_flight--;
	report->device->lanes->busy -= state->head == state->tail;
}

/* --------------------------------- commands that ended ---------------------------------- */

/* The number of launches of a command that is no copy, which divide the time of a chain. */
static uint32_t pending_launches(const struct cuda_pending *pending)
{
	return pending->launches + (pending->launches == 0);
}

/* Counts the pending commands at the lane's head that the word shows as complete, but no more than
 * the report has room for. */
static void count_done(struct report *report, const struct cuda_lane_state *state, uint32_t word)
{
	const uint32_t most = report->capacity - report->count;

	report->left = report->copies = report->launches = 0;
	report->copies_ns = 0;
	while (report->left < most && state->head + report->left != state->sent_end) {
		const struct cuda_pending *pending =
			cuda_pending_at(state, state->head + report->left);
		if (!cuda_has_reached(word, pending->value))
			break;
		report->left++;
		report->copies += pending->copy_ns > 0;
		report->copies_ns += pending->copy_ns;
		report->launches += pending->copy_ns > 0 ? 0 : pending_launches(pending);
	}
}

/* Most often the count is 1, and a division takes longer than this check. */
static uint64_t equal_share_ns(uint64_t ns, uint32_t count)
{
	return count > 1 ? ns / count : ns;
}

/*
 * The command's share of the time that all ended commands took, by its launches. A copy by a kernel
 * is short, so it gets only its estimated time. Equal shares would halve the time of a long kernel
 * in a chain with a copy.
 */
static uint64_t pending_share_ns(const struct report *report, const struct cuda_pending *pending,
				 uint64_t ns)
{
	const uint64_t even_ns = equal_share_ns(ns, report->left);

	if (report->copies == report->left)
		return even_ns;
	if (pending->copy_ns > 0)
		return pending->copy_ns < even_ns ? pending->copy_ns : even_ns;
	const uint64_t most_ns = even_ns * report->copies;
	const uint64_t rest_ns = ns - (report->copies_ns < most_ns ? report->copies_ns : most_ns);
	const uint32_t launches = pending_launches(pending);
	return launches == report->launches ? rest_ns : rest_ns / report->launches * launches;
}

/* The part of the time up to `now_ns` from `start_ns` on that belongs to the command. */
static uint64_t share_since(const struct report *report, const struct cuda_pending *pending,
			    uint64_t start_ns, uint64_t now_ns)
{
	return now_ns > start_ns ? pending_share_ns(report, pending, now_ns - start_ns) : 0;
}

/*
 * Times by the host's clock. Commands whose ends were read together share one span of time. The
 * span begins when the command before them ended, or when the first of them was submitted, if that
 * was later. It may have been over as soon as the lanes had been polled for the last time before.
 */
static void estimate_times(const struct report *report, const struct cuda_lane_state *state,
			   const struct cuda_pending *pending,
			   struct backend_completion *completion)
{
	uint64_t start =
		pending->submit_ns > state->last_end_ns ? pending->submit_ns : state->last_end_ns;
	const uint64_t polled_ns = report->device->lanes->all_polled_ns;
	const uint64_t most_ns = share_since(report, pending, start, report->now_ns);
	const uint64_t least_ns = share_since(report, pending, start, polled_ns);

	completion->start_ns = start;
	completion->end_ns = start + most_ns;
	completion->late_ns = least_ns < most_ns ? most_ns - least_ns : 0;
	completion->estimated = true;
}

/* The same of a graph. `together` counts the kernels of its chain, if it was in one. */
static void update_series_pace(const struct cuda_pending *pending,
			       const struct backend_completion *completion)
{
	struct cuda_series *series = pending->series;
	const uint64_t most_ns = completion->end_ns - completion->start_ns;
	const uint64_t least_ns = most_ns - completion->late_ns;
	const bool is_alone = pending->together <= series->count;

	cuda_pace_update(&series->pace, 1, least_ns, most_ns,
			 is_alone ? 0 : least_ns / series->count * pending->together);
}

/* Only a time that the launches surely took counts as a surprise: polling may have paused. */
static void update_pace(const struct cuda_pending *pending,
			const struct backend_completion *completion)
{
	const uint64_t took_ns = completion->end_ns - completion->start_ns;
	const uint64_t most_ns = equal_share_ns(took_ns, pending->launches);
	const uint64_t least_ns = equal_share_ns(took_ns - completion->late_ns, pending->launches);
	const bool is_alone = pending->together < 2;

	cuda_pace_update(cuda_kernel_pace(pending->kernel), pending->items, least_ns, most_ns,
			 is_alone ? 0 : least_ns * pending->together);
}

/* False: the times of the command are unknown yet, and the caller calls again later. */
static bool report_done(struct report *report, struct cuda_lane_state *state)
{
	struct cuda_pending *pending = cuda_pending_at(state, state->head);
	uint64_t start = 0, end = 0;
	int error = pending->start && pending->end
			    ? cuda_clock_times(report->device, pending->start, pending->end, &start,
					       &end, NULL)
			    : -ENODATA;

	/* The GPU writes the word behind the event, but the host may read the word a moment
	 * earlier. */
	if (error == -EAGAIN && !cuda_lost(report->device))
		return false;
	struct backend_completion *completion = lane_next_completion(report, state, pending);
	if (pending->fault)
		completion->fault = *pending->fault;
	else if (pending->check)
		cuda_check_end(pending, &completion->fault);
	completion->failed_launches = pending->failed_launches;
	if (error == 0) {
		/*
		 * A command begins neither before it was sent nor before the previous command on
		 * its stream ended (L9). A clock whose samples were all late reports too early
		 * times, so the start is corrected.
		 */
		uint64_t least = pending->submit_ns > state->timed_end_ns ? pending->submit_ns
									  : state->timed_end_ns;
		completion->start_ns = start > least ? start : least;
		completion->end_ns = end > completion->start_ns ? end : completion->start_ns;
		state->timed_end_ns = completion->end_ns;
		completion->profile = pending->profile;
	} else {
		estimate_times(report, state, pending, completion);
	}
	if (completion->end_ns > state->last_end_ns)
		state->last_end_ns = completion->end_ns;
	if (pending->kernel && !pending->fault)
		update_pace(pending, completion);
	if (pending->series && !pending->fault)
		update_series_pace(pending, completion);
	report->left--;
	if (pending->copy_ns > 0) {
		report->copies--;
		report->copies_ns -= pending->copy_ns;
	} else {
		report->launches -= pending_launches(pending);
	}
	lane_end_first_pending(report, state);
	return true;
}

static void report_lane(struct report *report, struct cuda_lane_state *state)
{
	uint32_t word = cuda_word_read(state);

	/* Any kernel can write to this memory. A value beyond the sent commands is detected. */
	if (!cuda_has_reached(state->sent, word)) {
		struct backend_fault fault;
		(void)cuda_fault_words(
			&fault, -EIO, STATUS_DEVICE_LOST,
			"a kernel wrote into memory of the service: no result can be trusted");
		fault.native_code =
			CUDA_ERROR_LAUNCH_FAILED; /* commands that were running are suspects */
		cuda_lose(report->device, &fault);
		return;
	}
	count_done(report, state, word);
	if (report->left > 0 && report->now_ns == 0)
		report->now_ns = clock_now_ns();
	while (report->left > 0 && report_done(report, state))
		;
	cuda_begin_poll(report->device, state);
}

/* Called for a lane if a write of its word could not be sent. Queries its stream instead, and
 * reports the commands on it once they are complete. */
static void report_unwritten(struct report *report, struct cuda_lane_state *state)
{
	if (report->device->backend->library.cuStreamQuery(state->lane->stream) != CUDA_SUCCESS)
		return;
	atomic_store_explicit(state->word_host, state->sent, memory_order_release);
	state->written = state->word_value = state->sent;
}

/* ------------------------------------ a lost device ------------------------------------- */

static bool has_noted_wait_open(const struct cuda_lanes *lanes, const struct cuda_pending *pending)
{
	for (uint32_t i = 0; i < pending->wait_count && i < CUDA_NOTED_WAITS; i++)
		if (!cuda_has_reached(lanes->reached[pending->waits[i].word],
				      pending->waits[i].value))
			return true;
	return false;
}

/*
 * The number of pending commands at the lane's head that may have been running: they were sent
 * together, and waited for nothing. Commands that the driver refused are counted, too. If there are
 * other suspects, a copy by a kernel is no suspect, because its addresses were checked.
 */
static uint32_t count_suspects(const struct cuda_lane_state *state)
{
	struct cuda_lanes *lanes = state->lane->device->lanes;
	uint32_t count = 0;
	bool has_begun = false;

	for (size_t at = state->head; at != state->sent_end; at++) {
		const struct cuda_pending *pending = cuda_pending_at(state, at);
		if ((has_begun && pending->is_send_start) || has_noted_wait_open(lanes, pending))
			break;
		has_begun |= !pending->fault;
		lanes->has_other_suspect |= pending->copy_ns == 0 && !pending->fault;
		count++;
	}
	return count;
}

static void report_lost(struct report *report, struct cuda_lane_state *state, bool is_suspect)
{
	const struct backend_fault *lost = cuda_lost(report->device);
	const struct cuda_pending *pending = cuda_pending_at(state, state->head);
	struct backend_completion *completion = lane_next_completion(report, state, pending);

	completion->fault = *lost;
	completion->fault.not_begun =
		!is_suspect || pending->fault ||
		(pending->copy_ns > 0 && report->device->lanes->has_other_suspect);
	lane_end_first_pending(report, state);
}

/*
 * Reports the suspects of all lanes first, in as many calls as needed, and then all other commands.
 */
static void report_all_lost(struct report *report)
{
	struct cuda_lanes *lanes = report->device->lanes;

	if (!lanes->are_suspects_counted) {
		for (struct cuda_lane_state *state = lanes->first; state; state = state->next)
			(void)cuda_word_read(state); /* updates `reached` */
		for (struct cuda_lane_state *state = lanes->first; state; state = state->next)
			state->suspects = count_suspects(state);
		lanes->are_suspects_counted = true;
	}
	for (struct cuda_lane_state *state = lanes->first; state; state = state->next) {
		while (state->suspects > 0 && report->count < report->capacity) {
			state->suspects--;
			report_lost(report, state, true);
		}
	}
	for (struct cuda_lane_state *state = lanes->first; state; state = state->next)
		while (state->head != state->tail && report->count < report->capacity)
			report_lost(report, state, false);
}

/* --------------------------------------- one turn --------------------------------------- */

/*
 * Reading the clock takes longer than polling a lane. A thread that polls without a pause reads the
 * clock in only some of its polls. A thread that sleeps between polls reads the clock each time.
 * False: the clock was not read.
 */
static bool check_clock(struct report *report)
{
	struct cuda_lanes *lanes = report->device->lanes;

	if (report->now_ns == 0 && lanes->polls_left > 0) {
		lanes->polls_left--;
		return false;
	}
	if (report->now_ns == 0)
		report->now_ns = clock_now_ns();
	lanes->looks = report->now_ns - lanes->polled_ns < CLOSE_NS
			       ? (lanes->looks * 2 + 1) & LOOKS_MOST
			       : 0;
	lanes->polls_left = lanes->looks;
	lanes->polled_ns = report->now_ns;
	if (report->count < report->capacity)
		lanes->all_polled_ns = report->now_ns;
	return true;
}

/* Finds a failure of the device. Each stream returns the failures of all streams, so one stream
 * with commands in flight is queried, and only from time to time. */
static void query_driver(struct report *report)
{
	struct backend_device *device = report->device;
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_lanes *lanes = device->lanes;
	struct cuda_lane_state *state = lanes->first;

	if (!check_clock(report) || report->now_ns - lanes->asked_ns < ASK_EVERY_NS)
		return;
	lanes->asked_ns = report->now_ns;
	while (state && state->head == state->sent_end)
		state = state->next;
	if (!state)
		return;
	CUresult result = cu->cuStreamQuery(state->lane->stream);
	if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY)
		return;
	struct backend_fault fault;
	(void)cuda_fault(NULL, cu, result, &fault, "%s", cuda_failed_text(device));
	cuda_lose(device, &fault);
}

/*
 * Polls the lanes in turns, so that a busy lane cannot fill every report. Polling ends early when
 * all lanes with commands in flight were polled. If the report is not full, no lane was left out.
 * The next report then begins at the first lane that had pending commands.
 */
static void report_lanes(struct report *report)
{
	struct cuda_lanes *lanes = report->device->lanes;
	struct cuda_lane_state *begin = lanes->turn ? lanes->turn : lanes->first, *state = begin,
			       *busy = NULL;
	uint64_t left = lanes->in_flight; /* commands on lanes that are not polled yet */

	do {
		left -= state->tail - state->head;
		if (!busy && state->head != state->tail)
			busy = state;
		cuda_rest_step(state);
		if (state->written != state->sent && !state->rest.is_open)
			report_unwritten(report, state);
		if (state->head != state->sent_end)
			report_lane(report, state);
		state = state->next ? state->next : lanes->first;
	} while (left > 0 && state != begin && report->count < report->capacity);
	if (report->count == report->capacity)
		lanes->turn = state == begin ? state->next : state;
	else
		lanes->turn = busy ? busy : begin;
}

uint32_t cuda_progress(struct backend_device *device, struct backend_completion *completions,
		       uint32_t capacity)
{
	struct report report = {.device = device, .completions = completions, .capacity = capacity};
	struct cuda_lanes *lanes = device->lanes;

	if (lanes->in_flight == 0 || capacity == 0)
		return 0;
	/* A lost device may refuse, but its commands are reported all the same. */
	(void)cuda_enter(device, NULL);
	if (!lanes->are_suspects_counted)
		report_lanes(&report);
	if (!cuda_lost(device)) {
		query_driver(&report);
		/* A command that ended before the device was lost keeps its own result. */
		if (cuda_lost(device) && report.count < capacity)
			report_lanes(&report);
	}
	if (cuda_lost(device) && report.count < capacity)
		report_all_lost(&report);
	return report.count;
}
