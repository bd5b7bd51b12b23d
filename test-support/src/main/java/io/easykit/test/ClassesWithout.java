package io.easykit.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;

/** Loads classes of a test as if a class that they use, such as one of an optional dependency, were not on the class path. */
public final class ClassesWithout extends ClassLoader {

    private final String missing;
    private final List<String> affected;

    /**
     * @param missing the class that cannot be loaded
     * @param affected classes that use it, or that use or extend each other
     */
    public ClassesWithout(Class<?> missing, Class<?>... affected) {
        super(missing.getClassLoader());
        this.missing = missing.getName();
        this.affected = List.of(affected).stream().map(Class::getName).toList();
    }

    /** Returns the class of the same name that this loader defines. */
    public Class<?> load(Class<?> type) {
        try {
            return loadClass(type.getName());
        } catch (ClassNotFoundException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (name.equals(missing)) {
            throw new ClassNotFoundException(name);
        }
        if (!affected.contains(name)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream code = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (code == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = code.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
