# libzwang-cuda.so: worlds on an NVIDIA GPU (src/device, docs/gpu.md).
#
# The C files of a step are compiled by clang for NVPTX, as they are, and linked to one module; nvcc
# makes machine code of it, and the host's part carries that along.
# Where clang with its tools or CUDA is missing, there is no libzwang-cuda.so, and zw_batch_create
# says so when it is asked for "cuda".

# Where 32 threads are a crew with one world (src/device/cuda/crew.h).
set(crew_sources
    src/system/soft8/soft8_block.c src/system/soft8/soft8_force.c src/system/soft8/soft8_meet.c
    src/system/soft8/soft8_newton.c src/system/soft8/soft8_scratch.c src/system/soft8/soft8_rows.c
    src/step/soft8_step.c src/device/world_lanes.c src/device/cuda/crew_tree.c
    src/device/cuda/crew_solve.c)

# Where a thread is a lane and its warp a crew: emulated by the tests.
set(warp_sources
    src/system/soft8/soft8_block.c src/system/soft8/soft8_force.c src/system/soft8/soft8_meet.c
    src/system/soft8/soft8_newton.c src/system/soft8/soft8_scratch.c src/system/soft8/soft8_rows.c
    src/system/soft/soft_lane.c src/step/soft8_step.c src/device/world_lanes.c)

find_program(ZW_NVCC nvcc HINTS /usr/local/cuda/bin ENV CUDA_PATH PATH_SUFFIXES bin)
get_filename_component(cuda_bin "${ZW_NVCC}" DIRECTORY)
find_path(ZW_CUDA_INCLUDE cuda.h HINTS ${cuda_bin}/../include)
find_library(ZW_CUDA_DRIVER cuda HINTS ${cuda_bin}/../lib64/stubs)
find_program(ZW_CUOBJDUMP cuobjdump HINTS ${cuda_bin})
find_program(ZW_CLANG NAMES clang clang-14)
find_program(ZW_LLVM_LINK NAMES llvm-link llvm-link-14)
find_program(ZW_LLVM_OPT NAMES opt opt-14)
find_program(ZW_LLC NAMES llc llc-14)
mark_as_advanced(ZW_CUOBJDUMP ZW_NVCC ZW_CUDA_INCLUDE ZW_CUDA_DRIVER ZW_CLANG ZW_LLVM_LINK
                 ZW_LLVM_OPT ZW_LLC)
if(NOT ZW_NVCC OR NOT ZW_CUDA_INCLUDE OR NOT ZW_CUDA_DRIVER OR NOT ZW_CLANG
   OR NOT ZW_LLVM_LINK OR NOT ZW_LLVM_OPT OR NOT ZW_LLC)
  message(STATUS "CUDA and clang with llvm-link, opt, llc: missing; no batches on a GPU")
  return()
endif()
message(STATUS "CUDA, for batches on a GPU: found (${ZW_NVCC}); target zwang_cuda")

# What a step calls, and what it calls in turn; the rest stays away (src/device/cuda/absent.c).
set(device_sources
    src/step/soft_step.c src/step/soft_implicit.c src/step/stepper.c
    src/system/soft/soft.c src/system/soft/soft_block.c src/system/soft/soft_deep.c
    src/system/soft/soft_island.c src/system/soft/soft_lane.c src/system/soft/soft_law.c
    src/system/soft/soft_newton.c src/system/soft/soft_rows.c src/system/soft/soft_solve.c
    src/system/contact/contact_find.c src/system/contact/contact_wait.c src/system/contact/contact_path.c
    src/gauss/augment/augment_newton.c
    src/system/bodies/bodies.c src/system/bodies/bodies_force.c src/system/bodies/bodies_fluid.c
    src/system/bodies/bodies_muscle.c src/system/bodies/bodies_rows.c
    src/system/bodies/bodies_roll.c src/system/bodies/bodies_load.c
    src/system/sense/sense.c src/system/sense/touch.c src/system/sense/ray.c src/collide/ray.c
    src/system/contact/contact_list.c src/system/tendon/tendon.c src/system/tendon/wrap.c
    src/system/configuration.c src/tree/sweeps.c src/tree/tree.c src/model/pose.c
    src/math/dense/paths.c src/math/dense/paths_rows.c src/math/dense/dense.c
    src/math/dense/dense_lines.c src/math/elementary.c src/math/elementary8.c src/math/lanes.c
    src/math/lanes8.c
    src/collide/box.c src/collide/convex.c src/collide/epa.c src/collide/gjk.c
    src/collide/inside.c src/collide/manifold.c src/collide/pair.c
    src/collide/plane.c src/collide/refine.c src/collide/round.c src/collide/shape.c
    src/collide/sphere.c
    src/device/world.c src/device/world_sense.c src/device/cuda/absent.c
    src/device/cuda/state.c)

