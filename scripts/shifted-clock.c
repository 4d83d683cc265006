/*
 * A library that is preloaded: the programs that run with it live OFFSET seconds from now. Times of files go along, as a
 * program compares them with its clock; the monotonic clock, by which durations are measured, does not. Node asks the kernel
 * for times of files by syscall(), and C programs by the functions of stat.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* What the C library has under a name, found once. */
#define NEXT(name) \
  static __typeof__(&name) next; \
  if (!next) next = dlsym(RTLD_NEXT, #name)

int clock_gettime(clockid_t clock, struct timespec *now) {
  NEXT(clock_gettime);
  int status = next(clock, now);
  if (status == 0 && now && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += OFFSET;
  return status;
}

int gettimeofday(struct timeval *now, void *zone) {
  NEXT(gettimeofday);
  int status = next(now, zone);
  if (status == 0 && now) now->tv_sec += OFFSET;
  return status;
}

time_t time(time_t *seconds) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds) *seconds = now.tv_sec;
  return now.tv_sec;
}

/* Files seen by a program. */

#define SHIFT_STAT(file) \
  ((file)->st_mtim.tv_sec += OFFSET, (file)->st_atim.tv_sec += OFFSET, (file)->st_ctim.tv_sec += OFFSET)

#define STAT(name, parameters, ...) \
  int name parameters { \
    NEXT(name); \
    int status = next(__VA_ARGS__); \
    if (status == 0) SHIFT_STAT(file); \
    return status; \
  }

STAT(stat, (const char *path, struct stat *file), path, file)
STAT(lstat, (const char *path, struct stat *file), path, file)
STAT(fstat, (int descriptor, struct stat *file), descriptor, file)
STAT(fstatat, (int folder, const char *path, struct stat *file, int flags), folder, path, file, flags)
STAT(stat64, (const char *path, struct stat64 *file), path, file)
STAT(lstat64, (const char *path, struct stat64 *file), path, file)
STAT(fstat64, (int descriptor, struct stat64 *file), descriptor, file)
STAT(fstatat64, (int folder, const char *path, struct stat64 *file, int flags), folder, path, file, flags)

static void shift_statx(struct statx *file) {
  file->stx_mtime.tv_sec += OFFSET;
  file->stx_atime.tv_sec += OFFSET;
  file->stx_ctime.tv_sec += OFFSET;
  file->stx_btime.tv_sec += OFFSET;
}

int statx(int folder, const char *path, int flags, unsigned mask, struct statx *file) {
  NEXT(statx);
  int status = next(folder, path, flags, mask, file);
  if (status == 0) shift_statx(file);
  return status;
}

long syscall(long number, ...) {
  NEXT(syscall);
  long of[6];
  va_list list;
  va_start(list, number);
  for (int at = 0; at < 6; at++) of[at] = va_arg(list, long);
  va_end(list);
  long status = next(number, of[0], of[1], of[2], of[3], of[4], of[5]);
  if (number == SYS_statx && status == 0) shift_statx((struct statx *)of[4]);
  return status;
}

/* Files stamped by a program. */

static const struct timespec *unshifted(const struct timespec from[2], struct timespec to[2]) {
  if (!from) return 0;
  for (int at = 0; at < 2; at++) {
    to[at] = from[at];
    if (from[at].tv_nsec != UTIME_NOW && from[at].tv_nsec != UTIME_OMIT) to[at].tv_sec -= OFFSET;
  }
  return to;
}

int utimensat(int folder, const char *path, const struct timespec times[2], int flags) {
  NEXT(utimensat);
  struct timespec to[2];
  return next(folder, path, unshifted(times, to), flags);
}

int futimens(int descriptor, const struct timespec times[2]) {
  NEXT(futimens);
  struct timespec to[2];
  return next(descriptor, unshifted(times, to));
}
