#include "src/mpi/communicator.hpp"

#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

namespace steelyard::mpi {
namespace {

[[noreturn]] void end_job() {
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

}  // namespace

void check(int code, Where where) {
  if (code == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  die(text, where);
}

int count(std::size_t size, Where where) {
  require(size <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
          "a message exceeds 2^31 - 1 elements", where);
  return static_cast<int>(size);
}

Environment::Environment(int& argc, char**& argv) {
  constexpr int kUnlessSet = 0;
  ::setenv("OMPI_MCA_btl_tcp_eager_limit", std::to_string(kEagerBytes).c_str(), kUnlessSet);
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  int rank = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  set_abort({rank, end_job});
}

Environment::~Environment() { MPI_Finalize(); }

std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  check(MPI_Get_library_version(text.data(), &length));
  text.resize(static_cast<std::size_t>(length));
  return text.substr(0, text.find_first_of(",\n"));
}

Communicator::Communicator(MPI_Comm adopted) : comm_(adopted) {
  if (empty()) return;
  check(MPI_Comm_rank(comm_, &rank_));
  check(MPI_Comm_size(comm_, &size_));
}

Communicator Communicator::duplicate_world() {
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
  return Communicator(copy);
}

Communicator Communicator::duplicate() const {
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup(comm_, &copy));
  return Communicator(copy);
}

Communicator Communicator::split(int color) const {
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, rank_, &part));
  return Communicator(part);
}

Communicator Communicator::split_by_node() const {
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part));
  return Communicator(part);
}

Communicator::Communicator(Communicator&& other) noexcept
    : comm_(std::exchange(other.comm_, MPI_COMM_NULL)), rank_(other.rank_), size_(other.size_) {}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  std::swap(comm_, other.comm_);
  std::swap(rank_, other.rank_);
  std::swap(size_, other.size_);
  return *this;
}

Communicator::~Communicator() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

std::optional<Error> agree(const Communicator& ranks, const std::optional<Error>& mine) {
  int speaker = mine ? ranks.rank() : std::numeric_limits<int>::max();
  check(MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, ranks.native()));
  if (speaker == std::numeric_limits<int>::max()) return std::nullopt;
  const std::string text = broadcast(ranks, mine ? mine->message : std::string(), speaker);
  return Error{speaker == 0 ? text : "rank " + std::to_string(speaker) + ": " + text};
}

std::string broadcast(const Communicator& ranks, std::string text, Rank root) {
  std::uint64_t size = text.size();
  check(MPI_Bcast(&size, 1, MPI_UINT64_T, root, ranks.native()));
  text.resize(size);
  broadcast(ranks, std::as_writable_bytes(std::span(text)), root);
  return text;
}

void broadcast(const Communicator& ranks, std::span<std::byte> bytes, Rank root) {
  constexpr std::size_t kPiece = std::size_t{1} << 30U;
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPiece) {
    const auto piece = bytes.subspan(begin, std::min(kPiece, bytes.size() - begin));
    check(MPI_Bcast(piece.data(), count(piece.size()), MPI_BYTE, root, ranks.native()));
  }
}

void merge_bits(const Communicator& ranks, std::span<std::byte> bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 30U;
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPiece) {
    const auto piece = bytes.subspan(begin, std::min(kPiece, bytes.size() - begin));
    check(MPI_Allreduce(MPI_IN_PLACE, piece.data(), count(piece.size()), MPI_BYTE, MPI_BOR, ranks.native()));
  }
}

std::vector<std::byte> gather(const Communicator& ranks, std::span<const std::byte> bytes, Rank root,
                              std::vector<std::size_t>& sizes) {
  const int mine = count(bytes.size());
  const bool is_root = ranks.rank() == root;
  const auto size = static_cast<std::size_t>(ranks.size());
  std::vector<int> counts(size);
  std::vector<int> begins(size);
  check(MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, root, ranks.native()));
  const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  for (std::size_t i = 1; i < size; ++i)
    begins[i] = count(static_cast<std::size_t>(begins[i - 1] + counts[i - 1]));
  std::vector<std::byte> all(is_root ? total : 0);
  check(MPI_Gatherv(bytes.data(), mine, MPI_BYTE, all.data(), counts.data(), begins.data(), MPI_BYTE, root,
                    ranks.native()));
  sizes.assign(counts.begin(), counts.end());
  return all;
}

double sum(const Communicator& ranks, double value) {
  std::vector<double> all(static_cast<std::size_t>(ranks.size()));
  check(MPI_Allgather(&value, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, ranks.native()));
  return std::accumulate(all.begin(), all.end(), 0.0);
}

std::int64_t greatest(const Communicator& ranks, std::int64_t value) {
  check(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MAX, ranks.native()));
  return value;
}

bool spans_nodes(const Communicator& ranks) {
  return greatest(ranks, ranks.split_by_node().size() < ranks.size() ? 1 : 0) != 0;
}

}  // namespace steelyard::mpi
