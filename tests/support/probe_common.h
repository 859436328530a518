/* probe_common.h: what the reading helpers share: touching a mapped page and surviving the SIGBUS.
 * Threads: each thread has its own jump buffer; the signal of a page fault goes to the thread that touched the page. */
#ifndef VOUCHFS_TESTS_PROBE_COMMON_H
#define VOUCHFS_TESTS_PROBE_COMMON_H

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { kPage = 4096 };

static _Thread_local sigjmp_buf touch_jump;
static _Thread_local volatile sig_atomic_t touch_armed;
static _Thread_local volatile int touch_code;
static _Thread_local void *volatile touch_address;

static void on_sigbus(int number, siginfo_t *info, void *context) {
  (void)context;
  if (!touch_armed) { /* not one of ours: die of it as anybody would */
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  touch_code = info->si_code;
  touch_address = info->si_addr;
  siglongjmp(touch_jump, 1);
}

static void catch_sigbus(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_sigbus;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGBUS, &action, NULL);
}

/* Copies bytes out of a mapping. 0: copied. 1: SIGBUS, BUS_ADRERR, at an address within these bytes' page. 2: another SIGBUS. */
static int copy_mapped(void *to, const unsigned char *from, size_t bytes) {
  const uintptr_t page = (uintptr_t)from & ~(uintptr_t)(kPage - 1);
  if (sigsetjmp(touch_jump, 1) != 0) {
    touch_armed = 0;
    const uintptr_t at = (uintptr_t)touch_address;
    return touch_code == BUS_ADRERR && at >= page && at < page + kPage ? 1 : 2;
  }
  touch_armed = 1;
  memcpy(to, from, bytes);
  touch_armed = 0;
  return 0;
}

#endif
