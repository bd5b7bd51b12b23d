package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class ListReplyTests {

    private enum Head {
        NOW,
        NEXT,
        NAMES
    }

    private enum Message {
        ID,
        FRAME
    }

    @Test
    void readsValuesAndGroupsByName() {
        ListReply reply = reply(1_000L, -1L, List.of(bytes("a"), bytes("b")), bytes("m1"), 7L, bytes("m2"), null);

        assertThat(reply.instant(Head.NOW)).isEqualTo(Instant.ofEpochSecond(1));
        assertThat(reply.instantOrNull(Head.NEXT)).isNull();
        assertThat(reply.texts(Head.NAMES)).containsExactly("a", "b");
        List<ListReply> messages = reply.groups(Message.class);
        assertThat(messages).extracting(message -> message.text(Message.ID)).containsExactly("m1", "m2");
        assertThat(messages)
                .extracting(message -> message.isNumber(Message.FRAME))
                .containsExactly(true, false);
        assertThat(messages.get(1).bytesOrNull(Message.FRAME)).isNull();
    }

    @Test
    void namesScriptPositionAndValueOfAnotherShape() {
        assertThatIllegalStateException()
                .isThrownBy(() -> reply(1L, bytes("secret")).number(Head.NEXT))
                .withMessage("The reply of claim.lua has byte[] at position 2 (NEXT), not Long");
        assertThatIllegalStateException()
                .isThrownBy(() -> reply(1L).number(Head.NEXT))
                .withMessage("The reply of claim.lua has nothing at position 2 (NEXT), not Long");
        assertThatIllegalStateException()
                .isThrownBy(() -> reply(1L, 2L, List.of(3L)).texts(Head.NAMES))
                .withMessageContaining("position 3 (NAMES), not a list of texts");
        assertThatIllegalStateException()
                .isThrownBy(() ->
                        reply(1L, 2L, List.of(), bytes("m1"), 5L, bytes("m2")).groups(Message.class))
                .withMessageContaining("ends at position 6, inside a group of 2 values");
        assertThatIllegalStateException()
                .isThrownBy(() -> ListReply.of("claim.lua", 5L, Head.class))
                .withMessage("The script claim.lua replied Long, not a list");
    }

    @Test
    void namesThePositionInAGroup() {
        ListReply second = reply(1L, 2L, List.of(), bytes("m1"), bytes("f1"), 3L, bytes("f2"))
                .groups(Message.class)
                .get(1);

        assertThatIllegalStateException()
                .isThrownBy(() -> second.text(Message.ID))
                .withMessageContaining("Long at position 6 (ID)");
    }

    private static ListReply reply(Object... values) {
        return ListReply.of("claim.lua", Arrays.asList(values), Head.class);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
