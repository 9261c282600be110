/* Lets calls of the C library fail, from outside the program (LD_PRELOAD).
 *
 * Counted are calls that open, read, write, resize, sync, rename or remove files below one folder.
 * The n-th of them fails once (TORTURE_ONCE), or every writing one from the n-th on
 * (TORTURE_FROM); or half of its bytes are written, and then it fails (TORTURE_TORN) or the process
 * is killed (TORTURE_DIE). The clock can jump at its n-th reading. Only the program itself is
 * affected: its children do not inherit LD_PRELOAD. Counts are in a shared file, so that they
 * survive a kill. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct counts {
  _Atomic uint64_t calls, faults, clock_calls, jumps;
};
enum mode { ONCE, FROM, TORN, DIE };
enum access { READS, WRITES };

static struct counts *counts;
static const char *folder;
static size_t folder_length;
static uint64_t fault_at, jump_at;
static int64_t jump;
static int error_number;
static enum mode mode;

static uint64_t number(const char *name) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void) {
  char program[PATH_MAX];
  const char *wanted = getenv("TORTURE_PROGRAM"), *file = getenv("TORTURE_COUNTS"), *how = getenv("TORTURE_MODE");
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  unsetenv("LD_PRELOAD");
  if (length < 0 || !wanted || !file) return;
  program[length] = 0;
  if (strcmp(program, wanted)) return;
  int fd = open(file, O_RDWR);
  if (fd < 0) return;
  void *shared = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (shared == MAP_FAILED) return;
  folder = getenv("TORTURE_FOLDER");
  folder = folder ? strdup(folder) : NULL;
  folder_length = folder ? strlen(folder) : 0;
  fault_at = number("TORTURE_AT");
  error_number = (int)number("TORTURE_ERRNO");
  jump_at = number("TORTURE_JUMP_AT");
  const char *seconds = getenv("TORTURE_JUMP");
  jump = seconds ? strtoll(seconds, NULL, 10) : 0;
  mode = !how ? ONCE : !strcmp(how, "from") ? FROM : !strcmp(how, "torn") ? TORN : !strcmp(how, "die") ? DIE : ONCE;
  counts = shared;
}

static int below(const char *path) { return folder && !strncmp(path, folder, folder_length); }

static int is_ours(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return below(path);
}

/* Whether this call is to fail. */
static int hit(enum access access) {
  uint64_t call = atomic_fetch_add(&counts->calls, 1) + 1;
  if (!fault_at || call < fault_at) return 0;
  if (mode == FROM ? access != WRITES : call != fault_at) return 0;
  atomic_fetch_add(&counts->faults, 1);
  return 1;
}

static void maybe_die(void) {
  if (mode == DIE) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
}

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#define FAIL \
  do { \
    maybe_die(); \
    errno = error_number; \
    return -1; \
  } while (0)
#define FAIL_FD(access) \
  if (counts && is_ours(fd) && hit(access)) FAIL
#define FAIL_PATH(path) \
  if (counts && below(path) && hit(WRITES)) FAIL

ssize_t write(int fd, const void *bytes, size_t size) {
  REAL(write);
  if (counts && is_ours(fd) && hit(WRITES)) {
    if (mode >= TORN && size > 1) real(fd, bytes, size / 2);
    FAIL;
  }
  return real(fd, bytes, size);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
  REAL(pwrite64);
  if (counts && is_ours(fd) && hit(WRITES)) {
    if (mode >= TORN && size > 1) real(fd, bytes, size / 2, at);
    FAIL;
  }
  return real(fd, bytes, size, at);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  FAIL_FD(WRITES);
  return real(fd, parts, count);
}
ssize_t read(int fd, void *bytes, size_t size) {
  REAL(read);
  FAIL_FD(READS);
  return real(fd, bytes, size);
}
ssize_t pread64(int fd, void *bytes, size_t size, off64_t at) {
  REAL(pread64);
  FAIL_FD(READS);
  return real(fd, bytes, size, at);
}
int fsync(int fd) {
  REAL(fsync);
  FAIL_FD(WRITES);
  return real(fd);
}
int fdatasync(int fd) {
  REAL(fdatasync);
  FAIL_FD(WRITES);
  return real(fd);
}
int ftruncate64(int fd, off64_t size) {
  REAL(ftruncate64);
  FAIL_FD(WRITES);
  return real(fd, size);
}
int rename(const char *from, const char *to) {
  REAL(rename);
  FAIL_PATH(to);
  return real(from, to);
}
int unlink(const char *path) {
  REAL(unlink);
  FAIL_PATH(path);
  return real(path);
}
int mkdir(const char *path, mode_t rights) {
  REAL(mkdir);
  FAIL_PATH(path);
  return real(path, rights);
}

static mode_t rights_of(int flags, va_list more) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
}
static enum access access_of(int flags) { return flags & (O_CREAT | O_WRONLY | O_RDWR) ? WRITES : READS; }

int open64(const char *path, int flags, ...) {
  REAL(open64);
  va_list more;
  va_start(more, flags);
  mode_t rights = rights_of(flags, more);
  va_end(more);
  if (counts && below(path) && hit(access_of(flags))) FAIL;
  return real(path, flags, rights);
}
int openat(int dir, const char *path, int flags, ...) {
  REAL(openat);
  va_list more;
  va_start(more, flags);
  mode_t rights = rights_of(flags, more);
  va_end(more);
  if (counts && (below(path) || (path[0] != '/' && dir != AT_FDCWD && is_ours(dir))) && hit(access_of(flags))) FAIL;
  return real(dir, path, flags, rights);
}

/* Seconds to add to this reading of the clock. */
static int64_t shift(void) {
  if (!counts) return 0;
  if (atomic_fetch_add(&counts->clock_calls, 1) + 1 < jump_at || !jump_at) return 0;
  atomic_store(&counts->jumps, 1);
  return jump;
}
int clock_gettime(clockid_t clock, struct timespec *now) {
  REAL(clock_gettime);
  int result = real(clock, now);
  if (!result && clock == CLOCK_REALTIME) now->tv_sec += shift();
  return result;
}
int gettimeofday(struct timeval *now, void *zone) {
  REAL(gettimeofday);
  int result = real(now, zone);
  if (!result) now->tv_sec += shift();
  return result;
}
time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
