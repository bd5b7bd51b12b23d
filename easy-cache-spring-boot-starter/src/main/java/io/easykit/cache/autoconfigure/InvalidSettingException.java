package io.easykit.cache.autoconfigure;

import io.easykit.cache.EasyCacheException;

/** A setting that cannot work. */
final class InvalidSettingException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    InvalidSettingException(String name, Object value, String remedy) {
        super("The setting " + name + " is " + value + ". " + remedy, null);
        this.problem = "The setting " + name + " is " + value + ".";
        this.remedy = remedy;
    }

    String problem() {
        return problem;
    }

    String remedy() {
        return remedy;
    }
}
