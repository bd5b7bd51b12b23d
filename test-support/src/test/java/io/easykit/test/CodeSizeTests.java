package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The size of the classes of all modules. */
class CodeSizeTests {

    private static final int MOST_LINES = 350;
    private static final int MOST_PARAMETERS = 6;

    /** Programs and servers for tests and measurements. */
    private static final Set<String> FOR_TESTS = Set.of("test-support", "benchmarks");

    @TempDir
    Path folder;

    private static List<Path> mainCode() throws IOException {
        List<Path> all = new ArrayList<>();
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            for (Path module : modules.toList()) {
                Path code = module.resolve("src/main/java");
                if (Files.isDirectory(code)
                        && !FOR_TESTS.contains(module.getFileName().toString())) {
                    all.addAll(sources(code));
                }
            }
        }
        return all;
    }

    private static List<Path> sources(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .sorted()
                    .toList();
        }
    }

    private static List<String> tooLong(List<Path> sources) throws IOException {
        List<String> found = new ArrayList<>();
        for (Path source : sources) {
            int lines = Files.readAllLines(source).size();
            if (lines > MOST_LINES) {
                found.add(source.getFileName() + " has " + lines + " lines");
            }
        }
        return found;
    }

    /** Constructors of records are left out: their parameters are components. */
    private static List<String> tooManyParameters(List<Path> sources) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> found = new ArrayList<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null, files, null, List.of("-proc:none"), null, files.getJavaFileObjectsFromPaths(sources));
            TreeScanner<Void, String> scanner = new TreeScanner<>() {
                @Override
                public Void visitClass(ClassTree type, String outer) {
                    boolean isRecord = type.getKind() == Tree.Kind.RECORD;
                    return super.visitClass(type, isRecord ? "" : String.valueOf(type.getSimpleName()));
                }

                @Override
                public Void visitMethod(MethodTree method, String type) {
                    int parameters = method.getParameters().size();
                    boolean isConstructor = method.getName().contentEquals("<init>") && !type.isEmpty();
                    if (isConstructor && parameters > MOST_PARAMETERS) {
                        found.add(type + " takes " + parameters + " parameters");
                    }
                    return super.visitMethod(method, type);
                }
            };
            for (CompilationUnitTree unit : task.parse()) {
                scanner.scan(unit, "");
            }
        }
        return found;
    }

    @Test
    void noClassIsTooLong() throws IOException {
        assertThat(mainCode()).hasSizeGreaterThan(300);
        assertThat(tooLong(mainCode())).isEmpty();
    }

    @Test
    void noConstructorTakesTooMuch() throws IOException {
        assertThat(tooManyParameters(mainCode())).isEmpty();
    }

    @Test
    void findsWhatIsTooLarge() throws IOException {
        Path large = Files.writeString(
                folder.resolve("Large.java"),
                """
                class Large {
                    record Values(int a, int b, int c, int d, int e, int f, int g) {
                        Values(int a, int b, int c, int d, int e, int f, int g) {}
                    }

                    static class Inner {
                        Inner(int a, int b, int c, int d, int e, int f, int g) {}

                        Inner(int a, int b, int c, int d, int e, int f) {}
                    }
                }
                """
                        + "\n".repeat(340));
        Path just = Files.writeString(folder.resolve("Just.java"), "class Just {}" + "\n".repeat(350));

        assertThat(tooLong(List.of(large, just))).containsExactly("Large.java has 351 lines");
        assertThat(tooManyParameters(List.of(large, just))).containsExactly("Inner takes 7 parameters");
    }
}
