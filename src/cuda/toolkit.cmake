# Sets CUDA_FOUND where nvcc, the toolkit's libraries and NCCL are all there, enables the language CUDA, and makes the
# targets steelyard_cuda_options (of .cu files) and steelyard_nccl. STEELYARD_CUDA=ON: an error where one is missing.
set(CUDA_FOUND FALSE)
if(STEELYARD_CUDA STREQUAL "OFF")
  return()
endif()

# steelyard_no_cuda(<reason>): the end of the search.
macro(steelyard_no_cuda reason)
  if(STEELYARD_CUDA STREQUAL "ON")
    message(FATAL_ERROR "STEELYARD_CUDA=ON, but ${reason}")
  endif()
  message(STATUS "Without GPU: ${reason}")
  return()
endmacro()

include(CheckLanguage)
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90)  # 90 alone is machine code and PTX, which later devices compile.
endif()
if(NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER AND DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  steelyard_no_cuda("no nvcc is found; set CMAKE_CUDA_COMPILER to its path")
endif()
find_package(CUDAToolkit QUIET)
if(NOT CUDAToolkit_FOUND)
  steelyard_no_cuda("the libraries of the CUDA toolkit are not found; set CUDAToolkit_ROOT to its folder")
endif()
find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
if(NOT NCCL_LIBRARY OR NOT NCCL_INCLUDE_DIR)
  steelyard_no_cuda("NCCL is not found; set NCCL_LIBRARY and NCCL_INCLUDE_DIR")
endif()

set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
enable_language(CUDA)
set(CUDA_FOUND TRUE)

add_library(steelyard_nccl INTERFACE)
target_link_libraries(steelyard_nccl INTERFACE ${NCCL_LIBRARY})
target_include_directories(steelyard_nccl SYSTEM INTERFACE ${NCCL_INCLUDE_DIR})

add_library(steelyard_cuda_options INTERFACE)
target_include_directories(steelyard_cuda_options INTERFACE ${PROJECT_SOURCE_DIR})
# The functors call constexpr functions of the standard library, which are no device functions by name. CMake 3.25 does not
# know the features of nvcc 13.
target_compile_options(steelyard_cuda_options INTERFACE -std=c++20 --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra
                                                        $<$<BOOL:${STEELYARD_WERROR}>:-Werror=all-warnings>
                                                        $<$<BOOL:${STEELYARD_WERROR}>:-Xcompiler=-Werror>)

set(STEELYARD_ARCHITECTURES)
foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
  string(REGEX REPLACE "-.*" "" number ${architecture})
  if(NOT architecture MATCHES "-virtual$")
    list(APPEND STEELYARD_ARCHITECTURES "sm_${number}")
  endif()
  if(NOT architecture MATCHES "-real$")
    list(APPEND STEELYARD_ARCHITECTURES "PTX of compute_${number}")
  endif()
endforeach()
list(JOIN STEELYARD_ARCHITECTURES ", " STEELYARD_ARCHITECTURES)
configure_file(src/cuda/cuda_build.hpp.in ${PROJECT_BINARY_DIR}/generated/cuda/cuda_build.hpp)
