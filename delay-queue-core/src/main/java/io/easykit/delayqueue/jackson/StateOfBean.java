package io.easykit.delayqueue.jackson;

import com.fasterxml.jackson.annotation.JsonProperty.Access;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.AnnotationIntrospector;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.PropertyName;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.deser.SettableBeanProperty;
import tools.jackson.databind.deser.bean.BeanDeserializerBase;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.AnnotatedClass;
import tools.jackson.databind.introspect.AnnotatedField;
import tools.jackson.databind.introspect.AnnotatedMember;
import tools.jackson.databind.introspect.AnnotatedMethod;
import tools.jackson.databind.introspect.AnnotatedParameter;
import tools.jackson.databind.introspect.BeanPropertyDefinition;

/**
 * The fields and constructor parameters of a class, compared with its JSON. Annotations that leave a property out on purpose, and
 * the keyword {@code transient}, are respected. Getters without a field are allowed.
 */
final class StateOfBean {

    /** Classes that the application cannot change. */
    private static final List<String> FOREIGN = List.of(
            "java.",
            "javax.",
            "jdk.",
            "sun.",
            "com.sun.",
            "jakarta.",
            "kotlin.",
            "scala.",
            "groovy.",
            "org.springframework.");

    private static final Set<Access> ONE_WAY = Set.of(Access.READ_ONLY, Access.WRITE_ONLY);

    private final SerializationConfig config;
    private final AnnotationIntrospector annotations;
    private final BeanDescription bean;
    private final AnnotatedClass type;
    private final BeanDeserializerBase reader;

    /** Properties by their names in the JSON. */
    private final Map<String, BeanPropertyDefinition> written = new HashMap<>();

    /** Names in the JSON of the ids of types and objects. */
    private final Set<String> ids = new HashSet<>();

    private final Map<String, SettableBeanProperty> read = new LinkedHashMap<>();

    StateOfBean(SerializationConfig config, BeanDescription bean, BeanDeserializerBase reader) {
        this.config = config;
        this.annotations = config.getAnnotationIntrospector();
        this.bean = bean;
        this.type = bean.getClassInfo();
        this.reader = reader;
        for (BeanPropertyDefinition property : bean.findProperties()) {
            written.put(property.getName(), property);
            addTypeId(property.getAccessor());
        }
        addTypeId(type);
        if (bean.getObjectIdInfo() != null) {
            ids.add(bean.getObjectIdInfo().getPropertyName().getSimpleName());
        }
        reader.creatorProperties().forEachRemaining(property -> read.put(property.getName(), property));
        reader.properties().forEachRemaining(property -> read.put(property.getName(), property));
    }

    static boolean isForeign(Class<?> type) {
        return FOREIGN.stream().anyMatch(type.getName()::startsWith);
    }

    private void addTypeId(@Nullable Annotated annotated) {
        JsonTypeInfo.Value info = annotated == null ? null : annotations.findPolymorphicTypeInfo(config, annotated);
        if (info != null && info.getPropertyName() != null) {
            ids.add(info.getPropertyName());
        }
    }

    /** Returns what a receiver of this class would miss, and the remedy; null if there is nothing. */
    @Nullable String findLoss() {
        if (bean.findAnyGetter() != null
                || config.getDefaultPropertyInclusions(type.getRawType(), type).getIncluded() != null) {
            return null;
        }
        String name = findLostField();
        if (name == null && !reader.hasAnySetter()) {
            name = findLostParameter();
        }
        return name == null
                ? null
                : "the JSON of " + type.getRawType().getName() + " would lack its property \"" + name
                        + "\", which would arrive as null, 0 or false. Give it a getter of that name, or annotate it with"
                        + " @JsonProperty(\"" + name
                        + "\"). If it should not be sent, mark it @JsonIgnore or transient, or"
                        + " @JsonProperty(access = WRITE_ONLY) if older messages have it. Annotate a class that is not"
                        + " yours by a mix-in of the mapper";
    }

