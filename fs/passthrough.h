// passthrough.h: what the kernel wants for answering reads itself from a file that we name (FUSE passthrough, Linux 6.9): agree on it in INIT,
// register a file on /dev/fuse, and name its id in the reply to OPEN.
// Layer:   fs (6). The wire structures are the kernel's (include/uapi/linux/fuse.h, protocol 7.40), written down here where older headers lack them.
// Threads: no state; safe for concurrent calls.
// Errors:  unsupported, io with the errno of the ioctl. EPERM: the process lacks CAP_SYS_ADMIN.
#pragma once

#include <fuse_lowlevel.h>

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace vouchfs::fs {

// The kernel's number of a registered file, above 0. It is good until the connection ends or it is closed.
using BackingId = std::int32_t;

// Whether the kernel offers passthrough in this INIT request (header included).
bool offers_passthrough(const std::vector<std::uint8_t>& init_request);
// Accepts the offer in the body of the reply to INIT. libfuse does so from 3.17; doing it twice changes nothing.
void accept_passthrough(std::vector<std::uint8_t>& init_reply);

// device_fd: of /dev/fuse. The kernel keeps `file` open by itself.
Result<BackingId> open_backing(int device_fd, int file);
Status close_backing(int device_fd, BackingId id);
// Registers an empty file and takes it back: what is missing shows here.
Status try_passthrough(int device_fd);

// The reply to OPEN: reads and mappings of this handle go to the registered file, never to us.
int reply_open_passthrough(fuse_req_t request, fuse_file_info* info, BackingId id);

}  // namespace vouchfs::fs
