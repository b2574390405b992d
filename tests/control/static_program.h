// A program that no preloaded library reaches.
#ifndef NFTJIT_TESTS_CONTROL_STATIC_PROGRAM_H_
#define NFTJIT_TESTS_CONTROL_STATIC_PROGRAM_H_

#include <string>

#include "tests/support/files.h"

namespace nftjit::control {

// A program of a few instructions without a dynamic linker: it opens a netfilter netlink socket by a system call and
// exits with the error number, or with 200 if it got one.
class StaticProgram {
 public:
  StaticProgram() {
    const unsigned char image[] = {
        0x7f, 'E',  'L',  'F', 2,    1, 1,    0, 0,    0,  0,    0, 0,
        0,    0,    0,  // ELF64, little-endian.
        2,    0,    0x3e, 0,   1,    0, 0,    0, 0x78, 0,  0x40, 0, 0,
        0,    0,    0,  // Executable for x86-64, entry 0x400078.
        0x40, 0,    0,    0,   0,    0, 0,    0, 0,    0,  0,    0, 0,
        0,    0,    0,  // Program headers at 0x40.
        0,    0,    0,    0,   0x40, 0, 0x38, 0, 1,    0,  0,    0, 0,
        0,    0,    0,  // One of 56 bytes.
        1,    0,    0,    0,   5,    0, 0,    0, 0,    0,  0,    0, 0,
        0,    0,    0,  // PT_LOAD, read and execute, from offset 0
        0,    0,    0x40, 0,   0,    0, 0,    0, 0,    0,  0x40, 0, 0,
        0,    0,    0,  // to 0x400000,
        0xa8, 0,    0,    0,   0,    0, 0,    0, 0xa8, 0,  0,    0, 0,
        0,    0,    0,                                                  // 0xa8 bytes.
        0,    0x10, 0,    0,   0,    0, 0,    0, 0xb8, 41, 0,    0, 0,  // mov eax, 41 (socket)
        0xbf, 16,   0,    0,   0,                                       // mov edi, AF_NETLINK
        0xbe, 3,    0,    0,   0,                                       // mov esi, SOCK_RAW
        0xba, 12,   0,    0,   0,                                       // mov edx, NETLINK_NETFILTER
        0x0f, 0x05,                                                     // syscall
        0xbf, 200,  0,    0,   0,                                       // mov edi, 200
        0x85, 0xc0,                                                     // test eax, eax
        0x79, 4,                                                        // jns +4
        0xf7, 0xd8,                                                     // neg eax
        0x89, 0xc7,                                                     // mov edi, eax
        0xb8, 60,   0,    0,   0,                                       // mov eax, 60 (exit)
        0x0f, 0x05,                                                     // syscall
        0,    0,    0,    0,   0,    0};
    path_ = folder_.WriteProgram("static", {reinterpret_cast<const char*>(image), sizeof image});
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  testing::Folder folder_;
  std::string path_;
};

}  // namespace nftjit::control

#endif  // NFTJIT_TESTS_CONTROL_STATIC_PROGRAM_H_
