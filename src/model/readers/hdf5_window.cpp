#include "src/model/readers/hdf5_window.hpp"

#include <cstring>
#include <memory>
#include <span>

#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

namespace steelyard::readers {
namespace {

/// What the library holds of an open file. Its own part stands first, as it asks for.
struct Driver {
  H5FD_t library;
  Hdf5Window window;
  haddr_t end_of_addresses;
};

H5FD_t* open_file(const char*, unsigned flags, hid_t list, haddr_t) {
  const auto* const window = static_cast<const Hdf5Window*>(H5Pget_driver_info(list));
  if (window == nullptr || (flags & H5F_ACC_RDWR) != 0) return nullptr;
  return &std::make_unique<Driver>(Driver{{}, *window, 0}).release()->library;
}

herr_t close_file(H5FD_t* file) {
  const std::unique_ptr<Driver> owned(reinterpret_cast<Driver*>(file));
  return 0;
}

haddr_t end_of_addresses(const H5FD_t* file, H5FD_mem_t) {
  return reinterpret_cast<const Driver*>(file)->end_of_addresses;
}

herr_t set_end_of_addresses(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  reinterpret_cast<Driver*>(file)->end_of_addresses = end;
  return 0;
}

haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) {
  return reinterpret_cast<const Driver*>(file)->window.size;
}

/// As the library's own drivers: what lies behind the end reads as zeros.
herr_t read_file(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t count, void* buffer) {
  const Hdf5Window& window = reinterpret_cast<Driver*>(file)->window;
  if (address > window.size || count > *window.budget) return -1;
  *window.budget -= count;
  const std::size_t there = std::min<std::size_t>(count, window.size - address);
  auto* const bytes = static_cast<char*>(buffer);
  if (window.file->read_at(window.begin + address, std::span(bytes, there)) != there) return -1;
  std::memset(bytes + there, 0, count - there);
  return 0;
}

herr_t write_file(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) { return -1; }

H5FD_class_t driver_class() {
  H5FD_class_t made{};
#if H5_VERSION_GE(1, 13, 2)
  made.version = H5FD_CLASS_VERSION;
  made.value = static_cast<H5FD_class_value_t>(512);  // Of those that are free for tests.
#endif
  made.name = "steelyard_window";
  made.maxaddr = ~std::size_t{0} >> 1U;
  made.fc_degree = H5F_CLOSE_STRONG;
  made.fapl_size = sizeof(Hdf5Window);
  made.open = open_file;
  made.close = close_file;
  made.get_eoa = end_of_addresses;
  made.set_eoa = set_end_of_addresses;
  made.get_eof = end_of_file;
  made.read = read_file;
  made.write = write_file;
  return made;
}

}  // namespace

Hdf5Id open_window(const Hdf5Window& window) {
  static const H5FD_class_t kClass = driver_class();
  const Hdf5Id driver(H5FDregister(&kClass), H5FDunregister);
  const Hdf5Id list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (!driver.valid() || H5Pset_driver(list.id(), driver.id(), &window) < 0)
    return {H5I_INVALID_HID, H5Fclose};
  return {H5Fopen(window.file->path().c_str(), H5F_ACC_RDONLY, list.id()), H5Fclose};
}

}  // namespace steelyard::readers
