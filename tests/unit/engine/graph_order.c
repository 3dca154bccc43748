/* The requirements of a graph as a whole, and the order of its nodes. */
#include "graph/order.h"

#include "access_mode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { BUFFERS = 3, BYTES = 16, NODES = 40, PER_NODE = 4 };

TestSuite(graph_order, .timeout = 60);

static struct buffer buffers[BUFFERS];
static uint64_t stamp;

static void make_buffers(void)
{
	memset(buffers, 0, sizeof(buffers));
	for (uint32_t i = 0; i < BUFFERS; i++) {
		buffers[i].object.id = i + 1;
		buffers[i].size_bytes = BYTES;
	}
}

static struct task_requirement graph_order_requirement_of_part(uint32_t mode, uint64_t begin,
							       uint64_t bytes)
{
	return (struct task_requirement){
		.mode = mode,
		.offset_bytes = begin,
		.size_bytes = bytes,
		.order_offset_bytes = begin,
		.order_size_bytes = bytes,
	};
}

static struct task_requirement graph_order_requirement_of_whole(uint32_t mode)
{
	return (struct task_requirement){.mode = mode, .size_bytes = BYTES};
}

static int add_graph_node(struct graph_order *order, uint32_t buffer,
			  struct task_requirement requirement)
{
	struct buffer *named = &buffers[buffer];
	const struct graph_order_node node = {
		.requirements = &requirement, .buffers = &named, .count = 1};
	return graph_order_add(order, &node);
}

static bool waits(const struct graph_order *order, uint32_t node, uint32_t before)
{
	uint32_t count;
	const uint32_t *edges = graph_order_after(order, node, &count);
	for (uint32_t i = 0; i < count; i++) {
		if (edges[i] == before)
			return true;
	}
	return false;
}

Test(graph_order, L7_B11_readers_wait_for_the_writer_and_not_for_each_other)
{
	struct graph_order order;
	make_buffers();
	cr_assert(zero(int, graph_order_init(&order, 5, ++stamp)));
	cr_assert(zero(int, add_graph_node(&order, 0,
					   graph_order_requirement_of_whole(ACCESS_MODE_WRITE))));
	cr_assert(zero(int, add_graph_node(&order, 0,
					   graph_order_requirement_of_whole(ACCESS_MODE_READ))));
	cr_assert(zero(int, add_graph_node(&order, 0,
					   graph_order_requirement_of_whole(ACCESS_MODE_READ))));
	cr_assert(zero(int, add_graph_node(&order, 1,
					   graph_order_requirement_of_whole(ACCESS_MODE_READ))));
	cr_assert(zero(int,
		       add_graph_node(&order, 0,
				      graph_order_requirement_of_whole(ACCESS_MODE_READ_WRITE))));
	cr_assert(waits(&order, 1, 0));
	cr_assert(waits(&order, 2, 0));
	cr_assert(not(waits(&order, 2, 1)));
	cr_assert(waits(&order, 4, 1));
	cr_assert(waits(&order, 4, 2));
	cr_assert(not(waits(&order, 4, 3)));
	cr_assert(eq(u32, order.need_count, 2));
	graph_order_fini(&order);
}

