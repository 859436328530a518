/* read_rate.c: reads a file once, by read(2) or through a mapping, and prints bytes and seconds; or touches and frees memory.
 *
 *   read_rate read FILE        read(2) in pieces of 1 MiB into one buffer
 *   read_rate mmap FILE        one byte of every page of a shared read-only mapping, in order
 *   read_rate sequential FILE  the same after MADV_SEQUENTIAL
 *   read_rate willneed FILE    the same after MADV_WILLNEED
 *   read_rate random FILE      4096 pieces of 64 KiB (fewer when the file has fewer) by pread(2), in random order, none twice
 *   read_rate touch BYTES      writes one byte to every page of fresh memory and gives it back
 *
 * In C, so that what is timed is the file system and not an interpreter. Opening is timed too: an open that checks something costs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PIECE = 1 << 20, PLACE = 64 << 10, PLACES = 4096 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int fail(const char* what) {
  fprintf(stderr, "read_rate: %s: %s\n", what, strerror(errno));
  return 1;
}

static int64_t by_read(int fd) {
  static unsigned char buffer[PIECE];
  int64_t total = 0;
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0) return -1;
    if (got == 0) return total;
    total += got;
  }
}

static int64_t by_mmap(int fd, int advice) {
  struct stat info;
  if (fstat(fd, &info) != 0) return -1;
  if (info.st_size == 0) return 0;
  const size_t bytes = (size_t)info.st_size;
  const unsigned char* map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return -1;
  if (advice != MADV_NORMAL && madvise((void*)map, bytes, advice) != 0) return -1;
  volatile unsigned char sink = 0;
  for (size_t at = 0; at < bytes; at += PAGE) sink = (unsigned char)(sink ^ map[at]);
  munmap((void*)map, bytes);
  return info.st_size;
}

static int64_t at_random(int fd) {
  static unsigned char buffer[PLACE];
  struct stat info;
  if (fstat(fd, &info) != 0) return -1;
  const uint32_t all = (uint32_t)(info.st_size / PLACE);
  uint32_t* order = calloc(all + 1, sizeof *order);
  if (order == NULL) return -1;
  for (uint32_t i = 0; i < all; ++i) order[i] = i;
  int64_t total = 0;
  uint64_t state = 88172645463325252ULL;
  for (uint32_t i = 0; i < all && i < PLACES; ++i) { /* the front of a Fisher-Yates shuffle */
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const uint32_t j = i + (uint32_t)(state % (all - i)), place = order[j];
    order[j] = order[i];
    if (pread(fd, buffer, PLACE, (off_t)place * PLACE) != PLACE) return -1;
    total += PLACE;
  }
  free(order);
  return total;
}

/* Bytes that one pass in this manner gave; -1 and errno when it failed; -2 when there is no such manner. */
static int64_t pass(const char* how, int fd) {
  if (strcmp(how, "read") == 0) return by_read(fd);
  if (strcmp(how, "mmap") == 0) return by_mmap(fd, MADV_NORMAL);
  if (strcmp(how, "sequential") == 0) return by_mmap(fd, MADV_SEQUENTIAL);
  if (strcmp(how, "willneed") == 0) return by_mmap(fd, MADV_WILLNEED);
  if (strcmp(how, "random") == 0) return at_random(fd);
  return -2;
}

static int touch(const char* count) {
  const size_t bytes = (size_t)strtoull(count, NULL, 10);
  if (bytes == 0) return 0;
  unsigned char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return fail("mmap");
  for (size_t at = 0; at < bytes; at += PAGE) ((volatile unsigned char*)memory)[at] = 1;
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "touch") == 0) return touch(argv[2]);
  const double start = now();
  const int fd = argc == 3 ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;
  if (argc == 3 && fd < 0) return fail(argv[2]);
  const int64_t bytes = argc == 3 ? pass(argv[1], fd) : -2;
  if (bytes == -2) {
    fprintf(stderr, "usage: read_rate read|mmap|sequential|willneed|random FILE, or read_rate touch BYTES\n");
    return 2;
  }
  if (bytes < 0) return fail(argv[2]);
  close(fd);
  printf("%lld %.6f\n", (long long)bytes, now() - start);
  return 0;
}
