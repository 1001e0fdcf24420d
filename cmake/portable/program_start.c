// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The first code of a program (Scrt1.o). The one of glibc 2.34 and newer leaves the program's
// constructors to __libc_start_main, which before 2.34 called only the functions it was given. With
// these two functions, both versions do the same.
typedef void Constructor(int count, char** arguments, char** environment);

extern Constructor* __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor* __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void);

__attribute__((used)) static void Initialize(int count, char** arguments, char** environment) {
  _init();
  for (Constructor** each = __init_array_start; each != __init_array_end; ++each)
    (*each)(count, arguments, environment);
}

// The dynamic linker calls the destructors.
__attribute__((used)) static void Finish(void) {}

// Follows the ABI of x86-64: the stack holds the count and the arguments, and rdx the function to
// call at exit.
__asm__(
    ".pushsection .text\n"
    ".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "  .cfi_startproc\n"
    "  .cfi_undefined rip\n"
    "  endbr64\n"
    "  xor %ebp, %ebp\n"
    "  mov %rdx, %r9\n"
    "  pop %rsi\n"
    "  mov %rsp, %rdx\n"
    "  and $-16, %rsp\n"
    "  push %rax\n"
    "  push %rsp\n"
    "  lea Finish(%rip), %r8\n"
    "  lea Initialize(%rip), %rcx\n"
    "  mov main@GOTPCREL(%rip), %rdi\n"
    "  call *__libc_start_main@GOTPCREL(%rip)\n"
    "  hlt\n"
    "  .cfi_endproc\n"
    ".size _start, . - _start\n"
    ".popsection\n"
    ".pushsection .data\n"
    ".globl __data_start\n"
    "__data_start: .long 0\n"
    ".weak data_start\n"
    ".set data_start, __data_start\n"
    ".popsection\n");

__attribute__((section(".rodata"), visibility("default"))) const int _IO_stdin_used = 0x20001;
