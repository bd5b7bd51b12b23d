package io.easykit.console.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

class ConsoleHintsTests {

    private static final String FOLDER = "io/easykit/console/assets";

    @Test
    void keepTheFilesOfThePageInANativeImage() throws IOException {
        RuntimeHints hints = new RuntimeHints();
        new ConsoleAutoConfiguration.Files().registerHints(hints, null);
        List<String> files;
        try (Stream<Path> all = Files.list(Path.of("src/main/resources", FOLDER))) {
            files = all.map(file -> file.getFileName().toString()).toList();
        }

        assertThat(RuntimeHintsPredicates.resource().forResource("io/easykit/console/zh-CN.txt"))
                .accepts(hints);
        assertThat(files).contains("index.html");
        assertThat(files).allMatch(file -> RuntimeHintsPredicates.resource()
                .forResource(FOLDER + "/" + file)
                .test(hints));
    }
}
