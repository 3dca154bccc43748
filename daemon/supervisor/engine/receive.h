/* Reads and checks messages from engines (proto/control.proto), and passes each to the part that
 * handles it. */
#ifndef SYCLD_SUPERVISOR_ENGINE_RECEIVE_H
#define SYCLD_SUPERVISOR_ENGINE_RECEIVE_H

struct engine;

/* Reads at most `most` messages of the engine and acts on them; never waits. A closed socket leads
 * to engine_control_lost, an invalid message to engine_kill. Neither frees `engine`. */
void engine_receive(struct engine *engine, unsigned most);

#endif
