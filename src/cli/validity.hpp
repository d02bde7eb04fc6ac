#pragma once

/// @file
/// Conditions under which a run was made, and what its timings can therefore tell. docs/validity.md shows the
/// experiments behind the words.

#include <string>

namespace steelyard::cli {

struct Validity {
  bool oversubscribed = false;    ///< Ranks share cores, with real compute.
  bool one_node = false;          ///< No message crossed a network, shaped or real.
  bool emulated_compute = false;  ///< The time of compute was given, not needed.
  bool shaped_links = false;      ///< Hosts are parts of one machine, their links shaped (scripts/lab).
  bool injected = false;          ///< Slowness was injected.
  bool fake = false;              ///< A stand-in for the GPU libraries was used.
  int nodes = 1;

  /// The names of those that hold, comma separated; "" if none does.
  std::string text() const;
  /// "On this machine", as the first words of a verdict.
  std::string place() const;
  /// One sentence: what a timing made so cannot tell; "" if nothing is known to limit it.
  std::string limits() const;
};

}  // namespace steelyard::cli
