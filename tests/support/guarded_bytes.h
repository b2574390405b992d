// Bytes that end at a page without access rights: any read past them ends the process, also one by generated code.
#ifndef NFTJIT_TESTS_SUPPORT_GUARDED_BYTES_H_
#define NFTJIT_TESTS_SUPPORT_GUARDED_BYTES_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <span>

namespace nftjit::testing {

class GuardedBytes {
 public:
  explicit GuardedBytes(std::span<const uint8_t> bytes) : size_(bytes.size()) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t room = (bytes.size() + page - 1) / page * page;
    mapped_ = room + page;
    void* map = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    map_ = static_cast<uint8_t*>(map);
    if (mprotect(map_ + room, page, PROT_NONE) != 0) throw std::bad_alloc();
    end_ = map_ + room;
    if (!bytes.empty()) std::memcpy(data(), bytes.data(), bytes.size());
  }
  ~GuardedBytes() { munmap(map_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  [[nodiscard]] uint8_t* data() const { return end_ - size_; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] std::span<uint8_t> span() const { return {data(), size_}; }

  // Cuts bytes off at the front's end: keeps the first `size` bytes, moved against the guard page.
  void Truncate(size_t size) {
    std::memmove(end_ - size, data(), size);
    size_ = size;
  }

 private:
  uint8_t* map_ = nullptr;
  uint8_t* end_ = nullptr;
  size_t mapped_ = 0, size_ = 0;
};

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_GUARDED_BYTES_H_
