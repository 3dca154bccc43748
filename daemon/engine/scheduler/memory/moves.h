/*
 * Moves: the tasks that bring a piece of a buffer's contents from one place to another one (front
 * thread). residency.c decides which moves are made.
 */
#ifndef SYCL_ENGINE_SCHED_MOVES_H
#define SYCL_ENGINE_SCHED_MOVES_H

#include <stdbool.h>
#include <stdint.h>

struct backend_command;
struct interval;
struct sched_buffer;
struct sched_piece;
struct scheduler_device;
struct task;

/* The place that a move takes the piece from: its home if valid there, else the host if valid. */
uint32_t sched_move_source(const struct sched_buffer *buffer, const struct sched_piece *piece);
/*
 * The largest number of steps that a move may need. Two devices may need two: whether the source is
 * spilled, and so moves by way of the host, is known only when the move is made.
 */
uint32_t sched_move_steps(uint32_t from, uint32_t to);
/* An unfinished move that brings the piece to this place; NULL: there is none. */
struct task *sched_move_open_to(const struct sched_buffer *buffer, const struct sched_piece *piece,
				uint32_t place);
/*
 * Makes and submits the move, in one or two steps, and returns its last task. `beneficiary`: the
 * task that is charged for it and fails with it, or NULL. All memory was reserved before.
 */
struct task *sched_moves_make(struct task *beneficiary, struct sched_buffer *buffer,
			      struct sched_piece *piece, uint32_t from, uint32_t to);
/* The host range of the buffer is registered with the device. */
bool sched_move_is_direct(struct sched_buffer *buffer, const struct scheduler_device *device);
/* The command that takes the bytes from the device to the host. */
void sched_move_fill_read(struct backend_command *backend, const struct sched_buffer *buffer,
			  const struct interval *bytes);
/*
 * The bytes come from the device to the host for an access that keeps later writers off. They may
 * be of a piece that a later task has written by now.
 */
struct task *sched_move_make_late(struct task *beneficiary, struct sched_buffer *buffer,
				  const struct interval *bytes,
				  const struct scheduler_device *device);

#endif
