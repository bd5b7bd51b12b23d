package io.easykit.delayqueue.observation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceParentTests {

    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String SPAN = "b7ad6b7169203331";

    @Test
    void readsWhatItWrites() {
        assertThat(TraceParent.of(TraceParent.header(TRACE, SPAN, true))).contains(new TraceParent(TRACE, SPAN, true));
        assertThat(TraceParent.of(TraceParent.header(TRACE, SPAN, false)))
                .contains(new TraceParent(TRACE, SPAN, false));
    }

    @Test
    void fillsShortTraceIds() {
        assertThat(TraceParent.header(SPAN, SPAN, true)).isEqualTo("00-0000000000000000" + SPAN + "-" + SPAN + "-01");
    }

    @Test
    void readsLaterVersionsWithMoreFields() {
        assertThat(TraceParent.of("cc-" + TRACE + "-" + SPAN + "-03-more"))
                .contains(new TraceParent(TRACE, SPAN, true));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "nonsense",
                "ff-" + TRACE + "-" + SPAN + "-01",
                "00-00000000000000000000000000000000-" + SPAN + "-01",
                "00-" + TRACE + "-0000000000000000-01",
                "00-" + SPAN + "-" + SPAN + "-01",
                "00-" + TRACE + "-" + SPAN,
            })
    void ignoresAHeaderOfAnotherFormat(String header) {
        assertThat(TraceParent.of(header)).isEmpty();
    }
}
