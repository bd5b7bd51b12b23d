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

    private static final String OF_THE_QUEUE = "io.easykit.delayqueue.redis.LuaScript";
    private static final String FETCH = "io/easykit/cache/redis/fetch.lua";
    private static final Pattern GROUPS = Pattern.compile("checkGroups\\((\\d+), \\d+\\)");

    private final Map<String, String> texts = new HashMap<>();

    private ScriptTexts() {}

    static ScriptTexts of(Version version) throws IOException, ReflectiveOperationException {
        ScriptTexts scripts = new ScriptTexts();
        URL[] classPath = {Path.of(version.classPath()).toUri().toURL()};
        try (URLClassLoader classes = new URLClassLoader(classPath, ClassLoader.getPlatformClassLoader())) {
            scripts.readQueue(classes.loadClass(OF_THE_QUEUE));
            scripts.readFetch(classes);
        }
        return scripts;
    }

    private void readQueue(Class<?> loader) throws ReflectiveOperationException {
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

    private void readFetch(ClassLoader classes) throws IOException {
        try (InputStream in = classes.getResourceAsStream(FETCH)) {
            if (in == null) {
                throw new IllegalStateException("There is no " + FETCH + "; has the script another name now?");
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
