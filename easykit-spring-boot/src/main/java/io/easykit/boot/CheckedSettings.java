package io.easykit.boot;

import java.util.List;

/**
 * Settings of a product, checked after binding. Implemented by the root record. A nested record throws an
 * {@link InvalidConfigurationException} from its constructor, and then counts as not set.
 */
public interface CheckedSettings {

    /** Returns all problems; empty if the settings are valid. */
    List<Problem> problems();
}