/* 0 writes, 1 is a condition with 2 and 3 in its body, 4 reads behind it. */
Test(graph_order, R4_a_condition_stands_for_its_body)
{
	const struct task_requirement change = graph_order_requirement_of_whole(
					      ACCESS_MODE_READ_WRITE),
				      word = graph_order_requirement_of_whole(ACCESS_MODE_READ);
	struct buffer *named = &buffers[0], *of_word = &buffers[1];
	const struct graph_order_node condition = {
		.requirements = &word, .buffers = &of_word, .count = 1};
	const struct graph_order_node foreseen = {
		.requirements = &change, .buffers = &named, .count = 1};
	struct graph_order_node body = foreseen;
	struct graph_order order;
	body.place = 2;
	body.may_do_nothing = true;
	make_buffers();
	cr_assert(zero(int, graph_order_init(&order, 5, ++stamp)));
	cr_assert(zero(int, add_graph_node(&order, 0,
					   graph_order_requirement_of_whole(ACCESS_MODE_WRITE))));
	cr_assert(zero(int, graph_order_foresee(&order, &foreseen)));
	cr_assert(zero(int, graph_order_foresee(&order, &foreseen)));
	cr_assert(zero(int, graph_order_add(&order, &condition)));
	cr_assert(zero(int, graph_order_add(&order, &body)));
	cr_assert(zero(int, graph_order_add(&order, &body)));
	cr_assert(zero(int, add_graph_node(&order, 0,
					   graph_order_requirement_of_whole(ACCESS_MODE_READ))));
	cr_assert(waits(&order, 1, 0), "what the body writes was written before");
	cr_assert(not(waits(&order, 2, 0)));
	cr_assert(not(waits(&order, 2, 1)), "it lies in it");
	cr_assert(waits(&order, 3, 2), "in the body as everywhere");
	cr_assert(waits(&order, 4, 1));
	cr_assert(not(waits(&order, 4, 3)), "what lies in a body is nobody else's");
	cr_assert(eq(u32, order.need_count, 2));
	graph_order_fini(&order);
}

/* The body may not run, so the write may not happen. */
Test(graph_order, R4_what_a_body_writes_anew_is_needed_all_the_same)
{
	const struct task_requirement anew =
		graph_order_requirement_of_whole(ACCESS_MODE_WRITE_NO_INIT);
	struct buffer *named = &buffers[0];
	struct graph_order_node node = {.requirements = &anew, .buffers = &named, .count = 1};
	const struct graph_order_node condition = {.count = 0};
	struct graph_order order;
	make_buffers();
	cr_assert(zero(int, graph_order_init(&order, 3, ++stamp)));
	cr_assert(zero(int, graph_order_foresee(&order, &node)));
	cr_assert(zero(int, graph_order_add(&order, &condition)));
	node.place = 1;
	node.may_do_nothing = true;
	cr_assert(zero(int, graph_order_add(&order, &node)));
	cr_assert(zero(int, add_graph_node(&order, 0,
					   graph_order_requirement_of_whole(ACCESS_MODE_READ))));
	cr_assert(waits(&order, 2, 0));
	cr_assert(access_mode_needs_contents(order.needs[0].requirement.mode));
	graph_order_fini(&order);
}

Test(graph_order, C6_what_is_written_anew_first_is_not_needed)
{
	struct graph_order order;
	make_buffers();
	cr_assert(zero(int, graph_order_init(&order, 4, ++stamp)));
	cr_assert(zero(int, add_graph_node(&order, 0,
					   graph_order_requirement_of_part(
						   ACCESS_MODE_WRITE_NO_INIT, 4, 8))));
	cr_assert(
		zero(int, add_graph_node(&order, 0,
					 graph_order_requirement_of_part(ACCESS_MODE_READ, 4, 8))));
	cr_assert(zero(int, add_graph_node(&order, 0,
					   graph_order_requirement_of_part(ACCESS_MODE_READ_WRITE,
									   6, 2))));
	cr_assert(eq(u32, order.need_count, 1));
	cr_assert(not(access_mode_needs_contents(order.needs[0].requirement.mode)));
	/* A part of it existed before. */
	cr_assert(
		zero(int, add_graph_node(&order, 0,
					 graph_order_requirement_of_part(ACCESS_MODE_READ, 8, 8))));
	cr_assert(eq(u32, order.need_count, 2));
	cr_assert(access_mode_needs_contents(order.needs[1].requirement.mode));
	graph_order_fini(&order);
}

/* The modes of one node are united, in either order. */
Test(graph_order, C1_C2_a_node_that_also_reads_needs_the_contents)
{
	const struct task_requirement both[] = {
		graph_order_requirement_of_whole(ACCESS_MODE_WRITE_NO_INIT),
		graph_order_requirement_of_whole(ACCESS_MODE_READ)};
	struct buffer *named[] = {&buffers[0], &buffers[0]};
	const struct graph_order_node node = {.requirements = both, .buffers = named, .count = 2};
	struct graph_order order;
	make_buffers();
	cr_assert(zero(int, graph_order_init(&order, 1, ++stamp)));
	cr_assert(zero(int, graph_order_add(&order, &node)));
	cr_assert(eq(u32, order.need_count, 1));
	cr_assert(access_mode_needs_contents(order.needs[0].requirement.mode));
	graph_order_fini(&order);
}

