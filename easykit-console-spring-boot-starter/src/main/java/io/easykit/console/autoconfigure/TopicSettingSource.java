package io.easykit.console.autoconfigure;

import io.easykit.console.queue.LocalListeners.SettingSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** Finds settings of topics in the configuration. Others come from the annotation, or from a default. */
final class TopicSettingSource implements SettingSource {

    private static final List<String> BACK_OFF = List.of("delay", "multiplier", "max-delay", "jitter");

    private final Binder binder;

    TopicSettingSource(Environment environment) {
        this.binder = Binder.get(environment);
    }

    @Override
    public @Nullable String of(String topic, String setting) {
        String name = "delay-queue.topics[" + topic + "]." + setting;
        boolean found = setting.equals("back-off")
                ? BACK_OFF.stream().anyMatch(part -> isBound(name + "." + part))
                : isBound(name);
        return found ? name : null;
    }

    private boolean isBound(String name) {
        return binder.bind(name, Bindable.of(Object.class)).isBound();
    }
}
