package io.easykit.cache.aop;

import io.easykit.boot.DurationTexts;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCacheException;
import io.easykit.cache.Reload;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.admin.CacheDeclaration.KeyPart;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.aop.UpdateOperation.Entry;
import io.easykit.cache.style.ReturnedValue;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Reads annotations: resolves placeholders, compiles expressions, merges settings, and rejects invalid declarations.
 */
final class OperationFactory {

    /** Placeholder for the concrete class in an inherited prefix. */
    private static final String CLASS = "{class}";

    private final Environment environment;
    private final BeanFactory beans;
    private final CacheSettingsTable settings;
    private final SpelEvaluator spel;
    private final KeyPartTypes partTypes = new KeyPartTypes();

    OperationFactory(Environment environment, BeanFactory beans, CacheSettingsTable settings) {
        this.environment = environment;
        this.beans = beans;
        this.settings = settings;
        this.spel = new SpelEvaluator(beans);
    }

    CachedMethod site(MergedAnnotation<?> annotation, Method method, Class<?> targetClass) {
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        Method declaring = annotation.getSource() instanceof Method source ? source : method;
        @SuppressWarnings("unchecked") // the type of the annotation itself
        Class<? extends Annotation> type = (Class<? extends Annotation>) annotation.getType();
        return new CachedMethod(targetClass, specific, declaring, type);
    }

    ReadOperation read(CachedMethod where, MergedAnnotation<Cacheable> annotation) {
        MethodRules.requireOneCacheOnly(where);
        CacheName name = name(where, annotation);
        List<String> texts = texts(where, annotation);
        String vetoText = resolve(where, "unless", annotation.getString("unless"));
        Expressions expressions = new Expressions(where, beans, spel);
        BatchMethod batch = annotation.getBoolean("batch") ? batch(where, texts, vetoText) : null;
        Type type = batch == null
                ? MethodRules.requireCacheableType(where)
                : MethodRules.requireCacheableType(where, batch.value());
        KeyExpression key = batch == null
                ? key(name, where, texts, part -> expressions.keyPart(part, false))
                : elements(name, where, texts, expressions.compile("keys", texts.get(0), false), batch);
        Compiled condition = condition(where, annotation, expressions, false);
        Compiled unless = expressions.condition("unless", vetoText, true);
        CacheSettings declared = declared(where, annotation);
        CacheSpec<Object> spec =
                spec(where, name, type, () -> excepting(annotation, settings.options(name.prefix(), declared)));
        ValueTtlExpression valueTtl = valueTtl(where, annotation, expressions, batch);
        return new ReadOperation(
                valueTtl == null ? spec : spec.withValueTtl(valueTtl),
                key,
                ReturnedValue.of(where.method(), where.targetClass()),
                condition == null ? null : condition.expression(),
                unless == null ? null : new Veto(where, vetoText, unless.expression()),
                new BackgroundReloads(where),
                declared);
    }

    private @Nullable Compiled condition(
            CachedMethod where, MergedAnnotation<?> annotation, Expressions expressions, boolean mayUseResult) {
        String text = resolve(where, "condition", annotation.getString("condition"));
        return expressions.condition("condition", text, mayUseResult);
    }

    /** Null if the TTL is a duration, or not set. */
    private @Nullable ValueTtlExpression valueTtl(
            CachedMethod where,
            MergedAnnotation<Cacheable> annotation,
            Expressions expressions,
            @Nullable BatchMethod batch) {
        String text = resolve(where, "ttl", annotation.getString("ttl"));
        if (!ValueTtlExpression.isOne(text)) {
            return null;
        }
        ResolvableType values = batch == null
                ? ReturnedValue.of(where.method(), where.targetClass()).arrived()
                : batch.value();
        return ValueTtlExpression.of(where, expressions.overValues(values), text);
    }

