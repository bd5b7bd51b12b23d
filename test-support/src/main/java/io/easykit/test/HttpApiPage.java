package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.json.JsonParserFactory;

/**
 * The tables of objects in {@code docs/http-api.md}, compared with replies in both directions: a field without a row, and a row
 * whose field no reply has.
 *
 * <p>An object is a heading of the third level with a table of fields. A row may have several names, and in parentheses the API
 * that alone has them. A link in the column of the type leads to the object that the field contains, alone, in a list, or in an
 * object with names that depend on the data. Numbers, texts, times and truth values are compared with the type, too.
 *
 * <p>The tables of GET and POST of a section list the addresses of an API.
 */
public final class HttpApiPage {

    private static final Path PAGE = Path.of("..", "docs", "http-api.md");

    private static final Pattern ROW = Pattern.compile("\\| (`.+?`)(?: \\((\\w+)\\))? \\| (.*?) ?\\| (.*?) ?\\|");
    private static final Pattern ADDRESSES = Pattern.compile("\\| (GET|POST) \\|.*");
    private static final Pattern ADDRESS = Pattern.compile("\\| (`.+?`) \\|.*");
    private static final Pattern NAME = Pattern.compile("`([^`]+)`");
    private static final Pattern LINK = Pattern.compile("\\[([^]]+)]\\(#");

    /**
     * A row.
     *
     * @param api  the only API that has the field, or null
     * @param type as it is written
     */
    private record Field(@Nullable String api, String type) {

        boolean isOf(String other) {
            return api == null || api.equals(other);
        }

        @Nullable String object() {
            Matcher link = LINK.matcher(type);
            return link.find() ? link.group(1) : null;
        }
    }

    private final String api;
    private final Map<String, Map<String, Field>> objects = new LinkedHashMap<>();
    private final Map<String, List<String>> examples = new LinkedHashMap<>();
    private final Map<String, Set<String>> addresses = new LinkedHashMap<>();
    private final Set<String> seen = new TreeSet<>();
    private final Set<String> unknown = new TreeSet<>();

    private HttpApiPage(String api, List<String> lines, Set<String> sections) {
        this.api = api;
        readAddresses(lines);
        boolean isRead = false;
        String object = "";
        StringBuilder example = null;
        for (String line : lines) {
            if (line.startsWith("## ")) {
                isRead = sections.contains(line.substring(3));
                object = "";
            } else if (line.startsWith("### ")) {
                object = line.substring(4);
            } else if (isRead && line.equals("```json")) {
                example = new StringBuilder();
            } else if (example != null && line.equals("```")) {
                examples.computeIfAbsent(object, name -> new ArrayList<>()).add(example.toString());
                example = null;
            } else if (example != null) {
                example.append(line).append('\n');
            } else if (isRead && !object.isEmpty()) {
                addRow(object, line);
            }
        }
    }

    private void readAddresses(List<String> lines) {
        String section = "";
        String method = "";
        for (String line : lines) {
            Matcher head = ADDRESSES.matcher(line);
            Matcher row = ADDRESS.matcher(line);
            if (line.startsWith("## ")) {
                section = line.substring(3);
            } else if (line.isEmpty()) {
                method = "";
            } else if (head.matches()) {
                method = head.group(1);
            } else if (!method.isEmpty() && row.matches()) {
                Set<String> all = addresses.computeIfAbsent(section + " " + method, missing -> new TreeSet<>());
                NAME.matcher(row.group(1)).results().forEach(name -> all.add(name.group(1)));
            }
        }
    }

    private void addRow(String object, String line) {
        Matcher row = ROW.matcher(line);
        if (!row.matches()) {
            return;
        }
        Field field = new Field(row.group(2), row.group(3));
        for (MatchResult name : NAME.matcher(row.group(1)).results().toList()) {
            Field before = objects.computeIfAbsent(object, missing -> new LinkedHashMap<>())
                    .put(name.group(1), field);
            assertThat(before)
                    .as("another row of %s in %s", name.group(1), object)
                    .isNull();
        }
    }

    /**
     * Reads the page.
     *
     * @param api      {@code endpoint} or {@code console}
     * @param sections headings of the sections with the objects of this API
     */
    public static HttpApiPage read(String api, String... sections) {
        try {
            return new HttpApiPage(api, Files.readAllLines(PAGE), Set.of(sections));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Takes a reply.
     *
     * @param object heading of the object that it is, alone or in a list
     * @param json   text of the reply
     */
    public void add(String object, String json) {
        String text = json.strip();
        if (text.startsWith("[")) {
            look(object, JsonParserFactory.getJsonParser().parseList(text), true);
        } else {
            look(object, JsonParserFactory.getJsonParser().parseMap(text), true);
        }
    }

    private void look(String object, @Nullable Object value, boolean isReply) {
        if (value instanceof List<?> list) {
            list.forEach(one -> look(object, one, isReply));
        } else if (value instanceof Map<?, ?> map) {
            map.forEach((name, content) -> look(object, String.valueOf(name), content, isReply));
        } else if (value != null) {
            unknown.add(object + " is no object");
        }
    }

    private void look(String object, String name, @Nullable Object value, boolean isReply) {
        Field field = objects.getOrDefault(object, Map.of()).get(name);
        if (field == null || (isReply && !field.isOf(api))) {
            unknown.add(object + "." + name);
            return;
        }
        if (isReply && value != null) {
            seen.add(object + "." + name);
            if (!hasType(field.type(), value)) {
                unknown.add(object + "." + name + " as a " + value.getClass().getSimpleName());
            }
        }
        String nested = field.object();
        if (nested != null) {
            look(nested, value, isReply);
        } else if (!field.type().startsWith("object of ")
                && !field.type().contains(", object of ")
                && isObject(value)) {
            unknown.add(object + "." + name + " as an object");
        }
    }

    private boolean hasType(String type, Object value) {
        return switch (type) {
            case "number", "seconds" -> value instanceof Number;
            case "text", "word" -> value instanceof String;
            case "true or false" -> value instanceof Boolean;
            case "time" -> api.equals("console") ? value instanceof Number : value instanceof String;
            default -> true;
        };
    }

    private static boolean isObject(@Nullable Object value) {
        return value instanceof Map
                || (value instanceof List<?> list && list.stream().anyMatch(HttpApiPage::isObject));
    }

    /**
     * Fails unless a table has the addresses that are served, apart from the empty one.
     *
     * @param section heading of the section of the table
     * @param method  {@code GET} or {@code POST}
     */
    public void requireAddresses(String section, String method, Collection<String> served) {
        assertThat(addresses.get(section + " " + method))
                .as("%s of %s in %s", method, section, PAGE)
                .containsExactlyInAnyOrderElementsOf(served);
    }

    /** Fails for each field without a row, and for each row whose field no reply has had. Checks the examples, too. */
    public void requireComplete() {
        examples.forEach((object, texts) -> texts.forEach(
                text -> look(object, JsonParserFactory.getJsonParser().parseMap(text), false)));
        assertThat(unknown).as("fields without a row in %s", PAGE).isEmpty();
        Set<String> rows = new TreeSet<>();
        objects.forEach((object, fields) -> fields.forEach((name, field) -> {
            if (field.isOf(api)) {
                rows.add(object + "." + name);
            }
        }));
        assertThat(rows).as("rows of %s", PAGE).hasSizeGreaterThan(20);
        rows.removeAll(seen);
        assertThat(rows).as("rows of %s whose fields no reply has", PAGE).isEmpty();
    }
}