# Where a thread is a lane (src/device/cuda/one_lane.h).
set(lane_sources
    src/system/soft8/soft8_block.c src/system/soft8/soft8_force.c src/system/soft8/soft8_meet.c
    src/system/soft8/soft8_newton.c src/system/soft8/soft8_scratch.c src/system/soft8/soft8_rows.c
    src/system/soft/soft_lane.c src/step/soft8_step.c src/device/world_lanes.c
    src/step/once8/once8_step.c src/step/once8/once8_force.c src/step/once8/once8_rows.c
    src/step/once8/once8_check.c src/step/once8/once8_ends.c src/step/once8/once8_ways.c
    src/step/once8/once8_scratch.c src/gauss/augment/augment8.c src/device/world_exact.c
    src/device/cuda/thread.c)

set(device ${CMAKE_CURRENT_BINARY_DIR}/cuda)
file(MAKE_DIRECTORY ${device})
set(device_inline -inline-threshold=225)
set(device_flags
    --target=nvptx64-nvidia-cuda -march=sm_80 -Xclang -target-feature -Xclang +ptx70
    -Xclang -fconvergent-functions -std=c17 -O2 -ffp-contract=off -fno-math-errno
    -fno-builtin-fmax -fno-builtin-fmin -fno-vectorize -fno-slp-vectorize
    -mllvm ${device_inline} -DZW_NO_GROUPS -DZW_AUGMENT_ROWS=56 -DNDEBUG -Wall -Wextra -Wno-unused-parameter -Wno-unknown-cuda-version -Wno-psabi
    -nostdlibinc -I${CMAKE_CURRENT_SOURCE_DIR}/src/device/cuda/shim
    -I${CMAKE_CURRENT_SOURCE_DIR}/src -I${CMAKE_CURRENT_SOURCE_DIR}/include -include)
set(device_modules "")
function(zw_device_module source before)
  string(MAKE_C_IDENTIFIER ${source}.${before} name)
  add_custom_command(
    OUTPUT ${device}/${name}.bc
    COMMAND ${ZW_CLANG} ${ARGN} ${device_flags} ${CMAKE_CURRENT_SOURCE_DIR}/src/device/cuda/${before}.h -MD -MT
            ${device}/${name}.bc -MF ${device}/${name}.d -emit-llvm -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o
            ${device}/${name}.bc
    DEPENDS ${source} DEPFILE ${device}/${name}.d COMMENT "For GPUs: ${source}" VERBATIM)
  set(device_modules ${device_modules} ${device}/${name}.bc PARENT_SCOPE)
endfunction()
foreach(source IN LISTS device_sources)
  zw_device_module(${source} prefix -fno-unroll-loops)
endforeach()
foreach(source IN LISTS lane_sources)
  zw_device_module(${source} one_lane)
endforeach()

foreach(source IN LISTS crew_sources)
  zw_device_module(${source} crew -fno-unroll-loops)
endforeach()
zw_device_module(src/device/cuda/warp_newton.c warp)

set(modules_double ${device_modules})

# The same in single precision (src/device/cuda/one_float.h): lanes, but no crews. Steps alone, and
# lanes for certificates, are in double precision.
set(device_modules "")
foreach(source IN LISTS float_sources)
  zw_device_module(${source} one_float)
