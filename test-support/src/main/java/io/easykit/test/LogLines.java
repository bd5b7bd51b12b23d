package io.easykit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The log lines in the source code of the published modules, and those that the documentation quotes. */
public final class LogLines {

    private static final Path ROOT = Path.of("..");
    private static final Path BOM = ROOT.resolve(Path.of("easykit-bom", "pom.xml"));
    private static final Pattern MODULE =
            Pattern.compile("<dependency>\\s*<groupId>[^<]*</groupId>\\s*<artifactId>([\\w-]+)<");

    /** A call of a logger, or of a class that gets the logger. */
    private static final Pattern LOGGED = Pattern.compile("\\blog\\s*\\.\\s*(warn|error|info)\\("
            + "|\\.(warn|error|info)\\(\\s*log\\b|\\blog::(warn|error)|\\b(atWarn|atError|atLevel)\\(");

    /** A call of a private method with the text of a line of WARN. */
    private static final Pattern HANDED_ON = Pattern.compile("(?<![.\\w])(?<!void )warn\\(");

    private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");
    private static final Pattern CONSTANT = Pattern.compile("\\s*([A-Z][A-Z_]+)\\s*,.*", Pattern.DOTALL);
    private static final Pattern JOINED = Pattern.compile("\"\\s*\\+\\s*\"");
    private static final Pattern VALUE = Pattern.compile("\"\\s*\\+\\s*[^\"+;]+\\+\\s*\"");

    /** The same by the names of classes whose lines another class logs. */
    private static final Map<String, Pattern> HANDED_TO_OTHERS = Map.of(
            "ServerCheck", Pattern.compile("\\bwarnings\\.add\\("),
            "UnreadVariables", Pattern.compile("\\bnew Problem\\("));

    /** Classes that log a text which they are given, by calls that the patterns above find. */
    static final Set<String> GIVEN_THEIR_TEXTS =
            Set.of("RepeatedLines", "ShardEvents", "UnknownOutcome", "RedisStartupCheck", "SettingsReport");

    /** The lines by the names of their modules. Each case of a test needs them, and to search the code takes long. */
    private static final Map<String, List<Line>> WRITTEN = new ConcurrentHashMap<>();

    private LogLines() {}

    /**
     * A call that writes a line.
     *
     * @param source simple name of the class
     * @param level  such as {@code WARN}
     * @param text   with {@code {}} for each value; empty if the class is given the text
     */
    public record Line(String source, String level, String text) {

        /** Whether a quotation is the beginning of this line. An ellipsis stands for anything, and the level may be missing. */
        public boolean begins(String quotation) {
            String pattern =
                    Arrays.stream(quotation.split("…", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
            return Stream.of(level + " " + text, text)
                    .anyMatch(line -> Pattern.compile(pattern).matcher(line).lookingAt());
        }

        public boolean isProblem() {
            return !level.equals("INFO");
        }
    }

    /** Names of the modules that are published. */
    private static List<String> modules() {
        List<String> modules =
                MODULE.matcher(read(BOM)).results().map(found -> found.group(1)).toList();
        if (modules.isEmpty()) {
            throw new IllegalStateException(BOM + " has no modules");
        }
        return modules;
    }

    /** The lines in the code of some of the published modules. */
    public static List<Line> written(Predicate<String> modules) {
        return modules().stream()
                .filter(modules)
                .flatMap(module -> WRITTEN.computeIfAbsent(module, LogLines::writtenIn).stream())
                .toList();
    }

    private static List<Line> writtenIn(String module) {
        return sources(ROOT.resolve(module))
                .flatMap(file -> lines(name(file), read(file)))
                .toList();
    }

    /** The lines in the source code of a class. */
    static Stream<Line> lines(String source, String code) {
        String joined = VALUE.matcher(JOINED.matcher(code).replaceAll("")).replaceAll("{}");
        Stream<Line> logged =
                LOGGED.matcher(joined).results().map(call -> new Line(source, level(call), text(joined, call.end())));
        Stream<Line> handedOn = HANDED_TO_OTHERS
                .getOrDefault(source, HANDED_ON)
                .matcher(joined)
                .results()
                .map(call -> new Line(source, "WARN", text(joined, call.end())))
                .filter(line -> !line.text().isEmpty());
        return Stream.concat(logged, handedOn);
    }

    private static String level(MatchResult call) {
        return Stream.of(1, 2, 3)
                .map(call::group)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse("warn")
                .toUpperCase(Locale.ROOT);
    }

    /** The first text among the arguments of a call, or an empty one. A text of placeholders alone is none. */
    private static String text(String code, int start) {
        String arguments = arguments(code, start);
        Matcher constant = CONSTANT.matcher(arguments);
        Stream<MatchResult> texts = constant.matches()
                ? Pattern.compile("\\b" + constant.group(1) + "\\s*=\\s*" + LITERAL)
                        .matcher(code)
                        .results()
                : LITERAL.matcher(arguments).results();
        return texts.map(found -> found.group(1))
                .filter(text -> !text.replace("{}", "").isBlank())
                .findFirst()
                .orElse("");
    }

    private static String arguments(String code, int start) {
        int open = 1;
        boolean quoted = false;
        int at = start;
        for (; at < code.length() && open > 0; at++) {
            char c = code.charAt(at);
            if (c == '"' && code.charAt(at - 1) != '\\') {
                quoted = !quoted;
            } else if (!quoted) {
                open += c == '(' ? 1 : c == ')' ? -1 : 0;
            }
        }
        return code.substring(start, at);
    }

    /** All code of the published modules. */
    static String code() {
        return modules().stream()
                .flatMap(module -> sources(ROOT.resolve(module)))
                .map(LogLines::read)
                .collect(Collectors.joining("\n"));
    }

    static List<Path> pages() {
        return files(ROOT.resolve("docs"), ".md").toList();
    }

    private static Stream<Path> sources(Path module) {
        return files(module.resolve(Path.of("src", "main", "java")), ".java");
    }

    private static Stream<Path> files(Path folder, String end) {
        List<Path> found = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (Stream<Path> all = Files.walk(folder)) {
                all.filter(file -> file.toString().endsWith(end)).forEach(found::add);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return found.stream();
    }

    private static String name(Path file) {
        return file.getFileName().toString().replace(".java", "");
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
