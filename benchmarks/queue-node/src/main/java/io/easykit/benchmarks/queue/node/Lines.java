package io.easykit.benchmarks.queue.node;

import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Converts numbers to a line of text and back. */
final class Lines {

    private Lines() {}

    static String of(long... numbers) {
        return LongStream.of(numbers).mapToObj(Long::toString).collect(Collectors.joining(" "));
    }

    static long[] numbers(String line) {
        return Stream.of(line.split(" ", -1)).mapToLong(Long::parseLong).toArray();
    }
}
