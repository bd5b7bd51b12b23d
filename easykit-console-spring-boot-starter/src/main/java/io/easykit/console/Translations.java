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
import java.util.regex.MatchResult;
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
     * @param fixed number of characters outside the gaps
     */
    private record Template(Pattern english, String chinese, int fixed) {}

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
        String pattern = ("\\Q" + english.replace(GAP, "\\E(.*?)\\Q") + "\\E").replace("\\Q\\E", "");
        int fixed = english.replace(GAP, "").length();
        templates.add(new Template(Pattern.compile(pattern, Pattern.DOTALL), chinese, fixed));
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
            Matcher matcher = template.english().matcher(english);
            if (matcher.matches()) {
                return NUMBERED_GAP
                        .matcher(template.chinese())
                        .replaceAll(gap -> Matcher.quoteReplacement(chinese(gapOf(matcher, gap))));
            }
        }
        return english;
    }

    private static String gapOf(MatchResult text, MatchResult gap) {
        return text.group(Integer.parseInt(gap.group(1)));
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
