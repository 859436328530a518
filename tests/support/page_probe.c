/* page_probe: reads every page of a file in one way and compares it with a reference file; says which pages fail and which are wrong.
 *
 * A server on stdin and stdout, so that a test asks thousands of questions of one process and can hold a file open or mapped while
 * something happens to it. Commands are lines of tab-separated words; each is answered by one line of JSON.
 *   open   HANDLE MODE FILE REFERENCE   opens (and maps) FILE                    -> {"open": errno}
 *   read   HANDLE cold|warm PAGES       reads the pages; "cold" drops what the page cache holds of the file first -> a report
 *   close  HANDLE                                                               -> {"closed": true}
 *   probe  MODE cold|warm FILE REFERENCE PAGES                                   the three in one -> a report
 * MODE: read (a page at a time), stream (300,000 bytes at a time), edge (pread from the middle of a page to the middle of the next),
 *   direct (O_DIRECT, a page at a time), private, shared (mmap, SIGBUS caught).
 * PAGES: "all" or "3,8-12". Report: {"open": errno, "size": n, "pages": n, "bad": [page], "wrong": [page], "other": [[page, why]]}
 * bad: EIO or SIGBUS with BUS_ADRERR in that page. why: an errno, or one of the negative reasons below. */
#define _GNU_SOURCE
#include "probe_common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kHandles = 256, kStreamBytes = 300000, kOddSignal = -10, kShort = -11, kEarlyEnd = -12, kPastEnd = -13 };
enum { kBad = 1, kWrong = 2, kAsked = 4 };

struct target {
  bool used;
  char mode[16];
  int fd;
  off_t size; /* as the file says itself */
  unsigned char *map;
  const unsigned char *reference;
  off_t reference_size;
};

struct report {
  unsigned char *flags; /* one byte a page */
  long pages;
  long (*other)[2];
  size_t other_count, other_room;
};

static struct target targets[kHandles];
static unsigned char *buffer; /* page-aligned, kStreamBytes and more */

static void add_other(struct report *report, long page, long why) {
  if (report->other_count == report->other_room) {
    report->other_room = report->other_room * 2 + 64;
    report->other = realloc(report->other, report->other_room * sizeof *report->other);
    if (report->other == NULL) abort();
  }
  report->other[report->other_count][0] = page;
  report->other[report->other_count++][1] = why;
}

static void mark(struct report *report, off_t offset, int flag) {
  const long page = (long)(offset / kPage);
  if (page >= 0 && page < report->pages) report->flags[page] = (unsigned char)(report->flags[page] | flag);
}

/* Marks every page of which bytes [offset, offset + bytes) differ from the reference. */
static void compare(struct report *report, const struct target *target, off_t offset, const unsigned char *got, off_t bytes) {
  while (bytes > 0) {
    const off_t in_page = kPage - offset % kPage;
    const off_t part = bytes < in_page ? bytes : in_page;
    if (offset + part > target->reference_size) {
      add_other(report, (long)(offset / kPage), kPastEnd);
      return;
    }
    if (memcmp(got, target->reference + offset, (size_t)part) != 0) mark(report, offset, kWrong);
    offset += part;
    got += part;
    bytes -= part;
  }
}

/* One pread and what it must give: all bytes up to the end of the file, or those before a page that cannot be had, or EIO. */
static void pread_and_judge(struct report *report, const struct target *target, off_t from, off_t ask) {
  const off_t end = from + ask < target->reference_size ? from + ask : target->reference_size;
  const ssize_t got = pread(target->fd, buffer, (size_t)ask, from);
  if (got < 0) {
    if (errno == EIO) mark(report, from, kBad);
    else add_other(report, (long)(from / kPage), errno);
    return;
  }
  compare(report, target, from, buffer, got);
  if (from + got >= end) return;
  if (got > 0 && (from + got) % kPage == 0) mark(report, from + got, kBad);
  else add_other(report, (long)(from / kPage), got == 0 ? kEarlyEnd : kShort);
}

static void by_page(struct report *report, const struct target *target, long page) { pread_and_judge(report, target, (off_t)page * kPage, kPage); }

