/*
 * Folders that one process has for itself while it needs them. Of one whose process was killed the
 * next to be made in the same place finds that nobody holds its lock, and removes it.
 */
#ifndef SYCL_SHARED_PRIVATE_FOLDER_H
#define SYCL_SHARED_PRIVATE_FOLDER_H

#include <stddef.h>

struct private_folder {
	char *path; /* absolute if the parent is; NULL: none */
	int lock;   /* held as long as anybody has this descriptor open */
};

#define PRIVATE_FOLDER_NONE ((struct private_folder){NULL, -1})

/*
 * Make a folder in `parent` that only this user may enter, named PREFIX-MACHINE-XXXXXX; others
 * there that are named so, are this user's alone and are held by nobody go. Of another machine's,
 * or of this one's before it was started anew, nobody can tell who holds them: they go when they
 * are a month old. In a parent that others can write, unless it is sticky as /tmp, it would not
 * stay private. `parent` NULL: where temporary files go. To be removed with
 * private_folder_remove(). Works on files, which may take as long as these do, and waits for no
 * other process. Any thread. 0 or negative errno; the output is untouched on failure.
 */
int private_folder_make(const char *parent, const char *prefix, struct private_folder *folder_out);

/* Remove it with all that is in it, and free it. Nothing for PRIVATE_FOLDER_NONE. What cannot be
 * removed goes another time. */
void private_folder_remove(struct private_folder *folder);

#endif
