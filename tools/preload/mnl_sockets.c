/* libmnl's sockets, with our server at the other end.
 *
 * The descriptor handed out is an eventfd in semaphore mode that counts the datagrams waiting, so that select and poll
 * tell the truth without being intercepted. Replies are complete before the call that asked for them returns; so an
 * empty queue stays empty, and a receive on it fails with EAGAIN even on a blocking socket. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/preload/connection.h"

struct mnl_socket {
  struct mnl_socket* next;
  int fd;
  uint16_t bus;
  struct datagram* first;
  struct datagram** tail;
};

static struct mnl_socket* sockets;
static pthread_mutex_t sockets_lock = PTHREAD_MUTEX_INITIALIZER;

/* Null for descriptors that are not ours. */
static struct mnl_socket* FindSocket(int fd) {
  pthread_mutex_lock(&sockets_lock);
  struct mnl_socket* found = sockets;
  while (found != NULL && found->fd != fd) found = found->next;
  pthread_mutex_unlock(&sockets_lock);
  return found;
}

NFTJIT_EXPORT struct mnl_socket* mnl_socket_open2(int bus, int flags) {
  if (!Connected()) Refuse(NFTJIT_FD_VARIABLE " is not set: this client has no server to talk to", NULL);
  if (bus != NETLINK_NETFILTER && bus != NETLINK_ROUTE) {
    char number[16];
    snprintf(number, sizeof number, "%d", bus);
    Refuse("the client opens a netlink socket of an unknown protocol", number);
  }
  const int nonblock = (flags & SOCK_NONBLOCK) != 0 ? EFD_NONBLOCK : 0;
  const int fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC | nonblock);
  if (fd < 0) return NULL;
  struct mnl_socket* nl = calloc(1, sizeof *nl);
  if (nl == NULL) {
    close(fd);
    return NULL;
  }
  nl->fd = fd;
  nl->bus = (uint16_t)bus;
  nl->tail = &nl->first;
  pthread_mutex_lock(&sockets_lock);
  nl->next = sockets;
  sockets = nl;
  pthread_mutex_unlock(&sockets_lock);
  return nl;
}

NFTJIT_EXPORT struct mnl_socket* mnl_socket_open(int bus) { return mnl_socket_open2(bus, 0); }

NFTJIT_EXPORT struct mnl_socket* mnl_socket_fdopen(int fd) {
  (void)fd;
  Refuse("the client hands a netlink descriptor of its own to libmnl", NULL);
}

/* Groups of listeners: this server tells of changes only whoever asked for an echo of their own. */
static _Noreturn void RefuseGroups(void) { Refuse("the client asks to be told of changes (monitor)", "not supported"); }

NFTJIT_EXPORT int mnl_socket_bind(struct mnl_socket* nl, unsigned int groups, pid_t pid) {
  (void)nl;
  (void)pid;
  if (groups != 0) RefuseGroups();
  return 0;
}

NFTJIT_EXPORT int mnl_socket_get_fd(const struct mnl_socket* nl) { return nl->fd; }

/* 0, which libmnl's callback runner takes as "do not check". The server sends port id 0. */
NFTJIT_EXPORT unsigned int mnl_socket_get_portid(const struct mnl_socket* nl) {
  (void)nl;
  return 0;
}

NFTJIT_EXPORT int mnl_socket_close(struct mnl_socket* nl) {
  pthread_mutex_lock(&sockets_lock);
  struct mnl_socket** link = &sockets;
  while (*link != NULL && *link != nl) link = &(*link)->next;
  if (*link == nl) *link = nl->next;
  pthread_mutex_unlock(&sockets_lock);
  while (nl->first != NULL) {
    struct datagram* datagram = nl->first;
    nl->first = datagram->next;
    free(datagram);
  }
  const int result = close(nl->fd);
  free(nl);
  return result;
}

