/*
 * The supervisor's end of an engine: sessions come in, reports go out (control.proto). When the
 * supervisor ends, the engine goes on until its last session ends, and waits for the next
 * supervisor. It reports its state to that one, which may take it over. Front thread.
 */
#ifndef SYCL_ENGINE_CONTROL_H
#define SYCL_ENGINE_CONTROL_H

#include "cleanup.h"
#include "process/engine.h"

struct control;

/* Takes the socket, also on failure; sends EngineReady with the flight page. 0 or a negative errno.
 */
int control_create(struct engine *engine, int socket, struct control **control_out);
/* True if the present supervisor reads the flight page at the hang-up, and handles the process of a
 * lost engine. */
bool control_is_followed(const struct control *control);
/* Reports to the supervisor at once that this engine takes no more sessions. */
void control_hang_up(struct control *control);
/* After engine_run and before engine_free. Accepts NULL, returns NULL. */
struct control *control_free(struct control *control);
DEFINE_CLEANUP(control)

#endif
