/* The list's second half: order, buffers, events and times. */
#include "platforms/list.h"

#include <stddef.h>
#include <string.h>

enum { WORDS = 1024 };

/* y[i] = y[i] * a, or + a, on a queue; the event unless NULL. */
static bool list_submit_change(struct list *list, sycl_queue queue, sycl_kernel kernel,
			       sycl_buffer buffer, uint32_t a, sycl_event after,
			       sycl_event *event_out)
{
	sycl_handler handler;
	return list_begin(list, queue, &handler) &&
	       list_accessor(list, handler, 0, buffer, SYCL_ACCESS_READ_WRITE) &&
	       list_value(list, handler, 1, a) &&
	       (!after || list_good(list, sycl_handler_depends_on(handler, after),
				    "sycl_handler_depends_on")) &&
	       list_good(list, sycl_handler_parallel_for(handler, kernel, sycl_range1(WORDS)),
			 "the range") &&
	       list_good(list, sycl_handler_submit(handler, event_out), "sycl_handler_submit");
}

/* A buffer and the kernels "add" and "multiply". */
struct pieces {
	sycl_buffer buffer;
	sycl_kernel add, multiply;
};

static bool take_pieces(struct list *list, struct pieces *pieces, uint32_t value)
{
	pieces->buffer = list_buffer(list, WORDS, value);
	pieces->add = pieces->buffer ? list_kernel(list, "add") : NULL;
	pieces->multiply = pieces->add ? list_kernel(list, "multiply") : NULL;
	return pieces->multiply != NULL;
}

static bool give_pieces(struct pieces *pieces, bool result)
{
	if (pieces->multiply)
		(void)sycl_kernel_release(pieces->multiply);
	if (pieces->add)
		(void)sycl_kernel_release(pieces->add);
	if (pieces->buffer)
		(void)sycl_buffer_release(pieces->buffer);
	return result;
}

/* x -> 3 x + 1, repeatedly: any other order gives another result. */
static bool list_run_chain(struct list *list, sycl_queue first, sycl_queue second)
{
	struct pieces pieces = {NULL, NULL, NULL};
	uint32_t wanted = 1;
	bool good = take_pieces(list, &pieces, wanted);
	for (int i = 0; i < 200 && good; i++) {
		good = list_submit_change(list, first, pieces.multiply, pieces.buffer, 3, NULL,
					  NULL) &&
		       list_submit_change(list, second, pieces.add, pieces.buffer, 1, NULL, NULL);
		wanted = wanted * 3 + 1;
	}
	return give_pieces(&pieces, good && list_words_are(list, pieces.buffer, WORDS, wanted, 0));
}

static bool an_in_order_queue_keeps_order(struct list *list)
{
	return list_run_chain(list, list->in_order, list->in_order);
}

static bool what_shares_a_buffer_keeps_order(struct list *list)
{
	return list_run_chain(list, list->queue, list->queue) &&
	       list_run_chain(list, list->queue, list->in_order);
}

/* The buffers are separate, so only the events order the groups. */
static bool events_order_what_shares_nothing(struct list *list)
{
	struct pieces first = {NULL, NULL, NULL}, second = {NULL, NULL, NULL};
	sycl_event before = NULL, after = NULL;
	sycl_command_status status = SYCL_COMMAND_SUBMITTED;
	bool good = take_pieces(list, &first, 1) && take_pieces(list, &second, 1);
	for (int i = 0; i < 50 && good; i++) {
		good = list_submit_change(list, list->queue, first.add, first.buffer, 1, after,
					  &before);
		if (after)
			(void)sycl_event_release(after);
		after = NULL;
		good = good &&
		       list_submit_change(list, list->in_order, second.add, second.buffer, 1,
					  before, &after) &&
		       list_good(list, sycl_event_wait(after), "sycl_event_wait") &&
		       list_good(list, sycl_event_get_status(before, &status),
				 "sycl_event_get_status") &&
		       list_holds(list, status == SYCL_COMMAND_COMPLETE,
				  "a group that it depends on is not complete");
		if (before)
			(void)sycl_event_release(before);
		before = NULL;
	}
	if (after)
		(void)sycl_event_release(after);
	good = good && list_words_are(list, first.buffer, WORDS, 51, 0) &&
	       list_words_are(list, second.buffer, WORDS, 51, 0);
	return give_pieces(&second, give_pieces(&first, good));
}

