package io.easykit.benchmarks.measure;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * One of two compared versions of easykit.
 *
 * @param title heading of its column
 * @param classPath class path of its benchmark programs
 */
public record Version(String title, String classPath) {

    /** Returns the version in the given {@code benchmarks.jar}, and the version that runs this program. */
    public static List<Version> beforeAndNow(String jar) {
        Path before = Path.of(jar).toAbsolutePath();
        if (!Files.isRegularFile(before)) {
            throw new IllegalArgumentException("There is no " + before
                    + ": check out the other version, run ./mvnw -Pbenchmarks package there, and name its"
                    + " benchmarks/target/benchmarks.jar");
        }
        String own = System.getProperty("java.class.path");
        String absolute =
                Path.of(own.split(File.pathSeparator, -1)[0]).toAbsolutePath().toString();
        return List.of(new Version("before", before.toString()), new Version("now", absolute));
    }
}