static void by_edge(struct report *report, const struct target *target, long page) {
  const off_t start = (off_t)page * kPage;
  if (page == 0) pread_and_judge(report, target, 0, kPage / 2);
  else pread_and_judge(report, target, start - kPage / 2, kPage);
  /* A last page that ends before its middle is asked for from its start: its first half is hidden when the page before it is bad. */
  pread_and_judge(report, target, start + kPage / 2 < target->reference_size ? start + kPage / 2 : start, kPage);
}

static void by_map(struct report *report, const struct target *target, long page) {
  const off_t start = (off_t)page * kPage;
  const off_t left = target->reference_size - start;
  const int outcome = copy_mapped(buffer, target->map + start, kPage);
  if (outcome == 1) mark(report, start, kBad);
  else if (outcome == 2) add_other(report, page, kOddSignal);
  else compare(report, target, start, buffer, left < kPage ? left : kPage);
  if (outcome != 0) return;
  for (off_t i = left; i < kPage; ++i)
    if (buffer[i] != 0) mark(report, start, kWrong); /* the page behind the end of the file must read as zeros */
}

static void by_stream(struct report *report, const struct target *target) {
  off_t at = 0;
  if (lseek(target->fd, 0, SEEK_SET) != 0) abort();
  while (at < target->reference_size) {
    const ssize_t got = read(target->fd, buffer, kStreamBytes);
    if (got > 0) {
      compare(report, target, at, buffer, got);
      at += got;
      continue;
    }
    if (got < 0 && errno == EIO) mark(report, at, kBad);
    else add_other(report, (long)(at / kPage), got == 0 ? kEarlyEnd : errno);
    if (got == 0) return;
    at = (at / kPage + 1) * kPage;
    if (lseek(target->fd, at, SEEK_SET) != at) abort();
  }
  if (read(target->fd, buffer, 1) > 0) add_other(report, report->pages, kPastEnd);
}

static const unsigned char *map_reference(const char *path, off_t *size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) {
    fprintf(stderr, "page_probe: reference %s: %s\n", path, strerror(errno));
    exit(3);
  }
  *size = info.st_size;
  void *map = info.st_size == 0 ? NULL : mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (map == MAP_FAILED) exit(3);
  return map;
}

static void close_target(struct target *target) {
  if (target->map != NULL) munmap(target->map, (size_t)target->reference_size);
  if (target->reference != NULL) munmap((void *)(uintptr_t)target->reference, (size_t)target->reference_size);
  if (target->fd >= 0) close(target->fd);
  memset(target, 0, sizeof *target);
  target->fd = -1;
}

/* 0, or the errno of open or mmap. */
static int open_target(struct target *target, const char *mode, const char *file, const char *reference) {
  memset(target, 0, sizeof *target);
  snprintf(target->mode, sizeof target->mode, "%s", mode);
  target->fd = open(file, O_RDONLY | O_CLOEXEC | (strcmp(mode, "direct") == 0 ? O_DIRECT : 0));
  if (target->fd < 0) return errno;
  struct stat info;
  if (fstat(target->fd, &info) != 0) return errno;
  target->size = info.st_size;
  target->used = true;
  target->reference = map_reference(reference, &target->reference_size);
  const bool is_private = strcmp(mode, "private") == 0;
  if ((!is_private && strcmp(mode, "shared") != 0) || target->reference_size == 0) return 0;
  target->map = mmap(NULL, (size_t)target->reference_size, PROT_READ, is_private ? MAP_PRIVATE : MAP_SHARED, target->fd, 0);
  if (target->map != MAP_FAILED) return 0;
  target->map = NULL;
  return errno;
}

/* "all" or "3,8-12"; unknown pages are an error of the test. */
static void ask_for(struct report *report, const char *pages) {
  if (strcmp(pages, "all") == 0) {
    for (long page = 0; page < report->pages; ++page) report->flags[page] = kAsked;
    return;
  }
  for (const char *at = pages; *at != '\0';) {
    char *after = NULL;
    const long first = strtol(at, &after, 10);
    const long last = *after == '-' ? strtol(after + 1, &after, 10) : first;
    if (first < 0 || last < first || last >= report->pages || (*after != ',' && *after != '\0')) {
      fprintf(stderr, "page_probe: bad list of pages: %s\n", pages);
      exit(3);
    }
    for (long page = first; page <= last; ++page) report->flags[page] = kAsked;
    at = *after == ',' ? after + 1 : after;
  }
}

