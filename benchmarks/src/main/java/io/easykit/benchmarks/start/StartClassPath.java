package io.easykit.benchmarks.start;

import io.easykit.benchmarks.start.app.WebApplication;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.util.FileSystemUtils;

/**
 * The class paths of the applications. The manifest of {@code benchmarks.jar} names all libraries of this module, so the classes of the
 * applications are copied out of it.
 */
final class StartClassPath {

    private static final String LIBRARIES = "lib";

    private final Path classes;
    private final List<Path> own;

    private StartClassPath(Path classes, List<Path> own) {
        this.classes = classes;
        this.own = own;
    }

    /** @param jar this {@code benchmarks.jar}, which has its libraries beside it */
    static StartClassPath of(Path jar) {
        return new StartClassPath(copyOfApplications(jar), libraries(jar));
    }

    /**
     * Returns the class path of an application.
     *
     * @param version the {@code benchmarks.jar} whose easykit is started; everything else comes from the running jar
     */
    String of(StartContender contender, Path version) {
        List<Path> path = new ArrayList<>(List.of(classes));
        Stream.concat(
                        own.stream().filter(jar -> !isEasykit(jar)),
                        libraries(version).stream().filter(StartClassPath::isEasykit))
                .filter(jar -> contender.needs(name(jar)))
                .forEach(path::add);
        return String.join(File.pathSeparator, path.stream().map(Path::toString).toList());
    }

    private static boolean isEasykit(Path jar) {
        String name = name(jar);
        return name.startsWith("easykit-") || name.startsWith("easy-cache-") || name.startsWith("delay-queue-");
    }

    private static String name(Path jar) {
        return jar.getFileName().toString();
    }

    private static List<Path> libraries(Path jar) {
        try (Stream<Path> jars = Files.list(jar.resolveSibling(LIBRARIES))) {
            return jars.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path copyOfApplications(Path jar) {
        String folder = WebApplication.class.getPackageName().replace('.', '/');
        try (FileSystem files = FileSystems.newFileSystem(jar);
                Stream<Path> found = Files.list(files.getPath(folder))) {
            Path copy = Files.createTempDirectory("easykit-start");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> FileSystemUtils.deleteRecursively(copy.toFile())));
            Path target = Files.createDirectories(copy.resolve(folder));
            for (Path file : (Iterable<Path>) found::iterator) {
                Files.copy(file, target.resolve(name(file)));
            }
            return copy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
