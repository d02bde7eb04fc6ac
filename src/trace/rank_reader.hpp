#pragma once

/// @file
/// The file of one rank, read piece by piece, so that a trace may be larger than memory. Files are data and
/// are never trusted; nothing is changed in them.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/base/expected.hpp"
#include "src/trace/hdf5.hpp"

namespace steelyard::trace {

/// From a rank's clock to that of rank 0: the offset measured at the start, and where it was measured again
/// at the end a straight line between the two, since clocks drift.
struct Alignment {
  std::int64_t offset_ns = 0;         ///< At time 0 of the rank.
  std::int64_t offset_at_end_ns = 0;  ///< At time `end_ns`.
  std::int64_t end_ns = 0;            ///< 0: not measured again.
  std::int64_t error_ns = 0;          ///< The greater one of the two measurements.

  /// Keeps order.
  std::int64_t operator()(std::int64_t time_ns) const;
};

class RankReader {
 public:
  /// Rows of one read.
  static constexpr std::size_t kRows = 1U << 15U;

  /// Opens files whose writer is still at work, or was killed, too.
  static Expected<RankReader> open(const std::string& path);

  const std::string& host() const { return host_; }
  int node() const { return node_; }
  std::int64_t epoch_unix_ns() const { return epoch_unix_ns_; }
  const Alignment& alignment() const { return alignment_; }
  bool unclosed() const { return unclosed_; }

  std::size_t count(const Table& table) const;
  /// Calls `use` with pieces of at most kRows rows of `table`, in file order.
  /// @return an error where the file breaks off.
  Status read(const Table& table, const std::function<void(std::span<const std::byte>)>& use) const;

  template <typename Row, typename Use>
  Status each(Use&& use) const {
    return read(table<Row>(), [&use](std::span<const std::byte> bytes) {
      const auto* rows = reinterpret_cast<const Row*>(bytes.data());
      for (const Row& row : std::span(rows, bytes.size() / sizeof(Row))) use(row);
    });
  }

 private:
  RankReader() = default;
  void read_attributes();

  std::string path_;
  Handle file_;
  std::string host_;
  int node_ = 0;
  std::int64_t epoch_unix_ns_ = 0;
  Alignment alignment_;
  bool unclosed_ = false;
};

}  // namespace steelyard::trace
