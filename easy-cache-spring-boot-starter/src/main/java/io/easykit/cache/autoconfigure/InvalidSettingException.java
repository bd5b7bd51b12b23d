package io.easykit.cache.autoconfigure;

import io.easykit.cache.EasyCacheException;
import io.easykit.cache.InvalidCacheOptionsException;

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

    /** What the engine refuses, by the name of its setting. */
    InvalidSettingException(String prefix, InvalidCacheOptionsException invalid) {
        super("The setting " + prefix + invalid.option() + " " + invalid.problem() + ". " + invalid.remedy(), invalid);
        this.problem = "The setting " + prefix + invalid.option() + " " + invalid.problem() + ".";
        this.remedy = invalid.remedy();
    }

    String problem() {
        return problem;
    }

    String remedy() {
        return remedy;
    }
}