static ssize_t Send(struct mnl_socket* nl, const struct iovec* parts, size_t count) {
  struct datagram* reply;
  const uint64_t datagrams = Exchange(nl->bus, parts, count, &reply);
  if (datagrams > 0) {
    *nl->tail = reply;
    while (*nl->tail != NULL) nl->tail = &(*nl->tail)->next;
    if (write(nl->fd, &datagrams, sizeof datagrams) != sizeof datagrams) Refuse("eventfd", strerror(errno));
  }
  ssize_t length = 0;
  for (size_t i = 0; i < count; ++i) length += (ssize_t)parts[i].iov_len;
  return length;
}

NFTJIT_EXPORT ssize_t mnl_socket_sendto(const struct mnl_socket* nl, const void* bytes, size_t length) {
  const struct iovec part = {.iov_base = (void*)bytes, .iov_len = length};
  return Send((struct mnl_socket*)nl, &part, 1);
}

NFTJIT_EXPORT ssize_t mnl_socket_recvfrom(const struct mnl_socket* const_nl, void* bytes, size_t size) {
  struct mnl_socket* nl = (struct mnl_socket*)const_nl;
  struct datagram* datagram = nl->first;
  if (datagram == NULL) {
    errno = EAGAIN;
    return -1;
  }
  uint64_t one;
  if (read(nl->fd, &one, sizeof one) != sizeof one) Refuse("eventfd", strerror(errno));
  nl->first = datagram->next;
  if (nl->first == NULL) nl->tail = &nl->first;
  const size_t length = datagram->length;
  if (length <= size) memcpy(bytes, datagram->bytes, length);
  free(datagram);
  if (length > size) {
    errno = ENOSPC; /* As libmnl reports a datagram that does not fit. */
    return -1;
  }
  return (ssize_t)length;
}

NFTJIT_EXPORT int mnl_socket_setsockopt(const struct mnl_socket* nl, int type, void* value, socklen_t length) {
  (void)nl;
  (void)value;
  (void)length;
  if (type == NETLINK_ADD_MEMBERSHIP) RefuseGroups();
  return 0; /* Extended acks are always on; capped acks mean nothing here. */
}

NFTJIT_EXPORT int mnl_socket_getsockopt(const struct mnl_socket* nl, int type, void* value, socklen_t* length) {
  (void)nl;
  (void)type;
  memset(value, 0, *length);
  return 0;
}

/* Batches go past libmnl, as one message of many pages. */
NFTJIT_EXPORT ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  struct mnl_socket* nl = FindSocket(fd);
  if (nl != NULL) return Send(nl, message->msg_iov, message->msg_iovlen);
  static ssize_t (*real)(int, const struct msghdr*, int);
  if (real == NULL) real = (ssize_t(*)(int, const struct msghdr*, int))dlsym(RTLD_NEXT, "sendmsg");
  return real(fd, message, flags);
}

/* Clients size the buffers of their netlink sockets; ours have no limit. */
NFTJIT_EXPORT int setsockopt(int fd, int level, int option, const void* value, socklen_t length) {
  if (FindSocket(fd) != NULL) return 0;
  static int (*real)(int, int, int, const void*, socklen_t);
  if (real == NULL) real = (int (*)(int, int, int, const void*, socklen_t))dlsym(RTLD_NEXT, "setsockopt");
  return real(fd, level, option, value, length);
}

NFTJIT_EXPORT int getsockopt(int fd, int level, int option, void* value, socklen_t* length) {
  if (FindSocket(fd) != NULL) {
    memset(value, 0, *length);
    if (level == SOL_SOCKET && (option == SO_SNDBUF || option == SO_RCVBUF) && *length >= sizeof(int)) {
      const int size = NFTJIT_FRAME_LIMIT;
      memcpy(value, &size, sizeof size);
    }
    return 0;
  }
  static int (*real)(int, int, int, void*, socklen_t*);
  if (real == NULL) real = (int (*)(int, int, int, void*, socklen_t*))dlsym(RTLD_NEXT, "getsockopt");
  return real(fd, level, option, value, length);
}