static bool fills_and_copies_of_parts(struct list *list)
{
	sycl_buffer from = list_buffer(list, WORDS, 7), to = list_buffer(list, WORDS, 9);
	const uint32_t nine = 9, seven = 7;
	bool good = from && to &&
		    list_good(list,
			      sycl_queue_fill(list->in_order, from, 400, 1200, &nine, sizeof(nine),
					      NULL),
			      "fill") &&
		    list_good(list, sycl_queue_copy(list->in_order, from, 400, to, 0, 1200, NULL),
			      "copy") &&
		    list_words_are(list, to, WORDS, 9, 0) &&
		    list_good(list,
			      sycl_queue_fill(list->in_order, to, 0, WORDS * 4, &seven,
					      sizeof(seven), NULL),
			      "fill") &&
		    list_good(list, sycl_queue_copy(list->in_order, to, 400, from, 400, 1200, NULL),
			      "copy") &&
		    list_words_are(list, from, WORDS, 7, 0);
	if (from)
		(void)sycl_buffer_release(from);
	if (to)
		(void)sycl_buffer_release(to);
	return good;
}

/* Writes of the host reach the device, and the other way round. */
static bool host_and_device_by_turns(struct list *list)
{
	struct pieces pieces = {NULL, NULL, NULL};
	bool good = take_pieces(list, &pieces, 0);
	for (uint32_t turn = 1; turn <= 10 && good; turn++) {
		sycl_host_accessor accessor;
		void *pointer = NULL;
		good = list_good(
			list,
			sycl_host_accessor_create(pieces.buffer, SYCL_ACCESS_READ_WRITE, &accessor),
			"a host accessor");
		if (!good)
			break;
		good = list_good(list, sycl_host_accessor_get_pointer(accessor, &pointer),
				 "its pointer");
		uint32_t *words = pointer;
		for (uint32_t i = 0; i < WORDS && good; i++)
			words[i] += 10;
		good = list_good(list, sycl_host_accessor_release(accessor), "its end") && good &&
		       list_submit_change(list, list->queue, pieces.add, pieces.buffer, 1, NULL,
					  NULL);
		good = good && list_words_are(list, pieces.buffer, WORDS, turn * 11, 0);
	}
	return give_pieces(&pieces, good);
}

static bool borrowed_memory_gets_the_result(struct list *list)
{
	static uint32_t words[WORDS];
	sycl_kernel add = list_kernel(list, "add");
	sycl_buffer buffer = NULL;
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = i;
	bool good = add &&
		    list_good(list,
			      sycl_buffer_create(list->connection, words, sizeof(words),
						 SYCL_HOST_BORROWED, &buffer),
			      "a buffer over memory") &&
		    list_submit_change(list, list->queue, add, buffer, 100, NULL, NULL);
	if (buffer)
		good = list_good(list, sycl_buffer_release(buffer), "its end") && good;
	for (uint32_t i = 0; i < WORDS && good; i++)
		good = list_holds(list, words[i] == i + 100, "word %u is %u", i, words[i]);
	if (add)
		(void)sycl_kernel_release(add);
	return good;
}

static bool times_are_in_order(struct list *list)
{
	struct pieces pieces = {NULL, NULL, NULL};
	uint64_t submit = 0, start = 0, end = 0, last = 0;
	bool good = take_pieces(list, &pieces, 0);
	for (int i = 0; i < 20 && good; i++) {
		sycl_event event = NULL;
		good = list_submit_change(list, list->queue, pieces.add, pieces.buffer, 1, NULL,
					  &event) &&
		       list_good(list,
				 sycl_event_get_profiling(event, SYCL_PROFILING_SUBMIT, &submit),
				 "submit time") &&
		       list_good(list,
				 sycl_event_get_profiling(event, SYCL_PROFILING_START, &start),
				 "start time") &&
		       list_good(list, sycl_event_get_profiling(event, SYCL_PROFILING_END, &end),
				 "end time") &&
		       list_holds(list, submit <= start && start <= end && last <= submit,
				  "times %llu (the last submission), %llu, %llu, %llu",
				  (unsigned long long)last, (unsigned long long)submit,
				  (unsigned long long)start, (unsigned long long)end);
		last = submit;
		if (event)
			(void)sycl_event_release(event);
	}
	return give_pieces(&pieces, good);
}

static bool a_thousand_groups_on_two_queues(struct list *list)
{
	struct pieces pieces = {NULL, NULL, NULL};
	bool good = take_pieces(list, &pieces, 0);
	for (int i = 0; i < 1000 && good; i++)
		good = list_submit_change(list, i % 2 ? list->queue : list->in_order, pieces.add,
					  pieces.buffer, 1, NULL, NULL);
	return give_pieces(&pieces, good && list_words_are(list, pieces.buffer, WORDS, 1000, 0));
}

const struct list_entry list_groups[] = {
	{"an in-order queue keeps order", an_in_order_queue_keeps_order},
	{"groups that share a buffer keep their order", what_shares_a_buffer_keeps_order},
	{"events order groups that share nothing", events_order_what_shares_nothing},
	{"fills and copies of parts", fills_and_copies_of_parts},
	{"host and device by turns", host_and_device_by_turns},
	{"borrowed memory gets the result", borrowed_memory_gets_the_result},
	{"times are in order", times_are_in_order},
	{"a thousand groups on two queues", a_thousand_groups_on_two_queues},
	{NULL, NULL},
};
