package io.easykit.delayqueue.jackson;

import com.fasterxml.jackson.annotation.JsonProperty.Access;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.AnnotationIntrospector;
import tools.jackson.databind.BeanDescription;
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

    /** By their names in Java. */
    private final Map<String, AnnotatedField> fields = new HashMap<>();

    /** Names in the JSON. */
    private final Set<String> written = new HashSet<>();

    /** Names in Java of the properties that are written or read. */
    private final Set<String> known = new HashSet<>();

    StateOfBean(SerializationConfig config, BeanDescription bean, BeanDeserializerBase reader) {
        this.config = config;
        this.annotations = config.getAnnotationIntrospector();
        this.bean = bean;
        this.type = bean.getClassInfo();
        this.reader = reader;
        type.fields().forEach(field -> fields.put(field.getName(), field));
        for (BeanPropertyDefinition property : bean.findProperties()) {
            written.add(property.getName());
            known.add(property.getInternalName());
            addTypeId(property.getAccessor());
        }
        addTypeId(type);
        reader.properties().forEachRemaining(property -> known.add(nameInJava(property)));
        reader.creatorProperties().forEachRemaining(property -> known.add(nameInJava(property)));
        if (bean.getObjectIdInfo() != null) {
            written.add(bean.getObjectIdInfo().getPropertyName().getSimpleName());
        }
    }

    static boolean isForeign(Class<?> type) {
        return FOREIGN.stream().anyMatch(type.getName()::startsWith);
    }

    private void addTypeId(@Nullable Annotated annotated) {
        JsonTypeInfo.Value ids = annotated == null ? null : annotations.findPolymorphicTypeInfo(config, annotated);
        if (ids != null && ids.getPropertyName() != null) {
            written.add(ids.getPropertyName());
        }
    }

    /** Returns what a receiver of this class would miss, and the remedy; null if there is nothing. */
    @Nullable String findLoss() {
        if (bean.findAnyGetter() != null
                || reader.hasAnySetter()
                || config.getDefaultPropertyInclusions(type.getRawType(), type).getIncluded() != null) {
            return null;
        }
        String name = findUnwrittenProperty();
        if (name == null) {
            name = findUnwrittenField();
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

    /** A property that is read and never written, such as the parameter isUrgent if the getter isUrgent() writes urgent. */
    private @Nullable String findUnwrittenProperty() {
        for (Iterator<SettableBeanProperty> all = reader.properties(); all.hasNext(); ) {
            SettableBeanProperty property = all.next();
            String name = nameInJava(property);
            if (!isWritten(property) && isState(property, name) && !isLeftOut(property, name)) {
                return name;
            }
        }
        return null;
    }

    private boolean isWritten(SettableBeanProperty property) {
        return written.contains(property.getName())
                || property.findAliases(config).stream().anyMatch(alias -> written.contains(alias.getSimpleName()));
    }

    /** A setter, or a parameter with a name of its own, may only be there for the messages of an older version. */
    private boolean isState(SettableBeanProperty property, String name) {
        boolean hasField = fields.containsKey(name);
        if (!(property.getMember() instanceof AnnotatedParameter parameter)) {
            return hasField;
        }
        if (bean.findDefaultConstructor() != null) {
            // A bean: after the constructor a setter may restore what a parameter of another name sets.
            return hasField && !hasPropertiesWithOtherFields();
        }
        return hasField || annotations.findNameForDeserialization(config, parameter) == null;
    }

    private boolean isLeftOut(SettableBeanProperty property, String name) {
        return property.getInjectableValueId() != null
                || property.isIgnorable()
                || (property.getMember() != null && isOneWay(property.getMember()))
                || isLeftOut(name);
    }

    private static String nameInJava(SettableBeanProperty property) {
        if (property.getMember() instanceof AnnotatedParameter parameter
                && parameter.getOwner().getAnnotated() instanceof java.lang.reflect.Executable creator) {
            Parameter declared = creator.getParameters()[parameter.getIndex()];
            return declared.isNamePresent() ? declared.getName() : property.getName();
        }
        return property.getMember() instanceof AnnotatedField field ? field.getName() : property.getName();
    }

    private @Nullable String findUnwrittenField() {
        if (hasPropertiesWithOtherFields()) {
            return null; // a field of another name may be the one of a property
        }
        for (AnnotatedField field : type.fields()) {
            String name = field.getName();
            if (!known.contains(name) && holdsState(field) && !isLeftOut(name)) {
                return name;
            }
        }
        return null;
    }

    /** Properties that are written and read, and have no field of their name. */
    private boolean hasPropertiesWithOtherFields() {
        return bean.findProperties().stream()
                .anyMatch(property ->
                        !fields.containsKey(property.getInternalName()) && reader.hasProperty(property.getName()));
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

    private static boolean isGiven(AnnotatedField field) {
        return Stream.of(field.getDeclaringClass().getDeclaredConstructors())
                .flatMap(StateOfBean::parameters)
                .anyMatch(field.getName()::equals);
    }

    private static Stream<String> parameters(Constructor<?> constructor) {
        return Stream.of(constructor.getParameters()).map(Parameter::getName);
    }

    private boolean isLeftOut(String name) {
        AnnotatedField field = fields.get(name);
        return isIgnored(name)
                || (field != null
                        && (Modifier.isTransient(field.getModifiers()) || isOneWay(field) || isOfIgnoredType(field)));
    }

    private boolean isIgnored(String name) {
        return bean.getIgnoredPropertyNames().contains(name)
                || config.getDefaultPropertyIgnorals(type.getRawType(), type)
                        .getIgnored()
                        .contains(name)
                || accessors(name).anyMatch(this::isOneWay);
    }

    private Stream<AnnotatedMethod> accessors(String name) {
        String end = name.toLowerCase(Locale.ROOT);
        Stream.Builder<AnnotatedMethod> accessors = Stream.builder();
        for (AnnotatedMethod method : type.memberMethods()) {
            if (method.getName().toLowerCase(Locale.ROOT).endsWith(end)) {
                accessors.add(method);
            }
        }
        return accessors.build();
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
