/*
 * Chain templates: executable graphs of 1, 2, 4, 8 or 16 kernels in a row and the completion word.
 * They are made once per lane, and a few of other lengths when those occur often. A stretch of
 * launches between two waits of a client is then one launch of a graph. Their functions, grids,
 * arguments and values are set at each launch. One launch of a chain costs little more than one
 * launch of a kernel, and a memset node is the quickest sign of its end.
 *
 * The driver must never use an unloaded function. The graph only has the nodes: it is made of an
 * empty kernel that lives as long as the device. The executable's nodes name the kernels that ran
 * in them last, and keep their code loaded until they are set again. They are set back to the empty
 * kernel when nothing else holds that code (backend_device.on_abandoned).
 */
#ifndef SYCL_BACKENDS_CUDA_CHAIN_H
#define SYCL_BACKENDS_CUDA_CHAIN_H

#include "cuda/lane/lane.h"

/* True if the driver has all that chains need. */
bool cuda_chains_are_possible(const struct cuda_library *library);
/*
 * lane/own_kernels.c: the backend's own kernels, in PTX: sycl_blank, sycl_fill, sycl_copy and
 * sycl_signal. `waits`: the last three wait for the kernels before it, which needs
 * CUDA_OVERLAP_COMPUTE_MAJOR.
 */
const char *cuda_own_ptx(bool waits);
/* Loads the backend's own kernels for this device, with the context current. NULL: they cannot be
 * loaded. */
CUmodule cuda_own_load(const struct backend *backend, const struct cuda_device_facts *facts);
/*
 * Finds the empty kernel, without which there are no chains, and the kernels for fills and copies.
 */
void cuda_chains_open(struct backend_device *device);
void cuda_chains_close(struct backend_device *device);

/*
 * Lets the kernel `node` begin while the kernel `before` ends. Every kernel that runs in `node`
 * must wait by itself (program/ptx_wait.h): the driver starts it before the writes of `before` are
 * visible.
 */
CUresult cuda_chain_overlap(const struct cuda_library *cu, CUgraph graph, CUgraphNode before,
			    CUgraphNode node);

/* Makes the templates that a lane will need, so that no launch has to make them. If the device has
 * work, they are made in the next quiet moment. A template that cannot be made is marked broken. */
void cuda_chains_want(struct cuda_lane_state *state);
/* True if requested chains are worth a moment in which commands are held back for them. */
bool cuda_chains_are_due(struct cuda_lanes *lanes);
/* lane/hold.c: the longest time that they may be held back for; 0: not now. */
uint64_t cuda_chains_hold_ns(const struct cuda_lanes *lanes);
/* A quiet moment: nothing is in flight. Makes some of the requested chains. */
void cuda_chains_make_wanted(struct backend_device *device);
void cuda_chains_free(struct cuda_lane_state *state);

/*
 * May these launches go as one chain? Powers of two always may. A chain of another length must be
 * there: one that occurs often is made when nothing is in flight anyway. Called before each send.
 */
bool cuda_chain_has(struct cuda_lane_state *state, const struct cuda_collected *launches,
		    uint32_t count);
/* The same, but requests none. */
bool cuda_chain_is_there(const struct cuda_lane_state *state, const struct cuda_collected *launches,
			 uint32_t count);
/*
 * Send `count` launches, of which cuda_chain_has is true, and have `value` written to the lane's
 * word; the last launch may have a direct completion. -EAGAIN: nothing was sent, send them plainly.
 * -EIO: the device is lost.
 */
int cuda_chain_send(struct cuda_lane_state *state, const struct cuda_collected *launches,
		    uint32_t count, uint32_t value);
/*
 * Send one launch, without a direct completion, to a lane that has nothing on its way, and have
 * that marked: `value` has been reached then (mark.h). Results as above; without this template, or
 * while its mark is on its way, -EAGAIN.
 */
int cuda_chain_send_lone(struct cuda_lane_state *state, const struct cuda_collected *launch,
			 uint32_t value);

/* Between chain.c, which makes templates, and chain_send.c: */

/* True if the node has this launch already, so that nothing has to be set. */
bool cuda_chain_has_launch(const struct cuda_chain *chain, uint32_t index,
			   const struct cuda_collected *launch);
/* The level of the template with so many launches, or of the next shorter one. */
uint32_t cuda_chain_level(uint32_t count);
/* The node that writes the lane's word. */
CUDA_MEMSET_NODE_PARAMS cuda_chain_word(CUdeviceptr address, uint32_t value);
void cuda_chain_make_level(struct cuda_lane_state *state, uint32_t level,
			   enum cuda_chain_form form);
/* A node that could not be set keeps what it has. Most programs launch the same thing again, which
 * spares a call. */
CUresult cuda_chain_set_kernel(const struct cuda_library *cu, struct cuda_chain *chain,
			       uint32_t index, const struct cuda_collected *launch);

/* Returns the launch as parameters of a graph's node, which point into the same storage. */
CUDA_KERNEL_NODE_PARAMS cuda_launch_node(const struct cuda_launch *launch);

#endif
