/* What engines send (proto/control.proto): read, checked, and passed to the file it is about. */
#ifndef SYCLD_SUPERVISOR_ENGINE_RECEIVE_H
#define SYCLD_SUPERVISOR_ENGINE_RECEIVE_H

struct engine;

/*
 * Read and act on what the engine has sent, `most` messages at most. It may end in
 * engine_control_lost or engine_kill; the engine itself stays.
 */
void engine_receive(struct engine *engine, unsigned most);

#endif
