package io.easykit.delayqueue.listener;

import java.util.List;
import java.util.stream.Collectors;

/** Settings of a topic that are invalid regardless of the annotation. */
public final class InvalidTopicSettingsException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final transient List<Complaint> complaints;

    /**
     * An invalid setting.
     *
     * @param name name below the topic, for example {@code back-off.delay}
     * @param value its value
     * @param remedy action that corrects it
     */
    public record Complaint(String name, String value, String remedy) {}

    InvalidTopicSettingsException(List<Complaint> complaints) {
        super(complaints.stream()
                .map(one -> one.name() + " is " + one.value() + ". " + one.remedy())
                .collect(Collectors.joining(" ")));
        this.complaints = List.copyOf(complaints);
    }

    public List<Complaint> complaints() {
        return complaints;
    }
}
