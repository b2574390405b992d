// Errors as nf_tables answers them: an errno, the place in the message for the extended ack, and words for people.
#ifndef NFTJIT_LIB_NETLINK_ERROR_H_
#define NFTJIT_LIB_NETLINK_ERROR_H_

#include <cstddef>
#include <string>
#include <utility>
#include <variant>

namespace nftjit::netlink {

struct NetlinkError {
  int error = 0;        // Positive errno.
  size_t offset = 0;    // Of the bad attribute's header from the start of the message (its nlmsghdr); 0: none.
  std::string message;  // Lower case, names the thing and what was expected; may be empty.
};

// A value or the error that stands for it. Reading the one that is not there is a broken invariant.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(NetlinkError error)
      : value_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool ok() const { return value_.index() == 0; }
  [[nodiscard]] const NetlinkError& error() const { return std::get<1>(value_); }
  [[nodiscard]] T& value() & { return std::get<0>(value_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(value_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(value_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, NetlinkError> value_;
};

}  // namespace nftjit::netlink

#endif  // NFTJIT_LIB_NETLINK_ERROR_H_
