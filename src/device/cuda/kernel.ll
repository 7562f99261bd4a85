; Which function is a kernel: C has no word for that.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.device_job = type opaque

declare void @zw_worlds(%struct.device_job*)

!nvvm.annotations = !{!0}
!0 = !{void (%struct.device_job*)* @zw_worlds, !"kernel", i32 1}
