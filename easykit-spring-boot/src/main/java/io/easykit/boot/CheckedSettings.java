package io.easykit.boot;

import java.util.List;

/**
 * Settings of a product that check themselves after binding. Implemented by the root record; a nested record throws an
 * {@link InvalidConfigurationException} from its constructor, and counts as not set.
 */
public interface CheckedSettings {

    /** Empty if all can work. */
    List<Problem> problems();
}
