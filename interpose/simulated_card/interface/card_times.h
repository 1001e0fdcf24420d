/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_TIMES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_TIMES_H_

/* Tells how fast a card of that kind works, so that the time of a step can be estimated
 * (interpose/torch/step_time). A C function of our libcuda.so.1, to be found like those of
 * card_control.h; the card itself keeps no time. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): C names. As stat(2) does, the function and the struct
 * that it fills share a name. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

/* Floating-point operations, or bytes, in a microsecond, as programs reach them; the fields after
 * `size` are written by the card. */
struct memtrace_card_times {
  uint32_t size;        /* sizeof(struct memtrace_card_times), set by the caller */
  uint32_t is_measured; /* 0: in proportion to the data sheets, from a card that was measured */
  double memory;        /* bytes read or written by kernels */
  /* Products of matrices. */
  double bfloat16;
  double float16;
  double tf32;
  double float32;
  double unaligned; /* of 16 bits, with rows of no multiple of 16 bytes */
  /* Fused attention with heads of 128, at endless length. */
  double flash;
  double flash_backward;
  double cudnn;
  double cudnn_backward;
  double efficient;
  double efficient_backward;
  /* Convolutions of 16 bits, and of fp32 as tf32. */
  double convolution16;
  double convolution32;
  /* Bytes between host and card, from or to pinned and pageable memory. */
  double pinned;
  double pageable_small; /* below 32 MiB, either way */
  double pageable_to_card;
  double pageable_to_host;
  /* Bytes that a card sends to others, of its machine and of another one. */
  double link;
  double network;
};

/* Fills *times. A card that was given by its size has those of an H100, which are not measured
 * then. Returns a memtrace_card_result. */
int memtrace_card_times(int device, struct memtrace_card_times* times);

#pragma GCC diagnostic pop
/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif /* MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_TIMES_H_ */
