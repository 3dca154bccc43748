/* The engine's turn, and the bells by which sessions request one. Front thread. */
#ifndef SYCL_ENGINE_ENGINE_TURN_H
#define SYCL_ENGINE_ENGINE_TURN_H

#include <stdbool.h>

struct engine;
struct session;

void engine_turn_start(struct engine *engine);
/* A write to this eventfd makes the session hot; without a session it wakes the loop. 0 or a
 * negative errno. */
int engine_add_bell(struct engine *engine, int bell, struct session *session);
void engine_remove_bell(struct engine *engine, int bell);

/* end.c: true if the engine is to end and has nothing left to do. */
bool engine_finished(const struct engine *engine);

#endif
