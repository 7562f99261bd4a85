; Which functions are kernels: C has no word for that.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.device_job = type opaque

declare void @zw_worlds(%struct.device_job*)
declare void @zw_worlds_48(%struct.device_job*)
declare void @zw_worlds_192(%struct.device_job*)
declare void @zw_exact_128(%struct.device_job*)
declare void @zw_exact_256(%struct.device_job*)
declare void @zw_crews(%struct.device_job*)
declare void @zw_lanes_bytes(%struct.device_job*, i64*)

!nvvm.annotations = !{!0, !1, !2, !3, !4, !5, !6}
!0 = !{void (%struct.device_job*)* @zw_worlds, !"kernel", i32 1}
!1 = !{void (%struct.device_job*)* @zw_worlds_48, !"kernel", i32 1}
!2 = !{void (%struct.device_job*)* @zw_crews, !"kernel", i32 1}
!4 = !{void (%struct.device_job*)* @zw_worlds_192, !"kernel", i32 1}
!3 = !{void (%struct.device_job*, i64*)* @zw_lanes_bytes, !"kernel", i32 1}
!5 = !{void (%struct.device_job*)* @zw_exact_128, !"kernel", i32 1}
!6 = !{void (%struct.device_job*)* @zw_exact_256, !"kernel", i32 1}
