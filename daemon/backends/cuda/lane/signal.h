/*
 * Signals. Of a chain only the end is reported, by its last node. But a thread may wait for a
 * command within the chain, and a kernel behind it may take much longer than it did lately. So
 * behind such a command goes a launch of the backend's own kernel sycl_signal: the command is
 * reported when it ends, however long those behind it take (B18, H9).
 *
 * The kernel counts the signals of its lane, in order. The host keeps the value that each count
 * stands for. So the kernel's arguments are always the same, and a chain with signals that is sent
 * again as it was needs no setting. Device thread.
 */
#ifndef SYCL_BACKENDS_CUDA_SIGNAL_H
#define SYCL_BACKENDS_CUDA_SIGNAL_H

#include "cuda/lane/lane.h"

/* A lane begins, with nothing of it on its way. */
void cuda_signals_begin(struct cuda_lane_state *state);
/*
 * Called before a launch of `command` is collected. If the command before it must be reported by
 * itself, collects a signal, or without room for one has the chain end there. `is_early`: nothing
 * may be between the two.
 */
void cuda_signal_collect(struct cuda_lane_state *state, const struct backend_command *command,
			 bool is_early);
/* A signal is on the stream. All commands up to `value` are complete when it is counted. */
void cuda_signal_sent(struct cuda_lane_state *state, uint32_t value);

#endif
