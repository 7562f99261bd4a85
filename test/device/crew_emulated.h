/* A crew of one, which does what 32 threads do on a GPU (device/cuda/crew.h). */
#include "crew_emulated_turns.h"

#include "device/cuda/crew.h"
