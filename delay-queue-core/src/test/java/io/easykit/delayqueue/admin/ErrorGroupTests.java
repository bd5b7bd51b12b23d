package io.easykit.delayqueue.admin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ErrorGroupTests {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '§',
            value = {
                "order 918 is closed | order # is closed",
                "order close-918x is closed | order close-#x is closed",
                "no customer 'Ann O.' in \"shop 7\" or `cart` | no customer '#' in '#' or '#'",
                "can't read it, won't try 3 times | can't read it, won't try # times",
                "\u201cWert\u201d and \u201eWert\u201c | '#' and '#'",
                "cut within 'a value | cut within '#'",
                "cut within \"a value | cut within '#'",
                "id 3f2504e0-4f89-11d3-9a0c-0305e82c3301 | id #",
                "id ~0~aB_-567890abcdef is gone | id # is gone",
                "at 0x7fFa00, commit deadbeef12 | at #, commit #",
                "the facade is added | the facade is added",
                "took 1,234.5 ms since 12:30:45.123 from 10.0.0.1:6379 | took # ms since # from #",
                "HTTP 503 from https://pay.example/v2/orders/77 | HTTP # from https://pay.example/v#/orders/#",
                "two   blanks\tand a tab | two blanks and a tab"
            })
    void replacesValuesInMessages(String message, String normalized) {
        assertThat(ErrorGroup.normalized(message)).isEqualTo(normalized);
        assertThat(ErrorGroup.of("com.shop.Broken: " + message).message()).isEqualTo(normalized);
    }

    @Test
    void takesTheDeepestCauseAndTheFirstFrameOfTheApplication() {
        ErrorGroup group = ErrorGroup.of(
                """
                org.springframework.dao.DataAccessException: for order 7
                caused by java.util.concurrent.ExecutionException: later
                caused by com.shop.ClosedException: order 7 is closed
                  at java.base/java.util.Objects.requireNonNull(Objects.java:233)
                  at org.springframework.aop.framework.JdkDynamicAopProxy.invoke(JdkDynamicAopProxy.java:1)
                  at jdk.proxy2/jdk.proxy2.$Proxy81.close(Unknown Source)
                  at com.shop.OrderService$$SpringCGLIB$$0.close(<generated>)
                  at io.easykit.delayqueue.engine.MessageExecution.run(MessageExecution.java:9)
                  at app//com.shop.OrderService.close(OrderService.java:42)
                  at com.shop.Other.call(Other.java:1)""");

        assertThat(group)
                .isEqualTo(new ErrorGroup("com.shop.ClosedException", "order # is closed", "OrderService.close:42"));
        assertThat(group.title()).isEqualTo("ClosedException: order # is closed");
        assertThat(group.key()).matches("[0-9a-f]{16}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"LEASE_LOST", "BODY_MISSING"})
    void takesTheReasonWord(String reason) {
        assertThat(ErrorGroup.of(reason)).isEqualTo(new ErrorGroup(reason, "", ""));
        assertThat(ErrorGroup.of(reason).title()).isEqualTo(reason);
    }

    @Test
    void takesErrorsWithoutAMessageWithoutFramesAndWithoutAForm() {
        assertThat(ErrorGroup.of("java.lang.NullPointerException\n  at com.shop.A.b(A.java:1)"))
                .isEqualTo(new ErrorGroup("java.lang.NullPointerException", "", "A.b:1"));
        assertThat(ErrorGroup.of("com.shop.Broken: of\nseveral lines"))
                .isEqualTo(new ErrorGroup("com.shop.Broken", "of", ""));
        assertThat(ErrorGroup.of("com.shop.Broken: x\n  at com.shop.A.b(Unknown Source)")
                        .frame())
                .isEqualTo("A.b");
        assertThat(ErrorGroup.of("com.shop.Broken: x\n  at Main.main(Main.java:3)")
                        .frame())
                .isEqualTo("Main.main:3");
        assertThat(ErrorGroup.of("what is this? 7")).isEqualTo(new ErrorGroup("UNKNOWN", "what is this? #", ""));
        assertThat(ErrorGroup.of("")).isEqualTo(ErrorGroup.NONE);
    }

    @Test
    void keepsErrorsOfDifferentCausesAndPlacesApart() {
        ErrorGroup one = ErrorGroup.of("com.shop.A: x 1\n  at com.shop.S.m(S.java:1)");

        assertThat(ErrorGroup.of("com.shop.A: x 2\n  at com.shop.S.m(S.java:1)").key())
                .isEqualTo(one.key());
        assertThat(ErrorGroup.of("com.shop.B: x 1\n  at com.shop.S.m(S.java:1)").key())
                .isNotEqualTo(one.key());
        assertThat(ErrorGroup.of("com.shop.A: y 1\n  at com.shop.S.m(S.java:1)").key())
                .isNotEqualTo(one.key());
        assertThat(ErrorGroup.of("com.shop.A: x 1\n  at com.shop.S.m(S.java:2)").key())
                .isNotEqualTo(one.key());
    }

    @Test
    void cutsLongLinesWithoutTheirLastHalfCharacter() {
        String message = "\u4e2d".repeat(400);

        assertThat(ErrorGroup.of("com.shop.A: " + message).message()).isEqualTo("\u4e2d".repeat((280 - 12) / 3));
    }
}
