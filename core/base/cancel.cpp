#include "base/cancel.h"

namespace vouchfs {

Status CancelFlag::check() const {
  if (requested()) return fail(ErrorCode::cancelled, "stopped on request");
  return {};
}

}  // namespace vouchfs
