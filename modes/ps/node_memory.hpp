#pragma once

/// @file
/// What the servers and workers of one node share: gradients, values, and mailboxes for headers.

#include <vector>

#include "modes/ps/mailbox.hpp"
#include "modes/ps/transport.hpp"
#include "src/model/parameters.hpp"
#include "src/mpi/shared_window.hpp"

namespace steelyard::ps {

/// For each worker of the node a gradient arena; values either once or for each worker; for each pair of a
/// server and a worker a mailbox in each direction. Arenas have the plan's layout.
class NodeMemory {
 public:
  static std::size_t bytes_for(const Plan& plan, const NodeRoles& here, bool in_place);

  /// Collective over `node`, whose ranks are those of `here`. @param in_place one copy of the values for all.
  NodeMemory(const mpi::Communicator& node, const Plan& plan, NodeRoles here, bool in_place);

  bool has_worker(int worker) const { return place_of(here_.workers, worker) != Roles::kNone; }
  const NodeRoles& roles() const { return here_; }
  bool in_place() const { return in_place_; }

  /// Of a worker of this node.
  Arenas arenas(int worker) const;
  /// The reading or writing end of the mailbox for pushes, and for replies.
  Mailbox pushes(int server, int worker) const { return mailbox(server, worker, 0); }
  Mailbox replies(int server, int worker) const { return mailbox(server, worker, 1); }

 private:
  static int place_of(const std::vector<int>& list, int number);
  Mailbox mailbox(int server, int worker, std::size_t direction) const;

  NodeRoles here_;
  bool in_place_;
  std::size_t elements_;             ///< Of an arena.
  std::size_t room_;                 ///< From one arena to the next.
  std::vector<std::size_t> lines_;   ///< [servers here] headers that one of its mailboxes has room for.
  std::vector<std::size_t> before_;  ///< [servers here] headers in the mailboxes of the servers before it.
  std::size_t headers_ = 0;          ///< In all mailboxes.
  mpi::SharedWindow window_;
};

}  // namespace steelyard::ps
