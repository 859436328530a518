/* page_storm: many threads read one file in every way at once and compare each byte with a reference.
 * page_storm FILE REFERENCE THREADS OPERATIONS SEED BAD
 * BAD: "none"; "3,8-12": pages that must fail and nothing else; "any": every page may fail (somebody damages the file meanwhile).
 * Prints {"operations", "failed", "wrong", "unexpected", "missed"}: unexpected, a failure where none may be (or another than EIO and
 * SIGBUS); missed, a bad page that was read as if fine. Exit 0 when wrong, unexpected and missed are 0, else 1.
 * The same seed gives the same operations in each thread. */
#define _GNU_SOURCE
#include "probe_common.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kLongest = 192 * 1024 };

static const char *path;
static const unsigned char *reference;
static off_t size;
static long pages;
static unsigned char *bad; /* one byte a page */
static bool any_may_fail;
static long operations;
static atomic_long failed, wrong, unexpected, missed, done;

struct reader {
  pthread_t thread;
  uint64_t state;
  int fd, direct_fd;
  const unsigned char *shared, *private_map;
  unsigned char *buffer;
};

static uint64_t next(struct reader *self) { /* splitmix64 */
  uint64_t z = (self->state += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

static off_t below(struct reader *self, off_t bound) { return (off_t)(next(self) % (uint64_t)bound); }

static bool has_bad(off_t offset, off_t bytes) {
  for (long page = (long)(offset / kPage); page <= (long)((offset + bytes - 1) / kPage) && page < pages; ++page)
    if (bad[page]) return true;
  return false;
}

static void failure(off_t offset, off_t bytes, bool right_kind) {
  failed++;
  if (!right_kind || (!any_may_fail && !has_bad(offset, bytes))) unexpected++;
}

static void success(const unsigned char *got, off_t offset, off_t bytes) {
  if (memcmp(got, reference + offset, (size_t)bytes) != 0) wrong++;
  if (!any_may_fail && has_bad(offset, bytes)) missed++;
}

static void read_range(struct reader *self, int fd, off_t offset, off_t ask) {
  const off_t end = offset + ask < size ? offset + ask : size;
  const ssize_t got = pread(fd, self->buffer, (size_t)ask, offset);
  if (got < 0) {
    failure(offset, end - offset, errno == EIO);
    return;
  }
  if (got > 0) success(self->buffer, offset, got);
  if (offset + got < end) failure(offset + got, 1, got > 0); /* it stopped before a page that cannot be had */
}

static void touch(struct reader *self, const unsigned char *map) {
  const off_t offset = below(self, pages) * kPage;
  const off_t bytes = size - offset < kPage ? size - offset : kPage;
  const int outcome = copy_mapped(self->buffer, map + offset, (size_t)bytes);
  if (outcome == 0) success(self->buffer, offset, bytes);
  else failure(offset, bytes, outcome == 1);
}

static void reopen(struct reader *self) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    failed++;
    unexpected++;
    return;
  }
  close(self->fd);
  self->fd = fd;
}

static void *run(void *argument) {
  struct reader *self = argument;
  for (long i = 0; i < operations; ++i, ++done) {
    switch (next(self) % 10) {
      case 0: case 1: case 2: read_range(self, self->fd, below(self, size), 1 + below(self, kLongest)); break;
      case 3: case 4: read_range(self, self->direct_fd, below(self, pages) * kPage, kPage * (1 + below(self, 16))); break;
      case 5: case 6: case 7: touch(self, self->shared); break;
      case 8: touch(self, self->private_map); break;
      default: posix_fadvise(self->fd, 0, 0, POSIX_FADV_DONTNEED); reopen(self);
    }
  }
  return NULL;
}

static void start(struct reader *self, uint64_t seed) {
  void *memory = NULL;
  self->state = seed;
  self->fd = open(path, O_RDONLY | O_CLOEXEC);
  self->direct_fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (self->fd < 0 || self->direct_fd < 0 || posix_memalign(&memory, kPage, kLongest + kPage) != 0) {
    fprintf(stderr, "page_storm: %s: %s\n", path, strerror(errno));
    exit(3);
  }
  self->buffer = memory;
  void *shared = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, self->fd, 0);
  void *private_map = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, self->fd, 0);
  if (shared == MAP_FAILED || private_map == MAP_FAILED) exit(3);
  self->shared = shared;
  self->private_map = private_map;
  if (pthread_create(&self->thread, NULL, run, self) != 0) exit(3);
}

static void note_bad(const char *text) {
  any_may_fail = strcmp(text, "any") == 0;
  if (any_may_fail || strcmp(text, "none") == 0) return;
  for (const char *at = text; *at != '\0';) {
    char *after = NULL;
    const long first = strtol(at, &after, 10);
    const long last = *after == '-' ? strtol(after + 1, &after, 10) : first;
    for (long page = first; page <= last && page < pages; ++page) bad[page] = 1;
    at = *after == ',' ? after + 1 : after;
    if (after == text) exit(3);
  }
}

int main(int argc, char **argv) {
  struct stat info;
  if (argc != 7) return 2;
  path = argv[1];
  const int fd = open(argv[2], O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &info) != 0) return 3;
  size = info.st_size;
  pages = (long)((size + kPage - 1) / kPage);
  void *map = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
  bad = calloc((size_t)pages, 1);
  if (map == MAP_FAILED || bad == NULL) return 3;
  reference = map;
  note_bad(argv[6]);
  const long threads = strtol(argv[3], NULL, 10);
  operations = strtol(argv[4], NULL, 10);
  const uint64_t seed = strtoull(argv[5], NULL, 10);
  catch_sigbus();
  struct reader *readers = calloc((size_t)threads, sizeof *readers);
  if (readers == NULL) return 3;
  for (long i = 0; i < threads; ++i) start(&readers[i], seed * 1000003ULL + (uint64_t)i);
  for (long i = 0; i < threads; ++i) pthread_join(readers[i].thread, NULL);
  printf("{\"operations\": %ld, \"failed\": %ld, \"wrong\": %ld, \"unexpected\": %ld, \"missed\": %ld}\n", done, failed, wrong, unexpected, missed);
  return wrong == 0 && unexpected == 0 && missed == 0 ? 0 : 1;
}
