/* Messages from engines (proto/control.proto): read, checked, and passed to the part that each is
 * for. */
#ifndef SYCLD_SUPERVISOR_ENGINE_RECEIVE_H
#define SYCLD_SUPERVISOR_ENGINE_RECEIVE_H

struct engine;

/*
 * Reads at most `most` messages of the engine and acts on them; never waits. A closed socket leads
 * to engine_control_lost, a message that breaks the rules to engine_kill. Neither frees `engine`.
 */
void engine_receive(struct engine *engine, unsigned most);

#endif
