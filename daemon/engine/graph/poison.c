/* Poisons the contents that nodes which do not run would have written (group/poison.c). */
#include "graph/run.h"
#include "group/check.h"
#include "session/session.h"

void graph_poison_nodes(struct session *session, const struct graph *graph, uint32_t first,
			const struct backend_fault *fault)
{
	struct group_poisoning poisoning = group_poisoning_begin(session, fault, true);
	for (uint32_t i = first; i < graph->node_count; i++) {
		const Sycl__V1__CommandGroup *node = graph->nodes[i].group;
		for (size_t k = 0; k < node->n_requirements; k++)
			group_poisoning_add(&poisoning, node->requirements[k]);
		poisoning.parts += 1 + (uint32_t)node->n_requirements;
	}
	group_poisoning_end(&poisoning);
}
