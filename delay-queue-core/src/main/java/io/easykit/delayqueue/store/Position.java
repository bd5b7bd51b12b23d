package io.easykit.delayqueue.store;

import io.easykit.delayqueue.support.NameRules;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Pattern;

/**
 * A position in the order of a place: by time in whole milliseconds, and by the bytes of the id among equal times. Where a dead letter is
 * announced, its score gets a fraction, which does not move it.
 *
 * @param score the time as the store keeps it: a number, which may have been written by hand, or {@code inf}, {@code -inf}
 * @param id    of the message there
 */
public record Position(String score, String id) implements Comparable<Position> {

    private static final Pattern SCORE = Pattern.compile("-?(inf|\\d{1,400}(\\.\\d{1,20})?(e[+-]?\\d{1,3})?)");

    public Position {
        NameRules.requireId(NameRules.requireWellFormed(id));
        if (!SCORE.matcher(score).matches()) {
            throw new IllegalArgumentException("A position at a time that is no number.");
        }
    }

    private double time() {
        return switch (score) {
            case "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            default -> Math.floor(Double.parseDouble(score));
        };
    }

    @Override
    public int compareTo(Position other) {
        int byTime = Double.compare(time(), other.time());
        return byTime != 0 ? byTime : Arrays.compareUnsigned(bytes(id), bytes(other.id));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
