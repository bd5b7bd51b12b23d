package io.easykit.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Chinese for the texts of replies. A text without a translation stays English. */
final class Translations {

    private static final String FILE = "zh-CN.txt";
    private static final String GAP = "{}";

    /** Texts of strangers, such as errors of a codec, may be long. */
    private static final int LONGEST = 2000;

    private static final Pattern NUMBERED_GAP = Pattern.compile("\\{(\\d)\\}");

    private final Map<String, String> whole = new LinkedHashMap<>();
    private final List<Template> templates = new ArrayList<>();

    /**
     * A text with gaps. Each gap is translated for itself.
     *
     * @param parts what is between the gaps
     * @param fixed number of characters outside the gaps
     */
    private record Template(List<String> parts, String chinese, int fixed) {

        /** The gaps of a text, each as short as possible; null if it has another form. No text takes long, unlike with a pattern. */
        @Nullable List<String> gaps(String text) {
            String first = parts.get(0);
            String last = parts.get(parts.size() - 1);
            int from = first.length();
            int end = text.length() - last.length();
            if (from > end || !text.startsWith(first) || !text.endsWith(last)) {
                return null;
            }
            List<String> gaps = new ArrayList<>();
            for (String part : parts.subList(1, parts.size() - 1)) {
                int at = text.indexOf(part, from);
                if (at < 0 || at + part.length() > end) {
                    return null;
                }
                gaps.add(text.substring(from, at));
                from = at + part.length();
            }
            gaps.add(text.substring(from, end));
            return gaps;
        }
    }

    Translations() {
        for (String line : lines()) {
            int middle = line.indexOf(" | ");
            if (middle > 0) {
                add(line.substring(0, middle), line.substring(middle + 3));
            }
        }
        // A short one, such as "{} to {}", also matches sentences that have a text of their own.
        templates.sort(Comparator.comparingInt(Template::fixed).reversed());
    }

    private void add(String english, String chinese) {
        if (!english.contains(GAP)) {
            whole.put(english, chinese);
            return;
        }
        List<String> parts = List.of(english.split(Pattern.quote(GAP), -1));
        templates.add(new Template(
                parts, chinese, parts.stream().mapToInt(String::length).sum()));
    }

    /** Whether a client asks for Chinese. */
    static boolean isChinese(@Nullable String acceptedLanguages) {
        return acceptedLanguages != null && acceptedLanguages.regionMatches(true, 0, "zh", 0, 2);
    }

    String chinese(String english) {
        String found = whole.get(english);
        if (found != null || english.length() > LONGEST) {
            return found == null ? english : found;
        }
        for (Template template : templates) {
            List<String> gaps = template.gaps(english);
            if (gaps != null) {
                return NUMBERED_GAP
                        .matcher(template.chinese())
                        .replaceAll(
                                gap -> Matcher.quoteReplacement(chinese(gaps.get(Integer.parseInt(gap.group(1)) - 1))));
            }
        }
        return english;
    }

    private static List<String> lines() {
        try (InputStream in = Translations.class.getResourceAsStream(FILE)) {
            if (in == null) {
                throw new IllegalStateException("The file " + FILE + " of the console is missing in its jar.");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
