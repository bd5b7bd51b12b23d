package io.easykit.cache;

/** A setting that cannot work. The message names it and the remedy. */
public final class InvalidCacheOptionsException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    private final String option;
    private final String problem;
    private final String remedy;

    InvalidCacheOptionsException(String option, String problem, String remedy) {
        super("The option '" + option + "' " + problem + ". " + remedy, null);
        this.option = option;
        this.problem = problem;
        this.remedy = remedy;
    }

    /** The option's name as in the settings, for example {@code null-ttl}. */
    public String option() {
        return option;
    }

    /** The mistake, for example {@code is 0}. */
    public String problem() {
        return problem;
    }

    public String remedy() {
        return remedy;
    }
}