Test(graph_order, B22_what_does_nothing_leaves_the_contents_where_they_are)
{
	const struct task_requirement requirement =
		graph_order_requirement_of_whole(ACCESS_MODE_WRITE_NO_INIT);
	struct buffer *named = &buffers[0];
	const struct graph_order_node node = {.requirements = &requirement,
					      .buffers = &named,
					      .count = 1,
					      .may_do_nothing = true};
	struct graph_order order;
	make_buffers();
	cr_assert(zero(int, graph_order_init(&order, 1, ++stamp)));
	cr_assert(zero(int, graph_order_add(&order, &node)));
	cr_assert(access_mode_needs_contents(order.needs[0].requirement.mode));
	graph_order_fini(&order);
}

Test(graph_order, C16_a_buffer_of_no_bytes_orders_too)
{
	struct graph_order order;
	make_buffers();
	buffers[0].size_bytes = 0;
	struct task_requirement nothing = {.mode = ACCESS_MODE_READ_WRITE};
	cr_assert(zero(int, graph_order_init(&order, 2, ++stamp)));
	cr_assert(zero(int, add_graph_node(&order, 0, nothing)));
	cr_assert(zero(int, add_graph_node(&order, 0, nothing)));
	cr_assert(waits(&order, 1, 0));
	graph_order_fini(&order);
}

Test(graph_order, L1_more_parts_than_there_may_be_are_refused)
{
	struct graph_order order;
	int r = 0;
	uint32_t added = 0;
	make_buffers();
	buffers[0].size_bytes = 1 << 20;
	cr_assert(zero(int, graph_order_init(&order, 2 * GRAPH_ORDER_PARTS, ++stamp)));
	while (r == 0 && added < 2 * GRAPH_ORDER_PARTS)
		r = add_graph_node(
			&order, 0,
			graph_order_requirement_of_part(ACCESS_MODE_READ_WRITE, 8ull * added++, 4));
	cr_assert(eq(int, r, -E2BIG));
	cr_assert(eq(u32, added, GRAPH_ORDER_PARTS + 1));
	graph_order_fini(&order);
}

/* ------------------ against the rules, byte by byte ------------------- */

struct model {
	struct task_requirement requirements[NODES][PER_NODE];
	struct buffer *named[NODES][PER_NODE];
	uint32_t counts[NODES];
	bool behind[NODES][NODES]; /* by edges, also through others */
};

static uint64_t random_state;

static uint32_t draw_random(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 33) % below;
}

static struct task_requirement drawn(void)
{
	static const uint32_t modes[] = {ACCESS_MODE_READ, ACCESS_MODE_WRITE,
					 ACCESS_MODE_READ_WRITE, ACCESS_MODE_WRITE_NO_INIT,
					 ACCESS_MODE_READ_WRITE_NO_INIT};
	uint32_t mode = modes[draw_random(5)], begin = draw_random(BYTES),
		 bytes = 1 + draw_random(BYTES - begin);
	if (draw_random(3) == 0)
		return graph_order_requirement_of_whole(mode);
	struct task_requirement requirement = graph_order_requirement_of_part(mode, begin, bytes);
	if (draw_random(2) == 0) /* a ranged accessor orders like the whole buffer */
		requirement.order_offset_bytes = requirement.order_size_bytes = 0;
	return requirement;
}

static void draw_model(struct model *model)
{
	memset(model, 0, sizeof(*model));
	for (uint32_t n = 0; n < NODES; n++) {
		model->counts[n] = 1 + draw_random(PER_NODE);
		for (uint32_t i = 0; i < model->counts[n]; i++) {
			model->named[n][i] = &buffers[draw_random(BUFFERS)];
			model->requirements[n][i] = drawn();
		}
	}
}

