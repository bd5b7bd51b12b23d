package io.easykit.cache.engine;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Compiles classes while a test runs: two versions of one class, each in a loader of its own. */
final class Sources {

    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

    /** One for all compilations: it opens and lists every jar of the class path, which takes longer than to compile. */
    private static final JavaFileManager FILES = filesOfThisJvm();

    private Sources() {}

    private static JavaFileManager filesOfThisJvm() {
        StandardJavaFileManager files = COMPILER.getStandardFileManager(null, null, null);
        files.handleOption(
                "-classpath", List.of(System.getProperty("java.class.path")).iterator());
        return files;
    }

    /** The class {@code app.Value} of this text, which may have more classes beside it. */
    static Class<?> compile(String source) {
        return compile(source, UnaryOperator.identity());
    }

    /** @param obfuscator changes the bytes of each class, as a text of the same length */
    static Class<?> compile(String source, UnaryOperator<String> obfuscator) {
        Map<String, ByteArrayOutputStream> classes = new HashMap<>();
        JavaFileManager inMemory = new ForwardingJavaFileManager<>(FILES) {
            @Override
            public JavaFileObject getJavaFileForOutput(
                    Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
                return new SimpleJavaFileObject(URI.create("memory:///" + name), kind) {
                    @Override
                    public OutputStream openOutputStream() {
                        return classes.computeIfAbsent(name, any -> new ByteArrayOutputStream());
                    }
                };
            }
        };
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("memory:///app/Value.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return "package app; " + source;
                    }
                };
        assertThat(COMPILER.getTask(null, inMemory, null, List.of("-parameters"), null, List.of(file))
                        .call())
                .as(source)
                .isTrue();
        try {
            return new ClassLoader(Sources.class.getClassLoader()) {
                @Override
                protected Class<?> findClass(String name) throws ClassNotFoundException {
                    ByteArrayOutputStream bytes = classes.get(name);
                    if (bytes == null) {
                        throw new ClassNotFoundException(name);
                    }
                    byte[] changed =
                            obfuscator.apply(bytes.toString(ISO_8859_1)).getBytes(ISO_8859_1);
                    return defineClass(name, changed, 0, changed.length);
                }
            }.loadClass("app.Value");
        } catch (ClassNotFoundException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
