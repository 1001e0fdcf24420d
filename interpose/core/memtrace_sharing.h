/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory for other processes and cards (mode ALLOCATE). A part of memtrace.h, whose rules hold here
 * too.
 */
#ifndef MEMTRACE_INTERPOSE_CORE_MEMTRACE_SHARING_H_
#define MEMTRACE_INTERPOSE_CORE_MEMTRACE_SHARING_H_

#include "interpose/core/memtrace_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A block's description, with which another process of the same user on this machine can map it:
 * plain bytes, to be sent as they are. Equal bytes are the same memory. */
struct memtrace_shared_block {
  uint32_t size;
  int32_t device;
  uint64_t address;     /* where the block begins */
  uint64_t base, bytes; /* of the chunks under it */
  uint64_t serial;
  char owner[64];
};
/* Describes the block in use that contains `address`. MEMTRACE_UNSUPPORTED if its memory comes from
 * a pool's own source. The block must stay in use until the other process has opened it. The first
 * call starts a thread, which answers processes that open blocks. */
MEMTRACE_API int memtrace_share_block(const void* address, struct memtrace_shared_block* block);
/* Maps the block for a card of this process; *address is then where `base` is mapped. */
MEMTRACE_API int memtrace_open_block(const struct memtrace_shared_block* block, int device,
                                     void** address);
/* Waits for the card, then unmaps. */
MEMTRACE_API int memtrace_close_block(void* address);

/* From now on, lets card `peer` read and write all of card `device`'s memory, if they can reach
 * each other. */
MEMTRACE_API int memtrace_admit_peer(int device, int peer);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MEMTRACE_INTERPOSE_CORE_MEMTRACE_SHARING_H_ */
