package io.easykit.cache.aop;

import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.style.ReturnedValue;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * A {@code @Cacheable(batch = true)} method: which of its parameters has the elements, and how its result belongs to them.
 *
 * @param parameter index of the parameter with the elements
 * @param container declared type of that parameter
 * @param element type of an element; null if only the value determines it
 * @param value type of the value of one element
 * @param mapped whether the method returns a map, rather than a list
 */
record BatchMethod(
        int parameter, Class<?> container, @Nullable Class<?> element, ResolvableType value, boolean mapped) {

    private static final List<Class<?>> CONTAINERS = List.of(Collection.class, List.class, Set.class);

    private static final String REMEDY =
            "Declare the elements as a Collection, List, Set or array, and return a Map from"
                    + " element to value, or a List of values in the order of the elements with null for none.";

    /**
     * Reads and checks the shape of a method.
     *
     * @throws InvalidCacheDeclarationException if it has no such parameter or result
     */
    static BatchMethod of(CachedMethod where, List<String> keys) {
        int parameter = parameter(where, keys);
        ResolvableType elements = ResolvableType.forMethodParameter(where.method(), parameter, where.targetClass());
        Class<?> container = elements.resolve(Object.class);
        ResolvableType element = container.isArray() ? elements.getComponentType() : elements.getGeneric(0);
        if (!container.isArray() && !CONTAINERS.contains(container)) {
            throw where.problem(
                    "batch = true, but " + keys.get(0) + " is a " + container.getTypeName()
                            + ", which has no elements that the cache could leave out",
                    REMEDY);
        }
        ResolvableType result =
                ReturnedValue.of(where.method(), where.targetClass()).arrived();
        boolean mapped = result.resolve() == Map.class;
        if (!mapped && result.resolve() != List.class) {
            throw where.problem(
                    "batch = true, but the method returns a " + result + ", so no value belongs to an element", REMEDY);
        }
        Class<?> id = wrapped(element.resolve());
        Class<?> key = mapped ? result.getGeneric(0).resolve() : id;
        if (id != null && key != null && id != key) {
            throw where.problem(
                    "batch = true, but the elements are of " + id.getTypeName()
                            + " and the keys of the returned map of " + key.getTypeName()
                            + ", so no value would be found",
                    "Use the same type in both.");
        }
        return new BatchMethod(parameter, container, id, result.getGeneric(mapped ? 1 : 0), mapped);
    }

    private static int parameter(CachedMethod where, List<String> keys) {
        String text = keys.size() == 1 ? keys.get(0).strip() : "";
        ParameterNames names = new ParameterNames(where);
        Integer index = text.startsWith("#") ? names.indexOf(text.substring(1)) : null;
        if (index == null) {
            throw where.problem(
                    "batch = true, but keys = " + keys + " is not one parameter with elements",
                    "Name just the parameter that has the elements, for example keys = \"#ids\".");
        }
        names.requireUnambiguous("keys", text, text.substring(1));
        return index;
    }

    private static @Nullable Class<?> wrapped(@Nullable Class<?> type) {
        return type == null || type == Object.class ? null : ClassUtils.resolvePrimitiveIfNecessary(type);
    }

    /**
     * The elements of a call, duplicates included.
     *
     * @throws InvalidCacheKeyException if the argument is null
     */
    static List<Object> elements(@Nullable Object argument, String text, String prefix) {
        if (argument instanceof Collection<?> collection) {
            return new ArrayList<>(collection);
        }
        if (argument instanceof Iterable<?> iterable) {
            List<Object> elements = new ArrayList<>();
            iterable.forEach(elements::add);
            return elements;
        }
        if (argument == null || !argument.getClass().isArray()) {
            throw new InvalidCacheKeyException("The elements of '" + prefix + "' come from " + text + ", which is "
                    + (argument == null ? "null" : "a " + argument.getClass().getTypeName())
                    + ". It must be an Iterable, such as a list, or an array. It may be empty.");
        }
        if (argument instanceof Object[] objects) {
            return new ArrayList<>(Arrays.asList(objects));
        }
        List<Object> elements = new ArrayList<>(Array.getLength(argument));
        for (int i = 0; i < Array.getLength(argument); i++) {
            elements.add(Array.get(argument, i));
        }
        return elements;
    }

    /** Some elements in the declared type of the parameter. */
    Object argument(Collection<Object> elements) {
        if (container.isArray()) {
            Object array = Array.newInstance(container.getComponentType(), elements.size());
            int i = 0;
            for (Object element : elements) {
                Array.set(array, i++, element);
            }
            return array;
        }
        return container == Set.class ? new LinkedHashSet<>(elements) : new ArrayList<>(elements);
    }

    /**
     * The result of the method by element.
     *
     * @param argument the elements as the method has left them
     * @throws IllegalStateException if it is unknown which value belongs to which element
     */
    Map<Object, Object> byElement(
            CachedMethod where, Collection<Object> elements, @Nullable Object argument, @Nullable Object result) {
        if (result instanceof Map<?, ?> map) {
            @SuppressWarnings("unchecked") // the declared return type
            Map<Object, Object> values = (Map<Object, Object>) map;
            return values;
        }
        if (!elements(argument, "its argument", where.shortName()).equals(List.copyOf(elements))) {
            throw new IllegalStateException(where.shortName() + " has changed the elements that it was called with,"
                    + " for example their order, so it is unknown which value belongs to which element. Change a copy of"
                    + " them, or return a Map from element to value.");
        }
        if (!(result instanceof List<?> list) || list.size() != elements.size()) {
            throw new IllegalStateException(where.shortName() + " was called with " + elements.size()
                    + " elements and returned "
                    + (result instanceof List<?> values ? values.size() + " values" : "null")
                    + ", so it is unknown which value belongs to which element. Return one value for each element in"
                    + " the order of the elements, with null for none, or a Map from element to value.");
        }
        Map<Object, Object> values = new LinkedHashMap<>();
        int i = 0;
        for (Object element : elements) {
            values.put(element, list.get(i++));
        }
        return values;
    }

    /** The result for the caller. */
    Object result(List<Object> elements, Map<Object, Object> found) {
        if (mapped) {
            return found;
        }
        List<@Nullable Object> values = new ArrayList<>(elements.size());
        elements.forEach(element -> values.add(found.get(element)));
        return values;
    }

    /** The arguments of a call with other elements. */
    @Nullable Object[] arguments(@Nullable Object[] arguments, Collection<Object> elements) {
        @Nullable Object[] copy = arguments.clone();
        copy[parameter] = argument(elements);
        return copy;
    }

    /** The arguments of a call without elements. */
    @Nullable Object[] withoutElements(@Nullable Object[] arguments) {
        return arguments(arguments, Collections.emptyList());
    }
}
