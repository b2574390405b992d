/* The client must not reach the kernel's netlink by any other way than libmnl. */
#include <dlfcn.h>
#include <sys/socket.h>

#include "tools/preload/connection.h"

NFTJIT_EXPORT int socket(int domain, int type, int protocol) {
  if (domain == AF_NETLINK) Refuse("the client opens a netlink socket without libmnl", NULL);
  static int (*real)(int, int, int);
  if (real == NULL) real = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
  return real(domain, type, protocol);
}
