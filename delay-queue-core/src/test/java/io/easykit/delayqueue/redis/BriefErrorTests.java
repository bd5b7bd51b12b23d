package io.easykit.delayqueue.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The function of the scripts that cuts errors, which pages of up to 500 long errors call. */
class BriefErrorTests {

    /** The definition: short, and slow, because a pattern takes a step for each character. */
    private static final String DEFINITION =
            """
            local function defined(entry)
              if #entry <= 800 then return entry end
              local begin = string.match(entry, '^%d+:[^:]*:()')
              if not begin then return string.sub(entry, 1, 800) end
              local frames = string.find(entry, '\\n  at ', 1, true) or #entry + 1
              local head = string.sub(entry, begin, frames - 1)
              local line = string.match(head, '^[^\\n]*')
              local cause = string.match(head, '^.*\\n(caused by [^\\n]*)')
              line = string.sub(line, 1, cause and 160 or 400)
              if cause then line = line .. '\\n' .. string.sub(cause, 1, 300) end
              return string.sub(entry, 1, begin - 1) .. line .. string.sub(entry, frames, frames + 479)
            end
            """;

    /** Counts the searches for patterns of what is defined behind it. */
    private static final String COUNTER =
            """
            local real, patterns = string, 0
            local function counted(name)
              return function(text, pattern, first, isPlain)
                if not isPlain then patterns = patterns + 1 end
                return real[name](text, pattern, first, isPlain)
              end
            end
            local string = setmetatable({match = counted('match'), find = counted('find')}, {__index = real})
            """;

    private static final String PROGRAM =
            """
            local reply = {}
            for i, entry in ipairs(ARGV) do reply[2 * i - 1], reply[2 * i] = defined(entry), brief(entry) end
            reply[#reply + 1] = patterns
            return reply
            """;

    private static final String OWNER = "17:node-1:";
    private static final String FRAMES = "\n  at org.shop.Orders.close(Orders.java:42)".repeat(20);

    private static final List<String> ERRORS = List.of(
            "",
            "o".repeat(900),
            "o".repeat(400),
            "o".repeat(401),
            "\n",
            "\n" + "o".repeat(900),
            "o".repeat(900) + "\n",
            "\n".repeat(900),
            "\ncaused by a",
            "\ncaused by " + "a".repeat(900),
            "caused by a" + "o".repeat(900),
            "caused by a" + "o".repeat(900) + "\ncaused by b",
            "o".repeat(900) + "\ncaused by a",
            "o".repeat(900) + "\ncaused by a\n",
            "o".repeat(900) + "\ncaused by ",
            "o".repeat(900) + "\ncaused by",
            "o".repeat(900) + "\ncaused by a\ncaused by ",
            "o".repeat(900) + "\ncaused by \ncaused by ",
            "o".repeat(900) + "\n\ncaused by a\n\ncaused by b\nmore",
            "o".repeat(900) + " caused by a",
            "o".repeat(900) + "\n caused by a\nCaused by b",
            "short\nsecond line of its message\ncaused by " + "b".repeat(900),
            "short\ncaused by " + "a".repeat(900) + "\ncaused by " + "b".repeat(900) + "\nsecond line",
            "o".repeat(160) + "\ncaused by " + "b".repeat(290) + "\ncaused by c",
            "\u62d2\u7edd: " + "\u62d2".repeat(300) + "\ncaused by " + "\u7edd".repeat(300),
            "%d+ [^\n]* " + "%".repeat(900) + "\ncaused by %a",
            "a\0b" + "o".repeat(900) + "\ncaused by \0c\0");

    @Test
    void cutsEachErrorAsDefinedWithOneSearchForAPattern() throws IOException {
        List<byte[]> entries = Stream.concat(
                        ERRORS.stream().flatMap(error -> Stream.of(error, error + FRAMES, FRAMES + "\n" + error)),
                        Stream.of("\ncaused by a".repeat(90)))
                .map(error -> (OWNER + error).getBytes(UTF_8))
                .toList();
        List<byte[]> command = new ArrayList<>();
        Stream.of("EVAL", DEFINITION + COUNTER + shipped() + PROGRAM, "0")
                .forEach(word -> command.add(word.getBytes(UTF_8)));
        command.addAll(entries);
        command.add("no entry ".repeat(100).getBytes(UTF_8));

        List<?> reply;
        try (RawRedis redis = RedisServer.shared().connect()) {
            reply = (List<?>) redis.command(command.toArray(byte[][]::new));
        }

        assertThat(reply).isNotNull().hasSize(2 * entries.size() + 3);
        for (int i = 0; i < reply.size() - 1; i += 2) {
            assertThat(text(reply.get(i + 1))).as("entry %d", i / 2).isEqualTo(text(reply.get(i)));
        }
        long cut = entries.stream().filter(entry -> entry.length > 800).count() + 1;
        assertThat(reply.get(reply.size() - 1)).as("searches for a pattern").isEqualTo(cut);
    }

    private static String text(Object bytes) {
        return new String((byte[]) bytes, ISO_8859_1);
    }

    private static String shipped() throws IOException {
        try (InputStream in = QueueScript.class.getResourceAsStream("prelude.lua")) {
            String prelude = new String(Objects.requireNonNull(in).readAllBytes(), UTF_8);
            int begin = prelude.indexOf("local function brief(");
            return prelude.substring(begin, prelude.indexOf("\nend\n", begin) + 5);
        }
    }
}
