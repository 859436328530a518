/* plain_fs FILE MOUNTPOINT: shows one file under a mount point, unverified: the FUSE mount that ours is compared with.
 * Kernel page cache on, as many threads as libfuse likes, every read is a pread and a reply. Prints "ready" when it is mounted;
 * stays in front; ends at umount, or when its standard input is closed. */
#define FUSE_USE_VERSION 312
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kFile = 2, kThreads = 16 };
static const double kForever = 1e6;

struct shown {
  int fd;
  off_t size;
  char name[NAME_MAX + 1];
};

static const struct shown *shown_of(fuse_req_t request) { return fuse_req_userdata(request); }

static struct stat attributes(const struct shown *shown, fuse_ino_t node) {
  struct stat result = {.st_ino = node, .st_nlink = 1, .st_mode = node == FUSE_ROOT_ID ? (S_IFDIR | 0555) : (S_IFREG | 0444)};
  if (node == kFile) result.st_size = shown->size;
  return result;
}

static void on_lookup(fuse_req_t request, fuse_ino_t parent, const char *name) {
  const struct shown *shown = shown_of(request);
  if (parent != FUSE_ROOT_ID || strcmp(name, shown->name) != 0) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  const struct fuse_entry_param entry = {.ino = kFile, .attr = attributes(shown, kFile), .attr_timeout = kForever, .entry_timeout = kForever};
  fuse_reply_entry(request, &entry);
}

static void on_getattr(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info) {
  (void)info;
  const struct stat found = attributes(shown_of(request), node);
  fuse_reply_attr(request, &found, kForever);
}

static void on_open(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info) {
  (void)node;
  info->keep_cache = 1;
  fuse_reply_open(request, info);
}

static void on_read(fuse_req_t request, fuse_ino_t node, size_t size, off_t offset, struct fuse_file_info *info) {
  (void)node, (void)info;
  char *buffer = malloc(size);
  const ssize_t got = buffer ? pread(shown_of(request)->fd, buffer, size, offset) : -1;
  if (got < 0)
    fuse_reply_err(request, buffer ? errno : ENOMEM);
  else
    fuse_reply_buf(request, buffer, (size_t)got);
  free(buffer);
}

/* Whoever started us holds the other end of stdin: when he is gone, so are we. */
static void *wait_for_end(void *session) {
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) continue;
  fuse_session_exit(session);
  fuse_session_unmount(session);
  return NULL;
}

static int serve(struct fuse_session *session) {
  pthread_t waiter;
  puts("ready");
  fflush(stdout);
  if (pthread_create(&waiter, NULL, wait_for_end, session) != 0) return 1;
  struct fuse_loop_config *config = fuse_loop_cfg_create();
  fuse_loop_cfg_set_max_threads(config, kThreads);
  fuse_loop_cfg_set_idle_threads(config, kThreads);
  const int result = fuse_session_loop_mt(session, config);
  fuse_loop_cfg_destroy(config);
  return result < 0;
}

int main(int argc, char **argv) {
  if (argc != 3) return fputs("usage: plain_fs FILE MOUNTPOINT\n", stderr), 2;
  struct stat found;
  struct shown shown = {.fd = open(argv[1], O_RDONLY | O_CLOEXEC)};
  if (shown.fd < 0 || fstat(shown.fd, &found) != 0) return perror(argv[1]), 1;
  shown.size = found.st_size;
  snprintf(shown.name, sizeof shown.name, "%s", basename(argv[1]));
  const struct fuse_lowlevel_ops operations = {.lookup = on_lookup, .getattr = on_getattr, .open = on_open, .read = on_read};
  char *words[] = {"plain_fs", "-o", "ro,fsname=plain_fs,default_permissions", NULL};
  struct fuse_args arguments = FUSE_ARGS_INIT(3, words);
  struct fuse_session *session = fuse_session_new(&arguments, &operations, sizeof operations, &shown);
  if (!session || fuse_session_mount(session, argv[2]) != 0) return fputs("plain_fs: cannot mount\n", stderr), 1;
  return serve(session); /* unmounted by now; the waiter still holds the session: the process ends with it */
}
