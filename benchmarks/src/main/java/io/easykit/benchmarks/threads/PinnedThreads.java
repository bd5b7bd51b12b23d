package io.easykit.benchmarks.threads;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/** Records with Java Flight Recorder where a virtual thread waits without leaving its carrier. */
final class PinnedThreads implements AutoCloseable {

    private static final String EVENT = "jdk.VirtualThreadPinned";
    private static final String OUR_PACKAGES = "io.easykit.";

    private final Recording recording = new Recording();

    private PinnedThreads() {
        recording.enable(EVENT).withThreshold(Duration.ofMillis(1)).withStackTrace();
        recording.start();
    }

    static PinnedThreads record() {
        return new PinnedThreads();
    }

    /** Number of events of a millisecond and more, and the topmost frame of easykit of each. Ends the recording. */
    String describe() throws IOException {
        recording.stop();
        Path file = Files.createTempFile("pinned", ".jfr");
        try {
            recording.dump(file);
            Map<String, Integer> places = new TreeMap<>();
            for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
                places.merge(place(event), 1, Integer::sum);
            }
            return places.isEmpty()
                    ? "0"
                    : places.entrySet().stream()
                            .map(place -> place.getValue() + " in " + place.getKey())
                            .collect(Collectors.joining(", "));
        } finally {
            Files.delete(file);
        }
    }

    private static String place(RecordedEvent event) {
        if (event.getStackTrace() == null) {
            return "an unknown place";
        }
        return event.getStackTrace().getFrames().stream()
                .filter(frame -> frame.getMethod().getType().getName().startsWith(OUR_PACKAGES))
                .findFirst()
                .map(PinnedThreads::text)
                .orElseGet(() -> text(event.getStackTrace().getFrames().get(0)));
    }

    private static String text(RecordedFrame frame) {
        return frame.getMethod().getType().getName() + "." + frame.getMethod().getName() + ":" + frame.getLineNumber();
    }

    @Override
    public void close() {
        recording.close();
    }
}
