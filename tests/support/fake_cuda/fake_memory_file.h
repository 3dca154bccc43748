/* Memory of devices that several processes share. The caller holds the lock of the double. */
#ifndef SYCL_FAKE_MEMORY_FILE_H
#define SYCL_FAKE_MEMORY_FILE_H

#include <stddef.h>

/* From now on the file `memory` in that folder is used. */
void fake_memory_file_open(const char *folder);
/* Reports that the memory in use by this process has changed. */
void fake_memory_file_note(int device);
/* Returns the bytes that other processes have in use, 0 if nothing is shared. */
size_t fake_memory_file_others(int device);

#endif
