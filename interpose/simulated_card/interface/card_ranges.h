/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_RANGES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_RANGES_H_

/* Tells which bytes of device memory are known, and gives their values, to compute true values on a
 * card whose kernels do not run (interpose/torch/host_values). C functions of our libcuda.so.1, to
 * be found like those of card_control.h; a real one has none of them.
 *
 * The card itself knows what the host writes: copies and fills make bytes known, and copies on the
 * card also copy their state. It cannot know what a kernel writes. So a launch makes the blocks
 * that the kernel was given unknown (kernel_writes.h), unless the launching thread is inside an
 * operator whose caller accounts for its writes (memtrace_card_thread). A graph's launch, and that
 * of a kernel whose parameters are not known, makes every block unknown.
 *
 * Addresses are device addresses, sizes are in bytes. Any function may be called from any thread;
 * none throws or calls back into CUDA. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): C names. */

enum memtrace_card_known {
  MEMTRACE_CARD_UNKNOWN = 0, /* never written, or a kernel that did not run may have written it */
  MEMTRACE_CARD_ASSUMED = 1, /* follows from an answer that was made up, and counted */
  MEMTRACE_CARD_KNOWN = 2    /* as on a GPU */
};

enum { MEMTRACE_CARD_BY_BYTE = -1 }; /* a value of `delivers` below */

/* Returns the weakest state of the bytes; UNKNOWN for an address that is not mapped. */
int memtrace_card_known_at(uint64_t address, uint64_t bytes);

/* Writes the state of each byte into states[bytes]. */
void memtrace_card_read_known(uint64_t address, uint64_t bytes, char* states);

/* Sets the state of the bytes. Does nothing where nothing is mapped. */
void memtrace_card_set_known(uint64_t address, uint64_t bytes, int known);

/* Makes the bytes zero and known, without cost in the host's memory. Returns 1 if done. */
int memtrace_card_clear(uint64_t address, uint64_t bytes);

/* Tells that an allocator hands out the block: its old contents become unknown, and a kernel that
 * gets an address in it may write all of it. */
void memtrace_card_hand_out(uint64_t address, uint64_t bytes);

/* Copies the bytes to or from the host, in any state and without counting it as the program's copy.
 * Writing does not make them known. Returns 1 if done, 0 if the range is not mapped or the host
 * cannot hold it. */
int memtrace_card_read(uint64_t address, uint64_t bytes, void* to);
int memtrace_card_write(uint64_t address, uint64_t bytes, const void* from);

/* State that the calling thread and the card share. Both write it, only on that thread. */
struct memtrace_card_thread_state {
  uint32_t size; /* set by the card */
  uint32_t
      operators; /* nesting; > 0: the caller accounts for the writes of this thread's kernels */
  /* Inside an operator, the state of its copies to the host: a memtrace_card_known. If UNKNOWN,
   * they deliver zeros instead of a block's old contents, so that a run can be repeated. BY_BYTE:
   * zeros only for the bytes that the card does not know (up to 1 MiB; for more, for all). */
  int32_t delivers;
  uint32_t answer_bytes; /* > 0: the next copy to the host of exactly that many bytes delivers */
  uint64_t answer;       /* these (at most 8) and counts as none; the card then sets it to 0 */
  uint64_t reads[3];     /* copies to the host by their state; the card counts */
  uint64_t writes;       /* copies and fills of device memory; the card counts */
};

/* Returns the calling thread's state; valid until the thread ends. */
struct memtrace_card_thread_state* memtrace_card_thread(void);

/* Gives the number of copies to the host, by their state, for all threads. */
void memtrace_card_reads(uint64_t reads[3]);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif /* MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_RANGES_H_ */
