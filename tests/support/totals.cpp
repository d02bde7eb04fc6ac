#include "tests/support/totals.hpp"

namespace steelyard::test {

Totals totals(const std::vector<trace::RankTrial>& ranks) {
  Totals t;
  for (const trace::RankTrial& rank : ranks) {
    for (const trace::StepRow& row : rank.steps) {
      t.worker_out += row.bytes_out;
      t.worker_in += row.bytes_in;
      t.worker_messages += row.messages;
    }
    for (const trace::LoadRow& row : rank.loads) {
      t.server_in += row.bytes_in;
      t.server_out += row.bytes_out;
      t.server_messages += row.messages;
      t.pushes += row.pushes;
      t.pulls += row.pulls;
      t.applied += row.applied;
      t.dropped += row.dropped;
    }
    for (const trace::StalenessRow& row : rank.stalenesses) t.staleness += row.count;
    for (const trace::DropCount& drop : rank.drops)
      if (drop.reason == trace::DropReason::stopped) t.stopped += drop.pushes;
  }
  return t;
}

}  // namespace steelyard::test
