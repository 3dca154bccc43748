/* Messages from engines (proto/control.proto): read, checked, and passed to the part that each is
 * for. */
#ifndef SYCLD_SUPERVISOR_ENGINE_RECEIVE_H
#define SYCLD_SUPERVISOR_ENGINE_RECEIVE_H

struct engine;

/*
 * Read the engine's messages and act on them, `most` at most. It may end in engine_control_lost or
 * engine_kill; the engine itself stays.
 */
void engine_receive(struct engine *engine, unsigned most);

#endif
