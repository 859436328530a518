/* faulty_fs: shows a directory as it is, and fails on demand: the backing store of a bad day.
 * faulty_fs SOURCE MOUNTPOINT (libfuse3, high level, in front). Prints "ready" when it serves; then takes commands, lines of
 * tab-separated words on stdin, each answered when it is in force. End of stdin unmounts and ends it, so that nothing outlives a test.
 *   eio PATH OFFSET LENGTH TIMES   reads that touch these bytes fail with EIO; TIMES 0: always
 *   flip PATH OFFSET TIMES         reads that touch this byte get it with all bits turned over; TIMES 0: always
 *   short PATH BYTES               no read gives more than BYTES bytes
 *   hang PATH                      reads of PATH wait until "clear"
 *   delay PATH MILLISECONDS        reads of PATH take that much longer
 *   clear                          no faults any more                                              -> ok
 *   counts                         -> {"reads": n, "bytes": n, "faults": n, "waiting": n, "files": {PATH: reads}}
 *   reset                          sets the counts to 0                                            -> ok
 * PATH starts with '/' and is relative to SOURCE. Opened with direct I/O: every read of the reader comes here as it was asked. */
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { kRules = 64, kFiles = 256 };
enum kind { kEio, kFlip, kShort, kHang, kDelay, kUsedUp };

struct rule {
  enum kind kind;
  char path[512];
  off_t offset, length;
  long times; /* that are left; 0: always */
  long value; /* bytes or milliseconds */
};

