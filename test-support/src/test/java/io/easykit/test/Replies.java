package io.easykit.test;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads bulk strings in replies as text. */
final class Replies {
    private Replies() {}

    static @Nullable String text(@Nullable Object bulk) {
        return bulk == null ? null : RawRedis.text((byte[]) bulk);
    }

    static List<@Nullable String> texts(@Nullable Object list) {
        return list == null
                ? List.of()
                : ((List<?>) list).stream().map(Replies::text).toList();
    }
}
