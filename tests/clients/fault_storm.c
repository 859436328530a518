/* fault_storm FILE REFERENCE THREADS FAULTS SEED: THREADS threads share out FAULTS touches of random pages of one mapping of FILE.
 * Prints {"seconds", "faults", "wrong"}; the pages touched are compared with REFERENCE after the clock has stopped.
 * A page that cannot be read kills the program (SIGBUS). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { kPage = 4096 };

struct faulter {
  pthread_t thread;
  pthread_barrier_t *start;
  const volatile unsigned char *mapping;
  uint64_t pages, state, touches;
  unsigned sum;
};

static uint64_t next_page(uint64_t *state, uint64_t pages) { /* splitmix64 */
  uint64_t z = (*state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return (z ^ (z >> 31)) % pages;
}

static void *touch(void *argument) {
  struct faulter *self = argument;
  uint64_t state = self->state;
  pthread_barrier_wait(self->start);
  for (uint64_t i = 0; i < self->touches; i++) self->sum += self->mapping[next_page(&state, self->pages) * kPage];
  return NULL;
}

static uint64_t count_wrong(const struct faulter *self, int reference) {
  uint64_t wrong = 0, state = self->state;
  unsigned char page[kPage];
  for (uint64_t i = 0; i < self->touches; i++) {
    const uint64_t at = next_page(&state, self->pages) * kPage;
    if (pread(reference, page, kPage, (off_t)at) != kPage || memcmp((const unsigned char *)self->mapping + at, page, kPage) != 0) wrong++;
  }
  return wrong;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double storm(struct faulter *faulters, unsigned threads, pthread_barrier_t *start) {
  for (unsigned i = 0; i < threads; i++)
    if (pthread_create(&faulters[i].thread, NULL, touch, &faulters[i]) != 0) exit(1);
  pthread_barrier_wait(start);
  const double begin = now();
  for (unsigned i = 0; i < threads; i++) pthread_join(faulters[i].thread, NULL);
  return now() - begin;
}

int main(int argc, char **argv) {
  if (argc != 6) return fputs("usage: fault_storm FILE REFERENCE THREADS FAULTS SEED\n", stderr), 2;
  const int fd = open(argv[1], O_RDONLY), reference = open(argv[2], O_RDONLY);
  const unsigned threads = (unsigned)strtoul(argv[3], NULL, 10);
  struct stat found;
  if (fd < 0 || reference < 0 || fstat(fd, &found) != 0 || threads == 0) return perror(argv[1]), 1;
  const unsigned char *mapping = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_SHARED, fd, 0);
  struct faulter *faulters = calloc(threads, sizeof *faulters);
  if (mapping == MAP_FAILED || !faulters) return perror("mmap"), 1;
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, threads + 1);
  for (unsigned i = 0; i < threads; i++)
    faulters[i] = (struct faulter){.start = &start, .mapping = mapping, .pages = (uint64_t)found.st_size / kPage,
                                   .state = strtoull(argv[5], NULL, 10) * 1000003U + i, .touches = strtoull(argv[4], NULL, 10) / threads};
  const double seconds = storm(faulters, threads, &start);
  uint64_t wrong = 0, faults = 0;
  for (unsigned i = 0; i < threads; i++) wrong += count_wrong(&faulters[i], reference), faults += faulters[i].touches;
  printf("{\"seconds\": %.6f, \"faults\": %llu, \"wrong\": %llu}\n", seconds, (unsigned long long)faults, (unsigned long long)wrong);
  return wrong != 0;
}
