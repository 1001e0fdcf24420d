// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions that this machine's headers and static libraries call and that glibc 2.28 does not
// have. They are linked, hidden, into the files that need them (docs/design/wheel.md). <sys/stat.h> is not
// included, because its declarations are those of a newer glibc.
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// glibc 2.32. Zero means that the program may have more than one thread, which is always safe; it
// only makes reference counts atomic before the first thread starts.
char __libc_single_threaded = 0;

// glibc 2.30.
pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

// glibc 2.30. The deadline is converted to the wall clock, so a change of its time during the wait
// shortens or lengthens the wait. Callers check their own clock again (std::condition_variable
// does).
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* deadline) {
  enum { kSecond = 1000000000 };
  struct timespec now;
  struct timespec wall;
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &wall) != 0)
    return 22;  // EINVAL
  wall.tv_sec += deadline->tv_sec - now.tv_sec;
  wall.tv_nsec += deadline->tv_nsec - now.tv_nsec;
  if (wall.tv_nsec < 0) {
    wall.tv_nsec += kSecond;
    --wall.tv_sec;
  } else if (wall.tv_nsec >= kSecond) {
    wall.tv_nsec -= kSecond;
    ++wall.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &wall);
}

// glibc 2.33; before, each was an inline function of the header that called one of these, with the
// version of the struct.
struct stat;
extern int __xstat(int version, const char* path, struct stat* result);
extern int __lxstat(int version, const char* path, struct stat* result);
extern int __fxstat(int version, int file, struct stat* result);
extern int __fxstatat(int version, int folder, const char* path, struct stat* result, int flags);
enum { kVersion = 1 };  // _STAT_VER of x86-64
int stat(const char* path, struct stat* result) { return __xstat(kVersion, path, result); }
int lstat(const char* path, struct stat* result) { return __lxstat(kVersion, path, result); }
int fstat(int file, struct stat* result) { return __fxstat(kVersion, file, result); }
int fstatat(int folder, const char* path, struct stat* result, int flags) {
  return __fxstatat(kVersion, folder, path, result, flags);
}
// The same structs and functions, on x86-64.
int stat64(const char* path, struct stat* result) __attribute__((alias("stat")));
int lstat64(const char* path, struct stat* result) __attribute__((alias("lstat")));
int fstat64(int file, struct stat* result) __attribute__((alias("fstat")));
int fstatat64(int folder, const char* path, struct stat* result, int flags)
    __attribute__((alias("fstatat")));
