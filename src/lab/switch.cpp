/// @file
/// An Ethernet switch in user space that delivers every frame a fixed time after it came, for scripts/lab
/// --latency where the kernel has no netem.
///
/// usage: steelyard-lab-switch MICROSECONDS PORT PORT...
///
/// Ports are interfaces of this network namespace. Frames cross as the kernel holds them, up to 64 KiB before
/// segmentation (virtio headers), so a few thousand system calls a second carry a gigabit. Prints "ready",
/// then runs until it is killed.

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace {

// struct virtio_net_hdr; it only passes through. (Its kernel header is no C++.)
constexpr std::size_t kVirtioHeader = 10;
constexpr std::size_t kLargestFrame = kVirtioHeader + ETH_HLEN + 4 + 65536;
constexpr int kBufferBytes = 64 << 20;
constexpr int kBurst = 32;  // Frames taken from a port before the others have their turn.

using Address = std::array<std::uint8_t, ETH_ALEN>;
using Bytes = std::vector<std::uint8_t>;

[[noreturn]] void fail(const char* what, const char* detail) {
  std::fprintf(stderr, "steelyard-lab-switch: %s %s: %s\n", what, detail, std::strerror(errno));
  std::exit(1);
}

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

struct Frame {
  std::int64_t due_ns = 0;
  std::size_t from = 0;  ///< Port.
  Bytes bytes;           ///< virtio header, then the Ethernet frame.
};

/// Opens an interface for whole frames. Sending goes through its queueing discipline, so its shaping holds.
int open_port(const char* name) {
  const int port = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (port < 0) fail("cannot open a packet socket for", name);
  const int on = 1;
  if (setsockopt(port, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) != 0) fail("no virtio headers on", name);
  if (setsockopt(port, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) != 0) fail("cannot set up", name);
  for (const int option : {SO_RCVBUFFORCE, SO_SNDBUFFORCE})
    if (setsockopt(port, SOL_SOCKET, option, &kBufferBytes, sizeof kBufferBytes) != 0)
      fail("cannot set the buffers of", name);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(name));
  if (address.sll_ifindex == 0) fail("there is no interface", name);
  packet_mreq everything{};
  everything.mr_ifindex = address.sll_ifindex;
  everything.mr_type = PACKET_MR_PROMISC;
  if (setsockopt(port, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &everything, sizeof everything) != 0)
    fail("cannot listen to all of", name);
  if (bind(port, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("cannot bind", name);
  return port;
}

class Switch {
 public:
  Switch(std::int64_t latency_ns, std::vector<int> ports)
      : latency_ns_(latency_ns), ports_(std::move(ports)) {
    for (const int port : ports_) polls_.push_back({port, POLLIN, 0});
  }

  [[noreturn]] void run() {
    for (;;) {
      wait();
      for (std::size_t port = 0; port < ports_.size(); ++port)
        if ((polls_[port].revents & POLLIN) != 0) take(port);
      deliver();
    }
  }

 private:
  /// Until a frame arrives or the oldest is due.
  void wait() {
    timespec limit{};
    const timespec* patience = nullptr;
    if (!waiting_.empty()) {
      const std::int64_t left = std::max<std::int64_t>(waiting_.front().due_ns - now_ns(), 0);
      limit = {left / 1'000'000'000, left % 1'000'000'000};
      patience = &limit;
    }
    ppoll(polls_.data(), polls_.size(), patience, nullptr);
  }

  void take(std::size_t port) {
    for (int i = 0; i < kBurst; ++i) {
      Bytes bytes = spare();
      const ssize_t size = recv(ports_[port], bytes.data(), bytes.size(), 0);
      if (size < static_cast<ssize_t>(kVirtioHeader + ETH_HLEN)) {
        spare_.push_back(std::move(bytes));
        return;
      }
      bytes.resize(static_cast<std::size_t>(size));
      port_of_[address(bytes, ETH_ALEN)] = port;
      waiting_.push_back({now_ns() + latency_ns_, port, std::move(bytes)});
    }
  }

  /// All frames that are due; they came in the order in which they go.
  void deliver() {
    for (const std::int64_t now = now_ns(); !waiting_.empty() && waiting_.front().due_ns <= now;) {
      Frame frame = std::move(waiting_.front());
      waiting_.pop_front();
      const auto known = port_of_.find(address(frame.bytes, 0));
      for (std::size_t port = 0; port < ports_.size(); ++port)
        if (port != frame.from && (known == port_of_.end() || known->second == port))
          send_out(port, frame.bytes);
      spare_.push_back(std::move(frame.bytes));
    }
  }

  /// A full queue of the kernel loses the frame, as a real switch would.
  void send_out(std::size_t port, const Bytes& bytes) const {
    while (send(ports_[port], bytes.data(), bytes.size(), 0) < 0 && errno == EINTR) {
    }
  }

  static Address address(const Bytes& bytes, std::size_t at) {
    Address address{};
    std::memcpy(address.data(), bytes.data() + kVirtioHeader + at, address.size());
    return address;
  }

  Bytes spare() {
    if (spare_.empty()) return Bytes(kLargestFrame);
    Bytes bytes = std::move(spare_.back());
    spare_.pop_back();
    bytes.resize(kLargestFrame);
    return bytes;
  }

  std::int64_t latency_ns_;
  std::vector<int> ports_;
  std::vector<pollfd> polls_;
  std::deque<Frame> waiting_;  ///< Oldest first.
  std::map<Address, std::size_t> port_of_;
  std::vector<Bytes> spare_;
};

}  // namespace

int main(int argc, char** argv) {
  char* end = nullptr;
  const double latency_us = argc > 2 ? std::strtod(argv[1], &end) : -1.0;
  if (argc < 3 || end == argv[1] || *end != '\0' || !(latency_us >= 0.0 && latency_us <= 1e6)) {
    std::fputs("usage: steelyard-lab-switch MICROSECONDS PORT PORT...\n", stderr);
    return 2;
  }
  std::vector<int> ports;
  for (int i = 2; i < argc; ++i) ports.push_back(open_port(argv[i]));
  // Hosts compete for the cores; a frame that waits for the switch would idle the links behind it.
  if (setpriority(PRIO_PROCESS, 0, -20) != 0) fail("cannot take precedence", "(setpriority)");
  prctl(PR_SET_TIMERSLACK, 1000UL);
  std::puts("ready");
  std::fflush(stdout);
  Switch(static_cast<std::int64_t>(latency_us * 1e3), std::move(ports)).run();
}