    /**
     * Reads one annotation of an update.
     *
     * @param specs finds the cache of an entry at the time of an update: its {@code @Cacheable} may be found later
     */
    UpdateOperation.Declared update(
            CachedMethod where, MergedAnnotation<UpdateCache> annotation, Function<CacheName, CacheSpec<?>> specs) {
        MethodRules.requireOneCacheOnly(where);
        MethodRules.requireOneValue(where);
        CacheName name = name(where, annotation);
        Expressions expressions = new Expressions(where, beans, spel);
        List<String> texts = requireKeysOrAll(where, annotation) ? List.of() : texts(where, annotation);
        boolean batch = annotation.getBoolean("batch");
        boolean[] usesResult = new boolean[1];
        Function<String, Compiled> compiler = part -> {
            Compiled compiled = batch ? expressions.compile("keys", part, true) : expressions.keyPart(part, true);
            usesResult[0] |= compiled.usesResult();
            return compiled;
        };
        KeyExpression key = texts.isEmpty()
                ? null
                : batch
                        ? elements(name, where, texts, compiler.apply(onlyText(where, texts)), null)
                        : key(name, where, texts, compiler);
        Compiled condition = condition(where, annotation, expressions, true);
        usesResult[0] |= condition != null && condition.usesResult();
        Entry entry = new Entry(
                () -> specs.apply(name).options().serial() != null,
                new UpdateKeys(key, batch, () -> specs.apply(name)),
                condition == null ? null : condition.expression());
        return new UpdateOperation.Declared(new DeclaredUpdate(where, name, texts, usesResult[0]), entry);
    }

    /** Whether an update is one of all entries. */
    private static boolean requireKeysOrAll(CachedMethod where, MergedAnnotation<UpdateCache> annotation) {
        boolean all = annotation.getBoolean("all");
        boolean hasKeys = annotation.getStringArray("keys").length > 0;
        if (all && hasKeys) {
            throw where.problem(
                    "all = true invalidates all entries of '" + annotation.getString("prefix")
                            + "', but keys names one of them",
                    "Remove keys to clear the cache, or all to invalidate one entry.");
        }
        if (all && annotation.getBoolean("batch")) {
            throw where.problem(
                    "all = true and batch = true are on one annotation, but all names no keys that could be several",
                    "Remove batch to clear the cache, or replace all by keys to invalidate some entries.");
        }
        if (!all && !hasKeys) {
            throw where.problem(
                    "keys is empty, so nothing would be invalidated",
                    "Name the parts of the key, for example keys = \"#id\", or set all = true to clear the cache.");
        }
        return all;
    }

    private static String nameOf(CachedMethod where) {
        return StringUtils.uncapitalize(where.targetClass().getSimpleName());
    }

    CacheName name(CachedMethod where, MergedAnnotation<?> annotation) {
        return new CacheName(
                resolve(where, "clusterId", annotation.getString("clusterId")),
                resolve(where, "prefix", annotation.getString("prefix")).replace(CLASS, nameOf(where)));
    }

    private static BatchMethod batch(CachedMethod where, List<String> keys, String unless) {
        MethodRules.requireOneValue(where);
        if (!unless.isBlank()) {
            throw where.problem(
                    "batch = true and unless are on one method, but a batch has no single #result",
                    "Remove unless, or call EasyCache.fetchAll with a predicate.");
        }
        return BatchMethod.of(where, keys);
    }

    private static String onlyText(CachedMethod where, List<String> texts) {
        if (texts.size() > 1) {
            throw where.problem(
                    "batch = true, but keys has " + texts.size() + " parts",
                    "Write one expression whose value is a collection or array, for example keys = \"#users.![id]\".");
        }
        return texts.get(0);
    }

    /** Each element of one expression is a key. */
    private KeyExpression elements(
            CacheName name, CachedMethod where, List<String> texts, Compiled compiled, @Nullable BatchMethod batch) {
        Class<?> element = batch == null ? MethodRules.requireElements(where, texts.get(0), compiled) : batch.element();
        MethodRules.requireFitForKeys(where, texts.get(0), element);
        List<@Nullable Type> types = new ArrayList<>();
        types.add(element);
        partTypes.require(name, where, texts, types);
        return new KeyExpression(List.of(new KeyPart(texts.get(0), element)), List.of(compiled.expression()), batch);
    }

    /** Returns the parts of the key, without placeholders. */
    private List<String> texts(CachedMethod where, MergedAnnotation<?> annotation) {
        List<String> texts = Stream.of(annotation.getStringArray("keys"))
                .map(text -> resolve(where, "keys", text))
                .toList();
        if (texts.isEmpty()) {
            throw where.problem(
                    "keys is empty, so all calls would share one entry",
                    "Name at least one part, for example keys = \"#id\", or keys = \"'all'\" for a single entry.");
        }
        return texts;
    }