endforeach()
zw_device_module(src/device/cuda/thread.c one_float)
set(modules_float ${device_modules})
foreach(module IN LISTS modules_double)
  if(NOT module MATCHES "_crew.bc|thread_c_one_lane.bc")
    list(APPEND modules_float ${module})
  endif()
endforeach()

# All of a precision as one module; then machine code for sm_80 and sm_90, and PTX for later ones.
function(zw_device_code name kernels registers)
  set(code ${device}/${name})
  add_custom_command(
    OUTPUT ${code}.ptx
    COMMAND ${ZW_LLVM_LINK} ${ARGN} ${CMAKE_CURRENT_SOURCE_DIR}/${kernels} -o ${code}_all.bc
    COMMAND ${ZW_LLVM_OPT} -O2 ${device_inline} -unroll-threshold=20 -internalize
            -internalize-public-api-list=zw_worlds,zw_worlds_48,zw_worlds_192,zw_exact_128,zw_exact_256,zw_crews,zw_lanes_bytes,zw_device_version -globaldce ${code}_all.bc -o
            ${code}.bc
    COMMAND ${ZW_LLC} -march=nvptx64 -mcpu=sm_80 -O3 ${code}.bc -o ${code}.ptx
    COMMAND sed -i "/^.address_size/a .pragma \"nounroll\";" ${code}.ptx # code has to be short: docs/gpu.md
    COMMAND sh -c "! grep '^[.]extern [.]func' ${code}.ptx" # what is called and not there
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tools/check-gpu-code ${code}.ptx
    DEPENDS ${ARGN} ${kernels} COMMENT "For GPUs: PTX (${name})" VERBATIM)
  set(check echo "no cuobjdump: the machine code is not checked")
  if(ZW_CUOBJDUMP)
    set(check sh -c "${CMAKE_CURRENT_SOURCE_DIR}/tools/check-gpu-code ${code}.fatbin ${ZW_CUOBJDUMP} || [ $? != 1 ]") # 2: it cannot tell
  endif()
  add_custom_command(
    OUTPUT ${code}.fatbin
    COMMAND ${ZW_NVCC} --fatbin -gencode arch=compute_80,code=[sm_80,compute_80] -gencode
            arch=compute_80,code=sm_90 --maxrregcount ${registers} -Xptxas -O3 ${code}.ptx -o ${code}.fatbin
    COMMAND ${check}
    DEPENDS ${code}.ptx COMMENT "For GPUs: machine code (${name})" VERBATIM)
endfunction()
# Registers of a thread: a multiprocessor has 65536.
set(ZW_CUDA_FLOAT_REGISTERS 64)
zw_device_code(worlds src/device/cuda/kernel.ll 128 ${modules_double})
zw_device_code(worlds_float src/device/cuda/kernel_float.ll ${ZW_CUDA_FLOAT_REGISTERS} ${modules_float})
set(code ${device}/worlds)
set(float_code ${device}/worlds_float)

# Not part of `all`: the assembler takes a minute or two.
add_library(zwang_cuda SHARED EXCLUDE_FROM_ALL src/device/cuda/cuda.c src/base/error.c
            src/base/memory.c src/base/status.c)
set_target_properties(zwang_cuda PROPERTIES OUTPUT_NAME zwang-cuda C_VISIBILITY_PRESET hidden
                      C_EXTENSIONS ON)
target_include_directories(zwang_cuda PRIVATE include src)
target_include_directories(zwang_cuda SYSTEM PRIVATE ${ZW_CUDA_INCLUDE})
target_compile_definitions(zwang_cuda PRIVATE ZW_CUDA_CODE="${code}.fatbin" ZW_CUDA_FLOAT_CODE="${float_code}.fatbin")
set_source_files_properties(src/device/cuda/cuda.c PROPERTIES OBJECT_DEPENDS "${code}.fatbin;${float_code}.fatbin")
target_link_libraries(zwang_cuda PRIVATE ${ZW_CUDA_DRIVER})

# That all of it compiles, down to PTX: a test (device/ptx).
add_custom_target(zwang_ptx DEPENDS ${code}.ptx ${float_code}.ptx)
