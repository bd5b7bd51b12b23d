package io.easykit.delayqueue.listener;

import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Checks the types of payloads that listeners read. */
final class PayloadRules {

    private PayloadRules() {}

    static void requireReadable(Candidate candidate, Function<Type, @Nullable String> problemWith) {
        String problem = problemWith.apply(candidate.signature().payloadType());
        if (problem != null) {
            throw candidate
                    .where()
                    .problem(
                            "no message could be read: " + problem,
                            "Use a class or record with the fields of the payload, put @JsonTypeInfo on an"
                                    + " abstract type, or define a PayloadCodec bean that can read it.");
        }
    }

    /** A message of a topic goes to any one of its listeners. */
    static List<InvalidDelayListenerException> differences(List<Candidate> all) {
        Map<String, Candidate> first = new LinkedHashMap<>();
        List<InvalidDelayListenerException> found = new ArrayList<>();
        for (Candidate candidate : all) {
            Candidate other = first.putIfAbsent(candidate.attributes().topic(), candidate);
            if (other != null && !read(other).equals(read(candidate))) {
                found.add(candidate
                        .where()
                        .problem(
                                "it reads the messages of topic '"
                                        + candidate.attributes().topic() + "' as "
                                        + read(candidate) + ", and "
                                        + other.where().describe() + " reads them as "
                                        + read(other)
                                        + "; a message goes to one of them, whichever is free",
                                "Use one type in both, or a separate topic for each type."));
            }
        }
        return found;
    }

    /** The type of the method's messages. */
    private static String read(Candidate candidate) {
        String type = candidate.signature().payloadType().getTypeName();
        return candidate.attributes().deadLettersOf() == null ? type : "DeadLetter<" + type + ">";
    }
}