    /**
     * A property without a field may restore one lost field of any other name. So there is a loss if more fields are lost than there are
     * such properties.
     */
    private @Nullable String findLostField() {
        List<AnnotatedField> lost = new ArrayList<>();
        for (AnnotatedField field : type.fields()) {
            if (!isRestored(field) && holdsState(field) && !isLeftOut(field)) {
                lost.add(field);
            }
        }
        for (AnnotatedField field : lost) {
            if (lost.size() > othersThatMayRestore(field)) {
                return field.getName();
            }
        }
        return null;
    }

    private boolean isRestored(AnnotatedField field) {
        String name = JavaNames.lower(field.getName());
        return ids.contains(field.getName())
                || written.values().stream()
                        .anyMatch(property -> name.equals(JavaNames.lower(property.getInternalName())))
                || restored().anyMatch(property -> isOf(property, field));
    }

    /** Properties that are written and read. */
    private Stream<SettableBeanProperty> restored() {
        return read.values().stream().filter(this::isWritten);
    }

    private boolean isWritten(SettableBeanProperty property) {
        return namesInJson(property).anyMatch(name -> written.containsKey(name) || ids.contains(name));
    }

    private Stream<String> namesInJson(SettableBeanProperty property) {
        Stream<String> aliases = property.findAliases(config).stream().map(PropertyName::getSimpleName);
        return Stream.concat(Stream.of(property.getName()), aliases);
    }

    private boolean isOf(SettableBeanProperty property, AnnotatedField field) {
        return !Collections.disjoint(namesInJava(property), JavaNames.ofField(field.getName()));
    }

    private Set<String> namesInJava(SettableBeanProperty property) {
        Set<String> names = new HashSet<>(Set.of(JavaNames.lower(property.getName())));
        if (property.getMember() != null) {
            names.addAll(JavaNames.of(property.getMember()));
        }
        BeanPropertyDefinition getter = written.get(property.getName());
        if (getter != null) {
            names.add(JavaNames.lower(getter.getInternalName()));
        }
        return names;
    }

    /** What a parameter of a bean's other constructor takes, only a setter or a field restores. What else is read is lost. */
    private long othersThatMayRestore(AnnotatedField field) {
        List<SettableBeanProperty> readers =
                unwritten().filter(property -> isNamedAs(property, field)).toList();
        Stream<SettableBeanProperty> others = restored().filter(this::hasNoField);
        if (readers.isEmpty()) {
            return others.count();
        }
        return isBean() && readers.stream().allMatch(StateOfBean::isParameter)
                ? others.filter(property -> !isParameter(property)).count()
                : 0;
    }

    private Stream<SettableBeanProperty> unwritten() {
        return read.values().stream().filter(property -> !isWritten(property));
    }

    private boolean isNamedAs(SettableBeanProperty property, AnnotatedField field) {
        return namesInJava(property).contains(JavaNames.lower(field.getName()));
    }

    private static boolean isParameter(SettableBeanProperty property) {
        return property.getMember() instanceof AnnotatedParameter;
    }

    /** After the default constructor, setters may restore what a parameter of another name sets. */
    private boolean isBean() {
        return bean.findDefaultConstructor() != null;
    }

    /** A property of a superclass that is not the application's has its field there. */
    private boolean hasNoField(SettableBeanProperty property) {
        BeanPropertyDefinition getter = written.get(property.getName());
        return getter != null
                && !isForeign(getter.getAccessor().getDeclaringClass())
                && fields().noneMatch(field -> isOf(property, field));
    }

    private Stream<AnnotatedField> fields() {
        return StreamSupport.stream(type.fields().spliterator(), false);
    }

