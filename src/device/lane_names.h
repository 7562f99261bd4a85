/* Other names for the functions of worlds in lanes, for files that are compiled once more: for
 * crews (cuda/crew.h) and in single precision (float_lanes.h). LANE_NAME makes them. */
#ifndef ZW_DEVICE_LANE_NAMES_H
#define ZW_DEVICE_LANE_NAMES_H

#define soft8_add LANE_NAME(add)
#define soft8_add_contact LANE_NAME(add_contact)
#define soft8_ahead LANE_NAME(ahead)
#define soft8_along LANE_NAME(along)
#define soft8_arrive LANE_NAME(arrive)
#define soft8_begin LANE_NAME(begin)
#define soft8_begin_steps LANE_NAME(begin_steps)
#define soft8_compare LANE_NAME(compare)
#define soft8_damp LANE_NAME(damp)
#define soft8_fill LANE_NAME(fill)
#define soft8_gathered_bytes LANE_NAME(gathered_bytes)
#define soft8_law LANE_NAME(law)
#define soft8_lay_out LANE_NAME(lay_out)
#define soft8_limit LANE_NAME(limit)
#define soft8_list LANE_NAME(list)
#define soft8_meet LANE_NAME(meet)
#define soft8_meet_placed LANE_NAME(meet_placed)
#define soft8_minimise LANE_NAME(minimise)
#define soft8_near LANE_NAME(near)
#define soft8_note_shape LANE_NAME(note_shape)
#define soft8_place LANE_NAME(place)
#define soft8_place_at LANE_NAME(place_at)
#define soft8_push LANE_NAME(push)
#define soft8_read LANE_NAME(read)
#define soft8_remember LANE_NAME(remember)
#define soft8_slopes LANE_NAME(slopes)
#define soft8_smooth LANE_NAME(smooth)
#define soft8_step LANE_NAME(step)
#define soft8_takes_plan LANE_NAME(takes_plan)
#define soft8_write LANE_NAME(write)

#endif
