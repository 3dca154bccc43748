/* The part of `worker chaos` that uses more memory than a device has, together with other clients
 * or alone. */
#include "processes/programs/chaos.h"

enum { OPERATIONS_MAX = 12 };

sycl_result chaos_pieces_begin(struct chaos *chaos, uint32_t count)
{
	sycl_result r = 0;
	for (uint32_t i = 0; i < count && r == 0; i++) {
		chaos->pieces[i] = (struct chaos_piece){.buffer = NULL};
		r = sycl_buffer_create(chaos->platform, NULL, CHAOS_PIECE_BYTES, SYCL_HOST_NONE,
				       &chaos->pieces[i].buffer);
		chaos->piece_count += r == 0;
	}
	return r;
}

void chaos_pieces_end(struct chaos *chaos)
{
	for (uint32_t i = 0; i < chaos->piece_count; i++)
		(void)sycl_buffer_release(chaos->pieces[i].buffer);
	chaos->piece_count = 0;
}

static sycl_result fill_piece(struct chaos *chaos, struct chaos_piece *piece)
{
	uint32_t word = worker_random(chaos->worker, 1u << 30);
	piece->written = true;
	piece->contents = (struct chaos_contents){word, word};
	return sycl_queue_fill(chaos->queue, piece->buffer, 0, CHAOS_PIECE_BYTES, &word,
			       sizeof(word), NULL);
}

static sycl_result add_to_piece(struct chaos *chaos, struct chaos_piece *piece)
{
	sycl_handler handler = NULL;
	uint32_t n = worker_random(chaos->worker, 1000);
	piece->contents.first += n;
	sycl_result r = chaos_add(chaos, piece->buffer, n, &handler);
	return r ? r : sycl_handler_submit(handler, NULL);
}

static sycl_result copy_piece(struct chaos *chaos, const struct chaos_piece *from,
			      struct chaos_piece *to)
{
	to->written = true;
	to->contents = from->contents;
	return sycl_queue_copy(chaos->queue, from->buffer, 0, to->buffer, 0, CHAOS_PIECE_BYTES,
			       NULL);
}

static sycl_result check_piece(struct chaos *chaos, const struct chaos_piece *piece)
{
	chaos->did.pieces++;
	return chaos_look(piece->buffer, CHAOS_PIECE_BYTES, piece->contents);
}

static sycl_result operate(struct chaos *chaos)
{
	struct chaos_piece *piece =
		&chaos->pieces[worker_random(chaos->worker, chaos->piece_count)];
	struct chaos_piece *other =
		&chaos->pieces[worker_random(chaos->worker, chaos->piece_count)];
	if (!piece->written)
		return fill_piece(chaos, piece);
	switch (worker_random(chaos->worker, 5)) {
	case 0:
		return fill_piece(chaos, piece);
	case 1:
		return piece == other ? 0 : copy_piece(chaos, piece, other);
	case 2:
		return check_piece(chaos, piece);
	default:
		return add_to_piece(chaos, piece);
	}
}

sycl_result chaos_pieces_round(struct chaos *chaos)
{
	uint32_t operations = 1 + worker_random(chaos->worker, OPERATIONS_MAX);
	sycl_result r = 0;
	for (uint32_t i = 0; i < operations && r == 0; i++)
		r = operate(chaos);
	/* This piece was not used for long, because pieces are chosen at random. So it may have
	 * left the device. */
	struct chaos_piece *last = &chaos->pieces[worker_random(chaos->worker, chaos->piece_count)];
	return r || !last->written ? r : check_piece(chaos, last);
}
