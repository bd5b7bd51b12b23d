package io.easykit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Checks that the relative links of Markdown files lead to a file and, with an anchor, to a heading in it. */
public final class MarkdownLinks {

    private static final Pattern LINK =
            Pattern.compile("\\[(?:[^\\[\\]]|\\[[^\\[\\]]*])*]\\(<?([^()\\s>]+)>?[^()]*\\)");
    private static final Pattern DEFINITION = Pattern.compile("^ {0,3}\\[[^\\]]+]:\\s+<?([^\\s>]+)>?");
    private static final Pattern HEADING = Pattern.compile("^ {0,3}#{1,6}\\s+(.*?)\\s*#*$");
    private static final Pattern FENCE = Pattern.compile("^ {0,3}(```|~~~)");
    private static final Pattern CODE = Pattern.compile("`[^`]*`");
    private static final Pattern ABSOLUTE = Pattern.compile("^[a-z][a-z0-9+.-]*:.*|^//.*");

    private final Path root;
    private final Map<Path, Set<String>> anchors = new HashMap<>();

    private MarkdownLinks(Path root) {
        this.root = root.toAbsolutePath().normalize();
    }

    /**
     * Finds the links that lead nowhere.
     *
     * @param root folder that links must not leave
     * @param files paths of files, or of folders with all files that end with {@code .md} in them, below the root
     * @return one line for each broken link, with its file, its line number and its target
     * @throws IllegalArgumentException if there is no file to check
     */
    public static List<String> broken(Path root, String... files) {
        MarkdownLinks links = new MarkdownLinks(root);
        List<String> broken = new ArrayList<>();
        for (String file : files) {
            List<Path> pages = links.pages(file);
            if (pages.isEmpty()) {
                throw new IllegalArgumentException("There is no Markdown file in " + file);
            }
            pages.forEach(page -> links.check(page, broken));
        }
        return broken;
    }

    private List<Path> pages(String file) {
        try (Stream<Path> paths = Files.walk(root.resolve(file))) {
            return paths.filter(path -> path.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void check(Path page, List<String> broken) {
        List<String> lines = text(page);
        for (int i = 0; i < lines.size(); i++) {
            String line = CODE.matcher(lines.get(i)).replaceAll("``");
            for (Pattern pattern : List.of(LINK, DEFINITION)) {
                Matcher link = pattern.matcher(line);
                while (link.find()) {
                    String target = link.group(1);
                    if (!ABSOLUTE.matcher(target).matches() && !exists(page, target)) {
                        broken.add(root.relativize(page) + ":" + (i + 1) + ": " + target);
                    }
                }
            }
        }
    }

    private boolean exists(Path page, String target) {
        String[] parts = target.split("#", 2);
        Path file = parts[0].isEmpty()
                ? page
                : page.resolveSibling(parts[0]).toAbsolutePath().normalize();
        if (!file.startsWith(root) || !Files.exists(file)) {
            return false;
        }
        boolean anchored = parts.length > 1;
        return !anchored || (Files.isRegularFile(file) && anchors(file).contains(parts[1]));
    }

    private Set<String> anchors(Path page) {
        return anchors.computeIfAbsent(page, MarkdownLinks::headings);
    }

    private static Set<String> headings(Path page) {
        Set<String> headings = new HashSet<>();
        for (String line : text(page)) {
            Matcher heading = HEADING.matcher(line);
            if (heading.matches()) {
                String anchor = anchor(heading.group(1));
                String unique = anchor;
                for (int i = 1; !headings.add(unique); i++) {
                    unique = anchor + "-" + i;
                }
            }
        }
        return headings;
    }

    /** The anchor that GitHub gives to a heading. */
    private static String anchor(String heading) {
        return heading.replaceAll("\\[([^\\]]*)]\\([^)]*\\)", "$1")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}\\p{M} _-]", "")
                .replace(' ', '-');
    }

    /** The lines of a page. Those of code blocks are empty. */
    private static List<String> text(Path page) {
        try {
            List<String> lines = new ArrayList<>();
            boolean code = false;
            for (String line : Files.readAllLines(page)) {
                boolean fence = FENCE.matcher(line).find();
                lines.add(code || fence ? "" : line);
                code ^= fence;
            }
            return lines;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