static void print_pages(const char *name, const struct report *report, int flag) {
  const char *comma = "";
  printf("\"%s\": [", name);
  for (long page = 0; page < report->pages; ++page) {
    if ((report->flags[page] & flag) == 0 || (report->flags[page] & kAsked) == 0) continue;
    printf("%s%ld", comma, page);
    comma = ",";
  }
  printf("], ");
}

static void print_report(const struct report *report, const struct target *target) {
  printf("{\"open\": 0, \"size\": %lld, \"pages\": %ld, ", (long long)target->size, report->pages);
  print_pages("bad", report, kBad);
  print_pages("wrong", report, kWrong);
  printf("\"other\": [");
  for (size_t i = 0; i < report->other_count; ++i) printf("%s[%ld,%ld]", i == 0 ? "" : ",", report->other[i][0], report->other[i][1]);
  printf("]}\n");
}

static void read_target(const struct target *target, const char *cold, const char *pages) {
  struct report report = {.pages = (long)((target->reference_size + kPage - 1) / kPage)};
  report.flags = calloc((size_t)report.pages + 1, 1);
  if (report.flags == NULL) abort();
  if (strcmp(cold, "cold") == 0) posix_fadvise(target->fd, 0, 0, POSIX_FADV_DONTNEED);
  ask_for(&report, pages);
  if (strcmp(target->mode, "stream") == 0) by_stream(&report, target);
  void (*const way)(struct report *, const struct target *, long) = target->map != NULL                     ? by_map
                                                                     : strcmp(target->mode, "edge") == 0     ? by_edge
                                                                     : strcmp(target->mode, "stream") == 0   ? NULL
                                                                                                             : by_page;
  for (long page = 0; way != NULL && page < report.pages; ++page)
    if (report.flags[page] & kAsked) way(&report, target, page);
  print_report(&report, target);
  free(report.flags);
  free(report.other);
}

static struct target *handle_of(const char *word) {
  const long handle = strtol(word, NULL, 10);
  if (handle < 0 || handle >= kHandles) exit(3);
  return &targets[handle];
}

static void serve(char **word, int words) {
  if (words == 5 && strcmp(word[0], "open") == 0) {
    struct target *target = handle_of(word[1]);
    const int error = open_target(target, word[2], word[3], word[4]);
    printf("{\"open\": %d}\n", error);
    if (error != 0) close_target(target);
  } else if (words == 4 && strcmp(word[0], "read") == 0) {
    if (!handle_of(word[1])->used) exit(3);
    read_target(handle_of(word[1]), word[2], word[3]);
  } else if (words == 2 && strcmp(word[0], "close") == 0) {
    if (!handle_of(word[1])->used) exit(3);
    close_target(handle_of(word[1]));
    printf("{\"closed\": true}\n");
  } else if (words == 6 && strcmp(word[0], "probe") == 0) {
    struct target target;
    const int error = open_target(&target, word[1], word[3], word[4]);
    if (error != 0) printf("{\"open\": %d}\n", error);
    else read_target(&target, word[2], word[5]);
    close_target(&target);
  } else {
    fprintf(stderr, "page_probe: unknown command %s with %d words\n", words > 0 ? word[0] : "", words);
    exit(3);
  }
}

int main(void) {
  void *memory = NULL;
  if (posix_memalign(&memory, kPage, kStreamBytes + 2 * kPage) != 0) return 3;
  buffer = memory;
  catch_sigbus();
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) {
    char *word[8], *rest = line, *part;
    int words = 0;
    line[strcspn(line, "\n")] = '\0';
    while ((part = strsep(&rest, "\t")) != NULL && words < 8) word[words++] = part;
    serve(word, words);
    fflush(stdout);
  }
  free(line);
  free(memory);
  return 0;
}
