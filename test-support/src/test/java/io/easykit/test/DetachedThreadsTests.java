package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Threads without InheritableThreadLocals are made in one way, because JDK 19 and later also leave out their class loader. */
class DetachedThreadsTests {

    @Test
    void nobodyElseMakesThreadsWithoutThreadLocals() throws IOException {
        List<String> makers = new ArrayList<>();
        for (Path source : sources()) {
            try (Stream<Path> files = Files.walk(source)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    if (Files.readString(file).contains("new Thread(null,")) {
                        makers.add(file.getFileName().toString());
                    }
                }
            }
        }

        assertThat(makers).hasSize(3).containsOnly("DetachedThread.java");
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            return modules.map(module -> module.resolve("src/main/java"))
                    .filter(Files::isDirectory)
                    .toList();
        }
    }
}
