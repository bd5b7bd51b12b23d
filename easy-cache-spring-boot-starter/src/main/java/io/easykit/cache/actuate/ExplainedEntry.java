package io.easykit.cache.actuate;

import io.easykit.boot.EnumWords;
import io.easykit.cache.Outcome;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.cache.admin.EntryExplanation.Field;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The next read of an entry as the endpoint explains it. A time is text in ISO 8601. */
record ExplainedEntry(
        String key,
        @Nullable String at,
        String state,
        @Nullable String nextRead,
        List<String> sentences,
        List<Field> fields) {

    static ExplainedEntry of(EntryExplanation explanation) {
        Instant at = explanation.at();
        Outcome nextRead = explanation.nextRead();
        return new ExplainedEntry(
                explanation.key(),
                at == null ? null : at.toString(),
                EnumWords.of(explanation.state()),
                nextRead == null ? null : EnumWords.of(nextRead),
                explanation.sentences(),
                explanation.fields());
    }
}
