#include "modes/ps/placement/hashes.hpp"

namespace steelyard::ps {
namespace {

std::uint64_t djb2_of_key(std::uint64_t key) { return djb2(std::to_string(key)); }
std::uint64_t sdbm_of_key(std::uint64_t key) { return sdbm(std::to_string(key)); }
std::uint64_t naive(std::uint64_t key) { return ((key >> 16U) + key % 65536) * 9973; }

}  // namespace

std::uint64_t djb2(std::string_view text) {
  std::uint64_t hash = 5381;
  for (const char c : text) hash = 33 * hash + static_cast<unsigned char>(c);
  return hash;
}

std::uint64_t sdbm(std::string_view text) {
  std::uint64_t hash = 0;
  for (const char c : text) hash = static_cast<unsigned char>(c) + (hash << 6U) + (hash << 16U) - hash;
  return hash;
}

Expected<KeyHash*> find_key_hash(std::string_view name) {
  if (name == "djb2") return &djb2_of_key;
  if (name == "sdbm") return &sdbm_of_key;
  if (name == "naive") return &naive;
  if (name == "built_in")
    return Error{
        "--placement-hash 'built_in': BytePS takes the C++ library's std::hash there, which differs between "
        "builds, so ranks could disagree; choose one of: djb2, sdbm, naive"};
  return Error{"unknown --placement-hash '" + std::string(name) + "'; choose one of: djb2, sdbm, naive"};
}

}  // namespace steelyard::ps
