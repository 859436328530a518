/* readers.c: many threads that read a file at random, each operation timed.
 *
 *   readers FILE THREADS BYTES read|fault OPERATIONS SEED
 *
 * OPERATIONS are shared out over THREADS. read: pread(2) of BYTES; fault: one byte of every page of BYTES in one shared mapping.
 * Prints seconds, operations, and the latencies p50, p99, p99.9 and the longest, in microseconds. Fails when a read fails.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_THREADS = 1024 };

static int file;
static size_t bytes;
static uint64_t places, seed;
static const volatile unsigned char* map; /* null: by pread */
static size_t per_thread;
static double* latency; /* per_thread of each thread */
static atomic_long failures;
static pthread_barrier_t ready;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t next(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15ULL); /* splitmix64 */
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

static void one(size_t offset, unsigned char* buffer) {
  if (map == NULL) {
    if (pread(file, buffer, bytes, (off_t)offset) != (ssize_t)bytes) ++failures;
    return;
  }
  for (size_t at = 0; at < bytes; at += PAGE) buffer[0] = (unsigned char)(buffer[0] ^ map[offset + at]);
}

static void* work(void* number) {
  const size_t me = (size_t)(uintptr_t)number;
  uint64_t state = seed * 1000003 + me;
  unsigned char* buffer = aligned_alloc(PAGE, bytes < PAGE ? PAGE : bytes);
  memset(buffer, 0, bytes);
  pthread_barrier_wait(&ready);
  for (size_t i = 0; i < per_thread; ++i) {
    const size_t offset = (size_t)(next(&state) % places) * bytes;
    const double start = now();
    one(offset, buffer);
    latency[me * per_thread + i] = now() - start;
  }
  free(buffer);
  return NULL;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double run(size_t threads) {
  pthread_t handles[MOST_THREADS];
  pthread_barrier_init(&ready, NULL, (unsigned)threads + 1);
  for (size_t i = 0; i < threads; ++i)
    if (pthread_create(&handles[i], NULL, work, (void*)(uintptr_t)i) != 0) abort();
  pthread_barrier_wait(&ready);
  const double start = now();
  for (size_t i = 0; i < threads; ++i) pthread_join(handles[i], NULL);
  return now() - start;
}

int main(int argc, char** argv) {
  const size_t threads = argc == 7 ? strtoul(argv[2], NULL, 10) : 0;
  if (threads == 0 || threads > MOST_THREADS) {
    fprintf(stderr, "usage: readers FILE THREADS BYTES read|fault OPERATIONS SEED\n");
    return 2;
  }
  bytes = strtoul(argv[3], NULL, 10);
  per_thread = strtoul(argv[5], NULL, 10) / threads;
  seed = strtoul(argv[6], NULL, 10);
  struct stat info;
  file = open(argv[1], O_RDONLY | O_CLOEXEC);
  if (file < 0 || fstat(file, &info) != 0 || bytes == 0 || per_thread == 0 || (places = (uint64_t)info.st_size / bytes) == 0) {
    fprintf(stderr, "readers: %s: %s\n", argv[1], errno ? strerror(errno) : "too small");
    return 1;
  }
  if (strcmp(argv[4], "fault") == 0) {
    void* mapped = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) return 1;
    map = mapped;
  }
  const size_t count = per_thread * threads;
  latency = calloc(count, sizeof *latency);
  if (latency == NULL) return 1;
  const double seconds = run(threads);
  if (failures != 0) {
    fprintf(stderr, "readers: %s: %ld reads failed\n", argv[1], (long)failures);
    return 1;
  }
  qsort(latency, count, sizeof *latency, by_value);
  printf("%.6f %zu %.1f %.1f %.1f %.1f\n", seconds, count, latency[count / 2] * 1e6, latency[count * 99 / 100] * 1e6, latency[count * 999 / 1000] * 1e6, latency[count - 1] * 1e6);
  return 0;
}
