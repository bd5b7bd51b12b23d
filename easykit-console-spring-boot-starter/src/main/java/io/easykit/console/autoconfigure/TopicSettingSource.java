package io.easykit.console.autoconfigure;

import io.easykit.console.queue.LocalListeners.SettingSource;
import io.easykit.delayqueue.ListenerEndpoint;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.env.Environment;

/**
 * Finds settings of topics in the configuration. Others come from the annotation, or from a default. They do not apply to listeners
 * by code.
 */
final class TopicSettingSource implements SettingSource {

    private static final List<String> BACK_OFF = List.of("delay", "multiplier", "max-delay", "jitter");

    private final Binder binder;
    private final Predicate<String> isAnnotated;

    /** @param isAnnotated whether the listener with an id is an annotated method */
    TopicSettingSource(Environment environment, Predicate<String> isAnnotated) {
        this.binder = Binder.get(environment);
        this.isAnnotated = isAnnotated;
    }

    @Override
    public @Nullable String of(ListenerEndpoint endpoint, String setting) {
        if (!isAnnotated.test(endpoint.id())) {
            return null;
        }
        String name = "delay-queue.topics[" + endpoint.topic() + "]." + setting;
        // The form with brackets does not find a name with a dash that is written without them.
        boolean found = isSet(name, setting)
                || (!endpoint.topic().contains(".")
                        && ConfigurationPropertyName.isValid(endpoint.topic())
                        && isSet("delay-queue.topics." + endpoint.topic() + "." + setting, setting));
        return found ? name : null;
    }

    private boolean isSet(String name, String setting) {
        return setting.equals("back-off")
                ? BACK_OFF.stream().anyMatch(part -> isBound(name + "." + part))
                : isBound(name);
    }

    private boolean isBound(String name) {
        return binder.bind(name, Bindable.of(Object.class)).isBound();
    }
}
