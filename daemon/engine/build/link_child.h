/*
 * The helper's side of build/linker.h: one object file after the other is made a shared library by
 * the system's linker. The object is hostile. The linker is given no name, option or library by the
 * engine.
 */
#ifndef SYCL_ENGINE_BUILD_LINK_CHILD_H
#define SYCL_ENGINE_BUILD_LINK_CHILD_H

#include <limits.h>
#include <stdbool.h>

#define BUILD_LINK_NS 20000000000ull /* most time of a linker */

/* Comes with the library's descriptor, or with the cause. */
struct build_link_answer {
	char text[256];
};

/* 1, an object, which the caller closes, and the folder to work in, "" if there is none; 0:
 * hang-up; a negative errno: nothing to do. */
int build_link_receive(int socket, int *object_out, char parent_out[PATH_MAX]);

/* In a child of the helper: becomes the linker, which writes into the folder. */
_Noreturn void build_link_run(int object, const char *folder);

/* Sends what build_link_run has made in the folder, if it is `linked`, or why there is nothing. */
void build_link_answer(int socket, bool linked, const char *folder);

#endif
