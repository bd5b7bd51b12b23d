package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RespMeterTests {

    private final RespMeter meter = new RespMeter();

    @ParameterizedTest
    @CsvSource({
        "+OK|, 1",
        ":42|:-7|, 2",
        "-ERR of 3 arguments - 1 is wrong|, 1",
        "$5|hello|, 1",
        "$0||, 1",
        "$-1|, 1",
        "*-1|, 1",
        "*0|, 1",
        "*2|$1|a|$1|b|, 1",
        "*2|*2|:1|$-1|*1|+x|:2|, 2",
        "%1|$1|a|$1|b|+next|, 2",
        "_|#t|:5|(3492890328409238509324850943850943825024385|, 4",
        "=15|txt:Some string|!5|wrong|, 2",
        "~2|:1|:2|, 1",
        ">2|+invalidate|*1|$1|k|+OK|, 1",
        "|1|+ttl|:3600|+OK|, 1",
        "*3|$7|EVALSHA|$2|ab|$3|*1;|, 1"
    })
    void countsMessagesHoweverTheyAreCut(String text, int messages) {
        byte[] bytes = bytes(text);
        for (int length = 1; length <= bytes.length; length++) {
            RespMeter cut = new RespMeter();
            for (int at = 0; at < bytes.length; at += length) {
                cut.pass(Unpooled.wrappedBuffer(bytes, at, Math.min(length, bytes.length - at)));
            }
            assertThat(cut.messages()).as("in pieces of " + length).isEqualTo(messages);
            assertThat(cut.textOnItsWay()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"*2|$1|v|$100000|", "%1|$1|v|$100000|", "$100000|", "*1|*1|$100000|"})
    void seesALongTextUntilItsEnd(String begin) {
        meter.pass(Unpooled.wrappedBuffer(bytes("+OK|" + begin)));
        assertThat(meter.textOnItsWay()).isEqualTo(100_000);
        assertThat(meter.longestText()).isEqualTo(100_000);
        meter.pass(Unpooled.wrappedBuffer(new byte[100_000]));
        assertThat(meter.textOnItsWay()).isEqualTo(100_000);
        assertThat(meter.longestText()).isZero();
        assertThat(meter.messages()).isEqualTo(1);
        meter.pass(Unpooled.wrappedBuffer(new byte[] {'\r', '\n'}));
        assertThat(meter.textOnItsWay()).isZero();
        assertThat(meter.messages()).isEqualTo(2);
    }

    @Test
    void leavesTheBufferAsItIs() {
        var buffer = Unpooled.wrappedBuffer(bytes("*1|$1|a|"));
        meter.pass(buffer);
        assertThat(buffer.readableBytes()).isEqualTo(bytes("*1|$1|a|").length);
    }

    private static byte[] bytes(String text) {
        boolean attribute = text.startsWith("|");
        String lines = text.substring(attribute ? 1 : 0).replace("|", "\r\n");
        return ((attribute ? "|" : "") + lines).getBytes(StandardCharsets.ISO_8859_1);
    }
}
