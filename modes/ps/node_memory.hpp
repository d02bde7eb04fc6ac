#pragma once

/// @file
/// What the servers and workers of one node share: gradients, values, mailboxes for headers, and words by
/// which workers that push as one tell each other how far they are.

#include <vector>

#include "modes/ps/mailbox.hpp"
#include "modes/ps/transport.hpp"
#include "src/model/parameters.hpp"
#include "src/mpi/shared_counters.hpp"
#include "src/mpi/shared_window.hpp"

namespace steelyard::ps {

/// For each worker of the node a gradient arena; values either once or for each worker; for each pair of a
/// server and a worker a mailbox in each direction. Arenas have the plan's layout.
class NodeMemory {
 public:
  static std::size_t bytes_for(const Plan& plan, const NodeRoles& here, const NodeTransport& transport);

  /// Collective over `node`, whose ranks are those of `here`.
  NodeMemory(const mpi::Communicator& node, const Plan& plan, NodeRoles here, const NodeTransport& transport);

  bool has_worker(int worker) const { return place_of(here_.workers, worker) != Roles::kNone; }
  const NodeRoles& roles() const { return here_; }
  bool has_server(int server) const { return place_of(here_.servers, server) != Roles::kNone; }
  bool in_place() const { return transport_.in_place; }
  bool sums() const { return transport_.sums; }

  /// Who speaks to servers elsewhere for the workers here, where they sum.
  int agent(BundleId bundle) const { return Source{here_.workers}.agent(bundle); }

  /// Of a worker of this node.
  Arenas arenas(int worker) const;
  /// The reading or writing end of the mailbox for pushes, and for replies.
  Mailbox pushes(int server, int worker) const { return mailbox(server, worker, 0); }
  Mailbox replies(int server, int worker) const { return mailbox(server, worker, 1); }

  /// Where the workers sum: for each bundle the steps in which the worker's gradient was ready.
  void set_ready(BundleId bundle, int worker, Clock clock) const;
  /// Whether those of all workers here are.
  bool all_ready(BundleId bundle, Clock clock) const;
  /// The version of the bundle's values, as its agent has received them.
  void set_version(BundleId bundle, std::int64_t version) const;
  std::int64_t version(BundleId bundle) const;

 private:
  static int place_of(const std::vector<int>& list, int number);
  Mailbox mailbox(int server, int worker, std::size_t direction) const;

  mpi::SharedCounters counters() const;
  /// Of a bundle: one for each worker, then its version.
  std::size_t counter(BundleId bundle, std::size_t which) const {
    return bundle * (here_.workers.size() + 1) + which;
  }

  NodeRoles here_;
  NodeTransport transport_;
  std::size_t elements_;             ///< Of an arena.
  std::size_t room_;                 ///< From one arena to the next.
  std::vector<std::size_t> lines_;   ///< [servers here] headers that one of its mailboxes has room for.
  std::vector<std::size_t> before_;  ///< [servers here] headers in the mailboxes of the servers before it.
  std::size_t headers_ = 0;          ///< In all mailboxes.
  std::size_t counters_;
  mpi::SharedWindow window_;
};

}  // namespace steelyard::ps
