package io.easykit.boot;

import java.util.List;

/**
 * The settings that could be read.
 *
 * @param value the settings; a setting that cannot be read has its default
 * @param problems all settings that are wrong
 */
public record BoundSettings<T>(T value, List<Problem> problems) {}