    private KeyExpression key(
            CacheName name, CachedMethod where, List<String> texts, Function<String, Compiled> compiler) {
        List<Compiled> parts = texts.stream().map(compiler).toList();
        List<@Nullable Type> types = new ArrayList<>();
        parts.forEach(part -> types.add(part.genericType()));
        partTypes.require(name, where, texts, types);
        List<KeyPart> declared = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            declared.add(new KeyPart(texts.get(i), parts.get(i).type()));
        }
        return new KeyExpression(
                List.copyOf(declared), parts.stream().map(Compiled::expression).toList());
    }

    /** Returns the cache of entries that are only updated here, with the settings alone. */
    CacheSpec<Object> undeclared(CachedMethod where, CacheName name) {
        return spec(where, name, Object.class, () -> settings.options(name.prefix(), CacheSettings.NONE));
    }

    static CacheSpec<Object> spec(CachedMethod where, CacheName name, Type type, Supplier<CacheOptions> options) {
        try {
            return new CacheSpec<>(name.clusterId(), name.prefix(), type, options.get());
        } catch (EasyCacheException invalid) {
            throw where.problem(
                    "the cache '" + name.prefix() + "' cannot be used: " + withoutFullStop(invalid.getMessage()),
                    name.prefix().isEmpty()
                            ? "Correct the annotation."
                            : "Correct the annotation, or the setting easy-cache.caches." + name.settingsName() + ".",
                    invalid);
        }
    }

    private static String withoutFullStop(@Nullable String sentence) {
        return sentence == null ? "" : StringUtils.trimTrailingCharacter(sentence, '.');
    }

    /** The options with the exceptions that always reach the caller. */
    @SuppressWarnings("unchecked") // the attribute has only such classes
    private static CacheOptions excepting(MergedAnnotation<Cacheable> annotation, CacheOptions options) {
        Class<? extends Throwable>[] except =
                (Class<? extends Throwable>[]) annotation.getClassArray("staleOnErrorExcept");
        StaleOnErrorOptions staleOnError = options.staleOnError();
        return staleOnError == null || except.length == 0
                ? options
                : options.toBuilder()
                        .staleOnError(staleOnError.withExcept(Set.of(except)))
                        .build();
    }

    private CacheSettings declared(CachedMethod where, MergedAnnotation<Cacheable> annotation) {
        double jitter = annotation.getDouble("ttlJitter");
        return new CacheSettings(
                annotation.hasDefaultValue("consistency") ? null : annotation.getEnum("consistency", Consistency.class),
                duration(where, annotation, "ttl"),
                duration(where, annotation, "nullTtl"),
                jitter < 0 ? null : jitter,
                duration(where, annotation, "staleWindow"),
                duration(where, annotation, "refreshAhead"),
                duration(where, annotation, "nearTtl"),
                null,
                null,
                null,
                annotation.hasDefaultValue("reload") ? null : annotation.getEnum("reload", Reload.class),
                duration(where, annotation, "staleOnError"),
                duration(where, annotation, "loadSoftTimeout"),
                null,
                null,
                null,
                null);
    }

    private @Nullable Duration duration(CachedMethod where, MergedAnnotation<?> annotation, String attribute) {
        String text = resolve(where, attribute, annotation.getString(attribute));
        if (text.isBlank() || (attribute.equals("ttl") && ValueTtlExpression.isOne(text))) {
            return null;
        }
        try {
            return DurationTexts.parse(text);
        } catch (IllegalArgumentException unreadable) {
            throw where.problem(
                    attribute + " = \"" + text + "\" is not a duration: " + unreadable.getMessage(),
                    "Write a number with its unit, for example 1500ms, 30s, 10m or 2h.",
                    unreadable);
        }
    }

    private String resolve(CachedMethod where, String attribute, String text) {
        try {
            return environment.resolveRequiredPlaceholders(text);
        } catch (IllegalArgumentException unknown) {
            throw where.problem(
                    attribute + " = \"" + text + "\" has a placeholder without a value: " + unknown.getMessage(),
                    "Set the property, or add a default as in ${name:value}.",
                    unknown);
        }
    }

    /** Identifies a cache. */
    record CacheName(String clusterId, String prefix) {

        static CacheName of(CacheSpec<?> spec) {
            return new CacheName(spec.clusterId(), spec.prefix());
        }

        /** The prefix as written in a properties file. */
        String settingsName() {
            return prefix.chars().allMatch(c -> Character.isLetterOrDigit(c) || c == '-')
                    ? prefix
                    : "\"[" + prefix + "]\"";
        }
    }
}
