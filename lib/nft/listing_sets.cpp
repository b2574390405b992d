// Lines of elements: all that were added by one message, one behind the other.
#include <absl/strings/str_cat.h>

#include "lib/nft/listing_lines.h"

namespace nftjit::nft {

bool LineParser::ReadElements() {
  if (last_set_ == nullptr) return in_.Fail("expected the line of a set in front of its elements");
  while (!in_.AtEnd()) {
    if (in_.PeekToken() != "element") return in_.Fail("expected `element`");
    RawElement element;
    if (!ReadElement(&element)) return false;
    last_set_->elements.push_back(std::move(element));
  }
  return true;
}

bool LineParser::ReadElement(RawElement* element) {
  in_.AcceptToken("element");
  const bool current = dialect_ == ListingDialect::kCurrent;
  const std::string_view next = in_.PeekToken();
  const bool has_key = next != ":" && next != "flags";
  if (has_key && !ReadWords(in_, "", current, &element->key)) return false;
  if (!has_key) element->key.where = in_.here();
  if (in_.AcceptToken("-")) {
    element->has_key_end = true;
    if (!ReadWords(in_, "", current, &element->key_end)) return false;
  }
  if (!(current ? ReadCurrentData(element) : ReadLegacyData(element))) return false;
  if (!has_key && (element->flags & kElementCatchall) == 0) {
    return in_.FailAt(element->key.where, "expected a key, or the flags of a catch-all element (2)");
  }
  return in_.PeekToken() != "userdata" || ReadUserdata(&element->userdata);
}

// `: [DATA] FLAGS [end]`
bool LineParser::ReadLegacyData(RawElement* element) {
  if (!in_.ExpectPunctuation(":")) return false;
  const std::string_view word = in_.PeekWord();
  if (VerdictFromName(word)) {
    if (!ReadVerdict(in_, &element->verdict.emplace(), &element->chain)) return false;
  } else if (word.size() == 8) {
    // The flags are what is no word of 8 digits.
    element->data.where = in_.here();
    while (in_.PeekToken().size() == 8) {
      RawValue word_of_data;
      if (in_.PeekToken().find_first_not_of("0123456789abcdef") != std::string_view::npos) break;
      std::string_view token;
      if (!in_.ReadToken(&token, "a word")) return false;
      element->data.words.push_back(token);
    }
  }
  return in_.ReadNumber(&element->flags, "the flags of the element") && in_.ExpectPunctuation("[end]");
}

// `[: DATA] [flags FLAGS]`
bool LineParser::ReadCurrentData(RawElement* element) {
  if (in_.AcceptToken(":")) {
    const std::string_view word = in_.PeekToken();
    if (last_set_->set.is(kSetObject)) {
      if (!in_.ReadToken(&element->object, "an object")) return false;
    } else if (VerdictFromName(word)) {
      if (!ReadVerdict(in_, &element->verdict.emplace(), &element->chain)) return false;
    } else if (!ReadWords(in_, "", true, &element->data)) {
      return false;
    }
  }
  return !in_.AcceptToken("flags") || in_.ReadNumber(&element->flags, "the flags of the element");
}

}  // namespace nftjit::nft
