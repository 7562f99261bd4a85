/* assert_small: a number that is not above its bound; both are printed. After cmocka.h. */
#ifndef ZW_TEST_SCENE_BOUNDS_H
#define ZW_TEST_SCENE_BOUNDS_H

#define assert_small(x, bound)                                                                     \
    do {                                                                                           \
        double value_ = (x), bound_ = (bound);                                                     \
        if (!(value_ <= bound_)) {                                                                 \
            fail_msg("%s = %.3e > %.3e", #x, value_, bound_);                                      \
        }                                                                                          \
    } while (0)

#endif
