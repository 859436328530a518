#include "view/choose_index.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/utf8.h"
#include "view/synthesized_index.h"

namespace vouchfs::view {
namespace {

using formats::IndexRecord;
using formats::IndexVerdict;

constexpr std::size_t kMostNamed = 20;  // of files or indexes in one message

// "a, b and c"; of very many the first and how many more.
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNamed; ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + printable(names[i]);
  return names.size() > kMostNamed ? text + " and " + std::to_string(names.size() - kMostNamed) + " more" : text;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "./unet/" is the folder "unet" of the table.
std::string plain_folder(std::string folder) {
  while (folder.starts_with("./")) folder.erase(0, 2);
  while (folder.ends_with('/')) folder.pop_back();
  return folder == "." ? std::string() : folder;
}

class Chooser {
 public:
  Chooser(const seal::TensorTable& table, const IndexWish& wish, const std::string& model) : table_(table), wish_(wish), model_(model) {
    if (wish.folder) folder_ = plain_folder(*wish.folder);
  }

  Result<ChosenIndex> choose() const {
    std::vector<const IndexRecord*> fitting;
    std::vector<const IndexRecord*> shown;
    for (const IndexRecord& record : table_.indexes) {
      if (!fits(record.folder, record.file_name)) continue;
      fitting.push_back(&record);
      if (record.shown()) shown.push_back(&record);
    }
    if (shown.size() == 1) return chosen(*shown.front());
    if (shown.size() > 1) return fail(several(paths_of(shown)));
    for (const IndexRecord* record : fitting) VOUCHFS_TRY(check_makeable(*record));
    return choose_single();
  }

 private:
  bool fits(const std::string& folder, const std::string& name) const { return (!folder_ || *folder_ == folder) && (!wish_.name || *wish_.name == name); }

  static std::vector<std::string> paths_of(const std::vector<const IndexRecord*>& records) {
    std::vector<std::string> paths;
    for (const IndexRecord* record : records) paths.push_back(index_path(*record));
    return paths;
  }

  Error several(const std::vector<std::string>& paths) const {
    return make_error(ErrorCode::invalid_argument, "the model has several indexes: " + listed(paths), model_, "choose one with --folder or --name");
  }

  // Why a set of shards has no index in a view.
  Status check_makeable(const IndexRecord& record) const {
    const std::string path = index_path(record);
    if (!record.missing_files.empty())
      return fail(
          ErrorCode::incomplete,
          "an index would make the model look complete, but " + listed(record.missing_files) + (record.missing_files.size() == 1 ? " is" : " are") + " missing",
          model_ + "/" + path, "fetch what is missing, then run this again");
    if (!record.duplicates.empty())
      return fail(ErrorCode::bad_format,
                  "no index can be made: several files hold the tensor '" + printable(record.duplicates.front()) + "'" +
                      (record.duplicates.size() > 1 ? " (and " + std::to_string(record.duplicates.size() - 1) + " more)" : ""),
                  model_ + "/" + path, "take the stray file away");
    if (!record.problems.empty())
      return fail(ErrorCode::bad_format, "no index can be made: " + record.problems.front(), model_ + "/" + path, "see `vouchfs doctor`");
    return {};
  }

  ChosenIndex chosen(const IndexRecord& record) const {
    ChosenIndex index;
    index.record = record;
    index.path = index_path(record);
    const bool makeable = formats::has_headers(record.family) && record.unknown_files.empty();
    if (record.verdict == IndexVerdict::right)
      index.origin = IndexOrigin::published;
    else if (record.verdict == IndexVerdict::wrong)
      index.origin = record.made() ? IndexOrigin::corrected : IndexOrigin::broken;
    if (makeable) index.made = folder_index(table_, record);
    return index;
  }

  // A weight file that no index covers and that holds a model, or at least could.
  std::vector<IndexRecord> singles() const {
    std::set<std::string> covered;
    for (const IndexRecord& record : table_.indexes)
      for (const std::string& member : record.members) covered.insert(record.folder.empty() ? member : record.folder + "/" + member);
    std::vector<IndexRecord> out;
    for (const seal::TableFile& file : table_.files) {
      const auto family = formats::shard_family_of(name_of(file.path));
      if (file.problem || covered.contains(file.path) || !family || !formats::has_headers(*family)) continue;
      IndexRecord record;
      record.folder = folder_of(file.path);
      record.file_name = formats::index_name_of_single(name_of(file.path));
      record.family = *family;
      record.members = {name_of(file.path)};
      if (fits(record.folder, record.file_name)) out.push_back(std::move(record));
    }
    return out;
  }

  Result<ChosenIndex> choose_single() const {
    const std::vector<IndexRecord> found = singles();
    if (found.empty()) return fail(ErrorCode::not_found, nothing_here(), model_, wish_.folder || wish_.name ? "see what there is with `vouchfs ls`" : "");
    if (!wish_.single)
      return fail(ErrorCode::not_found, "loaders need no index here: " + printable(found.front().members.front()) + " is not split", model_,
                  "--single prints one all the same");
    if (found.size() > 1) {
      std::vector<std::string> paths;
      for (const IndexRecord& record : found) paths.push_back(index_path(record) + " (of " + record.members.front() + ")");
      return fail(several(paths));
    }
    ChosenIndex index = chosen(found.front());
    index.origin = IndexOrigin::single;
    return index;
  }

  std::string nothing_here() const {
    if (wish_.folder || wish_.name) return "a view shows no such index, and no weights are there that one could be made of";
    if (std::any_of(table_.files.begin(), table_.files.end(), [](const seal::TableFile& file) { return file.format == "gguf"; }))
      return "has no index: GGUF files need none";
    return "has no index, and no weights that one could be made of";
  }

  const seal::TensorTable& table_;
  const IndexWish& wish_;
  const std::string& model_;
  std::optional<std::string> folder_;
};

}  // namespace

const char* to_string(IndexOrigin origin) noexcept {
  switch (origin) {
    case IndexOrigin::published:
      return "right";
    case IndexOrigin::broken:
      return "wrong";
    case IndexOrigin::corrected:
      return "corrected";
    case IndexOrigin::synthesized:
      return "synthesized";
    case IndexOrigin::single:
      return "single";
  }
  return "synthesized";
}

Result<ChosenIndex> choose_index(const seal::TensorTable& table, const IndexWish& wish, const std::string& model) {
  return Chooser(table, wish, model).choose();
}

}  // namespace vouchfs::view
