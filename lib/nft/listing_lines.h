// The lines of a listing, read in one dialect; private to the parser.
#ifndef NFTJIT_LIB_NFT_LISTING_LINES_H_
#define NFTJIT_LIB_NFT_LISTING_LINES_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/nft/listing_reader.h"

namespace nftjit::nft {

class LineParser {
 public:
  LineParser(const ListingParseOptions& options, ListingDialect dialect)
      : options_(options), dialect_(dialect), in_(options.file_name, true) {}

  absl::StatusOr<Listing> Run(std::string_view text);
  // Constants that this dialect would not have printed so.
  [[nodiscard]] size_t misfits() const { return misfits_; }

 private:
  // Each takes the line at the cursor; false after an error, which the cursor or `status_` has.
  bool ReadLine();
  bool ReadExpressionLine();
  bool ReadRuleUserdata();
  bool ReadUserdata(std::string* userdata);
  bool ReadFamilyLine(Family family);
  bool ReadRuleHeader(Family family, std::vector<std::string_view>& words);
  bool ReadSetLine();
  bool ReadSetAttributes(Set& set);
  // listing_sets.cpp.
  bool ReadElements();
  bool ReadElement(RawElement* element);
  bool ReadLegacyData(RawElement* element);
  bool ReadCurrentData(RawElement* element);
  // listing_declarations.cpp.
  bool ReadChainLine(Family family, std::string_view table, std::string_view chain);
  bool ReadBase(Family family, Chain& chain);
  bool ReadDevices(std::vector<Device>* devices);
  bool ReadTableOrObjectLine();
  bool ReadObjectBody(Object* object);
  bool ReadFlowtableLine();

  bool FinishRule();
  bool Check(absl::Status status);
  RawTable& table() { return *table_; }

  const ListingParseOptions& options_;
  ListingDialect dialect_;
  LineCursor in_;
  absl::Status status_;
  ListingBuilder builder_;
  size_t misfits_ = 0;
  uint64_t registrations_ = 0;
  bool in_nft_text_ = false;
  int depth_ = 0;  // Of its braces.

  // The rule being read.
  RawTable* table_ = nullptr;
  std::string chain_name_;
  SourcePos rule_where_;
  std::vector<RawExpression> rule_;
  bool rule_open_ = false;
  bool in_memory_order_ = false;
  // What user data and elements after it belong to.
  Rule* last_rule_ = nullptr;
  RawSet* last_set_ = nullptr;
  RawTable* set_table_ = nullptr;  // Where its elements' verdicts and objects are looked for.
  std::string set_table_name_;
};

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_LISTING_LINES_H_
