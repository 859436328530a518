#include "view/pin_fill.h"

#include "view/sealed_model.h"

namespace vouchfs::view {
namespace {

constexpr std::size_t kPieceBytes = 1U << 20;  // as the kernel asks for it, so that the fill is recognized as a stream

}  // namespace

Status fill_pinned(const Node& node, const PinSink& sink, const CancelFlag& cancel) {
  auto buffer = node.model->runtime().buffers.lease(kPieceBytes + 2 * kBlockBytes);
  for (std::uint64_t at = 0; at < node.bytes;) {
    VOUCHFS_TRY(cancel.check());
    VOUCHFS_ASSIGN(const verify::ByteParts bytes, node.model->serve(node.file_index, at, kPieceBytes, *buffer, Caller{}));
    const std::uint64_t before = at;
    for (std::size_t i = 0; i < bytes.count; ++i) {
      VOUCHFS_TRY(sink(bytes.parts[i]));
      at += bytes.parts[i].size();
    }
    if (at == before) return fail(ErrorCode::internal, "a piece of a file came back empty", node.name);
  }
  return {};
}

}  // namespace vouchfs::view