static void close_edges(struct model *model, const struct graph_order *order)
{
	for (uint32_t n = 0; n < NODES; n++) {
		for (uint32_t before = 0; before < n; before++) {
			if (!waits(order, n, before))
				continue;
			model->behind[n][before] = true;
			for (uint32_t k = 0; k < before; k++)
				model->behind[n][k] |= model->behind[before][k];
		}
	}
}

static bool conflict(const struct task_requirement *a, const struct task_requirement *b)
{
	uint64_t a_begin = a->order_offset_bytes,
		 a_end = a->order_size_bytes ? a_begin + a->order_size_bytes : BYTES;
	uint64_t b_begin = b->order_offset_bytes,
		 b_end = b->order_size_bytes ? b_begin + b->order_size_bytes : BYTES;
	return a_begin < b_end && b_begin < a_end &&
	       (access_mode_writes(a->mode) || access_mode_writes(b->mode));
}

static bool must_wait(const struct model *model, uint32_t node, uint32_t before)
{
	for (uint32_t i = 0; i < model->counts[node]; i++) {
		for (uint32_t k = 0; k < model->counts[before]; k++) {
			if (model->named[node][i] == model->named[before][k] &&
			    conflict(&model->requirements[node][i],
				     &model->requirements[before][k]))
				return true;
		}
	}
	return false;
}

/* For a byte: the graph's first access, and whether it writes the byte. 0: the graph does not use
 * it. */
static uint32_t first_use(const struct model *model, uint32_t buffer, uint64_t byte,
			  bool *writes_out)
{
	uint32_t first = 0;
	*writes_out = false;
	for (uint32_t n = 0; n < NODES; n++) {
		uint32_t here = 0;
		for (uint32_t i = 0; i < model->counts[n]; i++) {
			const struct task_requirement *requirement = &model->requirements[n][i];
			if (model->named[n][i] == &buffers[buffer] &&
			    byte >= requirement->offset_bytes &&
			    byte < requirement->offset_bytes + requirement->size_bytes)
				here |= requirement->mode;
		}
		*writes_out |= access_mode_writes(here);
		if (first == 0)
			first = here;
	}
	return first;
}

static uint32_t needed(const struct graph_order *order, uint32_t buffer, uint64_t byte)
{
	uint32_t mode = 0;
	for (uint32_t i = 0; i < order->need_count; i++) {
		const struct task_requirement *requirement = &order->needs[i].requirement;
		if (order->needs[i].buffer == buffers[buffer].object.id &&
		    byte >= requirement->offset_bytes &&
		    byte < requirement->offset_bytes + requirement->size_bytes)
			mode |= requirement->mode;
	}
	return mode;
}

static void check_bytes(const struct model *model, const struct graph_order *order)
{
	for (uint32_t buffer = 0; buffer < BUFFERS; buffer++) {
		for (uint64_t byte = 0; byte < BYTES; byte++) {
			bool writes;
			uint32_t first = first_use(model, buffer, byte, &writes),
				 mode = needed(order, buffer, byte);
			cr_assert(eq(int, access_mode_writes(mode), writes));
			if (access_mode_needs_contents(first))
				cr_assert(access_mode_needs_contents(mode),
					  "byte %u is read, and not required", (unsigned)byte);
		}
	}
}

Test(graph_order, L7_B12_C10_it_is_what_follows_byte_by_byte)
{
	static struct model model;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct graph_order order;
		random_state = seed * 0x9e3779b97f4a7c15u;
		make_buffers();
		draw_model(&model);
		cr_assert(zero(int, graph_order_init(&order, NODES, ++stamp)));
		for (uint32_t n = 0; n < NODES; n++) {
			const struct graph_order_node node = {.requirements = model.requirements[n],
							      .buffers = model.named[n],
							      .count = model.counts[n]};
			cr_assert(zero(int, graph_order_add(&order, &node)));
		}
		graph_order_seal(&order);
		close_edges(&model, &order);
		for (uint32_t n = 0; n < NODES; n++) {
			for (uint32_t before = 0; before < n; before++) {
				if (must_wait(&model, n, before))
					cr_assert(model.behind[n][before],
						  "seed %u: node %u does not wait for %u",
						  (unsigned)seed, n, before);
			}
		}
		check_bytes(&model, &order);
		graph_order_fini(&order);
	}
}
