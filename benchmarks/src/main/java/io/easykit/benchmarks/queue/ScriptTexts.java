package io.easykit.benchmarks.queue;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.easykit.benchmarks.measure.Version;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The Lua scripts of one version in the form that is sent, read from its class path. */
final class ScriptTexts {

    /** Names the scripts of the queue. The class of the second name did so in earlier versions, and read them. */
    private static final String QUEUE_SCRIPTS = "io.easykit.delayqueue.redis.QueueScript";

    private static final String EARLIER_QUEUE_SCRIPTS = "io.easykit.delayqueue.redis.LuaScript";

    private static final String CACHE_SCRIPTS = "io.easykit.cache.redis.CacheScript";
    private static final String EARLIER_FETCH = "io/easykit/cache/redis/fetch.lua";
    private static final Pattern GROUPS = Pattern.compile("checkGroups\\((\\d+), \\d+\\)");

    private final Map<String, String> texts = new HashMap<>();

    private ScriptTexts() {}

    static ScriptTexts of(Version version) throws IOException, ReflectiveOperationException {
        ScriptTexts scripts = new ScriptTexts();
        URL[] classPath = {Path.of(version.classPath()).toUri().toURL()};
        try (URLClassLoader classes = new URLClassLoader(classPath, ClassLoader.getPlatformClassLoader())) {
            if (has(classes, QUEUE_SCRIPTS)) {
                scripts.read(classes.loadClass(QUEUE_SCRIPTS));
                scripts.read(classes.loadClass(CACHE_SCRIPTS));
            } else {
                scripts.readEarlierQueue(classes.loadClass(EARLIER_QUEUE_SCRIPTS));
                scripts.readEarlierFetch(classes);
            }
        }
        return scripts;
    }

    private static boolean has(ClassLoader classes, String name) {
        try {
            classes.loadClass(name);
            return true;
        } catch (ClassNotFoundException earlier) {
            return false;
        }
    }

    /** Reads the scripts that an enum names, by its {@code file()}. */
    private void read(Class<?> names) throws ReflectiveOperationException {
        Method read = names.getClassLoader()
                .loadClass("io.easykit.redis.LuaScript")
                .getMethod("read", Class.class, String.class, UnaryOperator.class);
        Method file = accessible(names.getDeclaredMethod("file"));
        for (Object name : names.getEnumConstants()) {
            Object script = read.invoke(null, names, file.invoke(name), UnaryOperator.identity());
            Object text = script.getClass().getMethod("text").invoke(script);
            texts.put(name.toString().toLowerCase(Locale.ROOT), (String) text);
        }
    }

    private void readEarlierQueue(Class<?> loader) throws ReflectiveOperationException {
        for (Class<?> names : loader.getDeclaredClasses()) {
            if (names.isEnum()) {
                Method load = accessible(loader.getDeclaredMethod("load", names, UnaryOperator.class));
                Method text = accessible(loader.getDeclaredMethod("text"));
                for (Object name : names.getEnumConstants()) {
                    Object bytes = text.invoke(load.invoke(null, name, UnaryOperator.identity()));
                    Method array = accessible(bytes.getClass().getMethod("array"));
                    texts.put(
                            name.toString().toLowerCase(Locale.ROOT), new String((byte[]) array.invoke(bytes), UTF_8));
                }
            }
        }
    }

    private void readEarlierFetch(ClassLoader classes) throws IOException {
        try (InputStream in = classes.getResourceAsStream(EARLIER_FETCH)) {
            if (in == null) {
                throw new IllegalStateException("There is no " + EARLIER_FETCH + "; has the script another name now?");
            }
            texts.put("fetch", new String(in.readAllBytes(), UTF_8));
        }
    }

    private static Method accessible(Method method) {
        method.setAccessible(true);
        return method;
    }

    String text(String name) {
        String text = texts.get(name);
        if (text == null) {
            throw new IllegalStateException("There is no script " + name + " in " + texts.keySet());
        }
        return text;
    }

    /** Returns the number of arguments before those of the messages. A later version may have more of them. */
    int argumentsBeforeMessages(String name) {
        Matcher groups = GROUPS.matcher(text(name));
        int last = 1;
        while (groups.find()) {
            last = Integer.parseInt(groups.group(1));
        }
        return last - 1;
    }
}