struct file_count {
  char path[512];
  long reads;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards everything to the next blank line */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct rule rules[kRules];
static int rule_count;
static struct file_count files[kFiles];
static int file_count;
static long reads, bytes_read, faults, waiting;

static int source_fd;
static const char *mount_point;

static const char *below_source(const char *path) { return path[1] == '\0' ? "." : path + 1; }
static int or_errno(int result) { return result < 0 ? -errno : result; }

static int fs_getattr(const char *path, struct stat *info, struct fuse_file_info *file) {
  return file != NULL ? or_errno(fstat((int)file->fh, info)) : or_errno(fstatat(source_fd, below_source(path), info, AT_SYMLINK_NOFOLLOW));
}

static int fs_readlink(const char *path, char *text, size_t room) {
  const ssize_t got = readlinkat(source_fd, below_source(path), text, room - 1);
  if (got < 0) return -errno;
  text[got] = '\0';
  return 0;
}

static int fs_readdir(const char *path, void *into, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *file, enum fuse_readdir_flags flags) {
  (void)offset, (void)file, (void)flags;
  const int fd = openat(source_fd, below_source(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *folder = fd < 0 ? NULL : fdopendir(fd);
  if (folder == NULL) return -errno;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) fill(into, entry->d_name, NULL, 0, (enum fuse_fill_dir_flags)0);
  closedir(folder);
  return 0;
}

static int fs_open(const char *path, struct fuse_file_info *file) {
  if ((file->flags & O_ACCMODE) != O_RDONLY) return -EROFS;
  const int fd = openat(source_fd, below_source(path), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  file->fh = (uint64_t)fd;
  file->direct_io = 1;
  return 0;
}

static int fs_release(const char *path, struct fuse_file_info *file) {
  (void)path;
  return or_errno(close((int)file->fh));
}

static void count_read(const char *path) {
  ++reads;
  for (int i = 0; i < file_count; ++i)
    if (strcmp(files[i].path, path) == 0) {
      ++files[i].reads;
      return;
    }
  if (file_count == kFiles) return;
  snprintf(files[file_count].path, sizeof files[0].path, "%s", path);
  files[file_count++].reads = 1;
}

/* Whether the rule is about these bytes; counts it as used once more. */
static bool strikes(struct rule *rule, enum kind kind, const char *path, off_t offset, off_t bytes) {
  if (rule->kind != kind || strcmp(rule->path, path) != 0 || offset >= rule->offset + rule->length || offset + bytes <= rule->offset) return false;
  if (rule->times == 1) rule->kind = kUsedUp;
  else if (rule->times > 1) --rule->times;
  ++faults;
  return true;
}

/* What the rules make of one read: the bytes it may give, or a negative errno. The mutex is held. */
static long judge(const char *path, size_t size, off_t offset) {
  long allowed = (long)size;
  for (int i = 0; i < rule_count; ++i) {
    struct rule *rule = &rules[i];
    if (strikes(rule, kEio, path, offset, (off_t)size)) return -EIO;
    if (strcmp(rule->path, path) != 0) continue;
    if (rule->kind == kShort && rule->value < allowed) {
      allowed = rule->value;
      ++faults;
    }
  }
  return allowed;
}

static bool must_wait(const char *path, enum kind kind, long *value) {
  for (int i = 0; i < rule_count; ++i)
    if (rules[i].kind == kind && strcmp(rules[i].path, path) == 0) {
      *value = rules[i].value;
      return true;
    }
  return false;
}

static void stall(const char *path) {
  long value = 0;
  if (must_wait(path, kDelay, &value)) {
    ++faults;
    pthread_mutex_unlock(&mutex);
    const struct timespec pause = {.tv_sec = value / 1000, .tv_nsec = value % 1000 * 1000000}; /* the fault itself, not a wait for anything */
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&mutex);
  }
  while (must_wait(path, kHang, &value)) {
    ++faults;
    ++waiting;
    pthread_cond_wait(&changed, &mutex);
    --waiting;
  }
}

static int fs_read(const char *path, char *into, size_t size, off_t offset, struct fuse_file_info *file) {
  pthread_mutex_lock(&mutex);
  count_read(path);
  stall(path);
  const long allowed = judge(path, size, offset);
  pthread_mutex_unlock(&mutex);
  if (allowed < 0) return (int)allowed;
  const ssize_t got = pread((int)file->fh, into, (size_t)allowed, offset);
  if (got < 0) return -errno;
  pthread_mutex_lock(&mutex);
  bytes_read += got;
  for (int i = 0; i < rule_count; ++i)
    if (strikes(&rules[i], kFlip, path, offset, got)) into[rules[i].offset - offset] = (char)~into[rules[i].offset - offset];
  pthread_mutex_unlock(&mutex);
  return (int)got;
}

static void *fs_init(struct fuse_conn_info *connection, struct fuse_config *config);

static const struct fuse_operations operations = {
    .getattr = fs_getattr, .readlink = fs_readlink, .readdir = fs_readdir, .open = fs_open, .release = fs_release, .read = fs_read, .init = fs_init};

static void add_rule(enum kind kind, char **word, off_t offset, off_t length, long times, long value) {
  if (rule_count == kRules) exit(3);
  struct rule *rule = &rules[rule_count++];
  *rule = (struct rule){.kind = kind, .offset = offset, .length = length, .times = times, .value = value};
  snprintf(rule->path, sizeof rule->path, "%s", word[1]);
}

static void print_counts(void) {
  printf("{\"reads\": %ld, \"bytes\": %ld, \"faults\": %ld, \"waiting\": %ld, \"files\": {", reads, bytes_read, faults, waiting);
  for (int i = 0; i < file_count; ++i) printf("%s\"%s\": %ld", i == 0 ? "" : ", ", files[i].path, files[i].reads);
  printf("}}\n");
}

static bool obey(char **word, int words) {
  if (words == 5 && strcmp(word[0], "eio") == 0) add_rule(kEio, word, atoll(word[2]), atoll(word[3]), atol(word[4]), 0);
  else if (words == 4 && strcmp(word[0], "flip") == 0) add_rule(kFlip, word, atoll(word[2]), 1, atol(word[3]), 0);
  else if (words == 3 && strcmp(word[0], "short") == 0) add_rule(kShort, word, 0, 0, 0, atol(word[2]));
  else if (words == 2 && strcmp(word[0], "hang") == 0) add_rule(kHang, word, 0, 0, 0, 0);
  else if (words == 3 && strcmp(word[0], "delay") == 0) add_rule(kDelay, word, 0, 0, 0, atol(word[2]));
  else if (words == 1 && strcmp(word[0], "clear") == 0) rule_count = 0;
  else if (words == 1 && strcmp(word[0], "reset") == 0) reads = bytes_read = faults = 0, file_count = 0;
  else return false;
  pthread_cond_broadcast(&changed);
  return true;
}

static void take_command(char *line) {
  char *word[6], *rest = line, *part;
  int words = 0;
  line[strcspn(line, "\n")] = '\0';
  while ((part = strsep(&rest, "\t")) != NULL && words < 6) word[words++] = part;
  pthread_mutex_lock(&mutex);
  if (words == 1 && strcmp(word[0], "counts") == 0) print_counts();
  else printf(obey(word, words) ? "ok\n" : "unknown command\n");
  pthread_mutex_unlock(&mutex);
  fflush(stdout);
}

static void *commands(void *unused) {
  (void)unused;
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) take_command(line);
  free(line);
  pthread_mutex_lock(&mutex);
  rule_count = 0; /* let go of whoever hangs */
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  if (umount2(mount_point, 0) != 0) { /* busy: end the connection, then hide the mount */
    umount2(mount_point, MNT_FORCE);
    umount2(mount_point, MNT_DETACH);
  }
  return NULL;
}

static void *fs_init(struct fuse_conn_info *connection, struct fuse_config *config) {
  (void)connection;
  config->use_ino = 1;
  config->entry_timeout = config->attr_timeout = config->negative_timeout = 0; /* the source may change at any moment */
  pthread_t thread;
  if (pthread_create(&thread, NULL, commands, NULL) != 0) exit(3);
  pthread_detach(thread);
  printf("ready\n");
  fflush(stdout);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  source_fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (source_fd < 0) return 3;
  mount_point = argv[2];
  char *arguments[] = {argv[0], (char[]){"-f"}, (char[]){"-o"}, (char[]){"allow_other,default_permissions,fsname=faulty_fs"}, argv[2], NULL};
  return fuse_main(5, arguments, &operations, NULL);
}
