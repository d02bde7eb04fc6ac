#pragma once

/// @file
/// A part of a file, seen by the HDF5 library as a file of its own: Keras stores one inside a zip archive,
/// and nothing needs to be unpacked to read its names.

#include <hdf5.h>

#include <utility>

#include "src/model/readers/source_file.hpp"

namespace steelyard::readers {

/// Owns one HDF5 identifier.
class Hdf5Id {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Id(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Id& operator=(Hdf5Id&&) = delete;
  ~Hdf5Id() {
    if (id_ >= 0) close_(id_);
  }
  hid_t id() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  Close close_;
};

struct Hdf5Window {
  const SourceFile* file = nullptr;
  std::size_t begin = 0;
  std::size_t size = 0;
  std::size_t* budget = nullptr;  ///< Bytes that may still be read.
};

/// Opens the window to read. `window` and all it points to must outlive the file. The id may be invalid.
Hdf5Id open_window(const Hdf5Window& window);

}  // namespace steelyard::readers
