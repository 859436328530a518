#include "view/mount_view.h"

#include <sys/stat.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>

#include "view/model_layout.h"
#include "view/node_tree.h"
#include "view/status_json.h"

namespace vouchfs::view {
namespace {

constexpr std::string_view kPrefix = "user.vouch.";

// When the seal was published. Never from a model file: those may change.
Result<std::int64_t> published_at(const seal::OpenedSeal& seal) {
  struct stat facts {};
  if (fstatat(seal.directory.get(), seal::kManifestName, &facts, 0) != 0)
    return fail(errno_error(errno, "cannot look at the manifest", seal.path + "/" + seal::kManifestName));
  return facts.st_mtim.tv_sec;
}

Status check_store_name(const std::string& name) {
  const bool plain =
      !name.empty() && name != "." && name != ".." && name.size() <= seal::kMaxNameBytes && name.find_first_of(std::string("/\0", 2)) == std::string::npos;
  if (plain) return {};
  return fail(ErrorCode::invalid_argument, "is no plain file name that a model in a store could be shown under", name, "rename the folder of the model");
}

std::string store_index(const std::vector<std::unique_ptr<SealedModel>>& models) {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& model : models) {
    const auto& files = model->seal().manifest.files;
    std::uint64_t bytes = 0;
    for (const auto& file : files) bytes += file.bytes;
    rows.push_back({{"name", model->name()}, {"digest", hash::to_text(model->seal().model_digest)}, {"files", files.size()}, {"bytes", bytes}});
  }
  return nlohmann::json({{"models", std::move(rows)}}).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

struct MountView::Impl {
  Impl(std::vector<std::unique_ptr<SealedModel>> models_in, Runtime& runtime_in) : models(std::move(models_in)), runtime(runtime_in) {}

  std::vector<std::unique_ptr<SealedModel>> models;  // sorted by name
  Runtime& runtime;
  NodeTree tree;
  mutable std::mutex mutex;
  MountFacts facts;  // guarded by mutex

  Status add_model(SealedModel& model, const NodeScope& scope);
  Status add_single();
  Status add_store();
  Status add_from_store(SealedModel& model, std::int64_t mtime_seconds);
};

Status MountView::Impl::add_model(SealedModel& model, const NodeScope& scope) {
  for (const NewNode& file : model_layout(model, tree, *runtime.engine)) VOUCHFS_TRY(tree.add_file(scope, file));
  for (const observe::Event& event : index_events(model)) runtime.events.record(event);
  return {};
}

Status MountView::Impl::add_single() {
  SealedModel& model = *models.front();
  VOUCHFS_ASSIGN(const std::int64_t mtime, published_at(model.seal()));
  tree.set_root(&model, mtime);
  return add_model(model, {kRootId, &model, model.seal().model_digest, {}, mtime});
}

Status MountView::Impl::add_from_store(SealedModel& model, std::int64_t mtime_seconds) {
  NodeScope scope{kRootId, &model, model.seal().model_digest, model.name(), mtime_seconds};
  VOUCHFS_ASSIGN(scope.top, tree.add_model_folder(scope, model.name()));
  return add_model(model, scope);
}

Status MountView::Impl::add_store() {
  std::vector<std::int64_t> published;
  for (const auto& model : models) {
    VOUCHFS_TRY(check_store_name(model->name()));
    VOUCHFS_ASSIGN(const std::int64_t mtime, published_at(model->seal()));
    published.push_back(mtime);
  }
  NodeScope own;
  own.mtime_seconds = published.empty() ? 0 : *std::max_element(published.begin(), published.end());
  tree.set_root(nullptr, own.mtime_seconds);
  VOUCHFS_TRY(tree.add_file(own, live_file(".vouch/events.jsonl", LiveContent::events)));
  VOUCHFS_TRY(tree.add_file(own, live_file(".vouch/status.json", LiveContent::status)));
  VOUCHFS_TRY(tree.add_file(own, fixed_file("index.json", "the list of models", tree.keep(store_index(models)), *runtime.engine)));
  for (std::size_t i = 0; i < models.size(); ++i) VOUCHFS_TRY(add_from_store(*models[i], published[i]));
  return {};
}

MountView::MountView(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MountView::~MountView() = default;

Result<std::unique_ptr<MountView>> MountView::of_model(std::unique_ptr<SealedModel> model, Runtime& runtime) {
  std::vector<std::unique_ptr<SealedModel>> models;
  models.push_back(std::move(model));
  auto impl = std::make_unique<Impl>(std::move(models), runtime);
  VOUCHFS_TRY(impl->add_single());
  impl->tree.finish();
  return std::unique_ptr<MountView>(new MountView(std::move(impl)));
}

Result<std::unique_ptr<MountView>> MountView::of_store(std::vector<std::unique_ptr<SealedModel>> models, Runtime& runtime) {
  std::sort(models.begin(), models.end(), [](const auto& a, const auto& b) { return a->name() < b->name(); });
  auto impl = std::make_unique<Impl>(std::move(models), runtime);
  VOUCHFS_TRY(impl->add_store());
  impl->tree.finish();
  return std::unique_ptr<MountView>(new MountView(std::move(impl)));
}

const Node* MountView::find(std::uint64_t id) const { return impl_->tree.find(id); }
const Node* MountView::lookup(std::uint64_t parent, std::string_view name) const { return impl_->tree.lookup(parent, name); }
std::size_t MountView::node_count() const { return impl_->tree.size(); }
std::uint64_t MountView::total_bytes() const { return impl_->tree.total_bytes(); }
const std::vector<std::unique_ptr<SealedModel>>& MountView::models() const noexcept { return impl_->models; }
Runtime& MountView::runtime() const noexcept { return impl_->runtime; }

std::string MountView::live_content(const Node& node) const {
  const auto model = node.model == nullptr ? std::nullopt : std::optional(node.model->name());
  switch (node.live) {
    case LiveContent::status:
      return status_json(model) + "\n";
    case LiveContent::events:
      return impl_->runtime.events.to_json_lines(model);
    case LiveContent::none:
      break;
  }
  return {};
}

std::vector<std::string> MountView::attribute_names(const Node& node) const {
  std::vector<std::string> names;
  for (const char* name : {"fsverity", "sha256", "state", "model"}) {
    std::string full = std::string(kPrefix) + name;
    if (attribute(node, full)) names.push_back(std::move(full));
  }
  return names;
}

std::optional<std::string> MountView::attribute(const Node& node, std::string_view name) const {
  if (name.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  if (name == "model") return node.model == nullptr ? std::nullopt : std::optional(hash::to_text(node.model->seal().model_digest));
  const bool sealed = node.kind == NodeKind::sealed_file;
  if (!sealed && node.kind != NodeKind::fixed_file) return std::nullopt;
  if (name == "fsverity") return hash::to_text(node.fsverity);
  if (name == "sha256") return hash::to_hex(node.sha256);
  if (name == "state") return to_string(sealed ? node.model->state(node.file_index) : FileState::ok);
  return std::nullopt;
}

void MountView::set_facts(MountFacts facts) {
  const std::lock_guard lock(impl_->mutex);
  impl_->facts = std::move(facts);
}

std::string MountView::status_json(const std::optional<std::string>& only_model) const {
  MountFacts facts;
  {
    const std::lock_guard lock(impl_->mutex);
    facts = impl_->facts;
  }
  return view::status_json(impl_->models, impl_->runtime, facts, only_model);
}

}  // namespace vouchfs::view
