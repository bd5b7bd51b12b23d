package io.easykit.boot;

import java.util.List;

/**
 * Settings as far as they can be read.
 *
 * @param value where a setting cannot be read, it has its default
 * @param problems all that are wrong
 */
public record BoundSettings<T>(T value, List<Problem> problems) {}