    /**
     * A parameter that no field has the name of, and that is never written. One with a name by annotation may only be there for the
     * messages of an older version.
     */
    private @Nullable String findLostParameter() {
        return unwritten()
                .filter(property -> property.getMember() instanceof AnnotatedParameter parameter
                        && !isBean()
                        && annotations.findNameForDeserialization(config, parameter) == null)
                .filter(property -> !isLeftOut(property) && fields().noneMatch(field -> isNamedAs(property, field)))
                .map(SettableBeanProperty::getName)
                .findFirst()
                .orElse(null);
    }

    private boolean isLeftOut(SettableBeanProperty property) {
        return property.getInjectableValueId() != null
                || property.isIgnorable()
                || (property.getMember() != null && isOneWay(property.getMember()));
    }

    /** Final fields that no constructor is given are computed by it, so the receiver has them too. */
    private boolean holdsState(AnnotatedField field) {
        if (isForeign(field.getDeclaringClass()) || isGenerated(field.getName())) {
            return false;
        }
        return !Modifier.isFinal(field.getModifiers()) || isFilled(field.getRawType()) || isGiven(field);
    }

    /** By a compiler, a stub generator, or a weaver of entities. */
    private static boolean isGenerated(String name) {
        return name.contains("$") || name.startsWith("__") || name.startsWith("_persistence_");
    }

    /** A collection to which methods add elements, unless a constructor with parameters may compute it. */
    private boolean isFilled(Class<?> type) {
        boolean isContainer = Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
        return isContainer && !reader.creatorProperties().hasNext();
    }

    private boolean isGiven(AnnotatedField field) {
        return read.values().stream().anyMatch(property -> isNamedAs(property, field))
                || constructors(field.getDeclaringClass())
                        .flatMap(constructor -> Stream.of(constructor.getParameters()))
                        .anyMatch(parameter -> parameter.getName().equals(field.getName()));
    }

    /** None, if one of them has a parameter whose class is absent. */
    private static Stream<Constructor<?>> constructors(Class<?> type) {
        try {
            return Stream.of(type.getDeclaredConstructors());
        } catch (LinkageError absent) {
            return Stream.empty();
        }
    }

    private boolean isLeftOut(AnnotatedField field) {
        return Modifier.isTransient(field.getModifiers())
                || (reader.hasAnySetter() && Map.class.isAssignableFrom(field.getRawType()))
                || isOneWay(field)
                || isOfIgnoredType(field)
                || isIgnored(field.getName())
                || read.values().stream().anyMatch(property -> isNamedAs(property, field) && isLeftOut(property));
    }

    private boolean isIgnored(String field) {
        Set<String> names = JavaNames.ofField(field);
        return Stream.concat(
                                bean.getIgnoredPropertyNames().stream(),
                                config.getDefaultPropertyIgnorals(type.getRawType(), type).getIgnored().stream())
                        .anyMatch(name -> names.contains(JavaNames.lower(name)))
                || accessors(names).anyMatch(this::isOneWay);
    }

    private Stream<AnnotatedMethod> accessors(Set<String> names) {
        return StreamSupport.stream(type.memberMethods().spliterator(), false)
                .filter(method -> !Collections.disjoint(JavaNames.ofMethod(method.getName()), names));
    }

    private boolean isOfIgnoredType(AnnotatedField field) {
        AnnotatedClass content = config.classIntrospectorInstance().introspectClassAnnotations(field.getType());
        return Objects.equals(annotations.isIgnorableType(config, content), true);
    }

    /** Annotated as a property that is only written or only read, or that is neither, or in a way of its own. */
    private boolean isOneWay(AnnotatedMember member) {
        return annotations.hasIgnoreMarker(config, member)
                || ONE_WAY.contains(
                        Objects.requireNonNullElse(annotations.findPropertyAccess(config, member), Access.AUTO))
                || annotations.findInjectableValue(config, member) != null
                || annotations.findReferenceType(config, member) != null
                || annotations.findUnwrappingNameTransformer(config, member) != null
                || Objects.equals(annotations.isTypeId(config, member), true);
    }
}
