// What the listing's parser has read so far: tables with their things by name, and text that waits for its meaning.
#ifndef NFTJIT_LIB_NFT_LISTING_BUILDER_H_
#define NFTJIT_LIB_NFT_LISTING_BUILDER_H_

#include <absl/container/flat_hash_map.h>

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/nft/listing_parser.h"
#include "lib/nft/value_types.h"

namespace nftjit::nft {

// A constant as written: words of hex digits, field by field.
struct RawValue {
  std::vector<std::string_view> words;
  std::vector<size_t> field_words;  // How many each field has; empty: one field.
  SourcePos where;
};

// An element as written.
struct RawElement {
  RawValue key, key_end, data;
  bool has_key_end = false;
  std::optional<VerdictCode> verdict;
  std::string_view chain;  // Of the verdict.
  std::string_view object;
  uint32_t flags = 0;
  std::string userdata;
};

// A set, and what its users say of it.
struct RawSet {
  Set set;
  SourcePos where;
  size_t sequence = 0;  // Order of declaration.
  bool declared = true;
  std::vector<RawElement> elements;
  SetShape shape;
  bool key_is_certain = true;  // The registers leave no doubt where the key ends.
  bool gives_verdicts = false;

  // How many words the elements have; empty if there are none.
  [[nodiscard]] std::optional<size_t> key_words() const;
  [[nodiscard]] std::optional<size_t> data_words() const;
  // Of the data, as far as the current dialect shows them: `words` with the lengths of the fields of the first element.
  [[nodiscard]] const RawValue* first_data() const;
};

// A table being read, with its things by name.
struct RawTable {
  Table table;
  Handle last_handle = 0;
  std::vector<std::unique_ptr<RawSet>> sets;
  absl::flat_hash_map<std::string, size_t> chain_index, flowtable_index;
  absl::flat_hash_map<std::string, RawSet*> set_index;  // Not of anonymous sets.
  absl::flat_hash_map<Handle, RawSet*> set_by_handle;
  absl::flat_hash_map<std::pair<int, std::string>, size_t> object_index;
  // What was mentioned and not yet declared, and where first; by position in `table`.
  absl::flat_hash_map<size_t, SourcePos> undeclared_chains, undeclared_objects, undeclared_flowtables;

  Chain& ChainByName(std::string_view name, const SourcePos& where);
  Handle ObjectByName(ObjectType type, std::string_view name, const SourcePos& where);
  Handle FlowtableByName(std::string_view name, const SourcePos& where);
  void DeclareObject(Object object);
  void DeclareFlowtable(Flowtable flowtable);
  RawSet* AddSet(std::unique_ptr<RawSet> set);
};

class ListingBuilder {
 public:
  RawTable& TableByName(Family family, std::string_view name);
  void Lose(const SourcePos& where, std::string what) { losses_.push_back({where, std::move(what)}); }

  // Set lines name no family: a set waits until a rule of a table of that name uses it, or the text ends.
  RawSet* AddPendingSet(std::unique_ptr<RawSet> set, std::string_view table);
  // The latest set that lines called so; null if there is none.
  RawSet* LatestSet(std::string_view table, std::string_view name);
  // The set that the next rule of `table` means by `name`. One called `__set%d` is the next that waits.
  RawSet* UseSet(RawTable& table, std::string_view name, const SourcePos& where);
  // Anonymous sets that wait for a rule are not those of a later one.
  void EndRule();
  // Object and flowtable lines name no family, either.
  void AddObject(std::string_view table, Object object) { objects_.emplace_back(table, std::move(object)); }
  void AddFlowtable(std::string_view table, Flowtable flowtable) {
    flowtables_.emplace_back(table, std::move(flowtable));
  }

  // Gives what waits to its table (`family`: of a table that no line gave one), and elements their meaning.
  absl::StatusOr<Listing> Finish(ListingDialect dialect, Family family);

 private:
  using SetKey = std::pair<std::string, std::string>;  // Table and set.
  void PlacePending(Family family);
  void NoteUndeclared(const RawTable& table);
  RawTable& AnyTable(std::string_view name, Family family);

  std::deque<RawTable> tables_;
  absl::flat_hash_map<std::pair<int, std::string>, RawTable*> table_index_;
  absl::flat_hash_map<std::string, std::vector<RawTable*>> tables_by_name_;  // Of all families.
  absl::flat_hash_map<SetKey, std::deque<std::unique_ptr<RawSet>>> pending_;
  absl::flat_hash_map<SetKey, RawSet*> latest_;
  std::vector<SetKey> waiting_for_rule_;
  std::vector<std::pair<std::string, std::unique_ptr<RawSet>>> unused_;
  std::vector<std::pair<std::string, Object>> objects_;
  std::vector<std::pair<std::string, Flowtable>> flowtables_;
  std::vector<ListingLoss> losses_;
  size_t sequence_ = 0;
};

// The set with its elements decoded, its lengths and its type filled in.
absl::Status FinishSet(RawTable& table, RawSet& raw, ListingDialect dialect, std::vector<ListingLoss>& losses);

// The bytes that `raw` stands for if its fields have these types. `lost` receives what the text does not tell.
absl::StatusOr<std::string> DecodeValue(const RawValue& raw, std::span<const ValueType> types, ListingDialect dialect,
                                        std::string* lost);

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_LISTING_BUILDER_H_
