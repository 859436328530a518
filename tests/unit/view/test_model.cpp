#include "unit/view/test_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "ingest/ingest.h"
#include "merkle/digest_file.h"
#include "merkle/tree_builder.h"
#include "seal/seal_directory.h"

namespace vouchfs::view::test {
namespace fs = std::filesystem;
namespace {

std::span<const std::uint8_t> as_bytes(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// Writes the tree of one file and gives its digest.
hash::Digest write_tree(const std::string& seal_dir, const std::string& bytes) {
  std::string tree(merkle::Geometry(bytes.size()).tree_bytes(), '\0');
  merkle::TreeBuilder builder(bytes.size(), engine(), [&](std::uint64_t block, std::span<const std::uint8_t> content) -> Status {
    std::copy(content.begin(), content.end(), tree.begin() + static_cast<std::ptrdiff_t>(block * kBlockBytes));
    return {};
  });
  EXPECT_TRUE(builder.append(as_bytes(bytes)));
  const auto built = builder.finish();
  EXPECT_TRUE(built);
  if (!tree.empty()) write_file(seal_dir + "/" + seal::tree_path(built->digest), tree);
  return built->digest;
}

void list_below(const MountView& view, const Node& folder, const std::string& prefix, std::vector<std::string>& out) {
  for (const std::uint64_t id : folder.children) {
    const Node& node = *view.find(id);
    const bool is_folder = node.kind == NodeKind::folder;
    out.push_back(prefix + node.name + (is_folder ? "/" : ""));
    if (is_folder) list_below(view, node, prefix + node.name + "/", out);
  }
}

}  // namespace

TempDir::TempDir() {
  std::string name = (fs::temp_directory_path() / "vouchfs-view-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = fs::canonical(name).string();
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_file(const std::string& path, const std::string& bytes) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void flip(const std::string& path, std::uint64_t offset) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(offset));
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
  ASSERT_TRUE(file.good());
}

std::string noise(std::size_t bytes, unsigned seed) {
  std::mt19937 generator(seed);
  std::string out(bytes, '\0');
  std::generate(out.begin(), out.end(), [&] { return static_cast<char>(generator() & 0xFFU); });
  return out;
}

std::string safetensors(const std::vector<Weight>& weights, unsigned seed) {
  nlohmann::json header = nlohmann::json::object();
  std::uint64_t at = 0;
  for (const Weight& weight : weights) {
    header[weight.name] = {{"dtype", "U8"}, {"shape", {weight.bytes}}, {"data_offsets", {at, at + weight.bytes}}};
    at += weight.bytes;
  }
  const std::string text = header.dump();
  std::string out;
  for (unsigned shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(text.size() >> shift & 0xFFU));
  return out + text + noise(at, seed);
}

std::uint64_t data_offset(const std::string& file_bytes) {
  std::uint64_t header = 0;
  for (std::size_t i = 8; i-- > 0;) header = header << 8 | static_cast<unsigned char>(file_bytes[i]);
  return 8 + header;
}

std::string publisher_index(const std::map<std::string, std::string>& weight_map, std::uint64_t total_size) {
  return nlohmann::json({{"metadata", {{"total_size", total_size}, {"who", "publisher"}}}, {"weight_map", weight_map}}).dump(3) + "\n\n";
}

std::shared_ptr<const hash::Sha256Engine> engine() {
  static const auto shared = hash::choose_engine(std::nullopt).engine;
  return shared;
}

void seal_model(const std::string& model_dir) {
  ingest::IngestOptions options;
  options.model_dir = model_dir;
  options.jobs = 1;
  ingest::IngestProgress progress;
  const CancelFlag never;
  const auto report = ingest::ingest(options, engine(), progress, never);
  ASSERT_TRUE(report) << report.error().describe();
}

void seal_by_hand(const std::string& model_dir, const std::map<std::string, std::string>& files, const seal::TensorTable& table) {
  const std::string seal_dir = model_dir + "/.vouch";
  const std::string table_text = seal::write_tensor_table(table);
  seal::Manifest manifest;
  for (const auto& [path, bytes] : files) {
    write_file(model_dir + "/" + path, bytes);
    manifest.files.push_back({path, bytes.size(), write_tree(seal_dir, bytes), hash::sha256(bytes)});
  }
  manifest.tensors_bytes = table_text.size();
  manifest.tensors_fsverity = merkle::digest_bytes(as_bytes(table_text), *engine());
  write_file(seal_dir + "/" + seal::table_path(manifest.tensors_fsverity), table_text);
  write_file(seal_dir + "/" + seal::kManifestName, seal::write_manifest(manifest));
}

Opened open_model(const std::string& model_dir, KnownBadPolicy policy) {
  Opened out{std::make_unique<Runtime>(engine()), nullptr};
  ModelOptions options;
  options.model_dir = model_dir;
  options.policy = policy;
  auto model = SealedModel::open(options, *out.runtime);
  if (model) out.model = std::move(*model);
  EXPECT_TRUE(model) << model.error().describe();
  return out;
}

Result<std::unique_ptr<MountView>> try_mount(const std::string& model_dir, Runtime& runtime) {
  ModelOptions options;
  options.model_dir = model_dir;
  VOUCHFS_ASSIGN(auto model, SealedModel::open(options, runtime));
  return MountView::of_model(std::move(model), runtime);
}

Mounted mount_model(const std::string& model_dir) {
  Mounted out{std::make_unique<Runtime>(engine()), nullptr};
  auto view = try_mount(model_dir, *out.runtime);
  if (!view) throw std::runtime_error(view.error().describe());
  out.view = std::move(*view);
  return out;
}

const Node* Mounted::at(const std::string& path) const {
  const Node* node = view->find(kRootId);
  std::istringstream names(path);
  for (std::string name; node != nullptr && std::getline(names, name, '/');) node = view->lookup(node->id, name);
  return node;
}

std::vector<std::string> Mounted::paths() const {
  std::vector<std::string> out;
  list_below(*view, *view->find(kRootId), "", out);
  std::sort(out.begin(), out.end());
  return out;
}

std::string Mounted::bytes(const std::string& path) const {
  const Node* node = at(path);
  if (node == nullptr) throw std::runtime_error("no " + path);
  if (node->kind == NodeKind::fixed_file) return std::string(node->content);
  if (node->kind == NodeKind::live_file) return view->live_content(*node);
  AlignedBuffer buffer;
  const auto read = node->model->read(node->file_index, 0, node->bytes, buffer, {});
  if (!read) throw std::runtime_error(read.error().describe());
  return {read->begin(), read->end()};
}

bool Mounted::readable(const std::string& path) const {
  try {
    return bytes(path), true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace vouchfs::view::test
