/*
 * Graphs that are launched again and again. Once launches in a row were alike, the task of one is
 * kept when it has ended well, and submitted again (scheduler/public/kept.h). What is checked for
 * any launch of an instance is checked for this one, too; only what the nodes require is known.
 */
#include "graph/instance_internal.h"

#include "scheduler/public/kept.h"
#include "session/session.h"

#define KEPT_GRAPH_TIMES 3u  /* launches in a row that are alike */
#define KEPT_GRAPHS_MOST 64u /* of a session: their tasks are memory */

void graph_instance_forget_kept(struct graph *graph)
{
	struct graph_instance *instance = graph->instance;
	graph->object.session->kepts.graphs -= instance->kept != NULL;
	instance->kept = sched_kept_drop(instance->kept);
	instance->kept_queue = NULL;
	instance->alike = 0;
}

bool graph_instance_may_keep(const struct graph_instance_launch *launch)
{
	const struct session *session = launch->session;
	const struct queue *queue = launch->queue;
	struct graph_instance *instance = launch->graph->instance;
	if (session->engine->never_keep_graphs || queue->profiling || queue->has_native_lane ||
	    queue->lane_is_known || launch->failed_dependency)
		return false;
	if (instance->kept_queue != queue || instance->kept_objects != session->objects_changed) {
		graph_instance_forget_kept(launch->graph);
		instance->kept_queue = queue;
		instance->kept_objects = session->objects_changed;
	}
	instance->alike += instance->alike < KEPT_GRAPH_TIMES;
	return instance->alike == KEPT_GRAPH_TIMES || session->engine->keeps_at_once;
}

void graph_instance_keep(const struct graph_instance_launch *launch, struct task *task)
{
	struct session_kepts *kepts = &launch->session->kepts;
	struct graph_instance *instance = launch->graph->instance;
	if (!instance->kept && kepts->graphs < KEPT_GRAPHS_MOST) {
		instance->kept = sched_kept_create();
		kepts->graphs += instance->kept != NULL;
	}
	if (instance->kept)
		(void)sched_kept_watch(instance->kept, task);
}
