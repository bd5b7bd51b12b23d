package io.easykit.delayqueue.autoconfigure;

import io.easykit.test.SettingsPageContract;
import java.util.Map;

class SettingsPageTests extends SettingsPageContract {

    SettingsPageTests() {
        super("delay-queue/settings.md");
    }

    /** None: the metadata have them, and {@link SettingsTests} compares those with the engine. */
    @Override
    protected Map<String, Object> engineDefaults() {
        return Map.of();
    }
}
