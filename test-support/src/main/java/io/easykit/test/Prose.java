package io.easykit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Measures the English of comments and Javadoc: the share of sentences with constructions that make a reader read twice. Code
 * bases that read well (ShedLock, Caffeine, db-scheduler, Spring Data Redis, Spring Modulith) have 0 to 1.2 percent of each.
 */
public final class Prose {

    private static final double LIMIT = 0.01;

    private static final int SHORTEST = 26;

    /** Block comments of Javadoc, and line comments that are not part of a URL. */
    private static final Pattern COMMENT = Pattern.compile("/\\*\\*(.*?)\\*/|(?<!:)//([^\\n]*)", Pattern.DOTALL);

    private static final String TAG = "|";

    private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.;:!?])\\s+(?=[A-Z<`*])|\\s*\\|\\s*");

    private final List<Sentence> sentences;

    private Prose(List<Sentence> sentences) {
        this.sentences = List.copyOf(sentences);
    }

    /** A construction to avoid. */
    public enum Construction {
        FREE_RELATIVE(
                "free relative clauses",
                "\\bwhat (is|was|has|it|they|he|could|can|no|nobody|somebody|others|a|the)\\b",
                "Name the thing: \"due messages\"."),
        INDEFINITE_PERSON(
                "indefinite persons",
                "\\b(whoever|whatever|somebody|nobody|those who|they who)\\b",
                "Name the actor: \"the caller\", \"another process\"."),
        PERSONIFIED_OBJECT(
                "objects that speak or know",
                "\\b(tells?|told|says?|said|asks?|asked|hears?|knows?|looks?)\\b",
                "Objects return, send, read, check, report.");

        private final String title;
        private final Pattern pattern;
        private final String remedy;

        Construction(String title, String pattern, String remedy) {
            this.title = title;
            this.pattern = Pattern.compile(pattern, Pattern.CASE_INSENSITIVE);
            this.remedy = remedy;
        }
    }

    /** Reads all comments below the directories. */
    public static Prose of(Path... directories) {
        List<Sentence> sentences = new ArrayList<>();
        for (Path directory : directories) {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.filter(Prose::isJava).sorted().toList()) {
                    String text = Files.readString(file);
                    COMMENT.matcher(text).results().forEach(comment -> addAll(file, comment, sentences));
                }
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot read " + directory, e);
            }
        }
        return new Prose(sentences);
    }

    /** Reads the main code of the module in whose directory the tests run. */
    public static Prose ofMainCode() {
        return of(Path.of("src", "main", "java"));
    }

    public int sentences() {
        return sentences.size();
    }

    /** Returns the sentences with a construction, each with its file. */
    public List<String> with(Construction construction) {
        return sentences.stream()
                .filter(sentence -> construction.pattern.matcher(sentence.text).find())
                .map(sentence -> sentence.file.getFileName() + ": " + sentence.text)
                .toList();
    }

    /**
     * Checks each construction.
     *
     * @throws AssertionError if more than one percent of the sentences have a construction, with the list of these sentences
     */
    public void check() {
        List<String> complaints = Arrays.stream(Construction.values())
                .filter(construction -> with(construction).size() > LIMIT * sentences.size())
                .map(this::complaint)
                .toList();
        if (!complaints.isEmpty()) {
            throw new AssertionError(String.join("\n", complaints));
        }
    }

    private String complaint(Construction construction) {
        List<String> found = with(construction);
        return "%d of %d sentences have %s, more than one percent. %s%n  "
                        .formatted(found.size(), sentences.size(), construction.title, construction.remedy)
                + String.join("\n  ", found);
    }

    private static boolean isJava(Path file) {
        return file.toString().endsWith(".java");
    }

    private static void addAll(Path file, MatchResult comment, List<Sentence> sentences) {
        String body = comment.group(1) != null ? comment.group(1) : comment.group(2);
        for (String sentence : SENTENCE_END.split(plain(body), -1)) {
            if (sentence.length() >= SHORTEST) {
                sentences.add(new Sentence(file, sentence));
            }
        }
    }

    /** Removes markup. A block tag begins a new sentence. */
    private static String plain(String comment) {
        return comment.replaceAll("(?m)^\\s*\\*", "")
                .replaceAll("@(param|throws|see|author|since)\\s+\\S+|@return", TAG)
                .replaceAll("\\{@(?:code|link|literal|linkplain)\\s+([^}]*)\\}", "$1")
                .replaceAll("<[^>]+>", " ")
                .replaceAll("\\s+", " ")
                .strip();
    }

    private record Sentence(Path file, String text) {}
}
