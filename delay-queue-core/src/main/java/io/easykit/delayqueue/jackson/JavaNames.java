package io.easykit.delayqueue.jackson;

import java.lang.reflect.Executable;
import java.lang.reflect.Parameter;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.introspect.AnnotatedMember;
import tools.jackson.databind.introspect.AnnotatedMethod;
import tools.jackson.databind.introspect.AnnotatedParameter;

/** The names of the properties in Java that a member of a class may belong to, in lower case. */
final class JavaNames {

    /** Before the name of a property. Many scripts have no case. */
    private static final Pattern FIELD = Pattern.compile("(?:_+|(?:is|m)(?=\\P{Ll}))(.+)");

    private static final List<String> ACCESSORS = List.of("get", "is", "set", "with");

    private JavaNames() {}

    /** Of a field, its own name, and {@code urgent} for {@code isUrgent}, {@code _urgent} or {@code mUrgent}. */
    static Set<String> ofField(String field) {
        Matcher prefixed = FIELD.matcher(field);
        return prefixed.matches() ? Set.of(lower(field), lower(prefixed.group(1))) : Set.of(lower(field));
    }

    /** Of a method, its own name, and {@code urgent} for {@code getUrgent}, {@code isUrgent} and so on. */
    static Set<String> ofMethod(String method) {
        String name = lower(method);
        Set<String> names = new HashSet<>(Set.of(name));
        for (String prefix : ACCESSORS) {
            if (name.startsWith(prefix)) {
                names.add(name.substring(prefix.length()));
            }
        }
        return names;
    }

    /** Of a parameter only if it is compiled with its name. */
    static Set<String> of(AnnotatedMember member) {
        if (member instanceof AnnotatedParameter parameter) {
            return parameter.getOwner().getAnnotated() instanceof Executable creator
                    ? ofParameter(creator.getParameters()[parameter.getIndex()])
                    : Set.of();
        }
        return member instanceof AnnotatedMethod ? ofMethod(member.getName()) : Set.of(lower(member.getName()));
    }

    private static Set<String> ofParameter(Parameter parameter) {
        return parameter.isNamePresent() ? Set.of(lower(parameter.getName())) : Set.of();
    }

    static String lower(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
