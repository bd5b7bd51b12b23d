package io.easykit.cache.autoconfigure;

import io.easykit.test.SettingsPageContract;
import java.util.Map;

class SettingsPageTests extends SettingsPageContract {

    SettingsPageTests() {
        super("easy-cache/settings.md");
    }

    /** None: the metadata have them. */
    @Override
    protected Map<String, Object> engineDefaults() {
        return Map.of();
    }
}
